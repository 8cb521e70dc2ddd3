// SPDX-License-Identifier: GPL-2.0
/*
 * Rates of queue pairs. That nothing is faster than its rate is exact, whatever
 * else the machine does; that it is not much slower is looked at with patience.
 */
#include <unistd.h>
#include "vt.h"

/* The lowest rate: more than four seconds for a packet of 4 KB. */
#define CREEP		8
#define MBIT		1000u
#define GBIT		1000000u
/* What may go at once, if nothing else was asked for: 1 ms at the rate. */
#define BURST_US	1000

static int try_rate(struct ibv_qp *qp, uint32_t kbps, uint32_t burst)
{
	struct ibv_qp_rate_limit_attr attr = {
		.rate_limit = kbps,
		.max_burst_sz = burst,
	};

	return ibv_modify_qp_rate_limit(qp, &attr);
}

static void set_rate(struct ibv_qp *qp, uint32_t kbps)
{
	VT_EQ(try_rate(qp, kbps, 0), 0);
}

static void write_id(struct vt_pair *p, uint64_t id, const struct vt_mem *s,
		     const struct vt_mem *d)
{
	vt_send(p->qp[0], &(struct vt_wr){
		.id = id, .local = s, .len = s->len, .remote = d,
		.flags = IBV_SEND_SIGNALED });
}

static void device_says_what_it_can(struct vt *t)
{
	struct ibv_device_attr_ex attr;
	struct ibv_packet_pacing_caps *caps = &attr.packet_pacing_caps;

	VT_EQ(ibv_query_device_ex(t->a.ctx, NULL, &attr), 0);
	VT_EQ(caps->qp_rate_limit_min, CREEP);
	VT_EQ(caps->qp_rate_limit_max, 1000 * GBIT);
	VT_EQ(caps->supported_qpts,
	      1 << IBV_QPT_RC | 1 << IBV_QPT_UC | 1 << IBV_QPT_UD |
	      1 << IBV_QPT_XRC_SEND);
}

/* Posts all of @len in messages of @msg bytes, and takes the time. */
static uint64_t time_to_send(struct vt_pair *p, const struct vt_mem *s,
			     const struct vt_mem *d, size_t msg, uint32_t nr)
{
	bool ud = p->opt.type == IBV_QPT_UD;
	uint64_t start = vt_now_us();
	uint32_t posted = 0, done = 0;
	struct ibv_wc wc;

	while (done < nr) {
		while (posted < nr && posted - done < 32)
			vt_send(p->qp[0], &(struct vt_wr){
				.op = ud ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
				.id = posted++, .local = s, .len = msg,
				.remote = ud ? NULL : d, .ah = p->ah[0],
				.qpn = ud ? p->qp[1]->qp_num : 0,
				.flags = IBV_SEND_SIGNALED });
		wc = vt_poll(p->scq[0]);
		VT_EQ(wc.status, IBV_WC_SUCCESS);
		VT_EQ(wc.wr_id, done++);
	}
	return vt_now_us() - start;
}

/* @headers: what frames have beside their payload, at least. */
static void hold(struct vt *t, enum ibv_qp_type type, uint32_t mbit,
		 size_t msg, size_t headers)
{
	uint64_t us = UINT64_MAX, least_us, most_us, free_us;
	uint64_t bytes = mbit * 1000000ull / 8 / 5;
	struct vt_opt o = { .type = type };
	struct vt_mem *s = vt_mem(&t->a, msg, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, msg, VT_ALL);
	struct vt_pair *p = vt_pair(t, &o);
	uint32_t nr = bytes / (msg + headers) + 1;

	set_rate(p->qp[0], mbit * MBIT);
	least_us = nr * (msg + headers) * 8 / mbit - BURST_US;
	most_us = 4 * least_us * vt_scale();
	/* Others may take the machine for a while, but not each time. */
	for (int i = 0; i < 4 && us > most_us; i++) {
		us = time_to_send(p, s, d, msg, nr);
		vt_note("%u Mbit/s: %llu us, at least %llu", mbit,
			(unsigned long long)us, (unsigned long long)least_us);
		VT_OK(us >= least_us, "%llu us", (unsigned long long)us);
	}
	if (us <= most_us)
		return;
	/* Or the machine is no faster than the rate. */
	set_rate(p->qp[0], 0);
	free_us = time_to_send(p, s, d, msg, nr);
	VT_OK(us <= most_us + 2 * free_us, "%llu us, without a rate %llu us",
	      (unsigned long long)us, (unsigned long long)free_us);
}

static void rc_holds(struct vt *t)
{
	hold(t, IBV_QPT_RC, t->arg, 100000, 0);
}

static void uc_holds(struct vt *t)
{
	hold(t, IBV_QPT_UC, t->arg, 100000, 0);
}

static void ud_holds(struct vt *t)
{
	hold(t, IBV_QPT_UD, t->arg, vt_mtu_bytes(t->a.port.active_mtu), 0);
}

/* With 8 bytes it is the headers that count. IPv4, RC: 14 + 20 + 8 + 32 + 4. */
static void headers_count(struct vt *t)
{
	hold(t, IBV_QPT_RC, 20, 8, 78);
}

/* However long it was idle. */
static void burst_is_kept(struct vt *t)
{
	enum { KBPS = 100 * MBIT, LEN = 1000000, BURST = 20000 };
	struct vt_mem *s = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	uint64_t us;

	VT_EQ(try_rate(p->qp[0], KBPS, BURST), 0);
	for (int i = 0; i < 3; i++) {
		vt_quiet(p->scq[0], 50);
		us = time_to_send(p, s, d, LEN, 1);
		VT_OK(us >= (LEN - BURST) * 8000ull / KBPS, "%llu us",
		      (unsigned long long)us);
	}
	/* A burst of less than a packet is one packet. */
	VT_EQ(try_rate(p->qp[0], KBPS, 1), 0);
	us = time_to_send(p, s, d, LEN, 1);
	VT_OK(us >= (LEN - 5000) * 8000ull / KBPS, "%llu us",
	      (unsigned long long)us);
}

/* The other direction has a rate of its own, or none; answers have none. */
static void other_side_is_free(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 500000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 500000, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);

	set_rate(p->qp[0], CREEP);
	vt_fill(s, 0, 500000, 1);
	vt_send(p->qp[1], &(struct vt_wr){
		.op = IBV_WR_RDMA_READ, .id = 1, .local = d, .len = 500000,
		.remote = s, .flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[1], 1, IBV_WC_SUCCESS);
	vt_verify(d, 0, 500000, 1);
	vt_fill(d, 0, 500000, 2);
	vt_send(p->qp[1], &(struct vt_wr){
		.id = 2, .local = d, .len = 500000, .remote = s,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[1], 2, IBV_WC_SUCCESS);
	vt_verify(s, 0, 500000, 2);
}

/* A request is under way, and would be for a quarter of an hour. */
static struct vt_pair *creeping(struct vt *t, enum ibv_qp_type type)
{
	struct vt_opt o = { .type = type };
	struct vt_mem *s = vt_mem(&t->a, 1000000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 1000000, VT_ALL);
	struct vt_pair *p = vt_pair(t, &o);

	vt_fill(s, 0, 1000000, 3);
	set_rate(p->qp[0], CREEP);
	for (int i = 0; i < 3; i++)
		write_id(p, i, s, d);
	vt_quiet(p->scq[0], 100);
	return p;
}

static void expect_three(struct vt_pair *p, enum ibv_wc_status status)
{
	for (int i = 0; i < 3; i++)
		vt_expect(p->scq[0], i, status);
	vt_quiet(p->scq[0], 1);
}

/* A window is bound at once, and not when the WRITE behind it goes. */
static void bind_needs_no_credit(struct vt *t)
{
	struct vt_mem *w = vt_mem(&t->a, 8, VT_ALL | IBV_ACCESS_MW_BIND);
	struct vt_mem *s = vt_mem(&t->a, 8, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 8, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);

	set_rate(p->qp[0], CREEP);
	for (int i = 0; i < 3; i++)
		vt_bound(p, IBV_MW_TYPE_1, w, 0, 8, VT_REMOTE);
	write_id(p, 1, s, d);
	vt_quiet(p->scq[0], 300);
	set_rate(p->qp[0], 0);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
}

static void faster_while_busy(struct vt *t)
{
	struct vt_pair *p = creeping(t, t->arg);

	set_rate(p->qp[0], 10 * MBIT);
	vt_quiet(p->scq[0], 20);
	set_rate(p->qp[0], 2 * GBIT);
	expect_three(p, IBV_WC_SUCCESS);
}

static void zero_lifts_it(struct vt *t)
{
	struct vt_pair *p = creeping(t, t->arg);

	set_rate(p->qp[0], 0);
	expect_three(p, IBV_WC_SUCCESS);
	/* Once more changes nothing. */
	set_rate(p->qp[0], 0);
}

static void slower_while_busy(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 4000000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 4000000, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);

	set_rate(p->qp[0], 100 * MBIT);
	write_id(p, 1, s, d);
	set_rate(p->qp[0], CREEP);
	vt_quiet(p->scq[0], 500);
	set_rate(p->qp[0], 0);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
}

/* Hundreds of changes under traffic: nothing is lost, nothing gets stuck. */
static void changed_all_the_time(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 2000000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 2000000, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);

	vt_srand(1);
	vt_fill(s, 0, 2000000, 5);
	for (int i = 0; i < 8; i++)
		write_id(p, i, s, d);
	for (int i = 0; i < 500; i++)
		VT_EQ(try_rate(p->qp[0], vt_rand() % 5 ?
			       MBIT + vt_rand() % GBIT : 0, 0), 0);
	for (int i = 0; i < 8; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	vt_verify(d, 0, 2000000, 5);
}

static void error_flushes_at_once(struct vt *t)
{
	struct vt_pair *p = creeping(t, t->arg);

	vt_to(p->qp[0], IBV_QPS_ERR);
	expect_three(p, IBV_WC_WR_FLUSH_ERR);
}

/* The rate goes with the rest of the state. */
static void reset_forgets_it(struct vt *t)
{
	struct vt_pair *p = creeping(t, IBV_QPT_RC);
	struct vt_mem *s = vt_mem(&t->a, 1000000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 1000000, VT_ALL);

	for (int i = 0; i < 2; i++)
		vt_to(p->qp[i], IBV_QPS_RESET);
	vt_connect(p);
	write_id(p, 7, s, d);
	vt_expect(p->scq[0], 7, IBV_WC_SUCCESS);
}

/* What is left to the end of the case is destroyed then. */
static void destroyed_while_waiting(struct vt *t)
{
	uint64_t start, us;
	struct ibv_qp *qp;

	for (int i = 0; i < 5; i++) {
		qp = creeping(t, t->arg)->qp[0];
		vt_forget(qp);
		start = vt_now_us();
		VT_EQ(ibv_destroy_qp(qp), 0);
		us = vt_now_us() - start;
		VT_OK(us < 2000000ull * vt_scale(), "%llu us",
		      (unsigned long long)us);
	}
	creeping(t, t->arg);
}

static void values_out_of_range(struct vt *t)
{
	struct ibv_qp_rate_limit_attr attr = {
		.rate_limit = MBIT,
		.comp_mask = 1,
	};
	struct vt_pair *p = vt_pair(t, NULL);

	VT_EQ(try_rate(p->qp[0], CREEP - 1, 0), EINVAL);
	VT_EQ(try_rate(p->qp[0], 1000 * GBIT + 1, 0), EINVAL);
	VT_EQ(try_rate(p->qp[0], UINT32_MAX, 0), EINVAL);
	/* A burst of what? */
	VT_EQ(try_rate(p->qp[0], 0, 10000), EINVAL);
	VT_EQ(ibv_modify_qp_rate_limit(p->qp[0], &attr), EINVAL);
	VT_EQ(try_rate(p->qp[0], CREEP, 0), 0);
	VT_EQ(try_rate(p->qp[0], 1000 * GBIT, UINT32_MAX), 0);
	attr.comp_mask = 0;
	attr.typical_pkt_sz = 1500;
	VT_EQ(ibv_modify_qp_rate_limit(p->qp[0], &attr), 0);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_RTS);
}

static void states_without_rates(struct vt *t)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.rate_limit = MBIT,
	};
	struct vt_pair *p = vt_pair(t, NULL);

	vt_to(p->qp[0], IBV_QPS_SQD);
	VT_EQ(try_rate(p->qp[0], MBIT, 0), EINVAL);
	VT_EQ(ibv_modify_qp(p->qp[0], &attr, IBV_QP_STATE | IBV_QP_RATE_LIMIT),
	      EINVAL);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_SQD);
	vt_to(p->qp[0], IBV_QPS_ERR);
	VT_EQ(try_rate(p->qp[0], MBIT, 0), EINVAL);
	vt_to(p->qp[0], IBV_QPS_RESET);
	VT_EQ(try_rate(p->qp[0], MBIT, 0), EINVAL);
	vt_to_init(&t->a, p->qp[0], &p->opt);
	VT_EQ(try_rate(p->qp[0], MBIT, 0), EINVAL);
	vt_to_rtr(&t->a, p->qp[0], &p->opt, &t->b.gid, p->qp[1]->qp_num, 0);
	VT_EQ(try_rate(p->qp[0], MBIT, 0), EINVAL);
}

/* How often it was seen to drain, looking all 5 ms. */
static unsigned int seen_draining(struct vt *t, struct vt_pair *p,
				  struct vt_mem *s, struct vt_mem *d)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1,
	};
	unsigned int seen = 0;

	write_id(p, 1, s, d);
	/* It has to begin, and takes 200 ms; the event comes at the end. */
	usleep(20000);
	VT_EQ(ibv_modify_qp(p->qp[0], &a, IBV_QP_STATE |
			    IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	for (;;) {
		VT_EQ(ibv_query_qp(p->qp[0], &a, IBV_QP_STATE, &init), 0);
		if (!a.sq_draining)
			break;
		seen++;
		usleep(5000);
	}
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_async(&t->a, IBV_EVENT_SQ_DRAINED);
	return seen;
}

/* What waits for its rate is not drained, whether or not all sent is acknowledged. */
static void drains_at_its_rate(struct vt *t)
{
	struct vt_opt o = { .type = t->arg };
	struct vt_mem *s = vt_mem(&t->a, 500000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 500000, VT_ALL);
	struct vt_pair *p = vt_pair(t, &o);
	unsigned int seen;

	set_rate(p->qp[0], 20 * MBIT);
	/* This process may stand still for most of the time, but not always. */
	for (int i = 0; i < 4; i++) {
		seen = seen_draining(t, p, s, d);
		if (seen > 10)
			return;
		vt_note("seen %u times", seen);
		VT_EQ(ibv_modify_qp(p->qp[0], &(struct ibv_qp_attr){
			.qp_state = IBV_QPS_RTS }, IBV_QP_STATE), 0);
	}
	VT_OK(seen > 10, "seen %u times", seen);
}

/* With the transition that lets it send. */
static void from_the_beginning(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UC };
	struct vt_mem *s = vt_mem(&t->a, 500000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 500000, VT_ALL);
	struct vt_pair *p = vt_pair(t, &o);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.rate_limit = 50 * MBIT,
	};
	uint64_t us;

	vt_to(p->qp[0], IBV_QPS_RESET);
	vt_to_init(&t->a, p->qp[0], &p->opt);
	vt_to_rtr(&t->a, p->qp[0], &p->opt, &t->b.gid, p->qp[1]->qp_num, 0);
	VT_EQ(ibv_modify_qp(p->qp[0], &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
					     IBV_QP_RATE_LIMIT), 0);
	us = time_to_send(p, s, d, 500000, 1);
	VT_OK(us >= 500000 * 8 / 50 - BURST_US, "%llu us",
	      (unsigned long long)us);
}

/* What a transition of UC to RTR takes. */
#define TO_RTR	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | \
		 IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)

/* The rate of the address vector: @mask is TO_RTR, or IBV_QP_AV in SQD. */
static void set_static(struct vt_pair *p, enum ibv_rate rate, int mask)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (!(mask & IBV_QP_STATE))
		vt_to(p->qp[0], IBV_QPS_SQD);
	VT_EQ(ibv_query_qp(p->qp[0], &attr, IBV_QP_AV, &init), 0);
	attr.ah_attr.static_rate = rate;
	if (mask & IBV_QP_STATE) {
		vt_to(p->qp[0], IBV_QPS_RESET);
		vt_to_init(p->end[0], p->qp[0], &p->opt);
		attr.qp_state = IBV_QPS_RTR;
	}
	VT_EQ(ibv_modify_qp(p->qp[0], &attr, mask), 0);
	attr.qp_state = IBV_QPS_RTS;
	VT_EQ(ibv_modify_qp(p->qp[0], &attr, mask & IBV_QP_STATE ?
			    IBV_QP_STATE | IBV_QP_SQ_PSN : IBV_QP_STATE), 0);
	VT_EQ(ibv_query_qp(p->qp[0], &attr, IBV_QP_AV, &init), 0);
	VT_EQ(attr.ah_attr.static_rate, rate);
}

#define OF_RC	(1 << 30)

/*
 * 2.5 Gbit/s is the lowest static rate. Nothing is faster; a machine that is
 * slower without a rate shows nothing.
 */
static void static_rate(struct vt *t)
{
	enum { MSG = 100000, NR = 800, MBPS = 2500 };
	const uint64_t least_us = MSG * 8ull * NR / MBPS - BURST_US;
	struct vt_opt o = { .type = t->arg & OF_RC ? IBV_QPT_RC : IBV_QPT_UC };
	struct vt_mem *s = vt_mem(&t->a, MSG, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, MSG, VT_ALL);
	struct vt_pair *p = vt_pair(t, &o);
	uint64_t free_us, us;

	free_us = time_to_send(p, s, d, MSG, NR);
	set_static(p, IBV_RATE_2_5_GBPS, t->arg & ~OF_RC);
	us = time_to_send(p, s, d, MSG, NR);
	vt_note("%llu us, without a rate %llu us, at least %llu",
		(unsigned long long)us, (unsigned long long)free_us,
		(unsigned long long)least_us);
	VT_OK(us >= least_us, "%llu us", (unsigned long long)us);
	/* The rate limit is another one, and the lower of the two holds. */
	set_rate(p->qp[0], 500 * MBIT);
	us = time_to_send(p, s, d, MSG, NR / 5);
	VT_OK(us >= least_us, "%llu us", (unsigned long long)us);
	set_rate(p->qp[0], 0);
	us = time_to_send(p, s, d, MSG, NR);
	VT_OK(us >= least_us, "%llu us", (unsigned long long)us);
	if (free_us >= least_us)
		vt_skip("this machine is slower");
}

/* The limit stays when the address vector changes. */
static void limit_survives_address(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 8, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 8, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);

	set_rate(p->qp[0], CREEP);
	set_static(p, IBV_RATE_2_5_GBPS, IBV_QP_AV);
	write_id(p, 1, s, d);
	vt_quiet(p->scq[0], 300);
	set_static(p, IBV_RATE_MAX, IBV_QP_AV);
	set_rate(p->qp[0], 0);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
}

static void static_rate_is_unknown(struct vt *t)
{
	struct ibv_ah_attr attr = {
		.is_global = 1,
		.port_num = VT_PORT,
		.static_rate = 1,
		.grh = { .dgid = t->b.gid, .sgid_index = t->a.gid_idx },
	};

	VT_OK(!ibv_create_ah(t->a.pd, &attr), "created");
	VT_EQ(errno, EINVAL);
}

static const struct vt_case cases[] = {
	VT_CASE(device_says_what_it_can),
	VT_CASE_ARG("rc_20", rc_holds, 20),
	VT_CASE_ARG("rc_200", rc_holds, 200),
	VT_CASE_ARG("rc_1000", rc_holds, 1000),
	VT_CASE_ARG("uc_20", uc_holds, 20),
	VT_CASE_ARG("uc_500", uc_holds, 500),
	VT_CASE_ARG("ud_20", ud_holds, 20),
	VT_CASE_ARG("ud_200", ud_holds, 200),
	VT_CASE(headers_count),
	VT_CASE(burst_is_kept),
	VT_CASE(other_side_is_free),
	VT_CASE(bind_needs_no_credit),
	VT_CASE_ARG("rc_faster_while_busy", faster_while_busy, IBV_QPT_RC),
	VT_CASE_ARG("uc_faster_while_busy", faster_while_busy, IBV_QPT_UC),
	VT_CASE(slower_while_busy),
	VT_CASE(changed_all_the_time),
	VT_CASE_ARG("rc_zero_lifts_it", zero_lifts_it, IBV_QPT_RC),
	VT_CASE_ARG("uc_zero_lifts_it", zero_lifts_it, IBV_QPT_UC),
	VT_CASE_ARG("rc_error_flushes_at_once", error_flushes_at_once,
		    IBV_QPT_RC),
	VT_CASE_ARG("uc_error_flushes_at_once", error_flushes_at_once,
		    IBV_QPT_UC),
	VT_CASE(reset_forgets_it),
	VT_CASE_ARG("rc_destroyed_while_waiting", destroyed_while_waiting,
		    IBV_QPT_RC),
	VT_CASE_ARG("uc_destroyed_while_waiting", destroyed_while_waiting,
		    IBV_QPT_UC),
	VT_CASE(values_out_of_range),
	VT_CASE(states_without_rates),
	VT_CASE_ARG("rc_drains", drains_at_its_rate, IBV_QPT_RC),
	VT_CASE_ARG("uc_drains", drains_at_its_rate, IBV_QPT_UC),
	VT_CASE(from_the_beginning),
	VT_CASE_ARG("static_rate", static_rate, TO_RTR),
	VT_CASE_ARG("static_rate_in_sqd", static_rate, IBV_QP_AV),
	VT_CASE_ARG("static_rate_of_rc", static_rate, IBV_QP_AV | OF_RC),
	VT_CASE(limit_survives_address),
	VT_CASE(static_rate_is_unknown),
};

VT_MAIN(cases)

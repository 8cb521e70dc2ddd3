// SPDX-License-Identifier: GPL-2.0
/*
 * Retries: as many, and as long, as the attributes say. Lower bounds are
 * exact (the specification forbids giving up earlier), upper bounds only
 * catch a timer that never fires.
 */
#include "vt.h"

static void send_id(struct vt_pair *p, uint64_t id)
{
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = id, .flags = IBV_SEND_SIGNALED });
}

/* Time until the send queue reports @status, in microseconds. */
static uint64_t time_to(struct vt_pair *p, uint64_t id,
			enum ibv_wc_status status)
{
	uint64_t start = vt_now_us();

	send_id(p, id);
	vt_expect(p->scq[0], id, status);
	return vt_now_us() - start;
}

#define DEAD(timeout, retry)	((timeout) << 8 | (retry))

/* @retry resends after the first send, each waits 1 to 4 timeouts. */
static void dead_peer(struct vt *t)
{
	int exp = t->arg >> 8, retry = t->arg & 255;
	struct vt_opt o = { .timeout = exp, .retry = retry ? retry : -1 };
	struct vt_pair *p = vt_pair(t, &o);
	uint64_t tr_us = (4096ull << exp) / 1000, us;

	vt_to(p->qp[1], IBV_QPS_RESET);
	us = time_to(p, 1, IBV_WC_RETRY_EXC_ERR);
	VT_OK(us >= tr_us * (retry + 1), "gave up after %llu us",
	      (unsigned long long)us);
	VT_OK(us <= tr_us * 4 * (retry + 1) + 2000000ull * vt_scale(),
	      "gave up after %llu us", (unsigned long long)us);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_ERR);
}

static void timeout_zero_waits_for_ever(struct vt *t)
{
	struct vt_opt o = { .timeout = -1, .retry = 1 };
	struct vt_pair *p = vt_pair(t, &o);

	vt_to(p->qp[1], IBV_QPS_RESET);
	send_id(p, 1);
	vt_quiet(p->scq[0], 300);
	vt_to(p->qp[0], IBV_QPS_ERR);
	vt_expect(p->scq[0], 1, IBV_WC_WR_FLUSH_ERR);
}

/* The peer becomes ready while the requester still tries. */
static void late_peer(struct vt *t)
{
	struct vt_opt o = { .timeout = 13, .retry = 7 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 50000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 50000, VT_ALL);

	vt_fill(s, 0, 50000, 2);
	for (int i = 0; i < 2; i++)
		vt_to(p->qp[i], IBV_QPS_RESET);
	for (int i = 0; i < 2; i++)
		vt_to_init(p->end[i], p->qp[i], &p->opt);
	vt_to_rtr(&t->a, p->qp[0], &p->opt, &t->b.gid, p->qp[1]->qp_num, 0);
	vt_to_rts(p->qp[0], &p->opt, 500);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = t->arg, .id = 1, .local = s, .len = 50000, .remote = d,
		.flags = IBV_SEND_SIGNALED });
	vt_quiet(p->scq[0], 50);
	if (t->arg == IBV_WR_RDMA_READ)
		vt_fill(d, 0, 50000, 2);
	vt_to_rtr(&t->b, p->qp[1], &p->opt, &t->a.gid, p->qp[0]->qp_num, 500);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(t->arg == IBV_WR_RDMA_READ ? s : d, 0, 50000, 2);
}

#define RNR(timer, retry)	((timer) << 8 | (retry))

/* Microseconds of each RNR timer code used here, from the specification. */
static uint64_t rnr_us(int code)
{
	switch (code) {
	case 0:
		return 655360;
	case 12:
		return 640;
	case 20:
		return 10240;
	case 24:
		return 40960;
	default:
		vt_fail(__FILE__, __LINE__, "case bug: RNR code %d", code);
	}
}

/*
 * The RNR timer is the least time; @retry of them pass before giving up. It
 * needs no help from the timer that waits for acknowledgements.
 */
static void rnr_runs_out(struct vt *t)
{
	int code = t->arg >> 8, retry = t->arg & 255;
	struct vt_opt o = {
		.timeout = -1, .rnr = retry ? retry : -1, .rnr_timer = code ? code : -1,
	};
	struct vt_pair *p = vt_pair(t, &o);
	uint64_t us = time_to(p, 1, IBV_WC_RNR_RETRY_EXC_ERR);

	VT_OK(us >= rnr_us(code) * retry, "gave up after %llu us",
	      (unsigned long long)us);
	VT_OK(us <= rnr_us(code) * 4 * (retry + 1) + 2000000ull * vt_scale(),
	      "gave up after %llu us", (unsigned long long)us);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_ERR);
	VT_EQ(vt_state(p->qp[1]), IBV_QPS_RTS);
}

/* Seven means for ever. */
static void rnr_seven_never_ends(struct vt *t)
{
	struct vt_opt o = { .timeout = -1, .rnr = 7, .rnr_timer = 12 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 20000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 20000, VT_ALL);

	vt_fill(s, 0, 20000, 1);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 20000,
		.flags = IBV_SEND_SIGNALED });
	vt_quiet(p->scq[0], 200);
	vt_recv(p->qp[1], 2, d, 0, 20000);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], 2, IBV_WC_SUCCESS);
	vt_verify(d, 0, 20000, 1);
}

/* RNR in the middle of a queue: earlier requests stand, later ones follow. */
static void rnr_in_the_middle(struct vt *t)
{
	enum { NR = 12 };
	struct vt_opt o = { .timeout = -1, .rnr = 7, .rnr_timer = 1 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, NR * 5000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, NR * 5000, VT_ALL);

	for (int i = 0; i < NR; i++) {
		vt_fill(s, 5000 * i, 5000, i);
		vt_send(p->qp[0], &(struct vt_wr){
			.op = i % 3 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
			.id = i, .local = s, .off = 5000 * i, .len = 5000,
			.remote = i % 3 ? NULL : d, .roff = 5000 * i,
			.flags = IBV_SEND_SIGNALED });
	}
	for (int i = 0; i < NR; i++) {
		if (i % 3) {
			vt_recv(p->qp[1], i, d, 5000 * i, 5000);
			vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		}
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		vt_verify(d, 5000 * i, 5000, i);
	}
}

#define CREDIT_MSGS	16

/* A receive request, on the SRQ if there is one. */
static void receive(struct vt_pair *p, int id, const struct vt_mem *m)
{
	if (p->opt.srq[1])
		vt_srq_recv(p->opt.srq[1], id, m, 0, 0);
	else
		vt_recv(p->qp[1], id, m, 0, 0);
}

/*
 * The peer tells how many receive requests it has, so of 16 messages one is sent
 * without. If they were all sent, it would drop those behind that one. Those of
 * an SRQ are not told.
 */
static void credits(struct vt *t)
{
	struct vt_opt o = { .timeout = -1, .rnr = 7, .rnr_timer = 20 };
	struct vt_mem *m = vt_mem(&t->b, 64, VT_ALL);
	long long limited, dropped;
	struct vt_pair *p;
	int i;

	if (!vt_is_hroce(&t->a))
		vt_skip("counters of hroce");
	if (t->arg)
		o.srq[1] = vt_srq(&t->b, 2 * CREDIT_MSGS, 1, 0);
	p = vt_pair(t, &o);
	for (i = 0; i < 5; i++)
		receive(p, i, m);
	send_id(p, 0);
	vt_expect(p->scq[0], 0, IBV_WC_SUCCESS);

	limited = vt_settled(&t->a, "e2e_limited");
	dropped = vt_settled(&t->b, "rx_drop_psn");
	for (i = 1; i <= CREDIT_MSGS; i++)
		send_id(p, i);
	for (i = 1; i <= 4; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	vt_quiet(p->scq[0], 30);
	limited = vt_settled(&t->a, "e2e_limited") - limited;
	dropped = vt_settled(&t->b, "rx_drop_psn") - dropped;
	VT_EQ(limited, t->arg ? 0 : 1);
	if (!t->arg)
		VT_EQ(dropped, 0);
	for (i = 5; i <= CREDIT_MSGS; i++)
		receive(p, i, m);
	for (i = 5; i <= CREDIT_MSGS; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
}

/* A queue pair that waits does not hold up another one. */
static void neighbour_is_not_delayed(struct vt *t)
{
	struct vt_opt o = { .rnr = 7, .rnr_timer = -1 };
	struct vt_opt dead = { .timeout = 20, .retry = 7 };
	struct vt_pair *stuck = vt_pair(t, &o), *lost = vt_pair(t, &dead);
	struct vt_pair *p = vt_pair(t, NULL);

	vt_to(lost->qp[1], IBV_QPS_RESET);
	send_id(stuck, 1);
	send_id(lost, 1);
	for (int i = 0; i < 200; i++) {
		vt_recv(p->qp[1], i, NULL, 0, 0);
		send_id(p, i);
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	}
	VT_EQ(vt_state(stuck->qp[0]), IBV_QPS_RTS);
	VT_EQ(vt_state(lost->qp[0]), IBV_QPS_RTS);
}

/* An idle queue pair stays as it is, however short its timeout. */
static void idle_is_no_error(struct vt *t)
{
	struct vt_opt o = { .timeout = 1, .retry = 1 };
	struct vt_pair *p = vt_pair(t, &o);

	vt_quiet(p->scq[0], 100);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_RTS);
	VT_EQ(vt_state(p->qp[1]), IBV_QPS_RTS);
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("dead_peer_no_retry", dead_peer, DEAD(14, 0)),
	VT_CASE_ARG("dead_peer_three_retries", dead_peer, DEAD(13, 3)),
	VT_CASE_ARG("dead_peer_short_timeout", dead_peer, DEAD(8, 7)),
	VT_CASE_ARG("dead_peer_long_timeout", dead_peer, DEAD(17, 1)),
	VT_CASE(timeout_zero_waits_for_ever),
	VT_CASE_ARG("late_peer_write", late_peer, IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("late_peer_read", late_peer, IBV_WR_RDMA_READ),
	VT_CASE_ARG("rnr_no_retry", rnr_runs_out, RNR(20, 0)),
	VT_CASE_ARG("rnr_three_retries", rnr_runs_out, RNR(24, 3)),
	VT_CASE_ARG("rnr_six_short_ones", rnr_runs_out, RNR(12, 6)),
	VT_CASE_ARG("rnr_code_zero_is_longest", rnr_runs_out, RNR(0, 1)),
	VT_CASE(rnr_seven_never_ends),
	VT_CASE(rnr_in_the_middle),
	VT_CASE_ARG("credits_limit", credits, 0),
	VT_CASE_ARG("credits_of_srq", credits, 1),
	VT_CASE(neighbour_is_not_delayed),
	VT_CASE(idle_is_no_error),
};

VT_MAIN(cases)

// SPDX-License-Identifier: GPL-2.0
/* Counters of queue pairs and of regions: rdma statistic qp, mr. */
#include <stdarg.h>
#include <sys/mman.h>

#include "vt.h"

#define RETRIES	2
/* Of a counter. Beyond them, the kernel would not end its answer. */
#define MAX_QPS	96

/* The line that "rdma" prints, or NULL if it fails. */
static const char *rdma(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

static const char *rdma(const char *fmt, ...)
{
	static char answer[65536];
	char cmd[256];
	va_list args;
	size_t len;
	FILE *f;

	va_start(args, fmt);
	len = snprintf(cmd, sizeof(cmd), "timeout 20 rdma -j statistic ");
	vsnprintf(cmd + len, sizeof(cmd) - len, fmt, args);
	va_end(args);
	f = popen(cmd, "r");
	VT_OK(f, "popen: %m");
	len = fread(answer, 1, sizeof(answer) - 1, f);
	answer[len] = 0;
	if (pclose(f))
		return NULL;
	return answer;
}

static const char *link_of(const struct vt_end *e)
{
	return ibv_get_device_name(e->ctx->device);
}

/* The number behind @name in @text, or -1. */
static long long number(const char *text, const char *name)
{
	char key[64];
	const char *p;

	snprintf(key, sizeof(key), "\"%s\":", name);
	p = text ? strstr(text, key) : NULL;
	return p ? atoll(p + strlen(key)) : -1;
}

static long long seen(const struct vt_end *e, const char *name)
{
	return number(rdma("qp show link %s/1", link_of(e)), name);
}

static int undo_auto(void *e)
{
	return rdma("qp set link %s/1 auto off", link_of(e)) ? 0 : EINVAL;
}

/* A SEND that nobody takes: fails after so many RNR NAKs. */
static void fail_send(struct vt_pair *p, struct vt_mem *m)
{
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = m, .len = 8,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_RNR_RETRY_EXC_ERR);
}

/*
 * What a bound queue pair meets with is its own. ib_core adds it to what the port
 * has counted, which must not have counted the same.
 */
static void bound_by_number(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, 8, VT_ALL);
	struct vt_opt o = { .rnr = RETRIES };
	struct vt_pair *p[3] = {
		vt_pair(t, &o), vt_pair(t, &o), vt_pair(t, &o),
	};
	long long before = vt_settled(&t->a, "rnr_rcvd"), id;

	VT_EQ(seen(&t->a, "rnr_rcvd"), -1);
	VT_OK(rdma("qp bind link %s/1 lqpn %u", link_of(&t->a),
		   p[0]->qp[0]->qp_num), "bind");
	VT_EQ(seen(&t->a, "rnr_rcvd"), 0);
	VT_EQ(seen(&t->a, "rnr_nak_retry_err"), 0);
	VT_EQ(seen(&t->a, "rx_drop_icrc"), -1);
	id = seen(&t->a, "cntn");
	VT_OK(id > 0, "id %lld", id);
	fail_send(p[0], m);
	VT_EQ(seen(&t->a, "rnr_rcvd"), RETRIES + 1);
	VT_EQ(seen(&t->a, "requester_errors"), 1);
	VT_EQ(vt_settled(&t->a, "rnr_rcvd"), before + RETRIES + 1);

	/* Not bound: the port counts. */
	fail_send(p[1], m);
	VT_EQ(seen(&t->a, "rnr_rcvd"), RETRIES + 1);
	VT_EQ(vt_settled(&t->a, "rnr_rcvd"), before + 2 * (RETRIES + 1));

	/* Two that share a counter. */
	VT_OK(rdma("qp bind link %s/1 lqpn %u cntn %lld", link_of(&t->a),
		   p[2]->qp[0]->qp_num, id), "bind to the same");
	fail_send(p[2], m);
	VT_EQ(seen(&t->a, "rnr_rcvd"), 2 * (RETRIES + 1));

	VT_OK(rdma("qp unbind link %s/1 cntn %lld lqpn %u", link_of(&t->a), id,
		   p[0]->qp[0]->qp_num), "unbind");
	VT_EQ(seen(&t->a, "rnr_rcvd"), 2 * (RETRIES + 1));
	VT_OK(rdma("qp unbind link %s/1 cntn %lld lqpn %u", link_of(&t->a), id,
		   p[2]->qp[0]->qp_num), "unbind the last");
	VT_EQ(seen(&t->a, "rnr_rcvd"), -1);
}

/* A number of ports/1/counters. */
static long long of_port(const struct vt_end *e, const char *name)
{
	char path[256];
	long long n = -1;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/counters/%s", link_of(e),
		 name);
	f = fopen(path, "r");
	VT_OK(f && fscanf(f, "%lld", &n) == 1, "%s", path);
	fclose(f);
	return n;
}

/*
 * Packets and bytes of a bound queue pair; the port has those of all, and keeps
 * them when the counter goes.
 */
static void packets_and_bytes(struct vt *t)
{
	struct vt_opt o = { .timeout = -1 };
	struct vt_pair *p = vt_pair(t, &o), *q = vt_pair(t, &o);
	const size_t len = 3 * vt_mtu_bytes(p->opt.mtu) + 1;
	struct vt_mem *s = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, len, VT_ALL);
	const bool one = vt_one_link(t);
	long long sent, all, wire, acks, before;

	before = vt_settled(&t->a, "tx_packets");
	sent = of_port(&t->a, "port_xmit_packets");
	wire = of_port(&t->a, "port_xmit_data");
	VT_OK(rdma("qp bind link %s/1 lqpn %u", link_of(&t->a),
		   p->qp[0]->qp_num), "bind");
	VT_EQ(seen(&t->a, "tx_packets"), 0);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = s, .len = len, .remote = d }),
	      IBV_WC_SUCCESS);
	VT_EQ(vt_run(q, (struct vt_wr){ .local = s, .len = len, .remote = d }),
	      IBV_WC_SUCCESS);
	VT_EQ(seen(&t->a, "tx_packets"), 4);
	VT_EQ(seen(&t->a, "tx_bytes"), len);
	acks = seen(&t->a, "rx_packets");
	VT_OK(acks >= 1 && acks <= 4, "%lld acknowledgements", acks);
	VT_EQ(seen(&t->a, "rx_bytes"), 0);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = s,
					.len = len, .remote = d }),
	      IBV_WC_SUCCESS);
	VT_EQ(seen(&t->a, "tx_packets"), 5);
	VT_EQ(seen(&t->a, "tx_bytes"), len);
	VT_EQ(seen(&t->a, "rx_packets"), acks + 4);
	VT_EQ(seen(&t->a, "rx_bytes"), len);
	/* 9 requests; on one link the other end's answers, too. */
	all = vt_settled(&t->a, "tx_packets") - before;
	VT_OK(one ? all > 9 : all == 9, "%lld packets", all);
	VT_EQ(of_port(&t->a, "port_xmit_packets") - sent, all);

	wire = of_port(&t->a, "port_xmit_data") - wire;
	VT_OK(rdma("qp unbind link %s/1 cntn %lld lqpn %u", link_of(&t->a),
		   seen(&t->a, "cntn"), p->qp[0]->qp_num), "unbind");
	VT_EQ(seen(&t->a, "tx_packets"), -1);
	VT_EQ(of_port(&t->a, "port_xmit_packets") - sent, all);
	VT_OK(wire * 4 > (long long)(one ? 3 : 2) * (long long)len, "%lld",
	      wire);
}

/* In the sum it stays for ever. */
static void sum_of_the_port(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, 8, VT_ALL);
	struct vt_opt o = { .rnr = RETRIES };
	struct vt_pair *p = vt_pair(t, &o);
	long long before, now;

	before = number(rdma("show link %s/1", link_of(&t->a)), "rnr_rcvd");
	VT_OK(rdma("qp bind link %s/1 lqpn %u", link_of(&t->a),
		   p->qp[0]->qp_num), "bind");
	fail_send(p, m);
	now = number(rdma("show link %s/1", link_of(&t->a)), "rnr_rcvd");
	VT_EQ(now, before + RETRIES + 1);
	/* With the queue pair the counter goes. */
	vt_forget(p->qp[0]);
	VT_EQ(ibv_destroy_qp(p->qp[0]), 0);
	VT_EQ(seen(&t->a, "rnr_rcvd"), -1);
	now = number(rdma("show link %s/1", link_of(&t->a)), "rnr_rcvd");
	VT_EQ(now, before + RETRIES + 1);
}

static void bound_by_itself(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, 8, VT_ALL);
	struct vt_opt o = { .rnr = RETRIES };

	VT_OK(rdma("qp set link %s/1 auto type on", link_of(&t->a)), "auto");
	vt_defer(undo_auto, &t->a, "automatic counters");
	fail_send(vt_pair(t, &o), m);
	VT_EQ(seen(&t->a, "rnr_rcvd"), RETRIES + 1);
	/* Another one of the same type. */
	fail_send(vt_pair(t, &o), m);
	VT_EQ(seen(&t->a, "rnr_rcvd"), 2 * (RETRIES + 1));
}

/* How many queue pairs the first counter that is shown has. */
static int queue_pairs(const struct vt_end *e)
{
	const char *p = rdma("qp show link %s/1", link_of(e));
	int n = 0;

	p = p ? strstr(p, "\"lqpn\":[") : NULL;
	VT_OK(p, "no counter");
	for (p = strchr(p, '['); *p && *p != ']'; p++)
		n += *p == '[' || *p == ',';
	return n;
}

/* What one counter has no room for counts for the link, or by another one. */
static void crowded(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 1, NULL);
	struct ibv_qp *qp[MAX_QPS + 40];
	struct vt_opt o = { .sq = 1, .rq = 1, .sge = 1 };
	long long id;

	vt_opt_defaults(t, &o);
	VT_OK(rdma("qp set link %s/1 auto type on", link_of(&t->a)), "auto");
	vt_defer(undo_auto, &t->a, "automatic counters");
	for (size_t i = 0; i < ARRAY_SIZE(qp); i++) {
		qp[i] = vt_qp(&t->a, &o, cq, cq, NULL, NULL);
		vt_to_init(&t->a, qp[i], &o);
	}
	VT_EQ(queue_pairs(&t->a), MAX_QPS);
	/* One goes, one may come. */
	vt_forget(qp[0]);
	VT_EQ(ibv_destroy_qp(qp[0]), 0);
	VT_EQ(queue_pairs(&t->a), MAX_QPS - 1);
	vt_to(qp[MAX_QPS + 1], IBV_QPS_RESET);
	vt_to_init(&t->a, qp[MAX_QPS + 1], &o);
	VT_EQ(queue_pairs(&t->a), MAX_QPS);

	id = seen(&t->a, "cntn");
	VT_EQ(undo_auto(&t->a), 0);
	VT_OK(!rdma("qp bind link %s/1 lqpn %u cntn %lld", link_of(&t->a),
		    qp[MAX_QPS + 2]->qp_num, id), "bind to the same");
	VT_OK(rdma("qp bind link %s/1 lqpn %u", link_of(&t->a),
		   qp[MAX_QPS + 2]->qp_num), "bind to another one");
	VT_EQ(queue_pairs(&t->a), MAX_QPS);
}

/* Times of this kind, in all classes together, of the counter that is bound. */
static long long times_seen(const struct vt_end *e, const char *kind)
{
	static const char *const classes[] = {
		"le_64us", "le_256us", "le_1ms", "le_4ms", "le_16ms", "le_64ms",
		"gt_64ms",
	};
	const char *text = rdma("qp show link %s/1", link_of(e));
	long long sum = 0, n;
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		snprintf(name, sizeof(name), "%s_%s", kind, classes[i]);
		n = number(text, name);
		VT_OK(n >= 0, "no %s", name);
		sum += n;
	}
	return sum;
}

/* Round trips, and the recovery from a loss that only silence tells of. */
static void times_of_queue_pair(struct vt *t)
{
	struct vt_mem *s = vt_mem(&t->a, 8, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 8, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL), *q = vt_pair(t, NULL);
	struct vt_wr w = {
		.id = 1, .local = s, .len = 8, .remote = d,
		.flags = IBV_SEND_SIGNALED,
	};
	const int n = 10;
	long long rtts;

	VT_OK(rdma("qp bind link %s/1 lqpn %u", link_of(&t->a),
		   p->qp[0]->qp_num), "bind");
	VT_EQ(vt_run(q, w), IBV_WC_SUCCESS);
	VT_EQ(times_seen(&t->a, "rtt"), 0);
	VT_EQ(times_seen(&t->a, "recovery"), 0);
	for (int i = 0; i < n; i++)
		VT_EQ(vt_run(p, w), IBV_WC_SUCCESS);
	rtts = times_seen(&t->a, "rtt");
	VT_OK(rtts >= 1 && rtts <= n, "%lld round trips", rtts);

	vt_to(p->qp[1], IBV_QPS_RESET);
	vt_to_init(p->end[1], p->qp[1], &p->opt);
	VT_EQ(seen(&t->a, "recovery_gt_64ms"), 0);
	vt_send(p->qp[0], &w);
	/* Longer than 64 ms and the local ACK timeout, 268 ms. */
	vt_quiet(p->scq[0], 400);
	vt_to_rtr(&t->b, p->qp[1], &p->opt, &t->a.gid, p->qp[0]->qp_num,
		  p->opt.psn + n);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	VT_EQ(seen(&t->a, "recovery_gt_64ms"), 1);
	/* What is sent again is not measured. */
	VT_EQ(times_seen(&t->a, "rtt"), rtts);
}

/* The row of the only region of @e with on-demand paging, or NULL. */
static const char *paged_region(const struct vt_end *e)
{
	const char *row, *next, *last;
	char name[64];

	snprintf(name, sizeof(name), "\"ifname\":\"%s\"", link_of(e));
	row = rdma("show mr");
	for (row = row ? strchr(row, '{') : NULL; row; row = next) {
		const char *ours = strstr(row, name);
		const char *paged = strstr(row, "\"page_faults\":");

		next = strchr(row + 1, '{');
		last = strchr(row, '}');
		if (ours && ours < last && paged && paged < last)
			return row;
	}
	return NULL;
}

/* One WRITE, the first bytes of one region to those of another. */
static void write_once(struct vt_pair *p, struct vt_mem *from,
		       struct vt_mem *to, size_t len)
{
	vt_send(p->qp[0], &(struct vt_wr){ .flags = IBV_SEND_SIGNALED,
		.local = from, .len = len, .remote = to });
	VT_EQ(vt_poll(p->scq[0]).status, IBV_WC_SUCCESS);
}

static void pages_are(const struct vt_end *e, int faults, int prefetch,
		      int invalidations)
{
	const char *row = paged_region(e);

	VT_OK(row, "no counters of the region");
	VT_EQ(number(row, "page_faults"), faults);
	VT_EQ(number(row, "page_prefetch"), prefetch);
	VT_EQ(number(row, "page_invalidations"), invalidations);
}

/* Pages that come and go, one by one; a region that has all has no such. */
static void pages_of_region(struct vt *t)
{
	const size_t page = 4096, pages = 20;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *here = vt_mem(&t->a, pages * page, VT_ALL);
	struct vt_mem there = { .len = pages * page };
	struct ibv_sge sge;

	there.buf = mmap(NULL, there.len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	VT_OK(there.buf != MAP_FAILED, "%m");
	madvise(there.buf, there.len, MADV_NOHUGEPAGE);
	vt_mem(&t->b, page, VT_ALL);
	VT_OK(!paged_region(&t->b), "counters of a region that is pinned");
	there.mr = ibv_reg_mr(t->b.pd, there.buf, there.len,
			      VT_ALL | IBV_ACCESS_ON_DEMAND);
	VT_OK(there.mr, "%m");
	pages_are(&t->b, 0, 0, 0);

	write_once(p, here, &there, 3 * page);
	pages_are(&t->b, 3, 0, 0);
	sge = (struct ibv_sge){ (uintptr_t)there.buf + 10 * page, 7 * page,
				there.mr->lkey };
	VT_EQ(ibv_advise_mr(t->b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
			    IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1), 0);
	pages_are(&t->b, 3, 7, 0);
	VT_EQ(madvise(there.buf + 2 * page, 10 * page, MADV_DONTNEED), 0);
	pages_are(&t->b, 3, 7, 3);
	/* The first three are there, but for the last of them. */
	write_once(p, here, &there, 3 * page);
	pages_are(&t->b, 4, 7, 3);

	VT_EQ(ibv_dereg_mr(there.mr), 0);
	munmap(there.buf, there.len);
	VT_OK(!paged_region(&t->b), "counters of a region that is gone");
}

static const struct vt_case cases[] = {
	VT_CASE(bound_by_number),
	VT_CASE(packets_and_bytes),
	VT_CASE(sum_of_the_port),
	VT_CASE(bound_by_itself),
	VT_CASE(crowded),
	VT_CASE(times_of_queue_pair),
	VT_CASE(pages_of_region),
};

VT_MAIN(cases)

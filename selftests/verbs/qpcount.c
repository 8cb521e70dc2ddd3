// SPDX-License-Identifier: GPL-2.0
/* Counters of queue pairs: rdma statistic qp. */
#include <stdarg.h>

#include "vt.h"

#define RETRIES	2

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
	len = snprintf(cmd, sizeof(cmd), "rdma -j statistic ");
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
	VT_EQ(seen(&t->a, "tx_packets"), -1);
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

static const struct vt_case cases[] = {
	VT_CASE(bound_by_number),
	VT_CASE(sum_of_the_port),
	VT_CASE(bound_by_itself),
};

VT_MAIN(cases)

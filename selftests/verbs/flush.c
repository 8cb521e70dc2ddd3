// SPDX-License-Identifier: GPL-2.0
/* Queues in the error state: everything completes once, in order. */
#include "vt.h"

#define NR 20

static void send_id(struct vt_pair *p, uint64_t id, unsigned int flags)
{
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = id, .flags = flags });
}

static void receives_flush_in_order(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);

	for (int i = 0; i < NR; i++)
		vt_recv(p->qp[1], i, NULL, 0, 0);
	vt_to(p->qp[1], IBV_QPS_ERR);
	for (int i = 0; i < NR; i++)
		vt_expect(p->rcq[1], i, IBV_WC_WR_FLUSH_ERR);
	vt_quiet(p->rcq[1], 10);
}

/* Sends held up by a peer without receives; unsignaled ones flush as well. */
static void sends_flush_in_order(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);

	for (int i = 0; i < NR; i++)
		send_id(p, i, i & 1 ? IBV_SEND_SIGNALED : 0);
	vt_quiet(p->scq[0], 5);
	vt_to(p->qp[0], IBV_QPS_ERR);
	for (int i = 0; i < NR; i++)
		vt_expect(p->scq[0], i, IBV_WC_WR_FLUSH_ERR);
	vt_quiet(p->scq[0], 10);
}

static void both_queues_into_one_cq(struct vt *t)
{
	struct vt_opt o = { .one_cq = true };
	struct vt_pair *p = vt_pair(t, &o);
	int s = 0, r = 0;

	for (int i = 0; i < NR; i++) {
		vt_recv(p->qp[0], 1000 + i, NULL, 0, 0);
		send_id(p, i, IBV_SEND_SIGNALED);
	}
	vt_to(p->qp[0], IBV_QPS_ERR);
	while (s + r < 2 * NR) {
		struct ibv_wc wc = vt_poll(p->scq[0]);

		VT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		VT_EQ(wc.qp_num, p->qp[0]->qp_num);
		if (wc.wr_id >= 1000)
			VT_EQ(wc.wr_id, 1000 + r++);
		else
			VT_EQ(wc.wr_id, s++);
	}
	vt_quiet(p->scq[0], 10);
}

static void posts_in_error_flush(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);

	vt_to(p->qp[0], IBV_QPS_ERR);
	for (int i = 0; i < 3 * NR; i++) {
		send_id(p, i, i & 1 ? IBV_SEND_SIGNALED : 0);
		vt_expect(p->scq[0], i, IBV_WC_WR_FLUSH_ERR);
		vt_recv(p->qp[0], i, NULL, 0, 0);
		vt_expect(p->rcq[0], i, IBV_WC_WR_FLUSH_ERR);
	}
	vt_quiet(p->scq[0], 5);
	vt_quiet(p->rcq[0], 5);
}

/* The first failure has its own status, everything behind it is flushed. */
static void flush_behind_failure(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_mr mr = { .rkey = ~d->mr->rkey };
	struct vt_mem fake = { .buf = d->buf, .len = 64, .mr = &mr };

	for (int i = 0; i < NR; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 64,
			.remote = i == 5 ? &fake : d,
			.flags = IBV_SEND_SIGNALED });
	for (int i = 0; i < NR; i++)
		vt_expect(p->scq[0], i, i < 5 ? IBV_WC_SUCCESS : i == 5 ?
			  IBV_WC_REM_ACCESS_ERR : IBV_WC_WR_FLUSH_ERR);
	vt_quiet(p->scq[0], 10);
}

/* Unsignaled requests in front of a failed one stay silent, it reports. */
static void unsignaled_failure_reports(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_mr mr = { .rkey = ~d->mr->rkey };
	struct vt_mem fake = { .buf = d->buf, .len = 64, .mr = &mr };

	for (int i = 0; i < 6; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 64,
			.remote = i == 3 ? &fake : d });
	vt_expect(p->scq[0], 3, IBV_WC_REM_ACCESS_ERR);
	vt_expect(p->scq[0], 4, IBV_WC_WR_FLUSH_ERR);
	vt_expect(p->scq[0], 5, IBV_WC_WR_FLUSH_ERR);
	vt_quiet(p->scq[0], 10);
}

/* ERR in the middle of big transfers: each request completes once. */
static void error_under_traffic(struct vt *t)
{
	const size_t len = 1 << 20;
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, len, VT_ALL);
	bool flushing = false;

	for (int i = 0; i < 10; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.op = i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
			.id = i, .local = s, .len = len, .remote = d,
			.flags = IBV_SEND_SIGNALED });
	vt_to(p->qp[t->arg], IBV_QPS_ERR);
	if (t->arg)
		vt_to(p->qp[0], IBV_QPS_ERR);
	for (int i = 0; i < 10; i++) {
		struct ibv_wc wc = vt_poll(p->scq[0]);

		VT_EQ(wc.wr_id, i);
		if (flushing)
			VT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		else
			VT_OK(wc.status == IBV_WC_SUCCESS ||
			      wc.status == IBV_WC_WR_FLUSH_ERR, "%s",
			      ibv_wc_status_str(wc.status));
		flushing = wc.status != IBV_WC_SUCCESS;
	}
	vt_quiet(p->scq[0], 10);
}

static void destroy_under_traffic(struct vt *t)
{
	const size_t len = 1 << 20;
	struct vt_mem *s = vt_mem(&t->a, len, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, len, VT_ALL);

	for (int round = 0; round < 10; round++) {
		struct vt_pair *p = vt_pair(t, NULL);

		for (int i = 0; i < 4; i++)
			vt_send(p->qp[0], &(struct vt_wr){
				.op = i % 2 ? IBV_WR_RDMA_READ :
					      IBV_WR_RDMA_WRITE,
				.id = i, .local = s, .len = len, .remote = d,
				.flags = IBV_SEND_SIGNALED });
		for (int i = 0; i < 2; i++) {
			int side = (i + round) & 1;

			vt_forget(p->qp[side]);
			VT_EQ(ibv_destroy_qp(p->qp[side]), 0);
		}
	}
}

static void error_reset_and_go(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);

	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 4; i++) {
			vt_recv(p->qp[0], i, NULL, 0, 0);
			send_id(p, i, IBV_SEND_SIGNALED);
		}
		for (int i = 0; i < 2; i++)
			vt_to(p->qp[i], IBV_QPS_ERR);
		for (int i = 0; i < 4; i++) {
			vt_expect(p->scq[0], i, IBV_WC_WR_FLUSH_ERR);
			vt_expect(p->rcq[0], i, IBV_WC_WR_FLUSH_ERR);
		}
		for (int i = 0; i < 2; i++)
			vt_to(p->qp[i], IBV_QPS_RESET);
		vt_connect(p);
		vt_recv(p->qp[1], 7, NULL, 0, 0);
		send_id(p, 8, IBV_SEND_SIGNALED);
		vt_expect(p->scq[0], 8, IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], 7, IBV_WC_SUCCESS);
	}
}

/* A neighbour on the same CQ does not notice. */
static void neighbour_goes_on(struct vt *t)
{
	struct ibv_cq *cq = vt_cq(&t->a, 256, NULL);
	struct vt_opt o = { .scq = { cq, NULL } };
	struct vt_pair *p = vt_pair(t, &o), *q = vt_pair(t, &o);
	int flushed = 0, good = 0;

	for (int i = 0; i < NR; i++) {
		vt_recv(q->qp[1], i, NULL, 0, 0);
		send_id(p, i, IBV_SEND_SIGNALED);
		send_id(q, 1000 + i, IBV_SEND_SIGNALED);
		if (i == NR / 2)
			vt_to(p->qp[0], IBV_QPS_ERR);
	}
	while (flushed + good < 2 * NR) {
		struct ibv_wc wc = vt_poll(cq);

		if (wc.wr_id >= 1000) {
			VT_EQ(wc.wr_id, 1000 + good++);
			VT_EQ(wc.status, IBV_WC_SUCCESS);
		} else {
			VT_EQ(wc.wr_id, flushed++);
			VT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		}
	}
}

static const struct vt_case cases[] = {
	VT_CASE(receives_flush_in_order),
	VT_CASE(sends_flush_in_order),
	VT_CASE(both_queues_into_one_cq),
	VT_CASE(posts_in_error_flush),
	VT_CASE(flush_behind_failure),
	VT_CASE(unsignaled_failure_reports),
	VT_CASE_ARG("error_under_traffic", error_under_traffic, 0),
	VT_CASE_ARG("error_on_both_sides", error_under_traffic, 1),
	VT_CASE(destroy_under_traffic),
	VT_CASE(error_reset_and_go),
	VT_CASE(neighbour_goes_on),
};

VT_MAIN(cases)

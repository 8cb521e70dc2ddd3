// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues: order, limit event, life, resizing. */
#include <sys/resource.h>

#include "vt.h"

#define NR_QP 4

/* Pairs whose b side receives from one shared queue into one CQ. */
static void srq_pairs(struct vt *t, struct vt_pair **p, int n,
		      struct ibv_srq *srq, struct ibv_cq *rcq)
{
	struct vt_opt o = { .srq = { NULL, srq }, .rcq = { NULL, rcq } };

	for (int i = 0; i < n; i++)
		p[i] = vt_pair(t, &o);
}

static void shared_by_several(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 2, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64 * 100, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 * 100, VT_ALL);
	struct vt_pair *p[NR_QP];

	srq_pairs(t, p, NR_QP, srq, rcq);
	for (int i = 0; i < 32; i++)
		vt_srq_recv(srq, i, d, 100 * i, 100);
	for (int i = 0; i < 32; i++) {
		struct vt_pair *q = p[i * 7 % NR_QP];
		struct ibv_wc wc;

		vt_fill(s, 100 * i, 100, i);
		vt_send(q->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = s,
			.off = 100 * i, .len = 100,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(q->scq[0], i, IBV_WC_SUCCESS);
		wc = vt_expect(rcq, i, IBV_WC_SUCCESS);
		VT_EQ(wc.qp_num, q->qp[1]->qp_num);
		vt_verify(d, 100 * i, 100, i);
	}
}

/* It is ibv_modify_srq() that arms the limit. */
static void limit_at_creation(struct vt *t)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = 1, .srq_limit = 1u << 30 },
	};
	struct ibv_srq *srq = ibv_create_srq(t->a.pd, &init);
	struct ibv_srq_attr attr;

	VT_OK(srq, "%s", strerror(errno));
	VT_EQ(ibv_query_srq(srq, &attr), 0);
	VT_EQ(attr.srq_limit, 0);
	VT_EQ(ibv_destroy_srq(srq), 0);
}

static void limit_event_once(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_srq_attr attr = { .srq_limit = 5 };
	struct vt_pair *p[1];

	srq_pairs(t, p, 1, srq, rcq);
	for (int i = 0; i < 10; i++)
		vt_srq_recv(srq, i, d, 0, 64);
	VT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	for (int i = 0; i < 8; i++) {
		vt_send(p[0]->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p[0]->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(rcq, i, IBV_WC_SUCCESS);
		if (i < 5)
			VT_OK(!vt_async_pending(&t->b, 0), "event at %d left",
			      9 - i);
	}
	VT_OK(vt_async(&t->b, IBV_EVENT_SRQ_LIMIT_REACHED) == srq, "object");
	VT_OK(!vt_async_pending(&t->b, 20), "second event");
	VT_EQ(ibv_query_srq(srq, &attr), 0);
	VT_EQ(attr.srq_limit, 0);
	attr.srq_limit = 5;
	VT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	vt_send(p[0]->qp[0], &(struct vt_wr){ .op = IBV_WR_SEND, .id = 9 });
	vt_async(&t->b, IBV_EVENT_SRQ_LIMIT_REACHED);
	vt_expect(rcq, 8, IBV_WC_SUCCESS);
}

/*
 * All that an event had posted may have been taken before the limit is armed
 * again. A message that finds nothing raises the next event, or there is none.
 */
static void limit_armed_while_empty(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_srq_attr attr = { .srq_limit = 5 };
	struct vt_pair *p[1];

	srq_pairs(t, p, 1, srq, rcq);
	VT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	vt_send(p[0]->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .flags = IBV_SEND_SIGNALED });
	VT_OK(vt_async(&t->b, IBV_EVENT_SRQ_LIMIT_REACHED) == srq, "object");
	VT_EQ(ibv_query_srq(srq, &attr), 0);
	VT_EQ(attr.srq_limit, 0);
	vt_srq_recv(srq, 1, d, 0, 64);
	vt_expect(p[0]->scq[0], 0, IBV_WC_SUCCESS);
	vt_expect(rcq, 1, IBV_WC_SUCCESS);
	VT_OK(!vt_async_pending(&t->b, 20), "second event");
}

/* An empty shared queue answers RNR; posting lets the sender go on. */
static void empty_waits_for_post(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_pair *p[NR_QP];

	srq_pairs(t, p, NR_QP, srq, rcq);
	for (int i = 0; i < NR_QP; i++)
		vt_send(p[i]->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i,
			.flags = IBV_SEND_SIGNALED });
	for (int i = 0; i < NR_QP; i++)
		vt_quiet(p[i]->scq[0], 5);
	for (int i = 0; i < NR_QP; i++)
		vt_srq_recv(srq, i, d, 0, 64);
	for (int i = 0; i < NR_QP; i++) {
		vt_expect(p[i]->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(rcq, i, IBV_WC_SUCCESS);
	}
}

static void full_says_enomem(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 10, 1, 0);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_sge sge = { (uintptr_t)d->buf, 64, d->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	int n = 0, rc;

	while (!(rc = ibv_post_srq_recv(srq, &wr, &bad)) && n < 1000)
		n++;
	VT_EQ(rc, ENOMEM);
	VT_OK(bad == &wr, "bad_wr");
	VT_OK(n >= 10, "%d taken", n);
	wr.num_sge = 100;
	rc = ibv_post_srq_recv(srq, &wr, &bad);
	VT_OK(rc == EINVAL || rc == ENOMEM, "%d", rc);
}

/* Destroying a user leaves the entries to the others. */
static void user_destroyed_others_go_on(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_pair *p[2];

	srq_pairs(t, p, 2, srq, rcq);
	for (int i = 0; i < 4; i++)
		vt_srq_recv(srq, i, d, 0, 64);
	vt_forget(p[0]->qp[1]);
	VT_EQ(ibv_destroy_qp(p[0]->qp[1]), 0);
	for (int i = 0; i < 4; i++) {
		vt_send(p[1]->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p[1]->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(rcq, i, IBV_WC_SUCCESS);
	}
}

/* A QP of an SRQ has nothing of its own to flush but says when it is done. */
static void last_wqe_reached(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_pair *p[1];

	srq_pairs(t, p, 1, srq, rcq);
	vt_srq_recv(srq, 1, d, 0, 64);
	vt_to(p[0]->qp[1], IBV_QPS_ERR);
	VT_OK(vt_async(&t->b, IBV_EVENT_QP_LAST_WQE_REACHED) == p[0]->qp[1],
	      "other QP");
	vt_quiet(rcq, 20);
}

static void post_recv_on_qp_refused(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct vt_pair *p[1];

	srq_pairs(t, p, 1, srq, vt_cq(&t->b, 64, NULL));
	VT_OK(vt_try_recv(p[0]->qp[1], 1, NULL, 0, 0), "accepted");
}

static void ud_uses_srq(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct vt_opt o = { .type = IBV_QPT_UD, .srq = { NULL, srq } };
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_pair *p = vt_pair(t, &o);

	vt_srq_recv(srq, 1, d, 0, 64 + VT_GRH);
	vt_fill(s, 0, 64, 1);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64,
		.ah = p->ah[0], .qpn = p->qp[1]->qp_num });
	vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
	vt_verify(d, VT_GRH, 64, 1);
}

/* What is too short for a datagram is not kept from the next message. */
static void long_datagram_takes_nothing(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_opt ud = {
		.type = IBV_QPT_UD, .srq = { NULL, srq }, .rcq = { NULL, rcq },
	};
	struct vt_mem *d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	struct vt_mem *s = vt_mem(&t->a, 65, VT_ALL);
	struct vt_pair *p = vt_pair(t, &ud), *rc;
	struct vt_wr w = {
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 65,
		.flags = IBV_SEND_SIGNALED,
		.ah = p->ah[0], .qpn = p->qp[1]->qp_num,
	};

	srq_pairs(t, &rc, 1, srq, rcq);
	vt_srq_recv(srq, 1, d, 0, 64 + VT_GRH);
	vt_send(p->qp[0], &w);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_quiet(rcq, 20);
	vt_send(rc->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 2, .local = s, .len = 64,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(rc->scq[0], 2, IBV_WC_SUCCESS);
	vt_expect(rcq, 1, IBV_WC_SUCCESS);
	/* One that is short enough takes the next. */
	vt_srq_recv(srq, 2, d, 0, 64 + VT_GRH);
	w.len = 64;
	vt_send(p->qp[0], &w);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_expect(rcq, 2, IBV_WC_SUCCESS);
}

/* An entry that is too short for a message of UC ends: its buffer comes back. */
static void long_uc_message_ends_its_entry(struct vt *t)
{
	static const uint32_t room[] = { 64, 9000 };
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_opt uc = {
		.type = IBV_QPT_UC, .srq = { NULL, srq }, .rcq = { NULL, rcq },
	};
	struct vt_mem *d = vt_mem(&t->b, 9000, VT_ALL);
	struct vt_mem *s = vt_mem(&t->a, 18000, VT_ALL);
	struct vt_pair *p = vt_pair(t, &uc), *rc;
	struct vt_wr w = {
		.op = IBV_WR_SEND, .id = 1, .local = s,
		.flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;

	srq_pairs(t, &rc, 1, srq, rcq);
	for (int i = 0; i < 2; i++) {
		vt_srq_recv(srq, 10 + i, d, 0, room[i]);
		w.len = 2 * room[i];
		vt_send(p->qp[0], &w);
		vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
		wc = vt_expect(rcq, 10 + i, IBV_WC_LOC_LEN_ERR);
		VT_EQ(wc.qp_num, p->qp[1]->qp_num);
		/* Both queue pairs can have it then. */
		w.len = room[i];
		vt_srq_recv(srq, 20 + i, d, 0, room[i]);
		vt_send(rc->qp[0], &w);
		vt_expect(rc->scq[0], 1, IBV_WC_SUCCESS);
		vt_expect(rcq, 20 + i, IBV_WC_SUCCESS);
		vt_srq_recv(srq, 30 + i, d, 0, room[i]);
		vt_send(p->qp[0], &w);
		vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
		wc = vt_expect(rcq, 30 + i, IBV_WC_SUCCESS);
		VT_EQ(wc.byte_len, room[i]);
	}
}

/* Thousands of messages through a ring of sixteen. */
static void ring_wrap(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 16, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 * 8, VT_ALL);
	struct vt_pair *p[2];

	srq_pairs(t, p, 2, srq, rcq);
	for (int i = 0; i < 8; i++)
		vt_srq_recv(srq, i, d, 64 * i, 64);
	for (int i = 0; i < 2000; i++) {
		struct vt_pair *q = p[i & 1];

		vt_fill(s, 0, 64, i);
		vt_send(q->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = s, .len = 64,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(rcq, i, IBV_WC_SUCCESS);
		vt_expect(q->scq[0], i, IBV_WC_SUCCESS);
		vt_verify(d, 64 * (i % 8), 64, i);
		vt_srq_recv(srq, i + 8, d, 64 * (i % 8), 64);
	}
}

static int undo_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static int resize(struct ibv_srq *srq, unsigned int max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

/* What is posted stays posted, in order, whatever the size becomes. */
static void resize_keeps_entries(struct vt *t)
{
	static const unsigned int sizes[] = { 500, 40, 33, 2000, 64 };
	struct ibv_srq *srq = vt_srq(&t->b, 64, 2, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	int posted = 0, taken = 0;
	struct vt_pair *p[1];

	srq_pairs(t, p, 1, srq, rcq);
	for (unsigned int i = 0; i < 40; i++) {
		struct ibv_srq_attr attr;

		while (posted < taken + 30)
			vt_srq_recv(srq, posted++, d, 0, 64);
		VT_EQ(resize(srq, sizes[i % ARRAY_SIZE(sizes)]), 0);
		VT_EQ(ibv_query_srq(srq, &attr), 0);
		VT_OK(attr.max_wr >= sizes[i % ARRAY_SIZE(sizes)], "%u",
		      attr.max_wr);
		for (int n = 0; n < 17; n++, taken++) {
			vt_fill(s, 0, 64, taken);
			vt_send(p[0]->qp[0], &(struct vt_wr){
				.op = IBV_WR_SEND, .id = taken, .local = s,
				.len = 64, .flags = IBV_SEND_SIGNALED });
			vt_expect(p[0]->scq[0], taken, IBV_WC_SUCCESS);
			vt_expect(rcq, taken, IBV_WC_SUCCESS);
			vt_verify(d, 0, 64, taken);
		}
	}
}

static void resize_bounds(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_srq_attr attr = { .max_wr = 32, .srq_limit = 33 };
	int n = 20;

	VT_OK(t->b.dev.device_cap_flags & IBV_DEVICE_SRQ_RESIZE, "no flag");
	for (int i = 0; i < n; i++)
		vt_srq_recv(srq, i, d, 0, 64);
	VT_EQ(resize(srq, 16), EINVAL);
	VT_EQ(resize(srq, 0), EINVAL);
	VT_EQ(resize(srq, t->b.dev.max_srq_wr + 1), EINVAL);
	VT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT),
	      EINVAL);
	VT_EQ(ibv_query_srq(srq, &attr), 0);
	VT_EQ(attr.max_wr, 64);
	attr.max_wr = 32;
	attr.srq_limit = 8;
	VT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), 0);
	VT_EQ(ibv_query_srq(srq, &attr), 0);
	VT_EQ(attr.max_wr, 32);
	VT_EQ(attr.srq_limit, 8);
	VT_EQ(resize(srq, 4), EINVAL);
	for (; n < 32; n++)
		vt_srq_recv(srq, n, d, 0, 64);
	VT_EQ(resize(srq, t->b.dev.max_srq_wr), 0);
}

/* Nothing has happened if the new ring finds no room in the process. */
static void resize_without_address_space(struct vt *t)
{
	struct ibv_srq *srq = vt_srq(&t->b, 64, 1, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct ibv_srq_attr attr = { .max_wr = 10000, .srq_limit = 7 };
	struct rlimit limit, none;
	struct vt_pair *p[1];

	srq_pairs(t, p, 1, srq, rcq);
	vt_srq_recv(srq, 0, d, 0, 64);
	VT_EQ(getrlimit(RLIMIT_AS, &limit), 0);
	none = limit;
	none.rlim_cur = 1 << 20;
	VT_EQ(setrlimit(RLIMIT_AS, &none), 0);
	VT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT),
	      ENOMEM);
	VT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	VT_EQ(ibv_query_srq(srq, &attr), 0);
	VT_EQ(attr.max_wr, 64);
	VT_EQ(attr.srq_limit, 0);
	vt_srq_recv(srq, 1, d, 0, 64);
	for (int i = 0; i < 2; i++) {
		vt_send(p[0]->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .flags = IBV_SEND_SIGNALED });
		vt_expect(p[0]->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(rcq, i, IBV_WC_SUCCESS);
	}
	VT_EQ(resize(srq, 10000), 0);
}

/* A message into as many pieces as an entry may have. */
static void most_pieces(struct vt *t)
{
	int nr = t->b.dev.max_srq_sge;
	struct ibv_srq *srq = vt_srq(&t->b, 16, nr, 0);
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_mem *s = vt_mem(&t->a, nr * 100, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, nr * 100, VT_ALL);
	struct ibv_sge *sge = calloc(nr, sizeof(*sge));
	struct ibv_recv_wr *bad, wr = { .sg_list = sge, .num_sge = nr };
	struct vt_pair *p[1];

	VT_OK(sge && nr >= 16, "%d", nr);
	for (int i = 0; i < nr; i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)d->buf + 100 * i, 100,
					   d->mr->lkey };
	srq_pairs(t, p, 1, srq, rcq);
	VT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	vt_fill(s, 0, nr * 100, 7);
	vt_send(p[0]->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .local = s, .len = nr * 100 });
	vt_expect(rcq, 0, IBV_WC_SUCCESS);
	vt_verify(d, 0, nr * 100, 7);
	free(sge);
}

/*
 * An SRQ of a domain of its own. Memory of that domain is good for its entries,
 * that of the queue pair's domain is not (t->arg); what the peer names by R_Key
 * is of the queue pair's domain.
 */
static void own_domain(struct vt *t)
{
	struct ibv_pd *pd = ibv_alloc_pd(t->b.ctx), *qp_pd = t->b.pd;
	enum ibv_qp_type type = t->arg & 0xff;
	bool good = !(t->arg >> 8);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL), *d, *w;
	struct ibv_cq *rcq = vt_cq(&t->b, 64, NULL);
	struct vt_opt o = { .type = type, .rcq = { NULL, rcq } };
	struct ibv_srq *srq;
	struct vt_pair *p;

	VT_OK(pd, "%s", strerror(errno));
	vt_defer(undo_pd, pd, "PD");
	w = vt_mem(&t->b, 64, VT_ALL);
	t->b.pd = pd;
	srq = vt_srq(&t->b, 64, 1, 0);
	if (!good)
		t->b.pd = qp_pd;
	d = vt_mem(&t->b, 64 + VT_GRH, VT_ALL);
	t->b.pd = qp_pd;
	o.srq[1] = srq;
	p = vt_pair(t, &o);
	memset(d->buf, 0, d->len);
	vt_srq_recv(srq, 1, d, 0, d->len);
	vt_fill(s, 0, 64, 1);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 1, .local = s, .len = 64,
		.flags = IBV_SEND_SIGNALED, .ah = p->ah[0],
		.qpn = p->qp[1]->qp_num });
	if (!good) {
		vt_expect(rcq, 1, IBV_WC_LOC_PROT_ERR);
		vt_expect(p->scq[0], 1, type == IBV_QPT_RC ?
			  IBV_WC_REM_OP_ERR : IBV_WC_SUCCESS);
		for (size_t i = 0; i < d->len; i++)
			VT_OK(!d->buf[i], "byte %zu is 0x%x", i, d->buf[i]);
		return;
	}
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	vt_expect(rcq, 1, IBV_WC_SUCCESS);
	vt_verify(d, type == IBV_QPT_UD ? VT_GRH : 0, 64, 1);
	if (type == IBV_QPT_UD)
		return;
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 2, .local = s, .len = 64, .remote = w,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
	if (type != IBV_QPT_RC)
		return;
	vt_send(p->qp[0], &(struct vt_wr){
		.id = 3, .local = s, .len = 64, .remote = d,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 3, IBV_WC_REM_ACCESS_ERR);
}

#define QP_DOMAIN	(1 << 8)

static const struct vt_case cases[] = {
	VT_CASE(shared_by_several),
	VT_CASE(limit_at_creation),
	VT_CASE(limit_event_once),
	VT_CASE(limit_armed_while_empty),
	VT_CASE(empty_waits_for_post),
	VT_CASE(full_says_enomem),
	VT_CASE(user_destroyed_others_go_on),
	VT_CASE(last_wqe_reached),
	VT_CASE(post_recv_on_qp_refused),
	VT_CASE(ud_uses_srq),
	VT_CASE(long_datagram_takes_nothing),
	VT_CASE(long_uc_message_ends_its_entry),
	VT_CASE(ring_wrap),
	VT_CASE(resize_keeps_entries),
	VT_CASE(resize_bounds),
	VT_CASE(resize_without_address_space),
	VT_CASE(most_pieces),
	VT_CASE_ARG("own_domain_rc", own_domain, IBV_QPT_RC),
	VT_CASE_ARG("own_domain_uc", own_domain, IBV_QPT_UC),
	VT_CASE_ARG("own_domain_ud", own_domain, IBV_QPT_UD),
	VT_CASE_ARG("domain_of_qp_refused_rc", own_domain,
		    IBV_QPT_RC | QP_DOMAIN),
	VT_CASE_ARG("domain_of_qp_refused_uc", own_domain,
		    IBV_QPT_UC | QP_DOMAIN),
	VT_CASE_ARG("domain_of_qp_refused_ud", own_domain,
		    IBV_QPT_UD | QP_DOMAIN),
};

VT_MAIN(cases)

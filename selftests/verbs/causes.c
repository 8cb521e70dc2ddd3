// SPDX-License-Identifier: GPL-2.0
/* vendor_err of completions: why a request failed, see enum hroce_cause. */
#include <sys/mman.h>

#include <rdma/hroce-abi.h>

#include "vt.h"

#define LEN	8192
#define NAK(syndrome)	(HROCE_CAUSE_PEER | (syndrome))
#define NAK_INV_REQ	0x61
#define NAK_REM_ACCESS	0x62
#define NAK_REM_OP	0x63
#define RNR(code)	NAK(0x20 | (code))

/**
 * struct duo - a pair with memory
 * @p: pair; its first side sends
 * @s: memory of the first side
 * @d: memory of the second side
 */
struct duo {
	struct vt_pair *p;
	struct vt_mem *s;
	struct vt_mem *d;
};

static struct duo duo_make(struct vt *t, const struct vt_opt *o)
{
	struct duo u;

	if (!vt_is_hroce(&t->a) || !vt_is_hroce(&t->b))
		vt_skip("causes of hroce alone");
	u.s = vt_mem(&t->a, LEN, VT_ALL | IBV_ACCESS_MW_BIND);
	u.d = vt_mem(&t->b, LEN, VT_ALL);
	u.p = vt_pair(t, o);
	return u;
}

static void expect(struct ibv_cq *cq, enum ibv_wc_status status, uint32_t cause)
{
	struct ibv_wc wc = vt_poll(cq);

	VT_EQ(wc.status, status);
	VT_OK(wc.vendor_err == cause, "0x%x, not 0x%x", wc.vendor_err, cause);
}

/* The request fails at once, and the one behind it without a cause. */
static void fails(struct duo *u, struct vt_wr w, enum ibv_wc_status status,
		  uint32_t cause)
{
	w.flags |= IBV_SEND_SIGNALED;
	vt_send(u->p->qp[0], &w);
	expect(u->p->scq[0], status, cause);
	vt_send(u->p->qp[0], &w);
	expect(u->p->scq[0], IBV_WC_WR_FLUSH_ERR, 0);
}

static void success_has_none(struct vt *t)
{
	struct duo u = duo_make(t, NULL);

	vt_recv(u.p->qp[1], 1, u.d, 0, 64);
	vt_send(u.p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .local = u.s, .len = 64,
		.flags = IBV_SEND_SIGNALED });
	expect(u.p->scq[0], IBV_WC_SUCCESS, 0);
	expect(u.p->rcq[1], IBV_WC_SUCCESS, 0);
}

static int undo_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

/* Another protection domain of @e, in which the next objects are made. */
static struct ibv_pd *other_pd(struct vt_end *e)
{
	struct ibv_pd *pd = ibv_alloc_pd(e->ctx);

	VT_OK(pd, "%s", strerror(errno));
	vt_defer(undo_pd, pd, "PD");
	return pd;
}

/* Memory of this side: each way in which it may not be used. */
static void local_memory(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	struct ibv_pd *pd = t->a.pd;
	struct vt_wr w = { .local = u.s, .len = LEN, .remote = u.d };
	struct ibv_mr mr = *u.s->mr;
	struct vt_mem m = { .buf = u.s->buf, .len = LEN, .mr = &mr };

	switch (t->arg) {
	case HROCE_CAUSE_KEY:
		mr.lkey = ~mr.lkey;
		w.local = &m;
		break;
	case HROCE_CAUSE_DOMAIN:
		t->a.pd = other_pd(&t->a);
		w.local = vt_mem(&t->a, LEN, VT_ALL);
		t->a.pd = pd;
		break;
	case HROCE_CAUSE_RANGE:
		w.off = 1;
		break;
	case HROCE_CAUSE_RIGHTS:
		w.local = vt_mem(&t->a, LEN, 0);
		w.op = IBV_WR_RDMA_READ;
		break;
	case HROCE_CAUSE_FETCH:
		m = *vt_mem(&t->a, LEN, IBV_ACCESS_ON_DEMAND);
		w.local = &m;
		VT_EQ(mprotect(m.buf, LEN, PROT_NONE), 0);
		break;
	}
	fails(&u, w, IBV_WC_LOC_PROT_ERR, t->arg);
}

/* What the peer answers. */
static void refused_by_peer(struct vt *t)
{
	struct vt_opt o = { .access = IBV_ACCESS_LOCAL_WRITE };
	struct duo u = duo_make(t, &o);

	fails(&u, (struct vt_wr){ .local = u.s, .len = 64, .remote = u.d },
	      IBV_WC_REM_INV_REQ_ERR, NAK(NAK_INV_REQ));
	u.p = vt_pair(t, NULL);
	u.d = vt_mem(&t->b, LEN, 0);
	fails(&u, (struct vt_wr){ .local = u.s, .len = 64, .remote = u.d },
	      IBV_WC_REM_ACCESS_ERR, NAK(NAK_REM_ACCESS));
	u.p = vt_pair(t, NULL);
	vt_recv(u.p->qp[1], 1, u.d, 0, 64);
	fails(&u, (struct vt_wr){ .op = IBV_WR_SEND, .local = u.s, .len = 64 },
	      IBV_WC_REM_OP_ERR, NAK(NAK_REM_OP));
	expect(u.p->rcq[1], IBV_WC_LOC_PROT_ERR, HROCE_CAUSE_RIGHTS);
}

static void receiver_not_ready(struct vt *t)
{
	struct vt_opt o = { .rnr = -1, .rnr_timer = 7 };
	struct duo u = duo_make(t, &o);

	fails(&u, (struct vt_wr){ .op = IBV_WR_SEND },
	      IBV_WC_RNR_RETRY_EXC_ERR, RNR(7));
}

static void no_answer(struct vt *t)
{
	struct vt_opt o = { .timeout = 10, .retry = 1 };
	struct duo u = duo_make(t, &o);

	vt_to(u.p->qp[1], IBV_QPS_ERR);
	fails(&u, (struct vt_wr){ .local = u.s, .len = 64, .remote = u.d },
	      IBV_WC_RETRY_EXC_ERR, HROCE_CAUSE_TIMEOUT);
}

/* What ends a receive request. */
static void receive_too_short(struct vt *t)
{
	struct duo u = duo_make(t, NULL);

	vt_recv(u.p->qp[1], 1, u.d, 0, 63);
	vt_recv(u.p->qp[1], 2, u.d, 0, 63);
	fails(&u, (struct vt_wr){ .op = IBV_WR_SEND, .local = u.s, .len = 64 },
	      IBV_WC_REM_INV_REQ_ERR, NAK(NAK_INV_REQ));
	expect(u.p->rcq[1], IBV_WC_LOC_LEN_ERR, HROCE_CAUSE_RECV_LENGTH);
	expect(u.p->rcq[1], IBV_WC_WR_FLUSH_ERR, 0);
}

static void receive_with_bad_keys(struct vt *t)
{
	struct vt_opt o = { .timeout = 10, .retry = 1 };
	struct duo u = duo_make(t, &o);
	struct ibv_mr mr = { .rkey = ~u.d->mr->rkey };
	struct vt_mem fake = { .buf = u.d->buf, .len = LEN, .mr = &mr };
	struct vt_wr w;

	vt_recv(u.p->qp[1], 1, NULL, 0, 0);
	fails(&u, (struct vt_wr){ .op = IBV_WR_SEND_WITH_INV, .imm = 0x12300 },
	      IBV_WC_RETRY_EXC_ERR, HROCE_CAUSE_TIMEOUT);
	expect(u.p->rcq[1], IBV_WC_MW_BIND_ERR, HROCE_CAUSE_RECV_INVALIDATE);
	u.p = vt_pair(t, NULL);
	vt_recv(u.p->qp[1], 1, NULL, 0, 0);
	w = (struct vt_wr){ .op = IBV_WR_RDMA_WRITE_WITH_IMM, .local = u.s,
			    .len = 64, .remote = &fake };
	fails(&u, w, IBV_WC_REM_ACCESS_ERR, NAK(NAK_REM_ACCESS));
	expect(u.p->rcq[1], IBV_WC_LOC_ACCESS_ERR, HROCE_CAUSE_RECV_KEY);
}

static void local_invalidation(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	struct vt_wr w = { .op = IBV_WR_LOCAL_INV, .imm = u.s->mr->rkey };

	fails(&u, w, IBV_WC_MW_BIND_ERR, HROCE_CAUSE_INVALIDATE);
}

static void binding(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	struct vt_mem *plain = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_win w = { .mw = vt_mw(other_pd(&t->a), IBV_MW_TYPE_2) };

	w.mr.rkey = w.mw->rkey;
	vt_bind(u.p->qp[0], &w, u.s, 0, LEN, IBV_ACCESS_REMOTE_READ, 0);
	expect(u.p->scq[0], IBV_WC_MW_BIND_ERR, HROCE_CAUSE_WINDOW);
	w.mw = vt_mw(t->a.pd, IBV_MW_TYPE_2);
	w.mr.rkey = w.mw->rkey;
	u.p = vt_pair(t, NULL);
	vt_bind(u.p->qp[0], &w, plain, 0, LEN, IBV_ACCESS_REMOTE_READ, 0);
	expect(u.p->scq[0], IBV_WC_MW_BIND_ERR, HROCE_CAUSE_BIND_REGION);
	u.p = vt_pair(t, NULL);
	vt_bind(u.p->qp[0], &w, u.s, 0, LEN, IBV_ACCESS_REMOTE_READ, 0);
	expect(u.p->scq[0], IBV_WC_SUCCESS, 0);
	vt_bind(u.p->qp[0], &w, u.s, 0, LEN, IBV_ACCESS_REMOTE_READ, 0);
	expect(u.p->scq[0], IBV_WC_MW_BIND_ERR, HROCE_CAUSE_BIND_STATE);
}

/* Datagrams: an address handle of another domain, and one that is too long. */
static void datagrams(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UD };
	struct duo u = duo_make(t, &o);
	struct ibv_pd *pd = t->a.pd;
	struct vt_wr w = { .op = IBV_WR_SEND, .local = u.s, .len = LEN,
			   .ah = u.p->ah[0], .qpn = u.p->qp[1]->qp_num,
			   .flags = IBV_SEND_SIGNALED };

	vt_send(u.p->qp[0], &w);
	expect(u.p->scq[0], IBV_WC_LOC_LEN_ERR, HROCE_CAUSE_LENGTH);
	u.p = vt_pair(t, &o);
	t->a.pd = other_pd(&t->a);
	w.ah = vt_ah(&t->a, &t->b.gid);
	t->a.pd = pd;
	w.len = 64;
	vt_send(u.p->qp[0], &w);
	expect(u.p->scq[0], IBV_WC_LOC_QP_OP_ERR, HROCE_CAUSE_AH);
}

/* Extended queues tell the same. */
static void extended_queue(struct vt *t)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16, .wc_flags = 0 };
	struct vt_opt o = { .access = IBV_ACCESS_LOCAL_WRITE };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(t->a.ctx, &attr);
	uint64_t end = vt_deadline_us();
	unsigned int spins = 0;
	struct duo u;
	int err;

	VT_OK(cq, "%s", strerror(errno));
	o.scq[0] = ibv_cq_ex_to_cq(cq);
	u = duo_make(t, &o);
	vt_send(u.p->qp[0], &(struct vt_wr){
		.local = u.s, .len = 64, .remote = u.d });
	while ((err = vt_start_poll(cq)) == ENOENT) {
		VT_OK(vt_now_us() < end, "no completion");
		vt_pause(&spins);
	}
	VT_EQ(err, 0);
	VT_EQ(cq->status, IBV_WC_REM_INV_REQ_ERR);
	VT_EQ(ibv_wc_read_vendor_err(cq), NAK(NAK_INV_REQ));
	vt_end_poll(cq);
	vt_forget(u.p->qp[0]);
	VT_EQ(ibv_destroy_qp(u.p->qp[0]), 0);
	VT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

static const struct vt_case cases[] = {
	VT_CASE(success_has_none),
	VT_CASE_ARG("local_key", local_memory, HROCE_CAUSE_KEY),
	VT_CASE_ARG("local_domain", local_memory, HROCE_CAUSE_DOMAIN),
	VT_CASE_ARG("local_range", local_memory, HROCE_CAUSE_RANGE),
	VT_CASE_ARG("local_rights", local_memory, HROCE_CAUSE_RIGHTS),
	VT_CASE_ARG("local_fetch", local_memory, HROCE_CAUSE_FETCH),
	VT_CASE(refused_by_peer),
	VT_CASE(receiver_not_ready),
	VT_CASE(no_answer),
	VT_CASE(receive_too_short),
	VT_CASE(receive_with_bad_keys),
	VT_CASE(local_invalidation),
	VT_CASE(binding),
	VT_CASE(datagrams),
	VT_CASE(extended_queue),
};

VT_MAIN(cases)

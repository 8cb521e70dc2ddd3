// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that must fail at the requester: the right status, both queue
 * pairs in the right state, the right event, and nothing written anywhere.
 */
#include "vt.h"

/**
 * struct duo - a pair with memory, receives posted on b
 * @p: pair
 * @s: memory on a
 * @d: memory on b, zeroed
 */
struct duo {
	struct vt_pair *p;
	struct vt_mem *s;
	struct vt_mem *d;
};

static struct duo duo_opt(struct vt *t, const struct vt_opt *o, int access)
{
	struct duo u;

	u.p = vt_pair(t, o);
	u.s = vt_mem(&t->a, 8192, VT_ALL);
	u.d = vt_mem(&t->b, 8192, access);
	memset(u.d->buf, 0, u.d->len);
	vt_fill(u.s, 0, u.s->len, 1);
	return u;
}

static struct duo duo_make(struct vt *t)
{
	return duo_opt(t, NULL, VT_ALL);
}

static void untouched(const struct vt_mem *m)
{
	for (size_t i = 0; i < m->len; i++)
		VT_OK(!m->buf[i], "byte %zu is 0x%x", i, m->buf[i]);
	vt_verify_guards(m);
}

/*
 * The request @w fails with @status; the one behind it is flushed. The
 * responder's queue pair goes to the error state with @event and flushes.
 */
static void refused(struct vt *t, struct duo *u, const struct vt_wr *w,
		    enum ibv_wc_status status, enum ibv_event_type event)
{
	struct vt_wr v = *w;

	vt_recv(u->p->qp[1], 50, NULL, 0, 0);
	v.id = 1;
	v.flags |= IBV_SEND_SIGNALED;
	vt_send(u->p->qp[0], &v);
	vt_expect(u->p->scq[0], 1, status);
	vt_wait_state(u->p->qp[0], IBV_QPS_ERR);
	vt_send(u->p->qp[0], &v);
	vt_expect(u->p->scq[0], 1, IBV_WC_WR_FLUSH_ERR);
	vt_expect(u->p->rcq[1], 50, IBV_WC_WR_FLUSH_ERR);
	vt_wait_state(u->p->qp[1], IBV_QPS_ERR);
	VT_OK(vt_async(&t->b, event) == u->p->qp[1], "other QP");
	untouched(u->d);
}

static struct vt_wr rdma(struct duo *u, enum ibv_wr_opcode op)
{
	bool atomic = op == IBV_WR_ATOMIC_CMP_AND_SWP ||
		      op == IBV_WR_ATOMIC_FETCH_AND_ADD;

	return (struct vt_wr){
		.op = op, .local = u->s, .len = atomic ? 8 : 5000,
		.remote = u->d, .compare = 0, .swap = 1,
	};
}

static void wrong_rkey(struct vt *t)
{
	struct duo u = duo_make(t);
	struct ibv_mr mr = { .rkey = u.d->mr->rkey ^ t->arg };
	struct vt_mem fake = { .buf = u.d->buf, .len = u.d->len, .mr = &mr };
	struct vt_wr w = rdma(&u, IBV_WR_RDMA_WRITE);

	w.remote = &fake;
	refused(t, &u, &w, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static void wrong_rkey_any_op(struct vt *t)
{
	struct duo u = duo_make(t);
	struct ibv_mr mr = { .rkey = ~u.d->mr->rkey };
	struct vt_mem fake = { .buf = u.d->buf, .len = u.d->len, .mr = &mr };
	struct vt_wr w = rdma(&u, t->arg);

	w.remote = &fake;
	refused(t, &u, &w, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static void beyond_the_end(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_wr w = rdma(&u, t->arg);

	w.roff = u.d->len - w.len + (w.len == 8 ? 8 : 1);
	refused(t, &u, &w, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

/* Address plus length wraps around 2^64. */
static void address_wraps(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_mem high = { .buf = (void *)-64ul, .len = 64,
			       .mr = u.d->mr };
	struct vt_wr w = rdma(&u, t->arg);

	w.remote = &high;
	refused(t, &u, &w, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static void mr_lacks_permission(struct vt *t)
{
	static const int lacking[] = {
		[IBV_WR_RDMA_WRITE] = VT_ALL & ~IBV_ACCESS_REMOTE_WRITE,
		[IBV_WR_RDMA_READ] = VT_ALL & ~IBV_ACCESS_REMOTE_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] =
			VT_ALL & ~IBV_ACCESS_REMOTE_ATOMIC,
		[IBV_WR_ATOMIC_FETCH_AND_ADD] =
			VT_ALL & ~IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct duo u = duo_opt(t, NULL, lacking[t->arg]);
	struct vt_wr w = rdma(&u, t->arg);

	refused(t, &u, &w, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

/* The queue pair itself does not allow the operation: invalid request. */
static void qp_lacks_permission(struct vt *t)
{
	struct vt_opt o = { .access = IBV_ACCESS_LOCAL_WRITE };
	struct duo u = duo_opt(t, &o, VT_ALL);
	struct vt_wr w = rdma(&u, t->arg);

	refused(t, &u, &w, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

static void mr_of_other_pd(struct vt *t)
{
	struct ibv_pd *pd = ibv_alloc_pd(t->b.ctx);
	struct duo u = duo_make(t);
	struct vt_wr w = rdma(&u, t->arg);
	struct vt_mem other = { .buf = u.d->buf, .len = u.d->len };

	VT_OK(pd, "%s", strerror(errno));
	other.mr = ibv_reg_mr(pd, u.d->buf, u.d->len, VT_ALL);
	VT_OK(other.mr, "%s", strerror(errno));
	w.remote = &other;
	refused(t, &u, &w, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
	VT_EQ(ibv_dereg_mr(other.mr), 0);
	VT_EQ(ibv_dealloc_pd(pd), 0);
}

static void mr_gone(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_wr w = rdma(&u, t->arg);
	struct ibv_mr copy = *u.d->mr;
	struct vt_mem gone = { .buf = u.d->buf, .len = u.d->len, .mr = &copy };

	VT_EQ(ibv_dereg_mr(u.d->mr), 0);
	u.d->mr = NULL;
	w.remote = &gone;
	refused(t, &u, &w, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

/*
 * Found by whoever looks first: when it is posted, as a malformed request, or
 * by the responder. The wire tests send such a packet to the responder.
 */
static void atomic_misaligned(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_wr w = rdma(&u, t->arg);
	struct ibv_wc wc;

	w.roff = 4;
	w.flags = IBV_SEND_SIGNALED;
	if (vt_try_send(u.p->qp[0], &w) == EINVAL)
		return;
	wc = vt_poll(u.p->scq[0]);
	VT_OK(wc.status == IBV_WC_LOC_QP_OP_ERR ||
	      wc.status == IBV_WC_REM_INV_REQ_ERR, "%s",
	      ibv_wc_status_str(wc.status));
	VT_EQ(vt_state(u.p->qp[0]), IBV_QPS_ERR);
	untouched(u.d);
}

/* The responder was told to keep no resources for READs and atomics. */
static void no_responder_resources(struct vt *t)
{
	struct vt_opt o = {};
	struct duo u;
	struct vt_wr w;

	u.p = vt_pair(t, NULL);
	for (int i = 0; i < 2; i++)
		vt_to(u.p->qp[i], IBV_QPS_RESET);
	u.s = vt_mem(&t->a, 8192, VT_ALL);
	u.d = vt_mem(&t->b, 8192, VT_ALL);
	memset(u.d->buf, 0, u.d->len);
	o = u.p->opt;
	for (int i = 0; i < 2; i++) {
		o.rd = 0;
		vt_to_init(u.p->end[i], u.p->qp[i], &o);
		vt_to_rtr(u.p->end[i], u.p->qp[i], &o, &u.p->end[!i]->gid,
			  u.p->qp[!i]->qp_num, 0);
		o.rd = 4;
		vt_to_rts(u.p->qp[i], &o, 0);
	}
	w = rdma(&u, t->arg);
	refused(t, &u, &w, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

/*
 * Errors on the requester's own side: the peer never hears of it, and its
 * queue pair stays as it was.
 */
static void local_error(struct vt *t, struct duo *u, const struct vt_wr *w,
			enum ibv_wc_status status)
{
	struct vt_wr v = *w;

	(void)t;
	vt_recv(u->p->qp[1], 50, u->d, 0, u->d->len);
	v.id = 1;
	v.flags |= IBV_SEND_SIGNALED;
	vt_send(u->p->qp[0], &v);
	vt_expect(u->p->scq[0], 1, status);
	VT_EQ(vt_state(u->p->qp[0]), IBV_QPS_ERR);
	vt_send(u->p->qp[0], &v);
	vt_expect(u->p->scq[0], 1, IBV_WC_WR_FLUSH_ERR);
	vt_quiet(u->p->rcq[1], 10);
	VT_EQ(vt_state(u->p->qp[1]), IBV_QPS_RTS);
	untouched(u->d);
}

static void wrong_lkey(struct vt *t)
{
	struct duo u = duo_make(t);
	struct ibv_mr mr = { .lkey = ~u.s->mr->lkey };
	struct vt_mem fake = { .buf = u.s->buf, .len = u.s->len, .mr = &mr };
	struct vt_wr w = rdma(&u, t->arg);

	w.local = &fake;
	if (t->arg == IBV_WR_SEND)
		w.remote = NULL;
	local_error(t, &u, &w, IBV_WC_LOC_PROT_ERR);
}

static void local_beyond_the_end(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_wr w = rdma(&u, t->arg);

	w.off = u.s->len - w.len + 1;
	if (t->arg == IBV_WR_SEND)
		w.remote = NULL;
	local_error(t, &u, &w, IBV_WC_LOC_PROT_ERR);
}

static void local_mr_of_other_pd(struct vt *t)
{
	struct ibv_pd *pd = ibv_alloc_pd(t->a.ctx);
	struct duo u = duo_make(t);
	struct vt_mem other = { .buf = u.s->buf, .len = u.s->len };
	struct vt_wr w = rdma(&u, IBV_WR_RDMA_WRITE);

	VT_OK(pd, "%s", strerror(errno));
	other.mr = ibv_reg_mr(pd, u.s->buf, u.s->len, VT_ALL);
	VT_OK(other.mr, "%s", strerror(errno));
	w.local = &other;
	local_error(t, &u, &w, IBV_WC_LOC_PROT_ERR);
	VT_EQ(ibv_dereg_mr(other.mr), 0);
	VT_EQ(ibv_dealloc_pd(pd), 0);
}

/* READ and atomics write locally; the memory must allow it. */
static void read_into_read_only_mr(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_mem *ro = vt_mem(&t->a, 8192, IBV_ACCESS_REMOTE_READ);
	struct vt_wr w = rdma(&u, t->arg);

	w.local = ro;
	vt_fill(ro, 0, 8192, 9);
	vt_send(u.p->qp[0], &(struct vt_wr){
		.op = t->arg, .id = 1, .local = ro, .len = w.len,
		.remote = u.d, .flags = IBV_SEND_SIGNALED });
	vt_expect(u.p->scq[0], 1, IBV_WC_LOC_PROT_ERR);
	VT_EQ(vt_state(u.p->qp[0]), IBV_QPS_ERR);
	vt_verify(ro, 0, 8192, 9);
}

/* SEND and WRITE only read: memory without LOCAL_WRITE will do. */
static void send_from_read_only_mr(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_mem *ro = vt_mem(&t->a, 8192, 0);

	vt_fill(ro, 0, 8192, 9);
	vt_send(u.p->qp[0], &(struct vt_wr){
		.id = 1, .local = ro, .len = 8192, .remote = u.d,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(u.d, 0, 8192, 9);
}

/* An error at once when posting, or a completion: never silence. */
static void op_of_other_transport(struct vt *t)
{
	struct vt_opt o = { .type = t->arg & 15 };
	struct duo u = duo_opt(t, &o, VT_ALL);
	struct vt_wr w = rdma(&u, t->arg >> 4);
	int rc;

	w.id = 1;
	w.flags = IBV_SEND_SIGNALED;
	if (o.type == IBV_QPT_UD)
		w.ah = u.p->ah[0];
	rc = vt_try_send(u.p->qp[0], &w);
	if (!rc)
		vt_expect(u.p->scq[0], 1, IBV_WC_LOC_QP_OP_ERR);
	else
		VT_OK(rc == EINVAL || rc == EOPNOTSUPP, "%d", rc);
	untouched(u.d);
}

static void opcode_unknown(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_wr w = rdma(&u, 77);
	int rc;

	w.flags = IBV_SEND_SIGNALED;
	w.id = 1;
	rc = vt_try_send(u.p->qp[0], &w);
	VT_OK(rc == EINVAL || rc == EOPNOTSUPP, "%d", rc);
	w.op = IBV_WR_RDMA_WRITE;
	vt_send(u.p->qp[0], &w);
	vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS);
}

static void atomic_answer_too_short(struct vt *t)
{
	struct duo u = duo_make(t);
	struct vt_wr w = rdma(&u, IBV_WR_ATOMIC_FETCH_AND_ADD);
	struct ibv_wc wc;

	w.len = 4;
	w.flags = IBV_SEND_SIGNALED;
	w.compare = 1;
	if (vt_try_send(u.p->qp[0], &w))
		return;
	wc = vt_poll(u.p->scq[0]);
	VT_OK(wc.status == IBV_WC_LOC_LEN_ERR ||
	      wc.status == IBV_WC_LOC_QP_OP_ERR ||
	      wc.status == IBV_WC_LOC_PROT_ERR, "%s",
	      ibv_wc_status_str(wc.status));
	vt_verify(u.s, 4, 0, 1);
}

/* Registered memory may go while it is in use; what uses it then fails. */
static void dereg_under_traffic(struct vt *t)
{
	struct vt_opt o = { .sq = 128 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 1 << 20, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 1 << 20, VT_ALL);
	struct vt_mem *victim = t->arg ? s : d;
	bool failed = false;

	for (int i = 0; i < 8; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 1 << 20, .remote = d,
			.flags = IBV_SEND_SIGNALED });
	VT_EQ(ibv_dereg_mr(victim->mr), 0);
	memset(victim->buf, 0x77, victim->len);
	victim->mr = NULL;
	for (int i = 0; i < 8; i++) {
		struct ibv_wc wc = vt_poll(p->scq[0]);

		VT_EQ(wc.wr_id, i);
		if (failed)
			VT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		else if (wc.status != IBV_WC_SUCCESS)
			VT_EQ(wc.status, t->arg ? IBV_WC_LOC_PROT_ERR :
			      IBV_WC_REM_ACCESS_ERR);
		failed |= wc.status != IBV_WC_SUCCESS;
	}
	if (!t->arg)
		for (size_t i = 0; failed && i < victim->len; i++)
			VT_OK(victim->buf[i] == 0x77, "written after dereg");
}

#define ON(type, op)	((op) << 4 | (type))

static const struct vt_case cases[] = {
	VT_CASE_ARG("wrong_rkey_low_bit", wrong_rkey, 1),
	VT_CASE_ARG("wrong_rkey_high_bit", wrong_rkey, 0x80000000),
	VT_CASE_ARG("wrong_rkey_read", wrong_rkey_any_op, IBV_WR_RDMA_READ),
	VT_CASE_ARG("wrong_rkey_cas", wrong_rkey_any_op,
		    IBV_WR_ATOMIC_CMP_AND_SWP),
	VT_CASE_ARG("beyond_the_end_write", beyond_the_end, IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("beyond_the_end_read", beyond_the_end, IBV_WR_RDMA_READ),
	VT_CASE_ARG("beyond_the_end_faa", beyond_the_end,
		    IBV_WR_ATOMIC_FETCH_AND_ADD),
	VT_CASE_ARG("address_wraps_write", address_wraps, IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("address_wraps_read", address_wraps, IBV_WR_RDMA_READ),
	VT_CASE_ARG("mr_lacks_remote_write", mr_lacks_permission,
		    IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("mr_lacks_remote_read", mr_lacks_permission,
		    IBV_WR_RDMA_READ),
	VT_CASE_ARG("mr_lacks_remote_atomic_cas", mr_lacks_permission,
		    IBV_WR_ATOMIC_CMP_AND_SWP),
	VT_CASE_ARG("mr_lacks_remote_atomic_faa", mr_lacks_permission,
		    IBV_WR_ATOMIC_FETCH_AND_ADD),
	VT_CASE_ARG("qp_lacks_remote_write", qp_lacks_permission,
		    IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("qp_lacks_remote_read", qp_lacks_permission,
		    IBV_WR_RDMA_READ),
	VT_CASE_ARG("qp_lacks_remote_atomic", qp_lacks_permission,
		    IBV_WR_ATOMIC_FETCH_AND_ADD),
	VT_CASE_ARG("mr_of_other_pd_write", mr_of_other_pd, IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("mr_of_other_pd_read", mr_of_other_pd, IBV_WR_RDMA_READ),
	VT_CASE_ARG("mr_gone_write", mr_gone, IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("mr_gone_read", mr_gone, IBV_WR_RDMA_READ),
	VT_CASE_ARG("mr_gone_cas", mr_gone, IBV_WR_ATOMIC_CMP_AND_SWP),
	VT_CASE_ARG("cas_misaligned", atomic_misaligned,
		    IBV_WR_ATOMIC_CMP_AND_SWP),
	VT_CASE_ARG("faa_misaligned", atomic_misaligned,
		    IBV_WR_ATOMIC_FETCH_AND_ADD),
	VT_CASE_ARG("no_responder_resources_read", no_responder_resources,
		    IBV_WR_RDMA_READ),
	VT_CASE_ARG("no_responder_resources_faa", no_responder_resources,
		    IBV_WR_ATOMIC_FETCH_AND_ADD),
	VT_CASE_ARG("wrong_lkey_send", wrong_lkey, IBV_WR_SEND),
	VT_CASE_ARG("wrong_lkey_write", wrong_lkey, IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("wrong_lkey_read", wrong_lkey, IBV_WR_RDMA_READ),
	VT_CASE_ARG("local_beyond_the_end_send", local_beyond_the_end,
		    IBV_WR_SEND),
	VT_CASE_ARG("local_beyond_the_end_write", local_beyond_the_end,
		    IBV_WR_RDMA_WRITE),
	VT_CASE(local_mr_of_other_pd),
	VT_CASE_ARG("read_into_read_only_mr", read_into_read_only_mr,
		    IBV_WR_RDMA_READ),
	VT_CASE_ARG("faa_into_read_only_mr", read_into_read_only_mr,
		    IBV_WR_ATOMIC_FETCH_AND_ADD),
	VT_CASE(send_from_read_only_mr),
	VT_CASE_ARG("read_on_uc", op_of_other_transport,
		    ON(IBV_QPT_UC, IBV_WR_RDMA_READ)),
	VT_CASE_ARG("cas_on_uc", op_of_other_transport,
		    ON(IBV_QPT_UC, IBV_WR_ATOMIC_CMP_AND_SWP)),
	VT_CASE_ARG("write_on_ud", op_of_other_transport,
		    ON(IBV_QPT_UD, IBV_WR_RDMA_WRITE)),
	VT_CASE_ARG("read_on_ud", op_of_other_transport,
		    ON(IBV_QPT_UD, IBV_WR_RDMA_READ)),
	VT_CASE(opcode_unknown),
	VT_CASE(atomic_answer_too_short),
	VT_CASE_ARG("dereg_remote_under_traffic", dereg_under_traffic, 0),
	VT_CASE_ARG("dereg_local_under_traffic", dereg_under_traffic, 1),
};

VT_MAIN(cases)

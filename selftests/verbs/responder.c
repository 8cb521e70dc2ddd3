// SPDX-License-Identifier: GPL-2.0
/* What the receiving side does when a message does not fit its queue. */
#include "vt.h"

/**
 * struct duo - a pair with memory on both sides
 * @p: pair
 * @s: memory on a
 * @d: memory on b
 */
struct duo {
	struct vt_pair *p;
	struct vt_mem *s;
	struct vt_mem *d;
};

static struct duo duo_make(struct vt *t, const struct vt_opt *o)
{
	struct duo u;

	u.p = vt_pair(t, o);
	u.s = vt_mem(&t->a, 65536, VT_ALL);
	u.d = vt_mem(&t->b, 65536, VT_ALL);
	vt_fill(u.s, 0, 65536, 1);
	return u;
}

static void send_len(struct duo *u, uint64_t id, size_t len)
{
	vt_send(u->p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = id, .local = u->s, .len = len,
		.flags = IBV_SEND_SIGNALED });
}

/* Both queue pairs are in error and flush what is left. */
static void both_in_error(struct duo *u)
{
	vt_wait_state(u->p->qp[0], IBV_QPS_ERR);
	vt_wait_state(u->p->qp[1], IBV_QPS_ERR);
}

static void receive_too_short(struct vt *t)
{
	struct duo u = duo_make(t, NULL);

	vt_recv(u.p->qp[1], 5, u.d, 0, t->arg - 1);
	vt_recv(u.p->qp[1], 6, u.d, 0, 65536);
	send_len(&u, 1, t->arg);
	vt_expect(u.p->scq[0], 1, IBV_WC_REM_INV_REQ_ERR);
	vt_expect(u.p->rcq[1], 5, IBV_WC_LOC_LEN_ERR);
	vt_expect(u.p->rcq[1], 6, IBV_WC_WR_FLUSH_ERR);
	both_in_error(&u);
	vt_verify_guards(u.d);
}

/* The bad receive is the fault of the responder: remote operation error. */
static void receive_key(struct vt *t, struct duo *u, const struct vt_mem *m)
{
	(void)t;
	vt_recv(u->p->qp[1], 5, m, 0, 1000);
	vt_recv(u->p->qp[1], 6, u->d, 0, 1000);
	send_len(u, 1, 1000);
	vt_expect(u->p->scq[0], 1, IBV_WC_REM_OP_ERR);
	vt_expect(u->p->rcq[1], 5, IBV_WC_LOC_PROT_ERR);
	vt_expect(u->p->rcq[1], 6, IBV_WC_WR_FLUSH_ERR);
	both_in_error(u);
}

static void receive_wrong_lkey(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	struct ibv_mr mr = { .lkey = ~u.d->mr->lkey };
	struct vt_mem fake = { .buf = u.d->buf, .len = 1000, .mr = &mr };

	receive_key(t, &u, &fake);
}

static void receive_without_local_write(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	struct vt_mem *ro = vt_mem(&t->b, 1000, IBV_ACCESS_REMOTE_READ);

	vt_fill(ro, 0, 1000, 3);
	receive_key(t, &u, ro);
	vt_verify(ro, 0, 1000, 3);
}

static void receive_mr_of_other_pd(struct vt *t)
{
	struct ibv_pd *pd = ibv_alloc_pd(t->b.ctx);
	struct duo u = duo_make(t, NULL);
	struct vt_mem other = { .buf = u.d->buf, .len = 1000 };

	VT_OK(pd, "%s", strerror(errno));
	other.mr = ibv_reg_mr(pd, other.buf, 1000, VT_ALL);
	VT_OK(other.mr, "%s", strerror(errno));
	receive_key(t, &u, &other);
	VT_EQ(ibv_dereg_mr(other.mr), 0);
	VT_EQ(ibv_dealloc_pd(pd), 0);
}

/* Only the second of two elements is bad: still one error for the whole. */
static void receive_second_element_bad(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	struct ibv_sge sge[2] = {
		{ (uintptr_t)u.d->buf, 500, u.d->mr->lkey },
		{ (uintptr_t)u.d->buf + 500, 500, u.d->mr->lkey ^ 0x55aa },
	};
	struct ibv_recv_wr *bad, wr = {
		.wr_id = 5, .sg_list = sge, .num_sge = 2,
	};

	VT_EQ(ibv_post_recv(u.p->qp[1], &wr, &bad), 0);
	send_len(&u, 1, 1000);
	vt_expect(u.p->scq[0], 1, IBV_WC_REM_OP_ERR);
	vt_expect(u.p->rcq[1], 5, IBV_WC_LOC_PROT_ERR);
	both_in_error(&u);
}

/* SEND with invalidate of a key that is no key, or may not be invalidated. */
static void invalidate_refused(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	uint32_t key = t->arg ? u.d->mr->rkey : 0x12345600;
	struct ibv_wc wc;

	vt_recv(u.p->qp[1], 5, u.d, 0, 65536);
	vt_send(u.p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND_WITH_INV, .id = 1, .local = u.s,
		.len = 100, .imm = key, .flags = IBV_SEND_SIGNALED });
	wc = vt_poll(u.p->rcq[1]);
	VT_EQ(wc.wr_id, 5);
	VT_OK(wc.status != IBV_WC_SUCCESS &&
	      wc.status != IBV_WC_WR_FLUSH_ERR, "%s",
	      ibv_wc_status_str(wc.status));
	vt_wait_state(u.p->qp[1], IBV_QPS_ERR);
}

/*
 * The receive request that a WRITE with immediate data would have completed
 * ends with the fault, and so there is no event.
 */
static void write_imm_bad_key(struct vt *t)
{
	struct duo u = duo_make(t, NULL);
	struct ibv_mr mr = { .rkey = ~u.d->mr->rkey };
	struct vt_mem fake = { .buf = u.d->buf, .len = 1000, .mr = &mr };

	for (int i = 0; i < 2; i++)
		vt_recv(u.p->qp[1], 5 + i, NULL, 0, 0);
	/* One packet; the first of several does not tell what the last brings. */
	vt_send(u.p->qp[0], &(struct vt_wr){
		.op = IBV_WR_RDMA_WRITE_WITH_IMM, .id = 1, .local = u.s,
		.len = 1000, .remote = &fake, .flags = IBV_SEND_SIGNALED });
	vt_expect(u.p->scq[0], 1, IBV_WC_REM_ACCESS_ERR);
	vt_expect(u.p->rcq[1], 5, IBV_WC_LOC_ACCESS_ERR);
	vt_expect(u.p->rcq[1], 6, IBV_WC_WR_FLUSH_ERR);
	VT_OK(!vt_async_pending(&t->b, 20), "an event as well");
}

/* UC: a message that breaks a rule vanishes, the next one arrives. */
static void uc_bad_write_dropped(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UC };
	struct duo u = duo_make(t, &o);
	struct ibv_mr mr = { .rkey = ~u.d->mr->rkey };
	struct vt_mem fake = { .buf = u.d->buf, .len = 20000, .mr = &mr };

	memset(u.d->buf, 0, 65536);
	vt_recv(u.p->qp[1], 5, u.d, 30000, 1000);
	vt_send(u.p->qp[0], &(struct vt_wr){
		.op = t->arg, .id = 1, .local = u.s, .len = 20000,
		.remote = &fake, .flags = IBV_SEND_SIGNALED });
	vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS);
	send_len(&u, 2, 1000);
	vt_expect(u.p->scq[0], 2, IBV_WC_SUCCESS);
	VT_EQ(vt_expect(u.p->rcq[1], 5, IBV_WC_SUCCESS).opcode, IBV_WC_RECV);
	vt_verify(u.d, 30000, 1000, 1);
	for (int i = 0; i < 20000; i++)
		VT_EQ(u.d->buf[i], 0);
	VT_EQ(vt_state(u.p->qp[1]), IBV_QPS_RTS);
}

static void uc_no_receive_dropped(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UC };
	struct duo u = duo_make(t, &o);

	for (int i = 0; i < 5; i++) {
		send_len(&u, i, 20000);
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
	}
	vt_quiet(u.p->rcq[1], 10);
	vt_recv(u.p->qp[1], 5, u.d, 0, 65536);
	send_len(&u, 9, 3000);
	VT_EQ(vt_expect(u.p->rcq[1], 5, IBV_WC_SUCCESS).byte_len, 3000);
}

/* Nobody with that number, or not ready yet: no answer, retries run out. */
static void peer_not_there(struct vt *t)
{
	struct vt_opt o = { .timeout = 10, .retry = 1 };
	struct duo u = duo_make(t, &o);

	switch (t->arg) {
	case 0:
		vt_forget(u.p->qp[1]);
		VT_EQ(ibv_destroy_qp(u.p->qp[1]), 0);
		break;
	case 1:
		vt_to(u.p->qp[1], IBV_QPS_RESET);
		break;
	case 2:
		vt_to(u.p->qp[1], IBV_QPS_RESET);
		vt_to_init(&t->b, u.p->qp[1], &u.p->opt);
		break;
	default:
		vt_to(u.p->qp[1], IBV_QPS_ERR);
	}
	send_len(&u, 1, 100);
	vt_expect(u.p->scq[0], 1, IBV_WC_RETRY_EXC_ERR);
	VT_EQ(vt_state(u.p->qp[0]), IBV_QPS_ERR);
}

/* A queue pair takes packets from the peer it is connected to, no other. */
static void stranger_is_not_heard(struct vt *t)
{
	struct vt_opt o = { .timeout = 10, .retry = 1 };
	struct duo u = duo_make(t, &o);
	struct vt_pair *x = vt_pair(t, &o);
	struct vt_pair odd = *x;

	vt_recv(u.p->qp[1], 5, u.d, 0, 65536);
	vt_to(x->qp[0], IBV_QPS_RESET);
	vt_to_init(&t->a, x->qp[0], &x->opt);
	vt_to_rtr(&t->a, odd.qp[0], &odd.opt, &t->b.gid,
		  u.p->qp[1]->qp_num, 0);
	vt_to_rts(odd.qp[0], &odd.opt, 0x400000);
	vt_send(odd.qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = 9, .local = u.s, .len = 100,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(odd.scq[0], 9, IBV_WC_RETRY_EXC_ERR);
	vt_quiet(u.p->rcq[1], 5);
	send_len(&u, 1, 500);
	vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS);
	VT_EQ(vt_expect(u.p->rcq[1], 5, IBV_WC_SUCCESS).byte_len, 500);
}

static const struct vt_case cases[] = {
	VT_CASE_ARG("receive_too_short_one_packet", receive_too_short, 100),
	VT_CASE_ARG("receive_too_short_many_packets", receive_too_short,
		    50000),
	VT_CASE(receive_wrong_lkey),
	VT_CASE(receive_without_local_write),
	VT_CASE(receive_mr_of_other_pd),
	VT_CASE(receive_second_element_bad),
	VT_CASE_ARG("invalidate_unknown_key", invalidate_refused, 0),
	VT_CASE_ARG("invalidate_user_mr", invalidate_refused, 1),
	VT_CASE(write_imm_bad_key),
	VT_CASE_ARG("uc_bad_write_dropped", uc_bad_write_dropped,
		    IBV_WR_RDMA_WRITE),
	VT_CASE_ARG("uc_bad_write_imm_dropped", uc_bad_write_dropped,
		    IBV_WR_RDMA_WRITE_WITH_IMM),
	VT_CASE(uc_no_receive_dropped),
	VT_CASE_ARG("peer_destroyed", peer_not_there, 0),
	VT_CASE_ARG("peer_in_reset", peer_not_there, 1),
	VT_CASE_ARG("peer_in_init", peer_not_there, 2),
	VT_CASE_ARG("peer_in_error", peer_not_there, 3),
	VT_CASE(stranger_is_not_heard),
};

VT_MAIN(cases)

// SPDX-License-Identifier: GPL-2.0
/* The extended interfaces: ibv_wr_* posting and ibv_start_poll polling. */
#include <time.h>

#include "vt.h"

#define RC_OPS	(IBV_QP_EX_WITH_RDMA_WRITE | \
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND | \
		 IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | \
		 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | \
		 IBV_QP_EX_WITH_SEND_WITH_INV)

/**
 * struct exq - an extended pair with memory
 * @p: pair
 * @x: extended view of a's queue pair
 * @s: memory on a
 * @d: memory on b
 */
struct exq {
	struct vt_pair *p;
	struct ibv_qp_ex *x;
	struct vt_mem *s;
	struct vt_mem *d;
};

static struct exq exq_make(struct vt *t, enum ibv_qp_type type, uint64_t ops)
{
	struct vt_opt o = {
		.type = type, .ex_ops = ops, .inl = 256, .sge = 4,
	};
	struct exq e;

	e.p = vt_pair(t, &o);
	e.x = ibv_qp_to_qp_ex(e.p->qp[0]);
	VT_OK(e.x, "no extended view");
	e.s = vt_mem(&t->a, 8192, VT_ALL);
	e.d = vt_mem(&t->b, 8192, VT_ALL);
	return e;
}

static void set_sge(struct exq *e, size_t len)
{
	ibv_wr_set_sge(e->x, e->s->mr->lkey, (uintptr_t)e->s->buf, len);
}

static void write_and_read(struct vt *t)
{
	struct exq e = exq_make(t, IBV_QPT_RC, RC_OPS);
	uint64_t far = (uintptr_t)e.d->buf;

	vt_fill(e.s, 0, 5000, 1);
	ibv_wr_start(e.x);
	e.x->wr_id = 1;
	e.x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(e.x, e.d->mr->rkey, far);
	set_sge(&e, 5000);
	VT_EQ(ibv_wr_complete(e.x), 0);
	vt_expect(e.p->scq[0], 1, IBV_WC_SUCCESS);
	vt_verify(e.d, 0, 5000, 1);
	vt_fill(e.d, 0, 5000, 2);
	ibv_wr_start(e.x);
	e.x->wr_id = 2;
	ibv_wr_rdma_read(e.x, e.d->mr->rkey, far);
	set_sge(&e, 5000);
	VT_EQ(ibv_wr_complete(e.x), 0);
	vt_expect(e.p->scq[0], 2, IBV_WC_SUCCESS);
	vt_verify(e.s, 0, 5000, 2);
}

static void send_variants_in_one_batch(struct vt *t)
{
	struct exq e = exq_make(t, IBV_QPT_RC, RC_OPS);
	struct ibv_wc wc;

	for (int i = 0; i < 3; i++)
		vt_recv(e.p->qp[1], i, e.d, 1000 * i, 1000);
	vt_fill(e.s, 0, 1000, 7);
	ibv_wr_start(e.x);
	e.x->wr_flags = IBV_SEND_SIGNALED;
	e.x->wr_id = 10;
	ibv_wr_send(e.x);
	set_sge(&e, 1000);
	e.x->wr_id = 11;
	ibv_wr_send_imm(e.x, htobe32(99));
	set_sge(&e, 500);
	e.x->wr_id = 12;
	ibv_wr_rdma_write_imm(e.x, e.d->mr->rkey,
			      (uintptr_t)e.d->buf + 4000, htobe32(98));
	set_sge(&e, 700);
	VT_EQ(ibv_wr_complete(e.x), 0);
	for (int i = 0; i < 3; i++)
		vt_expect(e.p->scq[0], 10 + i, IBV_WC_SUCCESS);
	VT_EQ(vt_expect(e.p->rcq[1], 0, IBV_WC_SUCCESS).byte_len, 1000);
	wc = vt_expect(e.p->rcq[1], 1, IBV_WC_SUCCESS);
	VT_EQ(be32toh(wc.imm_data), 99);
	wc = vt_expect(e.p->rcq[1], 2, IBV_WC_SUCCESS);
	VT_EQ(be32toh(wc.imm_data), 98);
	VT_EQ(wc.byte_len, 700);
	vt_verify(e.d, 4000, 700, 7);
}

static void inline_data_and_lists(struct vt *t)
{
	struct exq e = exq_make(t, IBV_QPT_RC, RC_OPS);
	struct ibv_data_buf bufs[3];
	struct ibv_sge sge[3];
	char tmp[256];

	for (int i = 0; i < 3; i++)
		vt_recv(e.p->qp[1], i, e.d, 1000 * i, 1000);
	vt_fill(e.s, 0, 256, 8);
	for (int i = 0; i < 3; i++) {
		bufs[i] = (struct ibv_data_buf){ e.s->buf + 80 * i, 80 };
		sge[i] = (struct ibv_sge){ (uintptr_t)e.s->buf + 80 * i, 80,
					   e.s->mr->lkey };
	}
	memcpy(tmp, e.s->buf, sizeof(tmp));
	ibv_wr_start(e.x);
	e.x->wr_flags = IBV_SEND_SIGNALED;
	e.x->wr_id = 1;
	ibv_wr_send(e.x);
	ibv_wr_set_inline_data(e.x, tmp, sizeof(tmp));
	memset(tmp, 0, sizeof(tmp));
	e.x->wr_id = 2;
	ibv_wr_send(e.x);
	ibv_wr_set_inline_data_list(e.x, 3, bufs);
	e.x->wr_id = 3;
	ibv_wr_send(e.x);
	ibv_wr_set_sge_list(e.x, 3, sge);
	VT_EQ(ibv_wr_complete(e.x), 0);
	for (int i = 0; i < 3; i++) {
		vt_expect(e.p->scq[0], i + 1, IBV_WC_SUCCESS);
		vt_expect(e.p->rcq[1], i, IBV_WC_SUCCESS);
		vt_verify(e.d, 1000 * i, i ? 240 : 256, 8);
	}
}

static void atomics(struct vt *t)
{
	struct exq e = exq_make(t, IBV_QPT_RC, RC_OPS);
	uint64_t *far = (uint64_t *)e.d->buf, *old = (uint64_t *)e.s->buf;

	*far = 100;
	ibv_wr_start(e.x);
	e.x->wr_flags = IBV_SEND_SIGNALED;
	e.x->wr_id = 1;
	ibv_wr_atomic_fetch_add(e.x, e.d->mr->rkey, (uintptr_t)far, 23);
	set_sge(&e, 8);
	VT_EQ(ibv_wr_complete(e.x), 0);
	vt_expect(e.p->scq[0], 1, IBV_WC_SUCCESS);
	VT_EQ(*old, 100);
	VT_EQ(*far, 123);
	ibv_wr_start(e.x);
	e.x->wr_id = 2;
	ibv_wr_atomic_cmp_swp(e.x, e.d->mr->rkey, (uintptr_t)far, 123, 7);
	set_sge(&e, 8);
	VT_EQ(ibv_wr_complete(e.x), 0);
	vt_expect(e.p->scq[0], 2, IBV_WC_SUCCESS);
	VT_EQ(*old, 123);
	VT_EQ(*far, 7);
}

/* An aborted batch leaves nothing behind. */
static void abort_discards(struct vt *t)
{
	struct exq e = exq_make(t, IBV_QPT_RC, RC_OPS);

	vt_fill(e.s, 0, 100, 1);
	memset(e.d->buf, 0, 100);
	for (int i = 0; i < 200; i++) {
		ibv_wr_start(e.x);
		e.x->wr_id = 5;
		e.x->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_rdma_write(e.x, e.d->mr->rkey, (uintptr_t)e.d->buf);
		set_sge(&e, 100);
		ibv_wr_abort(e.x);
	}
	vt_quiet(e.p->scq[0], 10);
	VT_EQ(e.d->buf[0], 0);
	ibv_wr_start(e.x);
	e.x->wr_id = 6;
	e.x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(e.x, e.d->mr->rkey, (uintptr_t)e.d->buf);
	set_sge(&e, 100);
	VT_EQ(ibv_wr_complete(e.x), 0);
	vt_expect(e.p->scq[0], 6, IBV_WC_SUCCESS);
	vt_verify(e.d, 0, 100, 1);
}

/* A batch too long for the queue fails as a whole with ENOMEM. */
static void batch_too_long(struct vt *t)
{
	struct exq e = exq_make(t, IBV_QPT_RC, RC_OPS);
	unsigned int n = e.p->cap.max_send_wr + 1;
	int rc;

	ibv_wr_start(e.x);
	e.x->wr_flags = IBV_SEND_SIGNALED;
	for (unsigned int i = 0; i < n + 4096; i++) {
		e.x->wr_id = i;
		ibv_wr_send(e.x);
		set_sge(&e, 8);
	}
	rc = ibv_wr_complete(e.x);
	VT_OK(rc == ENOMEM || rc == ENOSPC, "%d", rc);
	vt_quiet(e.p->scq[0], 10);
	vt_recv(e.p->qp[1], 1, e.d, 0, 8);
	ibv_wr_start(e.x);
	e.x->wr_id = 77;
	ibv_wr_send(e.x);
	set_sge(&e, 8);
	VT_EQ(ibv_wr_complete(e.x), 0);
	vt_expect(e.p->scq[0], 77, IBV_WC_SUCCESS);
}

static void datagrams(struct vt *t)
{
	struct exq e = exq_make(t, IBV_QPT_UD, IBV_QP_EX_WITH_SEND |
				IBV_QP_EX_WITH_SEND_WITH_IMM);

	for (int i = 0; i < 2; i++)
		vt_recv(e.p->qp[1], i, e.d, 1000 * i, 1000);
	vt_fill(e.s, 0, 200, 4);
	ibv_wr_start(e.x);
	e.x->wr_flags = IBV_SEND_SIGNALED;
	e.x->wr_id = 1;
	ibv_wr_send(e.x);
	ibv_wr_set_ud_addr(e.x, e.p->ah[0], e.p->qp[1]->qp_num, VT_QKEY);
	set_sge(&e, 200);
	e.x->wr_id = 2;
	ibv_wr_send_imm(e.x, htobe32(5));
	ibv_wr_set_ud_addr(e.x, e.p->ah[0], e.p->qp[1]->qp_num, VT_QKEY);
	ibv_wr_set_inline_data(e.x, e.s->buf, 100);
	VT_EQ(ibv_wr_complete(e.x), 0);
	for (int i = 0; i < 2; i++) {
		vt_expect(e.p->scq[0], 1 + i, IBV_WC_SUCCESS);
		vt_expect(e.p->rcq[1], i, IBV_WC_SUCCESS);
		vt_verify(e.d, 1000 * i + VT_GRH, i ? 100 : 200, 4);
	}
}

static struct ibv_cq_ex *cq_ex(struct vt *t, uint64_t flags)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 64, .wc_flags = flags };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(t->b.ctx, &attr);

	if (!cq && (errno == EOPNOTSUPP || errno == ENOSYS))
		vt_skip("no extended CQ");
	VT_OK(cq, "%s", strerror(errno));
	return cq;
}

static void poll_receives(struct vt *t)
{
	struct ibv_cq_ex *cq = cq_ex(t, IBV_WC_STANDARD_FLAGS);
	struct vt_opt o = { .rcq = { NULL, ibv_cq_ex_to_cq(cq) } };
	struct vt_pair *p = vt_pair(t, &o);
	uint64_t end = vt_deadline_us();
	unsigned int spins = 0;
	int rc, n = 0;

	VT_EQ(vt_start_poll(cq), ENOENT);
	for (int i = 0; i < 10; i++)
		vt_recv(p->qp[1], i, NULL, 0, 0);
	for (int i = 0; i < 10; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND_WITH_IMM, .id = i, .imm = 100 + i,
			.flags = IBV_SEND_SIGNALED });
	while (n < 10) {
		rc = vt_start_poll(cq);
		VT_OK(rc == 0 || rc == ENOENT, "%d", rc);
		VT_OK(vt_now_us() < end, "%d received", n);
		if (rc) {
			vt_pause(&spins);
			continue;
		}
		do {
			VT_EQ(cq->wr_id, n);
			VT_EQ(cq->status, IBV_WC_SUCCESS);
			VT_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
			VT_EQ(ibv_wc_read_byte_len(cq), 0);
			VT_EQ(be32toh(ibv_wc_read_imm_data(cq)), 100 + n);
			VT_EQ(ibv_wc_read_qp_num(cq), p->qp[1]->qp_num);
			VT_EQ(ibv_wc_read_wc_flags(cq) & IBV_WC_WITH_IMM,
			      IBV_WC_WITH_IMM);
			VT_EQ(ibv_wc_read_vendor_err(cq), 0);
			n++;
		} while (!(rc = ibv_next_poll(cq)));
		VT_EQ(rc, ENOENT);
		vt_end_poll(cq);
	}
	vt_forget(p->qp[1]);
	VT_EQ(ibv_destroy_qp(p->qp[1]), 0);
	VT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

/* Both ways of polling see the same queue. */
static void poll_both_ways(struct vt *t)
{
	struct ibv_cq_ex *cq = cq_ex(t, IBV_WC_EX_WITH_BYTE_LEN);
	struct ibv_cq *plain = ibv_cq_ex_to_cq(cq);
	struct vt_opt o = { .rcq = { NULL, plain } };
	struct vt_pair *p = vt_pair(t, &o);

	for (int i = 0; i < 20; i++) {
		vt_recv(p->qp[1], i, NULL, 0, 0);
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	}
	for (int i = 0; i < 20; i += 2) {
		vt_expect(plain, i, IBV_WC_SUCCESS);
		VT_EQ(vt_start_poll(cq), 0);
		VT_EQ(cq->wr_id, i + 1);
		vt_end_poll(cq);
	}
	vt_forget(p->qp[1]);
	VT_EQ(ibv_destroy_qp(p->qp[1]), 0);
	VT_EQ(ibv_destroy_cq(plain), 0);
}

/* With 16 entries, and without a lock: polling it forbids no other call. */
static struct ibv_cq_ex *cq_unlocked(struct vt *t)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(t->b.ctx, &init);

	VT_OK(cq, "%s", strerror(errno));
	return cq;
}

/* In the middle of polling: the entry moves along. */
static void resized_while_polling(struct vt *t)
{
	struct ibv_cq_ex *cq = cq_unlocked(t);
	struct ibv_cq *plain = ibv_cq_ex_to_cq(cq);
	struct vt_opt o = { .rcq = { NULL, plain } };
	struct ibv_poll_cq_attr attr = {};
	struct vt_pair *p;

	p = vt_pair(t, &o);
	for (int i = 0; i < 12; i++) {
		vt_recv(p->qp[1], i, NULL, 0, 0);
		VT_EQ(vt_run(p, (struct vt_wr){
			.op = IBV_WR_SEND_WITH_IMM, .imm = i }),
		      IBV_WC_SUCCESS);
	}
	VT_EQ(ibv_start_poll(cq, &attr), 0);
	for (int i = 0; i < 12; i++) {
		/* To other sizes, too small at last, which changes nothing. */
		VT_EQ(ibv_resize_cq(plain, i < 9 ? 16 << (i & 3) : 1),
		      i < 9 || i == 11 ? 0 : EINVAL);
		VT_EQ(cq->wr_id, i);
		VT_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
		VT_EQ(be32toh(ibv_wc_read_imm_data(cq)), i);
		VT_EQ(ibv_wc_read_qp_num(cq), p->qp[1]->qp_num);
		VT_EQ(ibv_next_poll(cq), i < 11 ? 0 : ENOENT);
	}
	ibv_end_poll(cq);
	vt_forget(p->qp[1]);
	VT_EQ(ibv_destroy_qp(p->qp[1]), 0);
	VT_EQ(ibv_destroy_cq(plain), 0);
}

static void fill_up(struct vt_pair *p, int n)
{
	for (int i = 0; i < n; i++) {
		vt_recv(p->qp[1], i, NULL, 0, 0);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND }),
		      IBV_WC_SUCCESS);
	}
}

/* In the middle of polling: what others complete has all places then. */
static void destroyed_while_polling(struct vt *t)
{
	struct ibv_cq_ex *cq = cq_unlocked(t);
	struct ibv_cq *plain = ibv_cq_ex_to_cq(cq);
	struct vt_opt o = { .rcq = { NULL, plain } };
	struct vt_pair *p = vt_pair(t, &o), *q = vt_pair(t, &o);
	struct ibv_poll_cq_attr attr = {};
	uint32_t qpn = p->qp[1]->qp_num;

	fill_up(p, plain->cqe);
	VT_EQ(ibv_start_poll(cq, &attr), 0);
	vt_forget(p->qp[1]);
	VT_EQ(ibv_destroy_qp(p->qp[1]), 0);
	VT_EQ(cq->wr_id, 0);
	VT_EQ(ibv_wc_read_qp_num(cq), qpn);
	ibv_end_poll(cq);
	fill_up(q, plain->cqe);
	VT_OK(!vt_async_pending(&t->b, 20), "event");
	for (int i = 0; i < plain->cqe; i++)
		vt_expect(plain, i, IBV_WC_SUCCESS);
	vt_forget(q->qp[1]);
	VT_EQ(ibv_destroy_qp(q->qp[1]), 0);
	VT_EQ(ibv_destroy_cq(plain), 0);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The time of the completion, not that of polling. */
static void timestamps(struct vt *t)
{
	struct ibv_cq_ex *cq = cq_ex(t, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
	struct ibv_cq *plain = ibv_cq_ex_to_cq(cq);
	struct vt_opt o = { .rcq = { NULL, plain } };
	struct vt_pair *p = vt_pair(t, &o);
	uint64_t begin[20], end[20], ts;

	for (int i = 0; i < 20; i++) {
		vt_recv(p->qp[1], i, NULL, 0, 0);
		begin[i] = now_ns();
		/* The receiver completes it before it acknowledges it. */
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND }),
		      IBV_WC_SUCCESS);
		end[i] = now_ns();
	}
	for (int i = 0; i < 20; i++) {
		VT_EQ(vt_start_poll(cq), 0);
		VT_EQ(cq->wr_id, i);
		ts = ibv_wc_read_completion_ts(cq);
		vt_end_poll(cq);
		VT_OK(ts >= begin[i] && ts <= end[i], "%llu, not in %llu..%llu",
		      (unsigned long long)ts, (unsigned long long)begin[i],
		      (unsigned long long)end[i]);
	}
	vt_forget(p->qp[1]);
	VT_EQ(ibv_destroy_qp(p->qp[1]), 0);
	VT_EQ(ibv_destroy_cq(plain), 0);
}

static void cq_ex_refuses_unknown(struct vt *t)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16, .wc_flags = 1ull << 60,
	};

	errno = 0;
	VT_OK(!ibv_create_cq_ex(t->b.ctx, &attr), "unknown wc_flags");
	VT_OK(errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS,
	      "errno %d", errno);
	attr.wc_flags = 0;
	attr.comp_mask = 1u << 30;
	errno = 0;
	VT_OK(!ibv_create_cq_ex(t->b.ctx, &attr), "unknown comp_mask");
	VT_OK(errno == EOPNOTSUPP || errno == EINVAL || errno == ENOSYS,
	      "errno %d", errno);
}

static const struct vt_case cases[] = {
	VT_CASE(write_and_read),
	VT_CASE(send_variants_in_one_batch),
	VT_CASE(inline_data_and_lists),
	VT_CASE(atomics),
	VT_CASE(abort_discards),
	VT_CASE(batch_too_long),
	VT_CASE(datagrams),
	VT_CASE(poll_receives),
	VT_CASE(poll_both_ways),
	VT_CASE(resized_while_polling),
	VT_CASE(destroyed_while_polling),
	VT_CASE(timestamps),
	VT_CASE(cq_ex_refuses_unknown),
};

VT_MAIN(cases)

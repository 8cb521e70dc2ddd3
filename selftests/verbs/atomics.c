// SPDX-License-Identifier: GPL-2.0
/* Compare-and-swap and fetch-and-add: results, exactness across QPs. */
#include "vt.h"

/**
 * struct cell - a pair, a result word on a and a target word on b
 * @p: pair
 * @res: memory on a
 * @tgt: memory on b
 */
struct cell {
	struct vt_pair *p;
	struct vt_mem *res;
	struct vt_mem *tgt;
};

static struct cell cell_make(struct vt *t)
{
	struct cell c;

	c.p = vt_pair(t, NULL);
	c.res = vt_mem(&t->a, 64, VT_ALL);
	c.tgt = vt_mem(&t->b, 64, VT_ALL);
	memset(c.tgt->buf, 0, 64);
	return c;
}

static uint64_t *word(struct vt_mem *m, int i)
{
	return (uint64_t *)m->buf + i;
}

static uint64_t atomic(struct cell *c, enum ibv_wr_opcode op, uint64_t a,
		       uint64_t b)
{
	struct ibv_wc wc;

	vt_send(c->p->qp[0], &(struct vt_wr){
		.op = op, .id = 1, .local = c->res, .len = 8,
		.remote = c->tgt, .roff = 8, .compare = a, .swap = b,
		.flags = IBV_SEND_SIGNALED });
	wc = vt_expect(c->p->scq[0], 1, IBV_WC_SUCCESS);
	VT_EQ(wc.opcode, op == IBV_WR_ATOMIC_FETCH_AND_ADD ?
	      IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP);
	VT_EQ(wc.byte_len, 8);
	return *word(c->res, 0);
}

static void fetch_add_returns_old(struct vt *t)
{
	struct cell c = cell_make(t);

	*word(c.tgt, 1) = 0xfffffffffffffff0ull;
	VT_EQ(atomic(&c, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0), -16);
	VT_EQ(atomic(&c, IBV_WR_ATOMIC_FETCH_AND_ADD, 0x20, 0), -15);
	VT_EQ(*word(c.tgt, 1), 0x11);
	VT_EQ(*word(c.tgt, 0), 0);
	VT_EQ(*word(c.tgt, 2), 0);
	vt_verify_guards(c.tgt);
}

static void compare_swap_both_ways(struct vt *t)
{
	struct cell c = cell_make(t);
	uint64_t big = 0x0123456789abcdefull;

	*word(c.tgt, 1) = 5;
	VT_EQ(atomic(&c, IBV_WR_ATOMIC_CMP_AND_SWP, 6, 9), 5);
	VT_EQ(*word(c.tgt, 1), 5);
	VT_EQ(atomic(&c, IBV_WR_ATOMIC_CMP_AND_SWP, 5, big), 5);
	VT_OK(*word(c.tgt, 1) == big, "not swapped");
	VT_OK(atomic(&c, IBV_WR_ATOMIC_CMP_AND_SWP, big, 1) == big, "old");
	VT_EQ(*word(c.tgt, 1), 1);
}

/* The eight bytes of the answer may go to several elements. */
static void answer_is_scattered(struct vt *t)
{
	struct cell c = cell_make(t);
	struct ibv_sge sge[3] = {
		{ (uintptr_t)c.res->buf + 1, 3, c.res->mr->lkey },
		{ (uintptr_t)c.res->buf + 10, 1, c.res->mr->lkey },
		{ (uintptr_t)c.res->buf + 20, 4, c.res->mr->lkey },
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.sg_list = sge, .num_sge = 3,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)c.tgt->buf,
			       .compare_add = 1, .rkey = c.tgt->mr->rkey },
	};
	unsigned char want[8], seen[8];

	*word(c.tgt, 0) = 0x1122334455667788ull;
	memcpy(want, c.tgt->buf, 8);
	VT_EQ(ibv_post_send(c.p->qp[0], &wr, &bad), 0);
	vt_expect(c.p->scq[0], 1, IBV_WC_SUCCESS);
	memcpy(seen, c.res->buf + 1, 3);
	seen[3] = c.res->buf[10];
	memcpy(seen + 4, c.res->buf + 20, 4);
	VT_OK(!memcmp(want, seen, 8), "answer bytes");
}

/* Several queue pairs add to one word: nothing is lost, nothing twice. */
static void sum_is_exact(struct vt *t)
{
	enum { NQP = 4, NR = 500, WIN = 8 };
	struct vt_mem *tgt = vt_mem(&t->b, 64, VT_ALL);
	struct vt_mem *res = vt_mem(&t->a, 8 * NQP, VT_ALL);
	uint64_t sum = 0, last[NQP] = {};
	int sent[NQP] = {}, done = 0;
	struct vt_pair *p[NQP];
	uint64_t end = vt_deadline_us();

	memset(tgt->buf, 0, 64);
	for (int i = 0; i < NQP; i++)
		p[i] = vt_pair(t, NULL);
	while (done < NQP * NR) {
		VT_OK(vt_now_us() < end, "%d of %d done", done, NQP * NR);
		for (int i = 0; i < NQP; i++) {
			struct ibv_wc wc;

			while (sent[i] < NR && sent[i] < (int)last[i] + WIN) {
				vt_send(p[i]->qp[0], &(struct vt_wr){
					.op = IBV_WR_ATOMIC_FETCH_AND_ADD,
					.id = sent[i]++, .local = res,
					.off = 8 * i, .len = 8, .remote = tgt,
					.compare = i + 1,
					.flags = IBV_SEND_SIGNALED });
				sum += i + 1;
			}
			while (ibv_poll_cq(p[i]->scq[0], 1, &wc) == 1) {
				VT_EQ(wc.status, IBV_WC_SUCCESS);
				VT_EQ(wc.wr_id, last[i]++);
				done++;
			}
		}
	}
	VT_EQ(*word(tgt, 0), sum);
}

/* CAS loops of several queue pairs count like a lock would. */
static void cas_loops_are_exact(struct vt *t)
{
	enum { NQP = 3, NR = 60 };
	struct vt_mem *tgt = vt_mem(&t->b, 64, VT_ALL);
	struct vt_mem *res = vt_mem(&t->a, 8 * NQP, VT_ALL);
	uint64_t guess[NQP] = {};
	struct vt_pair *p[NQP];
	int won[NQP] = {}, left = NQP;

	memset(tgt->buf, 0, 64);
	for (int i = 0; i < NQP; i++)
		p[i] = vt_pair(t, NULL);
	while (left) {
		for (int i = 0; i < NQP; i++)
			if (won[i] < NR)
				vt_send(p[i]->qp[0], &(struct vt_wr){
					.op = IBV_WR_ATOMIC_CMP_AND_SWP,
					.id = 1, .local = res, .off = 8 * i,
					.len = 8, .remote = tgt,
					.compare = guess[i],
					.swap = guess[i] + 1,
					.flags = IBV_SEND_SIGNALED });
		for (int i = 0; i < NQP; i++) {
			uint64_t old;

			if (won[i] >= NR)
				continue;
			vt_expect(p[i]->scq[0], 1, IBV_WC_SUCCESS);
			old = *word(res, i);
			if (old != guess[i]) {
				guess[i] = old;
				continue;
			}
			guess[i] = old + 1;
			left -= ++won[i] == NR;
		}
	}
	VT_EQ(*word(tgt, 0), NQP * NR);
}

/* Atomics, writes and reads of one queue pair keep their order. */
static void order_with_other_operations(struct vt *t)
{
	struct cell c = cell_make(t);
	struct vt_mem *src = vt_mem(&t->a, 8, VT_ALL);

	for (uint64_t i = 0; i < 50; i++) {
		*word(src, 0) = i * 1000;
		vt_send(c.p->qp[0], &(struct vt_wr){
			.local = src, .len = 8, .remote = c.tgt });
		vt_send(c.p->qp[0], &(struct vt_wr){
			.op = IBV_WR_ATOMIC_FETCH_AND_ADD, .local = c.res,
			.len = 8, .remote = c.tgt, .compare = 7 });
		vt_send(c.p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = i, .local = c.res,
			.off = 8, .len = 8, .remote = c.tgt,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(c.p->scq[0], i, IBV_WC_SUCCESS);
		VT_EQ(*word(c.res, 0), i * 1000);
		VT_EQ(*word(c.res, 1), i * 1000 + 7);
	}
}

static const struct vt_case cases[] = {
	VT_CASE(fetch_add_returns_old),
	VT_CASE(compare_swap_both_ways),
	VT_CASE(answer_is_scattered),
	VT_CASE(sum_is_exact),
	VT_CASE(cas_loops_are_exact),
	VT_CASE(order_with_other_operations),
};

VT_MAIN(cases)

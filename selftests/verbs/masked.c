// SPDX-License-Identifier: GPL-2.0
/*
 * Masked atomics. libibverbs has no call for them: the entry of a compare and
 * swap becomes one in the mapped queue, before it is handed over.
 */
#include <rdma/hroce-abi.h>

#include "vt.h"

#define EX_OPS	(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
		 IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ)
#define ALL	(~0ull)

/**
 * struct masked - a masked atomic
 * @op: HROCE_WR_MASKED_*
 * @compare_add: operand
 * @swap: operand
 * @masks: which bits
 */
struct masked {
	enum hroce_wr_op op;
	uint64_t compare_add;
	uint64_t swap;
	struct hroce_masks masks;
};

/**
 * struct cell - a pair, results on a and words on b
 * @p: pair
 * @x: extended view of a's queue pair
 * @res: memory on a
 * @tgt: memory on b
 */
struct cell {
	struct vt_pair *p;
	struct ibv_qp_ex *x;
	struct vt_mem *res;
	struct vt_mem *tgt;
};

static struct cell cell_on(struct vt *t, struct vt_mem *tgt, int access)
{
	struct vt_opt o = { .ex_ops = EX_OPS, .access = access };
	struct cell c = { .tgt = tgt };

	if (!vt_is_hroce(&t->a))
		vt_skip("the queue has another form");
	c.p = vt_pair(t, &o);
	c.x = ibv_qp_to_qp_ex(c.p->qp[0]);
	VT_OK(c.x, "no extended view");
	c.res = vt_mem(&t->a, 64, VT_ALL);
	return c;
}

static struct vt_mem *words_make(struct vt *t, int access)
{
	struct vt_mem *m = vt_mem(&t->b, 64, access);

	memset(m->buf, 0, m->len);
	return m;
}

static struct cell cell_make(struct vt *t)
{
	return cell_on(t, words_make(t, VT_ALL), VT_ALL);
}

static uint64_t *word(struct vt_mem *m, int i)
{
	return (uint64_t *)m->buf + i;
}

/* Return: wr_id, different from all before, which may still be in a queue. */
static uint64_t post_at(const struct cell *c, const struct masked *m,
			const struct ibv_sge *sges, int nr_sges, uint32_t rkey,
			const void *at)
{
	static uint64_t id = 0x6d61736b65640000;
	struct hroce_sq_wqe *wqe;

	ibv_wr_start(c->x);
	c->x->wr_id = ++id;
	c->x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_cmp_swp(c->x, rkey, (uintptr_t)at, m->compare_add,
			      m->swap);
	ibv_wr_set_sge_list(c->x, nr_sges, sges);
	wqe = vt_find_entry(id);
	wqe->opcode = m->op;
	memcpy((struct hroce_sge *)(wqe + 1) + nr_sges, &m->masks,
	       sizeof(m->masks));
	VT_EQ(ibv_wr_complete(c->x), 0);
	return id;
}

/* On word @i; the result goes to word @i, too. */
static uint64_t post(const struct cell *c, const struct masked *m, int i)
{
	struct ibv_sge sge = { (uintptr_t)word(c->res, i), 8,
			       c->res->mr->lkey };

	return post_at(c, m, &sge, 1, c->tgt->mr->rkey, word(c->tgt, i));
}

static void run(const struct cell *c, const struct masked *m, uint64_t old,
		uint64_t now)
{
	struct ibv_wc wc;
	uint64_t id;

	*word(c->tgt, 1) = old;
	*word(c->res, 1) = ~old;
	id = post(c, m, 1);
	wc = vt_expect(c->p->scq[0], id, IBV_WC_SUCCESS);
	VT_EQ((int)wc.opcode, m->op == HROCE_WR_MASKED_CMP_SWAP ?
	      HROCE_WC_MASKED_CMP_SWAP : HROCE_WC_MASKED_FETCH_ADD);
	VT_EQ(wc.byte_len, 8);
	VT_OK(*word(c->res, 1) == old, "result %#llx, not %#llx",
	      (long long)*word(c->res, 1), (long long)old);
	VT_OK(*word(c->tgt, 1) == now, "now %#llx, not %#llx",
	      (long long)*word(c->tgt, 1), (long long)now);
	VT_EQ(*word(c->tgt, 0), 0);
	VT_EQ(*word(c->tgt, 2), 0);
}

static void some_bits_are_swapped(struct vt *t)
{
	struct cell c = cell_make(t);
	struct masked m = { HROCE_WR_MASKED_CMP_SWAP, 0xff05, 0xab00,
			    { 0xff, 0xff00 } };

	run(&c, &m, 0x112233440005, 0x11223344ab05);
	run(&c, &m, 0x112233440006, 0x112233440006);
	m.masks.compare_add = 0;
	run(&c, &m, 0x112233440006, 0x11223344ab06);
	m.masks = (struct hroce_masks){ ALL, ALL };
	run(&c, &m, 0xff05, 0xab00);
	run(&c, &m, 0xff04, 0xff04);
}

static void fields_are_added(struct vt *t)
{
	struct cell c = cell_make(t);
	struct masked m = { .op = HROCE_WR_MASKED_FETCH_ADD,
			    .compare_add = 1 };

	run(&c, &m, ALL, 0);
	m.compare_add = 0x100000001;
	m.masks.compare_add = 0x8000000080000000;
	run(&c, &m, 0x00000001ffffffff, 0x200000000);
	m.compare_add = ALL;
	m.masks.compare_add = ALL;
	run(&c, &m, 0xff00ff00ff00ff00, 0x00ff00ff00ff00ff);
}

/* The eight bytes may go to as many elements as leave room for the masks. */
static void result_is_scattered(struct vt *t)
{
	struct cell c = cell_make(t);
	struct ibv_sge sge[3] = {
		{ (uintptr_t)c.res->buf + 1, 3, c.res->mr->lkey },
		{ (uintptr_t)c.res->buf + 10, 1, c.res->mr->lkey },
		{ (uintptr_t)c.res->buf + 20, 4, c.res->mr->lkey },
	};
	struct masked m = { .op = HROCE_WR_MASKED_FETCH_ADD,
			    .compare_add = 1 };
	uint64_t old = 0x1122334455667788ull, id;
	unsigned char seen[8];

	*word(c.tgt, 0) = old;
	id = post_at(&c, &m, sge, 3, c.tgt->mr->rkey, c.tgt->buf);
	vt_expect(c.p->scq[0], id, IBV_WC_SUCCESS);
	memcpy(seen, c.res->buf + 1, 3);
	seen[3] = c.res->buf[10];
	memcpy(seen + 4, c.res->buf + 20, 4);
	VT_OK(!memcmp(&old, seen, 8), "result");
	VT_OK(*word(c.tgt, 0) == old + 1, "sum");
}

/*
 * Several queue pairs, each with a field of its own in one word, so that most
 * guesses are wrong: nothing is lost, nothing goes to a neighbour.
 */
static void sums_are_exact(struct vt *t)
{
	enum { NQP = 4, NR = 150, WIN = 4 };
	struct vt_mem *tgt = words_make(t, VT_ALL);
	uint64_t end = vt_deadline_us(), want = 0;
	int sent[NQP] = {}, done = 0, got[NQP] = {};
	struct cell c[NQP];
	struct ibv_wc wc;

	for (int i = 0; i < NQP; i++)
		c[i] = cell_on(t, tgt, VT_ALL);
	while (done < NQP * NR) {
		VT_OK(vt_now_us() < end, "%d of %d done", done, NQP * NR);
		for (int i = 0; i < NQP; i++) {
			for (; sent[i] < NR && sent[i] < got[i] + WIN; sent[i]++)
				post(&c[i], &(struct masked){
					HROCE_WR_MASKED_FETCH_ADD,
					1000ull << 16 * i, 0,
					{ 0x8000800080008000, 0 } }, 0);
			while (ibv_poll_cq(c[i].p->scq[0], 1, &wc) == 1) {
				VT_EQ(wc.status, IBV_WC_SUCCESS);
				got[i]++;
				done++;
			}
		}
	}
	for (int i = 0; i < NQP; i++)
		want |= (uint64_t)(NR * 1000 & 0xffff) << 16 * i;
	VT_OK(*word(tgt, 0) == want, "%#llx, not %#llx",
	      (long long)*word(tgt, 0), (long long)want);
}

/* Plain and masked atomics of different queue pairs on one word. */
static void beside_plain_atomics(struct vt *t)
{
	enum { NR = 300, FIELD = 1 << 10 };
	struct vt_mem *tgt = words_make(t, VT_ALL);
	struct cell masked = cell_on(t, tgt, VT_ALL);
	struct cell plain = cell_on(t, tgt, VT_ALL);
	uint64_t id;

	for (int i = 0; i < NR; i++) {
		id = post(&masked, &(struct masked){
			HROCE_WR_MASKED_FETCH_ADD, FIELD, 0, { ALL << 63, 0 } }, 0);
		vt_send(plain.p->qp[0], &(struct vt_wr){
			.op = IBV_WR_ATOMIC_FETCH_AND_ADD, .id = i,
			.local = plain.res, .len = 8, .remote = tgt,
			.compare = 1, .flags = IBV_SEND_SIGNALED });
		vt_expect(plain.p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(masked.p->scq[0], id, IBV_WC_SUCCESS);
	}
	VT_EQ(*word(tgt, 0), NR * FIELD + NR);
}

/* What is posted behind takes place behind, what was before has been. */
static void keeps_its_place(struct vt *t)
{
	struct cell c = cell_make(t);
	struct vt_mem *src = vt_mem(&t->a, 16, VT_ALL);
	uint64_t last;

	for (uint64_t i = 1; i <= 50; i++) {
		*word(src, 0) = i << 32;
		*word(src, 1) = ~i;
		vt_send(c.p->qp[0], &(struct vt_wr){
			.local = src, .len = 8, .remote = c.tgt });
		last = post(&c, &(struct masked){
			HROCE_WR_MASKED_FETCH_ADD, 7, 0, { 0x8000, 0 } }, 0);
		vt_send(c.p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .local = c.res, .off = 8,
			.len = 8, .remote = c.tgt });
		vt_send(c.p->qp[0], &(struct vt_wr){
			.local = src, .off = 8, .len = 8, .remote = c.tgt,
			.id = i, .flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE });
		vt_expect(c.p->scq[0], last, IBV_WC_SUCCESS);
		vt_expect(c.p->scq[0], i, IBV_WC_SUCCESS);
		VT_OK(*word(c.res, 0) == i << 32, "result");
		VT_OK(*word(c.res, 1) == (i << 32) + 7, "read behind");
		VT_OK(*word(c.tgt, 0) == ~i, "written behind");
	}
}

static void needs_rights(struct vt *t)
{
	const int no = VT_ALL & ~IBV_ACCESS_REMOTE_ATOMIC;
	struct cell c = cell_on(t, words_make(t, t->arg == 2 ? no : VT_ALL),
				t->arg == 1 ? no : VT_ALL);
	struct ibv_sge sge = { (uintptr_t)c.res->buf, 8, c.res->mr->lkey };
	struct masked m = { .op = HROCE_WR_MASKED_FETCH_ADD,
			    .compare_add = 1 };
	uint64_t id;

	id = post_at(&c, &m, &sge, 1, c.tgt->mr->rkey ^ (t->arg ? 0 : ~0u),
		     word(c.tgt, 0));
	vt_expect(c.p->scq[0], id, t->arg == 1 ? IBV_WC_REM_INV_REQ_ERR :
						 IBV_WC_REM_ACCESS_ERR);
	VT_EQ(*word(c.tgt, 0), 0);
}

static void wrong_lkey(struct vt *t)
{
	struct cell c = cell_make(t);
	struct ibv_sge sge = { (uintptr_t)c.res->buf, 8, ~c.res->mr->lkey };
	struct masked m = { .op = HROCE_WR_MASKED_FETCH_ADD,
			    .compare_add = 1 };
	uint64_t id;

	id = post_at(&c, &m, &sge, 1, c.tgt->mr->rkey, word(c.tgt, 0));
	vt_expect(c.p->scq[0], id, IBV_WC_LOC_PROT_ERR);
}

static void misaligned(struct vt *t)
{
	struct cell c = cell_make(t);
	struct ibv_sge sge = { (uintptr_t)c.res->buf, 8, c.res->mr->lkey };
	struct masked m = { .op = HROCE_WR_MASKED_FETCH_ADD,
			    .compare_add = 1 };
	uint64_t id;

	id = post_at(&c, &m, &sge, 1, c.tgt->mr->rkey, c.tgt->buf + 4);
	vt_expect(c.p->scq[0], id, IBV_WC_REM_INV_REQ_ERR);
}

static void only_8_bytes(struct vt *t)
{
	struct cell c = cell_make(t);
	struct ibv_sge sge = { (uintptr_t)c.res->buf, t->arg,
			       c.res->mr->lkey };
	struct masked m = { .op = HROCE_WR_MASKED_CMP_SWAP };
	uint64_t id;

	id = post_at(&c, &m, &sge, 1, c.tgt->mr->rkey, word(c.tgt, 0));
	vt_expect(c.p->scq[0], id, IBV_WC_LOC_LEN_ERR);
}

static const struct vt_case cases[] = {
	VT_CASE(some_bits_are_swapped),
	VT_CASE(fields_are_added),
	VT_CASE(result_is_scattered),
	VT_CASE(sums_are_exact),
	VT_CASE(beside_plain_atomics),
	VT_CASE(keeps_its_place),
	VT_CASE_ARG("wrong_rkey", needs_rights, 0),
	VT_CASE_ARG("qp_lacks_remote_atomic", needs_rights, 1),
	VT_CASE_ARG("mr_lacks_remote_atomic", needs_rights, 2),
	VT_CASE(wrong_lkey),
	VT_CASE(misaligned),
	VT_CASE_ARG("length_4", only_8_bytes, 4),
	VT_CASE_ARG("length_16", only_8_bytes, 16),
};

VT_MAIN(cases)

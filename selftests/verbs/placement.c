// SPDX-License-Identifier: GPL-2.0
/*
 * Extensions for the placement of memory (IBTA A19): ATOMIC WRITE and FLUSH.
 * libibverbs 44 has no call for the latter: the entry of a WRITE becomes one in
 * the mapped queue, before it is handed over.
 */
#include <rdma/hroce-abi.h>

#include "vt.h"

/* Not in libibverbs 44; those of the kernel's rdma/ib_user_verbs.h. */
#define CAP_FLUSH_GLOBAL	(1ull << 38)
#define CAP_FLUSH_PERSISTENT	(1ull << 39)
#define CAP_ATOMIC_WRITE	(1ull << 40)
#define ACCESS_FLUSH_GLOBAL	(1 << 8)
#define ACCESS_FLUSH_PERSISTENT	(1 << 9)
#define WC_FLUSH		8

#define EX_OPS	(IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_RDMA_WRITE | \
		 IBV_QP_EX_WITH_RDMA_READ)

/**
 * struct duo - an extended pair with memory
 * @p: pair
 * @x: extended view of a's queue pair
 * @s: memory on a
 * @d: memory on b
 */
struct duo {
	struct vt_pair *p;
	struct ibv_qp_ex *x;
	struct vt_mem *s;
	struct vt_mem *d;
};

static uint64_t caps(const struct vt_end *e)
{
	struct ibv_device_attr_ex attr;

	VT_EQ(ibv_query_device_ex(e->ctx, NULL, &attr), 0);
	return attr.device_cap_flags_ex;
}

static struct duo duo_make(struct vt *t, int qp_access, int mr_access)
{
	struct vt_opt o = { .ex_ops = EX_OPS, .access = qp_access };
	struct duo u;

	u.p = vt_pair(t, &o);
	u.x = ibv_qp_to_qp_ex(u.p->qp[0]);
	VT_OK(u.x, "no extended view");
	u.s = vt_mem(&t->a, 64, VT_ALL);
	u.d = vt_mem(&t->b, 4096, mr_access);
	memset(u.d->buf, 0, u.d->len);
	return u;
}

static uint64_t *word(const struct duo *u, int i)
{
	return (uint64_t *)u->d->buf + i;
}

static void post_word(const struct duo *u, uint64_t id, uint32_t rkey,
		      const void *at, uint64_t value)
{
	ibv_wr_start(u->x);
	u->x->wr_id = id;
	u->x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(u->x, rkey, (uintptr_t)at, &value);
	VT_EQ(ibv_wr_complete(u->x), 0);
}

static void words_are_written(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);
	struct ibv_wc wc;

	VT_OK(caps(&t->a) & CAP_ATOMIC_WRITE, "not offered");
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t value = i * 0x0123456789abcdefull;

		post_word(&u, i, u.d->mr->rkey, word(&u, 1 + i % 8), value);
		wc = vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
		VT_EQ(wc.opcode, IBV_WC_ATOMIC_WRITE);
		VT_OK(*word(&u, 1 + i % 8) == value, "word %d", (int)i);
	}
	VT_EQ(*word(&u, 0), 0);
	VT_EQ(*word(&u, 9), 0);
	vt_verify_guards(u.d);
}

static int post_plain(const struct duo *u, size_t len, unsigned int flags)
{
	return vt_try_send(u->p->qp[0], &(struct vt_wr){
		.op = IBV_WR_ATOMIC_WRITE, .id = 1, .local = u->s, .len = len,
		.remote = u->d, .roff = 8, .flags = IBV_SEND_SIGNALED | flags });
}

static void words_from_memory_and_inline(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);

	for (int i = 0; i < 2; i++) {
		vt_fill(u.s, 0, 8, i + 1);
		VT_EQ(post_plain(&u, 8, i ? IBV_SEND_INLINE : 0), 0);
		VT_EQ(vt_expect(u.p->scq[0], 1, IBV_WC_SUCCESS).byte_len, 8);
		VT_OK(!memcmp(word(&u, 1), u.s->buf, 8), "wrong word");
	}
}

static void only_8_bytes(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);

	VT_EQ(post_plain(&u, t->arg, 0), 0);
	vt_expect(u.p->scq[0], 1, IBV_WC_LOC_LEN_ERR);
}

static void lkey_is_checked(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);
	struct ibv_mr mr = { .lkey = ~u.s->mr->lkey };
	struct vt_mem fake = { .buf = u.s->buf, .len = u.s->len, .mr = &mr };
	struct duo v = u;

	v.s = &fake;
	post_word(&u, 7, u.d->mr->rkey, word(&u, 0), 5);
	VT_EQ(post_plain(&v, 8, 0), 0);
	vt_expect(u.p->scq[0], 7, IBV_WC_SUCCESS);
	vt_expect(u.p->scq[0], 1, IBV_WC_LOC_PROT_ERR);
	VT_EQ(*word(&u, 0), 5);
}

static void misaligned(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);

	post_word(&u, 1, u.d->mr->rkey, u.d->buf + 4, ~0ull);
	vt_expect(u.p->scq[0], 1, IBV_WC_REM_INV_REQ_ERR);
	VT_EQ(*word(&u, 0) | *word(&u, 1), 0);
}

static void needs_rights(struct vt *t)
{
	int all = VT_ALL & ~(t->arg ? IBV_ACCESS_REMOTE_WRITE : 0);
	struct duo u = duo_make(t, t->arg == 1 ? all : VT_ALL,
				t->arg == 2 ? all : VT_ALL);

	post_word(&u, 1, u.d->mr->rkey ^ (t->arg ? 0 : ~0u), word(&u, 0), 1);
	vt_expect(u.p->scq[0], 1, t->arg == 1 ? IBV_WC_REM_INV_REQ_ERR :
						IBV_WC_REM_ACCESS_ERR);
	VT_EQ(*word(&u, 0), 0);
}

/* WRITE, ATOMIC WRITE and READ of one queue pair take effect in order. */
static void keeps_its_place(struct vt *t)
{
	struct duo u = duo_make(t, VT_ALL, VT_ALL);
	uint64_t *src = (uint64_t *)u.s->buf;

	for (uint64_t i = 1; i <= 50; i++) {
		src[0] = src[1] = i;
		vt_send(u.p->qp[0], &(struct vt_wr){
			.local = u.s, .len = 16, .remote = u.d });
		post_word(&u, i, u.d->mr->rkey, word(&u, 1), ~i);
		vt_send(u.p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = i, .local = u.s,
			.off = 16, .len = 16, .remote = u.d,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
		VT_OK(src[2] == i && src[3] == ~i, "round %d", (int)i);
	}
}

/* As many as are posted, however few may be outstanding. */
static void many_at_once(struct vt *t)
{
	struct vt_opt o = { .ex_ops = EX_OPS, .rd = 1 };
	struct duo u = {
		.p = vt_pair(t, &o), .d = vt_mem(&t->b, 4096, VT_ALL),
	};

	u.x = ibv_qp_to_qp_ex(u.p->qp[0]);
	for (int i = 0; i < 60; i++)
		post_word(&u, i, u.d->mr->rkey, word(&u, i), i);
	for (int i = 0; i < 60; i++)
		vt_expect(u.p->scq[0], i, IBV_WC_SUCCESS);
	for (int i = 0; i < 60; i++)
		VT_EQ(*word(&u, i), i);
}

/* FLUSH. */

static struct hroce_sq_wqe *find_entry(uint64_t wr_id)
{
	struct hroce_sq_wqe *found = NULL;
	unsigned long from, to, at;
	char line[512];
	FILE *f;

	f = fopen("/proc/self/maps", "r");
	VT_OK(f, "no /proc/self/maps");
	while (fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/dev/infiniband/uverbs") ||
		    sscanf(line, "%lx-%lx rw", &from, &to) != 2)
			continue;
		for (at = from + HROCE_RING_ENTRIES_OFFSET; at < to; at += 64)
			if (((struct hroce_sq_wqe *)at)->wr_id == wr_id)
				found = (struct hroce_sq_wqe *)at;
	}
	fclose(f);
	VT_OK(found, "no such entry");
	return found;
}

/* Return: wr_id, different from all before, which may still be in the queue. */
static uint64_t post_flush(const struct duo *u, uint32_t rkey, const void *at,
			   uint32_t len, uint8_t placement, uint8_t level)
{
	static uint64_t id = 0x666c757368000000;
	struct hroce_sq_wqe *wqe;

	ibv_wr_start(u->x);
	u->x->wr_id = ++id;
	u->x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(u->x, rkey, (uintptr_t)at);
	wqe = find_entry(id);
	wqe->opcode = HROCE_WR_FLUSH;
	wqe->flush.length = len;
	wqe->flush.placement = placement;
	wqe->flush.selectivity = level;
	VT_EQ(ibv_wr_complete(u->x), 0);
	return id;
}

static struct duo flush_make(struct vt *t, int qp_access, int mr_access)
{
	if (!vt_is_hroce(&t->a))
		vt_skip("the queue has another form");
	if (!(caps(&t->b) & CAP_FLUSH_GLOBAL))
		vt_skip("this kernel does not let memory be registered for it");
	return duo_make(t, qp_access, mr_access);
}

#define FLUSHABLE	(VT_ALL | ACCESS_FLUSH_GLOBAL)

static void written_is_flushed(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE, FLUSHABLE);
	struct vt_mem *big = vt_mem(&t->a, 4096, VT_ALL);
	struct ibv_wc wc;
	uint64_t id;

	for (int i = 0; i < 20; i++) {
		vt_fill(big, 0, 4096, i);
		vt_send(u.p->qp[0], &(struct vt_wr){
			.local = big, .len = 4096, .remote = u.d });
		if (i & 1)
			id = post_flush(&u, u.d->mr->rkey, NULL, 0,
					HROCE_FLUSH_GLOBAL, HROCE_FLUSH_MR);
		else
			id = post_flush(&u, u.d->mr->rkey, u.d->buf + i,
					4096 - i, HROCE_FLUSH_GLOBAL,
					HROCE_FLUSH_RANGE);
		wc = vt_expect(u.p->scq[0], id, IBV_WC_SUCCESS);
		VT_EQ((int)wc.opcode, WC_FLUSH);
		vt_verify(u.d, 0, 4096, i);
	}
}

static void flush_needs_rights(struct vt *t)
{
	struct duo u = flush_make(t, t->arg == 1 ? VT_ALL : FLUSHABLE,
				  t->arg == 2 ? VT_ALL : FLUSHABLE);
	uint64_t id;

	id = post_flush(&u, u.d->mr->rkey ^ (t->arg ? 0 : ~0u), u.d->buf, 8,
			HROCE_FLUSH_GLOBAL, HROCE_FLUSH_RANGE);
	vt_expect(u.p->scq[0], id, t->arg == 1 ? IBV_WC_REM_INV_REQ_ERR :
						 IBV_WC_REM_ACCESS_ERR);
}

static void flush_beyond_the_end(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE, FLUSHABLE);
	uint64_t id;

	id = post_flush(&u, u.d->mr->rkey, u.d->buf + 1, 4096,
			HROCE_FLUSH_GLOBAL, HROCE_FLUSH_RANGE);
	vt_expect(u.p->scq[0], id, IBV_WC_REM_ACCESS_ERR);
}

/* There is no such memory: neither can it be registered nor asked for. */
static void nothing_is_persistent(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE | t->arg, FLUSHABLE);
	struct ibv_mr *mr;
	uint64_t id;

	if (!vt_is_hroce(&t->b))
		vt_skip("rdma_rxe lets it be asked for");
	VT_OK(!(caps(&t->b) & CAP_FLUSH_PERSISTENT), "offered");
	mr = ibv_reg_mr(t->b.pd, u.d->buf, 4096,
			VT_ALL | ACCESS_FLUSH_PERSISTENT);
	VT_OK(!mr && errno == EOPNOTSUPP, "registered: %m");
	id = post_flush(&u, u.d->mr->rkey, u.d->buf, 8,
			HROCE_FLUSH_PERSISTENT, HROCE_FLUSH_RANGE);
	vt_expect(u.p->scq[0], id, t->arg ? IBV_WC_REM_ACCESS_ERR :
					    IBV_WC_REM_INV_REQ_ERR);
}

static void kinds_of_flush(struct vt *t)
{
	struct duo u = flush_make(t, FLUSHABLE, FLUSHABLE);
	uint64_t id;

	id = post_flush(&u, u.d->mr->rkey, u.d->buf, 8, t->arg >> 4,
			t->arg & 15);
	vt_expect(u.p->scq[0], id, IBV_WC_LOC_QP_OP_ERR);
}

static const struct vt_case cases[] = {
	VT_CASE(words_are_written),
	VT_CASE(words_from_memory_and_inline),
	VT_CASE_ARG("only_8_bytes_not_7", only_8_bytes, 7),
	VT_CASE_ARG("only_8_bytes_not_16", only_8_bytes, 16),
	VT_CASE(lkey_is_checked),
	VT_CASE(misaligned),
	VT_CASE_ARG("wrong_rkey", needs_rights, 0),
	VT_CASE_ARG("qp_lacks_remote_write", needs_rights, 1),
	VT_CASE_ARG("mr_lacks_remote_write", needs_rights, 2),
	VT_CASE(keeps_its_place),
	VT_CASE(many_at_once),
	VT_CASE(written_is_flushed),
	VT_CASE_ARG("flush_wrong_rkey", flush_needs_rights, 0),
	VT_CASE_ARG("flush_qp_lacks_right", flush_needs_rights, 1),
	VT_CASE_ARG("flush_mr_lacks_right", flush_needs_rights, 2),
	VT_CASE(flush_beyond_the_end),
	VT_CASE(nothing_is_persistent),
	VT_CASE_ARG("nothing_is_persistent_for_willing_qp",
		    nothing_is_persistent, ACCESS_FLUSH_PERSISTENT),
	VT_CASE_ARG("flush_of_no_kind", kinds_of_flush, 0x00),
	VT_CASE_ARG("flush_of_unknown_kind", kinds_of_flush, 0x50),
	VT_CASE_ARG("flush_of_unknown_extent", kinds_of_flush, 0x12),
};

VT_MAIN(cases)

// SPDX-License-Identifier: GPL-2.0
/*
 * Windows bound to regions with on-demand paging: memory that is not there, goes
 * away or is another one while a peer uses it by the key of a window. What
 * windows grant is in mw.c, for this memory, too.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "vt.h"

#define PAGE		4096ul
#define LEN		100000ul
#define BUF		(64 * PAGE)
#define OFF		(3 * PAGE + 40)
#define BINDABLE	(VT_ALL | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_MW_BIND)

/* Bits of vt.arg */
#define TYPE1		1
#define IMPLICIT	2

static enum ibv_mw_type type_of(const struct vt *t)
{
	return t->arg & TYPE1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2;
}

/* Memory of the first end, in a region of its own or of everything. */
static struct vt_mem paged(struct vt *t, unsigned char *buf)
{
	struct vt_mem m = { .buf = buf, .len = BUF };

	m.mr = t->arg & IMPLICIT ?
	       ibv_reg_mr(t->a.pd, NULL, SIZE_MAX, BINDABLE) :
	       ibv_reg_mr(t->a.pd, buf, BUF, BINDABLE);
	VT_OK(m.mr, "%s", strerror(errno));
	return m;
}

static void end(struct vt_win *w, struct vt_mem *m)
{
	vt_forget(w->mw);
	VT_EQ(ibv_dealloc_mw(w->mw), 0);
	VT_EQ(ibv_dereg_mr(m->mr), 0);
	munmap(m->buf, m->len);
}

static enum ibv_wc_status peer(struct vt_pair *p, enum ibv_wr_opcode op,
			       struct vt_win *w, size_t off,
			       const struct vt_mem *s, size_t len)
{
	vt_win_send(p, op, w, off, s, len);
	return vt_poll(p->scq[1]).status;
}

static void drop(struct vt_mem *m)
{
	VT_EQ(vt_spoil_drop(m->buf, m->len), 0);
}

/* Each operation finds nothing there, waits for it, and goes on where it was. */
static void fetched(struct vt *t)
{
	static const struct {
		enum ibv_wr_opcode op;
		size_t len;
	} ops[] = {
		{ IBV_WR_RDMA_WRITE, LEN },
		{ IBV_WR_RDMA_READ, LEN },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, 8 },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, 8 },
	};
	struct vt_mem m = paged(t, vt_map_shared(BUF));
	struct vt_mem *s = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, type_of(t), &m, OFF, LEN, VT_REMOTE);
	long long before;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		vt_fill(&m, OFF, LEN, i);
		vt_fill(s, 0, LEN, 9);
		drop(&m);
		before = vt_settled(&t->a, "memory_faults");
		VT_EQ(peer(p, ops[i].op, &w, 0, s, ops[i].len),
		      IBV_WC_SUCCESS);
		VT_OK(vt_settled(&t->a, "memory_faults") > before,
		      "nothing was fetched");
		if (ops[i].op == IBV_WR_RDMA_WRITE)
			vt_verify(&m, OFF, LEN, 9);
		else
			vt_verify(s, 0, ops[i].len, i);
		before = vt_settled(&t->a, "memory_faults");
		VT_EQ(peer(p, ops[i].op, &w, 0, s, ops[i].len),
		      IBV_WC_SUCCESS);
		VT_EQ(vt_settled(&t->a, "memory_faults"), before);
	}
	end(&w, &m);
}

/*
 * As by the key of the region: refused where there is no memory, or none to
 * write. All that could be mapped at its addresses is mapped before.
 */
static void spoiled(struct vt *t)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct vt_mem m = paged(t, vt_map_shared(BUF));
	struct vt_mem *s = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_pair *p[7];
	struct vt_win w[7];

	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = vt_pair(t, NULL);
		w[i] = vt_bound(p[i], type_of(t), &m, OFF, LEN, VT_REMOTE);
		VT_EQ(peer(p[i], IBV_WR_RDMA_WRITE, &w[i], 0, s, LEN),
		      IBV_WC_SUCCESS);
	}
	VT_EQ(mprotect(m.buf, m.len, PROT_READ), 0);
	for (size_t i = 0; i < 3; i++)
		VT_EQ(peer(p[i], ops[i], &w[i], 0, s, 8),
		      ops[i] == IBV_WR_RDMA_READ ? IBV_WC_SUCCESS :
						   IBV_WC_REM_ACCESS_ERR);
	VT_EQ(mprotect(m.buf, m.len, PROT_READ | PROT_WRITE), 0);
	VT_EQ(peer(p[3], IBV_WR_RDMA_WRITE, &w[3], 0, s, LEN), IBV_WC_SUCCESS);
	VT_EQ(munmap(m.buf, m.len), 0);
	for (size_t i = 0; i < 3; i++)
		VT_EQ(peer(p[4 + i], ops[i], &w[4 + i], 0, s, 8),
		      IBV_WC_REM_ACCESS_ERR);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		VT_EQ(ibv_dereg_mr(m.mr), EBUSY);
		vt_forget(w[i].mw);
		VT_EQ(ibv_dealloc_mw(w[i].mw), 0);
	}
	VT_EQ(ibv_dereg_mr(m.mr), 0);
}

/* The same addresses, other memory: it is the new one that is used. */
static void remapped(struct vt *t)
{
	struct vt_mem m = paged(t, vt_map_shared(BUF));
	struct vt_mem *s = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, type_of(t), &m, OFF, LEN, VT_REMOTE);

	for (int i = 0; i < 20; i++) {
		vt_fill(s, 0, LEN, i);
		VT_EQ(peer(p, IBV_WR_RDMA_WRITE, &w, 0, s, LEN),
		      IBV_WC_SUCCESS);
		vt_verify(&m, OFF, LEN, i);
		VT_OK(mmap(m.buf, m.len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			   0) == m.buf, "mmap");
		VT_EQ(peer(p, IBV_WR_RDMA_READ, &w, 0, s, LEN),
		      IBV_WC_SUCCESS);
		for (size_t j = 0; j < LEN; j++)
			VT_EQ(s->buf[j], 0);
	}
	end(&w, &m);
}

/* Neither the length nor the place of a window is small. */
static void far_away(struct vt *t)
{
	const size_t len = 6ull << 30, off = (5ull << 30) - 5000, n = 5 << 20;
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct vt_mem m = { .buf = map, .len = len };
	struct vt_mem *s = vt_mem(&t->b, n, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w;

	VT_OK(map != MAP_FAILED, "%s", strerror(errno));
	m.mr = ibv_reg_mr(t->a.pd, map, len, BINDABLE);
	VT_OK(m.mr, "%s", strerror(errno));
	w = vt_bound(p, IBV_MW_TYPE_2, &m, off, len - off,
		     VT_REMOTE | IBV_ACCESS_ZERO_BASED);
	vt_fill(s, 0, n, 1);
	VT_EQ(peer(p, IBV_WR_RDMA_WRITE, &w, 1000, s, n), IBV_WC_SUCCESS);
	vt_verify(&m, off + 1000, n, 1);
	vt_fill(&m, off, n, 2);
	VT_EQ(peer(p, IBV_WR_RDMA_READ, &w, 0, s, n), IBV_WC_SUCCESS);
	vt_verify(s, 0, n, 2);
	VT_EQ(peer(p, IBV_WR_RDMA_WRITE, &w, len - off - 7, s, 8),
	      IBV_WC_REM_ACCESS_ERR);
	end(&w, &m);
}

static void take_away(struct vt *t, struct vt_pair *p, struct vt_win *w)
{
	if (t->arg & TYPE1) {
		vt_bind(p->qp[0], w, NULL, 0, 0, 0, 0);
		vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
		return;
	}
	vt_send(p->qp[0], &(struct vt_wr){ .op = IBV_WR_LOCAL_INV, .id = 5,
		.imm = w->mr.rkey, .flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 5, IBV_WC_SUCCESS);
}

/*
 * A window goes while the peer writes, and what it writes to is fetched: from
 * the completion on nothing changes any more.
 */
static void taken_away_in_use(struct vt *t)
{
	struct vt_mem m = paged(t, vt_map_shared(BUF));
	struct vt_mem *s = vt_mem(&t->b, LEN, VT_ALL);
	unsigned char *seen = malloc(BUF);
	unsigned int cut = 0, i;

	vt_fill(s, 0, LEN, 9);
	/* How many are in time depends on what else the machine does. */
	for (i = 0; i < 40 || (!cut && i < 400); i++) {
		struct vt_pair *p = vt_pair(t, NULL);
		struct vt_win w = vt_bound(p, type_of(t), &m, OFF, LEN,
					   VT_REMOTE);
		enum ibv_wc_status status;

		memset(m.buf, 0, m.len);
		drop(&m);
		vt_win_send(p, IBV_WR_RDMA_WRITE, &w, 0, s, LEN);
		if (i & 1)
			usleep(vt_rand() % 300);
		take_away(t, p, &w);
		memcpy(seen, m.buf, BUF);
		status = vt_poll(p->scq[1]).status;
		VT_OK(status == IBV_WC_SUCCESS ||
		      status == IBV_WC_REM_ACCESS_ERR, "%s",
		      ibv_wc_status_str(status));
		cut += status != IBV_WC_SUCCESS;
		VT_OK(!memcmp(seen, m.buf, BUF), "written afterwards");
		vt_forget(w.mw);
		VT_EQ(ibv_dealloc_mw(w.mw), 0);
	}
	vt_note("%u of %u cut", cut, i);
	VT_OK(cut, "always too late");
	VT_EQ(ibv_dereg_mr(m.mr), 0);
	munmap(m.buf, m.len);
	free(seen);
}

/* Pages go all the time, and windows come and go. */
static void dropped_under_traffic(struct vt *t)
{
	struct vt_mem m = paged(t, vt_map_shared(BUF));
	struct vt_spoiler spoiler = {
		.how = vt_spoil_drop, .len = BUF, .buf = { m.buf, m.buf },
	};
	struct vt_mem *s = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, type_of(t), &m, OFF, LEN, VT_REMOTE);

	vt_spoiler_begin(&spoiler);
	for (int i = 0; i < 200; i++) {
		size_t off = OFF + i % 10;

		if (!(i % 10) && i) {
			take_away(t, p, &w);
			vt_bind(p->qp[0], &w, &m, OFF, LEN, VT_REMOTE, 0);
			vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
		}
		vt_fill(s, 0, LEN, i);
		VT_EQ(peer(p, IBV_WR_RDMA_WRITE, &w, off - OFF, s, LEN - 10),
		      IBV_WC_SUCCESS);
		vt_verify(&m, off, LEN - 10, i);
		vt_fill(&m, off, LEN - 10, i + 1);
		VT_EQ(peer(p, IBV_WR_RDMA_READ, &w, off - OFF, s, LEN - 10),
		      IBV_WC_SUCCESS);
		vt_verify(s, 0, LEN - 10, i + 1);
	}
	vt_spoiler_end(&spoiler);
	end(&w, &m);
}

/* The right to bind comes and goes with the other rights. */
static void rereg(struct vt *t)
{
	const int no_windows = VT_ALL | IBV_ACCESS_ON_DEMAND;
	struct vt_mem m = paged(t, vt_map_shared(BUF));
	struct vt_mem *s = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL), *q = vt_pair(t, NULL);
	struct vt_win w = { .mw = vt_mw(t->a.pd, type_of(t)) };

	w.mr.rkey = w.mw->rkey;
	VT_EQ(ibv_rereg_mr(m.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   no_windows), 0);
	vt_bind(p->qp[0], &w, &m, OFF, LEN, VT_REMOTE, 0);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_MW_BIND_ERR);
	VT_EQ(ibv_rereg_mr(m.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   BINDABLE), 0);
	vt_bind(q->qp[0], &w, &m, OFF, LEN, VT_REMOTE, 0);
	vt_expect(q->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
	VT_OK(ibv_rereg_mr(m.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   no_windows), "with a window bound");
	VT_EQ(peer(q, IBV_WR_RDMA_WRITE, &w, 0, s, LEN), IBV_WC_SUCCESS);
	end(&w, &m);
}

/* Whose windows are used, and whose memory comes and goes, until it is killed. */
static void victim(struct vt *t, int ready)
{
	struct vt n = { .arg = t->arg };
	struct vt_mem m, *s;
	struct vt_pair *p;
	struct vt_win w;

	vt_open(&n.a, vt_dev_name(0), 4);
	vt_open(&n.b, vt_dev_name(1), 4);
	m = paged(&n, vt_map_shared(BUF));
	s = vt_mem(&n.b, LEN, VT_ALL);
	p = vt_pair(&n, NULL);
	w = vt_bound(p, type_of(t), &m, OFF, LEN, VT_REMOTE);
	for (int i = 0;; i++) {
		VT_EQ(peer(p, IBV_WR_RDMA_WRITE, &w, 0, s, LEN),
		      IBV_WC_SUCCESS);
		if (!i)
			VT_EQ(write(ready, &i, 1), 1);
		drop(&m);
	}
}

static void killed(struct vt *t)
{
	for (int i = 0; i < 5; i++)
		vt_kill(t, victim);
}

#define CASES(suffix, kind) \
	VT_CASE_ARG("fetched" suffix, fetched, kind), \
	VT_CASE_ARG("spoiled" suffix, spoiled, kind), \
	VT_CASE_ARG("remapped" suffix, remapped, kind), \
	VT_CASE_ARG("taken_away_in_use" suffix, taken_away_in_use, kind), \
	VT_CASE_ARG("dropped_under_traffic" suffix, dropped_under_traffic, \
		    kind), \
	VT_CASE_ARG("rereg" suffix, rereg, kind), \
	VT_CASE_ARG("killed" suffix, killed, kind)

static const struct vt_case cases[] = {
	CASES("_type1", TYPE1),
	CASES("_type2", 0),
	CASES("_type1_implicit", TYPE1 | IMPLICIT),
	CASES("_type2_implicit", IMPLICIT),
	VT_CASE(far_away),
};

VT_MAIN(cases)

// SPDX-License-Identifier: GPL-2.0
/* Memory windows: what they grant, to whom, and how they are taken away. */
#include <pthread.h>

#include "vt.h"

#define REMOTE_RW	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define BINDABLE	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)
#define LEN		20000

/* Bits of vt.arg, above the argument of the case: memory that is not pinned */
#define ODP		(1 << 8)
#define IMPLICIT	(1 << 9)
#define PAGED		(ODP | IMPLICIT)
#define ARG(t)		((t)->arg & 0xff)

/* What windows are bound to. */
static struct vt_mem *memory(struct vt *t, int access)
{
	struct vt_mem *m;

	if (t->arg & PAGED)
		access |= IBV_ACCESS_ON_DEMAND;
	m = vt_mem(&t->a, LEN, access);
	if (t->arg & IMPLICIT) {
		VT_EQ(ibv_dereg_mr(m->mr), 0);
		m->mr = ibv_reg_mr(t->a.pd, NULL, SIZE_MAX, access);
		VT_OK(m->mr, "%s", strerror(errno));
	}
	return m;
}

/* What comes of an operation of the peer on the window's memory? */
static enum ibv_wc_status peer(struct vt *t, struct vt_pair *p,
			       enum ibv_wr_opcode op, struct vt_win *w,
			       size_t off, size_t len)
{
	struct vt_mem *s = vt_mem(&t->b, len, VT_ALL);

	vt_fill(s, 0, len, 9);
	/* Of what can be taken away nothing is there any more. */
	if (t->arg & PAGED)
		VT_EQ(vt_spoil_rights(w->of->buf, w->of->len), 0);
	vt_win_send(p, op, w, off, s, len);
	return vt_poll(p->scq[1]).status;
}

static const enum ibv_mw_type types[] = { IBV_MW_TYPE_1, IBV_MW_TYPE_2 };

static void is_offered(struct vt *t)
{
	VT_OK(t->a.dev.device_cap_flags & IBV_DEVICE_MEM_WINDOW, "type 1");
	VT_OK(t->a.dev.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B,
	      "type 2B");
	VT_OK(!(t->a.dev.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A),
	      "type 2A");
	VT_OK(t->a.dev.max_mw > 0, "%d", t->a.dev.max_mw);
	VT_NULL(ibv_alloc_mw(t->a.pd, 3), EINVAL);
}

/* Each right alone, with both types: that operation works, others do not. */
static void grants_what_was_asked(struct vt *t)
{
	static const struct {
		enum ibv_wr_opcode op;
		int access;
	} ops[] = {
		{ IBV_WR_RDMA_WRITE, IBV_ACCESS_REMOTE_WRITE },
		{ IBV_WR_RDMA_READ, IBV_ACCESS_REMOTE_READ },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_ACCESS_REMOTE_ATOMIC },
	};
	enum ibv_mw_type type = types[ARG(t)];
	struct vt_mem *m = memory(t, BINDABLE);
	unsigned int have, op;

	for (have = 0; have < ARRAY_SIZE(ops); have++) {
		for (op = 0; op < ARRAY_SIZE(ops); op++) {
			struct vt_pair *p = vt_pair(t, NULL);
			struct vt_win w = vt_bound(p, type, m, 0, LEN,
						   ops[have].access);

			VT_EQ(peer(t, p, ops[op].op, &w, 8, 8),
			      op == have ? IBV_WC_SUCCESS :
					   IBV_WC_REM_ACCESS_ERR);
		}
	}
}

/* To the byte, at any place in a region. */
static void exact_bounds(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	enum ibv_mw_type type = types[ARG(t)];
	size_t off = 5001, len = 9001;

	for (int way = 0; way < 3; way++) {
		struct vt_pair *p = vt_pair(t, NULL);
		struct vt_win w = vt_bound(p, type, m, off, len, REMOTE_RW);

		vt_fill(m, 0, LEN, 1);
		if (!way) {
			VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, len),
			      IBV_WC_SUCCESS);
			vt_verify(m, off, len, 9);
			VT_EQ(peer(t, p, IBV_WR_RDMA_READ, &w, 0, len),
			      IBV_WC_SUCCESS);
			continue;
		}
		w.mem.buf += way == 1 ? 1 : -1;
		VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, len),
		      IBV_WC_REM_ACCESS_ERR);
		vt_verify(m, 0, LEN, 1);
	}
}

static void type1_bound_again(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_mem *n = memory(t, BINDABLE);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, IBV_MW_TYPE_1, m, 0, LEN, REMOTE_RW), old;

	old = w;
	vt_bind(p->qp[0], &w, n, 0, LEN, REMOTE_RW, 0);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, LEN), IBV_WC_SUCCESS);
	vt_verify(n, 0, LEN, 9);
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &old, 0, 8), IBV_WC_REM_ACCESS_ERR);
}

/**
 * struct writer - writes by one key of a window all the time
 * @p: pair of service UC, which survives when the key is not valid
 * @w: window, with that key
 * @s: what is written
 * @times: how often
 * @stop: it shall end
 */
struct writer {
	struct vt_pair *p;
	struct vt_win w;
	struct vt_mem *s;
	unsigned int times;
	bool stop;
};

static void *writer_thread(void *arg)
{
	struct writer *wr = arg;

	while (!__atomic_load_n(&wr->stop, __ATOMIC_RELAXED)) {
		vt_win_send(wr->p, IBV_WR_RDMA_WRITE, &wr->w, 0, wr->s, 8);
		vt_expect(wr->p->scq[1], 0, IBV_WC_SUCCESS);
		wr->times++;
	}
	return NULL;
}

#define BINDS	32

/* Bind a window by @key to @m and by another key to @n, in turn. */
static void bind_in_turn(struct vt_pair *p, struct ibv_mw *mw, uint32_t key,
			 const struct vt_mem *m, const struct vt_mem *n)
{
	struct ibv_send_wr *bad, wr[BINDS] = {};

	for (int i = 0; i < BINDS; i++) {
		wr[i] = (struct ibv_send_wr){
			.wr_id = VT_BIND_ID, .opcode = IBV_WR_BIND_MW,
			.next = i + 1 < BINDS ? &wr[i + 1] : NULL,
			.send_flags = i + 1 < BINDS ? 0 : IBV_SEND_SIGNALED,
			.bind_mw = { mw, i & 1 ? key : key ^ 1, {
				.mr = i & 1 ? m->mr : n->mr,
				.addr = (uintptr_t)m->buf, .length = LEN,
				.mw_access_flags = REMOTE_RW } },
		};
	}
	VT_EQ(ibv_post_send(p->qp[0], wr, &bad), 0);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
}

/*
 * A key gives no access to what the window is bound to by another key at the
 * same addresses, even if a packet arrives while it is bound.
 */
static void type1_old_key(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UC };
	uint64_t end = vt_now_us() + 2000000;
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_mem *n = memory(t, BINDABLE);
	struct vt_pair *p = vt_pair(t, NULL);
	struct writer wr = {
		.p = vt_pair(t, &o), .s = vt_mem(&t->b, 8, VT_ALL),
	};
	unsigned int binds = 0;
	pthread_t thread;

	VT_EQ(ibv_dereg_mr(n->mr), 0);
	n->mr = ibv_reg_mr_iova(t->a.pd, n->buf, LEN, (uintptr_t)m->buf,
				BINDABLE);
	VT_OK(n->mr, "%s", strerror(errno));
	vt_fill(m, 0, LEN, 1);
	vt_fill(n, 0, LEN, 1);
	vt_fill(wr.s, 0, 8, 9);
	wr.w = vt_bound(p, IBV_MW_TYPE_1, m, 0, LEN, REMOTE_RW);
	VT_EQ(pthread_create(&thread, NULL, writer_thread, &wr), 0);
	for (; vt_now_us() < end; binds += BINDS)
		bind_in_turn(p, wr.w.mw, wr.w.mr.rkey, m, n);
	__atomic_store_n(&wr.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	vt_note("%u binds, %u WRITEs", binds, wr.times);
	vt_verify(n, 0, LEN, 1);
	vt_verify(m, 0, 8, 9);
}

static void type1_unbound(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, IBV_MW_TYPE_1, m, 0, LEN, REMOTE_RW);

	VT_EQ(ibv_dereg_mr(m->mr), EBUSY);
	vt_bind(p->qp[0], &w, NULL, 0, 0, 0, 0);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
	w.mem.buf = m->buf;
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, 8), IBV_WC_REM_ACCESS_ERR);
}

/* Type 1 is for the protection domain, type 2 for who has bound it. */
static void other_queue_pair(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_pair *p = vt_pair(t, NULL), *q = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, IBV_MW_TYPE_1, m, 0, LEN, VT_REMOTE);

	VT_EQ(peer(t, q, IBV_WR_RDMA_WRITE, &w, 0, LEN), IBV_WC_SUCCESS);
	w = vt_bound(p, IBV_MW_TYPE_2, m, 0, LEN, VT_REMOTE);
	VT_EQ(peer(t, q, ARG(t), &w, 0, 8), IBV_WC_REM_ACCESS_ERR);
	VT_EQ(peer(t, p, ARG(t), &w, 0, 8), IBV_WC_SUCCESS);
}

static void zero_based(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, IBV_MW_TYPE_2, m, 4000, 8000,
			     REMOTE_RW | IBV_ACCESS_ZERO_BASED);

	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 100, 7900), IBV_WC_SUCCESS);
	vt_verify(m, 4100, 7900, 9);
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 101, 7900),
	      IBV_WC_REM_ACCESS_ERR);
}

static void type2_invalidated_locally(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, IBV_MW_TYPE_2, m, 0, LEN, REMOTE_RW), old;

	old = w;
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_LOCAL_INV, .imm = w.mr.rkey,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 0, IBV_WC_SUCCESS);
	/* It is free, so it may be bound once more. */
	vt_bind(p->qp[0], &w, m, 0, LEN, REMOTE_RW, 0);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, LEN), IBV_WC_SUCCESS);
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &old, 0, 8), IBV_WC_REM_ACCESS_ERR);
}

static void type2_invalidated_by_peer(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, IBV_MW_TYPE_2, m, 0, LEN, REMOTE_RW);
	struct ibv_wc wc;

	vt_recv(p->qp[0], 3, NULL, 0, 0);
	vt_send(p->qp[1], &(struct vt_wr){
		.op = IBV_WR_SEND_WITH_INV, .imm = w.mr.rkey });
	wc = vt_expect(p->rcq[0], 3, IBV_WC_SUCCESS);
	VT_OK(wc.wc_flags & IBV_WC_WITH_INV, "0x%x", wc.wc_flags);
	VT_EQ(wc.invalidated_rkey, w.mr.rkey);
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, 8), IBV_WC_REM_ACCESS_ERR);
}

/* What the peer asks to invalidate, and this side must not. */
enum bad_key {
	NO_KEY,		/* there is none like that */
	OLD_KEY,	/* the window has another one by now */
	FREE_KEY,	/* the window is not bound */
	REGION_KEY,	/* of a region */
	TYPE1_KEY,	/* of a window of type 1 */
	OTHER_QP_KEY,	/* of a window that another queue pair has bound */
	OTHER_PD_KEY,	/* of a window of another protection domain */
};

/**
 * struct victim - what must survive the attempt
 * @pd: protection domain of its own, or NULL
 * @owner: pair whose first side has bound it
 * @w: window
 * @key: what to ask for
 */
struct victim {
	struct ibv_pd *pd;
	struct vt_pair *owner;
	struct vt_win w;
	uint32_t key;
};

static int undo_pd(void *pd)
{
	return ibv_dealloc_pd(pd);
}

static struct victim victim_make(struct vt *t, struct vt_pair *p,
				 enum bad_key bad)
{
	struct ibv_pd *pd = t->a.pd;
	struct victim v = { .owner = p };
	struct vt_mem *m;

	if (bad == OTHER_PD_KEY) {
		v.pd = ibv_alloc_pd(t->a.ctx);
		VT_OK(v.pd, "%s", strerror(errno));
		vt_defer(undo_pd, v.pd, "PD");
		t->a.pd = v.pd;
	}
	if (bad == OTHER_PD_KEY || bad == OTHER_QP_KEY)
		v.owner = vt_pair(t, NULL);
	m = memory(t, BINDABLE);
	v.w = vt_bound(v.owner, bad == TYPE1_KEY ? IBV_MW_TYPE_1 :
		       IBV_MW_TYPE_2, m, 0, LEN, REMOTE_RW);
	t->a.pd = pd;
	v.key = v.w.mr.rkey;
	if (bad == NO_KEY)
		v.key ^= 0x55555500;
	else if (bad == OLD_KEY)
		v.key ^= 1;
	else if (bad == REGION_KEY)
		v.key = m->mr->rkey;
	if (bad == FREE_KEY) {
		vt_send(v.owner->qp[0], &(struct vt_wr){
			.op = IBV_WR_LOCAL_INV, .imm = v.key,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(v.owner->scq[0], 0, IBV_WC_SUCCESS);
	}
	return v;
}

/* Another queue pair's window is as it was. */
static void victim_lives(struct vt *t, struct victim *v)
{
	VT_EQ(peer(t, v->owner, IBV_WR_RDMA_WRITE, &v->w, 0, LEN),
	      IBV_WC_SUCCESS);
}

/*
 * A fault of class J (9.9.6.3): the receive request ends with a memory
 * management error, the queue pair goes into the error state, and no NAK is
 * sent: the requester gives up for want of an answer.
 */
static void remote_invalidation_refused(struct vt *t)
{
	struct vt_opt o = { .timeout = 12, .retry = 1 };
	struct vt_pair *p = vt_pair(t, &o);
	struct victim v = victim_make(t, p, ARG(t));

	vt_recv(p->qp[0], 3, NULL, 0, 0);
	vt_recv(p->qp[0], 4, NULL, 0, 0);
	vt_send(p->qp[1], &(struct vt_wr){
		.op = IBV_WR_SEND_WITH_INV, .imm = v.key,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->rcq[0], 3, IBV_WC_MW_BIND_ERR);
	vt_expect(p->rcq[0], 4, IBV_WC_WR_FLUSH_ERR);
	vt_expect(p->scq[1], 0, IBV_WC_RETRY_EXC_ERR);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_ERR);
	if (v.owner != p)
		victim_lives(t, &v);
}

static void local_invalidation_refused(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct victim v = victim_make(t, p, ARG(t));

	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_LOCAL_INV, .imm = v.key, .id = 5,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 5, IBV_WC_MW_BIND_ERR);
	VT_EQ(vt_state(p->qp[0]), IBV_QPS_ERR);
	if (v.owner != p)
		victim_lives(t, &v);
}

/* Each of these completes in error, and nothing is bound. */
static void bind_refused(struct vt *t)
{
	struct vt_mem *plain = memory(t, VT_ALL);
	struct vt_mem *readable = memory(t, IBV_ACCESS_MW_BIND);
	struct vt_mem *m = memory(t, BINDABLE);
	struct ibv_pd *pd = ibv_alloc_pd(t->a.ctx);
	const struct {
		enum ibv_mw_type type;
		struct vt_mem *mem;
		size_t off, len;
		int access;
	} bad[] = {
		{ IBV_MW_TYPE_1, plain, 0, LEN, REMOTE_RW },
		{ IBV_MW_TYPE_2, plain, 0, LEN, REMOTE_RW },
		{ IBV_MW_TYPE_1, readable, 0, LEN, REMOTE_RW },
		{ IBV_MW_TYPE_2, readable, 0, 8, IBV_ACCESS_REMOTE_ATOMIC },
		{ IBV_MW_TYPE_1, m, 1, LEN, REMOTE_RW },
		{ IBV_MW_TYPE_2, m, -1, LEN, REMOTE_RW },
		{ IBV_MW_TYPE_2, m, 0, SIZE_MAX, REMOTE_RW },
		{ IBV_MW_TYPE_2, m, 0, 0, REMOTE_RW },
		{ IBV_MW_TYPE_1, m, 0, LEN, REMOTE_RW | IBV_ACCESS_ZERO_BASED },
		{ IBV_MW_TYPE_2, m, 0, LEN, 1 << 10 },
	};
	struct vt_pair *p;
	struct vt_win w;

	VT_OK(pd, "%s", strerror(errno));
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		w = (struct vt_win){ .mw = vt_mw(t->a.pd, bad[i].type) };
		w.mr.rkey = w.mw->rkey;
		p = vt_pair(t, NULL);
		vt_bind(p->qp[0], &w, bad[i].mem, bad[i].off, bad[i].len,
			  bad[i].access, 0);
		vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_MW_BIND_ERR);
	}

	/* Type 2 while it is bound */
	p = vt_pair(t, NULL);
	w = vt_bound(p, IBV_MW_TYPE_2, m, 0, LEN, REMOTE_RW);
	vt_bind(p->qp[0], &w, m, 0, LEN, REMOTE_RW, 0);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_MW_BIND_ERR);

	/* A window of another protection domain */
	p = vt_pair(t, NULL);
	w = (struct vt_win){ .mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2) };
	VT_OK(w.mw, "%s", strerror(errno));
	w.mr.rkey = w.mw->rkey;
	vt_bind(p->qp[0], &w, m, 0, LEN, REMOTE_RW, 0);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_MW_BIND_ERR);
	VT_EQ(ibv_dealloc_mw(w.mw), 0);
	VT_EQ(ibv_dealloc_pd(pd), 0);
}

static void post_bind(struct vt_pair *p, bool extended, struct ibv_mw *mw,
		      uint32_t rkey, const struct vt_mem *m)
{
	struct ibv_mw_bind_info info = {
		.mr = m->mr, .addr = (uintptr_t)m->buf, .length = LEN,
		.mw_access_flags = REMOTE_RW,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = VT_BIND_ID, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { mw, rkey, info },
	};
	struct ibv_qp_ex *ex;

	if (!extended) {
		VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
		return;
	}
	ex = ibv_qp_to_qp_ex(p->qp[0]);
	ibv_wr_start(ex);
	ex->wr_id = VT_BIND_ID;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(ex, mw, rkey, &info);
	VT_EQ(ibv_wr_complete(ex), 0);
}

/*
 * The request names the window, its rkey no more than the low byte of the new
 * key: with the key of another window it is still this one that is bound.
 */
static void bound_is_the_one_named(struct vt *t)
{
	struct vt_opt o = { .ex_ops = ARG(t) ? IBV_QP_EX_WITH_BIND_MW |
				IBV_QP_EX_WITH_LOCAL_INV |
				IBV_QP_EX_WITH_RDMA_WRITE : 0 };
	struct vt_mem *m = memory(t, BINDABLE);
	struct ibv_mw *a = vt_mw(t->a.pd, IBV_MW_TYPE_2);
	struct ibv_mw *b = vt_mw(t->a.pd, IBV_MW_TYPE_2);
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_win w = { .mw = a, .of = m };
	uint32_t rkey = ibv_inc_rkey(b->rkey);

	post_bind(p, ARG(t), a, rkey, m);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
	/* Still free: type 2 is bound once. */
	post_bind(p, ARG(t), b, rkey, m);
	vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
	w.mem.buf = m->buf;
	w.mem.len = LEN;
	w.mr.rkey = (a->rkey & ~0xffu) | (rkey & 0xff);
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, LEN), IBV_WC_SUCCESS);
	w.mr.rkey = rkey;
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, LEN), IBV_WC_SUCCESS);
}

/* Its key is for the peer, not for requests of one's own. */
static void key_is_no_lkey(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_mem *d = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, types[ARG(t)], m, 0, LEN, REMOTE_RW);

	w.mr.lkey = w.mr.rkey;
	w.mem.mr = &w.mr;
	vt_send(p->qp[0], &(struct vt_wr){
		.local = &w.mem, .len = 8, .remote = d,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 0, IBV_WC_LOC_PROT_ERR);
}

static void region_in_use(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, IBV_MW_TYPE_2, m, 0, LEN, REMOTE_RW);
	int rights = VT_ALL | (t->arg & PAGED ? IBV_ACCESS_ON_DEMAND : 0);

	VT_EQ(ibv_dereg_mr(m->mr), EBUSY);
	VT_OK(ibv_rereg_mr(m->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   rights), "registered anew");
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, LEN), IBV_WC_SUCCESS);
	vt_forget(w.mw);
	VT_EQ(ibv_dealloc_mw(w.mw), 0);
	VT_EQ(ibv_rereg_mr(m->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   rights), 0);
	VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, 8), IBV_WC_REM_ACCESS_ERR);
}

/* What is posted behind a bind finds it done; a fence waits for READs. */
static void order_in_the_queue(struct vt *t)
{
	struct vt_mem *m = memory(t, BINDABLE);
	struct vt_mem *d = vt_mem(&t->b, LEN, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_win w = vt_bound(p, IBV_MW_TYPE_1, m, 0, LEN, REMOTE_RW);

	for (int i = 0; i < 20; i++) {
		vt_fill(d, 0, LEN, i);
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_RDMA_READ, .id = 1, .local = m,
			.len = LEN, .remote = d, .flags = IBV_SEND_SIGNALED });
		vt_bind(p->qp[0], &w, m, 0, LEN, REMOTE_RW, IBV_SEND_FENCE);
		vt_recv(p->qp[1], 2, NULL, 0, 0);
		vt_send(p->qp[0], &(struct vt_wr){ .op = IBV_WR_SEND });
		vt_expect(p->rcq[1], 2, IBV_WC_SUCCESS);
		vt_verify(m, 0, LEN, i);
		VT_EQ(peer(t, p, IBV_WR_RDMA_WRITE, &w, 0, LEN),
		      IBV_WC_SUCCESS);
		vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
		vt_expect(p->scq[0], VT_BIND_ID, IBV_WC_SUCCESS);
	}
}

#define INVALIDATION(f, suffix, kind) \
	VT_CASE_ARG(#f "_no_key" suffix, f, (kind) | NO_KEY), \
	VT_CASE_ARG(#f "_old_key" suffix, f, (kind) | OLD_KEY), \
	VT_CASE_ARG(#f "_free" suffix, f, (kind) | FREE_KEY), \
	VT_CASE_ARG(#f "_region" suffix, f, (kind) | REGION_KEY), \
	VT_CASE_ARG(#f "_type1" suffix, f, (kind) | TYPE1_KEY), \
	VT_CASE_ARG(#f "_other_qp" suffix, f, (kind) | OTHER_QP_KEY), \
	VT_CASE_ARG(#f "_other_pd" suffix, f, (kind) | OTHER_PD_KEY)

/* All that windows are good for, and what they are not. */
#define CASES(suffix, kind) \
	VT_CASE_ARG("grants_what_was_asked_type1" suffix, \
		    grants_what_was_asked, (kind)), \
	VT_CASE_ARG("grants_what_was_asked_type2" suffix, \
		    grants_what_was_asked, (kind) | 1), \
	VT_CASE_ARG("exact_bounds_type1" suffix, exact_bounds, (kind)), \
	VT_CASE_ARG("exact_bounds_type2" suffix, exact_bounds, (kind) | 1), \
	VT_CASE_ARG("type1_bound_again" suffix, type1_bound_again, (kind)), \
	VT_CASE_ARG("type1_unbound" suffix, type1_unbound, (kind)), \
	VT_CASE_ARG("other_queue_pair_write" suffix, other_queue_pair, \
		    (kind) | IBV_WR_RDMA_WRITE), \
	VT_CASE_ARG("other_queue_pair_read" suffix, other_queue_pair, \
		    (kind) | IBV_WR_RDMA_READ), \
	VT_CASE_ARG("other_queue_pair_atomic" suffix, other_queue_pair, \
		    (kind) | IBV_WR_ATOMIC_FETCH_AND_ADD), \
	VT_CASE_ARG("zero_based" suffix, zero_based, (kind)), \
	VT_CASE_ARG("type2_invalidated_locally" suffix, \
		    type2_invalidated_locally, (kind)), \
	VT_CASE_ARG("type2_invalidated_by_peer" suffix, \
		    type2_invalidated_by_peer, (kind)), \
	INVALIDATION(remote_invalidation_refused, suffix, kind), \
	INVALIDATION(local_invalidation_refused, suffix, kind), \
	VT_CASE_ARG("key_is_no_lkey_type1" suffix, key_is_no_lkey, (kind)), \
	VT_CASE_ARG("key_is_no_lkey_type2" suffix, key_is_no_lkey, \
		    (kind) | 1), \
	VT_CASE_ARG("region_in_use" suffix, region_in_use, (kind)), \
	VT_CASE_ARG("order_in_the_queue" suffix, order_in_the_queue, (kind))

static const struct vt_case cases[] = {
	VT_CASE(is_offered),
	VT_CASE(type1_old_key),
	CASES("", 0),
	CASES("_odp", ODP),
	CASES("_implicit", IMPLICIT),
	VT_CASE_ARG("bound_is_the_one_named", bound_is_the_one_named, 0),
	VT_CASE_ARG("bound_is_the_one_named_extended", bound_is_the_one_named,
		    1),
	VT_CASE(bind_refused),
	VT_CASE_ARG("bind_refused_odp", bind_refused, ODP),
};

VT_MAIN(cases)

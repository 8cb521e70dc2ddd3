// SPDX-License-Identifier: GPL-2.0
/*
 * On-demand paging: regions over memory that is not there, goes away, changes
 * its rights or is another one all of a sudden.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vt.h"

#define PAGE		4096ul
#define HUGE_PAGE	(2ul << 20)
#define LEN		100000ul
#define BUF		(64 * PAGE)
#define RW		(PROT_READ | PROT_WRITE)
#define ODP		(VT_ALL | IBV_ACCESS_ON_DEMAND)

/* Not in libibverbs 44. */
#define CAP_FLUSH_GLOBAL	(1ull << 38)
#define ODP_FLUSH		(1u << 6)
#define ODP_ATOMIC_WRITE	(1u << 7)

/* Bits of vt.arg */
#define IMPLICIT	1
#define LOCAL		2
#define REMOTE		4

static unsigned char *map_at(void *at, size_t len)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0);
	void *p;

	p = mmap(at, len, RW, flags, -1, 0);
	VT_OK(p != MAP_FAILED, "%s", strerror(errno));
	return p;
}

static unsigned char *map_new(size_t len)
{
	return map_at(NULL, len);
}

static struct ibv_mr *implicit_mr(struct vt_end *e)
{
	struct ibv_mr *mr = ibv_reg_mr(e->pd, NULL, SIZE_MAX, ODP);

	VT_OK(mr, "%s", strerror(errno));
	return mr;
}

static struct vt_mem odp_reg(struct vt_end *e, void *buf, size_t len,
			     int access)
{
	struct vt_mem m = { .buf = buf, .len = len };

	m.mr = ibv_reg_mr(e->pd, buf, len, access | IBV_ACCESS_ON_DEMAND);
	VT_OK(m.mr, "%s", strerror(errno));
	return m;
}

/* Memory that nobody has touched, in a region of its own or of everything. */
static struct vt_mem odp_mem(struct vt_end *e, size_t len, bool implicit)
{
	unsigned char *buf = map_new(len);

	if (!implicit)
		return odp_reg(e, buf, len, VT_ALL);
	return (struct vt_mem){ .buf = buf, .len = len,
				.mr = implicit_mr(e) };
}

static void odp_end(struct vt_mem *m)
{
	VT_EQ(ibv_dereg_mr(m->mr), 0);
	munmap(m->buf, m->len);
}

static void write_read(struct vt_pair *p, struct vt_mem *l, struct vt_mem *r,
		       size_t len, uint32_t seed)
{
	vt_fill(l, 0, len, seed);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = l, .len = len, .remote = r }),
	      IBV_WC_SUCCESS);
	vt_verify(r, 0, len, seed);
	vt_fill(r, 0, len, seed + 1);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = l,
		.len = len, .remote = r }), IBV_WC_SUCCESS);
	vt_verify(l, 0, len, seed + 1);
}

static struct vt_mem *any_mem(struct vt_end *e, struct vt_mem *odp, bool is_odp,
			      size_t len, bool implicit)
{
	if (!is_odp)
		return vt_mem(e, len, VT_ALL);
	*odp = odp_mem(e, len, implicit);
	return odp;
}

/* Each operation, with what it uses in place of nothing. */
static void operations(struct vt *t)
{
	struct vt_mem odp[2] = {};
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *l = any_mem(&t->a, &odp[0], t->arg & LOCAL, BUF,
				   t->arg & IMPLICIT);
	struct vt_mem *r = any_mem(&t->b, &odp[1], t->arg & REMOTE, BUF,
				   t->arg & IMPLICIT);
	uint64_t *there = (uint64_t *)(r->buf + 48 * PAGE);
	uint64_t *here = (uint64_t *)(l->buf + 50 * PAGE);

	/* What is sent, and what is received into, has never been touched. */
	vt_recv(p->qp[1], 1, r, 30 * PAGE + 5, 5000);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND, .local = l,
		.off = 40 * PAGE + 7, .len = 5000 }), IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], 1, IBV_WC_SUCCESS);
	VT_EQ(r->buf[30 * PAGE + 5], 0);
	write_read(p, l, r, LEN, 1);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.local = l, .off = 50 * PAGE, .len = 8, .remote = r,
		.roff = 48 * PAGE, .compare = 5 }), IBV_WC_SUCCESS);
	VT_EQ(*there, 5);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_ATOMIC_CMP_AND_SWP,
		.local = l, .off = 50 * PAGE, .len = 8, .remote = r,
		.roff = 48 * PAGE, .compare = 5, .swap = 9 }), IBV_WC_SUCCESS);
	VT_EQ(*there, 9);
	VT_EQ(*here, 5);
	vt_fill(l, 0, LEN, 3);
	vt_recv(p->qp[1], 2, r, 0, LEN);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_WRITE_WITH_IMM,
		.local = l, .len = LEN, .remote = r }), IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], 2, IBV_WC_SUCCESS);
	vt_verify(r, 0, LEN, 3);
	for (int i = 0; i < 2; i++)
		if (odp[i].buf)
			odp_end(&odp[i]);
}

/* Within a region of its own, exact to the byte. */
static void bounds(struct vt *t)
{
	unsigned char *buf = map_new(BUF);
	struct vt_mem *m = vt_mem(&t->a, BUF, VT_ALL);
	struct vt_mem d = odp_reg(&t->b, buf + 100, 5 * PAGE, VT_ALL);
	struct vt_mem s = odp_reg(&t->a, buf + 100, 5 * PAGE, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL), *q = vt_pair(t, NULL);

	VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = d.len, .remote = &d }),
	      IBV_WC_SUCCESS);
	VT_EQ(buf[99], 0);
	VT_EQ(buf[100 + d.len], 0);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = 2, .remote = &d,
		.roff = d.len - 1 }), IBV_WC_REM_ACCESS_ERR);
	VT_EQ(vt_run(q, (struct vt_wr){ .local = &s, .len = s.len + 1,
		.remote = m }), IBV_WC_LOC_PROT_ERR);
	VT_EQ(ibv_dereg_mr(s.mr), 0);
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	munmap(buf, BUF);
}

/* What a request comes to where there is no memory, or none to write. */
struct fail_step {
	enum ibv_wr_opcode op;
	bool local;
	enum ibv_wc_status status;
};

static const struct fail_step no_memory[] = {
	{ IBV_WR_RDMA_WRITE, false, IBV_WC_REM_ACCESS_ERR },
	{ IBV_WR_RDMA_READ, false, IBV_WC_REM_ACCESS_ERR },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, false, IBV_WC_REM_ACCESS_ERR },
	{ IBV_WR_SEND, false, IBV_WC_REM_OP_ERR },
	{ IBV_WR_RDMA_WRITE, true, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_RDMA_READ, true, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_SEND, true, IBV_WC_LOC_PROT_ERR },
};

static const struct fail_step no_writing[] = {
	{ IBV_WR_RDMA_WRITE, false, IBV_WC_REM_ACCESS_ERR },
	{ IBV_WR_RDMA_READ, false, IBV_WC_SUCCESS },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, false, IBV_WC_REM_ACCESS_ERR },
	{ IBV_WR_SEND, false, IBV_WC_REM_OP_ERR },
	{ IBV_WR_RDMA_WRITE, true, IBV_WC_SUCCESS },
	{ IBV_WR_RDMA_READ, true, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_SEND, true, IBV_WC_SUCCESS },
};

#define NR_STEPS	ARRAY_SIZE(no_memory)

static void fail_step(struct vt_pair *p, const struct fail_step *step,
		      struct vt_mem *m[2], struct vt_mem odp[2])
{
	struct vt_wr wr = {
		.op = step->op,
		.local = step->local ? &odp[0] : m[0],
		.len = step->op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 9000,
		.remote = step->local ? m[1] : &odp[1],
	};

	if (step->op == IBV_WR_SEND)
		vt_recv(p->qp[1], 1, wr.remote, 0, wr.len);
	VT_EQ(vt_run(p, wr), step->status);
}

/*
 * All that could be mapped, such as queues, is mapped before the memory goes:
 * it would come to be at the very addresses that must be empty.
 */
static void failures(struct vt *t, const struct fail_step *steps,
		     void (*spoil)(void *buf))
{
	struct vt_mem *m[2] = {
		vt_mem(&t->a, BUF, VT_ALL), vt_mem(&t->b, BUF, VT_ALL),
	};
	bool implicit = t->arg & IMPLICIT;
	struct vt_mem odp[2] = {
		odp_mem(&t->a, BUF, implicit), odp_mem(&t->b, BUF, implicit),
	};
	long long before = vt_counter(&t->b, "memory_faults_failed");
	struct vt_pair *p[NR_STEPS + 1];

	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		p[i] = vt_pair(t, NULL);
	/* There were pages. */
	write_read(p[NR_STEPS], &odp[0], &odp[1], LEN, 1);
	spoil(odp[0].buf);
	spoil(odp[1].buf);
	for (size_t i = 0; i < NR_STEPS; i++)
		fail_step(p[i], &steps[i], m, odp);
	VT_OK(vt_settled(&t->b, "memory_faults_failed") > before, "count");
	odp_end(&odp[0]);
	odp_end(&odp[1]);
}

static void spoil_unmap(void *buf)
{
	VT_EQ(munmap(buf, BUF), 0);
}

static void spoil_mprotect(void *buf)
{
	VT_EQ(mprotect(buf, BUF, PROT_READ), 0);
}

static void unmapped(struct vt *t)
{
	failures(t, no_memory, spoil_unmap);
}

static void read_only(struct vt *t)
{
	failures(t, no_writing, spoil_mprotect);
}

/* Rights that are given back are there again. */
static void writable_again(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, BUF, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
	struct vt_pair *p = vt_pair(t, NULL);

	for (int i = 0; i < 10; i++) {
		write_read(p, m, &d, LEN, 2 * i);
		VT_EQ(mprotect(d.buf, BUF, PROT_READ), 0);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
			.len = LEN, .remote = &d }), IBV_WC_SUCCESS);
		vt_verify(m, 0, LEN, 2 * i + 1);
		VT_EQ(mprotect(d.buf, BUF, RW), 0);
	}
	odp_end(&d);
}

/* A WRITE goes as far as there is memory, and so does a READ. */
static void unmapped_behind(struct vt *t)
{
	enum ibv_wr_opcode op[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	struct vt_pair *p[] = { vt_pair(t, NULL), vt_pair(t, NULL) };
	struct vt_mem *m = vt_mem(&t->a, BUF, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);

	vt_fill(m, 0, BUF, 1);
	VT_EQ(munmap(d.buf + 20 * PAGE, BUF - 20 * PAGE), 0);
	for (int i = 0; i < 2; i++)
		VT_EQ(vt_run(p[i], (struct vt_wr){ .op = op[i], .local = m,
			.len = BUF, .remote = &d }), IBV_WC_REM_ACCESS_ERR);
	vt_verify(&d, 0, 16 * PAGE, 1);
	d.len = 20 * PAGE;
	odp_end(&d);
}

/* The same addresses, other memory: it is the new one that is used. */
static void remapped(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, BUF, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
	struct vt_pair *p = vt_pair(t, NULL);

	for (int i = 0; i < 50; i++) {
		write_read(p, m, &d, LEN, 2 * i);
		if (i & 1)
			VT_EQ(munmap(d.buf, BUF), 0);
		map_at(d.buf, BUF);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
			.len = LEN, .remote = &d }), IBV_WC_SUCCESS);
		for (size_t j = 0; j < LEN; j++)
			VT_EQ(m->buf[j], 0);
	}
	odp_end(&d);
}

/* Queues are mapped where data was, which does not disturb them. */
static void reused_by_queues(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, BUF, VT_ALL);

	for (int i = 0; i < 20; i++) {
		struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
		struct vt_mem next = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
		struct vt_pair *p = vt_pair(t, NULL), *q;

		write_read(p, m, &d, LEN, 2 * i);
		VT_EQ(munmap(d.buf, BUF), 0);
		q = vt_pair(t, NULL);
		write_read(q, m, &next, LEN, 2 * i);
		write_read(p, m, &next, LEN, 2 * i);
		VT_EQ(ibv_dereg_mr(d.mr), 0);
		odp_end(&next);
	}
}

/* Pages move to other addresses of the region. */
static void mremapped(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, BUF, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, 2 * BUF, t->arg & IMPLICIT);
	struct vt_pair *p = vt_pair(t, NULL);

	write_read(p, m, &d, LEN, 1);
	VT_OK(mremap(d.buf, BUF, BUF, MREMAP_MAYMOVE | MREMAP_FIXED,
		     d.buf + BUF) == d.buf + BUF, "mremap");
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
		.off = 1, .len = LEN, .remote = &d, .roff = BUF }),
	      IBV_WC_SUCCESS);
	vt_verify(m, 1, LEN, 2);
	VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
		.len = LEN, .remote = &d }), IBV_WC_REM_ACCESS_ERR);
	odp_end(&d);
}

static void child_check(const struct vt_mem *m, int start, int done)
{
	char c;

	if (read(start, &c, 1) != 1)
		_exit(1);
	vt_verify(m, 0, LEN, 2);
	memset(m->buf, 0xee, LEN);
	_exit(write(done, &c, 1) == 1 ? 0 : 1);
}

/* After fork() parent and child have pages of their own. */
static void forked(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, BUF, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
	struct vt_pair *p = vt_pair(t, NULL);
	int start[2], done[2], status;
	char c = 0;
	pid_t pid;

	VT_EQ(pipe(start), 0);
	VT_EQ(pipe(done), 0);
	write_read(p, m, &d, LEN, 1);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid)
		child_check(&d, start[0], done[1]);
	vt_fill(m, 0, LEN, 7);
	VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = LEN, .remote = &d }),
	      IBV_WC_SUCCESS);
	VT_EQ(write(start[1], &c, 1), 1);
	close(done[1]);
	VT_EQ(read(done[0], &c, 1), 1);
	VT_EQ(waitpid(pid, &status, 0), pid);
	VT_EQ(status, 0);
	vt_verify(&d, 0, LEN, 7);
	write_read(p, m, &d, LEN, 9);
	odp_end(&d);
}

/* While this runs at a real-time priority, nothing is fetched on one CPU. */
static void hold_up_fetching(bool on)
{
	struct sched_param param = { .sched_priority = on };

	VT_EQ(sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &param), 0);
}

/* To the same peer, with another hop limit. */
static void new_path(struct vt_pair *p, int side)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD,
		.ah_attr = {
			.is_global = 1,
			.port_num = VT_PORT,
			.grh = {
				.dgid = p->end[!side]->gid,
				.sgid_index = p->end[side]->gid_idx,
				.hop_limit = 63,
			},
		},
	};

	vt_to(p->qp[side], IBV_QPS_SQD);
	VT_EQ(ibv_modify_qp(p->qp[side], &attr, IBV_QP_STATE | IBV_QP_AV), 0);
}

/*
 * A queue pair that waits for memory, of its requests or of what its peer reads,
 * gets a new address vector meanwhile, and goes on.
 */
static void new_path_while_waiting(struct vt *t)
{
	bool remote = t->arg & REMOTE;
	struct vt_mem odp = odp_mem(remote ? &t->b : &t->a, BUF, false);
	struct vt_mem *m = vt_mem(remote ? &t->a : &t->b, BUF, VT_ALL);
	struct vt_pair *p = vt_pair(t, NULL);
	struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS };
	long long faults = vt_counter(&t->b, "memory_faults") +
			   vt_counter(&t->a, "memory_faults");

	hold_up_fetching(true);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = remote ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, .id = 1,
		.local = remote ? m : &odp, .len = LEN,
		.remote = remote ? &odp : m, .flags = IBV_SEND_SIGNALED });
	new_path(p, remote);
	hold_up_fetching(false);
	VT_EQ(ibv_modify_qp(p->qp[remote], &rts, IBV_QP_STATE), 0);
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	VT_OK(vt_settled(&t->b, "memory_faults") +
	      vt_settled(&t->a, "memory_faults") > faults, "nothing waited");
	odp_end(&odp);
}

static const struct spoiling {
	int (*how)(void *buf, size_t len);
	bool shared;
} spoilings[] = {
	{ vt_spoil_drop, true },
	{ vt_spoil_pageout, true },
	{ vt_spoil_fork, false },
};

/*
 * Both ends lose their pages all the time, but never what is in them: pages of
 * a file are mapped again, and those of fork() are copied.
 */
static void spoiled_under_traffic(struct vt *t)
{
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
	};
	const struct spoiling *sp = &spoilings[t->arg >> 4];
	struct vt_spoiler s = { .how = sp->how, .len = BUF };
	struct vt_mem m[2];
	struct vt_pair *p;

	for (int i = 0; i < 2; i++) {
		struct vt_end *e = i ? &t->b : &t->a;

		m[i].buf = sp->shared ? vt_map_shared(BUF) : map_new(BUF);
		m[i].len = BUF;
		s.buf[i] = m[i].buf;
		m[i].mr = t->arg & IMPLICIT ? implicit_mr(e) :
			  ibv_reg_mr(e->pd, m[i].buf, BUF, ODP);
		VT_OK(m[i].mr, "%s", strerror(errno));
	}
	p = vt_pair(t, NULL);
	vt_spoiler_begin(&s);
	for (int i = 0; i < 300; i++) {
		struct vt_wr wr = { .op = ops[i % ARRAY_SIZE(ops)],
				    .local = &m[0], .len = LEN,
				    .remote = &m[1], .roff = i };
		bool read = wr.op == IBV_WR_RDMA_READ;

		vt_fill(&m[read], read ? i : 0, LEN, i);
		if (wr.op == IBV_WR_SEND)
			vt_recv(p->qp[1], i, &m[1], i, LEN);
		VT_EQ(vt_run(p, wr), IBV_WC_SUCCESS);
		if (wr.op == IBV_WR_SEND)
			vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		vt_verify(&m[!read], read ? 0 : i, LEN, i);
	}
	vt_spoiler_end(&s);
	odp_end(&m[0]);
	odp_end(&m[1]);
}

/* What may be read at any time can be read all the time. */
static void protected_under_traffic(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_spoiler s = { .how = vt_spoil_rights, .len = BUF,
				.buf = { d.buf, d.buf } };

	vt_fill(&d, 0, BUF, 1);
	vt_spoiler_begin(&s);
	for (int i = 0; i < 200; i++) {
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
			.len = LEN, .remote = &d }), IBV_WC_SUCCESS);
		vt_verify(m, 0, LEN, 1);
	}
	vt_spoiler_end(&s);
	odp_end(&d);
}

/* Many queue pairs want the same region, and none has been there before. */
static void many_queue_pairs(struct vt *t)
{
	enum { NR = 16 };
	struct vt_mem s = odp_mem(&t->a, NR * BUF, t->arg & IMPLICIT);
	struct vt_mem d = odp_mem(&t->b, NR * BUF, t->arg & IMPLICIT);
	struct vt_pair *p[NR];

	/* 10 ms: many who ask at once leave a single CPU no time to fetch. */
	for (int i = 0; i < NR; i++)
		p[i] = vt_pair(t, &(struct vt_opt){ .rnr_timer = 20 });
	for (int round = 0; round < 5; round++) {
		vt_fill(&s, 0, s.len, round);
		for (int i = 0; i < NR; i++)
			vt_send(p[i]->qp[0], &(struct vt_wr){ .local = &s,
				.off = i * BUF, .len = BUF, .remote = &d,
				.roff = i * BUF, .flags = IBV_SEND_SIGNALED });
		for (int i = 0; i < NR; i++)
			VT_EQ(vt_poll(p[i]->scq[0]).status, IBV_WC_SUCCESS);
		vt_verify(&d, 0, d.len, round);
		VT_EQ(madvise(s.buf, s.len, MADV_DONTNEED), 0);
		VT_EQ(madvise(d.buf, d.len, MADV_DONTNEED), 0);
	}
	odp_end(&s);
	odp_end(&d);
}

/* Here and there in a large mapping, which goes and comes as a whole. */
static void sparse(struct vt *t)
{
	const size_t step = 3 << 20, nr = 64;
	struct vt_mem *m = vt_mem(&t->a, PAGE, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, nr * step, t->arg & IMPLICIT);
	struct vt_pair *p = vt_pair(t, NULL);

	for (int round = 0; round < 4; round++) {
		for (size_t i = 0; i < nr; i++) {
			vt_fill(m, 0, PAGE, i);
			VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = PAGE,
				.remote = &d, .roff = i * step + 77 }),
			      IBV_WC_SUCCESS);
		}
		for (size_t i = 0; i < nr; i++)
			vt_verify(&d, i * step + 77, PAGE, i);
		VT_EQ(munmap(d.buf, d.len), 0);
		map_at(d.buf, d.len);
	}
	odp_end(&d);
}

/* Huge pages, of which parts are taken away. */
static void huge(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, HUGE_PAGE, VT_ALL), d = {};
	struct vt_pair *p = vt_pair(t, NULL);
	unsigned char *map;

	if (access("/sys/kernel/mm/transparent_hugepage/enabled", F_OK))
		vt_skip("no transparent huge pages");
	map = map_new(3 * HUGE_PAGE);
	d.len = 2 * HUGE_PAGE;
	d.buf = (void *)(((uintptr_t)map + HUGE_PAGE - 1) & -HUGE_PAGE);
	VT_EQ(madvise(d.buf, d.len, MADV_HUGEPAGE), 0);
	d = odp_reg(&t->b, d.buf, d.len, VT_ALL | IBV_ACCESS_HUGETLB);
	for (int i = 0; i < 3; i++) {
		vt_fill(m, 0, HUGE_PAGE, i);
		VT_EQ(vt_run(p, (struct vt_wr){ .local = m, .len = HUGE_PAGE,
			.remote = &d, .roff = PAGE / 2 }), IBV_WC_SUCCESS);
		vt_verify(&d, PAGE / 2, HUGE_PAGE, i);
		VT_EQ(madvise(d.buf + 5 * PAGE, PAGE, MADV_DONTNEED), 0);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_RDMA_READ, .local = m,
			.len = 4 * PAGE, .remote = &d, .roff = 3 * PAGE }),
		      IBV_WC_SUCCESS);
		VT_OK(!memcmp(m->buf, d.buf + 3 * PAGE, 4 * PAGE), "data");
		VT_EQ(m->buf[2 * PAGE], 0);
	}
	VT_EQ(ibv_dereg_mr(d.mr), 0);
	munmap(map, 3 * HUGE_PAGE);
}

/* Sending needs no luck with any service. */
static void unreliable(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, &(struct vt_opt){ .type = t->arg });
	struct vt_mem *m = vt_mem(&t->b, VT_GRH + 1000, VT_ALL);
	size_t off = t->arg == IBV_QPT_UD ? VT_GRH : 0;
	struct vt_mem s = odp_mem(&t->a, BUF, true);

	for (int i = 0; i < 10; i++) {
		VT_EQ(madvise(s.buf, BUF, MADV_DONTNEED), 0);
		memset(m->buf, 0xff, m->len);
		vt_recv(p->qp[1], i, m, 0, m->len);
		VT_EQ(vt_run(p, (struct vt_wr){ .op = IBV_WR_SEND, .local = &s,
			.off = i * PAGE + 3500, .len = 1000, .ah = p->ah[0],
			.qpn = p->qp[1]->qp_num }), IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		VT_EQ(m->buf[off], 0);
		VT_EQ(m->buf[off + 999], 0);
	}
	odp_end(&s);
}

static int advise(struct vt_end *e, int advice, int flags, struct vt_mem *m,
		  size_t off, size_t len)
{
	struct ibv_sge sge = { .addr = (uintptr_t)m->buf + off, .length = len,
			       .lkey = m->mr->lkey };

	return ibv_advise_mr(e->pd, advice, flags, &sge, 1);
}

/* How often the peer had to fetch what this request is for. */
static long long faults_of(struct vt *t, struct vt_pair *p,
			   enum ibv_wr_opcode op, struct vt_mem *m,
			   struct vt_mem *d)
{
	long long before = vt_settled(&t->b, "memory_faults");

	VT_EQ(vt_run(p, (struct vt_wr){ .op = op, .local = m, .len = LEN,
		.remote = d }), IBV_WC_SUCCESS);
	return vt_settled(&t->b, "memory_faults") - before;
}

/* What has been fetched by advice need not be fetched again, but for writing. */
static void prefetch(struct vt *t)
{
	const int now = IBV_ADVISE_MR_FLAG_FLUSH;
	struct vt_mem *m = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
	struct vt_pair *p = vt_pair(t, NULL);
	int write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	int read = IBV_ADVISE_MR_ADVICE_PREFETCH;
	int what_is = IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;

	VT_EQ(advise(&t->b, write, now, &d, 0, BUF), 0);
	VT_EQ(faults_of(t, p, IBV_WR_RDMA_WRITE, m, &d), 0);
	VT_EQ(faults_of(t, p, IBV_WR_RDMA_READ, m, &d), 0);
	VT_EQ(madvise(d.buf, BUF, MADV_DONTNEED), 0);
	VT_OK(faults_of(t, p, IBV_WR_RDMA_READ, m, &d), "it was kept");

	VT_EQ(madvise(d.buf, BUF, MADV_DONTNEED), 0);
	VT_EQ(advise(&t->b, read, now, &d, 0, BUF), 0);
	VT_EQ(faults_of(t, p, IBV_WR_RDMA_READ, m, &d), 0);
	VT_OK(faults_of(t, p, IBV_WR_RDMA_WRITE, m, &d), "right to write");

	VT_EQ(madvise(d.buf, BUF, MADV_DONTNEED), 0);
	VT_EQ(advise(&t->b, what_is, now, &d, 0, BUF), 0);
	VT_OK(faults_of(t, p, IBV_WR_RDMA_READ, m, &d), "there was nothing");
	VT_EQ(madvise(d.buf, BUF, MADV_DONTNEED), 0);
	vt_fill(&d, 0, BUF, 1);
	VT_EQ(advise(&t->b, what_is, now, &d, 0, BUF), 0);
	VT_EQ(faults_of(t, p, IBV_WR_RDMA_READ, m, &d), 0);
	VT_EQ(faults_of(t, p, IBV_WR_RDMA_WRITE, m, &d), 0);
	odp_end(&d);
}

static size_t nr_resident(unsigned char *buf, size_t pages)
{
	size_t resident = 0;
	unsigned char vec;

	for (size_t i = 0; i < pages; i++) {
		VT_EQ(mincore(buf + i * PAGE, PAGE, &vec), 0);
		resident += vec & 1;
	}
	return resident;
}

/* The process sees that the pages come. */
static void prefetch_later(struct vt *t)
{
	struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
	unsigned int spins = 0;

	VT_EQ(nr_resident(d.buf, BUF / PAGE), 0);
	VT_EQ(advise(&t->b, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &d, 0, BUF),
	      0);
	while (nr_resident(d.buf, BUF / PAGE) < BUF / PAGE)
		vt_pause(&spins);
	/* It may be under way while the region goes. */
	for (int i = 0; i < 50; i++) {
		struct vt_mem m = odp_mem(&t->b, BUF, t->arg & IMPLICIT);

		VT_EQ(advise(&t->b, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &m, 0,
			     BUF), 0);
		odp_end(&m);
	}
	odp_end(&d);
}

/*
 * More than may be pending: it is advice, so no error, and 256 of it is
 * followed. With more than one CPU, it may be followed while it is given.
 */
static void too_much_advice(struct vt *t)
{
	enum { PAGES = 1024, MOST = 256 };
	bool held = sysconf(_SC_NPROCESSORS_ONLN) == 1;
	struct vt_mem d = odp_mem(&t->b, PAGES * PAGE, false);
	size_t resident = 0, before;

	/* Fails where there are none. */
	madvise(d.buf, d.len, MADV_NOHUGEPAGE);
	hold_up_fetching(true);
	for (int i = 0; i < PAGES; i++)
		VT_EQ(advise(&t->b, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, &d,
			     i * PAGE, PAGE), 0);
	if (held)
		VT_EQ(nr_resident(d.buf, PAGES), 0);
	hold_up_fetching(false);
	do {
		before = resident;
		usleep(200000 * vt_scale());
		resident = nr_resident(d.buf, PAGES);
	} while (resident < MOST || resident > before);
	if (held)
		VT_EQ(resident, MOST);
	odp_end(&d);
}

static void prefetch_refused(struct vt *t)
{
	const int now = IBV_ADVISE_MR_FLAG_FLUSH;
	struct vt_mem d = odp_mem(&t->a, BUF, false), ro;
	struct vt_mem *pinned = vt_mem(&t->a, PAGE, VT_ALL);
	struct ibv_pd *other = ibv_alloc_pd(t->a.ctx);
	int read = IBV_ADVISE_MR_ADVICE_PREFETCH;
	int write = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE;
	struct ibv_sge sge = { .addr = (uintptr_t)d.buf, .length = PAGE,
			       .lkey = d.mr->lkey };

	ro = odp_reg(&t->a, d.buf, BUF, IBV_ACCESS_REMOTE_READ);
	VT_EQ(advise(&t->a, read, now, pinned, 0, PAGE), ENOENT);
	VT_EQ(ibv_advise_mr(other, read, now, &sge, 1), EPERM);
	VT_EQ(advise(&t->a, write, now, &ro, 0, PAGE), EPERM);
	VT_EQ(advise(&t->a, read, now, &ro, 0, PAGE), 0);
	VT_EQ(advise(&t->a, read, now, &d, 1, BUF), EFAULT);
	VT_EQ(advise(&t->a, read, 0, &d, 1, BUF), EFAULT);
	VT_EQ(advise(&t->a, read, 2, &d, 0, PAGE), EINVAL);
	VT_EQ(ibv_advise_mr(t->a.pd, read, now, &sge, 0), EINVAL);
	VT_OK(advise(&t->a, 77, now, &d, 0, PAGE), "no such advice");
	sge.lkey ^= 1;
	VT_EQ(ibv_advise_mr(t->a.pd, read, now, &sge, 1), ENOENT);
	VT_EQ(munmap(d.buf, PAGE), 0);
	VT_EQ(advise(&t->a, read, now, &d, 0, BUF), EFAULT);
	VT_EQ(advise(&t->a, read, 0, &d, 0, BUF), 0);
	VT_EQ(ibv_dealloc_pd(other), 0);
	VT_EQ(ibv_dereg_mr(ro.mr), 0);
	odp_end(&d);
}

static void refused(struct vt *t)
{
	struct vt_mem d = odp_mem(&t->a, BUF, false);
	struct vt_mem *pinned = vt_mem(&t->a, PAGE, VT_ALL);

	VT_NULL(ibv_reg_mr(t->a.pd, d.buf, 1ull << 60, ODP), EFAULT);
	VT_NULL(ibv_reg_mr_iova(t->a.pd, NULL, SIZE_MAX, PAGE, ODP), EINVAL);
	VT_NULL(ibv_reg_mr(t->a.pd, d.buf, BUF, IBV_ACCESS_ON_DEMAND |
			   IBV_ACCESS_REMOTE_WRITE), EINVAL);
	VT_OK(ibv_rereg_mr(d.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE), "rereg");
	VT_OK(ibv_rereg_mr(pinned->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
			   0, ODP), "rereg to on-demand");
	odp_end(&d);
}

static void capabilities(struct vt *t)
{
	const uint32_t most = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE |
			      IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_ATOMIC |
			      IBV_ODP_SUPPORT_SRQ_RECV;
	uint32_t rc = most | IBV_ODP_SUPPORT_RECV | ODP_ATOMIC_WRITE;
	struct ibv_device_attr_ex attr = {};

	VT_EQ(ibv_query_device_ex(t->a.ctx, NULL, &attr), 0);
	VT_EQ(attr.odp_caps.general_caps,
	      IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT);
	if (attr.device_cap_flags_ex & CAP_FLUSH_GLOBAL)
		rc |= ODP_FLUSH;
	VT_EQ(attr.odp_caps.per_transport_caps.rc_odp_caps, rc);
	VT_EQ(attr.xrc_odp_caps, most);
	VT_EQ(attr.odp_caps.per_transport_caps.uc_odp_caps,
	      IBV_ODP_SUPPORT_SEND);
	VT_EQ(attr.odp_caps.per_transport_caps.ud_odp_caps,
	      IBV_ODP_SUPPORT_SEND);
}

/* Whose memory is wanted all the time, until it is killed. */
static void victim(struct vt *t, int ready)
{
	struct vt n = { .arg = t->arg };
	struct vt_mem s, d;
	struct vt_pair *p;
	char c = 0;

	vt_open(&n.a, vt_dev_name(0), 4);
	vt_open(&n.b, vt_dev_name(1), 4);
	s = odp_mem(&n.a, BUF, t->arg & IMPLICIT);
	d = odp_mem(&n.b, BUF, t->arg & IMPLICIT);
	p = vt_pair(&n, NULL);
	for (int i = 0;; i++) {
		VT_EQ(vt_run(p, (struct vt_wr){ .local = &s, .len = LEN,
			.remote = &d }), IBV_WC_SUCCESS);
		if (!i)
			VT_EQ(write(ready, &c, 1), 1);
		madvise(s.buf, BUF, MADV_DONTNEED);
		madvise(d.buf, BUF, MADV_DONTNEED);
	}
}

static void killed(struct vt *t)
{
	struct vt_mem *m = vt_mem(&t->a, LEN, VT_ALL);
	struct vt_mem d = odp_mem(&t->b, BUF, t->arg & IMPLICIT);
	struct vt_pair *p = vt_pair(t, NULL);

	for (int i = 0; i < 3; i++) {
		vt_kill(t, victim);
		write_read(p, m, &d, LEN, i);
	}
	odp_end(&d);
}

static const struct vt_case cases[] = {
	VT_CASE(capabilities),
	VT_CASE_ARG("remote", operations, REMOTE),
	VT_CASE_ARG("remote_implicit", operations, REMOTE | IMPLICIT),
	VT_CASE_ARG("local", operations, LOCAL),
	VT_CASE_ARG("local_implicit", operations, LOCAL | IMPLICIT),
	VT_CASE_ARG("both", operations, LOCAL | REMOTE),
	VT_CASE_ARG("both_implicit", operations, LOCAL | REMOTE | IMPLICIT),
	VT_CASE(bounds),
	VT_CASE(unmapped),
	VT_CASE_ARG("unmapped_implicit", unmapped, IMPLICIT),
	VT_CASE(read_only),
	VT_CASE(writable_again),
	VT_CASE(unmapped_behind),
	VT_CASE(remapped),
	VT_CASE_ARG("remapped_implicit", remapped, IMPLICIT),
	VT_CASE(reused_by_queues),
	VT_CASE_ARG("reused_by_queues_implicit", reused_by_queues, IMPLICIT),
	VT_CASE(mremapped),
	VT_CASE_ARG("mremapped_implicit", mremapped, IMPLICIT),
	VT_CASE(forked),
	VT_CASE_ARG("dropped_under_traffic", spoiled_under_traffic, 0),
	VT_CASE_ARG("dropped_under_traffic_implicit", spoiled_under_traffic,
		    IMPLICIT),
	VT_CASE_ARG("paged_out_under_traffic", spoiled_under_traffic, 1 << 4),
	VT_CASE_ARG("forks_under_traffic", spoiled_under_traffic, 2 << 4),
	VT_CASE(protected_under_traffic),
	VT_CASE_ARG("new_path_while_waiting_to_send", new_path_while_waiting,
		    LOCAL),
	VT_CASE_ARG("new_path_while_waiting_to_be_read",
		    new_path_while_waiting, REMOTE),
	VT_CASE(many_queue_pairs),
	VT_CASE_ARG("many_queue_pairs_implicit", many_queue_pairs, IMPLICIT),
	VT_CASE(sparse),
	VT_CASE_ARG("sparse_implicit", sparse, IMPLICIT),
	VT_CASE(huge),
	VT_CASE_ARG("unreliable_uc", unreliable, IBV_QPT_UC),
	VT_CASE_ARG("unreliable_ud", unreliable, IBV_QPT_UD),
	VT_CASE(prefetch),
	VT_CASE_ARG("prefetch_implicit", prefetch, IMPLICIT),
	VT_CASE(prefetch_later),
	VT_CASE(too_much_advice),
	VT_CASE(prefetch_refused),
	VT_CASE(refused),
	VT_CASE(killed),
	VT_CASE_ARG("killed_implicit", killed, IMPLICIT),
};

VT_MAIN(cases)

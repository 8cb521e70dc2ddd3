// SPDX-License-Identifier: GPL-2.0
/* Threads and processes: everything may be called from everywhere. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vt.h"

#define NT	4
#define PER_T	400
#define BIG	(1 << 20)
#define BIG_PER_T	50
#define MINE	0x77	/* not what memory to be sent is filled with */

/**
 * struct job - what a thread works on
 * @t: the case
 * @p: pair shared by all threads
 * @s: memory on a
 * @d: memory on b
 * @id: number of the thread
 * @seen: completions, counted by wr_id
 * @done: completions of all threads
 */
struct job {
	struct vt *t;
	struct vt_pair *p;
	struct vt_mem *s;
	struct vt_mem *d;
	int id;
	atomic_int *seen;
	atomic_int *done;
};

static void start(pthread_t *th, void *(*fn)(void *), struct job *jobs)
{
	for (int i = 0; i < NT; i++) {
		jobs[i].id = i;
		VT_EQ(pthread_create(&th[i], NULL, fn, &jobs[i]), 0);
	}
}

static void join(pthread_t *th)
{
	for (int i = 0; i < NT; i++)
		pthread_join(th[i], NULL);
}

static void *post_many(void *arg)
{
	struct job *j = arg;
	unsigned int spins = 0;

	for (int i = 0; i < PER_T; i++) {
		struct vt_wr w = {
			.id = j->id * PER_T + i, .local = j->s,
			.off = 64 * j->id, .len = 64, .remote = j->d,
			.roff = 64 * j->id, .flags = IBV_SEND_SIGNALED,
		};
		int rc;

		while ((rc = vt_try_send(j->p->qp[0], &w)) == ENOMEM)
			vt_pause(&spins);
		VT_EQ(rc, 0);
	}
	return NULL;
}

/* Several threads post on one queue pair, one polls: order per thread. */
static void post_on_one_qp(struct vt *t)
{
	struct vt_opt o = { .sq = 128, .cqe = NT * PER_T };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 64 * NT, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 * NT, VT_ALL);
	struct job jobs[NT];
	int next[NT] = {};
	pthread_t th[NT];

	vt_fill(s, 0, 64 * NT, 1);
	for (int i = 0; i < NT; i++)
		jobs[i] = (struct job){ .t = t, .p = p, .s = s, .d = d };
	start(th, post_many, jobs);
	for (int i = 0; i < NT * PER_T; i++) {
		struct ibv_wc wc = vt_poll(p->scq[0]);
		int who = wc.wr_id / PER_T;

		VT_EQ(wc.status, IBV_WC_SUCCESS);
		VT_EQ(wc.wr_id % PER_T, next[who]++);
	}
	join(th);
	vt_quiet(p->scq[0], 5);
	vt_verify(d, 0, 64 * NT, 1);
}

static void *post_big(void *arg)
{
	struct job *j = arg;
	unsigned int spins = 0;

	for (int i = 0; i < BIG_PER_T; i++) {
		struct vt_wr w = {
			.id = j->id, .local = j->s, .len = BIG,
			.remote = j->d, .flags = IBV_SEND_SIGNALED,
		};
		int rc;

		while ((rc = vt_try_send(j->p->qp[0], &w)) == ENOMEM)
			vt_pause(&spins);
		VT_EQ(rc, 0);
	}
	return NULL;
}

static long long kicks_of_busy_qp(struct vt *t, struct vt_pair *p,
				  struct job jobs[NT])
{
	long long before = vt_settled(&t->a, "kicks"), kicks;
	pthread_t th[NT];

	start(th, post_big, jobs);
	for (int i = 0; i < NT * BIG_PER_T; i++)
		VT_EQ(vt_poll(p->scq[0]).status, IBV_WC_SUCCESS);
	join(th);
	kicks = vt_settled(&t->a, "kicks") - before;
	vt_note("%lld kicks for %d requests", kicks, NT * BIG_PER_T);
	return kicks;
}

/*
 * While one thread's kick sends, the others post without any. How often they do
 * is up to the scheduler of a busy machine, so it need not be at first.
 */
static void busy_qp_needs_few_kicks(struct vt *t)
{
	enum { FEW = NT * BIG_PER_T / 4, ROUNDS = 10 };
	struct vt_opt o = { .sq = 128, .cqe = NT * BIG_PER_T };
	struct vt_mem *s = vt_mem(&t->a, BIG, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, BIG, VT_ALL);
	struct vt_pair *p = vt_pair(t, &o);
	struct job jobs[NT];

	if (!vt_is_hroce(&t->a))
		vt_skip("counters of hroce");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		vt_skip("two CPUs");
	for (int i = 0; i < NT; i++)
		jobs[i] = (struct job){ .t = t, .p = p, .s = s, .d = d };
	for (int i = 0; i < ROUNDS; i++)
		if (kicks_of_busy_qp(t, p, jobs) <= FEW)
			return;
	VT_OK(false, "never up to %d kicks", FEW);
}

static void *poll_some(void *arg)
{
	struct job *j = arg;
	unsigned int spins = 0;
	struct ibv_wc wc[8];

	while (atomic_load(j->done) < NT * PER_T) {
		int n = ibv_poll_cq(j->p->scq[0], 8, wc);

		VT_OK(n >= 0, "poll: %d", n);
		for (int i = 0; i < n; i++) {
			VT_EQ(wc[i].status, IBV_WC_SUCCESS);
			atomic_fetch_add(&j->seen[wc[i].wr_id], 1);
			atomic_fetch_add(j->done, 1);
		}
		if (!n)
			vt_pause(&spins);
	}
	return NULL;
}

/* Several threads poll one queue: each completion is seen exactly once. */
static void poll_one_cq(struct vt *t)
{
	static atomic_int seen[NT * PER_T];
	static atomic_int done;
	struct vt_opt o = { .sq = 128, .cqe = NT * PER_T };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 64 * NT, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 * NT, VT_ALL);
	struct job jobs[NT], own;
	pthread_t th[NT];

	for (int i = 0; i < NT; i++)
		jobs[i] = (struct job){ .t = t, .p = p, .s = s, .d = d,
					.seen = seen, .done = &done };
	start(th, poll_some, jobs);
	for (int i = 0; i < NT; i++) {
		own = jobs[0];
		own.id = i;
		post_many(&own);
	}
	join(th);
	for (int i = 0; i < NT * PER_T; i++)
		VT_EQ(atomic_load(&seen[i]), 1);
}

static void *own_pair(void *arg)
{
	struct job *j = arg;

	for (int i = 0; i < PER_T; i++) {
		uint32_t seed = j->id * 1000 + i;

		vt_fill(j->s, 0, 3000, seed);
		vt_recv(j->p->qp[1], i, j->d, 0, 3000);
		vt_send(j->p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = j->s,
			.len = 3000, .flags = IBV_SEND_SIGNALED });
		vt_expect(j->p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(j->p->rcq[1], i, IBV_WC_SUCCESS);
		vt_verify(j->d, 0, 3000, seed);
	}
	return NULL;
}

static void pairs_in_parallel(struct vt *t)
{
	struct job jobs[NT];
	pthread_t th[NT];

	for (int i = 0; i < NT; i++)
		jobs[i] = (struct job){
			.t = t, .p = vt_pair(t, NULL),
			.s = vt_mem(&t->a, 3000, VT_ALL),
			.d = vt_mem(&t->b, 3000, VT_ALL),
		};
	start(th, own_pair, jobs);
	join(th);
}

static void *make_and_destroy(void *arg)
{
	struct job *j = arg;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .cap = { 8, 8, 1, 1, 0 },
	};

	for (int i = 0; i < 40; i++) {
		struct ibv_cq *cq = ibv_create_cq(j->t->a.ctx, 16, NULL, NULL,
						  0);
		struct ibv_mr *mr;
		struct ibv_qp *qp;
		char mem[256];

		VT_OK(cq, "%s", strerror(errno));
		mr = ibv_reg_mr(j->t->a.pd, mem, sizeof(mem), VT_ALL);
		VT_OK(mr, "%s", strerror(errno));
		attr.send_cq = cq;
		attr.recv_cq = cq;
		qp = ibv_create_qp(j->t->a.pd, &attr);
		VT_OK(qp, "%s", strerror(errno));
		VT_EQ(ibv_destroy_qp(qp), 0);
		VT_EQ(ibv_destroy_cq(cq), 0);
		VT_EQ(ibv_dereg_mr(mr), 0);
	}
	return NULL;
}

static void objects_in_parallel(struct vt *t)
{
	struct job jobs[NT];
	pthread_t th[NT];

	for (int i = 0; i < NT; i++)
		jobs[i] = (struct job){ .t = t };
	start(th, make_and_destroy, jobs);
	join(th);
}

/**
 * struct writer - who writes to a peer as fast as it goes
 * @p: by this pair, until it fails
 * @s: from there
 * @d: to there; what the peer has said of it, whether that is still so or not
 * @mr: likewise
 */
struct writer {
	struct vt_pair *p;
	struct vt_mem *s;
	struct vt_mem d;
	struct ibv_mr mr;
};

static void *write_until_it_fails(void *arg)
{
	enum { UNDER_WAY = 4 };
	const struct writer *w = arg;

	for (int i = 0;; i++) {
		vt_send(w->p->qp[0], &(struct vt_wr){
			.id = i, .local = w->s, .len = w->s->len,
			.remote = &w->d, .flags = IBV_SEND_SIGNALED });
		if (i >= UNDER_WAY &&
		    vt_poll(w->p->scq[0]).status != IBV_WC_SUCCESS)
			return NULL;
	}
}

/* Backwards, as writing goes forwards: what is under way has its end to do. */
static void make_mine(volatile unsigned char *buf, size_t len)
{
	while (len--)
		buf[len] = MINE;
}

static void stays_mine(const volatile unsigned char *buf, size_t len)
{
	for (uint64_t end = vt_now_us() + 2000; vt_now_us() < end;)
		for (size_t i = 0; i < len; i++)
			VT_OK(buf[i] == MINE, "byte %zu written by the peer",
			      i);
}

/*
 * As soon as the region, or the queue pair, is gone, the memory belongs to who
 * has registered it, however far the packet was that another CPU works on.
 */
static void gone_under_way(struct vt *t)
{
	enum { ROUNDS = 60, LEN = 60000 };
	struct vt_opt o = { .timeout = 8, .retry = -1 };
	struct vt_mem *s = vt_mem(&t->a, LEN, VT_ALL);

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		vt_skip("two CPUs");
	for (int i = 0; i < ROUNDS; i++) {
		struct vt_mem *d = vt_mem(&t->b, LEN, VT_ALL);
		struct writer w = { .p = vt_pair(t, &o), .s = s, .d = *d,
				    .mr = *d->mr };
		volatile unsigned char *buf = d->buf;
		unsigned int wait = vt_rand() % 2000;
		pthread_t th;

		w.d.mr = &w.mr;
		make_mine(buf, LEN);
		VT_EQ(pthread_create(&th, NULL, write_until_it_fails, &w), 0);
		while (buf[LEN - 1] == MINE)
			;
		while (wait--)
			(void)buf[0];
		if (t->arg) {
			vt_forget(w.p->qp[1]);
			VT_EQ(ibv_destroy_qp(w.p->qp[1]), 0);
		} else {
			VT_EQ(ibv_dereg_mr(d->mr), 0);
			d->mr = NULL;
		}
		make_mine(buf, LEN);
		stays_mine(buf, LEN);
		pthread_join(th, NULL);
	}
}

static void round_trip(struct vt_pair *p, struct vt_mem *s, struct vt_mem *d,
		       uint32_t seed)
{
	vt_fill(s, 0, s->len, seed);
	vt_recv(p->qp[1], seed, d, 0, d->len);
	vt_send(p->qp[0], &(struct vt_wr){
		.op = IBV_WR_SEND, .id = seed, .local = s, .len = s->len,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], seed, IBV_WC_SUCCESS);
	vt_expect(p->rcq[1], seed, IBV_WC_SUCCESS);
	vt_verify(d, 0, d->len, seed);
}

/* A child that scribbles over its copy does not change what the parent has. */
static void fork_after_use(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 20000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 20000, VT_ALL);
	int go[2], status;
	pid_t pid;

	round_trip(p, s, d, 1);
	VT_EQ(pipe(go), 0);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid) {
		char c;

		memset(s->buf, 0x11, s->len);
		memset(d->buf, 0x22, d->len);
		close(go[1]);
		_exit(read(go[0], &c, 1) == 1 ? 0 : 1);
	}
	for (int i = 2; i < 30; i++)
		round_trip(p, s, d, i);
	VT_EQ(write(go[1], "x", 1), 1);
	VT_EQ(waitpid(pid, &status, 0), pid);
	VT_EQ(status, 0);
	for (int i = 30; i < 40; i++)
		round_trip(p, s, d, i);
}

/* A child opens the device for itself while the parent keeps using it. */
static void child_uses_own_context(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 5000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 5000, VT_ALL);
	int status;
	pid_t pid;

	round_trip(p, s, d, 1);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid) {
		struct vt u = {};
		struct vt_pair *q;

		vt_open(&u.a, vt_dev_name(0), 4);
		vt_open(&u.b, vt_dev_name(1), 4);
		q = vt_pair(&u, NULL);
		s = vt_mem(&u.a, 5000, VT_ALL);
		d = vt_mem(&u.b, 5000, VT_ALL);
		for (int i = 0; i < 50; i++)
			round_trip(q, s, d, 1000 + i);
		_exit(0);
	}
	for (int i = 2; i < 50; i++)
		round_trip(p, s, d, i);
	VT_EQ(waitpid(pid, &status, 0), pid);
	VT_EQ(status, 0);
}

/* Killed in the middle of traffic: the neighbour sees nothing of it. */
static void sigkill_under_traffic(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 5000, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 5000, VT_ALL);

	for (int i = 0; i < 10; i++) {
		int status, ready[2];
		pid_t pid;
		char c;

		VT_EQ(pipe(ready), 0);
		pid = fork();
		VT_OK(pid >= 0, "fork");
		if (!pid) {
			struct vt u = {};
			struct vt_pair *q;

			vt_open(&u.a, vt_dev_name(0), 4);
			vt_open(&u.b, vt_dev_name(1), 4);
			q = vt_pair(&u, NULL);
			s = vt_mem(&u.a, 1 << 20, VT_ALL);
			d = vt_mem(&u.b, 1 << 20, VT_ALL);
			for (uint32_t n = 0;; n++) {
				if (n == 1 && write(ready[1], "x", 1) != 1)
					_exit(1);
				round_trip(q, s, d, n);
			}
		}
		VT_EQ(read(ready[0], &c, 1), 1);
		round_trip(p, s, d, 100 + i);
		VT_EQ(kill(pid, SIGKILL), 0);
		VT_EQ(waitpid(pid, &status, 0), pid);
		close(ready[0]);
		close(ready[1]);
		round_trip(p, s, d, 200 + i);
	}
}

/* Queues of a thread domain work for one thread; who uses a domain keeps it. */
static void thread_domain(struct vt *t)
{
	struct ibv_parent_domain_init_attr attr = { .pd = t->a.pd };
	struct ibv_td_init_attr td_attr = {};
	struct ibv_td *td = ibv_alloc_td(t->a.ctx, &td_attr);
	struct ibv_pd *real = t->a.pd, *pd;
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 64, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
	};
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 8, .max_sge = 1 },
	};
	struct ibv_srq *srq;
	struct ibv_cq_ex *cq;
	struct vt_opt o = {};
	struct vt_pair *p;

	VT_OK(td, "%s", strerror(errno));
	attr.td = td;
	pd = ibv_alloc_parent_domain(t->a.ctx, &attr);
	VT_OK(pd, "%s", strerror(errno));
	VT_EQ(ibv_dealloc_td(td), EBUSY);
	VT_EQ(ibv_dealloc_pd(real), EBUSY);
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	VT_NULL(ibv_alloc_parent_domain(t->a.ctx, &attr), EOPNOTSUPP);
	attr.comp_mask = 0;
	attr.pd = pd;
	VT_NULL(ibv_alloc_parent_domain(t->a.ctx, &attr), EINVAL);

	cq_attr.parent_domain = pd;
	cq = ibv_create_cq_ex(t->a.ctx, &cq_attr);
	VT_OK(cq, "%s", strerror(errno));
	o.scq[0] = ibv_cq_ex_to_cq(cq);
	t->a.pd = pd;
	p = vt_pair(t, &o);
	/* Memory of the protection domain is that of the parent domain. */
	t->a.pd = real;
	for (int i = 0; i < 100; i++) {
		struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);

		vt_recv(p->qp[1], i, NULL, 0, 0);
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i, .local = s, .len = 0,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(o.scq[0], i, IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	}
	vt_forget(p->qp[0]);
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(ibv_destroy_qp(p->qp[0]), 0);
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(ibv_destroy_cq(o.scq[0]), 0);
	srq = ibv_create_srq(pd, &srq_attr);
	VT_OK(srq, "%s", strerror(errno));
	VT_EQ(ibv_dealloc_pd(pd), EBUSY);
	VT_EQ(ibv_destroy_srq(srq), 0);
	VT_EQ(ibv_dealloc_pd(pd), 0);
	VT_EQ(ibv_dealloc_td(td), 0);
}

#define CLASHES		500

/**
 * struct clash - a datagram arrives while a thread posts
 * @p: pair of UD queue pairs
 * @s: memory of the datagram
 * @go: number of the round that has begun
 */
struct clash {
	struct vt_pair *p;
	struct vt_mem *s;
	atomic_int go;
};

static void *clash_send(void *arg)
{
	struct clash *c = arg;
	struct vt_wr w = {
		.op = IBV_WR_SEND, .ah = c->p->ah[0],
		.qpn = c->p->qp[1]->qp_num, .local = c->s, .len = 8,
		.flags = IBV_SEND_SIGNALED,
	};

	for (int i = 1; i <= CLASHES; i++) {
		while (atomic_load(&c->go) < i)
			;
		vt_send(c->p->qp[0], &w);
		vt_expect(c->p->scq[0], 0, IBV_WC_SUCCESS);
	}
	return NULL;
}

/* Different for each round, so that both meet at some time. */
static void clash_wait(int round)
{
	for (volatile int i = 0; i < round % 64 * 32; i++)
		;
}

/*
 * A send request of UD fails, which is an error of the send queue only, while
 * the memory of a receive request cannot be written, which ends the queue pair.
 */
static void errors_of_both_queues(struct vt *t)
{
	struct vt_opt o = { .type = IBV_QPT_UD };
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_mem *sealed = vt_mem(&t->b, 64, 0);
	struct clash c = { .p = vt_pair(t, &o), .s = vt_mem(&t->a, 8, VT_ALL) };
	struct vt_wr bad = {
		.op = IBV_WR_SEND, .ah = c.p->ah[1],
		.qpn = c.p->qp[0]->qp_num, .local = d, .off = 64, .len = 8,
	};
	struct ibv_qp *qp = c.p->qp[1];
	pthread_t th;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		vt_skip("two CPUs");
	VT_EQ(pthread_create(&th, NULL, clash_send, &c), 0);
	for (int i = 1; i <= CLASHES; i++) {
		vt_recv(qp, 1, sealed, 0, 64);
		vt_recv(qp, 2, d, 0, 64);
		atomic_store(&c.go, i);
		clash_wait(i);
		vt_send(qp, &bad);
		vt_expect(c.p->rcq[1], 1, IBV_WC_LOC_PROT_ERR);
		vt_expect(c.p->rcq[1], 2, IBV_WC_WR_FLUSH_ERR);
		VT_EQ(vt_state(qp), IBV_QPS_ERR);
		VT_OK(vt_poll(c.p->scq[1]).status, "sent");
		vt_to(qp, IBV_QPS_RESET);
		vt_to_init(&t->b, qp, &c.p->opt);
		vt_to_rtr(&t->b, qp, &c.p->opt, &t->a.gid, 0, 0);
		vt_to_rts(qp, &c.p->opt, 0);
	}
	pthread_join(th, NULL);
}

static const struct vt_case cases[] = {
	VT_CASE(post_on_one_qp),
	VT_CASE(busy_qp_needs_few_kicks),
	VT_CASE(poll_one_cq),
	VT_CASE(pairs_in_parallel),
	VT_CASE(objects_in_parallel),
	VT_CASE_ARG("dereg_ends_writing", gone_under_way, 0),
	VT_CASE_ARG("destroy_ends_writing", gone_under_way, 1),
	VT_CASE(fork_after_use),
	VT_CASE(child_uses_own_context),
	VT_CASE(sigkill_under_traffic),
	VT_CASE(thread_domain),
	VT_CASE_SLOW(errors_of_both_queues, 120),
};

VT_MAIN(cases)

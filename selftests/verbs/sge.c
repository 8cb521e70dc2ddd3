// SPDX-License-Identifier: GPL-2.0
/* Scatter and gather, lists of requests, and queues that fill and wrap. */
#include "vt.h"

#define MAX_SGE 16

/* Splits @len bytes of @m at random into up to @n elements, some empty. */
static int split(const struct vt_mem *m, size_t off, size_t len, int n,
		 struct ibv_sge *sge)
{
	for (int i = 0; i < n; i++) {
		size_t part = i == n - 1 ? len : vt_rand() % (len + 1);

		if (i < n - 1 && vt_rand() % 4 == 0)
			part = 0;
		sge[i] = (struct ibv_sge){
			(uintptr_t)m->buf + off, part, m->mr->lkey,
		};
		off += part;
		len -= part;
	}
	return n;
}

static void random_splits(struct vt *t)
{
	const size_t max = 40000;
	struct vt_opt o = { .sge = MAX_SGE };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, max, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, max, VT_ALL);
	struct ibv_sge ssge[MAX_SGE], rsge[MAX_SGE];

	vt_srand(4711);
	for (int i = 0; i < 100; i++) {
		size_t len = vt_rand() % max;
		struct ibv_recv_wr *rbad, rwr = {
			.wr_id = i, .sg_list = rsge,
			.num_sge = split(d, 0, len, 1 + i % MAX_SGE, rsge),
		};
		struct ibv_send_wr *bad, wr = {
			.wr_id = i, .opcode = IBV_WR_SEND, .sg_list = ssge,
			.send_flags = IBV_SEND_SIGNALED,
			.num_sge = split(s, 0, len, 1 + i * 7 % MAX_SGE, ssge),
		};
		struct ibv_wc wc;

		vt_fill(s, 0, len, i);
		VT_EQ(ibv_post_recv(p->qp[1], &rwr, &rbad), 0);
		VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		wc = vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
		VT_EQ(wc.byte_len, len);
		vt_verify(d, 0, len, i);
	}
}

/* WRITE gathers, READ scatters; each element may be in another MR. */
static void many_regions(struct vt *t)
{
	const size_t part = 1501;
	struct vt_opt o = { .sge = MAX_SGE };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *far = vt_mem(&t->b, part * MAX_SGE, VT_ALL);
	struct ibv_sge out[MAX_SGE], in[MAX_SGE];
	struct vt_mem *s[MAX_SGE], *r[MAX_SGE];
	struct ibv_send_wr *bad, wr[2] = {
		{ .wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .sg_list = out,
		  .num_sge = MAX_SGE, .next = &wr[1] },
		{ .wr_id = 2, .opcode = IBV_WR_RDMA_READ, .sg_list = in,
		  .num_sge = MAX_SGE, .send_flags = IBV_SEND_SIGNALED },
	};

	for (int i = 0; i < MAX_SGE; i++) {
		s[i] = vt_mem(&t->a, part, VT_ALL);
		r[i] = vt_mem(&t->a, part, VT_ALL);
		vt_fill(s[i], 0, part, i);
		out[i] = (struct ibv_sge){ (uintptr_t)s[i]->buf, part,
					   s[i]->mr->lkey };
		in[i] = (struct ibv_sge){ (uintptr_t)r[i]->buf, part,
					  r[i]->mr->lkey };
	}
	for (int i = 0; i < 2; i++) {
		wr[i].wr.rdma.remote_addr = (uintptr_t)far->buf;
		wr[i].wr.rdma.rkey = far->mr->rkey;
	}
	VT_EQ(ibv_post_send(p->qp[0], wr, &bad), 0);
	vt_expect(p->scq[0], 2, IBV_WC_SUCCESS);
	for (int i = 0; i < MAX_SGE; i++) {
		vt_verify(far, i * part, part, i);
		vt_verify(r[i], 0, part, i);
		vt_verify_guards(r[i]);
	}
}

static void inline_gathers(struct vt *t)
{
	struct vt_opt o = { .sge = MAX_SGE, .inl = 512 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 512, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 512, VT_ALL);
	struct ibv_sge sge[MAX_SGE];

	vt_srand(5);
	for (int i = 0; i < 50; i++) {
		size_t len = vt_rand() % 513;
		struct ibv_send_wr *bad, wr = {
			.wr_id = i, .opcode = IBV_WR_SEND, .sg_list = sge,
			.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
			.num_sge = split(s, 0, len, 1 + i % MAX_SGE, sge),
		};

		vt_fill(s, 0, len, i);
		vt_recv(p->qp[1], i, d, 0, 512);
		VT_EQ(ibv_post_send(p->qp[0], &wr, &bad), 0);
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		VT_EQ(vt_expect(p->rcq[1], i, IBV_WC_SUCCESS).byte_len, len);
		vt_verify(d, 0, len, i);
	}
}

/* The send queue takes exactly what was granted, then says so. */
static void full_send_queue(struct vt *t)
{
	struct vt_opt o = { .sq = 20, .cqe = 2000 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_wr w = {
		.op = IBV_WR_SEND, .local = s, .len = 64,
		.flags = IBV_SEND_SIGNALED,
	};
	unsigned int n = 0;
	int rc;

	while (!(rc = vt_try_send(p->qp[0], &w)) && n < 2000) {
		n++;
		w.id++;
	}
	VT_EQ(rc, ENOMEM);
	VT_OK(n >= p->cap.max_send_wr, "%u of %u taken", n,
	      p->cap.max_send_wr);
	vt_quiet(p->scq[0], 5);
	VT_EQ(vt_try_send(p->qp[0], &w), ENOMEM);
}

/*
 * A place is free when its request has completed, polled or not, as the man page
 * says; completions and data of those before are not touched.
 */
static void places_return_unpolled(struct vt *t)
{
	enum { ROUNDS = 4 };
	struct vt_opt o = { .sq = 20, .cqe = 2000 };
	struct vt_pair *p = vt_pair(t, &o);
	unsigned int depth = p->cap.max_send_wr, n;
	struct vt_mem *s = vt_mem(&t->a, ROUNDS * depth * 8, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, ROUNDS * depth * 8, VT_ALL);
	uint64_t end = vt_deadline_us();
	unsigned int spins = 0;
	struct vt_wr w = {
		.local = s, .len = 8, .remote = d, .flags = IBV_SEND_SIGNALED,
	};
	int rc;

	VT_OK(ROUNDS * depth <= 2000, "%u places", depth);
	vt_fill(s, 0, s->len, 3);
	for (n = 0; n < ROUNDS * depth; n++) {
		w.id = n;
		w.off = n * 8;
		w.roff = n * 8;
		while ((rc = vt_try_send(p->qp[0], &w)) == ENOMEM) {
			VT_OK(vt_now_us() < end, "request %u has no place", n);
			vt_pause(&spins);
		}
		VT_EQ(rc, 0);
	}
	for (n = 0; n < ROUNDS * depth; n++)
		vt_expect(p->scq[0], n, IBV_WC_SUCCESS);
	vt_verify(d, 0, d->len, 3);
}

static void full_receive_queue(struct vt *t)
{
	struct vt_opt o = { .rq = 20 };
	struct vt_pair *p = vt_pair(t, &o);
	unsigned int n = 0;
	int rc;

	while (!(rc = vt_try_recv(p->qp[1], n, NULL, 0, 0)) && n < 2000)
		n++;
	VT_EQ(rc, ENOMEM);
	VT_OK(n >= p->cap.max_recv_wr, "%u of %u taken", n,
	      p->cap.max_recv_wr);
	for (unsigned int i = 0; i < n; i++) {
		vt_send(p->qp[0], &(struct vt_wr){
			.op = IBV_WR_SEND, .id = i,
			.flags = IBV_SEND_SIGNALED });
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	}
	VT_EQ(vt_try_recv(p->qp[1], n, NULL, 0, 0), 0);
}

/* Slots come back when completions are polled; unsignaled ones with them. */
static void send_queue_slots_return(struct vt *t)
{
	struct vt_opt o = { .sq = 16 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 8, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 8, VT_ALL);
	unsigned int depth = p->cap.max_send_wr;

	for (unsigned int round = 0; round < 10; round++) {
		for (unsigned int i = 0; i < depth; i++)
			vt_send(p->qp[0], &(struct vt_wr){
				.id = i, .local = s, .len = 8, .remote = d,
				.flags = i == depth - 1 ?
					 IBV_SEND_SIGNALED : 0 });
		vt_expect(p->scq[0], depth - 1, IBV_WC_SUCCESS);
	}
	vt_quiet(p->scq[0], 5);
}

/* Thousands of requests through small rings, several in flight. */
static void ring_wrap(struct vt *t)
{
	const int nr = 3000, win = 7;
	struct vt_opt o = { .sq = 8, .rq = 8, .cqe = 9 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 64 * 8, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64 * 8, VT_ALL);
	int done;

	for (int i = 0; i < win; i++)
		vt_recv(p->qp[1], i, d, 64 * (i % 8), 64);
	for (int i = 0; i < nr + win; i++) {
		if (i < nr) {
			vt_fill(s, 64 * (i % 8), 64, i);
			vt_send(p->qp[0], &(struct vt_wr){
				.op = IBV_WR_SEND, .id = i, .local = s,
				.off = 64 * (i % 8), .len = 1 + i % 64,
				.flags = IBV_SEND_SIGNALED });
		}
		done = i - win + 1;
		if (done < 0 || done >= nr)
			continue;
		vt_expect(p->scq[0], done, IBV_WC_SUCCESS);
		VT_EQ(vt_expect(p->rcq[1], done, IBV_WC_SUCCESS).byte_len,
		      1 + done % 64);
		vt_verify(d, 64 * (done % 8), 1 + done % 64, done);
		if (done + win < nr)
			vt_recv(p->qp[1], done + win, d,
				64 * ((done + win) % 8), 64);
	}
}

/* A long posted list of mixed operations, one call. */
static void long_list(struct vt *t)
{
	enum { NR = 256, LEN = 777 };
	static const enum ibv_wr_opcode ops[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ,
		IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	struct vt_opt o = { .sq = NR, .rq = NR };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *a = vt_mem(&t->a, NR * LEN, VT_ALL);
	struct vt_mem *b = vt_mem(&t->b, NR * LEN, VT_ALL);
	static struct ibv_send_wr wr[NR], *bad;
	static struct ibv_sge sge[NR];

	for (int i = 0; i < NR; i++) {
		bool read = ops[i % 4] == IBV_WR_RDMA_READ;

		vt_fill(read ? b : a, i * LEN, LEN, i);
		sge[i] = (struct ibv_sge){ (uintptr_t)a->buf + i * LEN, LEN,
					   a->mr->lkey };
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .opcode = ops[i % 4], .sg_list = &sge[i],
			.num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
			.next = i < NR - 1 ? &wr[i + 1] : NULL,
			.wr.rdma = { (uintptr_t)b->buf + i * LEN,
				     b->mr->rkey },
		};
		if (i % 4 == 1)
			vt_recv(p->qp[1], i, b, i * LEN, LEN);
		if (i % 4 == 3)
			vt_recv(p->qp[1], i, NULL, 0, 0);
	}
	VT_EQ(ibv_post_send(p->qp[0], wr, &bad), 0);
	for (int i = 0; i < NR; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	for (int i = 1; i < NR; i += 2)
		vt_expect(p->rcq[1], i, IBV_WC_SUCCESS);
	for (int i = 0; i < NR; i++)
		vt_verify(ops[i % 4] == IBV_WR_RDMA_READ ? a : b, i * LEN, LEN,
			  i);
}

/* Equal small messages in one list: may share packets below, not here. */
static void small_message_burst(struct vt *t)
{
	enum { NR = 512 };
	struct vt_opt o = { .type = t->arg, .sq = NR, .rq = NR };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *a = vt_mem(&t->a, NR * 64, VT_ALL);
	struct vt_mem *b = vt_mem(&t->b, NR * 64, VT_ALL);
	static struct ibv_send_wr wr[NR], *bad;
	static struct ibv_sge sge[NR];

	for (int i = 0; i < NR; i++) {
		vt_fill(a, i * 64, 64, i);
		vt_recv(p->qp[1], i, b, i * 64, 64);
		sge[i] = (struct ibv_sge){ (uintptr_t)a->buf + i * 64, 64,
					   a->mr->lkey };
		wr[i] = (struct ibv_send_wr){
			.wr_id = i, .opcode = IBV_WR_SEND, .sg_list = &sge[i],
			.num_sge = 1, .next = i < NR - 1 ? &wr[i + 1] : NULL,
			.send_flags = i % 16 == 15 ? IBV_SEND_SIGNALED : 0,
		};
	}
	VT_EQ(ibv_post_send(p->qp[0], wr, &bad), 0);
	for (int i = 15; i < NR; i += 16)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
	for (int i = 0; i < NR; i++) {
		VT_EQ(vt_expect(p->rcq[1], i, IBV_WC_SUCCESS).byte_len, 64);
		vt_verify(b, i * 64, 64, i);
	}
}

static void unsignaled_stay_silent(struct vt *t)
{
	struct vt_pair *p = vt_pair(t, NULL);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);

	for (int i = 0; i < 10; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 64, .remote = d });
	vt_quiet(p->scq[0], 20);
}

static void sq_sig_all_signals_everything(struct vt *t)
{
	struct vt_opt o = { .sig_all = 1 };
	struct vt_pair *p = vt_pair(t, &o);
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);

	for (int i = 0; i < 10; i++)
		vt_send(p->qp[0], &(struct vt_wr){
			.id = i, .local = s, .len = 64, .remote = d });
	for (int i = 0; i < 10; i++)
		vt_expect(p->scq[0], i, IBV_WC_SUCCESS);
}

static const struct vt_case cases[] = {
	VT_CASE(random_splits),
	VT_CASE(many_regions),
	VT_CASE(inline_gathers),
	VT_CASE(full_send_queue),
	VT_CASE(places_return_unpolled),
	VT_CASE(full_receive_queue),
	VT_CASE(send_queue_slots_return),
	VT_CASE(ring_wrap),
	VT_CASE(long_list),
	VT_CASE_ARG("small_message_burst_rc", small_message_burst, IBV_QPT_RC),
	VT_CASE_ARG("small_message_burst_uc", small_message_burst, IBV_QPT_UC),
	VT_CASE(unsignaled_stay_silent),
	VT_CASE(sq_sig_all_signals_everything),
};

VT_MAIN(cases)

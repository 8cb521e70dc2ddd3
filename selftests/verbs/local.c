// SPDX-License-Identifier: GPL-2.0
/*
 * Delivery without frames, where both ends are on one host: that it happens,
 * can be turned off at any time, and differs from the wire in nothing else.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "vt.h"

#define LEN	(100 * 1024 + 3)

/* What happened since the last call: packets, and what they went in. */
struct seen {
	long long packets;
	long long local;
	long long frames;
	long long copied;
	long long received;
};

static struct seen seen_now(const struct vt *t)
{
	return (struct seen){
		.packets = vt_settled(&t->a, "tx_packets"),
		.local = vt_counter(&t->a, "tx_local_packets"),
		.frames = vt_counter(&t->a, "tx_frames"),
		.copied = vt_counter(&t->a, "tx_copied_bytes"),
		.received = vt_counter(&t->a, "rx_packets"),
	};
}

static struct seen seen_since(const struct vt *t, const struct seen *before)
{
	struct seen now = seen_now(t);

	return (struct seen){
		.packets = now.packets - before->packets,
		.local = now.local - before->local,
		.frames = now.frames - before->frames,
		.copied = now.copied - before->copied,
		.received = now.received - before->received,
	};
}

/**
 * struct ends - a pair with memory on both sides
 * @p: pair
 * @s: memory on a
 * @d: memory on b
 */
struct ends {
	struct vt_pair *p;
	struct vt_mem *s;
	struct vt_mem *d;
};

static struct ends ends_make(struct vt *t)
{
	/* PSNs wrap in the middle. */
	struct vt_opt o = { .psn = 0xfffff0 };
	struct ends e;

	if (!vt_is_hroce(&t->a))
		vt_skip("counters of hroce");
	if (!vt_one_link(t))
		vt_skip("a matter of one host");
	e.p = vt_pair(t, &o);
	e.s = vt_mem(&t->a, LEN, VT_ALL);
	e.d = vt_mem(&t->b, LEN, VT_ALL);
	vt_fill(e.s, 0, LEN, 3);
	return e;
}

/* One of each, with different seeds. */
static void transfer(struct ends *e)
{
	struct ibv_qp *qp = e->p->qp[0];
	struct vt_wr w = {
		.op = IBV_WR_RDMA_WRITE, .local = e->s, .len = LEN,
		.remote = e->d, .flags = IBV_SEND_SIGNALED,
	};

	vt_send(qp, &w);
	vt_expect(e->p->scq[0], 0, IBV_WC_SUCCESS);
	vt_verify(e->d, 0, LEN, 3);

	vt_fill(e->d, 0, LEN, 4);
	w.op = IBV_WR_RDMA_READ;
	vt_send(qp, &w);
	vt_expect(e->p->scq[0], 0, IBV_WC_SUCCESS);
	vt_verify(e->s, 0, LEN, 4);

	vt_fill(e->s, 0, LEN, 5);
	vt_recv(e->p->qp[1], 9, e->d, 0, LEN);
	w.op = IBV_WR_SEND;
	vt_send(qp, &w);
	vt_expect(e->p->scq[0], 0, IBV_WC_SUCCESS);
	VT_EQ(vt_expect(e->p->rcq[1], 9, IBV_WC_SUCCESS).byte_len, LEN);
	vt_verify(e->d, 0, LEN, 5);
	vt_verify_guards(e->d);
	vt_verify_guards(e->s);
}

/* Packets of three messages, a READ request and two acknowledgements. */
static long long least_packets(const struct ends *e)
{
	size_t mtu = vt_mtu_bytes(e->p->opt.mtu);

	return 3 * ((LEN + mtu - 1) / mtu) + 3;
}

/*
 * Up to three more acknowledgements are requested until it is known that packets
 * stay on this host, as congestion control begins with a small window. How many
 * are in frames depends on how long those take.
 */
static void check_packets(const struct ends *e, const struct seen *s)
{
	long long least = least_packets(e);

	VT_OK(s->packets >= least, "%lld of %lld", s->packets, least);
	VT_OK(s->frames || s->packets <= least + 3, "%lld of %lld", s->packets,
	      least);
	VT_EQ(s->received, s->packets);
}

static void no_frames(struct vt *t)
{
	struct ends e = ends_make(t);
	struct seen before = seen_now(t), s;

	vt_switch(&t->a, "local", true);
	transfer(&e);
	s = seen_since(t, &before);
	check_packets(&e, &s);
	VT_EQ(s.local, s.packets);
	VT_EQ(s.frames, 0);
	VT_EQ(s.copied, 0);
}

static void frames_when_off(struct vt *t)
{
	struct ends e = ends_make(t);
	struct seen before = seen_now(t), s;

	vt_switch(&t->a, "local", false);
	transfer(&e);
	s = seen_since(t, &before);
	check_packets(&e, &s);
	VT_EQ(s.local, 0);
	VT_OK(s.frames > 0, "%lld", s.frames);
}

/* Nothing before the piece that is not accessible gets lost, or told of. */
static void second_piece_denied(struct vt *t)
{
	struct ends e = ends_make(t);
	size_t mtu = vt_mtu_bytes(e.p->opt.mtu);
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)e.s->buf, .length = mtu + 100,
		  .lkey = e.s->mr->lkey },
		{ .addr = (uintptr_t)e.s->buf, .length = 100,
		  .lkey = e.s->mr->lkey ^ 0x100 },
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1, .sg_list = sge, .num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)e.d->buf,
			     .rkey = e.d->mr->rkey },
	};

	memset(e.d->buf, 0, LEN);
	VT_EQ(ibv_post_send(e.p->qp[0], &wr, &bad), 0);
	vt_expect(e.p->scq[0], 1, IBV_WC_LOC_PROT_ERR);
	for (size_t i = mtu; i < LEN; i++)
		VT_OK(!e.d->buf[i], "byte %zu", i);
}

static atomic_bool done;

static void *toggle(void *arg)
{
	for (unsigned int i = 0; !done; i++) {
		vt_switch_again(arg, "local", i & 1);
		usleep(500);
	}
	return NULL;
}

/* Whatever goes in frames must not be overtaken by what goes without. */
static void switched_under_traffic(struct vt *t)
{
	struct ends e = ends_make(t);
	struct seen before = seen_now(t), s;
	long long back = vt_counter(&t->a, "retransmits");
	long long late = vt_counter(&t->a, "rto_expirations");
	long long naks = vt_counter(&t->a, "nak_seq_sent");
	enum { ROUNDS = 300, DEPTH = 8, PIECE = LEN / DEPTH };
	pthread_t thread;

	vt_switch(&t->a, "local", false);
	VT_EQ(pthread_create(&thread, NULL, toggle, &t->a), 0);
	for (int i = 0; i < ROUNDS; i++) {
		vt_fill(e.s, 0, LEN, i);
		for (int j = 0; j < DEPTH; j++)
			vt_send(e.p->qp[0], &(struct vt_wr){
				.op = IBV_WR_RDMA_WRITE, .id = j,
				.local = e.s, .off = j * PIECE, .len = PIECE,
				.remote = e.d, .roff = j * PIECE,
				.flags = IBV_SEND_SIGNALED });
		for (int j = 0; j < DEPTH; j++)
			vt_expect(e.p->scq[0], j, IBV_WC_SUCCESS);
		VT_OK(!memcmp(e.s->buf, e.d->buf, DEPTH * PIECE), "%d", i);
	}
	done = true;
	pthread_join(thread, NULL);
	s = seen_since(t, &before);
	VT_EQ(s.received, s.packets);
	VT_OK(s.local > 0 && s.frames > 0, "%lld packets, %lld frames",
	      s.local, s.frames);
	/* Where the host takes the CPU away, answers may be late. */
	back = vt_counter(&t->a, "retransmits") - back;
	late = vt_counter(&t->a, "rto_expirations") - late;
	VT_OK(!back || late, "%lld times", back);
	VT_EQ(vt_counter(&t->a, "nak_seq_sent") - naks, 0);
}

static const struct vt_case cases[] = {
	VT_CASE(no_frames),
	VT_CASE(frames_when_off),
	VT_CASE(second_piece_denied),
	VT_CASE(switched_under_traffic),
};

VT_MAIN(cases)

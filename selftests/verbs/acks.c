// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgements that wait for more to acknowledge, or for a request to ride
 * on: how many frames that saves, and that none is lost or late.
 */
#include <unistd.h>

#include "vt.h"

#define LEN	64
#define LONG_US	"10000"		/* longer than a slow machine takes to answer */
#define WARM	64		/* messages until the responder has learned */
#define ASKED_US	250	/* the sender asks again after two round trips and that */
#define DEPTH	16
#define ROUNDS	50		/* in one of which nothing takes the CPU away */

/**
 * struct duo - a pair with memory on both sides
 * @t: case
 * @p: pair
 * @m: memory on a and b
 */
struct duo {
	struct vt *t;
	struct vt_pair *p;
	struct vt_mem *m[2];
};

static struct duo duo_make(struct vt *t, const char *delay_us)
{
	struct duo u = { .t = t };

	if (!vt_is_hroce(&t->a))
		vt_skip("counters of hroce");
	if (vt_one_link(t))
		vt_skip("within one link, ACKs take no frames");
	if (strchr(getenv("HROCE_SWITCHES") ?: "", '-'))
		vt_skip("offloads of netdevs are off");
	vt_switch(&t->a, "gso", true);
	vt_switch(&t->b, "gso", true);
	vt_set(&t->a, "ack_delay_us", delay_us);
	vt_set(&t->b, "ack_delay_us", delay_us);
	u.p = vt_pair(t, NULL);
	u.m[0] = vt_mem(&t->a, LEN, VT_ALL);
	u.m[1] = vt_mem(&t->b, LEN, VT_ALL);
	memset(u.m[0]->buf, 0, LEN);
	memset(u.m[1]->buf, 0, LEN);
	return u;
}

/* A WRITE from one side (0: a) to the other. */
static void post(const struct duo *u, int from, size_t off, size_t len)
{
	struct vt_wr w = {
		.local = u->m[from], .off = off, .len = len,
		.remote = u->m[!from], .roff = off,
		.flags = IBV_SEND_SIGNALED,
	};

	vt_send(u->p->qp[from], &w);
}

static void complete(const struct duo *u, int side)
{
	vt_expect(u->p->scq[side], 0, IBV_WC_SUCCESS);
}

static void stream(const struct duo *u, int nr)
{
	for (int i = 0; i < nr + DEPTH; i++) {
		if (i >= DEPTH)
			complete(u, 0);
		if (i < nr)
			post(u, 0, 0, LEN);
	}
}

static long long both(const struct duo *u, const char *name)
{
	return vt_settled(&u->t->a, name) + vt_settled(&u->t->b, name);
}

/*
 * Where the host takes the CPU away for longer than the ACK is held, it goes out
 * alone, and so does the answer to whoever asks for it meanwhile. That disturbs
 * some rounds, not all of them.
 */
static void sixteen_under_way(struct vt *t)
{
	enum { NR = 200 };
	struct duo u = duo_make(t, LONG_US);
	long long acks, frames;

	stream(&u, WARM);
	for (int i = 0; i < ROUNDS; i++) {
		acks = vt_settled(&t->b, "acks_sent");
		frames = vt_settled(&t->b, "tx_frames");
		stream(&u, NR);
		acks = vt_settled(&t->b, "acks_sent") - acks;
		frames = vt_settled(&t->b, "tx_frames") - frames;
		vt_note("%lld ACKs for %d messages", acks, NR);
		VT_OK(acks >= NR / 16, "%lld ACKs", acks);
		VT_EQ(frames, acks);
		if (acks <= NR / 4 + NR / 100)
			return;
	}
	vt_fail(__FILE__, __LINE__, "more ACKs in each of %d rounds", ROUNDS);
}

static void nothing_is_held_without_a_delay(struct vt *t)
{
	enum { NR = 200 };
	struct duo u = duo_make(t, "0");
	long long held = vt_settled(&t->b, "acks_held");

	stream(&u, NR);
	VT_EQ(vt_settled(&t->b, "acks_held"), held);
}

/* Post, and wait until the other side has it in its memory. */
static void strike(const struct duo *u, int from, unsigned char word)
{
	volatile unsigned char *there = u->m[!from]->buf + (from ? 0 : 1);
	uint64_t end = vt_deadline_us();
	unsigned int spins = 0;

	u->m[from]->buf[from ? 0 : 1] = word;
	post(u, from, from ? 0 : 1, 1);
	while (*there != word) {
		VT_OK(vt_now_us() < end, "byte %d", word);
		vt_pause(&spins);
	}
}

/* Each message but the last brings the ACK of the one that it answers. */
static void rally(const struct duo *u, int nr)
{
	for (int i = 0; i < nr; i++) {
		strike(u, 0, i % 100 + 1);
		if (i)
			complete(u, 1);
		strike(u, 1, i % 100 + 1);
		complete(u, 0);
	}
	complete(u, 1);
}

/* The host disturbs some rounds, see sixteen_under_way(). */
static void to_and_fro(struct vt *t)
{
	enum { NR = 50 };
	struct duo u = duo_make(t, LONG_US);
	long long frames, rode;

	rally(&u, WARM);
	for (int i = 0; i < ROUNDS; i++) {
		frames = both(&u, "tx_frames");
		rode = both(&u, "acks_rode");
		rally(&u, NR);
		frames = both(&u, "tx_frames") - frames;
		rode = both(&u, "acks_rode") - rode;
		vt_note("%lld frames and %lld ACKs on them for %d messages",
			frames, rode, 2 * NR);
		if (frames <= 2 * NR + 2 * NR / 20 &&
		    rode >= 2 * NR - 2 * NR / 20)
			return;
	}
	vt_fail(__FILE__, __LINE__, "none of %d rallies took a frame a message",
		ROUNDS);
}

/* A sender that waits for each completion is not made to wait longer. */
static void one_at_a_time(struct vt *t)
{
	enum { NR = 1000 };
	struct duo u = duo_make(t, "20");
	long long late = vt_settled(&t->b, "acks_late");

	for (int i = 0; i < NR; i++) {
		post(&u, 0, 0, LEN);
		complete(&u, 0);
	}
	late = vt_settled(&t->b, "acks_late") - late;
	vt_note("%lld of %d ACKs late", late, NR);
	VT_OK(late >= 1 && late <= 7, "%lld late", late);
}

/*
 * Two at a time: the second one brings the acknowledgement of both. To learn
 * that, the responder waits in vain a few times. The host disturbs some rounds,
 * see sixteen_under_way().
 */
static void two_at_a_time(struct vt *t)
{
	enum { NR = 50 };
	struct duo u = duo_make(t, LONG_US);
	long long late, asked, acks, in_vain = 0;

	stream(&u, WARM);
	for (int i = 0; i < ROUNDS; i++) {
		late = vt_settled(&t->b, "acks_late");
		asked = vt_settled(&t->b, "duplicates");
		acks = vt_settled(&t->b, "acks_sent");
		for (int j = 0; j < NR; j++) {
			post(&u, 0, 0, LEN);
			post(&u, 0, 0, LEN);
			complete(&u, 0);
			complete(&u, 0);
		}
		late = vt_settled(&t->b, "acks_late") - late;
		asked = vt_settled(&t->b, "duplicates") - asked;
		acks = vt_settled(&t->b, "acks_sent") - acks;
		vt_note("%lld ACKs, %lld late, asked %lld times", acks, late,
			asked);
		/* Most of them wait so long that the sender asks again. */
		in_vain += late + asked;
		VT_OK(in_vain >= 1, "nothing waited in vain");
		if (late <= NR / 20 && acks <= NR + NR / 20)
			return;
	}
	vt_fail(__FILE__, __LINE__, "more ACKs in each of %d rounds", ROUNDS);
}

/*
 * The ACK of the last message waits for others in vain, but not for ever. If it
 * waits for much longer than a round trip, as here, the sender may ask again. A
 * stream that the host has disturbed may have taught the responder not to wait.
 */
static void last_one_comes_in_time(struct vt *t)
{
	struct duo u = duo_make(t, LONG_US);
	long long late, again, asked;
	uint64_t us;

	for (int i = 0; i < ROUNDS; i++) {
		stream(&u, WARM);
		late = vt_settled(&t->b, "acks_late");
		asked = vt_settled(&t->b, "duplicates");
		again = vt_settled(&t->a, "retransmits");
		us = vt_now_us();
		post(&u, 0, 0, LEN);
		complete(&u, 0);
		us = vt_now_us() - us;
		late = vt_settled(&t->b, "acks_late") - late;
		asked = vt_settled(&t->b, "duplicates") - asked;
		vt_note("%lld late, asked %lld times, %llu us", late, asked,
			(unsigned long long)us);
		VT_OK(us < 1000000, "%llu us", (unsigned long long)us);
		VT_EQ(vt_settled(&t->a, "retransmits") - again, 0);
		if (late + asked >= 1 && us >= ASKED_US)
			return;
	}
	vt_fail(__FILE__, __LINE__, "no ACK waited in %d rounds", ROUNDS);
}

/*
 * A new address vector takes the timer away, and with it goes the ACK. Where the
 * host takes the CPU away before that, the sender asks first.
 */
static void path_changes_while_held(struct vt *t)
{
	enum { TRIES = 30 };
	struct duo u = duo_make(t, LONG_US);
	volatile unsigned char *there = u.m[1]->buf;
	struct ibv_qp *qp = u.p->qp[1];
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	long long held, late, asked;
	uint64_t start, end;
	int quick = 0;

	vt_to(qp, IBV_QPS_SQD);
	VT_EQ(ibv_query_qp(qp, &attr, IBV_QP_AV, &init), 0);
	attr.qp_state = IBV_QPS_SQD;
	stream(&u, WARM);
	for (int i = 1; i <= TRIES; i++) {
		held = vt_settled(&t->b, "acks_held");
		late = vt_settled(&t->b, "acks_late");
		asked = vt_settled(&t->b, "duplicates");
		*u.m[0]->buf = i;
		start = vt_now_us();
		post(&u, 0, 0, 1);
		end = vt_deadline_us();
		while (*there != i)
			VT_OK(vt_now_us() < end, "no message");
		VT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV), 0);
		quick += vt_now_us() - start < ASKED_US;
		complete(&u, 0);
		held = vt_settled(&t->b, "acks_held") - held;
		late = vt_settled(&t->b, "acks_late") - late;
		asked = vt_settled(&t->b, "duplicates") - asked;
		vt_note("%lld held, %lld late, asked %lld times", held, late,
			asked);
		if (held == 1 && !late && !asked)
			return;
	}
	if (!quick)
		vt_skip("the sender always asks first");
	vt_fail(__FILE__, __LINE__, "no ACK left with a new path in %d tries",
		quick);
}

enum ending { BY_DESTRUCTION, BY_ERROR, BY_RESET };

/* Whoever has a message may go: the sender is told first. */
static void ends_while_held(struct vt *t)
{
	struct duo u = duo_make(t, LONG_US);
	struct ibv_qp *qp = u.p->qp[1];
	volatile unsigned char *there = u.m[1]->buf;
	uint64_t end = vt_deadline_us();

	stream(&u, WARM);
	*u.m[0]->buf = 1;
	post(&u, 0, 0, 1);
	while (!*there)
		VT_OK(vt_now_us() < end, "no message");
	switch ((enum ending)t->arg) {
	case BY_DESTRUCTION:
		vt_forget(qp);
		VT_EQ(ibv_destroy_qp(qp), 0);
		break;
	case BY_ERROR:
		vt_to(qp, IBV_QPS_ERR);
		break;
	case BY_RESET:
		vt_to(qp, IBV_QPS_RESET);
		break;
	}
	complete(&u, 0);
}

static const struct vt_case cases[] = {
	VT_CASE(sixteen_under_way),
	VT_CASE(nothing_is_held_without_a_delay),
	VT_CASE(to_and_fro),
	VT_CASE(one_at_a_time),
	VT_CASE(two_at_a_time),
	VT_CASE(last_one_comes_in_time),
	VT_CASE(path_changes_while_held),
	VT_CASE_ARG("destroyed_while_held", ends_while_held, BY_DESTRUCTION),
	VT_CASE_ARG("error_while_held", ends_while_held, BY_ERROR),
	VT_CASE_ARG("reset_while_held", ends_while_held, BY_RESET),
};

VT_MAIN(cases)

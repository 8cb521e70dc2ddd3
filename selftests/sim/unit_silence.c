// SPDX-License-Identifier: GPL-2.0
/* Requester: a path that is silent, and what the answer to the probe tells. */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include "kept.h"
#include "proto/req_priv.h"
#include "proto/rtt.h"
#include "rig.h"
#include "tap.h"

#define ACK		HRP_SYN_CREDIT_INVALID
#define NAK		HRP_NAK_PSN_SEQ
#define RTT_NS		4000000
#define FIRST		60u	/* PSN of the flight */
#define FAR_ACKS	4096u

static struct hrp_req *const req = &rig.qp.req;

/* @pkts are in flight on a path whose round-trip time is known. */
static void fly(u32 pkts)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	req->timeout = 16;
	for (i = 0; i < FIRST; i++) {
		rig_post_op(HROCE_WR_WRITE, 1);
		rig_drain();
		rig.now_ns += RTT_NS;
		rig_ack(i, ACK);
		rig_expect_cqe(i, HROCE_WC_SUCCESS);
	}
	rig_post_op(HROCE_WR_WRITE, pkts * 1024);
	tap_eq(rig_drain(), pkts);
}

/* The timer fires. Return: packets sent then. */
static u32 expire(void)
{
	rig.now_ns = hrp_req_deadline(req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	return rig_drain();
}

/* An answer that needed a part of a round trip. Return: packets sent then. */
static u32 answer(u32 psn, u8 syndrome, u32 ns)
{
	rig.now_ns += ns;
	rig_ack(psn, syndrome);
	return rig_drain();
}

/*
 * The path breaks under a flight: the probe takes another one. Its answer tells
 * where the gap begins, that to the next packet that there is nothing behind it.
 * Then all is sent, by a smaller window, and what tells the same is not heard.
 */
static void path_breaks(void)
{
	u32 window_pkts;

	fly(40);
	window_pkts = req->cwnd_pkts;
	tap_eq(expire(), 1);
	tap_eq(rig.burst.first.psn, FIRST);
	tap_ok(rig_pending(HRP_PENDING_REHASH));
	tap_eq(answer(FIRST + 9, ACK, RTT_NS), 1);
	tap_eq(rig.burst.first.psn, FIRST + 10);
	tap_eq(answer(FIRST + 10, ACK, RTT_NS), 29);
	tap_eq(req->cwnd_pkts, window_pkts * 3 / 4);
	tap_eq(answer(FIRST + 11, NAK, 0), 0);
	tap_eq(req->cwnd_pkts, window_pkts * 3 / 4);
	answer(FIRST + 39, ACK, RTT_NS);
	rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
	tap_ok(!req->lost_at);
	rig_end();
}

/* A few packets may have been lost by chance. */
static void few_keep_the_path(void)
{
	fly(15);
	tap_eq(expire(), 1);
	tap_ok(!rig_pending(HRP_PENDING_REHASH));
	tap_eq(answer(FIRST + 9, ACK, RTT_NS), 1);
	answer(FIRST + 14, ACK, RTT_NS);
	rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
	rig_end();
}

/* The flight was only late: this is no answer to the probe. */
static void answer_comes_too_soon(void)
{
	fly(40);
	tap_eq(expire(), 1);
	tap_eq(answer(FIRST + 9, ACK, RTT_NS / 4), 0);
	tap_eq(answer(FIRST + 39, ACK, 0), 0);
	rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
	rig_end();
}

/*
 * The requester goes back, and then the peer has more than it was sent again: the
 * window was made smaller in vain. If the rest is late, too, it is drawn.
 */
static void silence_was_in_vain(void)
{
	u32 all, window_pkts;

	for (all = 0; all < 2; all++) {
		fly(40);
		window_pkts = req->cwnd_pkts;
		expire();
		expire();
		tap_eq(req->cwnd_pkts, 20);
		tap_eq(answer(FIRST + (all ? 39 : 19), ACK, RTT_NS), !all);
		tap_eq(req->cwnd_pkts, window_pkts);
		if (!all)
			answer(FIRST + 39, ACK, 0);
		rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
		rig_end();
	}
}

/*
 * Of a peer that keeps packets the same may mean that a gap was filled: the window
 * stays small, until the peer tells that what was sent again has come twice. What
 * comes too soon is no answer to that.
 */
static void silence_was_a_gap(void)
{
	static const struct {
		u32 ns;
		bool told;
		u32 again;
		bool undone;
	} cases[] = {
		{ RTT_NS / 4, false, 0, true },
		{ RTT_NS, false, 0, false },
		{ RTT_NS, true, FIRST, true },
		{ RTT_NS, true, FIRST + 3, true },
		{ RTT_NS, true, FIRST - 1, false },
		{ RTT_NS, true, FIRST + 40, false },
	};
	u32 i, window_pkts;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fly(40);
		kept_open_sack(req);
		tap_ok(req->sack);
		req->sack->told = true;
		window_pkts = req->cwnd_pkts;
		expire();
		expire();
		tap_eq(req->cwnd_pkts, 20);
		answer(FIRST + 39, ACK, cases[i].ns);
		rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
		if (cases[i].told)
			rig_tell_again(cases[i].again, 1);
		if (cases[i].undone)
			tap_eq(req->cwnd_pkts, window_pkts);
		else
			tap_ok(req->cwnd_pkts <= 20 + 2);
		rig_end();
	}
}

/* The requester goes back once more before it is told: that was for another loss. */
static void doubts_end_with_the_next_silence(void)
{
	fly(40);
	kept_open_sack(req);
	tap_ok(req->sack);
	req->sack->told = true;
	expire();
	expire();
	answer(FIRST + 19, ACK, RTT_NS);
	rig_tell_again(FIRST, 1);
	tap_ok(req->cwnd_pkts <= 20 + 2);
	rig_end();
}

/* What the peer says of its own accord is heard, and all is not sent again. */
static void peer_tells_of_the_gap(void)
{
	fly(40);
	tap_eq(expire(), 1);
	tap_eq(answer(FIRST + 10, NAK, RTT_NS), 1);
	tap_eq(rig.burst.first.psn, FIRST + 10);
	tap_ok(req->recovering);
	rig_end();

	fly(40);
	tap_eq(expire(), 1);
	tap_eq(answer(FIRST + 9, ACK, RTT_NS), 1);
	tap_eq(answer(FIRST + 11, NAK, RTT_NS), 1);
	tap_eq(rig.burst.first.psn, FIRST + 11);
	tap_ok(req->recovering);
	rig_end();
}

/* The ACKs of the flight come late, one by one: the second is none of the draw. */
static void acks_are_late(void)
{
	fly(40);
	tap_eq(expire(), 1);
	tap_eq(answer(FIRST + 9, ACK, RTT_NS), 1);
	tap_eq(answer(FIRST + 10, ACK, 1000), 0);
	tap_eq(answer(FIRST + 39, ACK, 1000), 0);
	rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
	rig_end();
}

/* A peer that keeps packets need not say so: one is sent, and tells. */
static void peer_may_keep_the_rest(void)
{
	fly(40);
	req->keeps = 1;
	tap_eq(expire(), 1);
	tap_eq(answer(FIRST + 9, ACK, RTT_NS), 1);
	tap_eq(answer(FIRST + 10, ACK, RTT_NS), 1);
	answer(FIRST + 39, ACK, RTT_NS);
	rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
	rig_end();
}

/* A READ is one packet, however long its answer is. */
static void read_is_one_packet(void)
{
	fly(1);
	rig_post_op(HROCE_WR_READ, 40 * 1024);
	rig_drain();
	tap_ok(hrp_req_dist(req) > 16);
	expire();
	tap_ok(!rig_pending(HRP_PENDING_REHASH));
	rig_end();
}

/* Much was lost in a long silence: the window stays as small as it has become. */
static void silence_was_none(void)
{
	fly(40);
	for (; req->backoff < HRP_LONG_SILENCE;)
		expire();
	answer(FIRST + 19, ACK, RTT_NS);
	tap_ok(req->cwnd_pkts <= 20);
	answer(FIRST + 39, ACK, RTT_NS);
	rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
	rig_end();
}

/* Another path is tried after the same time, then patience doubles. */
static void patience(void)
{
	u64 at[5];
	u32 i;

	fly(40);
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		expire();
		tap_ok(rig_pending(HRP_PENDING_REHASH));
		at[i] = rig.now_ns;
	}
	tap_eq(at[2] - at[1], at[1] - at[0]);
	tap_eq(at[3] - at[2], 2 * (at[2] - at[1]));
	tap_eq(at[4] - at[3], 2 * (at[3] - at[2]));
	rig_end();
}

/*
 * A queue that is full loses most of what is sent again, and a few packets arrive: that
 * is no reason to wait longer the next time. If it happens again before a packet is
 * measured, it may be one.
 */
static void full_path_is_not_longer(void)
{
	static const u32 before[] = { 1, 1, 3 }, after[] = { 0, 1, 3 };
	u32 i;

	fly(40);
	for (i = 0; i < ARRAY_SIZE(after); i++) {
		expire();
		expire();
		tap_eq(req->backoff, before[i]);
		answer(req->psn_una, ACK, RTT_NS);
		tap_eq(req->backoff, after[i]);
	}
	rig_end();
}

/**
 * struct far - a path that has become longer: the ACKs that are on their way
 * @at: when each comes
 * @psn: of what it acknowledges
 * @begin: first of them
 * @end: one past the last of them
 * @next: PSN that the peer expects
 */
struct far {
	u64 at[FAR_ACKS];
	u32 psn[FAR_ACKS];
	u32 begin, end;
	u32 next;
};

/* An ACK is on its way, at least @gap_ns behind the one before. */
static void far_ack(struct far *far, u64 at, u64 gap_ns)
{
	u64 last = far->at[(far->end - 1) % FAR_ACKS];

	if (far->end != far->begin && at < last + gap_ns)
		at = last + gap_ns;
	far->at[far->end % FAR_ACKS] = at;
	far->psn[far->end++ % FAR_ACKS] = far->next - 1;
}

/* All that may be sent now is, and each packet is acknowledged alone. */
static void far_send(struct far *far, u64 rtt_ns, u64 gap_ns)
{
	u32 i;

	while (rig_next() == HRP_NEXT_BURST) {
		for (i = 0; i < rig.burst.nr_pkts; i++) {
			if (rig.burst.first.psn + i == far->next)
				far->next++;
			far_ack(far, rig.now_ns + rtt_ns, gap_ns);
		}
	}
}

/* Return: true if the round trip, which now takes longer, is measured in the end. */
static bool far_is_measured(u32 window_pkts, u64 rtt_ns, u64 gap_ns)
{
	static struct far far;
	u32 i;

	fly(window_pkts);
	rig_post_op(HROCE_WR_WRITE, 1u << 30);
	req->window_pkts = window_pkts;
	far = (struct far) { .next = FIRST };
	for (i = 0; i < window_pkts; i++) {
		far.next++;
		far_ack(&far, rig.now_ns + rtt_ns, gap_ns);
	}
	for (i = 0; i < 5000 && (u64)req->srtt8 << 7 < rtt_ns / 4 * 3; i++) {
		req->cwnd_pkts = window_pkts;
		rig.now_ns = min(hrp_req_deadline(req),
				 far.at[far.begin % FAR_ACKS]);
		if (rig.now_ns < far.at[far.begin % FAR_ACKS])
			hrp_req_timeout(&rig.qp, rig.now_ns);
		else
			rig_ack(far.psn[far.begin++ % FAR_ACKS], ACK);
		far_send(&far, rtt_ns, gap_ns);
	}
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
	return i < 5000;
}

/*
 * Whether ACKs of a flight come at once or one by one, and whether they come before the
 * probe can be answered or not.
 */
static void longer_path_is_measured(void)
{
	static const u32 windows[] = { 1, 2, 3, 5, 40 };
	static const u32 quarters[] = { 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 24, 32, 64, 128 };
	static const u64 gaps_ns[] = { 1000, 300000, 2500000 };
	u32 w, r, g;

	for (w = 0; w < ARRAY_SIZE(windows); w++)
		for (r = 0; r < ARRAY_SIZE(quarters); r++)
			for (g = 0; g < ARRAY_SIZE(gaps_ns); g++)
				tap_ok(far_is_measured(windows[w], RTT_NS / 4 *
						       quarters[r],
						       gaps_ns[g]));
}

/* Later, a packet that comes twice tells nothing about what was resent then. */
static void doubts_end(void)
{
	u32 i, psn = FIRST + 40;

	fly(40);
	kept_open_sack(req);
	req->sack->told = true;
	expire();
	expire();
	answer(FIRST + 39, ACK, RTT_NS);
	rig_expect_cqe(FIRST, HROCE_WC_SUCCESS);
	tap_ok(req->sack->late.back_pkts);
	for (i = 0; i < 100; i++, psn++) {
		rig_post_op(HROCE_WR_WRITE, 1);
		rig_drain();
		rig.now_ns += RTT_NS;
		rig_ack(psn, ACK);
		rig.seen_cqes = rig.nr_cqes;
	}
	hrp_req_shrink(req, 4);
	tap_eq(req->cwnd_pkts, HRP_CWND_MIN);
	rig_tell_again(psn - 1, 1);
	tap_eq(req->cwnd_pkts, HRP_CWND_MIN);
	tap_eq(req->sack->late.back_pkts, 0);
	rig_end();
}

int main(void)
{
	tap_plan(15);
	tap_run(path_breaks);
	tap_run(few_keep_the_path);
	tap_run(answer_comes_too_soon);
	tap_run(silence_was_in_vain);
	tap_run(silence_was_a_gap);
	tap_run(doubts_end_with_the_next_silence);
	tap_run(peer_tells_of_the_gap);
	tap_run(acks_are_late);
	tap_run(peer_may_keep_the_rest);
	tap_run(read_is_one_packet);
	tap_run(silence_was_none);
	tap_run(patience);
	tap_run(full_path_is_not_longer);
	tap_run(longer_path_is_measured);
	tap_run(doubts_end);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/* Requester: selective acknowledgements. */
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "kept.h"
#include "proto/cc.h"
#include "rig.h"
#include "tap.h"

#define ACK	HRP_SYN_CREDIT_INVALID
#define NAK	HRP_NAK_PSN_SEQ
#define RTT_NS	100000
#define FLIGHT	64

static struct hrp_req *const req = &rig.qp.req;

/* What the peer keeps: bits of 512 PSNs from a multiple of 64 on. */
static u8 map[64];

static u32 psn_of(u32 base, u32 n)
{
	return hrp_psn_add(base, n);
}

/* The peer expects @psn and keeps what is in the map, which it then empties. */
static u8 sack(u32 psn)
{
	u8 verdict = rig_sack(psn, map, sizeof(map));

	memset(map, 0, sizeof(map));
	return verdict;
}

/* Keep @nr packets from @psn on, where @expected is missing. */
static void keep(u32 expected, u32 psn, u32 nr)
{
	u32 bit = (psn - (expected & ~63u)) & HRP_PSN_MASK;

	for (; nr--; bit++)
		map[bit / 8] |= 1u << bit % 8;
}

/*
 * A long message to a peer that has shown that it keeps packets, and may be
 * asked; FLIGHT packets are in flight.
 */
static void begin(u32 psn)
{
	rig_begin(HRP_TYPE_RC, psn);
	req->timeout = 16;
	req->window_pkts = 512;
	req->cwnd_pkts = FLIGHT;
	req->burst_pkts = 16;
	req->asks = HRP_SACK_ASKS;
	rig_post_op(HROCE_WR_WRITE, 1u << 30);
	tap_eq(rig_drain(), FLIGHT);
	req->keeps = 1;
	req->rtx_psn = psn_of(psn, HRP_PSN_MASK);
	/* Gaps do not shrink the window. */
	req->sparse = 15;
	memset(map, 0, sizeof(map));
}

static void expect_ask(void)
{
	static const u8 ask[] = { 'h', 'r', 'o', 'c', 1, 11, 0, 0 };

	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OPCODE_SACK_ASK);
	tap_eq(rig.burst.first.psn, req->psn_max);
	tap_eq(rig.burst.first.dqpn, RIG_PEER_QPN);
	tap_eq(rig.burst.nr_pkts, 1);
	tap_eq(rig.burst.mem.len, sizeof(ask));
	tap_ok(!memcmp(rig.burst.mem.bytes, ask, sizeof(ask)));
}

/* The next burst resends @nr packets from @psn on; @last: as the last one. */
static void expect_part(u32 psn, u32 nr, bool last)
{
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, psn);
	tap_eq(rig.burst.nr_pkts, nr);
	tap_ok(rig.burst.copy);
	tap_eq(rig.burst.ackreq_last, last);
}

/* A gap at @n, resent after the peer was asked. */
static void ask(u32 base, u32 n)
{
	rig_ack(psn_of(base, n), NAK);
	expect_ask();
	expect_part(psn_of(base, n), 1, true);
	rig_drain();
}

static void asked_where_it_makes_sense(void)
{
	u32 n;

	/* A peer that keeps nothing, as far as is known. */
	begin(0);
	req->keeps = 0;
	rig_ack(10, NAK);
	rig_drain();
	tap_eq(rig.counts.v[HROCE_EV_SACK_ASKED], 0);
	rig_end();

	/* Switched off. */
	begin(0);
	req->asks = 0;
	rig_ack(10, NAK);
	expect_part(10, 1, true);
	rig_end();

	/* One that does not answer. */
	begin(0);
	for (n = 0; n < 2 * HRP_SACK_ASKS; n++) {
		rig_ack((req->psn_una + 10) & HRP_PSN_MASK, NAK);
		rig_drain();
		rig_ack((req->psn_max - 1) & HRP_PSN_MASK, ACK);
		rig_drain();
	}
	tap_eq(rig.counts.v[HROCE_EV_SACK_ASKED], HRP_SACK_ASKS);
	rig_end();

	/* Once it has answered, it knows. */
	begin(0);
	ask(0, 10);
	keep(10, 20, 5);
	tap_eq(sack(10), HRP_RX_ACCEPT);
	rig_ack((req->psn_max - 1) & HRP_PSN_MASK, ACK);
	rig_drain();
	rig_ack((req->psn_una + 10) & HRP_PSN_MASK, NAK);
	rig_drain();
	tap_eq(rig.counts.v[HROCE_EV_SACK_ASKED], 1);
	rig_end();
}

static void question_that_cannot_be_sent(void)
{
	begin(0);
	rig_ack(10, NAK);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OPCODE_SACK_ASK);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_CAUSE_AH);
	expect_part(10, 1, true);
	rig_expect_no_cqe();
	rig_end();
}

/*
 * The local stack has refused its frame. It has no PSN of its own, so nothing waits
 * for room, and it is asked again after the next loss.
 */
static void question_is_refused(void)
{
	u32 base = 0xfffff0, max;

	begin(base);
	rig_ack(psn_of(base, 10), NAK);
	max = req->psn_max;
	expect_ask();
	hrp_req_refused(&rig.qp, max, rig.now_ns);
	tap_ok(!req->refused);
	tap_eq(req->timer, HRP_TIMER_ACK);
	expect_part(psn_of(base, 10), 1, true);
	tap_eq(req->psn, psn_of(max, rig_drain()));
	rig_ack(psn_of(max, HRP_PSN_MASK), ACK);
	rig_drain();
	rig_ack(psn_of(max, 10), NAK);
	expect_ask();
	rig_end();
}

/* What is new behind it has its PSN, and was not sent, either. */
static void what_is_behind_is_refused(void)
{
	u32 base = 0xfffff0, max;

	begin(base);
	rig_ack(psn_of(base, 10), NAK);
	max = req->psn_max;
	expect_ask();
	expect_part(psn_of(base, 10), 1, true);
	req->cwnd_pkts = 2 * FLIGHT;
	tap_ok(rig_drain());
	hrp_req_refused(&rig.qp, max, rig.now_ns);
	tap_ok(req->refused);
	tap_eq(req->timer, HRP_TIMER_ROOM);
	tap_eq(req->psn, max);
	rig_ack(psn_of(max, HRP_PSN_MASK), ACK);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, max);
	rig_end();
}

/* In one go, with one request for an answer; then new packets. */
static void all_gaps_at_once(void)
{
	u32 base = 0xffffe0, max;

	begin(base);
	ask(base, 10);
	keep(psn_of(base, 10), psn_of(base, 11), 9);
	/* 20 to 22 and 40 are missing, too; 10 has been resent. */
	keep(psn_of(base, 10), psn_of(base, 23), 17);
	keep(psn_of(base, 10), psn_of(base, 41), 10);
	max = req->psn_max;
	tap_eq(sack(psn_of(base, 10)), HRP_RX_ACCEPT);
	tap_eq(req->psn_una, psn_of(base, 10));
	expect_part(psn_of(base, 20), 3, false);
	expect_part(psn_of(base, 40), 1, true);
	tap_eq(rig_drain(), 0);
	tap_eq(rig.counts.v[HROCE_EV_HOLES_RESENT], 3);
	tap_eq(rig.counts.v[HROCE_EV_SACK_RCVD], 1);
	rig_ack(psn_of(base, 60), ACK);
	tap_eq(req->sack->nr, 0);
	req->cwnd_pkts = 3 * FLIGHT;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, max);
	tap_ok(!rig.burst.copy);
	rig_ack((req->psn_max - 1) & HRP_PSN_MASK, ACK);
	tap_ok(!req->troubled);
	rig_end();
}

static void each_gap_once(void)
{
	begin(0);
	ask(0, 10);
	keep(10, 20, 10);
	sack(10);
	expect_part(11, 9, true);
	rig_drain();
	/* The same again, and one that was overtaken by it. */
	keep(10, 20, 10);
	sack(10);
	tap_eq(rig_drain(), 0);
	keep(10, 20, 3);
	sack(10);
	tap_eq(rig_drain(), 0);
	/* Some have arrived; what is behind them is new. */
	keep(12, 20, 10);
	keep(12, 31, 1);
	sack(12);
	expect_part(30, 1, true);
	rig_end();
}

/* The peer keeps packets that were sent after the gap was filled. */
static void lost_again(void)
{
	u32 sent, n;

	begin(0);
	ask(0, 10);
	keep(10, 11, 20);
	keep(10, 32, req->psn_max - 32);
	sack(10);
	expect_part(31, 1, true);
	for (n = 0; n < 2; n++) {
		sent = req->psn_max;
		tap_ok(rig_drain());
		keep(10, 11, 20);
		keep(10, 32, req->psn_max - 32);
		/* The first time, they may have been on their way. */
		sack(10);
		tap_ok(req->psn_max > sent);
	}
	expect_part(10, 1, false);
	expect_part(31, 1, true);
	rig_end();
}

/*
 * What is lost again is no new gap, and new ones are as far from each other as they
 * were: 30 packets, which is near.
 */
static void gaps_are_judged_once(void)
{
	u32 sparse, n;

	begin(0);
	req->cc = HRP_CC_NONE;
	ask(0, 10);
	sparse = req->sparse;
	keep(10, 11, 20);
	keep(10, 32, req->psn_max - 32);
	sack(10);
	expect_part(31, 1, true);
	tap_eq(req->sparse, sparse - 1);
	for (n = 0; n < 2; n++) {
		rig_drain();
		keep(10, 11, 20);
		keep(10, 32, req->psn_max - 32);
		sack(10);
	}
	expect_part(10, 1, false);
	expect_part(31, 1, true);
	tap_eq(req->sparse, sparse - 1);
	tap_eq(req->sack->gap_psn, 32);
	/* After so many PSNs that the last one seems to be ahead, there is another. */
	rig_drain();
	rig_ack((req->psn_max - 1) & HRP_PSN_MASK, ACK);
	rig_drain();
	req->sack->gap_psn = (req->psn_max + 0x400000) & HRP_PSN_MASK;
	rig_ack((req->psn_una + 10) & HRP_PSN_MASK, NAK);
	tap_eq(req->sparse, sparse);
	tap_eq(req->sack->gap_psn, (req->psn_una + 1) & HRP_PSN_MASK);
	rig_end();
}

/* Nothing new is sent, but it is a round trip ago. */
/* The peer misses the @nr packets at @gaps, and keeps all behind the first. */
static void miss(const u32 *gaps, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		keep(gaps[0], gaps[i] + 1,
		     (i + 1 < nr ? gaps[i + 1] : req->psn_max) - gaps[i] - 1);
	sack(gaps[0]);
}

/* Nothing new may be sent behind four gaps; a round trip is RTT_NS. */
static void begin_full(void)
{
	begin(0);
	rig.now_ns += RTT_NS;
	rig_ack(15, ACK);
	rig_drain();
	req->window_pkts = (req->psn_max - 30) & HRP_PSN_MASK;
	ask(0, 30);
	miss((u32[]) { 30, 45, 50, 60 }, 4);
	expect_part(45, 1, false);
	expect_part(50, 1, false);
	expect_part(60, 1, true);
	tap_eq(rig_drain(), 0);
}

/* Packets that were resent later tell, where no new ones do. */
static void lost_again_in_a_full_window(void)
{
	begin_full();
	rig.now_ns += RTT_NS;
	miss((u32[]) { 30, 50, 60 }, 3);
	tap_eq(rig_drain(), 0);
	miss((u32[]) { 30, 60 }, 2);
	expect_part(30, 1, true);
	tap_eq(rig_drain(), 0);
	rig_end();
}

/* An earlier copy comes sooner than one that has just been sent can. */
static void earlier_copies_tell_nothing(void)
{
	begin_full();
	rig.now_ns += RTT_NS;
	miss((u32[]) { 30, 50, 60 }, 3);
	miss((u32[]) { 30, 60 }, 2);
	expect_part(30, 1, true);
	rig.now_ns += RTT_NS / 2;
	miss((u32[]) { 60 }, 1);
	tap_eq(req->psn_una, 60);
	while (rig_next() == HRP_NEXT_BURST)
		tap_ok(rig.burst.first.psn != 60);
	rig_end();
}

static void oldest_lost_again(void)
{
	begin(0);
	rig.now_ns += RTT_NS;
	rig_ack(15, ACK);
	rig_drain();
	ask(0, 30);
	keep(30, 31, 4);
	sack(30);
	rig_drain();
	rig.now_ns += RTT_NS / 2;
	keep(30, 31, 5);
	sack(30);
	tap_ok(!req->rtx_pkts);
	rig.now_ns += 4 * RTT_NS;
	keep(30, 31, 6);
	sack(30);
	expect_part(30, 1, true);
	rig_end();
}

/*
 * What the peer keeps is not in flight. A few packets are not sent until there
 * is room for more.
 */
static void window_has_room_for_what_is_kept(void)
{
	u32 n, room;

	begin(0);
	ask(0, 10);
	rig_drain();
	req->cwnd_pkts = 200;
	for (n = 1; n < 100; n += 7) {
		keep(10, 11, n);
		sack(10);
		rig_drain();
		room = 200 + n - (req->psn_max - req->psn_una);
		tap_ok(room < 32);
	}
	rig_end();
}

/* A packet is timed although there are gaps, and may be kept or acknowledged. */
static void round_trips_are_measured(void)
{
	u64 counted;

	begin(0);
	ask(0, 10);
	req->cc_times = 1;
	req->cc = HRP_CC_DELAY;
	rig.now_ns += RTT_NS;
	keep(10, 11, req->psn_max - 11);
	sack(10);
	tap_ok(rig_drain());
	tap_ok(req->sack->timing);
	counted = rig.counts.v[HROCE_EV_RTT_256US];
	rig.now_ns += RTT_NS;
	keep(10, 11, req->psn_max - 11);
	sack(10);
	tap_eq(rig.counts.v[HROCE_EV_RTT_256US], counted + 1);
	tap_ok(!req->sack->timing);
	tap_ok(rig_drain());
	tap_ok(req->sack->timing);
	rig.now_ns += RTT_NS;
	rig_ack(req->psn_max - 1, ACK);
	tap_eq(rig.counts.v[HROCE_EV_RTT_256US], counted + 2);
	rig_end();
}

/* READs are not resent apart, and their answers are no gaps. */
static void reads_between(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	req->asks = HRP_SACK_ASKS;
	rig_post_op(HROCE_WR_SEND, 3 * 1024);
	rig_post_op(HROCE_WR_READ, 9 * 1024);
	rig_post_op(HROCE_WR_SEND, 4 * 1024);
	rig_drain();
	tap_eq(req->psn_max, 16);
	req->keeps = 1;
	req->rtx_psn = HRP_PSN_MASK;
	rig_ack(0, NAK);
	expect_ask();
	expect_part(0, 1, true);
	keep(0, 1, 1);
	keep(0, 3, 1);
	keep(0, 14, 1);
	sack(0);
	expect_part(2, 1, false);
	expect_part(12, 2, true);
	tap_eq(rig_drain(), 0);
	tap_eq(req->nr_rd_atomic, 1);
	tap_eq(req->rd_pkts, 9);
	rig_end();
}

/* An RNR NAK voids what is kept, and so does going back. */
static void forgotten(void)
{
	begin(0);
	ask(0, 10);
	keep(10, 20, 30);
	sack(10);
	tap_ok(hrp_sack_is_active(req));
	rig_ack(10, HRP_SYN_RNR | 5);
	tap_ok(!hrp_sack_is_active(req));
	keep(10, 20, 30);
	sack(10);
	tap_ok(!hrp_sack_is_active(req));
	rig.now_ns = hrp_req_deadline(req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 10);
	rig_end();

	begin(0);
	ask(0, 10);
	keep(10, 20, 30);
	sack(10);
	rig_drain();
	while (!req->went_back) {
		rig.now_ns = hrp_req_deadline(req);
		hrp_req_timeout(&rig.qp, rig.now_ns);
		rig_drain();
	}
	tap_ok(!hrp_sack_is_active(req));
	rig_end();
}

/* Whatever the map says, nothing is resent but what is in flight. */
static void hostile_maps(void)
{
	u8 all[HRP_SACK_MAP_BYTES];

	memset(all, 0xff, sizeof(all));
	begin(0xffffff);
	ask(0xffffff, 10);
	tap_eq(rig_sack(req->psn_max, all, sizeof(all)), HRP_RX_DROP);
	tap_eq(rig_sack(0xfffffe, all, sizeof(all)), HRP_RX_DROP);
	tap_eq(rig_sack(9, all, sizeof(all)), HRP_RX_ACCEPT);
	tap_eq(req->sack->nr, req->psn_max - 9);
	tap_eq(req->sack->end, req->psn_max);
	tap_eq(rig_sack(9, all, 7), HRP_RX_ACCEPT);
	tap_eq(rig_sack(9, all, 0), HRP_RX_ACCEPT);
	rig_drain();
	/* The missing one may say that it is kept. */
	tap_eq(req->psn_una, 9);
	tap_eq(rig_sack(9, all, sizeof(all)), HRP_RX_ACCEPT);
	tap_ok(req->sack->nr <= HRP_KEEP_PKTS);
	rig_ack((req->psn_max - 1) & HRP_PSN_MASK, ACK);
	tap_ok(!hrp_sack_is_active(req));
	rig_end();
}

/* A map that begins at @first, which may be anything; @len with that. */
static u8 sack_later(u32 psn, u32 first, u32 len)
{
	u8 later[HRP_SACK_MAP_BYTES];

	memset(later, 0xff, sizeof(later));
	put_unaligned_be32(first, later);
	return rig_sack(psn, later, len);
}

/* 4,096 packets in flight, of which the first @n were acknowledged. */
static void begin_long(u32 psn, u32 n)
{
	rig_begin(HRP_TYPE_RC, psn);
	req->window_pkts = 2048;
	req->window_shift = 1;
	req->cwnd_pkts = 4096;
	req->burst_pkts = 64;
	req->asks = HRP_SACK_ASKS;
	rig_post_op(HROCE_WR_WRITE, 4096 * 1024);
	tap_eq(rig_drain(), 4096);
	if (n)
		rig_ack(psn_of(psn, n - 1), ACK);
	req->keeps = 1;
	req->rtx_psn = psn_of(psn, HRP_PSN_MASK);
	req->sparse = 15;
}

/* What is far behind the first gap is told of, too, and resent as soon. */
static void maps_that_begin_later(void)
{
	static const u32 bases[] = { 0, 0xfffff0, 1u << 23 };
	u32 i, base;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		base = bases[i];
		begin_long(base, 0);
		ask(base, 0);
		tap_eq(sack_later(psn_of(base, 0), psn_of(base, 3072) & ~63u,
				  4 + 8), HRP_RX_ACCEPT);
		tap_eq(req->sack->nr, 64);
		tap_eq(req->sack->words, 64);
		expect_part(psn_of(base, 1), 64, false);
		rig_end();
	}
}

/* Wherever the peer says that it begins, it tells of what is in flight alone. */
static void hostile_begins(void)
{
	static const u32 firsts[] = {
		0, 64, 1920, 4032, 4096, 8192, 1u << 23, 0xffffc0, 0xfffff840,
		0xffffffff,
	};
	u32 i, len;

	for (i = 0; i < ARRAY_SIZE(firsts); i++) {
		for (len = 4; len <= 252; len += 8) {
			begin_long(0, 100);
			tap_eq(sack_later(100, firsts[i], len), HRP_RX_ACCEPT);
			tap_ok(req->sack->nr <= 4096 - 100);
			tap_ok(hrp_psn_diff(req->sack->end, req->psn_max) <= 0);
			if (req->sack->nr)
				tap_ok(req->sack->nr <= (len - 4) * 8);
			rig_drain();
			tap_eq(req->psn_una, 100);
			rig_ack(4094, ACK);
			tap_ok(req->sack->nr <= 1);
			rig_end();
		}
	}
}

/* The path turns out to be longer: nothing that is noted gets lost. */
static void notes_move_to_more_memory(void)
{
	const u32 base = 0xfffff0;

	begin_long(base, 0);
	req->window_shift = 0;
	ask(base, 0);
	memset(map, 0, sizeof(map));
	keep(base, psn_of(base, 100), 50);
	tap_eq(sack(base), HRP_RX_ACCEPT);
	tap_eq(req->sack->words, HRP_SACK_WORDS_MIN);
	tap_eq(req->sack->nr, 50);
	expect_part(psn_of(base, 1), 64, false);
	req->window_shift = 4;
	memset(map, 0, sizeof(map));
	keep(base, psn_of(base, 200), 7);
	tap_eq(sack(base), HRP_RX_ACCEPT);
	tap_eq(req->sack->words, HRP_SACK_WORDS_MAX);
	tap_ok(req->sack->told);
	tap_eq(req->sack->nr, 57);
	tap_eq(req->sack->end, psn_of(base, 207));
	/* What was resent before is not resent again. */
	expect_part(psn_of(base, 65), 35, false);
	expect_part(psn_of(base, 150), 50, true);
	rig_end();
}

/* Near gaps shrink the window, but not while it is found out what they are. */
static void window_stays_during_a_test(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		begin(0);
		kept_open_sack(req);
		req->sparse = 0;
		req->sack->damage.tests = i;
		rig_ack(10, NAK);
		tap_ok((req->cwnd_pkts == FLIGHT) == i);
		rig_end();
	}
}

/* Another control does not test. */
static void window_shrinks_once_the_control_is_another(void)
{
	begin(0);
	kept_open_sack(req);
	req->sack->damage.tests = true;
	hrp_cc_start(&rig.qp);
	req->cwnd_pkts = FLIGHT;
	rig_ack(10, NAK);
	tap_ok(req->cwnd_pkts < FLIGHT);
	rig_end();
}

/* Whatever was known, after that it is as for the first connection. */
static void nothing_outlives_a_connection(void)
{
	struct hrp_sack *old, *new;
	size_t size;
	u32 words;

	begin(100);
	kept_open_sack(req);
	words = req->sack->words;
	size = hrp_sack_size(words);
	memset(req->sack, 0xa5, size);
	req->sack->words = words;
	req->sack->spray = NULL;
	req->sack->ahead = NULL;
	req->rtx_psn = 5000;
	hrp_req_reset(&rig.qp);
	hrp_req_start(&rig.qp, 200);
	old = hrp_sack_close(req);
	new = malloc(size);
	tap_ok(!hrp_sack_open(req, new, words));
	tap_ok(!memcmp(new, old, size));
	free(old);
	/* Gaps are as far from the begin as they are. */
	tap_eq(req->rtx_psn, 200);
	rig_end();
}

/* More than half of all PSNs ago, there was a gap. */
static void long_after_the_last_gap(void)
{
	static const u32 later[] = { 1000, 1u << 23, (1u << 23) + 5000, 0xfffff0 };
	u32 i, psn;

	for (i = 0; i < ARRAY_SIZE(later); i++) {
		psn = later[i];
		begin(psn);
		kept_open_sack(req);
		req->sack->told = true;
		req->sack->begin = 10;
		req->sack->end = 10;
		req->sack->top = 10;
		rig_ack(psn_of(psn, 10), NAK);
		expect_part(psn_of(psn, 10), 1, true);
		rig_drain();
		keep(psn_of(psn, 10), psn_of(psn, 12), 5);
		tap_eq(sack(psn_of(psn, 10)), HRP_RX_ACCEPT);
		tap_eq(req->sack->begin, psn_of(psn, 10));
		tap_eq(req->sack->end, psn_of(psn, 17));
		tap_eq(req->sack->nr, 5);
		expect_part(psn_of(psn, 11), 1, true);
		rig_end();
	}
}

/*
 * Answers to a READ take PSNs: what is kept behind them is too far for a map. The
 * peer has executed the READ, so all that can be noted of its answer is a gap.
 */
static void far_behind_a_read(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	req->asks = HRP_SACK_ASKS;
	rig_post_op(HROCE_WR_READ, 3000 * 1024);
	rig_post_op(HROCE_WR_SEND, 100 * 1024);
	req->cwnd_pkts = 4096;
	req->window_pkts = 4096;
	req->max_rd_atomic = 16;
	rig_drain();
	tap_eq(req->psn_max, 3100);
	req->window_pkts = 512;
	req->keeps = 1;
	keep(3000, 3001, 90);
	tap_eq(sack(3000), HRP_RX_ACCEPT);
	tap_eq(req->sack->nr, 0);
	tap_eq(req->sack->acked, 3000);
	tap_eq(req->sack->end, HRP_SACK_WORDS_MIN * 64);
	while (rig_next() == HRP_NEXT_BURST && rig.burst.first.info & HRP_OI_EXT)
		;
	tap_eq(rig.burst.first.opcode, HRP_OP_READ_REQ);
	tap_eq(rig.burst.first.psn, 0);
	tap_eq(rig.burst.first.dmalen, 64 * 1024);
	rig_end();
}

static u32 seed;

static u32 below(u32 n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* What is resent is what is missing before the last that is kept. */
static void random_maps(void)
{
	static bool kept[FLIGHT], resent[FLIGHT];
	u32 base, n, i, last;

	for (n = 0; n < 300; n++) {
		seed = n;
		base = below(2) ? 0xffffff - below(128) : below(1 << 24);
		begin(base);
		memset(kept, 0, sizeof(kept));
		memset(resent, 0, sizeof(resent));
		rig_ack(psn_of(base, 1), NAK);
		expect_ask();
		expect_part(psn_of(base, 1), 1, true);
		resent[1] = true;
		last = 1;
		for (i = 2; i < FLIGHT; i++)
			kept[i] = below(3);
		for (i = 2; i < FLIGHT; i++) {
			if (!kept[i])
				continue;
			keep(psn_of(base, 1), psn_of(base, i), 1);
			last = i;
		}
		sack(psn_of(base, 1));
		while (req->rtx_pkts) {
			u32 first;

			tap_eq(rig_next(), HRP_NEXT_BURST);
			first = (rig.burst.first.psn - base) & HRP_PSN_MASK;
			for (i = first; i < first + rig.burst.nr_pkts; i++) {
				tap_ok(i < last && !kept[i] && !resent[i]);
				resent[i < FLIGHT ? i : 0] = true;
			}
		}
		for (i = 1; i < last; i++)
			tap_ok(kept[i] != resent[i]);
		rig_end();
	}
}

int main(void)
{
	tap_plan(25);
	tap_run(asked_where_it_makes_sense);
	tap_run(question_that_cannot_be_sent);
	tap_run(question_is_refused);
	tap_run(what_is_behind_is_refused);
	tap_run(all_gaps_at_once);
	tap_run(each_gap_once);
	tap_run(lost_again);
	tap_run(gaps_are_judged_once);
	tap_run(lost_again_in_a_full_window);
	tap_run(earlier_copies_tell_nothing);
	tap_run(oldest_lost_again);
	tap_run(window_has_room_for_what_is_kept);
	tap_run(round_trips_are_measured);
	tap_run(reads_between);
	tap_run(forgotten);
	tap_run(window_stays_during_a_test);
	tap_run(window_shrinks_once_the_control_is_another);
	tap_run(nothing_outlives_a_connection);
	tap_run(hostile_maps);
	tap_run(maps_that_begin_later);
	tap_run(hostile_begins);
	tap_run(notes_move_to_more_memory);
	tap_run(long_after_the_last_gap);
	tap_run(far_behind_a_read);
	tap_run(random_maps);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/* Requester: answers that come before earlier ones. */
#include <linux/kernel.h>
#include "kept.h"
#include "proto/cc.h"
#include "rig.h"
#include "tap.h"

#define ACK	HRP_SYN_CREDIT_INVALID
#define MTU	1024
#define READ_VA	0x200000

static struct hrp_req *const req = &rig.qp.req;

static u32 psn_of(u32 base, u32 n)
{
	return hrp_psn_add(base, n);
}

static void begin(u32 psn)
{
	rig_begin(HRP_TYPE_RC, psn);
	req->timeout = 16;
	req->window_pkts = 256;
	req->cwnd_pkts = 64;
	req->burst_pkts = 16;
	req->max_rd_atomic = 16;
	rig.keeps_answers = true;
	/* Gaps do not shrink the window. */
	req->sparse = 15;
}

/* READs of 16 packets in one request each, all in flight. */
static void begin_reads(u32 psn, u32 nr)
{
	begin(psn);
	while (nr--)
		rig_post_op(HROCE_WR_READ, 16 * MTU);
	rig_drain();
}

/* The peer has told what it keeps before, so it is hroce. */
static void know_peer(void)
{
	kept_open_sack(req);
	req->sack->told = true;
}

/* Full packets @n to @end - 1 of the answers that begin_reads() asks for. */
static void answer(u32 base, u32 n, u32 end)
{
	u8 opcode;

	for (; n < end; n++) {
		opcode = HRP_OP_READ_RESP_MIDDLE;
		if (n % 16 == 0)
			opcode = HRP_OP_READ_RESP_FIRST;
		else if (n % 16 == 15)
			opcode = HRP_OP_READ_RESP_LAST;
		rig_read_resp(opcode, psn_of(base, n), MTU);
	}
}

/* @nr packets from @n on are asked for, of the READ that begins at @first. */
static void expect_part(u32 base, u32 first, u32 n, u32 nr)
{
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OP_READ_REQ);
	tap_eq(rig.burst.first.psn, psn_of(base, n));
	tap_eq(rig.burst.first.va, READ_VA + (n - first) * MTU);
	tap_eq(rig.burst.first.dmalen, nr * MTU);
	tap_eq(rig.burst.nr_pkts, 1);
}

static void expect_successes(u32 first, u32 nr)
{
	u32 n;

	for (n = 0; n < nr; n++)
		rig_expect_cqe(first + n, HROCE_WC_SUCCESS);
	rig_expect_no_cqe();
}

static void one_gap_is_asked_for_alone(void)
{
	static const u32 psns[] = { 0, 0xfffff9 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		begin_reads(psns[i], 2);
		answer(psns[i], 0, 5);
		answer(psns[i], 7, 32);
		tap_eq(hrp_ahead_nr(req), 25);
		rig_expect_no_cqe();
		expect_part(psns[i], 0, 5, 2);
		tap_eq(rig_drain(), 0);
		tap_eq(req->nr_rd_atomic, 2);
		rig_read_resp(HRP_OP_READ_RESP_FIRST, psn_of(psns[i], 5), MTU);
		rig_expect_no_cqe();
		rig_read_resp(HRP_OP_READ_RESP_LAST, psn_of(psns[i], 6), MTU);
		expect_successes(0, 2);
		tap_eq(req->psn_una, psn_of(psns[i], 32));
		tap_eq(req->nr_rd_atomic, 0);
		tap_eq(req->rd_pkts, 0);
		tap_ok(!hrp_ahead_of(req));
		tap_eq(rig.counts.v[HROCE_EV_ANSWERS_KEPT], 25);
		tap_eq(rig.counts.v[HROCE_EV_KEPT_DROPPED], 0);
		tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
		rig_end();
	}
}

/* A responder need not give what is before an answer that it has repeated. */
static void gaps_wait_at_unknown_peers(void)
{
	begin_reads(0, 2);
	answer(0, 1, 5);
	expect_part(0, 0, 0, 1);
	answer(0, 6, 9);
	answer(0, 10, 32);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, MTU);
	tap_eq(req->psn_una, 5);
	expect_part(0, 0, 5, 1);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 5, MTU);
	expect_part(0, 0, 9, 1);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 9, MTU);
	expect_successes(0, 2);
	rig_end();
}

static void all_gaps_are_asked_for_at_known_peers(void)
{
	begin_reads(0xfffff0, 3);
	know_peer();
	answer(0xfffff0, 1, 5);
	answer(0xfffff0, 6, 14);
	answer(0xfffff0, 20, 48);
	expect_part(0xfffff0, 0, 0, 1);
	expect_part(0xfffff0, 0, 5, 1);
	/* A part of one answer, and of the next: each has its request. */
	expect_part(0xfffff0, 0, 14, 2);
	expect_part(0xfffff0, 16, 16, 4);
	tap_eq(rig_drain(), 0);
	/* Lost again: what was asked for later has come. */
	rig_read_resp(HRP_OP_READ_RESP_ONLY, psn_of(0xfffff0, 5), MTU);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, psn_of(0xfffff0, 14), MTU);
	rig_read_resp(HRP_OP_READ_RESP_LAST, psn_of(0xfffff0, 15), MTU);
	expect_part(0xfffff0, 0, 0, 1);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 0xfffff0, MTU);
	expect_successes(0, 1);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, psn_of(0xfffff0, 16), MTU);
	rig_read_resp(HRP_OP_READ_RESP_MIDDLE, psn_of(0xfffff0, 17), MTU);
	rig_read_resp(HRP_OP_READ_RESP_MIDDLE, psn_of(0xfffff0, 18), MTU);
	rig_expect_no_cqe();
	rig_read_resp(HRP_OP_READ_RESP_LAST, psn_of(0xfffff0, 19), MTU);
	expect_successes(1, 2);
	rig_end();
}

/* Answers to several READs in a row are lost: that is one loss, asked for by each. */
static void one_loss_of_many_reads(void)
{
	begin_reads(0, 4);
	know_peer();
	answer(0, 0, 5);
	answer(0, 53, 64);
	expect_part(0, 0, 5, 11);
	expect_part(0, 16, 16, 16);
	expect_part(0, 32, 32, 16);
	expect_part(0, 48, 48, 5);
	tap_eq(rig_drain(), 0);
	tap_eq(req->sparse, 14);
	rig_end();
}

/* An unknown peer is asked; its answer may acknowledge nothing new. */
static void unknown_peer_is_asked(void)
{
	begin_reads(100, 2);
	req->asks = HRP_SACK_ASKS;
	answer(100, 1, 5);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OPCODE_SACK_ASK);
	expect_part(100, 0, 0, 1);
	answer(100, 6, 9);
	tap_eq(rig_drain(), 0);
	tap_eq(rig_sack(99, NULL, 0), HRP_RX_DROP);
	answer(100, 9, 10);
	expect_part(100, 0, 5, 1);
	answer(100, 11, 32);
	expect_part(100, 0, 10, 1);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 100, MTU);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 105, MTU);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 110, MTU);
	expect_successes(0, 2);
	rig_end();
}

/* That the peer keeps a READ does not mean that its answers have arrived. */
static void kept_reads_are_not_answers(void)
{
	u8 map[8] = { 0 };

	begin(0);
	req->keeps = 1;
	req->rtx_psn = 0xffffff;
	rig_post_op(HROCE_WR_WRITE, 2 * MTU);
	rig_post_op(HROCE_WR_READ, 4 * MTU);
	rig_post_op(HROCE_WR_WRITE, 2 * MTU);
	rig_drain();
	tap_eq(req->psn_max, 8);
	/* 0 is missing; 1, the READ at 2, and 7 are kept. */
	map[0] = 1 << 1 | 1 << 2 | 1 << 7;
	tap_eq(rig_sack(0, map, sizeof(map)), HRP_RX_ACCEPT);
	tap_eq(req->sack->nr, 2);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OP_WRITE_FIRST);
	tap_eq(rig.burst.first.psn, 0);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 6);
	tap_eq(rig_drain(), 0);
	/* Both have come, and an answer is lost. */
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 2, MTU);
	rig_read_resp(HRP_OP_READ_RESP_LAST, 5, MTU);
	expect_successes(0, 1);
	expect_part(0, 2, 3, 2);
	rig_ack(7, ACK);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 3, MTU);
	rig_read_resp(HRP_OP_READ_RESP_LAST, 4, MTU);
	expect_successes(1, 2);
	rig_end();
}

/*
 * What was asked for again and is lost again is asked for a third time, once what
 * was certainly asked for later is answered.
 */
static void gap_is_lost_again(void)
{
	u32 n;

	begin_reads(0, 2);
	know_peer();
	answer(0, 0, 3);
	answer(0, 4, 8);
	expect_part(0, 0, 3, 1);
	answer(0, 8, 32);
	for (n = 32; n < 64; n += 16) {
		tap_eq(rig_drain(), 0);
		rig_post_op(HROCE_WR_READ, 16 * MTU);
		expect_part(0, n, n, 16);
		tap_eq(rig_drain(), 0);
		answer(0, n, n + 16);
	}
	rig_expect_no_cqe();
	expect_part(0, 0, 3, 1);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 3, MTU);
	expect_successes(0, 4);
	rig_end();
}

/* The window has room for as many as have arrived. */
static void kept_answers_leave_room(void)
{
	begin_reads(0, 4);
	rig_post_op(HROCE_WR_READ, 16 * MTU);
	rig_post_op(HROCE_WR_READ, 16 * MTU);
	tap_eq(rig_drain(), 0);
	answer(0, 1, 15);
	expect_part(0, 0, 0, 1);
	tap_eq(rig_drain(), 0);
	answer(0, 15, 17);
	expect_part(0, 64, 64, 16);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, MTU);
	answer(0, 17, 80);
	rig_drain();
	answer(0, 80, 96);
	expect_successes(0, 6);
	rig_end();
}

/* Acknowledgements behind the gap are not asked for again. */
static void requests_behind_complete(void)
{
	begin(0);
	rig_post_op(HROCE_WR_READ, 4 * MTU);
	rig_post_op(HROCE_WR_WRITE, 2 * MTU);
	rig_post_op(HROCE_WR_READ, MTU);
	rig_post_op(HROCE_WR_WRITE, MTU);
	rig_drain();
	tap_eq(req->psn_max, 8);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, MTU);
	rig_read_resp(HRP_OP_READ_RESP_LAST, 3, MTU);
	expect_part(0, 0, 1, 2);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 6, MTU);
	rig_ack(7, ACK);
	rig_expect_no_cqe();
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 1, MTU);
	rig_read_resp(HRP_OP_READ_RESP_LAST, 2, MTU);
	expect_successes(0, 4);
	tap_ok(!hrp_req_has_deadline(req));
	rig_end();
}

static void atomics_are_kept(void)
{
	begin(7);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_drain();
	tap_eq(rig_atomic_resp(8, 5), HRP_RX_KEEP);
	tap_eq(rig_atomic_resp(9, 6), HRP_RX_KEEP);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OP_FETCH_ADD);
	tap_eq(rig.burst.first.psn, 7);
	tap_eq(rig_drain(), 0);
	tap_eq(req->nr_rd_atomic, 3);
	rig_expect_no_cqe();
	tap_eq(rig_atomic_resp(7, 4), HRP_RX_ACCEPT);
	expect_successes(0, 3);
	tap_eq(req->nr_rd_atomic, 0);
	rig_end();
}

/* An answer that has no place in the READ ends it, but only at its turn. */
static void wrong_answer_fails_at_its_turn(void)
{
	begin_reads(0, 1);
	answer(0, 0, 1);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 2, MTU - 4),
	       HRP_RX_KEEP);
	expect_part(0, 0, 1, 1);
	rig_expect_no_cqe();
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 1, MTU);
	rig_expect_cqe(0, HROCE_WC_LOC_LEN_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();
}

/* Answers that come twice are kept once, and never placed again. */
/* A part that was asked for may begin and end anywhere, but not go on behind. */
static void part_goes_on_at_the_end(void)
{
	struct hrp_pkt pkt = {
		.opcode = HRP_OP_READ_RESP_MIDDLE,
		.info = hrp_opcode_info(HRP_OP_READ_RESP_MIDDLE),
		.psn = 15,
		.payload_len = MTU,
	};
	struct hrp_rx rx;

	begin_reads(0, 2);
	know_peer();
	answer(0, 0, 14);
	answer(0, 16, 32);
	expect_part(0, 0, 14, 2);
	answer(0, 14, 15);
	hrp_comp_begin(&rig.qp, &pkt, &rx);
	tap_eq(rx.verdict, HRP_RX_ACCEPT);
	tap_eq(rx.more, 0);
	rig_end();
}

static void answers_that_come_twice(void)
{
	u32 since;

	begin_reads(0, 1);
	answer(0, 0, 1);
	answer(0, 2, 6);
	since = req->since;
	rig.now_ns += 100000;
	answer(0, 2, 6);
	tap_eq(hrp_ahead_nr(req), 4);
	tap_eq(rig.counts.v[HROCE_EV_ANSWERS_KEPT], 4);
	/* Nor do they put off the end of the connection. */
	tap_eq(req->since, since);
	/* But a round trip has passed. */
	expect_part(0, 0, 1, 1);
	expect_part(0, 0, 1, 1);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 1, MTU);
	tap_eq(req->psn_una, 6);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 5, MTU), HRP_RX_DROP);
	answer(0, 6, 16);
	expect_successes(0, 1);
	rig_end();
}

/* No answer at all: the gap is asked for again, and what is kept is used. */
static void timeout_asks_for_the_rest(void)
{
	begin_reads(0, 1);
	answer(0, 0, 1);
	answer(0, 3, 10);
	expect_part(0, 0, 1, 2);
	while (!rig.counts.v[HROCE_EV_RTO_EXPIRED] || rig_next() != HRP_NEXT_BURST) {
		rig.now_ns = hrp_req_deadline(req);
		hrp_req_timeout(&rig.qp, rig.now_ns);
	}
	tap_eq(rig.burst.first.opcode, HRP_OP_READ_REQ);
	tap_eq(rig.burst.first.psn, 1);
	tap_eq(rig.burst.first.dmalen, 2 * MTU);
	tap_eq(rig.counts.v[HROCE_EV_PROBES], 1);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
	/* The answer to the first request for the gap is late. */
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 1, MTU);
	rig_read_resp(HRP_OP_READ_RESP_LAST, 2, MTU);
	tap_eq(req->psn_una, 10);
	answer(0, 10, 16);
	expect_successes(0, 1);
	rig_end();
}

/* Memory is short: kept answers are given up, and come again. */
static void kept_answers_are_given_up(void)
{
	begin_reads(0, 1);
	answer(0, 0, 1);
	answer(0, 2, 8);
	expect_part(0, 0, 1, 1);
	tap_eq(rig_drain(), 0);
	kept_free(hrp_ahead_close(&rig.qp));
	tap_eq(rig.counts.v[HROCE_EV_KEPT_DROPPED], 6);
	rig.keeps_answers = false;
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 1, MTU);
	tap_eq(req->psn_una, 2);
	answer(0, 8, 9);
	expect_part(0, 0, 2, 14);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 2, MTU);
	answer(0, 3, 16);
	expect_successes(0, 1);
	rig_end();
}

/* A flight that is longer than what is noted: the rest is not kept. */
static void far_answers_are_not_kept(void)
{
	enum { SHORT = HRP_SACK_WORDS_MIN * 64 };

	begin(0);
	req->window_pkts = 4096;
	req->cwnd_pkts = 4096;
	req->max_rd_atomic = 1;
	rig_post_op(HROCE_WR_READ, 4096 * MTU);
	rig_drain();
	req->window_pkts = SHORT;
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, MTU);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, SHORT, MTU),
	       HRP_RX_KEEP);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 1 + SHORT, MTU),
	       HRP_RX_GO_BACK);
	rig_end();
}

/* The peer lacks the request at @n, and keeps the one at @kept. */
static void tell_lost(u32 base, u32 n, u32 kept)
{
	u32 psn = psn_of(base, n), bit = psn % 64 + kept - n;
	u8 map[24] = { 0 };

	map[bit / 8] = 1 << bit % 8;
	tap_eq(rig_sack(psn, map, sizeof(map)), HRP_RX_ACCEPT);
}

/* Requests behind it are kept, and are not sent again. */
static void lost_request_is_sent_alone(void)
{
	static const u32 psns[] = { 0, 0xffffe8 };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(psns); i++) {
		begin_reads(psns[i], 4);
		know_peer();
		answer(psns[i], 0, 16);
		tell_lost(psns[i], 16, 32);
		expect_part(psns[i], 16, 16, 16);
		tap_eq(rig_drain(), 0);
		tap_eq(req->nr_rd_atomic, 3);
		tap_eq(req->rd_pkts, 48);
		/* The peer tells again, for the last request. */
		tell_lost(psns[i], 16, 48);
		tap_eq(rig_drain(), 0);
		answer(psns[i], 16, 64);
		expect_successes(0, 4);
		tap_eq(rig.counts.v[HROCE_EV_HOLES_RESENT], 1);
		tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
		rig_end();
	}
}

/* All requests before it have been executed: missing answers are lost. */
static void lost_request_tells_of_lost_answers(void)
{
	begin_reads(0, 3);
	know_peer();
	answer(0, 0, 10);
	tell_lost(0, 16, 32);
	expect_part(0, 0, 10, 6);
	expect_part(0, 16, 16, 16);
	tap_eq(rig_drain(), 0);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 10, MTU);
	answer(0, 11, 48);
	expect_successes(0, 3);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
	rig_end();
}

/* It was late: an answer to a later one comes before it is sent again. */
static void lost_request_is_executed_meanwhile(void)
{
	begin_reads(0, 4);
	know_peer();
	answer(0, 0, 16);
	req->sack->late.wait = 100;
	tell_lost(0, 16, 32);
	tap_eq(rig_drain(), 0);
	rig.now_ns += 101 << 10;
	tell_lost(0, 16, 48);
	answer(0, 33, 34);
	expect_part(0, 16, 16, 1);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 16, MTU), HRP_RX_ACCEPT);
	answer(0, 17, 33);
	answer(0, 34, 64);
	expect_successes(0, 4);
	rig_end();
}

static void request_is_lost_again(void)
{
	begin(0);
	req->srtt8 = 100 << 3;
	req->rttvar4 = 0;
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_drain();
	know_peer();
	tell_lost(0, 0, 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OP_FETCH_ADD);
	tap_eq(rig.burst.first.psn, 0);
	rig.now_ns += 50 << 10;
	tell_lost(0, 0, 1);
	tap_eq(rig_drain(), 0);
	rig.now_ns += 60 << 10;
	tell_lost(0, 0, 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 0);
	tap_eq(rig_drain(), 0);
	rig_atomic_resp(0, 1);
	rig_atomic_resp(1, 2);
	expect_successes(0, 2);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
	rig_end();
}

/* A NAK without a map is from a peer that keeps nothing, or is not known to. */
static void all_is_sent_again_to_others(void)
{
	begin_reads(0, 3);
	know_peer();
	answer(0, 0, 16);
	rig_ack(16, HRP_NAK_PSN_SEQ);
	expect_part(0, 16, 16, 16);
	answer(0, 16, 32);
	expect_part(0, 32, 32, 16);
	answer(0, 32, 48);
	expect_successes(0, 3);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	rig_end();

	/* One that may know the question is asked. */
	begin_reads(0, 3);
	req->asks = HRP_SACK_ASKS;
	answer(0, 0, 16);
	rig_ack(16, HRP_NAK_PSN_SEQ);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OPCODE_SACK_ASK);
	expect_part(0, 16, 16, 16);
	tap_eq(req->asks, HRP_SACK_ASKS - 1);
	expect_successes(0, 1);
	rig_end();
}

static void expire_until(enum hroce_stat what)
{
	do {
		rig.now_ns = hrp_req_deadline(req);
		hrp_req_timeout(&rig.qp, rig.now_ns);
	} while (!rig.counts.v[what]);
}

/* After going back, answers to what was sent again have gaps as others. */
static void answers_are_kept_after_going_back(void)
{
	begin_reads(0, 4);
	expire_until(HROCE_EV_RETRANSMITS);
	expect_part(0, 0, 0, 16);
	/* Its first answer is lost. */
	answer(0, 1, 16);
	tap_eq(hrp_ahead_nr(req), 15);
	expect_part(0, 0, 0, 1);
	/* What is not sent again yet is answered then. */
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, 32, MTU), HRP_RX_GO_BACK);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, MTU);
	expect_successes(0, 1);
	expect_part(0, 16, 16, 16);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	rig_end();
}

/* The end of the last answer is lost: that alone is asked for. */
static void probe_asks_for_the_rest(void)
{
	begin_reads(0, 1);
	answer(0, 0, 13);
	expire_until(HROCE_EV_PROBES);
	expect_part(0, 0, 13, 3);
	tap_eq(rig_drain(), 0);
	tap_eq(req->rd_pkts, 3);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 13, MTU);
	answer(0, 14, 16);
	expect_successes(0, 1);
	rig_end();

	/* A long one is not drawn twice, before anything of it has come. */
	begin(0);
	req->cwnd_pkts = 256;
	rig_post_op(HROCE_WR_READ, 64 * MTU);
	rig_drain();
	rig.now_ns = hrp_req_deadline(req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
	tap_eq(rig_drain(), 0);
	tap_eq(rig.counts.v[HROCE_EV_PROBES], 0);
	rig_end();
}

/* What is asked for again says nothing of the round trip. */
static void resent_answers_are_not_timed(void)
{
	begin_reads(0, 3);
	know_peer();
	answer(0, 0, 2);
	answer(0, 3, 5);
	hrp_sack_time(req, 16, true, rig.now_ns);
	tap_ok(req->sack->timing);
	answer(0, 17, 18);
	rig_drain();
	tap_ok(!req->sack->timing);
	rig_end();

	/* Nor does it of queues, while others are asked for again, too. */
	begin(0);
	req->cc = HRP_CC_DELAY;
	hrp_cc_start(&rig.qp);
	rig.qp.base = 10;
	rig_post_op(HROCE_WR_READ, 16 * MTU);
	rig_drain();
	know_peer();
	answer(0, 1, 4);
	answer(0, 5, 8);
	expect_part(0, 0, 0, 1);
	expect_part(0, 0, 4, 1);
	rig.now_ns += 1000000;
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, MTU);
	tap_eq(req->cc_waits, 0);
	rig_end();
}

/* It is wrong, and would take more memory than an answer can. */
static void answers_too_long_are_not_kept(void)
{
	begin_reads(0, 1);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 2, MTU + 4), HRP_RX_DROP);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 2, MTU), HRP_RX_KEEP);
	rig_end();
}

int main(void)
{
	tap_plan(25);
	tap_run(one_gap_is_asked_for_alone);
	tap_run(gaps_wait_at_unknown_peers);
	tap_run(all_gaps_are_asked_for_at_known_peers);
	tap_run(one_loss_of_many_reads);
	tap_run(unknown_peer_is_asked);
	tap_run(kept_reads_are_not_answers);
	tap_run(gap_is_lost_again);
	tap_run(kept_answers_leave_room);
	tap_run(requests_behind_complete);
	tap_run(atomics_are_kept);
	tap_run(wrong_answer_fails_at_its_turn);
	tap_run(part_goes_on_at_the_end);
	tap_run(answers_that_come_twice);
	tap_run(timeout_asks_for_the_rest);
	tap_run(kept_answers_are_given_up);
	tap_run(far_answers_are_not_kept);
	tap_run(answers_too_long_are_not_kept);
	tap_run(lost_request_is_sent_alone);
	tap_run(lost_request_tells_of_lost_answers);
	tap_run(lost_request_is_executed_meanwhile);
	tap_run(request_is_lost_again);
	tap_run(all_is_sent_again_to_others);
	tap_run(answers_are_kept_after_going_back);
	tap_run(probe_asks_for_the_rest);
	tap_run(resent_answers_are_not_timed);
	return tap_exit();
}

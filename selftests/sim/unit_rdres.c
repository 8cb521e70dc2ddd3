// SPDX-License-Identifier: GPL-2.0
/* Responder, READs and atomics: bursts, limits and replay. */
#include <linux/kernel.h>
#include "filled.h"
#include "proto/sack.h"
#include "resp_rig.h"

static void read_is_answered_in_bursts(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_WRITE_ONLY, 0, 4);
	pkt = rr_request(HRP_OP_READ_REQ, 1, 0);
	pkt.dmalen = 3 * MTU + 10;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	rr_ask(HRP_OP_WRITE_ONLY, 5, 4);
	/* The ACK of the first WRITE is in the response. */
	rr_expect_read(1, 2, HRP_OP_READ_RESP_FIRST, 0, 2 * MTU);
	tap_eq(rr.burst.op_last, HRP_OP_READ_RESP_MIDDLE);
	tap_eq(rr.burst.first.msn, 2);
	tap_ok(!rr.burst.copy);
	rr_expect_read(3, 2, HRP_OP_READ_RESP_MIDDLE, 2 * MTU, MTU + 10);
	tap_eq(rr.burst.op_last, HRP_OP_READ_RESP_LAST);
	rr_expect_ack(5, HRP_SYN_CREDIT_INVALID, 3);
	rr_expect_nothing();
}

/* A READ of one packet at @psn, by a way. Return: the port that its answer takes. */
static u16 way_of_answer(u32 psn, u16 sport)
{
	struct hrp_pkt pkt = rr_request(HRP_OP_READ_REQ, psn, 0);

	pkt.dmalen = 8;
	pkt.sport = sport;
	rr_arrive(&pkt);
	rr_expect_read(psn, 1, HRP_OP_READ_RESP_ONLY, 0, 8);
	return rr.burst.first.sport;
}

/* If the peer has asked for it, they take the port of the request. */
static void answers_follow_requests(void)
{
	u8 ask[HRP_SACK_ASK_BYTES] = { 'h', 'r', 'o', 'c', 1, 7 };
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	tap_eq(way_of_answer(0, 0xc123), 0);
	tap_ok(hrp_sack_asked(&rr.qp, ask, sizeof(ask)));
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(way_of_answer(1, 0xc123), 0xc123);
	tap_eq(way_of_answer(2, 0xc124), 0xc124);
	/* No RoCE port. */
	tap_eq(way_of_answer(3, 0), 0);
	/* Once more, by another way. */
	tap_eq(way_of_answer(2, 0xffff), 0xffff);
	pkt = rr_request(HRP_OP_FETCH_ADD, 4, 0);
	pkt.sport = 0xc125;
	rr_arrive(&pkt);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OP_ATOMIC_ACK);
	tap_eq(rr.burst.first.sport, 0xc125);
	/* A later question without the flag ends that. */
	ask[5] = 3;
	tap_ok(hrp_sack_asked(&rr.qp, ask, sizeof(ask)));
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(way_of_answer(5, 0xc123), 0);
	rr_expect_nothing();
	/* So does the end of the connection. */
	ask[5] = 7;
	tap_ok(hrp_sack_asked(&rr.qp, ask, sizeof(ask)));
	hrp_resp_reset(&rr.qp);
	tap_ok(!rr.qp.resp.follows);
}

static void read_of_nothing_is_answered(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_READ_REQ, 0, 0);
	pkt.rkey = BAD_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	rr_expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 0);
	rr_expect_nothing();
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 1, 0), HRP_RX_ACCEPT);
}

static void read_is_repeated_from_where_it_is_asked(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_READ_REQ, 0, 0);
	pkt.dmalen = 3 * MTU;
	rr_arrive(&pkt);
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2 * MTU);
	rr_expect_read(2, 1, HRP_OP_READ_RESP_LAST, 2 * MTU, MTU);

	pkt = rr_request(HRP_OP_READ_REQ, 1, 0);
	pkt.dmalen = 2 * MTU;
	pkt.va = 0x1000 + MTU;
	tap_eq(rr_arrive(&pkt), HRP_RX_DUPLICATE);
	rr_expect_read(1, 2, HRP_OP_READ_RESP_FIRST, MTU, 2 * MTU);
	tap_eq(rr.burst.op_last, HRP_OP_READ_RESP_LAST);
	tap_ok(rr.burst.copy);
	rr_expect_nothing();

	/* Less than the rest is fine, anything else is not. */
	pkt.dmalen = 7;
	tap_eq(rr_arrive(&pkt), HRP_RX_DUPLICATE);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, MTU, 7);
	pkt.dmalen = 2 * MTU + 1;
	tap_eq(rr_arrive(&pkt), HRP_RX_DROP);
	pkt.dmalen = 2 * MTU;
	pkt.va++;
	tap_eq(rr_arrive(&pkt), HRP_RX_DROP);
	pkt.va--;
	pkt.rkey++;
	tap_eq(rr_arrive(&pkt), HRP_RX_DROP);
	rr_expect_nothing();
}

/* What has not been sent yet follows, too; two parts become one. */
/* Four packets of a READ of six have been sent. */
static void start_long_read(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_READ_REQ, 0, 0);
	pkt.dmalen = 6 * MTU;
	rr_arrive(&pkt);
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2 * MTU);
	rr_expect_read(2, 2, HRP_OP_READ_RESP_MIDDLE, 2 * MTU, 2 * MTU);
}

/* @len bytes from packet @pos on are asked for again. */
static void repeat_part(u32 pos, u32 len)
{
	struct hrp_pkt pkt = rr_request(HRP_OP_READ_REQ, pos, 0);

	pkt.dmalen = len;
	pkt.va = 0x1000 + pos * MTU;
	tap_eq(rr_arrive(&pkt), HRP_RX_DUPLICATE);
}

static void part_is_repeated_before_the_rest_is_sent(void)
{
	start_long_read();
	repeat_part(1, MTU);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, MTU, MTU);
	rr_expect_read(4, 2, HRP_OP_READ_RESP_MIDDLE, 4 * MTU, 2 * MTU);
	rr_expect_nothing();

	repeat_part(1, MTU);
	repeat_part(3, MTU);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, MTU, MTU);
	rr_expect_read(3, 1, HRP_OP_READ_RESP_ONLY, 3 * MTU, MTU);
	rr_expect_nothing();
}

/* Several parts, in any order: each once, and the lowest first. */
static void parts_are_repeated_in_order(void)
{
	start_long_read();
	repeat_part(3, MTU);
	repeat_part(1, MTU);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, MTU, MTU);
	rr_expect_read(3, 1, HRP_OP_READ_RESP_ONLY, 3 * MTU, MTU);
	rr_expect_read(4, 2, HRP_OP_READ_RESP_MIDDLE, 4 * MTU, 2 * MTU);
	rr_expect_nothing();
	/* One more than can wait: what is between them is sent, too. */
	start_long_read();
	repeat_part(2, MTU);
	repeat_part(1, MTU);
	repeat_part(0, MTU);
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2 * MTU);
	rr_expect_read(2, 1, HRP_OP_READ_RESP_ONLY, 2 * MTU, MTU);
	rr_expect_read(4, 2, HRP_OP_READ_RESP_MIDDLE, 4 * MTU, 2 * MTU);
	rr_expect_nothing();
}

/* What is about to be sent, and what is asked for as a whole, is sent once. */
static void parts_that_wait_are_not_repeated(void)
{
	start_long_read();
	repeat_part(5, MTU);
	rr_expect_read(4, 2, HRP_OP_READ_RESP_MIDDLE, 4 * MTU, 2 * MTU);
	rr_expect_nothing();
	start_long_read();
	repeat_part(3, MTU);
	repeat_part(1, 5 * MTU);
	rr_expect_read(1, 2, HRP_OP_READ_RESP_FIRST, MTU, 2 * MTU);
	rr_expect_read(3, 2, HRP_OP_READ_RESP_MIDDLE, 3 * MTU, 2 * MTU);
	rr_expect_read(5, 1, HRP_OP_READ_RESP_LAST, 5 * MTU, MTU);
	rr_expect_nothing();
	/* A part that ends within a packet is sent at once, but cannot wait. */
	start_long_read();
	repeat_part(1, 10);
	repeat_part(3, MTU);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, MTU, 10);
	rr_expect_read(3, 1, HRP_OP_READ_RESP_ONLY, 3 * MTU, MTU);
	rr_expect_read(4, 2, HRP_OP_READ_RESP_MIDDLE, 4 * MTU, 2 * MTU);
	rr_expect_nothing();
	start_long_read();
	repeat_part(3, 10);
	repeat_part(1, MTU);
	rr_expect_read(1, 2, HRP_OP_READ_RESP_FIRST, MTU, 2 * MTU);
	rr_expect_read(3, 1, HRP_OP_READ_RESP_LAST, 3 * MTU, 10);
	rr_expect_read(4, 2, HRP_OP_READ_RESP_MIDDLE, 4 * MTU, 2 * MTU);
	rr_expect_nothing();
}

static void reads_beyond_the_grant_are_refused(void)
{
	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 0, 4), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 1, 4), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_FETCH_ADD, 2, 0), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 3, 4), HRP_RX_NAK);
	tap_eq(rr.qp.state, HRP_ERR);
	/* What was asked before is still answered. */
	rr_expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OP_ATOMIC_ACK);
	rr_expect_end(3, HRP_NAK_INV_REQ, 3);
}

static void repeated_reads_do_not_count_against_the_grant(void)
{
	u32 i;

	rr_begin(HRP_TYPE_RC);
	for (i = 0; i < 3; i++) {
		tap_eq(rr_ask(HRP_OP_READ_REQ, i, 4), HRP_RX_ACCEPT);
		rr_expect_read(i, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	}
	tap_eq(rr_ask(HRP_OP_READ_REQ, 0, 4), HRP_RX_DUPLICATE);
	for (; i < 6; i++)
		tap_eq(rr_ask(HRP_OP_READ_REQ, i, 4), HRP_RX_ACCEPT);
	for (i = 3; i < 6; i++)
		rr_expect_read(i, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	rr_expect_nothing();
	/* The ring holds four; older ones are forgotten. */
	tap_eq(rr_ask(HRP_OP_READ_REQ, 1, 4), HRP_RX_DROP);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 2, 4), HRP_RX_DUPLICATE);
}

static void read_whose_memory_went_away(void)
{
	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_WRITE_ONLY, 0, 4);
	rr_ask(HRP_OP_READ_REQ, 1, 4);
	rr_ask(HRP_OP_READ_REQ, 2, 4);
	rr_ask(HRP_OP_WRITE_ONLY, 3, 4);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	hrp_resp_sent(&rr.qp, &rr.burst, HROCE_WC_SUCCESS);
	rr_expect_read(2, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	hrp_resp_sent(&rr.qp, &rr.burst, HROCE_WC_REM_ACCESS_ERR);
	tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 1);
	rr_expect_end(2, HRP_NAK_REM_ACCESS, 2);
}

/* Nothing overtakes the answer that waits. */
static void read_whose_memory_is_fetched(void)
{
	u32 i;

	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_READ_REQ, 0, 3 * 1024);
	rr_ask(HRP_OP_WRITE_ONLY, 3, 4);
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2048);
	hrp_resp_sent(&rr.qp, &rr.burst, HROCE_WC_SUCCESS);
	for (i = 0; i < 2; i++) {
		rr_expect_read(2, 1, HRP_OP_READ_RESP_LAST, 2048, 1024);
		hrp_resp_sent(&rr.qp, &rr.burst, HRP_MEM_FAULT);
		rr_expect_nothing();
		/* A duplicate meanwhile. */
		if (i)
			rr_ask(HRP_OP_READ_REQ, 0, 3 * 1024);
		rr_expect_nothing();
		hrp_resp_read_ready(&rr.qp, true);
	}
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2048);
	hrp_resp_sent(&rr.qp, &rr.burst, HRP_MEM_FAULT);
	hrp_resp_read_ready(&rr.qp, true);
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2048);
	rr_expect_read(2, 1, HRP_OP_READ_RESP_LAST, 2048, 1024);
	rr_expect_ack(3, HRP_SYN_ACK | HRP_SYN_CREDIT_INVALID, 2);
	rr_expect_nothing();
	tap_eq(rr.qp.state, HRP_RTS);
}

static void read_whose_memory_cannot_be_fetched(void)
{
	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_READ_REQ, 0, 3 * 1024);
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2048);
	rr_expect_read(2, 1, HRP_OP_READ_RESP_LAST, 2048, 1024);
	hrp_resp_sent(&rr.qp, &rr.burst, HRP_MEM_FAULT);
	hrp_resp_read_ready(&rr.qp, false);
	tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 1);
	rr_expect_end(2, HRP_NAK_REM_ACCESS, 0);
	/* Told twice, or to nobody. */
	hrp_resp_read_ready(&rr.qp, false);
	rr_expect_nothing();
}

/* The peer has had what left before: the NAK is for the packet that it lacks. */
static void read_whose_memory_ends(void)
{
	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_READ_REQ, 0, 3 * 1024);
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2048);
	hrp_burst_cut(&rr.burst, 1);
	hrp_resp_sent(&rr.qp, &rr.burst, HRP_MEM_FAULT);
	hrp_resp_read_ready(&rr.qp, true);
	rr_expect_read(1, 2, HRP_OP_READ_RESP_MIDDLE, 1024, 2048);
	hrp_burst_cut(&rr.burst, 1);
	hrp_resp_sent(&rr.qp, &rr.burst, HRP_MEM_FAULT);
	hrp_resp_read_ready(&rr.qp, false);
	rr_expect_end(2, HRP_NAK_REM_ACCESS, 0);
}

/* A repetition waits for memory, and the peer goes on: that is not refused. */
static void repetition_whose_memory_cannot_be_fetched(void)
{
	u32 i;

	rr_begin(HRP_TYPE_RC);
	rr.qp.resp.max_dest_rd_atomic = 2;
	for (i = 0; i < 2; i++) {
		rr_ask(HRP_OP_READ_REQ, 0, 4);
		rr_expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	}
	hrp_resp_sent(&rr.qp, &rr.burst, HRP_MEM_FAULT);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 1, 4), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 2, 4), HRP_RX_ACCEPT);
	rr_expect_nothing();
	hrp_resp_read_ready(&rr.qp, false);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	rr_expect_read(2, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	rr_expect_nothing();
	tap_eq(rr.qp.state, HRP_RTS);
}

static void atomic_whose_memory_is_fetched(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_FETCH_ADD, 0, 0);
	pkt.rkey = AWAY_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	pkt.rkey = 1;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OP_ATOMIC_ACK);
	tap_eq(rr.nr_atomics, 1);
}

static void atomic_is_executed_once(void)
{
	struct hrp_pkt pkt;
	u32 i;

	rr_begin(HRP_TYPE_RC);
	rr.word = 5;
	pkt = rr_request(HRP_OP_FETCH_ADD, 0, 0);
	pkt.swap_add = 10;
	for (i = 0; i < 3; i++) {
		tap_eq(rr_arrive(&pkt), i ? HRP_RX_DUPLICATE : HRP_RX_ACCEPT);
		tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
		tap_eq(rr.burst.first.opcode, HRP_OP_ATOMIC_ACK);
		tap_eq(rr.burst.first.orig, 5);
		tap_eq(rr.burst.first.msn, 1);
		rr_expect_nothing();
	}
	tap_eq(rr.nr_atomics, 1);
	tap_eq(rr.word, 15);
	pkt = rr_request(HRP_OP_CMP_SWAP, 0, 0);
	tap_eq(rr_arrive(&pkt), HRP_RX_DROP);	/* it was another one */
}

static void atomic_must_be_aligned_and_permitted(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_CMP_SWAP, 0, 0);
	pkt.va = 0x1004;
	tap_eq(rr_arrive(&pkt), HRP_RX_NAK);
	rr_expect_end(0, HRP_NAK_INV_REQ, 0);

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_CMP_SWAP, 0, 0);
	pkt.rkey = BAD_KEY;
	rr_arrive(&pkt);
	tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 1);
	tap_eq(rr.nr_atomics, 0);
	rr_expect_end(0, HRP_NAK_REM_ACCESS, 0);
}

/* A19.4: answered like a READ of nothing; never placed or executed again. */
static void atomic_write_is_placed_once(void)
{
	struct hrp_pkt pkt;
	u32 i;

	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_WRITE_ONLY, 0, 4);
	pkt = rr_request(HRP_OP_ATOMIC_WRITE, 1, 8);
	for (i = 0; i < 3; i++) {
		tap_eq(rr_arrive(&pkt), i ? HRP_RX_DUPLICATE : HRP_RX_ACCEPT);
		tap_eq(rr.rx.mem.len, i ? 0 : 8);
		tap_ok(!rr.rx.fuse);
		if (!i) {
			tap_eq(rr.rx.mem.one.addr, 0x1000);
			tap_eq(rr.rx.mem.access, HRP_ACCESS_REMOTE_WRITE);
		}
		rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, 0, 0);
		tap_eq(rr.burst.first.msn, 2);
		rr_expect_nothing();
	}
	tap_eq(rr_ask(HRP_OP_FLUSH, 1, 8), HRP_RX_DROP);
}

static void atomic_write_is_of_8_bytes(void)
{
	static const struct {
		u64 va;
		u32 dmalen;
		u32 payload_len;
	} bad[] = {
		{ 0x1004, 8, 8 }, { 0x1000, 4, 8 }, { 0x1000, 8, 4 },
		{ 0x1000, 16, 16 }, { 0x1000, 0, 0 },
	};
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rr_begin(HRP_TYPE_RC);
		pkt = rr_request(HRP_OP_ATOMIC_WRITE, 0, 8);
		pkt.va = bad[i].va;
		pkt.dmalen = bad[i].dmalen;
		pkt.payload_len = bad[i].payload_len;
		tap_eq(rr_arrive(&pkt), HRP_RX_NAK);
		rr_expect_end(0, HRP_NAK_INV_REQ, 0);
	}
	rr_begin(HRP_TYPE_RC);
	rr.qp.access &= ~HRP_QP_REMOTE_WRITE;
	tap_eq(rr_ask(HRP_OP_ATOMIC_WRITE, 0, 8), HRP_RX_NAK);
	rr_expect_end(0, HRP_NAK_INV_REQ, 0);

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_ATOMIC_WRITE, 0, 8);
	pkt.rkey = BAD_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_NAK);
	rr_expect_end(0, HRP_NAK_REM_ACCESS, 0);
}

static void atomic_write_whose_memory_is_fetched(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_ATOMIC_WRITE, 0, 8);
	tap_eq(rr_arrive_status(&pkt, HRP_MEM_FAULT), HRP_RX_ACCEPT);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	rr_expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 0);
	rr_expect_nothing();
}

static void flush_is_executed_once(void)
{
	struct hrp_pkt pkt;
	u32 i;

	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_WRITE_ONLY, 0, 4);
	pkt = rr_request(HRP_OP_FLUSH, 1, 0);
	pkt.dmalen = 100;
	for (i = 0; i < 3; i++) {
		tap_eq(rr_arrive(&pkt), i ? HRP_RX_DUPLICATE : HRP_RX_ACCEPT);
		rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, 0, 0);
		tap_eq(rr.burst.first.msn, 2);
		rr_expect_nothing();
	}
	tap_eq(rr.flushes[HRP_ACCESS_FLUSH_GLOBAL], 1);
	tap_eq(rr.flush_len, 100);
	pkt = rr_request(HRP_OP_FLUSH, 2, 0);
	pkt.feth |= HRW_FETH_SEL_MR | 0xffffffc0;	/* reserved bits */
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr.flush_len, ~0u);
}

/* Each kind that is asked for, and no other, for the range or for all. */
static void flush_of_each_kind(void)
{
	static const u32 types[] = {
		HRW_FETH_GLOBAL, HRW_FETH_PERSISTENT,
		HRW_FETH_GLOBAL | HRW_FETH_PERSISTENT,
	};
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < 6; i++) {
		u32 type = types[i / 2];

		rr_begin(HRP_TYPE_RC);
		rr.qp.access |= HRP_QP_FLUSH_PERSISTENT;
		pkt = rr_request(HRP_OP_FLUSH, 0, 0);
		pkt.dmalen = 7;
		pkt.feth = type | (i & 1 ? HRW_FETH_SEL_MR : 0);
		tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
		rr_expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 0);
		tap_eq(rr.flushes[HRP_ACCESS_FLUSH_GLOBAL],
		       !!(type & HRW_FETH_GLOBAL));
		tap_eq(rr.flushes[HRP_ACCESS_FLUSH_PERSISTENT],
		       !!(type & HRW_FETH_PERSISTENT));
		tap_eq(rr.flush_len, i & 1 ? ~0u : 7);
	}
}

/* The queue pair wants it, but the region does not, or not both. */
static void flush_of_what_is_volatile(void)
{
	struct hrp_pkt pkt;
	u32 both;

	for (both = 0; both < 2; both++) {
		rr_begin(HRP_TYPE_RC);
		rr.qp.access |= HRP_QP_FLUSH_PERSISTENT;
		pkt = rr_request(HRP_OP_FLUSH, 0, 0);
		pkt.rkey = VOLATILE_KEY;
		pkt.feth = HRW_FETH_PERSISTENT;
		if (both)
			pkt.feth |= HRW_FETH_GLOBAL;
		rr_arrive(&pkt);
		tap_eq(rr.flushes[HRP_ACCESS_FLUSH_PERSISTENT], 0);
		tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 1);
		rr_expect_end(0, HRP_NAK_REM_ACCESS, 0);
	}
}

static void flush_is_limited_and_checked(void)
{
	static const u32 bad[] = {
		0, HRW_FETH_PERSISTENT, HRW_FETH_GLOBAL | HRW_FETH_PERSISTENT,
		HRW_FETH_GLOBAL | 4, HRW_FETH_GLOBAL | 0x20,
		HRW_FETH_GLOBAL | 0x30,
	};
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rr_begin(HRP_TYPE_RC);
		pkt = rr_request(HRP_OP_FLUSH, 0, 0);
		pkt.feth = bad[i];
		tap_eq(rr_arrive(&pkt), HRP_RX_NAK);
		rr_expect_end(0, HRP_NAK_INV_REQ, 0);
	}
	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_FLUSH, 0, 0);
	pkt.rkey = BAD_KEY;
	rr_arrive(&pkt);
	tap_eq(rr.flushes[HRP_ACCESS_FLUSH_GLOBAL], 0);
	tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 1);
	rr_expect_end(0, HRP_NAK_REM_ACCESS, 0);

	/* They count like READs. */
	rr_begin(HRP_TYPE_RC);
	for (i = 0; i < 3; i++)
		tap_eq(rr_ask(HRP_OP_FLUSH, i, 0), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_FLUSH, i, 0), HRP_RX_NAK);
}

/* Headers come from the stack; all of each packet is filled in. */
static void answers_are_filled_in(void)
{
	static const u8 ops[] = {
		HRP_OP_SEND_ONLY, HRP_OP_WRITE_ONLY, HRP_OP_READ_REQ,
		HRP_OP_CMP_SWAP, HRP_OP_FETCH_ADD, HRP_OP_ATOMIC_WRITE,
		HRP_OP_FLUSH, HRP_OP_SEND_LAST,
	};
	struct hrp_burst bursts[ARRAY_SIZE(filled_before)];
	unsigned int op, i;

	for (op = 0; op < ARRAY_SIZE(ops); op++) {
		for (i = 0; i < ARRAY_SIZE(bursts); i++) {
			struct hrp_pkt pkt;

			rr_begin(HRP_TYPE_RC);
			pkt = rr_request(ops[op], 0,
					 ops[op] == HRP_OP_ATOMIC_WRITE ? 8 : 0);
			pkt.dmalen = ops[op] == HRP_OP_READ_REQ ? 2 * MTU :
								  pkt.payload_len;
			pkt.feth = HRW_FETH_GLOBAL;
			pkt.ackreq = 1;
			rr_arrive(&pkt);
			memset(&rr.burst, filled_before[i], sizeof(rr.burst));
			tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
			bursts[i] = rr.burst;
		}
		filled_compare(&bursts[0], &bursts[1]);
	}
}

int main(void)
{
	tap_plan(25);
	tap_run(read_is_answered_in_bursts);
	tap_run(answers_follow_requests);
	tap_run(read_of_nothing_is_answered);
	tap_run(read_is_repeated_from_where_it_is_asked);
	tap_run(part_is_repeated_before_the_rest_is_sent);
	tap_run(parts_are_repeated_in_order);
	tap_run(parts_that_wait_are_not_repeated);
	tap_run(reads_beyond_the_grant_are_refused);
	tap_run(repeated_reads_do_not_count_against_the_grant);
	tap_run(read_whose_memory_went_away);
	tap_run(read_whose_memory_is_fetched);
	tap_run(read_whose_memory_cannot_be_fetched);
	tap_run(read_whose_memory_ends);
	tap_run(repetition_whose_memory_cannot_be_fetched);
	tap_run(atomic_whose_memory_is_fetched);
	tap_run(atomic_is_executed_once);
	tap_run(atomic_must_be_aligned_and_permitted);
	tap_run(atomic_write_is_placed_once);
	tap_run(atomic_write_is_of_8_bytes);
	tap_run(atomic_write_whose_memory_is_fetched);
	tap_run(flush_is_executed_once);
	tap_run(flush_of_each_kind);
	tap_run(flush_of_what_is_volatile);
	tap_run(flush_is_limited_and_checked);
	tap_run(answers_are_filled_in);
	return tap_exit();
}

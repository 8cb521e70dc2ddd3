// SPDX-License-Identifier: GPL-2.0
/* Responder, SEND and WRITE: what is answered, completed and refused. */
#include <linux/kernel.h>
#include <linux/limits.h>
#include "proto/sack.h"
#include "resp_rig.h"

#define BEGIN		0xff	/* no opcode */

static void send_fills_one_entry(void)
{
	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_ok(rr.rx.fuse);
	tap_eq(rr.rx.mem.offset, 0);
	tap_eq(rr_ask(HRP_OP_SEND_MIDDLE, 1, MTU), HRP_RX_ACCEPT);
	tap_eq(rr.rx.mem.offset, MTU);
	tap_eq(rr.nr_cqes, 0);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, 2, 1), HRP_RX_ACCEPT);
	tap_eq(rr.rx.mem.offset, 2 * MTU);
	tap_eq(rr.rx.mem.len, 1);
	tap_eq(rr.rx.mem.access, HRP_ACCESS_LOCAL_WRITE);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.byte_len, 2 * MTU + 1);
	tap_eq(rr.cqe.opcode, HROCE_WC_RECV);
	tap_eq(rr.cqe.status, HROCE_WC_SUCCESS);
	tap_ok(!rr.solicited);
	rr_expect_ack(2, HRP_SYN_CREDIT_INVALID, 1);
	rr_expect_nothing();
}

static void send_of_nothing_completes(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_SEND_ONLY_IMM, 0, 0);
	pkt.imm = (__be32)0x12345678;
	pkt.se = 1;
	pkt.ackreq = 0;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr.rx.mem.len, 0);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.byte_len, 0);
	tap_eq(rr.cqe.flags, HROCE_WCF_IMM);
	tap_eq(rr.cqe.imm_data, 0x12345678);
	tap_ok(rr.solicited);
	rr_expect_nothing();	/* no answer was asked for */
}

static void send_inv_takes_the_key_away(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_SEND_ONLY_INV, 0, 8);
	pkt.inv_rkey = 7;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr.cqe.flags, HROCE_WCF_INV);
	tap_eq(rr.cqe.imm_data, 7);
	tap_eq(rr.nr_invalidated, 1);
	/* Again: acknowledged, nothing done. */
	tap_eq(rr_arrive(&pkt), HRP_RX_DUPLICATE);
	tap_eq(rr.nr_invalidated, 1);
	tap_eq(rr.nr_cqes, 1);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
}

/* A fault of class J (9.9.6.3): no NAK, but what came before is acknowledged. */
static void send_inv_of_a_bad_key_is_not_answered(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_SEND_ONLY, 0, 8);
	pkt = rr_request(HRP_OP_SEND_ONLY_INV, 1, 8);
	pkt.inv_rkey = BAD_KEY;
	rr_arrive(&pkt);
	tap_eq(rr.nr_invalidated, 0);
	tap_eq(rr.nr_cqes, 2);
	tap_eq(rr.cqe.status, HROCE_WC_MW_BIND_ERR);
	tap_eq(rr.cqe.flags, 0);
	tap_ok(rr.solicited);
	tap_eq(rr.qp.state, HRP_ERR);
	tap_eq(rr_pending(HRP_PENDING_ERROR), 1);
	tap_eq(rr.counts.v[HROCE_EV_RESP_ERRORS], 1);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	rr_expect_nothing();
	tap_eq(rr_arrive(&pkt), HRP_RX_DROP);
	rr_expect_nothing();

	/* A READ before it is answered, too. */
	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_READ_REQ, 0, 8);
	pkt.psn = hrp_psn_add(START_PSN, 1);
	rr_arrive(&pkt);
	tap_eq(rr.qp.state, HRP_ERR);
	rr_expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 8);
	rr_expect_nothing();
}

static void send_too_long_is_refused(void)
{
	u32 i;

	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	for (i = 1; i < ROOM / MTU; i++)
		tap_eq(rr_ask(HRP_OP_SEND_MIDDLE, i, MTU), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, i, 1), HRP_RX_NAK);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.status, HROCE_WC_LOC_LEN_ERR);
	tap_ok(rr.solicited);
	tap_eq(rr_pending(HRP_PENDING_QP_REQ_ERR), 0);
	rr_expect_end(i, HRP_NAK_INV_REQ, 0);
}

/* All packets in the middle that the receive entry has room for. */
static void send_middles_go_together(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_eq(rr.rx.more, 0);
	pkt = rr_request(HRP_OP_SEND_MIDDLE, 1, MTU);
	hrp_resp_begin(&rr.qp, &pkt, &rr.rx);
	tap_eq(rr.rx.more, ROOM / MTU - 2);
	tap_eq(rr.rx.nr_pkts, 1);
	rr.rx.nr_pkts = 2;
	pkt.psn = hrp_psn_add(pkt.psn, 1);
	hrp_resp_commit(&rr.qp, &pkt, &rr.rx, HROCE_WC_SUCCESS);
	rr_expect_ack(2, HRP_SYN_CREDIT_INVALID, 0);
	tap_eq(rr_ask(HRP_OP_SEND_MIDDLE, 2, MTU), HRP_RX_DUPLICATE);
	tap_eq(rr.rx.more, 0);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, 3, 5), HRP_RX_ACCEPT);
	tap_eq(rr.rx.more, 0);
	tap_eq(rr.cqe.byte_len, 3 * MTU + 5);
}

static void write_middles_go_together(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_FIRST, 0, MTU);
	pkt.dmalen = 6 * MTU + 5;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr.rx.more, 0);
	pkt = rr_request(HRP_OP_WRITE_MIDDLE, 1, MTU);
	hrp_resp_begin(&rr.qp, &pkt, &rr.rx);
	tap_eq(rr.rx.more, 4);
	rr.rx.nr_pkts = 5;
	hrp_resp_commit(&rr.qp, &pkt, &rr.rx, HROCE_WC_SUCCESS);
	tap_eq(rr_ask(HRP_OP_WRITE_LAST, 6, 5), HRP_RX_ACCEPT);
	tap_eq(rr.rx.mem.offset, 6 * MTU);
}

static void send_without_memory_is_refused(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_SEND_ONLY, 0, 100);
	rr_arrive_status(&pkt, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rr.cqe.status, HROCE_WC_LOC_PROT_ERR);
	rr_expect_end(0, HRP_NAK_REM_OP, 0);
}

static void no_entry_is_rnr(void)
{
	rr_begin(HRP_TYPE_RC);
	rr.nr_recvs = 0;
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_NAK);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	/* What follows is dropped without a word. */
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 1, 1), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_PSN);
	rr_expect_nothing();
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_NAK);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	tap_eq(rr.counts.v[HROCE_EV_RNR_SENT], 2);
	rr.nr_recvs = 1;
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	tap_eq(rr.qp.state, HRP_RTS);
}

static void write_imm_needs_an_entry_at_its_end(void)
{
	rr_begin(HRP_TYPE_RC);
	rr.nr_recvs = 0;
	{
		struct hrp_pkt pkt = rr_request(HRP_OP_WRITE_FIRST, 0, MTU);

		pkt.dmalen = MTU + 5;
		tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	}
	tap_eq(rr_ask(HRP_OP_WRITE_LAST_IMM, 1, 5), HRP_RX_NAK);
	rr_expect_ack(1, HRP_SYN_RNR | RNR_CODE, 0);
	rr.nr_recvs = 1;
	tap_eq(rr_ask(HRP_OP_WRITE_LAST_IMM, 1, 5), HRP_RX_ACCEPT);
	tap_eq(rr.rx.mem.offset, MTU);
	tap_eq(rr.cqe.opcode, HROCE_WC_RECV_WRITE_IMM);
	tap_eq(rr.cqe.byte_len, MTU + 5);
	rr_expect_ack(1, HRP_SYN_CREDIT_INVALID, 1);
}

static void write_is_fused_where_the_state_says_where(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_FIRST, 0, MTU);
	pkt.dmalen = 2 * MTU + 1;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_ok(!rr.rx.fuse);
	tap_eq(rr.rx.mem.one.addr, 0x1000);
	tap_eq(rr.rx.mem.one.length, 2 * MTU + 1);
	tap_eq(rr_ask(HRP_OP_WRITE_MIDDLE, 1, MTU), HRP_RX_ACCEPT);
	tap_ok(rr.rx.fuse);
	tap_eq(rr.rx.mem.one.addr, 0x1000);
	tap_eq(rr.rx.mem.offset, MTU);
	tap_eq(rr.rx.mem.access, HRP_ACCESS_REMOTE_WRITE);
	tap_eq(rr_ask(HRP_OP_WRITE_LAST, 2, 1), HRP_RX_ACCEPT);
	tap_ok(rr.rx.fuse);
	tap_eq(rr.nr_cqes, 0);
	tap_eq(rr_ask(HRP_OP_WRITE_ONLY, 3, 1), HRP_RX_ACCEPT);
	tap_ok(!rr.rx.fuse);
	rr_expect_ack(3, HRP_SYN_CREDIT_INVALID, 2);
}

static void write_of_nothing_needs_no_key(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_ONLY, 0, 0);
	pkt.rkey = BAD_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
}

static void write_with_a_bad_key_is_refused(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_ONLY, 0, 4);
	pkt.rkey = BAD_KEY;
	/* It cannot be placed. */
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 1);
	rr_expect_end(0, HRP_NAK_REM_ACCESS, 0);
}

/* The receive entry that would have been completed hears of it. */
static void write_imm_with_a_bad_key_ends_an_entry(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_ONLY_IMM, 0, 4);
	pkt.rkey = BAD_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_NAK);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.status, HROCE_WC_LOC_ACCESS_ERR);
	tap_eq(rr.cqe.opcode, HROCE_WC_RECV_WRITE_IMM);
	tap_eq(rr.cqe.flags, 0);
	tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 0);
	rr_expect_end(0, HRP_NAK_REM_ACCESS, 0);

	/* The key goes while the message is under way. */
	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_FIRST, 0, MTU);
	pkt.dmalen = MTU + 5;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	pkt = rr_request(HRP_OP_WRITE_LAST_IMM, 1, 5);
	rr_arrive_status(&pkt, HROCE_WC_REM_ACCESS_ERR);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.status, HROCE_WC_LOC_ACCESS_ERR);
	rr_expect_end(1, HRP_NAK_REM_ACCESS, 0);

	/* There is none: an event. */
	rr_begin(HRP_TYPE_RC);
	rr.nr_recvs = 0;
	pkt = rr_request(HRP_OP_WRITE_ONLY_IMM, 0, 4);
	pkt.rkey = BAD_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_NAK);
	tap_eq(rr.nr_cqes, 0);
	tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 1);
	rr_expect_end(0, HRP_NAK_REM_ACCESS, 0);
}

static void write_length_must_agree(void)
{
	static const struct {
		u32 dmalen;
		u32 last;
	} cases[] = {
		{ MTU + 9, 10 }, { MTU + 9, 8 }, { MTU, 1 },
		{ 0x80000001, 1 },
	};
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rr_begin(HRP_TYPE_RC);
		pkt = rr_request(HRP_OP_WRITE_FIRST, 0, MTU);
		pkt.dmalen = cases[i].dmalen;
		if (rr_arrive(&pkt) == HRP_RX_ACCEPT) {
			tap_eq(rr_ask(HRP_OP_WRITE_LAST, 1, cases[i].last),
			       HRP_RX_NAK);
			rr_expect_ack(1, HRP_NAK_INV_REQ, 0);
		} else {
			rr_expect_ack(0, HRP_NAK_INV_REQ, 0);
		}
		tap_eq(rr_pending(HRP_PENDING_QP_REQ_ERR), 1);
		tap_eq(rr.qp.state, HRP_ERR);
	}
}

static void payload_must_fill_the_mtu(void)
{
	static const struct {
		u8 op;
		u32 len;
		bool in_send;
	} bad[] = {
		{ HRP_OP_SEND_FIRST, MTU - 4, false },
		{ HRP_OP_SEND_FIRST, MTU + 4, false },
		{ HRP_OP_SEND_ONLY, MTU + 1, false },
		{ HRP_OP_SEND_FIRST, 0, false },
		{ HRP_OP_SEND_MIDDLE, MTU - 4, true },
		{ HRP_OP_SEND_LAST, 0, true },
		{ HRP_OP_SEND_LAST, MTU + 1, true },
		{ HRP_OP_WRITE_FIRST, MTU - 4, false },
	};
	u32 i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rr_begin(HRP_TYPE_RC);
		if (bad[i].in_send)
			rr_ask(HRP_OP_SEND_FIRST, 0, MTU);
		tap_eq(rr_ask(bad[i].op, bad[i].in_send, bad[i].len), HRP_RX_NAK);
		tap_eq(rr.nr_cqes, bad[i].in_send);
		rr_expect_end(bad[i].in_send, HRP_NAK_INV_REQ, 0);
	}
}

static void opcodes_must_follow_each_other(void)
{
	static const struct {
		u8 first;	/* BEGIN: nothing before */
		u8 op;
	} bad[] = {
		{ BEGIN, HRP_OP_SEND_MIDDLE }, { BEGIN, HRP_OP_SEND_LAST },
		{ BEGIN, HRP_OP_WRITE_MIDDLE }, { BEGIN, HRP_OP_WRITE_LAST },
		{ HRP_OP_SEND_FIRST, HRP_OP_SEND_FIRST },
		{ HRP_OP_SEND_FIRST, HRP_OP_WRITE_MIDDLE },
		{ HRP_OP_SEND_FIRST, HRP_OP_WRITE_ONLY },
		{ HRP_OP_SEND_FIRST, HRP_OP_READ_REQ },
		{ HRP_OP_WRITE_FIRST, HRP_OP_SEND_LAST },
		{ HRP_OP_WRITE_FIRST, HRP_OP_FETCH_ADD },
	};
	struct hrp_pkt pkt;
	u32 i, n;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		rr_begin(HRP_TYPE_RC);
		n = bad[i].first != BEGIN;
		if (n) {
			pkt = rr_request(bad[i].first, 0, MTU);
			pkt.dmalen = 3 * MTU;
			tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
		}
		tap_eq(rr_ask(bad[i].op, n, MTU), HRP_RX_NAK);
		tap_eq(rr.cqe.status, bad[i].first == HRP_OP_SEND_FIRST ?
				     HROCE_WC_REM_INV_REQ_ERR : 0);
		tap_eq(rr_pending(HRP_PENDING_QP_REQ_ERR) + rr.nr_cqes, 1);
		rr_expect_end(n, HRP_NAK_INV_REQ, 0);
	}
}

static void what_is_not_permitted_is_invalid(void)
{
	static const u8 ops[] = {
		HRP_OP_WRITE_ONLY, HRP_OP_READ_REQ, HRP_OP_CMP_SWAP,
		HRP_OP_FLUSH,
	};
	u32 i;

	for (i = 0; i < sizeof(ops); i++) {
		rr_begin(HRP_TYPE_RC);
		rr.qp.access &= ~(1u << i);
		tap_eq(rr_ask(ops[i], 0, 0), HRP_RX_NAK);
		rr_expect_end(0, HRP_NAK_INV_REQ, 0);
		rr_begin(HRP_TYPE_RC);
		rr.qp.access = 1u << i;
		tap_eq(rr_ask(ops[i], 0, 0), HRP_RX_ACCEPT);
	}
}

static void one_nak_per_gap(void)
{
	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 1, 1), HRP_RX_NAK);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 2, 1), HRP_RX_DROP);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 3, 1), HRP_RX_DROP);
	rr_expect_nothing();
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 2, 1), HRP_RX_NAK);
	/* NAK replaces the ACK of the one before it. */
	rr_expect_ack(1, HRP_NAK_PSN_SEQ, 1);
	rr_expect_nothing();
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 2);
}

/* Take all answers that wait. Return: how many of them are sequence NAKs. */
static u32 drain_naks(void)
{
	u32 naks = 0;

	while (hrp_resp_next(&rr.qp, &rr.burst))
		naks += rr.burst.first.syndrome == HRP_NAK_PSN_SEQ;
	return naks;
}

/*
 * Invented requests that alternate between PSNs ahead, far ahead and behind
 * draw one NAK until the expected PSN arrives.
 */
static void invented_requests_draw_one_nak(void)
{
	u32 i, round, naks = 0, lcg = 1;

	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	for (round = 1; round <= 3; round++) {
		for (i = 0; i < 10000; i++) {
			lcg = lcg * 1664525 + 1013904223;
			rr_ask(HRP_OP_SEND_ONLY, round + 1 + lcg % (1 << 18), 1);
			rr_ask(HRP_OP_SEND_ONLY, (1 << 19) + lcg % (1 << 20), 1);
			rr_ask(HRP_OP_SEND_ONLY, round - 1, 1);
			naks += drain_naks();
		}
		tap_eq(naks, round);
		tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], round);
		tap_eq(rr_ask(HRP_OP_SEND_ONLY, round, 1), HRP_RX_ACCEPT);
		tap_eq(drain_naks(), 0);
	}
}

/*
 * Only one guessed PSN in 64 draws a NAK, and every PSN that a peer may have in
 * flight shows a gap.
 */
static void psns_far_ahead_are_not_believed(void)
{
	static const u32 far[] = { (1 << 18) + 1, 1 << 20, (1 << 23) - 1 };
	u32 i, psn;

	for (i = 0; i < ARRAY_SIZE(far); i++) {
		rr_begin(HRP_TYPE_RC);
		tap_eq(rr_ask(HRP_OP_SEND_ONLY, far[i], 1), HRP_RX_DROP);
		tap_eq(rr.rx.drop, HROCE_DROP_PSN);
		tap_eq(rr_ask(HRP_OP_READ_REQ, far[i], 0), HRP_RX_DROP);
		rr_expect_nothing();
		tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 0);
		tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	}
	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 1 << 18, 1), HRP_RX_NAK);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);

	/* Of all PSNs, one in 64. */
	for (psn = 0, i = 0; psn < 1 << 24; psn += 1 << 10) {
		rr_begin(HRP_TYPE_RC);
		i += rr_ask(HRP_OP_SEND_ONLY, psn, 1) == HRP_RX_NAK;
	}
	tap_eq(i, (1 << 14) / 64);
}

static void progress_takes_a_nak_back(void)
{
	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 1, 1), HRP_RX_NAK);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	rr_expect_nothing();
}

static void duplicates_are_acknowledged(void)
{
	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_SEND_ONLY, 0, 1);
	rr_ask(HRP_OP_WRITE_ONLY, 1, 1);
	rr_expect_ack(1, HRP_SYN_CREDIT_INVALID, 2);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_DUPLICATE);
	tap_eq(rr.rx.mem.len, 0);
	tap_eq(rr_ask(HRP_OP_WRITE_ONLY, 1, 1), HRP_RX_DUPLICATE);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.counts.v[HROCE_EV_DUPLICATES], 2);
	/* One for both. */
	rr_expect_ack(1, HRP_SYN_CREDIT_INVALID, 2);
	rr_expect_nothing();
	/* Half of the circle lies behind. */
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 2 - HRP_PSN_WINDOW, 1), HRP_RX_DUPLICATE);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 1 + HRP_PSN_WINDOW, 1), HRP_RX_DROP);
}

/* What is asked for again and again is answered by another way. */
static void answers_take_another_way(void)
{
	u32 i;

	rr_begin(HRP_TYPE_RC);
	for (i = 0; i < 3; i++)
		rr_ask(HRP_OP_WRITE_ONLY, i, 1);
	/* A flight that is sent again. */
	for (i = 0; i < 3; i++)
		tap_eq(rr_ask(HRP_OP_WRITE_ONLY, i, 1), HRP_RX_DUPLICATE);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 0);
	/* The flight once more, then its end. */
	rr_ask(HRP_OP_WRITE_ONLY, 0, 1);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 1);
	rr_ask(HRP_OP_WRITE_ONLY, 1, 1);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 1);
	/* Something new: the last answers have arrived. */
	rr_ask(HRP_OP_WRITE_ONLY, 3, 1);
	rr_ask(HRP_OP_WRITE_ONLY, 3, 1);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 1);
	for (i = 2; i < 5; i++) {
		rr_ask(HRP_OP_WRITE_ONLY, 3, 1);
		tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), i);
	}
}

/* 16 packets of a flight have come, and the peer has had no ACK for any. */
static void answers_of_a_flight_leave_at_once(void)
{
	u32 psn;

	rr_begin(HRP_TYPE_RC);
	for (psn = 0; psn < 15; psn++)
		rr_ask(HRP_OP_WRITE_ONLY, psn, 1);
	rr_ask(HRP_OP_WRITE_ONLY, 0, 1);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 0);

	rr_begin(HRP_TYPE_RC);
	for (psn = 0; psn < 16; psn++)
		rr_ask(HRP_OP_WRITE_ONLY, psn, 1);
	rr_ask(HRP_OP_WRITE_ONLY, 0, 1);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 1);
	/* What is behind comes again after that, too, as far as a window goes. */
	for (; psn < 2063; psn++)
		rr_ask(HRP_OP_WRITE_ONLY, psn, 1);
	rr_ask(HRP_OP_WRITE_ONLY, 2047, 1);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 1);
	/* Another flight. */
	for (; psn < 4111; psn++)
		rr_ask(HRP_OP_WRITE_ONLY, psn, 1);
	rr_ask(HRP_OP_WRITE_ONLY, 4095, 1);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 2);
}

/* A READ of @nr packets comes, and again, from packet @first on. */
static u32 read_again(u32 nr, u32 first)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_READ_REQ, 0, 0);
	pkt.dmalen = nr * MTU;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	while (hrp_resp_next(&rr.qp, &rr.burst))
		;
	pkt = rr_request(HRP_OP_READ_REQ, first, 0);
	pkt.va += first * MTU;
	pkt.dmalen = (nr - first) * MTU;
	tap_eq(rr_arrive(&pkt), HRP_RX_DUPLICATE);
	return rr_pending(HRP_PENDING_REHASH_ANSWERS);
}

/* An answer of 16 packets is a flight, if all of it is missing. */
static void long_answers_leave_at_once(void)
{
	tap_eq(read_again(16, 0), 1);
	tap_eq(read_again(15, 0), 0);
	tap_eq(read_again(64, 1), 0);
}

/* A peer that takes several ways waits for nothing: ACKs may overtake each other. */
static void answers_leave_at_once(void)
{
	rr_begin(HRP_TYPE_RC);
	rr.qp.resp.follows = 1;
	rr_ask(HRP_OP_WRITE_ONLY, 0, 1);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 0);
	tap_eq(rr_ask(HRP_OP_WRITE_ONLY, 0, 1), HRP_RX_DUPLICATE);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 1);
}

/* It asks again whether this side understands it. */
static void repeated_question_is_answered_by_another_way(void)
{
	static const u8 ask[] = { 'h', 'r', 'o', 'c', 1, 7, 0, 0 };

	rr_begin(HRP_TYPE_RC);
	tap_ok(hrp_sack_asked(&rr.qp, ask, sizeof(ask)));
	tap_ok(rr.qp.resp.follows);
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 0);
	tap_ok(hrp_sack_asked(&rr.qp, ask, sizeof(ask)));
	tap_eq(rr_pending(HRP_PENDING_REHASH_ANSWERS), 1);
}

/* An ACK with the PSN of a READ would end it at a peer that takes it so. */
static void acknowledgement_never_names_a_read(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_WRITE_ONLY, 0, 1);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	pkt = rr_request(HRP_OP_READ_REQ, 1, 0);
	pkt.dmalen = 2 * MTU;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	rr_expect_read(1, 2, HRP_OP_READ_RESP_FIRST, 0, 2 * MTU);
	tap_eq(rr_ask(HRP_OP_WRITE_ONLY, 0, 1), HRP_RX_DUPLICATE);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 2);
	rr_ask(HRP_OP_FETCH_ADD, 3, 0);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr_ask(HRP_OP_WRITE_ONLY, 0, 1), HRP_RX_DUPLICATE);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 3);
	rr_ask(HRP_OP_WRITE_ONLY, 4, 1);
	rr_expect_ack(4, HRP_SYN_CREDIT_INVALID, 4);
	rr_expect_nothing();
}

/* Nor one that is to come, which the peer would take for executed. */
static void acknowledgement_never_runs_ahead(void)
{
	struct hrp_pkt pkt = rr_request(HRP_OP_READ_REQ, 1, 0);
	struct hrp_burst b;
	u32 i;

	rr_begin(HRP_TYPE_RC);
	rr.qp.resp.burst_pkts = 128;
	rr_ask(HRP_OP_WRITE_ONLY, 0, 1);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	for (i = 0; i < 64; i++) {
		/* 2^19 or 2^22 packets. */
		pkt.dmalen = i % 3 ? 1u << 29 : 1u << 30;
		rr.qp.mtu = i % 3 ? 1024 : 256;
		pkt.psn = rr.qp.resp.psn;
		tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
		while (hrp_resp_next(&rr.qp, &b))
			hrp_resp_sent(&rr.qp, &b, HROCE_WC_SUCCESS);
		tap_ok(hrp_psn_diff(rr.qp.resp.ack_psn, rr.qp.resp.psn) < 0);
		tap_ok(hrp_psn_diff(rr.qp.resp.ack_psn, pkt.psn) < 0);
	}
}

static void send_answers(u8 status)
{
	struct hrp_burst b;

	while (hrp_resp_next(&rr.qp, &b))
		hrp_resp_sent(&rr.qp, &b, status);
}

/* The peer has had the answer and made the key invalid; its question comes twice. */
static void answer_to_a_duplicate_may_fail(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_READ_REQ, 0, 0);
	pkt.dmalen = 4 * MTU;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	send_answers(HROCE_WC_SUCCESS);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY_INV, 4, 4), HRP_RX_ACCEPT);
	rr_expect_ack(4, HRP_SYN_CREDIT_INVALID, 2);
	tap_eq(rr_arrive(&pkt), HRP_RX_DUPLICATE);
	send_answers(HROCE_WC_REM_ACCESS_ERR);
	tap_eq(rr.qp.state, HRP_RTS);
	/* As if it had not come. */
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 5, 4), HRP_RX_ACCEPT);
	rr_expect_ack(5, HRP_SYN_CREDIT_INVALID, 3);

	/* Not all of this one has been sent: the peer must be told. */
	pkt.psn = rr.qp.resp.psn;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr_arrive(&pkt), HRP_RX_DUPLICATE);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	hrp_resp_sent(&rr.qp, &rr.burst, HROCE_WC_REM_ACCESS_ERR);
	rr_expect_end(6, HRP_NAK_REM_ACCESS, 3);
}

static void first_packet_in_rtr_is_an_event(void)
{
	rr_begin(HRP_TYPE_RC);
	rr.qp.state = HRP_RTR;
	rr_ask(HRP_OP_SEND_ONLY, 0, 1);
	rr_ask(HRP_OP_SEND_ONLY, 1, 1);
	tap_eq(rr_pending(HRP_PENDING_COMM_EST), 1);
	rr_expect_ack(1, HRP_SYN_CREDIT_INVALID, 2);

	rr_begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_SEND_ONLY, 0, 1);
	tap_eq(rr_pending(HRP_PENDING_COMM_EST), 0);
}

/* Even if a NAK was due when it began: what is missing is not missed any more. */
static void error_state_acknowledges_what_is_complete(void)
{
	rr_begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	rr_ask(HRP_OP_SEND_ONLY, 2, 1);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 1);
	rr.qp.state = HRP_ERR;
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	rr_expect_nothing();
}

static void requests_need_a_state_and_a_service(void)
{
	static const u8 states[] = { HRP_RESET, HRP_INIT, HRP_ERR };
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < sizeof(states); i++) {
		rr_begin(HRP_TYPE_RC);
		rr.qp.state = states[i];
		tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_DROP);
		tap_eq(rr.rx.drop, HROCE_DROP_QP_STATE);
	}
	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_SEND_ONLY, 0, 1);
	pkt.opcode |= HRP_SVC_UC;
	tap_eq(rr_arrive(&pkt), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_OPCODE);
	tap_eq(rr_ask(HRP_OP_ACK, 0, 0), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_OPCODE);
}

static void flush_returns_all_entries(void)
{
	rr_begin(HRP_TYPE_RC);
	rr.nr_recvs = 3;
	rr_ask(HRP_OP_SEND_FIRST, 0, MTU);
	rr.qp.state = HRP_ERR;
	hrp_resp_flush(&rr.qp, U32_MAX);
	tap_eq(rr.nr_cqes, 3);
	tap_eq(rr.cqe.status, HROCE_WC_WR_FLUSH_ERR);
	tap_eq(rr.cqe.wr_id, 2);
	tap_eq(rr_pending(HRP_PENDING_LAST_WQE), 0);
	/* What came before the error stands, and the peer is to know. */
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 0);
	rr_expect_nothing();

	rr_begin(HRP_TYPE_RC);
	rr.qp.resp.srq = 1;
	rr_ask(HRP_OP_SEND_FIRST, 0, MTU);
	rr.qp.state = HRP_ERR;
	tap_eq(hrp_resp_flush(&rr.qp, 1), 1);
	tap_eq(rr_pending(HRP_PENDING_LAST_WQE), 0);
	hrp_resp_flush(&rr.qp, U32_MAX);
	hrp_resp_flush(&rr.qp, U32_MAX);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.nr_recvs, 99);
	tap_eq(rr_pending(HRP_PENDING_LAST_WQE), 1);
}

/* As without a receive entry: the peer is to come again. */
static void memory_is_fetched(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_ONLY, 0, 4);
	rr_arrive_status(&pkt, HRP_MEM_FAULT);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	tap_eq(rr.counts.v[HROCE_EV_RNR_SENT], 1);
	rr_arrive_status(&pkt, HRP_MEM_FAULT);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	rr_arrive(&pkt);
	rr_expect_ack(0, HRP_SYN_ACK | HRP_SYN_CREDIT_INVALID, 1);
	/* What was fetched in vain, but is not asked for any more. */
	hrp_resp_place_failed(&rr.qp);
	pkt = rr_request(HRP_OP_SEND_ONLY, 1, 4);
	rr_arrive_status(&pkt, HRP_MEM_FAULT);
	rr_expect_ack(1, HRP_SYN_RNR | RNR_CODE, 1);
	rr_arrive(&pkt);
	rr_expect_ack(1, HRP_SYN_ACK | HRP_SYN_CREDIT_INVALID, 2);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.qp.state, HRP_RTS);
}

static void memory_cannot_be_fetched(void)
{
	struct hrp_pkt pkt;

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_ONLY, 0, 4);
	rr_arrive_status(&pkt, HRP_MEM_FAULT);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	hrp_resp_place_failed(&rr.qp);
	rr_arrive_status(&pkt, HRP_MEM_FAULT);
	rr_expect_end(0, HRP_NAK_REM_ACCESS, 0);

	rr_begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_SEND_ONLY, 0, 4);
	rr_arrive_status(&pkt, HRP_MEM_FAULT);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	hrp_resp_place_failed(&rr.qp);
	rr_arrive_status(&pkt, HRP_MEM_FAULT);
	tap_eq(rr.cqe.status, HROCE_WC_LOC_PROT_ERR);
	rr_expect_end(0, HRP_NAK_REM_OP, 0);
}

int main(void)
{
	tap_plan(37);
	tap_run(send_fills_one_entry);
	tap_run(send_of_nothing_completes);
	tap_run(send_inv_takes_the_key_away);
	tap_run(send_inv_of_a_bad_key_is_not_answered);
	tap_run(send_too_long_is_refused);
	tap_run(send_middles_go_together);
	tap_run(write_middles_go_together);
	tap_run(send_without_memory_is_refused);
	tap_run(no_entry_is_rnr);
	tap_run(write_imm_needs_an_entry_at_its_end);
	tap_run(write_is_fused_where_the_state_says_where);
	tap_run(write_of_nothing_needs_no_key);
	tap_run(write_with_a_bad_key_is_refused);
	tap_run(write_imm_with_a_bad_key_ends_an_entry);
	tap_run(write_length_must_agree);
	tap_run(payload_must_fill_the_mtu);
	tap_run(opcodes_must_follow_each_other);
	tap_run(what_is_not_permitted_is_invalid);
	tap_run(one_nak_per_gap);
	tap_run(invented_requests_draw_one_nak);
	tap_run(psns_far_ahead_are_not_believed);
	tap_run(progress_takes_a_nak_back);
	tap_run(duplicates_are_acknowledged);
	tap_run(answers_take_another_way);
	tap_run(answers_of_a_flight_leave_at_once);
	tap_run(long_answers_leave_at_once);
	tap_run(answers_leave_at_once);
	tap_run(repeated_question_is_answered_by_another_way);
	tap_run(acknowledgement_never_names_a_read);
	tap_run(acknowledgement_never_runs_ahead);
	tap_run(answer_to_a_duplicate_may_fail);
	tap_run(first_packet_in_rtr_is_an_event);
	tap_run(error_state_acknowledges_what_is_complete);
	tap_run(requests_need_a_state_and_a_service);
	tap_run(flush_returns_all_entries);
	tap_run(memory_is_fetched);
	tap_run(memory_cannot_be_fetched);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/* Responder: requests that come before earlier ones. */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "proto/sack.h"
#include "resp_rig.h"

#define ACK	HRP_SYN_CREDIT_INVALID

static u8 arrive(u32 n)
{
	return rr_ask(HRP_OP_SEND_ONLY, n, 8);
}

/* The same, unasked for. */
static u8 arrive_quietly(u32 n)
{
	struct hrp_pkt pkt = rr_request(HRP_OP_SEND_ONLY, n, 8);

	pkt.ackreq = 0;
	return rr_arrive(&pkt);
}

/* A queue pair that keeps what comes too early. */
static void begin(enum hrp_type type)
{
	rr_begin(type);
	rr_keep(U32_MAX);
}

static void kept_until_the_gap_is_filled(void)
{
	u32 i;

	begin(HRP_TYPE_RC);
	for (i = 1; i <= 5; i++)
		tap_eq(arrive(i), HRP_RX_KEEP);
	tap_eq(rr.rx.mem.len, 0);
	tap_ok(!rr.rx.fuse);
	tap_eq(rr.counts.v[HROCE_EV_KEPT], 5);
	tap_eq(rr.counts.v[HROCE_DROP_PSN], 0);
	tap_eq(rr_nr_kept(), 5);
	tap_eq(rr_drain(U32_MAX), 0);
	/* Nothing is done, and one NAK asks for the missing one. */
	tap_eq(rr.nr_cqes, 0);
	tap_eq(rr.nr_recvs, 100);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	rr_expect_nothing();

	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr_drain(U32_MAX), 5);
	tap_eq(rr.nr_cqes, 6);
	tap_eq(rr.nr_recvs, 94);
	rr_expect_ack(5, ACK, 6);
	rr_expect_nothing();
	tap_ok(!rr.qp.resp.kept);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 1);
	tap_eq(rr.counts.v[HROCE_EV_KEPT_DROPPED], 0);
	tap_eq(arrive(6), HRP_RX_ACCEPT);
}

static void order_of_arrival_does_not_matter(void)
{
	static const u32 orders[][4] = {
		{ 4, 3, 2, 1 }, { 2, 4, 1, 3 }, { 3, 1, 4, 2 }, { 1, 4, 2, 3 },
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		begin(HRP_TYPE_RC);
		for (k = 0; k < 4; k++)
			tap_eq(arrive(orders[i][k]), HRP_RX_KEEP);
		tap_eq(arrive(0), HRP_RX_ACCEPT);
		for (k = 0; k < 4; k++) {
			tap_eq(rr_drain(1), 1);
			tap_eq(rr.cqe.wr_id, k + 1);
		}
		tap_eq(rr_drain(1), 0);
		rr_expect_ack(4, ACK, 5);
	}
}

static void message_goes_on_from_what_is_kept(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, 2, 7), HRP_RX_KEEP);
	tap_eq(rr_ask(HRP_OP_SEND_MIDDLE, 1, MTU), HRP_RX_ACCEPT);
	tap_eq(rr.nr_cqes, 0);
	tap_eq(rr_drain(U32_MAX), 1);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.byte_len, 2 * MTU + 7);
	rr_expect_ack(2, ACK, 1);
}

/* The peer did not ask for it, but learns at once what it need not resend. */
static void answered_unasked_after_a_gap(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	rr.hold = true;
	pkt = rr_request(HRP_OP_SEND_ONLY, 1, 8);
	pkt.ackreq = 0;
	tap_eq(rr_arrive(&pkt), HRP_RX_KEEP);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	pkt = rr_request(HRP_OP_SEND_ONLY, 0, 8);
	pkt.ackreq = 0;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	rr_expect_ack(1, ACK, 2);
	rr_expect_nothing();
	pkt = rr_request(HRP_OP_SEND_ONLY, 2, 8);
	pkt.ackreq = 0;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	rr_expect_nothing();
}

static void one_nak_for_each_gap(void)
{
	begin(HRP_TYPE_RC);
	/* 0, 3 and 5 are missing. */
	arrive(1);
	arrive(2);
	arrive(4);
	arrive(6);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	rr_expect_nothing();
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 2);
	rr_expect_ack(3, HRP_NAK_PSN_SEQ, 3);
	rr_expect_nothing();
	tap_eq(rr_drain(U32_MAX), 0);
	tap_eq(arrive(7), HRP_RX_KEEP);
	rr_expect_nothing();
	tap_eq(arrive(3), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	rr_expect_ack(5, HRP_NAK_PSN_SEQ, 5);
	/* The last one is filled: no NAK, but an ACK for all. */
	tap_eq(arrive(5), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 2);
	rr_expect_ack(7, ACK, 8);
	rr_expect_nothing();
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 3);
}

/* What fills a gap of several packets is not taken for as many gaps. */
static void one_nak_for_a_long_gap(void)
{
	u32 i;

	begin(HRP_TYPE_RC);
	arrive_quietly(6);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	for (i = 0; i < 3; i++) {
		tap_eq(arrive_quietly(i), HRP_RX_ACCEPT);
		tap_eq(rr_drain(U32_MAX), 0);
		rr_expect_nothing();
	}
	/* The rest was lost again. */
	tap_eq(arrive_quietly(7), HRP_RX_KEEP);
	rr_expect_ack(3, HRP_NAK_PSN_SEQ, 3);
	for (i = 3; i < 6; i++) {
		tap_eq(arrive_quietly(i), HRP_RX_ACCEPT);
		if (i < 5)
			rr_expect_nothing();
	}
	tap_eq(rr_drain(U32_MAX), 2);
	rr_expect_ack(7, ACK, 8);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 2);
}

/* Requests that come while kept ones wait for their turn meet no gap. */
static void no_nak_for_what_is_about_to_be_taken(void)
{
	begin(HRP_TYPE_RC);
	arrive(1);
	arrive(2);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(0), 0);
	tap_eq(arrive(3), HRP_RX_KEEP);
	tap_eq(arrive(3), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_PSN);
	rr_expect_ack(0, ACK, 1);
	rr_expect_nothing();
	tap_eq(rr_drain(U32_MAX), 3);
	rr_expect_ack(3, ACK, 4);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 1);
}

static void kept_once(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(arrive(2), HRP_RX_KEEP);
	tap_eq(arrive(2), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_PSN);
	tap_eq(rr_nr_kept(), 1);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(arrive(1), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	tap_eq(rr.nr_cqes, 3);
	/* Now it is a duplicate like all others. */
	tap_eq(arrive(2), HRP_RX_DUPLICATE);
	tap_eq(rr.nr_cqes, 3);
	tap_eq(rr.rx.mem.len, 0);
	rr_expect_ack(2, ACK, 3);
}

/* Packets that were merged with the missing one bring the kept ones again. */
static void stale_ones_are_not_executed(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_FIRST, 0, MTU);
	pkt.dmalen = 5 * MTU + 1;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_WRITE_MIDDLE, 2, MTU), HRP_RX_KEEP);
	tap_eq(rr_ask(HRP_OP_WRITE_MIDDLE, 3, MTU), HRP_RX_KEEP);
	tap_eq(rr_ask(HRP_OP_WRITE_LAST, 5, 1), HRP_RX_KEEP);
	pkt = rr_request(HRP_OP_WRITE_MIDDLE, 1, MTU);
	hrp_resp_begin(&rr.qp, &pkt, &rr.rx);
	tap_ok(rr.rx.more >= 3);
	rr.rx.nr_pkts = 4;
	pkt.psn = hrp_psn_add(pkt.psn, 3);
	hrp_resp_commit(&rr.qp, &pkt, &rr.rx, HROCE_WC_SUCCESS);
	tap_eq(rr_drain(U32_MAX), 1);
	tap_eq(rr.counts.v[HROCE_EV_KEPT_DROPPED], 2);
	tap_eq(rr.counts.v[HROCE_EV_RX_WRITES], 1);
	rr_expect_ack(5, ACK, 1);
	tap_ok(!rr.qp.resp.kept);
}

/* A READ whose answer takes the PSNs that others claim. */
static void read_over_what_is_kept(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(arrive(2), HRP_RX_KEEP);
	tap_eq(arrive(4), HRP_RX_KEEP);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 0, 4 * MTU), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	tap_eq(rr.counts.v[HROCE_EV_KEPT_DROPPED], 1);
	tap_eq(rr.nr_cqes, 1);
	tap_ok(!rr.qp.resp.kept);

	/* Half of all PSNs at once. */
	begin(HRP_TYPE_RC);
	rr.qp.mtu = 256;
	tap_eq(arrive(2), HRP_RX_KEEP);
	tap_eq(arrive(2000), HRP_RX_KEEP);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 0, 1u << 31), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 0);
	tap_eq(rr.counts.v[HROCE_EV_KEPT_DROPPED], 2);
	tap_ok(!rr.qp.resp.kept);
	tap_eq(rr.nr_cqes, 0);
}

static void reads_and_atomics_wait_for_their_turn(void)
{
	begin(HRP_TYPE_RC);
	rr.word = 5;
	tap_eq(rr_ask(HRP_OP_FETCH_ADD, 1, 0), HRP_RX_KEEP);
	tap_eq(rr_ask(HRP_OP_READ_REQ, 2, 8), HRP_RX_KEEP);
	tap_eq(rr_ask(HRP_OP_ATOMIC_WRITE, 3, 8), HRP_RX_KEEP);
	tap_eq(rr.nr_atomics, 0);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	rr_expect_nothing();
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 3);
	tap_eq(rr.nr_atomics, 1);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OP_ATOMIC_ACK);
	tap_eq(rr.burst.first.orig, 5);
	rr_expect_read(2, 1, HRP_OP_READ_RESP_ONLY, 0, 8);
	rr_expect_read(3, 1, HRP_OP_READ_RESP_ONLY, 0, 0);
	/* Executed once, whatever comes again. */
	tap_eq(rr_ask(HRP_OP_FETCH_ADD, 1, 0), HRP_RX_DUPLICATE);
	tap_eq(rr.nr_atomics, 1);
}

static void more_reads_than_agreed_are_refused_in_turn(void)
{
	u32 i;

	begin(HRP_TYPE_RC);
	for (i = 1; i <= 4; i++)
		tap_eq(rr_ask(HRP_OP_READ_REQ, i, 8), HRP_RX_KEEP);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 4);
	tap_eq(rr.qp.state, HRP_ERR);
	tap_eq(rr.counts.v[HROCE_EV_RX_READS], 3);
}

static void key_is_checked_in_turn(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_ONLY, 2, 8);
	pkt.rkey = BAD_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_KEEP);
	tap_eq(arrive(3), HRP_RX_KEEP);
	tap_eq(arrive(1), HRP_RX_KEEP);
	tap_eq(rr.qp.state, HRP_RTS);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 2);
	tap_eq(rr.nr_cqes, 2);
	tap_eq(rr_pending(HRP_PENDING_QP_ACCESS_ERR), 1);
	/* What is behind it is never executed. */
	tap_eq(rr_drain(U32_MAX), 0);
	rr_expect_end(2, HRP_NAK_REM_ACCESS, 2);
	tap_eq(rr_nr_kept(), 1);
	rr_end();
	tap_eq(rr.counts.v[HROCE_EV_KEPT_DROPPED], 1);
	tap_eq(rr.nr_cqes, 2);
}

static void no_entry_is_rnr_for_all_that_is_kept(void)
{
	begin(HRP_TYPE_RC);
	rr.nr_recvs = 2;
	arrive(1);
	arrive(2);
	arrive(3);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 2);
	rr_expect_ack(2, HRP_SYN_RNR | RNR_CODE, 2);
	rr_expect_nothing();
	tap_ok(!rr.qp.resp.kept);
	tap_eq(rr.counts.v[HROCE_EV_KEPT_DROPPED], 1);
	/* The peer resends all: nothing is kept until it does. */
	tap_eq(arrive(3), HRP_RX_DROP);
	rr_expect_nothing();
	rr.nr_recvs = 10;
	tap_eq(arrive(2), HRP_RX_ACCEPT);
	tap_eq(arrive(4), HRP_RX_KEEP);
	rr_expect_ack(3, HRP_NAK_PSN_SEQ, 3);
}

/* The same for the request that fills the gap. */
static void no_entry_for_the_missing_one(void)
{
	begin(HRP_TYPE_RC);
	rr.nr_recvs = 0;
	arrive(1);
	tap_eq(arrive(0), HRP_RX_NAK);
	tap_eq(rr_drain(U32_MAX), 0);
	tap_ok(!rr.qp.resp.kept);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	rr_expect_nothing();
}

static void absent_memory_is_lost(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = rr_request(HRP_OP_WRITE_ONLY, 1, 8);
	pkt.rkey = AWAY_KEY;
	tap_eq(rr_arrive(&pkt), HRP_RX_KEEP);
	arrive(2);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	tap_ok(!rr.qp.resp.kept);
	rr_expect_ack(1, HRP_SYN_RNR | RNR_CODE, 1);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.qp.state, HRP_RTS);
}

static void psns_wrap(void)
{
	u32 i;

	/* The window begins before the wrap and ends behind it. */
	begin(HRP_TYPE_RC);
	hrp_resp_start(&rr.qp, hrp_psn_add(START_PSN, -5));
	for (i = 20; i; i--)
		tap_eq(arrive(i - 5), HRP_RX_KEEP);
	tap_eq(arrive(-5), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 20);
	tap_eq(rr.nr_cqes, 21);
	rr_expect_ack(15, ACK, 21);
}

static void window_is_limited(void)
{
	u32 i;

	begin(HRP_TYPE_RC);
	tap_eq(arrive(HRP_KEEP_PKTS), HRP_RX_NAK);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(arrive(HRP_KEEP_PKTS - 1), HRP_RX_KEEP);
	tap_eq(rr_drain(U32_MAX), 0);
	tap_eq(arrive(HRP_KEEP_PKTS), HRP_RX_DROP);
	tap_eq(arrive(1u << 23), HRP_RX_DUPLICATE);
	for (i = HRP_KEEP_PKTS - 2; i; i--)
		tap_eq(arrive(i), HRP_RX_KEEP);
	for (i = 1; i < HRP_KEEP_PKTS + 10; i++)
		tap_eq(arrive(i), HRP_RX_DROP);
	tap_eq(rr_nr_kept(), HRP_KEEP_PKTS - 1);
	rr.nr_recvs = HRP_KEEP_PKTS;
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), HRP_KEEP_PKTS - 1);
	tap_eq(rr.nr_cqes, HRP_KEEP_PKTS);
	rr_expect_ack(HRP_KEEP_PKTS - 1, ACK, HRP_KEEP_PKTS);
}

/* The window does not move on while kept requests wait for their turn. */
static void window_waits_for_what_is_kept(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(arrive(1), HRP_RX_KEEP);
	tap_eq(arrive(HRP_KEEP_PKTS - 1), HRP_RX_KEEP);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(0), 0);
	tap_eq(arrive(HRP_KEEP_PKTS + 1), HRP_RX_DROP);
	tap_eq(rr_drain(U32_MAX), 1);
	tap_eq(arrive(HRP_KEEP_PKTS + 1), HRP_RX_KEEP);
	tap_eq(rr_nr_kept(), 2);
	rr_end();
}

static void owner_may_decline(void)
{
	begin(HRP_TYPE_RC);
	rr_keep(1);
	/* As if there were no keeping: a NAK for the first, and drops. */
	tap_eq(arrive(1), HRP_RX_KEEP);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(arrive(2), HRP_RX_KEEP);
	tap_eq(arrive(3), HRP_RX_KEEP);
	tap_eq(rr.counts.v[HROCE_EV_KEPT], 1);
	tap_eq(rr.counts.v[HROCE_DROP_PSN], 2);
	rr_expect_nothing();
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	rr_expect_ack(1, ACK, 2);

	begin(HRP_TYPE_RC);
	rr_keep(0);
	tap_eq(arrive(1), HRP_RX_KEEP);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(arrive(2), HRP_RX_KEEP);
	tap_eq(rr.counts.v[HROCE_DROP_PSN], 1);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 1);
	rr_expect_nothing();
}

/* What the owner gives up has to come again. */
static void given_up_on_the_way(void)
{
	begin(HRP_TYPE_RC);
	arrive(1);
	arrive(2);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	rr_end();
	tap_eq(rr.counts.v[HROCE_EV_KEPT_DROPPED], 2);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 0);
	rr_expect_ack(0, ACK, 1);
	tap_eq(arrive(3), HRP_RX_KEEP);
	rr_expect_ack(1, HRP_NAK_PSN_SEQ, 1);
	tap_eq(arrive(1), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 0);
	rr_expect_ack(1, ACK, 2);
	tap_eq(arrive(2), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	rr_expect_ack(3, ACK, 4);
}

static void nothing_is_kept_in_the_error_state(void)
{
	begin(HRP_TYPE_RC);
	arrive(1);
	rr.qp.state = HRP_ERR;
	tap_eq(arrive(2), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_QP_STATE);
	tap_eq(arrive(0), HRP_RX_DROP);
	tap_eq(rr_drain(U32_MAX), 0);
	tap_eq(rr_nr_kept(), 1);
	rr_end();
	tap_eq(rr_nr_kept(), 0);
	tap_eq(rr.nr_cqes, 0);
}

/* Each kept request names its SRQ, which is looked up in turn. */
static void xrc_keeps_the_srq(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_XRC_TGT);
	pkt = rr_request(HRP_OP_SEND_ONLY, 1, 8);
	pkt.srqn = SRQN + 1;
	tap_eq(rr_arrive(&pkt), HRP_RX_KEEP);
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr.taken_from, SRQN);
	tap_eq(rr_drain(U32_MAX), 1);
	tap_eq(rr.taken_from, SRQN + 1);
	rr_expect_ack(1, ACK, 2);
}

static void others_keep_nothing(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 1, MTU + 4), HRP_RX_NAK);
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 1, MTU), HRP_RX_KEEP);
	rr_begin(HRP_TYPE_RC);
	tap_eq(arrive(1), HRP_RX_NAK);
	tap_eq(arrive(2), HRP_RX_DROP);
	begin(HRP_TYPE_UC);
	tap_eq(arrive(3), HRP_RX_ACCEPT);
	tap_eq(rr.counts.v[HROCE_EV_KEPT], 0);
}

/* Many windows, at random: everything once, in order. */
static void random_orders(void)
{
	u32 next = 0, seed = 1, i, n;

	begin(HRP_TYPE_RC);
	rr.nr_recvs = U32_MAX;
	for (i = 0; i < 200000 && next < 20000; i++) {
		seed = seed * 1103515245 + 12345;
		n = next + (seed >> 16) % 40;
		if (!((seed >> 8) & 15))
			n += 1500;
		if (arrive(n) == HRP_RX_ACCEPT) {
			tap_eq(n, next);
			next++;
		}
		next += rr_drain((seed >> 4) % 8);
		tap_eq(rr.nr_cqes, next);
		tap_eq(rr.qp.resp.psn, hrp_psn_add(START_PSN, next));
	}
	tap_ok(next >= 20000);
	rr_end();
}

static bool ask_sacks(void)
{
	static const u8 ask[] = { 'h', 'r', 'o', 'c', 1, 1, 0, 0 };

	return hrp_sack_asked(&rr.qp, ask, sizeof(ask));
}

/*
 * The next answer says that the packet @n is missing, and that of those behind it
 * @keeps[] are kept.
 */
static void expect_sack(u32 n, const u32 *keeps, u32 nr_keeps)
{
	u32 psn = hrp_psn_add(START_PSN, n), base = psn & ~63u, i, nr = 0;
	u8 map[HRP_SACK_MAP_BYTES];

	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OPCODE_SACK);
	tap_eq(rr.burst.first.psn, psn);
	tap_eq(rr.burst.first.syndrome, HRP_NAK_PSN_SEQ);
	tap_eq(rr.burst.first.dqpn, PEER_QPN);
	tap_eq(rr.burst.nr_pkts, 1);
	if (rr.burst.first.opcode != HRP_OPCODE_SACK)
		return;
	tap_ok(rr.burst.mem.len <= sizeof(map) && !(rr.burst.mem.len % 8));
	hrp_sack_fill(&rr.qp.resp, &rr.burst, map);
	for (i = 0; i < rr.burst.mem.len * 8; i++)
		nr += map[i / 8] >> i % 8 & 1;
	tap_eq(nr, nr_keeps);
	for (i = 0; i < nr_keeps; i++) {
		u32 bit = (hrp_psn_add(START_PSN, keeps[i]) - base) &
			  HRP_PSN_MASK;

		tap_ok(bit < rr.burst.mem.len * 8 &&
		       map[bit / 8] >> bit % 8 & 1);
	}
}

/* Nothing is kept: the answer acknowledges what has come, without a map. */
static void expect_greeting(void)
{
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OPCODE_SACK);
	tap_eq(rr.burst.first.psn, rr.qp.resp.ack_psn);
	tap_eq(rr.burst.first.msn, rr.qp.resp.msn);
	tap_eq(rr.burst.first.syndrome, ACK);
	tap_eq(rr.burst.mem.len, 0);
	tap_eq(rr.burst.nr_pkts, 1);
	rr_expect_nothing();
}

static void told_who_asks(void)
{
	static const u32 first[] = { 1 }, second[] = { 1, 3 };
	static const u32 later[] = { 3, 4, 5 };

	begin(HRP_TYPE_RC);
	arrive(1);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	arrive(2);
	rr_expect_nothing();

	begin(HRP_TYPE_RC);
	tap_ok(ask_sacks());
	expect_greeting();
	arrive(1);
	expect_sack(0, first, 1);
	arrive(3);
	expect_sack(0, second, 2);
	rr_expect_nothing();
	/* After progress, too, as far as it goes. */
	tap_eq(arrive(0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	expect_sack(2, second + 1, 1);
	arrive(4);
	rr_ask(HRP_OP_SEND_ONLY, 5, 8);
	expect_sack(2, later, 3);
	tap_eq(arrive(2), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 3);
	rr_expect_ack(5, ACK, 6);
	tap_eq(rr.counts.v[HROCE_EV_SACK_SENT], 4);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 2);
}

/* A flag of the question is what the peer takes, until the reset. */
static void joins_if_told(void)
{
	static const u8 ask[] = { 'h', 'r', 'o', 'c', 1, 8, 0, 0 };

	begin(HRP_TYPE_RC);
	tap_ok(ask_sacks());
	tap_ok(!test_bit(HRP_PENDING_JOINS, &rr.qp.pending));
	tap_ok(hrp_sack_asked(&rr.qp, ask, sizeof(ask)));
	tap_ok(test_bit(HRP_PENDING_JOINS, &rr.qp.pending));
	hrp_resp_reset(&rr.qp);
	tap_ok(!test_bit(HRP_PENDING_JOINS, &rr.qp.pending));
}

/* The question comes after the NAK. */
static void told_at_once(void)
{
	static const u32 keeps[] = { 1, 2 };

	begin(HRP_TYPE_RC);
	arrive(1);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	arrive(2);
	tap_ok(ask_sacks());
	expect_sack(0, keeps, 2);
	rr_expect_nothing();
}

/* New gaps, what asks for an answer, and a number of others. */
static void told_when_it_is_news(void)
{
	u32 n, nr = 0;

	begin(HRP_TYPE_RC);
	ask_sacks();
	arrive(1);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	for (n = 2; n < 2 + HRP_KEEP_TELL; n++) {
		arrive_quietly(n);
		nr += hrp_resp_next(&rr.qp, &rr.burst);
	}
	tap_eq(nr, 1);
	arrive(n);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	arrive_quietly(n + 1);
	rr_expect_nothing();
	arrive_quietly(n + 3);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	arrive_quietly(n + 2);
	rr_expect_nothing();
}

static void questions_that_nobody_understands(void)
{
	static const u8 other[] = { 'h', 'r', 'o', 'c', 2, 0, 0, 0 };
	static const u8 reserved[] = { 'h', 'r', 'o', 'c', 1, 0xfe, 2, 3 };
	static const u8 foreign[16];

	begin(HRP_TYPE_RC);
	arrive(1);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_ok(!hrp_sack_asked(&rr.qp, other, sizeof(other)));
	tap_ok(!hrp_sack_asked(&rr.qp, foreign, sizeof(foreign)));
	tap_ok(!hrp_sack_asked(&rr.qp, reserved, 7));
	rr_expect_nothing();
	rr.qp.state = HRP_ERR;
	tap_ok(!ask_sacks());
	rr.qp.state = HRP_RTS;
	tap_ok(hrp_sack_asked(&rr.qp, reserved, sizeof(reserved)));
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OPCODE_SACK);
}

/* The answers to READs come first, and another READ does not void this one. */
static void question_between_reads(void)
{
	begin(HRP_TYPE_RC);
	rr_ask(HRP_OP_READ_REQ, 0, 8);
	ask_sacks();
	rr_ask(HRP_OP_READ_REQ, 1, 8);
	rr_expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 8);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, 0, 8);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OPCODE_SACK);
	rr_expect_nothing();
}

/* The map begins at a multiple of 64, whatever is missing, and goes to its end. */
static void maps_of_all_lengths(void)
{
	u32 missing, last;

	for (missing = 0; missing < 130; missing += 13) {
		for (last = missing + 1; last < missing + 700; last += 61) {
			u32 n;

			begin(HRP_TYPE_RC);
			rr.nr_recvs = 200;
			ask_sacks();
			for (n = 0; n < missing; n++)
				arrive_quietly(n);
			arrive(last);
			expect_sack(missing, &last, 1);
		}
	}
	/* The end of the window. */
	begin(HRP_TYPE_RC);
	ask_sacks();
	last = HRP_KEEP_PKTS - 1;
	arrive(last);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.mem.len, HRP_SACK_MAP_BYTES);
}

/*
 * Ask while packet 0 is missing, as one who takes maps that begin @later. Return:
 * the packet of the first bit of the map, *@nr_bits long.
 */
static u32 tell(bool later, u8 *map, u32 *nr_bits)
{
	u8 ask[] = { 'h', 'r', 'o', 'c', 1, later, 0, 0 };
	u32 len, psn = START_PSN & ~63u;

	memset(map, 0, HRP_SACK_MAP_BYTES);
	tap_ok(hrp_sack_asked(&rr.qp, ask, sizeof(ask)));
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_OPCODE_SACK);
	tap_eq(rr.burst.first.psn, START_PSN);
	len = rr.burst.mem.len;
	tap_ok(len <= HRP_SACK_MAP_BYTES);
	hrp_sack_fill(&rr.qp.resp, &rr.burst, map);
	if (len % 8) {
		psn = get_unaligned_be32(map);
		len -= 4;
		memmove(map, map + 4, len);
	}
	tap_eq(psn % 64, 0);
	*nr_bits = len * 8;
	return (psn - START_PSN) & HRP_PSN_MASK;
}

static bool is_kept(u32 n)
{
	return hrp_keep_has(rr.qp.resp.keep, hrp_psn_add(START_PSN, n));
}

/*
 * More is kept than one map has bits for: some tell the newest, the others all in
 * turn. What is told is what is kept.
 */
static void maps_of_parts(void)
{
	static const u32 spans[] = { 2047, 2048, 3000, 5000, 32700 };
	static bool told[HRP_KEEP_PKTS];
	u8 map[HRP_SACK_MAP_BYTES];
	u32 s, n, i, first, nr, bad, missing, newest;

	for (s = 0; s < ARRAY_SIZE(spans); s++) {
		begin(HRP_TYPE_RC);
		for (n = 1; n < spans[s]; n += 1 + n % 3)
			arrive_quietly(n);
		arrive_quietly(spans[s]);
		tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
		memset(told, 0, sizeof(told));
		newest = 0;
		bad = 0;
		for (i = 0; i < 40; i++) {
			first = tell(true, map, &nr);
			for (n = 0; n < nr; n++) {
				u32 k = (first + n) & HRP_PSN_MASK;
				bool bit = map[n / 8] >> n % 8 & 1;

				if (k >= HRP_KEEP_PKTS)
					bad += bit;
				else if (bit != is_kept(k))
					bad++;
				else if (bit)
					told[k] = true;
				newest += bit && k == spans[s];
			}
		}
		tap_eq(bad, 0);
		missing = 0;
		for (n = 1; n <= spans[s]; n++)
			missing += told[n] != is_kept(n);
		tap_eq(missing, 0);
		tap_ok(newest >= 20);
	}
}

/* Who did not say that it takes them is told of what is first, always. */
static void maps_of_the_first_part(void)
{
	u8 map[HRP_SACK_MAP_BYTES];
	u32 i, nr;

	begin(HRP_TYPE_RC);
	arrive_quietly(1);
	arrive_quietly(5000);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	for (i = 0; i < 4; i++) {
		tap_eq(tell(false, map, &nr),
		       ((START_PSN & ~63u) - START_PSN) & HRP_PSN_MASK);
		tap_eq(nr, 2048);
	}
}

int main(void)
{
	tap_plan(34);
	tap_run(kept_until_the_gap_is_filled);
	tap_run(order_of_arrival_does_not_matter);
	tap_run(message_goes_on_from_what_is_kept);
	tap_run(answered_unasked_after_a_gap);
	tap_run(one_nak_for_each_gap);
	tap_run(one_nak_for_a_long_gap);
	tap_run(no_nak_for_what_is_about_to_be_taken);
	tap_run(kept_once);
	tap_run(stale_ones_are_not_executed);
	tap_run(read_over_what_is_kept);
	tap_run(reads_and_atomics_wait_for_their_turn);
	tap_run(more_reads_than_agreed_are_refused_in_turn);
	tap_run(key_is_checked_in_turn);
	tap_run(no_entry_is_rnr_for_all_that_is_kept);
	tap_run(no_entry_for_the_missing_one);
	tap_run(absent_memory_is_lost);
	tap_run(psns_wrap);
	tap_run(window_is_limited);
	tap_run(window_waits_for_what_is_kept);
	tap_run(owner_may_decline);
	tap_run(given_up_on_the_way);
	tap_run(nothing_is_kept_in_the_error_state);
	tap_run(xrc_keeps_the_srq);
	tap_run(others_keep_nothing);
	tap_run(random_orders);
	tap_run(told_who_asks);
	tap_run(joins_if_told);
	tap_run(told_at_once);
	tap_run(told_when_it_is_news);
	tap_run(questions_that_nobody_understands);
	tap_run(question_between_reads);
	tap_run(maps_of_all_lengths);
	tap_run(maps_of_parts);
	tap_run(maps_of_the_first_part);
	rr_end();
	return tap_exit();
}

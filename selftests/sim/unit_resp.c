// SPDX-License-Identifier: GPL-2.0
/*
 * Responder, request by request: what is answered, completed and refused. The
 * test plays the peer and the surroundings.
 */
#include <stdlib.h>
#include <string.h>
#include "proto/env.h"
#include "proto/psn.h"
#include "proto/resp.h"
#include "tap.h"

#define QPN		0x42
#define PEER_QPN	0x777
#define START_PSN	0xfffffe	/* wraps after two packets */
#define MTU		1024
#define NR_RD		4
#define RNR_CODE	14
#define BAD_KEY		0xbad
#define ROOM		4096
#define BEGIN		0xff	/* no opcode */

static struct {
	struct hrp_qp qp;
	struct hrp_rwqe rwqe;
	struct hrp_rdres rd[NR_RD];
	struct hroce_cqe cqe;
	bool solicited;
	u32 nr_cqes;
	u32 nr_recvs;		/* receive entries posted */
	u32 next_wr_id;
	u32 nr_atomics;
	u32 nr_invalidated;
	u32 nr_errors;
	u32 events[HRP_EVENT_LAST_WQE + 1];
	u32 counts[HROCE_COUNT_NR];
	u64 word;		/* what atomics work on */
	struct hrp_burst burst;
	struct hrp_rx rx;
} t;

void hrp_env_send_done(struct hrp_qp *qp, const struct hroce_cqe *cqe)
{
}

void hrp_env_recv_done(struct hrp_qp *qp, const struct hroce_cqe *cqe,
		       bool solicited)
{
	t.cqe = *cqe;
	t.solicited = solicited;
	t.nr_cqes++;
}

bool hrp_env_recv_take(struct hrp_qp *qp, struct hrp_rwqe *rwqe)
{
	if (!t.nr_recvs)
		return false;
	t.nr_recvs--;
	rwqe->wr_id = t.next_wr_id++;
	rwqe->length = ROOM;
	rwqe->nr_sges = 1;
	rwqe->sges[0].length = ROOM;
	return true;
}

bool hrp_env_mem_check(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, u8 access)
{
	return rkey != BAD_KEY;
}

bool hrp_env_atomic(struct hrp_qp *qp, u32 rkey, u64 va, bool cas, u64 compare,
		    u64 swap_add, u64 *orig)
{
	if (rkey == BAD_KEY)
		return false;
	t.nr_atomics++;
	*orig = t.word;
	if (!cas)
		t.word += swap_add;
	else if (t.word == compare)
		t.word = swap_add;
	return true;
}

bool hrp_env_invalidate(struct hrp_qp *qp, u32 rkey)
{
	t.nr_invalidated += rkey != BAD_KEY;
	return rkey != BAD_KEY;
}

u8 hrp_env_local_op(struct hrp_qp *qp, const struct hrp_wqe *wqe)
{
	return HROCE_WC_LOC_QP_OP_ERR;
}

void hrp_env_error(struct hrp_qp *qp)
{
	t.nr_errors++;
}

void hrp_env_event(struct hrp_qp *qp, enum hrp_event event)
{
	t.events[event]++;
}

void hrp_env_count(struct hrp_qp *qp, enum hroce_count what)
{
	t.counts[what]++;
}

bool hrp_env_user_queue(const struct hrp_qp *qp)
{
	return true;
}

static void begin(enum hrp_type type)
{
	memset(&t, 0, sizeof(t));
	t.qp.type = type;
	t.qp.qpn = QPN;
	t.qp.dest_qpn = PEER_QPN;
	t.qp.qkey = 0x80010000;
	t.qp.mtu_shift = 10;
	t.qp.access = HRP_QP_REMOTE_WRITE | HRP_QP_REMOTE_READ |
		      HRP_QP_REMOTE_ATOMIC;
	t.qp.resp.rwqe = &t.rwqe;
	t.qp.resp.rd = t.rd;
	t.qp.resp.nr_rd = NR_RD;
	t.qp.resp.max_dest_rd_atomic = 3;
	t.qp.resp.min_rnr_timer = RNR_CODE;
	t.qp.resp.burst_pkts = 2;
	t.nr_recvs = 100;
	hrp_resp_start(&t.qp, START_PSN);
	t.qp.state = HRP_RTS;
}

static struct hrp_pkt request(enum hrp_op op, u32 n, u32 len)
{
	static const u8 svc[] = { HRP_SVC_RC, HRP_SVC_UC, HRP_SVC_UD };
	struct hrp_pkt pkt = {
		.opcode = svc[t.qp.type] | op,
		.psn = hrp_psn_add(START_PSN, n),
		.payload_len = len,
		.dmalen = len,
		.qkey = t.qp.qkey,
		.sqpn = PEER_QPN,
		.rkey = 1,
		.va = 0x1000,
		.ackreq = 1,
	};

	pkt.info = hrp_opcode_info(pkt.opcode);
	return pkt;
}

/* Return: verdict; the payload was placed with @status. */
static u8 arrive_status(const struct hrp_pkt *pkt, u8 status)
{
	hrp_resp_begin(&t.qp, pkt, &t.rx);
	if (t.rx.verdict != HRP_RX_DROP)
		hrp_resp_commit(&t.qp, pkt, &t.rx, status);
	return t.rx.verdict;
}

static u8 arrive(const struct hrp_pkt *pkt)
{
	return arrive_status(pkt, HROCE_WC_SUCCESS);
}

/* A request without further ado: @n packets after the first PSN. */
static u8 ask(enum hrp_op op, u32 n, u32 len)
{
	struct hrp_pkt pkt = request(op, n, len);

	return arrive(&pkt);
}

/* The next answer is an ACK or NAK, of the packet @n after the first PSN. */
static void expect_ack(u32 n, u8 syndrome, u32 msn)
{
	tap_ok(hrp_resp_next(&t.qp, &t.burst));
	tap_eq(t.burst.first.opcode, HRP_OP_ACK);
	tap_eq(t.burst.first.psn, hrp_psn_add(START_PSN, n));
	tap_eq(t.burst.first.syndrome, syndrome);
	tap_eq(t.burst.first.msn, msn);
	tap_eq(t.burst.first.dqpn, PEER_QPN);
	tap_eq(t.burst.nr_pkts, 1);
	tap_eq(t.burst.mem.len, 0);
}

static void expect_nothing(void)
{
	struct hrp_burst b;

	tap_ok(!hrp_resp_next(&t.qp, &b));
}

/* The next answer is part of that to a READ. */
static void expect_read(u32 n, u32 nr_pkts, u8 op, u32 offset, u32 len)
{
	tap_ok(hrp_resp_next(&t.qp, &t.burst));
	tap_eq(t.burst.first.psn, hrp_psn_add(START_PSN, n));
	tap_eq(t.burst.nr_pkts, nr_pkts);
	tap_eq(t.burst.first.opcode, op);
	tap_eq(t.burst.mem.offset, offset);
	tap_eq(t.burst.mem.len, len);
	tap_eq(t.burst.mem.access, HRP_ACCESS_REMOTE_READ);
}

/* The connection has ended with a NAK, and answers nothing any more. */
static void expect_end(u32 n, u8 syndrome, u32 msn)
{
	tap_eq(t.qp.state, HRP_ERR);
	tap_eq(t.nr_errors, 1);
	tap_eq(t.counts[HROCE_EV_RESP_ERRORS], 1);
	expect_ack(n, syndrome, msn);
	expect_nothing();
	tap_eq(ask(HRP_OP_SEND_ONLY, n, 1), HRP_RX_DROP);
	tap_eq(t.rx.drop, HROCE_DROP_QP_STATE);
	expect_nothing();
}

static void send_fills_one_entry(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_ok(t.rx.fuse);
	tap_eq(t.rx.mem.offset, 0);
	tap_eq(ask(HRP_OP_SEND_MIDDLE, 1, MTU), HRP_RX_ACCEPT);
	tap_eq(t.rx.mem.offset, MTU);
	tap_eq(t.nr_cqes, 0);
	tap_eq(ask(HRP_OP_SEND_LAST, 2, 1), HRP_RX_ACCEPT);
	tap_eq(t.rx.mem.offset, 2 * MTU);
	tap_eq(t.rx.mem.len, 1);
	tap_eq(t.rx.mem.access, HRP_ACCESS_LOCAL_WRITE);
	tap_eq(t.nr_cqes, 1);
	tap_eq(t.cqe.byte_len, 2 * MTU + 1);
	tap_eq(t.cqe.opcode, HROCE_WC_RECV);
	tap_eq(t.cqe.status, HROCE_WC_SUCCESS);
	tap_ok(!t.solicited);
	expect_ack(2, HRP_SYN_CREDIT_INVALID, 1);
	expect_nothing();
}

static void send_of_nothing_completes(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_SEND_ONLY_IMM, 0, 0);
	pkt.imm = (__be32)0x12345678;
	pkt.se = 1;
	pkt.ackreq = 0;
	tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(t.rx.mem.len, 0);
	tap_eq(t.nr_cqes, 1);
	tap_eq(t.cqe.byte_len, 0);
	tap_eq(t.cqe.flags, HROCE_WCF_IMM);
	tap_eq(t.cqe.imm_data, 0x12345678);
	tap_ok(t.solicited);
	expect_nothing();	/* no answer was asked for */
}

static void send_inv_takes_the_key_away(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_SEND_ONLY_INV, 0, 8);
	pkt.inv_rkey = 7;
	tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(t.cqe.flags, HROCE_WCF_INV);
	tap_eq(t.cqe.imm_data, 7);
	tap_eq(t.nr_invalidated, 1);
	/* Again: acknowledged, nothing done. */
	tap_eq(arrive(&pkt), HRP_RX_DUPLICATE);
	tap_eq(t.nr_invalidated, 1);
	tap_eq(t.nr_cqes, 1);
	expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);

	pkt = request(HRP_OP_SEND_ONLY_INV, 1, 8);
	pkt.inv_rkey = BAD_KEY;
	arrive(&pkt);
	tap_eq(t.nr_cqes, 2);
	tap_eq(t.cqe.status, HROCE_WC_REM_INV_REQ_ERR);
	expect_end(1, HRP_NAK_REM_ACCESS, 1);
}

static void send_too_long_is_refused(void)
{
	u32 i;

	begin(HRP_TYPE_RC);
	tap_eq(ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	for (i = 1; i < ROOM / MTU; i++)
		tap_eq(ask(HRP_OP_SEND_MIDDLE, i, MTU), HRP_RX_ACCEPT);
	tap_eq(ask(HRP_OP_SEND_LAST, i, 1), HRP_RX_NAK);
	tap_eq(t.nr_cqes, 1);
	tap_eq(t.cqe.status, HROCE_WC_LOC_LEN_ERR);
	tap_ok(t.solicited);
	tap_eq(t.events[HRP_EVENT_QP_REQ_ERR], 0);
	expect_end(i, HRP_NAK_INV_REQ, 0);
}

static void send_without_memory_is_refused(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_SEND_ONLY, 0, 100);
	arrive_status(&pkt, HROCE_WC_LOC_PROT_ERR);
	tap_eq(t.cqe.status, HROCE_WC_LOC_PROT_ERR);
	expect_end(0, HRP_NAK_REM_OP, 0);
}

static void no_entry_is_rnr(void)
{
	begin(HRP_TYPE_RC);
	t.nr_recvs = 0;
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_NAK);
	expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	/* What follows is dropped without a word. */
	tap_eq(ask(HRP_OP_SEND_ONLY, 1, 1), HRP_RX_DROP);
	tap_eq(t.rx.drop, HROCE_DROP_PSN);
	expect_nothing();
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_NAK);
	expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	tap_eq(t.counts[HROCE_EV_RNR_SENT], 2);
	t.nr_recvs = 1;
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	tap_eq(t.qp.state, HRP_RTS);
}

static void write_imm_needs_an_entry_at_its_end(void)
{
	begin(HRP_TYPE_RC);
	t.nr_recvs = 0;
	{
		struct hrp_pkt pkt = request(HRP_OP_WRITE_FIRST, 0, MTU);

		pkt.dmalen = MTU + 5;
		tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	}
	tap_eq(ask(HRP_OP_WRITE_LAST_IMM, 1, 5), HRP_RX_NAK);
	expect_ack(1, HRP_SYN_RNR | RNR_CODE, 0);
	t.nr_recvs = 1;
	tap_eq(ask(HRP_OP_WRITE_LAST_IMM, 1, 5), HRP_RX_ACCEPT);
	tap_eq(t.rx.mem.offset, MTU);
	tap_eq(t.cqe.opcode, HROCE_WC_RECV_WRITE_IMM);
	tap_eq(t.cqe.byte_len, MTU + 5);
	expect_ack(1, HRP_SYN_CREDIT_INVALID, 1);
}

static void write_is_fused_where_the_state_says_where(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_WRITE_FIRST, 0, MTU);
	pkt.dmalen = 2 * MTU + 1;
	tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	tap_ok(!t.rx.fuse);
	tap_eq(t.rx.mem.one.addr, 0x1000);
	tap_eq(t.rx.mem.one.length, 2 * MTU + 1);
	tap_eq(ask(HRP_OP_WRITE_MIDDLE, 1, MTU), HRP_RX_ACCEPT);
	tap_ok(t.rx.fuse);
	tap_eq(t.rx.mem.one.addr, 0x1000);
	tap_eq(t.rx.mem.offset, MTU);
	tap_eq(t.rx.mem.access, HRP_ACCESS_REMOTE_WRITE);
	tap_eq(ask(HRP_OP_WRITE_LAST, 2, 1), HRP_RX_ACCEPT);
	tap_ok(t.rx.fuse);
	tap_eq(t.nr_cqes, 0);
	tap_eq(ask(HRP_OP_WRITE_ONLY, 3, 1), HRP_RX_ACCEPT);
	tap_ok(!t.rx.fuse);
	expect_ack(3, HRP_SYN_CREDIT_INVALID, 2);
}

static void write_of_nothing_needs_no_key(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_WRITE_ONLY, 0, 0);
	pkt.rkey = BAD_KEY;
	tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
}

static void write_with_a_bad_key_is_refused(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_WRITE_ONLY, 0, 4);
	pkt.rkey = BAD_KEY;
	tap_eq(arrive(&pkt), HRP_RX_NAK);
	tap_eq(t.rx.mem.len, 0);
	tap_eq(t.events[HRP_EVENT_QP_ACCESS_ERR], 1);
	expect_end(0, HRP_NAK_REM_ACCESS, 0);
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
		begin(HRP_TYPE_RC);
		pkt = request(HRP_OP_WRITE_FIRST, 0, MTU);
		pkt.dmalen = cases[i].dmalen;
		if (arrive(&pkt) == HRP_RX_ACCEPT) {
			tap_eq(ask(HRP_OP_WRITE_LAST, 1, cases[i].last),
			       HRP_RX_NAK);
			expect_ack(1, HRP_NAK_INV_REQ, 0);
		} else {
			expect_ack(0, HRP_NAK_INV_REQ, 0);
		}
		tap_eq(t.events[HRP_EVENT_QP_REQ_ERR], 1);
		tap_eq(t.qp.state, HRP_ERR);
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
		begin(HRP_TYPE_RC);
		if (bad[i].in_send)
			ask(HRP_OP_SEND_FIRST, 0, MTU);
		tap_eq(ask(bad[i].op, bad[i].in_send, bad[i].len), HRP_RX_NAK);
		tap_eq(t.nr_cqes, bad[i].in_send);
		expect_end(bad[i].in_send, HRP_NAK_INV_REQ, 0);
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
		begin(HRP_TYPE_RC);
		n = bad[i].first != BEGIN;
		if (n) {
			pkt = request(bad[i].first, 0, MTU);
			pkt.dmalen = 3 * MTU;
			tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
		}
		tap_eq(ask(bad[i].op, n, MTU), HRP_RX_NAK);
		tap_eq(t.cqe.status, bad[i].first == HRP_OP_SEND_FIRST ?
				     HROCE_WC_REM_INV_REQ_ERR : 0);
		tap_eq(t.events[HRP_EVENT_QP_REQ_ERR] + t.nr_cqes, 1);
		expect_end(n, HRP_NAK_INV_REQ, 0);
	}
}

static void what_is_not_permitted_is_invalid(void)
{
	static const u8 ops[] = {
		HRP_OP_WRITE_ONLY, HRP_OP_READ_REQ, HRP_OP_CMP_SWAP,
	};
	u32 i;

	for (i = 0; i < sizeof(ops); i++) {
		begin(HRP_TYPE_RC);
		t.qp.access &= ~(1u << i);
		tap_eq(ask(ops[i], 0, 0), HRP_RX_NAK);
		expect_end(0, HRP_NAK_INV_REQ, 0);
		begin(HRP_TYPE_RC);
		t.qp.access = 1u << i;
		tap_eq(ask(ops[i], 0, 0), HRP_RX_ACCEPT);
	}
}

static void one_nak_per_gap(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(ask(HRP_OP_SEND_ONLY, 1, 1), HRP_RX_NAK);
	tap_eq(ask(HRP_OP_SEND_ONLY, 2, 1), HRP_RX_DROP);
	expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(ask(HRP_OP_SEND_ONLY, 3, 1), HRP_RX_DROP);
	expect_nothing();
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	tap_eq(ask(HRP_OP_SEND_ONLY, 2, 1), HRP_RX_NAK);
	/* NAK replaces the ACK of the one before it. */
	expect_ack(1, HRP_NAK_PSN_SEQ, 1);
	expect_nothing();
	tap_eq(t.counts[HROCE_EV_NAK_SEQ_SENT], 2);
}

static void progress_takes_a_nak_back(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(ask(HRP_OP_SEND_ONLY, 1, 1), HRP_RX_NAK);
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	expect_nothing();
}

static void duplicates_are_acknowledged(void)
{
	begin(HRP_TYPE_RC);
	ask(HRP_OP_SEND_ONLY, 0, 1);
	ask(HRP_OP_WRITE_ONLY, 1, 1);
	expect_ack(1, HRP_SYN_CREDIT_INVALID, 2);
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_DUPLICATE);
	tap_eq(t.rx.mem.len, 0);
	tap_eq(ask(HRP_OP_WRITE_ONLY, 1, 1), HRP_RX_DUPLICATE);
	tap_eq(t.nr_cqes, 1);
	tap_eq(t.counts[HROCE_EV_DUPLICATES], 2);
	/* One for both. */
	expect_ack(1, HRP_SYN_CREDIT_INVALID, 2);
	expect_nothing();
	/* Half of the circle lies behind. */
	tap_eq(ask(HRP_OP_SEND_ONLY, 2 - HRP_PSN_WINDOW, 1), HRP_RX_DUPLICATE);
	tap_eq(ask(HRP_OP_SEND_ONLY, 1 + HRP_PSN_WINDOW, 1), HRP_RX_NAK);
}

static void read_is_answered_in_bursts(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	ask(HRP_OP_WRITE_ONLY, 0, 4);
	pkt = request(HRP_OP_READ_REQ, 1, 0);
	pkt.dmalen = 3 * MTU + 10;
	tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	ask(HRP_OP_WRITE_ONLY, 5, 4);
	/* The ACK of the first WRITE is in the response. */
	expect_read(1, 2, HRP_OP_READ_RESP_FIRST, 0, 2 * MTU);
	tap_eq(t.burst.op_last, HRP_OP_READ_RESP_MIDDLE);
	tap_eq(t.burst.first.msn, 2);
	tap_ok(!t.burst.copy);
	expect_read(3, 2, HRP_OP_READ_RESP_MIDDLE, 2 * MTU, MTU + 10);
	tap_eq(t.burst.op_last, HRP_OP_READ_RESP_LAST);
	expect_ack(5, HRP_SYN_CREDIT_INVALID, 3);
	expect_nothing();
}

static void read_of_nothing_is_answered(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_READ_REQ, 0, 0);
	pkt.rkey = BAD_KEY;
	tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 0);
	expect_nothing();
	tap_eq(ask(HRP_OP_SEND_ONLY, 1, 0), HRP_RX_ACCEPT);
}

static void read_is_repeated_from_where_it_is_asked(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_READ_REQ, 0, 0);
	pkt.dmalen = 3 * MTU;
	arrive(&pkt);
	expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2 * MTU);
	expect_read(2, 1, HRP_OP_READ_RESP_LAST, 2 * MTU, MTU);

	pkt = request(HRP_OP_READ_REQ, 1, 0);
	pkt.dmalen = 2 * MTU;
	pkt.va = 0x1000 + MTU;
	tap_eq(arrive(&pkt), HRP_RX_DUPLICATE);
	expect_read(1, 2, HRP_OP_READ_RESP_FIRST, MTU, 2 * MTU);
	tap_eq(t.burst.op_last, HRP_OP_READ_RESP_LAST);
	tap_ok(t.burst.copy);
	expect_nothing();

	/* Less than the rest is fine, anything else is not. */
	pkt.dmalen = 7;
	tap_eq(arrive(&pkt), HRP_RX_DUPLICATE);
	expect_read(1, 1, HRP_OP_READ_RESP_ONLY, MTU, 7);
	pkt.dmalen = 2 * MTU + 1;
	tap_eq(arrive(&pkt), HRP_RX_DROP);
	pkt.dmalen = 2 * MTU;
	pkt.va++;
	tap_eq(arrive(&pkt), HRP_RX_DROP);
	pkt.va--;
	pkt.rkey++;
	tap_eq(arrive(&pkt), HRP_RX_DROP);
	expect_nothing();
}

static void reads_beyond_the_grant_are_refused(void)
{
	begin(HRP_TYPE_RC);
	tap_eq(ask(HRP_OP_READ_REQ, 0, 4), HRP_RX_ACCEPT);
	tap_eq(ask(HRP_OP_READ_REQ, 1, 4), HRP_RX_ACCEPT);
	tap_eq(ask(HRP_OP_FETCH_ADD, 2, 0), HRP_RX_ACCEPT);
	tap_eq(ask(HRP_OP_READ_REQ, 3, 4), HRP_RX_NAK);
	tap_eq(t.qp.state, HRP_ERR);
	/* What was asked before is still answered. */
	expect_read(0, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	expect_read(1, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	tap_ok(hrp_resp_next(&t.qp, &t.burst));
	tap_eq(t.burst.first.opcode, HRP_OP_ATOMIC_ACK);
	expect_end(3, HRP_NAK_INV_REQ, 3);
}

static void repeated_reads_do_not_count_against_the_grant(void)
{
	u32 i;

	begin(HRP_TYPE_RC);
	for (i = 0; i < 3; i++) {
		tap_eq(ask(HRP_OP_READ_REQ, i, 4), HRP_RX_ACCEPT);
		expect_read(i, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	}
	tap_eq(ask(HRP_OP_READ_REQ, 0, 4), HRP_RX_DUPLICATE);
	for (; i < 6; i++)
		tap_eq(ask(HRP_OP_READ_REQ, i, 4), HRP_RX_ACCEPT);
	for (i = 3; i < 6; i++)
		expect_read(i, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	expect_nothing();
	/* The ring holds four; older ones are forgotten. */
	tap_eq(ask(HRP_OP_READ_REQ, 1, 4), HRP_RX_DROP);
	tap_eq(ask(HRP_OP_READ_REQ, 2, 4), HRP_RX_DUPLICATE);
}

static void read_whose_memory_went_away(void)
{
	begin(HRP_TYPE_RC);
	ask(HRP_OP_WRITE_ONLY, 0, 4);
	ask(HRP_OP_READ_REQ, 1, 4);
	ask(HRP_OP_READ_REQ, 2, 4);
	ask(HRP_OP_WRITE_ONLY, 3, 4);
	expect_read(1, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	hrp_resp_sent(&t.qp, &t.burst, HROCE_WC_SUCCESS);
	expect_read(2, 1, HRP_OP_READ_RESP_ONLY, 0, 4);
	hrp_resp_sent(&t.qp, &t.burst, HROCE_WC_REM_ACCESS_ERR);
	tap_eq(t.events[HRP_EVENT_QP_ACCESS_ERR], 1);
	expect_end(2, HRP_NAK_REM_ACCESS, 2);
}

static void atomic_is_executed_once(void)
{
	struct hrp_pkt pkt;
	u32 i;

	begin(HRP_TYPE_RC);
	t.word = 5;
	pkt = request(HRP_OP_FETCH_ADD, 0, 0);
	pkt.swap_add = 10;
	for (i = 0; i < 3; i++) {
		tap_eq(arrive(&pkt), i ? HRP_RX_DUPLICATE : HRP_RX_ACCEPT);
		tap_ok(hrp_resp_next(&t.qp, &t.burst));
		tap_eq(t.burst.first.opcode, HRP_OP_ATOMIC_ACK);
		tap_eq(t.burst.first.orig, 5);
		tap_eq(t.burst.first.msn, 1);
		expect_nothing();
	}
	tap_eq(t.nr_atomics, 1);
	tap_eq(t.word, 15);
	pkt = request(HRP_OP_CMP_SWAP, 0, 0);
	tap_eq(arrive(&pkt), HRP_RX_DROP);	/* it was another one */
}

static void atomic_must_be_aligned_and_permitted(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_CMP_SWAP, 0, 0);
	pkt.va = 0x1004;
	tap_eq(arrive(&pkt), HRP_RX_NAK);
	expect_end(0, HRP_NAK_INV_REQ, 0);

	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_CMP_SWAP, 0, 0);
	pkt.rkey = BAD_KEY;
	arrive(&pkt);
	tap_eq(t.events[HRP_EVENT_QP_ACCESS_ERR], 1);
	tap_eq(t.nr_atomics, 0);
	expect_end(0, HRP_NAK_REM_ACCESS, 0);
}

static void first_packet_in_rtr_is_an_event(void)
{
	begin(HRP_TYPE_RC);
	t.qp.state = HRP_RTR;
	ask(HRP_OP_SEND_ONLY, 0, 1);
	ask(HRP_OP_SEND_ONLY, 1, 1);
	tap_eq(t.events[HRP_EVENT_COMM_EST], 1);
	expect_ack(1, HRP_SYN_CREDIT_INVALID, 2);

	begin(HRP_TYPE_RC);
	ask(HRP_OP_SEND_ONLY, 0, 1);
	tap_eq(t.events[HRP_EVENT_COMM_EST], 0);
}

static void requests_need_a_state_and_a_service(void)
{
	static const u8 states[] = { HRP_RESET, HRP_INIT, HRP_ERR };
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < sizeof(states); i++) {
		begin(HRP_TYPE_RC);
		t.qp.state = states[i];
		tap_eq(ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_DROP);
		tap_eq(t.rx.drop, HROCE_DROP_QP_STATE);
	}
	begin(HRP_TYPE_RC);
	pkt = request(HRP_OP_SEND_ONLY, 0, 1);
	pkt.opcode |= HRP_SVC_UC;
	tap_eq(arrive(&pkt), HRP_RX_DROP);
	tap_eq(t.rx.drop, HROCE_DROP_OPCODE);
	tap_eq(ask(HRP_OP_ACK, 0, 0), HRP_RX_DROP);
	tap_eq(t.rx.drop, HROCE_DROP_OPCODE);
}

static void flush_returns_all_entries(void)
{
	begin(HRP_TYPE_RC);
	t.nr_recvs = 3;
	ask(HRP_OP_SEND_FIRST, 0, MTU);
	t.qp.state = HRP_ERR;
	hrp_resp_flush(&t.qp);
	tap_eq(t.nr_cqes, 3);
	tap_eq(t.cqe.status, HROCE_WC_WR_FLUSH_ERR);
	tap_eq(t.cqe.wr_id, 2);
	tap_eq(t.events[HRP_EVENT_LAST_WQE], 0);
	expect_nothing();

	begin(HRP_TYPE_RC);
	t.qp.resp.srq = 1;
	ask(HRP_OP_SEND_FIRST, 0, MTU);
	t.qp.state = HRP_ERR;
	hrp_resp_flush(&t.qp);
	hrp_resp_flush(&t.qp);
	tap_eq(t.nr_cqes, 1);
	tap_eq(t.nr_recvs, 99);
	tap_eq(t.events[HRP_EVENT_LAST_WQE], 1);
}

static void uc_drops_up_to_the_next_message(void)
{
	begin(HRP_TYPE_UC);
	tap_eq(ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_eq(ask(HRP_OP_SEND_LAST, 2, 5), HRP_RX_IGNORE);
	tap_eq(t.counts[HROCE_DROP_SEQUENCE], 1);
	tap_eq(ask(HRP_OP_SEND_LAST, 3, 5), HRP_RX_IGNORE);
	tap_eq(ask(HRP_OP_SEND_ONLY, 4, 6), HRP_RX_ACCEPT);
	tap_eq(t.nr_cqes, 1);
	tap_eq(t.cqe.byte_len, 6);
	tap_eq(t.cqe.wr_id, 0);		/* the entry was kept */
	expect_nothing();
	tap_eq(t.qp.state, HRP_RTS);
}

static void uc_begins_anew_at_any_first(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_UC);
	tap_eq(ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_ok(t.rx.fuse);
	/* One that turns out damaged must leave the message alone. */
	pkt = request(HRP_OP_SEND_FIRST, 1, MTU);
	hrp_resp_begin(&t.qp, &pkt, &t.rx);
	tap_ok(!t.rx.fuse);
	tap_eq(ask(HRP_OP_SEND_LAST, 1, 1), HRP_RX_ACCEPT);
	tap_eq(t.cqe.byte_len, MTU + 1);

	tap_eq(ask(HRP_OP_SEND_FIRST, 9, MTU), HRP_RX_ACCEPT);
	tap_eq(ask(HRP_OP_SEND_FIRST, 10, MTU), HRP_RX_ACCEPT);
	tap_eq(t.rx.mem.offset, 0);
	tap_eq(ask(HRP_OP_SEND_LAST, 11, 2), HRP_RX_ACCEPT);
	tap_eq(t.nr_cqes, 2);
	tap_eq(t.cqe.byte_len, MTU + 2);
}

static void uc_write_is_not_fused(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_UC);
	pkt = request(HRP_OP_WRITE_FIRST, 0, MTU);
	pkt.dmalen = MTU + 1;
	tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	tap_eq(ask(HRP_OP_WRITE_LAST, 1, 1), HRP_RX_ACCEPT);
	tap_ok(!t.rx.fuse);
	tap_eq(t.rx.mem.offset, MTU);
}

static void uc_faults_are_silent(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_UC);
	pkt = request(HRP_OP_WRITE_ONLY, 0, 4);
	pkt.rkey = BAD_KEY;
	tap_eq(arrive(&pkt), HRP_RX_IGNORE);
	tap_eq(t.counts[HROCE_DROP_ACCESS], 1);
	tap_eq(ask(HRP_OP_SEND_ONLY, 1, MTU + 1), HRP_RX_IGNORE);
	tap_eq(t.counts[HROCE_DROP_LENGTH], 1);
	t.nr_recvs = 0;
	t.qp.resp.have_rwqe = 0;
	tap_eq(ask(HRP_OP_SEND_ONLY, 2, 1), HRP_RX_IGNORE);
	tap_eq(t.counts[HROCE_DROP_NO_WQE], 1);
	tap_eq(t.nr_cqes, 0);
	tap_eq(t.qp.state, HRP_RTS);
	expect_nothing();
}

static void ud_message_follows_its_header(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_UD);
	pkt = request(HRP_OP_SEND_ONLY_IMM, 0, 100);
	pkt.imm = (__be32)9;
	pkt.se = 1;
	tap_eq(arrive(&pkt), HRP_RX_ACCEPT);
	tap_ok(t.rx.grh && t.rx.fuse);
	tap_eq(t.rx.mem.offset, HRW_GRH_LEN);
	tap_eq(t.rx.mem.len, 100);
	tap_eq(t.cqe.byte_len, HRW_GRH_LEN + 100);
	tap_eq(t.cqe.flags, HROCE_WCF_GRH | HROCE_WCF_IMM);
	tap_eq(t.cqe.src_qpn, PEER_QPN);
	tap_ok(t.solicited);
	/* PSNs mean nothing. */
	tap_eq(ask(HRP_OP_SEND_ONLY, 1000, 0), HRP_RX_ACCEPT);
	tap_eq(t.cqe.byte_len, HRW_GRH_LEN);
	expect_nothing();
}

static void ud_drops_what_does_not_fit(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_UD);
	t.qp.mtu_shift = 12;
	pkt = request(HRP_OP_SEND_ONLY, 0, 1);
	pkt.qkey ^= 1;
	tap_eq(arrive(&pkt), HRP_RX_DROP);
	tap_eq(t.rx.drop, HROCE_DROP_QKEY);
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, 4097), HRP_RX_DROP);
	tap_eq(t.rx.drop, HROCE_DROP_LENGTH);
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, ROOM - HRW_GRH_LEN + 1), HRP_RX_DROP);
	tap_eq(t.rx.drop, HROCE_DROP_LENGTH);
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, ROOM - HRW_GRH_LEN), HRP_RX_ACCEPT);
	tap_eq(t.cqe.wr_id, 0);
	t.nr_recvs = 0;
	tap_eq(ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_DROP);
	tap_eq(t.rx.drop, HROCE_DROP_NO_WQE);
}

static void ud_entry_without_memory_is_an_error(void)
{
	struct hrp_pkt pkt;

	begin(HRP_TYPE_UD);
	pkt = request(HRP_OP_SEND_ONLY, 0, 1);
	arrive_status(&pkt, HROCE_WC_LOC_PROT_ERR);
	tap_eq(t.cqe.status, HROCE_WC_LOC_PROT_ERR);
	tap_eq(t.qp.state, HRP_ERR);
	tap_eq(t.nr_errors, 1);
	expect_nothing();
}

int main(void)
{
	tap_plan(35);
	tap_run(send_fills_one_entry);
	tap_run(send_of_nothing_completes);
	tap_run(send_inv_takes_the_key_away);
	tap_run(send_too_long_is_refused);
	tap_run(send_without_memory_is_refused);
	tap_run(no_entry_is_rnr);
	tap_run(write_imm_needs_an_entry_at_its_end);
	tap_run(write_is_fused_where_the_state_says_where);
	tap_run(write_of_nothing_needs_no_key);
	tap_run(write_with_a_bad_key_is_refused);
	tap_run(write_length_must_agree);
	tap_run(payload_must_fill_the_mtu);
	tap_run(opcodes_must_follow_each_other);
	tap_run(what_is_not_permitted_is_invalid);
	tap_run(one_nak_per_gap);
	tap_run(progress_takes_a_nak_back);
	tap_run(duplicates_are_acknowledged);
	tap_run(read_is_answered_in_bursts);
	tap_run(read_of_nothing_is_answered);
	tap_run(read_is_repeated_from_where_it_is_asked);
	tap_run(reads_beyond_the_grant_are_refused);
	tap_run(repeated_reads_do_not_count_against_the_grant);
	tap_run(read_whose_memory_went_away);
	tap_run(atomic_is_executed_once);
	tap_run(atomic_must_be_aligned_and_permitted);
	tap_run(first_packet_in_rtr_is_an_event);
	tap_run(requests_need_a_state_and_a_service);
	tap_run(flush_returns_all_entries);
	tap_run(uc_drops_up_to_the_next_message);
	tap_run(uc_begins_anew_at_any_first);
	tap_run(uc_write_is_not_fused);
	tap_run(uc_faults_are_silent);
	tap_run(ud_message_follows_its_header);
	tap_run(ud_drops_what_does_not_fit);
	tap_run(ud_entry_without_memory_is_an_error);
	return tap_exit();
}

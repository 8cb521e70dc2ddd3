// SPDX-License-Identifier: GPL-2.0
/* XRC: target queue pairs, and what the SRQ number of a packet decides. */
#include <linux/limits.h>
#include "proto/req.h"
#include "resp_rig.h"

static struct hrp_pkt request_for(u32 srqn, enum hrp_op op, u32 n, u32 len)
{
	struct hrp_pkt pkt = rr_request(op, n, len);

	pkt.srqn = srqn;
	return pkt;
}

/* Begin anew: a target. */
static void begin(void)
{
	rr_begin(HRP_TYPE_XRC_TGT);
	rr.qp.resp.srq = 1;
}

static u8 ask_for(u32 srqn, enum hrp_op op, u32 n, u32 len)
{
	struct hrp_pkt pkt = request_for(srqn, op, n, len);

	return rr_arrive(&pkt);
}

static void message_goes_to_the_srq_it_names(void)
{
	begin();
	tap_eq(ask_for(SRQN + 1, HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	tap_eq(rr.taken_from, SRQN + 1);
	tap_eq(ask_for(SRQN + 1, HRP_OP_SEND_LAST, 1, 7), HRP_RX_ACCEPT);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.byte_len, MTU + 7);
	tap_eq(rr.cqe.qpn, QPN);
	tap_eq(ask_for(SRQN, HRP_OP_SEND_ONLY, 2, 1), HRP_RX_ACCEPT);
	tap_eq(rr.taken_from, SRQN);
	tap_eq(ask_for(SRQN + 1, HRP_OP_WRITE_ONLY_IMM, 3, 1), HRP_RX_ACCEPT);
	tap_eq(rr.checked_for, SRQN + 1);
	tap_eq(rr.taken_from, SRQN + 1);
	rr_expect_ack(3, HRP_SYN_CREDIT_INVALID, 3);
	rr_expect_nothing();
}

static void unknown_srq_ends_the_connection(void)
{
	static const enum hrp_op ops[] = {
		HRP_OP_SEND_ONLY, HRP_OP_SEND_FIRST, HRP_OP_WRITE_ONLY,
		HRP_OP_WRITE_ONLY_IMM, HRP_OP_READ_REQ, HRP_OP_FETCH_ADD,
	};
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		begin();
		pkt = request_for(SRQN + 2, ops[i], 0, MTU);
		tap_eq(rr_arrive(&pkt), HRP_RX_NAK);
		tap_eq(rr.nr_recvs, 100);
		tap_eq(rr.nr_cqes, 0);
		tap_eq(rr_pending(HRP_PENDING_QP_REQ_ERR), 1);
		rr_expect_end(0, HRP_NAK_INV_REQ, 0);
	}
}

/* Whatever comes later is for the same SRQ, which must still be there. */
static void srq_changes_between_messages_only(void)
{
	struct hrp_pkt pkt;

	begin();
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 0, MTU), HRP_RX_ACCEPT);
	pkt = request_for(SRQN + 1, HRP_OP_SEND_MIDDLE, 1, MTU);
	tap_eq(rr_arrive(&pkt), HRP_RX_NAK);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.status, HROCE_WC_REM_INV_REQ_ERR);
	tap_eq(rr.qp.resp.srqn, SRQN);
	rr_expect_end(1, HRP_NAK_INV_REQ, 0);
}

/* The entry of a message that is to come again is not for another SRQ. */
static void entry_waits_for_its_message(void)
{
	struct hrp_pkt pkt;

	begin();
	pkt = request_for(SRQN, HRP_OP_SEND_ONLY, 0, 4);
	rr_arrive_status(&pkt, HRP_MEM_FAULT);
	rr_expect_ack(0, HRP_SYN_RNR | RNR_CODE, 0);
	tap_eq(ask_for(SRQN + 1, HRP_OP_SEND_ONLY, 0, 4), HRP_RX_NAK);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.status, HROCE_WC_REM_INV_REQ_ERR);
	tap_eq(rr.qp.resp.srqn, SRQN);
	rr_expect_end(0, HRP_NAK_INV_REQ, 0);
}

/* What is out of order says nothing yet about SRQs. */
static void gap_is_nakked_whatever_the_srq(void)
{
	begin();
	tap_eq(ask_for(SRQN + 2, HRP_OP_SEND_ONLY, 1, 1), HRP_RX_NAK);
	rr_expect_ack(0, HRP_NAK_PSN_SEQ, 0);
	tap_eq(rr.qp.state, HRP_RTS);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_ACCEPT);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
	tap_eq(ask_for(SRQN + 2, HRP_OP_SEND_ONLY, 0, 1), HRP_RX_DUPLICATE);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);
}

static void middles_come_one_by_one(void)
{
	begin();
	rr_ask(HRP_OP_SEND_FIRST, 0, MTU);
	rr_ask(HRP_OP_SEND_MIDDLE, 1, MTU);
	tap_eq(rr.rx.more, 0);
	tap_ok(rr.rx.fuse);
}

/* Its memory is read in the name of the SRQ that the request has named. */
static void read_remembers_its_srq(void)
{
	begin();
	tap_eq(ask_for(SRQN + 1, HRP_OP_READ_REQ, 0, 3 * MTU), HRP_RX_ACCEPT);
	tap_eq(ask_for(SRQN, HRP_OP_FETCH_ADD, 3, 0), HRP_RX_ACCEPT);
	rr_expect_read(0, 2, HRP_SVC_XRC | HRP_OP_READ_RESP_FIRST, 0, 2 * MTU);
	tap_eq(rr.burst.first.srqn, SRQN + 1);
	tap_eq(rr.burst.op_last, HRP_SVC_XRC | HRP_OP_READ_RESP_MIDDLE);
	rr_expect_read(2, 1, HRP_SVC_XRC | HRP_OP_READ_RESP_LAST, 2 * MTU, MTU);
	tap_eq(rr.burst.first.srqn, SRQN + 1);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_SVC_XRC | HRP_OP_ATOMIC_ACK);
	rr_expect_nothing();

	/* Again, and the atomic without being executed. */
	tap_eq(ask_for(SRQN, HRP_OP_FETCH_ADD, 3, 0), HRP_RX_DUPLICATE);
	tap_eq(rr.nr_atomics, 1);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.opcode, HRP_SVC_XRC | HRP_OP_ATOMIC_ACK);
}

static void numbers_are_known_to_be_right(void)
{
	static const struct {
		enum hrp_op op;
		bool delicate;
	} ops[] = {
		{ HRP_OP_SEND_FIRST, true }, { HRP_OP_SEND_MIDDLE, false },
		{ HRP_OP_SEND_LAST, true }, { HRP_OP_SEND_ONLY, true },
		{ HRP_OP_WRITE_FIRST, true }, { HRP_OP_WRITE_MIDDLE, false },
		{ HRP_OP_WRITE_LAST_IMM, true }, { HRP_OP_READ_REQ, true },
	};
	struct hrp_pkt pkt;
	u32 i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		begin();
		pkt = rr_request(ops[i].op, 0, 0);
		tap_eq(hrp_resp_is_delicate(&pkt), ops[i].delicate);
		rr_begin(HRP_TYPE_RC);
		pkt = rr_request(ops[i].op, 0, 0);
		tap_ok(!hrp_resp_is_delicate(&pkt));
	}
}

static void flush_returns_what_was_begun(void)
{
	begin();
	rr_ask(HRP_OP_SEND_FIRST, 0, MTU);
	rr.qp.state = HRP_ERR;
	hrp_resp_flush(&rr.qp, U32_MAX);
	hrp_req_flush(&rr.qp, U32_MAX);
	tap_eq(rr.nr_cqes, 1);
	tap_eq(rr.cqe.status, HROCE_WC_WR_FLUSH_ERR);
	tap_eq(rr.qp.resp.srqn, SRQN);
	tap_eq(rr.nr_recvs, 99);
	tap_eq(rr_pending(HRP_PENDING_LAST_WQE), 1);
}

/* A target sends nothing of its own accord, an initiator takes nothing. */
static void each_end_has_one_side(void)
{
	struct hrp_burst b;

	begin();
	hrp_req_reset(&rr.qp);
	hrp_req_start(&rr.qp, 0);
	tap_eq(hrp_req_next(&rr.qp, 1, &b), HRP_NEXT_IDLE);
	tap_eq(rr_ask(HRP_OP_ACK, 0, 0), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_OPCODE);
	rr.qp.state = HRP_SQD;
	hrp_req_drain(&rr.qp, false);
	tap_eq(rr_pending(HRP_PENDING_SQ_DRAINED), 0);
	hrp_req_drain(&rr.qp, true);
	tap_eq(rr_pending(HRP_PENDING_SQ_DRAINED), 1);
	tap_ok(!rr.qp.req.drained_event);

	rr_begin(HRP_TYPE_XRC_INI);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 0, 1), HRP_RX_DROP);
	tap_eq(rr.rx.drop, HROCE_DROP_OPCODE);
	rr.qp.state = HRP_ERR;
	hrp_resp_flush(&rr.qp, U32_MAX);
	tap_eq(rr.nr_cqes, 0);
	tap_eq(rr_pending(HRP_PENDING_LAST_WQE), 0);
}

int main(void)
{
	tap_plan(10);
	tap_run(message_goes_to_the_srq_it_names);
	tap_run(unknown_srq_ends_the_connection);
	tap_run(srq_changes_between_messages_only);
	tap_run(entry_waits_for_its_message);
	tap_run(gap_is_nakked_whatever_the_srq);
	tap_run(middles_come_one_by_one);
	tap_run(read_remembers_its_srq);
	tap_run(numbers_are_known_to_be_right);
	tap_run(flush_returns_what_was_begun);
	tap_run(each_end_has_one_side);
	return tap_exit();
}

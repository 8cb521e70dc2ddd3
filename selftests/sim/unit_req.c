// SPDX-License-Identifier: GPL-2.0
/* Requester: what goes out, when, and with which PSN. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "filled.h"
#include "rig.h"
#include "tap.h"

static void expect_burst(u8 opcode, u32 psn, u32 nr_pkts)
{
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, opcode);
	tap_eq(rig.burst.first.info, hrp_opcode_info(opcode));
	tap_eq(rig.burst.first.psn, psn & 0xffffff);
	tap_eq(rig.burst.nr_pkts, nr_pkts);
	tap_ok(rig.burst.first.migreq);
}

static void expect_mem(u32 offset, u32 len)
{
	tap_eq(rig.burst.mem.offset, offset);
	tap_eq(rig.burst.mem.len, len);
	tap_eq(rig.burst.mem.access, HRP_ACCESS_LOCAL_READ);
}

static void send_of_one_packet(void)
{
	struct hroce_sq_wqe *wqe;

	rig_begin(HRP_TYPE_RC, 100);
	rig_post_op(HROCE_WR_SEND, 0);
	expect_burst(HRP_OP_SEND_ONLY, 100, 1);
	expect_mem(0, 0);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig.burst.first.dqpn, RIG_PEER_QPN);

	wqe = rig_slot(HROCE_WR_SEND_IMM);
	wqe->imm_data = 0x12345678;
	wqe->flags |= HROCE_WRF_SOLICITED;
	rig_post(wqe, 1024);
	expect_burst(HRP_OP_SEND_ONLY_IMM, 101, 1);
	expect_mem(0, 1024);
	tap_eq((u32)rig.burst.first.imm, 0x12345678);
	tap_ok(rig.burst.se_last);

	wqe = rig_slot(HROCE_WR_SEND_INV);
	wqe->imm_data = 0xabcd;
	rig_post(wqe, 1);
	expect_burst(HRP_OP_SEND_ONLY_INV, 102, 1);
	tap_eq(rig.burst.first.inv_rkey, 0xabcd);
	tap_ok(!rig.burst.se_last);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_end();
}

static void write_in_bursts(void)
{
	rig_begin(HRP_TYPE_RC, 0xfffff8);
	rig_post_op(HROCE_WR_WRITE_IMM, 40 * 1024 + 5);
	expect_burst(HRP_OP_WRITE_FIRST, 0xfffff8, 16);
	expect_mem(0, 16 * 1024);
	tap_eq(rig.burst.first.va, 0x200000);
	tap_eq(rig.burst.first.rkey, 9);
	tap_eq(rig.burst.first.dmalen, 40 * 1024 + 5);
	tap_eq(rig.burst.op_middle, HRP_OP_WRITE_MIDDLE);
	tap_eq(rig.burst.op_last, HRP_OP_WRITE_MIDDLE);
	tap_ok(!rig.burst.copy);
	expect_burst(HRP_OP_WRITE_MIDDLE, 0xfffff8 + 16, 16);
	expect_mem(16 * 1024, 16 * 1024);
	tap_eq(rig.burst.op_last, HRP_OP_WRITE_MIDDLE);
	expect_burst(HRP_OP_WRITE_MIDDLE, 0xfffff8 + 32, 9);
	expect_mem(32 * 1024, 8 * 1024 + 5);
	tap_eq(rig.burst.op_last, HRP_OP_WRITE_LAST_IMM);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_ack(0xfffff8 + 40, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

static void last_packet_alone(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND_INV, 16 * 1024 + 1);
	expect_burst(HRP_OP_SEND_FIRST, 0, 16);
	expect_burst(HRP_OP_SEND_LAST_INV, 16, 1);
	expect_mem(16 * 1024, 1);
	rig_end();
}

static void window_closes_and_opens(void)
{
	u32 asked = 0;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 1024 * 1024);
	while (rig_next() == HRP_NEXT_BURST)
		asked += rig.burst.ackreq_last;
	tap_eq(rig.qp.req.psn, 64);
	tap_eq(asked, 4);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig.hdr.need_kick, 0);
	tap_ok(rig_ack(9, 0));
	expect_burst(HRP_OP_WRITE_MIDDLE, 64, 10);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig_end();
}

static void reads_do_not_fill_the_window(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 16 * 1024);
	rig_post_op(HROCE_WR_WRITE, 100 * 1024);
	expect_burst(HRP_OP_READ_REQ, 0, 1);
	tap_eq(rig.burst.mem.len, 0);
	tap_eq(rig.burst.first.dmalen, 16 * 1024);
	expect_burst(HRP_OP_WRITE_FIRST, 16, 16);
	tap_eq(rig_drain(), 48);
	tap_eq(rig.qp.req.psn, 16 + 64);
	rig_end();
}

static void reads_and_atomics_are_limited(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 1);
	rig_post_op(HROCE_WR_CMP_SWAP, 8);
	rig_post_op(HROCE_WR_READ, 2048);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_READ, 1);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	for (i = 0; i < 4; i++)
		tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, 1), HRP_RX_ACCEPT);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	expect_burst(HRP_OP_READ_REQ, 5, 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig_atomic_resp(1, 0), HRP_RX_ACCEPT);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	expect_burst(HRP_OP_FETCH_ADD, 6, 1);
	rig_end();
}

/* The attribute may be lowered while the queue is drained. */
static void limit_of_reads_falls_to_0(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.max_rd_atomic = 1;
	rig_post_op(HROCE_WR_READ, 1);
	rig_post_op(HROCE_WR_READ, 1);
	tap_eq(rig_drain(), 1);
	rig.qp.req.max_rd_atomic = 0;
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, 1);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	expect_burst(HRP_OP_READ_REQ, 1, 1);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 1, 1);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	rig_post_op(HROCE_WR_READ, 1);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(2, HROCE_WC_LOC_QP_OP_ERR);
	rig_end();
}

static void atomic_operands(void)
{
	struct hroce_sq_wqe *wqe;

	rig_begin(HRP_TYPE_RC, 0);
	wqe = rig_slot(HROCE_WR_CMP_SWAP);
	wqe->rdma.remote_addr = 64;
	wqe->rdma.compare_add = 11;
	wqe->rdma.swap = 22;
	rig_post(wqe, 8);
	expect_burst(HRP_OP_CMP_SWAP, 0, 1);
	tap_eq(rig.burst.first.compare, 11);
	tap_eq(rig.burst.first.swap_add, 22);
	tap_eq(rig.burst.first.va, 64);

	wqe = rig_slot(HROCE_WR_FETCH_ADD);
	wqe->rdma.compare_add = 33;
	rig_post(wqe, 8);
	expect_burst(HRP_OP_FETCH_ADD, 1, 1);
	tap_eq(rig.burst.first.compare, 0);
	tap_eq(rig.burst.first.swap_add, 33);
	rig_end();
}

static void atomic_write_and_flush_operands(void)
{
	struct hroce_sq_wqe *wqe;

	rig_begin(HRP_TYPE_RC, 0);
	wqe = rig_slot(HROCE_WR_ATOMIC_WRITE);
	wqe->rdma.remote_addr = 64;
	wqe->rdma.rkey = 7;
	rig_post(wqe, 8);
	expect_burst(HRP_OP_ATOMIC_WRITE, 0, 1);
	tap_eq(rig.burst.first.va, 64);
	tap_eq(rig.burst.first.rkey, 7);
	tap_eq(rig.burst.first.dmalen, 8);
	tap_eq(rig.burst.mem.len, 8);
	tap_ok(rig.burst.mem.sges);
	tap_ok(rig.burst.copy && rig.burst.ackreq_last);

	wqe = rig_slot(HROCE_WR_ATOMIC_WRITE);
	wqe->flags |= HROCE_WRF_INLINE;
	wqe->inline_len = 8;
	memcpy(wqe + 1, "12345678", 8);
	rig_post(wqe, 0);
	expect_burst(HRP_OP_ATOMIC_WRITE, 1, 1);
	tap_ok(!memcmp(rig.burst.mem.bytes, "12345678", 8));

	wqe = rig_slot(HROCE_WR_FLUSH);
	wqe->flush.remote_addr = 4096;
	wqe->flush.length = 0xfffff000;
	wqe->flush.rkey = 8;
	wqe->flush.placement = HROCE_FLUSH_GLOBAL | HROCE_FLUSH_PERSISTENT;
	wqe->flush.selectivity = HROCE_FLUSH_MR;
	rig_post(wqe, 0);
	expect_burst(HRP_OP_FLUSH, 2, 1);
	tap_eq(rig.burst.first.va, 4096);
	tap_eq(rig.burst.first.rkey, 8);
	tap_eq(rig.burst.first.dmalen, 0xfffff000);
	tap_eq(rig.burst.first.feth, 0x13);
	tap_eq(rig.burst.mem.len, 0);
	rig_end();
}

/* As it has been counted already when that shows. */
static void atomic_write_of_memory_that_is_not_there(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.max_rd_atomic = 1;
	rig_post_op(HROCE_WR_ATOMIC_WRITE, 8);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	expect_burst(HRP_OP_ATOMIC_WRITE, 0, 1);
	tap_eq(rig.qp.req.nr_rd_atomic, 1);
	tap_eq(rig.qp.req.rd_pkts, 1);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);

	rig_post_op(HROCE_WR_ATOMIC_WRITE, 8);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.req.nr_rd_atomic, 0);
	tap_eq(rig.qp.req.rd_pkts, 0);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(1, HROCE_WC_LOC_PROT_ERR);
	rig_end();
}

static void fence_waits_for_reads(void)
{
	struct hroce_sq_wqe *wqe;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 1);
	rig_post_op(HROCE_WR_WRITE, 1);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->flags |= HROCE_WRF_FENCE;
	rig_post(wqe, 1);
	expect_burst(HRP_OP_READ_REQ, 0, 1);
	expect_burst(HRP_OP_WRITE_ONLY, 1, 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, 1);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	expect_burst(HRP_OP_SEND_ONLY, 2, 1);
	rig_end();
}

static void local_invalidate_waits_for_all(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	expect_burst(HRP_OP_WRITE_ONLY, 0, 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig.local_ops, 0);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	expect_burst(HRP_OP_SEND_ONLY, 1, 1);
	tap_eq(rig.local_ops, 1);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	tap_eq(rig.cqes[1].opcode, HROCE_WC_LOCAL_INV);
	rig_end();
}

static void registration_is_done_once(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.sq.reg_mr = true;
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_REG_MR, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_drain(), 2);
	tap_eq(rig.local_ops, 1);
	rig_expect_no_cqe();
	rig_ack(0, HRP_NAK_PSN_SEQ);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.local_ops, 1);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.local_ops, 1);
	rig_ack(1, 0);
	rig_expect_cqe(2, HROCE_WC_SUCCESS);
	rig_end();
}

/* What was executed is not come back to, even if it completes before that. */
static void registration_completes_while_resending(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.sq.reg_mr = true;
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_REG_MR, 0);
	tap_eq(rig_drain(), 1);
	rig_ack(0, HRP_NAK_PSN_SEQ);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	tap_eq(rig.qp.req.sq.next, 2);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.first.psn, 1);
	tap_eq(rig.local_ops, 1);
	rig_ack(1, 0);
	rig_expect_cqe(2, HROCE_WC_SUCCESS);
	rig_end();
}

/* An application that posts as fast as we execute does not hold us up. */
static void endless_local_operations(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	rig.posts_left = 40;
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	tap_eq(rig_next(), HRP_NEXT_AGAIN);
	tap_ok(rig.local_ops < 40);
	tap_eq(rig.hdr.need_kick, 0);
	for (i = 0; i < 3; i++)
		rig_next();
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	for (i = 0; i < 41; i++)
		rig_expect_cqe(i, HROCE_WC_SUCCESS);
	rig_end();
}

static void local_operation_fails(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.local_status = HROCE_WC_LOC_PROT_ERR;
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(0, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(1, HROCE_WC_WR_FLUSH_ERR);
	rig_end();
}

static void memory_fails_in_the_middle(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 64 * 1024);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	expect_burst(HRP_OP_SEND_ONLY, 0, 1);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(1, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();
}

/* Memory goes away between sending and sending again. */
static void memory_fails_when_sent_again(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_post_op(HROCE_WR_READ, 1);
	rig_drain();
	rig_ack(0, HRP_NAK_PSN_SEQ);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	/* Going back once more, before the report comes. */
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.req.psn, 1);
	/* An answer from before says that all arrived, but too late. */
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 3, 1), HRP_RX_ACCEPT);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	rig_expect_no_cqe();
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(2, HROCE_WC_LOC_PROT_ERR);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(3, HROCE_WC_WR_FLUSH_ERR);
	rig_end();
}

/* The reports cross: the entry completed, or was reset, before sent. */
static void sent_comes_late(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.qp.state, HRP_RTS);
	rig_end();

	/* The peer acknowledges the beginning of what cannot be sent. */
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 4 * 1024);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	rig_ack(0, 0);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.req.psn, rig.qp.req.psn_una);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(0, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();

	rig_begin(HRP_TYPE_UC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_reset(&rig.qp);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_SUCCESS);
	rig_end();
}

static void long_read_in_pieces(void)
{
	const u32 half = 1u << 30;

	rig_begin(HRP_TYPE_RC, 7);
	rig.qp.mtu = 256;
	rig.qp.req.window_pkts = 8191;
	rig.qp.req.cwnd_pkts = 0xffffffff;
	rig_post_op(HROCE_WR_READ, 1u << 31);
	rig_post_op(HROCE_WR_SEND, 1);
	expect_burst(HRP_OP_READ_REQ, 7, 1);
	tap_eq(rig.burst.first.dmalen, half);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	/* As if all but the last packet had come. */
	rig.qp.req.psn_una = 7 + (1 << 22) - 1;
	rig.qp.req.rd_pkts = 1;
	expect_burst(HRP_OP_READ_REQ, 7 + (1 << 22), 1);
	tap_eq(rig.burst.first.dmalen, half);
	tap_eq(rig.burst.first.va, 0x200000 + half);
	tap_eq(rig.qp.req.nr_rd_atomic, 2);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_LAST, 7 + (1 << 22) - 1, 256),
	       HRP_RX_ACCEPT);
	tap_eq(rig.qp.req.nr_rd_atomic, 1);
	rig_end();
}

static void write_stays_in_the_psn_region(void)
{
	u32 total = 0;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.mtu = 256;
	rig.qp.req.window_pkts = 8191;
	rig.qp.req.cwnd_pkts = 0xffffffff;
	rig.qp.req.burst_pkts = 255;
	rig_post_op(HROCE_WR_WRITE, 1u << 31);
	while (rig_next() == HRP_NEXT_BURST)
		total += rig.burst.nr_pkts;
	tap_eq(total, (1 << 23) - 1);
	rig_ack(0, 0);
	expect_burst(HRP_OP_WRITE_LAST, (1 << 23) - 1, 1);
	rig_ack((1 << 23) - 1, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

static void drain_begins_nothing(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 100 * 1024);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_drain(), 64);
	rig.qp.state = HRP_SQD;
	hrp_req_drain(&rig.qp, true);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(rig_ack(63, 0));
	tap_eq(rig_drain(), 36);
	tap_eq(rig_pending(HRP_PENDING_SQ_DRAINED), 0);
	tap_ok(rig_ack(99, 0));
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig_pending(HRP_PENDING_SQ_DRAINED), 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig_pending(HRP_PENDING_SQ_DRAINED), 1);
	rig.qp.state = HRP_RTS;
	expect_burst(HRP_OP_SEND_ONLY, 100, 1);
	rig_end();
}

static void list_asks_once(void)
{
	struct hroce_sq_wqe *wqe;
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	for (i = 0; i < 3; i++)
		rig_post_op(HROCE_WR_WRITE, 64 - i);
	for (i = 0; i < 3; i++) {
		expect_burst(HRP_OP_WRITE_ONLY, i, 1);
		tap_eq(rig.burst.ackreq_last, i == 2);
		tap_eq(rig.burst.more, 2 - i);
	}
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_ack(2, 0);
	for (i = 0; i < 3; i++)
		rig_expect_cqe(i, HROCE_WC_SUCCESS);

	/* What comes behind may have to wait for all before. */
	rig_post_op(HROCE_WR_WRITE, 64);
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	expect_burst(HRP_OP_WRITE_ONLY, 3, 1);
	tap_ok(rig.burst.ackreq_last);
	rig_ack(3, 0);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(3, HROCE_WC_SUCCESS);
	rig_expect_cqe(4, HROCE_WC_SUCCESS);

	rig_post_op(HROCE_WR_WRITE, 64);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->flags |= HROCE_WRF_FENCE;
	rig_post(wqe, 64);
	expect_burst(HRP_OP_WRITE_ONLY, 4, 1);
	tap_ok(rig.burst.ackreq_last);
	rig_end();
}

static void long_list_asks_in_between(void)
{
	u32 i, asked = 0;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.cwnd_pkts = 16;
	for (i = 0; i < 12; i++)
		rig_post_op(HROCE_WR_WRITE, 64 - i);
	for (i = 0; i < 12; i++) {
		tap_eq(rig_next(), HRP_NEXT_BURST);
		asked += rig.burst.ackreq_last;
	}
	tap_eq(asked, 3);
	tap_ok(rig.burst.ackreq_last);
	rig_end();
}

/* The last message of a list, which was to ask, cannot be sent. */
static void list_asks_again_before_a_failure(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	for (i = 0; i < 3; i++)
		rig_post_op(HROCE_WR_WRITE, 64 - i);
	expect_burst(HRP_OP_WRITE_ONLY, 0, 1);
	expect_burst(HRP_OP_WRITE_ONLY, 1, 1);
	tap_ok(!rig.burst.ackreq_last);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	expect_burst(HRP_OP_WRITE_ONLY, 0, 1);
	tap_ok(!rig.burst.ackreq_last);
	expect_burst(HRP_OP_WRITE_ONLY, 1, 1);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(rig_ack(1, 0));
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	rig_expect_cqe(2, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
	rig_end();
}

static void drain_asks_again(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 64);
	rig_post_op(HROCE_WR_WRITE, 63);
	expect_burst(HRP_OP_WRITE_ONLY, 0, 1);
	tap_ok(!rig.burst.ackreq_last);
	rig.qp.state = HRP_SQD;
	hrp_req_drain(&rig.qp, true);
	expect_burst(HRP_OP_WRITE_ONLY, 0, 1);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(rig_ack(0, 0));
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig_pending(HRP_PENDING_SQ_DRAINED), 1);
	rig_end();
}

static void uc_completes_when_sent(void)
{
	rig_begin(HRP_TYPE_UC, 0xffffff);
	rig_post_op(HROCE_WR_WRITE, 17 * 1024);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_SVC_UC | HRP_OP_WRITE_FIRST);
	tap_eq(rig.burst.op_last, HRP_SVC_UC | HRP_OP_WRITE_MIDDLE);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_SUCCESS);
	rig_expect_no_cqe();
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	rig_expect_no_cqe();
	tap_eq(rig.burst.first.opcode, HRP_SVC_UC | HRP_OP_WRITE_LAST);
	tap_eq(rig.burst.first.psn, 15);
	tap_ok(!rig.burst.ackreq_last);
	tap_ok(rig.burst.copy);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_SUCCESS);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	rig_end();
}

static void ud_headers(void)
{
	struct hroce_sq_wqe *wqe;

	rig_begin(HRP_TYPE_UD, 3);
	wqe = rig_slot(HROCE_WR_SEND_IMM);
	wqe->imm_data = 6;
	wqe->ud.ah = 4;
	wqe->ud.qpn = 0xff000012;
	wqe->ud.qkey = 0x1234;
	rig_post(wqe, 1024);
	expect_burst(HRP_SVC_UD | HRP_OP_SEND_ONLY_IMM, 3, 1);
	tap_eq(rig.burst.ah, 4);
	tap_eq(rig.burst.first.dqpn, 0x12);
	tap_eq(rig.burst.first.sqpn, RIG_QPN);
	tap_eq(rig.burst.first.qkey, 0x1234);
	tap_eq((u32)rig.burst.first.imm, 6);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);

	/* The Q_Key with the high bit set stands for that of the QP. */
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->ud.ah = 4;
	wqe->ud.qkey = 0x80010000;
	rig_post(wqe, 1);
	expect_burst(HRP_SVC_UD | HRP_OP_SEND_ONLY, 4, 1);
	tap_eq(rig.burst.first.qkey, 0x11111111);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	rig_end();
}

static void sqe_flushes_until_rts(void)
{
	rig_begin(HRP_TYPE_UC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	rig_post_op(HROCE_WR_SEND, 1);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(0, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.state, HRP_SQE);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(1, HROCE_WC_WR_FLUSH_ERR);
	tap_eq(rig.hdr.need_kick, 1);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(2, HROCE_WC_WR_FLUSH_ERR);
	rig.qp.state = HRP_RTS;
	rig_post_op(HROCE_WR_SEND, 1);
	expect_burst(HRP_SVC_UC | HRP_OP_SEND_ONLY, 1, 1);
	rig_expect_cqe(3, HROCE_WC_SUCCESS);
	rig_end();
}

/* What ends all of the queue pair is not an error of the send queue only. */
static void overrun_is_no_sqe(void)
{
	rig_begin(HRP_TYPE_UC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	rig.cq_overrun = true;
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();
}

static void no_state_but_rts_sends(void)
{
	static const u8 states[] = {
		HRP_RESET, HRP_INIT, HRP_RTR, HRP_SQE, HRP_ERR,
	};
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		rig.qp.state = states[i];
		tap_eq(rig_next(), HRP_NEXT_IDLE);
		tap_ok(!rig_ack(0, 0));
		tap_ok(!hrp_req_timeout(&rig.qp, ~0ull));
	}
	tap_eq(rig.counts.v[HROCE_DROP_QP_STATE], ARRAY_SIZE(states));
	rig_end();
}

/* Each packet of each operation names the SRQ of its request. */
static void xrc_requests_name_an_srq(void)
{
	static const u8 ops[][2] = {
		{ HROCE_WR_SEND, HRP_OP_SEND_ONLY },
		{ HROCE_WR_WRITE_IMM, HRP_OP_WRITE_ONLY_IMM },
		{ HROCE_WR_READ, HRP_OP_READ_REQ },
		{ HROCE_WR_FETCH_ADD, HRP_OP_FETCH_ADD },
	};
	struct hroce_sq_wqe *wqe;
	struct hrp_pkt pkt;
	unsigned int i;

	rig_begin(HRP_TYPE_XRC_INI, 0);
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		wqe = rig_slot(ops[i][0]);
		wqe->srqn = 0x1000 + i;
		rig_post(wqe, 8);
		expect_burst(HRP_SVC_XRC | ops[i][1], i, 1);
		tap_eq(rig.burst.first.srqn, 0x1000 + i);
		tap_ok(rig.burst.first.info & HRP_OI_XRCETH);
		tap_ok(rig.burst.ackreq_last);
	}
	wqe = rig_slot(HROCE_WR_WRITE);
	wqe->srqn = 0x77;
	rig_post(wqe, 3 * 1024);
	expect_burst(HRP_SVC_XRC | HRP_OP_WRITE_FIRST, 4, 3);
	for (i = 0; i < 3; i++) {
		hrp_burst_pkt(&rig.burst, i, &pkt);
		tap_eq(pkt.srqn, 0x77);
		tap_ok(pkt.info & HRP_OI_XRCETH);
	}
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_end();
}

/* Nothing is sent, and no timer runs, until the memory is there. */
static void memory_is_fetched(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 4 * 1024);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig.now_ns += 100 * RIG_TIMEOUT_NS;
	tap_ok(!hrp_req_timeout(&rig.qp, rig.now_ns));
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_ok(!hrp_req_has_deadline(&rig.qp.req));
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	tap_ok(!hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	expect_burst(HRP_OP_SEND_FIRST, 1, 4);
	rig_ack(4, 0);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	rig_end();

	rig_begin(HRP_TYPE_UC, 0);
	rig_post_op(HROCE_WR_SEND, 4 * 1024);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	expect_burst(HRP_SVC_UC | HRP_OP_SEND_FIRST, 4, 4);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

static void memory_cannot_be_fetched(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 4 * 1024);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, false));
	/* The one before is to be acknowledged first. */
	expect_burst(HRP_OP_SEND_ONLY, 0, 1);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(1, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();
}

/* Headers come from the stack; all of each packet is filled in. */
static void headers_are_filled_in(void)
{
	struct hrp_burst bursts[ARRAY_SIZE(filled_before)];
	unsigned int type, op, i;

	for (type = HRP_TYPE_RC; type <= HRP_TYPE_XRC_INI; type++) {
		for (op = 0; op < HROCE_WR_NR; op++) {
			u32 sent = 0;

			for (i = 0; i < ARRAY_SIZE(bursts); i++) {
				struct hroce_sq_wqe *wqe;

				rig_begin(type, 0);
				rig.qp.req.max_rd_atomic = 1;
				memset(&rig.burst, filled_before[i],
				       sizeof(rig.burst));
				wqe = rig_slot(op);
				if (op == HROCE_WR_FLUSH)
					wqe->flush.placement =
						HROCE_FLUSH_GLOBAL;
				else if (type == HRP_TYPE_UD)
					wqe->ud.ah = 1;
				rig_post(wqe, op == HROCE_WR_FLUSH ? 0 : 8);
				sent += rig_next() == HRP_NEXT_BURST;
				bursts[i] = rig.burst;
				rig.seen_cqes = rig.nr_cqes;
				rig_end();
			}
			if (sent)
				filled_compare(&bursts[0], &bursts[1]);
		}
	}
}

int main(void)
{
	tap_plan(35);
	tap_run(send_of_one_packet);
	tap_run(write_in_bursts);
	tap_run(last_packet_alone);
	tap_run(window_closes_and_opens);
	tap_run(reads_do_not_fill_the_window);
	tap_run(reads_and_atomics_are_limited);
	tap_run(limit_of_reads_falls_to_0);
	tap_run(atomic_operands);
	tap_run(atomic_write_and_flush_operands);
	tap_run(atomic_write_of_memory_that_is_not_there);
	tap_run(fence_waits_for_reads);
	tap_run(local_invalidate_waits_for_all);
	tap_run(registration_is_done_once);
	tap_run(registration_completes_while_resending);
	tap_run(endless_local_operations);
	tap_run(local_operation_fails);
	tap_run(memory_fails_in_the_middle);
	tap_run(memory_fails_when_sent_again);
	tap_run(sent_comes_late);
	tap_run(long_read_in_pieces);
	tap_run(write_stays_in_the_psn_region);
	tap_run(drain_begins_nothing);
	tap_run(list_asks_once);
	tap_run(long_list_asks_in_between);
	tap_run(list_asks_again_before_a_failure);
	tap_run(drain_asks_again);
	tap_run(uc_completes_when_sent);
	tap_run(ud_headers);
	tap_run(sqe_flushes_until_rts);
	tap_run(overrun_is_no_sqe);
	tap_run(no_state_but_rts_sends);
	tap_run(xrc_requests_name_an_srq);
	tap_run(memory_is_fetched);
	tap_run(memory_cannot_be_fetched);
	tap_run(headers_are_filled_in);
	return tap_exit();
}

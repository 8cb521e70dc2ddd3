// SPDX-License-Identifier: GPL-2.0
/* Send queue: what the application may write, and what it should not. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "filled.h"
#include "rig.h"
#include "tap.h"

/* The entry posted last is refused with @status, and the queue stops. */
static void expect_refused(u8 status)
{
	bool reliable = hrp_qp_is_reliable(&rig.qp);
	u64 wr_id = rig.hdr.prod - 1;

	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(wr_id, status);
	tap_eq(rig_pending(HRP_PENDING_ERROR), reliable);
	tap_eq(rig_pending(HRP_PENDING_SQ_ERROR), !reliable);
	tap_eq(rig.qp.state, reliable ? HRP_ERR : HRP_SQE);
	tap_eq(rig.hdr.cons, rig.hdr.prod);
	rig_end();
}

static void take_refuses_opcodes(void)
{
	static const u8 offered[HROCE_WR_NR] = {
		[HROCE_WR_SEND] = 0xf, [HROCE_WR_SEND_IMM] = 0xf,
		[HROCE_WR_SEND_INV] = 9, [HROCE_WR_WRITE] = 0xb,
		[HROCE_WR_WRITE_IMM] = 0xb, [HROCE_WR_READ] = 9,
		[HROCE_WR_CMP_SWAP] = 9, [HROCE_WR_FETCH_ADD] = 9,
		[HROCE_WR_LOCAL_INV] = 0xb, [HROCE_WR_BIND_MW] = 0xb,
		[HROCE_WR_ATOMIC_WRITE] = 1, [HROCE_WR_FLUSH] = 1,
		[HROCE_WR_MASKED_CMP_SWAP] = 9, [HROCE_WR_MASKED_FETCH_ADD] = 9,
	};
	struct hroce_sq_wqe *wqe;
	unsigned int type, op;

	for (type = HRP_TYPE_RC; type <= HRP_TYPE_XRC_INI; type++) {
		for (op = 0; op < 256; op++) {
			if (op < HROCE_WR_NR && offered[op] & 1 << type)
				continue;
			rig_begin(type, 0);
			wqe = rig_slot(op);
			wqe->ud.ah = 1;
			rig_post(wqe, 0);
			expect_refused(HROCE_WC_LOC_QP_OP_ERR);
		}
	}
}

static void take_refuses_kinds_of_flush(void)
{
	static const struct {
		u8 placement;
		u8 selectivity;
		u32 len;
	} bad[] = {
		{ 0, HROCE_FLUSH_RANGE, 0 },
		{ 4 | HROCE_FLUSH_GLOBAL, HROCE_FLUSH_RANGE, 0 },
		{ HROCE_FLUSH_GLOBAL, 2, 0 },
		{ HROCE_FLUSH_PERSISTENT, HROCE_FLUSH_MR, 8 },
	};
	struct hroce_sq_wqe *wqe;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		rig_begin(HRP_TYPE_RC, 0);
		wqe = rig_slot(HROCE_WR_FLUSH);
		wqe->flush.placement = bad[i].placement;
		wqe->flush.selectivity = bad[i].selectivity;
		rig_post(wqe, bad[i].len);
		expect_refused(HROCE_WC_LOC_QP_OP_ERR);
	}
}

static void take_refuses_flags(void)
{
	struct hroce_sq_wqe *wqe;
	unsigned int bit;

	for (bit = 4; bit < 8; bit++) {
		rig_begin(HRP_TYPE_RC, 0);
		wqe = rig_slot(HROCE_WR_SEND);
		wqe->flags |= 1 << bit;
		rig_post(wqe, 0);
		expect_refused(HROCE_WC_LOC_QP_OP_ERR);
	}
}

static void take_refuses_counts(void)
{
	struct hroce_sq_wqe *wqe;
	unsigned int n;

	for (n = 5; n < 256; n++) {
		rig_begin(HRP_TYPE_RC, 0);
		wqe = rig_slot(HROCE_WR_SEND);
		wqe->nr_sges = n;
		rig_post(wqe, 0);
		expect_refused(HROCE_WC_LOC_QP_OP_ERR);
	}

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_LOCAL_INV, 8);
	expect_refused(HROCE_WC_LOC_QP_OP_ERR);

	rig_begin(HRP_TYPE_RC, 0);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->inline_len = 1;
	rig_post(wqe, 0);
	expect_refused(HROCE_WC_LOC_QP_OP_ERR);

	rig_begin(HRP_TYPE_RC, 0);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->flags |= HROCE_WRF_INLINE;
	rig_post(wqe, 8);
	expect_refused(HROCE_WC_LOC_QP_OP_ERR);

	rig_begin(HRP_TYPE_RC, 0);
	wqe = rig_slot(HROCE_WR_READ);
	wqe->flags |= HROCE_WRF_INLINE;
	rig_post(wqe, 0);
	expect_refused(HROCE_WC_LOC_QP_OP_ERR);
}

static void take_refuses_lengths(void)
{
	static const u32 inline_lens[] = { 129, 1024, 0x80000000, 0xffffffff };
	struct hroce_sq_wqe *wqe;
	struct hroce_sge *sges;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(inline_lens); i++) {
		rig_begin(HRP_TYPE_RC, 0);
		wqe = rig_slot(HROCE_WR_SEND);
		wqe->flags |= HROCE_WRF_INLINE;
		wqe->inline_len = inline_lens[i];
		rig_post(wqe, 0);
		expect_refused(HROCE_WC_LOC_LEN_ERR);
	}

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 0x80000001);
	expect_refused(HROCE_WC_LOC_LEN_ERR);

	/* A sum that is small modulo 2^32. */
	rig_begin(HRP_TYPE_RC, 0);
	wqe = rig_slot(HROCE_WR_WRITE);
	rig_post(wqe, 0xffffffff);
	sges = (void *)(wqe + 1);
	sges[1].length = 2;
	wqe->nr_sges = 2;
	expect_refused(HROCE_WC_LOC_LEN_ERR);

	rig_begin(HRP_TYPE_UD, 0);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->ud.ah = 1;
	rig_post(wqe, 1025);
	expect_refused(HROCE_WC_LOC_LEN_ERR);
}

static void take_refuses_addresses(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_FETCH_ADD, 7);
	expect_refused(HROCE_WC_LOC_LEN_ERR);

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_ATOMIC_WRITE, 9);
	expect_refused(HROCE_WC_LOC_LEN_ERR);

	rig_begin(HRP_TYPE_UD, 0);
	rig_post(rig_slot(HROCE_WR_SEND), 8);
	expect_refused(HROCE_WC_LOC_QP_OP_ERR);

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.max_rd_atomic = 0;
	rig_post_op(HROCE_WR_READ, 8);
	expect_refused(HROCE_WC_LOC_QP_OP_ERR);
}

static void refused_entry_waits_for_earlier_ones(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 100);
	rig_post_op(99, 0);
	rig_post_op(HROCE_WR_WRITE, 100);
	tap_eq(rig_drain(), 1);
	rig_expect_no_cqe();
	tap_eq(rig.qp.state, HRP_RTS);
	tap_ok(rig_ack(0, 0x1f));
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_expect_cqe(1, HROCE_WC_LOC_QP_OP_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(2, HROCE_WC_WR_FLUSH_ERR);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	rig_end();
}

static void index_out_of_range(void)
{
	static const u32 leaps[] = { 17, 0x80000000, 0xffffffff, 1000 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(leaps); i++) {
		rig_begin(HRP_TYPE_RC, 0);
		rig.hdr.prod += leaps[i];
		tap_eq(rig_next(), HRP_NEXT_IDLE);
		tap_eq(rig.qp.state, HRP_ERR);
		tap_eq(rig_pending(HRP_PENDING_ERROR), 1);
		tap_eq(rig_pending(HRP_PENDING_QP_FATAL), 1);
		hrp_req_flush(&rig.qp, U32_MAX);
		rig_end();
	}
}

/* Room is what is not complete, whatever was taken from the ring. */
static void index_beyond_incomplete_entries(void)
{
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	for (i = 0; i < 8; i++)
		rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_drain(), 8);
	rig.hdr.prod += 9;
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.qp.state, HRP_ERR);
	hrp_req_flush(&rig.qp, U32_MAX);
	for (i = 0; i < 8; i++)
		rig_expect_cqe(i, HROCE_WC_WR_FLUSH_ERR);
	/* Now that there is room, so is what the index claims. */
	for (; i < 17; i++)
		rig_expect_cqe(0, HROCE_WC_WR_FLUSH_ERR);
	rig_end();
}

static void indices_wrap(void)
{
	u32 i, psn = 0xfffffc;

	rig_begin(HRP_TYPE_RC, psn);
	rig.hdr.prod = 0xfffffff8;
	hrp_req_reset(&rig.qp);
	hrp_req_start(&rig.qp, psn);
	for (i = 0; i < 64; i++) {
		rig_post_op(HROCE_WR_SEND, 1);
		tap_eq(rig_drain(), 1);
		tap_eq(rig.burst.first.psn, psn);
		rig_ack(psn, 0);
		rig_expect_cqe(0xfffffff8 + i, HROCE_WC_SUCCESS);
		tap_eq(rig.hdr.cons, rig.hdr.prod);
		psn = (psn + 1) & 0xffffff;
	}
	rig_end();
}

static void kick_is_asked_for_when_idle(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	tap_eq(rig.hdr.need_kick, 1);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.hdr.need_kick, 0);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.hdr.need_kick, 1);
	/* Nothing to do for the requester: no reason to wake it. */
	tap_ok(!rig_ack(0, 0));
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

/* A poller is told when it is relied on, and a kick is asked for without it. */
static void polled_queue_asks_for_no_kick(void)
{
	const struct hrp_sq *sq = &rig.qp.req.sq;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.sq.watched = true;
	/* Not yet: the next post kicks in any case. */
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.hdr.need_kick, 1);
	tap_ok(!sq->polled);

	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(!sq->polled);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.hdr.need_kick, 0);
	tap_ok(sq->polled);
	tap_ok(!rig_ack(0, 0));
	rig_expect_cqe(0, HROCE_WC_SUCCESS);

	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(!sq->polled);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_ok(sq->polled);

	rig.qp.req.sq.watched = false;
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.hdr.need_kick, 1);
	tap_ok(!sq->polled);
	rig_end();
}

static void unsignaled_is_silent(void)
{
	struct hroce_sq_wqe *wqe;

	rig_begin(HRP_TYPE_RC, 0);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->flags = 0;
	rig_post(wqe, 1);
	rig_post_op(HROCE_WR_SEND, 1);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->flags = 0;
	rig_post(wqe, 1);
	rig_drain();
	rig_ack(1, 0);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	tap_eq(rig.hdr.cons, 2);
	/* An error is not. */
	rig_ack(2, HRP_NAK_REM_OP);
	rig_expect_cqe(2, HROCE_WC_REM_OP_ERR);
	rig_end();
}

static void inline_data_is_copied(void)
{
	struct hroce_sq_wqe *wqe;
	u8 *data;

	rig_begin(HRP_TYPE_RC, 0);
	wqe = rig_slot(HROCE_WR_SEND);
	wqe->flags |= HROCE_WRF_INLINE;
	wqe->inline_len = 125;
	data = (void *)(wqe + 1);
	memset(data, 0x5a, 125);
	rig_post(wqe, 0);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	memset(wqe, 0xff, sizeof(*wqe) + 125);
	tap_ok(rig.burst.mem.bytes);
	tap_eq(rig.burst.mem.len, 125);
	tap_eq(((const u8 *)rig.burst.mem.bytes)[124], 0x5a);
	tap_ok(rig.burst.copy);
	rig_ack(0, 0);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

/* Also what is posted in between, and a kick is asked for at the end only. */
static void flush_in_pieces(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	for (i = 0; i < 7; i++)
		rig_post_op(HROCE_WR_SEND, 8);
	rig_drain();
	for (i = 0; i < 3; i++)
		rig_post_op(HROCE_WR_SEND, 8);
	rig.qp.state = HRP_ERR;
	tap_eq(hrp_req_flush(&rig.qp, 4), 4);
	tap_eq(rig.nr_cqes, 4);
	rig_post_op(HROCE_WR_SEND, 8);
	tap_eq(hrp_req_flush(&rig.qp, 4), 4);
	tap_eq(hrp_req_flush(&rig.qp, 4), 3);
	tap_eq(rig.hdr.need_kick, 1);
	tap_eq(hrp_req_flush(&rig.qp, 4), 0);
	for (i = 0; i < 11; i++)
		rig_expect_cqe(i, HROCE_WC_WR_FLUSH_ERR);
	rig_end();
}

/* Completions are copied to user space from the stack. */
static void completion_is_filled_in(void)
{
	const size_t end = offsetof(struct hroce_cqe, reserved);
	struct hroce_cqe cqe[ARRAY_SIZE(filled_before)];
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	for (i = 0; i < ARRAY_SIZE(cqe); i++) {
		memset(&cqe[i], filled_before[i], sizeof(cqe[i]));
		hrp_cqe_begin(&cqe[i], &rig.qp, 1, HROCE_WC_SUCCESS,
			      HROCE_WC_SEND);
	}
	for (i = 0; i < end; i++)
		tap_eq(((u8 *)&cqe[0])[i], ((u8 *)&cqe[1])[i]);
	tap_eq(cqe[0].timestamp_ns, 0);
	rig_end();
}

static u32 scribble_state = 12345;

static u32 scribble(void)
{
	scribble_state = scribble_state * 1664525 + 1013904223;
	return scribble_state >> 8;
}

/* Anything in the ring at any time: no crash, every entry accounted for. */
static void ring_scribbled_over(void)
{
	unsigned int round, i;
	u32 *words;

	for (round = 0; round < 20000; round++) {
		rig_begin(round % 3, round);
		rig.qp.req.sq.reg_mr = round & 4;
		words = rig.ring;
		for (i = 0; i < 16 * rig.qp.req.sq.stride / 4; i++)
			words[i] = scribble() & scribble() & 0x80ff0f07;
		for (i = 0; i < 6; i++) {
			rig.hdr.prod += scribble() % 5;
			rig.hdr.need_kick = scribble();
			rig_drain();
			rig_ack(round + scribble() % 20, scribble());
		}
		rig.qp.state = HRP_ERR;
		hrp_req_flush(&rig.qp, U32_MAX);
		tap_eq(rig.qp.req.sq.tail, rig.qp.req.sq.head);
		rig.seen_cqes = rig.nr_cqes;
		rig_end();
	}
}

int main(void)
{
	tap_plan(17);
	tap_run(take_refuses_opcodes);
	tap_run(take_refuses_kinds_of_flush);
	tap_run(take_refuses_flags);
	tap_run(take_refuses_counts);
	tap_run(take_refuses_lengths);
	tap_run(take_refuses_addresses);
	tap_run(refused_entry_waits_for_earlier_ones);
	tap_run(index_out_of_range);
	tap_run(index_beyond_incomplete_entries);
	tap_run(indices_wrap);
	tap_run(kick_is_asked_for_when_idle);
	tap_run(polled_queue_asks_for_no_kick);
	tap_run(unsignaled_is_silent);
	tap_run(inline_data_is_copied);
	tap_run(flush_in_pieces);
	tap_run(completion_is_filled_in);
	tap_run(ring_scribbled_over);
	return tap_exit();
}

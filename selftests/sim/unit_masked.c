// SPDX-License-Identifier: GPL-2.0
/* Masked atomics: what the requester makes of them, guess by guess. */
#include <linux/kernel.h>
#include <string.h>
#include "rig.h"
#include "tap.h"

#define CAS	HROCE_WR_MASKED_CMP_SWAP
#define ADD	HROCE_WR_MASKED_FETCH_ADD

/**
 * struct step - an operation on a word, as one looks at it
 * @op: operation
 * @compare_add: operand
 * @swap: operand
 * @compare_add_mask: mask
 * @swap_mask: mask
 * @old: what is there
 * @new: what it becomes; @old if nothing is swapped
 */
struct step {
	u8 op;
	u64 compare_add;
	u64 swap;
	u64 compare_add_mask;
	u64 swap_mask;
	u64 old;
	u64 new;
};

static void post(const struct step *s, u32 nr_sges)
{
	struct hroce_sq_wqe *wqe = rig_slot(s->op);
	struct hroce_masks masks = { s->compare_add_mask, s->swap_mask };
	struct hroce_sge *sges = (void *)(wqe + 1);

	wqe->rdma.remote_addr = 64;
	wqe->rdma.rkey = 7;
	wqe->rdma.compare_add = s->compare_add;
	wqe->rdma.swap = s->swap;
	rig_post(wqe, 8);
	wqe->nr_sges = nr_sges;
	memcpy(&sges[nr_sges], &masks, sizeof(masks));
}

static void expect_ask(u32 psn)
{
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OP_CMP_SWAP);
	tap_eq(rig.burst.first.psn, psn & 0xffffff);
	tap_eq(rig.burst.nr_pkts, 1);
	tap_eq(rig.burst.first.va, 64);
	tap_eq(rig.burst.first.rkey, 7);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
}

/* The peer: does what it is asked, on @word. */
static u64 execute(u64 *word)
{
	u64 orig = *word;

	if (rig.burst.first.compare == orig)
		*word = rig.burst.first.swap_add;
	return orig;
}

static const struct step steps[] = {
	/* All bits of both: as without masks. */
	{ CAS, 5, 9, ~0ull, ~0ull, 5, 9 },
	{ CAS, 5, 9, ~0ull, ~0ull, 6, 6 },
	/* What is not compared may be anything; what is not swapped stays. */
	{ CAS, 0xff05, 0xab00, 0xff, 0xff00, 0x112233440005, 0x11223344ab05 },
	{ CAS, 0xff06, 0xab00, 0xff, 0xff00, 0x112233440005, 0x112233440005 },
	{ CAS, 1, 0xf0, 0, 0xf0, ~0ull, ~0ull },
	{ CAS, 1, 0, 0, 0xf0, ~0ull, ~0xf0ull },
	{ CAS, 1ull << 63, 0, 1ull << 63, ~0ull, ~0ull, 0 },
	{ CAS, 0, 1, 1ull << 63, ~0ull, ~0ull, ~0ull },
	{ CAS, 77, 1, ~0ull, 0, 77, 77 },
	/* One field of 64 bits, with and without its mark; one bit each. */
	{ ADD, 1, 0, 0, 0, ~0ull, 0 },
	{ ADD, 1, 0, 1ull << 63, 0, ~0ull, 0 },
	{ ADD, ~0ull, 0, ~0ull, 0, 0xff00ff00ff00ff00, 0x00ff00ff00ff00ff },
	/* Two of 32, and bytes. */
	{ ADD, 0x100000001, 0, 0x8000000080000000, 0,
	  0x00000001ffffffff, 0x200000000 },
	{ ADD, 0x0101010101010101, 0, 0x8080808080808080, 0,
	  0xff7f80fe00010203, 0x008081ff01020304 },
	/* A guess, right and wrong. */
	{ ADD, 1, 0x1234, 0x8000, 0, 0x1234, 0x1235 },
	{ ADD, 1, 0x1235, 0x8000, 0, 0x1234, 0x1235 },
	{ ADD, 0, 0, 0, 0, 42, 42 },
};

static void results(void)
{
	unsigned int i, psn;
	u64 word, orig = 0;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		rig_begin(HRP_TYPE_RC, 0xffffff);
		post(&steps[i], 1);
		word = steps[i].old;
		for (psn = 0xffffff; !rig.nr_cqes && psn < 0x1000001; psn++) {
			expect_ask(psn);
			orig = execute(&word);
			tap_eq(rig_atomic_resp(psn, orig), HRP_RX_ACCEPT);
		}
		tap_eq(orig, steps[i].old);
		tap_eq(word, steps[i].new);
		rig_expect_cqe(0, HROCE_WC_SUCCESS);
		tap_eq(rig.cqes[0].opcode, steps[i].op == CAS ?
		       HROCE_WC_MASKED_CMP_SWAP : HROCE_WC_MASKED_FETCH_ADD);
		tap_eq(rig.cqes[0].byte_len, 8);
		tap_eq(rig.qp.req.nr_rd_atomic, 0);
		tap_eq(rig.qp.req.rd_pkts, 0);
		rig_end();
	}
}

/* Only the result is placed, not what shows a guess to be wrong. */
static void only_the_result_is_placed(void)
{
	static const struct step add = { .op = ADD, .compare_add = 1 };
	struct hrp_pkt pkt = { .opcode = HRP_OP_ATOMIC_ACK, .orig = 5 };
	struct hrp_rx rx;

	rig_begin(HRP_TYPE_RC, 0);
	post(&add, 1);
	expect_ask(0);
	pkt.info = hrp_opcode_info(pkt.opcode);
	hrp_comp_begin(&rig.qp, &pkt, &rx);
	tap_eq(rx.mem.len, 0);
	tap_ok(hrp_comp_commit(&rig.qp, &pkt, &rx, 0, HROCE_WC_SUCCESS));
	expect_ask(1);
	tap_eq(rig.burst.first.compare, 5);
	tap_eq(rig.burst.first.swap_add, 6);
	pkt.psn = 1;
	hrp_comp_begin(&rig.qp, &pkt, &rx);
	tap_eq(rx.mem.len, 8);
	hrp_comp_commit(&rig.qp, &pkt, &rx, 0, HROCE_WC_SUCCESS);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

/* Others are faster nine times; what was before and is behind keeps its place. */
static void behind_a_busy_word(void)
{
	static const struct step add = { .op = ADD, .compare_add = 1 };
	u32 psn;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 2048);
	post(&add, 1);
	rig_post_op(HROCE_WR_WRITE, 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	expect_ask(2);
	for (psn = 2; psn < 11; psn++) {
		tap_eq(rig_atomic_resp(psn, 100 + psn), HRP_RX_ACCEPT);
		expect_ask(psn + 1);
		tap_eq(rig.burst.first.compare, 100 + psn);
		tap_eq(rig.burst.first.swap_add, 101 + psn);
	}
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_no_cqe();
	tap_eq(rig_atomic_resp(11, 110), HRP_RX_ACCEPT);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OP_WRITE_ONLY);
	tap_eq(rig.burst.first.psn, 12);
	rig_ack(12, HRP_SYN_CREDIT_INVALID);
	rig_expect_cqe(2, HROCE_WC_SUCCESS);
	rig_end();
}

/* The same request again, whether the peer has executed it or not. */
static void lost_and_asked_again(void)
{
	static const struct step add = { .op = ADD, .compare_add = 1 };

	rig_begin(HRP_TYPE_RC, 0);
	post(&add, 1);
	expect_ask(0);
	tap_eq(rig_atomic_resp(0, 7), HRP_RX_ACCEPT);
	expect_ask(1);
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	expect_ask(1);
	tap_eq(rig.burst.first.compare, 7);
	tap_eq(rig.burst.first.swap_add, 8);
	/* What answers the guess before is no answer to this one. */
	tap_eq(rig_atomic_resp(0, 7), HRP_RX_DROP);
	rig_expect_no_cqe();
	tap_eq(rig_atomic_resp(1, 7), HRP_RX_ACCEPT);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	rig_end();
}

/* The answer comes as the request is about to be sent again. */
static void answered_after_going_back(void)
{
	static const struct step add = { .op = ADD, .compare_add = 1 };
	u64 orig;

	for (orig = 0; orig < 2; orig++) {
		rig_begin(HRP_TYPE_RC, 0);
		post(&add, 1);
		rig_post_op(HROCE_WR_WRITE, 1);
		expect_ask(0);
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
		tap_eq(rig_atomic_resp(0, orig), HRP_RX_ACCEPT);
		if (orig) {
			expect_ask(1);
			tap_eq(rig.qp.req.nr_rd_atomic, 1);
			tap_eq(rig_atomic_resp(1, orig), HRP_RX_ACCEPT);
		}
		rig_expect_cqe(0, HROCE_WC_SUCCESS);
		tap_eq(rig.qp.req.nr_rd_atomic, 0);
		tap_eq(rig_next(), HRP_NEXT_BURST);
		tap_eq(rig.burst.first.psn, 1 + orig);
		rig_ack(1 + orig, HRP_SYN_CREDIT_INVALID);
		rig_expect_cqe(1, HROCE_WC_SUCCESS);
		rig_end();
	}
}

/* It ends in the state SQD, too, and only then is the queue drained. */
static void begun_before_sqd(void)
{
	static const struct step add = { .op = ADD, .compare_add = 1 };

	rig_begin(HRP_TYPE_RC, 0);
	post(&add, 1);
	post(&add, 1);
	expect_ask(0);
	rig.qp.state = HRP_SQD;
	hrp_req_drain(&rig.qp, true);
	tap_eq(rig_atomic_resp(0, 3), HRP_RX_ACCEPT);
	expect_ask(1);
	tap_eq(rig_pending(HRP_PENDING_SQ_DRAINED), 0);
	tap_eq(rig_atomic_resp(1, 3), HRP_RX_ACCEPT);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig_pending(HRP_PENDING_SQ_DRAINED), 1);
	rig_end();
}

static void refused_by_the_peer(void)
{
	static const struct step cas = { .op = CAS };

	rig_begin(HRP_TYPE_RC, 0);
	post(&cas, 1);
	post(&cas, 1);
	expect_ask(0);
	rig_ack(0, HRP_NAK_REM_ACCESS);
	rig_expect_cqe(0, HROCE_WC_REM_ACCESS_ERR);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(1, HROCE_WC_WR_FLUSH_ERR);
	rig_end();
}

/* The masks must lie within the entry. */
static void no_room_for_masks(void)
{
	const struct hrp_sq *sq = &rig.qp.req.sq;
	struct hroce_sq_wqe *wqe;
	struct hroce_sge *sges;
	u32 room, i;

	rig_begin(HRP_TYPE_RC, 0);
	room = (sq->stride - sizeof(*wqe)) / sizeof(*sges);
	rig.qp.req.sq.max_sges = room;
	for (i = room - 1; i <= room; i++) {
		wqe = rig_slot(ADD);
		sges = (void *)(wqe + 1);
		rig_post(wqe, 8);
		sges[0].lkey = 5;
		wqe->nr_sges = i;
	}
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_atomic_resp(0, 0), HRP_RX_ACCEPT);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_next();
	rig_expect_cqe(1, HROCE_WC_LOC_QP_OP_ERR);
	rig_end();
}

int main(void)
{
	tap_plan(8);
	tap_run(results);
	tap_run(only_the_result_is_placed);
	tap_run(behind_a_busy_word);
	tap_run(lost_and_asked_again);
	tap_run(answered_after_going_back);
	tap_run(begun_before_sqd);
	tap_run(refused_by_the_peer);
	tap_run(no_room_for_masks);
	return tap_exit();
}

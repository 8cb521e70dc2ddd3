// SPDX-License-Identifier: GPL-2.0
/* Completer: acknowledgements, NAKs, answers and time, from a scripted peer. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "proto/table.h"
#include "rig.h"
#include "tap.h"

#define ACK	HRP_SYN_CREDIT_INVALID

static void post_sends(u32 n)
{
	while (n--)
		rig_post_op(HROCE_WR_SEND, 1);
}

static void expect_successes(u64 first, u32 n)
{
	while (n--)
		rig_expect_cqe(first++, HROCE_WC_SUCCESS);
}

/* The next burst starts at @psn. */
static void expect_resend(u32 psn)
{
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, psn & 0xffffff);
}

static void ack_completes_many(void)
{
	rig_begin(HRP_TYPE_RC, 0xfffffd);
	post_sends(8);
	tap_eq(rig_drain(), 8);
	rig_ack(0xfffffd + 5, ACK);
	expect_successes(0, 6);
	rig_expect_no_cqe();
	tap_eq(rig.hdr.cons, 6);
	rig_ack(0xfffffd + 7, ACK);
	expect_successes(6, 2);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	rig_end();
}

static void ack_of_part_of_a_message(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 20 * 1024);
	rig_drain();
	rig_ack(18, ACK);
	rig_expect_no_cqe();
	tap_eq(rig.qp.req.psn_una, 19);
	rig_ack(19, ACK);
	expect_successes(0, 1);
	rig_end();
}

static void stale_responses_are_counted(void)
{
	rig_begin(HRP_TYPE_RC, 10);
	rig_ack(9, ACK);
	rig_ack(10, ACK);
	tap_eq(rig.counts.v[HROCE_DROP_STALE_ACK], 2);
	post_sends(2);
	rig_drain();
	rig_ack(9, ACK);
	rig_ack(12, ACK);
	rig_ack(9, HRP_NAK_REM_ACCESS);
	rig_ack(0x80000b, HRP_NAK_PSN_SEQ);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 12, 1), HRP_RX_DROP);
	tap_eq(rig.counts.v[HROCE_DROP_STALE_ACK], 7);
	rig_ack(11, ACK);
	expect_successes(0, 2);
	rig_ack(11, ACK);
	tap_eq(rig.counts.v[HROCE_DROP_STALE_ACK], 8);
	rig_end();
}

static void reserved_syndromes_are_ignored(void)
{
	unsigned int syndrome;

	rig_begin(HRP_TYPE_RC, 0);
	post_sends(1);
	rig_drain();
	for (syndrome = 0x40; syndrome < 256; syndrome++)
		if (syndrome < 0x60 || syndrome > 0x63)
			rig_ack(0, syndrome);
	rig_expect_no_cqe();
	tap_eq(rig.counts.v[HROCE_DROP_STALE_ACK], 256 - 0x40 - 4);
	/* Credits of any kind are fine. */
	rig_ack(0, 7);
	expect_successes(0, 1);
	rig_end();
}

static void sequence_nak_goes_back_once(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_sends(6);
	rig_drain();
	tap_ok(rig_ack(2, HRP_NAK_PSN_SEQ));
	expect_successes(0, 2);
	rig_ack(2, HRP_NAK_PSN_SEQ);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	tap_eq(rig.counts.v[HROCE_EV_NAK_SEQ_RCVD], 2);
	expect_resend(2);
	tap_ok(rig.burst.copy);
	rig_ack(2, HRP_NAK_PSN_SEQ);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	tap_eq(rig_drain(), 0);
	rig_ack(2, ACK);
	expect_successes(2, 1);
	tap_eq(rig_drain(), 3);
	post_sends(1);
	expect_resend(6);
	tap_ok(!rig.burst.copy);
	rig_ack(6, ACK);
	expect_successes(3, 4);
	rig_end();
}

/* An acknowledgement that overtakes resending makes that stop. */
static void ack_jumps_ahead_of_resending(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 20 * 1024);
	rig_post_op(HROCE_WR_WRITE, 20 * 1024);
	tap_eq(rig_drain(), 40);
	rig_ack(3, HRP_NAK_PSN_SEQ);
	expect_resend(3);
	rig_ack(29, ACK);
	expect_successes(0, 1);
	expect_resend(30);
	tap_eq(rig.burst.first.opcode, HRP_OP_WRITE_MIDDLE);
	tap_eq(rig.burst.mem.offset, 10 * 1024);
	tap_eq(rig.burst.nr_pkts, 10);
	rig_ack(39, ACK);
	expect_successes(1, 1);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_end();
}

/* The same, where all that was ever sent is acknowledged mid-message. */
static void ack_jumps_to_the_end_of_what_was_sent(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 100 * 1024);
	tap_eq(rig_drain(), 64);
	rig_ack(0, HRP_NAK_PSN_SEQ);
	rig_ack(63, ACK);
	expect_resend(64);
	tap_eq(rig.burst.mem.offset, 64 * 1024);
	tap_eq(rig.burst.first.opcode, HRP_OP_WRITE_MIDDLE);
	tap_ok(!rig.burst.copy);
	/* Half of what was in flight, and two for what has arrived since. */
	tap_eq(rig_drain(), 34 - 16);
	rig_ack(65, ACK);
	tap_eq(rig_drain(), 2);
	rig_ack(99, ACK);
	expect_successes(0, 1);
	rig_end();
}

static void nak_ends_the_request_it_names(void)
{
	static const struct {
		u8 syndrome;
		u8 status;
	} naks[] = {
		{ HRP_NAK_INV_REQ, HROCE_WC_REM_INV_REQ_ERR },
		{ HRP_NAK_REM_ACCESS, HROCE_WC_REM_ACCESS_ERR },
		{ HRP_NAK_REM_OP, HROCE_WC_REM_OP_ERR },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(naks); i++) {
		rig_begin(HRP_TYPE_RC, 0);
		post_sends(2);
		rig_post_op(HROCE_WR_WRITE, 5 * 1024);
		post_sends(2);
		rig_drain();
		tap_ok(!rig_ack(4, naks[i].syndrome));
		expect_successes(0, 2);
		rig_expect_cqe(2, naks[i].status);
		tap_eq(rig.cqes[2].vendor_err,
		       HROCE_CAUSE_PEER | naks[i].syndrome);
		rig_expect_no_cqe();
		tap_eq(rig.qp.state, HRP_ERR);
		tap_eq(rig_pending(HRP_PENDING_ERROR), 1);
		hrp_req_flush(&rig.qp, U32_MAX);
		rig_expect_cqe(3, HROCE_WC_WR_FLUSH_ERR);
		tap_eq(rig.cqes[3].vendor_err, 0);
		rig_expect_cqe(4, HROCE_WC_WR_FLUSH_ERR);
		rig_end();
	}
}

static void timeouts_are_counted_down(void)
{
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	post_sends(2);
	rig_drain();
	for (i = 0; i < 3; i++) {
		tap_eq(rig.qp.req.timer, HRP_TIMER_ACK);
		tap_eq(hrp_req_deadline(&rig.qp.req), rig.now_ns + RIG_TIMEOUT_NS);
		tap_ok(!hrp_req_timeout(&rig.qp, hrp_req_deadline(&rig.qp.req) - 1));
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
		tap_eq(rig_drain(), 2);
	}
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(!hrp_req_timeout(&rig.qp, rig.now_ns));
	rig_expect_cqe(0, HROCE_WC_RETRY_EXC_ERR);
	tap_eq(rig.cqes[0].vendor_err, HROCE_CAUSE_TIMEOUT);
	tap_eq(rig.counts.v[HROCE_EV_TIMEOUTS], 4);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 3);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(1, HROCE_WC_WR_FLUSH_ERR);
	rig_end();
}

/* An answer that the owner holds back: the timeout begins anew. */
static void excused_timeouts_use_no_retry(void)
{
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	post_sends(1);
	rig_drain();
	hrp_req_excuse(&rig.qp, rig.now_ns + 1);
	tap_eq(hrp_req_deadline(&rig.qp.req), rig.now_ns + RIG_TIMEOUT_NS);
	for (i = 0; i < 10; i++) {
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		hrp_req_excuse(&rig.qp, rig.now_ns);
		tap_eq(hrp_req_deadline(&rig.qp.req), rig.now_ns + RIG_TIMEOUT_NS);
		tap_ok(!hrp_req_timeout(&rig.qp, rig.now_ns));
	}
	tap_eq(rig.counts.v[HROCE_EV_TIMEOUTS], 0);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
	rig_ack(0, ACK);
	expect_successes(0, 1);
	hrp_req_excuse(&rig.qp, rig.now_ns);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	rig_end();
}

static void progress_restores_retries(void)
{
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 20 * 1024);
	rig_drain();
	for (i = 0; i < 19; i++) {
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
		rig_drain();
		/* Too late to be taken for a round trip. */
		rig.now_ns += RIG_TIMEOUT_NS - 1;
		rig_ack(i, ACK);
		tap_eq(hrp_req_deadline(&rig.qp.req), rig.now_ns + RIG_TIMEOUT_NS);
		rig_drain();
	}
	tap_eq(rig.qp.state, HRP_RTS);
	rig_end();
}

/* Packets are resent, but the peer is never given up. */
static void no_timeout_if_the_attribute_is_0(void)
{
	unsigned int i;
	u64 was_ns;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.timeout = 0;
	rig.qp.req.retries = 0;
	post_sends(1);
	rig_drain();
	for (i = 0; i < 100; i++) {
		was_ns = rig.now_ns;
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
		tap_eq(rig_drain(), 1);
	}
	tap_eq(rig.now_ns - was_ns, 4096ull << 20);
	tap_eq(rig.counts.v[HROCE_EV_TIMEOUTS], 0);
	rig_ack(0, ACK);
	expect_successes(0, 1);
	rig_end();
}

static void rnr_waits_then_sends(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_sends(4);
	rig_drain();
	/* The timer, armed for an acknowledgement, comes too late for this. */
	tap_ok(rig_ack(1, HRP_SYN_RNR | 14));
	expect_successes(0, 1);
	tap_eq(rig.qp.req.timer, HRP_TIMER_RNR);
	tap_eq(hrp_req_deadline(&rig.qp.req), rig.now_ns + 1280000);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	post_sends(1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	/* The same again, or a sequence NAK, changes nothing. */
	rig_ack(1, HRP_SYN_RNR | 1);
	rig_ack(1, HRP_NAK_PSN_SEQ);
	tap_eq(hrp_req_deadline(&rig.qp.req), rig.now_ns + 1280000);
	tap_eq(rig.qp.req.rnr_retries, 1);
	tap_ok(!hrp_req_timeout(&rig.qp, hrp_req_deadline(&rig.qp.req) - 1));
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	/* Is the peer ready? One packet asks, then the rest goes. */
	expect_resend(1);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig.burst.nr_pkts, 1);
	tap_eq(rig.qp.req.timer, HRP_TIMER_ACK);
	tap_eq(rig_drain(), 0);
	rig_ack(1, ACK);
	expect_successes(1, 1);
	tap_eq(rig.qp.req.rnr_retries, 2);
	tap_eq(rig_drain(), 3);
	rig_ack(4, ACK);
	expect_successes(2, 3);
	rig_end();
}

static void rnr_round(void)
{
	rig_drain();
	rig_ack(0, HRP_SYN_RNR | 1);
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
}

static void rnr_retries_are_counted_down(void)
{
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	post_sends(1);
	rnr_round();
	rnr_round();
	rig_expect_no_cqe();
	rnr_round();
	rig_expect_cqe(0, HROCE_WC_RNR_RETRY_EXC_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.rnr_retry = HRP_INFINITE_RNR_RETRY;
	rig.qp.req.rnr_retries = HRP_INFINITE_RNR_RETRY;
	post_sends(1);
	for (i = 0; i < 100; i++)
		rnr_round();
	tap_eq(rig.qp.state, HRP_RTS);
	rig_end();
}

static u64 rnr_delay(u8 code)
{
	rig_drain();
	rig_ack(rig.qp.req.psn_una, HRP_SYN_RNR | code);
	return hrp_req_deadline(&rig.qp.req) - rig.now_ns;
}

static void rnr_round_over(void)
{
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
}

static void rnr_delays_grow(void)
{
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.rnr_retry = HRP_INFINITE_RNR_RETRY;
	rig.qp.req.rnr_retries = HRP_INFINITE_RNR_RETRY;
	post_sends(2);
	for (i = 0; i < 7; i++) {
		tap_eq(rnr_delay(1), 10000u << i);
		rnr_round_over();
	}
	for (i = 0; i < 3; i++) {
		tap_eq(rnr_delay(1), 1000000);
		rnr_round_over();
	}
	/* What is longer is as long as it is. */
	tap_eq(rnr_delay(14), 1280000);
	rnr_round_over();
	rig_drain();
	rig_ack(0, ACK);
	expect_successes(0, 1);
	tap_eq(rnr_delay(1), 10000);
	rig_end();
}

/* The request that drew an RNR NAK was accepted: no need to wait. */
static void ack_ends_the_wait(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_sends(3);
	rig_drain();
	rig_ack(0, HRP_SYN_RNR | 0);
	tap_eq(rig.qp.req.timer, HRP_TIMER_RNR);
	rig_ack(1, ACK);
	expect_successes(0, 2);
	tap_eq(rig.qp.req.timer, HRP_TIMER_ACK);
	expect_resend(2);
	rig_end();
}

static void read_answers_in_order(void)
{
	rig_begin(HRP_TYPE_RC, 0xfffffe);
	post_sends(1);
	rig_post_op(HROCE_WR_READ, 3 * 1024 + 7);
	post_sends(1);
	rig_drain();
	/* Acknowledges the SEND before it. */
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, 0xffffff, 1024),
	       HRP_RX_ACCEPT);
	expect_successes(0, 1);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, 0xffffff, 1024),
	       HRP_RX_DROP);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 0, 1024), HRP_RX_ACCEPT);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 1, 1024), HRP_RX_ACCEPT);
	rig_expect_no_cqe();
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_LAST, 2, 7), HRP_RX_ACCEPT);
	tap_eq(rig.cqes[1].byte_len, 3 * 1024 + 7);
	expect_successes(1, 1);
	rig_ack(3, ACK);
	expect_successes(2, 1);
	rig_end();
}

static void read_answers_go_together(void)
{
	struct hrp_pkt pkt = { .opcode = HRP_OP_READ_RESP_MIDDLE, .psn = 1,
			       .payload_len = 1024 };
	struct hrp_rx rx;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 5 * 1024);
	rig_drain();
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024);
	pkt.info = hrp_opcode_info(pkt.opcode);
	hrp_comp_begin(&rig.qp, &pkt, &rx);
	tap_eq(rx.more, 2);
	tap_eq(rx.nr_pkts, 1);
	rx.nr_pkts = 3;
	hrp_comp_commit(&rig.qp, &pkt, &rx, 0, HROCE_WC_SUCCESS);
	tap_eq(rig.qp.req.psn_una, 4);
	rig_expect_no_cqe();
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_LAST, 4, 1024), HRP_RX_ACCEPT);
	expect_successes(0, 1);
	tap_eq(rig.qp.req.rd_pkts, 0);
	rig_end();
}

/* A registration in between takes no PSN. */
static void read_answer_behind_a_registration(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.sq.reg_mr = true;
	post_sends(1);
	rig_post_op(HROCE_WR_REG_MR, 0);
	rig_post_op(HROCE_WR_READ, 1);
	rig_drain();
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 1, 1), HRP_RX_ACCEPT);
	expect_successes(0, 3);
	rig_end();
}

static void read_placement(void)
{
	struct hrp_pkt pkt = { .opcode = HRP_OP_READ_RESP_MIDDLE, .psn = 1,
			       .payload_len = 1024 };
	struct hrp_rx rx;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 3 * 1024);
	rig_drain();
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024);
	pkt.info = hrp_opcode_info(pkt.opcode);
	hrp_comp_begin(&rig.qp, &pkt, &rx);
	tap_eq(rx.verdict, HRP_RX_ACCEPT);
	tap_ok(rx.fuse);
	tap_eq(rx.mem.offset, 1024);
	tap_eq(rx.mem.len, 1024);
	tap_eq(rx.mem.nr_sges, 1);
	tap_eq(rx.mem.sges[0].lkey, 5);
	hrp_comp_commit(&rig.qp, &pkt, &rx, 0, HROCE_WC_LOC_PROT_ERR);
	rig_expect_cqe(0, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();
}

/* The answer has no place yet: it is asked for again, and nothing else sent. */
static void read_memory_is_fetched(void)
{
	struct hrp_pkt pkt = { .opcode = HRP_OP_READ_RESP_MIDDLE, .psn = 1,
			       .payload_len = 1024 };
	struct hrp_rx rx;
	int ok;

	for (ok = 0; ok < 2; ok++) {
		rig_begin(HRP_TYPE_RC, 0);
		rig_post_op(HROCE_WR_READ, 3 * 1024);
		rig_drain();
		rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024);
		pkt.info = hrp_opcode_info(pkt.opcode);
		hrp_comp_begin(&rig.qp, &pkt, &rx);
		hrp_comp_commit(&rig.qp, &pkt, &rx, 0, HRP_MEM_FAULT);
		tap_ok(!hrp_req_has_deadline(&rig.qp.req));
		tap_eq(rig_read_resp(HRP_OP_READ_RESP_LAST, 2, 1024),
		       HRP_RX_GO_BACK);
		tap_eq(rig_next(), HRP_NEXT_WAIT);
		tap_eq(rig.qp.req.retries, 3);
		tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, ok));
		if (!ok) {
			tap_eq(rig_next(), HRP_NEXT_IDLE);
			rig_expect_cqe(0, HROCE_WC_LOC_PROT_ERR);
			tap_eq(rig.qp.state, HRP_ERR);
			rig_end();
			continue;
		}
		tap_eq(rig_next(), HRP_NEXT_BURST);
		tap_eq(rig.burst.first.opcode, HRP_OP_READ_REQ);
		tap_eq(rig.burst.first.psn, 1);
		tap_eq(rig.burst.first.dmalen, 2048);
		rig_read_resp(HRP_OP_READ_RESP_FIRST, 1, 1024);
		rig_read_resp(HRP_OP_READ_RESP_LAST, 2, 1024);
		expect_successes(0, 1);
		rig_end();
	}
}

static void read_rest_is_asked_for_again(void)
{
	rig_begin(HRP_TYPE_RC, 100);
	rig_post_op(HROCE_WR_READ, 8 * 1024);
	post_sends(1);
	rig_drain();
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 100, 1024);
	rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 101, 1024);
	/* 102 is lost: one request for the rest, however many follow. */
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 103, 1024),
	       HRP_RX_KEEP);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 104, 1024),
	       HRP_RX_GO_BACK);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	expect_resend(102);
	tap_eq(rig.burst.first.opcode, HRP_OP_READ_REQ);
	tap_eq(rig.burst.first.va, 0x200000 + 2048);
	tap_eq(rig.burst.first.dmalen, 6 * 1024);
	expect_resend(108);
	tap_eq(rig.qp.req.nr_rd_atomic, 1);
	/* The answer begins anew. */
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, 102, 1024),
	       HRP_RX_ACCEPT);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 103, 1024),
	       HRP_RX_ACCEPT);
	/* An ACK of the SEND behind: the rest was lost. */
	rig_ack(108, ACK);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 2);
	expect_resend(104);
	tap_eq(rig.burst.first.va, 0x200000 + 4096);
	tap_eq(rig.burst.first.dmalen, 4 * 1024);
	rig_end();
}

static void late_answer_of_the_first_request(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 3 * 1024);
	rig_drain();
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024);
	rig_read_resp(HRP_OP_READ_RESP_LAST, 2, 1024);
	expect_resend(1);
	/* Delayed, not lost. */
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 1, 1024),
	       HRP_RX_ACCEPT);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, 1, 1024), HRP_RX_DROP);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_LAST, 2, 1024), HRP_RX_ACCEPT);
	expect_successes(0, 1);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_end();
}

static void answer_before_resending(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 3 * 1024);
	post_sends(1);
	rig_drain();
	rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 1, 1024);
	tap_eq(rig.qp.req.psn, 0);
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024);
	rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 1, 1024);
	rig_read_resp(HRP_OP_READ_RESP_LAST, 2, 1024);
	expect_successes(0, 1);
	tap_eq(rig.qp.req.nr_rd_atomic, 0);
	tap_eq(rig.qp.req.rd_pkts, 0);
	expect_resend(3);
	rig_ack(3, ACK);
	expect_successes(1, 1);
	rig_end();
}

static void expect_read_fails(u8 opcode, u32 psn, u32 len, u8 status)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_sends(1);
	rig_post_op(HROCE_WR_READ, 2 * 1024 + 1);
	rig_drain();
	if (psn > 1)
		rig_read_resp(HRP_OP_READ_RESP_FIRST, 1, 1024);
	if (psn > 2)
		rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 2, 1024);
	tap_eq(rig_read_resp(opcode, psn, len), HRP_RX_FAIL);
	expect_successes(0, 1);
	rig_expect_cqe(1, status);
	tap_eq(rig.qp.state, HRP_ERR);
	rig_end();
}

static void read_answers_that_do_not_fit(void)
{
	const u8 bad = HROCE_WC_BAD_RESP_ERR, len = HROCE_WC_LOC_LEN_ERR;

	expect_read_fails(HRP_OP_READ_RESP_ONLY, 1, 1024, bad);
	expect_read_fails(HRP_OP_READ_RESP_MIDDLE, 1, 1024, bad);
	expect_read_fails(HRP_OP_READ_RESP_LAST, 1, 1024, bad);
	expect_read_fails(HRP_OP_READ_RESP_FIRST, 1, 1023, len);
	expect_read_fails(HRP_OP_READ_RESP_FIRST, 1, 1028, len);
	expect_read_fails(HRP_OP_READ_RESP_FIRST, 2, 1024, bad);
	expect_read_fails(HRP_OP_READ_RESP_LAST, 2, 1024, bad);
	expect_read_fails(HRP_OP_READ_RESP_MIDDLE, 2, 0, len);
	expect_read_fails(HRP_OP_READ_RESP_MIDDLE, 3, 1, bad);
	expect_read_fails(HRP_OP_READ_RESP_LAST, 3, 2, len);
	expect_read_fails(HRP_OP_READ_RESP_LAST, 3, 0, len);
	expect_read_fails(HRP_OP_ATOMIC_ACK, 1, 0, bad);
}

static void answer_to_a_send(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post_sends(2);
	rig_drain();
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 1, 1), HRP_RX_FAIL);
	expect_successes(0, 1);
	rig_expect_cqe(1, HROCE_WC_BAD_RESP_ERR);
	rig_end();
}

static void atomic_answers(void)
{
	struct hrp_pkt pkt = { .opcode = HRP_OP_ATOMIC_ACK, .orig = 5 };
	struct hrp_rx rx;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_CMP_SWAP, 8);
	rig_drain();
	pkt.info = hrp_opcode_info(pkt.opcode);
	hrp_comp_begin(&rig.qp, &pkt, &rx);
	tap_eq(rx.verdict, HRP_RX_ACCEPT);
	tap_ok(!rx.fuse);
	tap_eq(rx.mem.len, 8);
	hrp_comp_commit(&rig.qp, &pkt, &rx, 0, HROCE_WC_SUCCESS);
	expect_successes(0, 1);
	tap_eq(rig.cqes[0].opcode, HROCE_WC_FETCH_ADD);
	tap_eq(rig.cqes[0].byte_len, 8);
	/* The second is lost, as the answer to nothing but it shows. */
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	expect_resend(1);
	tap_eq(rig.burst.first.opcode, HRP_OP_CMP_SWAP);
	tap_eq(rig_atomic_resp(1, 6), HRP_RX_ACCEPT);
	expect_successes(1, 1);
	rig_end();
}

/* They are answered by READ responses without payload (A19.4). */
static void atomic_write_and_flush_answers(void)
{
	struct hroce_sq_wqe *wqe;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_ATOMIC_WRITE, 8);
	wqe = rig_slot(HROCE_WR_FLUSH);
	wqe->flush.placement = HROCE_FLUSH_GLOBAL;
	wqe->flush.length = 100;
	rig_post(wqe, 0);
	rig_drain();
	/* An acknowledgement is not the answer, but shows that that is lost. */
	rig_ack(0, HRP_SYN_CREDIT_INVALID);
	rig_expect_no_cqe();
	expect_resend(0);
	rig_drain();
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 0, 0), HRP_RX_ACCEPT);
	expect_successes(0, 1);
	tap_eq(rig.cqes[0].opcode, HROCE_WC_ATOMIC_WRITE);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 1, 0), HRP_RX_ACCEPT);
	expect_successes(1, 1);
	tap_eq(rig.cqes[1].opcode, HROCE_WC_FLUSH);

	rig_post_op(HROCE_WR_ATOMIC_WRITE, 8);
	rig_drain();
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_ONLY, 2, 8), HRP_RX_FAIL);
	rig_expect_cqe(2, HROCE_WC_LOC_LEN_ERR);
	rig_end();

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_ATOMIC_WRITE, 8);
	rig_drain();
	tap_eq(rig_atomic_resp(0, 0), HRP_RX_FAIL);
	rig_expect_cqe(0, HROCE_WC_BAD_RESP_ERR);
	rig_end();
}

/* A NAK for what follows an unanswered READ is an implied NAK first. */
static void nak_behind_a_read(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 1024);
	post_sends(1);
	rig_drain();
	rig_ack(1, HRP_NAK_REM_OP);
	rig_expect_no_cqe();
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	expect_resend(0);
	rig_end();

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 4096);
	rig_drain();
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024);
	rig_ack(1, HRP_NAK_REM_ACCESS);
	rig_expect_cqe(0, HROCE_WC_REM_ACCESS_ERR);
	rig_end();
}

int main(void)
{
	tap_plan(29);
	tap_run(ack_completes_many);
	tap_run(ack_of_part_of_a_message);
	tap_run(stale_responses_are_counted);
	tap_run(reserved_syndromes_are_ignored);
	tap_run(sequence_nak_goes_back_once);
	tap_run(ack_jumps_ahead_of_resending);
	tap_run(ack_jumps_to_the_end_of_what_was_sent);
	tap_run(nak_ends_the_request_it_names);
	tap_run(timeouts_are_counted_down);
	tap_run(excused_timeouts_use_no_retry);
	tap_run(progress_restores_retries);
	tap_run(no_timeout_if_the_attribute_is_0);
	tap_run(rnr_waits_then_sends);
	tap_run(rnr_retries_are_counted_down);
	tap_run(rnr_delays_grow);
	tap_run(ack_ends_the_wait);
	tap_run(read_answers_in_order);
	tap_run(read_answers_go_together);
	tap_run(read_answer_behind_a_registration);
	tap_run(read_placement);
	tap_run(read_rest_is_asked_for_again);
	tap_run(late_answer_of_the_first_request);
	tap_run(answer_before_resending);
	tap_run(read_answers_that_do_not_fit);
	tap_run(answer_to_a_send);
	tap_run(atomic_answers);
	tap_run(atomic_write_and_flush_answers);
	tap_run(nak_behind_a_read);
	tap_run(read_memory_is_fetched);
	return tap_exit();
}

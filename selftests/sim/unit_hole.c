// SPDX-License-Identifier: GPL-2.0
/* Gaps at peers that keep the packets behind them. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "rig.h"
#include "tap.h"

#define ACK		HRP_SYN_CREDIT_INVALID
#define NAK		HRP_NAK_PSN_SEQ
#define RTT_NS		100000

/* A long message is under way; 64 packets are in flight. */
static void begin(u32 psn)
{
	rig_begin(HRP_TYPE_RC, psn);
	rig.qp.req.timeout = 16;
	rig.qp.req.window_pkts = 256;
	rig.qp.req.cwnd_pkts = 64;
	rig_post_op(HROCE_WR_WRITE, 1u << 30);
	tap_eq(rig_drain(), 64);
}

/* The same, where the peer has shown that it keeps packets; 64 in flight. */
static void begin_kept(u32 psn)
{
	begin(psn);
	rig.now_ns += RTT_NS;
	rig_ack(psn + 15, ACK);
	rig_drain();
	rig_ack(psn + 20, NAK);
	tap_eq(rig_drain(), 1);
	rig_ack((rig.qp.req.psn_max - 1) & 0xffffff, ACK);
	rig.qp.req.cwnd_pkts = 64;
	tap_eq(rig_drain(), 64);
}

/* The next burst resends @nr packets from @psn on, nothing else. */
static void expect_part(u32 psn, u32 nr)
{
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, psn);
	tap_eq(rig.burst.nr_pkts, nr);
	tap_ok(rig.burst.copy);
}

/* The same, and nothing else is to be resent. */
static void expect_hole(u32 psn, u32 nr)
{
	expect_part(psn, nr);
	tap_ok(rig.burst.ackreq_last);
}

static u32 una(void)
{
	return rig.qp.req.psn_una;
}

/* A peer that goes back acknowledges no more than it got twice. */
static void plain_peers_are_not_mistaken(void)
{
	begin(0);
	rig_ack(4, NAK);
	tap_eq(rig_drain(), 1);
	rig_ack(4, ACK);
	rig_drain();
	rig_ack(20, ACK);
	tap_ok(!rig.qp.req.keeps);
	rig_drain();
	rig_ack(30, NAK);
	tap_ok(rig.qp.req.went_back);
	tap_eq(rig.counts.v[HROCE_EV_HOLES_RESENT], 0);
	rig_end();

	/* Nor is one whose acknowledgements were late. */
	begin(0);
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
	rig_drain();
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
	rig_drain();
	rig_ack(63, ACK);
	tap_ok(!rig.qp.req.keeps);
	rig_end();
}

static void jump_tells(void)
{
	begin(0xffffe0);
	rig_ack(0xffffe4, NAK);
	tap_eq(rig_drain(), 1);
	rig_ack(9, ACK);
	tap_ok(rig.qp.req.keeps);
	rig_end();
}

/* The gap is filled, new packets follow, and nothing is sent twice. */
static void hole_is_resent_alone(void)
{
	u32 first, max;

	begin_kept(0xfffff0);
	first = una();
	max = rig.qp.req.psn_max;
	rig_ack((first + 10) & 0xffffff, NAK);
	tap_eq(rig.qp.req.psn, max);
	expect_hole((first + 10) & 0xffffff, 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, max);
	tap_ok(!rig.burst.copy);
	rig_drain();
	/* More NAKs of the same gap change nothing. */
	rig_ack((first + 10) & 0xffffff, NAK);
	tap_eq(rig_drain(), 0);
	rig_ack((max - 1) & 0xffffff, ACK);
	tap_eq(una(), max);
	tap_ok(!rig.qp.req.recovering);
	tap_eq(rig.counts.v[HROCE_EV_HOLES_RESENT], 1);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	rig_end();
}

/* The window shrinks once for all gaps of a flight, and less. */
static void several_holes(void)
{
	u32 first;

	begin_kept(0);
	first = una();
	rig_ack(first + 10, NAK);
	tap_eq(rig.qp.req.cwnd_pkts, 54 * 3 / 4);
	expect_hole(first + 10, 1);
	rig_drain();
	rig_ack(first + 20, NAK);
	expect_hole(first + 20, 1);
	rig_drain();
	rig_ack(first + 30, NAK);
	expect_hole(first + 30, 1);
	rig_drain();
	tap_ok(rig.qp.req.cwnd_pkts >= 54 * 3 / 4);
	rig_ack(first + 63, ACK);
	tap_ok(!rig.qp.req.recovering);
	tap_eq(rig.counts.v[HROCE_EV_HOLES_RESENT], 3);
	rig_end();

	/* It has become smaller than what is in flight. */
	begin_kept(0);
	rig.qp.req.cwnd_pkts = 40;
	rig_ack(una() + 5, NAK);
	tap_eq(rig.qp.req.cwnd_pkts, 30);
	rig_end();
}

/* @nr single packets are lost, each @pkts behind the one before. */
static void lose(u32 nr, u32 pkts)
{
	struct hrp_req *req = &rig.qp.req;
	u32 psn;

	while (nr--) {
		psn = (req->rtx_psn + pkts) & 0xffffff;
		while (hrp_psn_diff(req->psn_max, psn) <= 0) {
			rig_ack((req->psn_max - 1) & 0xffffff, ACK);
			rig_drain();
		}
		rig_ack(psn, NAK);
		rig_drain();
		rig_ack(psn, ACK);
		rig_drain();
	}
}

/* Damage: one packet in 400. */
static void far_holes_leave_the_window(void)
{
	u32 cwnd;

	begin_kept(0xfff000);
	lose(6, 400);
	cwnd = rig.qp.req.cwnd_pkts;
	lose(200, 400);
	tap_ok(rig.qp.req.cwnd_pkts > cwnd);
	tap_eq(rig.qp.req.cwnd_pkts, rig.qp.req.window_pkts);
	rig_end();
}

/* A queue overflows while the window grows by one in 64. */
static void near_holes_shrink_it(void)
{
	struct hrp_req *req = &rig.qp.req;
	u32 cwnd, n, shrunk = 0;

	begin_kept(0xfff000);
	lose(100, 400);
	for (n = 0; n < 12; n++) {
		cwnd = req->cwnd_pkts;
		lose(1, 64);
		shrunk += req->cwnd_pkts < cwnd;
	}
	tap_ok(shrunk);
	tap_ok(req->cwnd_pkts < req->window_pkts);
	/* Then in the next flight. */
	req->cwnd_pkts = req->window_pkts;
	rig_drain();
	cwnd = req->cwnd_pkts;
	lose(4, 64);
	tap_ok(req->cwnd_pkts < cwnd);
	rig_end();

	/* At the begin nothing is known. */
	begin_kept(0);
	cwnd = req->cwnd_pkts;
	lose(1, 1000);
	tap_ok(req->cwnd_pkts < cwnd);
	rig_end();
}

/* Gaps of many packets are near each other if as much is lost in all. */
static void long_holes_are_near(void)
{
	struct hrp_req *req = &rig.qp.req;
	u32 n;

	begin_kept(0);
	lose(100, 400);
	tap_eq(req->cwnd_pkts, req->window_pkts);
	for (n = 0; n < 16; n++) {
		req->hole_shift = 4;
		lose(1, 400);
	}
	tap_ok(req->cwnd_pkts < req->window_pkts);
	rig_end();
}

/* It is resent again when another NAK comes a round trip later. */
static void hole_is_lost_again(void)
{
	u32 first;

	begin_kept(0);
	first = una();
	rig_ack(first + 10, NAK);
	expect_hole(first + 10, 1);
	rig_drain();
	rig.now_ns += 4 * RTT_NS;
	rig_ack(first + 10, NAK);
	expect_hole(first + 10, 1);
	tap_ok(rig.qp.req.keeps);
	rig_end();
}

/* A gap of many packets: more at a time, and as many the next time. */
static void long_holes_are_learned(void)
{
	u32 first;

	begin_kept(0);
	first = una();
	rig_ack(first, NAK);
	expect_hole(first, 1);
	rig_drain();
	rig_ack(first + 1, NAK);
	expect_hole(first + 1, 4);
	rig_drain();
	/* Not all peers send the second NAK. */
	rig_ack(first + 4, ACK);
	expect_hole(first + 5, 16);
	rig_drain();
	rig_ack(first + 40, NAK);
	expect_hole(first + 40, 16);
	tap_ok(rig.qp.req.keeps);
	rig_end();
}

/* Whoever keeps nothing any more gets all again. */
static void wrong_guess_is_corrected(void)
{
	u32 first, n, nr = 1;

	begin_kept(0);
	rig.qp.req.burst_pkts = 64;
	first = una();
	for (n = 0; n < 4; n++) {
		tap_ok(rig.qp.req.keeps);
		rig_ack(first, NAK);
		expect_hole(first, nr);
		rig_drain();
		first += nr;
		nr *= 4;
	}
	rig_ack(first, NAK);
	tap_ok(!rig.qp.req.keeps);
	tap_ok(rig.qp.req.went_back);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.first.psn, first);
	rig_end();

	/* Or no answer comes at all. */
	begin_kept(0);
	rig_ack(una(), NAK);
	rig_drain();
	for (n = 0; n < 2; n++) {
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		hrp_req_timeout(&rig.qp, rig.now_ns);
		tap_eq(rig_drain(), n ? 4 : 1);
		tap_eq(rig.burst.first.psn, una());
	}
	tap_ok(!rig.qp.req.keeps);
	tap_ok(rig.qp.req.went_back);
	rig_end();
}

/* NAKs that advance by one packet do not draw 64 each. */
static void hostile_naks_draw_few_packets(void)
{
	u32 i, psn, sent = 0;

	begin_kept(0);
	rig.qp.req.hole_shift = 6;
	for (i = 0; i < 1000; i++) {
		psn = una() + 1;
		rig_ack(psn, NAK);
		while (rig_next() == HRP_NEXT_BURST)
			if (rig.burst.copy)
				sent += rig.burst.nr_pkts;
	}
	tap_ok(sent < 1000 + 200);
	tap_ok(!rig.qp.req.keeps);
	rig_end();
}

/* Gaps may extend over messages and over local operations. */
static void hole_in_several_messages(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.sq.reg_mr = true;
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 3 * 1024);
	rig_post_op(HROCE_WR_REG_MR, 0);
	for (i = 0; i < 4; i++)
		rig_post_op(HROCE_WR_SEND, 1);
	rig_drain();
	rig.qp.req.keeps = 1;
	rig.qp.req.hole_shift = 2;
	rig_ack(1, NAK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	expect_part(1, 3);
	tap_ok(!rig.burst.ackreq_last);
	tap_eq(rig.burst.first.opcode, HRP_OP_SEND_FIRST);
	expect_hole(4, 1);
	tap_eq(rig.burst.first.opcode, HRP_OP_SEND_ONLY);
	tap_eq(rig_drain(), 0);
	tap_eq(rig.local_ops, 1);
	rig_ack(7, ACK);
	for (i = 1; i < 7; i++)
		rig_expect_cqe(i, HROCE_WC_SUCCESS);
	rig_end();
}

/* READs in flight have to be asked for in order: go back, if one is lost. */
static void reads_between(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_READ, 1024);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_drain();
	rig.qp.req.keeps = 1;
	rig.qp.req.hole_shift = 2;
	rig_ack(0, NAK);
	tap_ok(!rig.qp.req.went_back);
	tap_eq(rig.qp.req.nr_rd_atomic, 1);
	expect_hole(0, 1);
	tap_eq(rig_drain(), 0);
	rig_ack(0, ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig.now_ns += RTT_NS;
	rig_ack(1, NAK);
	tap_ok(rig.qp.req.went_back);
	tap_eq(rig.counts.v[HROCE_EV_HOLES_RESENT], 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OP_READ_REQ);
	rig_end();
}

/* All that was posted is in flight, and the ring waits for a kick. */
static void last_hole_leaves_at_once(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_drain(), 3);
	tap_eq(READ_ONCE(rig.qp.req.sq.hdr->need_kick), 1);
	tap_ok(!rig_ack(0, ACK));
	rig.qp.req.keeps = 1;
	tap_ok(rig_ack(1, NAK));
	expect_hole(1, 1);
	tap_eq(rig_drain(), 0);
	tap_ok(!rig_ack(2, ACK));
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	rig_expect_cqe(2, HROCE_WC_SUCCESS);
	rig_end();
}

/* The memory of the gap is away, or the local stack refuses it. */
static void hole_cannot_be_sent(void)
{
	u32 first, max;

	begin_kept(0);
	first = una();
	max = rig.qp.req.psn_max;
	rig_ack(first + 10, NAK);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, first + 10);
	tap_ok(rig.burst.nr_pkts > 1);
	tap_eq(rig.qp.req.psn_max, max);
	rig_end();

	begin_kept(0);
	first = una();
	rig_ack(first + 10, NAK);
	expect_hole(first + 10, 1);
	hrp_req_refused(&rig.qp, first + 10, rig.now_ns);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, first + 10);
	rig_end();
}

int main(void)
{
	tap_plan(15);
	tap_run(plain_peers_are_not_mistaken);
	tap_run(jump_tells);
	tap_run(hole_is_resent_alone);
	tap_run(several_holes);
	tap_run(far_holes_leave_the_window);
	tap_run(near_holes_shrink_it);
	tap_run(long_holes_are_near);
	tap_run(hole_is_lost_again);
	tap_run(long_holes_are_learned);
	tap_run(wrong_guess_is_corrected);
	tap_run(hostile_naks_draw_few_packets);
	tap_run(hole_in_several_messages);
	tap_run(reads_between);
	tap_run(last_hole_leaves_at_once);
	tap_run(hole_cannot_be_sent);
	return tap_exit();
}

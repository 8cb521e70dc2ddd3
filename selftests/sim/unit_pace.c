// SPDX-License-Identifier: GPL-2.0
/* Pacing: when a requester with a rate sends, and how much. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "proto/pace.h"
#include "rig.h"
#include "tap.h"

#define MTU		1024
#define MBIT		1000u	/* kbps */
#define GBIT		1000000u
/* Ethernet, IPv6, UDP, BTH, ICRC, FCS. */
#define HEADERS		(14 + 40 + 8 + 12 + 4 + 4)
#define RETH		16

static struct hrp_pace pace;
static struct hrp_rp rp;

static void begin(enum hrp_type type, u32 rate_kbps, u32 burst_bytes)
{
	rig_begin(type, 0);
	hrp_pace_start(&rig.qp, &pace, &rp, rig.now_ns, 0);
	hrp_pace_set(&rig.qp, rig.now_ns, rate_kbps, burst_bytes);
}

static u64 deadline(void)
{
	return hrp_req_deadline(&rig.qp.req);
}

/* The timer fires when it should. */
static bool wait(void)
{
	tap_ok(deadline() > rig.now_ns);
	rig.now_ns = deadline();
	return hrp_req_timeout(&rig.qp, rig.now_ns);
}

/* Send what may be sent now; returns the bytes, as the test counts them. */
static u64 send_now(void)
{
	struct hrp_pkt pkt;
	u64 bytes = 0;
	u32 i;

	while (rig_next() == HRP_NEXT_BURST) {
		for (i = 0; i < rig.burst.nr_pkts; i++) {
			hrp_burst_pkt(&rig.burst, i, &pkt);
			bytes += HEADERS - 12 + hrp_opcode_hdr_len(pkt.info) +
				 pkt.payload_len + pkt.pad;
		}
	}
	return bytes;
}

static void cost_is_that_of_the_frame(void)
{
	begin(HRP_TYPE_UC, GBIT, 0);
	rig.now_ns += 1000000;
	rig_post_op(HROCE_WR_WRITE_IMM, 3 * MTU + 5);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.nr_pkts, 4);
	tap_eq(hrp_pace_cost(&rig.burst),
	       4 * HEADERS + RETH + 4 + 3 * MTU + 8);
	rig_post_op(HROCE_WR_SEND, 0);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(hrp_pace_cost(&rig.burst), HEADERS);
	rig_post_op(HROCE_WR_SEND, 2 * MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(hrp_pace_cost(&rig.burst), 2 * (HEADERS + MTU));
	tap_ok(hrp_pace_max_cost(MTU) >= HEADERS + RETH + 4 + MTU);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

static void begins_with_nothing(void)
{
	begin(HRP_TYPE_RC, GBIT, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig.hdr.need_kick, 0);
	tap_eq(deadline(), rig.now_ns + HRP_PACE_WAIT_NS);
	rig.now_ns = deadline() - 1;
	tap_ok(!hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(wait());
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_end();
}

/*
 * Over ten thousand packets, with timers that are in time or late by no more
 * than the burst allows: never faster, and slower by less than 1 %.
 */
static void holds_rate(u32 rate_kbps, u32 late_ns)
{
	s64 bytes = 0, most, least;
	u64 start_ns;
	u32 i;

	begin(HRP_TYPE_UC, rate_kbps, 0);
	start_ns = rig.now_ns;
	for (i = 0; i < 10; i++)
		rig_post_op(HROCE_WR_WRITE, MTU * 1024);
	for (;;) {
		bytes += send_now();
		most = (rig.now_ns - start_ns) * rate_kbps / 8000000;
		tap_ok(bytes <= most);
		if (rig.nr_cqes == 10)
			break;
		wait();
		rig.now_ns += late_ns;
	}
	least = most - (s64)(pace.own.max_credit / 8000000);
	tap_ok(bytes >= least - least / 100);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

static void rate_is_held(void)
{
	holds_rate(10 * MBIT, 0);
	holds_rate(GBIT, 0);
	holds_rate(GBIT, 400000);
	holds_rate(3 * GBIT + 7, 123456);
	holds_rate(40 * GBIT, 100000);
	holds_rate(1000 * GBIT, 0);
}

/* A packet takes longer than the default burst. */
static void slower_than_packets(void)
{
	u32 most = hrp_pace_max_cost(MTU);
	u64 sent_ns;

	begin(HRP_TYPE_RC, 8, 0);
	rig_post_op(HROCE_WR_SEND, 3 * MTU);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(deadline() - rig.now_ns, most * 1000000ull);
	tap_ok(wait());
	sent_ns = rig.now_ns;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.nr_pkts, 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	/* It was shorter than it might have been. */
	tap_eq(pace.own.ready_ns - sent_ns, (HEADERS + MTU) * 1000000ull);
	rig_end();
}

/* Whatever the burst is: idle time does not add up to more. */
static void burst_is_bounded(void)
{
	begin(HRP_TYPE_UC, GBIT, 10 * hrp_pace_max_cost(MTU));
	rig.now_ns += 1000000000;
	rig_post_op(HROCE_WR_SEND, 40 * MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.nr_pkts, 10);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig_end();

	/* One packet always passes. */
	begin(HRP_TYPE_UC, GBIT, 1);
	rig.now_ns += 1000000000;
	rig_post_op(HROCE_WR_SEND, 40 * MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.nr_pkts, 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	wait();
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.nr_pkts, 1);
	rig_end();
}

static void rate_changes_while_waiting(void)
{
	u64 first_ns;

	begin(HRP_TYPE_UC, MBIT, 0);
	rig_post_op(HROCE_WR_SEND, 100 * MTU);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	first_ns = deadline();
	/* Faster: the wait is shorter, nothing is given away. */
	hrp_pace_set(&rig.qp, rig.now_ns, 10 * MBIT, 0);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(deadline() < first_ns);
	/* As long as it takes at the new rate. */
	wait();
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	/* Slower: what was earned stays, the rest takes longer. */
	hrp_pace_set(&rig.qp, rig.now_ns, MBIT, 0);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(deadline() - rig.now_ns > 8000000);
	rig_end();
}

/* Setting a rate again and again earns nothing. */
static void changes_earn_nothing(void)
{
	u64 bytes = 0, start_ns;
	u32 i;

	begin(HRP_TYPE_UC, 100 * MBIT, 0);
	start_ns = rig.now_ns;
	rig_post_op(HROCE_WR_SEND, 16 << 20);
	for (i = 0; i < 10000; i++) {
		rig.now_ns += 1000;
		hrp_pace_set(&rig.qp, rig.now_ns,
			     (50 + i % 2 * 50) * MBIT, i % 3 * 20000);
		bytes += send_now();
	}
	tap_ok(bytes <= (rig.now_ns - start_ns) * 75 * MBIT / 8000000);
	tap_ok(bytes >= (rig.now_ns - start_ns) * 70 * MBIT / 8000000);
	rig_end();
}

static void lifted(void)
{
	begin(HRP_TYPE_RC, 8, 0);
	rig_post_op(HROCE_WR_SEND, 10 * MTU);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(hrp_pace_stop(&rig.qp) == &pace);
	tap_eq(deadline(), 0);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.nr_pkts, 10);
	tap_ok(!hrp_pace_stop(&rig.qp));
	rig_end();
}

/* Before the silence all that was sent is asked about. */
static void asks_before_it_waits(void)
{
	u32 i;

	begin(HRP_TYPE_RC, GBIT, 4 * hrp_pace_max_cost(MTU));
	rig.now_ns += 1000000000;
	rig_post_op(HROCE_WR_WRITE, 10 * MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.nr_pkts, 4);
	tap_ok(rig.burst.ackreq_last);
	rig_end();

	begin(HRP_TYPE_RC, GBIT, 4 * hrp_pace_max_cost(MTU));
	rig.now_ns += 1000000000;
	for (i = 0; i < 8; i++)
		rig_post_op(HROCE_WR_WRITE, MTU);
	while (rig_next() == HRP_NEXT_BURST)
		;
	tap_eq(rig.qp.req.psn, 4);
	tap_ok(rig.burst.ackreq_last);
	tap_ok(rig_ack(3, 0));
	for (i = 0; i < 4; i++)
		rig_expect_cqe(i, HROCE_WC_SUCCESS);
	/* Nothing outstanding: pacing alone is waited for. */
	tap_ok(!hrp_req_has_deadline(&rig.qp.req));
	tap_eq(deadline(), pace.own.ready_ns);
	rig_end();
}

static void resending_costs_again(void)
{
	u32 most = hrp_pace_max_cost(MTU);
	u64 sent_ns;
	u32 cost;
	u8 retries;

	begin(HRP_TYPE_RC, MBIT, 2 * most);
	rig.now_ns += 1000000000;
	rig_post_op(HROCE_WR_WRITE, 2 * MTU);
	sent_ns = rig.now_ns;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	cost = hrp_pace_cost(&rig.burst);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	/* The ACK timeout comes first, but there is nothing to resend with. */
	tap_eq(deadline(), hrp_req_deadline(&rig.qp.req));
	tap_ok(!wait());
	tap_eq(rig.qp.req.timer_ns, pace.own.ready_ns);
	retries = rig.qp.req.retries;
	while (rig.qp.req.retries == retries)
		wait();
	/* From then on the peer is excused until something left once more. */
	while (rig.qp.req.psn == 0) {
		rig_next();
		if (rig.qp.req.psn == 0)
			wait();
	}
	tap_eq(rig.qp.req.retries, retries - 1);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	tap_eq(rig_pending(HRP_PENDING_ERROR), 0);
	/* One packet's worth was missing, but for what had been left. */
	tap_ok(rig.now_ns - sent_ns >= (cost - most) * 8000ull);
	tap_eq(rig.burst.first.psn, 0);
	tap_ok(rig.burst.copy);
	rig_end();
}

static void expect_four(void)
{
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 0);
	tap_eq(rig.burst.nr_pkts, 4);
}

/* What has not left for want of its memory costs nothing, what has costs. */
static void memory_is_not_there(void)
{
	static struct hrp_pace other;
	u64 full;

	begin(HRP_TYPE_RC, MBIT, 5 * hrp_pace_max_cost(MTU));
	rig.now_ns += 1000000000;
	rig_post_op(HROCE_WR_WRITE, 3 * MTU + 5);
	expect_four();
	full = pace.own.max_credit;
	tap_eq(full - pace.own.credit, 8000000ull * hrp_pace_cost(&rig.burst));
	hrp_pace_give_back(&rig.qp, &rig.burst, 0);
	tap_eq(pace.own.credit, full);
	/* Once. */
	hrp_pace_give_back(&rig.qp, &rig.burst, 0);
	tap_eq(pace.own.credit, full);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));

	expect_four();
	hrp_pace_give_back(&rig.qp, &rig.burst, 2);
	tap_eq(full - pace.own.credit,
	       8000000ull * (2 * (HEADERS + MTU) + RETH));
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));

	/* A bucket does not overflow, and a new one gets nothing. */
	rig.now_ns += 1000000000;
	expect_four();
	rig.now_ns += 1000000000;
	hrp_pace_set(&rig.qp, rig.now_ns, MBIT, 5 * hrp_pace_max_cost(MTU));
	hrp_pace_give_back(&rig.qp, &rig.burst, 1);
	tap_eq(pace.own.credit, full);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	expect_four();
	hrp_pace_stop(&rig.qp);
	hrp_pace_give_back(&rig.qp, &rig.burst, 0);
	hrp_pace_start(&rig.qp, &other, &rp, rig.now_ns, 0);
	hrp_pace_set(&rig.qp, rig.now_ns, MBIT, 0);
	hrp_pace_give_back(&rig.qp, &rig.burst, 0);
	tap_eq(other.own.credit, 0);
	rig_end();
}

static void read_pays_for_its_request(void)
{
	begin(HRP_TYPE_RC, GBIT, 4 * hrp_pace_max_cost(MTU));
	rig.now_ns += 1000000000;
	rig_post_op(HROCE_WR_READ, 1 << 14);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(hrp_pace_cost(&rig.burst), HEADERS + RETH);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(hrp_pace_cost(&rig.burst), HEADERS + 28);
	rig_end();
}

/* What sends nothing does not wait, unless it is behind something that does. */
static void local_operations_are_free(void)
{
	begin(HRP_TYPE_RC, 8, 0);
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	rig_post_op(HROCE_WR_BIND_MW, 0);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.local_ops, 2);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	/* The next one is heard of. */
	tap_eq(rig.hdr.need_kick, 1);
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	rig_post_op(HROCE_WR_SEND, MTU);
	rig_post_op(HROCE_WR_BIND_MW, 0);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig.hdr.need_kick, 0);
	tap_eq(rig.local_ops, 3);
	rig_expect_cqe(2, HROCE_WC_SUCCESS);
	rig_expect_no_cqe();
	wait();
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.local_ops, 4);
	rig_ack(0, 0);
	rig_expect_cqe(3, HROCE_WC_SUCCESS);
	rig_expect_cqe(4, HROCE_WC_SUCCESS);
	/* There is a bound, as ever. */
	rig.posts_left = 1000;
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	tap_eq(rig_next(), HRP_NEXT_AGAIN);
	rig.posts_left = 0;
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig.seen_cqes = rig.nr_cqes;
	rig.local_status = HROCE_WC_LOC_PROT_ERR;
	rig_post_op(HROCE_WR_LOCAL_INV, 0);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	tap_eq(rig.qp.state, HRP_ERR);
	tap_eq(rig.cqes[rig.seen_cqes++].status, HROCE_WC_LOC_PROT_ERR);
	rig_end();
}

static void drained_without_credit(void)
{
	begin(HRP_TYPE_RC, 8, 0);
	rig.qp.state = HRP_SQD;
	hrp_req_drain(&rig.qp, true);
	rig_post_op(HROCE_WR_SEND, MTU);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig_pending(HRP_PENDING_SQ_DRAINED), 1);
	rig_end();
}

static void rnr_and_pace(void)
{
	begin(HRP_TYPE_RC, GBIT, hrp_pace_max_cost(MTU));
	rig.now_ns += 1000000000;
	rig_post_op(HROCE_WR_SEND, 2 * MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(pace.own.ready_ns);
	/* Code 14 asks for 1.28 ms, which is longer. */
	tap_ok(rig_ack(0, 0x20 | 14));
	tap_eq(deadline(), pace.own.ready_ns);
	tap_ok(wait());
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(deadline(), hrp_req_deadline(&rig.qp.req));
	tap_ok(wait());
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 0);
	rig_end();
}

static void error_ends_the_wait(void)
{
	begin(HRP_TYPE_RC, 8, 0);
	rig_post_op(HROCE_WR_SEND, MTU);
	rig_post_op(HROCE_WR_SEND, MTU);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	rig.qp.state = HRP_ERR;
	/* The timer may be faster than the flush, and must not come back. */
	rig.now_ns = deadline();
	tap_ok(!hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(deadline(), 0);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	hrp_req_flush(&rig.qp, U32_MAX);
	rig_expect_cqe(0, HROCE_WC_WR_FLUSH_ERR);
	rig_expect_cqe(1, HROCE_WC_WR_FLUSH_ERR);
	tap_eq(deadline(), 0);
	rig_end();
}

/* Time that somebody has read a moment ago. */
static void time_may_be_old(void)
{
	begin(HRP_TYPE_UC, GBIT, 0);
	rig.now_ns += 1000000;
	rig_post_op(HROCE_WR_SEND, 20 * MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	rig.now_ns -= 500000;
	hrp_pace_set(&rig.qp, rig.now_ns, GBIT, 0);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(pace.own.credit <= pace.own.max_credit);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

int main(void)
{
	tap_plan(17);
	tap_run(cost_is_that_of_the_frame);
	tap_run(begins_with_nothing);
	tap_run(rate_is_held);
	tap_run(slower_than_packets);
	tap_run(burst_is_bounded);
	tap_run(rate_changes_while_waiting);
	tap_run(changes_earn_nothing);
	tap_run(lifted);
	tap_run(asks_before_it_waits);
	tap_run(resending_costs_again);
	tap_run(memory_is_not_there);
	tap_run(read_pays_for_its_request);
	tap_run(local_operations_are_free);
	tap_run(drained_without_credit);
	tap_run(rnr_and_pace);
	tap_run(error_ends_the_wait);
	tap_run(time_may_be_old);
	return tap_exit();
}

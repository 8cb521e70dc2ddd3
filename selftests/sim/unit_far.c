// SPDX-License-Identifier: GPL-2.0
/* Congestion control by delay where round trips are long. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <string.h>
#include "proto/cc.h"
#include "proto/pace.h"
#include "proto/req_priv.h"
#include "proto/rtt.h"
#include "proto/sack.h"
#include "proto/wait.h"
#include "rig.h"
#include "tap.h"

#define WINDOW	2048
#define BASE	20000u	/* units of 1024 ns */
#define MTU	1024

static struct hrp_req *const req = &rig.qp.req;

/* There is always something to do, and a round trip of @base is known. */
static void begin_op(u8 opcode, u32 base)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.now_ns = 7ull << 32;
	req->timeout = 16;
	req->window_pkts = WINDOW;
	req->cc = HRP_CC_DELAY;
	hrp_req_start(&rig.qp, 0);
	rig_post_op(opcode, 1u << 30);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	hrp_rtt_measured(&rig.qp, hrp_rtt_clock(rig.now_ns) - base, true,
			 rig.now_ns);
	tap_eq(rig.qp.base, base);
}

static void begin(u32 base)
{
	begin_op(HROCE_WR_WRITE, base);
}

/* There is memory for a rate, at which the window is spread. */
static void spread(struct hrp_pace *pace)
{
	static struct hrp_rp rp;

	hrp_pace_start(&rig.qp, pace, &rp, rig.now_ns, 0);
	hrp_pace_spread(&rig.qp, rig.now_ns);
}

static void measure(u32 delay)
{
	rig.now_ns += (u64)BASE << 10;
	hrp_cc_measured(&rig.qp, rig.qp.base + delay, true, rig.now_ns);
}

/* @nr packets are acknowledged at @at since the mark. Return: the window. */
static u32 acked(u32 nr, u32 at)
{
	req->timing = 1;
	req->mark_at = hrp_rtt_clock(rig.now_ns);
	hrp_cc_acked(&rig.qp, nr, rig.now_ns + ((u64)at << 10));
	return req->cwnd_pkts;
}

/* By what is acknowledged, not all at once. */
static void windows_grow_by_acknowledgements(void)
{
	u32 cwnd;

	begin(BASE);
	cwnd = req->cwnd_pkts;
	tap_eq(acked(64, BASE / 4), cwnd + 64);
	tap_eq(acked(64, BASE / 2), cwnd + 128);
	measure(0);
	tap_eq(req->cwnd_pkts, cwnd + 128);
	/* Who is not held back by it learns nothing about it. */
	req->sq.next = req->sq.head;
	tap_eq(acked(64, BASE / 4), cwnd + 128);
	rig_end();

	/* Shorter ones double at once. */
	begin(400);
	cwnd = req->cwnd_pkts;
	tap_eq(acked(64, 100), cwnd);
	measure(0);
	tap_eq(req->cwnd_pkts, 2 * cwnd + 1);
	rig_end();
}

/* Acknowledgements that come for long tell that the path is full. */
static void full_paths_end_it(void)
{
	begin(BASE);
	req->cwnd_pkts = BASE / 64;
	/* Those of before the mark. */
	acked(1, BASE / 16 * 15);
	tap_eq(req->cc_start, 1);
	/* While there are gaps they come late. */
	req->troubled = 1;
	acked(1, BASE / 4 * 3);
	tap_eq(req->cc_start, 1);
	req->troubled = 0;
	acked(1, BASE / 4 * 3);
	tap_eq(req->cc_start, 0);
	/* From then on by a part of it for each round trip. */
	tap_eq(acked(64, BASE / 4), BASE / 64 + 1);
	measure(0);
	tap_eq(req->cwnd_pkts, (BASE / 64 + 1) * 17 / 16 + 1);
	rig_end();

	/* A small window is not enough to tell. */
	begin(BASE);
	req->cwnd_pkts = BASE / 64 - 2;
	acked(1, BASE / 4 * 3);
	tap_eq(req->cc_start, 1);
	rig_end();
}

/* While gaps are filled, nothing tells that the path is full but delay, and late. */
static void gaps_slow_it(void)
{
	u32 cwnd;

	begin(BASE);
	cwnd = req->cwnd_pkts;
	req->troubled = 1;
	measure(0);
	tap_eq(req->cwnd_pkts, cwnd + cwnd / 4 + 1);
	rig_end();
}

/* The queue fills and drains within a round trip: the longer delay counts. */
static void delays_alternate(void)
{
	u32 cwnd, i;

	begin(BASE);
	req->cc_start = 0;
	req->cwnd_pkts = 1000;
	for (i = 0; i < 20; i++)
		measure(i % 2 ? 0 : BASE / 2 + BASE / 4);
	tap_ok(req->cwnd_pkts >= 1000 && req->cwnd_pkts < 1040);
	/* It grows by a part again when nothing waits. */
	measure(0);
	cwnd = req->cwnd_pkts;
	measure(0);
	tap_eq(req->cwnd_pkts, cwnd + cwnd / 16 + 1);
	rig_end();
}

/* What losses made small grows faster after a while, if nothing waits. */
static void windows_come_back(void)
{
	static u64 room[256];
	u32 cwnd, i;

	begin(BASE);
	req->cc_start = 0;
	hrp_sack_open(req, (void *)room, HRP_SACK_WORDS_MIN);
	req->sack->cut_pkts = 300;
	req->cwnd_pkts = 200;
	for (i = 0; i < 6; i++)
		measure(0);
	/* Not yet: it was as large before. */
	cwnd = req->cwnd_pkts;
	tap_ok(cwnd < 300);
	measure(0);
	tap_ok(req->cwnd_pkts <= cwnd + cwnd / 16 + 2);
	while (req->cwnd_pkts <= 300)
		measure(0);
	for (i = 0; i < 6; i++)
		measure(0);
	cwnd = req->cwnd_pkts;
	measure(0);
	tap_ok(req->cwnd_pkts >= cwnd + cwnd / 4);
	/* A little delay ends that. */
	cwnd = req->cwnd_pkts;
	measure(BASE / 20);
	tap_ok(req->cwnd_pkts <= cwnd + cwnd / 16 + 2);
	req->sack = NULL;
	rig_end();
}

/* A period begins, and a packet of the one before has waited for @delay. */
static void measure_anew(u32 delay)
{
	rig.now_ns += 1ull << 32;
	measure(delay);
}

/* A new period makes the window small for one measurement. */
static void windows_return(void)
{
	static struct hrp_pace pace;

	begin(BASE);
	req->cc_start = 0;
	req->cwnd_pkts = 1000;
	spread(&pace);
	req->cc_told = 1;
	measure_anew(BASE / 4);
	tap_eq(req->cwnd_pkts, 250);
	/* The next mark counts. */
	tap_eq(req->cc_told, 0);
	tap_eq(acked(64, BASE / 4), 250);
	measure(0);
	/* What was in queues is not sent again at once. */
	tap_eq(req->cwnd_pkts, 800);
	tap_eq(req->cc_start, 0);

	/* Somebody else fills the queue, or packets are lost. */
	measure_anew(0);
	measure(BASE / 2);
	tap_eq(req->cwnd_pkts, 200);
	measure(BASE / 2);
	tap_eq(req->cwnd_pkts, 200);
	tap_eq(req->cc_start, 0);
	/* A packet may have waited in the queue of before. */
	measure_anew(0);
	tap_eq(req->cwnd_pkts, 50);
	measure(BASE / 2);
	tap_eq(req->cwnd_pkts, 50);
	measure(0);
	tap_eq(req->cwnd_pkts, 200);
	req->cwnd_pkts = 1000;
	measure_anew(0);
	hrp_req_shrink(req, 100);
	measure(0);
	tap_eq(req->cwnd_pkts, 100);
	measure(0);
	tap_eq(req->cwnd_pkts, 107);

	/* One that was about to be found. */
	req->cc_start = 1;
	measure_anew(0);
	tap_eq(req->cwnd_pkts, 26);
	acked(26, BASE / 4);
	tap_eq(req->cwnd_pkts, 52);

	/* The path has become longer: so is what it holds. */
	req->cc_start = 0;
	req->cwnd_pkts = 1000;
	measure_anew(BASE);
	measure(BASE);
	measure_anew(BASE);
	tap_eq(rig.qp.base, 2 * BASE);
	tap_eq(req->cc_start, 1);
	tap_eq(req->cwnd_pkts, 62);
	tap_eq(acked(62, BASE / 4), 124);
	hrp_pace_stop(&rig.qp);
	rig_end();
}

/* What READs ask for arrives in the course of a round trip. */
static void reads_are_spread(void)
{
	static struct hrp_pace pace;
	u64 reads_ns;
	u32 psn;

	begin_op(HROCE_WR_READ, BASE);
	req->cc_start = 0;
	req->cwnd_pkts = 1000;
	req->max_rd_atomic = 16;
	spread(&pace);
	rig.now_ns += 1000000;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(hrp_wait_for(&rig.qp), HRP_WAIT_RATE);
	/* 16 packets, of 1.5 times 1000 in a round trip. */
	reads_ns = ((u64)BASE << 10) * 16 / 1500;
	tap_ok(hrp_req_deadline(req) > rig.now_ns + reads_ns * 9 / 10 - 50000);
	tap_ok(hrp_req_deadline(req) < rig.now_ns + reads_ns);

	/* What is resent does not wait. */
	psn = req->psn;
	req->troubled = 1;
	req->recovering = 1;
	req->rtx_psn = req->psn_una;
	req->rtx_pkts = 1;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, req->psn_una);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(req->psn, psn);
	tap_ok(!hrp_req_timeout(&rig.qp, hrp_req_deadline(req) - 1));
	rig.now_ns = hrp_req_deadline(req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, psn);

	/* Nobody waits for what is not spread any more. */
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(hrp_wait_for(&rig.qp), HRP_WAIT_RATE);
	req->cc = HRP_CC_NONE;
	hrp_pace_spread(&rig.qp, rig.now_ns);
	tap_ok(hrp_wait_for(&rig.qp) != HRP_WAIT_RATE);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	hrp_pace_stop(&rig.qp);
	rig_end();
}

/* The window may become small after READs were divided, and have to be resent. */
static void reads_wait_for_a_round_trip(void)
{
	static struct hrp_pace pace;
	u64 rtt_ns = (u64)BASE << 10;

	begin_op(HROCE_WR_READ, BASE);
	req->cc_start = 0;
	req->cwnd_pkts = 128;
	req->max_rd_atomic = 16;
	hrp_sq_wqe(&req->sq, req->sq.next)->chunk_shift = 6;
	spread(&pace);
	req->cwnd_pkts = 16;
	rig.now_ns += 1000000;
	req->rd_pkts = 0;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(pace.reads_ns, rig.now_ns + rtt_ns);
	req->cwnd_pkts = 1000;
	/* Until there is credit for the request itself. */
	rig.now_ns += 1000000;
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(hrp_wait_for(&rig.qp), HRP_WAIT_RATE);
	tap_eq(hrp_req_deadline(req), pace.reads_ns);
	hrp_req_go_back(&rig.qp, rig.now_ns);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, req->psn_una);
	hrp_pace_stop(&rig.qp);
	rig_end();
}

/* In the course of a round trip. */
static void windows_are_spread(void)
{
	static struct hrp_pace pace;
	u64 bits;
	u32 psn;

	begin(BASE);
	req->cc_start = 0;
	req->cwnd_pkts = 1000;
	measure(0);
	tap_ok(rig_pending(HRP_PENDING_SPREAD));
	tap_ok(hrp_pace_wants_spread(&rig.qp));
	bits = 8ull * req->cwnd_pkts * hrp_pace_max_cost(MTU) * 3 / 2;
	/* In a millisecond, within rounding. */
	bits = div_u64(bits * 1000000, BASE << 10);
	tap_ok(hrp_cc_rate(&rig.qp) >= bits - bits / 100);
	tap_ok(hrp_cc_rate(&rig.qp) <= bits + bits / 100);
	spread(&pace);
	tap_ok(!hrp_pace_wants_spread(&rig.qp));
	tap_eq(pace.own.rate_kbps, hrp_cc_rate(&rig.qp));
	tap_ok(hrp_pace_is_on(req));
	/* READ responses of the peer do not wait for that. */
	tap_eq(hrp_pace_answers_room(&rig.qp, rig.now_ns, 64), 64);

	/* No more than 50 us at once. */
	rig.now_ns += 100000000;
	psn = req->psn;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	while (rig_next() == HRP_NEXT_BURST)
		;
	tap_ok(req->psn <= psn + bits / 20 / (8 * MTU) + 1);

	/* It follows the window, and is twice as fast while that doubles. */
	req->cwnd_pkts = 500;
	rig_next();
	tap_eq(pace.own.rate_kbps, hrp_cc_rate(&rig.qp));
	tap_ok(hrp_cc_rate(&rig.qp) <= bits / 2 + bits / 100);
	req->cc_start = 1;
	tap_ok(hrp_cc_rate(&rig.qp) >= bits / 10 * 6);

	/* A few packets leave at once; the memory is not needed then. */
	req->cwnd_pkts = 15;
	tap_eq(hrp_cc_rate(&rig.qp), 0);
	rig_next();
	tap_ok(rig_pending(HRP_PENDING_UNPACED));
	tap_ok(!hrp_pace_is_on(req));
	tap_ok(hrp_pace_stop(&rig.qp) == &pace);
	rig_end();

	/* Nor is a window on a short path spread, or one of another control. */
	begin(400);
	req->cwnd_pkts = 1000;
	tap_eq(hrp_cc_rate(&rig.qp), 0);
	req->cc = HRP_CC_NONE;
	tap_eq(hrp_cc_rate(&rig.qp), 0);
	rig_end();
}

/* A program's rate holds if it is lower. */
static void the_lower_rate_counts(void)
{
	static struct hrp_pace pace;
	static struct hrp_rp rp;
	u32 rate;

	begin(BASE);
	req->cwnd_pkts = 1000;
	rate = hrp_cc_rate(&rig.qp);
	hrp_pace_start(&rig.qp, &pace, &rp, rig.now_ns, 0);
	hrp_pace_set(&rig.qp, rig.now_ns, rate / 2, 0);
	hrp_pace_spread(&rig.qp, rig.now_ns);
	tap_eq(pace.own.rate_kbps, rate / 2);
	hrp_pace_set(&rig.qp, rig.now_ns, 2 * rate, 0);
	tap_eq(pace.own.rate_kbps, rate);
	/* A few packets leave at once, and later more are spread again. */
	req->cwnd_pkts = 15;
	hrp_pace_spread(&rig.qp, rig.now_ns);
	tap_eq(pace.own.rate_kbps, 2 * rate);
	req->cwnd_pkts = 1000;
	measure(0);
	tap_ok(rig_pending(HRP_PENDING_SPREAD));
	hrp_pace_spread(&rig.qp, rig.now_ns);
	tap_eq(pace.own.rate_kbps, hrp_cc_rate(&rig.qp));
	/* Another control, which has none. */
	req->cc = HRP_CC_NONE;
	hrp_cc_start(&rig.qp);
	tap_eq(pace.own.rate_kbps, 2 * rate);
	hrp_pace_set(&rig.qp, rig.now_ns, 0, 0);
	hrp_pace_stop(&rig.qp);
	rig_end();
}

int main(void)
{
	tap_plan(10);
	tap_run(windows_grow_by_acknowledgements);
	tap_run(full_paths_end_it);
	tap_run(gaps_slow_it);
	tap_run(delays_alternate);
	tap_run(windows_come_back);
	tap_run(windows_return);
	tap_run(windows_are_spread);
	tap_run(reads_are_spread);
	tap_run(reads_wait_for_a_round_trip);
	tap_run(the_lower_rate_counts);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control by marks: the rate alone, flows that share a queue, and a
 * requester that is limited.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <stdlib.h>
#include <string.h>
#include "proto/cc.h"
#include "proto/pace.h"
#include "rig.h"
#include "tap.h"

#define MBIT		1000u	/* kbps */
#define GBIT		1000000u
#define LINE		(10 * GBIT)
#define US		1000ull
#define MS		1000000ull
#define MTU		1024
#define CNP_US		50
#define MAX_FLOWS	16

static struct hrp_rp rp;
static struct hrp_dcqcn one;
static u64 now_ns;

static void one_start(void)
{
	hrp_rp_init(&rp);
	rp.line_kbps = LINE;
	one = (struct hrp_dcqcn) { .rp = &rp };
	now_ns = 77 * MS;
}

static u32 rate_after(u64 ns)
{
	now_ns += ns;
	return hrp_dcqcn_rate(&one, now_ns);
}

static u32 cnp_after(u64 ns)
{
	now_ns += ns;
	hrp_dcqcn_cnp(&one, now_ns);
	return one.rate_kbps;
}

static bool is_near(u32 a, u32 b)
{
	return a <= b + b / 100 + 1 && b <= a + a / 100 + 1;
}

/* The first CNP, whatever was before it, halves the line rate. */
static void first_cnp_halves(void)
{
	one_start();
	tap_eq(rate_after(0), 0);
	tap_ok(is_near(cnp_after(0), LINE / 2));
	one_start();
	rp.rate_to_set_on_first_cnp = 300;
	tap_eq(cnp_after(0), 300 * MBIT);
	tap_ok(cnp_after(CNP_US * US) < 300 * MBIT);
	one_start();
	rp.max_rate = 1000;
	tap_ok(is_near(cnp_after(0), GBIT / 2));
}

/* Hardware sends a CNP in 4 us, hroce in 50 us: that is the same. */
static void cuts_have_a_period(void)
{
	u32 often, i;

	one_start();
	cnp_after(0);
	for (i = 0; i < 40; i++) {
		now_ns += 4 * US;
		hrp_dcqcn_cnp(&one, now_ns);
	}
	often = one.rate_kbps;
	one_start();
	cnp_after(0);
	for (i = 0; i < 4; i++)
		cnp_after(40 * US);
	tap_ok(is_near(often, one.rate_kbps));
	tap_ok(is_near(often, LINE / 32));
}

/* The period is the parameter's, to a microsecond; 0: each CNP cuts. */
static void cuts_have_another_period(void)
{
	static const u32 periods[] = { 40, 7, 4000 };
	u32 i, before;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		one_start();
		rp.rate_reduce_monitor_period = periods[i];
		/* No raise comes in between. */
		rp.time_reset = 100000;
		before = cnp_after(0);
		tap_eq(cnp_after((periods[i] - 1) * US), before);
		tap_ok(cnp_after(US) < before);
	}
	one_start();
	rp.rate_reduce_monitor_period = 0;
	before = cnp_after(0);
	tap_ok(cnp_after(0) < before);
}

/* Where few packets are marked, a CNP takes little. */
static void alpha_remembers(void)
{
	u32 before, cut;

	one_start();
	rp.rate_to_set_on_first_cnp = 1000;
	cnp_after(0);
	cnp_after(CNP_US * US);
	/* 1 - 1/256 for each 55 us: half of it is left. */
	now_ns += 177 * 55 * US;
	before = rate_after(0);
	cut = before - cnp_after(0);
	tap_ok(cut > before / 5 && cut < before * 3 / 10);
}

/* What stays of alpha: in a period without a CNP, and when one comes. */
static void alpha_forgets_as_told(void)
{
	u32 before;

	one_start();
	rp.rate_to_set_on_first_cnp = 1000;
	rp.dce_tcp_g = 512;
	cnp_after(0);
	/* Five times half of it: a cut takes half of 1/32. */
	before = rate_after(5 * 55 * US);
	tap_ok(is_near(before - cnp_after(0), before / 64));
	/* And then half of 1/64 stays, and half of one comes. */
	tap_ok(is_near(one.alpha, (1u << 19) + (1u << 14)));
	one_start();
	rp.dce_tcp_g = 0;
	cnp_after(0);
	rate_after(55 * US);
	before = one.rate_kbps;
	tap_eq(cnp_after(0), before);
	tap_eq(one.alpha, 1u << 20);
}

static void parameters_bound_cuts(void)
{
	u32 i;

	one_start();
	rp.min_dec_fac = 90;
	tap_ok(is_near(cnp_after(0), LINE / 10 * 9));
	one_start();
	rp.gd = 13;
	tap_ok(is_near(cnp_after(0), LINE / 8 * 7));
	one_start();
	rp.min_rate = 100;
	for (i = 0; i < 30; i++)
		cnp_after(CNP_US * US);
	tap_eq(one.rate_kbps, 100 * MBIT);
	/* More than there is. */
	one_start();
	rp.min_rate = 20000;
	tap_ok(cnp_after(0) <= LINE);
}

/* With a threshold of 5, five raises go to the target, and more beyond it. */
static void raises_by_time(void)
{
	u32 target, i;

	one_start();
	rp.threshold = 5;
	cnp_after(0);
	cnp_after(CNP_US * US);
	target = one.target_kbps;
	tap_eq(target, LINE);
	for (i = 0; i < 4; i++)
		rate_after(300 * US);
	tap_eq(one.target_kbps, target);
	tap_ok(is_near(one.rate_kbps, LINE - LINE / 4 * 3 / 16));
	/* A cut after a raise lowers the target. */
	cnp_after(CNP_US * US);
	target = one.target_kbps;
	tap_ok(target < LINE);
	for (i = 0; i < 7; i++)
		rate_after(300 * US);
	tap_eq(one.target_kbps, target + 3 * 5 * MBIT);
}

/* Where a gigabit is shared, 5 Mbit/s are too much for many. */
static void slow_links_raise_less(void)
{
	u32 target;

	one_start();
	rp.line_kbps = GBIT;
	cnp_after(0);
	cnp_after(CNP_US * US);
	rate_after(500 * US);
	cnp_after(CNP_US * US);
	target = one.target_kbps;
	tap_ok(target < GBIT);
	rate_after(499 * US);
	tap_eq(one.target_kbps, target);
	rate_after(US);
	tap_eq(one.target_kbps, target + MBIT);
	/* What is set counts on any link. */
	rp.ai_rate = 7;
	rp.time_reset = 100;
	rate_after(100 * US);
	tap_eq(one.target_kbps, target + 8 * MBIT);
}

/* Raises of both kinds make the steps grow. */
static void raises_by_bytes(void)
{
	u32 before, i;

	one_start();
	for (i = 0; i < 6; i++)
		cnp_after(CNP_US * US);
	rate_after(300 * US);
	cnp_after(CNP_US * US);
	before = one.target_kbps;
	hrp_dcqcn_sent(&one, 32767 * 64 - 1);
	tap_eq(one.target_kbps, before);
	hrp_dcqcn_sent(&one, 1);
	tap_eq(one.target_kbps, before + 5 * MBIT);
	hrp_dcqcn_sent(&one, 32767 * 64);
	tap_eq(one.target_kbps, before + 10 * MBIT);
	rate_after(300 * US);
	tap_eq(one.target_kbps, before + 15 * MBIT);
	rate_after(300 * US);
	tap_eq(one.target_kbps, before + 65 * MBIT);
	hrp_dcqcn_sent(&one, 32767 * 64);
	rate_after(300 * US);
	tap_eq(one.target_kbps, before + (65 + 50 + 100) * MBIT);
	rp.byte_reset = 0;
	hrp_dcqcn_sent(&one, 1u << 30);
	tap_eq(one.target_kbps, before + (65 + 50 + 100) * MBIT);
}

/* The growing steps are the parameter's, and only those. */
static void many_raises_add_as_told(void)
{
	u32 before, i;

	one_start();
	rp.hai_rate = 7;
	for (i = 0; i < 6; i++)
		cnp_after(CNP_US * US);
	rate_after(300 * US);
	cnp_after(CNP_US * US);
	before = one.target_kbps;
	for (i = 0; i < 2; i++) {
		hrp_dcqcn_sent(&one, 32767 * 64);
		rate_after(300 * US);
	}
	tap_eq(one.target_kbps, before + (3 * 5 + 7) * MBIT);
}

static void targets_follow(void)
{
	u32 clamped, ati;

	for (clamped = 0; clamped < 2; clamped++) {
		one_start();
		rp.clamp_tgt_rate = clamped;
		cnp_after(0);
		cnp_after(CNP_US * US);
		tap_eq(one.target_kbps < LINE, clamped);
	}
	for (ati = 0; ati < 2; ati++) {
		one_start();
		rp.clamp_tgt_rate_ati = ati;
		cnp_after(0);
		rate_after(300 * US);
		cnp_after(0);
		tap_eq(one.target_kbps < LINE, ati);
	}
}

/* Whoever asks seldom gets the same answer. */
static void lazy_is_the_same(void)
{
	u32 often, n, i;

	for (n = 1; n < 200; n += 7) {
		one_start();
		for (i = 0; i < 10; i++)
			cnp_after(CNP_US * US);
		rate_after(300 * US);
		cnp_after(CNP_US * US);
		for (i = 0; i < n; i++)
			rate_after(300 * US);
		often = one.rate_kbps;
		one_start();
		for (i = 0; i < 10; i++)
			cnp_after(CNP_US * US);
		rate_after(300 * US);
		cnp_after(CNP_US * US);
		tap_ok(is_near(rate_after(n * 300 * US), often));
	}
}

/* After the line rate, the next CNP is the first one again. */
static void limits_end(void)
{
	u32 i;

	one_start();
	for (i = 0; i < 20; i++)
		cnp_after(CNP_US * US);
	tap_ok(rate_after(100 * US));
	tap_eq(rate_after(3000 * MS), 0);
	tap_ok(is_near(cnp_after(0), LINE / 2));
}

/* Any parameters that can be set, any times. */
static void rates_have_limits(void)
{
	u64 random = 1;
	u32 i, bad = 0;

	one_start();
	for (i = 0; i < 200000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		if (!(i % 100)) {
			rp.line_kbps = 1 + (random >> 33) % 800000000;
			rp.max_rate = random >> 63 ? 0 : random >> 50;
			rp.min_rate = 1 + (random >> 40) % 1000000;
			rp.ai_rate = (random >> 42) % 1000001;
			rp.hai_rate = 1 + (random >> 41) % 1000000;
			rp.time_reset = (random >> 34) % 131072;
			rp.byte_reset = (random >> 37) % 32768;
			rp.gd = (random >> 35) % 16;
			rp.dce_tcp_g = (random >> 36) % 1024;
			rp.dce_tcp_rtt = 1 + (random >> 38) % 100;
			rp.threshold = 1 + (random >> 39) % 31;
			rp.min_dec_fac = 1 + (random >> 43) % 100;
		}
		now_ns += (random >> 20) % (1ull << (i % 40));
		if (random >> 62 == 3)
			hrp_dcqcn_cnp(&one, now_ns);
		if (hrp_dcqcn_rate(&one, now_ns))
			hrp_dcqcn_sent(&one, random >> 44);
		bad += one.rate_kbps >
		       max(rp.line_kbps, rp.max_rate * MBIT);
		bad += one.alpha > 1u << 20;
	}
	tap_eq(bad, 0);
}

/**
 * struct queue - what all flows go through; times in units of 5 us
 * @kbps: rate of its link
 * @mark_bytes: packets are marked while more than that waits
 * @cnp_us: least time between CNPs
 * @bytes: what waits
 * @sum: of @bytes, over all times
 * @most: highest @bytes
 * @idle: of what the link could have sent, thousandths that it has not
 * @sent: of each flow
 */
struct queue {
	u32 kbps;
	u32 mark_bytes;
	u32 cnp_us;
	u64 bytes;
	u64 sum;
	u64 most;
	u64 idle;
	u64 sent[MAX_FLOWS];
};

#define STEP_US		5
#define WAY_US		20

static struct hrp_dcqcn flows[MAX_FLOWS];
static u64 cnp_ns[MAX_FLOWS], due_ns[MAX_FLOWS];

/* Bytes in a step. */
static u64 step_bytes(u32 kbps)
{
	return (u64)kbps * STEP_US / 8000;
}

static u64 flow_step(struct queue *q, u32 i)
{
	u32 kbps = hrp_dcqcn_rate(&flows[i], now_ns);
	u64 bytes = step_bytes(kbps ?: LINE);

	if (kbps)
		hrp_dcqcn_sent(&flows[i], bytes);
	if (q->bytes > q->mark_bytes && !due_ns[i] &&
	    now_ns >= cnp_ns[i] + q->cnp_us * US) {
		cnp_ns[i] = now_ns;
		due_ns[i] = now_ns + WAY_US * US;
	}
	if (due_ns[i] && now_ns >= due_ns[i]) {
		due_ns[i] = 0;
		hrp_dcqcn_cnp(&flows[i], now_ns);
	}
	q->sent[i] += bytes;
	return bytes;
}

static void queue_run(struct queue *q, u32 nr, u32 us)
{
	u64 room = step_bytes(q->kbps), in;
	u32 n, i;

	q->sum = 0;
	q->most = 0;
	q->idle = 0;
	memset(q->sent, 0, sizeof(q->sent));
	for (n = 0; n < us / STEP_US; n++) {
		now_ns += STEP_US * US;
		for (i = 0, in = 0; i < nr; i++)
			in += flow_step(q, i);
		q->bytes += in;
		q->most = max(q->most, q->bytes);
		q->idle += room - min(room, q->bytes);
		q->bytes -= min(room, q->bytes);
		q->sum += q->bytes;
	}
	q->sum /= n;
	q->idle = q->idle * 1000 / (room * n);
}

static void flows_start(u32 nr)
{
	u32 i;

	one_start();
	memset(cnp_ns, 0, sizeof(cnp_ns));
	memset(due_ns, 0, sizeof(due_ns));
	for (i = 0; i < nr; i++)
		flows[i] = one;
}

/* Jain's index of what flows have sent, in per cent. */
static u32 fairness(const struct queue *q, u32 nr)
{
	u64 sum = 0, squares = 0, kb;
	u32 i;

	for (i = 0; i < nr; i++) {
		kb = q->sent[i] >> 10;
		sum += kb;
		squares += kb * kb;
	}
	return sum * sum * 100 / (nr * squares);
}

/*
 * Up to 16 flows at 10 Gbit/s into 1 Gbit/s, which marks from 60 KB on, for
 * receivers of both kinds: in half a second all is as it remains.
 */
static void queues_stay_short(void)
{
	static const u32 nrs[] = { 1, 2, 4, 16 };
	u32 i;

	for (i = 0; i < 2 * ARRAY_SIZE(nrs); i++) {
		struct queue q = {
			.kbps = GBIT,
			.mark_bytes = 60000,
			.cnp_us = i & 1 ? CNP_US : 4,
		};
		u32 nr = nrs[i / 2];

		flows_start(nr);
		queue_run(&q, nr, 500000);
		/* 16 lines at full rate for five cuts. */
		tap_ok(q.most < 160000 + nr * 200000);
		queue_run(&q, nr, 500000);
		tap_ok(q.most < 120000);
		tap_ok(q.sum < 70000);
		tap_ok(q.idle <= 20);
		tap_ok(fairness(&q, nr) >= 95);
	}
}

/* Whoever came first has no advantage. */
static void late_flows_get_their_share(void)
{
	struct queue q = {
		.kbps = GBIT, .mark_bytes = 60000, .cnp_us = CNP_US,
	};

	flows_start(4);
	queue_run(&q, 3, 500000);
	queue_run(&q, 4, 1000000);
	queue_run(&q, 4, 500000);
	tap_ok(fairness(&q, 4) >= 95);
}

/* A queue pair with memory for a rate, or none yet, and much to send. */
static struct hrp_pace pace;

static void limited_start(enum hrp_type type)
{
	one_start();
	rig_begin(type, 0);
	rig.now_ns = now_ns;
	rig.qp.req.window_pkts = 2048;
	rig.qp.req.timeout = 16;
	rig.qp.req.cc = HRP_CC_DCQCN;
	hrp_req_start(&rig.qp, 0);
}

static void cnp(void)
{
	if (hrp_cc_wants_pace(&rig.qp))
		hrp_pace_start(&rig.qp, &pace, &rp, rig.now_ns, 0);
	hrp_cc_notified(&rig.qp, rig.now_ns);
}

static void slow_down_to(u32 kbps)
{
	rp.min_rate = kbps / MBIT;
	rp.rate_to_set_on_first_cnp = rp.min_rate;
	cnp();
	tap_eq(pace.control_kbps, kbps);
}

/* Bytes sent in @us, with a timer that is @late_ns late. */
static u64 send_for(u64 us, u64 late_ns, u64 *burst)
{
	u64 end_ns = rig.now_ns + us * US, bytes = 0, clump = 0;

	while (rig.now_ns < end_ns) {
		while (rig_next() == HRP_NEXT_BURST)
			clump += hrp_pace_cost(&rig.burst);
		bytes += clump;
		*burst = max(*burst, clump);
		clump = 0;
		if (!rig.qp.req.pace || !pace.own.ready_ns)
			break;
		rig.now_ns = pace.own.ready_ns + late_ns;
		hrp_req_timeout(&rig.qp, rig.now_ns);
	}
	return bytes;
}

/* A queue pair that is never told of congestion has nothing to do with it. */
static void costs_nothing_without_marks(void)
{
	limited_start(HRP_TYPE_RC);
	rig_post_op(HROCE_WR_WRITE, 2048 * MTU);
	tap_eq(rig_drain(), 2048);
	tap_ok(!rig.qp.req.pace && !rig.qp.req.gated);
	rig_end();
}

/* 1 Gbit/s: 50 us are 6250 bytes, whatever was not sent before. */
static void bursts_are_short(void)
{
	u64 burst = 0, bytes;

	limited_start(HRP_TYPE_RC);
	slow_down_to(GBIT);
	rp.ai_rate = 1;
	rig.now_ns += 200 * US;
	rig_post_op(HROCE_WR_WRITE, 2048 * MTU);
	bytes = send_for(10000, 0, &burst);
	tap_ok(burst <= 6250 + 2 * hrp_pace_max_cost(MTU));
	tap_ok(bytes > 1230000 && bytes < 1300000);
	rig_end();
	/* A late timer does not make it slower. */
	limited_start(HRP_TYPE_RC);
	slow_down_to(GBIT);
	rig_post_op(HROCE_WR_WRITE, 2048 * MTU);
	burst = 0;
	bytes = send_for(10000, 300 * US, &burst);
	tap_ok(bytes > 1200000 && bytes < 1350000);
	tap_ok(burst <= 125000);
	rig_end();
}

/* Waits are short, so acknowledgements are not wanted of each burst. */
static void asks_now_and_then(void)
{
	u32 asked = 0, bursts = 0;

	limited_start(HRP_TYPE_RC);
	slow_down_to(GBIT);
	rig_post_op(HROCE_WR_WRITE, 1000 * MTU);
	while (bursts < 100) {
		if (rig_next() == HRP_NEXT_BURST) {
			bursts++;
			asked += rig.burst.ackreq_last;
			continue;
		}
		rig.now_ns = pace.own.ready_ns;
		hrp_req_timeout(&rig.qp, rig.now_ns);
	}
	tap_ok(asked >= 5 && asked <= 20);
	rig_end();
}

/* A rate so low that a packet takes long rises meanwhile. */
static void waits_end_when_the_rate_rises(void)
{
	limited_start(HRP_TYPE_RC);
	slow_down_to(MBIT);
	rig_post_op(HROCE_WR_WRITE, 2048 * MTU);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	/* A packet of 1 KB takes 9 ms. */
	tap_ok(pace.own.ready_ns <= rig.now_ns + 300 * US);
	rig.now_ns = pace.own.ready_ns;
	hrp_req_timeout(&rig.qp, rig.now_ns);
	rig_next();
	tap_ok(pace.control_kbps > MBIT);
	rig_end();
}

/* The lower limit counts, and one may go while the other stays. */
static void lower_limit_counts(void)
{
	limited_start(HRP_TYPE_RC);
	slow_down_to(GBIT);
	hrp_pace_set(&rig.qp, rig.now_ns, 100 * MBIT, 0);
	tap_eq(pace.own.rate_kbps, 100 * MBIT);
	hrp_pace_set(&rig.qp, rig.now_ns, 2 * GBIT, 0);
	tap_eq(pace.own.rate_kbps, GBIT);
	hrp_pace_set(&rig.qp, rig.now_ns, 0, 0);
	tap_eq(pace.own.rate_kbps, GBIT);
	tap_ok(rig.qp.req.gated);
	hrp_pace_set(&rig.qp, rig.now_ns, 2 * GBIT, 0);
	hrp_pace_release(&rig.qp);
	tap_eq(pace.own.rate_kbps, 2 * GBIT);
	tap_eq(rig_pending(HRP_PENDING_UNPACED), 0);
	hrp_pace_set(&rig.qp, rig.now_ns, 0, 0);
	tap_ok(!rig.qp.req.gated);
	tap_eq(rig_pending(HRP_PENDING_UNPACED), 1);
	tap_ok(hrp_pace_stop(&rig.qp) == &pace);
	rig_end();
}

/* At the line rate the memory is not needed any more. */
static void memory_is_given_back(void)
{
	limited_start(HRP_TYPE_RC);
	cnp();
	tap_ok(rig.qp.req.gated);
	rig_post_op(HROCE_WR_WRITE, 2048 * MTU);
	rig_next();
	tap_eq(rig_pending(HRP_PENDING_UNPACED), 0);
	rig.now_ns += 3000 * MS;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(!rig.qp.req.gated);
	tap_eq(rig_pending(HRP_PENDING_UNPACED), 1);
	tap_ok(!hrp_pace_is_on(&rig.qp.req));
	/* A CNP may be faster than the one who frees it. */
	cnp();
	tap_ok(hrp_pace_is_on(&rig.qp.req));
	rig_end();
}

/* If there is none, the window must do. */
static void window_without_memory(void)
{
	limited_start(HRP_TYPE_RC);
	hrp_cc_notified(&rig.qp, rig.now_ns);
	tap_eq(rig.qp.req.cwnd_pkts, 2048 - 256);
	tap_ok(!rig.qp.req.gated);
	hrp_cc_acked(&rig.qp, 6400, rig.now_ns);
	tap_eq(rig.qp.req.cwnd_pkts, 2048 - 156);
	rig_end();
}

static void local_delivery_is_not_limited(void)
{
	limited_start(HRP_TYPE_RC);
	slow_down_to(GBIT);
	hrp_cc_release(&rig.qp);
	tap_ok(!rig.qp.req.gated);
	tap_eq(rig_pending(HRP_PENDING_UNPACED), 1);
	rig_end();
}

static void unreliable_queue_pairs_have_a_rate(void)
{
	u64 burst = 0, bytes;

	limited_start(HRP_TYPE_UC);
	slow_down_to(GBIT);
	rig_post_op(HROCE_WR_WRITE, 2000 * MTU);
	bytes = send_for(10000, 0, &burst);
	tap_ok(bytes > 1150000 && bytes < 1350000);
	rig_end();
}

int main(void)
{
	tap_plan(25);
	tap_run(first_cnp_halves);
	tap_run(cuts_have_a_period);
	tap_run(cuts_have_another_period);
	tap_run(alpha_remembers);
	tap_run(alpha_forgets_as_told);
	tap_run(parameters_bound_cuts);
	tap_run(raises_by_time);
	tap_run(slow_links_raise_less);
	tap_run(raises_by_bytes);
	tap_run(many_raises_add_as_told);
	tap_run(targets_follow);
	tap_run(lazy_is_the_same);
	tap_run(limits_end);
	tap_run(rates_have_limits);
	tap_run(queues_stay_short);
	tap_run(late_flows_get_their_share);
	tap_run(costs_nothing_without_marks);
	tap_run(bursts_are_short);
	tap_run(asks_now_and_then);
	tap_run(waits_end_when_the_rate_rises);
	tap_run(lower_limit_counts);
	tap_run(memory_is_given_back);
	tap_run(window_without_memory);
	tap_run(local_delivery_is_not_limited);
	tap_run(unreliable_queue_pairs_have_a_rate);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/* Flowlets: when another path may be taken. */
#include <linux/kernel.h>
#include "proto/cc.h"
#include "proto/flowlet.h"
#include "proto/req_priv.h"
#include "rig.h"
#include "tap.h"

#define ACK		HRP_SYN_CREDIT_INVALID
#define US		1000ull
#define RTT_NS		(200 * US)
#define PAUSE_NS	(1000 * US)
/* The clock of pauses has ticks of this length. */
#define TICK_NS		4096

static struct hrp_req *const req = &rig.qp.req;

static void begin(enum hrp_type type, u8 cc)
{
	rig_begin(type, 0);
	req->timeout = 16;
	req->window_pkts = 2048;
	req->cc = cc;
	hrp_cc_start(&rig.qp);
}

/* A message of one packet, which the window allows, acknowledged after @rtt_ns. */
static void round_trip(u64 rtt_ns)
{
	u32 psn = req->psn;

	req->cwnd_pkts = 1;
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	rig.now_ns += rtt_ns;
	rig_ack(psn, ACK);
	rig_expect_cqe(rig.seen_cqes, HROCE_WC_SUCCESS);
}

/* Packets wait in the end for @queue_ns, but not in the beginning. */
static void flight(u64 queue_ns)
{
	u32 i;

	for (i = 0; i < 20; i++)
		round_trip(RTT_NS);
	for (i = 0; i < 3; i++)
		round_trip(RTT_NS + queue_ns);
}

static void after_a_pause_if_crowded(void)
{
	begin(HRP_TYPE_RC, HRP_CC_DELAY);
	flight(2000 * US);
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns));
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns + PAUSE_NS - TICK_NS));
	rig.now_ns += 4 * PAUSE_NS;
	tap_ok(hrp_flowlet_begins(&rig.qp, rig.now_ns));
	/* Once, until packets wait again. */
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns + 100 * PAUSE_NS));
	round_trip(RTT_NS);
	round_trip(RTT_NS);
	rig.now_ns += 100 * PAUSE_NS;
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns));
	flight(2000 * US);
	rig.now_ns += 4 * PAUSE_NS;
	tap_ok(hrp_flowlet_begins(&rig.qp, rig.now_ns));
	rig_end();
}

static void not_if_packets_did_not_wait(void)
{
	begin(HRP_TYPE_RC, HRP_CC_DELAY);
	flight(0);
	rig.now_ns += 100 * PAUSE_NS;
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns));
	rig_end();
}

/* Then packets could be overtaken. */
static void not_with_packets_in_flight(void)
{
	begin(HRP_TYPE_RC, HRP_CC_DELAY);
	flight(2000 * US);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	rig.now_ns += 100 * PAUSE_NS;
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns));
	rig_ack(req->psn_una, ACK);
	rig_expect_cqe(rig.seen_cqes, HROCE_WC_SUCCESS);
	rig_end();
}

static void long_round_trips_need_two_of_them(void)
{
	u64 rtt_ns;
	u32 i;

	begin(HRP_TYPE_RC, HRP_CC_DELAY);
	for (i = 0; i < 100; i++)
		round_trip(10000 * US);
	for (i = 0; i < 2; i++)
		round_trip(30000 * US);
	rtt_ns = (u64)req->srtt8 << 7;
	tap_ok(rtt_ns >= 10000 * US && rtt_ns <= 20000 * US);
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns + 2 * rtt_ns - TICK_NS));
	tap_ok(hrp_flowlet_begins(&rig.qp, rig.now_ns + 2 * rtt_ns + TICK_NS));
	rig_end();
}

static void marks_tell_as_well(void)
{
	begin(HRP_TYPE_RC, HRP_CC_DELAY);
	flight(0);
	hrp_cc_notified(&rig.qp, rig.now_ns);
	rig.now_ns += 4 * PAUSE_NS;
	tap_ok(hrp_flowlet_begins(&rig.qp, rig.now_ns));
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns + 4 * PAUSE_NS));
	rig_end();
}

/* The others do not know whether packets wait. */
static void not_with_other_controls(void)
{
	static const u8 others[] = { HRP_CC_NONE, HRP_CC_DCQCN };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(others); i++) {
		begin(HRP_TYPE_RC, others[i]);
		flight(2000 * US);
		rig.now_ns += 100 * PAUSE_NS;
		tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns));
		rig_end();
	}
}

/* Nothing tells what of it is in flight. */
static void not_without_acknowledgements(void)
{
	begin(HRP_TYPE_UC, HRP_CC_DELAY);
	hrp_cc_notified(&rig.qp, rig.now_ns);
	tap_ok(req->cc_told);
	rig.now_ns += 100 * PAUSE_NS;
	tap_ok(!hrp_flowlet_begins(&rig.qp, rig.now_ns));
	rig_end();
}

int main(void)
{
	tap_plan(7);
	tap_run(after_a_pause_if_crowded);
	tap_run(not_if_packets_did_not_wait);
	tap_run(not_with_packets_in_flight);
	tap_run(long_round_trips_need_two_of_them);
	tap_run(marks_tell_as_well);
	tap_run(not_with_other_controls);
	tap_run(not_without_acknowledgements);
	return tap_exit();
}

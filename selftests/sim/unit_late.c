// SPDX-License-Identifier: GPL-2.0
/* Requester: packets that come late are no losses. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "kept.h"
#include "rig.h"
#include "tap.h"

#define ACK	HRP_SYN_CREDIT_INVALID
#define NAK	HRP_NAK_PSN_SEQ
#define US	1024u	/* ns, as the engine counts */
#define RTT_NS	(20 * US)
#define FLIGHT	64u
#define MTU	1024u

static struct hrp_req *const req = &rig.qp.req;

/* Packets in flight to a peer that tells what it keeps; the last is acked. */
static void begin(void)
{
	rig_begin(HRP_TYPE_RC, 0xffff00);
	req->timeout = 16;
	req->window_pkts = 512;
	req->cwnd_pkts = FLIGHT;
	req->burst_pkts = 16;
	rig_post_op(HROCE_WR_WRITE, 1u << 30);
	tap_eq(rig_drain(), FLIGHT);
	rig.now_ns += RTT_NS;
	rig_ack(req->psn_una, ACK);
	rig_drain();
	req->keeps = 1;
	req->sparse = 15;
}

/* A round trip later all has arrived but the oldest packet. */
static void miss_oldest(void)
{
	u32 first = req->psn_una & ~63u, psn = hrp_psn_add(req->psn_una, 1);
	u8 map[HRP_SACK_MAP_BYTES] = {};

	rig.now_ns += RTT_NS;
	for (; psn != req->psn_max; psn = hrp_psn_add(psn, 1)) {
		u32 bit = (psn - first) & HRP_PSN_MASK;

		map[bit / 8] |= 1u << bit % 8;
	}
	rig_sack(req->psn_una, map, sizeof(map));
	rig_drain();
}

/* What was sent has arrived, and ten of the next flight, of which one is timed. */
static void arrive(void)
{
	rig_ack((req->psn_max - 1) & HRP_PSN_MASK, ACK);
	rig_drain();
	rig.now_ns += RTT_NS;
	rig_ack(hrp_psn_add(req->psn_una, 9), ACK);
	rig_drain();
}

static u32 holes(void)
{
	return rig.counts.v[HROCE_EV_HOLES_RESENT];
}

/* The peer goes on to tell so, for that long or until the packet is resent. */
static void miss_for(u32 us)
{
	u64 end_ns = rig.now_ns + us * US;
	u32 before = holes();

	do {
		miss_oldest();
	} while (holes() == before && rig.now_ns < end_ns);
}

/*
 * The oldest packet is overtaken, and comes @late_us later: after it was resent,
 * if it is. Return: true if it was.
 */
static bool come_late(u32 late_us)
{
	u32 before = holes(), psn = req->psn_una;
	u64 end_ns = rig.now_ns + RTT_NS + late_us * US;
	bool resent;

	miss_for(late_us);
	resent = holes() != before;
	/* The copy arrives first. */
	if (resent)
		rig.now_ns += RTT_NS;
	arrive();
	if (resent) {
		rig.now_ns = max(rig.now_ns, end_ns);
		rig_tell_again(psn, 1);
	}
	return resent;
}

/* The oldest packet is lost. Return: time until it is resent, in us. */
static u32 lose(void)
{
	u64 at_ns;

	at_ns = rig.now_ns + RTT_NS;
	miss_for(5000);
	at_ns = rig.now_ns - at_ns;
	rig.now_ns += RTT_NS;
	arrive();
	return at_ns / US;
}

/* The first ones are resent, then the requester waits long enough. */
static void learned_from_what_comes_twice(void)
{
	u32 n, resent = 0, wait;

	begin();
	tap_eq(lose(), 0);
	for (n = 0; n < 40; n++)
		resent += come_late(500);
	tap_ok(resent >= 10 && resent <= 20);
	tap_ok(rig.counts.v[HROCE_EV_LATE] >= 39);
	wait = req->sack->late.wait;
	tap_ok(wait >= 500 && wait <= 800);
	n = lose();
	tap_ok(n >= wait && n <= wait + wait / 4);
	/* If the peer is silent meanwhile, no timeout is to blame. */
	miss_oldest();
	resent = holes();
	for (n = 0; n < 5000 && holes() == resent; n += 10) {
		rig.now_ns += 10 * US;
		if (hrp_req_deadline(req) <= rig.now_ns)
			hrp_req_timeout(&rig.qp, rig.now_ns);
		rig_drain();
	}
	tap_ok(n >= wait && n <= wait + 400);
	tap_eq(rig.counts.v[HROCE_EV_RTO_EXPIRED], 0);
	tap_eq(rig.counts.v[HROCE_EV_PROBES], 0);
	rig_end();
}

/* Later ones are not so late, or later. */
static void time_follows(void)
{
	u32 n;

	begin();
	lose();
	for (n = 0; n < 300; n++)
		come_late(500);
	for (n = 0; n < 300; n++)
		tap_ok(!come_late(100));
	tap_ok(req->sack->late.wait >= 100 && req->sack->late.wait <= 250);
	for (n = 0; n < 300; n++)
		come_late(700);
	tap_ok(!come_late(700));
	rig_end();
}

/* Nothing comes late any more. */
static void losses_are_resent_at_once_again(void)
{
	u32 n;

	begin();
	lose();
	for (n = 0; n < 40; n++)
		come_late(500);
	tap_ok(lose() >= 500);
	for (n = 0; n < 1000; n++)
		lose();
	tap_eq(req->sack->late.wait, 0);
	tap_eq(lose(), 0);
	rig_end();
}

/* Half of what is missing is lost, and waiting would delay it. */
static void few_late_ones_do_not_matter(void)
{
	u32 n;

	begin();
	for (n = 0; n < 500; n++) {
		lose();
		come_late(500);
		tap_eq(req->sack->late.wait, 0);
	}
	rig_end();
}

/* More than a millisecond: to resend them is right. */
static void too_late(void)
{
	u32 n;

	begin();
	lose();
	for (n = 0; n < 200; n++)
		tap_ok(come_late(1500));
	tap_eq(req->sack->late.wait, 0);
	rig_end();
}

/* Resent twice: both may have arrived, and nothing else. */
static void resent_twice_tells_nothing(void)
{
	u32 n, psn, before;

	begin();
	lose();
	for (n = 0; n < 100; n++) {
		psn = req->psn_una;
		before = holes();
		miss_for(5000);
		miss_for(5000);
		tap_eq(holes(), before + 2);
		rig.now_ns += RTT_NS;
		arrive();
		rig_tell_again(psn, 1);
		tap_eq(req->sack->late.wait, 0);
	}
	rig_end();
}

/* What was late has not made the window smaller. */
static void window_is_restored(void)
{
	u32 n, small = FLIGHT;

	begin();
	lose();
	req->cwnd_pkts = 4 * FLIGHT;
	rig_drain();
	req->sparse = 0;
	for (n = 0; n < 40; n++) {
		come_late(500);
		small = min(small, req->cwnd_pkts);
	}
	tap_ok(small < FLIGHT);
	tap_ok(req->cwnd_pkts >= 4 * FLIGHT);
	rig_end();
}

/* Answers that come late are not asked for again. */
static void begin_reads(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	req->timeout = 16;
	req->window_pkts = 512;
	req->cwnd_pkts = 512;
	req->burst_pkts = 16;
	rig.keeps_answers = true;
}

/* One answer that comes twice tells of all that were asked for with it. */
static void late_answers_are_counted(void)
{
	u32 n;

	begin_reads();
	rig_post_op(HROCE_WR_READ, 16 * MTU);
	rig_drain();
	rig.now_ns += RTT_NS;
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, MTU);
	rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 14, MTU);
	tap_eq(rig_drain(), 1);
	for (n = 1; n < 14; n++)
		rig_read_resp(HRP_OP_READ_RESP_MIDDLE, n, MTU);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 1, MTU),
	       HRP_RX_DUPLICATE);
	tap_eq(rig.counts.v[HROCE_EV_LATE], 13);
	rig_end();
}

static void answers_come_late(void)
{
	u32 i, n, before, resent = 0;

	begin_reads();
	for (i = 0; i < 60; i++) {
		u32 psn = req->psn_una;

		rig_post_op(HROCE_WR_READ, 4 * MTU);
		rig_drain();
		rig.now_ns += RTT_NS;
		before = holes();
		rig_read_resp(HRP_OP_READ_RESP_FIRST, psn, MTU);
		rig_read_resp(HRP_OP_READ_RESP_MIDDLE, psn + 2, MTU);
		rig_read_resp(HRP_OP_READ_RESP_LAST, psn + 3, MTU);
		n = rig_drain();
		if (holes() != before) {
			tap_eq(n, 1);
			rig.now_ns += RTT_NS;
			rig_read_resp(HRP_OP_READ_RESP_ONLY, psn + 1, MTU);
			rig.now_ns += 300 * US - RTT_NS;
			tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, psn + 1,
					     MTU), HRP_RX_DUPLICATE);
			resent++;
		} else {
			rig.now_ns += 300 * US;
			rig_read_resp(HRP_OP_READ_RESP_MIDDLE, psn + 1, MTU);
		}
		rig_expect_cqe(i, HROCE_WC_SUCCESS);
		tap_eq(req->psn_una, psn + 4);
	}
	tap_ok(resent >= 10 && resent <= 20);
	rig_end();
}

/* A peer may tell what it likes: the time has a limit, and little else happens. */
static void hostile_tales(void)
{
	u32 n, psn;

	begin();
	lose();
	for (n = 0; n < 1000; n++) {
		psn = req->psn_una;
		miss_oldest();
		rig.now_ns += 900 * US;
		rig_tell_again(psn, U32_MAX);
		rig_tell_again(psn, U32_MAX);
		rig_tell_again(hrp_psn_add(psn, n * 977), n);
		arrive();
		tap_ok(req->sack->late.wait <= 1000);
	}
	tap_ok(lose() <= 1400);
	rig_end();
}

/* The clock wraps after 73 minutes: what was long ago is not to come. */
static void time_passes_without_gaps(void)
{
	u32 minutes, n;

	for (minutes = 20; minutes <= 60; minutes += 20) {
		begin();
		lose();
		for (n = 0; n < 40; n++)
			come_late(500);
		tap_ok(lose() < 1000);
		/* Nothing has been sent since. */
		rig.now_ns += minutes * 60000000ull * US;
		req->timing = 0;
		req->sack->timing = 0;
		arrive();
		for (n = 0; n < 4; n++)
			tap_ok(lose() < 1000);
		rig_end();
	}
}

int main(void)
{
	tap_plan(11);
	tap_run(learned_from_what_comes_twice);
	tap_run(time_follows);
	tap_run(losses_are_resent_at_once_again);
	tap_run(few_late_ones_do_not_matter);
	tap_run(too_late);
	tap_run(resent_twice_tells_nothing);
	tap_run(window_is_restored);
	tap_run(late_answers_are_counted);
	tap_run(answers_come_late);
	tap_run(hostile_tales);
	tap_run(time_passes_without_gaps);
	return tap_exit();
}

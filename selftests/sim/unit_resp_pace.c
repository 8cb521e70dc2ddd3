// SPDX-License-Identifier: GPL-2.0
/* READ responses at the rate that congestion control allows. */
#include <string.h>
#include "proto/pace.h"
#include "resp_rig.h"

#define KBPS		1000000u	/* a bit per nanosecond */
#define PKTS		200u

static struct hrp_pace pace;
static struct hrp_rp rp;
static u64 now_ns;

/* A responder that was told to slow down, and is asked for PKTS packets. */
static void begin(u32 kbps)
{
	struct hrp_pkt pkt;

	now_ns = 1000000000;
	rr_begin(HRP_TYPE_RC);
	hrp_rp_init(&rp);
	hrp_pace_start(&rr.qp, &pace, &rp, now_ns, 0);
	if (kbps) {
		pace.dcqcn.raise_ns = now_ns;
		pace.dcqcn.cut_ns = now_ns;
		pace.dcqcn.alpha_ns = now_ns;
		pace.dcqcn.rate_kbps = kbps;
		pace.dcqcn.target_kbps = kbps;
		hrp_pace_control(&rr.qp, now_ns, kbps);
	}
	pkt = rr_request(HRP_OP_READ_REQ, 0, 0);
	pkt.dmalen = PKTS * MTU;
	rr_arrive(&pkt);
}

static bool next(void)
{
	return hrp_resp_next_paced(&rr.qp, now_ns, &rr.burst);
}

/* All that may be sent now. Return: packets. */
static u32 drain(void)
{
	u32 n = 0;

	while (next())
		n += rr.burst.nr_pkts;
	return n;
}

static void none_without_control(void)
{
	begin(0);
	tap_eq(drain(), PKTS);
	tap_eq(hrp_pace_answers_at(&rr.qp), 0);
	/* Nor without a bucket. */
	begin(0);
	hrp_pace_stop(&rr.qp);
	tap_eq(drain(), PKTS);
	tap_eq(hrp_pace_answers_at(&rr.qp), 0);
}

/* That of a program is for its requests. */
static void rate_of_the_program(void)
{
	begin(0);
	hrp_pace_set(&rr.qp, now_ns, KBPS, 0);
	tap_eq(drain(), PKTS);
}

static void in_time(void)
{
	u64 begin_ns, took_ns, bits = 0;
	u32 n = 0, waits = 0;

	begin(KBPS);
	begin_ns = now_ns;
	tap_eq(drain(), 0);
	while (n < PKTS && waits < 1000) {
		u64 at_ns = hrp_pace_answers_at(&rr.qp);

		tap_ok(at_ns > now_ns);
		now_ns = at_ns - 1;
		tap_ok(!hrp_pace_answers_timeout(&rr.qp, now_ns));
		tap_ok(!next());
		now_ns = at_ns;
		tap_ok(hrp_pace_answers_timeout(&rr.qp, now_ns));
		while (next()) {
			n += rr.burst.nr_pkts;
			bits += 8 * hrp_pace_cost(&rr.burst);
		}
		waits++;
	}
	took_ns = now_ns - begin_ns;
	tap_eq(n, PKTS);
	/* The rate rises a little meanwhile. */
	tap_ok(took_ns > bits - bits / 10 && took_ns < bits + bits / 20);
	/* A timer for many packets: what leaves at once is 50 us long. */
	tap_ok(waits < PKTS / 4);
	tap_eq(hrp_pace_answers_at(&rr.qp), 0);
}

/* Requests have a bucket of their own, and their wait is none of answers. */
static void beside_requests(void)
{
	begin(KBPS);
	tap_eq(drain(), 0);
	tap_eq(pace.own.ready_ns, 0);
	pace.own.ready_ns = now_ns + 1000000;
	now_ns = hrp_pace_answers_at(&rr.qp);
	tap_ok(drain());
}

static void acknowledgements_are_free(void)
{
	begin(KBPS);
	/* Behind a READ that waits, all waits. */
	rr_ask(HRP_OP_SEND_ONLY, PKTS, 1);
	tap_eq(drain(), 0);
	hrp_pace_release(&rr.qp);
	tap_eq(drain(), PKTS + 1);
	tap_eq(rr.burst.first.opcode, HRP_OP_ACK);
	tap_eq(rr_pending(HRP_PENDING_UNPACED), 1);

	begin(KBPS);
	tap_eq(drain(), 0);
	rr.qp.resp.rd_reply = rr.qp.resp.rd_head;
	rr_ask(HRP_OP_SEND_ONLY, PKTS, 1);
	tap_eq(drain(), 1);
	tap_eq(rr.burst.first.opcode, HRP_OP_ACK);
}

/* Marks slow both sides down, and what they send counts as such. */
static void counts_for_the_control(void)
{
	u64 was;

	begin(KBPS);
	drain();
	was = pace.dcqcn.bytes;
	now_ns = hrp_pace_answers_at(&rr.qp);
	tap_ok(drain());
	tap_ok(pace.dcqcn.bytes != was);
}

int main(void)
{
	tap_plan(6);
	tap_run(none_without_control);
	tap_run(rate_of_the_program);
	tap_run(in_time);
	tap_run(beside_requests);
	tap_run(acknowledgements_are_free);
	tap_run(counts_for_the_control);
	return tap_exit();
}

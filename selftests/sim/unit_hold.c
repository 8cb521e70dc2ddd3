// SPDX-License-Identifier: GPL-2.0
/* Responder: acknowledgements that are held, and what ends that. */
#include "proto/hold.h"
#include "resp_rig.h"

#define ACK		HRP_SYN_CREDIT_INVALID
/* Requests of a new connection before the first ACK is held. */
#define FRESH		14

/* The next request; packets so far. */
static u32 nr;

static bool is_held(void)
{
	tap_eq(rr_pending(HRP_PENDING_HELD) ||
	       !hrp_resp_is_held(&rr.qp.resp), 1);
	return hrp_resp_is_held(&rr.qp.resp);
}

static void begin(void)
{
	rr_begin(HRP_TYPE_RC);
	rr.nr_recvs = 10000;
	rr.hold = true;
	nr = 0;
}

static void ask(void)
{
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, nr++, 1), HRP_RX_ACCEPT);
}

static void expect_now(void)
{
	rr_expect_ack(nr - 1, ACK, nr);
	rr_expect_nothing();
	tap_ok(!is_held());
}

/* Count the requests that are acknowledged at once, up to one that is not. */
static u32 until_held(u32 max)
{
	u32 n;

	for (n = 0; n < max; n++) {
		ask();
		if (is_held())
			break;
		expect_now();
	}
	return n;
}

static void begin_held(void)
{
	begin();
	until_held(100);
	tap_ok(is_held());
}

static void late(void)
{
	u64 before = rr.counts.v[HROCE_EV_ACKS_LATE];

	rr_expect_nothing();
	hrp_resp_hold_late(&rr.qp);
	expect_now();
	tap_eq(rr.counts.v[HROCE_EV_ACKS_LATE] - before, 1);
}

/* Requests 2 to 4 of a group; the last one is answered for all. */
static void fill_group(void)
{
	u32 i;

	for (i = 2; i < HRP_HOLD_MAX; i++) {
		ask();
		tap_ok(is_held());
		rr_expect_nothing();
	}
	ask();
	expect_now();
}

static void new_connection_holds_none(void)
{
	begin();
	tap_eq(until_held(100), FRESH);
	tap_eq(rr.counts.v[HROCE_EV_ACKS_HELD], 1);
	tap_eq(rr.counts.v[HROCE_EV_ACKS_SENT], FRESH);
}

static void four_share_an_ack(void)
{
	u32 i;

	begin_held();
	for (i = 0; i < 100; i++) {
		fill_group();
		ask();
		tap_ok(is_held());
	}
	tap_eq(rr.counts.v[HROCE_EV_ACKS_SENT], FRESH + 100);
	tap_eq(rr.counts.v[HROCE_EV_ACKS_LATE], 0);
}

/* A peer that waits for each ACK loses time less and less often. */
static void peer_waits_for_each(void)
{
	begin_held();
	late();
	tap_eq(until_held(1000), 62);
	late();
	tap_eq(until_held(1000), 254);
	late();
	tap_eq(until_held(1000), 254);
	late();
}

/* One that has two at a time: the second one is the last to wait for. */
static void peer_waits_for_two(void)
{
	u32 i;

	begin_held();
	ask();
	late();
	for (i = 0; i < 31; i++) {
		ask();
		tap_ok(is_held());
		rr_expect_nothing();
		ask();
		expect_now();
	}
	/* Are there more than two by now? */
	ask();
	tap_ok(is_held());
	fill_group();
}

static void success_makes_it_try_sooner(void)
{
	u32 i;

	begin_held();
	for (i = 0; i < 20; i++) {
		fill_group();
		ask();
	}
	tap_ok(is_held());
	late();
	tap_eq(until_held(1000), 2);
}

static void owner_does_not_allow_it(void)
{
	begin_held();
	rr.hold = false;
	ask();
	expect_now();
	tap_eq(until_held(1000), 1000);
}

static void lists_are_acknowledged_at_once(void)
{
	struct hrp_pkt pkt;
	u32 i, len;

	begin_held();
	fill_group();
	/* 256 packets are 0 in eight bits. */
	for (len = 4; len <= 260; len += 4) {
		for (i = 1; i < len; i++) {
			pkt = rr_request(HRP_OP_SEND_ONLY, nr++, 1);
			pkt.ackreq = 0;
			tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
		}
		rr_expect_nothing();
		ask();
		expect_now();
	}
}

/* In the middle of a message the peer's window is about to be full. */
static void middle_of_a_message_does_not_wait(void)
{
	begin_held();
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, nr++, MTU), HRP_RX_ACCEPT);
	rr_expect_ack(nr - 1, ACK, nr - 1);
	tap_ok(!is_held());
}

static void nak_is_not_held(void)
{
	begin_held();
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, nr + 1, 1), HRP_RX_NAK);
	rr_expect_ack(nr, HRP_NAK_PSN_SEQ, nr);
	rr_expect_nothing();
	tap_ok(!is_held());
	/* The peer sends one packet, and waits for its ACK to send the rest. */
	ask();
	expect_now();
	ask();
	tap_ok(is_held());
}

static void rnr_nak_is_not_held(void)
{
	begin_held();
	rr.nr_recvs = 0;
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, nr, 1), HRP_RX_NAK);
	rr_expect_ack(nr, HRP_SYN_RNR | RNR_CODE, nr);
	tap_ok(!is_held());
	rr.nr_recvs = 10;
	ask();
	expect_now();
}

static void duplicate_is_answered_at_once(void)
{
	begin_held();
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, nr - 1, 1), HRP_RX_DUPLICATE);
	expect_now();
}

static void read_is_the_acknowledgement(void)
{
	begin_held();
	tap_eq(rr_ask(HRP_OP_READ_REQ, nr++, 1), HRP_RX_ACCEPT);
	tap_ok(!is_held());
	rr_expect_read(nr - 1, 1, HRP_OP_READ_RESP_ONLY, 0, 1);
	rr_expect_nothing();
	/* And counts as one. */
	ask();
	tap_ok(is_held());
	fill_group();
}

static void rides_on_a_request(void)
{
	struct hrp_burst b;
	u32 i;

	begin();
	tap_ok(!hrp_resp_ride(&rr.qp, &b));
	until_held(100);
	for (i = 0; i < 10; i++) {
		tap_ok(hrp_resp_ride(&rr.qp, &b));
		tap_eq(b.first.opcode, HRP_OP_ACK);
		tap_eq(b.first.psn, hrp_psn_add(START_PSN, nr - 1));
		tap_eq(b.first.msn, nr);
		tap_eq(b.first.syndrome, ACK);
		tap_eq(b.nr_pkts, 1);
		tap_eq(b.mem.len, 0);
		tap_ok(!is_held());
		rr_expect_nothing();
		tap_ok(!hrp_resp_ride(&rr.qp, &b));
		ask();
		tap_ok(is_held());
	}
	tap_eq(rr.counts.v[HROCE_EV_ACKS_RODE], 10);
	tap_eq(rr.counts.v[HROCE_EV_ACKS_SENT], FRESH + 10);
}

/* It must not overtake the answer to a READ, nor what is about to leave. */
static void does_not_ride_when_due(void)
{
	struct hrp_burst b;

	begin_held();
	hrp_resp_hold_late(&rr.qp);
	tap_ok(!hrp_resp_ride(&rr.qp, &b));
	expect_now();

	begin_held();
	tap_eq(rr_ask(HRP_OP_READ_REQ, nr++, 1), HRP_RX_ACCEPT);
	ask();
	tap_ok(is_held());
	tap_ok(!hrp_resp_ride(&rr.qp, &b));

	begin_held();
	rr.qp.state = HRP_ERR;
	tap_ok(!hrp_resp_ride(&rr.qp, &b));
}

static void is_sent_before_the_end(void)
{
	begin_held();
	tap_ok(hrp_resp_hold_end(&rr.qp));
	rr.qp.state = HRP_ERR;
	rr_expect_ack(nr - 1, ACK, nr);
	rr_expect_nothing();
	tap_ok(!hrp_resp_hold_end(&rr.qp));

	begin_held();
	hrp_resp_reset(&rr.qp);
	tap_ok(!is_held());
	hrp_resp_start(&rr.qp, START_PSN);
	nr = 0;
	tap_eq(until_held(100), FRESH);
}

static void xrc_holds_none(void)
{
	begin();
	rr_begin(HRP_TYPE_XRC_TGT);
	rr.nr_recvs = 10000;
	rr.hold = true;
	rr.qp.resp.srq = 1;
	hrp_resp_start(&rr.qp, START_PSN);
	rr.qp.state = HRP_RTS;
	tap_eq(until_held(1000), 1000);
}

int main(void)
{
	tap_plan(16);
	tap_run(new_connection_holds_none);
	tap_run(four_share_an_ack);
	tap_run(peer_waits_for_each);
	tap_run(peer_waits_for_two);
	tap_run(success_makes_it_try_sooner);
	tap_run(owner_does_not_allow_it);
	tap_run(lists_are_acknowledged_at_once);
	tap_run(middle_of_a_message_does_not_wait);
	tap_run(nak_is_not_held);
	tap_run(rnr_nak_is_not_held);
	tap_run(duplicate_is_answered_at_once);
	tap_run(read_is_the_acknowledgement);
	tap_run(rides_on_a_request);
	tap_run(does_not_ride_when_due);
	tap_run(is_sent_before_the_end);
	tap_run(xrc_holds_none);
	return tap_exit();
}

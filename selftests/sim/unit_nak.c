// SPDX-License-Identifier: GPL-2.0
/* Responder: sequence NAKs that wait for requests which only come late. */
#include <linux/limits.h>
#include "proto/nak.h"
#include "proto/sack.h"
#include "resp_rig.h"

#define ACK	HRP_SYN_CREDIT_INVALID

/* The next request; all are SENDs of one packet. */
static u32 nr;

static u8 arrive(u32 n)
{
	return rr_ask(HRP_OP_SEND_ONLY, n, 8);
}

static void begin(void)
{
	rr_begin(HRP_TYPE_RC);
	rr_keep(U32_MAX);
	rr.nr_recvs = 1000000;
	nr = 0;
}

static u32 held_us(void)
{
	return hrp_nak_wait_us(&rr.qp.resp);
}

/* The next request is overtaken by one. */
static void overtake(void)
{
	tap_eq(arrive(nr + 1), HRP_RX_KEEP);
	tap_eq(rr_drain(U32_MAX), 0);
}

/* It comes, and all is well. */
static void come(void)
{
	tap_eq(arrive(nr), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	rr_expect_ack(nr + 1, ACK, nr + 2);
	rr_expect_nothing();
}

/* A peer that was sent a NAK goes back, and sends both again. */
static void come_again(void)
{
	tap_eq(arrive(nr), HRP_RX_DUPLICATE);
	rr_expect_ack(nr + 1, ACK, nr + 2);
	tap_eq(arrive(nr + 1), HRP_RX_DUPLICATE);
	rr_expect_ack(nr + 1, ACK, nr + 2);
}

/* A request is later than any NAK is held. */
static void be_late(void)
{
	overtake();
	if (held_us()) {
		rr_expect_nothing();
		tap_ok(hrp_nak_due(&rr.qp));
	}
	tap_eq(held_us(), 0);
	tap_ok(!hrp_nak_due(&rr.qp));
	rr_expect_ack(nr, HRP_NAK_PSN_SEQ, nr);
	come();
	come_again();
	nr += 2;
}

/* Requests in their order, until the gap before them is no longer watched. */
static void go_on(void)
{
	struct hrp_burst b;
	u32 i;

	for (i = 0; i < 512; i++, nr++)
		tap_eq(arrive(nr), HRP_RX_ACCEPT);
	while (hrp_resp_next(&rr.qp, &b))
		;
}

/* A request is lost, and sent again after the NAK. */
static void be_lost(void)
{
	overtake();
	if (held_us())
		tap_ok(hrp_nak_due(&rr.qp));
	rr_expect_ack(nr, HRP_NAK_PSN_SEQ, nr);
	come();
	tap_eq(arrive(nr + 1), HRP_RX_DUPLICATE);
	rr_expect_ack(nr + 1, ACK, nr + 2);
	nr += 2;
	go_on();
}

/* A request comes while its NAK is held. */
static void be_in_time(void)
{
	overtake();
	rr_expect_nothing();
	tap_ok(held_us() != 0);
	come();
	tap_eq(held_us(), 0);
	tap_ok(!hrp_nak_due(&rr.qp));
	rr_expect_nothing();
	nr += 2;
}

/* Requests are late until the NAK for the next one would be held for @us. */
static void learn(u32 us)
{
	u32 i;

	for (i = 0; i < 30 && (!rr.qp.resp.nak_step ||
			       64u << (rr.qp.resp.nak_step - 1) < us); i++)
		be_late();
	tap_ok(i < 30);
}

static void losses_draw_their_nak_at_once(void)
{
	u32 i;

	begin();
	for (i = 0; i < 100; i++) {
		overtake();
		tap_eq(held_us(), 0);
		rr_expect_ack(nr, HRP_NAK_PSN_SEQ, nr);
		come();
		nr += 2;
	}
	tap_eq(rr_pending(HRP_PENDING_NAK_HELD), 0);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], 100);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SAVED], 0);
}

static void late_requests_are_waited_for(void)
{
	u64 naks;
	u32 i;

	begin();
	learn(64);
	naks = rr.counts.v[HROCE_EV_NAK_SEQ_SENT];
	for (i = 0; i < 100; i++) {
		be_in_time();
		tap_eq(rr_pending(HRP_PENDING_NAK_HELD), i + 1);
	}
	tap_eq(rr.counts.v[HROCE_EV_NAK_SEQ_SENT], naks);
	tap_eq(rr.counts.v[HROCE_EV_NAK_SAVED], 100);
}

static void they_are_waited_for_longer_if_they_are_later(void)
{
	u32 us;

	begin();
	for (us = 64; us <= 1024; us *= 2) {
		learn(us);
		overtake();
		tap_eq(held_us(), us);
		come();
		nr += 2;
	}
	be_late();
	be_late();
	overtake();
	tap_eq(held_us(), 1024);
}

static void losses_end_it(void)
{
	u32 i;

	begin();
	learn(1024);
	for (i = 0; i < 20 && rr.qp.resp.nak_step; i++)
		be_lost();
	tap_eq(rr.qp.resp.nak_step, 0);
	overtake();
	rr_expect_ack(nr, HRP_NAK_PSN_SEQ, nr);
}

/* One loss in four is too few to end it, two in three are enough. */
static void share_of_losses_decides(void)
{
	u32 i;

	begin();
	learn(256);
	for (i = 0; i < 100; i++) {
		be_in_time();
		be_in_time();
		be_in_time();
		be_lost();
	}
	tap_eq(rr.qp.resp.nak_step, 3);
	for (i = 0; i < 30 && rr.qp.resp.nak_step; i++) {
		be_lost();
		be_lost();
		if (rr.qp.resp.nak_step > 1)
			be_in_time();
	}
	tap_eq(rr.qp.resp.nak_step, 0);
}

/* What comes first is acknowledged before the wait, and not again by it. */
static void ack_that_is_held_is_sent(void)
{
	u32 i;

	begin();
	learn(64);
	rr.hold = true;
	for (i = 0; i < 50 && !hrp_resp_is_held(&rr.qp.resp); i++) {
		tap_eq(arrive(nr++), HRP_RX_ACCEPT);
		if (!hrp_resp_is_held(&rr.qp.resp))
			rr_expect_ack(nr - 1, ACK, nr);
	}
	tap_ok(hrp_resp_is_held(&rr.qp.resp));
	overtake();
	tap_ok(held_us() != 0);
	rr_expect_ack(nr - 1, ACK, nr);
	rr_expect_nothing();
	tap_ok(!hrp_resp_is_held(&rr.qp.resp));
	come();
}

/* Behind a request that came in time another one is missing. */
static void next_gap_waits_too(void)
{
	begin();
	learn(64);
	tap_eq(arrive(nr + 1), HRP_RX_KEEP);
	tap_eq(arrive(nr + 3), HRP_RX_KEEP);
	tap_eq(rr_drain(U32_MAX), 0);
	tap_eq(rr_pending(HRP_PENDING_NAK_HELD), 1);
	tap_eq(arrive(nr), HRP_RX_ACCEPT);
	tap_eq(rr_drain(U32_MAX), 1);
	tap_eq(rr_pending(HRP_PENDING_NAK_HELD), 2);
	rr_expect_ack(nr + 1, ACK, nr + 2);
	rr_expect_nothing();
	tap_ok(hrp_nak_due(&rr.qp));
	rr_expect_ack(nr + 2, HRP_NAK_PSN_SEQ, nr + 2);
}

/* What cannot be kept has to come again in any case. */
static void nothing_kept_draws_a_nak(void)
{
	begin();
	learn(64);
	rr_keep(0);
	tap_eq(arrive(nr + 1), HRP_RX_KEEP);
	tap_eq(held_us(), 0);
	rr_expect_ack(nr, HRP_NAK_PSN_SEQ, nr);
}

/* A peer that takes SACKs judges itself, from the time on that it asks. */
static void not_for_peers_that_take_sacks(void)
{
	static const u8 ask[] = { 'h', 'r', 'o', 'c', 1, 1, 0, 0 };

	begin();
	learn(64);
	overtake();
	tap_ok(held_us() != 0);
	tap_ok(hrp_sack_asked(&rr.qp, ask, sizeof(ask)));
	tap_eq(held_us(), 0);
	tap_ok(!hrp_nak_due(&rr.qp));
}

static void error_ends_it(void)
{
	begin();
	learn(64);
	overtake();
	rr.qp.state = HRP_ERR;
	tap_ok(!hrp_nak_due(&rr.qp));
	rr_expect_nothing();
}

/* The request has come, but there is no receive entry. */
static void it_is_told_to_come_later(void)
{
	begin();
	learn(64);
	overtake();
	tap_ok(held_us() != 0);
	rr.nr_recvs = 0;
	tap_eq(arrive(nr), HRP_RX_NAK);
	rr_expect_ack(nr, HRP_SYN_RNR | RNR_CODE, nr);
	tap_eq(held_us(), 0);
	tap_ok(!hrp_nak_due(&rr.qp));
	rr_expect_nothing();
	rr.nr_recvs = 2;
	come();
}

static void new_connection_knows_nothing(void)
{
	begin();
	learn(1024);
	overtake();
	rr_end();
	hrp_resp_start(&rr.qp, START_PSN);
	tap_eq(held_us(), 0);
	nr = 0;
	overtake();
	rr_expect_ack(nr, HRP_NAK_PSN_SEQ, nr);
}

int main(void)
{
	tap_plan(12);
	tap_run(losses_draw_their_nak_at_once);
	tap_run(late_requests_are_waited_for);
	tap_run(they_are_waited_for_longer_if_they_are_later);
	tap_run(losses_end_it);
	tap_run(share_of_losses_decides);
	tap_run(ack_that_is_held_is_sent);
	tap_run(next_gap_waits_too);
	tap_run(nothing_kept_draws_a_nak);
	tap_run(not_for_peers_that_take_sacks);
	tap_run(error_ends_it);
	tap_run(it_is_told_to_come_later);
	tap_run(new_connection_knows_nothing);
	rr_end();
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * When to hold an acknowledgement (IBTA 9.7.5.1.2: a responder may coalesce
 * them, and AckReq sets no time).
 *
 * One ACK for several messages saves frames, and so does one that leaves in the
 * frame of a request of this side. But a peer that waits for the ACK before it
 * sends the next message loses the time that the ACK is held. The responder
 * cannot know which kind of peer it has, so it tries.
 *
 * An ACK is due at once for @hold_max packets since the last one, otherwise
 * it is held. If its time runs out, holding was of no use: the peer has, or
 * fills, no more than the packets held by then. @hold_max becomes their number,
 * 1 for a peer that waits for each message, and is raised after @hold_wait
 * further requests. That number is about four times larger after each failure,
 * up to 255, and halves with each success.
 */
#include <linux/minmax.h>
#include "hold.h"

/* Requests of a new connection that are acknowledged at once: 2^4 - 1. */
#define HOLD_STEP_FIRST	4
#define HOLD_STEP_MAX	8

static void hold_set_wait(struct hrp_resp *resp, u32 step)
{
	resp->hold_step = step;
	resp->hold_wait = (1 << step) - 1;
}

void hrp_hold_reset(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	hrp_hold_acked(qp, resp->ack_psn);
	resp->hold_max = 1;
	hold_set_wait(resp, HOLD_STEP_FIRST);
	/* An XRC target has no requests for ACKs to ride on. */
	if (qp->type != HRP_TYPE_RC)
		resp->hold_wait = 0;
}

void hrp_hold_paid(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	if (resp->hold_max == HRP_HOLD_MAX && resp->hold_step)
		resp->hold_step--;
}

void hrp_hold_ask(struct hrp_qp *qp, bool may_hold)
{
	struct hrp_resp *resp = &qp->resp;
	u8 pkts = resp->ack_psn - resp->acked;

	if (!may_hold) {
		resp->ack_due = 1;
		return;
	}
	if (resp->hold_wait && !--resp->hold_wait)
		resp->hold_max = HRP_HOLD_MAX;
	/* @pkts is 0 after 256 of them. */
	if ((u8)(pkts - 1) >= resp->hold_max - 1 || resp->ack_due) {
		if (resp->held)
			hrp_hold_paid(qp);
		resp->ack_due = 1;
		return;
	}
	if (!resp->held)
		hrp_set_pending(qp, HRP_PENDING_HELD);
	resp->held = pkts;
	hrp_count(qp, HROCE_EV_ACKS_HELD);
}

bool hrp_resp_hold_end(struct hrp_qp *qp)
{
	if (!qp->resp.held)
		return false;
	qp->resp.ack_due = 1;
	return true;
}

void hrp_resp_hold_late(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	if (!hrp_resp_hold_end(qp))
		return;
	hrp_count(qp, HROCE_EV_ACKS_LATE);
	resp->hold_max = resp->held;
	hold_set_wait(resp, min(resp->hold_step + 2, HOLD_STEP_MAX));
}

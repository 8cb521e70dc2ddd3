/* SPDX-License-Identifier: GPL-2.0 */
/* Acknowledgements that the responder holds, for a moment: see hold.c. */
#ifndef HRP_HOLD_H
#define HRP_HOLD_H

#include "env.h"
#include "resp.h"

/* Packets that one ACK is held for, at most; the last one sends it. */
#define HRP_HOLD_MAX	4

/**
 * hrp_hold_ask - a request asks for an acknowledgement
 * @qp: queue pair; @qp->resp.ack_psn is the PSN of the request
 * @may_hold: the ACK may be held
 *
 * Makes the ACK due, or holds it.
 */
void hrp_hold_ask(struct hrp_qp *qp, bool may_hold);

/**
 * hrp_hold_paid - holding has saved a frame
 * @qp: queue pair
 */
void hrp_hold_paid(struct hrp_qp *qp);

/**
 * hrp_hold_reset - forget what has been learned
 * @qp: queue pair
 */
void hrp_hold_reset(struct hrp_qp *qp);

/**
 * hrp_hold_acked - all requests so far are acknowledged, or about to be
 * @qp: queue pair
 * @psn: of the last one
 */
static inline void hrp_hold_acked(struct hrp_qp *qp, u32 psn)
{
	struct hrp_resp *resp = &qp->resp;

	resp->ack_due = 0;
	resp->acked = psn;
	if (!resp->held)
		return;
	resp->held = 0;
	clear_bit(HRP_PENDING_HELD, &qp->pending);
}

#endif /* HRP_HOLD_H */

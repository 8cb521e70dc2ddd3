/* SPDX-License-Identifier: GPL-2.0 */
/*
 * End-to-end flow control of RC (IBTA 9.7.7.2): receive entries of the peer.
 *
 * An acknowledgement tells for its MSN how many receive entries the responder
 * has: credits. The sum of both is the limit sequence number (LSN). Messages have
 * send sequence numbers (SSN) from 1 on, READs one for each request. One that
 * takes a receive entry and has an SSN beyond the limit is limited: of the first
 * of them a single packet is sent, which asks for an acknowledgement and so for
 * credits. If there is still no entry then, the answer is an RNR NAK.
 *
 * The sequence numbers are kept modulo 2^16: fewer messages are in flight.
 */
#ifndef HRP_E2E_H
#define HRP_E2E_H

#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "pkt.h"
#include "qp.h"

/* The most credits that there is a code for. */
#define HRP_E2E_CREDITS_MAX	32768u

/*
 * What the codes mean. The largest number is one less here, as LSN and SSN have 16
 * bits.
 */
extern const u16 hrp_e2e_credits[HRP_SYN_CREDIT_INVALID];

/**
 * hrp_e2e_code - the credit field for a number of receive entries
 * @credits: entries
 *
 * From 2 on, there are two codes for each power of two: that, and half as much
 * again.
 *
 * Return: the code of the largest number that is not above @credits.
 */
static inline u8 hrp_e2e_code(u32 credits)
{
	u32 shift;

	if (credits < 2)
		return credits;
	credits = min(credits, HRP_E2E_CREDITS_MAX);
	shift = ilog2(credits);
	return 2 * shift + (credits >> (shift - 1) & 1);
}

/**
 * hrp_e2e_acked - the peer has told its credits
 * @req: requester
 * @pkt: ACK, or READ or atomic response with an AETH, of the specification
 *
 * What was granted once stays granted, as the field is rounded down. Until the
 * first acknowledgement nothing is limited.
 *
 * Context: send lock held.
 */
static inline void hrp_e2e_acked(struct hrp_req *req,
				 const struct hrp_pkt *pkt)
{
	u8 code = pkt->syndrome & HRP_SYN_VALUE_MASK;
	u16 lsn;

	if (code == HRP_SYN_CREDIT_INVALID) {
		req->credited = 0;
		return;
	}
	lsn = pkt->msn + hrp_e2e_credits[code];
	if (req->credited && (s16)(lsn - req->lsn) <= 0)
		return;
	req->lsn = lsn;
	req->credited = 1;
}

/**
 * hrp_e2e_is_limited - has the peer no receive entry for a message?
 * @req: requester
 * @w: the message that was begun last, or the one behind it
 *
 * Context: send lock held.
 * Return: true if not, as far as it has told.
 */
static inline bool hrp_e2e_is_limited(const struct hrp_req *req,
				      const struct hrp_wqe *w)
{
	const u32 takes = 1u << HROCE_WR_SEND | 1u << HROCE_WR_SEND_IMM |
			  1u << HROCE_WR_SEND_INV | 1u << HROCE_WR_WRITE_IMM;
	u16 ssn = req->sq.ssn + !w->started;

	return req->credited && (s16)(ssn - req->lsn) > 0 &&
	       takes >> w->wqe.opcode & 1;
}

/**
 * hrp_e2e_room - packets of a limited message that may be sent now
 * @req: requester
 * @w: limited message, which is the next to send
 *
 * Context: send lock held.
 * Return: 1 or 0. If nothing is in flight, 1: a peer that tells too few credits
 * slows the queue pair down, but does not stop it. If the end of what is in flight
 * asks for no acknowledgement, 1, too: this one does.
 */
static inline u32 hrp_e2e_room(const struct hrp_req *req,
			       const struct hrp_wqe *w)
{
	if (!w->started && req->sq.ssn == req->lsn)
		return 1;
	return req->psn == req->psn_una || req->unasked_pkts;
}

#endif /* HRP_E2E_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Gaps at peers that keep the packets behind them: see hole.c. */
#ifndef HRP_HOLE_H
#define HRP_HOLE_H

#include "qp.h"

/*
 * Gaps far apart less gaps near each other, hrp_req.sparse: from this on, gaps
 * do not make the window smaller.
 */
#define HRP_SPARSE	5u

/* Four more near gaps than others are needed at first. */
#define HRP_SPARSE_FIRST	(HRP_SPARSE + 4u)

/**
 * hrp_hole_fill - resend the gap at the oldest unacknowledged packet alone
 * @qp: queue pair whose peer has reported a gap there
 * @now_ns: current time
 *
 * Context: send lock held.
 * Return: true; false if the requester has to go back, which changes nothing.
 */
bool hrp_hole_fill(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_hole_fill_known - resend the gaps that the peer has told of
 * @qp: queue pair whose peer has reported a gap
 * @now_ns: current time
 *
 * Each gap once, and again if it is known to be lost again. Context: send lock
 * held.
 * Return: true; false if gaps are not known, or the requester has to go back,
 * which changes nothing.
 */
bool hrp_hole_fill_known(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_hole_more - resend the next gap that the peer has told of
 * @qp: queue pair; nothing is about to be resent
 * @now_ns: current time
 *
 * Context: send lock held.
 * Return: true if @qp->req.rtx_pkts is not 0 now.
 */
bool hrp_hole_more(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_hole_asks - ask for selective acknowledgements when a request with an
 *	answer was lost
 * @req: requester that goes back
 *
 * If the peer tells, it does so alone the next time. Context: send lock held.
 */
void hrp_hole_asks(struct hrp_req *req);

/**
 * hrp_hole_lost - the peer lacks a request, and keeps what came behind it
 * @req: requester with @req->sack
 * @psn: of the request, in flight; all before it have been executed
 * @now_ns: current time
 *
 * If the request has an answer, hrp_hole_fill_known() sends it again, alone.
 * Context: send lock held.
 */
void hrp_hole_lost(struct hrp_req *req, u32 psn, u64 now_ns);

/* Is it still to be sent again? Context: send lock held. */
bool hrp_hole_lost_waits(const struct hrp_req *req);

/**
 * hrp_hole_probe - resend the oldest packet, or ask for the oldest answer again
 * @req: requester; something is in flight, and no answer has come in time
 *
 * Context: send lock held.
 * Return: true if @req->rtx_pkts is not 0 now; false if nothing is known of a
 * long answer, which is not drawn twice so soon.
 */
bool hrp_hole_probe(struct hrp_req *req);

/**
 * hrp_hole_learn - an acknowledgement covers packets that were not resent
 * @req: requester that went back because of a NAK
 * @nr_pkts: PSNs that were resent before the acknowledgement, at least 1
 *
 * Context: send lock held.
 */
void hrp_hole_learn(struct hrp_req *req, u32 nr_pkts);

/**
 * hrp_hole_window - packets that may be in flight while there are gaps
 * @req: requester that recovers or knows of gaps, whose peer keeps packets
 *
 * Context: send lock held.
 * Return: see hrp_req_window().
 */
u32 hrp_hole_window(const struct hrp_req *req);

#endif /* HRP_HOLE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by requester and completer. Context: send lock held. */
#ifndef HRP_REQ_PRIV_H
#define HRP_REQ_PRIV_H

#include "masked.h"
#include "psn.h"
#include "qp.h"

/*
 * Response packets that one READ request asks for at most. A longer READ is
 * asked for piece by piece, so that its PSNs stay within half of the valid
 * region (IBTA 9.7.1): 2^31 bytes in packets of 256 would fill all of it.
 */
#define HRP_READ_CHUNK	(1u << 22)

/* Is the answer an ATOMIC Acknowledge? */
static inline bool hrp_wqe_is_atomic(const struct hrp_wqe *w)
{
	return w->wqe.opcode == HROCE_WR_CMP_SWAP ||
	       w->wqe.opcode == HROCE_WR_FETCH_ADD || hrp_wqe_is_masked(w);
}

/*
 * READs, atomics, ATOMIC WRITE and FLUSH: the responder answers each with
 * packets of its own.
 */
static inline bool hrp_wqe_is_answered(const struct hrp_wqe *w)
{
	return w->wqe.opcode == HROCE_WR_READ || hrp_wqe_is_atomic(w) ||
	       w->wqe.opcode == HROCE_WR_ATOMIC_WRITE ||
	       w->wqe.opcode == HROCE_WR_FLUSH;
}

/*
 * Losses do not make the congestion window smaller than this: random loss must
 * not stop a connection, and a queue that has no room for so little is not one.
 */
#define HRP_CWND_MIN	16u

/*
 * Packets that may be in flight. After going back it is one, until that is
 * acknowledged: what was sent behind the gap still fills the queues of the path
 * and is of no use to the peer, and the acknowledgement comes after all of it.
 * So it is with a peer that was not ready.
 */
static inline u32 hrp_req_window(const struct hrp_req *req)
{
	return req->rnr_row || req->went_back ? 1 : req->cwnd_pkts;
}

/* Is something sent and not acknowledged? */
static inline bool hrp_req_is_pending(const struct hrp_req *req)
{
	return req->psn_una != req->psn_max;
}

/* PSNs in flight. */
static inline u32 hrp_req_dist(const struct hrp_req *req)
{
	return (req->psn - req->psn_una) & HRP_PSN_MASK;
}

/**
 * hrp_req_is_refused_long - has the local stack refused all for too long?
 * @req: requester whose timer is HRP_TIMER_ROOM
 * @now_ns: current time
 *
 * A local ACK timeout without progress is one, whether packets were lost or
 * none was accepted. It begins anew when this returns true.
 *
 * Return: true if a local ACK timeout has passed.
 */
bool hrp_req_is_refused_long(struct hrp_req *req, u64 now_ns);

/**
 * hrp_req_rewind - make the oldest unacknowledged packet the next to send
 * @req: requester
 */
void hrp_req_rewind(struct hrp_req *req);

/**
 * hrp_req_shrink - make the congestion window smaller
 * @req: requester
 * @cwnd_pkts: what it should be; it does not grow, and HRP_CWND_MIN remains
 */
void hrp_req_shrink(struct hrp_req *req, u32 cwnd_pkts);

/**
 * hrp_req_rearm - let the timer run if there is something to wait for
 * @req: requester
 * @now_ns: current time
 *
 * Begins the local ACK timeout anew; ends the wait for a peer not ready.
 */
void hrp_req_rearm(struct hrp_req *req, u64 now_ns);

/**
 * hrp_req_wait_mem - send nothing until hrp_req_mem_ready()
 * @req: requester
 * @oldest: the oldest entry waits; otherwise that of the last burst
 */
void hrp_req_wait_mem(struct hrp_req *req, bool oldest);

/**
 * hrp_req_complete - complete the oldest entry and local operations behind it
 * @qp: queue pair
 */
void hrp_req_complete(struct hrp_qp *qp);

/**
 * hrp_req_fail - complete the oldest entry in error and stop sending
 * @qp: queue pair in state RTS or SQD; an entry is taken
 * @result: enum hroce_wc_status or enum hroce_cause
 */
void hrp_req_fail(struct hrp_qp *qp, u8 result);

/**
 * hrp_req_retry - send again from the oldest unacknowledged packet
 * @qp: queue pair; something is pending
 * @now_ns: current time
 *
 * Return: true; false if no retry was left and the request has failed.
 */
bool hrp_req_retry(struct hrp_qp *qp, u64 now_ns);

#endif /* HRP_REQ_PRIV_H */

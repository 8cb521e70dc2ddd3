/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by requester and completer. Context: send lock held. */
#ifndef HRP_REQ_PRIV_H
#define HRP_REQ_PRIV_H

#include <linux/compiler.h>
#include "cc.h"
#include "hole.h"
#include "masked.h"
#include "psn.h"
#include "qp.h"
#include "sack.h"
#include "table.h"

/*
 * A longer READ is split into several requests, of 2^chunk_shift response
 * packets each: the peer sends all that one request asks for at once, whatever
 * the path can take. With more than 2^22 packets the PSNs would leave half of
 * the valid region (IBTA 9.7.1).
 */
#define HRP_READ_MIN_SHIFT	4u
#define HRP_READ_MAX_SHIFT	22u

/* READ requests that together fill the congestion window. */
#define HRP_READS_PER_CWND	4u

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
 * Losses do not shrink the congestion window below this: random loss must not
 * stall a connection, and every real queue has room for so few packets.
 */
#define HRP_CWND_MIN	16u
static_assert(HRP_CWND_MIN == 1u << HRP_READ_MIN_SHIFT);

/*
 * If a probe has drawn no answer, either, no packet of this queue pair is in a
 * queue any more, and a few are resent each time: a path that loses several
 * packets in a row may lose a single one each time.
 */
#define HRP_SILENT_PKTS		4u

/* After so many expiries in a row, as many answers are drawn, which may be long. */
#define HRP_LONG_SILENCE	3u

static inline bool hrp_req_is_silence(const struct hrp_req *req)
{
	return req->probed && req->backoff;
}

/*
 * Packets that may be in flight. After going back for a NAK only one, until it is
 * acknowledged: packets sent behind the gap still fill the queues of the path,
 * the peer drops them, and the acknowledgement comes after all of them. The
 * same applies after an RNR NAK. After silence the queues are empty.
 */
static inline u32 hrp_req_window(const struct hrp_req *req)
{
	if (likely(!req->troubled))
		return req->cwnd_pkts;
	if (req->rnr_row)
		return 1;
	if (req->went_back)
		return hrp_req_is_silence(req) ? HRP_SILENT_PKTS : 1;
	if (req->keeps && (req->recovering || hrp_sack_is_active(req)))
		return hrp_hole_window(req);
	return req->cwnd_pkts;
}

/* Does a request of the READ ask for packets from @offset on? */
static inline bool hrp_req_read_begins(const struct hrp_wqe *w, u32 offset)
{
	return !(offset & ((1u << w->chunk_shift) - 1));
}

/*
 * Has the peer executed the request of the READ @w that packet @psn of the
 * answer belongs to? It may have, if this is false.
 */
static inline bool hrp_req_is_executed(const struct hrp_req *req,
				       const struct hrp_wqe *w, u32 psn)
{
	return !hrp_req_read_begins(w, (psn - w->first_psn) & HRP_PSN_MASK) ||
	       (req->sack && hrp_psn_diff(req->sack->acked, psn) > 0);
}

/* PSNs in flight. */
static inline u32 hrp_req_dist(const struct hrp_req *req)
{
	return (req->psn - req->psn_una) & HRP_PSN_MASK;
}

/* Unit of @since. */
#define HRP_QUIET_UNIT_NS	4096u

/* Times so far ahead are in the future. */
#define HRP_QUIET_MAX		0xf0000000u

static inline u32 hrp_req_clock(u64 now_ns)
{
	return now_ns / HRP_QUIET_UNIT_NS;
}

/*
 * Time since @since: without progress, or since the local stack began to refuse
 * all frames.
 */
static inline u64 hrp_req_quiet_ns(const struct hrp_req *req, u64 now_ns)
{
	u32 quiet = hrp_req_clock(now_ns) - req->since;

	return quiet < HRP_QUIET_MAX ? (u64)quiet * HRP_QUIET_UNIT_NS : 0;
}

/*
 * Has a local ACK timeout passed without progress? It counts as one, whether
 * packets were lost or refused.
 */
static inline bool hrp_req_is_overdue(const struct hrp_req *req, u64 now_ns)
{
	return req->timeout && hrp_req_quiet_ns(req, now_ns) >=
			       hrp_timeout_ns(req->timeout);
}

/**
 * hrp_req_rewind - make the oldest unacknowledged packet the next to send
 * @req: requester
 */
void hrp_req_rewind(struct hrp_req *req);

/**
 * hrp_req_shrink - make the congestion window smaller
 * @req: requester
 * @cwnd_pkts: new limit, raised to HRP_CWND_MIN; does not enlarge the window
 */
void hrp_req_shrink(struct hrp_req *req, u32 cwnd_pkts);

/**
 * hrp_req_rearm - run the timer if packets are unacknowledged
 * @req: requester
 * @now_ns: current time
 *
 * Restarts the retransmission timeout, but not the local ACK timeout; ends the
 * wait after an RNR NAK.
 */
static inline void hrp_req_rearm(struct hrp_req *req, u64 now_ns)
{
	if (unlikely(req->timer == HRP_TIMER_MEM))
		return;
	req->timer = req->psn_una == req->psn_max ? HRP_TIMER_OFF :
						    HRP_TIMER_ACK;
	req->timer_ns = now_ns;
}

/**
 * hrp_req_restart - the same, and restart the local ACK timeout
 * @req: requester
 * @now_ns: current time
 */
static inline void hrp_req_restart(struct hrp_req *req, u64 now_ns)
{
	req->since = hrp_req_clock(now_ns);
	hrp_req_rearm(req, now_ns);
}

/**
 * hrp_req_stop_timers - stop the timers of the protocol and of pacing
 * @req: requester
 */
void hrp_req_stop_timers(struct hrp_req *req);

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
static inline void hrp_req_complete(struct hrp_qp *qp)
{
	struct hrp_req *req = &qp->req;
	struct hrp_sq *sq = &req->sq;
	const struct hrp_wqe *w;

	do {
		w = hrp_sq_release(sq);
		if (w->wqe.flags & HROCE_WRF_SIGNALED)
			hrp_sq_report(qp, w, HROCE_WC_SUCCESS);
	} while (sq->tail != sq->head && hrp_sq_wqe(sq, sq->tail)->done);
	/* After a rewind, sq.next may be behind entries completed here. */
	if (sq->next - sq->tail > sq->head - sq->tail) {
		sq->next = sq->tail;
		req->offset = 0;
	}
}

/**
 * hrp_req_fail - complete the oldest entry in error and stop sending
 * @qp: queue pair in state RTS or SQD; an entry is taken
 * @result: enum hroce_wc_status or enum hroce_cause
 */
void hrp_req_fail(struct hrp_qp *qp, u8 result);

/**
 * hrp_req_resends - the oldest packet in flight was lost, and is sent again
 * @qp: queue pair
 * @now_ns: current time
 *
 * NAKs of it are ignored for a round trip. Restarts the retransmission timeout.
 */
void hrp_req_resends(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_req_go_back - send again from the oldest unacknowledged packet
 * @qp: queue pair; something is pending
 * @now_ns: current time
 *
 * One packet is sent, and more when it is acknowledged.
 */
void hrp_req_go_back(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_req_resend_all - the same, as many as the window allows at once
 * @qp: queue pair; something is pending
 * @now_ns: current time
 *
 * If the peer is known to have none of them.
 */
void hrp_req_resend_all(struct hrp_qp *qp, u64 now_ns);

#endif /* HRP_REQ_PRIV_H */

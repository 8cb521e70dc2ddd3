/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requester and completer: send work requests in, packets out, responses in,
 * completions out (IBTA 9.7, RC; 9.8, UC and UD).
 *
 * One context at a time calls hrp_req_next(): the holder of the requester
 * token, which the owner of the QP manages. It holds the send lock and may drop
 * it before it transmits the burst: memory that the burst refers to stays
 * unchanged until that context calls hrp_req_next() again.
 */
#ifndef HRP_REQ_H
#define HRP_REQ_H

#include "burst.h"
#include "qp.h"
#include "rx.h"

/* Result of hrp_req_next(). */
enum hrp_next {
	HRP_NEXT_BURST,		/* send the burst, then call again */
	HRP_NEXT_IDLE,		/* nothing posted; the next post kicks */
	HRP_NEXT_WAIT,		/* blocked until an ACK or the timer */
	HRP_NEXT_AGAIN,		/* nothing to send yet; call again later */
};

/**
 * hrp_req_reset - discard all state, for the transition to RESET
 * @qp: queue pair; @qp->req.sq, which describes its rings, is kept
 *
 * Entries still in the ring are skipped. Context: send lock held.
 */
void hrp_req_reset(struct hrp_qp *qp);

/**
 * hrp_req_start - begin to send, for the transition to RTS
 * @qp: queue pair; @qp->req's attributes are set
 * @psn: first PSN
 *
 * Context: send lock held.
 */
void hrp_req_start(struct hrp_qp *qp, u32 psn);

/**
 * hrp_req_next - the next packets to send
 * @qp: queue pair
 * @now_ns: current time
 * @b: filled in if HRP_NEXT_BURST is returned
 *
 * Takes entries from the ring as needed: copies and checks them, and executes
 * local operations. An entry that fails puts the queue pair into the error
 * state (SQE for UC and UD) after all earlier entries are complete. Before it
 * returns HRP_NEXT_IDLE it sets need_kick and checks the ring again; otherwise
 * need_kick is 0. In state SQD no message is begun: call again when the state
 * is left. In a state that does not send it does nothing and returns
 * HRP_NEXT_IDLE.
 *
 * It returns HRP_NEXT_AGAIN after a limited number of entries, which limits the
 * local operations per call.
 *
 * Context: send lock held, by the holder of the requester token.
 * Return: see enum hrp_next.
 */
enum hrp_next hrp_req_next(struct hrp_qp *qp, u64 now_ns, struct hrp_burst *b);

/**
 * hrp_req_ask - request an acknowledgement, as nothing follows for some time
 * @qp: reliable queue pair
 * @b: the last burst from hrp_req_next(), not sent yet
 *
 * Else a peer that is waited for might not know it. Context: send lock held, by
 * the holder of the requester token.
 */
void hrp_req_ask(struct hrp_qp *qp, struct hrp_burst *b);

/* For hrp_req_sent(): there is something to do. */
void hrp_req_sent_slow(struct hrp_qp *qp, const struct hrp_burst *b, u8 status);

/**
 * hrp_req_sent - report the result of a burst
 * @qp: queue pair
 * @b: the last burst from hrp_req_next(), perhaps after hrp_burst_cut()
 * @status: SUCCESS, even if the network dropped the burst; otherwise enum
 *	hroce_wc_status for the work request, whose memory could not be read.
 *	HRP_MEM_FAULT: nothing is sent until hrp_req_mem_ready()
 *
 * Completes UC and UD requests whose last packet is out. Context: send lock
 * held, by the holder of the requester token.
 */
static inline void hrp_req_sent(struct hrp_qp *qp, const struct hrp_burst *b,
				u8 status)
{
	if (!hrp_qp_is_reliable(qp) || unlikely(status != HROCE_WC_SUCCESS))
		hrp_req_sent_slow(qp, b, status);
}

/**
 * hrp_req_refused - the local stack had no room for a frame
 * @qp: reliable queue pair
 * @psn: PSN of the first packet of the frame
 * @now_ns: current time
 *
 * No packet after @psn was sent either. They are sent when the peer
 * acknowledges earlier packets, or after a delay. If neither makes progress for
 * a local ACK timeout, that counts as a timeout.
 *
 * Context: send lock held, by the holder of the requester token, after
 * hrp_req_sent().
 */
void hrp_req_refused(struct hrp_qp *qp, u32 psn, u64 now_ns);

/**
 * hrp_req_mem_ready - missing memory has been fetched
 * @qp: queue pair; HRP_MEM_FAULT was reported before
 * @now_ns: current time
 * @ok: false if the fetch failed; the request then fails
 *
 * Context: send lock held.
 * Return: true if the caller should call hrp_req_next() and update the timer.
 */
bool hrp_req_mem_ready(struct hrp_qp *qp, u64 now_ns, bool ok);

/**
 * hrp_req_deadline - time for the next hrp_req_timeout()
 * @req: requester
 *
 * Each call into the requester may change it. The timer may be late, never
 * early.
 * Context: send lock held.
 * Return: time in ns; 0: never.
 */
u64 hrp_req_deadline(const struct hrp_req *req);

/**
 * hrp_req_excuse - the peer has answered, but its answer is held back locally
 * @qp: queue pair
 * @now_ns: current time
 *
 * If the timer has expired, restarts the local ACK timeout without using up a
 * retry. A paced requester calls it, too: the timeout restarts when it has
 * credit to resend.
 * Context: send lock held.
 */
void hrp_req_excuse(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_req_gives_up - would hrp_req_timeout() fail the oldest request?
 * @req: requester
 * @now_ns: current time
 *
 * Context: send lock held.
 * Return: true if the last local ACK timeout has passed without progress.
 */
bool hrp_req_gives_up(const struct hrp_req *req, u64 now_ns);

/**
 * hrp_req_timeout - the timer expired
 * @qp: queue pair
 * @now_ns: current time
 *
 * Does nothing if the deadline was moved meanwhile. Otherwise resends the oldest
 * unacknowledged packet alone, goes back to it, completes its request with
 * RETRY_EXC_ERR, or lets a paced requester send again.
 *
 * Context: send lock held.
 * Return: true if hrp_req_next() should be called.
 */
bool hrp_req_timeout(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_req_moved - the way that requests took is known to be broken
 * @qp: queue pair; they take another one from now on
 * @now_ns: current time
 *
 * What is in flight counts as lost, and is sent again. Context: send lock held;
 * the caller should call hrp_req_next() and update the timer.
 */
void hrp_req_moved(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_comp_begin - a response arrived: decide
 * @qp: queue pair
 * @pkt: response, its ICRC perhaps not yet checked
 * @rx: decision; see struct hrp_rx
 *
 * Changes nothing. Context: send lock held until hrp_comp_commit().
 */
void hrp_comp_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		    struct hrp_rx *rx);

/**
 * hrp_comp_credits - take the credits that an acknowledgement tells
 * @qp: queue pair
 * @pkt: acknowledgement, ICRC correct
 *
 * For those that are not, or not at once, processed by hrp_comp_commit(). NAKs,
 * and what hroce peers tell each other, have none.
 * Context: send lock held.
 */
void hrp_comp_credits(struct hrp_qp *qp, const struct hrp_pkt *pkt);

/**
 * hrp_comp_commit - a response arrived: act
 * @qp: queue pair
 * @pkt: the same response, ICRC correct
 * @rx: the same decision
 * @now_ns: current time
 * @status: result of placing @rx->mem; SUCCESS if there was nothing to place.
 *	HRP_MEM_FAULT: after hrp_req_mem_ready() the peer is asked again
 *
 * Context: send lock held since hrp_comp_begin().
 * Return: true if the caller should call hrp_req_next() and update the timer;
 * the deadline may be earlier than before.
 */
bool hrp_comp_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		     const struct hrp_rx *rx, u64 now_ns, u8 status);

/**
 * hrp_req_is_drained - are all entries complete that were begun (10.3.1.5)?
 * @req: requester
 *
 * Context: send lock held.
 * Return: true if so: in SQD, the send queue is drained.
 */
bool hrp_req_is_drained(const struct hrp_req *req);

/**
 * hrp_req_drain - the queue pair enters state SQD
 * @qp: queue pair; an XRC target, which has no send queue, is drained at once
 * @notify: raise SQ_DRAINED once all entries are complete that were begun
 *
 * hrp_req_next() must follow.
 * Context: send lock held.
 */
void hrp_req_drain(struct hrp_qp *qp, bool notify);

/**
 * hrp_req_flush - complete everything with WR_FLUSH_ERR
 * @qp: queue pair in state ERR or SQE
 * @max: most entries to complete
 *
 * Also takes entries left in the ring. Call again for every later kick, and
 * until it returns less than @max.
 * Context: send lock held, by the holder of the requester token.
 * Return: entries completed.
 */
u32 hrp_req_flush(struct hrp_qp *qp, u32 max);

#endif /* HRP_REQ_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Responder: requests in; completions, acknowledgements and READ responses
 * out (IBTA 9.7.4, 9.7.5 RC; 9.8.2 UC; 9.8.3 UD).
 */
#ifndef HRP_RESP_H
#define HRP_RESP_H

#include "burst.h"
#include "keep.h"
#include "qp.h"
#include "rx.h"

/**
 * hrp_resp_reset - discard all state, for the transition to RESET
 * @qp: queue pair; the memory of @qp->resp.rwqe and @qp->resp.rd stays
 *
 * Context: receive lock held.
 */
void hrp_resp_reset(struct hrp_qp *qp);

/**
 * hrp_resp_start - begin to receive, for the transition to RTR
 * @qp: queue pair; @qp->resp's attributes are set
 * @psn: first PSN expected
 *
 * Context: receive lock held.
 */
void hrp_resp_start(struct hrp_qp *qp, u32 psn);

/**
 * hrp_resp_is_delicate - must the ICRC be checked before hrp_resp_begin()?
 * @pkt: request
 *
 * XRC: the first and the last packet of a message may take a receive entry from
 * the SRQ that they name. A corrupted number would take it from another SRQ.
 *
 * Return: true if hrp_resp_begin() requires a correct ICRC.
 */
static inline bool hrp_resp_is_delicate(const struct hrp_pkt *pkt)
{
	return pkt->info & HRP_OI_XRCETH &&
	       pkt->info & (HRP_OI_FIRST | HRP_OI_LAST);
}

/**
 * hrp_resp_begin - a request arrived: decide
 * @qp: queue pair
 * @pkt: request, its ICRC perhaps not yet checked, unless it is delicate
 * @rx: decision; see struct hrp_rx
 *
 * Changes nothing, except that it may take a receive entry into
 * @qp->resp.rwqe for this or the next message.
 * Context: receive lock held until hrp_resp_commit().
 */
void hrp_resp_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		    struct hrp_rx *rx);

/**
 * hrp_resp_commit - a request arrived: act
 * @qp: queue pair
 * @pkt: the same request, ICRC correct
 * @rx: the same decision
 * @status: result of placing @rx->mem; SUCCESS if there was nothing to place.
 *	LOC_PROT_ERR if the memory of the receive entry is not accessible,
 *	REM_ACCESS_ERR if that of a WRITE is not; HRP_MEM_FAULT if it is being
 *	fetched. If the verdict is KEEP: SUCCESS after hrp_keep_put(), anything
 *	else if the owner does not keep the request
 *
 * Executes atomics, invalidates keys, completes receive entries, records the
 * answers that are due. Context: receive lock held since hrp_resp_begin().
 */
void hrp_resp_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		     const struct hrp_rx *rx, u8 status);

/**
 * hrp_resp_next_kept - take the kept request whose turn it is
 * @qp: queue pair that has kept requests
 *
 * Stale ones are gone, see hrp_keep_take_stale(). The caller passes the request
 * to hrp_resp_begin() and hrp_resp_commit() as if it came now. If a request is
 * missing before the next kept one, a NAK becomes due, once.
 *
 * Context: receive lock held.
 * Return: request, of which the caller is the owner now; or NULL. If then
 * hrp_keep_is_over(), the caller must call hrp_keep_close().
 */
struct hrp_kept *hrp_resp_next_kept(struct hrp_qp *qp);

/**
 * hrp_resp_next - the next packets to answer with
 * @qp: queue pair
 * @b: filled in if true is returned; self-contained but for the map of a
 *	selective acknowledgement, see hrp_sack_fill()
 *
 * In order: responses to READs and atomics, then one acknowledgement or NAK for
 * all other requests so far. Called until it returns false, by one context at a
 * time (the holder of the responder token), which transmits after dropping the
 * lock.
 *
 * Context: receive lock held.
 * Return: true if there is a burst to send.
 */
bool hrp_resp_next(struct hrp_qp *qp, struct hrp_burst *b);

/**
 * hrp_resp_next_paced - the same, for a queue pair that may have a rate
 * @qp: queue pair
 * @now_ns: current time
 * @b: as above
 *
 * Context: receive and send lock held.
 * Return: true if there is a burst to send; false if there is none, or none
 * before hrp_pace_answers_at().
 */
bool hrp_resp_next_paced(struct hrp_qp *qp, u64 now_ns, struct hrp_burst *b);

/**
 * hrp_resp_is_due - is there an answer to send now?
 * @resp: responder
 *
 * Context: receive lock held.
 * Return: true if hrp_resp_next() may have a burst.
 */
static inline bool hrp_resp_is_due(const struct hrp_resp *resp)
{
	return resp->ack_due || resp->nak_due || resp->mtu_due ||
	       resp->rd_reply != resp->rd_head;
}

/**
 * hrp_resp_is_held - is an ACK held?
 * @resp: responder
 *
 * hrp_resp_commit() may hold an ACK if its caller allows it (hrp_rx.hold), and
 * then sets HRP_PENDING_HELD. hrp_resp_next() does not return it. The owner
 * must bound the time: after that it calls hrp_resp_hold_late().
 * HRP_PENDING_HELD is cleared when the ACK is sent or no longer needed.
 *
 * Context: receive lock held.
 * Return: true if so.
 */
static inline bool hrp_resp_is_held(const struct hrp_resp *resp)
{
	return resp->held;
}

/**
 * hrp_resp_hold_late - an ACK has been held for too long
 * @qp: queue pair
 *
 * Makes the ACK due, and holds fewer of them from now on. Does nothing if none
 * is held. Call hrp_resp_next() afterwards. Context: receive lock held.
 */
void hrp_resp_hold_late(struct hrp_qp *qp);

/**
 * hrp_resp_hold_end - no ACK may be held any longer
 * @qp: queue pair, about to change its state
 *
 * Call hrp_resp_next() afterwards. Context: receive lock held.
 * Return: true if an ACK was held. It is due now.
 */
bool hrp_resp_hold_end(struct hrp_qp *qp);

/**
 * hrp_resp_ride - send the ACK that is held along with a request
 * @qp: queue pair
 * @b: filled in if true is returned; self-contained
 *
 * For a requester that has room for an ACK in its frame. The caller must
 * transmit @b. Responses that are sent meanwhile may overtake it: it is stale
 * then, and the peer ignores it.
 *
 * Context: receive lock held, and no context holds the responder token: ACKs
 * must not overtake the answer to a READ.
 * Return: true if there is such an ACK.
 */
bool hrp_resp_ride(struct hrp_qp *qp, struct hrp_burst *b);

/**
 * hrp_resp_sent - report the result of a burst
 * @qp: queue pair
 * @b: burst from hrp_resp_next()
 * @status: SUCCESS, even if the network dropped the burst; REM_ACCESS_ERR if
 *	the memory of a READ is gone: the peer gets a NAK; HRP_MEM_FAULT if it
 *	is being fetched: no answer is sent until hrp_resp_read_ready()
 *
 * Context: receive lock held, by the holder of the responder token.
 */
void hrp_resp_sent(struct hrp_qp *qp, const struct hrp_burst *b, u8 status);

/**
 * hrp_resp_read_ready - fetching the memory of a READ has ended
 * @qp: queue pair; HRP_MEM_FAULT was reported to hrp_resp_sent()
 * @ok: false if the fetch failed; the peer then gets a NAK
 *
 * Call hrp_resp_next() afterwards. Context: receive lock held.
 */
void hrp_resp_read_ready(struct hrp_qp *qp, bool ok);

/**
 * hrp_resp_place_failed - the memory for a request cannot be fetched
 * @qp: queue pair; HRP_MEM_FAULT was reported to hrp_resp_commit()
 *
 * The peer was told to send again; the resent request will be refused.
 * Context: receive lock held.
 */
void hrp_resp_place_failed(struct hrp_qp *qp);

/**
 * hrp_resp_flush - complete all receive entries with WR_FLUSH_ERR
 * @qp: queue pair in state ERR
 * @max: most entries to complete
 *
 * Completes the entry in use and, without an SRQ, all posted ones. Call again
 * after later posts, and until it returns less than @max. Raises LAST_WQE last.
 * Context: receive lock held.
 * Return: entries completed.
 */
u32 hrp_resp_flush(struct hrp_qp *qp, u32 max);

#endif /* HRP_RESP_H */

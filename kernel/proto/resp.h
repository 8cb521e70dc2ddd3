/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Responder: requests in; completions, acknowledgements and READ responses
 * out (IBTA 9.7.4, 9.7.5 RC; 9.8.2 UC; 9.8.3 UD).
 */
#ifndef HRP_RESP_H
#define HRP_RESP_H

#include "burst.h"
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
 *	fetched
 *
 * Executes atomics, invalidates keys, completes receive entries, records the
 * answers that are due. Context: receive lock held since hrp_resp_begin().
 */
void hrp_resp_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		     const struct hrp_rx *rx, u8 status);

/**
 * hrp_resp_next - the next packets to answer with
 * @qp: queue pair
 * @b: filled in if true is returned; self-contained
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

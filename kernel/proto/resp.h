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
 * hrp_resp_reset - forget everything, as in the transition to RESET
 * @qp: queue pair; the memory of @qp->resp.rwqe and @qp->resp.rd stays
 *
 * Context: receive lock held.
 */
void hrp_resp_reset(struct hrp_qp *qp);

/**
 * hrp_resp_start - begin to receive, as in the transition to RTR
 * @qp: queue pair; @qp->resp's attributes are set
 * @psn: first PSN expected
 *
 * Context: receive lock held.
 */
void hrp_resp_start(struct hrp_qp *qp, u32 psn);

/**
 * hrp_resp_is_delicate - must the ICRC be known before anything is decided?
 * @pkt: request
 *
 * XRC: what begins or ends a message may take a receive entry, and says itself
 * from which SRQ. With a damaged number it would take one of somebody else's.
 *
 * Return: true if hrp_resp_begin() is only to be called with a correct ICRC.
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
 * @status: of placing @rx->mem; SUCCESS if there was nothing to place.
 *	LOC_PROT_ERR if the receive entry's memory is not accessible, REM_ACCESS_ERR
 *	if it is that of a WRITE; HRP_MEM_FAULT if it is being fetched
 *
 * Executes atomics, invalidates keys, completes receive entries, notes what is
 * to be answered. Context: receive lock held since hrp_resp_begin().
 */
void hrp_resp_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		     const struct hrp_rx *rx, u8 status);

/**
 * hrp_resp_next - the next packets to answer with
 * @qp: queue pair
 * @b: filled in if true is returned; self-contained
 *
 * In order: responses to READs and atomics, then one acknowledgement or NAK
 * for all that came. Called until it returns false, by one context at a time
 * (the responder token), which transmits after dropping the lock.
 *
 * Context: receive lock held.
 * Return: true if there is a burst to send.
 */
bool hrp_resp_next(struct hrp_qp *qp, struct hrp_burst *b);

/**
 * hrp_resp_sent - report what became of a burst
 * @qp: queue pair
 * @b: burst from hrp_resp_next()
 * @status: SUCCESS, also if the network dropped it; REM_ACCESS_ERR if the
 *	memory of a READ is gone: the peer gets a NAK; HRP_MEM_FAULT if it is
 *	being fetched: nothing is answered until hrp_resp_read_ready()
 *
 * Context: receive lock held, by the holder of the responder token.
 */
void hrp_resp_sent(struct hrp_qp *qp, const struct hrp_burst *b, u8 status);

/**
 * hrp_resp_read_ready - the memory of a READ has been fetched
 * @qp: queue pair; HRP_MEM_FAULT was reported to hrp_resp_sent()
 * @ok: false if it cannot be: the peer gets a NAK
 *
 * hrp_resp_next() should be called. Context: receive lock held.
 */
void hrp_resp_read_ready(struct hrp_qp *qp, bool ok);

/**
 * hrp_resp_place_failed - what the peer wants to write cannot be fetched
 * @qp: queue pair; HRP_MEM_FAULT was reported to hrp_resp_commit()
 *
 * It was told to send again; the request will be refused then.
 * Context: receive lock held.
 */
void hrp_resp_place_failed(struct hrp_qp *qp);

/**
 * hrp_resp_flush - complete all receive entries with WR_FLUSH_ERR
 * @qp: queue pair in state ERR
 * @max: most entries to complete
 *
 * The one in use and, unless they belong to an SRQ, all posted ones; to be
 * called again after later posts, and until it returns less than @max. LAST_WQE
 * comes last. Context: receive lock held.
 * Return: entries completed.
 */
u32 hrp_resp_flush(struct hrp_qp *qp, u32 max);

#endif /* HRP_RESP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requester and completer: send work requests in, packets out, responses in,
 * completions out (IBTA 9.7, RC; 9.8, UC and UD).
 *
 * Context. hrp_req_next() is called by one context at a time,
 * the holder of a token that the owner of the QP keeps. It calls with the send
 * lock held and may transmit the burst after dropping it: the memory that the
 * burst refers to stays as it is until that context calls hrp_req_next() again.
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
	HRP_NEXT_WAIT,		/* blocked; an acknowledgement or the timer goes on */
	HRP_NEXT_AGAIN,		/* nothing to send yet; call again in a while */
};

/**
 * hrp_req_reset - forget everything, as in the transition to RESET
 * @qp: queue pair; @qp->req.sq describes its rings and stays
 *
 * Entries still in the ring are skipped. Context: send lock held.
 */
void hrp_req_reset(struct hrp_qp *qp);

/**
 * hrp_req_start - begin to send, as in the transition to RTS
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
 * Takes entries from the ring as needed: copies, checks, executes local
 * operations, completes what is complete by being sent (UC, UD). Entries that
 * fail put the QP into the error state (SQE for UC and UD) after all earlier
 * ones are complete. Before it returns HRP_NEXT_IDLE it has set need_kick and
 * looked at the ring once more; otherwise need_kick is 0. In state SQD no
 * message is begun: call again when the state is left. In a state that does
 * not send it does nothing and returns HRP_NEXT_IDLE.
 *
 * HRP_NEXT_AGAIN bounds the entries that one call gets through, and so the
 * local operations that it executes.
 *
 * Context: send lock held, by the holder of the requester token.
 * Return: see enum hrp_next.
 */
enum hrp_next hrp_req_next(struct hrp_qp *qp, u64 now_ns, struct hrp_burst *b);

/**
 * hrp_req_sent - report what became of a burst
 * @qp: queue pair
 * @b: burst from hrp_req_next(), not called again since
 * @status: SUCCESS, also if the network dropped it; otherwise enum
 *	hroce_wc_status of its work request: its memory could not be read.
 *	HRP_MEM_FAULT: hrp_req_mem_ready() will tell when it can; until then
 *	nothing is sent
 *
 * Completes UC and UD requests whose last packet is out. Context: send lock
 * held, by the holder of the requester token.
 */
void hrp_req_sent(struct hrp_qp *qp, const struct hrp_burst *b, u8 status);

/**
 * hrp_req_refused - the local stack had no room for a frame
 * @qp: reliable queue pair
 * @psn: PSN of the first packet of the frame
 * @now_ns: current time
 *
 * Nothing behind @psn has been sent either. It is going to be sent when the
 * peer acknowledges what was sent before, or after a while; if neither helps
 * for a local ACK timeout that counts as one.
 *
 * Context: send lock held, by the holder of the requester token, after
 * hrp_req_sent().
 */
void hrp_req_refused(struct hrp_qp *qp, u32 psn, u64 now_ns);

/**
 * hrp_req_mem_ready - the memory that was not there has been fetched
 * @qp: queue pair; HRP_MEM_FAULT was reported before
 * @now_ns: current time
 * @ok: false if it cannot be: the request fails
 *
 * Context: send lock held.
 * Return: true if hrp_req_next() should be called and the timer be looked at.
 */
bool hrp_req_mem_ready(struct hrp_qp *qp, u64 now_ns, bool ok);

/**
 * hrp_req_deadline - when is hrp_req_timeout() to be called?
 * @req: requester
 *
 * To be looked at after every call; the timer may be late, never early.
 * Context: send lock held.
 * Return: time in ns; 0: never.
 */
u64 hrp_req_deadline(const struct hrp_req *req);

/**
 * hrp_req_excuse - the peer has answered, but its answer is held back
 * @qp: queue pair
 * @now_ns: current time
 *
 * If the local ACK timeout has passed it begins anew and uses up no retry.
 * Context: send lock held.
 */
void hrp_req_excuse(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_req_timeout - the timer expired
 * @qp: queue pair
 * @now_ns: current time
 *
 * Does nothing if the deadline was moved meanwhile. Otherwise goes back to the
 * oldest unacknowledged packet, or completes it with RETRY_EXC_ERR; or a
 * requester that is paced may send again.
 *
 * Context: send lock held.
 * Return: true if hrp_req_next() should be called.
 */
bool hrp_req_timeout(struct hrp_qp *qp, u64 now_ns);

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
 * hrp_comp_commit - a response arrived: act
 * @qp: queue pair
 * @pkt: the same response, ICRC correct
 * @rx: the same decision
 * @now_ns: current time
 * @status: of placing @rx->mem; SUCCESS if there was nothing to place.
 *	HRP_MEM_FAULT: hrp_req_mem_ready() follows, and then the peer is asked
 *	again
 *
 * Context: send lock held since hrp_comp_begin().
 * Return: true if hrp_req_next() should be called and the timer be looked at;
 *         the deadline may have come nearer.
 */
bool hrp_comp_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		     const struct hrp_rx *rx, u64 now_ns, u8 status);

/**
 * hrp_req_flush - complete everything with WR_FLUSH_ERR
 * @qp: queue pair in state ERR or SQE
 * @max: most entries to complete
 *
 * Takes what is left in the ring too; to be called again for every later kick,
 * and until it returns less than @max.
 * Context: send lock held, by the holder of the requester token.
 * Return: entries completed.
 */
u32 hrp_req_flush(struct hrp_qp *qp, u32 max);

#endif /* HRP_REQ_H */

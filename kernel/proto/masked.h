/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Masked atomics: the specification has no opcode for them, so the requester
 * emulates them by CmpSwap, which every responder with atomics supports. It
 * guesses the current value and requests to swap it for the result of the
 * operation. The response carries the actual value; if the guess was wrong,
 * that value is the next guess, sent with the next PSN.
 *
 * Others may change the word in between any number of times: each time one of
 * them has made progress. Later entries wait for the last response.
 */
#ifndef HRP_MASKED_H
#define HRP_MASKED_H

#include "pkt.h"
#include "sq.h"

/*
 * PSNs of the entry: one for the guess, and one that is never sent, so that the
 * requester does not go on to the next entry.
 */
#define HRP_MASKED_PSNS	2

static inline bool hrp_wqe_is_masked(const struct hrp_wqe *w)
{
	return w->wqe.opcode == HROCE_WR_MASKED_CMP_SWAP ||
	       w->wqe.opcode == HROCE_WR_MASKED_FETCH_ADD;
}

/* The masks follow the SGEs of a masked atomic. */
static inline const struct hroce_masks *hrp_wqe_masks(const struct hrp_wqe *w)
{
	return (const struct hroce_masks *)&w->sges[w->wqe.nr_sges];
}

/**
 * hrp_masked_ask - request the swap for the current guess
 * @w: masked atomic
 * @pkt: CmpSwap; its operands are filled in
 */
void hrp_masked_ask(const struct hrp_wqe *w, struct hrp_pkt *pkt);

/**
 * hrp_masked_goes_on - must another guess be tried?
 * @w: any entry whose answer is an ATOMIC Acknowledge
 * @orig: value in the response
 *
 * Return: false if @orig is the result of the operation, as it always is for an
 * atomic without masks.
 */
bool hrp_masked_goes_on(const struct hrp_wqe *w, u64 orig);

/**
 * hrp_masked_go_on - try another guess
 * @w: oldest entry; hrp_masked_goes_on() returned true
 * @orig: value in the response
 * @psn: PSN of the next request
 */
void hrp_masked_go_on(struct hrp_wqe *w, u64 orig, u32 psn);

#endif /* HRP_MASKED_H */

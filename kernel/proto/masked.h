/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Masked atomics: the specification has no opcode for them, so the requester
 * makes them out of CmpSwap, which every responder with atomics knows. It
 * guesses what is there and asks for the swap of that against what the
 * operation makes of it. The answer says what was there; if the guess was wrong,
 * that is the next guess, and the next PSN.
 *
 * Others may change the word in between, as often as they like: each time one
 * of them has got on. An entry behind waits for the last answer.
 */
#ifndef HRP_MASKED_H
#define HRP_MASKED_H

#include "pkt.h"
#include "sq.h"

/*
 * PSNs of the entry: that of the guess, and one that is never sent, so that the
 * requester does not go on to the next entry.
 */
#define HRP_MASKED_PSNS	2

static inline bool hrp_wqe_is_masked(const struct hrp_wqe *w)
{
	return w->wqe.opcode == HROCE_WR_MASKED_CMP_SWAP ||
	       w->wqe.opcode == HROCE_WR_MASKED_FETCH_ADD;
}

/* Those of a masked atomic are behind its pieces. */
static inline const struct hroce_masks *hrp_wqe_masks(const struct hrp_wqe *w)
{
	return (const struct hroce_masks *)&w->sges[w->wqe.nr_sges];
}

/**
 * hrp_masked_ask - ask for the swap from the present guess
 * @w: masked atomic
 * @pkt: CmpSwap, gets its operands
 */
void hrp_masked_ask(const struct hrp_wqe *w, struct hrp_pkt *pkt);

/**
 * hrp_masked_goes_on - must another guess be tried?
 * @w: any entry whose answer is an ATOMIC Acknowledge
 * @orig: what was there
 *
 * Return: false if @orig is the result of the operation, as it always is for an
 * atomic without masks.
 */
bool hrp_masked_goes_on(const struct hrp_wqe *w, u64 orig);

/**
 * hrp_masked_go_on - try another guess
 * @w: oldest entry, for which hrp_masked_goes_on()
 * @orig: what was there
 * @psn: PSN of the next request
 */
void hrp_masked_go_on(struct hrp_wqe *w, u64 orig, u32 psn);

#endif /* HRP_MASKED_H */

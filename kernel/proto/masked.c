// SPDX-License-Identifier: GPL-2.0
/* Masked atomics, emulated by CmpSwap requests. */
#include "masked.h"
#include "psn.h"

/*
 * Add without carries between fields. @tops has the highest bit of each field;
 * these bits are added separately.
 */
static u64 masked_sum(u64 a, u64 b, u64 tops)
{
	return ((a & ~tops) + (b & ~tops)) ^ ((a ^ b) & tops);
}

/*
 * The entry stores the guess: in the bits that a compare and swap does not
 * compare, or in the swap operand, which an addition does not use.
 */
static u64 masked_guess(const struct hrp_wqe *w)
{
	return w->wqe.opcode == HROCE_WR_MASKED_CMP_SWAP ?
	       w->wqe.rdma.compare_add : w->wqe.rdma.swap;
}

void hrp_masked_ask(const struct hrp_wqe *w, struct hrp_pkt *pkt)
{
	const struct hroce_masks *masks = hrp_wqe_masks(w);
	u64 guess = masked_guess(w);

	pkt->compare = guess;
	if (w->wqe.opcode == HROCE_WR_MASKED_CMP_SWAP)
		pkt->swap_add = (guess & ~masks->swap) |
				(w->wqe.rdma.swap & masks->swap);
	else
		pkt->swap_add = masked_sum(guess, w->wqe.rdma.compare_add,
					   masks->compare_add);
}

bool hrp_masked_goes_on(const struct hrp_wqe *w, u64 orig)
{
	u64 wrong;

	if (!hrp_wqe_is_masked(w))
		return false;
	wrong = masked_guess(w) ^ orig;
	/* A compare and swap ends if compared bits differ. */
	if (w->wqe.opcode == HROCE_WR_MASKED_CMP_SWAP &&
	    wrong & hrp_wqe_masks(w)->compare_add)
		return false;
	return wrong;
}

void hrp_masked_go_on(struct hrp_wqe *w, u64 orig, u32 psn)
{
	if (w->wqe.opcode == HROCE_WR_MASKED_CMP_SWAP)
		w->wqe.rdma.compare_add = orig;
	else
		w->wqe.rdma.swap = orig;
	w->first_psn = psn;
	w->last_psn = hrp_psn_add(psn, HRP_MASKED_PSNS - 1);
}

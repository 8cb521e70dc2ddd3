// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that came before earlier ones.
 *
 * IBTA 9.7.5 has the responder drop them, and the requester sends all again
 * from the missing one on. A responder that keeps them looks to the peer as if
 * the resent ones had come sooner: they are executed in the order of PSNs, and
 * nothing is placed, taken or acknowledged before its turn. A peer that resends
 * them all the same sends duplicates.
 *
 * Found by PSN modulo the size of the window, in a table, so that no order of
 * arrival makes the search long.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include "keep.h"
#include "psn.h"

static struct hrp_keep_slots *keep_part(const struct hrp_keep *keep, u32 psn)
{
	return keep->part[psn % HRP_KEEP_PKTS / HRP_KEEP_PART_SLOTS];
}

static struct hrp_kept **keep_slot(const struct hrp_keep *keep, u32 psn)
{
	struct hrp_keep_slots *part = keep_part(keep, psn);

	return part ? &part->slot[psn % HRP_KEEP_PART_SLOTS] : NULL;
}

static u64 *keep_word(const struct hrp_keep *keep, u32 psn)
{
	struct hrp_keep_slots *part = keep_part(keep, psn);

	return part ? &part->map[psn % HRP_KEEP_PART_SLOTS / 64] : NULL;
}

u64 hrp_keep_bits(const struct hrp_keep *keep, u32 psn)
{
	const u64 *word = keep_word(keep, psn);

	return word ? *word : 0;
}

static bool keep_covers(u32 first, u32 psn)
{
	return ((psn - first) & HRP_PSN_MASK) < HRP_KEEP_PKTS;
}

bool hrp_keep_has(const struct hrp_keep *keep, u32 psn)
{
	struct hrp_kept **slot = keep_slot(keep, psn);

	return slot && *slot && keep_covers(keep->psn, psn);
}

bool hrp_keep_fits(const struct hrp_resp *resp, u32 psn)
{
	if (!resp->kept)
		return keep_covers(resp->psn, psn);
	return keep_covers(resp->keep->psn, psn) &&
	       !hrp_keep_has(resp->keep, psn);
}

void hrp_keep_open(struct hrp_qp *qp, struct hrp_keep *keep)
{
	keep->psn = qp->resp.psn;
	keep->end = qp->resp.psn;
	keep->tell_next = qp->resp.psn & ~63u;
	WRITE_ONCE(qp->resp.keep, keep);
	qp->resp.kept = 1;
}

struct hrp_keep *hrp_keep_close(struct hrp_qp *qp)
{
	struct hrp_keep *keep = qp->resp.keep;

	WRITE_ONCE(qp->resp.keep, NULL);
	qp->resp.kept = 0;
	if (keep && keep->nr)
		hroce_stats_add(qp->stats, HROCE_EV_KEPT_DROPPED, keep->nr);
	return keep;
}

void hrp_keep_put(struct hrp_keep *keep, struct hrp_kept *kept)
{
	u32 psn = kept->pkt.psn;

	*keep_slot(keep, psn) = kept;
	*keep_word(keep, psn) |= BIT_ULL(psn % 64);
	keep->nr++;
	keep->untold += hrp_psn_diff(psn, keep->end) > 0 ? HRP_KEEP_TELL : 1;
	if (hrp_psn_diff(psn, keep->end) >= 0)
		keep->end = hrp_psn_add(psn, 1);
}

struct hrp_kept *hrp_keep_take(struct hrp_keep *keep, u32 psn)
{
	struct hrp_kept **slot, *kept;

	while (keep->nr && hrp_psn_diff(keep->psn, psn) <= 0) {
		slot = keep_slot(keep, keep->psn);
		if (slot && *slot) {
			kept = *slot;
			*slot = NULL;
			*keep_word(keep, keep->psn) &= ~BIT_ULL(keep->psn % 64);
			keep->nr--;
			return kept;
		}
		if (keep->psn == psn)
			break;
		keep->psn = hrp_psn_add(keep->psn, 1);
	}
	return NULL;
}

struct hrp_kept *hrp_keep_take_stale(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;
	struct hrp_kept *kept;

	kept = hrp_keep_take(resp->keep, hrp_psn_add(resp->psn, HRP_PSN_MASK));
	if (kept)
		hrp_count(qp, HROCE_EV_KEPT_DROPPED);
	return kept;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration: work requests register and invalidate memory regions. The
 * region stays in the table of keys; its lock keeps the datapath out while it
 * changes.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include "mkeys.h"
#include "mr.h"
#include "mw.h"

#define KEY_INDEX_MASK	0xffffff00	/* the owner chooses the low byte */

#define FAST_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* Can this entry register @mr? */
static bool mr_may_register(const struct hroce_mr *mr, const struct ib_pd *pd,
			    const struct hroce_sq_wqe *wqe)
{
	return mr->ib.pd == pd && mr->region.type == HROCE_REGION_FRWR &&
	       !((wqe->reg.key ^ mr->region.key) & KEY_INDEX_MASK) &&
	       !(wqe->reg.access & ~(FAST_ACCESS | IB_ACCESS_OPTIONAL));
}

/* Take the blocks that were mapped since the last registration, if any were. */
static void mr_take_blocks(struct hroce_mr *mr)
{
	struct hroce_region *region = &mr->region;

	if (!mr->nr_blocks)
		return;
	swap(region->pages, mr->blocks);
	region->page_shift = ilog2(mr->ib.page_size);
	region->first_offset = mr->ib.iova & (mr->ib.page_size - 1);
	mr->nr_blocks = 0;
}

u8 hroce_mr_register(const struct ib_pd *pd, const struct hroce_sq_wqe *wqe)
{
	struct hroce_mr *mr = (struct hroce_mr *)(uintptr_t)wqe->reg.mr;
	struct hroce_region *region = &mr->region;
	u8 status = HROCE_CAUSE_FAST_REG;

	if (!mr_may_register(mr, pd, wqe))
		return status;

	write_lock_bh(&region->lock);
	if (region->state == HROCE_REGION_FREE) {
		mr_take_blocks(mr);
		region->iova = mr->ib.iova;
		region->len = mr->ib.length;
		region->access = wqe->reg.access & FAST_ACCESS;
		WRITE_ONCE(region->key, wqe->reg.key);
		WRITE_ONCE(region->state, HROCE_REGION_VALID);
		status = HROCE_WC_SUCCESS;
	}
	write_unlock_bh(&region->lock);
	return status;
}

bool hroce_mr_invalidate(const struct hroce_mkeys *mkeys,
			 const struct ib_pd *pd, u32 qpn, u32 key, bool remote)
{
	struct hroce_region *region;
	bool ok = false;

	region = hroce_mkeys_find(mkeys, key);
	if (!region || region->pd != pd)
		return false;
	if (region->type == HROCE_REGION_WINDOW)
		return hroce_mw_invalidate(region, qpn, key);
	if (region->type != HROCE_REGION_FRWR)
		return false;

	write_lock_bh(&region->lock);
	/* Only for the peer it is an error to invalidate an invalid region. */
	if (region->key == key &&
	    (!remote || region->state == HROCE_REGION_VALID)) {
		WRITE_ONCE(region->state, HROCE_REGION_FREE);
		ok = true;
	}
	write_unlock_bh(&region->lock);
	return ok;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration: work requests register and invalidate memory regions. The
 * region stays in the table of keys; its lock keeps the datapath out while it
 * changes.
 */
#include <linux/mm.h>
#include "../mem/mkeys.h"
#include "device.h"
#include "mr.h"
#include "mw.h"

#define KEY_INDEX_MASK	0xffffff00	/* the owner chooses the low byte */

#define FAST_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

static int mr_set_block(struct ib_mr *ibmr, u64 addr)
{
	struct hroce_mr *mr = to_hmr(ibmr);

	if (mr->nr_blocks == mr->max_blocks)
		return -ENOMEM;
	mr->region.pages[mr->nr_blocks++] = ib_virt_dma_to_page(addr);
	return 0;
}

int hroce_mr_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset)
{
	struct hroce_mr *mr = to_hmr(ibmr);
	int n;

	if (ibmr->page_size < PAGE_SIZE) {
		pr_warn_once("hroce: blocks of %u bytes cannot be registered with pages of %lu: use a kernel with pages of 4 KB\n",
			     ibmr->page_size, PAGE_SIZE);
		return -EINVAL;
	}
	if (!is_power_of_2(ibmr->page_size))
		return -EINVAL;
	/*
	 * The consumer owns the region here: it was never registered, or its
	 * invalidation is complete.
	 */
	mr->nr_blocks = 0;
	n = ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, mr_set_block);
	mr->region.page_shift = ilog2(ibmr->page_size);
	mr->region.first_offset = ibmr->iova & (ibmr->page_size - 1);
	return n;
}

/* Can this entry register @mr? */
static bool mr_may_register(const struct hroce_mr *mr, const struct ib_pd *pd,
			    const struct hroce_sq_wqe *wqe)
{
	return mr->ib.pd == pd && mr->region.type == HROCE_REGION_FRWR &&
	       !((wqe->reg.key ^ mr->region.key) & KEY_INDEX_MASK) &&
	       !(wqe->reg.access & ~FAST_ACCESS);
}

u8 hroce_mr_register(struct ib_pd *pd, const struct hroce_sq_wqe *wqe)
{
	struct hroce_mr *mr = (struct hroce_mr *)(uintptr_t)wqe->reg.mr;
	struct hroce_region *region = &mr->region;
	u8 status = HROCE_CAUSE_FAST_REG;

	if (!mr_may_register(mr, pd, wqe))
		return status;

	write_lock_bh(&region->lock);
	if (region->state == HROCE_REGION_FREE) {
		region->iova = mr->ib.iova;
		region->len = mr->ib.length;
		region->access = wqe->reg.access;
		WRITE_ONCE(region->key, wqe->reg.key);
		WRITE_ONCE(region->state, HROCE_REGION_VALID);
		status = HROCE_WC_SUCCESS;
	}
	write_unlock_bh(&region->lock);
	return status;
}

bool hroce_mr_invalidate(struct ib_pd *pd, u32 qpn, u32 key, bool remote)
{
	struct hroce_region *region;
	bool ok = false;

	region = hroce_mkeys_find(&to_hdev(pd->device)->mkeys, key);
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

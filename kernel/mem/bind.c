// SPDX-License-Identifier: GPL-2.0
/*
 * Memory windows (IBTA 10.6.7): a key for a part of a memory region, granted
 * and revoked by work requests.
 *
 * A window of type 1 belongs to its protection domain, a window of type 2 also
 * to the queue pair that has bound it: type 2B, hence not 2A (o10-37.2.31).
 * Type 1 may be bound again at any time; type 2 must be invalidated first, by
 * its owner or by the peer.
 *
 * The region of a window refers to the region that it is bound to, pinned or
 * fetched. That region counts its windows; while it has any, it cannot be
 * deregistered or changed.
 */
#include "mkeys.h"
#include "mw.h"

#define MW_RIGHTS	(HROCE_MW_REMOTE_WRITE | HROCE_MW_REMOTE_READ | \
			 HROCE_MW_REMOTE_ATOMIC)
#define MW_ACCESS	(MW_RIGHTS | HROCE_MW_LOCAL_WRITE | \
			 HROCE_MW_ZERO_BASED)

static_assert(HROCE_MW_REMOTE_WRITE == HROCE_REGION_REMOTE_WRITE);
static_assert(HROCE_MW_REMOTE_READ == HROCE_REGION_REMOTE_READ);
static_assert(HROCE_MW_REMOTE_ATOMIC == HROCE_REGION_REMOTE_ATOMIC);

void hroce_mw_put_parent(struct hroce_region *parent)
{
	if (parent)
		atomic_dec(&parent->windows);
}

/*
 * Return: the region to bind to, with the window counted; NULL if it does not
 * exist or does not permit the bind.
 */
static struct hroce_region *mw_get_parent(const struct hroce_mkeys *mkeys,
					  const struct ib_pd *pd,
					  const struct hroce_sq_wqe *wqe)
{
	struct hroce_region *region;

	region = hroce_mkeys_find(mkeys, wqe->bind.lkey);
	/* Windows and FRWR regions never have MW_BIND. */
	if (!region || region->type == HROCE_REGION_DMA ||
	    !(region->access & HROCE_REGION_MW_BIND))
		return NULL;
	/* Remote write access needs local write access. */
	if (wqe->bind.access & (HROCE_MW_REMOTE_WRITE | HROCE_MW_REMOTE_ATOMIC) &&
	    !(region->access & HROCE_REGION_LOCAL_WRITE))
		return NULL;
	if (!hroce_region_check(region, pd, wqe->bind.addr, wqe->bind.length,
				HRP_ACCESS_LOCAL_READ))
		return NULL;
	return atomic_inc_unless_negative(&region->windows) ? region : NULL;
}

static bool mw_may_bind(const struct hroce_mw *mw,
			const struct hroce_sq_wqe *wqe)
{
	if (wqe->bind.access & ~MW_ACCESS)
		return false;
	if (mw->ib.type == IB_MW_TYPE_1)
		return !(wqe->bind.access & HROCE_MW_ZERO_BASED);
	return wqe->bind.length &&
	       READ_ONCE(mw->region.state) == HROCE_REGION_FREE;
}

/* @parent is NULL to unbind a window of type 1. */
static void mw_set(struct hroce_mw *mw, u32 qpn,
		   const struct hroce_sq_wqe *wqe, struct hroce_region *parent)
{
	struct hroce_region *region = &mw->region;

	region->parent = parent;
	WRITE_ONCE(region->key, wqe->bind.key);
	if (!parent) {
		WRITE_ONCE(region->state, HROCE_REGION_FREE);
		return;
	}
	region->first_offset = wqe->bind.addr - parent->iova +
			       parent->first_offset;
	region->iova = wqe->bind.access & HROCE_MW_ZERO_BASED ?
		       0 : wqe->bind.addr;
	region->len = wqe->bind.length;
	region->access = wqe->bind.access & MW_RIGHTS;
	region->qpn = mw->ib.type == IB_MW_TYPE_2 ? qpn : 0;
	WRITE_ONCE(region->state, HROCE_REGION_VALID);
}

u8 hroce_mw_bind(const struct hroce_mkeys *mkeys, const struct ib_pd *pd,
		 u32 qpn, const struct hroce_sq_wqe *wqe)
{
	struct hroce_region *region, *parent = NULL;
	u8 status = HROCE_CAUSE_BIND_STATE;
	struct hroce_mw *mw;

	region = hroce_mkeys_find_index(mkeys, wqe->bind.key);
	if (!region || region->type != HROCE_REGION_WINDOW || region->pd != pd)
		return HROCE_CAUSE_WINDOW;
	mw = container_of(region, struct hroce_mw, region);
	if (wqe->bind.length) {
		parent = mw_get_parent(mkeys, pd, wqe);
		if (!parent)
			return HROCE_CAUSE_BIND_REGION;
	}

	write_lock_bh(&region->lock);
	if (mw_may_bind(mw, wqe)) {
		struct hroce_region *old = region->parent;

		mw_set(mw, qpn, wqe, parent);
		parent = old;
		status = HROCE_WC_SUCCESS;
	}
	write_unlock_bh(&region->lock);
	/* The previous region, or on failure the new one. */
	hroce_mw_put_parent(parent);
	return status;
}

bool hroce_mw_invalidate(struct hroce_region *region, u32 qpn, u32 key)
{
	struct hroce_mw *mw = container_of(region, struct hroce_mw, region);
	struct hroce_region *parent = NULL;
	bool ok = false;

	/* A window of type 1 is revoked by a bind of length 0. */
	if (mw->ib.type != IB_MW_TYPE_2)
		return false;
	write_lock_bh(&region->lock);
	if (region->key == key && region->state == HROCE_REGION_VALID &&
	    region->qpn == qpn) {
		WRITE_ONCE(region->state, HROCE_REGION_FREE);
		parent = region->parent;
		region->parent = NULL;
		ok = true;
	}
	write_unlock_bh(&region->lock);
	hroce_mw_put_parent(parent);
	return ok;
}

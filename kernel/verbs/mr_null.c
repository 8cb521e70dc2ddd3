// SPDX-License-Identifier: GPL-2.0
/*
 * Regions without memory (ibv_alloc_null_mr()): what is written there is gone,
 * and what is read there is zero. They have all addresses, and no remote rights:
 * a request leaves out with them what it does not want to see.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "mr.h"

/* Where everybody writes, and nobody reads. */
static u8 sink[PAGE_SIZE] __aligned(PAGE_SIZE);

static u32 null_find(const struct hroce_region *region, u64 pos, u32 max,
		     bool write, struct hroce_extent *ext)
{
	ext->page = NULL;
	ext->offset = 0;
	ext->va = write ? sink : page_address(ZERO_PAGE(0));
	return min_t(u32, max, PAGE_SIZE);
}

/* It is always there. */
static int null_fetch(struct hroce_mr *mr, u64 pos, u64 len, bool write)
{
	return 0;
}

static void null_release(struct hroce_mr *mr)
{
	kfree(mr);
}

static const struct hroce_mr_ops null_mr_ops = {
	.fetch = null_fetch,
	.release = null_release,
};

struct ib_mr *hroce_mr_alloc_null(struct ib_pd *pd)
{
	struct hroce_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = hroce_mr_init(mr, pd, 0, 0, IB_ACCESS_LOCAL_WRITE);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	mr->region.len = U64_MAX;
	return hroce_mr_publish_fetched(mr, &null_mr_ops, null_find);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Regions without memory (ibv_alloc_null_mr()): writes are discarded, reads
 * return zero. They cover all addresses and give no remote rights. Work
 * requests use them to skip parts of a message.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include "mr.h"

/* Target of all writes; never read. */
static u8 sink[PAGE_SIZE] __aligned(PAGE_SIZE);

static u32 null_find(const struct hroce_region *region, u64 pos, u32 max,
		     bool write, struct hroce_extent *ext)
{
	ext->page = NULL;
	ext->offset = 0;
	ext->va = write ? sink : page_address(ZERO_PAGE(0));
	return min_t(u32, max, PAGE_SIZE);
}

/* The memory is always present. */
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

// SPDX-License-Identifier: GPL-2.0
/* Memory regions whose memory is fetched: references, fetching, the end. */
#include <linux/module.h>
#include "mkeys.h"
#include "mr.h"

void hroce_mr_put(struct hroce_mr *mr)
{
	if (!refcount_dec_and_test(&mr->users))
		return;
	if (mr->ops->close)
		mr->ops->release(mr);
	else
		complete(&mr->unused);
}

struct hroce_mr *hroce_mr_tryget(const struct hroce_mkeys *mkeys, u32 key)
{
	struct hroce_region *region = hroce_mkeys_find_index(mkeys, key);
	struct hroce_mr *mr;

	if (!region || region->key != key ||
	    region->type != HROCE_REGION_FETCHED)
		return NULL;
	mr = container_of(region, struct hroce_mr, region);
	return refcount_inc_not_zero(&mr->users) ? mr : NULL;
}

int hroce_mr_fetch(struct hroce_mr *mr, u64 pos, u64 len, bool write)
{
	int err;

	if (READ_ONCE(mr->closed))
		return -ENOENT;
	/* Refuse to unload while this waits: it returns to our code. */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	err = mr->ops->fetch(mr, pos, len, write);
	module_put(THIS_MODULE);
	return err;
}

void hroce_mr_close(struct hroce_mr *mr)
{
	const struct hroce_mr_ops *ops = mr->ops;

	WRITE_ONCE(mr->closed, true);
	if (ops->close) {
		ops->close(mr);
		hroce_mr_put(mr);
		return;
	}
	hroce_mr_put(mr);
	wait_for_completion(&mr->unused);
	ops->release(mr);
}

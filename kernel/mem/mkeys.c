// SPDX-License-Identifier: GPL-2.0
/* Memory keys: a table of regions behind keys that cannot be guessed. */
#include <linux/random.h>
#include "../core/epoch.h"
#include "mkeys.h"

#define INDEX_BITS	24

static u32 mkeys_index(const struct hroce_mkeys *mkeys, u32 key)
{
	return hroce_hide_reveal(&mkeys->hide, INDEX_BITS / 2, key >> 8);
}

int hroce_mkeys_init(struct hroce_mkeys *mkeys)
{
	/* Whoever adds a region pays for a node that it takes. */
	xa_init_flags(&mkeys->table, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	hroce_hide_init(&mkeys->hide);
	return hroce_lookup_init(&mkeys->lookup);
}

void hroce_mkeys_fini(struct hroce_mkeys *mkeys)
{
	unsigned long first = 0;

	/* Not xa_empty(): an addition that failed may leave empty nodes. */
	WARN_ON_ONCE(xa_find(&mkeys->table, &first, ULONG_MAX, XA_PRESENT));
	xa_destroy(&mkeys->table);
	hroce_lookup_fini(&mkeys->lookup);
}

int hroce_mkeys_add(struct hroce_mkeys *mkeys, struct hroce_region *region,
		    int low8)
{
	u32 index;
	int err;

	if (low8 < 0)
		low8 = get_random_u8();
	/* Reserve first: set the key before the region can be found. */
	err = xa_alloc_cyclic(&mkeys->table, &index, NULL,
			      XA_LIMIT(1, (1u << INDEX_BITS) - 1),
			      &mkeys->next, GFP_KERNEL);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;
	region->key = hroce_hide_index(&mkeys->hide, INDEX_BITS / 2, index) << 8 |
		      low8;
	xa_store(&mkeys->table, index, region, GFP_KERNEL);
	return 0;
}

void hroce_mkeys_suspend(struct hroce_mkeys *mkeys, struct hroce_region *region)
{
	xa_lock(&mkeys->table);
	/* NULL in an allocating xarray keeps the index reserved. */
	__xa_store(&mkeys->table, mkeys_index(mkeys, region->key), NULL,
		   GFP_ATOMIC);
	hroce_lookup_forget(&mkeys->lookup);
	xa_unlock(&mkeys->table);
	hroce_epoch_wait();
}

void hroce_mkeys_resume(struct hroce_mkeys *mkeys, struct hroce_region *region)
{
	/* The index is reserved, so that this needs no memory. */
	xa_store(&mkeys->table, mkeys_index(mkeys, region->key), region,
		 GFP_KERNEL);
}

void hroce_mkeys_del(struct hroce_mkeys *mkeys, struct hroce_region *region)
{
	hroce_mkeys_suspend(mkeys, region);
	xa_erase(&mkeys->table, mkeys_index(mkeys, region->key));
}

struct hroce_region *hroce_mkeys_find_index(const struct hroce_mkeys *mkeys,
					    u32 key)
{
	hroce_epoch_assert();
	return xa_load((struct xarray *)&mkeys->table, mkeys_index(mkeys, key));
}

struct hroce_region *hroce_mkeys_look_up(const struct hroce_mkeys *mkeys,
					 u32 key,
					 struct hroce_lookup_slot *slot,
					 unsigned long removals)
{
	struct hroce_region *region;

	region = hroce_mkeys_find_index(mkeys, key);
	if (!region || READ_ONCE(region->key) != key)
		return NULL;
	hroce_lookup_store(slot, region, removals);
	return region;
}

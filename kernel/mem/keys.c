// SPDX-License-Identifier: GPL-2.0
/*
 * Memory keys: a dense table of regions behind keys that cannot be guessed.
 */
#include <linux/random.h>
#include <rdma/ib_verbs.h>
#include "../section.h"
#include "mem.h"

#define INDEX_BITS	24

/* Index to upper 24 bits of the key. */
static u32 keys_hide(const struct hroce_keys *keys, u32 index)
{
	return hroce_hide_index(&keys->hide, INDEX_BITS / 2, index);
}

/* The inverse of keys_hide(). */
static u32 keys_reveal(const struct hroce_keys *keys, u32 hidden)
{
	return hroce_hide_reveal(&keys->hide, INDEX_BITS / 2, hidden);
}

int hroce_keys_init(struct hroce_keys *keys)
{
	xa_init_flags(&keys->table, XA_FLAGS_ALLOC1);
	hroce_hide_init(&keys->hide);
	return hroce_recent_init(&keys->recent);
}

void hroce_keys_fini(struct hroce_keys *keys)
{
	unsigned long first = 0;

	/* Not xa_empty(): an addition that failed may leave empty nodes. */
	WARN_ON_ONCE(xa_find(&keys->table, &first, ULONG_MAX, XA_PRESENT));
	xa_destroy(&keys->table);
	hroce_recent_fini(&keys->recent);
}

int hroce_keys_add(struct hroce_keys *keys, struct hroce_region *region,
		   int low8)
{
	u32 index;
	int err;

	if (low8 < 0)
		low8 = get_random_u8();
	/* Reserve first: the key must be right before anyone can find it. */
	err = xa_alloc(&keys->table, &index, NULL,
		       XA_LIMIT(1, (1u << INDEX_BITS) - 1), GFP_KERNEL);
	if (err)
		return err == -EBUSY ? -ENOSPC : err;
	region->key = keys_hide(keys, index) << 8 | low8;
	xa_store(&keys->table, index, region, GFP_KERNEL);
	return 0;
}

void hroce_keys_del(struct hroce_keys *keys, struct hroce_region *region)
{
	xa_lock(&keys->table);
	__xa_erase(&keys->table, keys_reveal(keys, region->key >> 8));
	hroce_recent_forget(&keys->recent);
	xa_unlock(&keys->table);
	hroce_section_wait();
}

void hroce_keys_suspend(struct hroce_keys *keys, struct hroce_region *region)
{
	xa_lock(&keys->table);
	/* A table that allocates keeps the index reserved. */
	__xa_store(&keys->table, keys_reveal(keys, region->key >> 8), NULL,
		   GFP_ATOMIC);
	hroce_recent_forget(&keys->recent);
	xa_unlock(&keys->table);
	hroce_section_wait();
}

void hroce_keys_resume(struct hroce_keys *keys, struct hroce_region *region)
{
	/* The index is reserved, so that this needs no memory. */
	xa_store(&keys->table, keys_reveal(keys, region->key >> 8), region,
		 GFP_KERNEL);
}

struct hroce_region *hroce_keys_find_index(const struct hroce_keys *keys,
					   u32 key)
{
	hroce_section_assert();
	return xa_load((struct xarray *)&keys->table,
		       keys_reveal(keys, key >> 8));
}

struct hroce_region *hroce_keys_look_up(const struct hroce_keys *keys, u32 key,
					struct hroce_recent_slot *slot,
					unsigned long removals)
{
	struct hroce_region *region;

	region = hroce_keys_find_index(keys, key);
	if (!region || READ_ONCE(region->key) != key)
		return NULL;
	hroce_recent_store(slot, region, removals);
	return region;
}

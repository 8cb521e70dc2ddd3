/* SPDX-License-Identifier: GPL-2.0 */
/* Memory keys: a table of regions behind keys that cannot be guessed. */
#ifndef HROCE_MKEYS_H
#define HROCE_MKEYS_H

#include <linux/types.h>
#include <linux/xarray.h>
#include "../core/hide.h"
#include "../core/lookup.h"
#include "region.h"

/**
 * struct hroce_mkeys - all keys of a device
 * @table: regions by the 24-bit index that the key hides
 * @hide: permutation between index and upper 24 bits of the key
 * @lookup: look-up cache
 * @next: where the search for a free index begins [lock of @table]
 *
 * Keys are unpredictable: the upper 24 bits are the index under a secret
 * permutation, the lower 8 bits are random. Indices are taken in turn, so that
 * an old key, of a region that is gone, names no other before 2^24 have come.
 */
struct hroce_mkeys {
	struct xarray table;
	struct hroce_hide hide;
	struct hroce_lookup lookup;
	u32 next;
};

/* Prepare an empty table, with fresh secrets. Return: 0 or -ENOMEM. */
int hroce_mkeys_init(struct hroce_mkeys *mkeys);

/* Free an empty table. */
void hroce_mkeys_fini(struct hroce_mkeys *mkeys);

/**
 * hroce_mkeys_add - give a region a key
 * @mkeys: table
 * @region: complete except @region->key, which is set
 * @low8: lower 8 bits of the key, or -1: random
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -ENOSPC if all 2^24 keys are in use.
 */
int hroce_mkeys_add(struct hroce_mkeys *mkeys, struct hroce_region *region,
		    int low8);

/**
 * hroce_mkeys_del - remove a key and wait for users of the region
 * @mkeys: table
 * @region: region from hroce_mkeys_add()
 *
 * Context: process, may sleep, not in an epoch.
 */
void hroce_mkeys_del(struct hroce_mkeys *mkeys, struct hroce_region *region);

/**
 * hroce_mkeys_suspend - hide a region, but keep its key
 * @mkeys: table
 * @region: region from hroce_mkeys_add()
 *
 * After return the region has no users, and may be changed until
 * hroce_mkeys_resume(). Context: process, may sleep, not in an epoch.
 */
void hroce_mkeys_suspend(struct hroce_mkeys *mkeys, struct hroce_region *region);

/**
 * hroce_mkeys_resume - make a region visible again
 * @mkeys: table
 * @region: region from hroce_mkeys_suspend()
 *
 * Context: process. Cannot fail.
 */
void hroce_mkeys_resume(struct hroce_mkeys *mkeys, struct hroce_region *region);

/**
 * hroce_mkeys_find_index - look a region up by the upper bits of its key
 * @mkeys: table
 * @key: key; the low 8 bits are ignored
 *
 * Context: in an epoch.
 * Return: region or NULL.
 */
struct hroce_region *hroce_mkeys_find_index(const struct hroce_mkeys *mkeys,
					    u32 key);

/* Slow path of hroce_mkeys_find(): not in the cache. */
struct hroce_region *hroce_mkeys_look_up(const struct hroce_mkeys *mkeys,
					 u32 key,
					 struct hroce_lookup_slot *slot,
					 unsigned long removals);

/**
 * hroce_mkeys_find - look a key up
 * @mkeys: table
 * @key: 32 bits from a work request or packet
 *
 * Context: in an epoch.
 * Return: the region with exactly this key, or NULL.
 */
static inline struct hroce_region *
hroce_mkeys_find(const struct hroce_mkeys *mkeys, u32 key)
{
	struct hroce_lookup_slot *slot;
	struct hroce_region *region;
	unsigned long removals;

	region = hroce_lookup_find(&mkeys->lookup, key >> 8, &slot, &removals);
	if (likely(region && READ_ONCE(region->key) == key))
		return region;
	return hroce_mkeys_look_up(mkeys, key, slot, removals);
}

#endif /* HROCE_MKEYS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-CPU look-up cache in front of a table: a few instructions instead of a
 * tree walk.
 *
 * On x86 a 64-byte SEND over veth, with five look-ups, takes 12,363 kernel
 * instructions at both ends with the cache and 13,444 without; one in a list of
 * 32 takes 3,052 and 3,434, a 4 KB packet of a WRITE 5,674 and 5,802.
 *
 * A slot is valid until an object is removed from the table. After a removal,
 * call hroce_recent_forget() before hroce_section_wait(): when that returns,
 * all CPUs have seen it.
 */
#ifndef HROCE_RECENT_H
#define HROCE_RECENT_H

#include <linux/percpu.h>
#include <linux/types.h>
#include "section.h"

/* Slots per CPU, indexed by the lower bits of an id. */
#define HROCE_RECENT_SLOTS	64

/**
 * struct hroce_recent_slot - a cached object
 * @object: the object, or NULL
 * @removals: &hroce_recent.removals before it was found
 */
struct hroce_recent_slot {
	void *object;
	unsigned long removals;
};

/**
 * struct hroce_recent - look-up cache of a table
 * @slots: HROCE_RECENT_SLOTS for each CPU
 * @removals: number of removals from the table
 */
struct hroce_recent {
	struct hroce_recent_slot __percpu *slots;
	unsigned long removals;
};

/**
 * hroce_recent_init - initialise an empty cache
 * @recent: zeroed
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
static inline int hroce_recent_init(struct hroce_recent *recent)
{
	recent->slots = __alloc_percpu(HROCE_RECENT_SLOTS *
				       sizeof(*recent->slots),
				       __alignof__(*recent->slots));
	return recent->slots ? 0 : -ENOMEM;
}

/* Counterpart of hroce_recent_init(). */
static inline void hroce_recent_fini(struct hroce_recent *recent)
{
	free_percpu(recent->slots);
}

/**
 * hroce_recent_find - look an object up in the cache
 * @recent: cache of the table
 * @id: id of the object; its lower bits select the slot
 * @slot: set for hroce_recent_store(), if this returns NULL
 * @removals: likewise
 *
 * Context: in a section.
 * Return: an object of the table, not necessarily the one with @id; NULL if the
 * table must be searched.
 */
static inline void *hroce_recent_find(const struct hroce_recent *recent, u32 id,
				      struct hroce_recent_slot **slot,
				      unsigned long *removals)
{
	hroce_section_assert();
	*slot = this_cpu_ptr(recent->slots) + id % HROCE_RECENT_SLOTS;
	/* Before the look-up, so that the object found is not older. */
	*removals = smp_load_acquire(&recent->removals);
	return likely((*slot)->removals == *removals) ? (*slot)->object : NULL;
}

/* Cache @object, which was looked up. Context: as hroce_recent_find(). */
static inline void hroce_recent_store(struct hroce_recent_slot *slot,
				      void *object, unsigned long removals)
{
	slot->object = object;
	slot->removals = removals;
}

/**
 * hroce_recent_forget - invalidate the cache after a removal
 * @recent: cache of the table
 *
 * Context: any; the table's lock held.
 */
static inline void hroce_recent_forget(struct hroce_recent *recent)
{
	/* After the removal, as seen by hroce_recent_find(). */
	smp_store_release(&recent->removals, recent->removals + 1);
}

#endif /* HROCE_RECENT_H */

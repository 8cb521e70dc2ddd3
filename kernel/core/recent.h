/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Look-up cache of each CPU, in front of a table: a few instructions instead of
 * walking a tree.
 *
 * A slot is believed as long as nothing has been taken out of the table since
 * it was filled. After taking something out, call hroce_recent_forget() before
 * hroce_section_wait(): at the end of that all CPUs have noticed.
 */
#ifndef HROCE_RECENT_H
#define HROCE_RECENT_H

#include <linux/percpu.h>
#include <linux/types.h>
#include "section.h"

/* Slots of each CPU, one for each value of some bits of an id. */
#define HROCE_RECENT_SLOTS	64

/**
 * struct hroce_recent_slot - something found
 * @object: or NULL
 * @removals: &hroce_recent.removals before it was found
 */
struct hroce_recent_slot {
	void *object;
	unsigned long removals;
};

/**
 * struct hroce_recent - what was found in a table
 * @slots: HROCE_RECENT_SLOTS for each CPU
 * @removals: how often something was taken out of the table
 */
struct hroce_recent {
	struct hroce_recent_slot __percpu *slots;
	unsigned long removals;
};

/**
 * hroce_recent_init - nothing was found yet
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
 * hroce_recent_find - has this been found lately?
 * @recent: of the table
 * @id: the object's; the lower bits tell objects apart
 * @slot: set for hroce_recent_store(), if this returns NULL
 * @removals: likewise
 *
 * Context: in a section.
 * Return: an object that is in the table; the caller checks which one it is.
 * NULL if it has to be looked up.
 */
static inline void *hroce_recent_find(const struct hroce_recent *recent, u32 id,
				      struct hroce_recent_slot **slot,
				      unsigned long *removals)
{
	hroce_section_assert();
	*slot = this_cpu_ptr(recent->slots) + id % HROCE_RECENT_SLOTS;
	/* Before the look-up, so that what is found is not older. */
	*removals = smp_load_acquire(&recent->removals);
	return likely((*slot)->removals == *removals) ? (*slot)->object : NULL;
}

/* Remember @object, which was looked up. Context: as hroce_recent_find(). */
static inline void hroce_recent_store(struct hroce_recent_slot *slot,
				      void *object, unsigned long removals)
{
	slot->object = object;
	slot->removals = removals;
}

/**
 * hroce_recent_forget - something was taken out of the table
 * @recent: of the table
 *
 * Context: any; the table's lock held.
 */
static inline void hroce_recent_forget(struct hroce_recent *recent)
{
	/* After the removal, as seen by hroce_recent_find(). */
	smp_store_release(&recent->removals, recent->removals + 1);
}

#endif /* HROCE_RECENT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sections of the datapath: from the look-up of queue pairs, regions and SRQs
 * to their last use. Who destroys one of those takes it out of its table, and
 * waits until no section can have found it before.
 *
 * Each section is one of RCU, too, as nobody is preempted in it. But a grace period of
 * RCU takes milliseconds where a CPU is busy, as it has to get to a place that
 * RCU knows, however short its sections are. So each CPU says whether it is in
 * one, and who waits has nothing to do but to look, nearly always.
 */
#ifndef HROCE_SECTION_H
#define HROCE_SECTION_H

#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>

/* Sections that a CPU is in: one may be begun within another. */
DECLARE_PER_CPU(unsigned int, hroce_section_depth);

/**
 * hroce_section_begin - something is going to be looked up
 *
 * Context: BH, or preemption, disabled until hroce_section_end(), so that
 * sections of one CPU are nested, and it is this CPU that leaves them.
 */
static inline void hroce_section_begin(void)
{
	unsigned int *depth = this_cpu_ptr(&hroce_section_depth);

	WRITE_ONCE(*depth, *depth + 1);
	/*
	 * Store the depth, then look up. Pairs with hroce_section_wait(), which
	 * comes behind the removal and loads the depth: either it sees that we
	 * are in here, or we do not find what has been removed.
	 */
	smp_mb();
}

/* What has been looked up is not used any more. Context: as for the begin. */
static inline void hroce_section_end(void)
{
	unsigned int *depth = this_cpu_ptr(&hroce_section_depth);

	/* All use comes before; pairs with the acquire of who waits. */
	smp_store_release(depth, *depth - 1);
}

/* For look-ups: they are made within a section only. */
static inline void hroce_section_assert(void)
{
	lockdep_assert(this_cpu_read(hroce_section_depth));
}

/**
 * hroce_section_wait - wait until who has found something has left
 *
 * Sections that begin later do not find what had been taken out of its table
 * before the call.
 * Context: process, may sleep, not in a section.
 */
void hroce_section_wait(void);

#endif /* HROCE_SECTION_H */

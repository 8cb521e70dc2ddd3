// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for sections, see section.h.
 *
 * A section that begins later does not find the removed object, so it is enough
 * to see each CPU outside of sections once. A section handles a frame, or one
 * run of a queue pair, so it is short. If it was interrupted, or a hypervisor
 * has taken the CPU away, stop spinning and use an expedited grace period.
 *
 * Each section begins with a full barrier: some 20 cycles for a frame or a list
 * of requests. Without it, waiting would have to interrupt all CPUs, idle ones
 * included.
 */
#include <linux/kernel.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/timekeeping.h>
#include "section.h"

#define CREATE_TRACE_POINTS
#include "section_trace.h"

/* Some short sections; not longer than the fastest grace period. */
#define PATIENCE_NS	(50 * NSEC_PER_USEC)

DEFINE_PER_CPU(struct hroce_section, hroce_section);

void hroce_section_trace_begin(struct hroce_section *section)
{
	section->begin_ns = ktime_get_mono_fast_ns();
}

void hroce_section_trace_end(const struct hroce_section *section)
{
	trace_hroce_section(HROCE_SECTION_WORK - section->left,
			    ktime_get_mono_fast_ns() - section->begin_ns);
}

/* Has the CPU been seen outside of sections before @until_ns? */
static bool section_is_left(const unsigned int *depth, u64 until_ns)
{
	do {
		/* Pairs with the release of hroce_section_end(). */
		if (!smp_load_acquire(depth))
			return true;
		cpu_relax();
	} while (ktime_get_ns() < until_ns);
	return false;
}

void hroce_section_wait(void)
{
	u64 until_ns = ktime_get_ns() + PATIENCE_NS;
	int cpu;

	might_sleep();
	/* Remove, then load the depth: pairs with hroce_section_begin(). */
	smp_mb();
	for_each_possible_cpu(cpu) {
		if (section_is_left(&per_cpu_ptr(&hroce_section, cpu)->depth,
				    until_ns))
			continue;
		synchronize_rcu_expedited();
		return;
	}
}

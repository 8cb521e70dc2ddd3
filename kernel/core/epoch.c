// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for epochs, see epoch.h.
 *
 * An epoch that begins later does not find the removed object, so it is enough
 * to see each CPU outside of epochs once. An epoch handles a frame, or one
 * run of a queue pair, so it is short. If it was interrupted, or a hypervisor
 * has taken the CPU away, stop spinning and use an expedited grace period.
 *
 * Each epoch begins with a full barrier: some 20 cycles for a frame or a list
 * of requests. Without it, waiting would have to interrupt all CPUs, idle ones
 * included.
 */
#include <linux/kernel.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/timekeeping.h>
#include "epoch.h"

#define CREATE_TRACE_POINTS
#include "epoch_trace.h"

/* Some short epochs; not longer than the fastest grace period. */
#define PATIENCE_NS	(50 * NSEC_PER_USEC)

DEFINE_PER_CPU(struct hroce_epoch, hroce_epoch);

void hroce_epoch_trace_begin(struct hroce_epoch *epoch)
{
	epoch->begin_ns = ktime_get_mono_fast_ns();
}

void hroce_epoch_trace_end(const struct hroce_epoch *epoch)
{
	trace_hroce_epoch(HROCE_EPOCH_WORK - epoch->left,
			  ktime_get_mono_fast_ns() - epoch->begin_ns);
}

/* Has the CPU been seen outside of epochs before @until_ns? */
static bool epoch_is_left(const unsigned int *depth, u64 until_ns)
{
	do {
		/* Pairs with the release of hroce_epoch_end(). */
		if (!smp_load_acquire(depth))
			return true;
		cpu_relax();
	} while (ktime_get_ns() < until_ns);
	return false;
}

void hroce_epoch_wait(void)
{
	u64 until_ns = ktime_get_ns() + PATIENCE_NS;
	int cpu;

	might_sleep();
	/* Remove, then load the depth: pairs with hroce_epoch_begin(). */
	smp_mb();
	for_each_possible_cpu(cpu) {
		if (epoch_is_left(&per_cpu_ptr(&hroce_epoch, cpu)->depth,
				  until_ns))
			continue;
		synchronize_rcu_expedited();
		return;
	}
}

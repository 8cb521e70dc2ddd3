/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Epochs of the datapath: from the look-up of queue pairs, regions and SRQs
 * to their last use. To destroy such an object, remove it from its table and
 * wait for all epochs that may have found it.
 *
 * An epoch is not preempted, so it is an RCU read-side critical section, too.
 * But a grace period takes milliseconds if a CPU is busy, as it must reach a
 * quiescent state, however short its epochs are. So each CPU publishes
 * whether it is in an epoch, and waiting usually takes one load per CPU.
 *
 * The work of an epoch is limited: the outermost epoch of a CPU begins with
 * a budget of HROCE_EPOCH_WORK. When that is spent, a tasklet does the rest
 * in an epoch of its own.
 */
#ifndef HROCE_EPOCH_H
#define HROCE_EPOCH_H

#include <linux/bottom_half.h>
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

/*
 * Budget of an epoch, nested ones included: packets sent, which may be
 * received at once, local operations and flushed requests, a microsecond each
 * if the ICRC is cheap. That is 1 MB in packets of 4 KB.
 */
#define HROCE_EPOCH_WORK	256

/**
 * struct hroce_epoch - epochs that a CPU is in
 * @depth: nesting depth
 * @left: rest of the budget; negative if the last charge exceeded it
 * @begin_ns: start of the outermost one, if traced
 */
struct hroce_epoch {
	unsigned int depth;
	int left;
	u64 begin_ns;
};

DECLARE_PER_CPU(struct hroce_epoch, hroce_epoch);

DECLARE_TRACEPOINT(hroce_epoch);

/* Trace an outermost epoch. */
void hroce_epoch_trace_begin(struct hroce_epoch *epoch);
void hroce_epoch_trace_end(const struct hroce_epoch *epoch);

/**
 * hroce_epoch_begin - begin an epoch where BH or preemption is disabled
 *
 * They stay so until hroce_epoch_end(): epochs nest, and end on the same
 * CPU. Elsewhere use hroce_epoch_enter().
 */
static inline void hroce_epoch_begin(void)
{
	struct hroce_epoch *epoch = this_cpu_ptr(&hroce_epoch);

	if (!epoch->depth) {
		epoch->left = HROCE_EPOCH_WORK;
		if (tracepoint_enabled(hroce_epoch))
			hroce_epoch_trace_begin(epoch);
	}
	WRITE_ONCE(epoch->depth, epoch->depth + 1);
	/*
	 * Store the depth, then look up. Pairs with hroce_epoch_wait(), which
	 * loads the depth after the removal: either it sees this epoch, or
	 * this epoch does not find the removed object.
	 */
	smp_mb();
}

/*
 * End an epoch: objects found in it must not be used any more. Context: as
 * hroce_epoch_begin().
 */
static inline void hroce_epoch_end(void)
{
	struct hroce_epoch *epoch = this_cpu_ptr(&hroce_epoch);

	if (tracepoint_enabled(hroce_epoch) && epoch->depth == 1)
		hroce_epoch_trace_end(epoch);
	/* Uses come before; pairs with the acquire of epoch_is_left(). */
	smp_store_release(&epoch->depth, epoch->depth - 1);
}

/**
 * hroce_epoch_enter - begin an epoch and an RCU read side
 *
 * Disables BH until hroce_epoch_leave(). Context: process or softirq.
 */
static inline void hroce_epoch_enter(void)
{
	local_bh_disable();
	rcu_read_lock();
	hroce_epoch_begin();
}

static inline void hroce_epoch_leave(void)
{
	hroce_epoch_end();
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * hroce_epoch_charge - charge work to this epoch
 * @work: amount, see HROCE_EPOCH_WORK
 *
 * Context: in an epoch.
 */
static inline void hroce_epoch_charge(u32 work)
{
	this_cpu_ptr(&hroce_epoch)->left -= work;
}

/**
 * hroce_epoch_left - get the rest of the budget of this epoch
 *
 * Context: in an epoch.
 * Return: work left; 0 if another epoch must do the rest.
 */
static inline u32 hroce_epoch_left(void)
{
	int left = this_cpu_ptr(&hroce_epoch)->left;

	return left > 0 ? left : 0;
}

/* For look-ups, which need an epoch. */
static inline void hroce_epoch_assert(void)
{
	lockdep_assert(this_cpu_read(hroce_epoch.depth));
}

/**
 * hroce_epoch_wait - wait for epochs that may use a removed object
 *
 * Epochs that begin later do not find objects removed before the call.
 * Context: process, may sleep, not in an epoch.
 */
void hroce_epoch_wait(void);

#endif /* HROCE_EPOCH_H */

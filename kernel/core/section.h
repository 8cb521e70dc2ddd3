/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sections of the datapath: from the look-up of queue pairs, regions and SRQs
 * to their last use. To destroy such an object, remove it from its table and
 * wait for all sections that may have found it.
 *
 * A section is not preempted, so it is an RCU read-side critical section, too.
 * But a grace period takes milliseconds if a CPU is busy, as it must reach a
 * quiescent state, however short its sections are. So each CPU publishes
 * whether it is in a section, and waiting usually takes one load per CPU.
 *
 * The work of a section is limited: the outermost section of a CPU begins with
 * a budget of HROCE_SECTION_WORK. When that is spent, a tasklet does the rest
 * in a section of its own.
 */
#ifndef HROCE_SECTION_H
#define HROCE_SECTION_H

#include <linux/bottom_half.h>
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

/*
 * Budget of a section, nested ones included: packets sent, which may be
 * received at once, local operations and flushed requests, a microsecond each
 * if the ICRC is cheap. That is 1 MB in packets of 4 KB.
 */
#define HROCE_SECTION_WORK	256

/**
 * struct hroce_section - sections that a CPU is in
 * @depth: nesting depth
 * @left: rest of the budget; negative if the last charge exceeded it
 * @begin_ns: start of the outermost one, if traced
 */
struct hroce_section {
	unsigned int depth;
	int left;
	u64 begin_ns;
};

DECLARE_PER_CPU(struct hroce_section, hroce_section);

DECLARE_TRACEPOINT(hroce_section);

/* Trace an outermost section. */
void hroce_section_trace_begin(struct hroce_section *section);
void hroce_section_trace_end(const struct hroce_section *section);

/**
 * hroce_section_begin - begin a section where BH or preemption is disabled
 *
 * They stay so until hroce_section_end(): sections nest, and end on the same
 * CPU. Elsewhere use hroce_section_enter().
 */
static inline void hroce_section_begin(void)
{
	struct hroce_section *section = this_cpu_ptr(&hroce_section);

	if (!section->depth) {
		section->left = HROCE_SECTION_WORK;
		if (tracepoint_enabled(hroce_section))
			hroce_section_trace_begin(section);
	}
	WRITE_ONCE(section->depth, section->depth + 1);
	/*
	 * Store the depth, then look up. Pairs with hroce_section_wait(), which
	 * loads the depth after the removal: either it sees this section, or
	 * this section does not find the removed object.
	 */
	smp_mb();
}

/*
 * End a section: objects found in it must not be used any more. Context: as
 * hroce_section_begin().
 */
static inline void hroce_section_end(void)
{
	struct hroce_section *section = this_cpu_ptr(&hroce_section);

	if (tracepoint_enabled(hroce_section) && section->depth == 1)
		hroce_section_trace_end(section);
	/* Uses come before; pairs with the acquire of section_is_left(). */
	smp_store_release(&section->depth, section->depth - 1);
}

/**
 * hroce_section_enter - begin a section and an RCU read side
 *
 * Disables BH until hroce_section_leave(). Context: process or softirq.
 */
static inline void hroce_section_enter(void)
{
	local_bh_disable();
	rcu_read_lock();
	hroce_section_begin();
}

static inline void hroce_section_leave(void)
{
	hroce_section_end();
	rcu_read_unlock();
	local_bh_enable();
}

/**
 * hroce_section_charge - charge work to this section
 * @work: amount, see HROCE_SECTION_WORK
 *
 * Context: in a section.
 */
static inline void hroce_section_charge(u32 work)
{
	this_cpu_ptr(&hroce_section)->left -= work;
}

/**
 * hroce_section_left - get the rest of the budget of this section
 *
 * Context: in a section.
 * Return: work left; 0 if another section must do the rest.
 */
static inline u32 hroce_section_left(void)
{
	int left = this_cpu_ptr(&hroce_section)->left;

	return left > 0 ? left : 0;
}

/* For look-ups, which need a section. */
static inline void hroce_section_assert(void)
{
	lockdep_assert(this_cpu_read(hroce_section.depth));
}

/**
 * hroce_section_wait - wait for sections that may use a removed object
 *
 * Sections that begin later do not find objects removed before the call.
 * Context: process, may sleep, not in a section.
 */
void hroce_section_wait(void);

#endif /* HROCE_SECTION_H */

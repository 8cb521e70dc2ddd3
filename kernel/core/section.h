/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sections of the datapath: from the look-up of queue pairs, regions and SRQs
 * to their last use. To destroy one of those, take it out of its table, and
 * wait until all sections that can have found it have ended.
 *
 * Each section is one of RCU, too, as nobody is preempted in it. But a grace
 * period of RCU takes milliseconds where a CPU is busy, as it has to get to a
 * place that RCU knows, however short its sections are. So each CPU says
 * whether it is in one, and waiting usually is no more than a look.
 *
 * A section is short because work within it is charged: the outermost section
 * of a CPU begins with HROCE_SECTION_WORK. When that is spent, the rest is left
 * to a tasklet, which is a section of its own.
 */
#ifndef HROCE_SECTION_H
#define HROCE_SECTION_H

#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

/*
 * Work that a section may do, nested ones included: packets sent, which may be
 * received at once, local operations and flushed requests, a microsecond each
 * where the ICRC costs little. That is 1 MB in packets of 4 KB.
 */
#define HROCE_SECTION_WORK	256

/**
 * struct hroce_section - sections that a CPU is in
 * @depth: how many: one may be begun within another
 * @left: work that may still be done in the outermost one; less than 0 if the
 *	last piece was larger than what was left
 * @begin_ns: when the outermost one began, if it is traced
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
 * hroce_section_begin - something is going to be looked up
 *
 * Context: BH, or preemption, disabled until hroce_section_end(), so that
 * sections of one CPU are nested, and it is this CPU that leaves them.
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
	 * comes behind the removal and loads the depth: either it sees that we
	 * are in here, or we do not find what has been removed.
	 */
	smp_mb();
}

/* Looked-up objects are not used after this. Context: as for the begin. */
static inline void hroce_section_end(void)
{
	struct hroce_section *section = this_cpu_ptr(&hroce_section);

	if (tracepoint_enabled(hroce_section) && section->depth == 1)
		hroce_section_trace_end(section);
	/* All use comes before; pairs with the acquire of who waits. */
	smp_store_release(&section->depth, section->depth - 1);
}

/**
 * hroce_section_charge - work is done in this section
 * @work: how much, see HROCE_SECTION_WORK
 *
 * Context: in a section.
 */
static inline void hroce_section_charge(u32 work)
{
	this_cpu_ptr(&hroce_section)->left -= work;
}

/**
 * hroce_section_left - how much work may still be done in this section?
 *
 * Context: in a section.
 * Return: work; 0 if the rest is to be left to another section.
 */
static inline u32 hroce_section_left(void)
{
	int left = this_cpu_ptr(&hroce_section)->left;

	return left > 0 ? left : 0;
}

/* For look-ups: they are made within a section only. */
static inline void hroce_section_assert(void)
{
	lockdep_assert(this_cpu_read(hroce_section.depth));
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

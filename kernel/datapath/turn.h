/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Taking turns on one CPU.
 *
 * Two processes that talk to each other and poll for it need a CPU each. If
 * they share one, each polls for nothing until its time slice ends. A message
 * to a process that sleeps wakes it, and the scheduler does the rest; the
 * scheduler does not know that a running process waits. We do: its queue pair
 * was last kicked on this CPU, and has just received a message. So the sender
 * of that message sleeps, until it gets an answer or for a moment.
 */
#ifndef HROCE_TURN_H
#define HROCE_TURN_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>

struct hroce_qp;

#define HROCE_TURN_NOWHERE	U16_MAX

/**
 * struct hroce_turn - what a queue pair of user space knows of it
 * @waiter: task that has kicked the queue pair and stepped aside, with a
 *	reference; taken by who wakes it, or else by itself
 * @tgid: process that kicked last
 * @cpu: CPU on which it did; HROCE_TURN_NOWHERE if none has
 * @in_vain: how often in a row nobody answered in time
 * @skip: kicks for which nobody steps aside because of that
 *
 * All but @waiter are hints, and written without a lock.
 */
struct hroce_turn {
	struct task_struct *waiter;
	pid_t tgid;
	u16 cpu;
	u16 in_vain:4;
	u16 skip:12;
};

/**
 * struct hroce_turn_mark - how things were before a kick
 * @heard: hroce_turn_heard_here of this CPU
 * @prod: completions of the send queue so far
 */
struct hroce_turn_mark {
	unsigned int heard;
	u32 prod;
};

/* Messages heard by other processes that kick on this CPU, too. */
DECLARE_PER_CPU(unsigned int, hroce_turn_heard_here);

/**
 * hroce_turn_begin - a queue pair is about to be kicked
 * @qp: queue pair of user space
 * @mark: filled in
 *
 * Context: process, in a section.
 */
void hroce_turn_begin(struct hroce_qp *qp, struct hroce_turn_mark *mark);

/**
 * hroce_turn_may_end - is there reason to call hroce_turn_end()?
 * @mark: from hroce_turn_begin()
 *
 * Usually false, which saves a second look-up of the queue pair.
 * Context: process, no section.
 * Return: true if somebody who shares this CPU has heard something.
 */
static inline bool hroce_turn_may_end(const struct hroce_turn_mark *mark)
{
	return raw_cpu_read(hroce_turn_heard_here) != mark->heard;
}

/**
 * hroce_turn_end - a queue pair has been kicked: step aside?
 * @qp: queue pair of user space
 * @mark: from hroce_turn_begin()
 *
 * Context: process, in a section, after hroce_turn_may_end().
 * Return: true if hroce_turn_wait() and hroce_turn_over() must follow, with
 * nothing in between that sleeps.
 */
bool hroce_turn_end(struct hroce_qp *qp, const struct hroce_turn_mark *mark);

/**
 * hroce_turn_wait - step aside
 *
 * Context: process, sleeps.
 */
void hroce_turn_wait(void);

/**
 * hroce_turn_over - back again
 * @qp: queue pair
 *
 * If the queue pair cannot be found any more, its destruction is enough.
 * Context: process, in a section.
 */
void hroce_turn_over(struct hroce_qp *qp);

/**
 * hroce_turn_wake - wake who has stepped aside, if anybody has
 * @turn: of a queue pair
 *
 * For hroce_turn_heard(), and for a queue pair that is destroyed.
 * Context: any but hard interrupt.
 */
void hroce_turn_wake(struct hroce_turn *turn);

/* A message for the queue pair has arrived. Context: softirq, in a section. */
static inline void hroce_turn_heard(struct hroce_turn *turn)
{
	if (READ_ONCE(turn->cpu) == smp_processor_id() &&
	    READ_ONCE(turn->tgid) != current->tgid)
		__this_cpu_inc(hroce_turn_heard_here);
	if (unlikely(READ_ONCE(turn->waiter)))
		hroce_turn_wake(turn);
}

#endif /* HROCE_TURN_H */

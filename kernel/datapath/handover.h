/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hand-over of a CPU between two processes that poll.
 *
 * Two processes that exchange messages and poll for them need a CPU each. If
 * they share one, each polls in vain until its time slice ends. A message wakes
 * a process that sleeps, but the scheduler does not know that a running process
 * waits for one. This module does: the queue pair was last kicked on this CPU,
 * and has just received a message. So the sender of that message sleeps until a
 * reply arrives, or for a moment.
 *
 * A message of 8 bytes between two such processes then takes one sleep: 16 us
 * in user-mode Linux at native speed, 78 us in an emulated x86. Without it, it
 * takes a tick or a time slice, on any processor: 10,000 us and 6,100 us.
 */
#ifndef HROCE_HANDOVER_H
#define HROCE_HANDOVER_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>

struct hroce_qp;

#define HROCE_HANDOVER_NOWHERE	U16_MAX

/**
 * struct hroce_handover - state of a queue pair of user space
 * @waiter: task that sleeps after it kicked the queue pair, with a reference;
 *	cleared by its waker, or else by itself
 * @tgid: process that kicked last
 * @cpu: CPU of that kick; HROCE_HANDOVER_NOWHERE if there was none
 * @in_vain: number of sleeps in a row without a reply in time
 * @skip: number of kicks that do not sleep because of that
 *
 * All but @waiter are hints, and written without a lock.
 */
struct hroce_handover {
	struct task_struct *waiter;
	pid_t tgid;
	u16 cpu;
	u16 in_vain:4;
	u16 skip:12;
};

/**
 * struct hroce_handover_mark - state before a kick
 * @heard: hroce_handover_heard_here of this CPU
 * @prod: completions of the send queue so far
 */
struct hroce_handover_mark {
	unsigned int heard;
	u32 prod;
};

/* Messages received by other processes that kick on this CPU, too. */
DECLARE_PER_CPU(unsigned int, hroce_handover_heard_here);

/**
 * hroce_handover_begin - record the state before a kick
 * @qp: queue pair of user space
 * @mark: filled in
 *
 * Context: process, in an epoch.
 */
void hroce_handover_begin(struct hroce_qp *qp,
			  struct hroce_handover_mark *mark);

/**
 * hroce_handover_may_end - should hroce_handover_end() be called?
 * @mark: from hroce_handover_begin()
 *
 * Usually false, which saves a second look-up of the queue pair.
 * Context: process, no epoch.
 * Return: true if another process on this CPU has received a message.
 */
static inline bool
hroce_handover_may_end(const struct hroce_handover_mark *mark)
{
	return raw_cpu_read(hroce_handover_heard_here) != mark->heard;
}

/**
 * hroce_handover_end - should the task sleep after a kick?
 * @qp: queue pair of user space
 * @mark: from hroce_handover_begin()
 *
 * Context: process, in an epoch, after hroce_handover_may_end().
 * Return: true if hroce_handover_wait() and hroce_handover_over() must follow,
 * with no other sleep in between.
 */
bool hroce_handover_end(struct hroce_qp *qp,
			const struct hroce_handover_mark *mark);

/**
 * hroce_handover_wait - sleep until a reply arrives, or for a moment
 *
 * Context: process, sleeps.
 */
void hroce_handover_wait(void);

/**
 * hroce_handover_over - clean up after hroce_handover_wait()
 * @qp: queue pair
 *
 * Not needed if the queue pair is gone: its destruction does the same.
 * Context: process, in an epoch.
 */
void hroce_handover_over(struct hroce_qp *qp);

/**
 * hroce_handover_wake - wake the task that sleeps after a kick, if any
 * @handover: of a queue pair
 *
 * For hroce_handover_heard(), and for the destruction of a queue pair.
 * Context: any but hard interrupt.
 */
void hroce_handover_wake(struct hroce_handover *handover);

/* Does another process that kicks on this CPU use the queue pair? */
static inline bool hroce_handover_is_near(const struct hroce_handover *handover)
{
	return READ_ONCE(handover->cpu) == smp_processor_id() &&
	       READ_ONCE(handover->tgid) != current->tgid;
}

/* A message for the queue pair has arrived. Context: softirq, in an epoch. */
static inline void hroce_handover_heard(struct hroce_handover *handover)
{
	if (hroce_handover_is_near(handover))
		__this_cpu_inc(hroce_handover_heard_here);
	if (unlikely(READ_ONCE(handover->waiter)))
		hroce_handover_wake(handover);
}

#endif /* HROCE_HANDOVER_H */

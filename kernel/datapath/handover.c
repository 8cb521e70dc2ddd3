// SPDX-License-Identifier: GPL-2.0
/*
 * Hand-over of a CPU, see handover.h.
 *
 * It must be free where it cannot help. So a kick sleeps only if another task
 * wants this CPU, a process that kicks on this CPU has received the message,
 * and the sender has nothing else to do: the only completion not yet polled is
 * that of this request. If no reply arrives in time, the heuristic was wrong,
 * and more and more kicks are skipped before the next attempt.
 *
 * yield() is no substitute: it does not switch to a task that is ahead of its
 * share.
 */
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include "cq.h"
#include "handover.h"
#include "qp.h"

/*
 * Much longer than two context switches and a reply. A shorter time would need
 * a clock event of its own, set and cancelled for each message; and where
 * sleeping does not help, processes wait for ticks anyway.
 */
#define HANDOVER_TICKS	1
/* This many sleeps in a row without a reply may be accidental. */
#define PATIENCE	5
#define MAX_IN_VAIN	15

DEFINE_PER_CPU(unsigned int, hroce_handover_heard_here);

void hroce_handover_begin(struct hroce_qp *qp, struct hroce_handover_mark *mark)
{
	struct hroce_handover *handover = &qp->handover;
	u16 cpu = raw_smp_processor_id();

	if (handover->cpu != cpu)
		WRITE_ONCE(handover->cpu, cpu);
	if (handover->tgid != current->tgid)
		WRITE_ONCE(handover->tgid, current->tgid);
	mark->heard = raw_cpu_read(hroce_handover_heard_here);
	mark->prod = READ_ONCE(qp->send_cq->prod);
}

/* Is the completion of the request the only one not polled yet? */
static bool handover_is_idle(struct hroce_cq *cq, u32 prod_before)
{
	return READ_ONCE(cq->prod) != prod_before && hroce_cq_pending(cq) == 1;
}

bool hroce_handover_end(struct hroce_qp *qp,
			const struct hroce_handover_mark *mark)
{
	struct hroce_handover *handover = &qp->handover;

	if (single_task_running() || !READ_ONCE(hqp_dev(qp)->hand_over) ||
	    !handover_is_idle(qp->send_cq, mark->prod))
		return false;
	if (handover->skip) {
		handover->skip--;
		return false;
	}
	/* Another thread may have kicked, too; only one sleeps. */
	get_task_struct(current);
	if (cmpxchg(&handover->waiter, NULL, current)) {
		put_task_struct(current);
		return false;
	}
	hroce_port_stat_inc(&hqp_dev(qp)->port, HROCE_EV_HANDOVERS);
	/*
	 * If the reply arrives before the cmpxchg(), the task sleeps in vain,
	 * which is harmless. After it, the reply wakes the task.
	 */
	set_current_state(TASK_INTERRUPTIBLE);
	if (READ_ONCE(handover->waiter) == current)
		return true;
	__set_current_state(TASK_RUNNING);
	return false;
}

void hroce_handover_wait(void)
{
	schedule_timeout(HANDOVER_TICKS);
}

void hroce_handover_over(struct hroce_qp *qp)
{
	struct hroce_handover *handover = &qp->handover;

	if (cmpxchg(&handover->waiter, current, NULL) != current) {
		handover->in_vain = 0;
		return;
	}
	put_task_struct(current);
	if (handover->in_vain < MAX_IN_VAIN)
		handover->in_vain++;
	if (handover->in_vain > PATIENCE)
		handover->skip = (1 << (handover->in_vain - PATIENCE)) - 1;
}

void hroce_handover_wake(struct hroce_handover *handover)
{
	struct task_struct *waiter = xchg(&handover->waiter, NULL);

	if (!waiter)
		return;
	/* It may be awake already; another wake-up is harmless. */
	wake_up_process(waiter);
	put_task_struct(waiter);
}

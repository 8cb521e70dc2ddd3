// SPDX-License-Identifier: GPL-2.0
/*
 * Taking turns on one CPU, see turn.h.
 *
 * It must be free where it cannot help. So a kick does not sleep unless another
 * task wants this CPU, the message has been received by a process that kicks on
 * it, and the sender has nothing else to do: the only completion that it still
 * polls for is that of this very request. If no answer comes in time, the
 * heuristic was wrong, and more and more kicks pass before the next attempt.
 *
 * yield() is no substitute: it does not switch to a task that is ahead of its
 * share.
 */
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/sched/task.h>
#include "../verbs/cq.h"
#include "../verbs/qp.h"
#include "turn.h"

/*
 * Much longer than it takes to switch processes twice and to answer. Anything
 * shorter would need a clock event of its own, set and cancelled with each
 * message, and where sleeping does not help ticks are waited for anyway.
 */
#define TURN_TICKS	1
/* So often in vain it may be by accident. */
#define PATIENCE	5
#define MAX_IN_VAIN	15

DEFINE_PER_CPU(unsigned int, hroce_turn_heard_here);

void hroce_turn_begin(struct hroce_qp *qp, struct hroce_turn_mark *mark)
{
	struct hroce_turn *turn = &qp->turn;
	u16 cpu = raw_smp_processor_id();

	if (turn->cpu != cpu)
		WRITE_ONCE(turn->cpu, cpu);
	if (turn->tgid != current->tgid)
		WRITE_ONCE(turn->tgid, current->tgid);
	mark->heard = raw_cpu_read(hroce_turn_heard_here);
	mark->prod = READ_ONCE(qp->send_cq->prod);
}

/* Has the request completed, and its completion not been polled for yet? */
static bool turn_is_idle(struct hroce_cq *cq, u32 prod_before)
{
	return READ_ONCE(cq->prod) != prod_before && hroce_cq_pending(cq) == 1;
}

bool hroce_turn_end(struct hroce_qp *qp, const struct hroce_turn_mark *mark)
{
	struct hroce_turn *turn = &qp->turn;

	if (single_task_running() || !READ_ONCE(hqp_dev(qp)->take_turns) ||
	    !turn_is_idle(qp->send_cq, mark->prod))
		return false;
	if (turn->skip) {
		turn->skip--;
		return false;
	}
	/* Another thread may have kicked, too; one of them is enough. */
	get_task_struct(current);
	if (cmpxchg(&turn->waiter, NULL, current)) {
		put_task_struct(current);
		return false;
	}
	hroce_port_stat_inc(&hqp_dev(qp)->port, HROCE_EV_TURNS);
	/*
	 * If we are preempted before this and the answer arrives meanwhile,
	 * we sleep in vain, which is harmless. After it we are woken.
	 */
	set_current_state(TASK_INTERRUPTIBLE);
	if (READ_ONCE(turn->waiter) == current)
		return true;
	__set_current_state(TASK_RUNNING);
	return false;
}

void hroce_turn_wait(void)
{
	schedule_timeout(TURN_TICKS);
}

void hroce_turn_over(struct hroce_qp *qp)
{
	struct hroce_turn *turn = &qp->turn;

	if (cmpxchg(&turn->waiter, current, NULL) != current) {
		turn->in_vain = 0;
		return;
	}
	put_task_struct(current);
	if (turn->in_vain < MAX_IN_VAIN)
		turn->in_vain++;
	if (turn->in_vain > PATIENCE)
		turn->skip = (1 << (turn->in_vain - PATIENCE)) - 1;
}

void hroce_turn_wake(struct hroce_turn *turn)
{
	struct task_struct *waiter = xchg(&turn->waiter, NULL);

	if (!waiter)
		return;
	/* It may be up again by itself: one more time does no harm. */
	wake_up_process(waiter);
	put_task_struct(waiter);
}

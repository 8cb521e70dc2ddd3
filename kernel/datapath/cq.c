// SPDX-License-Identifier: GPL-2.0
/*
 * Completing: writes entries into rings, and calls completion handlers. Queues
 * of user space and of the kernel are the same rings.
 */
#include <linux/timekeeping.h>
#include "../trace/trace.h"
#include "cq.h"
#include "dev.h"
#include "ucq.h"

/* Marks completions to skip: no queue pair has this number. */
#define QPN_NONE	U32_MAX

/*
 * Most unread completion events of a user CQ. ib_uverbs allocates each event in
 * memory that is not charged to a cgroup; this many take less than the smallest
 * CQ.
 */
#define MAX_UNREAD_EVENTS	32

/* Most calls of the completion handler in a row. */
#define MAX_CALLS	16

static u32 cq_room(const struct hroce_cq *cq)
{
	const struct hroce_cq_hdr *hdr = cq->hdr;
	u32 used;

	if (unlikely(cq->ignore_overrun))
		return 1;
	/* The slots up to @cons are free once their reader is done. */
	used = cq->prod - (cq->user ? smp_load_acquire(&hdr->cons) : cq->cons);
	/* An invalid @cons counts as a full queue. */
	return used < cq->ring->nr_entries ? cq->ring->nr_entries - used : 0;
}

/*
 * False if the process does not read its events: the CQ then stays armed. The
 * consumer misses nothing: it has older events to read, and finds this
 * completion when it polls after them.
 */
static bool cq_may_fire(const struct hroce_cq *cq)
{
	const struct hroce_ucq *obj = cq->object;

	lockdep_assert_held(&cq->lock);
	return !obj || READ_ONCE(cq->nr_events) -
		       READ_ONCE(obj->comp_events_reported) < MAX_UNREAD_EVENTS ||
	       list_empty(&obj->comp_list);
}

static void cq_fire(struct hroce_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	cq->held_back = 0;
	/* The next delay begins anew, unless the timer is just expiring. */
	if (unlikely(cq->timer_on) && hrtimer_try_to_cancel(&cq->timer) >= 0)
		cq->timer_on = false;
	/*
	 * If the consumer arms the CQ again before this store, no event is
	 * lost: this one is raised after that.
	 */
	WRITE_ONCE(cq->hdr->arm, HROCE_CQ_ARM_NONE);
	set_bit(HROCE_CQ_COMP, &cq->events);
}

/* Moderation: does the event wait for further completions? */
static bool cq_hold_back(struct hroce_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	if (++cq->held_back >= cq->mod_count)
		return false;
	if (cq->timer_on)
		return true;
	cq->timer_on = true;
	hrtimer_start(&cq->timer,
		      ns_to_ktime(cq->mod_period_us * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
	return true;
}

/* Return: true if this completion raises an event. */
static bool cq_disarm(struct hroce_cq *cq, bool solicited)
{
	u32 arm;

	/* Store the entry, then load arm: see rdma/hroce-abi.h. */
	smp_mb();
	arm = READ_ONCE(cq->hdr->arm);
	if (arm != HROCE_CQ_ARM_NEXT &&
	    !(arm == HROCE_CQ_ARM_SOLICITED && solicited))
		return false;
	if (unlikely(!cq_may_fire(cq)))
		return false;
	if (unlikely(cq->mod_count) && cq_hold_back(cq))
		return false;
	cq_fire(cq);
	return true;
}

/* The moderation period is over. Polled completions need no event. */
static enum hrtimer_restart cq_timer(struct hrtimer *timer)
{
	struct hroce_cq *cq = container_of(timer, struct hroce_cq, timer);
	const struct hroce_cq_hdr *hdr = cq->hdr;
	unsigned long flags;
	bool notify = false;

	rcu_read_lock();
	spin_lock_irqsave(&cq->lock, flags);
	cq->timer_on = false;
	if (cq->held_back && READ_ONCE(hdr->arm) != HROCE_CQ_ARM_NONE &&
	    cq->prod != (cq->user ? READ_ONCE(hdr->cons) : cq->cons) &&
	    cq_may_fire(cq)) {
		cq_fire(cq);
		notify = true;
	}
	cq->held_back = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		hroce_cq_notify(cq);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

static bool cq_lose(struct hroce_cq *cq)
{
	hroce_port_stat_inc(&to_hdev(cq->ib.device)->port,
			    HROCE_EV_CQ_OVERRUNS);
	if (cq->overrun)
		return false;
	WRITE_ONCE(cq->overrun, true);
	set_bit(HROCE_CQ_ERR, &cq->events);
	return true;
}

bool hroce_cq_push(struct hroce_cq *cq, const struct hroce_cqe *cqe,
		   bool solicited)
{
	struct hroce_cqe *slot;
	unsigned long flags;
	bool notify;

	trace_hroce_complete(cqe);
	spin_lock_irqsave(&cq->lock, flags);
	if (unlikely(cq->overrun || !cq_room(cq))) {
		notify = cq_lose(cq);
		goto unlock;
	}
	slot = hroce_ring_entry(cq->ring, cq->prod);
	/* hrp_cqe_begin() sets these fields; the others are still zero. */
	memcpy(slot, cqe, offsetof(struct hroce_cqe, reserved));
	if (unlikely(cq->timestamps))
		slot->timestamp_ns = ktime_get_ns();
	/* Pairs with the consumer's acquire. */
	smp_store_release(&slot->owner, hroce_cq_phase(cq->ring, cq->prod));
	cq->prod++;
	notify = cq_disarm(cq, solicited);
unlock:
	spin_unlock_irqrestore(&cq->lock, flags);
	return notify;
}

/*
 * Clear RUNNING unless COMP is set. COMP is set before RUNNING is tested, and
 * both are in one word, so no event is lost.
 *
 * Return: true if that was the last access to @cq.
 */
static bool cq_rest(struct hroce_cq *cq)
{
	unsigned long events = READ_ONCE(cq->events);

	do {
		if (events & BIT(HROCE_CQ_COMP))
			return false;
	} while (!try_cmpxchg_release(&cq->events, &events,
				      events & ~BIT(HROCE_CQ_RUNNING)));
	return true;
}

/*
 * Count anew when the list is empty: some events may not have been queued, for
 * lack of memory or of a channel.
 */
static void cq_count_event(struct hroce_cq *cq)
{
	const struct hroce_ucq *obj = cq->object;
	u32 nr = cq->nr_events;

	if (!obj)
		return;
	if (list_empty(&obj->comp_list))
		nr = READ_ONCE(obj->comp_events_reported);
	WRITE_ONCE(cq->nr_events, nr + 1);
}

/*
 * The caller has set RUNNING. Other CPUs may keep arming the CQ and adding
 * completions, so after MAX_CALLS @task continues: other softirqs must run,
 * too.
 */
static void cq_run(struct hroce_cq *cq)
{
	int calls = 0;

	do {
		while (test_and_clear_bit(HROCE_CQ_COMP, &cq->events)) {
			if (calls++ == MAX_CALLS) {
				set_bit(HROCE_CQ_COMP, &cq->events);
				tasklet_schedule(&cq->task);
				return;
			}
			trace_hroce_cq_event(cq->ib.res.id, cq->cpu);
			cq_count_event(cq);
			cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
		}
	} while (!cq_rest(cq));
}

static void cq_task(struct tasklet_struct *task)
{
	cq_run(container_of(task, struct hroce_cq, task));
}

static void cq_run_here(void *cq)
{
	cq_run(cq);
}

/*
 * Call the handler on the CPU of the vector, as a card's interrupt would. On
 * PREEMPT_RT handlers cannot run in hard interrupt context.
 */
static bool cq_run_there(struct hroce_cq *cq)
{
	return cq->cpu >= 0 && cq->cpu != smp_processor_id() &&
	       !IS_ENABLED(CONFIG_PREEMPT_RT) &&
	       !smp_call_function_single_async(cq->cpu, &cq->call);
}

void hroce_cq_notify(struct hroce_cq *cq)
{
	struct ib_event event = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	if (test_and_clear_bit(HROCE_CQ_ERR, &cq->events) &&
	    cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);

	if (!test_bit(HROCE_CQ_COMP, &cq->events) ||
	    test_and_set_bit_lock(HROCE_CQ_RUNNING, &cq->events))
		return;
	if (!cq_run_there(cq))
		cq_run(cq);
}

/* Return: index after the last entry examined. */
static u32 cq_forget_some(struct hroce_cq *cq, u32 qpn, u32 idx, u32 end)
{
	struct hroce_cqe *cqe;

	lockdep_assert_held(&cq->lock);
	end = idx + min_t(u32, end - idx, HROCE_CQ_LOCK_BATCH);
	for (; idx != end; idx++) {
		cqe = hroce_ring_entry(cq->ring, idx);
		if (cqe->qpn == qpn)
			cqe->qpn = QPN_NONE;
	}
	return idx;
}

void hroce_cq_forget(struct hroce_cq *cq, u32 qpn)
{
	unsigned long flags;
	u32 idx, end;

	if (!cq || cq->user)
		return;
	spin_lock_irqsave(&cq->lock, flags);
	idx = cq->cons;
	end = cq->prod;
	while ((s32)(end - idx) > 0) {
		idx = cq_forget_some(cq, qpn, idx, end);
		/* Allow interrupts between batches. */
		spin_unlock_irqrestore(&cq->lock, flags);
		spin_lock_irqsave(&cq->lock, flags);
		if ((s32)(cq->cons - idx) > 0)
			idx = cq->cons;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

u32 hroce_cq_pending(struct hroce_cq *cq)
{
	unsigned long flags;
	u32 used;

	spin_lock_irqsave(&cq->lock, flags);
	used = cq->prod - READ_ONCE(cq->hdr->cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return used;
}

void hroce_cq_init(struct hroce_cq *cq)
{
	spin_lock_init(&cq->lock);
	hrtimer_setup(&cq->timer, cq_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	INIT_CSD(&cq->call, cq_run_here, cq);
	tasklet_setup(&cq->task, cq_task);
}

void hroce_cq_stop(struct hroce_cq *cq)
{
	hrtimer_cancel(&cq->timer);
	/*
	 * Kill the tasklet before waiting for a CPU that runs the handler, and
	 * which may be this one, and again after it, as that CPU may have
	 * scheduled it.
	 */
	tasklet_kill(&cq->task);
	smp_cond_load_acquire(&cq->events, !(VAL & BIT(HROCE_CQ_RUNNING)));
	tasklet_kill(&cq->task);
}

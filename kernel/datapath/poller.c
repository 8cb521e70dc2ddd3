// SPDX-License-Identifier: GPL-2.0
/*
 * The poller of a link: off, asleep, or awake.
 *
 *	off --poll_us--> asleep --kick--> awake --nothing to do--> asleep
 *
 * While it is awake, the engine leaves need_kick at 0 as it finds a queue empty
 * (hrp_sq.watched), and notes that it relies on us. Then we look at the
 * producer's index of that queue again and again, and run the requester when it
 * has moved. Before we sleep, the engine looks at each queue once more, and
 * asks for kicks.
 *
 * Queue pairs are found like everywhere else: by number, in a section of the
 * datapath each. So they join as they are made, and leave as they are
 * destroyed.
 *
 * It must not take the CPU from the processes that it serves. If it loses its own to
 * others again and again it sleeps, and is not woken for a while; kicks do what
 * it would not do in time.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include "../core/section.h"
#include "../verbs/qp.h"
#include "poller.h"

/*
 * Losing the CPU for less is due to threads of the kernel that do not stay; the
 * scheduler's slices are some milliseconds.
 */
#define LOSS_NS		NSEC_PER_MSEC
/* More than some slices within this time, and nobody has been moved: enough. */
#define WINDOW_NS	(100 * NSEC_PER_MSEC)
#define MAX_LOST_NS	(30 * NSEC_PER_MSEC)
/* Nobody wakes it then for so long, and twice as long each time in a row. */
#define REST_TIME	(HZ / 8)
#define MAX_REST_SHIFT	5

/**
 * struct look - what happens between two sleeps
 * @dev: link
 * @busy_ns: when there was something to do last
 * @window_ns: when counting @lost_ns began
 * @lost_ns: for how long others had this CPU since
 */
struct look {
	struct hroce_dev *dev;
	u64 busy_ns;
	u64 window_ns;
	u64 lost_ns;
};

/*
 * Has something been posted since the engine came to rely on us? Only a hint:
 * nothing is locked, and the index is whatever the application writes.
 */
static bool poller_sees_post(const struct hroce_qp *qp)
{
	const struct hrp_sq *sq = &qp->proto.req.sq;

	return READ_ONCE(sq->polled) &&
	       READ_ONCE(sq->hdr->prod) != READ_ONCE(sq->head) &&
	       READ_ONCE(qp->proto.state) == HRP_RTS;
}

/* Return: true if that queue pair has got on. */
static bool poller_run(struct hroce_dev *dev, struct hroce_qp *qp)
{
	u32 head = READ_ONCE(qp->proto.req.sq.head);

	hroce_port_stat_inc(&dev->port, HROCE_EV_POLLED);
	hroce_qp_send_run(qp);
	return READ_ONCE(qp->proto.req.sq.head) != head;
}

/* Let others have the CPU if they are to, and note how long they had it. */
static void look_aside(struct look *look)
{
	u64 before_ns, now_ns;

	if (!need_resched()) {
		cond_resched_tasks_rcu_qs();
		return;
	}
	before_ns = ktime_get_ns();
	cond_resched_tasks_rcu_qs();
	now_ns = ktime_get_ns();
	if (now_ns - before_ns <= LOSS_NS)
		return;
	if (before_ns - look->window_ns > WINDOW_NS) {
		look->window_ns = before_ns;
		look->lost_ns = 0;
	}
	look->lost_ns += now_ns - before_ns;
}

/*
 * Look at all queue pairs once. @last: run the requester of each, so that it
 * asks for kicks. Return: true if there was something to do.
 */
static bool look_at_all(struct look *look, bool last)
{
	struct hroce_dev *dev = look->dev;
	unsigned long index = 0;
	struct hroce_qp *qp;
	bool busy = false;

	do {
		local_bh_disable();
		hroce_section_begin();
		qp = xa_find(&dev->qps, &index, ULONG_MAX, XA_PRESENT);
		if (qp && qp->user) {
			if (last)
				hroce_qp_send_run(qp);
			else if (poller_sees_post(qp))
				busy |= poller_run(dev, qp);
		}
		hroce_section_end();
		local_bh_enable();
		look_aside(look);
		index++;
	} while (qp);
	return busy;
}

static bool look_goes_on(const struct look *look, u64 now_ns)
{
	u64 poll_us = READ_ONCE(look->dev->poller.poll_us);

	return now_ns - look->busy_ns < poll_us * NSEC_PER_USEC &&
	       look->lost_ns < MAX_LOST_NS;
}

/* Return: false if others need this CPU more. */
static bool poller_look(struct hroce_dev *dev)
{
	struct look look = { .dev = dev, .busy_ns = ktime_get_ns() };
	u64 now_ns;

	WRITE_ONCE(dev->poller.awake, true);
	do {
		now_ns = ktime_get_ns();
		if (look_at_all(&look, false))
			look.busy_ns = now_ns;
		else
			cpu_relax();
	} while (look_goes_on(&look, now_ns));

	WRITE_ONCE(dev->poller.awake, false);
	/*
	 * A queue pair that is put into the table before this is found below.
	 * One that is put there later sees that the poller is not awake, as
	 * that takes this lock, too. A context that runs a requester takes its
	 * send lock before we do, and then we ask for a kick, or later, and
	 * then it sees that the poller is not awake.
	 */
	xa_lock(&dev->qps);
	xa_unlock(&dev->qps);
	look_at_all(&look, true);
	return look.lost_ns < MAX_LOST_NS;
}

static int poller_main(void *arg)
{
	struct hroce_dev *dev = arg;
	struct hroce_poller *poller = &dev->poller;
	unsigned int rests = 0;

	while (!kthread_should_stop()) {
		wait_event_idle(poller->wait, READ_ONCE(poller->wanted) ||
				kthread_should_stop());
		WRITE_ONCE(poller->wanted, false);
		if (poller_look(dev)) {
			rests = 0;
			continue;
		}
		WRITE_ONCE(poller->rest_until, jiffies + (REST_TIME << rests));
		rests = min(rests + 1, MAX_REST_SHIFT);
	}
	return 0;
}

void hroce_poller_wake_slow(struct hroce_poller *poller)
{
	if (READ_ONCE(poller->wanted) ||
	    time_before(jiffies, READ_ONCE(poller->rest_until)))
		return;
	WRITE_ONCE(poller->wanted, true);
	wake_up(&poller->wait);
}

static int poller_start(struct hroce_dev *dev)
{
	struct task_struct *task;

	task = kthread_run(poller_main, dev, "hroce/%s",
			   dev_name(&dev->ib.dev));
	if (IS_ERR(task))
		return PTR_ERR(task);
	dev->poller.task = task;
	return 0;
}

int hroce_poller_set(struct hroce_dev *dev, u64 poll_us)
{
	struct hroce_poller *poller = &dev->poller;
	int err = 0;

	if (poll_us > HROCE_POLLER_MAX_US)
		return -EINVAL;
	mutex_lock(&poller->lock);
	if (poll_us && !poller->task)
		err = poller_start(dev);
	if (!err)
		WRITE_ONCE(poller->poll_us, poll_us);
	if (!poll_us && poller->task) {
		kthread_stop(poller->task);
		poller->task = NULL;
	}
	mutex_unlock(&poller->lock);
	return err;
}

void hroce_poller_init(struct hroce_poller *poller)
{
	mutex_init(&poller->lock);
	init_waitqueue_head(&poller->wait);
	poller->rest_until = jiffies;
}

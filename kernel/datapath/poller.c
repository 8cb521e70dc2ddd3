// SPDX-License-Identifier: GPL-2.0
/*
 * The poller of a link: off, asleep, or awake.
 *
 *	off --poll_us--> asleep --kick--> awake --nothing to do--> asleep
 *
 * While the poller is awake, the engine leaves need_kick at 0 when it finds a
 * queue empty (hrp_sq.watched), and marks the queue as polled. The poller then
 * polls the producer index of that queue, and runs the requester when it has
 * moved. Before the poller sleeps, the engine checks each queue once more, and
 * requests kicks.
 *
 * Queue pairs are looked up by number, each in an epoch of its own, so those
 * created are found, and those destroyed are not.
 *
 * The poller must not take the CPU from the processes that it serves. If other
 * tasks take its CPU repeatedly, it sleeps and is not woken for a while; kicks
 * take over.
 */
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include "../core/epoch.h"
#include "poller.h"
#include "qp.h"

/*
 * A shorter loss of the CPU is due to kernel threads that run briefly; slices
 * of the scheduler are some milliseconds.
 */
#define LOSS_NS		NSEC_PER_MSEC
/* Sleep if more is lost within the window: some slices, and no migration. */
#define WINDOW_NS	(100 * NSEC_PER_MSEC)
#define MAX_LOST_NS	(30 * NSEC_PER_MSEC)
/* Then do not wake it for this long, doubled each time in a row. */
#define REST_TIME	(HZ / 8)
#define MAX_REST_SHIFT	5

/**
 * struct look - state between two sleeps
 * @dev: link
 * @busy_ns: last time that work was found
 * @window_ns: start of the window of @lost_ns
 * @lost_ns: time that other tasks had this CPU since then
 */
struct look {
	struct hroce_dev *dev;
	u64 busy_ns;
	u64 window_ns;
	u64 lost_ns;
};

/*
 * Have requests been posted since the engine began to rely on the poller? Only
 * a hint: nothing is locked, and the application may write any index.
 */
static bool poller_sees_post(const struct hroce_qp *qp)
{
	const struct hrp_sq *sq = &qp->proto.req.sq;

	return READ_ONCE(sq->polled) &&
	       READ_ONCE(sq->hdr->prod) != READ_ONCE(sq->head) &&
	       READ_ONCE(qp->proto.state) == HRP_RTS;
}

/* Return: true if the queue pair made progress. */
static bool poller_run(struct hroce_dev *dev, struct hroce_qp *qp)
{
	u32 head = READ_ONCE(qp->proto.req.sq.head);

	hroce_port_stat_inc(&dev->port, HROCE_EV_POLLED);
	hroce_qp_send_run(qp);
	return READ_ONCE(qp->proto.req.sq.head) != head;
}

/* Reschedule if needed, and account the time lost. */
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
 * Check all queue pairs once. @last: run the requester of each, so that it
 * requests kicks. Return: true if there was work.
 */
static bool look_at_all(struct look *look, bool last)
{
	struct hroce_dev *dev = look->dev;
	unsigned long index = 0;
	struct hroce_qp *qp;
	bool busy = false;

	do {
		hroce_epoch_enter();
		qp = xa_find(&dev->qps, &index, ULONG_MAX, XA_PRESENT);
		if (qp && qp->user) {
			if (last)
				hroce_qp_send_run(qp);
			else if (poller_sees_post(qp))
				busy |= poller_run(dev, qp);
		}
		hroce_epoch_leave();
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

/* Poll until idle. Return: false if other tasks need this CPU more. */
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
	 * A queue pair added to the table before this is found below. One added
	 * later sees that the poller is not awake, as adding takes this lock,
	 * too. A context that runs a requester takes the send lock either
	 * before the poller, which then requests a kick, or later, and then
	 * sees that the poller is not awake.
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

	task = kthread_run(poller_main, dev, "hroce/%s", dev->ib.name);
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

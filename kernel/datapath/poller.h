/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that looks into the send queues of a link, so that who posts need
 * not kick.
 */
#ifndef HROCE_POLLER_H
#define HROCE_POLLER_H

#include <linux/compiler.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/wait.h>

/* Longest time without work, in microseconds. */
#define HROCE_POLLER_MAX_US	1000000

/**
 * struct hroce_poller - poller of one link
 * @lock: one change of @poll_us at a time
 * @task: the thread; NULL if the poller is off [lock]
 * @poll_us: it sleeps after so long without work; 0: it is off
 * @awake: it looks: queues of user space that are empty ask for no kick
 * @wanted: something kicked since it fell asleep
 * @rest_until: in jiffies: nobody wakes it before
 * @wait: where it sleeps
 */
struct hroce_poller {
	struct mutex lock;
	struct task_struct *task;
	u32 poll_us;
	bool awake;
	bool wanted;
	unsigned long rest_until;
	wait_queue_head_t wait;
};

struct hroce_dev;

/**
 * hroce_poller_init - prepare the poller of a new link; it is off
 * @poller: to be prepared
 */
void hroce_poller_init(struct hroce_poller *poller);

/**
 * hroce_poller_set - switch the poller on or off
 * @dev: link
 * @poll_us: as @poll_us of &struct hroce_poller
 *
 * Context: process, may sleep.
 * Return: 0, -EINVAL if that is too long, or why no thread could be started.
 */
int hroce_poller_set(struct hroce_dev *dev, u64 poll_us);

/* Not to be called directly. */
void hroce_poller_wake_slow(struct hroce_poller *poller);

/**
 * hroce_poller_wake - something kicks
 * @poller: poller of the link
 *
 * Context: any.
 */
static inline void hroce_poller_wake(struct hroce_poller *poller)
{
	if (unlikely(READ_ONCE(poller->poll_us)) && !READ_ONCE(poller->awake))
		hroce_poller_wake_slow(poller);
}

#endif /* HROCE_POLLER_H */

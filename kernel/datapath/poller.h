/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A thread that polls the send queues of a link, so that posting needs no kick.
 *
 * On x86 with two CPUs, 20,000 writes of 64 bytes, each posted by itself, take
 * 20,000 system calls without it, and 5,700 to 8,500 with it. It costs a CPU.
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
 * @lock: serialises changes of @poll_us
 * @task: the thread; NULL if the poller is off [lock]
 * @poll_us: time without work after which it sleeps; 0: it is off
 * @awake: it polls: empty queues of user space request no kick
 * @wanted: a kick occurred since it fell asleep
 * @rest_until: do not wake it before this, in jiffies
 * @wait: wait queue of the thread
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
 * Return: 0, -EINVAL if @poll_us is too long, or negative errno if no thread
 * could be started.
 */
int hroce_poller_set(struct hroce_dev *dev, u64 poll_us);

/* Slow path of hroce_poller_wake(). */
void hroce_poller_wake_slow(struct hroce_poller *poller);

/**
 * hroce_poller_wake - wake the poller on a kick
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

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Lock of one queue, skipped where the application promised one thread.
 *
 * A spinlock: the critical sections take less time than a futex call and do not
 * sleep. The kick, the only system call of the fast path, comes after unlock.
 * Only resizing, which is rare, calls the kernel with the lock held.
 */
#ifndef HROCE_LOCK_H
#define HROCE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

/**
 * struct hroce_lock - lock of one queue
 * @spin: the lock
 * @used: false for a queue that only one thread uses at a time
 */
struct hroce_lock {
	pthread_spinlock_t spin;
	bool used;
};

static inline void hroce_lock_init(struct hroce_lock *lock, bool used)
{
	pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
	lock->used = used;
}

static inline void hroce_lock_destroy(struct hroce_lock *lock)
{
	pthread_spin_destroy(&lock->spin);
}

static inline void hroce_lock(struct hroce_lock *lock)
{
	if (lock->used)
		pthread_spin_lock(&lock->spin);
}

static inline void hroce_unlock(struct hroce_lock *lock)
{
	if (lock->used)
		pthread_spin_unlock(&lock->spin);
}

#endif /* HROCE_LOCK_H */

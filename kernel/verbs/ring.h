/* SPDX-License-Identifier: GPL-2.0 */
/* Allocating the memory of queues, and mapping it into user space. */
#ifndef HROCE_VERBS_RING_H
#define HROCE_VERBS_RING_H

#include "../datapath/ring.h"

struct hroce_ucontext;
struct ib_ucontext;

/**
 * hroce_ring_create - allocate the memory of a queue
 * @nr_entries: at least; rounded up to a power of two; not 0
 * @stride: bytes from one entry to the next, a multiple of 16
 * @ucontext: context that may map it; NULL: a queue of the kernel
 *
 * The memory is zeroed and charged to the caller's cgroup. That of user space
 * counts against RLIMIT_MEMLOCK of the caller.
 * Context: process, may sleep.
 * Return: the ring or ERR_PTR(): -ENOMEM: no memory, that limit is reached, or
 * the caller is being killed.
 */
struct hroce_ring *hroce_ring_create(u32 nr_entries, u32 stride,
				     struct ib_ucontext *ucontext);

/**
 * hroce_ring_export - let user space map a ring
 * @ring: from hroce_ring_create()
 * @ucontext: the same context
 * @info: filled in
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_ring_export(struct hroce_ring *ring, struct ib_ucontext *ucontext,
		      struct hroce_ring_info *info);

/**
 * hroce_ring_destroy - counterpart of hroce_ring_create()
 * @ring: ring that the kernel no longer uses, or NULL
 *
 * Mappings in user space keep the pages; the kernel no longer uses them.
 * Context: process, may sleep.
 */
void hroce_ring_destroy(struct hroce_ring *ring);

/**
 * hroce_rings_reap - free the rings of destroyed queues that are not mapped
 * @ucontext: their context; NULL: nothing is done
 *
 * They no longer count against RLIMIT_MEMLOCK then.
 * Context: process, may sleep.
 */
void hroce_rings_reap(struct ib_ucontext *ucontext);

/**
 * hroce_rings_reap_all - the same for all contexts that the process has opened
 *
 * For a process that has reached RLIMIT_MEMLOCK, before it tries again.
 * Context: process, may sleep.
 */
void hroce_rings_reap_all(void);

/* The context opens: it has no rings of destroyed queues yet. */
void hroce_rings_begin(struct hroce_ucontext *ctx);

/* Free the rings of destroyed queues when the context closes. */
void hroce_rings_release(struct hroce_ucontext *ctx);

#endif /* HROCE_VERBS_RING_H */

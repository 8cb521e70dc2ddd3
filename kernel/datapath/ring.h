/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of one queue: a header and a power-of-two number of entries, mapped
 * into user space for user queues.
 *
 * The top of rdma/hroce-abi.h says which barriers pair.
 */
#ifndef HROCE_RING_H
#define HROCE_RING_H

#include <linux/list.h>
#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>

/* Most entries of a send or receive queue. */
#define HROCE_MAX_WR		(1 << 15)

/**
 * struct hroce_ring - memory of one queue
 * @va: kernel address of the header
 * @entries: kernel address of entry 0
 * @nr_pages: number of @pages
 * @nr_entries: power of two
 * @stride: bytes from one entry to the next
 * @user: @entry is in use
 * @entry: mapping by user space; its release frees this structure
 * @payer: process whose pinned memory includes the ring; NULL: none
 * @node: in hroce_ucontext.old_rings, when the queue has been destroyed
 * @pages: memory of the ring; each mapping holds references, so it may outlive
 *	the queue
 *
 * User space may write anything there. No field changes once the ring is
 * in use.
 */
struct hroce_ring {
	void *va;
	void *entries;
	u32 nr_pages;
	u32 nr_entries;
	u32 stride;
	bool user;
	struct rdma_user_mmap_entry entry;
	struct mm_struct *payer;
	struct list_head node;
	struct page *pages[];
};

/* The entry in the slot of free-running index @idx. */
static inline void *hroce_ring_entry(const struct hroce_ring *ring, u32 idx)
{
	return ring->entries +
	       (size_t)(idx & (ring->nr_entries - 1)) * ring->stride;
}

/**
 * struct hroce_resize - resizing of a queue
 * @ring: prepared ring, or NULL
 * @stride: bytes from one entry to the next
 * @move: move the contents of the queue to @ring, and swap @ring with the
 *	current ring; false: it is too small, nothing has changed
 *
 * The queue serialises the steps.
 */
struct hroce_resize {
	struct hroce_ring *ring;
	u32 stride;
	bool (*move)(struct hroce_resize *resize);
};

#endif /* HROCE_RING_H */

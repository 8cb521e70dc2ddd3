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

struct hroce_ucontext;

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
 * hroce_ring_create - allocate the memory of a queue
 * @nr_entries: at least; rounded up to a power of two; not 0
 * @stride: bytes from one entry to the next, a multiple of 16
 *
 * The memory is zeroed and charged to the caller's cgroup.
 * Context: process, may sleep.
 * Return: the ring or ERR_PTR().
 */
struct hroce_ring *hroce_ring_create(u32 nr_entries, u32 stride);

/**
 * hroce_ring_export - let user space map a ring
 * @ring: from hroce_ring_create()
 * @ucontext: context that may map it
 * @info: filled in
 *
 * The memory counts against RLIMIT_MEMLOCK of the caller.
 * Context: process, may sleep.
 * Return: 0; -ENOMEM: no memory, or that limit is reached; other errno.
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

/* Free the rings of destroyed queues when the context closes. */
void hroce_rings_release(struct hroce_ucontext *ctx);

/* ib_device_ops.mmap and .mmap_free */
int hroce_ring_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma);
void hroce_ring_mmap_free(struct rdma_user_mmap_entry *entry);

#endif /* HROCE_RING_H */

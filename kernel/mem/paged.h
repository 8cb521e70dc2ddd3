/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a process that is not pinned: pages are known while the process
 * keeps them in place.
 */
#ifndef HROCE_PAGED_H
#define HROCE_PAGED_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct hroce_extent;

/**
 * struct hroce_paged - memory of a process
 * @mm: address space; the structure stays, its contents may go
 * @start: first address, page aligned
 * @end: end address, page aligned, or ULONG_MAX
 * @lock: lock of the region, see &struct hroce_region; held for writing to add
 *	or remove pages
 * @mutex: guards adding and removing chunks; outside of @lock. Never held while
 *	waiting for a page or for a lock of @mm
 * @chunks: chunks in use, by address
 * @nr_chunks: number of chunks [@mutex]
 * @forgotten: index of the chunk evicted last [@mutex]
 * @idle: chunks that the process has unmapped [@lock]
 * @reap: removes the chunks in @idle
 * @closed: no chunk is added any more [@mutex]
 * @invalidated: number of pages invalidated by MMU notifiers
 */
struct hroce_paged {
	struct mm_struct *mm;
	unsigned long start;
	unsigned long end;
	rwlock_t *lock;
	struct mutex mutex;
	struct xarray chunks;
	unsigned long nr_chunks;
	unsigned long forgotten;
	struct list_head idle;
	struct work_struct reap;
	bool closed;
	atomic64_t invalidated;
};

/**
 * struct hroce_paged_want - request to hroce_paged_fetch()
 * @va: first address; on return the first one not fetched
 * @end: end address
 * @write: fetch for writing, not only for reading
 * @no_fault: only pages that the process has mapped; with @write set also those
 *	it has mapped read-only
 * @fetched: incremented by the number of pages fetched
 */
struct hroce_paged_want {
	u64 va;
	u64 end;
	bool write;
	bool no_fault;
	u64 fetched;
};

/**
 * hroce_paged_init - describe memory of the calling process
 * @p: zeroed
 * @va: first address
 * @len: bytes; U64_MAX: all there is
 * @lock: of the region
 *
 * Context: process.
 */
void hroce_paged_init(struct hroce_paged *p, u64 va, u64 len, rwlock_t *lock);

/**
 * hroce_paged_close - drop all pages
 * @p: memory; fetches may be in progress, look-ups not
 *
 * Does not wait for a fetch that waits for a page: that ends when it gets the
 * page.
 * Context: process, may sleep.
 */
void hroce_paged_close(struct hroce_paged *p);

/**
 * hroce_paged_fini - counterpart of hroce_paged_init()
 * @p: memory, not in use any more
 *
 * Context: process, may sleep.
 */
void hroce_paged_fini(struct hroce_paged *p);

/**
 * hroce_paged_find - find memory that is present
 * @p: memory
 * @va: address within it
 * @max: maximum number of bytes, not 0
 * @write: for writing
 * @ext: all but @ext->len is filled in
 *
 * Context: @p->lock held for reading as long as @ext is used.
 * Return: number of contiguous bytes that are present, may be 0.
 */
u32 hroce_paged_find(const struct hroce_paged *p, u64 va, u32 max, bool write,
		     struct hroce_extent *ext);

/**
 * hroce_paged_fetch - fetch pages, which may be invalidated at any time
 * @p: memory
 * @want: range within @p
 *
 * Context: process, may sleep as long as the owner of the memory lets it.
 * Return: 0; -EFAULT if the memory is not mapped, or not writable; -EAGAIN if
 * it is invalidated as fast as it is fetched; -ENOENT if @p has been closed;
 * -ENOMEM and others.
 */
int hroce_paged_fetch(struct hroce_paged *p, struct hroce_paged_want *want);

#endif /* HROCE_PAGED_H */

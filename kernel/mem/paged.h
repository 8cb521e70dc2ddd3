/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a process that is not pinned: where its pages are at the moment, as
 * long as the process leaves them there.
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
 * @mm: whose; its structure stays, its contents may go
 * @start: first address, at the beginning of a page
 * @end: behind the last one, at the beginning of a page, or ULONG_MAX
 * @lock: of the region, see &struct hroce_region; held for writing where pages
 *	are added or taken away
 * @mutex: guards adding and removing chunks; outside of @lock. Never held while
 *	waiting for a page or for a lock of @mm
 * @chunks: by address, for what has been used
 * @nr_chunks: how many [@mutex]
 * @forgotten: index of the chunk that had to make room last [@mutex]
 * @idle: chunks that the process has unmapped [@lock]
 * @reap: removes those
 * @closed: no chunk is added any more [@mutex]
 * @invalidated: pages that the process, or the kernel for it, has taken away
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
 * struct hroce_paged_want - what hroce_paged_fetch() is to do
 * @va: first address; afterwards: what has not been fetched
 * @end: behind the last one
 * @write: for writing, not only for reading
 * @no_fault: only what the process has in place already; what it lets us only
 *	read also if @write is set
 * @fetched: counts pages
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
 * hroce_paged_close - forget all pages
 * @p: may still be fetched, but not be found
 *
 * A fetch that waits for a page ends when it gets that one, and is not waited
 * for.
 * Context: process, may sleep.
 */
void hroce_paged_close(struct hroce_paged *p);

/**
 * hroce_paged_fini - the opposite of hroce_paged_init()
 * @p: nobody uses it any more
 *
 * Context: process, may sleep.
 */
void hroce_paged_fini(struct hroce_paged *p);

/**
 * hroce_paged_find - where is it?
 * @p: memory
 * @va: address within it
 * @max: most bytes wanted, not 0
 * @write: they are to be written
 * @ext: all but @ext->len is filled in
 *
 * Context: @p->lock held for reading as long as @ext is used.
 * Return: how many bytes are there, in one piece, maybe 0.
 */
u32 hroce_paged_find(const struct hroce_paged *p, u64 va, u32 max, bool write,
		     struct hroce_extent *ext);

/**
 * hroce_paged_fetch - have pages there, at least for the moment
 * @p: memory
 * @want: which, within @p
 *
 * Context: process, may sleep for as long as the owner of the memory likes.
 * Return: 0; -EFAULT: there is no such memory, or not for writing; -EAGAIN: it
 * is taken away as fast as it is fetched; -ENOENT: @p has been closed; -ENOMEM
 * and others.
 */
int hroce_paged_fetch(struct hroce_paged *p, struct hroce_paged_want *want);

#endif /* HROCE_PAGED_H */

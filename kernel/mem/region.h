/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registered memory: the object behind a key. Independent of verbs objects and
 * sk_buff.
 *
 * Lifetime: a region found by its key is used within one epoch of the
 * datapath only. To remove a region, unlink its key and wait for epochs
 * before its pages are released, so nothing here takes references. FRWR regions
 * change in atomic context, where waiting is impossible, and have a lock
 * instead, see &struct hroce_region.
 */
#ifndef HROCE_REGION_H
#define HROCE_REGION_H

#include <linux/atomic.h>
#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "../proto/mem.h"

/* Bits of hroce_region.access; the values of enum ib_access_flags */
#define HROCE_REGION_LOCAL_WRITE	0x01
#define HROCE_REGION_REMOTE_WRITE	0x02
#define HROCE_REGION_REMOTE_READ	0x04
#define HROCE_REGION_REMOTE_ATOMIC	0x08
#define HROCE_REGION_MW_BIND		0x10
#define HROCE_REGION_ZERO_BASED		0x20	/* @iova is 0, and stays so */
#define HROCE_REGION_FLUSH_GLOBAL	0x100
#define HROCE_REGION_FLUSH_PERSISTENT	0x200

/* hroce_region.state */
enum hroce_region_state {
	HROCE_REGION_FREE,	/* FRWR: invalidated, or not yet registered */
	HROCE_REGION_VALID,
};

/**
 * struct hroce_extent - physically contiguous piece of memory
 * @page: page of the first byte
 * @offset: offset of the first byte, may exceed the page size with compound
 *	pages
 * @len: bytes
 * @va: kernel address of memory whose pages frames must not refer to, else
 *	NULL; such memory may have no @page
 */
struct hroce_extent {
	struct page *page;
	u32 offset;
	u32 len;
	void *va;
};

/* Kernel address of an extent. */
static inline void *hroce_extent_va(const struct hroce_extent *ext)
{
	return ext->va ?: page_address(ext->page) + ext->offset;
}

/* Bytes of an extent that a reference to its first page keeps in place. */
static inline u32 hroce_extent_ref_len(const struct hroce_extent *ext)
{
	struct page *page = ext->page + (ext->offset >> PAGE_SHIFT);
	u32 offset = offset_in_page(ext->offset);
	struct page *head;

	if (likely(ext->len <= PAGE_SIZE - offset))
		return ext->len;
	head = compound_head(page);
	offset += (page - head) << PAGE_SHIFT;
	return min_t(unsigned long, ext->len, page_size(head) - offset);
}

/*
 * hroce_region.type. The revocable ones come last, see
 * hroce_region_is_revocable().
 */
enum hroce_region_type {
	HROCE_REGION_PINNED,	/* @pages, of a process */
	HROCE_REGION_DMA,	/* kernel memory by its virtual address */
	HROCE_REGION_FRWR,	/* @pages, as work requests register them */
	HROCE_REGION_FETCHED,	/* memory fetched on demand, see @find */
	HROCE_REGION_WINDOW,	/* a part of @parent, for remote access only */
};

struct hroce_region;

/**
 * typedef hroce_region_find_fn - find memory that is fetched on demand
 * @region: region, with its lock held for reading
 * @pos: offset within the region
 * @max: maximum number of bytes, not 0
 * @write: for writing
 * @ext: all but @ext->len is filled in
 *
 * Return: number of contiguous bytes that are present; 0 if they must be
 * fetched.
 */
typedef u32 hroce_region_find_fn(const struct hroce_region *region, u64 pos,
				 u32 max, bool write, struct hroce_extent *ext);

/**
 * struct hroce_region - memory behind one key
 * @iova: address of the first byte, as used in work requests
 * @len: bytes; U64_MAX: all of an address space
 * @pages: blocks of 2^@page_shift bytes; entry i holds bytes from
 *	(i << @page_shift) - @first_offset of the region on
 * @parent: WINDOW: region with the memory, which counts this window in its
 *	@windows while it is valid [lock]
 * @first_offset: offset of the region in the first block; WINDOW: offset from
 *	the start of the first block of @parent; 0 if there are no blocks
 * @page_shift: PAGE_SHIFT or more
 * @type: enum hroce_region_type
 * @state: enum hroce_region_state [lock]
 * @key: 32-bit key, lkey and rkey alike; FRWR may change its low 8 bits
 * @access: HROCE_REGION_*
 * @find: FETCHED: finds the memory
 * @qpn: windows of type 2: queue pair that bound the window; otherwise 0, for
 *	the whole protection domain [lock]
 * @windows: number of windows bound to this region; negative if none may be
 * @pd: identity of the protection domain
 * @lock: see hroce_region_is_revocable(); _bh, innermost; the lock of a window
 *	is taken before that of its @parent
 *
 * While a region that is not revocable can be found, its fields do not change.
 */
struct hroce_region {
	u64 iova;
	u64 len;
	struct page **pages;
	struct hroce_region *parent;
	u64 first_offset;
	u8 page_shift;
	u8 type;
	u8 state;
	u32 key;
	u32 access;
	hroce_region_find_fn *find;
	u32 qpn;
	atomic_t windows;
	const void *pd;
	rwlock_t lock;
};

/*
 * May the memory be revoked while the key is in the table? Users hold @lock for
 * reading while they access such memory. To revoke it, hold @lock for writing:
 * it is not accessed any more from then on.
 */
static inline bool hroce_region_is_revocable(const struct hroce_region *region)
{
	return region->type >= HROCE_REGION_FRWR;
}

/*
 * Is it persistent memory? The walk that places payload writes it back from the
 * CPU caches before it ends, so that a FLUSH has nothing to do.
 */
static inline bool hroce_region_is_durable(const struct hroce_region *region)
{
	return region->access & HROCE_REGION_FLUSH_PERSISTENT;
}

/* Does @region grant @access? Local reading needs no right (IBTA 10.6.3.1). */
static inline bool hroce_region_allows(const struct hroce_region *region,
				       u8 access)
{
	static const u16 need[] = {
		[HRP_ACCESS_LOCAL_READ]    = 0,
		[HRP_ACCESS_LOCAL_WRITE]   = HROCE_REGION_LOCAL_WRITE,
		[HRP_ACCESS_REMOTE_READ]   = HROCE_REGION_REMOTE_READ,
		[HRP_ACCESS_REMOTE_WRITE]  = HROCE_REGION_REMOTE_WRITE,
		[HRP_ACCESS_REMOTE_ATOMIC] = HROCE_REGION_REMOTE_ATOMIC,
		[HRP_ACCESS_FLUSH_GLOBAL]  = HROCE_REGION_FLUSH_GLOBAL,
		[HRP_ACCESS_FLUSH_PERSISTENT] = HROCE_REGION_FLUSH_PERSISTENT,
	};

	return !(need[access] & ~region->access);
}

/* May a peer of this queue pair use it at all? */
static inline bool hroce_region_is_for(const struct hroce_region *region,
				       u32 qpn)
{
	return !region->qpn || region->qpn == qpn;
}

/**
 * hroce_region_check - is a range accessible?
 * @region: from hroce_mkeys_find()
 * @pd: protection domain of the queue pair
 * @va: first address
 * @len: bytes, may be 0
 * @access: enum hrp_access
 *
 * Context: in an epoch. The result for a revocable region is stable only while
 * @region->lock is held.
 * Return: true if it is valid, and @pd, range and rights allow it.
 */
static inline bool hroce_region_check(const struct hroce_region *region,
				      const void *pd, u64 va, u64 len,
				      u8 access)
{
	if (READ_ONCE(region->state) != HROCE_REGION_VALID ||
	    region->pd != pd || !hroce_region_allows(region, access))
		return false;
	if (va < region->iova)
		return false;
	va -= region->iova;
	return va <= region->len && len <= region->len - va;
}

#endif /* HROCE_REGION_H */

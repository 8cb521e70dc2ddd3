/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registered memory: what is behind a key. Knows neither verbs objects nor
 * sk_buff.
 *
 * Lifetime: a region found by its key is used within one section of the
 * datapath only. To remove a region, unlink its key and wait for sections
 * before its pages are released, so nothing here takes references. FRWR regions
 * come and go where nobody may wait, and have a lock instead, see &struct
 * hroce_region.
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
 * @offset: of the first byte, may exceed the page size with compound pages
 * @len: bytes
 * @va: kernel address of memory whose pages must not be referred to by frames;
 *	NULL otherwise. If that is inline data, or not the memory of pages, there
 *	is no @page
 */
struct hroce_extent {
	struct page *page;
	u32 offset;
	u32 len;
	void *va;
};

/* Where an extent is for the kernel. */
static inline void *hroce_extent_va(const struct hroce_extent *ext)
{
	return ext->va ?: page_address(ext->page) + ext->offset;
}

/*
 * hroce_region.type. The revocable ones come last, see
 * hroce_region_is_revocable().
 */
enum hroce_region_type {
	HROCE_REGION_PINNED,	/* @pages, of a process */
	HROCE_REGION_DMA,	/* kernel memory by its virtual address */
	HROCE_REGION_FRWR,	/* @pages, as work requests register them */
	HROCE_REGION_FETCHED,	/* memory that comes and goes, see @find */
	HROCE_REGION_WINDOW,	/* a part of @parent, for remote access only */
};

struct hroce_region;

/**
 * typedef hroce_region_find_fn - where is memory that comes and goes?
 * @region: its lock is held for reading
 * @pos: from the beginning of the region; within it
 * @max: most bytes wanted, not 0
 * @write: they are to be written
 * @ext: all but @ext->len is filled in
 *
 * Return: how many bytes are there, in one piece; 0: it has to be fetched.
 */
typedef u32 hroce_region_find_fn(const struct hroce_region *region, u64 pos,
				 u32 max, bool write, struct hroce_extent *ext);

/**
 * struct hroce_region - memory behind one key
 * @iova: address of the first byte, as used in work requests
 * @len: bytes; U64_MAX: all of an address space
 * @pages: blocks of 2^@page_shift bytes; entry i holds bytes from
 *	(i << @page_shift) - @first_offset of the region on
 * @parent: WINDOW: the region that has the memory, and counts this one in its
 *	@windows as long as it is valid [lock]
 * @first_offset: where the region begins in the first block; WINDOW: from where
 *	the first block of @parent begins; 0 if there are no blocks
 * @page_shift: PAGE_SHIFT or more
 * @type: enum hroce_region_type
 * @state: enum hroce_region_state [lock]
 * @key: 32-bit key, lkey and rkey alike; FRWR may change its low 8 bits
 * @access: HROCE_REGION_*
 * @find: FETCHED: where the memory is
 * @qpn: windows of type 2: the queue pair that has bound it; otherwise 0, which
 *	stands for all of the protection domain [lock]
 * @windows: bound to this region; negative: none may be
 * @pd: identity of the protection domain
 * @lock: see hroce_region_is_revocable(); _bh, innermost; that of @parent comes
 *	after that of a window
 *
 * No field of a region that is not revocable changes while it can be found.
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
 * May its memory be taken away while its key is in the table? Users hold @lock
 * for reading while they touch such memory. To take it away, hold @lock for
 * writing: the memory is left alone from then on.
 */
static inline bool hroce_region_is_revocable(const struct hroce_region *region)
{
	return region->type >= HROCE_REGION_FRWR;
}

/*
 * Is it persistent memory? Payload is written back from the CPU's caches by the
 * end of the walk that places it, so that a FLUSH finds nothing to do.
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
 * Context: in a section. A revocable region may change its mind right after,
 * unless @region->lock is held.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registered memory as the datapath sees it: keys, regions, and iterators that
 * turn a &struct hrp_mem into pages. Knows neither verbs objects nor sk_buff.
 *
 * Lifetime: a region found by its key is used within one section of the
 * datapath only. To remove a region, unlink its key and wait for sections
 * before its pages are released, so nothing here takes references. FRWR regions
 * come and go where nobody may wait, and have a lock instead, see &struct
 * hroce_region.
 */
#ifndef HROCE_MEM_H
#define HROCE_MEM_H

#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/xarray.h>
#include "../hide.h"
#include "../proto/mem.h"
#include "../recent.h"

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

struct hroce_extent;
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
 * @len: bytes; U64_MAX with @dma: all of kernel memory
 * @pages: blocks of 2^@page_shift bytes; entry i holds bytes from
 *	(i << @page_shift) - @first_offset of the region on
 * @parent: windows: the region that has the memory, and counts this one in its
 *	@windows as long as it is valid [lock]
 * @first_offset: where the region begins in the first block; windows: from where
 *	the first block of @parent begins
 * @page_shift: PAGE_SHIFT or more
 * @dma: addresses are kernel virtual addresses, there are no @pages
 * @revocable: its memory may be taken away while its key is in the table. Its
 *	users hold @lock for reading while they touch its memory; who takes it
 *	away holds @lock for writing, so that memory is left alone from then on.
 *	FRWR and windows: work requests do so, and make it valid again
 * @find: @revocable memory that comes and goes by itself: where it is, instead
 *	of @pages; NULL: @pages hold all of it
 * @durable: persistent memory: what is placed there is written back from the
 *	CPU's caches by the end of the walk, so that a FLUSH finds nothing to do
 * @window: a memory window: part of @parent, for remote access only
 * @state: enum hroce_region_state [lock]
 * @key: 32-bit key, lkey and rkey alike; FRWR may change its low 8 bits
 * @access: HROCE_REGION_*
 * @qpn: windows of type 2: the queue pair that has bound it; otherwise 0, which
 *	stands for all of the protection domain [lock]
 * @windows: bound to this region; negative: none may be
 * @pd: identity of the protection domain
 * @lock: see @revocable; _bh, innermost; that of @parent comes after that of a
 *	window
 *
 * No field of a region that is not @revocable changes while it can be found.
 */
struct hroce_region {
	u64 iova;
	u64 len;
	struct page **pages;
	struct hroce_region *parent;
	u64 first_offset;
	u8 page_shift;
	bool dma;
	bool revocable;
	bool durable;
	bool window;
	hroce_region_find_fn *find;
	u8 state;
	u32 key;
	u32 access;
	u32 qpn;
	atomic_t windows;
	const void *pd;
	rwlock_t lock;
};

/**
 * struct hroce_keys - all keys of a device
 * @table: regions by the 24-bit index that the key hides
 * @hide: permutation between index and upper 24 bits of the key
 * @recent: regions found lately
 *
 * Keys are unpredictable: the upper 24 bits are the index under a secret
 * permutation, the lower 8 bits are random.
 */
struct hroce_keys {
	struct xarray table;
	struct hroce_hide hide;
	struct hroce_recent recent;
};

/* Prepare an empty table, with fresh secrets. Return: 0 or -ENOMEM. */
int hroce_keys_init(struct hroce_keys *keys);

/* Free an empty table. */
void hroce_keys_fini(struct hroce_keys *keys);

/**
 * hroce_keys_add - give a region a key
 * @keys: table
 * @region: complete but for @region->key, which is set
 * @low8: lower 8 bits of the key, or -1: random
 *
 * Context: process, may sleep.
 * Return: 0, -ENOMEM, or -ENOSPC: 2^24 in use.
 */
int hroce_keys_add(struct hroce_keys *keys, struct hroce_region *region,
		   int low8);

/**
 * hroce_keys_del - take the key away and wait until nobody uses the region
 * @keys: table
 * @region: region from hroce_keys_add()
 *
 * Context: process, may sleep, not in a section.
 */
void hroce_keys_del(struct hroce_keys *keys, struct hroce_region *region);

/**
 * hroce_keys_suspend - let nobody find a region, but keep its key
 * @keys: table
 * @region: region from hroce_keys_add()
 *
 * After return nobody uses the region, and it may be changed until
 * hroce_keys_resume(). Context: process, may sleep, not in a section.
 */
void hroce_keys_suspend(struct hroce_keys *keys, struct hroce_region *region);

/**
 * hroce_keys_resume - let a region be found again
 * @keys: table
 * @region: region from hroce_keys_suspend()
 *
 * Context: process. Cannot fail.
 */
void hroce_keys_resume(struct hroce_keys *keys, struct hroce_region *region);

/**
 * hroce_keys_find_index - look a region up whatever the low 8 bits of its key
 * @keys: table
 * @key: the upper 24 bits count
 *
 * Context: in a section.
 * Return: region or NULL.
 */
struct hroce_region *hroce_keys_find_index(const struct hroce_keys *keys,
					   u32 key);

/* For hroce_keys_find(): what has not been found lately. */
struct hroce_region *hroce_keys_look_up(const struct hroce_keys *keys, u32 key,
					struct hroce_recent_slot *slot,
					unsigned long removals);

/**
 * hroce_keys_find - look a key up
 * @keys: table
 * @key: 32 bits from a work request or packet
 *
 * Context: in a section.
 * Return: the region with exactly this key, or NULL.
 */
static inline struct hroce_region *
hroce_keys_find(const struct hroce_keys *keys, u32 key)
{
	struct hroce_recent_slot *slot;
	struct hroce_region *region;
	unsigned long removals;

	region = hroce_recent_find(&keys->recent, key >> 8, &slot, &removals);
	if (likely(region && READ_ONCE(region->key) == key))
		return region;
	return hroce_keys_look_up(keys, key, slot, removals);
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
 * @region: from hroce_keys_find()
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

/**
 * struct hroce_mem_iter - position in a &struct hrp_mem
 * @keys: where keys are looked up
 * @pd: protection domain of the queue pair
 * @mem: what is walked
 * @region: that has the memory of the current piece, or NULL
 * @window: whose key has led to @region, or NULL
 * @pages: its pages, if frames may refer to them, and none of its bytes has to
 *	be written back; or NULL
 * @pos: next byte of the current piece: from the beginning of the first block
 *	of the region; an address if there are no blocks
 * @piece_left: bytes left in the current piece
 * @left: bytes left altogether
 * @sge: index of the piece after the current one
 * @status: HROCE_WC_SUCCESS; or enum hroce_cause once a piece was not
 *	accessible; HRP_MEM_FAULT if it was not there
 * @dirty: given out last, to be written back
 * @dirty_len: bytes of it, or 0
 * @lack_write: to write was what was wanted of
 * @lack_key: the region that had nothing at @pos then
 * @lack_len: how much of it is, or will be, wanted
 */
struct hroce_mem_iter {
	const struct hroce_keys *keys;
	const void *pd;
	const struct hrp_mem *mem;
	struct hroce_region *region;
	struct hroce_region *window;
	struct page **pages;
	u64 pos;
	u32 piece_left;
	u32 left;
	u32 sge;
	u32 dirty_len;
	void *dirty;
	u8 status;
	bool lack_write;
	u32 lack_key;
	u32 lack_len;
};

/* Is what is walked over to be written? */
static inline bool hroce_mem_is_written(const struct hrp_mem *mem)
{
	return mem->access != HRP_ACCESS_LOCAL_READ &&
	       mem->access != HRP_ACCESS_REMOTE_READ;
}

/**
 * hroce_mem_begin - begin to walk
 * @it: iterator
 * @keys: of the device
 * @pd: protection domain of the queue pair
 * @mem: what to walk; must stay unchanged while @it is in use
 *
 * Context: in a section until hroce_mem_end().
 */
void hroce_mem_begin(struct hroce_mem_iter *it, const struct hroce_keys *keys,
		     const void *pd, const struct hrp_mem *mem);

/* For hroce_mem_next(): if the piece is not simply within one block. */
u32 hroce_mem_next_piece(struct hroce_mem_iter *it, u32 max,
			 struct hroce_extent *ext);

/**
 * hroce_mem_next - next contiguous piece
 * @it: iterator
 * @max: most bytes wanted, not 0
 * @ext: filled in
 *
 * Context: in a section.
 * Return: @ext->len, not 0; or 0 at the end or on error, see @it->status.
 */
static inline u32 hroce_mem_next(struct hroce_mem_iter *it, u32 max,
				 struct hroce_extent *ext)
{
	u32 block_len, offset;

	if (unlikely(max > it->piece_left || !it->pages))
		return hroce_mem_next_piece(it, max, ext);
	block_len = 1u << it->region->page_shift;
	offset = it->pos & (block_len - 1);
	if (max > block_len - offset)
		return hroce_mem_next_piece(it, max, ext);
	ext->page = it->pages[it->pos >> it->region->page_shift] +
		    (offset >> PAGE_SHIFT);
	ext->offset = offset_in_page(offset);
	ext->len = max;
	ext->va = NULL;
	it->pos += max;
	it->piece_left -= max;
	it->left -= max;
	return max;
}

/**
 * hroce_mem_skip - leave bytes out
 * @it: iterator
 * @len: number; at most @it->left
 */
void hroce_mem_skip(struct hroce_mem_iter *it, u32 len);

/**
 * hroce_mem_is_steady - will a walk give out all that is left, and at any time?
 * @it: iterator
 *
 * Then a copy of @it is another walk, and locks may be taken meanwhile that
 * come before &hroce_region.lock.
 * Context: in a section; true until its end.
 * Return: true if all pieces are accessible, and no region of them is
 * revocable.
 */
bool hroce_mem_is_steady(const struct hroce_mem_iter *it);

/* May a peer of this queue pair use what @it has come to, a region? */
static inline bool hroce_mem_is_for(const struct hroce_mem_iter *it, u32 qpn)
{
	return hroce_region_is_for(it->window ?: it->region, qpn);
}

/**
 * hroce_mem_is_page - is the next piece within one page?
 * @it: iterator
 * @len: bytes wanted, not 0
 *
 * Context: in a section.
 * Return: true if hroce_mem_next_page() will give it out.
 */
static inline bool hroce_mem_is_page(const struct hroce_mem_iter *it, u32 len)
{
	return len <= it->piece_left && it->pages &&
	       len <= PAGE_SIZE - offset_in_page(it->pos);
}

/**
 * hroce_mem_next_page - next piece, if it is within one page
 * @it: iterator
 * @len: bytes wanted, not 0
 * @offset: set to where they begin in the page
 *
 * Context: in a section.
 * Return: page that frames may refer to; or NULL, then nothing has happened.
 */
static inline struct page *hroce_mem_next_page(struct hroce_mem_iter *it,
					       u32 len, u32 *offset)
{
	struct page *page;
	u32 block;

	if (unlikely(!hroce_mem_is_page(it, len)))
		return NULL;
	*offset = offset_in_page(it->pos);
	block = it->region->page_shift;
	page = it->pages[it->pos >> block] +
	       ((it->pos & ((1ull << block) - 1)) >> PAGE_SHIFT);
	it->pos += len;
	it->piece_left -= len;
	it->left -= len;
	return page;
}

/**
 * hroce_mem_end - end a walk, at any point of it
 * @it: iterator; no piece that it gave out may be touched any more, unless by
 *	reference to its page
 *
 * Data written to persistent memory is persistent after return. May be
 * called more than once. Must be called before frames are sent.
 */
void hroce_mem_end(struct hroce_mem_iter *it);

/**
 * hroce_mem_release - leave off a walk for a while
 * @it: iterator
 *
 * Gives back what is locked for the walk, so that frames can be sent. No piece
 * that @it gave out may be touched any more, unless by reference to its page.
 * Context: in a section.
 * Return: true if something was locked: hroce_mem_resume() must follow.
 */
bool hroce_mem_release(struct hroce_mem_iter *it);

/**
 * hroce_mem_resume - go on where hroce_mem_release() left off
 * @it: iterator, for which that returned true
 *
 * Looks the region up and checks it again; @it->status tells whether it may
 * still be used. Context: in the same section.
 */
void hroce_mem_resume(struct hroce_mem_iter *it);

/**
 * hroce_mem_copy_in - copy bytes into registered memory
 * @it: iterator
 * @src: bytes
 * @len: number; at most @it->left
 *
 * Context: in a section, atomic.
 * Return: true; false if not accessible, see @it->status.
 */
bool hroce_mem_copy_in(struct hroce_mem_iter *it, const void *src, u32 len);

/**
 * hroce_mem_copy_out - copy bytes out of registered memory
 * @it: iterator
 * @dst: destination
 * @len: number; at most @it->left
 *
 * Context: in a section, atomic.
 * Return: true; false if not accessible, see @it->status.
 */
bool hroce_mem_copy_out(struct hroce_mem_iter *it, void *dst, u32 len);

/**
 * hroce_mem_copy - copy bytes from registered memory to other registered memory
 * @dst: destination
 * @src: source
 * @len: number; at most what is left of either
 *
 * Context: in a section, atomic.
 * Return: how many were copied; less than @len if that was not accessible, see
 * the status of both.
 */
u32 hroce_mem_copy(struct hroce_mem_iter *dst, struct hroce_mem_iter *src,
		   u32 len);

#endif /* HROCE_MEM_H */

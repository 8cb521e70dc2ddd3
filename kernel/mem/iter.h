/* SPDX-License-Identifier: GPL-2.0 */
/* Walks over registered memory: from a &struct hrp_mem to pages. */
#ifndef HROCE_ITER_H
#define HROCE_ITER_H

#include <linux/mm.h>
#include <linux/types.h>
#include "../proto/mem.h"
#include "region.h"

struct hroce_mkeys;

/**
 * struct hroce_mem_iter - position in a &struct hrp_mem
 * @mkeys: table to look keys up in
 * @pd: protection domain of the queue pair
 * @mem: memory to walk
 * @region: region with the memory of the current SGE, or NULL
 * @window: window whose parent is @region, if the key is that of a window; or
 *	NULL
 * @pages: pages of @region if frames may refer to them and none of its bytes
 *	must be written back; else NULL
 * @pos: next byte of the current SGE: offset from the start of the first block
 *	of the region; an address if there are no blocks
 * @sge_left: bytes left in the current SGE
 * @left: bytes left in total
 * @qpn: queue pair whose peer asks for the access; 0: nobody's peer
 * @sge: index of the SGE after the current one
 * @status: HROCE_WC_SUCCESS; enum hroce_cause if an SGE was not accessible;
 *	HRP_MEM_FAULT if its memory was not present
 * @dirty: last extent returned, to be written back
 * @dirty_len: its length, or 0
 * @fault_write: HRP_MEM_FAULT: the fault was a write
 * @fault_key: key of the region without memory at @pos
 * @fault_len: bytes wanted from @pos on
 */
struct hroce_mem_iter {
	const struct hroce_mkeys *mkeys;
	const void *pd;
	const struct hrp_mem *mem;
	struct hroce_region *region;
	struct hroce_region *window;
	struct page **pages;
	u64 pos;
	u32 sge_left;
	u32 left;
	u32 qpn;
	u32 sge;
	u32 dirty_len;
	void *dirty;
	u8 status;
	bool fault_write;
	u32 fault_key;
	u32 fault_len;
};

/* Does the access write to the memory? */
static inline bool hroce_mem_is_written(const struct hrp_mem *mem)
{
	return mem->access != HRP_ACCESS_LOCAL_READ &&
	       mem->access != HRP_ACCESS_REMOTE_READ;
}

/**
 * hroce_mem_begin - begin a walk
 * @it: iterator
 * @mkeys: table of the device
 * @pd: protection domain of the queue pair
 * @qpn: its number, if @mem may be the peer's choice, by R_Key; else 0
 * @mem: memory to walk; must not change while @it is in use
 *
 * Context: in an epoch until hroce_mem_end().
 */
void hroce_mem_begin(struct hroce_mem_iter *it, const struct hroce_mkeys *mkeys,
		     const void *pd, u32 qpn, const struct hrp_mem *mem);

/* For this header and iter.c: advance within the current SGE. */
static inline void hroce_mem_step(struct hroce_mem_iter *it, u32 len)
{
	it->pos += len;
	it->sge_left -= len;
	it->left -= len;
}

/* For this header: enter the next SGE. Return: false at the end or on error. */
bool hroce_mem_turn(struct hroce_mem_iter *it);

/* Slow path of hroce_mem_next(): the extent may cross blocks. */
u32 hroce_mem_next_slow(struct hroce_mem_iter *it, u32 max,
			struct hroce_extent *ext);

/**
 * hroce_mem_next - get the next extent
 * @it: iterator
 * @max: maximum number of bytes, not 0
 * @ext: filled in
 *
 * Context: in an epoch.
 * Return: @ext->len, not 0; or 0 at the end or on error, see @it->status.
 */
static inline u32 hroce_mem_next(struct hroce_mem_iter *it, u32 max,
				 struct hroce_extent *ext)
{
	u32 block_len, offset;

	if (!it->sge_left && !hroce_mem_turn(it))
		return 0;
	if (unlikely(max > it->sge_left || !it->pages))
		return hroce_mem_next_slow(it, max, ext);
	block_len = 1u << it->region->page_shift;
	offset = it->pos & (block_len - 1);
	if (max > block_len - offset)
		return hroce_mem_next_slow(it, max, ext);
	ext->page = it->pages[it->pos >> it->region->page_shift] +
		    (offset >> PAGE_SHIFT);
	ext->offset = offset_in_page(offset);
	ext->len = max;
	ext->va = NULL;
	hroce_mem_step(it, max);
	return max;
}

/**
 * hroce_mem_skip - skip bytes
 * @it: iterator
 * @len: number of bytes, at most @it->left
 */
void hroce_mem_skip(struct hroce_mem_iter *it, u32 len);

/**
 * hroce_mem_is_steady - is the rest of a walk certain to succeed?
 * @it: iterator
 *
 * If so, a copy of @it is an independent walk, and locks that come before
 * &hroce_region.lock may be taken during the walk.
 * Context: in an epoch; the result holds until its end.
 * Return: true if all SGEs are accessible, and none of their regions is
 * revocable.
 */
bool hroce_mem_is_steady(const struct hroce_mem_iter *it);

/**
 * hroce_mem_pages - number of pages of the next bytes
 * @it: iterator
 * @len: bytes wanted, not 0
 *
 * Context: in an epoch.
 * Return: number of pages, of PAGE_SIZE each, if frames may refer to them; else
 * 0.
 */
static inline u32 hroce_mem_pages(const struct hroce_mem_iter *it, u32 len)
{
	if (unlikely(len > it->sge_left || !it->pages))
		return 0;
	return PFN_UP(offset_in_page(it->pos) + len);
}

/* For this header: page of the next byte; hroce_mem_pages() was not 0. */
static inline struct page *hroce_mem_page(const struct hroce_mem_iter *it)
{
	u32 block = it->region->page_shift;

	return it->pages[it->pos >> block] +
	       ((it->pos & ((1ull << block) - 1)) >> PAGE_SHIFT);
}

/**
 * hroce_mem_next_page - get the next extent, if it is within one page
 * @it: iterator
 * @len: bytes wanted, not 0
 * @offset: set to their offset in the page
 *
 * Context: in an epoch.
 * Return: page that frames may refer to; or NULL, and @it is unchanged.
 */
static inline struct page *hroce_mem_next_page(struct hroce_mem_iter *it,
					       u32 len, u32 *offset)
{
	struct page *page;

	if (unlikely(hroce_mem_pages(it, len) != 1))
		return NULL;
	*offset = offset_in_page(it->pos);
	page = hroce_mem_page(it);
	hroce_mem_step(it, len);
	return page;
}

/**
 * hroce_mem_next_ref - get the next bytes that a single page reference keeps
 * @it: iterator
 * @max: maximum number of bytes, not 0; hroce_mem_pages() is not 0 for them
 * @ext: filled in, except @ext->va
 *
 * Context: in an epoch.
 * Return: @ext->len, not 0.
 */
static inline u32 hroce_mem_next_ref(struct hroce_mem_iter *it, u32 max,
				     struct hroce_extent *ext)
{
	u32 block_len = 1u << it->region->page_shift;

	ext->page = hroce_mem_page(it);
	ext->offset = offset_in_page(it->pos);
	ext->len = min(max, block_len - (u32)(it->pos & (block_len - 1)));
	ext->len = hroce_extent_ref_len(ext);
	hroce_mem_step(it, ext->len);
	return ext->len;
}

/* For hroce_mem_leave(): a region without @it->pages. */
void hroce_mem_give_back(struct hroce_mem_iter *it);

/* For this header and iter.c: leave the region of the current SGE, if any. */
static inline void hroce_mem_leave(struct hroce_mem_iter *it)
{
	if (unlikely(it->region && !it->pages))
		hroce_mem_give_back(it);
	it->region = NULL;
	it->pages = NULL;
}

/**
 * hroce_mem_end - end a walk at any point
 * @it: iterator; extents it returned must not be accessed any more, except
 *	through page references
 *
 * Data written to persistent memory is persistent after return. May be
 * called more than once. Must be called before frames are sent.
 */
static inline void hroce_mem_end(struct hroce_mem_iter *it)
{
	hroce_mem_leave(it);
	it->sge_left = 0;
	it->left = 0;
}

/**
 * hroce_mem_release - pause a walk
 * @it: iterator
 *
 * Unlocks the current region, so that frames can be sent. Extents that @it
 * returned must not be accessed any more, except through page references.
 * Context: in an epoch.
 * Return: true if a region was locked: hroce_mem_resume() must follow.
 */
bool hroce_mem_release(struct hroce_mem_iter *it);

/**
 * hroce_mem_resume - continue after hroce_mem_release()
 * @it: iterator for which that returned true
 *
 * Looks the region up and checks it again; sets @it->status if it must not be
 * used any more. Context: in the same epoch.
 */
void hroce_mem_resume(struct hroce_mem_iter *it);

/**
 * hroce_mem_copy_in - copy bytes into registered memory
 * @it: iterator
 * @src: bytes
 * @len: number of bytes, at most @it->left
 *
 * Context: in an epoch, atomic.
 * Return: true; false if not accessible, see @it->status.
 */
bool hroce_mem_copy_in(struct hroce_mem_iter *it, const void *src, u32 len);

/**
 * hroce_mem_copy_out - copy bytes out of registered memory
 * @it: iterator
 * @dst: destination
 * @len: number of bytes, at most @it->left
 *
 * Context: in an epoch, atomic.
 * Return: true; false if not accessible, see @it->status.
 */
bool hroce_mem_copy_out(struct hroce_mem_iter *it, void *dst, u32 len);

/**
 * hroce_mem_copy - copy bytes from registered memory to other registered memory
 * @dst: destination
 * @src: source
 * @len: number of bytes, at most what is left of either
 *
 * Context: in an epoch, atomic.
 * Return: number of bytes copied; less than @len on error, see the status of
 * both.
 */
u32 hroce_mem_copy(struct hroce_mem_iter *dst, struct hroce_mem_iter *src,
		   u32 len);

#endif /* HROCE_ITER_H */

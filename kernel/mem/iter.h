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
 * @mkeys: where keys are looked up
 * @pd: protection domain of the queue pair
 * @mem: what is walked
 * @region: that has the memory of the current SGE, or NULL
 * @window: whose key has led to @region, or NULL
 * @pages: its pages, if frames may refer to them, and none of its bytes has to
 *	be written back; or NULL
 * @pos: next byte of the current SGE: from the beginning of the first block
 *	of the region; an address if there are no blocks
 * @sge_left: bytes left in the current SGE
 * @left: bytes left altogether
 * @sge: index of the SGE after the current one
 * @status: HROCE_WC_SUCCESS; or enum hroce_cause once an SGE was not
 *	accessible; HRP_MEM_FAULT if it was not there
 * @dirty: given out last, to be written back
 * @dirty_len: bytes of it, or 0
 * @fault_write: HRP_MEM_FAULT: the fault was a write
 * @fault_key: of the region that had nothing at @pos
 * @fault_len: bytes that the walk wants from @pos on
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
	u32 sge;
	u32 dirty_len;
	void *dirty;
	u8 status;
	bool fault_write;
	u32 fault_key;
	u32 fault_len;
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
 * @mkeys: of the device
 * @pd: protection domain of the queue pair
 * @mem: what to walk; must stay unchanged while @it is in use
 *
 * Context: in a section until hroce_mem_end().
 */
void hroce_mem_begin(struct hroce_mem_iter *it, const struct hroce_mkeys *mkeys,
		     const void *pd, const struct hrp_mem *mem);

/* For hroce_mem_next(): if the extent is not simply within one block. */
u32 hroce_mem_next_slow(struct hroce_mem_iter *it, u32 max,
			struct hroce_extent *ext);

/**
 * hroce_mem_next - next extent
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
	it->pos += max;
	it->sge_left -= max;
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
 * Return: true if all SGEs are accessible, and no region of them is
 * revocable.
 */
bool hroce_mem_is_steady(const struct hroce_mem_iter *it);

/* May a peer of this queue pair use what @it has come to, a region? */
static inline bool hroce_mem_is_for(const struct hroce_mem_iter *it, u32 qpn)
{
	return hroce_region_is_for(it->window ?: it->region, qpn);
}

/**
 * hroce_mem_is_page - is the next extent within one page?
 * @it: iterator
 * @len: bytes wanted, not 0
 *
 * Context: in a section.
 * Return: true if hroce_mem_next_page() will give it out.
 */
static inline bool hroce_mem_is_page(const struct hroce_mem_iter *it, u32 len)
{
	return len <= it->sge_left && it->pages &&
	       len <= PAGE_SIZE - offset_in_page(it->pos);
}

/**
 * hroce_mem_next_page - next extent, if it is within one page
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
	it->sge_left -= len;
	it->left -= len;
	return page;
}

/**
 * hroce_mem_end - end a walk, at any point of it
 * @it: iterator; no extent that it gave out may be touched any more, unless by
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
 * Gives back what is locked for the walk, so that frames can be sent. No extent
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

#endif /* HROCE_ITER_H */

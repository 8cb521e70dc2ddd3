// SPDX-License-Identifier: GPL-2.0
/*
 * Walks over registered memory. Each SGE is checked when the walk reaches it:
 * key, protection domain, range and rights.
 */
#include <linux/libnvdimm.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/string.h>
#include "iter.h"
#include "mkeys.h"

/*
 * The lock of a revocable region is held across calls, which sparse cannot
 * track: tell sparse that it is not held.
 */
static void region_hold(struct hroce_region *region)
{
	read_lock(&region->lock);
	__release(&region->lock);
}

static void region_drop(struct hroce_region *region)
{
	__acquire(&region->lock);
	read_unlock(&region->lock);
}

/* Write back the last extent returned, which has been written by now. */
static void iter_write_back(struct hroce_mem_iter *it)
{
	if (it->dirty_len)
		arch_wb_cache_pmem(it->dirty, it->dirty_len);
	it->dirty_len = 0;
}

void hroce_mem_give_back(struct hroce_mem_iter *it)
{
	if (it->dirty_len) {
		iter_write_back(it);
		/* On this CPU: a barrier on another does not wait for them. */
		pmem_wmb();
	}
	if (hroce_region_is_revocable(it->region))
		region_drop(it->region);
	if (it->window)
		region_drop(it->window);
	it->window = NULL;
}

static noinline bool iter_fail(struct hroce_mem_iter *it, u8 status)
{
	hroce_mem_end(it);
	it->status = status;
	return false;
}

static const struct hroce_sge *iter_sge(const struct hroce_mem_iter *it)
{
	return it->mem->sges ? hrp_mem_sge(it->mem, it->sge - 1) : &it->mem->one;
}

/* Position of the start of the current SGE, on the scale of @it->pos. */
static u64 iter_sge_pos(const struct hroce_mem_iter *it)
{
	const struct hroce_region *region = it->window ?: it->region;

	return iter_sge(it)->addr - region->iova + region->first_offset;
}

/* Cause of the failure of hroce_region_check(). */
static u8 iter_cause(const struct hroce_mem_iter *it,
		     const struct hroce_region *region)
{
	if (READ_ONCE(region->state) != HROCE_REGION_VALID)
		return HROCE_CAUSE_KEY;
	if (region->pd != it->pd)
		return HROCE_CAUSE_DOMAIN;
	return hroce_region_allows(region, it->mem->access) ?
	       HROCE_CAUSE_RANGE : HROCE_CAUSE_RIGHTS;
}

/*
 * Pages are missing, and the region can fetch them. Request the rest of the SGE
 * as well.
 */
static u32 iter_fault(struct hroce_mem_iter *it)
{
	it->fault_write = hroce_mem_is_written(it->mem);
	it->fault_key = it->region->key;
	it->fault_len = iter_sge_pos(it) + iter_sge(it)->length - it->pos;
	iter_fail(it, HRP_MEM_FAULT);
	return 0;
}

/*
 * The range was checked against the window here, and the rights of its parent
 * at bind time. The parent does not change while the window is locked.
 */
static void iter_look_through_window(struct hroce_mem_iter *it)
{
	it->window = it->region;
	it->region = it->window->parent;
	if (hroce_region_is_revocable(it->region))
		region_hold(it->region);
}

/*
 * Is this the region, and may the access be by @key? A bind or a registration
 * may have replaced the key by which it was found, until it was locked.
 */
static bool iter_is_meant(const struct hroce_mem_iter *it,
			  const struct hroce_region *region, u32 key)
{
	return region->key == key && hroce_region_is_for(region, it->qpn) &&
	       (region->type != HROCE_REGION_WINDOW ||
		it->mem->access >= HRP_ACCESS_REMOTE_READ);
}

/* Enter @sge at offset @skip. No region is in use. */
static __always_inline bool iter_enter(struct hroce_mem_iter *it,
				       const struct hroce_sge *sge, u32 skip)
{
	struct hroce_region *region;

	region = hroce_mkeys_find(it->mkeys, sge->lkey);
	if (!region)
		return iter_fail(it, HROCE_CAUSE_KEY);
	if (hroce_region_is_revocable(region)) {
		region_hold(region);
		it->region = region;
		if (!iter_is_meant(it, region, sge->lkey))
			return iter_fail(it, HROCE_CAUSE_KEY);
	}
	it->region = region;
	if (!hroce_region_check(region, it->pd, sge->addr, sge->length,
				it->mem->access))
		return iter_fail(it, iter_cause(it, region));
	it->pos = sge->addr + skip - region->iova + region->first_offset;
	/* Pinned memory only: the kernel may register slab pages. */
	if (region->type == HROCE_REGION_PINNED &&
	    !(hroce_region_is_durable(region) && hroce_mem_is_written(it->mem)))
		it->pages = region->pages;
	else if (region->type == HROCE_REGION_WINDOW)
		iter_look_through_window(it);
	it->sge_left = min(sge->length - skip, it->left);
	return true;
}

/* The SGE with the byte *@skip bytes behind the current one, or NULL. */
static __always_inline const struct hroce_sge *
iter_find(struct hroce_mem_iter *it, u32 *skip)
{
	while (it->sge < it->mem->nr_sges) {
		const struct hroce_sge *sge = hrp_mem_sge(it->mem, it->sge++);

		if (*skip < sge->length)
			return sge;
		*skip -= sge->length;
	}
	return NULL;
}

/*
 * Enter @sge if it is in the region of the one before, whose fields do not change.
 * Return: false if it may be in another one, or is out of range.
 */
static __always_inline bool iter_stay(struct hroce_mem_iter *it,
				      const struct hroce_sge *sge)
{
	const struct hroce_region *region = it->region;

	if (!it->pages || sge->lkey != region->key ||
	    !hroce_region_check(region, it->pd, sge->addr, sge->length,
				it->mem->access))
		return false;
	it->pos = sge->addr - region->iova + region->first_offset;
	it->sge_left = min(sge->length, it->left);
	return true;
}

bool hroce_mem_turn(struct hroce_mem_iter *it)
{
	const struct hroce_sge *sge;
	u32 skip = 0;

	if (!it->left)
		return false;
	if (it->mem->bytes) {
		it->pos += it->mem->stride - it->mem->one.length;
		it->sge_left = min(it->mem->one.length, it->left);
		return true;
	}
	sge = iter_find(it, &skip);
	if (sge && iter_stay(it, sge))
		return true;
	hroce_mem_leave(it);
	return sge ? iter_enter(it, sge, 0) : iter_fail(it, HROCE_CAUSE_RANGE);
}

void hroce_mem_begin(struct hroce_mem_iter *it, const struct hroce_mkeys *mkeys,
		     const void *pd, u32 qpn, const struct hrp_mem *mem)
{
	const struct hroce_sge *sge = &mem->one;
	u32 skip = mem->offset;

	it->mkeys = mkeys;
	it->pd = pd;
	it->mem = mem;
	it->region = NULL;
	it->window = NULL;
	it->pages = NULL;
	it->pos = 0;
	it->sge_left = 0;
	it->left = mem->len;
	it->qpn = qpn;
	it->sge = 0;
	it->dirty_len = 0;
	it->status = HROCE_WC_SUCCESS;
	if (!mem->len)
		return;
	if (mem->bytes) {
		it->pos = (uintptr_t)mem->bytes + skip;
		it->sge_left = mem->nr_sges ? mem->one.length : mem->len;
		return;
	}
	if (mem->sges) {
		sge = iter_find(it, &skip);
	} else {
		it->sge = mem->nr_sges;
		/* A remote range need not be addressable from its start. */
		if (sge->length < skip || sge->length - skip < mem->len)
			sge = NULL;
	}
	if (likely(sge))
		iter_enter(it, sge, skip);
	else
		iter_fail(it, HROCE_CAUSE_RANGE);
}

bool hroce_mem_release(struct hroce_mem_iter *it)
{
	if (!it->region ||
	    (!hroce_region_is_revocable(it->region) && !it->window))
		return false;
	it->pos -= iter_sge_pos(it);
	hroce_mem_leave(it);
	return true;
}

void hroce_mem_resume(struct hroce_mem_iter *it)
{
	if (it->sge_left)
		iter_enter(it, iter_sge(it), it->pos);
}

/* Kernel memory by its address (DMA region): direct map or vmalloc. */
static u32 extent_kernel(u64 addr, u32 max, struct hroce_extent *ext)
{
	void *va = (void *)(uintptr_t)addr;

	ext->offset = offset_in_page(va);
	if (is_vmalloc_addr(va)) {
		ext->page = vmalloc_to_page(va);
		return min_t(u32, max, PAGE_SIZE - ext->offset);
	}
	ext->page = virt_to_page(va);
	return max;
}

/*
 * Are all pages of an extent refcounted? Slab pages are not, nor are the later
 * pages of non-compound memory of higher order.
 */
static bool extent_counts(const struct hroce_extent *ext)
{
	u32 nr = PFN_UP(offset_in_page(ext->offset) + (u64)ext->len);
	struct page *page = ext->page + (ext->offset >> PAGE_SHIFT);

	while (nr--) {
		if (!sendpage_ok(page++))
			return false;
	}
	return true;
}

static u32 extent_region(const struct hroce_region *region, u64 pos, u32 max,
			 struct hroce_extent *ext)
{
	u64 block = pos >> region->page_shift;
	u32 step = 1u << (region->page_shift - PAGE_SHIFT);
	u32 offset = pos & ((1ull << region->page_shift) - 1);
	u64 len = (1ull << region->page_shift) - offset;
	struct page *page = region->pages[block];

	ext->page = page + (offset >> PAGE_SHIFT);
	ext->offset = offset_in_page(offset);
	while (len < max && region->pages[block + 1] == page + step) {
		page += step;
		block++;
		len += 1ull << region->page_shift;
	}
	return min_t(u64, len, max);
}

u32 hroce_mem_next_slow(struct hroce_mem_iter *it, u32 max,
			struct hroce_extent *ext)
{
	const struct hroce_region *region;

	max = min(max, it->sge_left);
	region = it->region;
	ext->va = NULL;
	if (unlikely(!region)) {
		ext->va = (void *)(uintptr_t)it->pos;
		ext->len = max;
	} else if (unlikely(region->type == HROCE_REGION_FETCHED)) {
		lockdep_assert_held(&region->lock);
		ext->len = region->find(region, it->pos, max,
					hroce_mem_is_written(it->mem), ext);
		if (!ext->len)
			return iter_fault(it);
	} else {
		ext->len = region->type == HROCE_REGION_DMA ?
			   extent_kernel(it->pos, max, ext) :
			   extent_region(region, it->pos, max, ext);
		if (!it->pages && !extent_counts(ext))
			ext->va = hroce_extent_va(ext);
		if (unlikely(hroce_region_is_durable(region)) &&
		    hroce_mem_is_written(it->mem)) {
			iter_write_back(it);
			it->dirty = hroce_extent_va(ext);
			it->dirty_len = ext->len;
		}
	}
	hroce_mem_step(it, ext->len);
	return ext->len;
}

void hroce_mem_skip(struct hroce_mem_iter *it, u32 len)
{
	u32 n;

	for (; len; len -= n) {
		n = min(len, it->sge_left);
		if (!n && !hroce_mem_turn(it))
			return;
		hroce_mem_step(it, n);
	}
}

static bool iter_is_steady_at(const struct hroce_mem_iter *it,
			      const struct hroce_sge *sge)
{
	const struct hroce_region *region;

	region = hroce_mkeys_find(it->mkeys, sge->lkey);
	return region && !hroce_region_is_revocable(region) &&
	       hroce_region_check(region, it->pd, sge->addr, sge->length,
				  it->mem->access);
}

bool hroce_mem_is_steady(const struct hroce_mem_iter *it)
{
	u32 left, i;

	if (it->status != HROCE_WC_SUCCESS || it->window ||
	    (it->region && hroce_region_is_revocable(it->region)))
		return false;
	if (it->mem->bytes)
		return true;
	left = it->left - it->sge_left;
	for (i = it->sge; left && i < it->mem->nr_sges; i++) {
		const struct hroce_sge *sge = hrp_mem_sge(it->mem, i);

		if (!sge->length)
			continue;
		if (!iter_is_steady_at(it, sge))
			return false;
		left -= min(left, sge->length);
	}
	return !left;
}

bool hroce_mem_copy_in(struct hroce_mem_iter *it, const void *src, u32 len)
{
	struct hroce_extent ext;

	while (len) {
		if (!hroce_mem_next(it, len, &ext))
			return false;
		memcpy(hroce_extent_va(&ext), src, ext.len);
		src += ext.len;
		len -= ext.len;
	}
	return true;
}

bool hroce_mem_copy_out(struct hroce_mem_iter *it, void *dst, u32 len)
{
	struct hroce_extent ext;

	while (len) {
		if (!hroce_mem_next(it, len, &ext))
			return false;
		memcpy(dst, hroce_extent_va(&ext), ext.len);
		dst += ext.len;
		len -= ext.len;
	}
	return true;
}

/* hroce_mem_next(), limited to the end of the block. */
static u32 iter_next_in_block(struct hroce_mem_iter *it, u32 max,
			      struct hroce_extent *ext)
{
	u32 block_len;

	if (likely(it->pages)) {
		block_len = 1u << it->region->page_shift;
		max = min(max, block_len - (u32)(it->pos & (block_len - 1)));
		if (it->sge_left)
			max = min(max, it->sge_left);
	}
	return hroce_mem_next(it, max, ext);
}

u32 hroce_mem_copy(struct hroce_mem_iter *dst, struct hroce_mem_iter *src,
		   u32 len)
{
	struct hroce_extent to, from;
	u32 left = len;

	/* Searching for contiguous blocks costs more than it saves. */
	while (left && iter_next_in_block(dst, left, &to)) {
		void *va = hroce_extent_va(&to);

		while (to.len) {
			if (!iter_next_in_block(src, to.len, &from))
				return len - left;
			memcpy(va, hroce_extent_va(&from), from.len);
			va += from.len;
			to.len -= from.len;
			left -= from.len;
		}
	}
	return len - left;
}

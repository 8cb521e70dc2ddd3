// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions: pinned memory of user space, all memory for the kernel, and
 * memory for fast registration (mem/fast.c).
 */
#include <linux/ioport.h>
#include <linux/libnvdimm.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include "../datapath/dev.h"
#include "device.h"
#include "mr.h"
#include "ops.h"
#include "ring.h"
#include "ucontext.h"

/* Supported flags. Optional ones are ignored, all others refused. */
#define MR_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_MW_BIND | IB_ZERO_BASED | \
			 IB_ACCESS_FLUSH_GLOBAL)
#define MR_IGNORED	(IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)
/* Pinned memory may be persistent, too. */
#define MR_PINNED	(MR_ACCESS | IB_ACCESS_FLUSH_PERSISTENT)

/* Larger blocks would not allow larger frames. */
#define MAX_BLOCK_SHIFT	21

static_assert((int)IB_ACCESS_LOCAL_WRITE == HROCE_REGION_LOCAL_WRITE);
static_assert((int)IB_ACCESS_REMOTE_WRITE == HROCE_REGION_REMOTE_WRITE);
static_assert((int)IB_ACCESS_REMOTE_READ == HROCE_REGION_REMOTE_READ);
static_assert((int)IB_ACCESS_REMOTE_ATOMIC == HROCE_REGION_REMOTE_ATOMIC);
static_assert((int)IB_ACCESS_MW_BIND == HROCE_REGION_MW_BIND);
static_assert((int)IB_ZERO_BASED == HROCE_REGION_ZERO_BASED);
static_assert((int)IB_ACCESS_FLUSH_GLOBAL == HROCE_REGION_FLUSH_GLOBAL);
static_assert((int)IB_ACCESS_FLUSH_PERSISTENT == HROCE_REGION_FLUSH_PERSISTENT);

/* The range must not wrap. A region may be empty. */
static bool mr_range_ok(u64 iova, u64 length)
{
	return !length || iova + length - 1 >= iova;
}

int hroce_mr_init(struct hroce_mr *mr, struct ib_pd *pd, u64 iova, u64 length,
		  int access)
{
	if (access & ~(MR_ACCESS | MR_IGNORED))
		return -EOPNOTSUPP;
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (!mr_range_ok(iova, length))
		return -EINVAL;
	mr->ib.pd = pd;
	mr->ib.device = pd->device;
	mr->ib.length = length;
	mr->ib.iova = iova;
	mr->region.pd = pd;
	mr->region.iova = iova;
	mr->region.len = length;
	mr->region.access = access & MR_ACCESS;
	mr->region.page_shift = PAGE_SHIFT;
	rwlock_init(&mr->region.lock);
	refcount_set(&mr->users, 1);
	init_completion(&mr->unused);
	return 0;
}

static struct hroce_mr *mr_new(struct ib_pd *pd, u64 iova, u64 length,
			       int access)
{
	struct hroce_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = hroce_mr_init(mr, pd, iova, length, access);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return mr;
}

int hroce_mr_publish(struct hroce_mr *mr, int low8)
{
	int err;

	err = hroce_mkeys_add(&to_hdev(mr->ib.device)->mkeys, &mr->region, low8);
	if (err)
		return err;
	mr->ib.lkey = mr->region.key;
	mr->ib.rkey = mr->region.key;
	return 0;
}

struct ib_mr *hroce_mr_publish_fetched(struct hroce_mr *mr,
				       const struct hroce_mr_ops *ops,
				       hroce_region_find_fn *find)
{
	int err;

	mr->ops = ops;
	mr->region.type = HROCE_REGION_FETCHED;
	mr->region.find = find;
	mr->region.state = HROCE_REGION_VALID;
	err = hroce_mr_publish(mr, -1);
	if (!err)
		return &mr->ib;
	ops->release(mr);
	return ERR_PTR(err);
}

struct ib_mr *hroce_mr_get_dma(struct ib_pd *pd, int access)
{
	struct hroce_mr *mr;
	int err;

	mr = mr_new(pd, 0, 0, access);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->region.type = HROCE_REGION_DMA;
	mr->region.len = U64_MAX;
	mr->region.state = HROCE_REGION_VALID;
	err = hroce_mr_publish(mr, -1);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

/**
 * struct mr_pages - pinned user memory, as a region describes it
 * @valid: the pages replace those of the region
 * @umem: pinned memory; NULL for an empty region
 * @pages: see &struct hroce_region
 * @first_offset: likewise
 * @page_shift: likewise
 */
struct mr_pages {
	bool valid;
	struct ib_umem *umem;
	struct page **pages;
	u64 first_offset;
	u8 page_shift;
};

/*
 * Return: the largest block size such that all blocks but the first and the
 * last are whole.
 */
static u8 mr_block_shift(const struct ib_umem *umem)
{
	const struct sg_table *sgt = &umem->sgt_append.sgt;
	unsigned long bounds = BIT(MAX_BLOCK_SHIFT - PAGE_SHIFT);
	unsigned long pfn, end = 0;
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i) {
		pfn = page_to_pfn(sg_page(sg));
		if (i && pfn != end)
			bounds |= pfn | end;
		end = pfn + (PAGE_ALIGN(sg->offset + sg->length) >> PAGE_SHIFT);
	}
	return __ffs(bounds) + PAGE_SHIFT;
}

static void mr_fill_blocks(struct mr_pages *p, u32 nr_blocks)
{
	const struct sg_table *sgt = &p->umem->sgt_append.sgt;
	unsigned long pages = 1UL << (p->page_shift - PAGE_SHIFT);
	unsigned long pfn, next = 0;
	struct scatterlist *sg;
	unsigned int i;
	u32 n = 0;

	for_each_sgtable_sg(sgt, sg, i) {
		unsigned long end;

		pfn = page_to_pfn(sg_page(sg));
		end = pfn + (PAGE_ALIGN(sg->offset + sg->length) >> PAGE_SHIFT);
		if (!i || pfn != next)
			pfn &= ~(pages - 1);
		else
			pfn = ALIGN(pfn, pages);
		for (; pfn < end && n < nr_blocks; pfn += pages)
			p->pages[n++] = pfn_to_page(pfn);
		next = end;
	}
	WARN_ON_ONCE(n != nr_blocks);
}

static int mr_map_umem(struct mr_pages *p)
{
	struct ib_umem *umem = p->umem;
	unsigned long first;
	u64 nr_blocks;

	p->page_shift = mr_block_shift(umem);
	first = page_to_pfn(sg_page(umem->sgt_append.sgt.sgl));
	p->first_offset = ib_umem_offset(umem) +
			  ((first << PAGE_SHIFT) &
			   ((1UL << p->page_shift) - 1));
	nr_blocks = (p->first_offset + umem->length - 1) >> p->page_shift;
	p->pages = kvcalloc(++nr_blocks, sizeof(*p->pages), GFP_KERNEL_ACCOUNT);
	if (!p->pages)
		return -ENOMEM;
	mr_fill_blocks(p, nr_blocks);
	return 0;
}

static bool sg_is_persistent(struct scatterlist *sg)
{
	phys_addr_t start = page_to_phys(sg_page(sg));
	size_t len = PAGE_ALIGN(sg->offset + sg->length);

	return region_intersects(start, len, IORESOURCE_MEM,
				 IORES_DESC_PERSISTENT_MEMORY) ==
	       REGION_INTERSECTS ||
	       region_intersects(start, len, IORESOURCE_MEM,
				 IORES_DESC_PERSISTENT_MEMORY_LEGACY) ==
	       REGION_INTERSECTS;
}

/* FLUSH_PERSISTENT requires that all of the memory is persistent. */
static int mr_check_flush(const struct ib_umem *umem, int access)
{
	const struct sg_table *sgt = &umem->sgt_append.sgt;
	struct scatterlist *sg;
	unsigned int i;

	if (!(access & IB_ACCESS_FLUSH_PERSISTENT))
		return 0;
	for_each_sgtable_sg(sgt, sg, i) {
		if (!sg_is_persistent(sg))
			return -EINVAL;
		cond_resched();
	}
	return 0;
}

static int mr_pin(struct ib_device *ibdev, u64 start, u64 length, int access,
		  struct mr_pages *p)
{
	int err;

	p->valid = true;
	p->page_shift = PAGE_SHIFT;
	if (!length)
		return 0;
	p->umem = ib_umem_get_va(ibdev, start, length, access);
	if (p->umem == ERR_PTR(-ENOMEM)) {
		hroce_rings_reap_all();
		p->umem = ib_umem_get_va(ibdev, start, length, access);
	}
	if (IS_ERR(p->umem))
		return PTR_ERR(p->umem);
	err = mr_check_flush(p->umem, access);
	if (!err)
		err = mr_map_umem(p);
	if (err)
		ib_umem_release(p->umem);
	return err;
}

/*
 * Payload placed from now on is written back at once. Write back what was
 * placed before, since the peer may flush that, too.
 */
static void mr_write_back(const struct ib_umem *umem)
{
	const struct sg_table *sgt = &umem->sgt_append.sgt;
	struct sg_page_iter it;

	for_each_sgtable_page(sgt, &it, 0) {
		arch_wb_cache_pmem(page_address(sg_page_iter_page(&it)),
				   PAGE_SIZE);
		cond_resched();
	}
}

/* Leave the previous pages in @p. */
static void mr_swap_pages(struct hroce_mr *mr, struct mr_pages *p)
{
	swap(mr->umem, p->umem);
	swap(mr->region.pages, p->pages);
	swap(mr->region.first_offset, p->first_offset);
	swap(mr->region.page_shift, p->page_shift);
}

static void mr_unpin(const struct mr_pages *p)
{
	kvfree(p->pages);
	ib_umem_release(p->umem);
}

/* Read the driver's part of the command. */
static int mr_kind(struct ib_udata *udata, bool *null)
{
	struct hroce_reg_mr_req req = {};
	int err;

	if (!udata)
		return 0;
	err = hroce_udata_read(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.flags & ~HROCE_REG_MR_NULL || req.reserved)
		return -EINVAL;
	*null = req.flags & HROCE_REG_MR_NULL;
	return 0;
}

struct ib_mr *hroce_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata)
{
	struct mr_pages p = {};
	struct hroce_mr *mr;
	bool null = false;
	int err;

	err = mr_kind(udata, &null);
	if (err)
		return ERR_PTR(err);
	if (null)
		return start || length || iova ||
		       access != IB_ACCESS_LOCAL_WRITE ?
		       ERR_PTR(-EINVAL) : hroce_mr_alloc_null(pd);
	if (access & IB_ACCESS_ON_DEMAND)
		return hroce_mr_reg_odp(pd, start, length, iova, access, udata);
	hroce_rings_reap(hroce_udata_context(udata));
	mr = mr_new(pd, iova, length, access & ~IB_ACCESS_FLUSH_PERSISTENT);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	err = mr_pin(pd->device, start, length, access, &p);
	if (err)
		goto free_mr;
	mr_swap_pages(mr, &p);
	mr->region.access = access & MR_PINNED;
	mr->region.state = HROCE_REGION_VALID;
	err = hroce_mr_publish(mr, -1);
	if (err)
		goto unpin;
	return &mr->ib;

unpin:
	mr_swap_pages(mr, &p);
	mr_unpin(&p);
free_mr:
	kfree(mr);
	return ERR_PTR(err);
}

/* Refuse new windows. False if any is bound: it uses the memory. */
static bool mr_unshare(struct hroce_mr *mr)
{
	return !atomic_cmpxchg(&mr->region.windows, 0, INT_MIN);
}

/*
 * Pin the new memory. A change of rights alone pins the same memory again if it
 * was pinned for reading only; that takes the same process.
 */
static int mr_rereg_pin(const struct hroce_mr *mr, int flags, u64 start,
			u64 length, int access, struct mr_pages *p)
{
	const struct ib_umem *umem = mr->umem;

	if (mr->ops)
		return 0;
	if (!(flags & IB_MR_REREG_TRANS)) {
		if (!umem)
			return 0;
		if (!ib_access_writable(access) || umem->writable)
			return mr_check_flush(umem, access);
		if (umem->owning_mm != current->mm)
			return -EINVAL;
		start = umem->address;
		length = umem->length;
	}
	return mr_pin(mr->ib.device, start, length, access, p);
}

/*
 * Fetched memory: rights and domain may change, since each use checks them. Any
 * other change would be a new region. Leaves the rights to grant in @access.
 */
static int mr_rereg_fetched(const struct hroce_mr *mr, int flags, int *access)
{
	const int mark = mr->ops->mark;

	if (!mark || flags & IB_MR_REREG_TRANS)
		return -EOPNOTSUPP;
	if (!(flags & IB_MR_REREG_ACCESS))
		return 0;
	if (!(*access & mark) || *access & IB_ACCESS_FLUSH_PERSISTENT)
		return -EOPNOTSUPP;
	*access &= ~mark;
	return 0;
}

/*
 * The keys stay, but look-ups do not find the region while it changes. Requests
 * of the peer that arrive meanwhile fail: the peer may rely on neither state.
 */
struct ib_mr *hroce_mr_rereg(struct ib_mr *ibmr, int flags, u64 start,
			     u64 length, u64 iova, int access, struct ib_pd *pd,
			     struct ib_udata *udata)
{
	struct hroce_mkeys *mkeys = &to_hdev(ibmr->device)->mkeys;
	struct hroce_mr *mr = to_hmr(ibmr);
	struct mr_pages p = {};
	int err;

	err = hroce_udata_check(udata, 0);
	if (err)
		return ERR_PTR(err);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->region.access;
	if (mr->ops) {
		err = mr_rereg_fetched(mr, flags, &access);
		if (err)
			return ERR_PTR(err);
	}
	if (access & ~(MR_PINNED | MR_IGNORED))
		return ERR_PTR(-EOPNOTSUPP);
	if (access & IB_ZERO_BASED)
		iova = 0;
	if (!(flags & IB_MR_REREG_TRANS) &&
	    (access ^ mr->region.access) & IB_ZERO_BASED)
		return ERR_PTR(-EINVAL);
	if (flags & IB_MR_REREG_TRANS && !mr_range_ok(iova, length))
		return ERR_PTR(-EINVAL);
	if (!mr_unshare(mr))
		return ERR_PTR(-EBUSY);
	hroce_rings_reap(hroce_udata_context(udata));
	err = mr_rereg_pin(mr, flags, start, length, access, &p);
	if (err)
		goto open;

	hroce_mkeys_suspend(mkeys, &mr->region);
	if (p.valid)
		mr_swap_pages(mr, &p);
	else if (access & IB_ACCESS_FLUSH_PERSISTENT &&
		 !hroce_region_is_durable(&mr->region) && mr->umem)
		mr_write_back(mr->umem);
	if (flags & IB_MR_REREG_TRANS) {
		mr->region.iova = iova;
		mr->region.len = length;
	}
	mr->region.access = access & MR_PINNED;
	mr->region.pd = pd;
	hroce_mkeys_resume(mkeys, &mr->region);

	mr_unpin(&p);
open:
	atomic_set(&mr->region.windows, 0);
	return ERR_PTR(err);
}

static void mr_free_blocks(const struct hroce_mr *mr)
{
	kvfree(mr->region.pages);
	kvfree(mr->blocks);
}

int hroce_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct hroce_mr *mr = to_hmr(ibmr);

	if (!mr_unshare(mr))
		return -EBUSY;
	hroce_mkeys_del(&to_hdev(ibmr->device)->mkeys, &mr->region);
	if (mr->ops) {
		hroce_mr_close(mr);
		return 0;
	}
	mr_free_blocks(mr);
	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}

static struct page **mr_alloc_blocks(u32 nr)
{
	return kvcalloc(nr, sizeof(struct page *), GFP_KERNEL);
}

struct ib_mr *hroce_mr_alloc(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_num_sg)
{
	struct hroce_mr *mr;
	int err = -ENOMEM;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > HROCE_MAX_FAST_REG)
		return ERR_PTR(-EINVAL);
	mr = mr_new(pd, 0, 0, 0);
	if (IS_ERR(mr))
		return ERR_CAST(mr);
	mr->max_blocks = max_num_sg;
	mr->region.type = HROCE_REGION_FRWR;
	mr->region.pages = mr_alloc_blocks(max_num_sg);
	mr->blocks = mr_alloc_blocks(max_num_sg);
	if (!mr->region.pages || !mr->blocks)
		goto free_blocks;
	/* ib_update_fast_reg_key() counts up the low bits from 0. */
	err = hroce_mr_publish(mr, 0);
	if (err)
		goto free_blocks;
	return &mr->ib;

free_blocks:
	mr_free_blocks(mr);
	kfree(mr);
	return ERR_PTR(err);
}

static int mr_set_block(struct ib_mr *ibmr, u64 addr)
{
	struct hroce_mr *mr = to_hmr(ibmr);

	if (mr->nr_blocks == mr->max_blocks)
		return -ENOMEM;
	mr->blocks[mr->nr_blocks++] = ib_virt_dma_to_page(addr);
	return 0;
}

int hroce_mr_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset)
{
	/*
	 * The consumer may post the invalidation of what was registered before
	 * later, with REG_MR: the region stays as it is until then.
	 */
	to_hmr(ibmr)->nr_blocks = 0;
	if (ibmr->page_size < PAGE_SIZE) {
		pr_warn_once("blocks of %u bytes cannot be registered with pages of %lu: use a kernel with pages of 4 KB\n",
			     ibmr->page_size, PAGE_SIZE);
		return -EINVAL;
	}
	if (!is_power_of_2(ibmr->page_size))
		return -EINVAL;
	return ib_sg_to_pages(ibmr, sg, sg_nents, sg_offset, mr_set_block);
}

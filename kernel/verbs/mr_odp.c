// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions with on-demand paging: nothing is pinned, what is wanted is
 * fetched. An implicit one is all of the address space of the process, and costs
 * no more than what is used of it.
 *
 * Advice to fetch beforehand is here, too.
 */
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "../mem/paged.h"
#include "device.h"
#include "mr.h"
#include "ucontext.h"

/* Who waits goes on after that much; the rest is fetched when he is there. */
#define FETCH_MAX	(4u << 20)

/**
 * struct odp_mr - memory region with on-demand paging
 * @mr: what all regions have
 * @paged: memory
 * @start: address of the first byte in the process
 * @fetched: pages that somebody waited for
 * @prefetched: pages fetched by advice
 */
struct odp_mr {
	struct hroce_mr mr;
	struct hroce_paged paged;
	u64 start;
	atomic64_t fetched;
	atomic64_t prefetched;
};

/**
 * struct odp_range - part of a region
 * @odp: region, with a reference
 * @want: what is to be fetched of it
 */
struct odp_range {
	struct odp_mr *odp;
	struct hroce_paged_want want;
};

/**
 * struct odp_prefetch - advice that is followed
 * @work: does so if the adviser does not wait
 * @nr: entries of @ranges
 * @ranges: what to fetch
 */
struct odp_prefetch {
	struct work_struct work;
	u32 nr;
	struct odp_range ranges[] __counted_by(nr);
};

static u32 odp_find(const struct hroce_region *region, u64 pos, u32 max,
		    bool write, struct hroce_extent *ext)
{
	const struct odp_mr *odp = container_of(region, struct odp_mr,
						mr.region);

	return hroce_paged_find(&odp->paged, odp->start + pos, max, write, ext);
}

/*
 * The range is one that has been within this region, or another one with the
 * same key.
 */
static int odp_fetch(struct hroce_mr *mr, u64 pos, u64 len, bool write)
{
	struct odp_mr *odp = container_of(mr, struct odp_mr, mr);
	struct hroce_paged_want want = { .write = write };
	u64 va = odp->start + pos;
	int err;

	if (pos > mr->region.len || len > mr->region.len - pos ||
	    (write && !(mr->region.access & HROCE_REGION_LOCAL_WRITE)))
		return -EFAULT;
	want.va = va;
	want.end = va + min_t(u64, len, FETCH_MAX);
	err = hroce_paged_fetch(&odp->paged, &want);
	atomic64_add(want.fetched, &odp->fetched);
	/* Whoever gets so far that the rest is wanted will ask for it. */
	return err == -EAGAIN || want.va > va ? 0 : err;
}

static void odp_release(struct hroce_mr *mr)
{
	struct odp_mr *odp = container_of(mr, struct odp_mr, mr);

	hroce_paged_fini(&odp->paged);
	kfree(odp);
}

static const struct hroce_mr_ops odp_mr_ops = {
	.fetch = odp_fetch,
	.release = odp_release,
	.mark = IB_ACCESS_ON_DEMAND,
};

static int odp_check(u64 start, u64 length, u64 iova)
{
	u64 size = current->mm->task_size;

	if (!start && length == U64_MAX)
		return iova ? -EINVAL : 0;
	return start < size && length <= size - start ? 0 : -EFAULT;
}

struct ib_mr *hroce_mr_reg_odp(struct ib_pd *pd, u64 start, u64 length,
			       u64 iova, int access, struct ib_udata *udata)
{
	struct odp_mr *odp;
	int err;

	err = odp_check(start, length, iova);
	if (err)
		return ERR_PTR(err);
	odp = kzalloc(sizeof(*odp), GFP_KERNEL_ACCOUNT);
	if (!odp)
		return ERR_PTR(-ENOMEM);
	err = hroce_mr_init(&odp->mr, pd, iova, length,
			    access & ~IB_ACCESS_ON_DEMAND);
	if (err)
		goto free_odp;
	odp->mr.wq = hroce_ucontext_fetch_wq(udata);
	if (!odp->mr.wq) {
		err = -ENOMEM;
		goto free_odp;
	}
	odp->start = start;
	hroce_paged_init(&odp->paged, start, length, &odp->mr.region.lock);
	return hroce_mr_publish_fetched(&odp->mr, &odp_mr_ops, odp_find);

free_odp:
	kfree(odp);
	return ERR_PTR(err);
}

/* Advice. */

static void prefetch_free(struct odp_prefetch *pre)
{
	u32 i;

	for (i = 0; i < pre->nr; i++)
		if (pre->ranges[i].odp)
			hroce_mr_put(&pre->ranges[i].odp->mr);
	kvfree(pre);
}

/* Nobody is told that nothing could be fetched just now. */
static int prefetch_run(struct odp_prefetch *pre)
{
	int err = 0;
	u32 i;

	for (i = 0; i < pre->nr && !err; i++) {
		struct odp_range *range = &pre->ranges[i];

		err = hroce_paged_fetch(&range->odp->paged, &range->want);
		atomic64_add(range->want.fetched, &range->odp->prefetched);
		if (err == -EAGAIN)
			err = 0;
	}
	return err;
}

static void prefetch_work(struct work_struct *work)
{
	struct odp_prefetch *pre = container_of(work, struct odp_prefetch,
						work);

	prefetch_run(pre);
	prefetch_free(pre);
}

/* A reference is kept in @range even if this fails. */
static int prefetch_set(struct odp_range *range, struct ib_pd *pd,
			enum ib_uverbs_advise_mr_advice advice,
			const struct ib_sge *sge)
{
	const struct hroce_region *region;
	struct hroce_mr *mr;
	bool writable;

	mr = hroce_mr_tryget(&to_hdev(pd->device)->keys, sge->lkey);
	if (!mr)
		return -ENOENT;
	if (mr->ops != &odp_mr_ops) {
		hroce_mr_put(mr);
		return -ENOENT;
	}
	range->odp = container_of(mr, struct odp_mr, mr);
	region = &mr->region;
	writable = region->access & HROCE_REGION_LOCAL_WRITE;
	if (region->pd != pd ||
	    (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE && !writable))
		return -EPERM;
	if (!hroce_region_check(region, pd, sge->addr, sge->length,
				HRP_ACCESS_LOCAL_READ))
		return -EFAULT;
	range->want.va = range->odp->start + (sge->addr - region->iova);
	range->want.end = range->want.va + sge->length;
	range->want.write = writable &&
			    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH;
	range->want.no_fault =
		advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
	return 0;
}

static struct odp_prefetch *
prefetch_new(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
	     const struct ib_sge *sges, u32 nr_sges)
{
	struct odp_prefetch *pre;
	int err = 0;
	u32 i;

	pre = kvzalloc(struct_size(pre, ranges, nr_sges), GFP_KERNEL_ACCOUNT);
	if (!pre)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&pre->work, prefetch_work);
	pre->nr = nr_sges;
	for (i = 0; i < nr_sges && !err; i++)
		err = prefetch_set(&pre->ranges[i], pd, advice, &sges[i]);
	if (err) {
		prefetch_free(pre);
		return ERR_PTR(err);
	}
	return pre;
}

int hroce_mr_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sges, u32 nr_sges,
		    struct uverbs_attr_bundle *attrs)
{
	struct odp_prefetch *pre;
	int err;

	if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	if (flags & ~IB_UVERBS_ADVISE_MR_FLAG_FLUSH || !nr_sges)
		return -EINVAL;
	pre = prefetch_new(pd, advice, sges, nr_sges);
	if (IS_ERR(pre))
		return PTR_ERR(pre);
	if (!(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) {
		/* All are of this context, as their domain is. */
		queue_work(pre->ranges[0].odp->mr.wq, &pre->work);
		return 0;
	}
	err = prefetch_run(pre);
	prefetch_free(pre);
	return err;
}

/* The names are those that other drivers use. */
int hroce_mr_fill_stat(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct hroce_mr *mr = to_hmr(ibmr);
	struct nlattr *table;
	struct odp_mr *odp;

	if (mr->ops != &odp_mr_ops)
		return 0;
	odp = container_of(mr, struct odp_mr, mr);
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	if (rdma_nl_stat_hwcounter_entry(msg, "page_faults",
					 atomic64_read(&odp->fetched)) ||
	    rdma_nl_stat_hwcounter_entry(msg, "page_invalidations",
					 atomic64_read(&odp->paged.invalidated)) ||
	    rdma_nl_stat_hwcounter_entry(msg, "page_prefetch",
					 atomic64_read(&odp->prefetched))) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions with on-demand paging: pages are not pinned, but fetched when
 * they are used. An implicit region covers the whole address space of the
 * process and costs only what is used of it.
 *
 * Also here: ibv_advise_mr(), which prefetches.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "../core/epoch.h"
#include "../datapath/fetch.h"
#include "../mem/paged.h"
#include "device.h"
#include "mr.h"
#include "ops.h"
#include "ucontext.h"

/* Fetch at most this much for a fault; the rest is fetched by the next one. */
#define FETCH_MAX	(4u << 20)

/* Advice is ignored while a process waits for so many fetches. */
#define MAX_FETCHES	256

/**
 * struct odp_mr - memory region with on-demand paging
 * @mr: common part of all regions
 * @paged: its pages
 * @start: address of the first byte in the process
 * @fetched: pages fetched by faults
 * @prefetched: pages fetched by ibv_advise_mr()
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
 * @want: the part to fetch
 */
struct odp_range {
	struct odp_mr *odp;
	struct hroce_paged_want want;
};

/**
 * struct odp_prefetch - prefetch of a call of ibv_advise_mr()
 * @work: fetches @ranges
 * @users: references: the work, and the caller if it waits
 * @done: the work is done; @err is valid
 * @err: 0 or negative errno
 * @nr: entries of @ranges
 * @ranges: what to fetch
 */
struct odp_prefetch {
	struct work_struct work;
	refcount_t users;
	bool done;
	int err;
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
 * Check the range: it was within this region, or within an earlier one with the
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
	/* The next fault fetches the rest. */
	return err == -EAGAIN || want.va > va ? 0 : err;
}

static void odp_close(struct hroce_mr *mr)
{
	hroce_paged_close(&container_of(mr, struct odp_mr, mr)->paged);
}

static void odp_release(struct hroce_mr *mr)
{
	struct odp_mr *odp = container_of(mr, struct odp_mr, mr);

	hroce_paged_fini(&odp->paged);
	hroce_fetcher_put(mr->fetcher);
	kfree(odp);
}

static const struct hroce_mr_ops odp_mr_ops = {
	.fetch = odp_fetch,
	.close = odp_close,
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
	struct hroce_fetcher *fetcher;
	struct odp_mr *odp;
	int err;

	/* A kernel consumer, as RDS for memory that cannot be pinned. */
	if (!udata)
		return ERR_PTR(-EOPNOTSUPP);
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
	fetcher = hroce_ucontext_fetcher(udata);
	err = PTR_ERR_OR_ZERO(fetcher);
	if (err)
		goto free_odp;
	odp->mr.fetcher = fetcher;
	odp->start = start;
	hroce_paged_init(&odp->paged, start, length, &odp->mr.region.lock);
	return hroce_mr_publish_fetched(&odp->mr, &odp_mr_ops, odp_find);

free_odp:
	kfree(odp);
	return ERR_PTR(err);
}

/* ibv_advise_mr() */

/* Not in struct hroce_dev: the work may outlive the device. */
static DECLARE_WAIT_QUEUE_HEAD(advisers);

/* All ranges are in one protection domain, hence of one context. */
static struct hroce_fetcher *prefetch_fetcher(const struct odp_prefetch *pre)
{
	return pre->ranges[0].odp->mr.fetcher;
}

static void prefetch_put(struct odp_prefetch *pre)
{
	u32 i;

	if (!refcount_dec_and_test(&pre->users))
		return;
	for (i = 0; i < pre->nr; i++)
		if (pre->ranges[i].odp)
			hroce_mr_put(&pre->ranges[i].odp->mr);
	kvfree(pre);
}

/* Do not report -EAGAIN: the next use fetches the page. */
static int prefetch_run(struct odp_prefetch *pre)
{
	int err = 0;
	u32 i;

	/* As in hroce_mr_fetch(). */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	for (i = 0; i < pre->nr && !err; i++) {
		struct odp_range *range = &pre->ranges[i];

		err = hroce_paged_fetch(&range->odp->paged, &range->want);
		atomic64_add(range->want.fetched, &range->odp->prefetched);
		if (err == -EAGAIN)
			err = 0;
	}
	module_put(THIS_MODULE);
	return err;
}

static void prefetch_work(struct work_struct *work)
{
	struct odp_prefetch *pre = container_of(work, struct odp_prefetch,
						work);

	pre->err = prefetch_run(pre);
	hroce_fetch_done(prefetch_fetcher(pre));
	/* Pairs with prefetch_wait(). */
	smp_store_release(&pre->done, true);
	wake_up_all(&advisers);
	prefetch_put(pre);
}

/*
 * The caller holds locks of its context that device removal waits for, so the
 * removal ends this wait.
 */
static int prefetch_wait(struct odp_prefetch *pre, const struct hroce_dev *dev)
{
	int err;

	err = wait_event_killable(advisers,
				  READ_ONCE(pre->done) || READ_ONCE(dev->leaving));
	if (err)
		return err;
	/* @err is valid if @done is set: pairs with prefetch_work(). */
	return smp_load_acquire(&pre->done) ? pre->err : -EIO;
}

void hroce_mr_end_advice(void)
{
	wake_up_all(&advisers);
}

/* On failure, too, @range may hold a reference. */
static int prefetch_set(struct odp_range *range, struct ib_pd *pd,
			enum ib_uverbs_advise_mr_advice advice,
			const struct ib_sge *sge)
{
	const struct hroce_region *region;
	struct hroce_mr *mr;
	bool writable;

	hroce_epoch_enter();
	mr = hroce_mr_tryget(&to_hdev(pd->device)->mkeys, sge->lkey);
	hroce_epoch_leave();
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
	refcount_set(&pre->users, 1);
	pre->nr = nr_sges;
	for (i = 0; i < nr_sges && !err; i++)
		err = prefetch_set(&pre->ranges[i], pd, advice, &sges[i]);
	if (err) {
		prefetch_put(pre);
		return ERR_PTR(err);
	}
	return pre;
}

/* Return: false if there are too many already. */
static bool prefetch_queue(struct odp_prefetch *pre, bool wait)
{
	struct hroce_fetcher *fetcher = prefetch_fetcher(pre);

	if (!wait && atomic_read(&fetcher->nr_works) >= MAX_FETCHES)
		return false;
	if (wait)
		refcount_inc(&pre->users);
	hroce_fetch_queue(fetcher, &pre->work);
	return true;
}

int hroce_mr_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sges, u32 nr_sges,
		    struct uverbs_attr_bundle *attrs)
{
	bool wait = flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH;
	struct odp_prefetch *pre;
	int err = 0;

	if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		return -EOPNOTSUPP;
	if (flags & ~IB_UVERBS_ADVISE_MR_FLAG_FLUSH || !nr_sges)
		return -EINVAL;
	pre = prefetch_new(pd, advice, sges, nr_sges);
	if (IS_ERR(pre))
		return PTR_ERR(pre);
	if (!prefetch_queue(pre, wait)) {
		prefetch_put(pre);
	} else if (wait) {
		err = prefetch_wait(pre, to_hdev(pd->device));
		prefetch_put(pre);
	}
	return err;
}

/* Other drivers use the same names. */
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

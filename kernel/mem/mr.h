/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions as the datapath uses them. */
#ifndef HROCE_MR_H
#define HROCE_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>
#include "region.h"

struct hroce_fetcher;
struct hroce_mkeys;
struct hroce_mr;

/**
 * struct hroce_mr_ops - operations of memory that is fetched, not pinned
 * @fetch: make a range present; it may disappear again at any time. Process
 *	context, several calls at a time. Return: 0 or negative errno
 * @close: the region is deregistered: end fetching soon, if possible. NULL:
 *	fetching always ends in finite time, deregistration waits for it
 * @release: free the region, which has no users left
 * @mark: IB_ACCESS_* flag that requests such a region and that a change of its
 *	rights must repeat; 0: rereg_mr() is refused
 */
struct hroce_mr_ops {
	int (*fetch)(struct hroce_mr *mr, u64 pos, u64 len, bool write);
	void (*close)(struct hroce_mr *mr);
	void (*release)(struct hroce_mr *mr);
	int mark;
};

/**
 * struct hroce_mr - memory region
 * @ib: ib_core's region
 * @region: the part that the datapath uses
 * @umem: pinned user memory, or NULL
 * @ops: operations of fetched memory; NULL: the memory is pinned
 * @fetcher: @ops with close(): runs fetches; a reference is held
 * @closed: @ops: the region has been deregistered; @ib and its device may be
 *	gone
 * @users: @ops: one until @closed, and one for each work item
 * @unused: @ops without close(): @users has fallen to 0
 * @blocks: FRWR: what hroce_mr_map_sg() fills in. REG_MR exchanges it for
 *	@region.pages, which an earlier key may still use while @ib is mapped
 * @max_blocks: FRWR: size of @blocks, and of @region.pages
 * @nr_blocks: FRWR: mapped since the last registration; 0: it is registered
 *	as it was
 */
struct hroce_mr {
	struct ib_mr ib;
	struct hroce_region region;
	struct ib_umem *umem;
	const struct hroce_mr_ops *ops;
	struct hroce_fetcher *fetcher;
	bool closed;
	refcount_t users;
	struct completion unused;
	struct page **blocks;
	u32 max_blocks;
	u32 nr_blocks;
};

static inline struct hroce_mr *to_hmr(struct ib_mr *ib)
{
	return container_of(ib, struct hroce_mr, ib);
}

/* mem/fast.c */

/**
 * hroce_mr_register - execute REG_MR
 * @pd: protection domain of the queue pair
 * @wqe: entry of a queue of the kernel
 *
 * Context: BH disabled, a send lock held.
 * Return: HROCE_WC_SUCCESS or enum hroce_cause.
 */
u8 hroce_mr_register(const struct ib_pd *pd, const struct hroce_sq_wqe *wqe);

/**
 * hroce_mr_invalidate - execute LOCAL_INV, or an invalidation by the peer
 * @mkeys: keys of the device
 * @pd: protection domain of the queue pair
 * @qpn: number of the queue pair
 * @key: key of a region or window
 * @remote: the peer asks for it
 *
 * After return this key no longer gives access to the memory.
 * Context: in an epoch, a QP lock held.
 * Return: false if @key must not be invalidated in this way.
 */
bool hroce_mr_invalidate(const struct hroce_mkeys *mkeys,
			 const struct ib_pd *pd, u32 qpn, u32 key, bool remote);

/* mem/fetched.c */

/**
 * hroce_mr_tryget - look up a region of fetched memory
 * @mkeys: keys of the device
 * @key: key of the region
 *
 * Context: in an epoch.
 * Return: region, with a reference for hroce_mr_put(); or NULL.
 */
struct hroce_mr *__must_check hroce_mr_tryget(const struct hroce_mkeys *mkeys,
					      u32 key);

/* Drop a reference, maybe the last one. Context: process, may sleep. */
void hroce_mr_put(struct hroce_mr *mr);

/**
 * hroce_mr_fetch - fetch memory of a region
 * @mr: region; a reference is held
 * @pos: offset in the region
 * @len: bytes
 * @write: fetch for writing
 *
 * Context: work item of @mr->fetcher, may sleep forever.
 * Return: 0; negative errno: the memory cannot be fetched.
 */
int hroce_mr_fetch(struct hroce_mr *mr, u64 pos, u64 len, bool write);

/**
 * hroce_mr_close - end the use of a region of fetched memory, and free it
 * @mr: region whose key has been removed
 *
 * Running fetches hold references and drop them.
 * Context: process, may sleep.
 */
void hroce_mr_close(struct hroce_mr *mr);

#endif /* HROCE_MR_H */

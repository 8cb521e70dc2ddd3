/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions. */
#ifndef HROCE_MR_H
#define HROCE_MR_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>
#include "../mem/region.h"

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
 * @max_blocks: FRWR: size of @region.pages
 * @nr_blocks: FRWR: mapped by the last hroce_mr_map_sg()
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
	u32 max_blocks;
	u32 nr_blocks;
};

static inline struct hroce_mr *to_hmr(struct ib_mr *ib)
{
	return container_of(ib, struct hroce_mr, ib);
}

/**
 * hroce_mr_register - execute REG_MR
 * @pd: protection domain of the queue pair
 * @wqe: entry of a queue of the kernel
 *
 * Context: BH disabled, a send lock held.
 * Return: HROCE_WC_SUCCESS or enum hroce_cause.
 */
u8 hroce_mr_register(struct ib_pd *pd, const struct hroce_sq_wqe *wqe);

/**
 * hroce_mr_invalidate - execute LOCAL_INV, or an invalidation by the peer
 * @pd: protection domain of the queue pair
 * @qpn: number of the queue pair
 * @key: key of a region or window
 * @remote: the peer asks for it
 *
 * After return this key no longer gives access to the memory.
 * Context: in a section, a QP lock held.
 * Return: false if @key must not be invalidated in this way.
 */
bool hroce_mr_invalidate(struct ib_pd *pd, u32 qpn, u32 key, bool remote);

/**
 * hroce_mr_init - initialise a region
 * @mr: zeroed
 * @pd: protection domain
 * @iova: address of the first byte
 * @length: bytes; 0: set later
 * @access: IB_ACCESS_*
 *
 * Return: 0; -EOPNOTSUPP: unsupported access; -EINVAL: invalid range.
 */
int hroce_mr_init(struct hroce_mr *mr, struct ib_pd *pd, u64 iova, u64 length,
		  int access);

/**
 * hroce_mr_publish - give a region its key
 * @mr: complete
 * @low8: see hroce_mkeys_add()
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_mr_publish(struct hroce_mr *mr, int low8);

/**
 * hroce_mr_publish_fetched - give a region of fetched memory its key
 * @mr: complete but for @ops and @find
 * @ops: its operations; ops->release() frees @mr if this fails
 * @find: looks up its memory, see &struct hroce_region
 *
 * Context: process, may sleep.
 * Return: region or ERR_PTR().
 */
struct ib_mr *hroce_mr_publish_fetched(struct hroce_mr *mr,
				       const struct hroce_mr_ops *ops,
				       hroce_region_find_fn *find);

/**
 * hroce_mr_tryget - look up a region of fetched memory
 * @mkeys: keys of the device
 * @key: key of the region
 *
 * Context: in a section.
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
 * hroce_mr_alloc_null - create a region without memory
 * @pd: protection domain
 *
 * Context: process, may sleep.
 * Return: region or ERR_PTR().
 */
struct ib_mr *hroce_mr_alloc_null(struct ib_pd *pd);

/**
 * hroce_mr_reg_odp - create a region with on-demand paging
 * @pd: protection domain
 * @start: address in the calling process
 * @length: bytes; U64_MAX with @start 0: the whole address space
 * @iova: address of the first byte in work requests
 * @access: IB_ACCESS_*
 * @udata: of the command
 *
 * Context: process, may sleep.
 * Return: region or ERR_PTR().
 */
struct ib_mr *hroce_mr_reg_odp(struct ib_pd *pd, u64 start, u64 length,
			       u64 iova, int access, struct ib_udata *udata);

/* Wake all callers of hroce_mr_advise(): &hroce_dev.leaving is set. */
void hroce_mr_end_advice(void);

/* ib_device_ops */
struct ib_mr *hroce_mr_get_dma(struct ib_pd *pd, int access);
struct ib_mr *hroce_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata);
struct ib_mr *hroce_mr_rereg(struct ib_mr *ibmr, int flags, u64 start,
			     u64 length, u64 iova, int access, struct ib_pd *pd,
			     struct ib_udata *udata);
int hroce_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *hroce_mr_alloc(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_num_sg);
struct ib_mr *hroce_mr_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access,
				  struct uverbs_attr_bundle *attrs);
int hroce_mr_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sges, u32 nr_sges,
		    struct uverbs_attr_bundle *attrs);
int hroce_mr_fill_stat(struct sk_buff *msg, struct ib_mr *ibmr);
int hroce_mr_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset);

#endif /* HROCE_MR_H */

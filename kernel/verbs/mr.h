/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions. */
#ifndef HROCE_MR_H
#define HROCE_MR_H

#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>
#include "../mem/mem.h"

/**
 * struct hroce_mr - memory region
 * @ib: what ib_core knows
 * @region: what the datapath sees
 * @umem: pinned user memory, or NULL
 * @max_blocks: FRWR: room in @region.pages
 * @nr_blocks: FRWR: mapped by the last hroce_mr_map_sg()
 */
struct hroce_mr {
	struct ib_mr ib;
	struct hroce_region region;
	struct ib_umem *umem;
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
 * Return: enum hroce_wc_status.
 */
u8 hroce_mr_register(struct ib_pd *pd, const struct hroce_sq_wqe *wqe);

/**
 * hroce_mr_invalidate - execute LOCAL_INV, or an invalidation by the peer
 * @pd: protection domain of the queue pair
 * @qpn: number of the queue pair
 * @key: key of a region or window
 * @remote: the peer asks
 *
 * After return nobody touches the memory by this key any more.
 * Context: BH disabled, RCU read side, a QP lock held.
 * Return: true; false if @key is not one that may be invalidated so.
 */
bool hroce_mr_invalidate(struct ib_pd *pd, u32 qpn, u32 key, bool remote);

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
int hroce_mr_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset);

#endif /* HROCE_MR_H */

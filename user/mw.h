/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory windows. */
#ifndef HROCE_MW_H
#define HROCE_MW_H

#include "cmd.h"

struct ibv_mw *hroce_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int hroce_dealloc_mw(struct ibv_mw *mw);
int hroce_bind_mw(struct ibv_qp *ibqp, struct ibv_mw *mw,
		  struct ibv_mw_bind *mw_bind);

/* Flags of regions, which mean nothing for windows: as other drivers do. */
#define HROCE_MW_IGNORED	(IBV_ACCESS_MW_BIND | IBV_ACCESS_ON_DEMAND | \
				 IBV_ACCESS_HUGETLB | \
				 IBV_ACCESS_OPTIONAL_RANGE)

/**
 * hroce_mw_set_bind - fill in the part of an entry that binds a window
 * @wqe: entry
 * @mw: window; the upper 24 bits of its key identify it and never change
 * @rkey: new key; only its lower 8 bits are used
 * @info: memory region, range and access flags
 */
static inline void hroce_mw_set_bind(struct hroce_sq_wqe *wqe,
				     const struct ibv_mw *mw, uint32_t rkey,
				     const struct ibv_mw_bind_info *info)
{
	wqe->bind.addr = info->addr;
	wqe->bind.length = info->length;
	wqe->bind.key = (mw->rkey & ~0xffu) | (rkey & 0xff);
	wqe->bind.lkey = info->mr ? info->mr->lkey : 0;
	wqe->bind.access = info->mw_access_flags & ~HROCE_MW_IGNORED;
}

#endif /* HROCE_MW_H */

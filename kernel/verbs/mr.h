/* SPDX-License-Identifier: GPL-2.0 */
/* Memory regions. */
#ifndef HROCE_MR_H
#define HROCE_MR_H

#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>
#include "../mem/mem.h"

/**
 * hroce_mr_register - execute REG_MR
 * @pd: protection domain of the queue pair
 * @wqe: entry of a queue of the kernel
 *
 * Context: BH disabled, a send lock held. Return: enum hroce_wc_status.
 */
u8 hroce_mr_register(struct ib_pd *pd, const struct hroce_sq_wqe *wqe);

/**
 * hroce_mr_invalidate - execute LOCAL_INV, or an invalidation by the peer
 * @pd: protection domain of the queue pair
 * @key: key
 * @remote: the peer asks
 *
 * After return nobody touches the memory by this key any more.
 * Context: BH disabled, RCU read side, a QP lock held.
 * Return: true; false if @key is not one that may be invalidated so.
 */
bool hroce_mr_invalidate(struct ib_pd *pd, u32 key, bool remote);

#endif /* HROCE_MR_H */

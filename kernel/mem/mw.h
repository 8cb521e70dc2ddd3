/* SPDX-License-Identifier: GPL-2.0 */
/* Memory windows of types 1 and 2B. */
#ifndef HROCE_MW_H
#define HROCE_MW_H

#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>
#include "region.h"

struct hroce_mkeys;

/**
 * struct hroce_mw - memory window
 * @ib: ib_core's window; its key is the initial one, users have the current one
 * @region: the part that the datapath uses; may be revoked
 */
struct hroce_mw {
	struct ib_mw ib;
	struct hroce_region region;
};

static inline struct hroce_mw *to_hmw(struct ib_mw *ib)
{
	return container_of(ib, struct hroce_mw, ib);
}

/* A window no longer refers to @parent, which may be NULL. Context: any. */
void hroce_mw_put_parent(struct hroce_region *parent);

/**
 * hroce_mw_bind - execute BIND_MW
 * @mkeys: keys of the device
 * @pd: protection domain of the queue pair
 * @qpn: number of the queue pair
 * @wqe: entry
 *
 * Context: in an epoch, a send lock held.
 * Return: HROCE_WC_SUCCESS or enum hroce_cause.
 */
u8 hroce_mw_bind(const struct hroce_mkeys *mkeys, const struct ib_pd *pd,
		 u32 qpn, const struct hroce_sq_wqe *wqe);

/**
 * hroce_mw_invalidate - revoke a window
 * @region: its region, of the queue pair's protection domain
 * @qpn: number of the queue pair that invalidates, or whose peer does
 * @key: key in the request
 *
 * After return this key no longer gives access to the memory.
 * Context: in an epoch, a QP lock held.
 * Return: false if this queue pair has not bound the window.
 */
bool hroce_mw_invalidate(struct hroce_region *region, u32 qpn, u32 key);

#endif /* HROCE_MW_H */

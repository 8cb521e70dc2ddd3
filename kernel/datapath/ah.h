/* SPDX-License-Identifier: GPL-2.0 */
/* Address handles. */
#ifndef HROCE_AH_H
#define HROCE_AH_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "../net/path.h"

/**
 * struct hroce_ah - address handle as senders use it
 * @path: route to the destination; several senders use it at once, under RCU
 * @pd: protection domain; only its queue pairs may use the handle
 * @id: hroce_create_ah_resp.ah_id; never 0
 * @free: frees this structure a grace period after @id is gone
 *
 * Outlives the verbs object, which may be destroyed in atomic context while
 * frames are in flight.
 */
struct hroce_ah {
	struct hroce_path path;
	const struct ib_pd *pd;
	u32 id;
	struct rcu_work free;
};

#endif /* HROCE_AH_H */

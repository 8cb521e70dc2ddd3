/* SPDX-License-Identifier: GPL-2.0 */
/* Address handles. */
#ifndef HROCE_AH_H
#define HROCE_AH_H

#include <rdma/ib_verbs.h>
#include "../net/flow.h"

/**
 * struct hroce_ah - address handle
 * @ib: what ib_core knows
 * @flow: way to the destination; used by several senders at a time under RCU
 * @id: hroce_create_ah_resp.ah_id; never 0
 */
struct hroce_ah {
	struct ib_ah ib;
	struct hroce_flow flow;
	u32 id;
};

static inline struct hroce_ah *to_hah(struct ib_ah *ib)
{
	return container_of(ib, struct hroce_ah, ib);
}

#endif /* HROCE_AH_H */

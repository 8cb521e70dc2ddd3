/* SPDX-License-Identifier: GPL-2.0 */
/* How often the engine has left what to its owner. */
#ifndef PENDING_H
#define PENDING_H

#include <linux/bitops.h>
#include "proto/qp.h"

/**
 * struct pending - counts of hrp_qp.pending
 * @nr: by enum hrp_pending; several times between two calls of pending_take()
 *	are one
 */
struct pending {
	u32 nr[HRP_PENDING_NR];
};

static inline void pending_take(struct pending *p, struct hrp_qp *qp)
{
	unsigned int i;

	for (i = 0; i < HRP_PENDING_NR; i++)
		p->nr[i] += test_and_clear_bit(i, &qp->pending);
}

static inline u32 pending_count(struct pending *p, struct hrp_qp *qp,
				enum hrp_pending what)
{
	pending_take(p, qp);
	return p->nr[what];
}

#endif /* PENDING_H */

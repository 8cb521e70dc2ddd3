/* SPDX-License-Identifier: GPL-2.0 */
/* Pauses after which requests may take another path: see flowlet.c. */
#ifndef HRP_FLOWLET_H
#define HRP_FLOWLET_H

#include <linux/types.h>

struct hrp_qp;

/**
 * hrp_flowlet_begins - is it time for another path?
 * @qp: queue pair, before hrp_req_next()
 * @now_ns: current time
 *
 * Context: send lock held.
 * Return: true if nothing has been in flight for so long that no packet can
 * overtake another one, and the path was crowded. It is false from then on,
 * until that is the case again.
 */
bool hrp_flowlet_begins(struct hrp_qp *qp, u64 now_ns);

#endif /* HRP_FLOWLET_H */

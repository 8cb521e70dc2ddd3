/* SPDX-License-Identifier: GPL-2.0 */
/* Requests on several paths between hroce peers: see proto/spray.h. */
#ifndef HROCE_SPRAY_H
#define HROCE_SPRAY_H

#include "../proto/spray.h"

struct hroce_qp;

/**
 * hroce_spray_begin - the peer takes packets out of order
 * @qp: queue pair with @qp->proto.req.sack
 *
 * Requests take several paths from now on, if the link wants that. Context:
 * @qp->send.lock held.
 */
void hroce_spray_begin(struct hroce_qp *qp);

/**
 * hroce_spray_draw - draw new UDP source ports for all paths but one
 * @qp: queue pair
 *
 * That one has the port of the path of the queue pair. Context: @qp->send.lock
 * held.
 */
void hroce_spray_draw(struct hroce_qp *qp);

/**
 * hroce_spray_evict - replace the paths that are slower than others, or broken
 * @qp: queue pair
 *
 * Context: @qp->send.lock held.
 */
void hroce_spray_evict(struct hroce_qp *qp);

#endif /* HROCE_SPRAY_H */

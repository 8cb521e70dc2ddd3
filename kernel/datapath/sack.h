/* SPDX-License-Identifier: GPL-2.0 */
/* Selective acknowledgements between hroce peers: see proto/sack.h. */
#ifndef HROCE_SACK_H
#define HROCE_SACK_H

#include "../proto/sack.h"

struct hroce_qp;

/**
 * hroce_sack_heard - a selective acknowledgement has come
 * @qp: queue pair
 * @pkt: headers; from the peer, its ICRC is correct
 * @map: its payload
 *
 * Context: softirq, in an epoch; no lock of the queue pair held.
 * hroce_qp_run_pending() follows.
 * Return: enum hroce_stat, why the packet is dropped; negative: it is not.
 */
int hroce_sack_heard(struct hroce_qp *qp, const struct hrp_pkt *pkt,
		     const u8 *map);

/**
 * hroce_sack_open - allocate memory to note what has arrived
 * @qp: queue pair
 *
 * Context: softirq or BH disabled, @qp->send.lock held.
 * Return: true if @qp->proto.req.sack is set.
 */
bool hroce_sack_open(struct hroce_qp *qp);

/**
 * hroce_sack_destroy - free that, and the answers that are kept
 * @qp: queue pair
 *
 * Context: any but hard interrupts; no lock of the
 * queue pair held.
 */
void hroce_sack_destroy(struct hroce_qp *qp);

#endif /* HROCE_SACK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Longer packets between hroce peers: see proto/mtu.h. */
#ifndef HROCE_MTU_H
#define HROCE_MTU_H

#include "../proto/mtu.h"

struct hroce_qp;

/**
 * hroce_mtu_start - how long packets may be agreed to
 * @qp: queue pair that goes to RTR
 *
 * A program that has chosen a path MTU below that of the link may know that the
 * path is narrow: nothing is agreed to.
 *
 * Context: both locks held.
 */
void hroce_mtu_start(struct hroce_qp *qp);

/**
 * hroce_mtu_answered - the answer has come
 * @qp: queue pair
 * @pkt: headers; from the peer, its ICRC is correct
 * @magic: the first HRP_MTU_MAGIC_BYTES of its payload
 *
 * Context: softirq, in an epoch; no lock of the queue pair held.
 * hroce_qp_run_pending() follows.
 * Return: enum hroce_stat, why the packet is dropped; negative: it is not.
 */
int hroce_mtu_answered(struct hroce_qp *qp, const struct hrp_pkt *pkt,
		       const u8 *magic);

#endif /* HROCE_MTU_H */

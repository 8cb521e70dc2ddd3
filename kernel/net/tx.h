/* SPDX-License-Identifier: GPL-2.0 */
/* Bursts to sk_buffs: super-packets, zero-copy payload, ICRC. */
#ifndef HROCE_TX_H
#define HROCE_TX_H

#include <linux/types.h>

struct hrp_burst;
struct hroce_flow;
struct hroce_mem_iter;

/**
 * hroce_tx_burst - send the packets of a burst
 * @flow: where to
 * @b: what
 * @it: payload, at its beginning
 *
 * Cuts the burst into super-packets and frames as the route allows. A frame
 * that the network does not accept is lost, as on any wire, and counted.
 *
 * Context: process or softirq, no lock held that a receiver takes; RCU read
 * side. Does not sleep.
 * Return: enum hroce_wc_status: SUCCESS, or @it->status if the payload is not
 * accessible; nothing of the frame concerned and later ones is sent then.
 */
u8 hroce_tx_burst(struct hroce_flow *flow, const struct hrp_burst *b,
		  struct hroce_mem_iter *it);

#endif /* HROCE_TX_H */

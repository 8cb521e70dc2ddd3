/* SPDX-License-Identifier: GPL-2.0 */
/* Frames from XDP programs for links above the netdev of the program. */
#ifndef HROCE_XDP_ABOVE_H
#define HROCE_XDP_ABOVE_H

#include <linux/types.h>

struct net_device;
struct xdp_buff;

/**
 * hroce_xdp_receive_above - receive a frame for a link above a netdev
 * @dev: netdev of the program, which leaves VLAN tags in frames
 * @xdp: frame, with a whole Ethernet header at xdp->data
 *
 * Goes up the way that the stack would take, over VLANs, bonds and bridges. A
 * frame is taken where each step is certain, and nothing looks at frames on the
 * way.
 *
 * Context: BH disabled, RCU read side.
 * Return: true if its packet was taken; false if the IP stack must get the
 * frame, which is unmodified.
 */
bool hroce_xdp_receive_above(struct net_device *dev, struct xdp_buff *xdp);

#endif /* HROCE_XDP_ABOVE_H */

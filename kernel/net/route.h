/* SPDX-License-Identifier: GPL-2.0 */
/* Where a flow's frames go now, and how to hand them over. */
#ifndef HROCE_ROUTE_H
#define HROCE_ROUTE_H

#include <linux/types.h>

struct dst_entry;
struct hroce_flow;
struct hroce_port;
struct net_device;
struct sk_buff;

/**
 * struct hroce_route - result of hroce_route_get()
 * @dst: a reference is held
 * @dev: device that frames leave by
 * @to: link that frames are delivered to at once, as the destination is an
 *	address of this host; or NULL
 * @mtu: longest IP packet, as configured; not what ICMP has taught the host
 * @ipv6: which of the two
 * @mcast: destination is a multicast address
 * @filter: frames pass netfilter's output hooks
 * @stack: frames take the usual way through the IP stack
 * @sg: page frags pay
 * @gso: super-packets pay
 * @list: so does a list of further frames in them
 */
struct hroce_route {
	struct dst_entry *dst;
	struct net_device *dev;
	struct hroce_port *to;
	u32 mtu;
	bool ipv6;
	bool mcast;
	bool filter;
	bool stack;
	bool sg;
	bool gso;
	bool list;
};

/**
 * hroce_route_get - find the way
 * @flow: flow
 * @route: filled in; valid until hroce_route_put()
 *
 * Context: BH disabled, RCU read side until after hroce_route_put().
 * Return: 0 or negative errno: no route.
 */
int hroce_route_get(struct hroce_flow *flow, struct hroce_route *route);

/* Counterpart of hroce_route_get(). */
void hroce_route_put(struct hroce_route *route);

/**
 * hroce_route_xmit - hand a frame over
 * @flow: flow
 * @route: from hroce_route_get()
 * @skb: frame from the IP header on, transport header set; consumed
 *
 * Context: as hroce_route_get().
 * Return: 0 if it is on its way; NET_XMIT_DROP if the stack had no room for it, a
 * queue of this host being full; a negative errno if it cannot be sent.
 */
int hroce_route_xmit(const struct hroce_flow *flow,
		     const struct hroce_route *route, struct sk_buff *skb);

#endif /* HROCE_ROUTE_H */

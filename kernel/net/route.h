/* SPDX-License-Identifier: GPL-2.0 */
/* Route of a path, and transmission of its frames. */
#ifndef HROCE_ROUTE_H
#define HROCE_ROUTE_H

#include <linux/types.h>

struct dst_entry;
struct hroce_path;
struct hroce_port;
struct net_device;
struct sk_buff;

/**
 * struct hroce_route - result of hroce_route_get()
 * @dst: destination entry
 * @held: @dst has a reference; else the path remembers it, and RCU keeps it
 * @dev: output device
 * @to: port of this host that has the destination address and gets the frames
 *	directly; or NULL
 * @mtu: longest IP packet, as configured; excludes a path MTU learned by ICMP
 * @ipv6: IPv6, else IPv4
 * @mcast: destination is a multicast address
 * @filter: frames pass netfilter's output hooks
 * @stack: frames go through the IP stack
 * @sg: use page frags
 * @gso: use super-packets
 * @list: use a frag_list in super-packets
 */
struct hroce_route {
	struct dst_entry *dst;
	struct net_device *dev;
	struct hroce_port *to;
	u32 mtu;
	bool held;
	bool ipv6;
	bool mcast;
	bool filter;
	bool stack;
	bool sg;
	bool gso;
	bool list;
};

/**
 * hroce_route_init - have a path remember its route
 * @path: path that does not yet
 * @gfp: allocation flags
 *
 * Context: as @gfp allows.
 * Return: 0 or -ENOMEM.
 */
int hroce_route_init(struct hroce_path *path, gfp_t gfp);

/* Counterpart of hroce_route_init(), for any path that nobody uses any more. */
void hroce_route_fini(struct hroce_path *path);

/**
 * hroce_route_get - look up the route
 * @path: path
 * @route: filled in; valid until hroce_route_put()
 *
 * Context: BH disabled, RCU read side until after hroce_route_put().
 * Return: 0, or negative errno if there is no route.
 */
int hroce_route_get(struct hroce_path *path, struct hroce_route *route);

/* Counterpart of hroce_route_get(). */
void hroce_route_put(struct hroce_route *route);

/**
 * hroce_route_forget - look the route of a path up anew for the next frame
 * @path: path; may be in use by transmitters
 *
 * Context: any but hard interrupt.
 */
void hroce_route_forget(struct hroce_path *path);

/**
 * hroce_route_xmit - send a frame
 * @path: path
 * @route: from hroce_route_get()
 * @skb: frame from the IP header on, transport header set; consumed
 *
 * Context: as hroce_route_get().
 * Return: 0 if sent; NET_XMIT_DROP if a queue of this host is full; negative
 * errno if it cannot be sent.
 */
int hroce_route_xmit(const struct hroce_path *path,
		     const struct hroce_route *route, struct sk_buff *skb);

#endif /* HROCE_ROUTE_H */

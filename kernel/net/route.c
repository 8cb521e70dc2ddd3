// SPDX-License-Identifier: GPL-2.0
/*
 * Routes and neighbours.
 *
 * A path remembers its route once for all CPUs (struct dst_cache does so per
 * possible CPU, which takes kilobytes where there are many). Transmitters use it
 * under RCU and take no reference. The memory for that is allocated with the
 * path, so who makes the path pays for it.
 *
 * Frames go directly to the neighbour, through netfilter's output hooks if
 * these have rules. If the route requires more (IPsec, encapsulation), they go
 * through the IP stack.
 *
 * Frames to an address of this host are delivered as if received by the netdev
 * of the link that has it, so packet taps see them there. If no link has it, or
 * netfilter has rules, they go through the IP stack.
 */
#include <linux/etherdevice.h>
#include <linux/inetdevice.h>
#include <linux/netfilter.h>
#include <linux/seqlock.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/ndisc.h>
#include <net/route.h>

#include "../compat/net.h"
#include "../proto/wire.h"
#include "path.h"
#include "policy.h"
#include "port.h"
#include "route.h"

/**
 * struct hroce_route_known - the route that a path looked up last
 * @lock: guards the rest; transmitters only look whether it has changed
 * @cookie: for dst_check()
 * @dst: destination entry, with a reference; NULL: there is none
 */
struct hroce_route_known {
	seqlock_t lock;
	u32 cookie;
	struct dst_entry *dst;
};

int hroce_route_init(struct hroce_path *path, gfp_t gfp)
{
	path->known = kzalloc(sizeof(*path->known), gfp);
	if (!path->known)
		return -ENOMEM;
	seqlock_init(&path->known->lock);
	return 0;
}

void hroce_route_fini(struct hroce_path *path)
{
	hroce_route_forget(path);
	kfree(path->known);
	path->known = NULL;
}

/* Interrupts may be disabled. */
static void route_replace(struct hroce_route_known *known,
			  struct dst_entry *dst, u32 cookie)
{
	struct dst_entry *before;
	unsigned long flags;

	write_seqlock_irqsave(&known->lock, flags);
	before = known->dst;
	WRITE_ONCE(known->dst, dst);
	WRITE_ONCE(known->cookie, cookie);
	write_sequnlock_irqrestore(&known->lock, flags);
	/* Freed by RCU: transmitters may still use it. */
	dst_release(before);
}

void hroce_route_forget(struct hroce_path *path)
{
	if (path->known)
		route_replace(path->known, NULL, 0);
}

static __always_inline struct dst_entry *
route_recall(const struct hroce_path *path)
{
	struct hroce_route_known *known = path->known;
	struct dst_entry *dst;
	unsigned int seq;
	u32 cookie;

	if (!known)
		return NULL;
	do {
		seq = read_seqbegin(&known->lock);
		dst = READ_ONCE(known->dst);
		cookie = READ_ONCE(known->cookie);
	} while (read_seqretry(&known->lock, seq));
	return dst ? dst_check(dst, cookie) : NULL;
}

static struct dst_entry *route_lookup4(const struct hroce_path *path)
{
	const struct hroce_path_key *key = &path->key;
	struct net_device *dev = path->port->dev;
	struct flowi4 fl4 = {
		.flowi4_oif = dev->ifindex,
		.flowi4_dscp = inet_dsfield_to_dscp(key->tclass),
		.flowi4_proto = IPPROTO_UDP,
		.saddr = key->saddr.s6_addr32[3],
		.daddr = key->daddr.s6_addr32[3],
		.fl4_sport = htons(READ_ONCE(path->sport[0])),
		.fl4_dport = htons(HRW_UDP_PORT),
	};
	struct net *net = path->port->net;
	struct rtable *rt;

	/* The address may be that of another device of this host. */
	if (inet_addr_type_dev_table(net, dev, fl4.daddr) == RTN_LOCAL)
		fl4.flowi4_oif = l3mdev_master_ifindex_rcu(dev);
	rt = ip_route_output_flow(net, &fl4, NULL);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

static struct dst_entry *route_ask6(const struct hroce_path *path, int oif)
{
	const struct hroce_path_key *key = &path->key;
	u32 label = hroce_path_label(path, false);
	struct flowi6 fl6 = {
		.flowi6_oif = oif,
		.flowlabel = ip6_make_flowinfo(key->tclass,
					       htonl(label)),
		.flowi6_proto = IPPROTO_UDP,
		.saddr = key->saddr,
		.daddr = key->daddr,
		.fl6_sport = htons(READ_ONCE(path->sport[0])),
		.fl6_dport = htons(HRW_UDP_PORT),
	};

	return ip6_dst_lookup_flow(path->port->net, NULL, &fl6, NULL);
}

static bool route_is_local6(struct dst_entry *dst)
{
	return dst_rt6_info(dst)->rt6i_flags & RTF_LOCAL;
}

/* The address may be that of another device of this host, in the same VRF. */
static struct dst_entry *route_lookup6(const struct hroce_path *path)
{
	const struct in6_addr *daddr = &path->key.daddr;
	struct net_device *dev = path->port->dev;
	struct dst_entry *dst;

	dst = ERR_PTR(-ENETUNREACH);
	if (!__ipv6_addr_needs_scope_id(__ipv6_addr_type(daddr)))
		dst = route_ask6(path, l3mdev_master_ifindex_rcu(dev));
	if (!IS_ERR(dst) && !route_is_local6(dst)) {
		dst_release(dst);
		dst = ERR_PTR(-ENETUNREACH);
	}
	return IS_ERR(dst) ? route_ask6(path, dev->ifindex) : dst;
}

/* The MTU metric of @dst may be learned; that of the FIB entry never is. */
static u32 route_set_mtu6(struct dst_entry *dst)
{
	const struct fib6_info *from = rcu_dereference(dst_rt6_info(dst)->from);

	return from ? from->fib6_pmtu : 0;
}

static unsigned int route_flags4(const struct dst_entry *dst)
{
	return container_of(dst, struct rtable, dst)->rt_flags;
}

/*
 * The configured MTU of the route or its device. RoCEv2 does not fragment and
 * cannot adapt, so a path MTU learned by ICMP, which may be forged, must not
 * stop a connection. IPsec and encapsulation add headers whose length only
 * dst_mtu() knows.
 */
static u32 route_mtu(struct dst_entry *dst, bool ipv6)
{
	u32 mtu;

	if (dst_xfrm(dst) || dst->lwtstate)
		return min_t(u32, dst_mtu(dst), IP_MAX_MTU);
	mtu = ipv6 ? route_set_mtu6(dst) : dst_metric_raw(dst, RTAX_MTU);
	return min3(mtu ?: U32_MAX, READ_ONCE(dst->dev->mtu), IP_MAX_MTU);
}

/* Copying is cheaper than linearizing, checksumming and splitting below. */
static void route_features(struct hroce_route *route, bool gso)
{
	netdev_features_t csum = route->ipv6 ? NETIF_F_IPV6_CSUM :
					       NETIF_F_IP_CSUM;
	netdev_features_t features = route->dev->features;

	route->sg = features & NETIF_F_SG;
	route->list = features & NETIF_F_FRAGLIST;
	route->gso = gso && ((features & NETIF_F_GSO_UDP_L4) ||
			     (route->sg &&
			      (features & (csum | NETIF_F_HW_CSUM))));
}

/* @held: set to whether the caller has a reference. */
static noinline struct dst_entry *route_lookup(struct hroce_path *path,
					       bool ipv6, bool *held)
{
	const struct hroce_port *port = path->port;
	struct dst_entry *dst;
	u32 cookie;

	/* If the netdev has moved, another one here may have its index. */
	if (!net_eq(dev_net(port->dev), port->net))
		return ERR_PTR(-ENETDOWN);
	dst = ipv6 ? route_lookup6(path) : route_lookup4(path);
	if (IS_ERR(dst))
		return dst;
	/* Sockets need SO_BROADCAST for that. */
	if (!ipv6 && route_flags4(dst) & RTCF_BROADCAST) {
		dst_release(dst);
		return ERR_PTR(-EACCES);
	}
	*held = !path->known;
	if (path->known) {
		cookie = ipv6 ? rt6_get_cookie(dst_rt6_info(dst)) : 0;
		route_replace(path->known, dst, cookie);
	}
	return dst;
}

/* The port with the destination. It may obey rules that the sender bypasses. */
static void route_find_port(const struct hroce_path *path,
			    struct hroce_route *route)
{
	const struct hroce_port *port = path->port;
	struct hroce_port *to;

	to = hroce_port_find(port->net, port->dev, &path->key.daddr);
	if (to && to != port && hroce_policy_filter_in(to, route->ipv6))
		route->stack = true;
	else
		route->to = to;
}

int hroce_route_get(struct hroce_path *path, struct hroce_route *route)
{
	const struct in6_addr *daddr = &path->key.daddr;
	bool ipv6 = !ipv6_addr_v4mapped(daddr);
	bool gso = READ_ONCE(path->port->gso);
	struct dst_entry *dst;
	bool local;

	route->held = false;
	dst = route_recall(path);
	if (unlikely(!dst))
		dst = route_lookup(path, ipv6, &route->held);
	if (IS_ERR(dst))
		return PTR_ERR(dst);

	route->dst = dst;
	route->dev = dst->dev;
	route->to = NULL;
	route->mtu = route_mtu(dst, ipv6);
	route->ipv6 = ipv6;
	route->mcast = hroce_addr_is_multicast(daddr);
	local = !route->mcast && (ipv6 ? route_is_local6(dst) :
					 route_flags4(dst) & RTCF_LOCAL);
	route->filter = hroce_policy_filter_out(path->port, ipv6);
	route->stack = dst_xfrm(dst) || dst->lwtstate ||
		       (local && (route->filter ||
				  hroce_policy_filter_in(path->port, ipv6)));
	if (local && !route->stack)
		route_find_port(path, route);
	if (route->to) {
		route->dev = route->to->dev;
		route->sg = true;
		route->list = true;
		route->gso = gso;
	} else {
		route_features(route, gso);
	}
	return 0;
}

void hroce_route_put(struct hroce_route *route)
{
	if (unlikely(route->held))
		dst_release(route->dst);
}

/* Let a frame refer to the route. Return: false if that has been freed. */
static bool route_hold(const struct hroce_route *route, struct sk_buff *skb)
{
	if (unlikely(!dst_hold_safe(route->dst)))
		return false;
	skb_dst_set(skb, route->dst);
	return true;
}

/*
 * Deliver a frame as if received by its netdev. Its dst marks it as locally
 * sent. Returns as hroce_route_xmit().
 */
static __always_inline int route_receive(struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	struct ethhdr *eth;

	if (dev->type == ARPHRD_ETHER) {
		eth = skb_push(skb, ETH_HLEN);
		ether_addr_copy(eth->h_dest, dev->dev_addr);
		ether_addr_copy(eth->h_source, dev->dev_addr);
		eth->h_proto = skb->protocol;
		skb->protocol = eth_type_trans(skb, dev);
	} else {
		skb_reset_mac_header(skb);
		skb->pkt_type = PACKET_HOST;
	}
	return netif_rx(skb) == NET_RX_SUCCESS ? 0 : NET_XMIT_DROP;
}

static int route_deliver(const struct hroce_route *route,
			 struct net_device *dev, struct sk_buff *skb)
{
	if (!netif_running(dev) || !route_hold(route, skb)) {
		kfree_skb(skb);
		return -ENETDOWN;
	}
	skb->dev = dev;
	return route_receive(skb);
}

static __always_inline struct neighbour *route_neigh(const struct sk_buff *skb,
						     bool *skip_cache)
{
	struct dst_entry *dst = skb_dst(skb);
	struct rtable *rt;

	*skip_cache = false;
	if (skb->protocol == htons(ETH_P_IPV6))
		return ip_neigh_gw6(skb->dev, rt6_nexthop(dst_rt6_info(dst),
							  &ipv6_hdr(skb)->daddr));
	rt = container_of(dst, struct rtable, dst);
	if (likely(!rt->rt_gw_family))
		return ip_neigh_gw4(skb->dev, ip_hdr(skb)->daddr);
	if (rt->rt_gw_family == AF_INET)
		return ip_neigh_gw4(skb->dev, rt->rt_gw4);
	/* The cached header is for the other protocol. */
	*skip_cache = true;
	return ip_neigh_gw6(skb->dev, &rt->rt_gw6);
}

/* @result: return value of the stack; the macro evaluates it twice */
static int route_result(int result)
{
	return net_xmit_eval(result);
}

static __always_inline int route_send(struct sk_buff *skb)
{
	struct neighbour *neigh;
	bool skip_cache;

	neigh = route_neigh(skb, &skip_cache);
	if (IS_ERR(neigh)) {
		kfree_skb(skb);
		return PTR_ERR(neigh);
	}
	return neigh_output(neigh, skb, skip_cache);
}

static __cold int route_output(struct net *net, struct sock *sk,
			       struct sk_buff *skb)
{
	return route_send(skb);
}

/* May other queue pairs of the link be in the group that a frame is for? */
static __always_inline bool route_is_shared(const struct hroce_path *path,
					    const struct hroce_route *route)
{
	return route->mcast &&
	       path->port->ops->wants(path->port, &path->key.daddr);
}

static bool route_in_group6(const struct net_device *dev,
			    const struct in6_addr *group)
{
	const struct inet6_dev *idev = __in6_dev_get(dev);
	const struct ifmcaddr6 *mc;

	mc = idev ? rcu_dereference(idev->mc_list) : NULL;
	while (mc && !ipv6_addr_equal(&mc->mca_addr, group))
		mc = rcu_dereference(mc->next);
	return mc;
}

/* Does dst_output() deliver a copy to @dev? It does for groups of the host. */
static bool route_stack_copies(const struct sk_buff *skb,
			       const struct net_device *dev, bool ipv6)
{
	const struct dst_entry *dst = skb_dst(skb);

	if (dst->dev != dev)
		return false;
	return ipv6 ? route_in_group6(dev, &ipv6_hdr(skb)->daddr) :
		      route_flags4(dst) & RTCF_LOCAL;
}

static __cold int route_receive_copy(struct net *net, struct sock *sk,
				     struct sk_buff *skb)
{
	return route_receive(skb);
}

/*
 * Deliver a copy of what leaves to the link itself, as the IP stack does: it
 * passes POSTROUTING by itself.
 */
static noinline void route_copy(const struct hroce_path *path,
				const struct hroce_route *route,
				const struct sk_buff *skb)
{
	u8 pf = route->ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
	struct net_device *dev = path->port->dev;
	struct sk_buff *copy;

	if (!netif_running(dev))
		return;
	copy = skb_copy(skb, GFP_ATOMIC);
	if (!copy)
		return;
	copy->dev = dev;
	NF_HOOK(pf, NF_INET_POST_ROUTING, path->port->net, NULL, copy, NULL,
		dev, route_receive_copy);
}

/*
 * Like ip_local_out(), which however drops packets longer than a path MTU
 * learned by ICMP.
 */
static int route_xmit_filter(const struct hroce_path *path,
			     const struct hroce_route *route,
			     struct sk_buff *skb)
{
	u8 pf = route->ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4;
	struct net_device *dev = route->dev;
	struct net *net = path->port->net;
	bool rerouted;
	int verdict;

	if (!route_hold(route, skb)) {
		kfree_skb(skb);
		return -ENETUNREACH;
	}
	skb->dev = dev;
	verdict = nf_hook(pf, NF_INET_LOCAL_OUT, net, NULL, skb, NULL, dev,
			  dst_output);
	if (verdict != 1)
		return route_result(verdict);
	/* Rules may have chosen another route. */
	rerouted = skb_dst(skb) != route->dst;
	if (route_is_shared(path, route) &&
	    !(rerouted &&
	      route_stack_copies(skb, path->port->dev, route->ipv6)))
		route_copy(path, route, skb);
	if (rerouted)
		return route_result(dst_output(net, NULL, skb));
	return route_result(NF_HOOK(pf, NF_INET_POST_ROUTING, net, NULL, skb,
				    NULL, dev, route_output));
}

static int route_xmit_stack(const struct hroce_path *path,
			    const struct hroce_route *route,
			    struct sk_buff *skb)
{
	struct net *net = path->port->net;

	if (!route_hold(route, skb)) {
		kfree_skb(skb);
		return -ENETUNREACH;
	}
	skb->dev = route->dev;
	if (route->ipv6)
		return route_result(ip6_local_out(net, NULL, skb));
	return route_result(ip_local_out(net, NULL, skb));
}

int hroce_route_xmit(const struct hroce_path *path,
		     const struct hroce_route *route, struct sk_buff *skb)
{
	struct sk_buff *copy;

	if (route->to)
		return route_deliver(route, route->dev, skb);
	if (route->stack || route->dev->flags & IFF_LOOPBACK)
		return route_xmit_stack(path, route, skb);
	if (route->filter)
		return route_xmit_filter(path, route, skb);
	if (route_is_shared(path, route)) {
		copy = skb_copy(skb, GFP_ATOMIC);
		if (copy)
			route_deliver(route, path->port->dev, copy);
	}
	skb->dev = route->dev;
	skb_dst_set_noref(skb, route->dst);
	return route_result(route_send(skb));
}

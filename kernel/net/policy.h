/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks that the fast paths of this module would bypass: netfilter and IPsec
 * of the namespace, and invalid source addresses.
 */
#ifndef HROCE_POLICY_H
#define HROCE_POLICY_H

#include <linux/jump_label.h>
#include <linux/netfilter.h>
#include <linux/netfilter_bridge.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/dst_metadata.h>
#include <net/net_namespace.h>
#include <net/xfrm.h>
#include "port.h"

struct in6_addr;
struct net_device;

/* Does any namespace use this netfilter hook? A static key, free if not. */
#ifdef CONFIG_JUMP_LABEL
#define hroce_policy_hook_used(ipv6, hook)				\
	((ipv6) ? static_key_false(&nf_hooks_needed[NFPROTO_IPV6][hook]) : \
		  static_key_false(&nf_hooks_needed[NFPROTO_IPV4][hook]))
#else
#define hroce_policy_hook_used(ipv6, hook)	true
#endif

/* Slow path of the filters: do these two hooks have rules? */
bool hroce_policy_has_rules(const struct hroce_port *port, bool ipv6,
			    unsigned int hook, unsigned int next);

/* May IPsec refuse a received frame? */
static inline bool hroce_policy_ipsec_in(const struct net *net,
					 const struct sk_buff *skb)
{
#ifdef CONFIG_XFRM
	return net->xfrm.policy_count[XFRM_POLICY_IN] ||
	       net->xfrm.policy_default[XFRM_POLICY_IN] ==
			XFRM_USERPOLICY_BLOCK ||
	       (skb && secpath_exists(skb));
#else
	return false;
#endif
}

/**
 * hroce_policy_filter_in - must packets pass netfilter's input hooks?
 * @port: port
 * @ipv6: IPv6, else IPv4
 *
 * Context: RCU read side.
 * Return: true if the hooks have rules and @port->strict is set.
 */
static inline bool hroce_policy_filter_in(const struct hroce_port *port,
					  bool ipv6)
{
	return (hroce_policy_hook_used(ipv6, NF_INET_PRE_ROUTING) ||
		hroce_policy_hook_used(ipv6, NF_INET_LOCAL_IN)) &&
	       hroce_policy_has_rules(port, ipv6, NF_INET_PRE_ROUTING,
				      NF_INET_LOCAL_IN);
}

/**
 * hroce_policy_delivered - has a link of this host delivered a received frame?
 * @skb: frame
 *
 * Such a frame has a dst. So has one from elsewhere, for which br_netfilter has
 * looked up a route, as a rule has changed its address.
 *
 * Return: true if one has.
 */
static inline bool hroce_policy_delivered(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_BRIDGE_NETFILTER)
	if (unlikely(nf_bridge_info_exists(skb)))
		return false;
#endif
	return skb_valid_dst(skb);
}

/**
 * hroce_policy_in - must a received frame go up the IP stack?
 * @port: port
 * @skb: frame; NULL if it has no sk_buff, so that nothing can have decrypted it
 * @ipv6: IPv6, else IPv4
 *
 * A frame that a link of this host has delivered is for the host; one of a group
 * that the host has forwarded, and heard itself, is not. No policy of IPsec is
 * for the former, as none is for packets that go without frames.
 *
 * Context: RCU read side.
 * Return: true if netfilter has rules for received packets and @port->strict is
 * set, or if IPsec has policies.
 */
static inline bool hroce_policy_in(const struct hroce_port *port,
				   const struct sk_buff *skb, bool ipv6)
{
	return (hroce_policy_ipsec_in(port->net, skb) &&
		!(skb && skb->pkt_type == PACKET_HOST &&
		  hroce_policy_delivered(skb))) ||
	       hroce_policy_filter_in(port, ipv6);
}

/**
 * hroce_policy_watched - does anything look at frames before the ingress hook?
 * @dev: netdev
 * @hooked: it has a port, whose hook is one of those at ingress
 *
 * Looks for traffic control, other ingress hooks, and packet taps of the netdev,
 * not for taps of all netdevs.
 *
 * Context: RCU read side.
 * Return: true if something does.
 */
bool hroce_policy_watched(const struct net_device *dev, bool hooked);

/**
 * hroce_policy_filter_out - must frames pass netfilter's output hooks?
 * @port: port
 * @ipv6: IPv6, else IPv4
 *
 * Context: RCU read side.
 * Return: true if the hooks have rules and @port->strict is set.
 */
static inline bool hroce_policy_filter_out(const struct hroce_port *port,
					   bool ipv6)
{
	return (hroce_policy_hook_used(ipv6, NF_INET_LOCAL_OUT) ||
		hroce_policy_hook_used(ipv6, NF_INET_POST_ROUTING)) &&
	       hroce_policy_has_rules(port, ipv6, NF_INET_LOCAL_OUT,
				      NF_INET_POST_ROUTING);
}

/**
 * hroce_policy_source_ok - may a packet from another host have this source?
 * @dev: netdev that received it
 * @saddr: source, IPv4 mapped
 *
 * Context: RCU read side.
 * Return: false if it is a multicast, broadcast or loopback address, zero, or
 * an address of this host.
 */
bool hroce_policy_source_ok(struct net_device *dev,
			    const struct in6_addr *saddr);

#endif /* HROCE_POLICY_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the administrator of a namespace has set for packets, and the short ways
 * of this module would pass by: netfilter, IPsec, sources that cannot be.
 */
#ifndef HROCE_POLICY_H
#define HROCE_POLICY_H

#include <linux/types.h>

struct hroce_port;
struct in6_addr;
struct net_device;
struct sk_buff;

/**
 * hroce_policy_in - does a received frame have to go up the IP stack?
 * @port: port
 * @skb: frame
 * @ipv6: which of the two
 *
 * Context: RCU read side.
 * Return: true if netfilter has rules for received packets, unless the link
 * leaves them out, or if IPsec has policies.
 */
bool hroce_policy_in(const struct hroce_port *port, const struct sk_buff *skb,
		     bool ipv6);

/**
 * hroce_policy_out - do frames have to pass netfilter's output hooks?
 * @port: port
 * @ipv6: which of the two
 *
 * Context: RCU read side.
 * Return: true if these have rules, unless the link leaves them out.
 */
bool hroce_policy_out(const struct hroce_port *port, bool ipv6);

/**
 * hroce_policy_local - do packets to this host have to pass netfilter?
 * @port: port
 * @ipv6: which of the two
 *
 * Context: RCU read side.
 * Return: true if there are rules on their way out or in.
 */
bool hroce_policy_local(const struct hroce_port *port, bool ipv6);

/**
 * hroce_policy_source_ok - may a packet from another host have this source?
 * @dev: netdev that it came in by
 * @saddr: source, IPv4 mapped
 *
 * Context: RCU read side.
 * Return: false if it is a multicast, broadcast or loopback address, zero, or
 * an address of this host.
 */
bool hroce_policy_source_ok(struct net_device *dev,
			    const struct in6_addr *saddr);

#endif /* HROCE_POLICY_H */

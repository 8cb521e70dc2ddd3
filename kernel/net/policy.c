// SPDX-License-Identifier: GPL-2.0
/*
 * Netfilter rules and IPsec policies. The fast paths receive frames before IP
 * and send them behind it. If the namespace has rules in between, frames go
 * through the IP stack instead: up through PREROUTING, INPUT and IPsec policies
 * to the UDP socket, down through OUTPUT and POSTROUTING.
 */
#include <linux/inetdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <net/route.h>

#include "../compat/net.h"
#include "policy.h"
#include "port.h"

/*
 * Security modules (AppArmor, SELinux, Smack) have hooks in every namespace.
 * They check sockets, which these frames do not have.
 */
static bool hook_is_lsm(const struct nf_hook_ops *ops)
{
	return ops->hook_ops_type == NF_HOOK_OP_UNDEFINED &&
	       (ops->priority == NF_IP_PRI_SELINUX_FIRST ||
		ops->priority == NF_IP_PRI_SELINUX_LAST);
}

static __always_inline bool
entries_have_rules(const struct nf_hook_entries *entries)
{
	struct nf_hook_ops **ops;
	unsigned int i;

	if (!entries)
		return false;
	ops = nf_hook_entries_get_hook_ops(entries);
	for (i = 0; i < entries->num_hook_entries; i++)
		if (!hook_is_lsm(ops[i]))
			return true;
	return false;
}

static __always_inline bool hook_has_rules(const struct net *net, bool ipv6,
					   unsigned int hook)
{
	return entries_have_rules(ipv6 ?
				  rcu_dereference(net->nf.hooks_ipv6[hook]) :
				  rcu_dereference(net->nf.hooks_ipv4[hook]));
}

bool hroce_policy_has_rules(const struct hroce_port *port, bool ipv6,
			    unsigned int hook, unsigned int next)
{
	return READ_ONCE(port->strict) &&
	       (hook_has_rules(port->net, ipv6, hook) ||
		hook_has_rules(port->net, ipv6, next));
}

bool hroce_policy_watched(const struct net_device *dev, bool hooked)
{
	const struct nf_hook_entries *hooks =
		rcu_dereference(dev->nf_hooks_ingress);

	return (hooks ? hooks->num_hook_entries : 0) != hooked ||
	       hroce_has_tc_ingress(dev) || !list_empty(&dev->ptype_all);
}

static bool policy_is_own6(struct net_device *dev, const struct in6_addr *addr)
{
	struct net *net = dev_net(dev);

	if (!IS_ENABLED(CONFIG_IPV6))
		return false;
	if (!IS_ERR_OR_NULL(ipv6_dev_find(net, addr, dev)))
		return true;
	/* Without a netdev, this searches all netdevs outside of VRFs. */
	return !l3mdev_master_dev_rcu(dev) &&
	       !(ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL) &&
	       !IS_ERR_OR_NULL(ipv6_dev_find(net, addr, NULL));
}

bool hroce_policy_source_ok(struct net_device *dev,
			    const struct in6_addr *saddr)
{
	__be32 saddr4 = saddr->s6_addr32[3];
	unsigned int type;

	if (!ipv6_addr_v4mapped(saddr))
		return !(ipv6_addr_type(saddr) & IPV6_ADDR_MULTICAST) &&
		       !ipv6_addr_any(saddr) && !ipv6_addr_loopback(saddr) &&
		       !policy_is_own6(dev, saddr);
	/* The table of a VRF has none of the loopback addresses. */
	if (ipv4_is_loopback(saddr4))
		return false;
	type = inet_addr_type_dev_table(dev_net(dev), dev, saddr4);
	return type != RTN_LOCAL && type != RTN_BROADCAST &&
	       type != RTN_MULTICAST;
}

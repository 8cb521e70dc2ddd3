// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: netdev, addresses, and the hook that receives frames.
 *
 * The hook is netfilter's ingress hook, with the lowest priority, so that an
 * administrator's rules come first. Unlike a UDP socket, it gets super-packets
 * unsplit.
 */
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "microburst.h"
#include "path.h"
#include "port.h"
#include "rx.h"
#include "sock.h"

/**
 * struct hroce_netns - state of one namespace
 * @ports: hooked ports; writers hold RTNL, readers RCU
 * @socks: fallback sockets; each open port counts as a user
 */
struct hroce_netns {
	struct list_head ports;
	struct hroce_socks socks;
};

static unsigned int hroce_netns_id;

static struct hroce_netns *netns_of(const struct net *net)
{
	return net_generic(net, hroce_netns_id);
}

static unsigned int port_ingress(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	return hroce_rx_from_dev(priv, skb) ? NF_STOLEN : NF_ACCEPT;
}

int hroce_port_init(struct hroce_port *port, struct net_device *dev,
		    const struct hroce_port_ops *ops)
{
	port->stats = alloc_percpu(struct hroce_stats);
	if (!port->stats)
		return -ENOMEM;
	port->addrs = kvcalloc(HROCE_PORT_ADDRS, sizeof(*port->addrs),
			       GFP_KERNEL);
	if (!port->addrs) {
		free_percpu(port->stats);
		return -ENOMEM;
	}
	spin_lock_init(&port->addr_lock);
	INIT_LIST_HEAD(&port->node);
	port->ops = ops;
	port->dev = dev;
	port->gso = true;
	port->gro = true;
	port->elide_icrc = true;
	port->local = true;
	port->strict = true;
	port->rehash = true;
	netdev_hold(dev, &port->dev_tracker, GFP_KERNEL);
	return 0;
}

void hroce_port_fini(struct hroce_port *port)
{
	hroce_microburst_set(port, 0);
	netdev_put(port->dev, &port->dev_tracker);
	kvfree(port->addrs);
	free_percpu(port->stats);
}

static int port_attach(struct hroce_port *port)
{
	struct hroce_netns *hn = netns_of(port->net);
	int err;

	ASSERT_RTNL();
	if (port->dev->reg_state != NETREG_REGISTERED ||
	    !net_eq(dev_net(port->dev), port->net))
		return -ENODEV;
	port->hook = (struct nf_hook_ops) {
		.hook = port_ingress,
		.dev = port->dev,
		.priv = port,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		.priority = INT_MAX,
	};
	err = nf_register_net_hook(port->net, &port->hook);
	if (err)
		return err;
	list_add_tail_rcu(&port->node, &hn->ports);
	port->hooked = true;
	return 0;
}

static void port_detach(struct hroce_port *port)
{
	ASSERT_RTNL();
	if (!port->hooked)
		return;
	port->hooked = false;
	nf_unregister_net_hook(port->net, &port->hook);
	list_del_rcu(&port->node);
}

/* The sockets keep the namespace from then on. */
static int port_get_socks(struct hroce_port *port)
{
	struct net *net;
	int err;

	rcu_read_lock();
	net = maybe_get_net(read_pnet(&port->dev->nd_net));
	rcu_read_unlock();
	if (!net)
		return -ENODEV;
	port->net = net;
	err = hroce_socks_get(&netns_of(net)->socks, net);
	put_net(net);
	return err;
}

int hroce_port_open(struct hroce_port *port)
{
	int err;

	err = port_get_socks(port);
	if (err)
		return err;
	rtnl_lock();
	err = port_attach(port);
	rtnl_unlock();
	if (err) {
		hroce_socks_put(&netns_of(port->net)->socks);
		return err;
	}
	port->open = true;
	return 0;
}

void hroce_port_close(struct hroce_port *port)
{
	if (!port->open)
		return;
	port->open = false;
	rtnl_lock();
	port_detach(port);
	rtnl_unlock();
	synchronize_net();
	/* The last put allows the namespace to exit. */
	hroce_socks_put(&netns_of(port->net)->socks);
}

void hroce_port_spoils(struct hroce_port *port)
{
	if (!READ_ONCE(port->gso) || atomic_xchg(&port->spoils, 1))
		return;
	WRITE_ONCE(port->gso, false);
	hroce_port_stat_inc(port, HROCE_EV_TX_SPOILT);
	netdev_notice(port->dev, "hroce: only the first packets of super-packets arrive at a peer, so it sends single packets. A driver that repeats IPv4 identifications does that; 'ethtool -K %s tx-udp-segmentation off' avoids it\n",
		      port->dev->name);
}

/* Another way to cut super-packets may be better. */
static void port_features(struct hroce_port *port)
{
	if (atomic_xchg(&port->spoils, 0))
		WRITE_ONCE(port->gso, true);
}

/* Unhook now: the hook cannot be found after the netdev has gone or moved. */
static int port_event(struct notifier_block *nb, unsigned long event,
		      void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);
	struct hroce_port *port;

	if (event != NETDEV_UNREGISTER && event != NETDEV_FEAT_CHANGE)
		return NOTIFY_DONE;
	rcu_read_lock();
	port = hroce_port_find_dev(dev);
	rcu_read_unlock();
	if (port && event == NETDEV_FEAT_CHANGE)
		port_features(port);
	else if (port)
		port_detach(port);
	return NOTIFY_DONE;
}

static struct notifier_block port_notifier = {
	.notifier_call = port_event,
};

void hroce_port_addr_set(struct hroce_port *port, u32 index,
			 const struct in6_addr *addr)
{
	u32 nr;

	if (index >= HROCE_PORT_ADDRS)
		return;
	spin_lock_bh(&port->addr_lock);
	port->addrs[index] = *addr;
	nr = max(port->nr_addrs, index + 1);
	while (nr && ipv6_addr_any(&port->addrs[nr - 1]))
		nr--;
	WRITE_ONCE(port->nr_addrs, nr);
	/* What was found good with the addresses of before is checked anew. */
	smp_store_release(&port->addr_seq, port->addr_seq + 1);
	spin_unlock_bh(&port->addr_lock);
}

bool hroce_port_has_addr(const struct hroce_port *port,
			 const struct in6_addr *addr)
{
	u32 i, nr = READ_ONCE(port->nr_addrs);

	for (i = 0; i < nr; i++)
		if (ipv6_addr_equal(&port->addrs[i], addr))
			return !ipv6_addr_any(addr);
	return false;
}

bool hroce_port_addr_like(struct hroce_port *port, const struct in6_addr *like,
			  struct in6_addr *addr)
{
	bool found = false;
	u32 i;

	spin_lock_bh(&port->addr_lock);
	for (i = 0; i < port->nr_addrs && !found; i++) {
		*addr = port->addrs[i];
		found = !ipv6_addr_any(addr) &&
			!(ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL) &&
			ipv6_addr_v4mapped(addr) == ipv6_addr_v4mapped(like);
	}
	spin_unlock_bh(&port->addr_lock);
	return found;
}

struct hroce_port *hroce_port_find_dev(const struct net_device *dev)
{
	const struct hroce_netns *hn = netns_of(dev_net(dev));
	struct hroce_port *port;

	list_for_each_entry_rcu(port, &hn->ports, node)
		if (port->dev == dev)
			return port;
	return NULL;
}

struct hroce_port *hroce_port_find(const struct net *net,
				   const struct net_device *dev,
				   const struct in6_addr *addr)
{
	const struct hroce_netns *hn = netns_of(net);
	struct hroce_port *port, *other = NULL;

	list_for_each_entry_rcu(port, &hn->ports, node) {
		if (!hroce_port_has_addr(port, addr))
			continue;
		if (port->dev == dev)
			return port;
		if (!other && l3mdev_master_dev_rcu(port->dev) ==
			      l3mdev_master_dev_rcu(dev))
			other = port;
	}
	if (ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return NULL;
	return other;
}

static int __net_init netns_init(struct net *net)
{
	struct hroce_netns *hn = netns_of(net);

	INIT_LIST_HEAD(&hn->ports);
	hroce_socks_init(&hn->socks);
	return 0;
}

/*
 * The netdevs of the namespace are gone, and so are their links. The link of a
 * netdev that moved away may still be closing: wait for it.
 */
static void __net_exit netns_exit(struct net *net)
{
	hroce_socks_fini(&netns_of(net)->socks);
}

static struct pernet_operations hroce_netns_ops = {
	.init = netns_init,
	.exit = netns_exit,
	.id = &hroce_netns_id,
	.size = sizeof(struct hroce_netns),
};

int hroce_net_init(void)
{
	int err;

	err = register_pernet_subsys(&hroce_netns_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&port_notifier);
	if (err)
		unregister_pernet_subsys(&hroce_netns_ops);
	return err;
}

void hroce_net_exit(void)
{
	unregister_netdevice_notifier(&port_notifier);
	unregister_pernet_subsys(&hroce_netns_ops);
	hroce_path_drain();
}

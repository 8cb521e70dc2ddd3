// SPDX-License-Identifier: GPL-2.0
/*
 * Frames from XDP programs for links above the netdev of the program.
 *
 * __netif_receive_skb_core() takes a frame from a netdev to its VLAN, bond or
 * bridge, one step a round. The same steps are made here. Where one of them is
 * not certain, or anything looks at frames on the way, the stack gets the frame.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <net/bonding.h>
#include <net/xdp.h>

#include "policy.h"
#include "port.h"
#include "rx.h"
#include "xdp_above.h"
#include "xdp_bridge.h"

/* Netdevs above each other, from that of the program to that of the link. */
#define XDP_LEVELS	4

/**
 * struct xdp_way - how far a frame has come
 * @buff: the frame without its VLAN tags: data is moved over them
 * @eth: the Ethernet header
 * @dev: netdev that has the frame
 * @bridge: bridge on the way, or NULL
 * @bridge_in: its port
 * @host: its MAC address, or that of a netdev below, is the destination, as
 *	the stack notes in skb->pkt_type
 * @vid: ID of the VLAN tag that was read last, and not used yet; or 0
 * @proto: Ethernet type of that tag; 0 if there is none
 * @counts: VLANs and bridges on the way, which count the frame
 * @lens: its length as they count it
 * @nr_counts: how many
 */
struct xdp_way {
	struct xdp_buff buff;
	const struct ethhdr *eth;
	struct net_device *dev;
	const struct net_device *bridge;
	const struct net_device *bridge_in;
	bool host;
	u16 vid;
	__be16 proto;
	struct net_device *counts[XDP_LEVELS];
	u32 lens[XDP_LEVELS];
	u32 nr_counts;
};

static __be16 way_type(const struct xdp_way *way)
{
	return ((const struct ethhdr *)way->buff.data)->h_proto;
}

/* Read a VLAN tag. False if it is not whole, or means nothing but a priority. */
static bool way_untag(struct xdp_way *way)
{
	const struct vlan_hdr *tag = way->buff.data + ETH_HLEN;

	if (way->proto || !eth_type_vlan(way_type(way)))
		return true;
	if ((void *)(tag + 1) > way->buff.data_end)
		return false;
	way->proto = way_type(way);
	way->vid = ntohs(tag->h_vlan_TCI) & VLAN_VID_MASK;
	way->buff.data += VLAN_HLEN;
	return way->vid;
}

#if IS_ENABLED(CONFIG_VLAN_8021Q)
/* The VLAN of this netdev itself, not of one above it. */
static struct net_device *way_vlan(const struct xdp_way *way)
{
	struct net_device *dev;

	dev = __vlan_find_dev_deep_rcu(way->dev, way->proto, way->vid);
	return dev && vlan_dev_priv(dev)->real_dev == way->dev ? dev : NULL;
}

static void vlan_count(struct net_device *dev, u32 len)
{
	struct vlan_pcpu_stats *stats =
		this_cpu_ptr(vlan_dev_priv(dev)->vlan_pcpu_stats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_inc(&stats->rx_packets);
	u64_stats_add(&stats->rx_bytes, len);
	u64_stats_update_end(&stats->syncp);
}
#else
static struct net_device *way_vlan(const struct xdp_way *way)
{
	return NULL;
}

static void vlan_count(struct net_device *dev, u32 len)
{
}
#endif

/* To a netdev that counts the frame, and may have another MAC address. */
static void way_enter(struct xdp_way *way, struct net_device *dev)
{
	way->dev = dev;
	if (ether_addr_equal(way->eth->h_dest, dev->dev_addr))
		way->host = true;
	way->counts[way->nr_counts] = dev;
	way->lens[way->nr_counts++] = xdp_get_buff_len(&way->buff) - ETH_HLEN;
}

/* Not with an ARP monitor: it takes any frame for a sign of life. */
static bool bond_takes(struct net_device *dev)
{
	const struct slave *slave = bond_slave_get_rcu(dev);

	return slave && !slave->inactive && !slave->bond->params.arp_interval;
}

static bool way_is_roce(const struct xdp_way *way)
{
	const void *l3 = way->buff.data + ETH_HLEN;

	return hroce_xdp_is_roce(way_type(way), l3, way->buff.data_end - l3);
}

/* A bridge sees through VLAN tags in its own way, so frames have none. */
static bool way_enter_bridge(struct xdp_way *way, struct net_device *bridge)
{
	if (way->bridge)
		return false;
	if (way->proto) {
		if (way_is_roce(way))
			hroce_xdp_bridge_tagged(bridge, way->dev,
						way->eth->h_source);
		return false;
	}
	way->bridge = bridge;
	way->bridge_in = way->dev;
	way_enter(way, bridge);
	return true;
}

static bool way_enter_master(struct xdp_way *way)
{
	struct net_device *master;

	if (!rcu_access_pointer(way->dev->rx_handler))
		return false;
	/* While they are linked, the data of the handler is the bond's, or NULL. */
	master = netdev_master_upper_dev_get_rcu(way->dev);
	if (!master)
		return false;
	if (netif_is_bridge_master(master))
		return way_enter_bridge(way, master);
	if (!netif_is_bond_master(master) || !bond_takes(way->dev))
		return false;
	way->dev = master;
	return true;
}

/* One netdev up. */
static bool way_step(struct xdp_way *way)
{
	struct net_device *vlan = way->proto ? way_vlan(way) : NULL;

	if (vlan) {
		way->proto = 0;
		way_enter(way, vlan);
	} else if (!way_enter_master(way)) {
		return false;
	}
	/* A program here is a generic one: it sees sk_buffs. */
	return way->dev->flags & IFF_UP &&
	       !rcu_access_pointer(way->dev->xdp_prog);
}

/* Find the port that the frame is for. NULL if that is for the stack to do. */
static struct hroce_port *way_climb(struct xdp_way *way)
{
	struct hroce_port *port;
	u32 level;

	for (level = 0; level < XDP_LEVELS; level++) {
		if (level && !way_step(way))
			return NULL;
		if (!way_untag(way))
			return NULL;
		port = hroce_port_find_dev(way->dev);
		if (hroce_policy_watched(way->dev, port))
			return NULL;
		if (port && !way->proto)
			return level ? port : NULL;
	}
	return NULL;
}

/* Does the stack bring the frame to this port, as far as it is from XDP? */
static bool way_is_open(const struct xdp_way *way,
			const struct hroce_port *port)
{
	if (!way->host ||
	    !ether_addr_equal(way->eth->h_dest, port->dev->dev_addr))
		return false;
	return !way->bridge ||
	       (way_is_roce(way) &&
		hroce_xdp_bridge_passes(way->bridge, way->bridge_in,
					way->eth->h_source));
}

static void way_count(const struct xdp_way *way)
{
	u32 i;

	for (i = 0; i < way->nr_counts; i++)
		if (is_vlan_dev(way->counts[i]))
			vlan_count(way->counts[i], way->lens[i]);
		else
			dev_sw_netstats_rx_add(way->counts[i], way->lens[i]);
}

bool hroce_xdp_receive_above(struct net_device *dev, struct xdp_buff *xdp)
{
	const struct ethhdr *eth = xdp->data;
	struct xdp_way way __uninitialized;
	struct hroce_port *port;

	if (!eth_type_vlan(eth->h_proto) &&
	    !rcu_access_pointer(dev->rx_handler))
		return false;
	way.buff = *xdp;
	way.eth = eth;
	way.dev = dev;
	way.bridge = NULL;
	way.host = ether_addr_equal(eth->h_dest, dev->dev_addr);
	way.proto = 0;
	way.nr_counts = 0;
	port = way_climb(&way);
	if (!port || !way_is_open(&way, port) ||
	    !hroce_rx_from_xdp(port, &way.buff))
		return false;
	way_count(&way);
	return true;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Network side of a link: one netdev, its RoCEv2 addresses, and the hook that
 * receives frames.
 */
#ifndef HROCE_PORT_H
#define HROCE_PORT_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ipv6.h>
#include <linux/list.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include "../core/stats.h"

struct hroce_path;
struct hroce_port;
struct hroce_recorder;
struct hroce_rx_frame;

/* Maximum number of addresses of a port, one per GID. */
#define HROCE_PORT_ADDRS	1024

/**
 * struct hroce_port_ops - callbacks of the owner of a port
 * @receive: process a frame: take its packets with hroce_rx_next() until none
 *	is left. Called in softirq or with BH disabled, under RCU
 * @wants: is a QP of the link in multicast group @group (IPv4 mapped)? Called
 *	under RCU
 * @qpn: number of the queue pair of a path that frames are charged to. Called in
 *	any context
 */
struct hroce_port_ops {
	void (*receive)(struct hroce_rx_frame *frame);
	bool (*wants)(struct hroce_port *port, const struct in6_addr *group);
	u32 (*qpn)(const struct hroce_path *path);
};

/**
 * struct hroce_port - network side of one link
 * @ops: callbacks of the owner
 * @dev: the netdev; a reference is held
 * @dev_tracker: for that reference
 * @net: its namespace
 * @stats: counters of the link; see hroce_port_stat_add()
 * @addrs: addresses by GID index, IPv4 as ::ffff:a.b.c.d, :: where unused.
 *	Written under @addr_lock; readers tolerate a torn entry
 * @nr_addrs: one past the highest index in use
 * @addr_seq: number of changes of @addrs
 * @addr_lock: guards writes to @addrs, @nr_addrs and @addr_seq; softirq-safe
 * @hook: netfilter ingress hook
 * @open: between hroce_port_open() and hroce_port_close()
 * @hooked: open, and the netdev is still registered [RTNL]
 * @gso: send super-packets (per-link switch)
 * @gro: merge received packets (per-link switch)
 * @spoils: 1: @gso was switched off by hroce_port_spoils()
 * @elide_icrc: omit the ICRC of frames that stay on this host (per-link switch)
 * @local: deliver packets to links of this host without frames (per-link
 *	switch)
 * @rehash: take other ways when no answer comes (per-link switch)
 * @flowlet: take other ways after a pause if packets waited (per-link switch)
 * @strict: frames pass netfilter rules, if there are any (per-link switch)
 * @node: in the list of ports of @net, RCU
 * @recorder: records microbursts, or NULL; see microburst.h
 * @waiting: sides of paths whose senders pause; what is read for each frame is
 *	elsewhere
 */
struct hroce_port {
	const struct hroce_port_ops *ops;
	struct net_device *dev;
	netdevice_tracker dev_tracker;
	struct net *net;
	struct hroce_stats __percpu *stats;
	struct in6_addr *addrs;
	u32 nr_addrs;
	u32 addr_seq;
	spinlock_t addr_lock;
	struct nf_hook_ops hook;
	bool open;
	bool hooked;
	bool gso;
	bool gro;
	atomic_t spoils;
	bool elide_icrc;
	bool local;
	bool strict;
	bool rehash;
	bool flowlet;
	struct list_head node;
	struct hroce_recorder __rcu *recorder;
	atomic_t waiting ____cacheline_aligned_in_smp;
};

static inline void hroce_port_stat_add(const struct hroce_port *port,
				       enum hroce_stat stat, u64 n)
{
	hroce_stats_add(port->stats, stat, n);
}

static inline void hroce_port_stat_inc(const struct hroce_port *port,
				       enum hroce_stat stat)
{
	hroce_port_stat_add(port, stat, 1);
}

/**
 * hroce_port_init - attach to a netdev
 * @port: zeroed
 * @dev: netdev
 * @ops: called from hroce_port_open() to hroce_port_close()
 *
 * No frame is received before hroce_port_open().
 * Context: process, RTNL may be held.
 * Return: 0 or negative errno.
 */
int hroce_port_init(struct hroce_port *port, struct net_device *dev,
		    const struct hroce_port_ops *ops);

/**
 * hroce_port_open - start receiving frames
 * @port: port; its ops may be called from now on
 *
 * Context: process, may sleep, RTNL not held.
 * Return: 0 or negative errno.
 */
int hroce_port_open(struct hroce_port *port);

/**
 * hroce_port_close - stop receiving frames
 * @port: port; no-op if it is not open
 *
 * After return none of its ops is running or will be called.
 * Context: process, may sleep, RTNL not held.
 */
void hroce_port_close(struct hroce_port *port);

/* Counterpart of hroce_port_init(). No path is left; frames may be. */
void hroce_port_fini(struct hroce_port *port);

/**
 * hroce_port_addr_set - set or remove the address of a GID
 * @port: port
 * @index: GID index, below HROCE_PORT_ADDRS
 * @addr: address, IPv4 mapped; :: removes it
 *
 * Context: any.
 */
void hroce_port_addr_set(struct hroce_port *port, u32 index,
			 const struct in6_addr *addr);

/**
 * hroce_port_has_addr - does a port have an address?
 * @port: port
 * @addr: unicast address, IPv4 mapped
 *
 * Context: any.
 * Return: true if it does.
 */
bool hroce_port_has_addr(const struct hroce_port *port,
			 const struct in6_addr *addr);

/**
 * hroce_port_addr_like - choose an address of a port
 * @port: port
 * @like: of the same family as this one
 * @addr: set to the first one that is not link-local
 *
 * Context: any but hard interrupt.
 * Return: false if there is none.
 */
bool hroce_port_addr_like(struct hroce_port *port, const struct in6_addr *like,
			  struct in6_addr *addr);

/**
 * hroce_port_find - find the open port that has an address
 * @net: namespace
 * @dev: netdev that received or would send the packet; its port is preferred.
 *	Link-local addresses are searched there only, others in all ports of the
 *	same VRF
 * @addr: unicast address, IPv4 mapped
 *
 * Context: RCU read side.
 * Return: port or NULL.
 */
struct hroce_port *hroce_port_find(const struct net *net,
				   const struct net_device *dev,
				   const struct in6_addr *addr);

/**
 * hroce_port_find_dev - find the open port of a netdev
 * @dev: netdev
 *
 * Context: RCU read side.
 * Return: port or NULL.
 */
struct hroce_port *hroce_port_find_dev(const struct net_device *dev);

/**
 * hroce_port_spoils - the netdev, or one below it, spoils super-packets
 * @port: port
 *
 * Sends single packets until the features of the netdev change.
 * Context: any.
 */
void hroce_port_spoils(struct hroce_port *port);

/**
 * hroce_addr_is_multicast - is it a multicast address?
 * @addr: address, IPv4 mapped
 *
 * Return: true if it is.
 */
static inline bool hroce_addr_is_multicast(const struct in6_addr *addr)
{
	if (ipv6_addr_v4mapped(addr))
		return ipv4_is_multicast(addr->s6_addr32[3]);
	return ipv6_addr_is_multicast(addr);
}

/**
 * hroce_ip6_is_mapped - does an IPv6 header have an IPv4-mapped address?
 * @ip: header
 *
 * Behind the headers, such an address is one of IPv4, but netfilter's rules for
 * IPv4 have not seen the frame. No RoCEv2 frame has any.
 *
 * Return: true if it has.
 */
static inline bool hroce_ip6_is_mapped(const struct ipv6hdr *ip)
{
	return unlikely(ipv6_addr_v4mapped(&ip->saddr) ||
			ipv6_addr_v4mapped(&ip->daddr));
}

/* Once per module: namespaces, fallback sockets. */
int hroce_net_init(void);
void hroce_net_exit(void);

#endif /* HROCE_PORT_H */

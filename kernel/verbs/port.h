/* SPDX-License-Identifier: GPL-2.0 */
/* What the netdev of a link says of its only port. */
#ifndef HROCE_VERBS_PORT_H
#define HROCE_VERBS_PORT_H

#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

struct hroce_dev;

/* Without a link layer: tun, WireGuard. */
static inline bool hroce_netdev_is_bare(const struct net_device *ndev)
{
	return ndev->type == ARPHRD_NONE;
}

/**
 * hroce_port_follow_addrs - update the addresses of a bare netdev
 * @dev: device; a reference is held
 *
 * Does nothing for other netdevs: ib_core updates their addresses.
 * Context: process, may sleep, RTNL not held.
 */
void hroce_port_follow_addrs(struct hroce_dev *dev);

/**
 * hroce_port_describe - set the port attributes that depend on the netdev
 * @ibdev: device with one port
 * @ndev: netdev
 * @attr: zeroed
 *
 * Context: process, RTNL not held.
 */
void hroce_port_describe(struct ib_device *ibdev,
			 const struct net_device *ndev,
			 struct ib_port_attr *attr);

/**
 * hroce_port_is_up - can the link carry frames?
 * @dev: device
 *
 * Context: any.
 * Return: true if the netdev is up, has carrier and its MTU
 * leaves room for the smallest RDMA MTU.
 */
bool hroce_port_is_up(const struct hroce_dev *dev);

/**
 * hroce_port_mtu - the MTU that the netdev allows
 * @dev: device
 *
 * Context: any.
 * Return: the largest that fits, IB_MTU_256 if none does.
 */
enum ib_mtu hroce_port_mtu(const struct hroce_dev *dev);

/**
 * hroce_port_static_kbps - the rate that a static rate asks for
 * @dev: device
 * @rate: enum ib_rate, valid
 *
 * Context: process, may sleep, RTNL not held.
 * Return: 1000 bits per second, below HROCE_MAX_RATE_KBPS; 0 if there is
 * nothing to obey: IB_RATE_PORT_CURRENT, or the netdev is not faster.
 */
u32 hroce_port_static_kbps(const struct hroce_dev *dev, enum ib_rate rate);

#endif /* HROCE_VERBS_PORT_H */

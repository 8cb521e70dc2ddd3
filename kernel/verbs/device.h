/* SPDX-License-Identifier: GPL-2.0 */
/* The ib_device of one link. */
#ifndef HROCE_DEVICE_H
#define HROCE_DEVICE_H

#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "../mem/mem.h"
#include "../net/port.h"

#define RDMA_DRIVER_HROCE ((enum rdma_driver_id)HROCE_DRIVER_ID)

/**
 * struct hroce_dev - one link
 * @ib: what ib_core knows
 * @port: network side
 * @keys: memory keys
 * @qps: queue pairs by QPN; RCU readers; a QP is freed a grace period after
 *	its entry is gone
 * @qp_next: where the search for a free QPN goes on
 * @ahs: address handles by hroce_create_ah_resp.ah_id; RCU readers
 * @mcast: multicast groups by GID, see verbs/mcast.h
 * @mcast_lock: guards changes of @mcast
 * @mtu: active MTU, enum ib_mtu
 */
struct hroce_dev {
	struct ib_device ib;
	struct hroce_port port;
	struct hroce_keys keys;
	struct xarray qps;
	u32 qp_next;
	struct xarray ahs;
	struct list_head mcast;
	spinlock_t mcast_lock;
	enum ib_mtu mtu;
};

static inline struct hroce_dev *to_hdev(struct ib_device *ib)
{
	return container_of(ib, struct hroce_dev, ib);
}

static inline struct hroce_dev *port_to_hdev(struct hroce_port *port)
{
	return container_of(port, struct hroce_dev, port);
}

/**
 * hroce_dev_create - register an ib_device for a netdev
 * @name: requested name, may hold a %d
 * @ndev: netdev
 *
 * Context: process, RTNL not held... see link.c. Return: 0 or negative errno.
 */
int hroce_dev_create(const char *name, struct net_device *ndev);

#endif /* HROCE_DEVICE_H */

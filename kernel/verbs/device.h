/* SPDX-License-Identifier: GPL-2.0 */
/* Creating the ib_device of one link; its limits. */
#ifndef HROCE_DEVICE_H
#define HROCE_DEVICE_H

#include <rdma/hroce-abi.h>
#include "../datapath/dev.h"
#include "quota.h"

struct hroce_owner;

#define RDMA_DRIVER_HROCE ((enum rdma_driver_id)HROCE_DRIVER_ID)

/* Limits of all contexts together; quota.c has those of one context. */
#define HROCE_MAX_AH		(1 << 20)
#define HROCE_MAX_CQ		(1 << 20)
#define HROCE_MAX_MCAST_ATTACH	(1 << 16)
#define HROCE_MAX_MCAST_GRP	8192
#define HROCE_MAX_MR		(1 << 23)
#define HROCE_MAX_MW		(1 << 22)
#define HROCE_MAX_PD		(1 << 20)
#define HROCE_MAX_QP		(1 << 20)
#define HROCE_MAX_SRQ		(1 << 20)
#define HROCE_MAX_XRCD		(1 << 16)

/* Ranges of numbers: larger than what all contexts may use. */
#define HROCE_MAX_AH_ID		0xffffff
#define HROCE_MAX_KEYS		((1 << 24) - 1)	/* 24 bits, not 0 */
#define HROCE_MAX_QPN		0xfffffe	/* 0xffffff means multicast */

/* Reported by ib_query_device(); see also HROCE_MAX_* in the ABI. */
#define HROCE_MAX_SRQN		0xffffff	/* XRC; 24 bits on the wire */
#define HROCE_MAX_CQE		(1 << 22)
#define HROCE_MAX_FAST_REG	1024		/* blocks of one FRWR MR */
#define HROCE_MAX_MCAST_QP	256		/* members of a group */
#define HROCE_MIN_RATE_KBPS	8		/* a byte per millisecond */
#define HROCE_MAX_RATE_KBPS	1000000000	/* above memory bandwidth */
#define HROCE_GID_TABLE_LEN	256
#define HROCE_MAX_MSG		(1U << 31)

static_assert(HROCE_GID_TABLE_LEN <= HROCE_PORT_ADDRS);

/**
 * struct hroce_ibdev - device, with the part that the datapath does not use
 * @dev: device
 * @owner: the link
 * @quota: limits for objects of user space
 * @mtu: active MTU; follows the netdev
 * @active: port state as last announced by an event [RTNL]
 * @link_downed: times that the port went down [RTNL]
 * @qp_next: next index in hroce_dev.qps to try
 * @xrc_srq_next: next number in hroce_dev.xrc_srqs to try
 * @ah_next: next ah_id in hroce_dev.ahs to try
 * @counters: counters of queue pairs by rdma_counter.id, see counter.c
 * @counters_lock: keeps @counters from being freed
 * @counters_past: sums of freed @counters [counters_lock]
 * @nr_values: values in each set of hw_counters; 0: no set is allocated yet
 * @debug: directory in debugfs
 */
struct hroce_ibdev {
	struct hroce_dev dev;
	struct hroce_owner *owner;
	struct hroce_quota quota;
	enum ib_mtu mtu;
	bool active;
	u32 link_downed;
	u32 qp_next;
	u32 xrc_srq_next;
	u32 ah_next;
	struct xarray counters;
	struct mutex counters_lock;
	u64 counters_past[HROCE_STAT_NR];
	int nr_values;
	struct dentry *debug;
};

static inline struct hroce_ibdev *to_hibdev(struct ib_device *ib)
{
	return container_of(ib, struct hroce_ibdev, dev.ib);
}

static inline struct hroce_quota *hroce_dev_quota(struct hroce_dev *dev)
{
	return &to_hibdev(&dev->ib)->quota;
}

/**
 * hroce_ibdev_setup - set namespace, type and GUID of a device
 * @ibdev: device with one port, not registered yet
 * @owner: the link that it will serve
 */
void hroce_ibdev_setup(struct ib_device *ibdev,
		       const struct hroce_owner *owner);

/**
 * hroce_ibdev_register - register a device by exactly this name
 * @ibdev: device
 * @name: its name; may have a '%', as a device that was renamed
 *
 * Context: as hroce_dev_create().
 * Return: 0 or negative errno.
 */
int hroce_ibdev_register(struct ib_device *ibdev, const char *name);

/**
 * hroce_dev_create - register the software device of a link
 * @owner: the link
 * @name: name of the device
 *
 * ib_unregister_device*() removes and frees the device.
 * Context: process; RTNL must not be held, as ib_core takes it.
 * Return: 0 or negative errno.
 */
int hroce_dev_create(struct hroce_owner *owner, const char *name);

/**
 * hroce_dev_follow - update a device after a change of its netdev
 * @dev: device; a reference is held
 *
 * For MTU, carrier, up and down. Raises port events. Context: RTNL held.
 */
void hroce_dev_follow(struct hroce_dev *dev);

#endif /* HROCE_DEVICE_H */

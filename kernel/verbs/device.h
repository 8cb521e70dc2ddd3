/* SPDX-License-Identifier: GPL-2.0 */
/* The ib_device of one link. */
#ifndef HROCE_DEVICE_H
#define HROCE_DEVICE_H

#include <linux/xarray.h>
#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>
#include "../core/recent.h"
#include "../datapath/poller.h"
#include "../mem/mkeys.h"
#include "../net/port.h"
#include "mcast.h"
#include "quota.h"

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
#define HROCE_MAX_WR		(1 << 15)
#define HROCE_MAX_CQE		(1 << 22)
#define HROCE_MAX_FAST_REG	1024		/* blocks of one FRWR MR */
#define HROCE_MAX_MCAST_QP	256		/* members of a group */
#define HROCE_MIN_RATE_KBPS	8		/* a byte per millisecond */
#define HROCE_MAX_RATE_KBPS	1000000000	/* above memory bandwidth */
#define HROCE_GID_TABLE_LEN	256
#define HROCE_MAX_MSG		(1U << 31)
#define HROCE_PKEY_TABLE_LEN	128

static_assert(HROCE_GID_TABLE_LEN <= HROCE_PORT_ADDRS);

struct hroce_owner;

/**
 * struct hroce_dev - software device of a link
 * @ib: ib_core's device
 * @owner: the link
 * @port: network side
 * @mkeys: memory keys
 * @qps: queue pairs by hroce_qp_index(); looked up in sections; a QP is freed
 *	after its entry is removed and hroce_section_wait() has returned
 * @qpn_hide: secret permutation between index in @qps and QPN: numbers are
 *	unpredictable, the table stays dense
 * @recent_qps: cache of look-ups in @qps
 * @faults: memory that is being fetched, see datapath/fault.c; its lock is
 *	taken with the locks of queue pairs held
 * @qp_next: next index in @qps to try
 * @xrc_srqs: XRC SRQs by number; looked up and freed like @qps
 * @xrc_srq_next: next number to try
 * @ahs: address handles by hroce_create_ah_resp.ah_id; RCU readers
 * @ah_next: next ah_id to try
 * @counters: counters of queue pairs by rdma_counter.id, see verbs/counter.c
 * @mcast: multicast groups
 * @quota: limits for objects of user space
 * @pkeys: P_Key table, see verbs/pkey.h; 0: no key
 * @pkey_lock: serialises changes of @pkeys
 * @mtu: active MTU, enum ib_mtu; follows the netdev
 * @active: port state as last announced by an event [RTNL]
 * @take_turns: processes that poll on one CPU take turns, see datapath/turn.h
 * @leaving: the device is being unregistered: verbs must not start to wait
 * @poller: polls send queues, if enabled
 * @debug: directory in debugfs
 */
struct hroce_dev {
	struct ib_device ib;
	struct hroce_owner *owner;
	struct hroce_port port;
	struct hroce_mkeys mkeys;
	struct xarray qps;
	struct hroce_hide qpn_hide;
	struct hroce_recent recent_qps;
	struct xarray faults;
	u32 qp_next;
	struct xarray xrc_srqs;
	u32 xrc_srq_next;
	struct xarray ahs;
	u32 ah_next;
	struct xarray counters;
	struct hroce_mcast_table mcast;
	struct hroce_quota quota;
	u16 pkeys[HROCE_PKEY_TABLE_LEN];
	struct mutex pkey_lock;
	enum ib_mtu mtu;
	bool active;
	bool take_turns;
	bool leaving;
	struct hroce_poller poller;
	struct dentry *debug;
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
 * hroce_ibdev_setup - set namespace, type and GUID of a device
 * @ibdev: device with one port, not registered yet
 * @owner: the link that it will serve
 */
void hroce_ibdev_setup(struct ib_device *ibdev,
		       const struct hroce_owner *owner);

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

/* SPDX-License-Identifier: GPL-2.0 */
/* Owner of a device: the link that it serves. */
#ifndef HROCE_OWNER_H
#define HROCE_OWNER_H

#include <linux/types.h>
#include "../datapath/pkey.h"

struct attribute_group;
struct ib_mad;
struct hroce_alloc_ucontext_resp;
struct ib_device;
struct net;
struct net_device;
struct hroce_owner;

/**
 * struct hroce_owner_ops - operations of the owner of a device
 * @group: files in the sysfs directory of the device
 * @gone: the device is being freed; the owner is not used any more. Process
 *	context, may hold locks of ib_core
 * @lower: fill in the fields lower_* with the hardware below the link. Process
 *	context, may hold locks of ib_core. Returns false if there is none
 * @lower_counters: fill in the answer @out to @in, which asks for PortCounters
 *	or PortCountersExtended, with those of the hardware below the link.
 *	Process context, may sleep
 */
struct hroce_owner_ops {
	const struct attribute_group *group;
	void (*gone)(struct hroce_owner *owner, const struct ib_device *ibdev);
	bool (*lower)(struct hroce_owner *owner,
		      struct hroce_alloc_ucontext_resp *resp);
	void (*lower_counters)(struct hroce_owner *owner,
			       const struct ib_mad *in, struct ib_mad *out);
};

/**
 * struct hroce_owner - owner of a device
 * @ops: callbacks
 * @ndev: netdev; the owner holds a reference
 * @number: unlike those of all other owners, not 0
 * @pkeys: P_Key table of its software devices
 * @rdma_net: exclusive mode: namespace of the next device; NULL while there is
 *	a device
 *
 * Exists at least as long as the device.
 */
struct hroce_owner {
	const struct hroce_owner_ops *ops;
	struct net_device *ndev;
	u16 number;
	u16 pkeys[HROCE_PKEY_TABLE_LEN];
	struct net *rdma_net;
};

#endif /* HROCE_OWNER_H */

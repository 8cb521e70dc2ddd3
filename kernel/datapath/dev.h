/* SPDX-License-Identifier: GPL-2.0 */
/* The ib_device of one link. */
#ifndef HROCE_DEV_H
#define HROCE_DEV_H

#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "../core/lookup.h"
#include "../mem/mkeys.h"
#include "../net/port.h"
#include "mcast.h"
#include "poller.h"

#define HROCE_PKEY_TABLE_LEN	128

struct hroce_owner;

/**
 * struct hroce_dev - software device of a link
 * @ib: ib_core's device
 * @owner: the link
 * @port: network side
 * @mkeys: memory keys
 * @qps: queue pairs by hroce_qp_index(); looked up in epochs; a QP is freed
 *	after its entry is removed and hroce_epoch_wait() has returned
 * @qpn_hide: secret permutation between index in @qps and QPN: numbers are
 *	unpredictable, the table stays dense
 * @qp_lookup: cache of look-ups in @qps
 * @faults: memory that is being fetched, see datapath/fault.c; its lock is
 *	taken with the locks of queue pairs held
 * @qp_next: next index in @qps to try
 * @xrc_srqs: XRC SRQs by number; looked up and freed like @qps
 * @xrc_srq_next: next number to try
 * @ahs: address handles by hroce_create_ah_resp.ah_id; RCU readers
 * @ah_next: next ah_id to try
 * @counters: counters of queue pairs by rdma_counter.id, see verbs/counter.c
 * @mcast: multicast groups
 * @pkeys: P_Key table, see verbs/pkey.c; 0: no key
 * @pkey_lock: serialises changes of @pkeys
 * @mtu: active MTU, enum ib_mtu; follows the netdev
 * @active: port state as last announced by an event [RTNL]
 * @hand_over: processes that poll on one CPU hand it over, see handover.h
 * @leaving: the device is being unregistered: verbs must not start to wait
 * @poller: polls send queues, if enabled
 * @debug: directory in debugfs
 * @link_downed: times that the port went down [RTNL]
 * @counters_past: sums of freed @counters [counters_lock]
 * @counters_lock: keeps @counters from being freed
 */
struct hroce_dev {
	struct ib_device ib;
	struct hroce_owner *owner;
	struct hroce_port port;
	struct hroce_mkeys mkeys;
	struct xarray qps;
	struct hroce_hide qpn_hide;
	struct hroce_lookup qp_lookup;
	struct xarray faults;
	u32 qp_next;
	struct xarray xrc_srqs;
	u32 xrc_srq_next;
	struct xarray ahs;
	u32 ah_next;
	struct xarray counters;
	struct hroce_mcast_table mcast;
	u16 pkeys[HROCE_PKEY_TABLE_LEN];
	struct mutex pkey_lock;
	enum ib_mtu mtu;
	bool active;
	bool hand_over;
	bool leaving;
	struct hroce_poller poller;
	struct dentry *debug;
	u32 link_downed;
	u64 counters_past[HROCE_STAT_NR];
	struct mutex counters_lock;
};

static inline struct hroce_dev *to_hdev(struct ib_device *ib)
{
	return container_of(ib, struct hroce_dev, ib);
}

static inline struct hroce_dev *port_to_hdev(struct hroce_port *port)
{
	return container_of(port, struct hroce_dev, port);
}

#endif /* HROCE_DEV_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The ib_device of one link. */
#ifndef HROCE_DEV_H
#define HROCE_DEV_H

#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>
#include "../core/lookup.h"
#include "../mem/mkeys.h"
#include "../net/class.h"
#include "../net/pfc.h"
#include "../net/port.h"
#include "../proto/cc_dcqcn.h"
#include "cnp.h"
#include "mcast.h"
#include "poller.h"

#define HROCE_PKEY_TABLE_LEN	128

/* Default and maximum of &hroce_dev.ack_delay_us. */
#define HROCE_ACK_DELAY_US	20
#define HROCE_ACK_DELAY_MAX_US	10000

/* Maximum of &hroce_dev.keep_mb. */
#define HROCE_KEEP_MAX_MB	1024

/* In &hroce_dev.cc_class: no control of its own. */
#define HROCE_CC_LINK		U8_MAX

/**
 * struct hroce_dev - software device of a link, as the datapath uses it
 * @ib: ib_core's device
 * @port: network side
 * @mkeys: memory keys
 * @qps: queue pairs by hroce_qp_index(); looked up in epochs; a QP is freed
 *	after its entry is removed and hroce_epoch_wait() has returned
 * @second: link that queue pairs use as a second way, see second.h; or NULL
 *	[mutex of verbs/second.c]
 * @second_node: on the list of all devices [that mutex]
 * @seconds: second ways of queue pairs of this device, by their index in @qps;
 *	looked up and freed like @qps
 * @aliases: the same of queue pairs of other devices that have @second set to this
 *	one, by an index that is reserved in @qps
 * @nr_aliases: number of @aliases [that mutex; read without it]
 * @second_work: calls hroce_second_tick() for each of @aliases
 * @qpn_hide: secret permutation between index in @qps and QPN: numbers are
 *	unpredictable, the table stays dense
 * @qp_lookup: cache of look-ups in @qps
 * @faults: memory that is being fetched, see datapath/fault.c; its lock is
 *	taken with the locks of queue pairs held
 * @xrc_srqs: XRC SRQs by number; looked up and freed like @qps
 * @ahs: address handles by hroce_create_ah_resp.ah_id; RCU readers
 * @mcast: multicast groups
 * @pkeys: P_Key table of the link, see verbs/pkey.c; 0: no key
 * @pkey_lock: serialises changes of @pkeys
 * @ack_delay_us: time that an ACK may be held, in microseconds; 0: none is held
 * @cc: enum hrp_cc of queue pairs that begin to send
 * @cc_class: the same for a service level; HROCE_CC_LINK: @cc
 * @cc_flows: state of queue pairs whose control is a BPF program, by QPN; used
 *	with the send lock of the queue pair held
 * @keep_mb: memory for requests that came too early, in MB; 0: none is kept
 * @kept_bytes: memory that they take
 * @keep_list: on the list of those that give them up when memory is short
 * @keep_work: gives them up when they take all of @keep_mb
 * @keep_room_at: time from which on it may run again, in jiffies
 * @keep_freed: those that are given up, and are too many to be freed at once
 * @keep_free_work: frees them
 * @cnp: congestion notification packets
 * @rp: how rates react to them
 * @hand_over: processes that poll on one CPU hand it over, see handover.h
 * @agree_mtu: longer packets than the path MTU are asked for and agreed to, see
 *	proto/mtu.h
 * @sack: selective acknowledgements are asked for and given, see proto/sack.h
 * @spray: paths that requests to hroce peers take at once, from 1 to
 *	HRP_SPRAY_PATHS, see proto/spray.h
 * @busy_poll: processes that poll an empty CQ poll the netdev, see busy.h
 * @leaving: the device is being unregistered, or leaves its namespace: verbs
 *	must not start to wait, and user space connects no queue pair
 * @poller: polls send queues, if enabled
 * @pfc: priorities that are being paused, for who asks what a queue pair waits for
 */
struct hroce_dev {
	struct ib_device ib;
	struct hroce_port port;
	struct hroce_mkeys mkeys;
	struct xarray qps;
	struct hroce_dev *second;
	struct list_head second_node;
	struct xarray seconds;
	struct xarray aliases;
	u32 nr_aliases;
	struct delayed_work second_work;
	struct hroce_hide qpn_hide;
	struct hroce_lookup qp_lookup;
	struct xarray faults;
	struct xarray xrc_srqs;
	struct xarray ahs;
	struct hroce_mcast_table mcast;
	u16 *pkeys;
	struct mutex pkey_lock;
	u32 ack_delay_us;
	u32 keep_mb;
	u8 cc;
	u8 cc_class[HROCE_MAX_SL + 1];
	struct xarray cc_flows;
	atomic_long_t kept_bytes;
	struct list_head keep_list;
	struct work_struct keep_work;
	unsigned long keep_room_at;
	struct llist_head keep_freed;
	struct work_struct keep_free_work;
	struct hroce_cnp cnp;
	struct hrp_rp rp;
	bool hand_over;
	bool agree_mtu;
	bool sack;
	u8 spray;
	bool busy_poll;
	bool leaving;
	struct hroce_poller poller;
	struct hroce_pfc_watch pfc;
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

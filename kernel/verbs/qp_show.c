// SPDX-License-Identifier: GPL-2.0
/*
 * State of a queue pair for `rdma -dd resource show qp`: what its requester
 * measures and waits for, and what its responder keeps. Documentation/stats.rst
 * describes each value.
 */
#include <linux/bits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <net/netlink.h>
#include <rdma/restrack.h>
#include "../datapath/second.h"
#include "../proto/cc.h"
#include "../proto/keep.h"
#include "../proto/mtu.h"
#include "../proto/pace.h"
#include "../proto/psn.h"
#include "../proto/rival.h"
#include "../proto/rtt.h"
#include "../proto/sack.h"
#include "../proto/spray.h"
#include "ops.h"

/**
 * struct pause - what pauses a queue pair
 * @priority: that its port puts its frames into, or negative if not known
 * @paused: pause frames have come for it lately
 */
struct pause {
	int priority;
	bool paused;
};

static u32 ns_to_us(u64 ns)
{
	return min_t(u64, div_u64(ns, NSEC_PER_USEC), U32_MAX);
}

/* RTNL is not for who has a lock of a queue pair. */
static struct pause find_pause(struct hroce_qp *qp)
{
	struct hroce_dev *dev = hqp_dev(qp);
	struct pause pause = { .priority = -ENOENT };
	u8 priority, dscp;
	bool ok;

	hroce_qp_lock(qp);
	ok = qp->path_ok;
	priority = qp->path.key.priority;
	dscp = qp->path.key.tclass >> 2;
	hroce_qp_unlock(qp);
	if (ok)
		pause.priority = hroce_pfc_priority(dev->port.dev, priority,
						    dscp);
	if (pause.priority >= 0)
		pause.paused = hroce_pfc_look(&dev->pfc, dev->port.dev) &
			       BIT(pause.priority);
	return pause;
}

/*
 * Frames that wait below, in a class that is being paused, hold up all that
 * needs them to be answered.
 */
static enum hrp_wait waits_for(const struct hroce_qp *qp,
			       const struct pause *pause)
{
	enum hrp_wait wait = hroce_qp_waits_for(qp);

	switch (wait) {
	case HRP_WAIT_ANSWER:
	case HRP_WAIT_WINDOW:
	case HRP_WAIT_READS:
	case HRP_WAIT_ORDER:
	case HRP_WAIT_ROOM:
		return pause->paused && qp->path_ok &&
		       hroce_path_is_queued(&qp->path) ? HRP_WAIT_PAUSED : wait;
	case HRP_WAIT_NOTHING:
	case HRP_WAIT_CREDITS:
	case HRP_WAIT_RNR:
	case HRP_WAIT_MEMORY:
	case HRP_WAIT_RATE:
	case HRP_WAIT_DRAINED:
	case HRP_WAIT_PAUSED:
		break;
	}
	return wait;
}

/* Of the functions below: true if there is no room left. */

/* What switches and cards find the priority of its frames by, see PFC. */
static bool put_class(struct sk_buff *msg, const struct hroce_qp *qp,
		      const struct pause *pause)
{
	const struct hroce_path_key *key = &qp->path.key;

	return qp->path_ok &&
	       (rdma_nl_put_driver_u32(msg, "sl", key->sl) ||
		rdma_nl_put_driver_u32(msg, "dscp", key->tclass >> 2) ||
		(pause->priority >= 0 &&
		 rdma_nl_put_driver_u32(msg, "pause_priority",
					pause->priority)));
}

static bool put_times(struct sk_buff *msg, const struct hrp_req *req)
{
	return rdma_nl_put_driver_u32(msg, "rtt_us",
				      ns_to_us((u64)req->srtt8 << 7)) ||
	       rdma_nl_put_driver_u32(msg, "rtt_var_us",
				      ns_to_us((u64)req->rttvar4 << 8)) ||
	       rdma_nl_put_driver_u32(msg, "rto_us",
				      ns_to_us(hrp_rtt_rto_ns(req))) ||
	       rdma_nl_put_driver_u32(msg, "retries_left", req->retries);
}

/* Congestion control */
static bool put_cc(struct sk_buff *msg, const struct hrp_qp *qp)
{
	const struct hrp_pace *pace = qp->req.pace;
	u32 base_us = ns_to_us((u64)qp->base << 10);

	return rdma_nl_put_driver_string(msg, "cc",
					 hrp_cc_of(qp->req.cc)->name) ||
	       (qp->base != HRP_BASE_MAX &&
		rdma_nl_put_driver_u32(msg, "rtt_min_us", base_us)) ||
	       rdma_nl_put_driver_u32(msg, "rivals",
				      hrp_rival_is_here(&qp->req)) ||
	       (pace && pace->control_kbps &&
		rdma_nl_put_driver_u32(msg, "cc_rate_kbps",
				       pace->control_kbps)) ||
	       (pace && pace->window_kbps &&
		rdma_nl_put_driver_u32(msg, "spread_kbps",
				       pace->window_kbps));
}

static bool put_req(struct sk_buff *msg, const struct hroce_qp *qp,
		    const struct pause *pause)
{
	const struct hrp_req *req = &qp->proto.req;
	u32 in_flight = hrp_psn_diff(req->psn_max, req->psn_una);

	return rdma_nl_put_driver_u32(msg, "udp_sport",
				      qp->path.sport[0]) ||
	       rdma_nl_put_driver_u32(msg, "paths", hrp_spray_is_on(req) ?
				      req->sack->spray->paths : 1) ||
	       put_times(msg, req) || put_cc(msg, &qp->proto) ||
	       rdma_nl_put_driver_u32(msg, "window_pkts", req->cwnd_pkts) ||
	       rdma_nl_put_driver_u32(msg, "in_flight_pkts", in_flight) ||
	       rdma_nl_put_driver_u32(msg, "agreed_mtu",
				      req->agreed_mtu * HRP_MTU_UNIT) ||
	       rdma_nl_put_driver_u32(msg, "peer_keeps", req->keeps) ||
	       rdma_nl_put_driver_u32(msg, "recovers", req->recovering) ||
	       (req->sack &&
		rdma_nl_put_driver_u32(msg, "late_wait_us",
				       ns_to_us((u64)req->sack->late.wait <<
						10))) ||
	       rdma_nl_put_driver_string(msg, "waits_for",
					 hrp_wait_name(waits_for(qp, pause)));
}

static bool put_resp(struct sk_buff *msg, const struct hrp_resp *resp)
{
	return rdma_nl_put_driver_u32(msg, "kept_pkts",
				      resp->kept ? resp->keep->nr : 0);
}

static bool put_qp(struct sk_buff *msg, const struct hroce_qp *qp,
		   const struct pause *pause)
{
	const struct hrp_qp *proto = &qp->proto;

	if (put_class(msg, qp, pause))
		return true;
	if (!hrp_qp_is_reliable(proto))
		return put_cc(msg, proto);
	if (qp->second && rdma_nl_put_driver_string(msg, "second",
						    hroce_second_state(qp)))
		return true;
	return (hrp_qp_sends(proto) && put_req(msg, qp, pause)) ||
	       (hrp_qp_receives(proto) && put_resp(msg, &proto->resp));
}

/* UD has nothing to show, UC only its class and congestion control. */
int hroce_qp_show(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct hroce_qp *qp = to_hqp(ibqp);
	struct nlattr *table;
	struct pause pause;
	bool full;

	if (qp->proto.type == HRP_TYPE_UD)
		return 0;
	pause = find_pause(qp);
	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!table)
		return -EMSGSIZE;
	hroce_qp_lock(qp);
	full = put_qp(msg, qp, &pause);
	hroce_qp_unlock(qp);
	if (full) {
		nla_nest_cancel(msg, table);
		return -EMSGSIZE;
	}
	nla_nest_end(msg, table);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Gaps at peers that keep the packets behind them.
 *
 * A responder may drop what comes after a gap (IBTA 9.7.5.1.1) or keep it, and
 * does not say which. But if the requester went back, and an acknowledgement
 * covers packets that were sent once, before the NAK, the peer has kept them.
 * From then on the requester resends the gap alone and goes on with new packets.
 *
 * A NAK names the begin of a gap, not its length. The requester resends as much
 * as for the last gaps. If the next gap begins where that ended, it was too
 * short, and four times as much is resent. If the most is too short as well, or
 * no answer comes, the peer does not keep packets, or no longer: the requester
 * goes back and learns anew.
 *
 * The window shrinks for gaps that are near each other, as a queue that
 * overflows makes them while the window grows; what is near depends on the
 * control. Gaps far apart are damage, and a smaller window would not avoid
 * them.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include "cc.h"
#include "env.h"
#include "hole.h"
#include "req_priv.h"

/* 64 packets: as many as a lost super-packet has, at most. */
#define HOLE_SHIFT_MAX	6u

#define HOLE_SPARSE_MAX	8u

/*
 * A new gap has been reported. The distance to the last one counts for gaps of
 * one packet each, and in proportion if they are longer. Return: true if gaps
 * have just become near.
 */
static bool hole_judge(struct hrp_req *req)
{
	u32 pkts = (req->psn_una - req->rtx_psn) & HRP_PSN_MASK;
	u32 near_pkts = hrp_cc_of(req->cc)->near_pkts(req);

	pkts >>= req->hole_shift;
	if (pkts >= 2 * near_pkts) {
		req->sparse = min(req->sparse + 1u, HOLE_SPARSE_MAX);
		return false;
	}
	if (pkts >= near_pkts || !req->sparse)
		return false;
	return req->sparse-- == HRP_SPARSE;
}

/* The window shrinks once for all gaps of a flight. */
static void hole_recover(struct hrp_req *req, bool dense)
{
	dense |= !req->recovering && req->sparse < HRP_SPARSE;
	if (dense)
		hrp_req_shrink(req, hrp_req_dist(req) * 3 / 4);
	if (req->recovering)
		return;
	req->recovering = 1;
	req->mark_psn = req->psn_max;
}

bool hrp_hole_fill(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	bool dense = false;
	u32 nr_pkts;

	/* Entries with answers between would have to be counted. */
	if (!req->keeps || req->psn != req->psn_max || req->nr_rd_atomic)
		return false;
	if (req->psn_una == req->rtx_psn) {
		if (req->hole_shift == HOLE_SHIFT_MAX) {
			req->keeps = 0;
			return false;
		}
		req->hole_shift = min(req->hole_shift + 2u, HOLE_SHIFT_MAX);
	}
	nr_pkts = 1u << req->hole_shift;
	/* What follows has just been resent. */
	if (req->recovering && hrp_psn_diff(req->psn_una, req->rtx_psn) < 0)
		nr_pkts = 1;
	else if (req->psn_una != req->rtx_psn)
		dense = hole_judge(req);
	hole_recover(req, dense);
	req->rtx_psn = req->psn_una;
	req->rtx_pkts = min(nr_pkts, hrp_req_dist(req));
	req->timing = 0;
	hrp_count(qp, HROCE_EV_HOLES_RESENT);
	hrp_req_resends(qp, now_ns);
	return true;
}

void hrp_hole_learn(struct hrp_req *req, u32 nr_pkts)
{
	req->keeps = 1;
	req->hole_shift = min_t(u32, ilog2(2 * nr_pkts - 1), HOLE_SHIFT_MAX);
}

u32 hrp_hole_window(const struct hrp_req *req)
{
	/* Nearly all packets before the mark have left the network. */
	u32 arrived = (req->mark_psn - req->psn_una) & HRP_PSN_MASK;

	return min(req->cwnd_pkts + arrived, req->window_pkts);
}

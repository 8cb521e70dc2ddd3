// SPDX-License-Identifier: GPL-2.0
/*
 * No control but that of losses: the window begins at its maximum, and grows
 * again after losses have made it smaller. On a long path the maximum is larger,
 * and the window doubles in each round trip until it is there, or packets are
 * lost.
 */
#include <linux/minmax.h>
#include "cc.h"

/* A large window grows by one packet per so many acknowledged. */
#define GROW_PKTS	64u

static void none_start(struct hrp_qp *qp)
{
	qp->req.cwnd_pkts = qp->req.window_pkts;
	qp->req.cc_start = 1;
}

/*
 * Grow by one packet per round trip or, if the window is large, by one per
 * GROW_PKTS acknowledged: about 200 round trips from the minimum to 8 MB, while
 * the loss at the end of that costs a few per cent.
 */
static void none_acked(struct hrp_qp *qp, u32 nr_pkts, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	u32 step = req->cc_start ? 1 : min(req->cwnd_pkts, GROW_PKTS);

	nr_pkts += req->cwnd_rest;
	req->cwnd_pkts = min(req->cwnd_pkts + nr_pkts / step,
			     hrp_req_window_max(req));
	req->cwnd_rest = nr_pkts % step;
}

/* A queue that overflows while the window grows loses one of GROW_PKTS. */
static u32 none_near_pkts(const struct hrp_req *req)
{
	return 2 * GROW_PKTS;
}

const struct hrp_cc_ops hrp_cc_none = {
	.name = "none",
	.start = none_start,
	.acked = none_acked,
	.near_pkts = none_near_pkts,
};

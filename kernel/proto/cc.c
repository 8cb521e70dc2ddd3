// SPDX-License-Identifier: GPL-2.0
/* Congestion control: the table of controls, see cc.h. */
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/minmax.h>
#include "cc.h"
#include "damage.h"
#include "pace.h"
#include "rival.h"

/*
 * Largest window, as doublings of that of the owner: one if the shortest round
 * trip is a millisecond, and one more for each time that it is twice as long.
 */
#define FAR_SHIFT	10
#define FAR_DOUBLINGS	4

static const struct hrp_cc_ops *cc_table[HRP_CC_NR + 1] __ro_after_init = {
	[HRP_CC_NONE] = &hrp_cc_none,
	[HRP_CC_DELAY] = &hrp_cc_delay,
	[HRP_CC_DCQCN] = &hrp_cc_dcqcn,
};

const struct hrp_cc_ops *hrp_cc_of(u8 cc)
{
	return cc_table[cc];
}

void hrp_cc_add(const struct hrp_cc_ops *ops)
{
	cc_table[HRP_CC_ADDED] = ops;
}

void hrp_cc_start(struct hrp_qp *qp)
{
	const struct hrp_cc_ops *ops = hrp_cc_of(qp->req.cc);
	struct hrp_req *req = &qp->req;

	req->cc_times = !!ops->measured;
	req->cc_start = 0;
	req->cc_over = 0;
	req->cc_queued = 0;
	req->cc_waits = 0;
	req->cc_told = 0;
	req->cwnd_rest = 0;
	req->window_shift = 0;
	req->sparse = 0;
	hrp_damage_start(req);
	hrp_rival_start(req);
	qp->base = HRP_BASE_MAX;
	qp->base_next = HRP_BASE_MAX;
	qp->base_at = 0;
	hrp_pace_release(qp);
	ops->start(qp);
}

void hrp_cc_set_base(struct hrp_qp *qp, u32 base)
{
	struct hrp_req *req = &qp->req;

	qp->base = base;
	req->window_shift = min(fls64(base >> FAR_SHIFT), FAR_DOUBLINGS);
	req->cwnd_pkts = min(req->cwnd_pkts, hrp_req_window_max(req));
}

void hrp_cc_release(struct hrp_qp *qp)
{
	qp->req.cc = HRP_CC_NONE;
	hrp_cc_start(qp);
}

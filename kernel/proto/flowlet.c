// SPDX-License-Identifier: GPL-2.0
/*
 * Flowlets: what is sent after a pause may take another path, also to peers that
 * do not take packets out of order, as nothing that could be overtaken is in
 * flight. A path that is not crowded is kept: firewalls and caches know its port.
 */
#include <linux/minmax.h>
#include <linux/time64.h>
#include "flowlet.h"
#include "req_priv.h"

/*
 * Shortest pause: answers of the peer, and packets that were sent twice, may
 * still be under way.
 */
#define PAUSE_NS	NSEC_PER_MSEC

/* If round trips are longer, so many of them. */
#define PAUSE_RTTS	2u

/* Did packets wait, or did the peer tell so, as far as was known in the end? */
static bool flowlet_was_crowded(const struct hrp_req *req)
{
	return req->cc == HRP_CC_DELAY && (req->cc_queued || req->cc_told);
}

bool hrp_flowlet_begins(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	u64 rtts_ns = (u64)req->srtt8 * 128 * PAUSE_RTTS;

	if (!hrp_qp_is_reliable(qp) || req->timer != HRP_TIMER_OFF ||
	    !flowlet_was_crowded(req) ||
	    hrp_req_quiet_ns(req, now_ns) < max_t(u64, PAUSE_NS, rtts_ns))
		return false;
	/* Of this flowlet nothing is known. */
	req->cc_queued = 0;
	req->cc_waits = 0;
	req->cc_told = 0;
	req->since = hrp_req_clock(now_ns);
	return true;
}

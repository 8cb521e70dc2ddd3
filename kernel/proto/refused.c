// SPDX-License-Identifier: GPL-2.0
/*
 * Requester: frames that the local stack has refused. They were not sent, so
 * the requester goes back to their first PSN and sends them later.
 */
#include <linux/minmax.h>
#include <linux/types.h>
#include "req.h"
#include "req_priv.h"

/*
 * Delay before the next attempt: half of the time since the first refusal,
 * within these bounds. Queues of the host drain in about the minimum; attempts
 * at the maximum cost next to no CPU time.
 */
#define ROOM_MIN_NS	100000ull
#define ROOM_MAX_NS	4000000ull

/* Requests of an answered entry for the packets [@begin, @end). */
static u32 req_requests(const struct hrp_wqe *w, u32 begin, u32 end)
{
	u32 first = (begin - w->first_psn) & HRP_PSN_MASK;
	u32 last = (end - 1 - w->first_psn) & HRP_PSN_MASK;

	return (last >> w->chunk_shift) - (first >> w->chunk_shift) + 1;
}

/*
 * Make @psn the next to send. It must be the first PSN of a packet of SEND or
 * WRITE, or of a request, that is sent and not acknowledged.
 */
static void req_return(struct hrp_req *req, u32 psn)
{
	struct hrp_sq *sq = &req->sq;
	u32 idx = sq->next - !req->offset;
	u32 end = req->psn;
	struct hrp_wqe *w;
	u32 begin;

	for (;; idx--) {
		w = hrp_sq_wqe(sq, idx);
		/* Local operations stay executed. */
		if (!w->nr_pkts)
			continue;
		begin = hrp_psn_diff(psn, w->first_psn) > 0 ? psn :
							      w->first_psn;
		if (hrp_wqe_is_answered(w)) {
			req->rd_pkts -= (end - begin) & HRP_PSN_MASK;
			req->nr_rd_atomic -= req_requests(w, begin, end);
		}
		if (begin == psn)
			break;
		end = begin;
	}
	sq->next = idx;
	req->psn = psn;
	req->offset = (psn - w->first_psn) & HRP_PSN_MASK;
}

void hrp_req_refused(struct hrp_qp *qp, u32 psn, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	if (qp->state != HRP_RTS && qp->state != HRP_SQD)
		return;
	/* A part of the frame may have arrived, and be acknowledged. */
	if (hrp_psn_diff(psn, req->psn_una) < 0)
		psn = req->psn_una;
	if (hrp_psn_diff(req->psn, psn) <= 0)
		return;
	req_return(req, psn);
	/* Leave room to request an acknowledgement of the packets in flight. */
	hrp_req_shrink(req, hrp_req_dist(req) + HRP_CWND_MIN);
	req->timing = 0;
	if (!req->refused)
		req->since = hrp_req_clock(now_ns);
	req->refused = 1;
	req->troubled = 1;
	if (req->timer >= HRP_TIMER_RNR)
		return;
	req->timer = HRP_TIMER_ROOM;
	req->timer_ns = now_ns + clamp(hrp_req_quiet_ns(req, now_ns) / 2,
				       ROOM_MIN_NS, ROOM_MAX_NS);
}

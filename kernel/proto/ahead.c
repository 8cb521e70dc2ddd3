// SPDX-License-Identifier: GPL-2.0
/*
 * Answers that came before earlier ones.
 *
 * The specification lets a requester drop what comes behind a missing response,
 * and ask again for all of it (9.4.4). One that keeps them looks to its
 * program as if the missing ones had come sooner: payload is placed and requests
 * complete in the order of PSNs.
 *
 * An answer, like an acknowledgement, shows that the peer has executed all
 * requests before it. What is missing of their answers was lost on the way back,
 * or is late.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>
#include "ahead.h"
#include "psn.h"
#include "req_priv.h"
#include "spray.h"

void hrp_ahead_open(struct hrp_req *req, struct hrp_keep *keep)
{
	keep->psn = req->psn_una;
	keep->end = req->psn_una;
	req->sack->ahead = keep;
}

struct hrp_keep *hrp_ahead_close(struct hrp_qp *qp)
{
	struct hrp_keep *keep = hrp_ahead_of(&qp->req);

	if (!keep)
		return NULL;
	qp->req.sack->ahead = NULL;
	if (keep->nr) {
		hroce_stats_add(qp->stats, HROCE_EV_KEPT_DROPPED, keep->nr);
		hrp_sack_forget(&qp->req);
	}
	return keep;
}

struct hrp_kept *hrp_ahead_take_stale(struct hrp_qp *qp)
{
	struct hrp_req *req = &qp->req;
	struct hrp_kept *kept;

	kept = hrp_keep_take(req->sack->ahead,
			     hrp_psn_add(req->psn_una, HRP_PSN_MASK));
	if (kept)
		hrp_count(qp, HROCE_EV_KEPT_DROPPED);
	return kept;
}

struct hrp_kept *hrp_ahead_next(struct hrp_qp *qp)
{
	struct hrp_req *req = &qp->req;

	if (qp->state != HRP_RTS && qp->state != HRP_SQD)
		return NULL;
	/* Memory is being fetched, or there is nothing to answer. */
	if (req->timer == HRP_TIMER_MEM || req->psn_una == req->psn_max)
		return NULL;
	return hrp_keep_take(req->sack->ahead, req->psn_una);
}

bool hrp_ahead_fits(const struct hrp_req *req, u32 psn)
{
	const struct hrp_keep *keep = hrp_ahead_of(req);
	u32 first = keep ? keep->psn : req->psn_una;

	return hrp_psn_diff(psn, req->psn) < 0 &&
	       ((psn - first) & HRP_PSN_MASK) < hrp_sack_pkts(req);
}

void hrp_ahead_acked(struct hrp_req *req, u32 end)
{
	const struct hrp_wqe *w;
	u32 psn, idx, nr;

	hrp_sack_trim(req);
	/* What is behind that is sent again. */
	if (hrp_psn_diff(end, req->psn) > 0)
		end = req->psn;
	psn = req->sack->acked;
	if (hrp_psn_diff(end, psn) <= 0)
		return;
	if (hrp_psn_diff(psn, req->psn_una) < 0)
		psn = req->psn_una;
	for (idx = req->sq.tail; idx != req->sq.head; idx++) {
		w = hrp_sq_wqe(&req->sq, idx);
		if (!w->nr_pkts)
			continue;
		if (!w->started || hrp_psn_diff(psn, end) >= 0)
			break;
		if (hrp_psn_diff(w->last_psn, psn) < 0)
			continue;
		nr = min((w->last_psn - psn) & HRP_PSN_MASK,
			 (end - psn - 1) & HRP_PSN_MASK) + 1;
		if (!hrp_wqe_is_answered(w))
			hrp_sack_mark(req, psn, nr);
		psn = hrp_psn_add(psn, nr);
	}
	req->sack->acked = end;
	hrp_sack_reach(req, end);
}

void hrp_ahead_kept(struct hrp_qp *qp, u32 psn, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	u32 end = hrp_psn_add(psn, 1);
	u32 nr;

	hrp_sack_trim(req);
	nr = req->sack->nr;
	hrp_sack_mark(req, psn, 1);
	/* One that comes again is no progress. */
	if (req->sack->nr == nr) {
		hrp_late_again(qp, psn, 0, now_ns);
		return;
	}
	hrp_count(qp, HROCE_EV_ANSWERS_KEPT);
	hrp_spray_learn(req, req->psn_una, 1);
	hrp_ahead_acked(req, end);
	hrp_sack_acked(qp, now_ns);
	req->troubled = 1;
	req->sack->late.news = true;
	if (req->timer == HRP_TIMER_ACK)
		hrp_req_restart(req, now_ns);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Gaps at peers that keep the packets behind them.
 *
 * A responder may drop what comes after a gap (IBTA 9.7.5) or keep it, and
 * does not say which. But if the requester went back, and an acknowledgement
 * covers packets that were sent once, before the NAK, the peer has kept them.
 * From then on the requester resends the gap alone and goes on with new packets.
 *
 * A NAK names the begin of a gap, not its length. The requester resends as much
 * as for the last gaps. If the next gap begins where that ended, it was too
 * short, and four times as much is resent. If the most is too short as well, or
 * no answer comes, the peer does not keep packets, or no longer: the requester
 * goes back and learns anew. Peers that tell what they keep (sack.h) leave
 * nothing to guess: all gaps of a flight are filled at once, and a request with
 * an answer is resent alone.
 *
 * The window shrinks for gaps that are near each other, as a queue that
 * overflows makes them while the window grows; what is near depends on the
 * control. Gaps far apart are damage, and a smaller window would not avoid
 * them.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include "ahead.h"
#include "cc.h"
#include "damage.h"
#include "env.h"
#include "hole.h"
#include "late.h"
#include "req_priv.h"
#include "rival.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"

/* 64 packets: as many as a lost super-packet has, at most. */
#define HOLE_SHIFT_MAX	6u

#define HOLE_SPARSE_MAX	15u

/* Most packets of an answer that a probe draws. */
#define HOLE_PROBE_MAX	64u

/* What gaps tell of the path. */
enum hole_kind {
	HOLE_FAR,	/* this one is damage */
	HOLE_NEAR,	/* congestion, if gaps are near each other */
	HOLE_DENSE,	/* gaps have just become near */
};

/* Where the newest gap was. */
static u32 hole_newest(const struct hrp_req *req)
{
	return req->sack ? req->sack->gap_psn : req->rtx_psn;
}

/*
 * Is a gap at @psn a new one? Otherwise what was resent there is lost again, which
 * tells nothing of the distance of gaps. The newest one may be so long ago that
 * PSNs have begun anew.
 */
static bool hole_is_new(const struct hrp_req *req, u32 psn)
{
	u32 newest = hole_newest(req);

	return hrp_psn_diff(psn, newest) >= 0 ||
	       hrp_psn_diff(newest, req->psn_max) > 0;
}

/*
 * There is a new gap of @nr_pkts at @psn. The distance to the last one counts for
 * gaps of one packet each, and in proportion if they are longer. Where delay tells
 * of queues, one gap that is far from the last is damage whatever was before: the
 * queue may be gone. If this one begins where the last one ended, both are one,
 * that was too long to be resent at once.
 */
static enum hole_kind hole_judge(struct hrp_req *req, u32 psn, u32 nr_pkts)
{
	enum hole_kind far = req->cc_times ? HOLE_FAR : HOLE_NEAR;
	u32 pkts = (psn - hole_newest(req)) & HRP_PSN_MASK;
	u32 near_pkts = hrp_cc_of(req->cc)->near_pkts(req);

	if (req->sack)
		req->sack->gap_psn = hrp_psn_add(psn, nr_pkts);
	hrp_damage_lost(req, psn, nr_pkts);
	hrp_rival_lost(req);
	if (!pkts && req->recovering && req->sack)
		return HOLE_NEAR;
	pkts >>= ilog2(nr_pkts);
	if (pkts >= 2 * near_pkts) {
		req->sparse = min(req->sparse + 1u, HOLE_SPARSE_MAX);
		return far;
	}
	if (pkts >= near_pkts)
		return far;
	if (!req->sparse)
		return HOLE_NEAR;
	return req->sparse-- == HRP_SPARSE ? HOLE_DENSE : HOLE_NEAR;
}

/* The window shrinks once for all gaps of a flight, and stays during a test. */
static void hole_recover(struct hrp_req *req, enum hole_kind kind)
{
	bool begins = !req->recovering && req->sparse < HRP_SPARSE;

	if (!hrp_damage_is_tested(req) &&
	    (kind == HOLE_DENSE || (begins && kind == HOLE_NEAR))) {
		if (req->sack)
			req->sack->cut_pkts = req->cwnd_pkts;
		hrp_late_shrinks(req);
		hrp_req_shrink(req, min(hrp_req_dist(req), req->cwnd_pkts) *
				    3 / 4);
	}
	if (req->recovering)
		return;
	req->recovering = 1;
	req->mark_psn = req->psn_max;
	/* It makes sense if one end keeps what comes from the other. */
	if (req->keeps || req->sack)
		hrp_sack_asks(req);
}

/* Is all sent, and is there a request in flight? */
static bool hole_is_behind(const struct hrp_req *req)
{
	return req->psn == req->psn_max && req->sq.tail != req->sq.head;
}

static bool hole_has_answers(const struct hrp_req *req)
{
	return hrp_wqe_is_answered(hrp_sq_wqe(&req->sq, req->sq.tail));
}

/*
 * If nothing is known of the gap, a request with an answer is not resent apart:
 * the gap may be longer, and later requests take more PSNs than packets.
 */
static bool hole_may_fill(const struct hrp_req *req)
{
	return req->keeps && hole_is_behind(req) && !hole_has_answers(req);
}

/*
 * Is the oldest gap known, and what was lost there? This side keeps answers, so
 * they are also kept when requests are sent again.
 */
static bool hole_is_known(const struct hrp_req *req)
{
	if (!hrp_sack_is_active(req) || req->sq.tail == req->sq.head)
		return false;
	if (!hole_has_answers(req))
		return req->keeps && hole_is_behind(req);
	return hrp_psn_diff(req->sack->acked, req->psn_una) > 0;
}

/*
 * Answers that may be asked for together, up to *@nr_pkts from @psn on: those of
 * one request. A responder need not give answers from before the last one that
 * it repeated, so that only the oldest are asked for, unless the peer is known.
 * Return: false if they were not lost as far as is known, or have to wait.
 */
static bool hole_clip_answers(const struct hrp_req *req,
			      const struct hrp_wqe *w, u32 psn, u32 *nr_pkts)
{
	s32 lost = hrp_psn_diff(req->sack->acked, psn);
	u32 offset = (psn - w->first_psn) & HRP_PSN_MASK;
	u32 end = min((offset | ((1u << w->chunk_shift) - 1)) + 1, w->nr_pkts);

	*nr_pkts = min(*nr_pkts, end - offset);
	if (lost <= 0 || (psn != req->psn_una && !req->sack->told))
		return false;
	*nr_pkts = min_t(u32, *nr_pkts, lost);
	return true;
}

/*
 * Make *@nr_pkts missing packets from @psn on fewer, so that they are alike:
 * requests, or answers (@answers). Their entry is *@idx or behind it, which moves
 * on to the first one that matters. Return: false if they are not to be resent.
 */
static bool hole_clip(const struct hrp_req *req, u32 *idx, u32 psn,
		      u32 *nr_pkts, bool *answers)
{
	const struct hrp_wqe *w;
	u32 nr = 0, i = *idx;

	*answers = false;
	for (; nr < *nr_pkts && i != req->sq.head; i++) {
		w = hrp_sq_wqe(&req->sq, i);
		if (!w->nr_pkts || hrp_psn_diff(psn, w->last_psn) > 0)
			continue;
		if (!nr)
			*idx = i;
		if (hrp_wqe_is_answered(w)) {
			if (nr)
				break;
			*answers = true;
			return hole_clip_answers(req, w, psn, nr_pkts);
		}
		nr = ((w->last_psn - psn) & HRP_PSN_MASK) + 1;
	}
	*nr_pkts = min(nr, *nr_pkts);
	return nr && req->keeps;
}

static void hole_resend(struct hrp_qp *qp, u32 psn, u32 nr_pkts,
			enum hole_kind kind)
{
	struct hrp_req *req = &qp->req;

	hole_recover(req, kind);
	req->rtx_psn = psn;
	req->rtx_pkts = nr_pkts;
	req->timing = 0;
	hrp_count(qp, HROCE_EV_HOLES_RESENT);
}

bool hrp_hole_fill(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	enum hole_kind kind = HOLE_NEAR;
	bool answers;
	u32 idx = req->sq.tail;
	u32 nr_pkts;

	if (!hole_may_fill(req))
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
	else if (req->psn_una != req->rtx_psn && hole_is_new(req, req->psn_una))
		kind = hole_judge(req, req->psn_una, 1u << req->hole_shift);
	nr_pkts = min(nr_pkts, hrp_req_dist(req));
	hole_clip(req, &idx, req->psn_una, &nr_pkts, &answers);
	hole_resend(qp, req->psn_una, nr_pkts, kind);
	if (req->sack)
		hrp_sack_tried(req, req->psn_una, nr_pkts);
	hrp_req_resends(qp, now_ns);
	return true;
}

/* What begins at @psn is resent. NAKs of the oldest packet are ignored. */
static void hole_resends(struct hrp_qp *qp, u32 psn, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	hrp_loss_begin(req, now_ns);
	if (psn == req->psn_una) {
		hrp_req_resends(qp, now_ns);
		return;
	}
	req->troubled = 1;
	hrp_set_pending(qp, HRP_PENDING_RETRANSMIT);
	hrp_req_rearm(req, now_ns);
}

/* Is a request with an answer missing at the peer, as far as is known? */
static bool hole_is_lost(const struct hrp_req *req)
{
	const struct hrp_sack *sack = req->sack;

	return sack && sack->lost &&
	       hrp_psn_diff(sack->lost_psn, req->psn_una) >= 0 &&
	       hrp_psn_diff(sack->lost_psn, sack->acked) >= 0;
}

bool hrp_hole_lost_waits(const struct hrp_req *req)
{
	return hole_is_lost(req) && req->sack->lost_due;
}

/* Send that request again. Return: false if it is not due. */
static bool hole_resend_lost(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	enum hole_kind kind = HOLE_NEAR;
	u32 psn;

	if (!hrp_hole_lost_waits(req) ||
	    !hrp_late_is_over(req, req->sack->lost_at, now_ns))
		return false;
	psn = req->sack->lost_psn;
	req->sack->lost_due = false;
	/* What is behind it waits for it. */
	req->sack->timing = false;
	hrp_spray_suspect(req, psn);
	if (hole_is_new(req, psn))
		kind = hole_judge(req, psn, 1);
	hole_resend(qp, psn, 1, kind);
	hole_resends(qp, psn, now_ns);
	return true;
}

/* The same for the next gap that is known. */
static bool hole_resend_known(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	enum hole_kind kind = HOLE_NEAR;
	bool answers;
	u32 idx = req->sq.tail;
	u32 psn = req->psn_una;
	u32 nr_pkts, end;

	if (!hole_is_known(req))
		return false;
	end = hrp_late_end(req, now_ns);
	for (;; psn = hrp_psn_add(psn, nr_pkts)) {
		nr_pkts = hrp_sack_next(req, &psn, end);
		if (!nr_pkts)
			return false;
		if (hole_clip(req, &idx, psn, &nr_pkts, &answers))
			break;
		if (!nr_pkts || !req->sack->told)
			return false;
	}
	hrp_late_resent(req, psn, nr_pkts, now_ns);
	hrp_spray_lost(req, psn, nr_pkts);
	hrp_sack_tried(req, psn, nr_pkts);
	if (hole_is_new(req, psn))
		kind = hole_judge(req, psn, nr_pkts);
	hole_resend(qp, psn, nr_pkts, kind);
	hole_resends(qp, psn, now_ns);
	return true;
}

bool hrp_hole_more(struct hrp_qp *qp, u64 now_ns)
{
	if (qp->req.sack)
		hrp_late_look(qp, now_ns);
	return hole_resend_known(qp, now_ns) || hole_resend_lost(qp, now_ns);
}

bool hrp_hole_fill_known(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	bool known;

	/* What is noted of packets long ago is void. */
	if (req->sack)
		hrp_sack_trim(req);
	known = hole_is_known(req);
	if (!known && !hole_is_lost(req))
		return false;
	if (known)
		hrp_sack_judge(req, now_ns);
	if (known && req->resent && hrp_rtt_has_passed(req, now_ns) &&
	    hrp_late_is_over(req, req->mark_at, now_ns)) {
		hrp_rtt_back_off(req);
		hrp_sack_retry(req, req->psn_una, 1);
	}
	/* Otherwise there are gaps that are about to be filled. */
	if (!req->rtx_pkts)
		hrp_hole_more(qp, now_ns);
	return true;
}

void hrp_hole_asks(struct hrp_req *req)
{
	if (hole_has_answers(req))
		hrp_sack_asks(req);
}

/* Does a request with an answer begin at @psn? */
static bool hole_is_request(const struct hrp_req *req, u32 psn)
{
	const struct hrp_wqe *w;
	u32 idx;

	for (idx = req->sq.tail; idx != req->sq.head; idx++) {
		w = hrp_sq_wqe(&req->sq, idx);
		if (!w->nr_pkts)
			continue;
		if (!w->started)
			break;
		if (hrp_psn_diff(psn, w->last_psn) <= 0)
			return hrp_wqe_is_answered(w) &&
			       hrp_req_read_begins(w, (psn - w->first_psn) &
						   HRP_PSN_MASK);
	}
	return false;
}

void hrp_hole_lost(struct hrp_req *req, u32 psn, u64 now_ns)
{
	struct hrp_sack *sack = req->sack;

	hrp_ahead_acked(req, psn);
	if (hrp_psn_diff(psn, req->psn) >= 0 || !hole_is_request(req, psn))
		return;
	if (sack->lost && sack->lost_psn == psn &&
	    (sack->lost_due ||
	     !hrp_rtt_has_passed_since(req, sack->lost_at, now_ns)))
		return;
	sack->lost = true;
	sack->lost_due = true;
	sack->late.news = true;
	sack->lost_psn = psn;
	sack->lost_at = hrp_rtt_clock(now_ns);
	req->troubled = 1;
}

/*
 * What of the answer to a READ to ask for again: if the request has been
 * executed, up to the next packet that is kept, and other gaps follow.
 */
static u32 hole_probe_read(struct hrp_req *req, const struct hrp_wqe *w)
{
	u32 offset = (req->psn_una - w->first_psn) & HRP_PSN_MASK;
	u32 psn = req->psn_una, gap = 0, nr_pkts;

	if (req->sack)
		hrp_sack_trim(req);
	nr_pkts = min((offset | ((1u << w->chunk_shift) - 1)) + 1, w->nr_pkts) -
		  offset;
	if (!hrp_req_is_executed(req, w, psn))
		return nr_pkts <= HRP_CWND_MIN || hole_is_lost(req) ?
		       min(nr_pkts, HRP_CWND_MIN) : 0;
	if (!req->sack) {
		req->restart_psn = psn;
		return nr_pkts <= HOLE_PROBE_MAX ? nr_pkts : 0;
	}
	if (hrp_sack_is_active(req)) {
		hrp_sack_retry(req, psn, (req->sack->end - psn) & HRP_PSN_MASK);
		gap = hrp_sack_next(req, &psn, req->sack->end);
	}
	nr_pkts = min3(nr_pkts, gap ?: nr_pkts, HOLE_PROBE_MAX);
	hrp_sack_tried(req, req->psn_una, nr_pkts);
	return nr_pkts;
}

bool hrp_hole_probe(struct hrp_req *req)
{
	const struct hrp_wqe *w = hrp_sq_wqe(&req->sq, req->sq.tail);
	u32 nr_pkts = 1;

	if (w->wqe.opcode == HROCE_WR_READ)
		nr_pkts = hole_probe_read(req, w);
	if (!nr_pkts)
		return false;
	req->rtx_psn = req->psn_una;
	req->rtx_pkts = nr_pkts;
	return true;
}

void hrp_hole_learn(struct hrp_req *req, u32 nr_pkts)
{
	req->keeps = 1;
	/* One gap in a flight that waited nowhere is no limit of the path. */
	if (req->cc_times && !req->cc_queued && nr_pkts == 1)
		req->cc_start = 1;
	req->hole_shift = min_t(u32, ilog2(2 * nr_pkts - 1), HOLE_SHIFT_MAX);
}

u32 hrp_hole_window(const struct hrp_req *req)
{
	/* Nearly all packets before the mark have left the network. */
	u32 arrived = (req->mark_psn - req->psn_una) & HRP_PSN_MASK;

	if (hrp_sack_is_active(req))
		arrived = req->sack->nr - min(req->sack->nr, hrp_ahead_nr(req));
	return min(req->cwnd_pkts + arrived, hrp_req_window_max(req));
}

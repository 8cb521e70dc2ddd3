// SPDX-License-Identifier: GPL-2.0
/*
 * Requester: what happens when no answer comes (IBTA 9.7.6.1.3).
 *
 * Two times begin with each acknowledgement. After the retransmission timeout,
 * measured by rtt.c, packets are resent: first the oldest alone, as a probe,
 * then by going back. After the local ACK timeout, an attribute, a retry is used
 * up, and without one left the oldest request fails.
 */
#include <linux/minmax.h>
#include <linux/types.h>
#include "env.h"
#include "late.h"
#include "pace.h"
#include "psn.h"
#include "req.h"
#include "req_priv.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"

/* Without a local ACK timeout, packets are resent after 4.3 s at the latest. */
#define RTO_MAX_CODE	20

void hrp_req_stop_timers(struct hrp_req *req)
{
	req->timer = HRP_TIMER_OFF;
	if (req->pace) {
		req->pace->own.ready_ns = 0;
		req->pace->read_waits = false;
	}
}

void hrp_req_resends(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	req->resent = 1;
	req->troubled = 1;
	req->mark_at = hrp_rtt_clock(now_ns);
	hrp_set_pending(qp, HRP_PENDING_RETRANSMIT);
	hrp_req_rearm(req, now_ns);
}

void hrp_req_resend_all(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	hrp_count(qp, HROCE_EV_RETRANSMITS);
	hrp_req_rewind(req);
	hrp_late_void(req);
	hrp_req_resends(qp, now_ns);
}

void hrp_req_go_back(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	if (!req->went_back && !req->recovering)
		req->mark_psn = req->cwnd_pkts;
	req->went_back = 1;
	hrp_req_resend_all(qp, now_ns);
}

/* Time from @timer_ns to the next local ACK timeout, or a little longer. */
static u64 req_left_ns(const struct hrp_req *req)
{
	u64 limit_ns = hrp_timeout_ns(req->timeout ?: RTO_MAX_CODE);
	u64 quiet_ns = hrp_req_quiet_ns(req, req->timer_ns);

	if (!req->timeout || !quiet_ns)
		return limit_ns;
	/* Both times were rounded down: not early. */
	return limit_ns - min(quiet_ns, limit_ns) + HRP_QUIET_UNIT_NS;
}

/* When the timer of the protocol expires. */
static u64 req_deadline(const struct hrp_req *req)
{
	u64 wait_ns;

	if (req->timer != HRP_TIMER_ACK)
		return req->timer_ns;
	wait_ns = hrp_rtt_probes(req) ? hrp_rtt_probe_ns(req) :
					hrp_rtt_rto_ns(req);
	if (unlikely(req->troubled))
		wait_ns = min_not_zero(hrp_late_gap_ns(req), wait_ns);
	return req->timer_ns + min(wait_ns, req_left_ns(req));
}

u64 hrp_req_deadline(const struct hrp_req *req)
{
	u64 at_ns = hrp_req_has_deadline(req) ? req_deadline(req) : 0;

	if (unlikely(req->pace))
		at_ns = min_not_zero(at_ns, hrp_pace_at(req->pace));
	return at_ns;
}

void hrp_req_excuse(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	u64 from_ns = now_ns;

	/* Without credit, the requester cannot resend. */
	if (unlikely(req->pace))
		from_ns = max(now_ns, req->pace->own.ready_ns);
	if (req->timer == HRP_TIMER_ACK && now_ns >= req_deadline(req))
		hrp_req_restart(req, from_ns);
}

bool hrp_req_gives_up(const struct hrp_req *req, u64 now_ns)
{
	return (req->timer == HRP_TIMER_ACK || req->timer == HRP_TIMER_ROOM) &&
	       now_ns >= req_deadline(req) && !req->retries &&
	       hrp_req_is_overdue(req, now_ns);
}

/* As far as is known, nothing of a long flight has arrived: its path may be broken. */
static bool req_is_mute(const struct hrp_req *req)
{
	u32 pkts = hrp_req_dist(req) - req->rd_pkts + req->nr_rd_atomic;

	return pkts >= HRP_MUTE_PKTS && !req->recovering &&
	       !hrp_sack_is_active(req) && !hrp_spray_is_on(req);
}

/*
 * Ask for an answer by resending the oldest packet or request alone: a peer that
 * has it acknowledges the duplicate or answers again, and others take it or
 * report a gap. A long answer is not drawn twice so soon.
 */
static bool req_probe(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	req->probed = 1;
	req->troubled = 1;
	/* The next packet is not measured, either, if this time is too short. */
	if (req->backoff || !hrp_rtt_known(req))
		hrp_rtt_back_off(req);
	hrp_req_rearm(req, now_ns);
	if (!hrp_hole_probe(req)) {
		req->timing = 0;
		return false;
	}
	/* The first flight: what is behind the probe tells of a long path. */
	if (hrp_rtt_known(req) ||
	    hrp_psn_diff(req->mark_psn, req->rtx_psn) < req->rtx_pkts)
		req->timing = 0;
	hrp_count(qp, HROCE_EV_PROBES);
	if (hrp_spray_is_near(req) || req_is_mute(req))
		hrp_set_pending(qp, HRP_PENDING_REHASH);
	/* The question may have been lost, or the answer. */
	if (hrp_spray_is_near(req))
		hrp_sack_asks(req);
	hrp_spray_suspect(req, req->psn_una);
	return true;
}

/* There was no answer in time. */
static bool req_expired(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	u32 half = (req->went_back ? req->cwnd_pkts : hrp_req_dist(req)) / 2;
	bool known = hrp_rtt_known(req);

	hrp_loss_begin(req, now_ns);
	if (hrp_req_is_overdue(req, now_ns)) {
		known = true;
		hrp_count(qp, HROCE_EV_TIMEOUTS);
		if (hrp_req_gives_up(req, now_ns)) {
			hrp_req_fail(qp, req->recovering ? HROCE_CAUSE_LOSS :
							   HROCE_CAUSE_TIMEOUT);
			return false;
		}
		req->retries--;
		req->since = hrp_req_clock(now_ns);
		req->probed = 1;
	} else {
		/* Gaps may have become losses meanwhile. */
		if (!req->probed && hrp_hole_more(qp, now_ns))
			return true;
		hrp_count(qp, HROCE_EV_RTO_EXPIRED);
		if (hrp_rtt_probes(req))
			return req_probe(qp, now_ns);
	}
	hrp_rtt_back_off(req);
	hrp_set_pending(qp, HRP_PENDING_REHASH);
	req->keeps = 0;
	req->again = 1;
	hrp_req_go_back(qp, now_ns);
	/* It is no sign of loss if the round trip may take that long. */
	if (known)
		hrp_req_shrink(req, half);
	return true;
}

void hrp_req_moved(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	if ((req->timer != HRP_TIMER_ACK && req->timer != HRP_TIMER_ROOM) ||
	    req->psn_una == req->psn_max)
		return;
	hrp_loss_begin(req, now_ns);
	hrp_req_go_back(qp, now_ns);
}

bool hrp_req_timeout(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	bool ready = false;

	if (qp->state != HRP_RTS && qp->state != HRP_SQD) {
		/* The flush, which stops them, has not run yet. */
		hrp_req_stop_timers(req);
		return false;
	}
	if (unlikely(req->pace)) {
		/* It was or is waiting for credit: the peer is not to blame. */
		if (req->pace->own.ready_ns)
			hrp_req_excuse(qp, now_ns);
		ready = hrp_pace_timeout(req->pace, now_ns);
	}
	if (!hrp_req_has_deadline(req) || now_ns < req_deadline(req))
		return ready;
	if (req->timer == HRP_TIMER_ACK && hrp_late_gap_ns(req)) {
		/* Nothing else has arrived: gaps have become losses. */
		req->sack->late.news = false;
		if (hrp_hole_more(qp, now_ns))
			return true;
		if (now_ns < req_deadline(req))
			return ready;
	}
	if (req->timer == HRP_TIMER_RNR) {
		req->timer = HRP_TIMER_OFF;
		req->went_back = 0;
		req->resent = 0;
		return true;
	}
	if (req->timer == HRP_TIMER_ROOM && !hrp_req_is_overdue(req, now_ns)) {
		req->timer = HRP_TIMER_OFF;
		hrp_req_rearm(req, now_ns);
		return true;
	}
	return req_expired(qp, now_ns) || ready;
}

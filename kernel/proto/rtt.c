// SPDX-License-Identifier: GPL-2.0
/*
 * Round-trip time and retransmission timeout, RFC 6298 in integers. One packet
 * at a time is measured, so there is at most one sample per round trip.
 */
#include <linux/build_bug.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include "cc.h"
#include "late.h"
#include "rtt.h"
#include "spray.h"

/* A resent packet is cheap, but a short stall of a host is not a loss. */
#define RTO_MIN_NS	1000000ull

/*
 * Before the first measurement, a probe is sent after this time. It is longer than
 * most round trips; if one is longer, up to three are sent in vain. The second of
 * RFC 6298 would be longer than most local ACK timeouts.
 */
#define PROBE_FIRST_NS	(1024ull << 10)

/*
 * A queue that loses a probe is full for longer than that: the time is doubled
 * twice. Then it stays for some probes, so that one comes soon after the queue has
 * become shorter.
 */
#define PROBES_DOUBLED	2u
#define PROBES_EQUAL	3u
#define PROBES_FIRST	(PROBES_DOUBLED + PROBES_EQUAL + 1)
#define PROBE_EQUAL_NS	(PROBE_FIRST_NS << PROBES_DOUBLED)

/*
 * Where there are to be several paths, each probe takes another: so many more, and
 * each so many times sooner, as a power of two.
 */
#define PROBES_PATHS	3u

/* An ACK that is held, interrupt moderation, and a busy softirq. */
#define PROBE_SLACK_NS	250000ull

/* Times are not doubled more often. */
#define BACKOFF_MAX	15

/* 8.6 s: later measurements do not overflow. */
#define RTT_MAX		(1u << 23)

/* In units of 1024 ns: shorter round trips mute NAKs for that long, too. */
#define MUTE_MIN	64ull

/* Each limit is four times the one before. */
#define TIME_BINS	(HROCE_EV_RTT_MORE - HROCE_EV_RTT_64US + 1u)
static_assert(HROCE_EV_RECOVERY_MORE - HROCE_EV_RECOVERY_64US + 1 == TIME_BINS);

void hrp_rtt_begin(struct hrp_req *req, u32 psn, u64 now_ns)
{
	req->timing = 1;
	req->mark_psn = psn;
	req->mark_at = hrp_rtt_clock(now_ns);
}

/* Count @us (of 1024 ns) in the histogram that begins with counter @first. */
static void count_time(const struct hrp_qp *qp, enum hroce_stat first, u32 us)
{
	u32 bin = us > 64 ? (ilog2((us - 1) >> 6) + 2) / 2 : 0;

	hrp_count(qp, first + min(bin, TIME_BINS - 1));
}

/* Time since @at, 1 to RTT_MAX. */
static u32 rtt_passed(u32 at, u64 now_ns)
{
	return clamp(hrp_rtt_since(at, now_ns), 1u, RTT_MAX);
}

void hrp_rtt_resent(struct hrp_qp *qp, u64 now_ns)
{
	hrp_cc_measured(qp, rtt_passed(qp->req.mark_at, now_ns), false, now_ns);
}

static __always_inline void rtt_measured(struct hrp_qp *qp, u32 sent_at,
					 bool alone, u64 now_ns)
{
	u32 rtt = rtt_passed(sent_at, now_ns);
	struct hrp_req *req = &qp->req;
	s32 err;

	req->backoff = 0;
	req->eased = 0;
	count_time(qp, HROCE_EV_RTT_64US, rtt);
	if (unlikely(req->spray))
		hrp_spray_look(req);
	hrp_cc_passed(qp, rtt);
	if (alone)
		hrp_cc_measured(qp, rtt, true, now_ns);
	if (!hrp_rtt_known(req)) {
		req->srtt8 = rtt << 3;
		req->rttvar4 = rtt << 1;
		return;
	}
	err = rtt - (req->srtt8 >> 3);
	req->srtt8 += err;
	if (err < 0)
		err = -err;
	req->rttvar4 += err - (req->rttvar4 >> 2);
}

void hrp_rtt_end(struct hrp_qp *qp, u64 now_ns)
{
	qp->req.timing = 0;
	rtt_measured(qp, qp->req.mark_at, qp->req.alone, now_ns);
}

static u32 rtt_sooner(const struct hrp_req *req)
{
	return hrp_spray_is_wished(req) ? PROBES_PATHS : 0;
}

/* How many of the expiries so far have not doubled the time? */
static u32 rtt_equal(const struct hrp_req *req)
{
	u32 doubled = PROBES_DOUBLED + rtt_sooner(req);

	return req->backoff <= doubled ? 0 :
	       min_t(u32, req->backoff - doubled, PROBES_EQUAL);
}

static u64 rtt_first_ns(const struct hrp_req *req)
{
	return PROBE_FIRST_NS >> rtt_sooner(req)
			      << (req->backoff - rtt_equal(req));
}

/*
 * Is the answer, which came so long after the probe, that to the first copy? Behind
 * a queue that is known it may be late.
 */
static bool rtt_was_late(const struct hrp_req *req, u64 passed_ns)
{
	return !req->backoff && !req->went_back && !req->recovering &&
	       !(req->cc_times && req->cc_queued) &&
	       passed_ns < (u64)req->srtt8 << 7;
}

void hrp_rtt_probed(struct hrp_req *req, u64 now_ns)
{
	u64 passed_ns = now_ns - min(req->timer_ns, now_ns);

	if (req->timer != HRP_TIMER_ACK)
		return;
	if (hrp_rtt_known(req)) {
		if (rtt_was_late(req, passed_ns)) {
			req->backoff = req->eased;
			req->eased = 1;
		}
		return;
	}
	/*
	 * The second probe in a row. Only this one: after more of them, some round trips
	 * would never be measured.
	 */
	if (!req->resent && req->backoff == 2)
		req->backoff = 1;
	/* The answer may be that to the first copy, or soon after the probe to that. */
	if (passed_ns > PROBE_EQUAL_NS / 2)
		passed_ns += rtt_equal(req) * PROBE_EQUAL_NS;
	while (rtt_first_ns(req) < 2 * passed_ns &&
	       req->backoff < BACKOFF_MAX)
		req->backoff++;
}

void hrp_rtt_measured(struct hrp_qp *qp, u32 sent_at, bool alone, u64 now_ns)
{
	rtt_measured(qp, sent_at, alone, now_ns);
}

void hrp_loss_end(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	u32 took = (hrp_loss_clock(now_ns) - req->lost_at) & GENMASK(23, 0);

	count_time(qp, HROCE_EV_RECOVERY_64US, took << 5);
	hrp_set_pending(qp, HRP_PENDING_RECOVERED);
	req->lost_at = 0;
}

void hrp_rtt_back_off(struct hrp_req *req)
{
	if (req->backoff < BACKOFF_MAX)
		req->backoff++;
}

/* srtt + 4 * rttvar */
static u64 rtt_bound_ns(const struct hrp_req *req)
{
	return ((u64)req->srtt8 << 7) + ((u64)req->rttvar4 << 10);
}

/*
 * The minimum is for hosts that stall. It is not doubled if there are other paths to
 * try: as far as is known, none of them needs so long.
 */
static u64 rtt_min_ns(const struct hrp_req *req)
{
	return hrp_spray_is_wished(req) ? RTO_MIN_NS :
					  RTO_MIN_NS << req->backoff;
}

/*
 * If probes are not answered, all is resent after twice the time of the next one. The
 * next silence is no longer than the first, if that was long: another path is tried.
 */
u64 hrp_rtt_rto_ns(const struct hrp_req *req)
{
	u32 later = req->backoff ? req->backoff - 1 : 0;

	if (!hrp_rtt_known(req))
		return 2 * rtt_first_ns(req);
	return max(rtt_bound_ns(req) << later, rtt_min_ns(req));
}

bool hrp_rtt_probes(const struct hrp_req *req)
{
	return !req->probed ||
	       (!hrp_rtt_known(req) &&
		req->backoff < PROBES_FIRST + rtt_sooner(req));
}

/*
 * What follows tells of losses, too, so no timer needs to fire more often. And long
 * answers wait in queues, and are not drawn twice for that.
 */
static bool rtt_is_tail(const struct hrp_req *req)
{
	return req->sq.next == req->sq.head && req->rd_pkts <= 1;
}

u64 hrp_rtt_probe_ns(const struct hrp_req *req)
{
	u64 probe_ns;

	if (!hrp_rtt_known(req))
		return rtt_first_ns(req);
	probe_ns = max(((u64)req->srtt8 << 8) + PROBE_SLACK_NS,
		       rtt_bound_ns(req));
	if (!req->troubled && !hrp_spray_is_wished(req) && !rtt_is_tail(req))
		probe_ns = max(probe_ns, RTO_MIN_NS);
	/* Gaps come first. */
	if (!req->backoff)
		probe_ns += hrp_late_wait_ns(req);
	return probe_ns << req->backoff;
}

bool hrp_rtt_has_passed_since(const struct hrp_req *req, u32 at, u64 now_ns)
{
	u64 rtt = (req->srtt8 >> 3) + (req->rttvar4 >> 2);

	return hrp_rtt_known(req) &&
	       hrp_rtt_since(at, now_ns) > max(rtt, MUTE_MIN) << req->backoff;
}

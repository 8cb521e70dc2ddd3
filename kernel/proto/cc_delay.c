// SPDX-License-Identifier: GPL-2.0
/*
 * Control by delay, after Swift (SIGCOMM 2020): packets that wait in a queue of
 * the path make the round trip longer. The window grows until they wait as long
 * as the target says, and shrinks in proportion to what is above that.
 *
 * One packet at a time is timed, so there is about one measurement for each
 * round trip. The shortest of the last two counts: a host that was busy for a
 * moment is no congestion.
 *
 * The delay also judges losses. Where nothing waits, gaps that are far enough
 * apart are no congestion, however many there are. If they are near each other,
 * a smaller window tells whether it avoids them (damage.h). Where others keep the
 * queue full, losses alone count (rival.h).
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "cc.h"
#include "damage.h"
#include "hole.h"
#include "mtu.h"
#include "pace.h"
#include "req_priv.h"
#include "rival.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"

/*
 * Queueing that is accepted, in units of 1024 ns: above what a host needs to
 * notice a packet, below what a switch with little memory can hold.
 */
#define TARGET		100u

/* In addition, this part of the shortest round trip. */
#define LONG		2u

/* For a window of one packet, in addition, as a multiple of it. */
#define SMALL		4u

/*
 * 67 ms: longer round trips are as bad as this one. If the shortest one is so
 * long, no delay is seen, and the window grows until packets are lost.
 */
#define RTT_MAX		HRP_BASE_MAX

/* At first: a short connection does not have to wait for the window to grow. */
#define START_PKTS	64u

/* The window never becomes smaller. */
#define MIN_PKTS	1u

/*
 * The window grows by this part of it, and less if packets wait; by the other
 * one if it is not known whether they do, as it does with "none".
 */
#define GROW_SHIFT	4u
#define GROW_BLIND	6u

/*
 * From this round trip on a path is long: it holds more than its queues do, and the
 * window is sent in the course of a round trip, but a few packets leave at once.
 */
#define FAR		512u
#define SPREAD_PKTS	16u

/*
 * From this one on, it would take long to find the window again that losses made
 * small. It grows by this part after so many measurements in a row that were less
 * than this part of the target, each of them with a larger window than the one
 * before the losses.
 */
#define FARTHER		4096u
#define GROW_FAST	2u
#define CALM_NR		6u
#define CALM_PART	16u

/* The window shrinks by this part of it when a switch has marked packets. */
#define CNP_SHIFT	3u

/*
 * As gaps in percent of packets: more than 3 % without any delay is too much,
 * unless it is known to be damage.
 */
#define NEAR_PKTS	32u

/* Unit of base_at. */
#define PERIOD_SHIFT	32

static u8 period(u64 now_ns)
{
	return now_ns >> PERIOD_SHIFT;
}

/* The window, in units of 2^-8 packets. */
static u32 delay_window(const struct hrp_req *req)
{
	return req->cwnd_pkts << 8 | req->cwnd_rest;
}

static void delay_set_window(struct hrp_req *req, u32 window)
{
	u32 max = hrp_req_window_max(req) << 8;

	window = clamp(window, MIN_PKTS << 8, max);
	req->cwnd_pkts = window >> 8;
	req->cwnd_rest = window & 0xff;
}

static void delay_start(struct hrp_qp *qp)
{
	struct hrp_req *req = &qp->req;

	req->cwnd_pkts = min_t(u32, START_PKTS, req->window_pkts);
	req->cc_start = 1;
	req->sparse = HRP_SPARSE_FIRST;
	if (req->pace)
		req->pace->return_pkts = 0;
}

/* Is there more to send than the window allows? */
static bool delay_is_limit(const struct hrp_req *req)
{
	return req->sq.next != req->sq.head;
}

/* A window does not grow, either, while marks or gaps are a sign of congestion. */
static bool delay_may_grow(const struct hrp_req *req)
{
	return delay_is_limit(req) && !req->cc_told &&
	       !(req->recovering && req->sparse < HRP_SPARSE);
}

/* Are losses damage? With a quarter of the window, as few are congestion. */
static bool delay_test(struct hrp_req *req)
{
	if (!hrp_damage_test(req))
		return false;
	hrp_req_shrink(req, req->cwnd_pkts / 4);
	return true;
}

/* There are too many gaps where delay could tell of congestion, and does not. */
static bool delay_is_puzzled(const struct hrp_qp *qp)
{
	return qp->req.sparse < HRP_SPARSE && qp->base != HRP_BASE_MAX;
}

static bool delay_is_far(const struct hrp_qp *qp)
{
	return qp->base >= FAR && qp->base != HRP_BASE_MAX;
}

/*
 * On a long path it takes many round trips to find the window again that a new
 * period makes small, and doubling it would pass that. So what of it is not in
 * queues is noted, unless it is about to be found, or the path has become longer.
 * Return: true if it is noted.
 */
static bool delay_note_window(struct hrp_qp *qp, u32 rtt)
{
	struct hrp_req *req = &qp->req;

	if (!req->pace || !delay_is_far(qp) || req->cc_start ||
	    qp->base_next >= qp->base + qp->base / 8)
		return false;
	rtt = max_t(u32, rtt, qp->base);
	req->pace->return_pkts = div_u64((u64)req->cwnd_pkts * qp->base, rtt);
	req->pace->return_waits = false;
	return true;
}

/* Does the window wait for a measurement before it returns? */
static bool delay_returns(const struct hrp_req *req)
{
	return req->pace && req->pace->return_pkts;
}

/*
 * A packet that was sent with the small window has waited, or not. One may have
 * been the last to join the queue of before, so that another one is timed.
 */
static void delay_return(struct hrp_req *req, bool waits)
{
	if (waits && req->cc_start && !req->pace->return_waits) {
		req->pace->return_waits = true;
		return;
	}
	if (!waits && req->cc_start)
		delay_set_window(req, req->pace->return_pkts << 8);
	req->pace->return_pkts = 0;
	req->cc_start = 0;
}

/*
 * Learn the round-trip time without queues, anew in each period: the path may
 * have become longer. For that the window becomes small for a round trip, on all
 * queue pairs of this host at once, so that no queue is taken for the path. That
 * of rivals would be. Return: true if the window is to return then, of which what
 * was timed now, sent before, tells nothing.
 */
static bool delay_learn(struct hrp_qp *qp, u32 rtt, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	u8 now = period(now_ns);
	bool returns = false;

	if (qp->base_at != now) {
		bool rivals = hrp_rival_renew(req);
		bool old = hrp_damage_renew(req);

		if (req->pace)
			req->pace->return_pkts = 0;
		if (qp->base != HRP_BASE_MAX && delay_is_limit(req)) {
			if (rivals || !old || !delay_test(req)) {
				returns = !rivals && delay_note_window(qp, rtt);
				delay_set_window(req, delay_window(req) / 4);
			}
			req->cc_start = 1;
		}
		qp->base_at = now;
		if (!rivals)
			qp->base = qp->base_next;
		qp->base_next = HRP_BASE_MAX;
	}
	qp->base_next = min_t(u32, qp->base_next, rtt);
	hrp_cc_set_base(qp, min(qp->base, qp->base_next));
	return returns;
}

/*
 * On a long path the window does not double at once, but by what is acknowledged.
 * While there are gaps, that comes late, and in clumps.
 */
static bool delay_counts(const struct hrp_qp *qp)
{
	return delay_is_far(qp) && !qp->req.troubled;
}

/*
 * What was in flight when the packet at the mark was sent is sent in half of a
 * round trip or less. If it is acknowledged for longer, the path cannot take more
 * at once. Just before the mark there may be others; and a window of less than a
 * packet in 64 us is too small to tell.
 */
static bool delay_is_filled(const struct hrp_qp *qp, u64 now_ns)
{
	u32 passed = hrp_rtt_clock(now_ns) - qp->req.mark_at;

	return passed > qp->base / 8 * 5 && passed < qp->base / 8 * 7 &&
	       qp->req.cwnd_pkts >= qp->base / 64;
}

static void delay_acked(struct hrp_qp *qp, u32 nr_pkts, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	if (!delay_counts(qp) || !req->timing || !delay_may_grow(req) ||
	    delay_returns(req))
		return;
	if (delay_is_filled(qp, now_ns))
		req->cc_start = 0;
	else
		delay_set_window(req, delay_window(req) + (nr_pkts << 8));
}

/* Count measurements with hardly any delay. */
static void delay_note_calm(struct hrp_qp *qp, u32 delay, u32 target)
{
	struct hrp_sack *sack = qp->req.sack;

	if (!sack)
		return;
	if (qp->base < FARTHER || delay > target / CALM_PART ||
	    qp->req.cwnd_pkts <= sack->cut_pkts)
		sack->calm = 0;
	else if (sack->calm < CALM_NR)
		sack->calm++;
}

static u32 delay_grow_shift(const struct hrp_req *req)
{
	return req->sack && req->sack->calm == CALM_NR ? GROW_FAST : GROW_SHIFT;
}

/*
 * One packet per round trip, whoever has how many: that makes windows equal in
 * the long run. If little waits, a part of the window, too.
 */
static void delay_grow(struct hrp_qp *qp, u32 delay, u32 little)
{
	struct hrp_req *req = &qp->req;
	u32 window = delay_window(req);

	if (req->cc_start)
		window += delay_is_far(qp) && req->troubled ?
			  window >> GROW_FAST : window;
	else if (qp->base == HRP_BASE_MAX)
		window += window >> GROW_BLIND;
	else if (delay < little)
		window += (window >> delay_grow_shift(req)) *
			  (little - delay) / little;
	delay_set_window(req, window + (1u << 8));
}

/* By 0.8 of the share that waits too long, at most by half. */
static void delay_shrink(struct hrp_req *req, u32 excess, u32 rtt)
{
	u32 window = delay_window(req);
	u64 part = div_u64((u64)window * excess * 4, rtt * 5);

	delay_set_window(req, window - min_t(u64, part, window / 2));
}

/*
 * Packets may wait longer on long paths, whose delay varies more. They may, too,
 * if the window is small: many flows need a longer queue for their packets, and
 * what is timed is the first packet after an acknowledgement, which finds less
 * of its own flow in the queue if the window is large.
 */
static u32 delay_target(const struct hrp_qp *qp)
{
	return TARGET + qp->base / LONG + SMALL * TARGET / qp->req.cwnd_pkts;
}

/*
 * What one packet finds on its path tells little of the others: while several are
 * used, the window is not doubled any more if it may be all that is needed, one
 * packet for each microsecond of the path.
 */
static bool delay_is_spread(const struct hrp_qp *qp)
{
	return hrp_spray_is_on(&qp->req) && qp->req.cwnd_pkts >= qp->base;
}

/*
 * Do others fill the queue? A switch that marks does not let it become long: where
 * marks come, there are none.
 */
static bool delay_has_rivals(struct hrp_qp *qp, u32 rtt, u32 delay, u32 target)
{
	struct hrp_req *req = &qp->req;

	switch (hrp_rival_look(req, rtt, req->cc_told ? 0 : delay, target)) {
	case HRP_RIVALS_HERE:
		return true;
	case HRP_RIVALS_GONE:
		qp->base = qp->base_next;
		break;
	case HRP_RIVALS_NONE:
		break;
	}
	return false;
}

/*
 * The delay that the window grows by. On a long path, while gaps are filled, the
 * queue fills and drains within a round trip, and every other packet finds it
 * empty. So one that has not waited counts only if the one before has not, either.
 */
static u32 delay_to_grow_by(const struct hrp_qp *qp, u32 delay, u32 little,
			    bool waited)
{
	return waited && delay_is_far(qp) ? max(delay, little) : delay;
}

/*
 * The window follows what has been measured. If @counted, it has followed what was
 * acknowledged already, as long as it grows fast.
 */
static void delay_follow(struct hrp_qp *qp, u32 delay, u32 target, u32 rtt,
			 bool counted, bool waited)
{
	struct hrp_req *req = &qp->req;
	bool over = delay > target;
	bool tests;

	tests = hrp_damage_look(req, over && req->cc_over) ||
		(!over && delay_is_puzzled(qp) && delay_test(req));
	if (req->cc_waits || delay_is_spread(qp))
		req->cc_start = 0;
	if (over && req->cc_over)
		delay_shrink(req, delay - target, rtt);
	if ((!over || req->cc_over) && !tests && delay_may_grow(req) &&
	    !(counted && req->cc_start))
		delay_grow(qp, delay_to_grow_by(qp, delay, target / 2, waited),
			   target / 2);
}

static void delay_measured(struct hrp_qp *qp, u32 rtt, bool first, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	bool counted = delay_counts(qp);
	bool waited = req->cc_waits;
	u32 target, delay;
	bool waits;

	if (first && delay_learn(qp, rtt, now_ns)) {
		/* Marks from now on are of the small window. */
		req->cc_told = 0;
		return;
	}
	rtt = min(rtt, RTT_MAX);
	if (rtt < qp->base)
		return;
	delay = rtt - qp->base;
	target = delay_target(qp);
	waits = delay > target / 2;
	req->cc_queued = waits && req->cc_waits;
	req->cc_waits = waits;
	delay_note_calm(qp, delay, target);
	if (delay_returns(req))
		delay_return(req, waits);
	else if (delay_has_rivals(qp, rtt, delay, target))
		delay_set_window(req, hrp_rival_window(req, delay_window(req),
						       delay_may_grow(req)));
	else
		delay_follow(qp, delay, target, rtt, counted, waited);
	req->cc_over = delay > target;
	req->cc_told = 0;
	if (unlikely(hrp_pace_wants_spread(qp)))
		hrp_set_pending(qp, HRP_PENDING_SPREAD);
}

/* Once in a round trip, however many marks there were. */
static void delay_cnp(struct hrp_req *req)
{
	u32 window = delay_window(req);

	if (req->cc_told)
		return;
	req->cc_told = 1;
	req->cc_start = 0;
	delay_set_window(req, window - (window >> CNP_SHIFT));
}

/*
 * On a long path, what may be sent at once leaves in the course of a round trip, be
 * it a part of the window or, when a gap is filled, all of it: twice as fast as it
 * is acknowledged while the window doubles, and half as fast again else.
 */
static u32 delay_rate(const struct hrp_qp *qp)
{
	const struct hrp_req *req = &qp->req;
	u64 bits;

	if (!delay_is_far(qp) || req->cwnd_pkts < SPREAD_PKTS ||
	    !hrp_rtt_known(req))
		return 0;
	bits = (u64)req->cwnd_pkts * hrp_pace_max_cost(hrp_mtu_max(qp)) * 8;
	bits = req->cc_start ? bits * 2 : bits + bits / 2;
	/* Bits in a millisecond; srtt8 is in units of 128 ns. */
	return min_t(u64, div_u64(bits * 7813, req->srtt8), U32_MAX);
}

static u32 delay_near_pkts(const struct hrp_req *req)
{
	u32 near_pkts = hrp_damage_near(req) ?: hrp_cc_none.near_pkts(req);

	if (hrp_rival_is_here(req))
		return HRP_PSN_MASK;
	return req->cc_queued ? near_pkts : min(near_pkts, NEAR_PKTS);
}

const struct hrp_cc_ops hrp_cc_delay = {
	.name = "delay",
	.start = delay_start,
	.acked = delay_acked,
	.measured = delay_measured,
	.cnp = delay_cnp,
	.rate = delay_rate,
	.near_pkts = delay_near_pkts,
};

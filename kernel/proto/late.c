// SPDX-License-Identifier: GPL-2.0
/*
 * Packets that come late, as others have overtaken them.
 *
 * Networks that keep no order make gaps that close by themselves. To resend what
 * is missing at once costs bandwidth, and a smaller window, for nothing. So a
 * requester waits with that as long as packets come late. RACK (RFC 8985) does the
 * same for TCP, and bounds the time by a round trip; here it is measured.
 *
 * It is known when a packet was found missing. If it arrives without being resent,
 * the time that has passed is how late it was. If it was resent, the peer tells
 * that it came twice (sack.h), or the answer comes twice: then it was late, too.
 *
 * As long as two thirds of what is missing come late, gaps have to be as old
 * as the latest of the last packets, and a quarter more. If it is less, waiting
 * would delay what is lost.
 */
#include <linux/minmax.h>
#include <linux/string.h>
#include "damage.h"
#include "hole.h"
#include "late.h"
#include "psn.h"
#include "req_priv.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"
#include "table.h"

/* So many missing packets are a round. */
#define ROUND_PKTS	128u

/* Before the end of a round, so many late ones are enough to learn from. */
#define FEW_PKTS	16u

/*
 * All times in units of 1024 ns. Waiting does not take longer, or a round trip;
 * nor than this part of the local ACK timeout.
 */
#define WAIT_MAX	1000u
#define TIMEOUT_PART	4u

/* Timers for gaps are not shorter. */
#define WAIT_LEAST	64u

/* Late packets are worth noticing up to this time, at first. */
#define WAIT_FIRST	256u

/* So many round trips may a packet be late by another path, until it is known. */
#define EXPECTED	3u

/* Marks are so far apart, as a part of the time that they are for. */
#define STEPS		8u
static_assert(HRP_LATE_MARKS == 2 * STEPS);

/* A mark that is so old is void, before its PSN could be used again. */
#define MARK_MAX	(1u << 20)

static u32 late_srtt(const struct hrp_req *req)
{
	return req->srtt8 >> 3;
}

static const struct hrp_late_mark *mark_at(const struct hrp_late *late, u32 age)
{
	return &late->mark[(late->newest - age) % HRP_LATE_MARKS];
}

/* Time between marks. */
static u32 late_step(const struct hrp_req *req)
{
	return max(max(req->sack->late.wait, late_srtt(req)), WAIT_FIRST) / STEPS;
}

static u32 late_wait_max(const struct hrp_req *req)
{
	u32 wait = max(WAIT_MAX, late_srtt(req));

	if (!req->timeout)
		return wait;
	return min_t(u64, wait, hrp_rtt_clock(hrp_timeout_ns(req->timeout)) /
				TIMEOUT_PART);
}

static void late_set_wait(struct hrp_req *req, u32 most)
{
	req->sack->late.wait = min(most + most / 4 + late_step(req),
				   late_wait_max(req));
}

/* Gaps were no losses: the window is as if there had been none. */
static void late_undo(struct hrp_req *req)
{
	struct hrp_late *late = &req->sack->late;

	req->sparse = HRP_SPARSE_FIRST;
	hrp_damage_start(req);
	req->cwnd_pkts = max(req->cwnd_pkts,
			     min(late->undo_pkts, hrp_req_window_max(req)));
	late->undo_pkts = 0;
}

/*
 * Is most of what is missing only late, so that waiting is worth it? Without
 * waiting, what is late was resent, too.
 */
static bool late_is_common(const struct hrp_late *late)
{
	u32 missing = late->lost + (late->wait ? late->late : 0);

	return late->late * 3u >= missing * 2u;
}

static void late_end_round(struct hrp_req *req)
{
	struct hrp_late *late = &req->sack->late;

	if (late->late + late->lost < ROUND_PKTS)
		return;
	if (late_is_common(late))
		late_set_wait(req, late->most);
	else if (late->wait < 2 * late_step(req))
		late->wait = 0;
	else
		late->wait /= 2;
	late->late = 0;
	late->lost = 0;
	late->most = 0;
	late->undo_pkts = 0;
}

/* When @psn was found missing; NULL: later than at the last mark. */
static const struct hrp_late_mark *late_mark_of(const struct hrp_late *late,
						u32 psn)
{
	const struct hrp_late_mark *mark = NULL;
	u32 i;

	for (i = 0; i < late->marks; i++) {
		if (hrp_psn_diff(mark_at(late, i)->psn, psn) <= 0)
			break;
		mark = mark_at(late, i);
	}
	return mark;
}

/* @nr packets came late that were found missing at @at. */
static void late_learn(struct hrp_qp *qp, u32 at, u32 nr, u64 now_ns)
{
	struct hrp_late *late = &qp->req.sack->late;
	u32 passed = hrp_rtt_since(at, now_ns);
	struct hrp_req *req = &qp->req;

	/* So late that it was right to resend it, as if it had been lost. */
	if (passed > late_wait_max(req))
		return;
	hroce_stats_add(qp->stats, HROCE_EV_LATE, nr);
	late->late = min(late->late + nr, ROUND_PKTS);
	late->most = max(late->most, passed);
	if (passed > late->wait && late->late >= FEW_PKTS &&
	    late_is_common(late)) {
		late_set_wait(req, passed);
		late_undo(req);
	}
	late_end_round(req);
}

void hrp_late_look(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	struct hrp_late *late = &req->sack->late;
	const struct hrp_late_mark *mark = mark_at(late, 0), *came;
	u32 passed;

	if (late->came) {
		came = late_mark_of(late, late->came_psn);
		if (came)
			late_learn(qp, came->at, late->came, now_ns);
		late->came = 0;
	}
	if (late->marks) {
		passed = hrp_rtt_since(mark->at, now_ns);
		if (passed > MARK_MAX)
			late->marks = 0;
		else if (passed < late_step(req) ||
			 hrp_psn_diff(req->sack->end, mark->psn) <= 0)
			return;
	}
	late->newest = (late->newest + 1) % HRP_LATE_MARKS;
	late->marks = min(late->marks + 1u, HRP_LATE_MARKS);
	late->mark[late->newest] = (struct hrp_late_mark) {
		.psn = req->sack->end,
		.at = hrp_rtt_clock(now_ns),
	};
}

bool hrp_late_is_over(const struct hrp_req *req, u32 at, u64 now_ns)
{
	return hrp_rtt_since(at, now_ns) >= req->sack->late.wait;
}

/* Has nothing arrived for so long that all gaps are losses? */
static bool late_is_quiet(const struct hrp_req *req, u64 now_ns)
{
	return req->timer == HRP_TIMER_ACK &&
	       hrp_late_is_over(req, hrp_rtt_clock(req->timer_ns), now_ns);
}

u32 hrp_late_end(const struct hrp_req *req, u64 now_ns)
{
	const struct hrp_late *late = &req->sack->late;
	u32 i;

	if (!late->wait || (hrp_spray_is_on(req) && late_is_quiet(req, now_ns)))
		return req->sack->end;
	for (i = 0; i < late->marks; i++) {
		if (hrp_late_is_over(req, mark_at(late, i)->at, now_ns))
			return mark_at(late, i)->psn;
	}
	return req->psn_una;
}

void hrp_late_came(struct hrp_late *late, u32 psn, u32 nr)
{
	if (!late->marks || hrp_psn_diff(mark_at(late, 0)->psn, psn) <= 0)
		return;
	if (!late->came || hrp_psn_diff(psn, late->came_psn) < 0)
		late->came_psn = psn;
	late->came += nr;
}

/* Index of a packet that was resent; HRP_LATE_TRIES: it is not noted. */
static u32 late_find(const struct hrp_late *late, u32 psn)
{
	u32 i;

	for (i = 0; i < HRP_LATE_TRIES; i++) {
		if (late->try[i].used && late->try[i].psn == psn)
			break;
	}
	return i;
}

bool hrp_late_knows(const struct hrp_late *late, u32 psn)
{
	return late_find(late, psn) < HRP_LATE_TRIES;
}

void hrp_late_doubts(struct hrp_req *req, u32 psn, u32 cwnd_pkts)
{
	req->sack->late.back_psn = psn;
	req->sack->late.back_end = req->psn_una;
	req->sack->late.back_pkts = cwnd_pkts;
}

/* A packet that was resent after silence has come twice: nothing was lost. */
static void late_back(struct hrp_req *req, u32 psn)
{
	struct hrp_late *late = &req->sack->late;
	u32 cwnd_pkts = min(late->back_pkts, hrp_req_window_max(req));

	if (hrp_psn_diff(psn, late->back_psn) >= 0 &&
	    hrp_psn_diff(psn, late->back_end) < 0 &&
	    !hrp_damage_is_tested(req))
		req->cwnd_pkts = max(req->cwnd_pkts, cwnd_pkts);
	late->back_pkts = 0;
}

void hrp_late_again(struct hrp_qp *qp, u32 psn, u32 nr, u64 now_ns)
{
	struct hrp_late *late = &qp->req.sack->late;
	u32 i = late_find(late, psn);

	if (late->back_pkts)
		late_back(&qp->req, psn);
	if (i == HRP_LATE_TRIES)
		return;
	late->try[i].used = 0;
	if (!late->try[i].again)
		late_learn(qp, late->try[i].at, nr ?: late->try[i].more + 1u,
			   now_ns);
}

void hrp_late_resent(struct hrp_req *req, u32 psn, u32 nr, u64 now_ns)
{
	struct hrp_late *late = &req->sack->late;
	struct hrp_late_try *try = &late->try[late->next_try];
	const struct hrp_late_mark *mark;
	u32 i = late_find(late, psn);

	if (i < HRP_LATE_TRIES)
		late->try[i].again = 1;
	if (hrp_sack_is_resent(req, psn))
		return;
	/* If there are too many, some of them tell of all. */
	if (try->used && hrp_rtt_since(try->at, now_ns) <= 2 * late_wait_max(req))
		return;
	mark = late_mark_of(late, psn);
	*try = (struct hrp_late_try) {
		.psn = psn,
		.used = 1,
		.more = nr - 1,
		.at = mark ? mark->at : hrp_rtt_clock(now_ns),
	};
	late->next_try = (late->next_try + 1) % HRP_LATE_TRIES;
	late->lost = min(late->lost + 1u, ROUND_PKTS);
	late_end_round(req);
}

void hrp_late_shrinks(struct hrp_req *req)
{
	if (req->sack)
		req->sack->late.undo_pkts = max(req->sack->late.undo_pkts,
						req->cwnd_pkts);
}

void hrp_late_void(struct hrp_req *req)
{
	if (!req->sack)
		return;
	req->sack->late.marks = 0;
	req->sack->late.came = 0;
	req->sack->late.back_pkts = 0;
	memset(req->sack->late.try, 0, sizeof(req->sack->late.try));
}

void hrp_late_expect(struct hrp_req *req)
{
	struct hrp_late *late = &req->sack->late;

	late->wait = min(max(late->wait, EXPECTED * late_srtt(req)),
			 late_wait_max(req));
}

u64 hrp_late_gap_ns(const struct hrp_req *req)
{
	const struct hrp_sack *sack = req->sack;

	if (!hrp_spray_is_on(req) || !sack->late.news || !sack->late.wait ||
	    !(hrp_sack_is_active(req) || (sack->lost && sack->lost_due)))
		return 0;
	return (u64)max(sack->late.wait + 1, WAIT_LEAST) << 10;
}

u64 hrp_late_wait_ns(const struct hrp_req *req)
{
	return hrp_sack_is_active(req) ? (u64)req->sack->late.wait << 10 : 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Others that fill the queue until packets are dropped, as TCP does.
 *
 * Who keeps the delay short beside them gets nothing if the queue is long: it
 * shrinks, and they take what it leaves. So where round trips stay far too long,
 * whatever the window, a probe asks who causes that: the window becomes small for
 * some round trips, on all queue pairs of this host at once. If the queue stays,
 * it is that of others.
 *
 * From then on the window is that of Reno (RFC 5681), but for the share that a
 * loss takes: a packet more in a round trip, and less when one is lost. Until the
 * first loss it grows faster, as that of a connection that has just begun. Who
 * fills the queue cannot see whether others still do: so probes go on. Copa (NSDI
 * 2018) has such a mode, too.
 *
 * The state is in struct hrp_sack: there are rivals for those only whose peer
 * tells which packets it keeps, as losses cost others too much. It is asked for
 * that when round trips are far too long, and the window has become small.
 */
#include <linux/minmax.h>
#include "qp.h"
#include "rival.h"
#include "sack.h"

/* Round trips with more than so many times the accepted delay are far too long. */
#define FAR		2u

/* After so many of them, without a short one in between, a probe is due. */
#define FAR_TRIPS	16u

/*
 * A probe lasts for so many round trips: the first packet was sent before it,
 * those of two more wait behind what was, as others may have begun later, and
 * the last one tells.
 */
#define PROBE_TRIPS	4u

/* Who has a window of so many packets, or less, gets little. */
#define FEW_PKTS	4u

/*
 * What waits is ours if a quarter of the window makes round trips so many times
 * shorter: before rivals are noticed, and after.
 */
#define ENTER		2u
#define LEAVE		3u

/* A queue that is not full after so many periods is none: the path is longer. */
#define CALM_PERIODS	4u

/* Until the first loss the window grows by this part of it. */
#define GAIN_SHIFT	4u

static enum hrp_rivals rival_leave(struct hrp_rival *rival)
{
	*rival = (struct hrp_rival) { };
	return HRP_RIVALS_GONE;
}

void hrp_rival_start(struct hrp_req *req)
{
	if (req->sack)
		rival_leave(&req->sack->rival);
}

static enum hrp_rivals rival_stay(struct hrp_rival *rival)
{
	if (!rival->here) {
		rival->here = true;
		rival->gains = true;
		rival->window = 0;
	}
	rival->far = FAR_TRIPS;
	return HRP_RIVALS_HERE;
}

/*
 * A round trip during a probe. If it is much shorter than before, most of what
 * waited was from queue pairs that probe, too. Or others have lost packets at the
 * same time: that will not happen twice.
 */
static enum hrp_rivals rival_probe(struct hrp_rival *rival, u32 rtt, bool is_short)
{
	if (is_short || rtt * (rival->here ? LEAVE : ENTER) <= rival->rtt)
		rival->ours = true;
	if (--rival->probe)
		return rival->here ? HRP_RIVALS_HERE : HRP_RIVALS_NONE;
	if (!rival->ours)
		return rival_stay(rival);
	if (!rival->here || rival->far < FAR_TRIPS)
		return rival_leave(rival);
	rival->far = 0;
	return HRP_RIVALS_HERE;
}

static void rival_count(struct hrp_rival *rival, bool is_short, bool is_far)
{
	if (is_short)
		rival->far = 0;
	else if (is_far)
		rival->far = min(rival->far + 1u, FAR_TRIPS);
}

enum hrp_rivals hrp_rival_look(struct hrp_req *req, u32 rtt, u32 delay,
			       u32 target)
{
	bool is_short = delay <= target, is_far = delay > FAR * target;
	struct hrp_rival *rival;

	if (is_far && req->cwnd_pkts <= FEW_PKTS)
		hrp_sack_asks(req);
	if (!req->sack)
		return HRP_RIVALS_NONE;
	rival = &req->sack->rival;
	if (rival->probe)
		return rival_probe(rival, rtt, is_short);
	rival->rtt = rtt;
	if (!rival->here)
		rival_count(rival, is_short, is_far);
	return rival->here ? HRP_RIVALS_HERE : HRP_RIVALS_NONE;
}

bool hrp_rival_renew(struct hrp_req *req)
{
	struct hrp_rival *rival;

	if (!req->sack)
		return false;
	rival = &req->sack->rival;
	if (rival->here && rival->calm++ == CALM_PERIODS)
		rival_leave(rival);
	if (!rival->here && rival->far < FAR_TRIPS)
		return false;
	rival->ours = false;
	rival->probe = PROBE_TRIPS;
	rival->window = max_t(u32, rival->window, req->cwnd_pkts);
	return true;
}

u32 hrp_rival_window(struct hrp_req *req, u32 window, bool may_grow)
{
	struct hrp_rival *rival = &req->sack->rival;

	if (rival->probe)
		return window;
	if (window >> 8 < rival->window)
		return min(2 * window, (u32)rival->window << 8);
	rival->window = 0;
	if (!may_grow)
		return window;
	if (rival->gains)
		window += window >> GAIN_SHIFT;
	return window + (1u << 8);
}

void hrp_rival_lost(struct hrp_req *req)
{
	if (!hrp_rival_is_here(req))
		return;
	req->sack->rival.calm = 0;
	req->sack->rival.gains = false;
	/* It grows from where it is. */
	if (!req->sack->rival.probe)
		req->sack->rival.window = 0;
}

bool hrp_rival_is_here(const struct hrp_req *req)
{
	return req->sack && req->sack->rival.here;
}

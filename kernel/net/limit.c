// SPDX-License-Identifier: GPL-2.0
/*
 * Limits of what is queued below a path, as the small queues of TCP: one for
 * requests, and one for answers.
 *
 * Others wait behind what is queued. So a path queues what it drains in a
 * millisecond. It measures that when its sender pauses: the time from full to
 * half. The rates of all paths add up to that of the link, and so do these
 * parts of their limits. On top, each path has a spare that does not depend on
 * the rate. Otherwise a path that has little would stay slow. The paths that
 * wait share the spare: its sum is bounded, too, except that a path may always
 * send a packet.
 *
 * The link is asked when a sender pauses or goes on, not for each frame.
 *
 * A limit never stops a sender for good. Below it a packet of any length may be
 * sent, and the last frame that is freed leaves less than any limit. Some
 * drivers free frames with the next transmission only: if nothing is freed for
 * LIMIT_LATE_NS, a packet may be sent, up to LIMIT_MAX.
 */
#include <linux/minmax.h>
#include <linux/time64.h>
#include "limit.h"

/* In units. */
#define LIMIT_MAX	1024u
#define LIMIT_MIN	2u	/* half of it is one */
#define LIMIT_FIRST	64u	/* without a measurement, of all that wait */
#define LIMIT_SPARE	20u
#define LIMIT_SPARE_ALL	256u	/* of all that wait */

/* A measurement counts for this long, in jiffies. */
#define LIMIT_TIME	(HZ / 10 + 1)

/* Time in which a path drains its limit: 2^LIMIT_TIME_SHIFT ns. */
#define LIMIT_TIME_SHIFT	20

/* Nothing is freed for this long: it is time for another transmission. */
#define LIMIT_LATE_NS	(100 * NSEC_PER_MSEC)

/* Resolution of measurements: 2^LIMIT_TICK_SHIFT ns. */
#define LIMIT_TICK_SHIFT	10

static void limit_set(struct hroce_limit *limit, u32 units)
{
	WRITE_ONCE(limit->units, clamp(units, LIMIT_MIN, LIMIT_MAX));
	WRITE_ONCE(limit->stale_at, jiffies + LIMIT_TIME);
}

void hroce_limit_forget(struct hroce_limit *limit, int waiting)
{
	limit_set(limit, LIMIT_FIRST / (1 + max(waiting, 0)));
}

void hroce_limit_full(struct hroce_limit *limit, u32 units, u64 now_ns)
{
	WRITE_ONCE(limit->full_units, units);
	WRITE_ONCE(limit->full_ns, now_ns);
	WRITE_ONCE(limit->late_ns, now_ns + LIMIT_LATE_NS);
}

/* Units that leave in the time of the limit. */
static u32 limit_rate(const struct hroce_limit *limit, u32 units, u64 now_ns)
{
	u64 ticks = (now_ns - READ_ONCE(limit->full_ns)) >> LIMIT_TICK_SHIFT;
	u32 full = READ_ONCE(limit->full_units);
	u32 drained = full > units ? full - units : 0;

	/* A packet may have been sent above the limit meanwhile. */
	drained = max(drained, hroce_limit_low(limit));
	return (drained << (LIMIT_TIME_SHIFT - LIMIT_TICK_SHIFT)) /
	       (u32)clamp_t(u64, ticks, 1, U32_MAX);
}

void hroce_limit_drained(struct hroce_limit *limit, u32 units, int waiting,
			 u64 now_ns)
{
	u32 spare = min(LIMIT_SPARE, LIMIT_SPARE_ALL / max(waiting, 1));
	u32 rate = limit_rate(limit, units, now_ns);

	/* A burst that passes at once is no rate: rise in steps. */
	limit_set(limit, min(rate + spare, 2 * hroce_limit_high(limit)));
}

bool hroce_limit_late(struct hroce_limit *limit, u32 units, u64 now_ns)
{
	u64 full_ns = READ_ONCE(limit->full_ns);
	u64 late_ns = READ_ONCE(limit->late_ns);

	if (now_ns < late_ns)
		return false;
	if (units < READ_ONCE(limit->full_units)) {
		hroce_limit_full(limit, units, now_ns);
		return false;
	}
	/* Not so soon again: it may be a slow link, which many crowd. */
	WRITE_ONCE(limit->late_ns, now_ns + 2 * (late_ns - full_ns));
	return units < LIMIT_MAX;
}

/* SPDX-License-Identifier: GPL-2.0 */
/* How much of a path may be queued below: the limit follows the rate. */
#ifndef HROCE_LIMIT_H
#define HROCE_LIMIT_H

#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/types.h>

/* Bytes; all sizes are in this unit. */
#define HROCE_LIMIT_UNIT	1024u

/**
 * struct hroce_limit - limit of one path, for requests or answers
 * @units: the limit
 * @full_units: queued when the sender paused
 * @full_ns: time of that, in ns
 * @late_ns: time at which frames should have been freed
 * @stale_at: @units counts until then, in jiffies
 */
struct hroce_limit {
	u32 units;
	u32 full_units;
	u64 full_ns;
	u64 late_ns;
	unsigned long stale_at;
};

/**
 * hroce_limit_forget - nothing is known about the rate
 * @limit: limit
 * @waiting: sides of paths of the link whose senders pause
 *
 * Context: any, as for all functions here. Writers may race: each value is one
 * that one of them meant.
 */
void hroce_limit_forget(struct hroce_limit *limit, int waiting);

/**
 * hroce_limit_is_stale - is it time for hroce_limit_forget()?
 * @limit: limit
 *
 * Return: true if there has been no measurement for a tenth of a second.
 */
static inline bool hroce_limit_is_stale(const struct hroce_limit *limit)
{
	return time_after_eq(jiffies, READ_ONCE(limit->stale_at));
}

/* The sender pauses at this level and goes on below hroce_limit_low(). */
static inline u32 hroce_limit_high(const struct hroce_limit *limit)
{
	return READ_ONCE(limit->units);
}

static inline u32 hroce_limit_low(const struct hroce_limit *limit)
{
	return READ_ONCE(limit->units) / 2;
}

/**
 * hroce_limit_full - the sender pauses: begin to measure
 * @limit: limit
 * @units: queued
 * @now_ns: time
 */
void hroce_limit_full(struct hroce_limit *limit, u32 units, u64 now_ns);

/**
 * hroce_limit_drained - the sender may go on: end the measurement
 * @limit: limit
 * @units: still queued
 * @waiting: sides of paths of the link whose senders pause, this one included
 * @now_ns: time
 */
void hroce_limit_drained(struct hroce_limit *limit, u32 units, int waiting,
			 u64 now_ns);

/**
 * hroce_limit_late - the sender still pauses
 * @limit: limit
 * @units: still queued
 * @now_ns: time
 *
 * To be called again at @limit->late_ns.
 * Return: true if nothing has been freed for so long that a packet may be sent
 * above the limit.
 */
bool hroce_limit_late(struct hroce_limit *limit, u32 units, u64 now_ns);

#endif /* HROCE_LIMIT_H */

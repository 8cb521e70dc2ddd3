/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics: one set per link, and per rdma_counter of queue pairs. */
#ifndef HROCE_STATS_H
#define HROCE_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include "drop.h"

/**
 * struct hroce_stats - counters of one CPU
 * @v: counters, by enum hroce_stat
 */
struct hroce_stats {
	u64 v[HROCE_STAT_NR];
};

/**
 * hroce_stats_add - add to a counter
 * @stats: set
 * @stat: counter
 * @n: amount
 *
 * Context: any.
 */
static inline void hroce_stats_add(struct hroce_stats __percpu *stats,
				   enum hroce_stat stat, u64 n)
{
	this_cpu_add(stats->v[stat], n);
}

/**
 * hroce_stats_gather - add the counters of all CPUs to values
 * @stats: set
 * @values: HROCE_STAT_NR of them; increased by the sums
 *
 * Context: any.
 */
void hroce_stats_gather(const struct hroce_stats __percpu *stats, u64 *values);

/**
 * hroce_stats_sum - sum the counters of all CPUs
 * @stats: set
 * @values: set to the sums, HROCE_STAT_NR of them
 *
 * Context: any.
 */
void hroce_stats_sum(const struct hroce_stats __percpu *stats, u64 *values);

/**
 * hroce_stats_get - sum a counter of all CPUs
 * @stats: set
 * @stat: counter
 *
 * Context: any.
 * Return: the sum.
 */
u64 hroce_stats_get(const struct hroce_stats __percpu *stats,
		    enum hroce_stat stat);

/**
 * hroce_stats_alias - compute the counters that have a second name
 * @values: counters, HROCE_STAT_NR of them; extended to HROCE_VALUE_NR
 *
 * Context: any.
 */
void hroce_stats_alias(u64 *values);

#endif /* HROCE_STATS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics: each link has a set, and each rdma_counter of queue pairs. */
#ifndef HROCE_STATS_H
#define HROCE_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include "drop.h"

/**
 * struct hroce_stats - what one CPU has counted
 * @v: by enum hroce_stat
 */
struct hroce_stats {
	u64 v[HROCE_STAT_NR];
};

/**
 * hroce_stats_add - count
 * @stats: set
 * @stat: which one of it
 * @n: how many
 *
 * Context: any.
 */
static inline void hroce_stats_add(struct hroce_stats __percpu *stats,
				   enum hroce_stat stat, u64 n)
{
	this_cpu_add(stats->v[stat], n);
}

/**
 * hroce_stats_sum - what all CPUs have counted
 * @stats: set
 * @values: the sums, HROCE_STAT_NR of them
 *
 * Context: any.
 */
void hroce_stats_sum(const struct hroce_stats __percpu *stats, u64 *values);

#endif /* HROCE_STATS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of counters: each link has one, and each counter of queue pairs. */
#ifndef HROCE_COUNTERS_H
#define HROCE_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include "drop.h"

/**
 * struct hroce_counters - what one CPU has counted
 * @v: by enum hroce_count
 */
struct hroce_counters {
	u64 v[HROCE_COUNT_NR];
};

/**
 * hroce_counters_add - count
 * @counters: set
 * @what: which counter
 * @n: how many
 *
 * Context: any.
 */
static inline void hroce_counters_add(struct hroce_counters __percpu *counters,
				      enum hroce_count what, u64 n)
{
	this_cpu_add(counters->v[what], n);
}

/**
 * hroce_counters_sum - what all CPUs have counted
 * @counters: set
 * @values: the sums, HROCE_COUNT_NR of them
 *
 * Context: any.
 */
void hroce_counters_sum(const struct hroce_counters __percpu *counters,
			u64 *values);

#endif /* HROCE_COUNTERS_H */

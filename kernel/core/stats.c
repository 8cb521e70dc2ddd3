// SPDX-License-Identifier: GPL-2.0
/* Statistics of all CPUs, see stats.h. */
#include <linux/cpumask.h>
#include <linux/string.h>
#include "stats.h"

void hroce_stats_sum(const struct hroce_stats __percpu *stats, u64 *values)
{
	int cpu, i;

	memset(values, 0, sizeof(*values) * HROCE_STAT_NR);
	for_each_possible_cpu(cpu) {
		const struct hroce_stats *s = per_cpu_ptr(stats, cpu);

		for (i = 0; i < HROCE_STAT_NR; i++)
			values[i] += READ_ONCE(s->v[i]);
	}
}

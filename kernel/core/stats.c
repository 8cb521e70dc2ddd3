// SPDX-License-Identifier: GPL-2.0
/* Statistics of all CPUs, see stats.h. */
#include <linux/cpumask.h>
#include <linux/string.h>
#include "stats.h"

void hroce_stats_gather(const struct hroce_stats __percpu *stats, u64 *values)
{
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct hroce_stats *s = per_cpu_ptr(stats, cpu);

		for (i = 0; i < HROCE_STAT_NR; i++)
			values[i] += READ_ONCE(s->v[i]);
	}
}

void hroce_stats_sum(const struct hroce_stats __percpu *stats, u64 *values)
{
	memset(values, 0, sizeof(*values) * HROCE_STAT_NR);
	hroce_stats_gather(stats, values);
}

u64 hroce_stats_get(const struct hroce_stats __percpu *stats,
		    enum hroce_stat stat)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(stats, cpu)->v[stat]);
	return sum;
}

void hroce_stats_alias(u64 *values)
{
	static const struct {
		enum hroce_stat a, b;
	} parts[] = {
#define HROCE_ALIAS_PARTS(name, str, a, b) { HROCE_##a, HROCE_##b },
		HROCE_ALIASES(HROCE_ALIAS_PARTS)
#undef HROCE_ALIAS_PARTS
	};
	u64 *alias = values + HROCE_STAT_NR;
	int i;

	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		alias[i] = values[parts[i].a];
		if (parts[i].b != parts[i].a)
			alias[i] += values[parts[i].b];
	}
}

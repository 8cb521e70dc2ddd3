// SPDX-License-Identifier: GPL-2.0
/* Sets of counters, see counters.h. */
#include <linux/cpumask.h>
#include <linux/string.h>
#include "counters.h"

void hroce_counters_sum(const struct hroce_counters __percpu *counters,
			u64 *values)
{
	int cpu, i;

	memset(values, 0, sizeof(*values) * HROCE_COUNT_NR);
	for_each_possible_cpu(cpu) {
		const struct hroce_counters *c = per_cpu_ptr(counters, cpu);

		for (i = 0; i < HROCE_COUNT_NR; i++)
			values[i] += READ_ONCE(c->v[i]);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Counters: one list in drop.h, counted per CPU by all layers, summed here.
 */
#include "stats.h"
#include "verbs/device.h"

static const struct rdma_stat_desc stats_descs[] = {
#define HROCE_STAT_DESC(count, str, proves) { .name = str },
	HROCE_DROPS(HROCE_STAT_DESC)
	HROCE_EVENTS(HROCE_STAT_DESC)
#undef HROCE_STAT_DESC
};

static_assert(ARRAY_SIZE(stats_descs) == HROCE_COUNT_NR);

struct rdma_hw_stats *hroce_stats_alloc(struct ib_device *ibdev, u32 port_num)
{
	return rdma_alloc_hw_stats_struct(stats_descs, ARRAY_SIZE(stats_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

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

int hroce_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		    u32 port_num, int index)
{
	const struct hroce_port *port = &to_hdev(ibdev)->port;

	/* The counters of the device as a whole: there are none. */
	if (!port_num)
		return -EINVAL;

	hroce_counters_sum(port->counters, stats->value);
	return HROCE_COUNT_NR;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a link. drop.h lists them; all layers count.
 */
#include "device.h"
#include "ops.h"

static const struct rdma_stat_desc stats_descs[] = {
#define HROCE_STAT_DESC(count, str, proves) { .name = str },
	HROCE_DROPS(HROCE_STAT_DESC)
	HROCE_EVENTS(HROCE_STAT_DESC)
#undef HROCE_STAT_DESC
#define HROCE_ALIAS_DESC(name_, str, a, b) { .name = str },
	HROCE_ALIASES(HROCE_ALIAS_DESC)
#undef HROCE_ALIAS_DESC
};

static_assert(ARRAY_SIZE(stats_descs) == HROCE_VALUE_NR);

struct rdma_hw_stats *hroce_hw_stats_alloc(struct ib_device *ibdev,
					   u32 port_num)
{
	return rdma_alloc_hw_stats_struct(stats_descs, ARRAY_SIZE(stats_descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int hroce_hw_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port_num, int index)
{
	const struct hroce_port *port = &to_hdev(ibdev)->port;

	/* Only the port has counters, not the device. */
	if (!port_num)
		return -EINVAL;

	hroce_stats_sum(port->stats, stats->value);
	hroce_stats_alias(stats->value);
	return HROCE_VALUE_NR;
}

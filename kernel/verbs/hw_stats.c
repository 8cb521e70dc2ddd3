// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of a link. drop.h lists them; all layers count. Where a netdev below
 * counts pause frames, these follow.
 */
#include <linux/bitmap.h>
#include <linux/rtnetlink.h>
#include "../net/pfc.h"
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

	/* As the drivers of mlx5 name them, in the order of struct hroce_pfc. */
#define PFC_DESC(prio, way) { .name = way "_prio" #prio "_pause" }
#define PFC_DESCS(way) \
	PFC_DESC(0, way), PFC_DESC(1, way), PFC_DESC(2, way), \
	PFC_DESC(3, way), PFC_DESC(4, way), PFC_DESC(5, way), \
	PFC_DESC(6, way), PFC_DESC(7, way)
	PFC_DESCS("rx"),
	PFC_DESCS("tx"),
};

#define PFC_NR	(sizeof(struct hroce_pfc) / sizeof(u64))

static_assert(ARRAY_SIZE(stats_descs) == HROCE_VALUE_NR + PFC_NR);

/*
 * All sets of a device have as many values: to each value of the port, ib_core
 * adds that of all counters of queue pairs, and of those that are gone.
 */
struct rdma_hw_stats *hroce_hw_stats_alloc(struct ib_device *ibdev,
					   u32 port_num)
{
	return rdma_alloc_hw_stats_struct(stats_descs,
					  to_hibdev(ibdev)->nr_values,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int stats_nr_values(struct net_device *dev)
{
	int nr = HROCE_VALUE_NR;
	struct hroce_pfc pfc;

	rtnl_lock();
	if (hroce_pfc_read(dev, &pfc))
		nr += PFC_NR;
	rtnl_unlock();
	return nr;
}

struct rdma_hw_stats *hroce_hw_stats_alloc_port(struct ib_device *ibdev,
						u32 port_num)
{
	struct hroce_ibdev *hibdev = to_hibdev(ibdev);
	struct rdma_hw_stats *stats;

	if (!hibdev->nr_values)
		hibdev->nr_values = stats_nr_values(hibdev->dev.port.dev);
	stats = hroce_hw_stats_alloc(ibdev, port_num);
	/*
	 * The answer to "rdma statistic show link", a page, has no room for
	 * second names and pause frames. Files show them.
	 */
	if (stats)
		bitmap_set(stats->is_disabled, HROCE_STAT_NR,
			   stats->num_counters - HROCE_STAT_NR);
	return stats;
}

/*
 * Who holds RTNL may wait for this reader, so it does not wait: the values stay
 * those of the last time.
 */
static void stats_read_pfc(const struct hroce_port *port, u64 *values)
{
	struct hroce_pfc pfc;

	if (!rtnl_trylock())
		return;
	if (hroce_pfc_read(port->dev, &pfc))
		memcpy(values, &pfc, sizeof(pfc));
	rtnl_unlock();
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
	if (stats->num_counters > HROCE_VALUE_NR)
		stats_read_pfc(port, &stats->value[HROCE_VALUE_NR]);
	return stats->num_counters;
}

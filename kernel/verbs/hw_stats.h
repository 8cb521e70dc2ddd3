/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of a link, as shown by `rdma statistic`. */
#ifndef HROCE_HW_STATS_H
#define HROCE_HW_STATS_H

#include <rdma/ib_verbs.h>

/* ib_device_ops.alloc_hw_port_stats. Context: process. */
struct rdma_hw_stats *hroce_hw_stats_alloc(struct ib_device *ibdev,
					   u32 port_num);

/* ib_device_ops.get_hw_stats: sums over all CPUs. Context: process. */
int hroce_hw_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port_num, int index);

#endif /* HROCE_HW_STATS_H */

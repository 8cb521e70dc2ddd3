/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of queue pairs. */
#ifndef HROCE_COUNTER_H
#define HROCE_COUNTER_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct hroce_ibdev;

/**
 * struct hroce_counter - counter of queue pairs
 * @ib: what ib_core knows of it
 *
 * Older kernels allocate only @ib, so the counts are found by its number.
 */
struct hroce_counter {
	struct rdma_counter ib;
};

/**
 * hroce_counters_sum - sum the counters of a port and of its queue pairs
 * @ibdev: device
 * @values: set to the sums, HROCE_STAT_NR of them
 *
 * Includes queue pairs whose counter is gone. Context: process, may sleep.
 */
void hroce_counters_sum(struct hroce_ibdev *ibdev, u64 *values);

#endif /* HROCE_COUNTER_H */

// SPDX-License-Identifier: GPL-2.0
/* The driver tells the size of a counter: after 6.12, in 7.2. */
#include <rdma/ib_verbs.h>

const struct ib_device_ops probe_ops;
const struct ib_device_ops probe_ops = {
	.size_rdma_counter = sizeof(struct rdma_counter),
};

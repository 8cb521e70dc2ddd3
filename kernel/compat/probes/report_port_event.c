// SPDX-License-Identifier: GPL-2.0
/* ib_core raises port events unless the driver does: after 6.12, in 7.2. */
#include <rdma/ib_verbs.h>

void probe(struct ib_device *ibdev, struct net_device *ndev,
	   unsigned long event);

const struct ib_device_ops probe_ops;
const struct ib_device_ops probe_ops = { .report_port_event = probe };

// SPDX-License-Identifier: GPL-2.0
/* counter_bind_qp and counter_unbind_qp take the port: after 6.12, in 7.2. */
#include <rdma/ib_verbs.h>

int probe(struct ib_qp *qp, u32 port);

const struct ib_device_ops probe_ops;
const struct ib_device_ops probe_ops = { .counter_unbind_qp = probe };

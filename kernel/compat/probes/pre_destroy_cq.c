// SPDX-License-Identifier: GPL-2.0
/* Asked for before the kernel frees a CQ: in 7.2, late 6.12 and late 6.1. */
#include <rdma/ib_verbs.h>

int probe(struct ib_cq *cq);

const struct ib_device_ops probe_ops;
const struct ib_device_ops probe_ops = { .pre_destroy_cq = probe };

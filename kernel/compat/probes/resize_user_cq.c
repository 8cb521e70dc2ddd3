// SPDX-License-Identifier: GPL-2.0
/* resize_user_cq instead of resize_cq: after 6.12, in 7.2. */
#include <rdma/ib_verbs.h>

int probe(struct ib_cq *cq, unsigned int cqe, struct ib_udata *udata);

const struct ib_device_ops probe_ops;
const struct ib_device_ops probe_ops = { .resize_user_cq = probe };

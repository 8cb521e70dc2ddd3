// SPDX-License-Identifier: GPL-2.0
/* reg_user_mr and reg_user_mr_dmabuf take a DMA handle: 6.17 on. */
#include <rdma/ib_verbs.h>

struct ib_mr *probe(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
		    int access, struct ib_dmah *dmah, struct ib_udata *udata);

const struct ib_device_ops probe_ops;
const struct ib_device_ops probe_ops = { .reg_user_mr = probe };

// SPDX-License-Identifier: GPL-2.0
/* FLUSH and ATOMIC WRITE with on-demand paging: 6.15 on. */
#include <rdma/ib_verbs.h>

u32 probe(void);
u32 probe(void)
{
	return IB_ODP_SUPPORT_FLUSH | IB_ODP_SUPPORT_ATOMIC_WRITE;
}

// SPDX-License-Identifier: GPL-2.0
/* FLUSH and ATOMIC WRITE: 6.3 on. */
#include <rdma/ib_verbs.h>

u64 probe(void);
u64 probe(void)
{
	return IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_FLUSH_PERSISTENT |
	       IB_DEVICE_ATOMIC_WRITE |
	       IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT |
	       IB_WC_FLUSH | IB_WC_ATOMIC_WRITE | IB_WR_ATOMIC_WRITE;
}

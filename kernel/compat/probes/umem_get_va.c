// SPDX-License-Identifier: GPL-2.0
/* ib_umem_get_va(): after 6.12, in 7.2. */
#include <rdma/ib_umem.h>

struct ib_umem *probe(struct ib_device *dev);
struct ib_umem *probe(struct ib_device *dev)
{
	return ib_umem_get_va(dev, 0, 1, 0);
}

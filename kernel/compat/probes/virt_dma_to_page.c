// SPDX-License-Identifier: GPL-2.0
/* ib_virt_dma_to_page(): 6.4 on. */
#include <rdma/ib_verbs.h>

struct page *probe(u64 addr);
struct page *probe(u64 addr)
{
	return ib_virt_dma_to_page(addr);
}

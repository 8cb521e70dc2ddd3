// SPDX-License-Identifier: GPL-2.0
/* Receive queues of XDP know their NAPI instance: 6.1 and 6.12, not 7.3. */
#include <net/xdp.h>

u32 probe(const struct xdp_rxq_info *rxq);
u32 probe(const struct xdp_rxq_info *rxq)
{
	return rxq->napi_id;
}

// SPDX-License-Identifier: GPL-2.0
/* Build the packets of a burst. */
#include <linux/types.h>
#include "burst.h"
#include "psn.h"
#include "qp.h"

void hrp_burst_pkt(const struct hrp_burst *b, u32 i, struct hrp_pkt *pkt)
{
	bool last = i == b->nr_pkts - 1;

	*pkt = b->first;
	if (i) {
		pkt->opcode = last ? b->op_last : b->op_middle;
		pkt->info = hrp_opcode_info(pkt->opcode);
		pkt->psn = hrp_psn_add(b->first.psn, i);
		if (b->msgs)
			hrp_burst_set_msg(b, i, pkt);
	}
	pkt->ackreq = last && b->ackreq_last;
	pkt->se = last && b->se_last;
	pkt->payload_len = last ? b->mem.len - i * b->mtu : b->mtu;
	pkt->pad = -pkt->payload_len & 3;
}

u32 hrp_burst_run(const struct hrp_burst *b, u32 i)
{
	u32 end = b->nr_pkts - 1;

	if (i == end || b->msgs || (!i && b->first.opcode != b->op_middle))
		return 1;
	if (b->op_last == b->op_middle && !b->ackreq_last && !b->se_last &&
	    b->mem.len == b->nr_pkts * b->mtu)
		end++;
	return end - i;
}

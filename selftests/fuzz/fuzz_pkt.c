// SPDX-License-Identifier: GPL-2.0
/* Fuzzes the header parser: whatever it takes, it can write and read again. */
#include <linux/minmax.h>
#include <stdlib.h>
#include <string.h>
#include "proto/pkt.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

#define demand(cond) \
	do { \
		if (!(cond)) \
			abort(); \
	} while (0)

static void check(const struct hrp_pkt *pkt, u32 udp_len)
{
	u8 hdr[HRW_MAX_HDR_LEN] __attribute__((__aligned__(4)));
	u32 hdr_len = hrp_opcode_hdr_len(pkt->info);
	struct hrp_pkt again = {};
	u32 len;

	demand(pkt->info == hrp_opcode_info(pkt->opcode));
	demand(hdr_len >= sizeof(struct hrw_bth) && hdr_len <= HRW_MAX_HDR_LEN);
	demand(hdr_len + pkt->payload_len + pkt->pad + HRW_ICRC_LEN == udp_len);
	len = hrp_pkt_build(pkt, hdr);
	demand(len == hdr_len);
	demand(!hrp_pkt_parse(&again, hdr, len, udp_len));
	demand(again.psn == pkt->psn && again.dqpn == pkt->dqpn);
	demand(again.va == pkt->va && again.rkey == pkt->rkey);
	demand(again.dmalen == pkt->dmalen && again.imm == pkt->imm);
	demand(again.swap_add == pkt->swap_add && again.orig == pkt->orig);
	demand(again.compare == pkt->compare && again.msn == pkt->msn);
	demand(again.payload_len == pkt->payload_len && again.se == pkt->se);
}

/* Two bytes say how long the datagram is; the rest is as much as arrived. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct hrp_pkt pkt = {};
	u32 udp_len, avail;
	u8 *copy;
	int ret;

	if (len < 2)
		return 0;
	avail = min(len - 2, HRW_MAX_HDR_LEN);
	udp_len = data[0] & 1 ? avail + (data[1] & 0x7f) :
				(u32)data[0] << 8 | data[1];
	if (avail < min_t(u32, udp_len, HRW_MAX_HDR_LEN))
		udp_len = avail;
	copy = malloc(avail);	/* a byte too far is seen */
	memcpy(copy, data + 2, avail);
	ret = hrp_pkt_parse(&pkt, copy, avail, udp_len);
	if (!ret)
		check(&pkt, udp_len);
	else
		demand(ret < 0 && -ret - 1 <= HROCE_DROP_OPCODE);
	free(copy);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Headers between wire and host order. Which ones follow the BTH, and their
 * order, is a matter of the opcode alone (IBTA 9.2 to 9.3.7).
 */
#include <linux/types.h>
#include <linux/build_bug.h>
#include <linux/string.h>
#include <asm/byteorder.h>
#include "pkt.h"

#define MASK_24	0xffffffu

static u32 get_24(const u8 *p)
{
	return (u32)p[0] << 16 | (u32)p[1] << 8 | p[2];
}

static void put_24(u8 *p, u32 v)
{
	p[0] = v >> 16;
	p[1] = v >> 8;
	p[2] = v;
}

static u64 get_64(__be32 hi, __be32 lo)
{
	return (u64)be32_to_cpu(hi) << 32 | be32_to_cpu(lo);
}

static void put_64(__be32 *hi, __be32 *lo, u64 v)
{
	*hi = cpu_to_be32((u32)(v >> 32));
	*lo = cpu_to_be32((u32)v);
}

static int pkt_refuse(int reason)
{
	return -(reason + 1);
}

static void pkt_parse_extended(struct hrp_pkt *pkt, const void *p)
{
	u32 info = pkt->info;

	if (info & HRP_OI_DETH) {
		const struct hrw_deth *deth = p;

		pkt->qkey = be32_to_cpu(deth->qkey);
		pkt->sqpn = be32_to_cpu(deth->sqpn) & MASK_24;
		p = deth + 1;
	}
	if (info & HRP_OI_RETH) {
		const struct hrw_reth *reth = p;

		pkt->va = get_64(reth->va_hi, reth->va_lo);
		pkt->rkey = be32_to_cpu(reth->rkey);
		pkt->dmalen = be32_to_cpu(reth->dmalen);
		p = reth + 1;
	}
	if (info & HRP_OI_ATOMICETH) {
		const struct hrw_atomiceth *atomic = p;

		pkt->va = get_64(atomic->va_hi, atomic->va_lo);
		pkt->rkey = be32_to_cpu(atomic->rkey);
		pkt->swap_add = get_64(atomic->swap_add_hi,
				       atomic->swap_add_lo);
		pkt->compare = get_64(atomic->compare_hi, atomic->compare_lo);
		p = atomic + 1;
	}
	if (info & HRP_OI_AETH) {
		const struct hrw_aeth *aeth = p;
		u32 word = be32_to_cpu(aeth->syndrome_msn);

		pkt->syndrome = word >> 24;
		pkt->msn = word & MASK_24;
		p = aeth + 1;
	}
	if (info & HRP_OI_ATOMICACKETH) {
		const struct hrw_atomicacketh *ack = p;

		pkt->orig = get_64(ack->orig_hi, ack->orig_lo);
		p = ack + 1;
	}
	if (info & HRP_OI_IMM)
		pkt->imm = *(const __be32 *)p;
	if (info & HRP_OI_INV)
		pkt->inv_rkey = be32_to_cpu(*(const __be32 *)p);
}

int hrp_pkt_parse(struct hrp_pkt *pkt, const void *data, u32 avail,
		  u32 udp_len)
{
	const struct hrw_bth *bth = data;
	u32 rest;
	u8 flags;

	if (avail > udp_len)
		avail = udp_len;
	if (avail < sizeof(*bth))
		return pkt_refuse(HROCE_DROP_SHORT);

	memset(pkt, 0, sizeof(*pkt));
	flags = bth->flags;
	if (flags & HRW_BTH_TVER_MASK)
		return pkt_refuse(HROCE_DROP_VERSION);
	pkt->opcode = bth->opcode;
	pkt->info = hrp_opcode_info(pkt->opcode);
	if (!pkt->info)
		return pkt_refuse(HROCE_DROP_OPCODE);
	pkt->hdr_len = hrp_opcode_hdr_len(pkt->info);
	if (avail < pkt->hdr_len || udp_len - pkt->hdr_len < HRW_ICRC_LEN)
		return pkt_refuse(HROCE_DROP_SHORT);

	rest = udp_len - pkt->hdr_len - HRW_ICRC_LEN;
	pkt->pad = (flags & HRW_BTH_PAD_MASK) >> HRW_BTH_PAD_SHIFT;
	if (rest & 3 || rest < pkt->pad)
		return pkt_refuse(HROCE_DROP_LENGTH);
	if (rest && !(pkt->info & HRP_OI_PAYLOAD))
		return pkt_refuse(HROCE_DROP_LENGTH);
	pkt->payload_len = rest - pkt->pad;

	pkt->se = !!(flags & HRW_BTH_SE);
	pkt->migreq = !!(flags & HRW_BTH_MIGREQ);
	pkt->pkey = be16_to_cpu(bth->pkey);
	pkt->fecn = !!(bth->resv6 & HRW_BTH_FECN);
	pkt->becn = !!(bth->resv6 & HRW_BTH_BECN);
	pkt->dqpn = get_24(bth->dqpn);
	pkt->ackreq = !!(bth->ackreq & HRW_BTH_ACKREQ);
	pkt->psn = get_24(bth->psn);
	pkt_parse_extended(pkt, bth + 1);
	return 0;
}

u32 hrp_pkt_hdr_len(const void *data)
{
	const struct hrw_bth *bth = data;

	return hrp_opcode_hdr_len(hrp_opcode_info(bth->opcode));
}

static void *pkt_build_extended(const struct hrp_pkt *pkt, void *p)
{
	u32 info = pkt->info;

	if (info & HRP_OI_DETH) {
		struct hrw_deth *deth = p;

		deth->qkey = cpu_to_be32(pkt->qkey);
		deth->sqpn = cpu_to_be32(pkt->sqpn & MASK_24);
		p = deth + 1;
	}
	if (info & HRP_OI_RETH) {
		struct hrw_reth *reth = p;

		put_64(&reth->va_hi, &reth->va_lo, pkt->va);
		reth->rkey = cpu_to_be32(pkt->rkey);
		reth->dmalen = cpu_to_be32(pkt->dmalen);
		p = reth + 1;
	}
	if (info & HRP_OI_ATOMICETH) {
		struct hrw_atomiceth *atomic = p;

		put_64(&atomic->va_hi, &atomic->va_lo, pkt->va);
		atomic->rkey = cpu_to_be32(pkt->rkey);
		put_64(&atomic->swap_add_hi, &atomic->swap_add_lo,
		       pkt->swap_add);
		put_64(&atomic->compare_hi, &atomic->compare_lo, pkt->compare);
		p = atomic + 1;
	}
	if (info & HRP_OI_AETH) {
		struct hrw_aeth *aeth = p;

		aeth->syndrome_msn = cpu_to_be32((u32)pkt->syndrome << 24 |
						 (pkt->msn & MASK_24));
		p = aeth + 1;
	}
	if (info & HRP_OI_ATOMICACKETH) {
		struct hrw_atomicacketh *ack = p;

		put_64(&ack->orig_hi, &ack->orig_lo, pkt->orig);
		p = ack + 1;
	}
	if (info & (HRP_OI_IMM | HRP_OI_INV)) {
		__be32 *word = p;

		*word = info & HRP_OI_IMM ? pkt->imm :
					    cpu_to_be32(pkt->inv_rkey);
		p = word + 1;
	}
	return p;
}

u32 hrp_pkt_build(const struct hrp_pkt *pkt, void *buf)
{
	struct hrw_bth *bth = buf;

	BUILD_BUG_ON(sizeof(*bth) != 12);
	BUILD_BUG_ON(HRW_MAX_HDR_LEN != 40);

	bth->opcode = pkt->opcode;
	bth->flags = (pkt->se ? HRW_BTH_SE : 0) |
		     (pkt->migreq ? HRW_BTH_MIGREQ : 0) |
		     pkt->pad << HRW_BTH_PAD_SHIFT;
	bth->pkey = cpu_to_be16(pkt->pkey);
	bth->resv6 = (pkt->fecn ? HRW_BTH_FECN : 0) |
		     (pkt->becn ? HRW_BTH_BECN : 0);
	put_24(bth->dqpn, pkt->dqpn);
	bth->ackreq = pkt->ackreq ? HRW_BTH_ACKREQ : 0;
	put_24(bth->psn, pkt->psn);
	return pkt_build_extended(pkt, bth + 1) - buf;
}

void hrp_bth_set_psn(void *bth, u32 psn)
{
	put_24(((struct hrw_bth *)bth)->psn, psn);
}

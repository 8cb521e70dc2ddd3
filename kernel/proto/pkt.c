// SPDX-License-Identifier: GPL-2.0
/*
 * Convert headers between wire and host order. The opcode alone determines the
 * headers that follow the BTH, and their order (IBTA 9.2 to 9.3.7).
 */
#include <linux/types.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <asm/byteorder.h>
#include "pkt.h"

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

static const void *pkt_parse_reth(struct hrp_pkt *pkt,
				  const struct hrw_reth *reth)
{
	pkt->va = get_64(reth->va_hi, reth->va_lo);
	pkt->rkey = be32_to_cpu(reth->rkey);
	pkt->dmalen = be32_to_cpu(reth->dmalen);
	return reth + 1;
}

static void pkt_parse_extended(struct hrp_pkt *pkt, const void *p)
{
	u32 info = pkt->info;

	/* WRITEs and READs */
	if (likely((info & HRP_OI_EXTENDED) == HRP_OI_RETH)) {
		pkt_parse_reth(pkt, p);
		return;
	}
	if (info & HRP_OI_DETH) {
		const struct hrw_deth *deth = p;

		pkt->qkey = be32_to_cpu(deth->qkey);
		pkt->sqpn = be32_to_cpu(deth->sqpn) & HRW_MASK_24;
		p = deth + 1;
	}
	if (info & HRP_OI_XRCETH) {
		const struct hrw_xrceth *xrceth = p;

		pkt->srqn = be32_to_cpu(xrceth->srqn) & HRW_MASK_24;
		p = xrceth + 1;
	}
	if (info & HRP_OI_FLUSH) {
		const struct hrw_feth *feth = p;

		pkt->feth = be32_to_cpu(feth->bits);
		p = feth + 1;
	}
	if (info & HRP_OI_RETH)
		p = pkt_parse_reth(pkt, p);
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
		pkt->msn = word & HRW_MASK_24;
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

/* The last word of the BTH, and what follows it. */
static __always_inline void pkt_parse_rest(struct hrp_pkt *pkt,
					   const struct hrw_bth *bth)
{
	u32 psn = be32_to_cpu(bth->psn);

	pkt->ackreq = psn & HRW_BTH_ACKREQ;
	pkt->longer = psn & HRW_BTH_LONG;
	pkt->psn = psn & HRW_MASK_24;
	if (hrp_opcode_hdr_len(pkt->info) > sizeof(*bth))
		pkt_parse_extended(pkt, bth + 1);
}

int hrp_pkt_parse(struct hrp_pkt *pkt, const void *data, u32 avail,
		  u32 udp_len)
{
	u32 rest, hdr_len, info, dqpn;
	const struct hrw_bth *bth = data;
	u8 flags;

	if (avail > udp_len)
		avail = udp_len;
	if (avail < sizeof(*bth))
		return pkt_refuse(HROCE_DROP_SHORT);

	flags = bth->flags;
	if (flags & HRW_BTH_TVER_MASK)
		return pkt_refuse(HROCE_DROP_VERSION);
	pkt->opcode = bth->opcode;
	info = hrp_opcode_info(pkt->opcode);
	if (!info)
		return pkt_refuse(HROCE_DROP_OPCODE);
	pkt->info = info;
	hdr_len = hrp_opcode_hdr_len(info);
	if (avail < hdr_len || udp_len - hdr_len < HRW_ICRC_LEN)
		return pkt_refuse(HROCE_DROP_SHORT);

	rest = udp_len - hdr_len - HRW_ICRC_LEN;
	pkt->pad = (flags & HRW_BTH_PAD_MASK) >> HRW_BTH_PAD_SHIFT;
	if (rest & 3 || rest < pkt->pad)
		return pkt_refuse(HROCE_DROP_LENGTH);
	if (rest && !(info & HRP_OI_PAYLOAD))
		return pkt_refuse(HROCE_DROP_LENGTH);
	pkt->payload_len = rest - pkt->pad;

	pkt->se = flags & HRW_BTH_SE;
	pkt->migreq = flags & HRW_BTH_MIGREQ;
	pkt->pkey = be16_to_cpu(bth->pkey);
	dqpn = be32_to_cpu(bth->dqpn);
	pkt->cn = dqpn >> HRW_BTH_CN_SHIFT;
	pkt->dqpn = dqpn & HRW_MASK_24;
	pkt->syndrome = 0;
	pkt_parse_rest(pkt, bth);
	return 0;
}

void hrp_pkt_parse_next(struct hrp_pkt *pkt, const void *data)
{
	pkt_parse_rest(pkt, data);
}

u32 hrp_pkt_hdr_len(const void *data)
{
	const struct hrw_bth *bth = data;
	u32 info = hrp_opcode_info(bth->opcode);

	return info ? hrp_opcode_hdr_len(info) : sizeof(*bth);
}

static void *pkt_build_reth(const struct hrp_pkt *pkt, struct hrw_reth *reth)
{
	put_64(&reth->va_hi, &reth->va_lo, pkt->va);
	reth->rkey = cpu_to_be32(pkt->rkey);
	reth->dmalen = cpu_to_be32(pkt->dmalen);
	return reth + 1;
}

static void pkt_build_extended(const struct hrp_pkt *pkt, void *p)
{
	u32 info = pkt->info;

	if (likely((info & HRP_OI_EXTENDED) == HRP_OI_RETH)) {
		pkt_build_reth(pkt, p);
		return;
	}
	if (info & HRP_OI_DETH) {
		struct hrw_deth *deth = p;

		deth->qkey = cpu_to_be32(pkt->qkey);
		deth->sqpn = cpu_to_be32(pkt->sqpn & HRW_MASK_24);
		p = deth + 1;
	}
	if (info & HRP_OI_XRCETH) {
		struct hrw_xrceth *xrceth = p;

		xrceth->srqn = cpu_to_be32(pkt->srqn & HRW_MASK_24);
		p = xrceth + 1;
	}
	if (info & HRP_OI_FLUSH) {
		struct hrw_feth *feth = p;

		feth->bits = cpu_to_be32(pkt->feth);
		p = feth + 1;
	}
	if (info & HRP_OI_RETH)
		p = pkt_build_reth(pkt, p);
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
						 (pkt->msn & HRW_MASK_24));
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
	}
}

void hrp_pkt_build_next(const struct hrp_pkt *pkt, void *buf)
{
	pkt_build_extended(pkt, buf + sizeof(struct hrw_bth));
}

u32 hrp_pkt_build(const struct hrp_pkt *pkt, void *buf)
{
	u32 hdr_len = hrp_opcode_hdr_len(pkt->info);
	struct hrw_bth *bth = buf;

	BUILD_BUG_ON(sizeof(*bth) != 12);
	BUILD_BUG_ON(HRW_MAX_HDR_LEN != 44);

	bth->opcode = pkt->opcode;
	bth->flags = (pkt->se ? HRW_BTH_SE : 0) |
		     (pkt->migreq ? HRW_BTH_MIGREQ : 0) |
		     pkt->pad << HRW_BTH_PAD_SHIFT;
	bth->pkey = cpu_to_be16(pkt->pkey);
	bth->dqpn = cpu_to_be32((u32)pkt->cn << HRW_BTH_CN_SHIFT |
				(pkt->dqpn & HRW_MASK_24));
	bth->psn = cpu_to_be32((pkt->ackreq ? HRW_BTH_ACKREQ : 0) |
			       (pkt->longer ? HRW_BTH_LONG : 0) |
			       (pkt->psn & HRW_MASK_24));
	if (hdr_len > sizeof(*bth))
		pkt_build_extended(pkt, bth + 1);
	return hdr_len;
}

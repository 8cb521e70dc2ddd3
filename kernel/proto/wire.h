/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Headers on the wire (IBTA volume 1, chapter 9; annex A17 for RoCEv2). Only
 * proto/pkt.c reads and writes these; all other code uses &struct hrp_pkt.
 */
#ifndef HRP_WIRE_H
#define HRP_WIRE_H

#include <linux/types.h>

#define HRW_UDP_PORT	4791	/* A17.4.2 */
#define HRW_ICRC_LEN	4
#define HRW_GRH_LEN	40	/* in front of a UD message in memory */

/* Base Transport Header, 9.2 */
struct hrw_bth {
	u8 opcode;
	u8 flags;
#define HRW_BTH_SE		0x80
#define HRW_BTH_MIGREQ		0x40
#define HRW_BTH_PAD_SHIFT	4
#define HRW_BTH_PAD_MASK	0x30
#define HRW_BTH_TVER_MASK	0x0f
	__be16 pkey;
	__be32 dqpn;		/* upper 8 bits masked in the ICRC */
#define HRW_BTH_FECN		0x80000000u
#define HRW_BTH_BECN		0x40000000u
#define HRW_BTH_CN_SHIFT	30
#define HRW_BTH_JOINED		0x20000000u	/* reserved, see tx.h */
	__be32 psn;
#define HRW_BTH_ACKREQ		0x80000000u
#define HRW_BTH_LONG		0x40000000u	/* reserved, see mtu.h */
};

#define HRW_MASK_24	0xffffffu	/* of QPNs, PSNs and MSNs in words */

/* Datagram Extended Transport Header, 9.3.3 */
struct hrw_deth {
	__be32 qkey;
	__be32 sqpn;		/* upper 8 bits reserved */
};

/* XRC Extended Transport Header, A14.3.2 */
struct hrw_xrceth {
	__be32 srqn;		/* upper 8 bits reserved */
};

/* RDMA Extended Transport Header, 9.3.3.1 */
struct hrw_reth {
	__be32 va_hi;
	__be32 va_lo;
	__be32 rkey;
	__be32 dmalen;
};

/* FLUSH Extended Transport Header, A19.4.1; in front of the RETH */
struct hrw_feth {
	__be32 bits;		/* the upper 26 reserved */
#define HRW_FETH_GLOBAL		0x01u	/* placement type: global visibility */
#define HRW_FETH_PERSISTENT	0x02u	/* persistence */
#define HRW_FETH_PLT_MASK	0x0fu
#define HRW_FETH_SEL_SHIFT	4
#define HRW_FETH_SEL_MASK	0x30u	/* selectivity level */
#define HRW_FETH_SEL_MR		0x10u
};

/* Atomic Extended Transport Header, 9.3.4 */
struct hrw_atomiceth {
	__be32 va_hi;
	__be32 va_lo;
	__be32 rkey;
	__be32 swap_add_hi;
	__be32 swap_add_lo;
	__be32 compare_hi;
	__be32 compare_lo;
};

/* ACK Extended Transport Header, 9.3.5 */
struct hrw_aeth {
	__be32 syndrome_msn;
};

/* Atomic ACK Extended Transport Header, 9.3.5.3 */
struct hrw_atomicacketh {
	__be32 orig_hi;
	__be32 orig_lo;
};

/* Immediate Data, 9.3.6, and Invalidate, 9.3.7, are one 32-bit word each. */

/* The longest run of headers: BTH, XRCETH and AtomicETH. */
#define HRW_MAX_HDR_LEN	(sizeof(struct hrw_bth) + sizeof(struct hrw_xrceth) + \
			 sizeof(struct hrw_atomiceth))

#endif /* HRP_WIRE_H */

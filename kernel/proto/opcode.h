/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Opcodes of the base transport header: IBTA table 38, A14 (XRC), A17 (CNP),
 * A19 (FLUSH, ATOMIC WRITE).
 */
#ifndef HRP_OPCODE_H
#define HRP_OPCODE_H

#include <linux/types.h>

/* Upper three bits: the transport service. */
#define HRP_SVC_RC	0x00
#define HRP_SVC_UC	0x20
#define HRP_SVC_UD	0x60
#define HRP_SVC_XRC	0xa0
#define HRP_SVC_MASK	0xe0

/* Lower five bits: the operation. */
enum hrp_op {
	HRP_OP_SEND_FIRST		= 0x00,
	HRP_OP_SEND_MIDDLE		= 0x01,
	HRP_OP_SEND_LAST		= 0x02,
	HRP_OP_SEND_LAST_IMM		= 0x03,
	HRP_OP_SEND_ONLY		= 0x04,
	HRP_OP_SEND_ONLY_IMM		= 0x05,
	HRP_OP_WRITE_FIRST		= 0x06,
	HRP_OP_WRITE_MIDDLE		= 0x07,
	HRP_OP_WRITE_LAST		= 0x08,
	HRP_OP_WRITE_LAST_IMM		= 0x09,
	HRP_OP_WRITE_ONLY		= 0x0a,
	HRP_OP_WRITE_ONLY_IMM		= 0x0b,
	HRP_OP_READ_REQ			= 0x0c,
	HRP_OP_READ_RESP_FIRST		= 0x0d,
	HRP_OP_READ_RESP_MIDDLE		= 0x0e,
	HRP_OP_READ_RESP_LAST		= 0x0f,
	HRP_OP_READ_RESP_ONLY		= 0x10,
	HRP_OP_ACK			= 0x11,
	HRP_OP_ATOMIC_ACK		= 0x12,
	HRP_OP_CMP_SWAP			= 0x13,
	HRP_OP_FETCH_ADD		= 0x14,
	HRP_OP_SEND_LAST_INV		= 0x16,
	HRP_OP_SEND_ONLY_INV		= 0x17,
	HRP_OP_FLUSH			= 0x1c,
	HRP_OP_ATOMIC_WRITE		= 0x1d,
};

#define HRP_OPCODE_CNP	0x81

/* Of those that table 38 leaves to manufacturers: sack.h, mtu.h, second.h. */
#define HRP_OPCODE_SACK_ASK	0xc0
#define HRP_OPCODE_SACK		0xc1
#define HRP_OPCODE_MTU_ASK	0xc2
#define HRP_OPCODE_MTU		0xc3
#define HRP_OPCODE_SECOND_ASK	0xc4
#define HRP_OPCODE_SECOND	0xc5

/* The operation in a BTH opcode. */
static inline enum hrp_op hrp_opcode_op(u8 opcode)
{
	return (enum hrp_op)(opcode & ~HRP_SVC_MASK);
}

/* Properties of an opcode, as found by hrp_opcode_info(). */
#define HRP_OI_VALID		(1u << 0)
#define HRP_OI_RESPONSE		(1u << 1)	/* goes to the requester */
#define HRP_OI_FIRST		(1u << 2)	/* begins a message; ONLY too */
#define HRP_OI_LAST		(1u << 3)	/* ends a message; ONLY too */
#define HRP_OI_SEND		(1u << 4)
#define HRP_OI_WRITE		(1u << 5)
#define HRP_OI_READ		(1u << 6)	/* request or response */
#define HRP_OI_ATOMIC		(1u << 7)	/* request or response */
#define HRP_OI_PAYLOAD		(1u << 8)	/* may carry payload */
#define HRP_OI_DETH		(1u << 9)
#define HRP_OI_RETH		(1u << 10)
#define HRP_OI_ATOMICETH	(1u << 11)
#define HRP_OI_AETH		(1u << 12)
#define HRP_OI_ATOMICACKETH	(1u << 13)
#define HRP_OI_IMM		(1u << 14)
#define HRP_OI_INV		(1u << 15)
#define HRP_OI_CNP		(1u << 16)
#define HRP_OI_XRCETH		(1u << 17)
#define HRP_OI_FLUSH		(1u << 18)	/* has the FETH */
#define HRP_OI_ATOMIC_WRITE	(1u << 19)
#define HRP_OI_EXT		(1u << 20)	/* between hroce peers */
#define HRP_OI_EXTENDED		(HRP_OI_DETH | HRP_OI_RETH | HRP_OI_ATOMICETH | \
				 HRP_OI_AETH | HRP_OI_ATOMICACKETH | \
				 HRP_OI_IMM | HRP_OI_INV | HRP_OI_XRCETH | \
				 HRP_OI_FLUSH)	/* headers behind the BTH */
#define HRP_OI_HDR_LEN_SHIFT	24		/* see hrp_opcode_hdr_len() */

/* Requests that take a responder resource and have their own response. */
#define HRP_OI_RESOURCE		(HRP_OI_READ | HRP_OI_ATOMIC | HRP_OI_FLUSH | \
				 HRP_OI_ATOMIC_WRITE)

/* For hrp_opcode_info(). */
extern const u32 hrp_opcode_infos[256];

/**
 * hrp_opcode_info - look an opcode up
 * @opcode: BTH opcode, all eight bits
 *
 * Return: HRP_OI_* of the opcode; 0 if it is not one of RC, UC, UD, XRC or CNP.
 */
static inline u32 hrp_opcode_info(u8 opcode)
{
	return hrp_opcode_infos[opcode];
}

/**
 * hrp_opcode_hdr_len - length of BTH and extended headers
 * @info: HRP_OI_* as returned by hrp_opcode_info()
 *
 * Return: bytes, 12 to HRW_MAX_HDR_LEN; 0 if @info is 0.
 */
static inline u32 hrp_opcode_hdr_len(u32 info)
{
	return info >> HRP_OI_HDR_LEN_SHIFT;
}

#endif /* HRP_OPCODE_H */

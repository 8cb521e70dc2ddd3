/* SPDX-License-Identifier: GPL-2.0 */
/* Packet headers in host order, and conversion from and to the wire. */
#ifndef HRP_PKT_H
#define HRP_PKT_H

#include <linux/types.h>
#include <linux/unaligned.h>
#include <asm/byteorder.h>
#include "../core/drop.h"
#include "opcode.h"
#include "psn.h"
#include "wire.h"

/* Forward and backward congestion notification */
#define HRP_FECN		(HRW_BTH_FECN >> HRW_BTH_CN_SHIFT)
#define HRP_BECN		(HRW_BTH_BECN >> HRW_BTH_CN_SHIFT)

/**
 * struct hrp_pkt - headers of one packet in host order
 * @info: HRP_OI_* of @opcode
 * @psn: 24 bits
 * @dqpn: destination queue pair, 24 bits
 * @payload_len: bytes of payload without pad and ICRC
 * @pkey: partition key
 * @pkey_index: received by QP1: entry of the table that @pkey matches
 * @sl: received by UD: network header, HROCE_SL_*
 * @sport: UDP source port of a request with an answer if &hrp_resp.follows is set,
 *	and that which the answer is to take; 0: any
 * @opcode: BTH opcode
 * @pad: pad bytes after the payload, 0 to 3
 * @syndrome: AETH syndrome
 * @se: solicited event
 * @migreq: migration request state; always set on transmit, as hardware does
 * @ackreq: the sender requests an acknowledgement
 * @cn: congestion notification: HRP_FECN, HRP_BECN
 * @longer: the agreed MTU applies to the packet, or to its answer, see mtu.h;
 *	without an agreement a reserved bit, that is ignored
 * @msn: AETH message sequence number, 24 bits
 * @qkey: DETH
 * @sqpn: DETH, 24 bits
 * @srqn: XRCETH, 24 bits
 * @rkey: RETH and AtomicETH
 * @va: RETH and AtomicETH
 * @dmalen: RETH
 * @imm: immediate data as on the wire
 * @inv_rkey: key to invalidate
 * @feth: HRW_FETH_*
 * @swap_add: AtomicETH swap or add data
 * @compare: AtomicETH compare data
 * @orig: AtomicAckETH original remote data
 *
 * Building ignores the fields of headers that @info does not have; parsing does
 * not set them, except @syndrome, which it clears.
 */
struct hrp_pkt {
	u32 info;
	u32 psn;
	u32 dqpn;
	u32 payload_len;
	u16 pkey;
	union {
		struct {
			u8 pkey_index;
			u8 sl;
		};
		u16 sport;
	};
	u8 opcode;
	u8 pad;
	u8 syndrome;
	bool se;
	bool migreq;
	bool ackreq;
	u8 cn;
	bool longer;
	u32 msn;
	u32 qkey;
	u32 sqpn;
	u32 srqn;
	u32 rkey;
	u64 va;
	u32 dmalen;
	__be32 imm;
	u32 inv_rkey;
	u32 feth;
	u64 swap_add;
	u64 compare;
	u64 orig;
};

/* AETH syndrome, 9.7.5.2.1, table 43: two bits of type, five of value */
#define HRP_SYN_TYPE_MASK	0xe0
#define HRP_SYN_ACK		0x00
#define HRP_SYN_RNR		0x20
#define HRP_SYN_NAK		0x60
#define HRP_SYN_VALUE_MASK	0x1f
#define HRP_SYN_CREDIT_INVALID	0x1f	/* no end-to-end flow control */
#define HRP_NAK_PSN_SEQ		0x60
#define HRP_NAK_INV_REQ		0x61
#define HRP_NAK_REM_ACCESS	0x62
#define HRP_NAK_REM_OP		0x63

/**
 * hrp_pkt_parse - read the headers of a packet
 * @pkt: filled in; undefined unless 0 is returned
 * @data: the UDP payload, at least @avail bytes, 4-byte aligned
 * @avail: bytes at @data; min(HRW_MAX_HDR_LEN, @udp_len) suffices
 * @udp_len: length of the UDP payload in bytes, ICRC included
 *
 * Checks opcode, transport version and lengths; not the ICRC. Reads each byte
 * of @data once.
 *
 * Return: 0, or -(reason + 1), where reason is HROCE_DROP_SHORT, _LENGTH,
 * _VERSION or _OPCODE.
 */
int hrp_pkt_parse(struct hrp_pkt *pkt, const void *data, u32 avail,
		  u32 udp_len);

/**
 * hrp_pkt_parse_next - read the headers of a packet like the one before
 * @pkt: the packet before, from hrp_pkt_parse() or this; set to this one
 * @data: headers of this one, of the same length in all; the first eight bytes
 *	are the same
 *
 * What may differ is the PSN and what goes with it, and extended headers.
 */
void hrp_pkt_parse_next(struct hrp_pkt *pkt, const void *data);

/**
 * hrp_pkt_as_received - make of a packet what its receiver reads
 * @pkt: a packet that is to be sent; its fields may have more bits than on the wire
 *
 * As hrp_pkt_build() and hrp_pkt_parse() would, for a receiver that needs no bytes.
 */
static inline void hrp_pkt_as_received(struct hrp_pkt *pkt)
{
	pkt->psn &= HRW_MASK_24;
	pkt->dqpn &= HRW_MASK_24;
	pkt->msn &= HRW_MASK_24;
	pkt->sqpn &= HRW_MASK_24;
	pkt->srqn &= HRW_MASK_24;
	if (!(pkt->info & HRP_OI_AETH))
		pkt->syndrome = 0;
}

/**
 * hrp_pkt_hdr_len - length of the headers of a packet
 * @data: a BTH
 *
 * Return: bytes of headers for its opcode, at most HRW_MAX_HDR_LEN; 12 if there
 * is no such opcode.
 */
u32 hrp_pkt_hdr_len(const void *data);

/**
 * hrp_bth_follows - does a packet continue a run?
 * @first: BTH of a packet, 4-byte aligned
 * @bth: BTH of another packet, read once
 * @nr: its distance from the first packet, less than 2^24
 *
 * Return: true if the PSN of @bth is that of @first plus @nr, and the rest is
 * the same. False if PSNs wrap in between.
 */
static inline bool hrp_bth_follows(const void *first, const void *bth, u32 nr)
{
	const __be32 *a = first;
	u32 last = get_unaligned_be32(bth + 8);

	/* The last word is @ackreq and the PSN; the sum must not carry. */
	return get_unaligned((const u64 *)first) ==
	       get_unaligned((const u64 *)bth) &&
	       be32_to_cpu(a[2]) + nr == last && (last & HRP_PSN_MASK) >= nr;
}

/**
 * hrp_bth_same_qp - are two packets for the same queue pair?
 * @a: BTH of a packet
 * @b: BTH of another packet
 *
 * Return: true if the destination QPs are equal.
 */
static inline bool hrp_bth_same_qp(const void *a, const void *b)
{
	return !((get_unaligned_be32(a + 4) ^ get_unaligned_be32(b + 4)) &
		 HRW_MASK_24);
}

/**
 * hrp_bth_continues - is a packet the next one of a sender?
 * @first: BTH of a packet
 * @bth: BTH of another packet for the same queue pair
 * @nr: number of packets from @first on
 *
 * Unlike hrp_bth_follows(), the rest may differ.
 *
 * Return: true if the PSN of @bth is that of @first plus @nr.
 */
static inline bool hrp_bth_continues(const void *first, const void *bth, u32 nr)
{
	return !((get_unaligned_be32(first + 8) + nr -
		  get_unaligned_be32(bth + 8)) & HRP_PSN_MASK);
}

/**
 * hrp_bth_ends - does a sender pause after this packet?
 * @bth: BTH
 *
 * Return: true if the packet asks for an answer, is the last one of an answer,
 * or is invalid; false if more of the same length is likely to follow.
 */
static inline bool hrp_bth_ends(const void *bth)
{
	u32 info = hrp_opcode_info(*(const u8 *)bth);

	return get_unaligned_be32(bth + 8) & HRW_BTH_ACKREQ ||
	       !(info & HRP_OI_PAYLOAD) || info & HRP_OI_CNP ||
	       (info & HRP_OI_RESPONSE && info & HRP_OI_LAST);
}

/* Length of that ACK: BTH, AETH and ICRC. */
#define HRP_JOINED_LEN	(sizeof(struct hrw_bth) + sizeof(struct hrw_aeth) + \
			 HRW_ICRC_LEN)

/**
 * hrp_bth_is_joined - is a packet followed by an ACK in the same datagram?
 * @bth: BTH
 *
 * Return: true if hrp_bth_set_joined() has marked it. The mark is a reserved
 * bit that the ICRC does not cover.
 */
static inline bool hrp_bth_is_joined(const void *bth)
{
	return get_unaligned_be32(bth + 4) & HRW_BTH_JOINED;
}

/**
 * hrp_bth_set_joined - an ACK follows in the same datagram
 * @data: BTH, 4-byte aligned
 */
static inline void hrp_bth_set_joined(void *data)
{
	struct hrw_bth *bth = data;

	bth->dqpn |= cpu_to_be32(HRW_BTH_JOINED);
}

/**
 * hrp_bth_set_psn - change the PSN
 * @data: BTH, 4-byte aligned
 * @psn: 24 bits
 */
static inline void hrp_bth_set_psn(void *data, u32 psn)
{
	struct hrw_bth *bth = data;

	bth->psn = (bth->psn & cpu_to_be32(~HRW_MASK_24)) | cpu_to_be32(psn);
}

/**
 * hrp_pkt_build - write the headers of a packet
 * @pkt: packet; @pkt->info must match @pkt->opcode
 * @buf: at least HRW_MAX_HDR_LEN bytes, 4-byte aligned
 *
 * Return: bytes written.
 */
u32 hrp_pkt_build(const struct hrp_pkt *pkt, void *buf);

/**
 * hrp_pkt_build_next - write the extended headers of a packet
 * @pkt: packet
 * @buf: headers of one of the same opcode, from hrp_pkt_build()
 */
void hrp_pkt_build_next(const struct hrp_pkt *pkt, void *buf);

#endif /* HRP_PKT_H */

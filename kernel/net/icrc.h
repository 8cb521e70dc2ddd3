/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Invariant CRC (IBTA 7.8.1, A17.3.3). Pure computation; also built in user
 * space for tests.
 */
#ifndef HROCE_ICRC_H
#define HROCE_ICRC_H

#include <linux/string.h>
#include <linux/types.h>
#include <asm/byteorder.h>
#include "crc_methods.h"

/**
 * hroce_icrc_headers - begin an ICRC with the masked headers of one packet
 * @l3: IPv4 header without options, or IPv6 header without extensions
 * @ipv6: IPv6, else IPv4
 * @udp: UDP header, 8 bytes
 * @bth: base transport header, 12 bytes
 *
 * Return: CRC state over 8 bytes of ones, @l3, @udp and @bth, with variant
 * fields as ones; to be continued with everything behind the BTH.
 */
u32 hroce_icrc_headers(const void *l3, bool ipv6, const void *udp,
		       const void *bth);

/**
 * hroce_icrc_step - adapt an ICRC to a packet with another ID and PSN
 * @state: from hroce_icrc_headers(), not continued
 * @id_change: XOR of the two IPv4 identifications; 0 with IPv6
 * @psn_change: XOR of the two PSNs, or of the last words of the two BTHs
 *
 * Return: CRC state over the headers of the other packet.
 */
static inline u32 hroce_icrc_step(u32 state, u16 id_change, u32 psn_change)
{
	/* CRCs are linear: add the CRC of the changed bits. */
	return state ^ hroce_crc_table_early(id_change) ^
	       hroce_crc_table_last(psn_change);
}

/**
 * struct hroce_icrc_last - headers of the last packet whose ICRC was begun
 * @state: from hroce_icrc_headers()
 * @bth: base transport header
 * @len: bytes of UDP payload; 0 if there was no packet
 * @id: IPv4 identification; 0 with IPv6
 */
struct hroce_icrc_last {
	u32 state;
	__be32 bth[3];
	u16 len;
	u16 id;
};

/* Kinds of packets that each CPU caches. A power of two. */
#define HROCE_ICRC_KINDS	32

/**
 * struct hroce_icrc_kind - packets that differ in ID and PSN only
 * @l3: IP header of the last packet; zero if there was none
 * @udp: its UDP header without the checksum
 * @bth: its base transport header
 * @state: from hroce_icrc_headers()
 */
struct hroce_icrc_kind {
	u8 l3[40] __aligned(8);
	u8 udp[6];
	__be32 bth[3];
	u32 state;
};

/**
 * struct hroce_icrc_known - cache of recent kinds of packets
 * @kinds: the last packet of each, indexed by opcode and destination QPN
 *
 * Small messages repeat, and their ICRC covers mostly headers. On x86 the cache
 * saved 470 kernel instructions of a 64-byte SEND over veth, both ends together,
 * and 70 of a 4 KB packet of a WRITE.
 *
 * Zeroed initially; one user at a time.
 */
struct hroce_icrc_known {
	struct hroce_icrc_kind kinds[HROCE_ICRC_KINDS];
};

/**
 * hroce_icrc_recall - hroce_icrc_headers() with a cache
 * @known: cache
 * @l3: see hroce_icrc_headers()
 * @ipv6: IPv6, else IPv4
 * @udp: UDP header
 * @bth: base transport header, 4-byte aligned
 *
 * Return: CRC state, as from hroce_icrc_headers().
 */
u32 hroce_icrc_recall(struct hroce_icrc_known *known, const void *l3, bool ipv6,
		      const void *udp, const void *bth);

/**
 * hroce_icrc_begin - hroce_icrc_headers() for the first of similar packets
 * @known: cache
 * @last: its headers; @last->len and @last->id are set
 * @l3: IP header
 * @ipv6: IPv6, else IPv4
 * @udp: UDP header, 8 bytes
 * @bth: base transport header, 4-byte aligned
 *
 * Sets the rest of @last. @last->state is as from hroce_icrc_headers().
 */
static inline void hroce_icrc_begin(struct hroce_icrc_known *known,
				    struct hroce_icrc_last *last,
				    const void *l3, bool ipv6, const void *udp,
				    const void *bth)
{
	last->state = hroce_icrc_recall(known, l3, ipv6, udp, bth);
	memcpy(last->bth, bth, sizeof(last->bth));
}

/**
 * hroce_icrc_repeat - the same for a packet that follows
 * @last: headers of the packet before, of the same path; set to those of this one
 * @len: bytes of UDP payload
 * @id: IPv4 identification; 0 with IPv6
 * @bth: base transport header, 4-byte aligned
 *
 * Return: false if it differs in more than ID and PSN: hroce_icrc_begin() must
 * follow, for which @last->len and @last->id are set.
 */
static inline bool hroce_icrc_repeat(struct hroce_icrc_last *last, u16 len,
				     u16 id, const void *bth)
{
	const __be32 *word = bth;
	bool same = last->len == len && last->bth[0] == word[0] &&
		    last->bth[1] == word[1];

	if (likely(same)) {
		last->state = hroce_icrc_step(last->state, last->id ^ id,
					      be32_to_cpu(last->bth[2] ^
							  word[2]));
		last->bth[2] = word[2];
	}
	last->len = len;
	last->id = id;
	return same;
}

/**
 * hroce_icrc_next - hroce_icrc_repeat() for the next packet of a run
 * @last: headers of the previous packet; set to those of this one, whose ID is
 *	one higher
 * @ipv6: IPv6, which has no ID
 * @bth: base transport header; differs in the PSN only
 *
 * Return: @last->state.
 */
static inline u32 hroce_icrc_next(struct hroce_icrc_last *last, bool ipv6,
				  const void *bth)
{
	__be32 word = ((const __be32 *)bth)[2];
	u16 change = 0;

	if (!ipv6) {
		change = last->id ^ (last->id + 1);
		last->id++;
	}
	last->state = hroce_icrc_step(last->state, change,
				      be32_to_cpu(last->bth[2] ^ word));
	last->bth[2] = word;
	return last->state;
}

/**
 * hroce_icrc_final - end an ICRC
 * @state: CRC state
 *
 * Return: the four bytes as they go on the wire.
 */
static inline __le32 hroce_icrc_final(u32 state)
{
	return cpu_to_le32(~state);
}

#endif /* HROCE_ICRC_H */

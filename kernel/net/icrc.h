/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Invariant CRC (IBTA 7.8.1, A17.3.3). Pure computation; also built in user
 * space for tests.
 */
#ifndef HROCE_ICRC_H
#define HROCE_ICRC_H

#include <linux/types.h>
#include <asm/byteorder.h>
#include "crc_table.h"

/**
 * hroce_icrc_headers - begin an ICRC with the masked headers of one packet
 * @l3: IPv4 header without options, or IPv6 header without extensions
 * @ipv6: which of the two
 * @udp: UDP header, 8 bytes
 * @bth: base transport header, 12 bytes
 *
 * Return: CRC state over 8 bytes of ones, @l3, @udp and @bth, with variant
 * fields as ones; to be continued with everything behind the BTH.
 */
u32 hroce_icrc_headers(const void *l3, bool ipv6, const void *udp,
		       const void *bth);

/**
 * hroce_icrc_step - the same for a packet that differs in ID and PSN alone
 * @state: from hroce_icrc_headers(); nothing was added
 * @id_change: exclusive or of the two IPv4 identifications; 0 with IPv6
 * @psn_change: exclusive or of the two PSNs, or of all of the BTH's last word
 *
 * Return: CRC state over the headers of the other packet.
 */
static inline u32 hroce_icrc_step(u32 state, u16 id_change, u32 psn_change)
{
	/* A CRC is linear: it changes by the CRC of what changes. */
	return state ^ hroce_crc_table_early(id_change) ^
	       hroce_crc_table_last(psn_change);
}

/**
 * struct hroce_icrc_last - the headers that an ICRC was begun with last
 * @state: from hroce_icrc_headers()
 * @bth: base transport header
 * @udp_len: length in the UDP header, 0 if there was no packet
 * @id: IPv4 identification; 0 with IPv6
 */
struct hroce_icrc_last {
	u32 state;
	__be32 bth[3];
	__be16 udp_len;
	u16 id;
};

/* Kinds of packets that a CPU keeps in mind. A power of two. */
#define HROCE_ICRC_KINDS	32

/**
 * struct hroce_icrc_kind - packets that differ in ID and PSN alone
 * @l3: IP header of the last one; zero if there was none
 * @udp: its UDP header, but for the checksum
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
 * struct hroce_icrc_known - kinds of packets seen lately
 * @kinds: by opcode and destination; each as it was seen last
 *
 * Small messages come one by one, over and over again, and most of what their
 * ICRC covers is headers. Zeroed at first; for one user at a time.
 */
struct hroce_icrc_known {
	struct hroce_icrc_kind kinds[HROCE_ICRC_KINDS];
};

/**
 * hroce_icrc_recall - the same as hroce_icrc_headers(), from memory if possible
 * @known: kinds of packets seen lately
 * @l3: see hroce_icrc_headers()
 * @ipv6: which of the two
 * @udp: UDP header
 * @bth: base transport header, 4-byte aligned
 *
 * Return: CRC state, as of hroce_icrc_headers().
 */
u32 hroce_icrc_recall(struct hroce_icrc_known *known, const void *l3, bool ipv6,
		      const void *udp, const void *bth);

/**
 * hroce_icrc_begin - the same as hroce_icrc_headers() for packets in a row
 * @known: kinds of packets seen lately
 * @last: of the packet before, if there was one; becomes that of this one
 * @l3: IP header, which differs from the one before in length and ID at most
 * @ipv6: which of the two
 * @udp: UDP header behind it, 8 bytes, which differs in length at most
 * @bth: base transport header, 4-byte aligned
 *
 * Return: CRC state, as of hroce_icrc_headers().
 */
static inline u32 hroce_icrc_begin(struct hroce_icrc_known *known,
				   struct hroce_icrc_last *last, const void *l3,
				   bool ipv6, const void *udp, const void *bth)
{
	__be16 udp_len = *(const __be16 *)(udp + 4);
	const __be32 *word = bth;
	u16 id = 0;

	if (!ipv6)
		id = be16_to_cpu(*(const __be16 *)(l3 + 4));
	if (last->udp_len == udp_len && last->bth[0] == word[0] &&
	    last->bth[1] == word[1])
		last->state = hroce_icrc_step(last->state, last->id ^ id,
					      be32_to_cpu(last->bth[2] ^
							  word[2]));
	else
		last->state = hroce_icrc_recall(known, l3, ipv6, udp, bth);
	last->bth[0] = word[0];
	last->bth[1] = word[1];
	last->bth[2] = word[2];
	last->udp_len = udp_len;
	last->id = id;
	return last->state;
}

/**
 * hroce_icrc_next - the same for the next packet of a run
 * @last: of the packet before; becomes that of this one, whose ID is one more
 * @ipv6: there is no ID
 * @bth: base transport header, which differs in the PSN alone
 *
 * Return: CRC state, as of hroce_icrc_headers().
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

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
 * @psn_change: exclusive or of the two PSNs
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Invariant CRC of RoCEv2 (IBTA A17.3.3). It covers everything from the IP
 * header to the end of payload and pad. Fields that routers may change, and
 * checksums over them, count as ones. 8 bytes of ones come first, in place of
 * the LRH of InfiniBand.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "crc_methods.h"
#include "icrc.h"

/* CRC state ~0 continued with the 8 bytes of ones. */
#define ICRC_SEED	0xdebb20e3u

#define IPV4_LEN	20
#define IPV4_TOS	1
#define IPV4_ID		4
#define IPV4_ID_END	6
#define IPV4_TTL	8
#define IPV4_CHECK	10
#define IPV4_ADDRS	12
#define IPV6_LEN	40
#define IPV6_HOP_LIMIT	7
#define UDP_LEN		8
#define UDP_CHECK	6
#define BTH_LEN		12
#define BTH_RESV6	4

static u32 icrc_mask_ipv4(u8 *ip)
{
	ip[IPV4_TOS] = 0xff;
	ip[IPV4_TTL] = 0xff;
	ip[IPV4_CHECK] = 0xff;
	ip[IPV4_CHECK + 1] = 0xff;
	return IPV4_LEN;
}

/* Keep the version, mask traffic class and flow label. */
static u32 icrc_mask_ipv6(u8 *ip)
{
	ip[0] |= 0x0f;
	ip[1] = 0xff;
	ip[2] = 0xff;
	ip[3] = 0xff;
	ip[IPV6_HOP_LIMIT] = 0xff;
	return IPV6_LEN;
}

/* Bytes behind the identification: rest of the IPv4 header, UDP, BTH. */
static_assert(IPV4_LEN - IPV4_ID_END + UDP_LEN + BTH_LEN == HROCE_CRC_EARLY);

u32 hroce_icrc_headers(const void *l3, bool ipv6, const void *udp,
		       const void *bth)
{
	u8 buf[IPV6_LEN + UDP_LEN + BTH_LEN] __uninitialized;
	u32 len;

	if (ipv6) {
		memcpy(buf, l3, IPV6_LEN);
		len = icrc_mask_ipv6(buf);
	} else {
		memcpy(buf, l3, IPV4_LEN);
		len = icrc_mask_ipv4(buf);
	}
	memcpy(buf + len, udp, UDP_LEN);
	buf[len + UDP_CHECK] = 0xff;
	buf[len + UDP_CHECK + 1] = 0xff;
	len += UDP_LEN;
	memcpy(buf + len, bth, BTH_LEN);
	buf[len + BTH_RESV6] = 0xff;
	len += BTH_LEN;
	return hroce_crc_table(ICRC_SEED, NULL, buf, len);
}

/* Do the headers differ in ID, PSN and masked fields only? */
static __always_inline bool icrc_is_kind(const struct hroce_icrc_kind *kind,
					 const u8 *l3, bool ipv6,
					 const void *udp, const __be32 *bth)
{
	if (kind->bth[0] != bth[0] || kind->bth[1] != bth[1] ||
	    memcmp(kind->udp, udp, sizeof(kind->udp)))
		return false;
	if (ipv6)
		return !memcmp(kind->l3, l3, IPV6_LEN);
	return !memcmp(kind->l3, l3, IPV4_ID) &&
	       !memcmp(kind->l3 + IPV4_ID_END, l3 + IPV4_ID_END,
		       IPV4_CHECK - IPV4_ID_END) &&
	       !memcmp(kind->l3 + IPV4_ADDRS, l3 + IPV4_ADDRS,
		       IPV4_LEN - IPV4_ADDRS);
}

/* Another kind takes the place. Out of line: what is known needs no stack. */
static noinline u32 icrc_replace(struct hroce_icrc_kind *kind, const void *l3,
				 bool ipv6, const void *udp, const __be32 *bth)
{
	kind->state = hroce_icrc_headers(l3, ipv6, udp, bth);
	memcpy(kind->l3, l3, ipv6 ? IPV6_LEN : IPV4_LEN);
	memcpy(kind->udp, udp, sizeof(kind->udp));
	memcpy(kind->bth, bth, sizeof(kind->bth));
	return kind->state;
}

static __always_inline u32 icrc_recall(struct hroce_icrc_kind *kind,
				       const void *l3, bool ipv6,
				       const void *udp, const __be32 *bth)
{
	u32 psn_change;
	u16 id_change = 0;

	if (unlikely(!icrc_is_kind(kind, l3, ipv6, udp, bth)))
		return icrc_replace(kind, l3, ipv6, udp, bth);
	if (!ipv6) {
		id_change = get_unaligned_be16(kind->l3 + IPV4_ID) ^
			    get_unaligned_be16(l3 + IPV4_ID);
		memcpy(kind->l3 + IPV4_ID, l3 + IPV4_ID,
		       IPV4_ID_END - IPV4_ID);
	}
	psn_change = be32_to_cpu(kind->bth[2] ^ bth[2]);
	kind->bth[2] = bth[2];
	kind->state = hroce_icrc_step(kind->state, id_change, psn_change);
	return kind->state;
}

u32 hroce_icrc_recall(struct hroce_icrc_known *known, const void *l3, bool ipv6,
		      const void *udp, const void *bth)
{
	const __be32 *word = bth;
	u32 nr = be32_to_cpu(word[0]) >> 24 ^ be32_to_cpu(word[1]);
	struct hroce_icrc_kind *kind = &known->kinds[nr % HROCE_ICRC_KINDS];

	if (ipv6)
		return icrc_recall(kind, l3, true, udp, bth);
	return icrc_recall(kind, l3, false, udp, bth);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* IP and UDP header of a flow's packets. */
#ifndef HROCE_HEADERS_H
#define HROCE_HEADERS_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <linux/udp.h>

struct hroce_flow_key;

/**
 * struct hroce_headers - IP and UDP header of one packet
 * @ipv6: which of the two
 * @l3_len: bytes of the IP header
 * @ip4: the IP header, and behind it the UDP header
 * @ip6: the same
 * @bytes: both, as they go on the wire
 */
struct hroce_headers {
	bool ipv6;
	u32 l3_len;
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
		u8 bytes[sizeof(struct ipv6hdr) + sizeof(struct udphdr)];
	};
};

static inline struct udphdr *hroce_headers_udp(struct hroce_headers *h)
{
	return (struct udphdr *)(h->bytes + h->l3_len);
}

/* Bytes of both. */
static inline u32 hroce_headers_len(const struct hroce_headers *h)
{
	return h->l3_len + sizeof(struct udphdr);
}

/**
 * hroce_headers_init - what all packets of a flow have in common
 * @h: filled in, but for what hroce_headers_set() does
 * @key: address vector
 */
void hroce_headers_init(struct hroce_headers *h,
			const struct hroce_flow_key *key);

/**
 * hroce_headers_set - what is different from packet to packet
 * @h: headers
 * @len: bytes of UDP payload
 * @ip_id: IPv4 identification
 *
 * The checksums stay 0.
 */
void hroce_headers_set(struct hroce_headers *h, u32 len, u16 ip_id);

#endif /* HROCE_HEADERS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* IP and UDP headers of a path's packets. */
#ifndef HROCE_HEADERS_H
#define HROCE_HEADERS_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/types.h>
#include <linux/udp.h>

struct hroce_path;

/**
 * struct hroce_headers - IP and UDP headers of one packet
 * @ipv6: IPv6, else IPv4
 * @l3_len: bytes of the IP header
 * @ip4: IPv4 header, followed by the UDP header
 * @ip6: IPv6 header, followed by the UDP header
 * @bytes: both headers, as on the wire
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

/* Bytes of both headers. */
static inline u32 hroce_headers_len(const struct hroce_headers *h)
{
	return h->l3_len + sizeof(struct udphdr);
}

/**
 * hroce_headers_init - set the fields that all packets of a path share
 * @h: filled in, except the fields of hroce_headers_set()
 * @path: path
 * @answer: READ responses and acknowledgements, else requests
 *
 * The packets are not ECN-capable, whatever its key says: who sets the ECN bits
 * has to react to marks.
 */
void hroce_headers_init(struct hroce_headers *h,
			const struct hroce_path *path, bool answer);

/**
 * hroce_headers_set_ect - are the packets ECN-capable: ECT(0) (RFC 3168)?
 * @h: headers
 * @ect: they are
 *
 * ECT(1) means something else since RFC 9331.
 */
void hroce_headers_set_ect(struct hroce_headers *h, bool ect);

/**
 * hroce_headers_set - set the fields that differ between packets
 * @h: headers
 * @len: bytes of UDP payload
 * @ip_id: IPv4 identification
 *
 * The checksums stay 0.
 */
void hroce_headers_set(struct hroce_headers *h, u32 len, u16 ip_id);

#endif /* HROCE_HEADERS_H */

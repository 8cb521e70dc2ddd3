/* SPDX-License-Identifier: GPL-2.0 */
/* IP and UDP headers of a path's packets. */
#ifndef HROCE_HEADERS_H
#define HROCE_HEADERS_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/udp.h>
#include "icrc.h"

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

/**
 * hroce_headers_icrc - begin the ICRC of one of the packets of a frame
 * @h: headers
 * @known: cache of recent kinds of packets
 * @last: headers of the packet before, of the same path; set to those of this
 *	one
 * @len: bytes of UDP payload
 * @ip_id: IPv4 identification; 0 with IPv6
 * @bth: base transport header, 4-byte aligned
 *
 * Sets the fields that differ between packets only if the packet differs from
 * the one before in more than ID and PSN.
 * Context: BH disabled.
 * Return: CRC state over the headers up to the BTH.
 */
static __always_inline u32
hroce_headers_icrc(struct hroce_headers *h,
		   struct hroce_icrc_known __percpu *known,
		   struct hroce_icrc_last *last, u32 len, u16 ip_id,
		   const void *bth)
{
	if (!hroce_icrc_repeat(last, len, ip_id, bth)) {
		hroce_headers_set(h, len, ip_id);
		hroce_icrc_begin(this_cpu_ptr(known), last, h->bytes, h->ipv6,
				 hroce_headers_udp(h), bth);
	}
	return last->state;
}

#endif /* HROCE_HEADERS_H */

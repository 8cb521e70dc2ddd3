// SPDX-License-Identifier: GPL-2.0
/* IP and UDP headers (IBTA annex A17). */
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../proto/wire.h"
#include "path.h"
#include "headers.h"

void hroce_headers_init(struct hroce_headers *h,
			const struct hroce_path *path, bool answer)
{
	const struct hroce_path_key *key = &path->key;
	u8 tclass = key->tclass & ~INET_ECN_MASK;
	u8 ttl = key->hop_limit ?: IPDEFTTL;
	struct ipv6hdr *ip6 = &h->ip6;
	struct iphdr *ip4 = &h->ip4;

	h->ipv6 = !ipv6_addr_v4mapped(&key->daddr);
	if (h->ipv6) {
		h->l3_len = sizeof(*ip6);
		ip6_flow_hdr(ip6, tclass, htonl(hroce_path_label(path, answer)));
		ip6->nexthdr = IPPROTO_UDP;
		ip6->hop_limit = ttl;
		ip6->saddr = key->saddr;
		ip6->daddr = key->daddr;
	} else {
		h->l3_len = sizeof(*ip4);
		ip4->version = 4;
		ip4->ihl = 5;
		ip4->tos = tclass;
		ip4->frag_off = htons(IP_DF);
		ip4->ttl = ttl;
		ip4->protocol = IPPROTO_UDP;
		ip4->check = 0;
		ip4->saddr = key->saddr.s6_addr32[3];
		ip4->daddr = key->daddr.s6_addr32[3];
	}
	hroce_headers_udp(h)->source = htons(path->sport[answer]);
	hroce_headers_udp(h)->dest = htons(HRW_UDP_PORT);
	hroce_headers_udp(h)->check = 0;
}

void hroce_headers_set_ect(struct hroce_headers *h, bool ect)
{
	u8 ecn = ect ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT;

	if (h->ipv6)
		ipv6_change_dsfield(&h->ip6, (u8)~INET_ECN_MASK, ecn);
	else
		h->ip4.tos = (h->ip4.tos & ~INET_ECN_MASK) | ecn;
}

void hroce_headers_set(struct hroce_headers *h, u32 len, u16 ip_id)
{
	len += sizeof(struct udphdr);
	hroce_headers_udp(h)->len = htons(len);
	if (h->ipv6) {
		h->ip6.payload_len = htons(len);
	} else {
		h->ip4.tot_len = htons(h->l3_len + len);
		h->ip4.id = htons(ip_id);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Frames to packets.
 *
 * A frame may be cloned (packet taps), and may be a super-packet that a sender
 * on this host or GRO made: it is never written to and never linearized. What
 * the ICRC covers of the headers of each packet in it is restored in a copy.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/dst_metadata.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>

#include "../section.h"
#include "crc.h"
#include "flow.h"
#include "icrc.h"
#include "policy.h"
#include "port.h"
#include "rx.h"

/**
 * struct rx_frame - what all packets of a frame have in common
 * @skb: frame
 * @l3: offset of the IP header from skb->data; negative if it came by the stack
 * @l3_len: its length
 * @udp_len: bytes behind the IP header
 * @ip_id: of the first packet
 * @icrc: of the last packet that has an ICRC
 * @hdr: IP and UDP header as received
 */
struct rx_frame {
	struct sk_buff *skb;
	int l3;
	u32 l3_len;
	u32 udp_len;
	u16 ip_id;
	struct hroce_icrc_last icrc;
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
		u8 bytes[sizeof(struct ipv6hdr) + sizeof(struct udphdr)];
	} hdr;
};

static DEFINE_PER_CPU(struct hroce_icrc_known, rx_icrc_known);

static struct udphdr *rx_udp(struct rx_frame *f)
{
	return (struct udphdr *)(f->hdr.bytes + f->l3_len);
}

static void rx_begin(struct rx_frame *f, struct hroce_rx *rx,
		     struct sk_buff *skb, int l3)
{
	f->skb = skb;
	f->l3 = l3;
	f->icrc.udp_len = 0;
	rx->ipv6 = false;
	rx->id_fixed = false;
	rx->held = NULL;
	rx->src = NULL;
	rx->seg = 0;
	rx->copies = 0;
}

static __always_inline bool rx_load_network(struct rx_frame *f,
					    struct hroce_rx *rx, u32 l3_len)
{
	f->l3_len = l3_len;
	hroce_cursor_begin(&rx->payload, f->skb, f->l3);
	return hroce_cursor_read(&rx->payload, f->hdr.bytes,
				 l3_len + sizeof(struct udphdr));
}

/* Is it a whole UDP datagram? Fragments and options are for the IP stack. */
static bool rx_ipv4(struct rx_frame *f, struct hroce_rx *rx)
{
	const struct iphdr *ip = &f->hdr.ip4;
	u32 tot_len;

	if (!rx_load_network(f, rx, sizeof(*ip)) || ip->version != 4 || ip->ihl != 5 ||
	    ip->protocol != IPPROTO_UDP || ip_is_fragment(ip) ||
	    ip_fast_csum(ip, ip->ihl))
		return false;
	tot_len = ntohs(ip->tot_len);
	if (tot_len < sizeof(*ip))
		return false;
	f->udp_len = tot_len - sizeof(*ip);
	f->ip_id = ntohs(ip->id);
	ipv6_addr_set_v4mapped(ip->saddr, &rx->saddr);
	ipv6_addr_set_v4mapped(ip->daddr, &rx->daddr);
	return true;
}

static bool rx_ipv6(struct rx_frame *f, struct hroce_rx *rx)
{
	const struct ipv6hdr *ip = &f->hdr.ip6;

	if (!rx_load_network(f, rx, sizeof(*ip)) || ip->version != 6 ||
	    ip->nexthdr != IPPROTO_UDP)
		return false;
	f->udp_len = ntohs(ip->payload_len);
	rx->saddr = ip->saddr;
	rx->daddr = ip->daddr;
	rx->ipv6 = true;
	return true;
}

/* Read the network headers. False: not ours, let it pass. */
static bool rx_headers(struct rx_frame *f, struct hroce_rx *rx)
{
	if (f->skb->protocol == htons(ETH_P_IP)) {
		if (!rx_ipv4(f, rx))
			return false;
	} else if (f->skb->protocol == htons(ETH_P_IPV6)) {
		if (!rx_ipv6(f, rx))
			return false;
	} else {
		return false;
	}
	rx->mcast = hroce_addr_is_multicast(&rx->daddr);
	return rx_udp(f)->dest == htons(HRW_UDP_PORT);
}

static __wsum rx_pseudo_sum(const struct rx_frame *f, bool ipv6, u32 udp_len)
{
	if (ipv6)
		return ~csum_unfold(csum_ipv6_magic(&f->hdr.ip6.saddr,
						    &f->hdr.ip6.daddr, udp_len,
						    IPPROTO_UDP, 0));
	return csum_tcpudp_nofold(f->hdr.ip4.saddr, f->hdr.ip4.daddr, udp_len,
				  IPPROTO_UDP, 0);
}

/* Zero means none, also with IPv6: RoCE hardware sends it so. */
static bool rx_udp_sum_ok(struct rx_frame *f, bool ipv6)
{
	const struct sk_buff *skb = f->skb;
	u32 udp_len = ntohs(rx_udp(f)->len);
	__wsum sum;

	if (!rx_udp(f)->check || skb_csum_unnecessary(skb))
		return true;
	if (skb->ip_summed == CHECKSUM_COMPLETE &&
	    skb->len == f->l3_len + udp_len)
		sum = csum_sub(skb->csum,
			       csum_partial(f->hdr.bytes, f->l3_len, 0));
	else
		sum = skb_checksum(skb, f->l3 + f->l3_len, udp_len, 0);
	return !csum_fold(csum_add(sum, rx_pseudo_sum(f, ipv6, udp_len)));
}

/*
 * Make the headers in the copy those of one packet of @len bytes of UDP, but
 * for checksums.
 */
static void rx_restore_headers(struct rx_frame *f, const struct hroce_rx *rx,
			       u32 len)
{
	rx_udp(f)->len = htons(len);
	if (rx->ipv6) {
		f->hdr.ip6.payload_len = htons(len);
		return;
	}
	f->hdr.ip4.tot_len = htons(f->l3_len + len);
	f->hdr.ip4.id = htons(f->ip_id + (rx->id_fixed ? 0 : rx->seg));
}

/* Continue @state, over the headers up to the BTH, to the payload. */
static u32 rx_icrc_extended(const struct hroce_rx *rx, u32 state)
{
	u32 len = hrp_opcode_hdr_len(rx->pkt.info) - sizeof(struct hrw_bth);

	if (!len)
		return state;
	return hroce_crc_update(false, state, rx->bth + sizeof(struct hrw_bth),
				len);
}

u32 hroce_rx_icrc_begin(const struct hroce_rx *rx)
{
	u32 l3_len = rx->ipv6 ? sizeof(struct ipv6hdr) : sizeof(struct iphdr);
	u32 state;

	state = hroce_icrc_headers(rx->l3, rx->ipv6, rx->l3 + l3_len, rx->bth);
	return rx_icrc_extended(rx, state);
}

/* The headers are read once, here. Returns HROCE_DROP_* or a negative number. */
static int rx_load(struct hroce_rx *rx)
{
	u32 avail = sizeof(struct hrw_bth), hdr_len;

	if (rx->len < avail || !hroce_cursor_read(&rx->payload, rx->bth, avail))
		return HROCE_DROP_SHORT;
	hdr_len = min(hrp_pkt_hdr_len(rx->bth), rx->len);
	if (hdr_len > avail &&
	    !hroce_cursor_read(&rx->payload, rx->bth + avail,
			       hdr_len - avail))
		return HROCE_DROP_SHORT;
	return -hrp_pkt_parse(&rx->pkt, rx->bth, hdr_len, rx->len) - 1;
}

static void rx_packet(struct rx_frame *f, struct hroce_rx *rx)
{
	int drop = rx_load(rx);
	u32 state;

	if (drop >= 0) {
		hroce_port_stat_inc(rx->port, drop);
		return;
	}
	if (!rx->trusted) {
		if (skb_is_gso(f->skb))
			rx_restore_headers(f, rx,
					   sizeof(struct udphdr) + rx->len);
		state = hroce_icrc_begin(this_cpu_ptr(&rx_icrc_known), &f->icrc,
					 f->hdr.bytes, rx->ipv6, rx_udp(f),
					 rx->bth);
		rx->icrc = rx_icrc_extended(rx, state);
	}
	hroce_rx_packet(rx);
}

/* The lengths must fit: what is cut off here would make no sense later. */
static bool rx_lengths_ok(struct rx_frame *f, const struct hroce_rx *rx)
{
	u32 udp_len = ntohs(rx_udp(f)->len);
	enum hroce_stat reason;

	if (f->l3 + (int)(f->l3_len + f->udp_len) > (int)f->skb->len)
		reason = HROCE_DROP_SHORT;
	else if (udp_len < sizeof(struct udphdr) || udp_len > f->udp_len)
		reason = HROCE_DROP_LENGTH;
	else
		return true;
	hroce_port_stat_inc(rx->port, HROCE_EV_RX_PACKETS);
	hroce_port_stat_inc(rx->port, reason);
	return false;
}

/* The upcall may have gone too far, in vain. */
static void rx_seek(struct rx_frame *f, struct hroce_rx *rx, u32 pos)
{
	if (unlikely(rx->payload.pos > pos))
		hroce_cursor_begin(&rx->payload, f->skb, f->l3);
	hroce_cursor_skip(&rx->payload, pos - rx->payload.pos);
}

/* The upcall may take more than one packet. In a section. */
static void rx_frame(struct rx_frame *f, struct hroce_rx *rx)
{
	u32 len = ntohs(rx_udp(f)->len) - sizeof(struct udphdr);
	u32 seg_len = skb_is_gso(f->skb) ? skb_shinfo(f->skb)->gso_size : len;
	u32 begin = rx->payload.pos, offset = begin;

	rx->skb = f->skb;
	rx->l3 = f->hdr.bytes;
	rx->trusted = hroce_flow_trusts(f->skb, &rx->daddr);
	rx->end = begin + len;
	rx->vector = !rx->trusted && hroce_crc_begin(len);
	do {
		rx_seek(f, rx, offset);
		rx->len = min(seg_len, rx->end - offset);
		rx_packet(f, rx);
		offset = begin + ++rx->seg * seg_len;
	} while (offset < rx->end);
	hroce_crc_end(rx->vector);
	hroce_port_stat_add(rx->port, HROCE_EV_RX_PACKETS, rx->seg);
}

/*
 * The frame has been freed: a sender on this host may hold back what is answered
 * now until then.
 */
static void rx_end(const struct hroce_rx *rx)
{
	if (rx->held)
		hroce_rx_end(rx->held);
}

/**
 * struct rx_source - a source that was found good
 * @port: by which a packet came from it
 * @saddr: source
 * @when: in jiffies: that holds no longer than one, as addresses may be added
 */
struct rx_source {
	const struct hroce_port *port;
	struct in6_addr saddr;
	unsigned long when;
};

#define RX_SOURCES	8	/* remembered by each CPU, by the end of the address */

static DEFINE_PER_CPU(struct rx_source [RX_SOURCES], rx_source_known);

static noinline bool rx_source_check(const struct hroce_rx *rx,
				     struct rx_source *known)
{
	if (!hroce_policy_source_ok(rx->port->dev, &rx->saddr)) {
		hroce_port_stat_inc(rx->port, HROCE_EV_RX_PACKETS);
		hroce_port_stat_inc(rx->port, HROCE_DROP_SOURCE);
		return false;
	}
	known->port = rx->port;
	known->saddr = rx->saddr;
	known->when = jiffies;
	return true;
}

static __always_inline bool rx_source_ok(const struct hroce_rx *rx)
{
	struct rx_source *known = this_cpu_ptr(rx_source_known);

	known += rx->saddr.s6_addr[15] % RX_SOURCES;
	if (likely(known->port == rx->port &&
		   !time_before(known->when, jiffies) &&
		   ipv6_addr_equal(&known->saddr, &rx->saddr)))
		return true;
	return rx_source_check(rx, known);
}

/* Super-packets of which we know how they were put together. */
static bool rx_gso_ok(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	return !skb_is_gso(skb) ||
	       (shinfo->gso_type & SKB_GSO_UDP_L4 && shinfo->gso_size);
}

bool hroce_rx_from_dev(struct hroce_port *port, struct sk_buff *skb)
{
	struct rx_frame f __uninitialized;
	struct hroce_rx rx __uninitialized;
	bool good;

	/* A tag that is still there belongs to another netdev. */
	if (skb->pkt_type == PACKET_OTHERHOST || skb_vlan_tag_get_id(skb) ||
	    !rx_gso_ok(skb))
		return false;
	rx_begin(&f, &rx, skb, 0);
	rx.port = port;
	if (!rx_headers(&f, &rx) ||
	    (!rx.mcast && !hroce_port_has_addr(port, &rx.daddr)))
		return false;
	if (hroce_policy_in(port, skb, rx.ipv6))
		return false;
	/* A frame that a link of this host has handed over has a route. */
	good = (skb_valid_dst(skb) || rx_source_ok(&rx)) &&
	       rx_lengths_ok(&f, &rx);
	/* The IP stack counts, and drops, what is wrong there. */
	if (good && !rx_udp_sum_ok(&f, rx.ipv6))
		return false;
	hroce_section_begin();
	if (good)
		rx_frame(&f, &rx);
	/* So that its head serves the next transmission of this CPU. */
	napi_consume_skb(skb, 1);
	rx_end(&rx);
	hroce_section_end();
	return true;
}

/* The netdev of a frame that came up the IP stack, where a VRF takes its place. */
static struct net_device *rx_dev(const struct sk_buff *skb, bool ipv6)
{
	int ifindex = ipv6 ? inet6_sdif(skb) : inet_sdif(skb);
	struct net_device *dev = NULL;

	if (ifindex)
		dev = dev_get_by_index_rcu(dev_net(skb->dev), ifindex);
	return dev ?: skb->dev;
}

/*
 * IPv4 has checked the source. IPv6 does not refuse own addresses; what has come
 * by the loopback device, or a VRF in its place, has one.
 */
static bool rx_stack_source_ok(const struct hroce_rx *rx,
			       const struct net_device *dev)
{
	return !rx->ipv6 || rx->mcast || dev->flags & IFF_LOOPBACK ||
	       netif_is_l3_master(dev) || rx_source_ok(rx);
}

void hroce_rx_from_stack(struct sk_buff *skb)
{
	const struct net_device *dev;
	struct rx_frame f __uninitialized;
	struct hroce_rx rx __uninitialized;

	rx_begin(&f, &rx, skb, skb_network_offset(skb));
	hroce_section_begin();
	if (rx_gso_ok(skb) && rx_headers(&f, &rx)) {
		dev = rx_dev(skb, rx.ipv6);
		rx.port = rx.mcast ? hroce_port_find_dev(dev) :
				     hroce_port_find(dev, &rx.daddr);
		if (rx.port && rx_stack_source_ok(&rx, dev) &&
		    rx_lengths_ok(&f, &rx))
			rx_frame(&f, &rx);
	}
	consume_skb(skb);
	rx_end(&rx);
	hroce_section_end();
}

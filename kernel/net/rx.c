// SPDX-License-Identifier: GPL-2.0
/*
 * Frames to packets.
 *
 * A frame may be cloned (packet taps), or a super-packet made by GRO or a
 * sender on this host, so it is never written to and never linearized. The
 * headers of each packet, as its ICRC covers them, are restored in a copy.
 *
 * A frame that an XDP program hands over has no sk_buff. What is wrong with it,
 * the IP stack finds and counts: it gets all that is not taken here.
 */
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/dst_metadata.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/xdp.h>

#include "../compat/net.h"
#include "crc.h"
#include "path.h"
#include "icrc.h"
#include "policy.h"
#include "port.h"
#include "rx.h"

static DEFINE_PER_CPU(struct hroce_icrc_known, rx_icrc_known);

static __always_inline void rx_begin(struct hroce_rx_frame *f,
				     struct sk_buff *skb,
				     struct xdp_buff *xdp, bool by_stack)
{
	f->skb = skb;
	f->xdp = xdp;
	f->id_fixed = false;
	f->by_stack = by_stack;
	f->super = skb && skb_is_gso(skb);
	f->joined = false;
	f->refused = false;
	f->next = 0;
	f->known_len = U32_MAX;
	f->icrc.len = 0;
}

/*
 * Offset of the IP header from the data of the frame, which begins behind it if
 * the IP stack has had it.
 */
static __always_inline int rx_l3(const struct hroce_rx_frame *f)
{
	if (f->xdp)
		return ETH_HLEN;
	return f->by_stack ? skb_network_offset(f->skb) : 0;
}

/* Bytes from the IP header to the end. */
static __always_inline u32 rx_len(const struct hroce_rx_frame *f)
{
	u32 len = f->xdp ? xdp_get_buff_len(f->xdp) :
			   f->skb->len;

	return len - rx_l3(f);
}

/* Go to the IP header. */
static __always_inline void rx_rewind(struct hroce_rx_frame *f)
{
	if (f->xdp)
		hroce_cursor_begin_xdp(&f->at, f->xdp, rx_l3(f));
	else
		hroce_cursor_begin(&f->at, f->skb, rx_l3(f));
}

static __always_inline bool rx_load_network(struct hroce_rx_frame *f, bool ipv6)
{
	const u32 l3_len = ipv6 ? sizeof(f->hdr.ip6) : sizeof(f->hdr.ip4);

	f->hdr.ipv6 = ipv6;
	f->hdr.l3_len = l3_len;
	rx_rewind(f);
	return hroce_cursor_read(&f->at, f->hdr.bytes,
				 l3_len + sizeof(struct udphdr));
}

static __always_inline bool rx_take_ipv4(struct hroce_rx_frame *f,
					 u32 *udp_len)
{
	const struct iphdr *ip = &f->hdr.ip4;
	u32 tot_len = ntohs(ip->tot_len);

	if (tot_len < sizeof(*ip))
		return false;
	*udp_len = tot_len - sizeof(*ip);
	f->ip_id = ntohs(ip->id);
	ipv6_addr_set_v4mapped(ip->saddr, &f->saddr);
	ipv6_addr_set_v4mapped(ip->daddr, &f->daddr);
	return true;
}

/* Is it a whole UDP datagram? The IP stack handles fragments and options. */
static bool rx_ipv4(struct hroce_rx_frame *f, u32 *udp_len)
{
	const struct iphdr *ip = &f->hdr.ip4;

	if (!rx_load_network(f, false) || ip->version != 4 || ip->ihl != 5 ||
	    ip->protocol != IPPROTO_UDP || ip_is_fragment(ip) ||
	    ip_fast_csum(ip, ip->ihl))
		return false;
	f->ce = INET_ECN_is_ce(ip->tos);
	return rx_take_ipv4(f, udp_len);
}

static bool rx_ipv6(struct hroce_rx_frame *f, u32 *udp_len)
{
	const struct ipv6hdr *ip = &f->hdr.ip6;

	if (!rx_load_network(f, true) || ip->version != 6 ||
	    ip->nexthdr != IPPROTO_UDP || hroce_ip6_is_mapped(ip))
		return false;
	*udp_len = ntohs(ip->payload_len);
	f->ce = INET_ECN_is_ce(ipv6_get_dsfield(ip));
	f->saddr = ip->saddr;
	f->daddr = ip->daddr;
	return true;
}

/*
 * Read the network headers of an Ethernet type; @udp_len: bytes behind the IP
 * header. Return: false if the frame is not RoCEv2.
 */
static noinline bool rx_headers(struct hroce_rx_frame *f, __be16 type,
				u32 *udp_len)
{
	if (type == htons(ETH_P_IP)) {
		if (!rx_ipv4(f, udp_len))
			return false;
	} else if (type == htons(ETH_P_IPV6)) {
		if (!rx_ipv6(f, udp_len))
			return false;
	} else {
		return false;
	}
	f->mcast = hroce_addr_is_multicast(&f->daddr);
	return hroce_headers_udp(&f->hdr)->dest == htons(HRW_UDP_PORT);
}

static __wsum rx_pseudo_sum(const struct hroce_headers *hdr, u32 udp_len)
{
	if (hdr->ipv6)
		return ~csum_unfold(csum_ipv6_magic(&hdr->ip6.saddr,
						    &hdr->ip6.daddr, udp_len,
						    IPPROTO_UDP, 0));
	return csum_tcpudp_nofold(hdr->ip4.saddr, hdr->ip4.daddr, udp_len,
				  IPPROTO_UDP, 0);
}

/* A zero checksum means none, with IPv6 too: RoCE hardware sends it. */
static bool rx_udp_sum_ok(struct hroce_rx_frame *f)
{
	struct udphdr *udp = hroce_headers_udp(&f->hdr);
	const struct sk_buff *skb = f->skb;
	u32 udp_len = ntohs(udp->len);
	__wsum sum;

	if (!udp->check || skb_csum_unnecessary(skb))
		return true;
	if (skb->ip_summed == CHECKSUM_COMPLETE &&
	    skb->len == f->hdr.l3_len + udp_len)
		sum = csum_sub(skb->csum,
			       csum_partial(f->hdr.bytes, f->hdr.l3_len, 0));
	else
		sum = skb_checksum(skb, f->hdr.l3_len, udp_len, 0);
	return !csum_fold(csum_add(sum, rx_pseudo_sum(&f->hdr, udp_len)));
}

/* rx_load() for headers that need not be in one piece. */
static noinline int rx_load_pieces(struct hroce_rx_frame *f,
				   struct hroce_rx_packet *p)
{
	u32 avail = sizeof(struct hrw_bth), hdr_len;

	if (p->len < avail || !hroce_cursor_read(&f->at, p->bth, avail))
		return HROCE_DROP_SHORT;
	hdr_len = min(hrp_pkt_hdr_len(p->bth), p->len);
	if (hdr_len > avail &&
	    !hroce_cursor_read(&f->at, p->bth + avail, hdr_len - avail))
		return HROCE_DROP_SHORT;
	return -hrp_pkt_parse(&p->pkt, p->bth, hdr_len, p->len) - 1;
}

/* Bytes of an acknowledgement. */
#define RX_ACK_LEN	(sizeof(struct hrw_bth) + sizeof(struct hrw_aeth) + \
			 HRW_ICRC_LEN)

/* What identifies the headers of a packet, but for PSN and extended headers. */
static u64 rx_first_words(const struct hroce_rx_packet *p)
{
	return get_unaligned((const u64 *)p->bth);
}

/*
 * Read the headers once. A copy of constant length is short; what is behind the
 * headers is not used. If the packet is like the one before, so are its checks.
 * Return: HROCE_DROP_* or a negative number.
 */
static __always_inline int rx_load(struct hroce_rx_frame *f,
				   struct hroce_rx_packet *p)
{
	const u64 before = rx_first_words(p);
	const u32 known_len = f->known_len;
	int err;

	f->known_len = U32_MAX;
	if (likely(f->at.left >= sizeof(p->bth)))
		memcpy(p->bth, f->at.data, sizeof(p->bth));
	else if (p->len == RX_ACK_LEN && f->at.left >= RX_ACK_LEN)
		memcpy(p->bth, f->at.data, RX_ACK_LEN);
	else
		return rx_load_pieces(f, p);
	if (known_len == p->len && rx_first_words(p) == before) {
		hrp_pkt_parse_next(&p->pkt, p->bth);
	} else {
		err = hrp_pkt_parse(&p->pkt, p->bth, sizeof(p->bth), p->len);
		if (unlikely(err))
			return -err - 1;
	}
	f->known_len = p->len;
	hroce_cursor_step(&f->at, hrp_opcode_hdr_len(p->pkt.info));
	return -1;
}

/* CRC state over the headers of a packet of a super-packet, up to the BTH. */
static __always_inline u32 rx_icrc_super(struct hroce_rx_frame *f,
					 const struct hroce_rx_packet *p)
{
	return hroce_headers_icrc(&f->hdr, &rx_icrc_known, &f->icrc, p->len,
				  hroce_rx_ip_id(f), p->bth);
}

static __always_inline void rx_icrc_begin(struct hroce_rx_frame *f,
					  struct hroce_rx_packet *p)
{
	u32 len = hrp_opcode_hdr_len(p->pkt.info) - sizeof(struct hrw_bth);

	if (f->super)
		p->icrc = rx_icrc_super(f, p);
	else
		p->icrc = hroce_icrc_recall(this_cpu_ptr(&rx_icrc_known),
					    f->hdr.bytes, f->hdr.ipv6,
					    hroce_headers_udp(&f->hdr), p->bth);
	if (len)
		p->icrc = hroce_crc_update(f->vector, p->icrc,
					   p->bth + sizeof(struct hrw_bth),
					   len);
}

void hroce_rx_icrc_begin(struct hroce_rx_frame *f, struct hroce_rx_packet *p)
{
	rx_icrc_begin(f, p);
}

bool hroce_rx_refuse(struct hroce_rx_frame *f, enum hroce_stat reason)
{
	/* Of two packets, one may have been taken. */
	if (f->xdp && !f->joined) {
		f->refused = true;
		return false;
	}
	hroce_port_stat_inc(f->port, reason);
	return true;
}

u32 hroce_rx_napi(const struct hroce_rx_frame *f)
{
	if (f->xdp)
		return hroce_rxq_napi(f->xdp->rxq);
#ifdef CONFIG_NET_RX_BUSY_POLL
	return f->skb->napi_id;
#else
	return 0;
#endif
}

/* Refuse a frame as a whole. Returns false. */
static __cold bool rx_drop(struct hroce_rx_frame *f, enum hroce_stat reason)
{
	if (!hroce_rx_refuse(f, reason))
		return false;
	hroce_port_stat_inc(f->port, HROCE_EV_RX_PACKETS);
	hroce_port_stat_inc(f->port, HROCE_EV_RX_FRAMES);
	hroce_port_stat_add(f->port, HROCE_EV_RX_WIRE, rx_len(f));
	if (f->mcast)
		hroce_port_stat_inc(f->port, HROCE_EV_RX_MCAST);
	return false;
}

/*
 * Check the lengths; @len: from the IP header to the end, @max_len: behind it by
 * the IP header. A truncated frame cannot be split into packets.
 */
static __always_inline bool rx_lengths_ok(struct hroce_rx_frame *f, u32 len,
					  u32 max_len)
{
	u32 udp_len = ntohs(hroce_headers_udp(&f->hdr)->len);

	if (f->hdr.l3_len + max_len > len)
		return rx_drop(f, HROCE_DROP_SHORT);
	if (udp_len < sizeof(struct udphdr) || udp_len > max_len)
		return rx_drop(f, HROCE_DROP_LENGTH);
	return true;
}

static noinline void rx_go_back(struct hroce_rx_frame *f)
{
	rx_rewind(f);
}

/* Placing, or the search for a run, may have advanced the cursor too far. */
static __always_inline void rx_seek(struct hroce_rx_frame *f, u32 pos)
{
	if (unlikely(f->at.pos > pos))
		rx_go_back(f);
	hroce_cursor_skip(&f->at, pos - f->at.pos);
}

void hroce_rx_seek(struct hroce_rx_frame *f, u32 pos)
{
	rx_seek(f, pos);
}

static void rx_free(struct hroce_rx_frame *f)
{
	/* The driver recycles what an XDP program drops. */
	if (f->xdp)
		return;
	/* Recycle the head for the next transmission of this CPU. */
	if (!f->by_stack)
		napi_consume_skb(f->skb, 1);
	else
		consume_skb(f->skb);
}

/* Is the packet at @f->at marked, whose BTH is in several pieces? */
static noinline bool rx_is_joined_pieces(const struct hroce_rx_frame *f)
{
	u8 bth[sizeof(struct hrw_bth)] __uninitialized;
	struct hroce_cursor at = f->at;

	return hroce_cursor_read(&at, bth, sizeof(bth)) &&
	       hrp_bth_is_joined(bth);
}

static __always_inline bool rx_is_joined(const struct hroce_rx_frame *f)
{
	if (likely(f->at.left >= sizeof(struct hrw_bth)))
		return hrp_bth_is_joined(f->at.data);
	return rx_is_joined_pieces(f);
}

/* All packets but the last have one length, so the ACK may not be longer. */
static noinline void rx_split(struct hroce_rx_frame *f)
{
	if (f->super || f->seg_len < 2 * HRP_JOINED_LEN)
		return;
	f->super = true;
	f->joined = true;
	f->seg_len -= HRP_JOINED_LEN;
}

static __always_inline void rx_receive(struct hroce_rx_frame *f)
{
	u32 len = ntohs(hroce_headers_udp(&f->hdr)->len) -
		  sizeof(struct udphdr);

	f->begin = f->at.pos;
	f->seg_len = f->super ? skb_shinfo(f->skb)->gso_size : len;
	f->end = f->begin + len;
	if (unlikely(rx_is_joined(f)))
		rx_split(f);
	f->trusted = f->skb && hroce_path_trusts(f->skb, &f->daddr);
	f->vector = !f->trusted && hroce_crc_begin(len);
	f->counted = 0;
	f->stats = f->port->stats;
	f->port->ops->receive(f);
}

static __always_inline void rx_count(struct hroce_rx_frame *f, u32 counted,
				     u32 nr)
{
	u32 begin = counted * f->seg_len;
	u32 end = min(nr * f->seg_len, f->end - f->begin);
	u32 new = nr - counted;
	u32 hdrs = f->joined ? !counted : new;

	hroce_stats_add(f->stats, HROCE_EV_RX_PACKETS, new);
	hroce_stats_add(f->stats, HROCE_EV_RX_WIRE,
			end - begin + hdrs * hroce_headers_len(&f->hdr));
	if (f->mcast)
		hroce_stats_add(f->stats, HROCE_EV_RX_MCAST, new);
	if (unlikely(f->ce))
		hroce_stats_add(f->stats, HROCE_EV_ECN_MARKED, new);
	f->counted = nr;
}

void hroce_rx_count(struct hroce_rx_frame *f, u32 nr)
{
	rx_count(f, f->counted, nr);
}

static u32 rx_next_pos(const struct hroce_rx_frame *f)
{
	return f->begin + f->next * f->seg_len;
}

/* Go to the next packet of a super-packet. */
static void rx_go(struct hroce_rx_frame *f, struct hroce_rx_packet *p)
{
	u32 pos = rx_next_pos(f);

	rx_seek(f, pos);
	p->len = min(f->seg_len, f->end - pos);
}

/* Return: false if the packet was dropped. */
static noinline bool rx_take(struct hroce_rx_frame *f,
			     struct hroce_rx_packet *p)
{
	int drop;

	if (f->super)
		rx_go(f, p);
	else
		p->len = f->seg_len;
	f->next++;
	drop = rx_load(f, p);
	if (unlikely(drop >= 0)) {
		hroce_rx_refuse(f, drop);
		return false;
	}
	if (!f->trusted)
		rx_icrc_begin(f, p);
	return true;
}

static noinline bool rx_end(struct hroce_rx_frame *f)
{
	hroce_crc_end(f->vector);
	if (!f->refused) {
		/* With constants, it is short. */
		if (likely(f->next == 1 && !f->counted))
			rx_count(f, 0, 1);
		else
			rx_count(f, f->counted, f->next);
		hroce_stats_add(f->stats, HROCE_EV_RX_FRAMES, 1);
		/* The epoch of the caller keeps the set. */
		if (f->xdp)
			hroce_stats_add(f->stats, HROCE_EV_RX_XDP, 1);
	}
	rx_free(f);
	return false;
}

bool hroce_rx_next(struct hroce_rx_frame *f, struct hroce_rx_packet *p)
{
	do {
		/* An empty frame has one packet, which is too short. */
		if (f->next && rx_next_pos(f) >= f->end)
			return rx_end(f);
	} while (unlikely(!rx_take(f, p)));
	return true;
}

/**
 * struct rx_known - IPv4 headers that were found good
 * @port: port that received a packet with them, not marked by a switch
 * @when: time of the checks, see &struct rx_source
 * @addr_seq: state of the addresses of the port then
 * @sum: of the rest of the IP header, see rx_ip4_sum()
 * @hdr: IP header, and the UDP ports; without what rx_is_known() leaves out
 */
struct rx_known {
	const struct hroce_port *port;
	unsigned long when;
	u32 addr_seq;
	u16 sum;
	u8 hdr[sizeof(struct iphdr) + 2 * sizeof(__be16)];
} ____cacheline_aligned;

#define RX_KNOWN	16	/* per CPU, indexed by the last byte of the source */

static DEFINE_PER_CPU_ALIGNED(struct rx_known [RX_KNOWN], rx_known);

/* The fields before and behind the length and identification. */
#define RX_TOS_END	offsetof(struct iphdr, tot_len)
#define RX_FRAG		offsetof(struct iphdr, frag_off)
#define RX_FRAG_END	offsetof(struct iphdr, check)
#define RX_ADDRS	offsetof(struct iphdr, saddr)
#define RX_DEST		(sizeof(struct iphdr) + offsetof(struct udphdr, dest))

/*
 * One's complement sum of the fields that differ between packets. If the other
 * fields are the same, this is the same where the header is correct.
 */
static __always_inline u16 rx_ip4_sum(const struct iphdr *ip)
{
	u32 sum = (__force u16)ip->tot_len + (__force u16)ip->id +
		  (__force u16)ip->check;

	sum = (sum & 0xffff) + (sum >> 16);
	return sum + (sum >> 16);
}

static struct rx_known *rx_known_of(const struct hroce_rx_frame *f)
{
	return this_cpu_ptr(rx_known) + f->hdr.bytes[RX_ADDRS + 3] % RX_KNOWN;
}

/*
 * The usual packet comes from where the one before came from. Is it such a
 * packet, with another length, identification and source port?
 */
static __always_inline bool rx_is_known(const struct hroce_rx_frame *f)
{
	const struct rx_known *known = rx_known_of(f);
	const u8 *hdr = f->hdr.bytes;

	return known->port == f->port && !time_before(known->when, jiffies) &&
	       known->addr_seq == READ_ONCE(f->port->addr_seq) &&
	       !memcmp(known->hdr, hdr, RX_TOS_END) &&
	       !memcmp(known->hdr + RX_FRAG, hdr + RX_FRAG,
		       RX_FRAG_END - RX_FRAG) &&
	       !memcmp(known->hdr + RX_ADDRS, hdr + RX_ADDRS,
		       2 * sizeof(__be32)) &&
	       !memcmp(known->hdr + RX_DEST, hdr + RX_DEST, sizeof(__be16)) &&
	       known->sum == rx_ip4_sum(&f->hdr.ip4);
}

/* As rx_headers(), if they are known. */
static __always_inline bool rx_recall(struct hroce_rx_frame *f, __be16 type,
				      u32 *udp_len)
{
	if (type != htons(ETH_P_IP) || !rx_load_network(f, false) ||
	    !rx_is_known(f) || !rx_take_ipv4(f, udp_len))
		return false;
	f->ce = false;
	f->mcast = false;
	return true;
}

/* All checks of the headers have passed, but for those of lengths. */
static void rx_remember(const struct hroce_rx_frame *f, u32 addr_seq)
{
	struct rx_known *known = rx_known_of(f);

	if (f->hdr.ipv6 || f->ce || f->mcast)
		return;
	known->port = f->port;
	known->when = jiffies;
	known->addr_seq = addr_seq;
	known->sum = rx_ip4_sum(&f->hdr.ip4);
	memcpy(known->hdr, f->hdr.bytes, sizeof(known->hdr));
}

/**
 * struct rx_source - a source that was found valid
 * @port: port that received a packet from it
 * @saddr: source
 * @when: time of the check, in jiffies; valid for that jiffy only, as addresses
 *	may be added
 */
struct rx_source {
	const struct hroce_port *port;
	struct in6_addr saddr;
	unsigned long when;
};

#define RX_SOURCES	8	/* per CPU, indexed by the last byte */

static DEFINE_PER_CPU(struct rx_source [RX_SOURCES], rx_source_known);

static noinline bool rx_source_check(struct hroce_rx_frame *f,
				     struct rx_source *known)
{
	if (!hroce_policy_source_ok(f->port->dev, &f->saddr))
		return rx_drop(f, HROCE_DROP_SOURCE);
	known->port = f->port;
	known->saddr = f->saddr;
	known->when = jiffies;
	return true;
}

static __always_inline bool rx_source_ok(struct hroce_rx_frame *f)
{
	struct rx_source *known = this_cpu_ptr(rx_source_known);

	known += f->saddr.s6_addr[15] % RX_SOURCES;
	if (likely(known->port == f->port &&
		   !time_before(known->when, jiffies) &&
		   ipv6_addr_equal(&known->saddr, &f->saddr)))
		return true;
	return rx_source_check(f, known);
}

/* Are the headers those of RoCEv2, for the port? See rx_remember(). */
static noinline bool rx_is_ours(struct hroce_rx_frame *f, __be16 type,
				u32 *udp_len, u32 *addr_seq)
{
	/* Pairs with hroce_port_addr_set(). */
	*addr_seq = smp_load_acquire(&f->port->addr_seq);
	return rx_headers(f, type, udp_len) &&
	       (f->mcast || hroce_port_has_addr(f->port, &f->daddr));
}

static noinline bool rx_meet(struct hroce_rx_frame *f, u32 addr_seq)
{
	if (!rx_source_ok(f))
		return false;
	rx_remember(f, addr_seq);
	return true;
}

/* Is it a single packet, or a super-packet of a known layout? */
static bool rx_gso_ok(const struct sk_buff *skb)
{
	const struct skb_shared_info *shinfo = skb_shinfo(skb);

	return !skb_is_gso(skb) ||
	       (shinfo->gso_type & SKB_GSO_UDP_L4 && shinfo->gso_size);
}

bool hroce_rx_from_dev(struct hroce_port *port, struct sk_buff *skb)
{
	struct hroce_rx_frame f __uninitialized;
	u32 udp_len, addr_seq = 0;
	bool known, good;

	/* A remaining VLAN tag belongs to another netdev. */
	if (skb->pkt_type == PACKET_OTHERHOST || skb_vlan_tag_get_id(skb) ||
	    !rx_gso_ok(skb))
		return false;
	rx_begin(&f, skb, NULL, false);
	f.port = port;
	known = rx_recall(&f, skb->protocol, &udp_len);
	if (unlikely(!known) &&
	    !rx_is_ours(&f, skb->protocol, &udp_len, &addr_seq))
		return false;
	if (hroce_policy_in(port, skb, f.hdr.ipv6))
		return false;
	good = (known || hroce_policy_delivered(skb) ||
		rx_meet(&f, addr_seq)) &&
	       rx_lengths_ok(&f, skb->len, udp_len);
	/* Leave a bad checksum to the IP stack, which counts and drops it. */
	if (good && !rx_udp_sum_ok(&f))
		return false;
	if (good)
		rx_receive(&f);
	else
		rx_free(&f);
	return true;
}

/*
 * The UDP checksum is not looked at: nothing tells whether the card has, and the
 * ICRC covers the same.
 */
bool hroce_rx_from_xdp(struct hroce_port *port, struct xdp_buff *xdp)
{
	const struct ethhdr *eth = xdp->data;
	struct hroce_rx_frame f __uninitialized;
	u32 udp_len, addr_seq = 0;
	bool known;

	rx_begin(&f, NULL, xdp, false);
	f.port = port;
	known = rx_recall(&f, eth->h_proto, &udp_len);
	if (unlikely(!known) &&
	    (!rx_is_ours(&f, eth->h_proto, &udp_len, &addr_seq) || f.mcast))
		return false;
	if (hroce_policy_in(port, NULL, f.hdr.ipv6) ||
	    !(known || rx_meet(&f, addr_seq)) ||
	    !rx_lengths_ok(&f, rx_len(&f), udp_len))
		return false;
	rx_receive(&f);
	return !f.refused;
}

/* Netdev that received a frame from the IP stack: skb->dev may be a VRF. */
static struct net_device *rx_dev(const struct sk_buff *skb, bool ipv6)
{
	int ifindex = ipv6 ? inet6_sdif(skb) : inet_sdif(skb);
	struct net_device *dev = NULL;

	if (ifindex)
		dev = dev_get_by_index_rcu(dev_net(skb->dev), ifindex);
	return dev ?: skb->dev;
}

/*
 * IPv4 has checked the source. IPv6 accepts its own addresses, which are valid
 * on frames from the loopback device, or from a VRF in its place.
 */
static bool rx_stack_source_ok(struct hroce_rx_frame *f,
			       const struct net_device *dev)
{
	return !f->hdr.ipv6 || f->mcast || dev->flags & IFF_LOOPBACK ||
	       netif_is_l3_master(dev) || rx_source_ok(f);
}

/* Find the port of the frame. Return: false if it must be dropped. */
static bool rx_stack_ok(struct hroce_rx_frame *f)
{
	const struct net_device *dev;
	u32 udp_len;

	if (!rx_gso_ok(f->skb) || !rx_headers(f, f->skb->protocol, &udp_len))
		return false;
	dev = rx_dev(f->skb, f->hdr.ipv6);
	f->port = f->mcast ? hroce_port_find_dev(dev) :
			     hroce_port_find(dev_net(dev), dev, &f->daddr);
	return f->port && rx_stack_source_ok(f, dev) &&
	       rx_lengths_ok(f, rx_len(f), udp_len);
}

void hroce_rx_from_stack(struct sk_buff *skb)
{
	struct hroce_rx_frame f __uninitialized;

	rx_begin(&f, skb, NULL, true);
	if (rx_stack_ok(&f))
		rx_receive(&f);
	else
		rx_free(&f);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Generic receive offload.
 *
 * Cards deliver packets one by one. GRO calls the fallback socket for each, and
 * packets that are consecutive become one super-packet, as if the sender's had
 * arrived whole. The sk_buffs are chained by frag_list; each but the first
 * begins at its BTH.
 *
 * Only what the ingress hook takes is merged: frames for an address of the port
 * on this netdev, or on its VLAN, bond or bridge, that rules do not send up the
 * IP stack. What is forwarded keeps its form.
 *
 * Packets of a flow are never reordered. UDP ports and destination QP make a
 * flow. A packet that does not continue the held frame of its flow ends it, and
 * GRO delivers that first.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/gro.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>

#include "../proto/pkt.h"
#include "gro.h"
#include "policy.h"
#include "port.h"

/* Maximum number of packets in a frame, and their size with the IP header. */
#define GRO_PKTS	64
#define GRO_BYTES	65535

#define GRO_OFF4	(sizeof(struct iphdr) + sizeof(struct udphdr))
#define GRO_OFF6	(sizeof(struct ipv6hdr) + sizeof(struct udphdr))

/**
 * struct gro_packet - a packet that may be merged
 * @skb: its sk_buff
 * @hdr: IP header without options, and UDP header
 * @bth: BTH, read for this decision only
 * @off: offset of the BTH from @hdr, and from skb->data
 * @ipv6: IPv6, else IPv4
 */
struct gro_packet {
	struct sk_buff *skb;
	const void *hdr;
	const void *bth;
	u32 off;
	bool ipv6;
};

static const struct udphdr *gro_udp(const void *hdr, u32 off)
{
	return hdr + off - sizeof(struct udphdr);
}

static const void *gro_bth(const struct sk_buff *skb, u32 off, void *buf)
{
	return skb_header_pointer(skb, off, sizeof(struct hrw_bth), buf);
}

/* False if there are headers between the Ethernet header and UDP but IP's. */
static bool gro_load(struct gro_packet *new, struct sk_buff *skb, void *buf)
{
	new->skb = skb;
	new->off = skb_gro_offset(skb);
	new->ipv6 = skb->protocol == htons(ETH_P_IPV6);
	if (new->ipv6 ? new->off != GRO_OFF6 :
			new->off != GRO_OFF4 ||
			skb->protocol != htons(ETH_P_IP))
		return false;
	new->hdr = skb_gro_header(skb, new->off, 0);
	new->bth = gro_bth(skb, new->off, buf);
	return new->hdr && new->bth;
}

static bool gro_same_vlan(const struct sk_buff *a, const struct sk_buff *b)
{
	if (skb_vlan_tag_present(a) != skb_vlan_tag_present(b))
		return false;
	return !skb_vlan_tag_present(a) ||
	       (skb_vlan_tag_get(a) == skb_vlan_tag_get(b) &&
		a->vlan_proto == b->vlan_proto);
}

/* Same addresses, UDP ports and VLAN? GRO has compared only same_flow ones. */
static bool gro_same_addrs(const struct gro_packet *new,
			   const struct sk_buff *p)
{
	const u32 from = new->ipv6 ? offsetof(struct ipv6hdr, saddr) :
				     offsetof(struct iphdr, saddr);

	return p->dev == new->skb->dev && p->protocol == new->skb->protocol &&
	       gro_same_vlan(p, new->skb) &&
	       skb_headlen(p) >= new->off &&
	       !memcmp(p->data + from, new->hdr + from,
		       new->off - from - offsetof(struct udphdr, len));
}

/* The held frame of the same flow. */
static struct sk_buff *gro_find(const struct gro_packet *new,
				const struct list_head *head,
				const void **bthp, void *buf)
{
	struct sk_buff *p;

	list_for_each_entry(p, head, list) {
		if (!NAPI_GRO_CB(p)->same_flow && !gro_same_addrs(new, p))
			continue;
		*bthp = gro_bth(p, new->off, buf);
		if (*bthp && hrp_bth_same_qp(*bthp, new->bth))
			return p;
	}
	return NULL;
}

/* Does it belong to something? slow_gro also stays set when that has ended. */
static bool gro_has_state(struct sk_buff *skb)
{
	return skb->destructor ||
	       (skb->slow_gro && (skb_dst(skb) || skb_get_nfct(skb) ||
				  skb_has_extensions(skb)));
}

/* Is it a packet of its own that nothing else refers to? */
static bool gro_is_plain(const struct gro_packet *new)
{
	struct sk_buff *skb = new->skb;

	return !NAPI_GRO_CB(skb)->flush && !gro_has_state(skb) &&
	       !hrp_bth_is_joined(new->bth) &&
	       skb->pkt_type == PACKET_HOST && !skb->encapsulation &&
	       !skb_cloned(skb) && !skb_zcopy(skb) &&
	       ntohs(gro_udp(new->hdr, new->off)->len) ==
			skb_gro_len(skb) + sizeof(struct udphdr);
}

/* The port of the netdev, or of its VLAN, bond or bridge. */
static struct hroce_port *gro_find_port(const struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	struct hroce_port *port;

	if (skb_vlan_tag_present(skb))
		dev = __vlan_find_dev_deep_rcu(dev, skb->vlan_proto,
					       skb_vlan_tag_get_id(skb));
	if (!dev)
		return NULL;
	port = hroce_port_find_dev(dev);
	if (!port && (netif_is_lag_port(dev) || netif_is_bridge_port(dev))) {
		dev = netdev_master_upper_dev_get_rcu(dev);
		port = dev ? hroce_port_find_dev(dev) : NULL;
	}
	return port;
}

/* The port whose hook takes the packet. */
static struct hroce_port *gro_port(const struct gro_packet *new)
{
	struct hroce_port *port = gro_find_port(new->skb);
	const struct ipv6hdr *ip6 = new->hdr;
	const struct iphdr *ip4 = new->hdr;
	struct in6_addr daddr;

	if (!port || (new->ipv6 && hroce_ip6_is_mapped(ip6)))
		return NULL;
	if (new->ipv6)
		daddr = ip6->daddr;
	else
		ipv6_addr_set_v4mapped(ip4->daddr, &daddr);
	return hroce_port_has_addr(port, &daddr) ? port : NULL;
}

/* May others be merged into this packet? */
static bool gro_may_hold(const struct gro_packet *new)
{
	const struct hroce_port *port;

	if (hrp_bth_ends(new->bth) || !gro_is_plain(new))
		return false;
	port = gro_port(new);
	return port && READ_ONCE(port->gro) &&
	       !hroce_policy_in(port, new->skb, new->ipv6);
}

/*
 * rx.c restores identifications that count up, and those that are all the same.
 * Which, the second packet decides; gso_type is free until the frame is
 * complete.
 */
static bool gro_id_follows(struct sk_buff *p, const struct iphdr *first,
			   const struct iphdr *ip)
{
	bool fixed = skb_shinfo(p)->gso_type & SKB_GSO_TCP_FIXEDID;
	u16 step = ntohs(ip->id) - ntohs(first->id);
	u16 nr = NAPI_GRO_CB(p)->count;

	if (nr == 1 && !step && ip->frag_off & htons(IP_DF)) {
		skb_shinfo(p)->gso_type = SKB_GSO_TCP_FIXEDID;
		return true;
	}
	return step == (fixed ? 0 : nr);
}

/* All that the packets of a super-packet share is in the first one's header. */
static bool gro_ip_follows(const struct gro_packet *new, struct sk_buff *p)
{
	const struct ipv6hdr *ip6 = new->hdr, *first6 = (void *)p->data;
	const struct iphdr *ip4 = new->hdr, *first4 = (void *)p->data;

	if (new->ipv6)
		return *(const __be32 *)ip6 == *(const __be32 *)first6 &&
		       ip6->hop_limit == first6->hop_limit;
	return ip4->tos == first4->tos && ip4->ttl == first4->ttl &&
	       ip4->frag_off == first4->frag_off &&
	       gro_id_follows(p, first4, ip4);
}

static bool gro_follows(const struct gro_packet *new, struct sk_buff *p,
			const void *first)
{
	u32 len = skb_gro_len(new->skb);

	/* Without encap_mark, it was held before there was the socket. */
	return gro_is_plain(new) && NAPI_GRO_CB(p)->encap_mark &&
	       len <= skb_shinfo(p)->gso_size &&
	       p->len + len <= GRO_BYTES &&
	       hrp_bth_continues(first, new->bth, NAPI_GRO_CB(p)->count) &&
	       gro_ip_follows(new, p);
}

/* Drop the headers: those of a frame without a linear part are in its frag. */
static void gro_strip(struct sk_buff *skb, u32 off)
{
	u32 linear = min(skb_headlen(skb), off), rest = off - linear;
	skb_frag_t *frag = skb_shinfo(skb)->frags;

	__skb_pull(skb, linear);
	if (likely(!rest))
		return;
	skb_frag_off_add(frag, rest);
	skb_frag_size_sub(frag, rest);
	skb->data_len -= rest;
	skb->len -= rest;
}

static void gro_merge(struct sk_buff *p, struct sk_buff *skb, u32 off)
{
	struct sk_buff *last = NAPI_GRO_CB(p)->last;

	gro_strip(skb, off);
	if (last == p)
		skb_shinfo(p)->frag_list = skb;
	else
		last->next = skb;
	NAPI_GRO_CB(p)->last = skb;
	NAPI_GRO_CB(p)->count++;
	__skb_header_release(skb);
	p->len += skb->len;
	p->data_len += skb->len;
	p->truesize += skb->truesize;
	skb_shinfo(p)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	NAPI_GRO_CB(skb)->same_flow = 1;
}

/* Deliver @skb, behind what this call returns. */
static struct sk_buff *gro_pass(struct sk_buff *skb, struct sk_buff *p)
{
	NAPI_GRO_CB(skb)->flush = 1;
	return p;
}

static noinline struct sk_buff *gro_receive(struct list_head *head,
					    struct sk_buff *skb)
{
	struct hrw_bth buf __uninitialized, first_buf __uninitialized;
	struct gro_packet new __uninitialized;
	const void *first;
	struct sk_buff *p;
	u32 len;

	/* Too short for a BTH, or not what the hook takes. */
	if (!gro_load(&new, skb, &buf))
		return gro_pass(skb, NULL);
	p = gro_find(&new, head, &first, &first_buf);
	if (!p || !gro_follows(&new, p, first))
		return gro_may_hold(&new) ? p : gro_pass(skb, p);
	len = skb_gro_len(skb);
	gro_merge(p, skb, new.off);
	return len < skb_shinfo(p)->gso_size || hrp_bth_ends(new.bth) ||
	       NAPI_GRO_CB(p)->count == GRO_PKTS ? p : NULL;
}

struct sk_buff *hroce_gro_receive(struct sock *sk, struct list_head *head,
				  struct sk_buff *skb)
{
	const u32 off = skb_gro_offset(skb);

	/* The usual small message: there is nothing to merge, or to wait for. */
	if (list_empty(head) &&
	    skb_headlen(skb) >= off + sizeof(struct hrw_bth) &&
	    hrp_bth_ends(skb->data + off))
		return gro_pass(skb, NULL);
	return gro_receive(head, skb);
}

static __sum16 gro_pseudo_sum(const struct sk_buff *skb, const void *hdr,
			      u32 len)
{
	const struct ipv6hdr *ip6 = hdr;
	const struct iphdr *ip4 = hdr;

	if (skb->protocol == htons(ETH_P_IPV6))
		return ~csum_ipv6_magic(&ip6->saddr, &ip6->daddr, len,
					IPPROTO_UDP, 0);
	return ~csum_tcpudp_magic(ip4->saddr, ip4->daddr, len, IPPROTO_UDP, 0);
}

int hroce_gro_complete(struct sock *sk, struct sk_buff *skb, int nhoff)
{
	const u32 off = nhoff - sizeof(struct udphdr);
	struct udphdr *udp = (void *)skb->data + off;

	/*
	 * The stack splits super-packets only if they have a checksum. So one
	 * of packets that have none gets one to compute; the ICRC does not
	 * cover it.
	 */
	if (!udp->check)
		udp->check = gro_pseudo_sum(skb, skb_network_header(skb),
					    skb->len - off);
	skb->csum_start = (unsigned char *)udp - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->encapsulation = 0;
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb_shinfo(skb)->gso_segs = NAPI_GRO_CB(skb)->count;
	return 0;
}

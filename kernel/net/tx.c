// SPDX-License-Identifier: GPL-2.0
/*
 * Bursts to frames.
 *
 * Consecutive packets of equal length go as one UDP segmentation offload
 * super-packet: one walk through the stack for all, delivered whole where both
 * ends are on one host, split by the device or just in front of it otherwise.
 * The last packet may be shorter than the others, so a first packet with a
 * RETH may have others behind it, but a last one with immediate data that is
 * full goes alone. In a super-packet follow each other: headers of the first
 * packet (linear), payload, ICRC and headers of the second, and so on.
 *
 * The ICRC covers the IPv4 identification and the lengths that segmentation is
 * going to write: the base plus the index of the packet, and those of a packet
 * alone.
 */
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "../mem/mem.h"
#include "../proto/burst.h"
#include "crc.h"
#include "flow.h"
#include "icrc.h"
#include "port.h"
#include "route.h"
#include "tx.h"
#include "tx_frame.h"

/* From this payload on pages are referred to instead of copied. */
#define TX_REF_MIN	2048

/* A super-packet at most: 8 packets of 4096 bytes fill the page frags. */
#define TX_GSO_BYTES	(8 * (4096 + (u32)HRW_MAX_HDR_LEN + HRW_ICRC_LEN))
#define TX_GSO_PKTS	64

/**
 * struct tx_job - one call of hroce_tx_burst()
 * @flow: where to
 * @burst: what
 * @it: payload not sent yet
 * @route: from hroce_route_get()
 * @next: index of the next packet
 * @l3_len: bytes of the IP header
 * @elide: leave the ICRC out
 * @copy: copy the payload
 * @ip_id: IPv4 identification of the first packet of the frame
 * @hdr: IP and UDP header of one packet
 * @bth: headers behind these, of packet @next
 * @bth_len: their length
 * @pkt: packet @next
 */
struct tx_job {
	struct hroce_flow *flow;
	const struct hrp_burst *burst;
	struct hroce_mem_iter *it;
	struct hroce_route route;
	u32 next;
	u32 l3_len;
	bool elide;
	bool copy;
	u16 ip_id;
	union {
		struct iphdr ip4;
		struct ipv6hdr ip6;
		u8 bytes[sizeof(struct ipv6hdr) + sizeof(struct udphdr)];
	} hdr;
	u8 bth[HRW_MAX_HDR_LEN] __aligned(4);
	u32 bth_len;
	struct hrp_pkt pkt;
};

static struct udphdr *tx_udp(struct tx_job *job)
{
	return (struct udphdr *)(job->hdr.bytes + job->l3_len);
}

static void tx_init_headers(struct tx_job *job)
{
	const struct hroce_flow_key *key = &job->flow->key;
	struct ipv6hdr *ip6 = &job->hdr.ip6;
	struct iphdr *ip4 = &job->hdr.ip4;
	u8 ttl = key->hop_limit ?: IPDEFTTL;

	if (job->route.ipv6) {
		job->l3_len = sizeof(*ip6);
		ip6_flow_hdr(ip6, key->tclass, htonl(key->flow_label));
		ip6->nexthdr = IPPROTO_UDP;
		ip6->hop_limit = ttl;
		ip6->saddr = key->saddr;
		ip6->daddr = key->daddr;
	} else {
		job->l3_len = sizeof(*ip4);
		ip4->version = 4;
		ip4->ihl = 5;
		ip4->tos = key->tclass;
		ip4->frag_off = htons(IP_DF);
		ip4->ttl = ttl;
		ip4->protocol = IPPROTO_UDP;
		ip4->saddr = key->saddr.s6_addr32[3];
		ip4->daddr = key->daddr.s6_addr32[3];
	}
	tx_udp(job)->source = htons(key->sport);
	tx_udp(job)->dest = htons(HRW_UDP_PORT);
	tx_udp(job)->check = 0;
}

/* Headers for @len bytes of UDP payload. */
static void tx_set_headers(struct tx_job *job, u32 len, u16 ip_id)
{
	len += sizeof(struct udphdr);
	tx_udp(job)->len = htons(len);
	if (job->route.ipv6) {
		job->hdr.ip6.payload_len = htons(len);
	} else {
		job->hdr.ip4.tot_len = htons(job->l3_len + len);
		job->hdr.ip4.id = htons(ip_id);
	}
}

static void tx_load_packet(struct tx_job *job)
{
	hrp_burst_pkt(job->burst, job->next, &job->pkt);
	job->bth_len = hrp_pkt_build(&job->pkt, job->bth);
}

/* Bytes of UDP payload of the packet that is loaded. */
static u32 tx_packet_len(const struct tx_job *job)
{
	return job->bth_len + job->pkt.payload_len + job->pkt.pad +
	       HRW_ICRC_LEN;
}

/* Append the packet that is loaded, packet number @seg of the frame. */
static int tx_append(struct tx_job *job, struct hroce_tx_frame *f, u32 seg)
{
	const u32 pad = job->pkt.pad;
	__le32 icrc = 0;
	u8 *p;
	int err;

	p = hroce_tx_frame_put(f, job->bth_len);
	if (!p)
		return -ENOMEM;
	memcpy(p, job->bth, job->bth_len);
	if (f->sum) {
		tx_set_headers(job, tx_packet_len(job), job->ip_id + seg);
		f->state = hroce_icrc_headers(job->hdr.bytes, job->route.ipv6,
					      tx_udp(job), job->bth);
		f->state = hroce_crc_update(false, f->state, job->bth +
					    sizeof(struct hrw_bth),
					    job->bth_len -
					    sizeof(struct hrw_bth));
	}
	err = hroce_tx_frame_payload(f, job->it, job->pkt.payload_len,
				     job->copy);
	if (err)
		return err;
	p = hroce_tx_frame_put(f, pad + HRW_ICRC_LEN);
	if (!p)
		return -ENOMEM;
	memset(p, 0, pad);
	if (f->sum)
		icrc = hroce_icrc_final(hroce_crc_update(false, f->state, p,
							 pad));
	memcpy(p + pad, &icrc, sizeof(icrc));
	return 0;
}

/* May the packet that is loaded follow others of @gso_size bytes? */
static bool tx_may_append(const struct tx_job *job,
			  const struct hroce_tx_frame *f, u32 gso_size, u32 seg)
{
	u32 len = tx_packet_len(job);

	return len <= gso_size && seg < TX_GSO_PKTS &&
	       f->skb->len + len <= TX_GSO_BYTES && hroce_tx_frame_room(f);
}

/*
 * Append packets as long as they fit, then load the one behind. Sets the
 * length of the first one, and how many they are.
 */
static int tx_fill(struct tx_job *job, struct hroce_tx_frame *f, u32 *gso_size,
		   u32 *nr_segs, u32 *payload)
{
	u32 len, seg = 0;
	int err;

	*gso_size = tx_packet_len(job);
	*payload = 0;
	do {
		len = tx_packet_len(job);
		err = tx_append(job, f, seg);
		if (err)
			return err;
		*payload += job->pkt.payload_len;
		seg++;
		if (++job->next == job->burst->nr_pkts)
			break;
		tx_load_packet(job);
	} while (job->route.gso && len == *gso_size &&
		 tx_may_append(job, f, *gso_size, seg));
	*nr_segs = seg;
	return 0;
}

static void tx_partial_sum(struct tx_job *job, struct sk_buff *skb, u32 len)
{
	struct udphdr *udp = tx_udp(job);

	if (job->route.ipv6)
		udp->check = ~csum_ipv6_magic(&job->hdr.ip6.saddr,
					      &job->hdr.ip6.daddr, len,
					      IPPROTO_UDP, 0);
	else
		udp->check = ~csum_tcpudp_magic(job->hdr.ip4.saddr,
						job->hdr.ip4.daddr, len,
						IPPROTO_UDP, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* Put IP and UDP header in front, and tell the stack what this is. */
static void tx_finish(struct tx_job *job, struct sk_buff *skb, u32 gso_size,
		      u32 nr_segs)
{
	const struct hroce_flow_key *key = &job->flow->key;
	u32 udp_len = skb->len + sizeof(struct udphdr);

	tx_set_headers(job, skb->len, job->ip_id);
	if (!job->route.ipv6)
		ip_send_check(&job->hdr.ip4);
	__skb_push(skb, sizeof(struct udphdr));
	skb_reset_transport_header(skb);
	__skb_push(skb, job->l3_len);
	skb_reset_network_header(skb);
	if (nr_segs > 1) {
		skb_shinfo(skb)->gso_size = gso_size;
		skb_shinfo(skb)->gso_segs = nr_segs;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	}
	if (nr_segs > 1 || job->elide)
		tx_partial_sum(job, skb, udp_len);
	memcpy(skb->data, job->hdr.bytes, job->l3_len + sizeof(struct udphdr));
	tx_udp(job)->check = 0;

	skb->protocol = job->route.ipv6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	skb->priority = key->sl;
	skb_set_hash(skb, hash_32(key->sport, 32), PKT_HASH_TYPE_L4);
	hroce_flow_charge(job->flow, skb, job->elide);
}

/* Bytes of the next frame that are going to be copied. */
static u32 tx_copy_len(const struct tx_job *job)
{
	u32 len = tx_packet_len(job);
	u32 left = job->burst->nr_pkts - job->next;

	if (!job->copy)
		return len - job->pkt.payload_len;
	if (!job->route.gso)
		return len;
	return min(left * len, TX_GSO_BYTES);
}

static int tx_one_frame(struct tx_job *job)
{
	u32 headroom = LL_RESERVED_SPACE(job->route.dev) + job->l3_len +
		       sizeof(struct udphdr);
	u32 most = job->route.gso ? min(job->burst->nr_pkts - job->next,
					(u32)TX_GSO_PKTS) : 1;
	u32 bytes = min_t(u32, job->it->left, TX_GSO_BYTES);
	struct hroce_port *port = job->flow->port;
	struct hroce_tx_frame f = { .sum = !job->elide };
	u32 gso_size, nr_segs, payload;
	struct sk_buff *skb;
	int err;

	job->ip_id = atomic_fetch_add(most, &job->flow->ip_id);
	err = hroce_tx_frame_begin(&f, headroom, tx_copy_len(job),
				   job->route.sg);
	if (err)
		return err;
	f.vector = f.sum && hroce_crc_begin(bytes);
	err = tx_fill(job, &f, &gso_size, &nr_segs, &payload);
	hroce_crc_end(f.vector);
	skb = hroce_tx_frame_end(&f);
	if (err) {
		kfree_skb(skb);
		return err;
	}
	tx_finish(job, skb, gso_size, nr_segs);
	if (hroce_route_xmit(job->flow, &job->route, skb)) {
		hroce_count_add(port, HROCE_EV_TX_PACKETS, nr_segs);
		hroce_count_add(port, HROCE_EV_TX_BYTES, payload);
		hroce_count_add(port, HROCE_EV_TX_COPIED, f.copied);
	} else {
		hroce_count_add(port, HROCE_EV_TX_ERRORS, nr_segs);
	}
	return 0;
}

static int tx_packets(struct tx_job *job)
{
	const struct hrp_burst *b = job->burst;
	int err;

	tx_init_headers(job);
	job->elide = !job->route.mcast &&
		     (job->route.to ? READ_ONCE(job->flow->port->elide_icrc) :
				      hroce_flow_elides(job->flow));
	job->copy = b->copy || b->mem.bytes || !job->route.sg ||
		    min(b->mtu, b->mem.len) < TX_REF_MIN;
	tx_load_packet(job);
	while (job->next < b->nr_pkts) {
		/* The route may have become narrower than the path MTU. */
		if (job->l3_len + sizeof(struct udphdr) + tx_packet_len(job) >
		    job->route.mtu)
			return -EMSGSIZE;
		err = tx_one_frame(job);
		if (err)
			return err;
	}
	return 0;
}

u8 hroce_tx_burst(struct hroce_flow *flow, const struct hrp_burst *b,
		  struct hroce_mem_iter *it)
{
	struct tx_job job = {
		.flow = flow,
		.burst = b,
		.it = it,
	};
	int err;

	local_bh_disable();
	err = hroce_route_get(flow, &job.route);
	if (!err) {
		err = tx_packets(&job);
		hroce_route_put(&job.route);
	}
	/* A receiver may run right now, and it may need the same memory. */
	hroce_mem_end(it);
	local_bh_enable();

	if (it->status != HROCE_WC_SUCCESS)
		return it->status;
	if (err)
		hroce_count_add(flow->port, HROCE_EV_TX_ERRORS,
				b->nr_pkts - job.next);
	return HROCE_WC_SUCCESS;
}

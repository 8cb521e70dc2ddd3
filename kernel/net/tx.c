// SPDX-License-Identifier: GPL-2.0
/*
 * Bursts to frames.
 *
 * Consecutive packets of equal length are sent as one UDP segmentation offload
 * super-packet: one pass through the stack for all. It is delivered whole if
 * both ends are on one host, else split by the device or just before it. The
 * packets belong to one or several bursts: a frame is sent when the next packet
 * does not fit, or when the run ends. The last packet may be shorter than the
 * others. So a packet may follow a first one with a RETH, but a full last
 * packet with immediate data goes alone or last. A super-packet consists of the
 * headers of the first packet (linear), its payload, its ICRC, the headers of
 * the second packet, and so on.
 *
 * The ICRC covers the IPv4 identification and the lengths that segmentation
 * will write: the base ID plus the index of the packet, and the lengths of a
 * single packet.
 */
#include <linux/hash.h>
#include <linux/if_vlan.h>
#include <linux/netdevice.h>
#include <linux/page_ref.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/bonding.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ipv6.h>

#include "../mem/iter.h"
#include "../proto/burst.h"
#include "../proto/psn.h"
#include "crc.h"
#include "path.h"
#include "icrc.h"
#include "port.h"
#include "route.h"
#include "tx.h"
#include "tx_frame.h"

/*
 * Maximum size of a super-packet: the limit of IP. Without a frag_list, 8
 * packets of 4096 bytes fill the page frags.
 */
#define TX_GSO_BYTES	(15 * (4096 + (u32)HRW_MAX_HDR_LEN + HRW_ICRC_LEN))
#define TX_GSO_PKTS	64

static DEFINE_PER_CPU(struct hroce_icrc_known, tx_icrc_known);

static u32 tx_max_pkts(const struct hroce_tx *tx)
{
	return tx->route.gso ? TX_GSO_PKTS : 1;
}

/* IPv4 identifications that a frame may take. */
static u32 tx_max_ids(const struct hroce_tx *tx)
{
	return tx->join ? max(tx_max_pkts(tx), 2u) : tx_max_pkts(tx);
}

/* Do the packets of a run differ in more than the PSN? */
static bool tx_has_own_headers(const struct hroce_tx *tx)
{
	return tx->burst->msgs && tx->bth_len != sizeof(struct hrw_bth);
}

/*
 * The headers of the packet before become those of packet @i of the burst, with
 * PSN @psn; @own: tx_has_own_headers().
 */
static __always_inline void tx_next_headers(struct hroce_tx *tx, u32 i, u32 psn,
					    bool own)
{
	hrp_bth_set_psn(tx->bth, psn);
	if (!own)
		return;
	hrp_burst_set_msg(tx->burst, i, &tx->pkt);
	hrp_pkt_build_next(&tx->pkt, tx->bth);
}

static void tx_load_packet(struct hroce_tx *tx)
{
	tx->in_run = tx->next > 1 && tx->next + 1 < tx->burst->nr_pkts;
	if (tx->in_run) {
		tx->pkt.psn = hrp_psn_add(tx->pkt.psn, 1);
		tx_next_headers(tx, tx->next, tx->pkt.psn,
				tx_has_own_headers(tx));
		return;
	}
	hrp_burst_pkt(tx->burst, tx->next, &tx->pkt);
	tx->bth_len = hrp_pkt_build(&tx->pkt, tx->bth);
}

/* Bytes of UDP payload of the loaded packet. */
static u32 tx_packet_len(const struct hroce_tx *tx)
{
	return tx->bth_len + tx->pkt.payload_len + tx->pkt.pad + HRW_ICRC_LEN;
}

/* Continue a CRC with the headers of the loaded packet behind its BTH. */
static u32 tx_icrc_extended(const struct hroce_tx *tx, u32 state)
{
	const u32 len = sizeof(struct hrw_bth);

	return hroce_crc_update(tx->frame.vector, state, tx->bth + len,
				tx->bth_len - len);
}

/* CRC state over the headers of the loaded packet. */
static u32 tx_icrc_begin(struct hroce_tx *tx)
{
	const u16 id = tx->hdr.ipv6 ? 0 : tx->ip_id + tx->nr_pkts;
	u32 state;

	state = hroce_headers_icrc(&tx->hdr, &tx_icrc_known, &tx->icrc,
				   tx_packet_len(tx), id, tx->bth);
	return tx->bth_len == sizeof(struct hrw_bth) ?
	       state : tx_icrc_extended(tx, state);
}

/*
 * Write the headers of the loaded packet; @more: there are some behind the BTH.
 * Return: what is behind them.
 */
static __always_inline u8 *tx_put_headers(const struct hroce_tx *tx, u8 *dst,
					  bool more)
{
	const u32 len = sizeof(struct hrw_bth), reth = sizeof(struct hrw_reth);

	/* Copies of constant length are short. */
	memcpy(dst, tx->bth, len);
	if (!more)
		return dst + len;
	if (likely(tx->bth_len == len + reth))
		memcpy(dst + len, tx->bth + len, reth);
	else
		memcpy(dst + len, tx->bth + len, tx->bth_len - len);
	return dst + tx->bth_len;
}

/* Copy the payload of the loaded packet to @dst, and sum it. */
static __always_inline int tx_copy_payload(struct hroce_tx *tx,
					   struct hroce_mem_iter *it, u8 *dst)
{
	struct hroce_extent ext __uninitialized;
	struct hroce_tx_frame *f = &tx->frame;
	u32 left = tx->pkt.payload_len;

	f->copied += left;
	for (; left; left -= ext.len, dst += ext.len) {
		if (!hroce_mem_next(it, left, &ext))
			return -EFAULT;
		if (f->sum)
			f->state = hroce_crc_copy(f->vector, f->state, dst,
						  hroce_extent_va(&ext),
						  ext.len);
		else
			memcpy(dst, hroce_extent_va(&ext), ext.len);
	}
	return 0;
}

/*
 * May the loaded packet be one piece, as all of it is copied? The headers of the
 * first one are linear.
 */
static bool tx_is_whole(const struct hroce_tx *tx, u32 len)
{
	return tx->copy && len <= PAGE_SIZE &&
	       (tx->nr_pkts || tx->frame.linear_left >= len);
}

/* Write what is behind the payload of the loaded packet. */
static __always_inline void tx_put_icrc(struct hroce_tx *tx, u8 *dst)
{
	struct hroce_tx_frame *f = &tx->frame;
	const u32 pad = tx->pkt.pad;
	__le32 icrc = 0;

	if (pad) {
		memset(dst, 0, pad);
		f->state = hroce_crc_update(false, f->state, dst, pad);
	}
	if (f->sum)
		icrc = hroce_icrc_final(f->state);
	memcpy(dst + pad, &icrc, sizeof(icrc));
}

static int tx_append(struct hroce_tx *tx, struct hroce_mem_iter *it)
{
	const u32 len = tx_packet_len(tx);
	const bool whole = tx_is_whole(tx, len);
	struct hroce_tx_frame *f = &tx->frame;
	int err;
	u8 *p;

	p = hroce_tx_frame_put(f, whole ? len : tx->bth_len);
	if (!p)
		return -ENOMEM;
	p = tx_put_headers(tx, p, tx->bth_len > sizeof(struct hrw_bth));
	if (f->sum)
		f->state = tx_icrc_begin(tx);
	if (whole) {
		err = tx_copy_payload(tx, it, p);
		p += tx->pkt.payload_len;
	} else {
		err = hroce_tx_frame_payload(f, it, tx->pkt.payload_len,
					     tx->copy);
	}
	if (err)
		return err;
	if (!whole)
		p = hroce_tx_frame_put(f, tx->pkt.pad + HRW_ICRC_LEN);
	if (!p)
		return -ENOMEM;
	tx_put_icrc(tx, p);
	return 0;
}

/* Packets of a run, from the loaded one on, that may be appended. */
static u32 tx_run_len(const struct hroce_tx *tx)
{
	if (!tx->in_run || tx->last_len != tx->gso_size)
		return 0;
	if (tx->burst->msgs ? !tx->copy : tx->bth_len != sizeof(struct hrw_bth))
		return 0;
	return min3(tx->burst->nr_pkts - 1 - tx->next,
		    tx_max_pkts(tx) - tx->nr_pkts,
		    (TX_GSO_BYTES - tx->frame.skb->len) / tx->gso_size);
}

/* Packets of a run that are being appended to a frame. */
struct tx_pages {
	struct skb_shared_info *shinfo;
	u32 last;		/* the last page frag, which ends at @chunk */
	u8 *chunk;		/* memory for headers and ICRCs */
	struct page *chunk_page;
	u32 chunk_offset;	/* of @chunk in @chunk_page */
};

/*
 * Begin to append packets. Return: number of packets that @f->chunk has room
 * for. @f must not change until tx_pages_end().
 */
static u32 tx_pages_begin(struct tx_pages *p, const struct hroce_tx_frame *f)
{
	if (!f->last)
		return 0;
	p->shinfo = f->shinfo;
	p->last = f->shinfo->nr_frags - 1;
	p->chunk = f->chunk;
	p->chunk_page = f->chunk_page;
	p->chunk_offset = f->chunk - (u8 *)page_address(f->chunk_page);
	return f->chunk_left / (sizeof(struct hrw_bth) + HRW_ICRC_LEN);
}

/* Is there room for payload in @nr pages, and an ICRC? */
static bool tx_pages_fit(const struct tx_pages *p, u32 nr)
{
	return p->last + 1 + nr < MAX_SKB_FRAGS;
}

static __always_inline void tx_pages_add_bth(struct tx_pages *p,
					     const void *bth)
{
	const u32 len = sizeof(struct hrw_bth);

	memcpy(p->chunk, bth, len);
	skb_frag_size_add(&p->shinfo->frags[p->last], len);
	p->chunk += len;
	p->chunk_offset += len;
}

/* Refer to @len bytes of payload. Return: @state, continued if @sum is set. */
static __always_inline u32 tx_pages_add_payload(struct tx_pages *p,
						struct hroce_mem_iter *it,
						u32 len, bool sum, bool vector,
						u32 state)
{
	struct hroce_extent ext __uninitialized;

	do {
		len -= hroce_mem_next_ref(it, len, &ext);
		get_page(ext.page);
		__skb_fill_page_desc_noacc(p->shinfo, ++p->last, ext.page,
					   ext.offset, ext.len);
		if (sum)
			state = hroce_crc_update(vector, state,
						 page_address(ext.page) +
						 ext.offset, ext.len);
	} while (len);
	return state;
}

static __always_inline void tx_pages_add_icrc(struct tx_pages *p, __le32 icrc)
{
	memcpy(p->chunk, &icrc, sizeof(icrc));
	__skb_fill_page_desc_noacc(p->shinfo, ++p->last, p->chunk_page,
				   p->chunk_offset, HRW_ICRC_LEN);
	p->chunk += HRW_ICRC_LEN;
	p->chunk_offset += HRW_ICRC_LEN;
}

/* Account @nr packets of @len bytes each, @payload of which are payload. */
static void tx_pages_end(struct tx_pages *p, struct hroce_tx_frame *f, u32 nr,
			 u32 payload, u32 len)
{
	if (!nr)
		return;
	page_ref_add(p->chunk_page, nr);
	f->shinfo->nr_frags = p->last + 1;
	f->last = &f->shinfo->frags[p->last];
	f->chunk_left -= p->chunk - f->chunk;
	f->chunk = p->chunk;
	f->skb->truesize += nr * payload;
	hroce_tx_frame_share(f);
	hroce_tx_frame_grow(f, nr * len);
}

/*
 * Append at most @max packets of a run, as tx_append() does, with references to
 * all pages of their payload. Return: number appended; fewer if the frame is
 * full, or frames must not refer to the payload.
 */
static u32 tx_append_pages(struct hroce_tx *tx, struct hroce_mem_iter *it,
			   u32 max)
{
	const u32 len = tx->pkt.payload_len;
	struct hroce_tx_frame *f = &tx->frame;
	u32 nr, nr_pages, state = 0;
	struct tx_pages pages;

	max = min(max, tx_pages_begin(&pages, f));
	for (nr = 0; nr < max; nr++) {
		nr_pages = hroce_mem_pages(it, len);
		if (!nr_pages || !tx_pages_fit(&pages, nr_pages))
			break;
		hrp_bth_set_psn(tx->bth, hrp_psn_add(tx->pkt.psn, nr));
		tx_pages_add_bth(&pages, tx->bth);
		if (f->sum)
			state = hroce_icrc_next(&tx->icrc, tx->hdr.ipv6,
						tx->bth);
		state = tx_pages_add_payload(&pages, it, len, f->sum,
					     f->vector, state);
		tx_pages_add_icrc(&pages, f->sum ? hroce_icrc_final(state) : 0);
	}
	tx_pages_end(&pages, f, nr, len, tx->last_len);
	return nr;
}

/*
 * The same, with copies of their payload, each in one piece of the memory that the
 * frame has. @err: set if the payload of the next one is not accessible, of which
 * @f then has a part.
 */
static u32 tx_append_copies(struct hroce_tx *tx, struct hroce_mem_iter *it,
			    u32 max, int *err)
{
	const bool own = tx_has_own_headers(tx);
	struct hroce_tx_frame *f = &tx->frame;
	const u32 len = tx->last_len;
	u32 nr;
	u8 *p;

	for (nr = 0; nr < max && hroce_tx_frame_holds(f, len); nr++) {
		p = hroce_tx_frame_put(f, len);
		tx_next_headers(tx, tx->next + nr,
				hrp_psn_add(tx->pkt.psn, nr), own);
		p = tx_put_headers(tx, p, own);
		if (f->sum)
			f->state = hroce_icrc_next(&tx->icrc, tx->hdr.ipv6,
						   tx->bth);
		if (f->sum && own)
			f->state = tx_icrc_extended(tx, f->state);
		*err = tx_copy_payload(tx, it, p);
		if (*err)
			break;
		tx_put_icrc(tx, p + tx->pkt.payload_len);
	}
	return nr;
}

/*
 * Append the loaded packet and its run, as far as the fast path can. Out of line,
 * as a packet that has no run needs the registers. Return: 0, or -EFAULT: @f has a
 * part of a packet from @begin on.
 */
static noinline int tx_append_run(struct hroce_tx *tx, struct hroce_mem_iter *it,
				  u32 *begin)
{
	const u32 len = tx->pkt.payload_len;
	u32 nr, nr_pages, left = tx_run_len(tx);
	int err = 0;

	if (!left)
		return 0;
	do {
		if (tx->copy)
			nr = tx_append_copies(tx, it, left, &err);
		else
			nr = tx_append_pages(tx, it, left);
		left -= nr;
		tx->next += nr;
		tx->nr_pkts += nr;
		tx->payload += nr * len;
		tx->pkt.psn = hrp_psn_add(tx->pkt.psn, nr);
		nr_pages = left && !tx->copy ? hroce_mem_pages(it, len) : 0;
	} while (nr_pages && hroce_tx_frame_prepare(&tx->frame, nr_pages + 1));
	if (unlikely(err)) {
		*begin = tx->frame.skb->len - tx->last_len;
		return err;
	}
	/* The PSN is one ahead. */
	tx->pkt.psn = hrp_psn_add(tx->pkt.psn, -1);
	tx_load_packet(tx);
	return 0;
}

static void tx_partial_sum(struct hroce_tx *tx, struct sk_buff *skb, u32 len)
{
	struct udphdr *udp = hroce_headers_udp(&tx->hdr);

	if (tx->hdr.ipv6)
		udp->check = ~csum_ipv6_magic(&tx->hdr.ip6.saddr,
					      &tx->hdr.ip6.daddr, len,
					      IPPROTO_UDP, 0);
	else
		udp->check = ~csum_tcpudp_magic(tx->hdr.ip4.saddr,
						tx->hdr.ip4.daddr, len,
						IPPROTO_UDP, 0);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* What follows a READ request does not have the next PSN. */
static void tx_watch(struct hroce_tx *tx, const struct sk_buff *skb)
{
	if (hrp_opcode_op(*skb->data) != HRP_OP_READ_REQ)
		hroce_path_watch(tx->sender, !tx->keep_order, tx->first_psn);
}

/* Prepend IP and UDP headers, and set the metadata for the stack. */
static void tx_finish(struct hroce_tx *tx, struct sk_buff *skb)
{
	const struct hroce_path_key *key = &tx->path->key;
	u32 udp_len = skb->len + sizeof(struct udphdr);
	bool super = tx->nr_pkts > 1 && !tx->joined;

	if (super && !tx->sender->watched[!tx->keep_order])
		tx_watch(tx, skb);
	hroce_headers_set(&tx->hdr, skb->len, tx->ip_id);
	if (!tx->hdr.ipv6)
		ip_send_check(&tx->hdr.ip4);
	__skb_push(skb, sizeof(struct udphdr));
	skb_reset_transport_header(skb);
	__skb_push(skb, tx->hdr.l3_len);
	skb_reset_network_header(skb);
	if (super) {
		skb_shinfo(skb)->gso_size = tx->gso_size;
		skb_shinfo(skb)->gso_segs = tx->nr_pkts;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	}
	if (super || tx->elide)
		tx_partial_sum(tx, skb, udp_len);
	memcpy(skb->data, tx->hdr.bytes, hroce_headers_len(&tx->hdr));
	hroce_headers_udp(&tx->hdr)->check = 0;

	skb->protocol = tx->hdr.ipv6 ? htons(ETH_P_IPV6) : htons(ETH_P_IP);
	skb->priority = key->priority;
	if (unlikely(tx->split)) {
		skb->ignore_df = 1;
		/* The ICRC covers DF: fragments keep it. */
		if (!tx->hdr.ipv6)
			IPCB(skb)->flags |= IPSKB_FRAG_PMTU;
	}
	skb_set_hash(skb, hash_32(tx->path->sport[!tx->keep_order], 32),
		     PKT_HASH_TYPE_L4);
	hroce_path_charge(tx->sender, skb, tx->elide, !tx->keep_order);
}

/* Return unused IDs, unless another frame has taken some since. */
static void tx_return_ids(struct hroce_tx *tx)
{
	int reserved = tx_max_ids(tx);

	if (tx->nr_pkts != reserved)
		hroce_path_return_ids(tx->sender, !tx->keep_order,
				      tx->ip_id + reserved,
				      tx->ip_id + tx->nr_pkts);
}

/* Send the open frame, with no region locked. */
static void tx_send(struct hroce_tx *tx)
{
	struct hroce_stats __percpu *stats = tx->stats;
	struct sk_buff *skb;
	bool locked;
	int result;
	u32 len;

	skb = hroce_tx_frame_end(&tx->frame);
	tx->frame.skb = NULL;
	tx_return_ids(tx);
	tx_finish(tx, skb);
	len = skb->len;
	if (!tx->joined)
		len += (tx->nr_pkts - 1) * hroce_headers_len(&tx->hdr);
	locked = tx->it && hroce_mem_release(tx->it);
	result = hroce_route_xmit(tx->path, &tx->route, skb);
	if (likely(!result)) {
		hroce_stats_add(stats, HROCE_EV_TX_FRAMES, 1);
		hroce_stats_add(stats, HROCE_EV_TX_PACKETS, tx->nr_pkts);
		hroce_stats_add(stats, HROCE_EV_TX_BYTES, tx->payload);
		hroce_stats_add(stats, HROCE_EV_TX_WIRE, len);
		hroce_stats_add(stats, HROCE_EV_TX_COPIED, tx->frame.copied);
		if (unlikely(tx->route.mcast))
			hroce_stats_add(stats, HROCE_EV_TX_MCAST, tx->nr_pkts);
	} else if (result > 0) {
		hroce_stats_add(stats, HROCE_EV_TX_REFUSED, tx->nr_pkts);
		tx->refused = tx->keep_order;
		tx->refused_psn = tx->first_psn;
	} else {
		hroce_stats_add(stats, HROCE_EV_TX_ERRORS, tx->nr_pkts);
	}
	if (locked)
		hroce_mem_resume(tx->it);
}

/* The packet at offset @len is incomplete: send those before it. */
static void tx_cut(struct hroce_tx *tx, u32 len)
{
	if (tx->nr_pkts) {
		pskb_trim_unique(tx->frame.skb, len);
		tx_send(tx);
		return;
	}
	kfree_skb(hroce_tx_frame_end(&tx->frame));
	tx->frame.skb = NULL;
}

/* Bytes to be copied into a new frame. */
static u32 tx_copy_len(const struct hroce_tx *tx)
{
	u32 len = tx_packet_len(tx);
	u32 left = tx->burst->nr_pkts - tx->next;

	if (!tx->copy)
		return len - tx->pkt.payload_len;
	if (!tx->route.gso)
		return len + (tx->join ? HRP_JOINED_LEN : 0);
	if (tx->route.sg)
		left += tx->burst->more;
	return min(min_t(u32, left, TX_GSO_PKTS) * len, TX_GSO_BYTES);
}

/* Expected bytes of payload of a new frame. */
static u32 tx_sum_len(const struct hroce_tx *tx)
{
	u32 left = tx->burst->nr_pkts - tx->next + tx->burst->more;

	return min(left, tx_max_pkts(tx)) * tx->pkt.payload_len;
}

/*
 * A bond that broadcasts sends clones, which have no destructor, and the frame
 * itself by its last port. The peer is to get it by any of them. A team may, too.
 */
static bool tx_may_be_cloned(const struct net_device *dev)
{
	const struct bonding *bond;

	if (is_vlan_dev(dev))
		dev = vlan_dev_real_dev(dev);
	if (!netif_is_bond_master(dev))
		return netif_is_team_master(dev);
	bond = netdev_priv(dev);
	return BOND_MODE(bond) == BOND_MODE_BROADCAST;
}

static bool tx_elides(const struct hroce_tx *tx)
{
	/* A frame may lose its destructor in the IP stack. */
	if (tx->route.mcast || tx->route.stack)
		return false;
	/* XDP and traffic control may take it away within a host, too. */
	return hroce_path_elides(tx->sender, &tx->path->key.daddr) &&
	       (tx->route.to || !tx_may_be_cloned(tx->route.dev));
}

/*
 * Beside packets of UC, READ responses react to marks, but what acknowledges does
 * not.
 */
static bool tx_is_ect(const struct hrp_pkt *pkt)
{
	return !(pkt->info & HRP_OI_RESPONSE) || pkt->info & HRP_OI_READ;
}

/*
 * A packet is too long for the route. If its length was agreed on when that was
 * wider, the IP stack makes fragments of it: no program has chosen that length.
 */
static int tx_split(struct hroce_tx *tx)
{
	if (!tx->pkt.longer)
		return -EMSGSIZE;
	tx->route.stack = !tx->route.to;
	tx->route.gso = false;
	return 0;
}

/* Open a frame that begins with the loaded packet. */
static int tx_open(struct hroce_tx *tx)
{
	u32 l4_len = hroce_headers_len(&tx->hdr);
	int err;

	tx->gso_size = tx_packet_len(tx);
	/* The MTU of the route may have dropped below the path MTU. */
	tx->split = l4_len + tx->gso_size > tx->route.mtu;
	if (unlikely(tx->split)) {
		err = tx_split(tx);
		if (err)
			return err;
	}
	if (unlikely(tx->ect) && !tx->keep_order)
		hroce_headers_set_ect(&tx->hdr, tx_is_ect(&tx->pkt));
	tx->first_psn = tx->pkt.psn;
	tx->elide = tx_elides(tx);
	tx->frame.list = tx->route.list;
	tx->frame.sum = !tx->elide;
	tx->ip_id = hroce_path_take_ids(tx->sender, !tx->keep_order,
					tx_max_ids(tx));
	tx->nr_pkts = 0;
	tx->joined = false;
	tx->payload = 0;
	err = hroce_tx_frame_begin(&tx->frame,
				   LL_RESERVED_SPACE(tx->route.dev) + l4_len,
				   tx_copy_len(tx), tx->gso_size, tx->route.sg);
	if (!err && tx->frame.sum)
		tx->frame.vector = hroce_crc_begin(tx_sum_len(tx));
	return err;
}

/* Does a packet of @len bytes fit into the open frame, but for page frags? */
static __always_inline bool tx_fits(const struct hroce_tx *tx, u32 len)
{
	return tx->last_len == tx->gso_size && len <= tx->gso_size &&
	       tx->nr_pkts < tx_max_pkts(tx) &&
	       tx->frame.skb->len + len <= TX_GSO_BYTES;
}

/* Make room for the loaded packet in the open frame, which it is to go into. */
static bool tx_make_room(struct hroce_tx *tx)
{
	return tx_fits(tx, tx_packet_len(tx)) &&
	       hroce_tx_frame_make_room(&tx->frame);
}

bool hroce_tx_has_room(const struct hroce_tx *tx, u32 len)
{
	return tx->frame.skb && tx_fits(tx, len) &&
	       hroce_tx_frame_has_room(&tx->frame);
}

/* Append packets as long as they fit, then load the next one. */
static int tx_fill(struct hroce_tx *tx, struct hroce_mem_iter *it)
{
	struct hroce_tx_frame *f = &tx->frame;
	u32 len;
	int err;

	do {
		len = f->skb->len;
		err = tx_append(tx, it);
		if (err)
			break;
		tx->last_len = f->skb->len - len;
		tx->payload += tx->pkt.payload_len;
		tx->nr_pkts++;
		if (++tx->next == tx->burst->nr_pkts)
			break;
		tx_load_packet(tx);
		err = tx_append_run(tx, it, &len);
	} while (!err && tx_make_room(tx));
	if (err)
		tx_cut(tx, len);
	return err;
}

static int tx_packets(struct hroce_tx *tx, struct hroce_mem_iter *it)
{
	const struct hrp_burst *b = tx->burst;
	int err;

	tx->copy = !tx->route.sg || !hroce_tx_may_refer(b);
	tx_load_packet(tx);
	while (tx->next < b->nr_pkts) {
		if (tx->frame.skb && !tx_make_room(tx))
			tx_send(tx);
		if (unlikely(tx->refused))
			return 0;
		if (!tx->frame.skb) {
			err = tx_open(tx);
			if (err)
				return err;
		}
		err = tx_fill(tx, it);
		if (err)
			return err;
	}
	/* A linear frame has room for the requested bytes only. */
	if (!tx->route.sg && !tx->join)
		tx_send(tx);
	return 0;
}

int hroce_tx_aim(struct hroce_tx *tx, struct hroce_path *path)
{
	int err;

	err = hroce_route_get(path, &tx->route);
	if (err)
		return err;
	tx->path = path;
	if (unlikely(tx->sender->single[!tx->keep_order]))
		tx->route.gso = false;
	tx->icrc.len = 0;
	hroce_headers_init(&tx->hdr, path, !tx->keep_order);
	tx->ect = READ_ONCE(path->ect[!tx->keep_order]);
	if (tx->ect && tx->keep_order)
		hroce_headers_set_ect(&tx->hdr, true);
	return 0;
}

/* One copy, into which all is inlined; hroce_tx_join() is rare. */
noinline u8 hroce_tx_add(struct hroce_tx *tx, const struct hrp_burst *b,
			 struct hroce_mem_iter *it)
{
	int err;

	tx->burst = b;
	tx->next = 0;
	tx->it = it;
	err = tx_packets(tx, it);
	tx->it = NULL;
	if (it->status != HROCE_WC_SUCCESS)
		return it->status;
	if (err)
		hroce_stats_add(tx->stats, HROCE_EV_TX_ERRORS,
				b->nr_pkts - tx->next);
	return HROCE_WC_SUCCESS;
}

bool hroce_tx_may_join(const struct hroce_tx *tx)
{
	return tx->join && tx->frame.skb && tx->nr_pkts == 1 && !tx->split &&
	       !tx->route.to && tx->gso_size >= HRP_JOINED_LEN &&
	       tx->frame.linear_left >= HRP_JOINED_LEN &&
	       hroce_headers_len(&tx->hdr) + tx->gso_size + HRP_JOINED_LEN <=
			tx->route.mtu;
}

void hroce_tx_join(struct hroce_tx *tx, const struct hrp_burst *b,
		   struct hroce_mem_iter *it)
{
	const bool gso = tx->route.gso;

	/* Append it as to a super-packet, which the frame does not become. */
	tx->route.gso = true;
	hroce_tx_add(tx, b, it);
	tx->route.gso = gso;
	if (!tx->frame.skb || tx->nr_pkts != 2)
		return;
	tx->joined = true;
	hroce_stats_add(tx->stats, HROCE_EV_ACKS_JOINED, 1);
	hrp_bth_set_joined(tx->frame.skb->data);
}

void hroce_tx_end(struct hroce_tx *tx)
{
	if (!tx->path)
		return;
	if (tx->frame.skb)
		tx_send(tx);
	hroce_route_put(&tx->route);
	tx->path = NULL;
}

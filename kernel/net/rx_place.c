// SPDX-License-Identifier: GPL-2.0
/* Check the ICRC of the current packet of a frame, place its payload. */
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include <net/ip.h>
#include <net/ipv6.h>

#include "../mem/iter.h"
#include "../trace/trace.h"
#include "crc.h"
#include "headers.h"
#include "icrc.h"
#include "rx.h"

static noinline u32 rx_icrc_pad(const struct hroce_rx_packet *p,
				struct hroce_cursor *c, u32 state)
{
	u8 pad[3] = {};

	/* If the frame ends here, reading the ICRC fails, too. */
	hroce_cursor_read(c, pad, p->pkt.pad);
	return hroce_crc_update(false, state, pad, p->pkt.pad);
}

/*
 * Continue with the pad, and compare with the ICRC on the wire. Moves @c from
 * the end of the payload to the end of the packet.
 */
static __always_inline bool rx_icrc_matches(const struct hroce_rx_packet *p,
					    struct hroce_cursor *c, u32 state)
{
	__le32 icrc __uninitialized;

	if (unlikely(p->pkt.pad))
		state = rx_icrc_pad(p, c, state);
	return hroce_cursor_read(c, &icrc, sizeof(icrc)) &&
	       icrc == hroce_icrc_final(state);
}

/* rx_icrc_check() for a packet in several pieces. */
static noinline bool rx_icrc_check_pieces(const struct hroce_rx_frame *f,
					  const struct hroce_rx_packet *p)
{
	struct hroce_cursor c = f->at;
	u32 left = p->pkt.payload_len;
	u32 state = p->icrc;
	const void *data;
	u32 n;

	for (; left; left -= n) {
		n = hroce_cursor_get(&c, left, &data);
		if (!n)
			return false;
		state = hroce_crc_update(f->vector, state, data, n);
	}
	return rx_icrc_matches(p, &c, state);
}

static __always_inline bool rx_icrc_check(const struct hroce_rx_frame *f,
					  const struct hroce_rx_packet *p)
{
	const u32 len = p->pkt.payload_len + p->pkt.pad;
	const u8 *data = f->at.data;
	u32 state;

	if (unlikely(f->at.left < len + HRW_ICRC_LEN))
		return rx_icrc_check_pieces(f, p);
	state = hroce_crc_update(f->vector, p->icrc, data, len);
	return get_unaligned((const __le32 *)(data + len)) ==
	       hroce_icrc_final(state);
}

/*
 * GRO merges packets with increasing IPv4 IDs, and packets with equal IDs, and
 * does not record which. Retry with equal IDs.
 */
static bool rx_icrc_retry(struct hroce_rx_frame *f, struct hroce_rx_packet *p)
{
	if (f->hdr.ipv6 || f->next == 1 || f->id_fixed)
		return false;
	f->id_fixed = true;
	hroce_rx_icrc_begin(f, p);
	f->id_fixed = rx_icrc_check(f, p);
	return f->id_fixed;
}

bool hroce_rx_icrc_ok(struct hroce_rx_frame *f, struct hroce_rx_packet *p)
{
	return f->trusted || rx_icrc_check(f, p) || rx_icrc_retry(f, p);
}

/* rx_copy() for payload that is contiguous in source and destination. */
static bool rx_copy_piece(const struct hroce_rx_packet *p, bool vector,
			  struct hroce_cursor *c, struct hroce_mem_iter *it,
			  bool sum, u32 *state)
{
	u32 len = p->pkt.payload_len, offset;
	struct page *page;
	void *dst;

	if (!c->left && !hroce_cursor_refill(c))
		return false;
	if (c->left < len)
		return false;
	page = hroce_mem_next_page(it, len, &offset);
	if (!page)
		return false;
	dst = page_address(page) + offset;
	if (sum)
		*state = hroce_crc_copy(vector, *state, dst, c->data, len);
	else
		memcpy(dst, c->data, len);
	hroce_cursor_step(c, len);
	return true;
}

/*
 * Copy the payload at @c, and if @sum is set continue *@state with it. Return
 * false if it is not complete.
 */
static bool rx_copy(const struct hroce_rx_packet *p, bool vector,
		    struct hroce_cursor *c, struct hroce_mem_iter *it,
		    bool sum, u32 *state)
{
	struct hroce_extent ext __uninitialized;
	u32 left = p->pkt.payload_len;
	const void *data;
	void *dst;
	u32 n;

	if (likely(rx_copy_piece(p, vector, c, it, sum, state)))
		return true;
	while (left) {
		if (!hroce_mem_next(it, left, &ext))
			return false;
		left -= ext.len;
		dst = hroce_extent_va(&ext);
		for (; ext.len; ext.len -= n, dst += n) {
			n = hroce_cursor_get(c, ext.len, &data);
			if (!n)
				return false;
			if (sum)
				*state = hroce_crc_copy(vector, *state, dst,
							data, n);
			else
				memcpy(dst, data, n);
		}
	}
	return true;
}

/* rx_follows() for headers in several pieces. */
static noinline bool rx_follows_split(const struct hroce_rx_packet *p,
				      struct hroce_cursor *c, u32 nr)
{
	u8 bth[sizeof(struct hrw_bth)] __uninitialized;
	struct hroce_cursor ahead = *c;

	if (!hroce_cursor_read(&ahead, bth, sizeof(bth)) ||
	    !hrp_bth_follows(p->bth, bth, nr))
		return false;
	*c = ahead;
	return true;
}

/*
 * Is packet @nr behind the current one at @c, with the same headers except the
 * PSN? If so, move to its payload.
 */
static __always_inline bool rx_follows(const struct hroce_rx_frame *f,
				       const struct hroce_rx_packet *p,
				       struct hroce_cursor *c, u32 nr)
{
	const u32 len = sizeof(struct hrw_bth);

	if (c->pos + p->len > f->end)
		return false;
	if (unlikely(c->left < len))
		return rx_follows_split(p, c, nr);
	if (!hrp_bth_follows(p->bth, c->data, nr))
		return false;
	hroce_cursor_step(c, len);
	return true;
}

/* CRC state up to the payload of packet @nr behind the current one. */
static u32 rx_icrc_ahead(const struct hroce_rx_frame *f,
			 const struct hroce_rx_packet *p, u32 nr)
{
	u32 psn = p->pkt.psn;
	u16 id = 0;

	if (!f->hdr.ipv6 && !f->id_fixed) {
		id = hroce_rx_ip_id(f);
		id ^= id + nr;
	}
	return hroce_icrc_step(p->icrc, id, psn ^ (psn + nr));
}

/*
 * Place at most @max packets, up to the first error. Leaves @c at the end of the
 * last packet placed or of its payload, or inside the packet that ends the run. Return: number of
 * packets placed.
 */
static u32 rx_place_run(const struct hroce_rx_frame *f,
			const struct hroce_rx_packet *p, struct hroce_cursor *c,
			struct hroce_mem_iter *it, bool sum, u32 max)
{
	u32 state = p->icrc, nr = 0;

	for (;;) {
		if (!rx_copy(p, f->vector, c, it, sum, &state))
			return nr;
		if (sum && !rx_icrc_matches(p, c, state))
			return nr;
		nr++;
		if (nr == max)
			return nr;
		if (!sum)
			hroce_cursor_skip(c, p->pkt.pad + HRW_ICRC_LEN);
		if (!rx_follows(f, p, c, nr))
			return nr;
		if (sum)
			state = rx_icrc_ahead(f, p, nr);
	}
}

void hroce_rx_taken(struct hroce_rx_frame *f, struct hroce_rx_packet *p, u32 nr)
{
	f->next += nr;
	if (trace_hroce_rx_enabled()) {
		while (nr--) {
			p->pkt.psn = hrp_psn_add(p->pkt.psn, 1);
			trace_hroce_rx(&p->pkt);
		}
		return;
	}
	p->pkt.psn = hrp_psn_add(p->pkt.psn, nr);
}

u8 hroce_rx_place(struct hroce_rx_frame *f, struct hroce_rx_packet *p,
		  struct hroce_mem_iter *it, bool fuse, u32 *nr_pkts)
{
	bool sum = fuse && !f->trusted;
	struct hroce_cursor *c = &f->at, copy __uninitialized;
	u8 status = HROCE_WC_SUCCESS;
	const u32 pos = f->at.pos;
	u32 nr;

	/* The packet may have several destinations. */
	if (unlikely(f->mcast)) {
		copy = f->at;
		c = &copy;
	}
	nr = rx_place_run(f, p, c, it, sum, *nr_pkts);
	if (unlikely(!nr)) {
		hroce_rx_seek(f, pos);
		/* Report a placement error only if the ICRC is correct. */
		status = it->status;
		nr = status != HROCE_WC_SUCCESS;
		if (sum)
			nr = (nr && rx_icrc_check(f, p)) || rx_icrc_retry(f, p);
	}
	*nr_pkts = nr;
	if (nr > 1)
		hroce_rx_taken(f, p, nr - 1);
	return status;
}

bool hroce_rx_read(const struct hroce_rx_frame *f, void *dst, u32 len)
{
	struct hroce_cursor c = f->at;

	return hroce_cursor_read(&c, dst, len);
}

/* The fields of a GRH that an IPv4 header has, too. */
static void rx_map_ip4(const struct hroce_rx_frame *f, const struct iphdr *ip4,
		       struct ipv6hdr *ip6)
{
	ip6_flow_hdr(ip6, ip4->tos, 0);
	ip6->payload_len = htons(ntohs(ip4->tot_len) - sizeof(*ip4));
	ip6->nexthdr = ip4->protocol;
	ip6->hop_limit = ip4->ttl;
	ip6->saddr = f->saddr;
	ip6->daddr = f->daddr;
}

void hroce_rx_grh(const struct hroce_rx_frame *f,
		  const struct hroce_rx_packet *p, bool map,
		  u8 grh[HRW_GRH_LEN])
{
	struct hroce_headers hdr = f->hdr;

	if (f->super)
		hroce_headers_set(&hdr, p->len, hroce_rx_ip_id(f));
	if (hdr.ipv6) {
		memcpy(grh, &hdr.ip6, sizeof(hdr.ip6));
		return;
	}
	if (map) {
		rx_map_ip4(f, &hdr.ip4, (struct ipv6hdr *)grh);
		return;
	}
	ip_send_check(&hdr.ip4);
	memset(grh, 0, HRW_GRH_LEN - sizeof(hdr.ip4));
	memcpy(grh + HRW_GRH_LEN - sizeof(hdr.ip4), &hdr.ip4, sizeof(hdr.ip4));
}

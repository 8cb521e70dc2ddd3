// SPDX-License-Identifier: GPL-2.0
/* For the upcalls: check the ICRC of a packet, place its payload. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "../mem/iter.h"
#include "../trace.h"
#include "crc.h"
#include "icrc.h"
#include "port.h"
#include "rx.h"

static noinline u32 rx_icrc_pad(const struct hroce_rx *rx,
				struct hroce_cursor *c, u32 state)
{
	u8 pad[3] = {};

	/* At the end of the frame there will be no ICRC either. */
	hroce_cursor_read(c, pad, rx->pkt.pad);
	return hroce_crc_update(false, state, pad, rx->pkt.pad);
}

/*
 * Continue with the pad, and compare with what is on the wire. @c is behind the
 * payload, and then behind the packet.
 */
static __always_inline bool rx_icrc_matches(const struct hroce_rx *rx,
					    struct hroce_cursor *c, u32 state)
{
	__le32 icrc __uninitialized;

	if (unlikely(rx->pkt.pad))
		state = rx_icrc_pad(rx, c, state);
	return hroce_cursor_read(c, &icrc, sizeof(icrc)) &&
	       icrc == hroce_icrc_final(state);
}

static bool rx_icrc_check(const struct hroce_rx *rx)
{
	struct hroce_cursor c = rx->payload;
	u32 left = rx->pkt.payload_len;
	u32 state = rx->icrc;
	const void *data;
	u32 n;

	for (; left; left -= n) {
		n = hroce_cursor_get(&c, left, &data);
		if (!n)
			return false;
		state = hroce_crc_update(rx->vector, state, data, n);
	}
	return rx_icrc_matches(rx, &c, state);
}

/*
 * GRO merges packets with increasing IPv4 IDs, and packets with all the same
 * ID, and does not tell. Try the other one.
 */
static bool rx_icrc_retry(struct hroce_rx *rx)
{
	struct iphdr *ip = rx->l3;

	if (rx->ipv6 || !rx->seg || rx->id_fixed)
		return false;
	ip->id = htons(ntohs(ip->id) - rx->seg);
	rx->icrc = hroce_rx_icrc_begin(rx);
	rx->id_fixed = rx_icrc_check(rx);
	return rx->id_fixed;
}

bool hroce_rx_icrc_ok(struct hroce_rx *rx)
{
	return rx->trusted || rx_icrc_check(rx) || rx_icrc_retry(rx);
}

/* The same as rx_copy() if the payload is one piece here and there. */
static bool rx_copy_piece(const struct hroce_rx *rx, struct hroce_cursor *c,
			  struct hroce_mem_iter *it, bool sum, u32 *state)
{
	u32 len = rx->pkt.payload_len, offset;
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
		*state = hroce_crc_copy(rx->vector, *state, dst, c->data, len);
	else
		memcpy(dst, c->data, len);
	hroce_cursor_step(c, len);
	return true;
}

/*
 * Copy the payload at @c, and if @sum is set continue *@state with it. Return
 * false if it is not complete.
 */
static bool rx_copy(const struct hroce_rx *rx, struct hroce_cursor *c,
		    struct hroce_mem_iter *it, bool sum, u32 *state)
{
	struct hroce_extent ext __uninitialized;
	u32 left = rx->pkt.payload_len;
	const void *data;
	void *dst;
	u32 n;

	if (likely(rx_copy_piece(rx, c, it, sum, state)))
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
				*state = hroce_crc_copy(rx->vector, *state, dst,
							data, n);
			else
				memcpy(dst, data, n);
		}
	}
	return true;
}

/* The same as rx_next() if the headers are in pieces. */
static noinline bool rx_next_split(const struct hroce_rx *rx,
				   struct hroce_cursor *c, u32 nr)
{
	u8 bth[sizeof(struct hrw_bth)] __uninitialized;

	if (!hroce_cursor_peek(c, bth, sizeof(bth)) ||
	    !hrp_bth_follows(rx->bth, bth, nr))
		return false;
	hroce_cursor_skip(c, sizeof(bth));
	return true;
}

/*
 * Is there another packet at @c, @nr behind that at @rx and with the same
 * headers but for the PSN? Then go to its payload.
 */
static __always_inline bool rx_next(const struct hroce_rx *rx,
				    struct hroce_cursor *c, u32 nr)
{
	const u32 len = sizeof(struct hrw_bth);

	if (c->pos + rx->len > rx->end)
		return false;
	if (unlikely(c->left < len))
		return rx_next_split(rx, c, nr);
	if (!hrp_bth_follows(rx->bth, c->data, nr))
		return false;
	hroce_cursor_step(c, len);
	return true;
}

/* CRC state up to the payload of the packet @nr behind that at @rx. */
static u32 rx_icrc_next(const struct hroce_rx *rx, u32 nr)
{
	const struct iphdr *ip = rx->l3;
	u32 psn = rx->pkt.psn;
	u16 id = 0;

	if (!rx->ipv6 && !rx->id_fixed) {
		id = ntohs(ip->id);
		id ^= id + nr;
	}
	return hroce_icrc_step(rx->icrc, id, psn ^ (psn + nr));
}

/*
 * Place packets as long as all is well with them, at most @max. @c is behind
 * the last one then, or somewhere in the one that ends the run.
 */
static u32 rx_place_run(struct hroce_rx *rx, struct hroce_cursor *c,
			struct hroce_mem_iter *it, bool sum, u32 max)
{
	u32 state = rx->icrc, nr = 0;

	for (;;) {
		if (!rx_copy(rx, c, it, sum, &state))
			return nr;
		if (!sum)
			hroce_cursor_skip(c, rx->pkt.pad + HRW_ICRC_LEN);
		else if (!rx_icrc_matches(rx, c, state))
			return nr;
		nr++;
		if (nr == max || !rx_next(rx, c, nr))
			return nr;
		if (sum)
			state = rx_icrc_next(rx, nr);
	}
}

/* The same without a frame. */
static u32 rx_place_local(const struct hroce_rx *rx, struct hroce_mem_iter *it,
			  u32 max)
{
	struct hroce_mem_iter src = *rx->src;
	u32 len = rx->pkt.payload_len;

	return hroce_mem_copy(it, &src, min(max, rx->run) * len) / len;
}

/* Let @rx be the packet @nr behind. */
static void rx_go_to(struct hroce_rx *rx, u32 nr)
{
	if (trace_hroce_rx_enabled()) {
		while (nr--) {
			rx->seg++;
			rx->pkt.psn = hrp_psn_add(rx->pkt.psn, 1);
			trace_hroce_rx(&rx->pkt);
		}
		return;
	}
	rx->seg += nr;
	rx->pkt.psn = hrp_psn_add(rx->pkt.psn, nr);
}

u8 hroce_rx_place(struct hroce_rx *rx, struct hroce_mem_iter *it, bool fuse,
		  u32 *nr_pkts)
{
	bool sum = fuse && !rx->trusted;
	struct hroce_cursor c = rx->payload;
	u8 status = HROCE_WC_SUCCESS;
	u32 max = *nr_pkts, nr;

	nr = rx->src ? rx_place_local(rx, it, max) :
		       rx_place_run(rx, &c, it, sum, max);
	if (unlikely(!nr)) {
		/* That it cannot be placed counts if the packet is right. */
		status = it->status;
		nr = status != HROCE_WC_SUCCESS;
		if (sum)
			nr = (nr && rx_icrc_check(rx)) || rx_icrc_retry(rx);
	}
	if (likely(status == HROCE_WC_SUCCESS))
		hroce_port_stat_add(rx->port, HROCE_EV_RX_BYTES,
				    nr * rx->pkt.payload_len);
	*nr_pkts = nr;
	/* Else the packet may have several destinations. */
	if (max > 1)
		rx->payload = c;
	if (nr > 1)
		rx_go_to(rx, nr - 1);
	return status;
}

bool hroce_rx_word(const struct hroce_rx *rx, u64 *word)
{
	struct hroce_cursor c = rx->payload;
	struct hroce_mem_iter src;

	if (!rx->src)
		return hroce_cursor_read(&c, word, sizeof(*word));
	src = *rx->src;
	return hroce_mem_copy_out(&src, word, sizeof(*word));
}

/* rx_packet() restores the headers of one packet only to check an ICRC. */
static bool rx_headers_are_whole(const struct hroce_rx *rx)
{
	return rx->trusted && rx->skb && skb_is_gso(rx->skb);
}

void hroce_rx_grh(const struct hroce_rx *rx, u8 grh[HRW_GRH_LEN])
{
	u32 udp_len = sizeof(struct udphdr) + rx->len;
	struct ipv6hdr ip6;
	struct iphdr ip;

	if (rx->ipv6) {
		memcpy(&ip6, rx->l3, sizeof(ip6));
		if (rx_headers_are_whole(rx))
			ip6.payload_len = htons(udp_len);
		memcpy(grh, &ip6, sizeof(ip6));
		return;
	}
	memcpy(&ip, rx->l3, sizeof(ip));
	if (rx_headers_are_whole(rx)) {
		ip.tot_len = htons(sizeof(ip) + udp_len);
		ip.id = htons(ntohs(ip.id) + (rx->id_fixed ? 0 : rx->seg));
	}
	ip_send_check(&ip);
	memset(grh, 0, HRW_GRH_LEN - sizeof(ip));
	memcpy(grh + HRW_GRH_LEN - sizeof(ip), &ip, sizeof(ip));
}

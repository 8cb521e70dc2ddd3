// SPDX-License-Identifier: GPL-2.0
/* What the upcalls do with a packet: check its ICRC, place its payload. */
#include <linux/ip.h>
#include <linux/mm.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "../mem/mem.h"
#include "crc.h"
#include "icrc.h"
#include "port.h"
#include "rx.h"

/* Continue with the pad, and compare with what is on the wire. */
static bool rx_icrc_matches(const struct hroce_rx *rx, u32 state)
{
	const u8 pad = rx->pkt.pad;
	u8 tail[3 + HRW_ICRC_LEN];
	__le32 icrc;

	if (skb_copy_bits(rx->skb, rx->payload + rx->pkt.payload_len, tail,
			  pad + HRW_ICRC_LEN))
		return false;
	state = hroce_crc_update(false, state, tail, pad);
	icrc = hroce_icrc_final(state);
	return !memcmp(&icrc, tail + pad, sizeof(icrc));
}

static bool rx_icrc_check(const struct hroce_rx *rx, u32 state)
{
	struct skb_seq_state seq;
	unsigned int done = 0;
	const u8 *data;
	bool vector;
	u32 n;

	vector = hroce_crc_begin(rx->pkt.payload_len);
	skb_prepare_seq_read(rx->skb, rx->payload,
			     rx->payload + rx->pkt.payload_len, &seq);
	while ((n = skb_seq_read(done, &data, &seq))) {
		n = min_t(u32, n, rx->pkt.payload_len - done);
		state = hroce_crc_update(vector, state, data, n);
		done += n;
	}
	hroce_crc_end(vector);
	return done == rx->pkt.payload_len && rx_icrc_matches(rx, state);
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
	rx->id_fixed = rx_icrc_check(rx, rx->icrc);
	return rx->id_fixed;
}

bool hroce_rx_icrc_ok(struct hroce_rx *rx)
{
	return rx->trusted || rx_icrc_check(rx, rx->icrc) || rx_icrc_retry(rx);
}

u8 hroce_rx_place(const struct hroce_rx *rx, struct hroce_mem_iter *it)
{
	u32 len = rx->pkt.payload_len;
	struct skb_seq_state seq;
	unsigned int done = 0;
	const u8 *data;
	u32 n;

	if (!len)
		return HROCE_WC_SUCCESS;
	skb_prepare_seq_read(rx->skb, rx->payload, rx->payload + len, &seq);
	while ((n = skb_seq_read(done, &data, &seq))) {
		n = min_t(u32, n, len - done);
		if (!hroce_mem_copy_in(it, data, n)) {
			skb_abort_seq_read(&seq);
			return it->status;
		}
		done += n;
	}
	hroce_count_add(rx->port, HROCE_EV_RX_BYTES, len);
	return HROCE_WC_SUCCESS;
}

/* Destinations are always pages. */
static void *rx_extent_va(const struct hroce_extent *ext)
{
	return page_address(ext->page) + ext->offset;
}

/* Copy and sum @len bytes; false if the memory is not accessible. */
static bool rx_copy_sum(struct hroce_mem_iter *it, const u8 *data, u32 len,
			bool vector, u32 *state)
{
	struct hroce_extent ext;
	u32 n;

	for (; len; len -= n, data += n) {
		n = hroce_mem_next(it, len, &ext);
		if (!n)
			return false;
		*state = hroce_crc_copy(vector, *state,
					rx_extent_va(&ext), data, n);
	}
	return true;
}

static bool rx_place_sum(const struct hroce_rx *rx, struct hroce_mem_iter *it,
			 bool vector, u32 *state)
{
	u32 len = rx->pkt.payload_len;
	struct skb_seq_state seq;
	unsigned int done = 0;
	const u8 *data;
	u32 n;

	skb_prepare_seq_read(rx->skb, rx->payload, rx->payload + len, &seq);
	while ((n = skb_seq_read(done, &data, &seq))) {
		n = min_t(u32, n, len - done);
		if (!rx_copy_sum(it, data, n, vector, state)) {
			skb_abort_seq_read(&seq);
			return false;
		}
		done += n;
	}
	return true;
}

u8 hroce_rx_place_fused(struct hroce_rx *rx, struct hroce_mem_iter *it,
			bool *icrc_ok)
{
	u32 state = rx->icrc;
	bool vector, placed;

	if (rx->trusted) {
		*icrc_ok = true;
		return hroce_rx_place(rx, it);
	}
	vector = hroce_crc_begin(rx->pkt.payload_len);
	placed = !rx->pkt.payload_len || rx_place_sum(rx, it, vector, &state);
	hroce_crc_end(vector);
	if (!placed) {
		*icrc_ok = hroce_rx_icrc_ok(rx);
		return it->status;
	}
	*icrc_ok = rx_icrc_matches(rx, state) || rx_icrc_retry(rx);
	if (*icrc_ok)
		hroce_count_add(rx->port, HROCE_EV_RX_BYTES,
				rx->pkt.payload_len);
	return HROCE_WC_SUCCESS;
}

void hroce_rx_grh(const struct hroce_rx *rx, u8 grh[HRW_GRH_LEN])
{
	if (rx->ipv6) {
		memcpy(grh, rx->l3, HRW_GRH_LEN);
		return;
	}
	memset(grh, 0, HRW_GRH_LEN - sizeof(struct iphdr));
	memcpy(grh + HRW_GRH_LEN - sizeof(struct iphdr), rx->l3,
	       sizeof(struct iphdr));
}

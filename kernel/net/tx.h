/* SPDX-License-Identifier: GPL-2.0 */
/* Bursts to sk_buffs: super-packets, zero-copy payload, ICRC. */
#ifndef HROCE_TX_H
#define HROCE_TX_H

#include <linux/minmax.h>
#include <linux/types.h>
#include "../proto/burst.h"
#include "../proto/pkt.h"
#include "headers.h"
#include "icrc.h"
#include "route.h"
#include "tx_frame.h"

struct hroce_flow;
struct hroce_mem_iter;

/* From this payload on pages are referred to instead of copied. */
#define HROCE_TX_REF_MIN	2048u

/**
 * struct hroce_tx - a run of transmissions in frames
 * @sender: flow that frames are charged to: that of the queue pair
 * @flow: where bursts go; NULL: see hroce_tx_aim()
 * @keep_order: what the stack refuses is sent again by the owner
 * @refused: the stack has refused a frame
 * @refused_psn: of its first packet
 * @route: its route
 * @hdr: IP and UDP header of one packet
 * @frame: the open frame; there is none if its skb is NULL
 * @elide: leave the ICRC out of the open frame
 * @first_psn: of its first packet
 * @ip_id: of that packet; the lower 16 bits go into its IPv4 header
 * @gso_size: UDP payload of each of its packets but the last, which may be
 *	shorter
 * @last_len: UDP payload of its last packet
 * @nr_pkts: packets in it
 * @payload: bytes of payload in it
 * @burst: the burst that is being added
 * @it: its payload
 * @next: index of its next packet; those before are in frames
 * @copy: its payload is copied
 * @pkt: packet @next
 * @bth: its headers behind UDP
 * @bth_len: their length
 * @in_run: packet @next differs from the one before in the PSN alone
 * @icrc: of the last packet that has an ICRC
 *
 * The frame stays open from one burst to the next, so that small messages
 * share a super-packet.
 */
struct hroce_tx {
	struct hroce_flow *sender;
	struct hroce_flow *flow;
	bool keep_order;
	bool refused;
	u32 refused_psn;
	struct hroce_route route;
	struct hroce_headers hdr;
	struct hroce_tx_frame frame;
	bool elide;
	u32 first_psn;
	int ip_id;
	u32 gso_size;
	u32 last_len;
	u32 nr_pkts;
	u32 payload;
	const struct hrp_burst *burst;
	struct hroce_mem_iter *it;
	u32 next;
	bool copy;
	struct hrp_pkt pkt;
	u8 bth[HRW_MAX_HDR_LEN] __aligned(4);
	u32 bth_len;
	bool in_run;
	struct hroce_icrc_last icrc;
};

/* May frames refer to the memory of a burst? Otherwise all is copied. */
static inline bool hroce_tx_may_refer(const struct hrp_burst *b)
{
	return !b->copy && !b->mem.bytes &&
	       min(b->mtu, b->mem.len) >= HROCE_TX_REF_MIN;
}

/**
 * hroce_tx_begin - begin a run of transmissions
 * @tx: run
 * @sender: flow of the queue pair: what is queued below is charged to it
 *	wherever it goes
 * @keep_order: once the local stack has refused a frame for want of room, send
 *	nothing behind it: @tx->refused is set, and @tx->refused_psn is where to go
 *	on later. Otherwise a frame that is refused is lost
 */
static inline void hroce_tx_begin(struct hroce_tx *tx,
				  struct hroce_flow *sender, bool keep_order)
{
	tx->sender = sender;
	tx->flow = NULL;
	tx->keep_order = keep_order;
	tx->refused = false;
	tx->frame.skb = NULL;
	tx->it = NULL;
}

/**
 * hroce_tx_aim - find the way to a destination
 * @tx: run that has no destination: it is new, or hroce_tx_end() was called
 * @flow: where to; valid until hroce_tx_end()
 *
 * Sets @tx->flow, @tx->route and @tx->hdr.
 * Context: BH disabled, RCU read side; both until hroce_tx_end().
 * Return: 0, or negative errno: no route; then @tx has no destination.
 */
int hroce_tx_aim(struct hroce_tx *tx, struct hroce_flow *flow);

/**
 * hroce_tx_add - add the packets of a burst
 * @tx: run; hroce_tx_aim() was successful
 * @b: what; not used any more after return
 * @it: payload, at its beginning
 *
 * Cuts the burst into super-packets and frames as the route allows, and sends
 * those to which nothing can be added. A frame that cannot be sent is lost, as
 * on any wire, and counted; see hroce_tx_begin() for those that are refused.
 *
 * Context: as hroce_tx_aim().
 * Return: enum hroce_wc_status: SUCCESS, or @it->status if the payload is not
 * accessible; then the end of the burst is not sent.
 */
u8 hroce_tx_add(struct hroce_tx *tx, const struct hrp_burst *b,
		struct hroce_mem_iter *it);

/**
 * hroce_tx_end - end a run: send what is still open
 * @tx: run; hroce_tx_aim() may begin anew
 *
 * Context: as hroce_tx_add().
 */
void hroce_tx_end(struct hroce_tx *tx);

#endif /* HROCE_TX_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Transmission of bursts: in frames, or directly to a link of this host. */
#ifndef HROCE_OUT_H
#define HROCE_OUT_H

#include "../net/path.h"
#include "../net/tx.h"

struct hroce_qp;

/* Most packets per burst: about as many as a super-packet holds. */
#define HROCE_OUT_PKTS	64u

/**
 * struct hroce_out - a run of bursts being sent
 * @tx: bursts sent in frames
 * @receiver: queue pair on this host that received bursts and has work pending; or
 *	NULL
 */
struct hroce_out {
	struct hroce_tx tx;
	struct hroce_qp *receiver;
};

/* Begin a run; the parameters are those of hroce_tx_begin(). */
static inline void hroce_out_begin(struct hroce_out *out,
				   struct hroce_path *sender,
				   struct hroce_stats __percpu *stats,
				   bool keep_order)
{
	hroce_tx_begin(&out->tx, sender, stats, keep_order);
	out->receiver = NULL;
}

/**
 * hroce_out_room - what may the sender of a run send?
 * @out: run
 * @path: path of the queue pair
 *
 * Return: bytes, as hroce_path_room().
 */
static inline u32 hroce_out_room(const struct hroce_out *out,
				 struct hroce_path *path)
{
	const struct sk_buff *skb = out->tx.frame.skb;

	return hroce_path_room(path, !out->tx.keep_order,
			       skb ? skb->truesize : 0);
}

/**
 * hroce_out_pkts - how long may a burst be?
 * @room: bytes, not 0
 * @mtu: of each packet
 *
 * Return: packets, at least one.
 */
static inline u8 hroce_out_pkts(u32 room, u32 mtu)
{
	return clamp(room / mtu, 1u, HROCE_OUT_PKTS);
}

/* Does a burst fill the room, so that its frame must not stay open? */
static inline bool hroce_out_fills(const struct hrp_burst *b, u32 room)
{
	return hrp_burst_room(b) >= room;
}

/**
 * hroce_out_add - send the packets of a burst
 * @out: run
 * @path: destination; valid until hroce_out_end()
 * @b: burst; not used any more after return
 * @it: payload, at its beginning
 *
 * Delivers packets to a link of this host if hroce_local_may() returns true,
 * else sends them in frames, see hroce_tx_add(). Without a route they are lost,
 * and counted.
 *
 * Context: BH disabled, RCU read side; both until hroce_out_end(). In an
 * epoch. No lock held that a receiver takes.
 * Return: enum hroce_wc_status: SUCCESS, or @it->status if the payload is not
 * accessible; only the first @out->tx.next packets are then in frames.
 */
u8 hroce_out_add(struct hroce_out *out, struct hroce_path *path,
		 const struct hrp_burst *b, struct hroce_mem_iter *it);

/**
 * hroce_out_end - end a run: send the open frame, run what pends
 * @out: run; hroce_out_add() may start it again
 *
 * Context: as hroce_out_add().
 */
void hroce_out_end(struct hroce_out *out);

#endif /* HROCE_OUT_H */

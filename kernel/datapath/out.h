/* SPDX-License-Identifier: GPL-2.0 */
/* Transmission of bursts: in frames, or directly to a link of this host. */
#ifndef HROCE_OUT_H
#define HROCE_OUT_H

#include "../net/tx.h"

struct hroce_qp;

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

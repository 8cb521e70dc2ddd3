/* SPDX-License-Identifier: GPL-2.0 */
/* Delivery of bursts to links of this host, without frames. */
#ifndef HROCE_LOCAL_H
#define HROCE_LOCAL_H

#include <linux/types.h>

struct hroce_mem_iter;
struct hroce_qp;
struct hroce_tx;
struct hrp_burst;

/**
 * hroce_local_may - may a burst go without frames?
 * @tx: run whose destination is a link of this host
 * @it: payload, at its beginning
 *
 * Context: BH disabled, RCU read side.
 * Return: true if the link allows it, no frame in flight would be overtaken,
 * and the nesting limit is not reached.
 */
bool hroce_local_may(const struct hroce_tx *tx, const struct hroce_mem_iter *it);

/**
 * hroce_local_deliver - deliver the packets of a burst
 * @tx: run with the destination
 * @b: burst
 * @it: payload; hroce_local_may() returned true
 * @receiver: queue pair that received last, or NULL; updated. To be passed to
 *	hroce_local_end() after the last burst
 *
 * Context: as hroce_local_may(), until after hroce_local_end(); in an epoch.
 * No lock held that a receiver takes.
 */
void hroce_local_deliver(const struct hroce_tx *tx, const struct hrp_burst *b,
			 struct hroce_mem_iter *it, struct hroce_qp **receiver);

/* End a run of bursts. Context: as hroce_local_deliver(). */
void hroce_local_end(struct hroce_qp *receiver);

#endif /* HROCE_LOCAL_H */

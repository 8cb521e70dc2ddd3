/* SPDX-License-Identifier: GPL-2.0 */
/* Bursts to packets for links of this host, without frames. */
#ifndef HROCE_LOCAL_H
#define HROCE_LOCAL_H

#include <linux/types.h>

struct hroce_mem_iter;
struct hroce_qp;
struct hroce_tx;
struct hrp_burst;

/**
 * hroce_local_may - may a burst go without frames?
 * @tx: where to: a link of this host
 * @it: payload, at its beginning
 *
 * Context: BH disabled, RCU read side.
 * Return: true if the link allows it, no frame that has not arrived yet is
 * overtaken, and calls do not nest too deep.
 */
bool hroce_local_may(const struct hroce_tx *tx, const struct hroce_mem_iter *it);

/**
 * hroce_local_deliver - deliver the packets of a burst
 * @tx: where to
 * @b: burst
 * @it: payload; hroce_local_may() said true
 * @receiver: queue pair that was delivered to, to be given to hroce_local_end()
 *	in the end; NULL if there is none
 *
 * Context: as hroce_local_may(), until after hroce_local_end(); in a section. No
 * lock held that a receiver takes.
 */
void hroce_local_deliver(const struct hroce_tx *tx, const struct hrp_burst *b,
			 struct hroce_mem_iter *it, struct hroce_qp **receiver);

/* That was the last burst of a run. Context: as hroce_local_deliver(). */
void hroce_local_end(struct hroce_qp *receiver);

#endif /* HROCE_LOCAL_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults of the datapath: a work item, which may sleep, fetches memory that is
 * not present, and then notifies the queue pair that waits.
 */
#ifndef HROCE_FAULT_H
#define HROCE_FAULT_H

#include "qp.h"

struct hroce_mem_iter;

/* The part of a queue pair that waits for memory. */
enum hroce_fault_who {
	HROCE_FAULT_SEND,	/* requester: entries of the send queue */
	HROCE_FAULT_READ,	/* responder: a READ of the peer */
	HROCE_FAULT_PLACE,	/* responder: other requests of the peer */
	HROCE_FAULT_NR,
};

/**
 * hroce_fault_begin - queue a fetch of memory
 * @qp: queue pair
 * @who: side of it that waits
 * @it: ended with HRP_MEM_FAULT
 *
 * No-op if this side waits already.
 * Context: softirq; the lock of the side is held until the result has been
 * passed to the engine.
 * Return: HRP_MEM_FAULT, or enum hroce_wc_status if no fetch can be queued.
 */
u8 hroce_fault_begin(struct hroce_qp *qp, enum hroce_fault_who who,
		     const struct hroce_mem_iter *it);

/**
 * hroce_fault_forget - stop notifications to a queue pair
 * @qp: queue pair
 *
 * Context: both locks of @qp held, @qp->dead is set. The device stays until the
 * caller has waited for epochs.
 */
void hroce_fault_forget(struct hroce_qp *qp);

#endif /* HROCE_FAULT_H */

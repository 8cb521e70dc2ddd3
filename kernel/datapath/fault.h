/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that is not there when the datapath wants it: fetched by a work item,
 * which may sleep, and then told to the queue pair that waits.
 */
#ifndef HROCE_FAULT_H
#define HROCE_FAULT_H

#include "../verbs/qp.h"

struct hroce_mem_iter;

/* The part of a queue pair that waits for memory. */
enum hroce_fault_who {
	HROCE_FAULT_SEND,	/* requester: entries of the send queue */
	HROCE_FAULT_READ,	/* responder: a READ of the peer */
	HROCE_FAULT_PLACE,	/* responder: other requests of the peer */
	HROCE_FAULT_NR,
};

/**
 * hroce_fault_begin - have memory fetched
 * @qp: queue pair
 * @who: side of it that waits
 * @it: ended with HRP_MEM_FAULT
 *
 * If this side is waiting already, nothing more happens.
 * Context: softirq; the lock of the side held until the engine has been told
 * what is returned.
 * Return: HRP_MEM_FAULT, or enum hroce_wc_status if that is impossible.
 */
u8 hroce_fault_begin(struct hroce_qp *qp, enum hroce_fault_who who,
		     const struct hroce_mem_iter *it);

/**
 * hroce_fault_forget - tell a queue pair nothing any more
 * @qp: queue pair
 *
 * Context: both locks of @qp held, @qp->dead is set. The device stays until the
 * caller has waited for sections.
 */
void hroce_fault_forget(struct hroce_qp *qp);

#endif /* HROCE_FAULT_H */

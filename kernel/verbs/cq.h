/* SPDX-License-Identifier: GPL-2.0 */
/* Completion queues. */
#ifndef HROCE_CQ_H
#define HROCE_CQ_H

#include <rdma/ib_verbs.h>
#include <rdma/hroce-abi.h>

struct hroce_ring;

/**
 * struct hroce_cq - completion queue
 * @ib: what ib_core knows
 * @ring: mapped memory
 * @lock: guards @prod, @overrun and the producing side of the ring; softirq
 *	context, so _bh. Innermost lock: taken with a QP's lock held
 * @prod: entries written, free-running, private
 * @cons: queues of the kernel: entries polled, private
 * @overrun: an entry was lost; nothing is written any more
 * @user: mapped into user space
 */
struct hroce_cq {
	struct ib_cq ib;
	struct hroce_ring *ring;
	spinlock_t lock;
	u32 prod;
	u32 cons;
	bool overrun;
	bool user;
};

static inline struct hroce_cq *to_hcq(struct ib_cq *ib)
{
	return container_of(ib, struct hroce_cq, ib);
}

/**
 * hroce_cq_push - write one completion
 * @cq: completion queue
 * @cqe: all but timestamp_ns and owner is set
 * @solicited: counts as a solicited event
 *
 * A full CQ is put into error: the entry is lost and IB_EVENT_CQ_ERR raised
 * once. If the consumer asked for an event by arming, the handler must not run
 * under the caller's QP lock.
 *
 * Context: softirq or process, a QP lock may be held.
 * Return: true if the caller must call hroce_cq_notify() after dropping its
 * locks.
 */
bool __must_check hroce_cq_push(struct hroce_cq *cq,
				const struct hroce_cqe *cqe, bool solicited);

/**
 * hroce_cq_notify - call the completion handler
 * @cq: completion queue, kept alive by the caller
 *
 * Context: BH disabled, no lock held, RCU read side.
 */
void hroce_cq_notify(struct hroce_cq *cq);

#endif /* HROCE_CQ_H */

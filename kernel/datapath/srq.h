/* SPDX-License-Identifier: GPL-2.0 */
/* Shared receive queues, and receive rings in general. */
#ifndef HROCE_SRQ_H
#define HROCE_SRQ_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include "dev.h"
#include "ring.h"

struct hrp_rwqe;

/**
 * struct hroce_srq - shared receive queue
 * @ib: ib_core's SRQ
 * @ring: mapped memory; resizing replaces it [lock]
 * @lock: guards @head, @limit, @max_wr, @error and taking; taken with a QP's
 *	recv.lock held; _bh
 * @post_lock: queues of the kernel: guards posting; any context
 * @head: entries taken, private
 * @limit: raise SRQ_LIMIT_REACHED when fewer are left; 0: off
 * @max_wr: granted
 * @max_sge: granted
 * @number: XRC: number of this SRQ, in hroce_dev.xrc_srqs
 * @user: mapped into user space
 * @error: the ring is corrupt; no more entries are taken
 * @resize: prepared ring [modify_lock]
 * @modify_lock: serialises hroce_srq_modify()
 */
struct hroce_srq {
	struct ib_srq ib;
	struct hroce_ring *ring;
	spinlock_t lock;
	spinlock_t post_lock;
	u32 head;
	u32 limit;
	u32 max_wr;
	u32 max_sge;
	u32 number;
	bool user;
	bool error;
	struct hroce_resize resize;
	struct mutex modify_lock;
};

static inline struct hroce_srq *to_hsrq(struct ib_srq *ib)
{
	return container_of(ib, struct hroce_srq, ib);
}

/**
 * hroce_srq_find - look up an XRC SRQ
 * @dev: device
 * @xrcd: XRC domain that it must be in
 * @number: its number
 *
 * Context: in an epoch.
 * Return: SRQ or NULL.
 */
static inline struct hroce_srq *hroce_srq_find(struct hroce_dev *dev,
					       const struct ib_xrcd *xrcd,
					       unsigned long number)
{
	struct hroce_srq *srq;

	hroce_epoch_assert();
	srq = xa_load(&dev->xrc_srqs, number);
	return srq && srq->ib.ext.xrc.xrcd == xrcd ? srq : NULL;
}

/**
 * hroce_srq_take - take the next entry
 * @srq: shared receive queue
 * @rwqe: filled in
 *
 * Context: softirq, a QP's recv.lock held. May raise the limit event.
 * Return: true; false if there is none, or if it is shorter than @rwqe->least.
 */
bool hroce_srq_take(struct hroce_srq *srq, struct hrp_rwqe *rwqe);

/**
 * hroce_rq_stride - size of an entry of a receive ring
 * @max_sges: most SGEs of an entry
 *
 * Return: bytes, a multiple of 16.
 */
u32 hroce_rq_stride(u32 max_sges);

/**
 * hroce_rq_avail - entries of a receive ring that could be taken
 * @ring: RQ memory, hostile if mapped
 * @head: entries taken so far
 *
 * Return: up to the size of the ring; 0 if the ring's index is invalid.
 */
u32 hroce_rq_avail(const struct hroce_ring *ring, u32 head);

/**
 * hroce_rq_copy - take an entry out of a receive ring
 * @ring: RQ or SRQ memory, hostile if mapped
 * @max_sges: most SGEs allowed
 * @head: entries taken so far; advanced if true is returned
 * @rwqe: filled in, except @rwqe->least
 * @corrupt: set if the ring's index or entry is invalid
 *
 * The index is read once, the entry copied once and checked in the copy.
 * Return: true if an entry was taken.
 */
bool hroce_rq_copy(struct hroce_ring *ring, u32 max_sges, u32 *head,
		   struct hrp_rwqe *rwqe, bool *corrupt);

#endif /* HROCE_SRQ_H */

// SPDX-License-Identifier: GPL-2.0
/* Taking entries out of receive rings: RQ and SRQ. */
#include <linux/align.h>
#include "../proto/qp.h"
#include "srq.h"

u32 hroce_rq_stride(u32 max_sges)
{
	return ALIGN(sizeof(struct hroce_rq_wqe) +
		     max_sges * sizeof(struct hroce_sge), 16);
}

bool hroce_rq_copy(struct hroce_ring *ring, u32 max_sges, u32 *head,
		   struct hrp_rwqe *rwqe, bool *corrupt)
{
	struct hroce_rq_hdr *hdr = ring->va;
	const struct hroce_rq_wqe *wqe;
	const struct hroce_sge *sges;
	u32 avail, i;

	/* Pairs with the producer's release. */
	avail = smp_load_acquire(&hdr->prod) - *head;
	if (!avail)
		return false;
	if (avail > ring->nr_entries)
		goto corrupt;

	wqe = hroce_ring_entry(ring, *head);
	rwqe->wr_id = READ_ONCE(wqe->wr_id);
	rwqe->nr_sges = READ_ONCE(wqe->nr_sges);
	if (rwqe->nr_sges > max_sges)
		goto corrupt;
	sges = (const struct hroce_sge *)(wqe + 1);
	rwqe->length = 0;
	for (i = 0; i < rwqe->nr_sges; i++) {
		rwqe->sges[i] = sges[i];
		/* The ring may change at any time: use the copy alone. */
		barrier();
		rwqe->length += rwqe->sges[i].length;
	}
	if (rwqe->length < rwqe->least)
		return false;

	++*head;
	/* Pairs with the producer's acquire: it may reuse the slots. */
	smp_store_release(&hdr->cons, *head);
	return true;

corrupt:
	*corrupt = true;
	return false;
}

u32 hroce_rq_avail(const struct hroce_ring *ring, u32 head)
{
	const struct hroce_rq_hdr *hdr = ring->va;
	u32 avail = READ_ONCE(hdr->prod) - head;

	return avail > ring->nr_entries ? 0 : avail;
}

static void srq_raise(struct hroce_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ib.device,
		.element.srq = &srq->ib,
		.event = type,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

bool hroce_srq_take(struct hroce_srq *srq, struct hrp_rwqe *rwqe)
{
	bool corrupt = false, limit = false, taken = false;
	const struct hroce_rq_hdr *hdr;

	spin_lock_bh(&srq->lock);
	if (srq->error)
		goto unlock;
	hdr = srq->ring->va;
	taken = hroce_rq_copy(srq->ring, srq->max_sge, &srq->head, rwqe,
			      &corrupt);
	srq->error = corrupt;
	/* Also if none was taken: it may have been empty when it was armed. */
	if (!corrupt && READ_ONCE(hdr->prod) - srq->head < srq->limit) {
		srq->limit = 0;
		limit = true;
	}
unlock:
	spin_unlock_bh(&srq->lock);

	if (corrupt)
		srq_raise(srq, IB_EVENT_SRQ_ERR);
	if (limit)
		srq_raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	return taken;
}

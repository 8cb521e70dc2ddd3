// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues, and taking entries out of receive rings. */
#include <linux/align.h>
#include "../proto/qp.h"
#include "device.h"
#include "ring.h"
#include "srq.h"
#include "ucontext.h"

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

	/* Pairs with the release of who posts. */
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
		/* Whatever is in the ring by now, only the copy counts. */
		barrier();
		rwqe->length += rwqe->sges[i].length;
	}

	++*head;
	/* Pairs with the acquire of who posts into the same slot again. */
	smp_store_release(&hdr->cons, *head);
	return true;

corrupt:
	*corrupt = true;
	return false;
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
	const struct hroce_rq_hdr *hdr = srq->ring->va;
	bool corrupt = false, limit = false, taken = false;

	spin_lock_bh(&srq->lock);
	if (srq->error)
		goto unlock;
	taken = hroce_rq_copy(srq->ring, srq->max_sge, &srq->head, rwqe,
			      &corrupt);
	srq->error = corrupt;
	if (taken && READ_ONCE(hdr->prod) - srq->head < srq->limit) {
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

int hroce_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init_attr,
		     struct ib_udata *udata)
{
	struct ib_srq_attr *attr = &init_attr->attr;
	struct hroce_srq *srq = to_hsrq(ibsrq);
	struct hroce_create_srq_resp resp = {};
	int err;

	err = hroce_udata_check(udata, sizeof(resp));
	if (err)
		return err;
	if (init_attr->srq_type != IB_SRQT_BASIC)
		return -EOPNOTSUPP;
	if (!attr->max_wr || attr->max_wr > HROCE_MAX_WR ||
	    attr->max_sge > HROCE_MAX_SGES || attr->srq_limit > attr->max_wr)
		return -EINVAL;

	spin_lock_init(&srq->lock);
	spin_lock_init(&srq->post_lock);
	srq->user = udata;
	srq->limit = attr->srq_limit;
	srq->max_sge = attr->max_sge;
	srq->ring = hroce_ring_create(attr->max_wr,
				      hroce_rq_stride(attr->max_sge));
	if (IS_ERR(srq->ring))
		return PTR_ERR(srq->ring);
	srq->max_wr = srq->ring->nr_entries;
	attr->max_wr = srq->max_wr;
	if (!udata)
		return 0;

	err = hroce_ring_export(srq->ring, hroce_udata_context(udata),
				&resp.srq);
	if (!err)
		err = hroce_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		hroce_ring_destroy(srq->ring);
	return err;
}

int hroce_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct hroce_srq *srq = to_hsrq(ibsrq);
	int err;

	err = hroce_udata_check(udata, 0);
	if (err)
		return err;
	if (mask & ~IB_SRQ_LIMIT)
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit > srq->max_wr)
		return -EINVAL;

	spin_lock_bh(&srq->lock);
	srq->limit = attr->srq_limit;
	spin_unlock_bh(&srq->lock);
	return 0;
}

int hroce_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct hroce_srq *srq = to_hsrq(ibsrq);

	attr->max_wr = srq->max_wr;
	attr->max_sge = srq->max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}

int hroce_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	/* No queue pair refers to the SRQ any more, so nobody uses it. */
	hroce_ring_destroy(to_hsrq(ibsrq)->ring);
	return 0;
}

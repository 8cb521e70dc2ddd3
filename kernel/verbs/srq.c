// SPDX-License-Identifier: GPL-2.0
/* Shared receive queues. Taking their entries is in datapath/srq.c. */
#include "../core/epoch.h"
#include "../datapath/srq.h"
#include "device.h"
#include "ops.h"
#include "resize.h"
#include "ring.h"
#include "ucontext.h"

/*
 * Move posted entries to the prepared ring. Copies of entries that are taken
 * meanwhile are not used.
 */
static bool srq_move(struct hroce_resize *resize)
{
	struct hroce_srq *srq = container_of(resize, struct hroce_srq, resize);
	struct hroce_ring *ring = resize->ring, *old = srq->ring;
	struct hroce_rq_hdr *to = ring->va, *from = old->va;
	u32 i, head, prod;

	lockdep_assert_held(&srq->modify_lock);
	spin_lock_bh(&srq->lock);
	head = srq->head;
	spin_unlock_bh(&srq->lock);
	/* Pairs with the producer's release. */
	prod = smp_load_acquire(&from->prod);
	if (prod - head > min(ring->nr_entries, old->nr_entries))
		return false;
	for (i = head; i != prod; i++)
		memcpy(hroce_ring_entry(ring, i), hroce_ring_entry(old, i),
		       ring->stride);

	spin_lock_bh(&srq->lock);
	to->prod = prod;
	to->cons = srq->head;
	srq->ring = ring;
	srq->max_wr = ring->nr_entries;
	spin_unlock_bh(&srq->lock);
	resize->ring = old;
	return true;
}

static int srq_check_init(const struct ib_srq_init_attr *init,
			  const struct ib_udata *udata)
{
	const struct ib_srq_attr *attr = &init->attr;

	switch (init->srq_type) {
	case IB_SRQT_BASIC:
		break;
	case IB_SRQT_XRC:
		/* XRC calls handlers with a lock held: user space only. */
		if (!udata)
			return -EOPNOTSUPP;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (!attr->max_wr || attr->max_wr > HROCE_MAX_WR ||
	    attr->max_sge > HROCE_MAX_SGES)
		return -EINVAL;
	return 0;
}

/* Reserve a number; look-ups do not find it yet. */
static int srq_take_number(struct hroce_srq *srq)
{
	struct hroce_dev *dev = to_hdev(srq->ib.device);
	int err;

	err = xa_alloc_cyclic(&dev->xrc_srqs, &srq->number, NULL,
			      XA_LIMIT(1, HROCE_MAX_SRQN),
			      &to_hibdev(srq->ib.device)->xrc_srq_next,
			      GFP_KERNEL);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;
	srq->ib.ext.xrc.srq_num = srq->number;
	return 0;
}

static int srq_answer_create(struct hroce_srq *srq, struct ib_udata *udata)
{
	struct hroce_create_srq_resp resp = {};
	int err;

	if (!udata)
		return 0;
	err = hroce_ring_export(srq->ring, hroce_udata_context(udata),
				&resp.srq);
	return err ?: hroce_udata_answer(udata, &resp, sizeof(resp));
}

int hroce_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init_attr,
		     struct ib_udata *udata)
{
	struct hroce_dev *dev = to_hdev(ibsrq->device);
	struct ib_srq_attr *attr = &init_attr->attr;
	struct hroce_srq *srq = to_hsrq(ibsrq);
	bool xrc = init_attr->srq_type == IB_SRQT_XRC;
	int err;

	err = hroce_udata_check_create(udata,
				       offsetofend(struct hroce_create_srq_resp,
						   srq),
				       UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM);
	if (!err)
		err = srq_check_init(init_attr, udata);
	if (err)
		return err;

	mutex_init(&srq->modify_lock);
	spin_lock_init(&srq->lock);
	spin_lock_init(&srq->post_lock);
	srq->user = udata;
	/* ibv_modify_srq() arms the limit, not this call (IBTA 11.2.3.1). */
	attr->srq_limit = 0;
	srq->max_sge = attr->max_sge;
	srq->ring = hroce_ring_create(attr->max_wr,
				      hroce_rq_stride(attr->max_sge),
				      hroce_udata_context(udata));
	if (IS_ERR(srq->ring))
		return PTR_ERR(srq->ring);
	srq->resize.stride = srq->ring->stride;
	srq->resize.move = srq_move;
	srq->max_wr = srq->ring->nr_entries;
	attr->max_wr = srq->max_wr;
	if (xrc) {
		err = srq_take_number(srq);
		if (err)
			goto destroy_ring;
	}
	err = srq_answer_create(srq, udata);
	if (err)
		goto put_number;
	/* The slot is reserved, so this allocates no memory. */
	if (xrc)
		xa_store(&dev->xrc_srqs, srq->number, srq, GFP_KERNEL);
	return 0;

put_number:
	if (xrc)
		xa_erase(&dev->xrc_srqs, srq->number);
destroy_ring:
	hroce_ring_destroy(srq->ring);
	return err;
}

/* Return: true if all is done, false if other steps follow; or -errno. */
static int srq_resize(struct hroce_srq *srq, u32 max_wr, struct ib_udata *udata)
{
	struct hroce_modify_srq_req req = {};
	int err;

	/* No kernel consumer resizes an SRQ. */
	if (!srq->user || !udata)
		return -EOPNOTSUPP;
	err = hroce_udata_read(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.reserved)
		return -EINVAL;
	err = hroce_resize_run(&srq->resize, req.step, max_wr,
			       hroce_udata_context(udata),
			       u64_to_user_ptr(req.answer));
	return err ?: req.step == HROCE_RESIZE_SWITCH;
}

static int srq_modify_locked(struct hroce_srq *srq,
			     const struct ib_srq_attr *attr,
			     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	u32 max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : srq->max_wr;
	u32 limit = mask & IB_SRQ_LIMIT ? attr->srq_limit :
					  READ_ONCE(srq->limit);
	int done;

	lockdep_assert_held(&srq->modify_lock);
	if (!max_wr || max_wr > HROCE_MAX_WR || limit > max_wr)
		return -EINVAL;
	if (mask & IB_SRQ_MAX_WR) {
		done = srq_resize(srq, max_wr, udata);
		if (done <= 0)
			return done;
	}
	if (mask & IB_SRQ_LIMIT) {
		spin_lock_bh(&srq->lock);
		srq->limit = limit;
		spin_unlock_bh(&srq->lock);
	}
	return 0;
}

int hroce_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct hroce_srq *srq = to_hsrq(ibsrq);
	int err;

	if (mask & ~(IB_SRQ_LIMIT | IB_SRQ_MAX_WR))
		return -EOPNOTSUPP;
	if (!(mask & IB_SRQ_MAX_WR)) {
		err = hroce_udata_check(udata, 0);
		if (err)
			return err;
	}
	mutex_lock(&srq->modify_lock);
	err = srq_modify_locked(srq, attr, mask, udata);
	mutex_unlock(&srq->modify_lock);
	return err;
}

int hroce_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct hroce_srq *srq = to_hsrq(ibsrq);

	attr->max_wr = srq->max_wr;
	attr->max_sge = srq->max_sge;
	attr->srq_limit = READ_ONCE(srq->limit);
	return 0;
}

void hroce_srq_destroy(struct ib_srq *ibsrq)
{
	struct hroce_srq *srq = to_hsrq(ibsrq);

	/* Only XRC targets may still use it, by its number. */
	if (ibsrq->srq_type == IB_SRQT_XRC) {
		xa_erase(&to_hdev(ibsrq->device)->xrc_srqs, srq->number);
		hroce_epoch_wait();
	}
	hroce_ring_destroy(srq->ring);
	hroce_ring_destroy(srq->resize.ring);
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: creation, polling, arming.
 *
 * Only creation, change and destruction enter the kernel: the owner word of an
 * entry shows that it is valid, the arm word requests events.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cq.h"
#include "hroce.h"
#include "kick.h"
#include "pd.h"

/*
 * hroce_cqe.qpn of an entry that polling skips. Queue pair numbers have 24
 * bits; the kernel overwrites the slot before it makes it valid again.
 */
#define QPN_FORGOTTEN	UINT32_MAX

/* Empty polls from one look at hroce_cq_hdr.poll_qpn to the next. */
#define EMPTY_POLLS	16

#define CQ_EX_WC_FLAGS	(IBV_WC_STANDARD_FLAGS | \
			 IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

#define CQ_EX_ATTRS	(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)

#define CQ_EX_FLAGS	(IBV_CREATE_CQ_ATTR_SINGLE_THREADED | \
			 IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)

static int cq_map(struct hroce_cq *cq, int cmd_fd,
		  const struct hroce_ring_info *info)
{
	int ret;

	ret = hroce_map_open(&cq->map, cmd_fd, info, cq->vcq.cq.cqe,
			     sizeof(struct hroce_cqe));
	if (ret)
		return ret;

	cq->hdr = cq->map.base;
	hroce_cons_init(&cq->ring, &cq->map, info, &cq->hdr->cons);
	return 0;
}

static struct hroce_cq *cq_create(struct ibv_context *context,
				  const struct ibv_cq_init_attr_ex *attr,
				  bool single_threaded)
{
	struct hroce_cmd_create_cq_resp resp = {};
	struct ibv_create_cq_ex cmd = {};
	struct hroce_cq *cq;
	int ret;

	if (attr->cqe <= 0) {
		errno = EINVAL;
		return NULL;
	}

	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;

	ret = ibv_cmd_create_cq_ex(context, attr, NULL, &cq->vcq, &cmd,
				   sizeof(cmd), &resp.core, sizeof(resp), 0);
	if (ret)
		goto free_cq;

	ret = cq_map(cq, context->cmd_fd, &resp.drv.cq);
	if (ret)
		goto destroy_cq;

	hroce_lock_init(&cq->lock, !single_threaded);
	return cq;

destroy_cq:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
free_cq:
	free(cq);
	errno = ret;
	return NULL;
}

struct ibv_cq *hroce_create_cq(struct ibv_context *context, int nr_cqes,
			       struct ibv_comp_channel *channel,
			       int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = nr_cqes,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct hroce_cq *cq = cq_create(context, &attr, false);

	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *hroce_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_init_attr_ex plain = *attr;
	struct ibv_pd *pd = NULL;
	struct hroce_cq *cq;
	uint32_t flags = 0;

	if (attr->comp_mask & ~(uint32_t)CQ_EX_ATTRS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS)
		flags = attr->flags;
	if ((flags & ~(uint32_t)CQ_EX_FLAGS) ||
	    (attr->wc_flags & ~(uint64_t)CQ_EX_WC_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	/* SINGLE_THREADED stays in the library; the kernel gets the rest. */
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD)
		pd = attr->parent_domain;
	if (hroce_pd_is_single_threaded(pd))
		flags |= IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	plain.flags = flags & ~IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
	plain.comp_mask = plain.flags ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0;
	cq = cq_create(context, &plain,
		       flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED);
	if (!cq)
		return NULL;

	cq->pd = hroce_pd_get(pd);
	hroce_cq_set_poll_ops(&cq->vcq.cq_ex);
	return &cq->vcq.cq_ex;
}

int hroce_destroy_cq(struct ibv_cq *ibcq)
{
	struct hroce_cq *cq = to_hcq(ibcq);
	int ret;

	ret = ibv_cmd_destroy_cq(ibcq);
	if (ret)
		return ret;

	hroce_map_close(&cq->map);
	hroce_map_close(&cq->hdr_map);
	hroce_lock_destroy(&cq->lock);
	hroce_pd_put(cq->pd);
	free(cq);
	return 0;
}

static int cq_resize_step(struct hroce_cq *cq, int nr_cqes, uint32_t step,
			  struct hroce_ring_info *info)
{
	struct hroce_cmd_resize_cq cmd = { .drv.step = step };
	struct hroce_cmd_resize_cq_resp resp = {};
	int ret;

	ret = ibv_cmd_resize_cq(&cq->vcq.cq, nr_cqes, &cmd.core, sizeof(cmd),
				&resp.core, sizeof(resp));
	*info = resp.drv.cq;
	return ret;
}

/* Follow the kernel, which now uses the ring at *@map. */
static void cq_switch(struct hroce_cq *cq, const struct hroce_map *map,
		      const struct hroce_ring_info *info)
{
	hroce_cons_init(&cq->ring, map, info, &cq->hdr->cons);
	if (cq->hdr == cq->map.base) {
		cq->hdr_map = cq->map;
		hroce_map_trim(&cq->hdr_map);
	} else {
		hroce_map_close(&cq->map);
	}
	cq->map = *map;
	/* Its thread is polling. The entry was not returned: it is the first. */
	if (cq->current)
		cq->current = hroce_cons_peek(&cq->ring);
}

static int cq_resize_locked(struct hroce_cq *cq, int nr_cqes)
{
	struct hroce_ring_info info, none;
	struct hroce_map map = {};
	int ret;

	/* Return polled entries, also those of an extended CQ. */
	hroce_cons_publish(&cq->ring);
	ret = cq_resize_step(cq, nr_cqes, HROCE_RESIZE_PREPARE, &info);
	if (ret)
		return ret;
	ret = hroce_map_open(&map, cq->vcq.cq.context->cmd_fd, &info, nr_cqes,
			     sizeof(struct hroce_cqe));
	if (ret) {
		cq_resize_step(cq, nr_cqes, HROCE_RESIZE_CANCEL, &none);
		return ret;
	}
	ret = cq_resize_step(cq, nr_cqes, HROCE_RESIZE_SWITCH, &none);
	if (ret)
		hroce_map_close(&map);
	else
		cq_switch(cq, &map, &info);
	return ret;
}

int hroce_resize_cq(struct ibv_cq *ibcq, int nr_cqes)
{
	struct hroce_cq *cq = to_hcq(ibcq);
	int ret;

	if (nr_cqes <= 0)
		return EINVAL;
	hroce_lock(&cq->lock);
	ret = cq_resize_locked(cq, nr_cqes);
	hroce_unlock(&cq->lock);
	return ret;
}

int hroce_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(ibcq, attr, &cmd, sizeof(cmd));
}

const struct hroce_cqe *hroce_cq_next(struct hroce_cq *cq)
{
	const struct hroce_cqe *cqe;

	while ((cqe = hroce_cons_peek(&cq->ring)) &&
	       cqe->qpn == QPN_FORGOTTEN)
		hroce_cons_advance(&cq->ring);
	return cqe;
}

/*
 * Move the valid entries to the end of them, but for those of @qpn, and mark
 * the places in front as dropped. Each place keeps its owner. The entry that is
 * being read stays valid, and moves along.
 */
static void cq_compact(struct hroce_cq *cq, uint32_t qpn)
{
	const uint32_t first = cq->ring.cons;
	const struct hroce_cqe *from;
	uint32_t idx, to;

	for (idx = first; idx - first < cq->ring.nr_entries; idx++) {
		if (!hroce_cons_at(&cq->ring, idx))
			break;
	}
	for (to = idx; idx != first;) {
		from = hroce_cons_at(&cq->ring, --idx);
		if (from != cq->current &&
		    (from->qpn == qpn || from->qpn == QPN_FORGOTTEN))
			continue;
		if (--to != idx)
			memcpy(hroce_cons_at(&cq->ring, to), from,
			       offsetof(struct hroce_cqe, owner));
	}
	while (to != first)
		hroce_cons_at(&cq->ring, --to)->qpn = QPN_FORGOTTEN;
}

void hroce_cq_forget_qp(struct ibv_cq *ibcq, uint32_t qpn)
{
	const struct hroce_cqe *cqe;
	struct hroce_cq *cq;

	if (!ibcq)
		return;
	cq = to_hcq(ibcq);

	hroce_lock(&cq->lock);
	cq_compact(cq, qpn);
	/* The next completions may need the places before somebody polls. */
	cqe = hroce_cq_next(cq);
	hroce_cons_publish(&cq->ring);
	if (cq->current)
		cq->current = cqe;
	hroce_unlock(&cq->lock);
}

static void wc_fill(struct ibv_wc *wc, const struct hroce_cqe *cqe)
{
	*wc = (struct ibv_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = cqe->opcode,
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		/* shares its place with invalidated_rkey */
		.imm_data = cqe->imm_data,
		.qp_num = cqe->qpn,
		.src_qp = cqe->src_qpn,
		.wc_flags = cqe->flags & HROCE_WCF_VERBS,
		.pkey_index = cqe->pkey_index,
		.sl = cqe->sl,
	};
}

uint32_t hroce_cq_found_none(struct hroce_cq *cq)
{
	if (++cq->nr_empty % EMPTY_POLLS == 0)
		cq->poll_qpn = hroce_load_acquire(&cq->hdr->poll_qpn);
	return cq->poll_qpn;
}

bool hroce_cq_poll_netdev(struct hroce_cq *cq, uint32_t qpn)
{
	if (hroce_kick_poll(to_hctx(cq->vcq.cq.context)->kick_fd, qpn))
		return true;
	hroce_lock(&cq->lock);
	cq->poll_qpn = 0;
	hroce_unlock(&cq->lock);
	return false;
}

/* @qpn: set if nothing was found */
static int cq_poll(struct hroce_cq *cq, int nr_entries, struct ibv_wc *wc,
		   uint32_t *qpn)
{
	const struct hroce_cqe *cqe;
	uint32_t before;
	int nr_polled;

	hroce_lock(&cq->lock);
	before = cq->ring.cons;
	for (nr_polled = 0; nr_polled < nr_entries; nr_polled++) {
		cqe = hroce_cq_next(cq);
		if (!cqe)
			break;
		wc_fill(&wc[nr_polled], cqe);
		hroce_cons_advance(&cq->ring);
	}
	if (cq->ring.cons != before)
		hroce_cons_publish(&cq->ring);
	*qpn = nr_polled ? 0 : hroce_cq_found_none(cq);
	hroce_unlock(&cq->lock);

	return nr_polled;
}

int hroce_poll_cq(struct ibv_cq *ibcq, int nr_entries, struct ibv_wc *wc)
{
	struct hroce_cq *cq = to_hcq(ibcq);
	uint32_t qpn;
	int nr_polled;

	nr_polled = cq_poll(cq, nr_entries, wc, &qpn);
	if (qpn && hroce_cq_poll_netdev(cq, qpn))
		nr_polled = cq_poll(cq, nr_entries, wc, &qpn);
	return nr_polled;
}

/*
 * A request for solicited completions does not replace one for the next
 * completion. The exchange is atomic because the kernel resets the word.
 */
static void cq_arm(uint32_t *arm, int solicited_only)
{
	uint32_t none = HROCE_CQ_ARM_NONE;

	if (solicited_only)
		__atomic_compare_exchange_n(arm, &none, HROCE_CQ_ARM_SOLICITED,
					    false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
	else
		hroce_store_release(arm, HROCE_CQ_ARM_NEXT);
	hroce_full_barrier();
}

int hroce_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	cq_arm(&to_hcq(ibcq)->hdr->arm, solicited_only);
	return 0;
}

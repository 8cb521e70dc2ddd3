// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues. */
#include <errno.h>
#include <stdlib.h>

#include "pd.h"
#include "srq.h"

/*
 * Map the queue of an SRQ that the kernel created with result @ret, or undo its
 * creation.
 */
static struct ibv_srq *srq_finish(struct hroce_srq *srq, int ret,
				  struct ibv_pd *pd,
				  const struct hroce_ring_info *info,
				  const struct ibv_srq_attr *attr)
{
	if (ret)
		goto free_srq;
	ret = hroce_rq_open(&srq->rq, pd->context->cmd_fd, info,
			    attr->max_wr, attr->max_sge,
			    hroce_pd_is_single_threaded(pd));
	if (!ret) {
		srq->pd = hroce_pd_get(pd);
		return &srq->vsrq.srq;
	}

	ibv_cmd_destroy_srq(&srq->vsrq.srq);
free_srq:
	free(srq);
	errno = ret;
	return NULL;
}

struct ibv_srq *hroce_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct hroce_cmd_create_srq_resp resp = {};
	struct ibv_create_srq cmd = {};
	struct hroce_srq *srq;
	int ret;

	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;

	ret = ibv_cmd_create_srq(pd, &srq->vsrq.srq, attr, &cmd, sizeof(cmd),
				 &resp.core, sizeof(resp));
	return srq_finish(srq, ret, pd, &resp.drv.srq, &attr->attr);
}

/* XRC: target queue pairs of its domain find it by number. */
struct ibv_srq *hroce_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr)
{
	struct hroce_cmd_create_srq_resp resp = {};
	struct ibv_create_xsrq cmd = {};
	struct hroce_srq *srq;
	int ret;

	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) ||
	    attr->srq_type != IBV_SRQT_XRC) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;

	ret = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr, &cmd,
				    sizeof(cmd), &resp.core, sizeof(resp));
	return srq_finish(srq, ret, attr->pd, &resp.drv.srq, &attr->attr);
}

int hroce_get_srq_num(struct ibv_srq *ibsrq, uint32_t *number)
{
	const struct verbs_srq *vsrq = &to_hsrq(ibsrq)->vsrq;

	if (vsrq->srq_type != IBV_SRQT_XRC)
		return EOPNOTSUPP;
	*number = vsrq->srq_num;
	return 0;
}

static int srq_resize_step(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
			   int attr_mask, uint32_t step,
			   struct hroce_ring_info *info)
{
	struct hroce_cmd_modify_srq cmd = {
		.drv.answer = (uintptr_t)info,
		.drv.step = step,
	};

	return ibv_cmd_modify_srq(ibsrq, attr, attr_mask, &cmd.core,
				  sizeof(cmd));
}

/* The kernel copies published entries; the lock prevents posting meanwhile. */
static int srq_resize_locked(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
			     int attr_mask)
{
	struct hroce_rq *rq = &to_hsrq(ibsrq)->rq;
	struct hroce_ring_info info = {};
	struct hroce_map map = {};
	int ret;

	ret = srq_resize_step(ibsrq, attr, attr_mask, HROCE_RESIZE_PREPARE,
			      &info);
	if (ret)
		return ret;
	ret = hroce_map_open(&map, ibsrq->context->cmd_fd, &info, attr->max_wr,
			     rq->ring.stride);
	if (ret) {
		srq_resize_step(ibsrq, attr, attr_mask, HROCE_RESIZE_CANCEL,
				NULL);
		return ret;
	}
	ret = srq_resize_step(ibsrq, attr, attr_mask, HROCE_RESIZE_SWITCH,
			      NULL);
	if (ret)
		hroce_map_close(&map);
	else
		hroce_rq_replace(rq, &map, &info);
	return ret;
}

static int srq_resize(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		      int attr_mask)
{
	struct hroce_rq *rq = &to_hsrq(ibsrq)->rq;
	int ret;

	hroce_lock(&rq->lock);
	ret = srq_resize_locked(ibsrq, attr, attr_mask);
	hroce_unlock(&rq->lock);
	return ret;
}

int hroce_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		     int attr_mask)
{
	struct ibv_modify_srq cmd = {};

	if (attr_mask & IBV_SRQ_MAX_WR)
		return srq_resize(ibsrq, attr, attr_mask);
	return ibv_cmd_modify_srq(ibsrq, attr, attr_mask, &cmd, sizeof(cmd));
}

int hroce_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = {};

	return ibv_cmd_query_srq(ibsrq, attr, &cmd, sizeof(cmd));
}

int hroce_destroy_srq(struct ibv_srq *ibsrq)
{
	struct hroce_srq *srq = to_hsrq(ibsrq);
	int ret;

	ret = ibv_cmd_destroy_srq(ibsrq);
	if (ret)
		return ret;

	hroce_rq_close(&srq->rq);
	hroce_pd_put(srq->pd);
	free(srq);
	return 0;
}

/* No kick: the kernel looks into the queue when a message arrives. */
int hroce_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	struct hroce_rq *rq = &to_hsrq(ibsrq)->rq;
	uint32_t before;
	int ret;

	hroce_lock(&rq->lock);
	before = rq->ring.prod;
	ret = hroce_rq_add(rq, wr, bad_wr);
	if (rq->ring.prod != before)
		hroce_prod_publish(&rq->ring);
	hroce_unlock(&rq->lock);

	return ret;
}

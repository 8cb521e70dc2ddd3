// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs: creation, states, destruction. */
#include <errno.h>
#include <stdlib.h>

#include "cq.h"
#include "pd.h"
#include "qp.h"

#define QP_EX_ATTRS	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | \
			 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)

/* No create flag is supported; comp_mask may say that there are none. */
static bool qp_check_attrs(const struct ibv_qp_init_attr_ex *attr)
{
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS &&
	    attr->create_flags)
		return false;
	return !(attr->comp_mask &
		 ~(QP_EX_ATTRS | IBV_QP_INIT_ATTR_CREATE_FLAGS));
}

static struct ibv_pd *qp_pd(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
}

static int qp_map(struct hroce_qp *qp, int cmd_fd,
		  const struct hroce_create_qp_resp *resp,
		  const struct ibv_qp_init_attr_ex *attr)
{
	bool single_threaded = hroce_pd_is_single_threaded(qp_pd(attr));
	bool own_rq = !attr->srq;
	int ret;

	ret = hroce_sq_open(&qp->sq, cmd_fd, &resp->sq, &attr->cap,
			    attr->sq_sig_all, single_threaded);
	if (ret)
		return ret;

	ret = hroce_rq_open(&qp->rq, cmd_fd, &resp->rq,
			    own_rq ? attr->cap.max_recv_wr : 0,
			    own_rq ? attr->cap.max_recv_sge : 0,
			    single_threaded);
	if (ret)
		hroce_sq_close(&qp->sq);
	return ret;
}

struct ibv_qp *hroce_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr)
{
	struct hroce_cmd_create_qp_resp resp = {};
	struct ibv_create_qp cmd = {};
	uint32_t comp_mask = attr->comp_mask;
	uint64_t send_ops = 0;
	struct hroce_qp *qp;
	int ret;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		send_ops = attr->send_ops_flags;
	if (!qp_check_attrs(attr) ||
	    !hroce_wr_supports(attr->qp_type, send_ops)) {
		errno = EOPNOTSUPP;
		return NULL;
	}

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;

	/* The value of an ATOMIC WRITE stands in the request. */
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_WRITE &&
	    attr->cap.max_inline_data < sizeof(uint64_t))
		attr->cap.max_inline_data = sizeof(uint64_t);
	attr->comp_mask &= QP_EX_ATTRS;
	ret = ibv_cmd_create_qp_ex(context, &qp->vqp, attr, &cmd, sizeof(cmd),
				   &resp.core, sizeof(resp));
	attr->comp_mask = comp_mask;
	if (ret)
		goto free_qp;

	ret = qp_map(qp, context->cmd_fd, &resp.drv, attr);
	if (ret)
		goto destroy_qp;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) {
		hroce_wr_set_ops(&qp->vqp.qp_ex, attr->qp_type);
		qp->vqp.comp_mask |= VERBS_QP_EX;
	}
	qp->pd = hroce_pd_get(qp_pd(attr));
	return &qp->vqp.qp;

destroy_qp:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
free_qp:
	free(qp);
	errno = ret;
	return NULL;
}

struct ibv_qp *hroce_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *ibqp;

	ibqp = hroce_create_qp_ex(pd->context, &attr_ex);
	if (ibqp)
		attr->cap = attr_ex.cap;
	return ibqp;
}

/* Open a QP of another process. Its queues are not mapped here. */
struct ibv_qp *hroce_open_qp(struct ibv_context *context,
			     struct ibv_qp_open_attr *attr)
{
	const struct hroce_create_qp_resp no_queues = {};
	const struct ibv_qp_init_attr_ex no_attr = {};
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	struct hroce_qp *qp;
	int ret;

	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;

	ret = ibv_cmd_open_qp(context, &qp->vqp, sizeof(qp->vqp), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp));
	if (ret)
		goto free_qp;
	ret = qp_map(qp, context->cmd_fd, &no_queues, &no_attr);
	if (ret)
		goto destroy_qp;
	return &qp->vqp.qp;

destroy_qp:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
free_qp:
	free(qp);
	errno = ret;
	return NULL;
}

/* XRC: the kernel was not told of queues that are not used, and holds none. */
static void qp_forget_completions(struct ibv_qp *ibqp)
{
	if (ibqp->qp_type == IBV_QPT_XRC_RECV)
		return;
	hroce_cq_forget_qp(ibqp->send_cq, ibqp->qp_num);
	if (ibqp->qp_type != IBV_QPT_XRC_SEND &&
	    ibqp->recv_cq != ibqp->send_cq)
		hroce_cq_forget_qp(ibqp->recv_cq, ibqp->qp_num);
}

/* The plain command has no field for a rate. */
static int qp_modify(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		     int attr_mask, const struct hroce_modify_qp_req *req)
{
	struct ib_uverbs_ex_modify_qp_resp resp = {};
	struct hroce_cmd_modify_qp cmd_ex = { .drv = *req };
	struct ibv_modify_qp cmd = {};

	if (attr_mask & IBV_QP_RATE_LIMIT)
		return ibv_cmd_modify_qp_ex(ibqp, attr, attr_mask, &cmd_ex.core,
					    sizeof(cmd_ex), &resp,
					    sizeof(resp));
	return ibv_cmd_modify_qp(ibqp, attr, attr_mask, &cmd, sizeof(cmd));
}

int hroce_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		    int attr_mask)
{
	const struct hroce_modify_qp_req no_burst = {};
	struct hroce_qp *qp = to_hqp(ibqp);
	int ret;

	ret = qp_modify(ibqp, attr, attr_mask, &no_burst);
	if (ret)
		return ret;

	if (!(attr_mask & IBV_QP_STATE))
		return 0;
	__atomic_store_n(&qp->state, attr->qp_state, __ATOMIC_RELAXED);
	if (attr->qp_state == IBV_QPS_RESET) {
		qp_forget_completions(ibqp);
		hroce_sq_reset(&qp->sq);
		hroce_rq_reset(&qp->rq);
	}
	return 0;
}

int hroce_modify_qp_rate_limit(struct ibv_qp *ibqp,
			       struct ibv_qp_rate_limit_attr *attr)
{
	const struct hroce_modify_qp_req req = {
		.max_burst_sz = attr->max_burst_sz,
		.typical_pkt_sz = attr->typical_pkt_sz,
	};
	struct ibv_qp_attr qp_attr = { .rate_limit = attr->rate_limit };

	if (attr->comp_mask)
		return EINVAL;
	return qp_modify(ibqp, &qp_attr, IBV_QP_RATE_LIMIT, &req);
}

int hroce_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd = {};

	return ibv_cmd_query_qp(ibqp, attr, attr_mask, init_attr, &cmd,
				sizeof(cmd));
}

/*
 * Between the two steps another thread could create a queue pair of the same
 * number, whose completions would be dropped. The kernel assigns numbers in
 * turn, so this takes millions of new queue pairs in that time.
 */
int hroce_destroy_qp(struct ibv_qp *ibqp)
{
	struct hroce_qp *qp = to_hqp(ibqp);
	int ret;

	ret = ibv_cmd_destroy_qp(ibqp);
	if (ret)
		return ret;
	qp_forget_completions(ibqp);

	hroce_sq_close(&qp->sq);
	hroce_rq_close(&qp->rq);
	hroce_pd_put(qp->pd);
	free(qp);
	return 0;
}

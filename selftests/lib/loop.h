/* SPDX-License-Identifier: GPL-2.0 */
/* A queue pair of the kernel that is connected to itself: for the modules that test. */
#ifndef HROCE_SELFTESTS_LOOP_H
#define HROCE_SELFTESTS_LOOP_H

#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define LOOP_PORT	1
#define LOOP_PATIENCE	(10 * HZ)

/**
 * struct loop - a queue pair that is connected to itself
 * @pd: protection domain
 * @cq: of both queues, polled by ib_process_cq_direct()
 * @qp: queue pair, each queue of one entry with one element
 * @cqe: of what loop_run() posts
 * @wc: completion of that
 * @done: it is there
 */
struct loop {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_cqe cqe;
	struct ib_wc wc;
	bool done;
};

/* From RESET to RTS, with GID @gid_index and the path MTU @mtu. */
static inline int loop_connect(struct ib_qp *qp, int gid_index,
			       enum ib_mtu mtu, int access)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = LOOP_PORT,
		.qp_access_flags = access,
		.path_mtu = mtu, .dest_qp_num = qp->qp_num,
		.max_rd_atomic = 1, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7,
	};
	const struct ib_gid_attr *gid;
	int err;

	gid = rdma_get_gid_attr(qp->device, LOOP_PORT, gid_index);
	if (IS_ERR(gid))
		return PTR_ERR(gid);
	attr.ah_attr.type = rdma_ah_find_type(qp->device, LOOP_PORT);
	rdma_ah_set_port_num(&attr.ah_attr, LOOP_PORT);
	rdma_move_grh_sgid_attr(&attr.ah_attr, (union ib_gid *)&gid->gid, 0, 64,
				0, gid);
	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	attr.qp_state = IB_QPS_RTR;
	err = err ?: ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV |
				  IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				  IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				  IB_QP_MIN_RNR_TIMER);
	attr.qp_state = IB_QPS_RTS;
	err = err ?: ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
				  IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				  IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
	rdma_destroy_ah_attr(&attr.ah_attr);
	return err;
}

static inline void loop_close(struct loop *loop)
{
	if (!IS_ERR_OR_NULL(loop->qp))
		ib_destroy_qp(loop->qp);
	if (!IS_ERR_OR_NULL(loop->cq))
		ib_free_cq(loop->cq);
	if (!IS_ERR_OR_NULL(loop->pd))
		ib_dealloc_pd(loop->pd);
}

/* Returns 0 or a negative errno; loop_close() is to follow either way. */
static inline int loop_open(struct loop *loop, struct ib_device *dev,
			    int gid_index, enum ib_mtu mtu, int access)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_ALL_WR,
		.cap = {
			.max_send_wr = 1, .max_send_sge = 1,
			.max_recv_wr = 1, .max_recv_sge = 1,
		},
	};

	loop->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(loop->pd))
		return PTR_ERR(loop->pd);
	loop->cq = ib_alloc_cq(dev, NULL, 4, 0, IB_POLL_DIRECT);
	if (IS_ERR(loop->cq))
		return PTR_ERR(loop->cq);
	init.send_cq = loop->cq;
	init.recv_cq = loop->cq;
	loop->qp = ib_create_qp(loop->pd, &init);
	if (IS_ERR(loop->qp))
		return PTR_ERR(loop->qp);
	return loop_connect(loop->qp, gid_index, mtu, access);
}

static inline void loop_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct loop *loop = container_of(wc->wr_cqe, struct loop, cqe);

	loop->wc = *wc;
	loop->done = true;
}

/* Posts one request and waits for its completion. Returns 0 if it succeeded. */
static inline int loop_run(struct loop *loop, struct ib_send_wr *wr)
{
	unsigned long end = jiffies + LOOP_PATIENCE;
	int err;

	loop->cqe.done = loop_done;
	loop->done = false;
	wr->wr_cqe = &loop->cqe;
	err = ib_post_send(loop->qp, wr, NULL);
	if (err)
		return err;
	while (!loop->done) {
		ib_process_cq_direct(loop->cq, 1);
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		cond_resched();
	}
	if (loop->wc.status == IB_WC_SUCCESS)
		return 0;
	pr_err("%s: request %d: %s\n", KBUILD_MODNAME, wr->opcode,
	       ib_wc_status_msg(loop->wc.status));
	return -EIO;
}

#endif

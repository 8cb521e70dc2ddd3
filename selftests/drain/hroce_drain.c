// SPDX-License-Identifier: GPL-2.0
/*
 * Draining queue pairs of the kernel: ib_drain_qp() returns when what was posted
 * is complete, whatever the service, the receive queue and the way to poll.
 *
 * Loading it does the work; it fails if a result was wrong.
 *
 *	insmod hroce_drain.ko device=hroce0
 */
#include <linux/module.h>

#include "../lib/loop.h"
#include "../lib/named.h"

/* Receive requests that are flushed. */
#define NR_RECVS	3

/* ib_core waits for a minute for the last event of an SRQ, and goes on without. */
#define PATIENCE	(10 * HZ)

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "Name of the link");

static int gid_index = 1;
module_param(gid_index, int, 0444);
MODULE_PARM_DESC(gid_index, "GID of its port to be used");

/**
 * struct rig - queue pair, and what belongs to it
 * @pd: protection domain
 * @cq: of both queues
 * @srq: shared receive queue, or NULL
 * @qp: queue pair
 * @cqe: of each receive request
 * @flushed: how many have been
 */
struct rig {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp;
	struct ib_cqe cqe;
	unsigned int flushed;
};

static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rig *rig = container_of(wc->wr_cqe, struct rig, cqe);

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		rig->flushed++;
}

static int start_ud(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = LOOP_PORT, .qkey = 1,
	};
	int err;

	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_QKEY);
	attr.qp_state = IB_QPS_RTR;
	err = err ?: ib_modify_qp(qp, &attr, IB_QP_STATE);
	attr.qp_state = IB_QPS_RTS;
	return err ?: ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

static int start(struct ib_qp *qp)
{
	return qp->qp_type == IB_QPT_UD ?
	       start_ud(qp) : loop_connect(qp, gid_index, IB_MTU_1024, 0);
}

static int drain(struct rig *rig)
{
	struct ib_recv_wr wr = { .wr_cqe = &rig->cqe };
	unsigned long end;
	unsigned int i, posted = rig->srq ? 0 : NR_RECVS;
	int err = 0;

	rig->cqe.done = recv_done;
	rig->flushed = 0;
	for (i = 0; i < posted && !err; i++)
		err = ib_post_recv(rig->qp, &wr, NULL);
	if (err)
		return err;
	end = jiffies + PATIENCE;
	ib_drain_qp(rig->qp);
	if (time_after(jiffies, end))
		return -ETIMEDOUT;
	return rig->flushed == posted ? 0 : -ENODATA;
}

static int with_qp(struct rig *rig, enum ib_qp_type type)
{
	struct ib_qp_init_attr init = {
		.qp_type = type, .sq_sig_type = IB_SIGNAL_ALL_WR,
		.send_cq = rig->cq, .recv_cq = rig->cq, .srq = rig->srq,
		.cap = {
			.max_send_wr = 1, .max_send_sge = 1,
			.max_recv_wr = NR_RECVS + 1, .max_recv_sge = 1,
		},
	};
	int err;

	rig->qp = ib_create_qp(rig->pd, &init);
	if (IS_ERR(rig->qp))
		return PTR_ERR(rig->qp);
	err = start(rig->qp) ?: drain(rig);
	ib_destroy_qp(rig->qp);
	return err;
}

static int with_srq(struct rig *rig, enum ib_qp_type type, bool shared)
{
	struct ib_srq_init_attr init = { .attr.max_wr = 1, .attr.max_sge = 1 };
	int err;

	rig->srq = shared ? ib_create_srq(rig->pd, &init) : NULL;
	if (IS_ERR(rig->srq))
		return PTR_ERR(rig->srq);
	err = with_qp(rig, type);
	if (rig->srq)
		ib_destroy_srq(rig->srq);
	return err;
}

static int with_cq(struct rig *rig, struct ib_device *dev,
		   enum ib_poll_context poll)
{
	static const enum ib_qp_type types[] = { IB_QPT_RC, IB_QPT_UD };
	int i, err = 0;

	rig->cq = ib_alloc_cq(dev, NULL, 2 * NR_RECVS, 0, poll);
	if (IS_ERR(rig->cq))
		return PTR_ERR(rig->cq);
	for (i = 0; i < 2 * ARRAY_SIZE(types) && !err; i++) {
		err = with_srq(rig, types[i / 2], i % 2);
		if (err)
			pr_err("hroce_drain: type %d, SRQ %d, poll %d: %d\n",
			       types[i / 2], i % 2, poll, err);
	}
	ib_free_cq(rig->cq);
	return err;
}

static int with_pd(struct rig *rig, struct ib_device *dev)
{
	int err;

	rig->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(rig->pd))
		return PTR_ERR(rig->pd);
	err = with_cq(rig, dev, IB_POLL_DIRECT) ?:
	      with_cq(rig, dev, IB_POLL_SOFTIRQ) ?:
	      with_cq(rig, dev, IB_POLL_WORKQUEUE);
	ib_dealloc_pd(rig->pd);
	return err;
}

static int __init drain_init(void)
{
	struct ib_device *dev;
	struct rig rig = {};
	int err;

	dev = named_get(device);
	if (!dev)
		return -ENODEV;
	err = with_pd(&rig, dev);
	ib_device_put(dev);
	return err;
}
module_init(drain_init);

static void __exit drain_exit(void)
{
}
module_exit(drain_exit);

MODULE_DESCRIPTION("Draining queue pairs of the kernel: test of hroce");
MODULE_LICENSE("GPL");

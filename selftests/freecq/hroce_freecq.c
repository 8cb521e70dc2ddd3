// SPDX-License-Identifier: GPL-2.0
/*
 * Freeing a CQ of the kernel whose last event is delayed (moderation). Once
 * ib_free_cq() has cancelled the work that polls, no event may queue it again:
 * it would run when the CQ is gone. Here, ib_free_cq() has to wait behind that
 * for the work of a struct dim, longer than events are delayed.
 *
 * Loading it does the work; it fails if a result was wrong.
 *
 *	insmod hroce_freecq.ko device=hroce0
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/dim.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "../lib/named.h"

/* The longest moderation is 65 ms. */
#define DELAY_MS	60

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "Name of the link");

static DECLARE_COMPLETION(waits);
static DECLARE_COMPLETION(flushed);
static unsigned int events;

static void count_event(struct ib_cq *cq, void *context)
{
	events++;
}

static void wait_longer(struct work_struct *work)
{
	complete(&waits);
	wait_for_completion(&flushed);
	msleep(2 * DELAY_MS);
}

static void ignore_done(struct ib_cq *cq, struct ib_wc *wc)
{
}

/* A receive request is flushed: its event is delayed. */
static int flush_one(struct ib_pd *pd, struct ib_cq *cq)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_ALL_WR,
		.send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
	};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_cqe cqe = { .done = ignore_done };
	struct ib_recv_wr wr = { .wr_cqe = &cqe };
	struct ib_qp *qp;
	int err;

	qp = ib_create_qp(pd, &init);
	if (IS_ERR(qp))
		return PTR_ERR(qp);
	err = ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS) ?:
	      ib_post_recv(qp, &wr, NULL);
	attr.qp_state = IB_QPS_ERR;
	err = err ?: ib_modify_qp(qp, &attr, IB_QP_STATE);
	ib_destroy_qp(qp);
	return err;
}

static int with_dim(struct ib_pd *pd, struct ib_cq *cq)
{
	int err;

	/* rdma_dim_destroy() waits for its work and frees it. */
	cq->dim = kzalloc(sizeof(*cq->dim), GFP_KERNEL);
	if (!cq->dim)
		return -ENOMEM;
	INIT_WORK(&cq->dim->work, wait_longer);
	schedule_work(&cq->dim->work);
	wait_for_completion(&waits);
	err = flush_one(pd, cq);
	complete(&flushed);
	return err;
}

static int with_pd(struct ib_pd *pd)
{
	struct ib_cq *cq;
	int err;

	cq = ib_alloc_cq(pd->device, NULL, 4, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	cq->comp_handler = count_event;
	err = rdma_set_cq_moderation(cq, 2, DELAY_MS * USEC_PER_MSEC) ?:
	      with_dim(pd, cq);
	/* A machine that is very slow may have had it by now. */
	events = 0;
	ib_free_cq(cq);
	if (err || !events)
		return err;
	pr_err("hroce_freecq: %u events while the CQ was freed\n", events);
	return -EBUSY;
}

static int __init freecq_init(void)
{
	struct ib_device *dev;
	struct ib_pd *pd;
	int err;

	dev = named_get(device);
	if (!dev)
		return -ENODEV;
	pd = ib_alloc_pd(dev, 0);
	err = PTR_ERR_OR_ZERO(pd);
	if (!err) {
		err = with_pd(pd);
		ib_dealloc_pd(pd);
	}
	ib_device_put(dev);
	return err;
}
module_init(freecq_init);

static void __exit freecq_exit(void)
{
}
module_exit(freecq_exit);

MODULE_DESCRIPTION("Freeing a CQ of the kernel: test of hroce");
MODULE_LICENSE("GPL");

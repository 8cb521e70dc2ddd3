// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel sends memory whose pages cannot all be referred to by frames: pages
 * of higher order that are not compound, where the first one alone counts
 * references. A queue pair is connected to itself.
 *
 * Loading it does the work; it fails if data or references were wrong.
 *
 *	insmod hroce_kmem.ko device=hroce0
 */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define PORT		1
#define PATIENCE	(10 * HZ)
#define ORDER		3
#define ALLOCATIONS	64
/* Each packet is in two pages, the first one in that which counts. */
#define OFFSET		2000
#define LEN		((PAGE_SIZE << ORDER) - OFFSET)

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
 * @qp: connected to itself
 * @src: memory that is sent
 * @dst: memory that is received into
 * @cqe: of each request
 * @status: of the last completion that was not good, or IB_WC_SUCCESS
 * @done: completions
 */
struct rig {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct page *src;
	struct page *dst;
	struct ib_cqe cqe;
	enum ib_wc_status status;
	unsigned int done;
};

static void operation_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct rig *rig = container_of(wc->wr_cqe, struct rig, cqe);

	if (wc->status != IB_WC_SUCCESS)
		rig->status = wc->status;
	rig->done++;
}

static bool has_come(struct rig *rig)
{
	ib_process_cq_direct(rig->cq, 2);
	return rig->done == 2;
}

/*
 * Does another owner get a page of ours? That is what happens when the last of
 * references that should never have been taken is put: pages that have been
 * freed are given out again before others.
 */
static bool page_was_freed(struct rig *rig)
{
	struct page *pages[ALLOCATIONS];
	bool freed = false;
	int i;

	for (i = 0; i < ALLOCATIONS; i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		if (pages[i] >= rig->src && pages[i] < rig->src + (1 << ORDER)) {
			/* It is freed with the others. */
			pages[i] = NULL;
			freed = true;
		}
	}
	while (i--) {
		if (pages[i])
			__free_page(pages[i]);
	}
	return freed;
}

/* The first page counts what frames refer to. */
static bool refs_are_old(struct rig *rig)
{
	return page_count(rig->src) == 1;
}

static int wait_for(struct rig *rig, bool (*is_true)(struct rig *rig))
{
	unsigned long end = jiffies + PATIENCE;

	while (!is_true(rig)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		schedule_timeout_uninterruptible(1);
	}
	return 0;
}

static int send_memory(struct rig *rig)
{
	void *src = page_address(rig->src) + OFFSET;
	void *dst = page_address(rig->dst) + OFFSET;
	struct ib_sge from = {
		.addr = (uintptr_t)src, .length = LEN,
		.lkey = rig->pd->local_dma_lkey,
	};
	struct ib_sge to = {
		.addr = (uintptr_t)dst, .length = LEN,
		.lkey = rig->pd->local_dma_lkey,
	};
	struct ib_recv_wr recv = {
		.wr_cqe = &rig->cqe, .sg_list = &to, .num_sge = 1,
	};
	struct ib_send_wr send = {
		.wr_cqe = &rig->cqe, .sg_list = &from, .num_sge = 1,
		.opcode = IB_WR_SEND,
	};
	int err;

	rig->cqe.done = operation_done;
	memset(src, 0x5a, LEN);
	memset(dst, 0, LEN);
	err = ib_post_recv(rig->qp, &recv, NULL) ?:
	      ib_post_send(rig->qp, &send, NULL) ?:
	      wait_for(rig, has_come) ?: wait_for(rig, refs_are_old);
	if (err)
		return err;
	if (rig->status != IB_WC_SUCCESS)
		return -EIO;
	if (page_was_freed(rig))
		return -EFAULT;
	return memcmp(src, dst, LEN) ? -EBADMSG : 0;
}

static int connect_qp(struct rig *rig)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = PORT,
		.path_mtu = IB_MTU_4096, .dest_qp_num = rig->qp->qp_num,
		.max_rd_atomic = 1, .max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, .timeout = 14, .retry_cnt = 7,
		.rnr_retry = 7,
	};
	struct ib_device *dev = rig->qp->device;
	const struct ib_gid_attr *gid;
	int err;

	gid = rdma_get_gid_attr(dev, PORT, gid_index);
	if (IS_ERR(gid))
		return PTR_ERR(gid);
	attr.ah_attr.type = rdma_ah_find_type(dev, PORT);
	rdma_ah_set_port_num(&attr.ah_attr, PORT);
	rdma_move_grh_sgid_attr(&attr.ah_attr, (union ib_gid *)&gid->gid, 0, 64,
				0, gid);
	err = ib_modify_qp(rig->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX |
			   IB_QP_PORT | IB_QP_ACCESS_FLAGS);
	attr.qp_state = IB_QPS_RTR;
	err = err ?: ib_modify_qp(rig->qp, &attr, IB_QP_STATE | IB_QP_AV |
				  IB_QP_PATH_MTU | IB_QP_DEST_QPN |
				  IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
				  IB_QP_MIN_RNR_TIMER);
	attr.qp_state = IB_QPS_RTS;
	err = err ?: ib_modify_qp(rig->qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT |
				  IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				  IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
	rdma_destroy_ah_attr(&attr.ah_attr);
	return err;
}

static int with_qp(struct rig *rig)
{
	struct ib_qp_init_attr init = {
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_ALL_WR,
		.send_cq = rig->cq, .recv_cq = rig->cq,
		.cap = {
			.max_send_wr = 1, .max_send_sge = 1,
			.max_recv_wr = 1, .max_recv_sge = 1,
		},
	};
	int err;

	rig->qp = ib_create_qp(rig->pd, &init);
	if (IS_ERR(rig->qp))
		return PTR_ERR(rig->qp);
	err = connect_qp(rig) ?: send_memory(rig);
	ib_destroy_qp(rig->qp);
	return err;
}

static int with_cq(struct rig *rig, struct ib_device *dev)
{
	int err;

	rig->cq = ib_alloc_cq(dev, NULL, 4, 0, IB_POLL_DIRECT);
	if (IS_ERR(rig->cq))
		return PTR_ERR(rig->cq);
	err = with_qp(rig);
	ib_free_cq(rig->cq);
	return err;
}

static int with_memory(struct rig *rig, struct ib_device *dev)
{
	int err = -ENOMEM;

	/* Not compound, on purpose. */
	rig->src = alloc_pages(GFP_KERNEL, ORDER);
	rig->dst = alloc_pages(GFP_KERNEL, ORDER);
	if (rig->src && rig->dst)
		err = with_cq(rig, dev);
	if (rig->dst)
		__free_pages(rig->dst, ORDER);
	if (rig->src)
		__free_pages(rig->src, ORDER);
	return err;
}

static int __init kmem_init(void)
{
	struct ib_device *dev;
	struct rig rig = {};
	int err;

	dev = ib_device_get_by_name(device, RDMA_DRIVER_UNKNOWN);
	if (!dev)
		return -ENODEV;
	rig.pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(rig.pd)) {
		err = PTR_ERR(rig.pd);
		goto put;
	}
	err = with_memory(&rig, dev);
	ib_dealloc_pd(rig.pd);
put:
	ib_device_put(dev);
	return err;
}
module_init(kmem_init);

static void __exit kmem_exit(void)
{
}
module_exit(kmem_exit);

MODULE_DESCRIPTION("Memory of the kernel sent in frames: test of hroce");
MODULE_LICENSE("GPL");

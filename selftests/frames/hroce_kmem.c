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

#include "../lib/loop.h"
#include "../lib/named.h"

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
 * @loop: queue pair
 * @src: memory that is sent
 * @dst: memory that is received into
 * @cqe: of each request
 * @status: of the last completion that was not good, or IB_WC_SUCCESS
 * @done: completions
 */
struct rig {
	struct loop loop;
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
	ib_process_cq_direct(rig->loop.cq, 2);
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
		.lkey = rig->loop.pd->local_dma_lkey,
	};
	struct ib_sge to = {
		.addr = (uintptr_t)dst, .length = LEN,
		.lkey = rig->loop.pd->local_dma_lkey,
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
	err = ib_post_recv(rig->loop.qp, &recv, NULL) ?:
	      ib_post_send(rig->loop.qp, &send, NULL) ?:
	      wait_for(rig, has_come) ?: wait_for(rig, refs_are_old);
	if (err)
		return err;
	if (rig->status != IB_WC_SUCCESS)
		return -EIO;
	if (page_was_freed(rig))
		return -EFAULT;
	return memcmp(src, dst, LEN) ? -EBADMSG : 0;
}

static int with_loop(struct rig *rig, struct ib_device *dev)
{
	int err;

	err = loop_open(&rig->loop, dev, gid_index, IB_MTU_4096, 0) ?:
	      send_memory(rig);
	loop_close(&rig->loop);
	return err;
}

static int with_memory(struct rig *rig, struct ib_device *dev)
{
	int err = -ENOMEM;

	/* Not compound, on purpose. */
	rig->src = alloc_pages(GFP_KERNEL, ORDER);
	rig->dst = alloc_pages(GFP_KERNEL, ORDER);
	if (rig->src && rig->dst)
		err = with_loop(rig, dev);
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

	dev = named_get(device);
	if (!dev)
		return -ENODEV;
	err = with_memory(&rig, dev);
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

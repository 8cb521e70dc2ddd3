// SPDX-License-Identifier: GPL-2.0
/*
 * Fast registration by the kernel: what a key gives access to, from its
 * registration to its invalidation, while the consumer maps the memory that it
 * registers next. A queue pair is connected to itself, and reads by the key.
 *
 * Loading it does the work; it fails if a result was wrong.
 *
 *	insmod hroce_fastreg.ko device=hroce0
 */
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "../lib/loop.h"
#include "../lib/named.h"

#define NR_PAGES	2
#define BYTES		(NR_PAGES * PAGE_SIZE)

/* Where the second memory begins in its first page: it ends in the same block. */
#define SKIP		(PAGE_SIZE - 16)

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "Name of the link");

static int gid_index = 1;
module_param(gid_index, int, 0444);
MODULE_PARM_DESC(gid_index, "GID of its port to be used");

/**
 * struct memory - what is registered, and read
 * @old: registered first
 * @new: registered then
 * @result: what was read
 */
struct memory {
	u8 old[BYTES];
	u8 new[BYTES];
	u8 result;
};

/**
 * struct rig - queue pair, and what belongs to it
 * @loop: queue pair
 * @mr: region
 * @memory: memory
 * @dma: its address
 */
struct rig {
	struct loop loop;
	struct ib_mr *mr;
	struct memory *memory;
	u64 dma;
};

/* @offset: in struct memory */
static int map(struct rig *rig, u32 offset, u32 len)
{
	struct scatterlist sg;
	int n;

	sg_init_one(&sg, (u8 *)rig->memory + offset, len);
	sg_dma_address(&sg) = rig->dma + offset;
	sg_dma_len(&sg) = len;
	n = ib_map_mr_sg(rig->mr, &sg, 1, NULL, PAGE_SIZE);
	return n == 1 ? 0 : -EINVAL;
}

/* By another key than before. Optional rights are to be ignored. */
static int reg(struct rig *rig)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = rig->mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ |
			  IB_ACCESS_RELAXED_ORDERING,
	};

	ib_update_fast_reg_key(rig->mr, ib_inc_rkey(rig->mr->rkey));
	wr.key = rig->mr->rkey;
	return loop_run(&rig->loop, &wr.wr);
}

static int invalidate(struct rig *rig)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = rig->mr->rkey,
	};

	return loop_run(&rig->loop, &wr);
}

static int expect(struct rig *rig, u64 addr, u8 wanted)
{
	struct ib_sge sge = {
		.addr = rig->dma + offsetof(struct memory, result),
		.length = sizeof(rig->memory->result),
		.lkey = rig->loop.pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.opcode = IB_WR_RDMA_READ, .sg_list = &sge,
			.num_sge = 1,
		},
		.remote_addr = addr,
		.rkey = rig->mr->rkey,
	};
	int err;

	WRITE_ONCE(rig->memory->result, 0);
	err = loop_run(&rig->loop, &wr.wr);
	if (err || READ_ONCE(rig->memory->result) == wanted)
		return err;
	pr_err("hroce_fastreg: read %#x, expected %#x\n", rig->memory->result,
	       wanted);
	return -EBADMSG;
}

/*
 * Consumers map memory before they invalidate what was registered before it, and
 * post both invalidation and registration then: SRP, iSER.
 */
static int map_early(struct rig *rig)
{
	u64 addr;
	int err;

	err = map(rig, offsetof(struct memory, old), BYTES) ?: reg(rig);
	addr = rig->mr->iova;
	return err ?: expect(rig, addr, 'o') ?:
	       map(rig, offsetof(struct memory, new) + SKIP, BYTES - SKIP) ?:
	       expect(rig, addr, 'o') ?:
	       expect(rig, addr + BYTES - 1, 'o') ?:
	       invalidate(rig) ?: reg(rig) ?:
	       expect(rig, rig->mr->iova, 'n') ?:
	       expect(rig, rig->mr->iova + BYTES - SKIP - 1, 'n');
}

/* What is mapped may be registered several times. */
static int register_again(struct rig *rig)
{
	return invalidate(rig) ?: reg(rig) ?:
	       expect(rig, rig->mr->iova, 'n') ?: invalidate(rig);
}

static int with_region(struct rig *rig)
{
	int err;

	rig->mr = ib_alloc_mr(rig->loop.pd, IB_MR_TYPE_MEM_REG, NR_PAGES);
	if (IS_ERR(rig->mr))
		return PTR_ERR(rig->mr);
	err = map_early(rig) ?: register_again(rig);
	ib_dereg_mr(rig->mr);
	return err;
}

static int with_loop(struct rig *rig, struct ib_device *dev)
{
	int err;

	err = loop_open(&rig->loop, dev, gid_index, IB_MTU_1024,
			IB_ACCESS_REMOTE_READ) ?: with_region(rig);
	loop_close(&rig->loop);
	return err;
}

static int with_memory(struct rig *rig, struct ib_device *dev)
{
	const unsigned int order = get_order(sizeof(*rig->memory));
	int err;

	rig->memory = (void *)__get_free_pages(GFP_KERNEL, order);
	if (!rig->memory)
		return -ENOMEM;
	memset(rig->memory->old, 'o', BYTES);
	memset(rig->memory->new, 'n', BYTES);
	rig->dma = ib_dma_map_single(dev, rig->memory, sizeof(*rig->memory),
				     DMA_BIDIRECTIONAL);
	err = ib_dma_mapping_error(dev, rig->dma) ?: with_loop(rig, dev);
	ib_dma_unmap_single(dev, rig->dma, sizeof(*rig->memory),
			    DMA_BIDIRECTIONAL);
	free_pages((unsigned long)rig->memory, order);
	return err;
}

static int __init fastreg_init(void)
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
module_init(fastreg_init);

static void __exit fastreg_exit(void)
{
}
module_exit(fastreg_exit);

MODULE_DESCRIPTION("Fast registration by the kernel: test of hroce");
MODULE_LICENSE("GPL");

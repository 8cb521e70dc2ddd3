// SPDX-License-Identifier: GPL-2.0
/*
 * Atomics posted by the kernel, with masks and without: only ib_post_send() has
 * a work request for masks. A queue pair is connected to itself, and each
 * operation works on one word.
 *
 * Loading it does the work; it fails if a result was wrong.
 *
 *	insmod hroce_atomics.ko device=hroce0
 */
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "../lib/loop.h"
#include "../lib/named.h"

#define ALL		(~0ULL)

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "Name of the link");

static int gid_index = 1;
module_param(gid_index, int, 0444);
MODULE_PARM_DESC(gid_index, "GID of its port to be used");

/**
 * struct words - what the operations work on
 * @target: of the operations
 * @result: what was there before
 */
struct words {
	u64 target;
	u64 result;
};

/**
 * struct rig - queue pair, and what belongs to it
 * @loop: queue pair
 * @mr: @words, for the peer
 * @words: memory
 * @dma: its address
 */
struct rig {
	struct loop loop;
	struct ib_mr *mr;
	struct words *words;
	u64 dma;
};

/**
 * struct step - an operation and its outcome
 * @opcode: operation
 * @wc_opcode: how its completion calls it
 * @compare_add: operand
 * @swap: operand
 * @compare_add_mask: mask
 * @swap_mask: mask
 * @old: what is there before
 * @new: what is there after
 */
struct step {
	enum ib_wr_opcode opcode;
	enum ib_wc_opcode wc_opcode;
	u64 compare_add;
	u64 swap;
	u64 compare_add_mask;
	u64 swap_mask;
	u64 old;
	u64 new;
};

static const struct step steps[] = {
	{ IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP, 5, 9, 0, 0, 5, 9 },
	{ IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP, 5, 9, 0, 0, 6, 6 },
	{ IB_WR_ATOMIC_FETCH_AND_ADD, IB_WC_FETCH_ADD, 1, 0, 0, 0, ALL, 0 },
	{ IB_WR_MASKED_ATOMIC_CMP_AND_SWP, IB_WC_MASKED_COMP_SWAP,
	  0xff05, 0xab00, 0xff, 0xff00, 0x112233440005, 0x11223344ab05 },
	{ IB_WR_MASKED_ATOMIC_CMP_AND_SWP, IB_WC_MASKED_COMP_SWAP,
	  0xff05, 0xab00, 0xff, 0xff00, 0x112233440006, 0x112233440006 },
	{ IB_WR_MASKED_ATOMIC_CMP_AND_SWP, IB_WC_MASKED_COMP_SWAP,
	  5, 9, ALL, ALL, 5, 9 },
	{ IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, IB_WC_MASKED_FETCH_ADD,
	  1, 0, 0, 0, ALL, 0 },
	{ IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, IB_WC_MASKED_FETCH_ADD,
	  0x100000001, 0, 0x8000000080000000, 0, 0x1ffffffff, 0x200000000 },
};

static int take_step(struct rig *rig, const struct step *s)
{
	struct ib_sge sge = {
		.addr = rig->dma + offsetof(struct words, result),
		.length = sizeof(u64),
		.lkey = rig->loop.pd->local_dma_lkey,
	};
	struct ib_atomic_wr wr = {
		.wr = { .opcode = s->opcode, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = rig->mr->iova + offsetof(struct words, target),
		.rkey = rig->mr->rkey,
		.compare_add = s->compare_add,
		.swap = s->swap,
		.compare_add_mask = s->compare_add_mask,
		.swap_mask = s->swap_mask,
	};
	int err;

	WRITE_ONCE(rig->words->target, s->old);
	WRITE_ONCE(rig->words->result, ~s->old);
	err = loop_run(&rig->loop, &wr.wr);
	if (err)
		return err;
	if (rig->loop.wc.opcode != s->wc_opcode ||
	    READ_ONCE(rig->words->result) != s->old ||
	    READ_ONCE(rig->words->target) != s->new) {
		pr_err("hroce_atomics: step %td: %u, %#llx, %#llx\n", s - steps,
		       rig->loop.wc.opcode, rig->words->result,
		       rig->words->target);
		return -EBADMSG;
	}
	return 0;
}

static int run_steps(struct rig *rig)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		err = take_step(rig, &steps[i]);
		if (err)
			return err;
	}
	return 0;
}

/* The memory, with a key that the peer may use for atomics. */
static int register_words(struct rig *rig)
{
	const int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	struct ib_reg_wr wr = { .wr.opcode = IB_WR_REG_MR };
	struct scatterlist sg;
	int n;

	rig->mr = ib_alloc_mr(rig->loop.pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(rig->mr))
		return PTR_ERR(rig->mr);
	sg_init_one(&sg, rig->words, sizeof(*rig->words));
	sg_dma_address(&sg) = rig->dma;
	sg_dma_len(&sg) = sizeof(*rig->words);
	n = ib_map_mr_sg(rig->mr, &sg, 1, NULL, PAGE_SIZE);
	if (n != 1) {
		n = n < 0 ? n : -EINVAL;
	} else {
		wr.mr = rig->mr;
		wr.key = rig->mr->rkey;
		wr.access = access;
		n = loop_run(&rig->loop, &wr.wr);
	}
	if (!n)
		n = run_steps(rig);
	ib_dereg_mr(rig->mr);
	return n;
}

static int with_loop(struct rig *rig, struct ib_device *dev)
{
	int err;

	err = loop_open(&rig->loop, dev, gid_index, IB_MTU_1024,
			IB_ACCESS_REMOTE_ATOMIC) ?: register_words(rig);
	loop_close(&rig->loop);
	return err;
}

static int with_memory(struct rig *rig, struct ib_device *dev)
{
	int err;

	rig->words = kzalloc(sizeof(*rig->words), GFP_KERNEL);
	if (!rig->words)
		return -ENOMEM;
	rig->dma = ib_dma_map_single(dev, rig->words, sizeof(*rig->words),
				     DMA_BIDIRECTIONAL);
	err = ib_dma_mapping_error(dev, rig->dma) ?: with_loop(rig, dev);
	ib_dma_unmap_single(dev, rig->dma, sizeof(*rig->words),
			    DMA_BIDIRECTIONAL);
	kfree(rig->words);
	return err;
}

static int __init atomics_init(void)
{
	struct ib_device *dev;
	struct rig rig = {};
	int err;

	dev = named_get(device);
	if (!dev)
		return -ENODEV;
	if (dev->attrs.masked_atomic_cap == IB_ATOMIC_NONE)
		err = -EOPNOTSUPP;
	else
		err = with_memory(&rig, dev);
	ib_device_put(dev);
	return err;
}
module_init(atomics_init);

static void __exit atomics_exit(void)
{
}
module_exit(atomics_exit);

MODULE_DESCRIPTION("Atomics posted by the kernel: test of hroce");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a process that the kernel registers for itself, as RDS does: pinned, or
 * with on-demand paging, for which there is no context that would fetch it.
 *
 * Loading it does the work, with the stack of the process that loads it; it fails
 * if a result was wrong.
 *
 *	insmod hroce_ondemand.ko device=hroce0
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "../lib/named.h"

static char *device = "";
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "Name of the link");

static int expect(struct ib_pd *pd, int access, int wanted)
{
	u64 start = current->mm->start_stack & PAGE_MASK;
	struct ib_mr *mr;
	int err;

	mr = ib_reg_user_mr(pd, start, PAGE_SIZE, start, access);
	err = PTR_ERR_OR_ZERO(mr);
	if (!err)
		ib_dereg_mr(mr);
	if (err == wanted)
		return 0;
	pr_err("ondemand: access %#x: %d, expected %d\n", access, err, wanted);
	return -EINVAL;
}

static int with_pd(struct ib_pd *pd)
{
	const int access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ;

	return expect(pd, access, 0) ?:
	       expect(pd, access | IB_ACCESS_ON_DEMAND, -EOPNOTSUPP);
}

static int __init ondemand_init(void)
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
module_init(ondemand_init);

static void __exit ondemand_exit(void)
{
}
module_exit(ondemand_exit);

MODULE_DESCRIPTION("Memory of a process registered by the kernel: test of hroce");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/* Resizing queues of user space: see enum hroce_resize_step. */
#include <linux/err.h>
#include <linux/uaccess.h>
#include <rdma/hroce-abi.h>
#include "resize.h"
#include "ring.h"

static int resize_prepare(struct hroce_resize *resize, u32 nr_entries,
			  struct ib_ucontext *ucontext, void __user *answer)
{
	struct hroce_ring_info info;
	struct hroce_ring *ring;
	int err;

	ring = hroce_ring_create(nr_entries, resize->stride, ucontext);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	err = hroce_ring_export(ring, ucontext, &info);
	if (!err && copy_to_user(answer, &info, sizeof(info)))
		err = -EFAULT;
	if (!err)
		swap(resize->ring, ring);
	hroce_ring_destroy(ring);
	return err;
}

int hroce_resize_run(struct hroce_resize *resize, u32 step, u32 nr_entries,
		     struct ib_ucontext *ucontext, void __user *answer)
{
	int err = 0;

	switch ((enum hroce_resize_step)step) {
	case HROCE_RESIZE_PREPARE:
		return resize_prepare(resize, nr_entries, ucontext, answer);
	case HROCE_RESIZE_SWITCH:
		if (!resize->ring || !resize->move(resize))
			err = -EINVAL;
		fallthrough;
	case HROCE_RESIZE_CANCEL:
		hroce_ring_destroy(resize->ring);
		resize->ring = NULL;
		return err;
	}
	return -EINVAL;
}

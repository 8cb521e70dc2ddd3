/* SPDX-License-Identifier: GPL-2.0 */
/* Resizing queues of user space: a CQ or an SRQ gets another ring. */
#ifndef HROCE_RESIZE_H
#define HROCE_RESIZE_H

#include "../datapath/ring.h"

/**
 * hroce_resize_run - take one step
 * @resize: resizing of the queue
 * @step: enum hroce_resize_step, unchecked
 * @nr_entries: PREPARE: least number of entries, checked
 * @ucontext: PREPARE: context that maps the new ring
 * @answer: PREPARE: user address for &struct hroce_ring_info
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_resize_run(struct hroce_resize *resize, u32 step, u32 nr_entries,
		     struct ib_ucontext *ucontext, void __user *answer);

#endif /* HROCE_RESIZE_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Links over hardware: opening one returns the context of the hardware's own
 * provider.
 */
#ifndef HROCE_ADOPT_H
#define HROCE_ADOPT_H

#include <infiniband/driver.h>
#include <rdma/hroce-abi.h>

/**
 * hroce_adopt - open the lower device of a link
 * @anchor: context of the link in the kernel; stays open as long as the lower
 *	one, so that the link remains in use
 * @answer: the kernel's description of the lower device
 *
 * Prints the reason to standard error if that fails.
 * Return: the lower device's context; closing it also closes @anchor. NULL with
 * errno set if there is none; the caller then still owns @anchor.
 */
struct verbs_context *
hroce_adopt(struct verbs_context *anchor,
	    const struct hroce_alloc_ucontext_resp *answer);

#endif /* HROCE_ADOPT_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Links that stand for hardware: who opens one is given the context of the
 * hardware's own provider.
 */
#ifndef HROCE_ADOPT_H
#define HROCE_ADOPT_H

#include <infiniband/driver.h>
#include <rdma/hroce-abi.h>

/**
 * hroce_adopt - open the lower device of a link
 * @anchor: context of the link itself, as far as the kernel knows it; stays
 *	open as long as the lower one, so that the link is seen to be in use
 * @answer: what the kernel told about the lower device
 *
 * Complains on standard error, naming the reason, if that fails.
 * Return: the lower device's context; closing it closes @anchor, too. NULL with
 * errno set if there is none, then @anchor stays the caller's.
 */
struct verbs_context *
hroce_adopt(struct verbs_context *anchor,
	    const struct hroce_alloc_ucontext_resp *answer);

#endif /* HROCE_ADOPT_H */

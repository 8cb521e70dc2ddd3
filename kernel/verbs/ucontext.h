/* SPDX-License-Identifier: GPL-2.0 */
/* User contexts, and hroce's part of uverbs commands. */
#ifndef HROCE_UCONTEXT_H
#define HROCE_UCONTEXT_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "../datapath/user.h"
#include "quota.h"

struct hroce_fetcher;

/**
 * struct hroce_ucontext - context of one open of the device
 * @ib: ib_core's context
 * @user: what the datapath knows of it
 * @lock: guards @old_rings and @fetcher; mmap_lock may be held
 * @used: number of its objects, see verbs/quota.h
 * @fetcher: fetches memory with on-demand paging; NULL until needed [lock]
 * @old_rings: rings of destroyed queues that may still be mapped [lock]
 * @node: in the list of all contexts, see ring.c
 * @opener: process that has opened it; only compared, as it may be gone
 */
struct hroce_ucontext {
	struct ib_ucontext ib;
	struct hroce_user user;
	struct mutex lock;
	atomic_t used[HROCE_QUOTA_NR];
	struct hroce_fetcher *fetcher;
	struct list_head old_rings;
	struct list_head node;
	const struct mm_struct *opener;
};

static inline struct hroce_ucontext *to_hctx(struct ib_ucontext *ib)
{
	return container_of(ib, struct hroce_ucontext, ib);
}

/* Context of a command; NULL for commands of the kernel. */
static inline struct ib_ucontext *hroce_udata_context(struct ib_udata *udata)
{
	struct hroce_ucontext *ctx;

	ctx = rdma_udata_to_drv_context(udata, struct hroce_ucontext, ib);
	return udata ? &ctx->ib : NULL;
}

/**
 * hroce_udata_read - read hroce's input of a command
 * @udata: of the command
 * @req: zeroed; overwritten as far as there is input
 * @len: length of @req
 *
 * A newer library may send more, as long as that is zero.
 *
 * Context: process.
 * Return: 0, -EINVAL or -EFAULT.
 */
int hroce_udata_read(struct ib_udata *udata, void *req, size_t len);

/**
 * hroce_udata_check - check a command without input for hroce
 * @udata: of the command, or NULL
 * @answer: least length of the output buffer
 *
 * A newer library may send input, as long as that is zero.
 *
 * Context: process.
 * Return: 0, -EINVAL or -EFAULT.
 */
int hroce_udata_check(struct ib_udata *udata, size_t answer);

/**
 * hroce_udata_check_create - check a command that creates an object with a ring
 * @udata: of the command, or NULL
 * @answer: as of hroce_udata_check()
 * @last: last attribute that hroce knows, of the ioctl method of the command
 *
 * ib_core leaves some attributes to the driver, such as memory for the ring of
 * a queue, and does not notice that the driver ignores them.
 *
 * Context: process.
 * Return: 0, -EOPNOTSUPP if there are attributes that hroce does not know, or as
 * of hroce_udata_check().
 */
int hroce_udata_check_create(struct ib_udata *udata, size_t answer, u32 last);

/**
 * hroce_udata_answer - write hroce's answer to a command
 * @udata: of the command; nothing is done if it is NULL
 * @answer: full answer
 * @len: its length; what exceeds the output buffer is left out
 *
 * Context: process.
 * Return: 0 or -EFAULT.
 */
int hroce_udata_answer(struct ib_udata *udata, const void *answer, size_t len);

/**
 * hroce_ucontext_check - check the input for opening a device
 * @udata: of alloc_ucontext
 *
 * Context: process.
 * Return: 0, -EINVAL or -EFAULT.
 */
int hroce_ucontext_check(struct ib_udata *udata);

/**
 * hroce_ucontext_fetcher - get the fetcher of the calling process
 * @udata: of a command that creates a region; its context keeps the fetcher, so
 *	that there need not be another one for the next region
 *
 * Context: process, may sleep.
 * Return: fetcher, with a reference; or ERR_PTR(), see
 * hroce_fetcher_of_process().
 */
struct hroce_fetcher *hroce_ucontext_fetcher(struct ib_udata *udata);

#endif /* HROCE_UCONTEXT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* User contexts, and how commands of user space grow. */
#ifndef HROCE_UCONTEXT_H
#define HROCE_UCONTEXT_H

#include <linux/mutex.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "quota.h"

struct hroce_fetcher;

/**
 * struct hroce_ucontext - context of one open of the device
 * @ib: what ib_core knows
 * @lock: guards the making of @fetcher, and @old_rings
 * @used: objects that it has, see verbs/quota.h
 * @fetcher: fetches memory with on-demand paging; NULL before there is some
 * @old_rings: of queues that have been destroyed, but may still be mapped [lock]
 */
struct hroce_ucontext {
	struct ib_ucontext ib;
	struct mutex lock;
	atomic_t used[HROCE_QUOTA_NR];
	struct hroce_fetcher *fetcher;
	struct list_head old_rings;
};

static inline struct hroce_ucontext *to_hctx(struct ib_ucontext *ib)
{
	return container_of(ib, struct hroce_ucontext, ib);
}

/* The context that a command comes from; NULL for the kernel's own. */
static inline struct ib_ucontext *hroce_udata_context(struct ib_udata *udata)
{
	struct hroce_ucontext *ctx;

	ctx = rdma_udata_to_drv_context(udata, struct hroce_ucontext, ib);
	return udata ? &ctx->ib : NULL;
}

/**
 * hroce_udata_read - read what user space asks for beside uverbs' command
 * @udata: what it sent along
 * @req: zeroed; overwritten with as much as it sent
 * @len: length of @req
 *
 * A newer library may send more, as long as that is zero.
 *
 * Context: process.
 * Return: 0, -EINVAL or -EFAULT.
 */
int hroce_udata_read(struct ib_udata *udata, void *req, size_t len);

/**
 * hroce_udata_check - check what user space sent along with a command
 * @udata: or NULL
 * @answer: least length of the answer that makes sense
 *
 * For commands that have no input of hroce's own: a newer library may send
 * some, as long as it is zero, that is, asks for nothing.
 *
 * Context: process.
 * Return: 0, -EINVAL or -EFAULT.
 */
int hroce_udata_check(struct ib_udata *udata, size_t answer);

/**
 * hroce_udata_answer - answer user space
 * @udata: or NULL, then this does nothing
 * @answer: everything we know
 * @len: its length; as much as user space has room for is copied
 *
 * Context: process.
 * Return: 0 or -EFAULT.
 */
int hroce_udata_answer(struct ib_udata *udata, const void *answer, size_t len);

/**
 * hroce_ucontext_check - check what is sent along with the opening of a device
 * @udata: of alloc_ucontext
 *
 * Context: process.
 * Return: 0, -EINVAL or -EFAULT.
 */
int hroce_ucontext_check(struct ib_udata *udata);

/**
 * hroce_ucontext_fetcher - where memory of a process is fetched
 * @udata: of a command that makes a region
 *
 * Context: process, may sleep.
 * Return: fetcher of the context that the command comes from, which has it
 * until it closes; or ERR_PTR().
 */
struct hroce_fetcher *hroce_ucontext_fetcher(struct ib_udata *udata);

/* ib_device_ops */
int hroce_ucontext_alloc(struct ib_ucontext *ibctx, struct ib_udata *udata);
int hroce_ucontext_query(struct ib_ucontext *ibctx,
			 struct uverbs_attr_bundle *attrs);
void hroce_ucontext_dealloc(struct ib_ucontext *ibctx);
void hroce_ucontext_disassociate(struct ib_ucontext *ibctx);

#endif /* HROCE_UCONTEXT_H */

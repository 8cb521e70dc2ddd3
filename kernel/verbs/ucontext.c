// SPDX-License-Identifier: GPL-2.0
/* User contexts. */
#include <linux/err.h>
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <rdma/hroce-abi.h>
#include "../datapath/fetch.h"
#include "ops.h"
#include "ring.h"
#include "ucontext.h"

/* Is the input zero beyond the @offset bytes that we know? */
static bool udata_is_zero(struct ib_udata *udata, size_t offset)
{
	return udata->inlen <= offset ||
	       ib_is_udata_cleared(udata, offset, udata->inlen - offset);
}

int hroce_udata_read(struct ib_udata *udata, void *req, size_t len)
{
	int err;

	err = ib_copy_from_udata(req, udata, min(len, udata->inlen));
	if (err)
		return err;
	return udata_is_zero(udata, len) ? 0 : -EINVAL;
}

int hroce_udata_check(struct ib_udata *udata, size_t answer)
{
	if (!udata)
		return 0;
	if (udata->outlen < answer || !udata_is_zero(udata, 0))
		return -EINVAL;
	return 0;
}

int hroce_udata_check_create(struct ib_udata *udata, size_t answer, u32 last)
{
	const struct uverbs_attr_bundle *attrs;
	u32 id;

	if (!udata)
		return 0;
	attrs = rdma_udata_to_uverbs_attr_bundle(udata);
	/* Above these, the IDs are those of drivers. */
	for (id = last + 1; id < 1 << (UVERBS_API_ATTR_KEY_BITS - 1); id++)
		if (uverbs_attr_is_valid(attrs, id))
			return -EOPNOTSUPP;
	return hroce_udata_check(udata, answer);
}

int hroce_udata_answer(struct ib_udata *udata, const void *answer, size_t len)
{
	/* Calls of ib_core itself have no output buffer. */
	if (!udata || !udata->outlen)
		return 0;
	return ib_copy_to_udata(udata, (void *)answer,
				min(len, udata->outlen));
}

int hroce_ucontext_check(struct ib_udata *udata)
{
	struct hroce_alloc_ucontext_req req = {};
	int err;

	err = hroce_udata_read(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask ||
	    udata->outlen < offsetofend(struct hroce_alloc_ucontext_resp,
					max_inline))
		return -EINVAL;
	return 0;
}

/* That of the last region, if the calling process is the same. */
static struct hroce_fetcher *ucontext_last_fetcher(struct hroce_ucontext *ctx)
{
	struct hroce_fetcher *fetcher;

	mutex_lock(&ctx->lock);
	fetcher = ctx->fetcher;
	if (fetcher && fetcher->mm == current->mm)
		hroce_fetcher_get(fetcher);
	else
		fetcher = NULL;
	mutex_unlock(&ctx->lock);
	return fetcher;
}

struct hroce_fetcher *hroce_ucontext_fetcher(struct ib_udata *udata)
{
	struct hroce_fetcher *fetcher, *last;
	struct hroce_ucontext *ctx;

	ctx = rdma_udata_to_drv_context(udata, struct hroce_ucontext, ib);
	fetcher = ucontext_last_fetcher(ctx);
	if (fetcher)
		return fetcher;
	/* Without the lock: makes a workqueue, see locking.rst. */
	fetcher = hroce_fetcher_of_process();
	if (IS_ERR(fetcher))
		return fetcher;
	hroce_fetcher_get(fetcher);
	mutex_lock(&ctx->lock);
	last = ctx->fetcher;
	ctx->fetcher = fetcher;
	mutex_unlock(&ctx->lock);
	if (last)
		hroce_fetcher_put(last);
	return fetcher;
}

int hroce_ucontext_alloc(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct hroce_ucontext *ctx = to_hctx(ibctx);
	struct hroce_alloc_ucontext_resp resp = {
		.mode = HROCE_MODE_SOFTWARE,
		.max_inline = HROCE_MAX_INLINE,
	};
	int err;

	err = hroce_ucontext_check(udata);
	if (err)
		return err;
	mutex_init(&ctx->lock);
	err = hroce_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		return err;
	ctx->user.memcg = get_mem_cgroup_from_mm(current->mm);
	hroce_rings_begin(ctx);
	return 0;
}

/* Another process imports @ibctx: there is nothing to report. */
int hroce_ucontext_query(struct ib_ucontext *ibctx,
			 struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/* Fetches for deregistered regions may still wait for pages. */
void hroce_ucontext_dealloc(struct ib_ucontext *ibctx)
{
	struct hroce_ucontext *ctx = to_hctx(ibctx);

	if (ctx->fetcher)
		hroce_fetcher_put(ctx->fetcher);
	hroce_rings_release(ctx);
	mem_cgroup_put(ctx->user.memcg);
}

/*
 * The device is removed while the context stays open. There is nothing to do:
 * ib_core destroys the objects of the context, and rings that are still mapped
 * are memory that the kernel no longer uses.
 */
void hroce_ucontext_disassociate(struct ib_ucontext *ibctx)
{
}

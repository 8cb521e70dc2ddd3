/* SPDX-License-Identifier: GPL-2.0 */
/* Creating and changing memory regions. */
#ifndef HROCE_VERBS_MR_H
#define HROCE_VERBS_MR_H

#include <rdma/ib_verbs.h>
#include "../mem/mr.h"

/**
 * hroce_mr_init - initialise a region
 * @mr: zeroed
 * @pd: protection domain
 * @iova: address of the first byte
 * @length: bytes; 0: set later
 * @access: IB_ACCESS_*
 *
 * Return: 0; -EOPNOTSUPP: unsupported access; -EINVAL: invalid range.
 */
int hroce_mr_init(struct hroce_mr *mr, struct ib_pd *pd, u64 iova, u64 length,
		  int access);

/**
 * hroce_mr_publish - give a region its key
 * @mr: complete
 * @low8: see hroce_mkeys_add()
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_mr_publish(struct hroce_mr *mr, int low8);

/**
 * hroce_mr_publish_fetched - give a region of fetched memory its key
 * @mr: complete but for @ops and @find
 * @ops: its operations; ops->release() frees @mr if this fails
 * @find: looks up its memory, see &struct hroce_region
 *
 * Context: process, may sleep.
 * Return: region or ERR_PTR().
 */
struct ib_mr *hroce_mr_publish_fetched(struct hroce_mr *mr,
				       const struct hroce_mr_ops *ops,
				       hroce_region_find_fn *find);

/**
 * hroce_mr_alloc_null - create a region without memory
 * @pd: protection domain
 *
 * Context: process, may sleep.
 * Return: region or ERR_PTR().
 */
struct ib_mr *hroce_mr_alloc_null(struct ib_pd *pd);

/**
 * hroce_mr_reg_odp - create a region with on-demand paging
 * @pd: protection domain
 * @start: address in the calling process
 * @length: bytes; U64_MAX with @start 0: the whole address space
 * @iova: address of the first byte in work requests
 * @access: IB_ACCESS_*
 * @udata: of the command
 *
 * Context: process, may sleep.
 * Return: region or ERR_PTR().
 */
struct ib_mr *hroce_mr_reg_odp(struct ib_pd *pd, u64 start, u64 length,
			       u64 iova, int access, struct ib_udata *udata);

/* Wake all callers of hroce_mr_advise(): &hroce_dev.leaving is set. */
void hroce_mr_end_advice(void);

#endif /* HROCE_VERBS_MR_H */

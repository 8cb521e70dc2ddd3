/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for requests that a responder keeps, as datapath/keep.c has it. */
#ifndef KEPT_H
#define KEPT_H

#include <stdlib.h>
#include "proto/keep.h"

/* Room to keep a request, before hrp_keep_put(). */
static inline void kept_prepare(struct hrp_qp *qp, u32 psn)
{
	struct hrp_resp *resp = &qp->resp;
	struct hrp_kept ***part;

	if (!resp->kept)
		hrp_keep_open(qp, calloc(1, sizeof(*resp->keep)));
	part = hrp_keep_part(resp->keep, psn);
	if (!*part)
		*part = calloc(1, HRP_KEEP_PART_BYTES);
}

/* Free all of it. Return: requests that hrp_keep_take_any() did not find. */
static inline u32 kept_end(struct hrp_qp *qp)
{
	struct hrp_keep *keep = hrp_keep_close(qp);
	struct hrp_kept *kept;
	u32 i, left;

	if (!keep)
		return 0;
	while ((kept = hrp_keep_take_any(keep)))
		free(kept);
	left = keep->nr;
	for (i = 0; i < HRP_KEEP_PARTS; i++)
		free(keep->part[i]);
	free(keep);
	return left;
}

#endif /* KEPT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for packets that are kept, as datapath/keep.c has it. */
#ifndef KEPT_H
#define KEPT_H

#include <stdlib.h>
#include "proto/ahead.h"
#include "proto/spray.h"

static inline void kept_room(struct hrp_keep *keep, u32 psn)
{
	struct hrp_keep_slots **part = hrp_keep_part(keep, psn);

	if (*part)
		return;
	*part = calloc(1, sizeof(**part));
	(*part)->slot = calloc(1, HRP_KEEP_SLOTS_BYTES);
}

/* Room to keep a request, before hrp_keep_put(). */
static inline void kept_prepare(struct hrp_qp *qp, u32 psn)
{
	if (!qp->resp.kept)
		hrp_keep_open(qp, calloc(1, sizeof(*qp->resp.keep)));
	kept_room(qp->resp.keep, psn);
}

/* Room for what the requester notes, as datapath/sack.c has it. */
static inline void kept_open_sack(struct hrp_req *req)
{
	u32 words = hrp_sack_words(req);

	if (hrp_sack_is_short(req))
		free(hrp_sack_open(req, malloc(hrp_sack_size(words)), words));
}

static inline void kept_close_sack(struct hrp_req *req)
{
	free(hrp_spray_close(req));
	free(hrp_sack_close(req));
}

/*
 * Room for paths, if several are wanted, as datapath/spray.c has it;
 * hrp_sack_open() was called. Return: true if they are used from now on.
 */
static inline bool kept_start_spray(struct hrp_qp *qp)
{
	struct hrp_spray *spray = qp->req.sack->spray;

	if (!hrp_spray_is_wanted(&qp->req))
		return false;
	hrp_spray_start(qp, spray ?: malloc(sizeof(*spray)));
	return true;
}

/* Room to keep an answer; hrp_sack_open() was called. */
static inline struct hrp_keep *kept_prepare_answer(struct hrp_req *req, u32 psn)
{
	if (!hrp_ahead_of(req))
		hrp_ahead_open(req, calloc(1, sizeof(*req->sack->ahead)));
	kept_room(hrp_ahead_of(req), psn);
	return hrp_ahead_of(req);
}

/* Keep an answer, unless it is. */
static inline void kept_put_answer(struct hrp_req *req,
				   const struct hrp_pkt *pkt)
{
	struct hrp_keep *keep = kept_prepare_answer(req, pkt->psn);
	struct hrp_kept *kept;

	if (hrp_keep_has(keep, pkt->psn))
		return;
	kept = malloc(sizeof(*kept));
	kept->pkt = *pkt;
	hrp_keep_put(keep, kept);
}

/* Free what was closed. Return: packets that hrp_keep_take_any() did not find. */
static inline u32 kept_free(struct hrp_keep *keep)
{
	struct hrp_kept *kept;
	u32 i, left;

	if (!keep)
		return 0;
	while ((kept = hrp_keep_take_any(keep)))
		free(kept);
	left = keep->nr;
	for (i = 0; i < HRP_KEEP_PARTS; i++) {
		if (keep->part[i])
			free(keep->part[i]->slot);
		free(keep->part[i]);
	}
	free(keep);
	return left;
}

/* Free all requests. Return: see kept_free(). */
static inline u32 kept_end(struct hrp_qp *qp)
{
	return kept_free(hrp_keep_close(qp));
}

#endif /* KEPT_H */

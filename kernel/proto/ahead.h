/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Answers that came before earlier ones: responses to READs, atomics, ATOMIC
 * WRITE and FLUSH. The requester keeps them and asks for those alone that are
 * missing. The owner allocates and frees: the engine keeps the order and decides.
 *
 * If hrp_comp_begin() returns HRP_RX_KEEP, and the ICRC is correct, the owner
 *
 *	hrp_sack_open()		unless @req->sack is set
 *	hrp_ahead_open()	with a zeroed struct, unless hrp_ahead_of() has one
 *	*hrp_keep_part()	set to zeroed memory, unless it is set
 *	hrp_keep_put()		with a copy of headers and payload, unless
 *				hrp_keep_has() it
 *	hrp_comp_commit()	in any case, with an error if it could not be kept
 *
 * and after each commit, while there is hrp_ahead_of(),
 *
 *	hrp_ahead_take_stale()	until it returns NULL
 *	hrp_ahead_next()	as often as it likes, or until NULL
 *	hrp_ahead_close()	if none is left, or at any time
 */
#ifndef HRP_AHEAD_H
#define HRP_AHEAD_H

#include "keep.h"
#include "sack.h"

/* The answers that are kept; NULL: none. Context: send lock held. */
static inline struct hrp_keep *hrp_ahead_of(const struct hrp_req *req)
{
	return req->sack ? req->sack->ahead : NULL;
}

/* How many. Context: send lock held. */
static inline u32 hrp_ahead_nr(const struct hrp_req *req)
{
	const struct hrp_keep *keep = hrp_ahead_of(req);

	return keep ? keep->nr : 0;
}

/**
 * hrp_ahead_open - begin to keep answers
 * @req: requester with @req->sack, without hrp_ahead_of()
 * @keep: zeroed memory, owned by the caller until hrp_ahead_close()
 *
 * Context: send lock held.
 */
void hrp_ahead_open(struct hrp_req *req, struct hrp_keep *keep);

/**
 * hrp_ahead_close - keep none any more
 * @qp: queue pair
 *
 * Those that are left are asked for again. Context: send lock held.
 * Return: what hrp_ahead_open() was given, whose answers and parts are to be
 * freed; NULL: there is none.
 */
struct hrp_keep *hrp_ahead_close(struct hrp_qp *qp);

/**
 * hrp_ahead_take_stale - take an answer that came again and was placed
 * @qp: queue pair with hrp_ahead_of()
 *
 * Counts it as dropped. Context: send lock held.
 * Return: answer, to be freed; NULL: there is none.
 */
struct hrp_kept *hrp_ahead_take_stale(struct hrp_qp *qp);

/**
 * hrp_ahead_next - take the answer that is next in order
 * @qp: queue pair with hrp_ahead_of(), without stale answers
 *
 * It is for hrp_comp_begin(), as if it came now. Context: send lock held.
 * Return: answer, to be freed; NULL: it is missing.
 */
struct hrp_kept *hrp_ahead_next(struct hrp_qp *qp);

/**
 * hrp_ahead_fits - may an answer be kept?
 * @req: requester; an earlier answer is missing
 * @psn: in flight
 *
 * Context: send lock held.
 * Return: true; false if it is too far ahead, or if its request is to be sent
 * again: then the answer comes again, too.
 */
bool hrp_ahead_fits(const struct hrp_req *req, u32 psn);

/**
 * hrp_ahead_kept - an answer is kept
 * @qp: queue pair; hrp_keep_has() it
 * @psn: its PSN
 * @now_ns: current time
 *
 * Context: send lock held.
 */
void hrp_ahead_kept(struct hrp_qp *qp, u32 psn, u64 now_ns);

/**
 * hrp_ahead_acked - the peer has executed all requests before a PSN
 * @req: requester with @req->sack; an answer before @end is missing
 * @end: not after @req->psn_max
 *
 * Context: send lock held.
 */
void hrp_ahead_acked(struct hrp_req *req, u32 end);

/* Answers up to @end, one past the last, are asked for apart. */
static inline void hrp_ahead_asks(struct hrp_req *req, u32 end)
{
	if (hrp_psn_diff(end, req->sack->asked) > 0)
		req->sack->asked = end;
}

/*
 * May a response begin and end anywhere in the answer to a READ, because parts
 * of it were asked for? Context: send lock held.
 */
static inline bool hrp_ahead_is_loose(const struct hrp_req *req, u32 psn)
{
	return req->sack && hrp_psn_diff(req->sack->asked, psn) > 0;
}

#endif /* HRP_AHEAD_H */

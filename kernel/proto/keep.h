/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests that came before earlier ones, in the order of their PSNs. The owner
 * allocates and frees: the engine keeps the order and decides.
 *
 * If hrp_resp_begin() returns HRP_RX_KEEP, and the ICRC is correct, the owner
 *
 *	hrp_keep_open()		with a zeroed struct, unless @kept is set
 *	*hrp_keep_part()	set to a zeroed struct with zeroed slots, unless it is
 *				set
 *	hrp_keep_put()		with a copy of headers and payload
 *	hrp_resp_commit()	in any case
 *
 * and after each commit, while @kept is set,
 *
 *	hrp_keep_take_stale()	until it returns NULL
 *	hrp_resp_next_kept()	as often as it likes, or until NULL
 *	hrp_keep_close()	if hrp_keep_is_over(), or at any time
 */
#ifndef HRP_KEEP_H
#define HRP_KEEP_H

#include "pkt.h"
#include "qp.h"

/* PSNs from the oldest missing one on that may be kept; a power of two. */
#define HRP_KEEP_PKTS		32768
#define HRP_KEEP_PART_SLOTS	512
#define HRP_KEEP_SLOTS_BYTES	(HRP_KEEP_PART_SLOTS * sizeof(struct hrp_kept *))
#define HRP_KEEP_PARTS		(HRP_KEEP_PKTS / HRP_KEEP_PART_SLOTS)

/* So many kept requests are worth a selective acknowledgement, see sack.h. */
#define HRP_KEEP_TELL		64

/**
 * struct hrp_kept - a request that is kept; part of a struct of the owner
 * @pkt: its headers
 */
struct hrp_kept {
	struct hrp_pkt pkt;
};

/**
 * struct hrp_keep_slots - those of successive PSNs, a part of &struct hrp_keep
 * @slot: by PSN modulo HRP_KEEP_PART_SLOTS
 * @map: a bit for each that is kept, likewise
 */
struct hrp_keep_slots {
	struct hrp_kept **slot;
	u64 map[HRP_KEEP_PART_SLOTS / 64];
};

/**
 * struct hrp_keep - the requests that a queue pair keeps
 * @psn: no PSN before this one is kept, and none from @psn + HRP_KEEP_PKTS on
 * @nr: number of requests
 * @end: one past the highest PSN that was kept
 * @untold: requests kept since the peer was told of them; HRP_KEEP_TELL or more
 *	if there is a new gap
 * @taken: one was taken since the last NAK
 * @tell: the last selective acknowledgement told of PSNs from here on, see
 *	hrp_sack_tell()
 * @tell_next: where the next one begins that does not tell of the newest
 * @tell_old: the last one was such
 * @part: by PSN modulo HRP_KEEP_PKTS; NULL where nothing has been kept
 */
struct hrp_keep {
	u32 psn;
	u32 nr;
	u32 end;
	u32 untold;
	u32 tell;
	u32 tell_next;
	bool tell_old;
	bool taken;
	struct hrp_keep_slots *part[HRP_KEEP_PARTS];
};

/**
 * hrp_keep_open - begin to keep requests
 * @qp: queue pair that keeps none
 * @keep: zeroed
 *
 * Context: receive lock held.
 */
void hrp_keep_open(struct hrp_qp *qp, struct hrp_keep *keep);

/**
 * hrp_keep_close - keep no request any more
 * @qp: queue pair
 *
 * Counts those that are left as dropped. The caller frees them, see
 * hrp_keep_take_any(), the parts and the struct.
 *
 * Context: receive lock held.
 * Return: what hrp_keep_open() was given; NULL if nothing was kept.
 */
struct hrp_keep *hrp_keep_close(struct hrp_qp *qp);

/**
 * hrp_keep_part - memory for a PSN
 * @keep: requests
 * @psn: hrp_resp_begin() has returned HRP_RX_KEEP for it
 *
 * Return: where the pointer to it is, or has to be stored, with slots of
 * HRP_KEEP_SLOTS_BYTES; all is zeroed.
 */
static inline struct hrp_keep_slots **hrp_keep_part(struct hrp_keep *keep,
						    u32 psn)
{
	return &keep->part[psn % HRP_KEEP_PKTS / HRP_KEEP_PART_SLOTS];
}

/**
 * hrp_keep_put - keep a request
 * @keep: requests
 * @kept: the request; hrp_keep_part() of its PSN is set
 *
 * Context: receive lock held since hrp_resp_begin() returned HRP_RX_KEEP.
 */
void hrp_keep_put(struct hrp_keep *keep, struct hrp_kept *kept);

/* Bits of the 64 PSNs around @psn, those that are kept. */
u64 hrp_keep_bits(const struct hrp_keep *keep, u32 psn);

/* Is a request with this PSN kept? */
bool hrp_keep_has(const struct hrp_keep *keep, u32 psn);

/*
 * Can a request that is ahead of the expected PSN be kept? Not if it is too far
 * ahead, or kept already.
 */
bool hrp_keep_fits(const struct hrp_resp *resp, u32 psn);

/**
 * hrp_keep_take - take the request with the lowest PSN
 * @keep: requests
 * @psn: it must not be after this one
 *
 * Takes at most HRP_KEEP_PKTS steps. Context: receive lock held.
 * Return: request, of which the caller is the owner now; NULL: there is none.
 */
struct hrp_kept *hrp_keep_take(struct hrp_keep *keep, u32 psn);

/* Likewise, but any. Context: receive lock held, or after hrp_keep_close(). */
static inline struct hrp_kept *hrp_keep_take_any(struct hrp_keep *keep)
{
	return hrp_keep_take(keep, hrp_psn_add(keep->psn, HRP_KEEP_PKTS - 1));
}

/**
 * hrp_keep_take_stale - take a request that was sent again and accepted
 * @qp: queue pair that has kept requests
 *
 * Counts it as dropped. Context: receive lock held.
 * Return: request, to be freed; NULL: there is none.
 */
struct hrp_kept *hrp_keep_take_stale(struct hrp_qp *qp);

/*
 * Are there no kept requests, or are they void, since the peer was told to
 * resend all (RNR)? Context: receive lock held.
 */
static inline bool hrp_keep_is_over(const struct hrp_resp *resp)
{
	return resp->kept && (!resp->keep->nr || resp->rnr_sent);
}

#endif /* HRP_KEEP_H */

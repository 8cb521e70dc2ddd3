/* SPDX-License-Identifier: GPL-2.0 */
/* Responder resources: READs and atomics to answer, and to answer again. */
#ifndef HRP_RDRES_H
#define HRP_RDRES_H

#include "burst.h"
#include "qp.h"

/**
 * hrp_rdres_room - may the peer have one more READ or atomic outstanding?
 * @resp: responder
 *
 * Answers to duplicates do not count; they are dropped if necessary.
 *
 * Return: true if so.
 */
bool hrp_rdres_room(const struct hrp_resp *resp);

/**
 * hrp_rdres_add - store a READ or atomic, to be answered
 * @qp: queue pair; hrp_rdres_room() is true
 * @pkt: request with the expected PSN
 * @orig: atomic: the result
 *
 * Return: response packets, by which the expected PSN advances.
 */
u32 hrp_rdres_add(struct hrp_qp *qp, const struct hrp_pkt *pkt, u64 orig);

/**
 * hrp_rdres_known - is the original of a duplicate READ or atomic stored?
 * @qp: queue pair
 * @pkt: duplicate request; a READ may ask for a later part
 *
 * Return: true if hrp_rdres_replay() can answer it.
 */
bool hrp_rdres_known(const struct hrp_qp *qp, const struct hrp_pkt *pkt);

/* What a duplicate asks for. */
enum hrp_again {
	HRP_AGAIN_PART,		/* of an answer: others may be asked for before it */
	HRP_AGAIN_END,		/* what is left of an answer, or a short one */
	HRP_AGAIN_FLIGHT,	/* all of HRP_MUTE_PKTS or more that were sent */
};

/**
 * hrp_rdres_replay - answer a duplicate once more
 * @qp: queue pair
 * @pkt: duplicate for which hrp_rdres_known() is true
 *
 * Return: what it asks for.
 */
enum hrp_again hrp_rdres_replay(struct hrp_qp *qp, const struct hrp_pkt *pkt);

/**
 * hrp_rdres_was_answered - may the peer have had all of an answer?
 * @resp: responder
 * @psn: of a response packet
 *
 * Return: true if all packets of that answer have been sent once, and now some are
 * sent again.
 */
bool hrp_rdres_was_answered(const struct hrp_resp *resp, u32 psn);

/**
 * hrp_rdres_return - a response packet and those behind it were not sent
 * @resp: responder
 * @psn: of the packet
 *
 * Return: true if it is now the next one to send; false if its request is no
 * longer stored.
 */
bool hrp_rdres_return(struct hrp_resp *resp, u32 psn);

/**
 * hrp_rdres_oldest - the oldest READ or atomic that may be outstanding
 * @resp: responder that has accepted one
 *
 * Return: its PSN. The peer has received all answers before it.
 */
u32 hrp_rdres_oldest(const struct hrp_resp *resp);

/**
 * hrp_rdres_is_read - is the next answer one to a READ?
 * @resp: responder
 *
 * Return: true if so.
 */
bool hrp_rdres_is_read(struct hrp_resp *resp);

/**
 * hrp_rdres_waits - was the next answer returned?
 * @resp: responder
 *
 * The peer may have asked for others since, and the repetition of an answer may
 * have been given up for them.
 *
 * Return: true if it was returned and not asked for again since.
 */
bool hrp_rdres_waits(struct hrp_resp *resp);

/**
 * hrp_rdres_next - the next response packets to send
 * @qp: queue pair
 * @b: filled in if true is returned
 *
 * Return: false if no READ or atomic waits for an answer.
 */
bool hrp_rdres_next(struct hrp_qp *qp, struct hrp_burst *b);

#endif /* HRP_RDRES_H */

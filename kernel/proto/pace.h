/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing: limit the rate of a requester.
 *
 * Credit accrues in a bucket at the rate, up to the longest burst; each packet,
 * resent or not, takes its length from it. A packet is sent only when there is
 * credit for all of it, so that in any time T at most burst + rate * T leaves.
 * Otherwise the requester waits.
 *
 * The length of a packet is that of its frame, IPv6 assumed, from the Ethernet
 * header to the FCS, without VLAN tag, preamble and gap. Answers to requests of
 * the peer (READ responses, acknowledgements) are not paced.
 */
#ifndef HRP_PACE_H
#define HRP_PACE_H

#include <linux/types.h>
#include "burst.h"
#include "req.h"

/*
 * Default burst, in time. A wait lasts for a part of it: the timer does not
 * fire for each packet, and a late timer loses no credit.
 */
#define HRP_PACE_BURST_NS	1000000u
#define HRP_PACE_WAIT_NS	500000u

/**
 * struct hrp_pace - bucket of one requester; guarded by the send lock
 * @credit: available credit in kbps * ns; a byte costs 8000000
 * @max_credit: credit of a full bucket
 * @fill_ns: time in which an empty bucket fills
 * @seen_ns: time up to which @credit was added
 * @ready_ns: end of the current wait; 0 if the requester does not wait
 * @slack_ns: how late the owner's timer usually is; the default burst is longer
 *	by that time
 * @rate_kbps: rate in force, not 0
 * @limit_kbps: the owner's: rate limit that was asked for; 0: none
 * @limit_bytes: the owner's: longest burst that was asked for with it
 * @paid_bytes: cost of the last burst; 0 if it cannot be refunded
 */
struct hrp_pace {
	u64 credit;
	u64 max_credit;
	u64 fill_ns;
	u64 seen_ns;
	u64 ready_ns;
	u64 slack_ns;
	u32 rate_kbps;
	u32 limit_kbps;
	u32 limit_bytes;
	u32 paid_bytes;
};

/**
 * hrp_pace_start - begin to pace a requester
 * @qp: queue pair with a requester that is not paced
 * @pace: memory for it, owned by the caller
 * @now_ns: current time
 * @slack_ns: how late the owner's timer usually is
 *
 * Call hrp_pace_set() before dropping the lock. The bucket is empty: a
 * requester that sent without limit until now gets no burst.
 * Context: send lock held.
 */
void hrp_pace_start(struct hrp_qp *qp, struct hrp_pace *pace, u64 now_ns,
		    u64 slack_ns);

/**
 * hrp_pace_set - change the rate
 * @qp: queue pair that is paced; its path MTU is set
 * @now_ns: current time
 * @rate_kbps: 1000 bits per second, not 0
 * @burst_bytes: longest burst; 0: HRP_PACE_BURST_NS at this rate. At least one
 *	packet can always be sent
 *
 * Credit earned at the old rate stays, up to the new burst. Call hrp_req_next()
 * and update the timer afterwards, since a wait may have become shorter.
 * Context: send lock held.
 */
void hrp_pace_set(struct hrp_qp *qp, u64 now_ns, u32 rate_kbps,
		  u32 burst_bytes);

/**
 * hrp_pace_stop - stop pacing a requester
 * @qp: queue pair
 *
 * Call hrp_req_next() afterwards. Context: send lock held.
 * Return: the memory given to hrp_pace_start(); NULL if it was not paced.
 */
struct hrp_pace *hrp_pace_stop(struct hrp_qp *qp);

/**
 * hrp_pace_next - slow path of hrp_req_next()
 * @qp: queue pair with @qp->req.gated set, in a state that sends
 * @now_ns: current time
 * @b: as for hrp_req_next()
 *
 * Context: as hrp_req_next(), which calls it.
 * Return: see enum hrp_next; HRP_NEXT_IDLE if there is no requester. Without
 * enough credit it sets @ready_ns and processes only entries that send no
 * packet.
 */
enum hrp_next hrp_pace_next(struct hrp_qp *qp, u64 now_ns,
			    struct hrp_burst *b);

/**
 * hrp_pace_give_back - refund the packets of a burst that were not sent
 * @qp: queue pair, paced or not
 * @b: burst, the last one from hrp_req_next()
 * @nr_pkts: packets of the burst that were sent
 *
 * Otherwise a requester whose memory is not present would pay twice. Context:
 * send lock held, before hrp_req_sent().
 */
void hrp_pace_give_back(struct hrp_qp *qp, const struct hrp_burst *b,
			u32 nr_pkts);

/**
 * hrp_pace_cost - cost of a burst
 * @b: burst
 *
 * Return: bytes.
 */
u32 hrp_pace_cost(const struct hrp_burst *b);

/* Largest cost of a packet of @mtu bytes, with any headers. */
u32 hrp_pace_max_cost(u32 mtu);

#endif /* HRP_PACE_H */

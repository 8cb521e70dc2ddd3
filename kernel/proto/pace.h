/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing: at which rate a requester sends.
 *
 * Time adds credit to a bucket, at the rate and up to the longest burst; each
 * packet takes from it what it is long, once more if it is sent once more. A
 * packet goes when there is credit for all of it, so that in any time T no more
 * leaves than burst + rate * T. Where there is not, the requester waits.
 *
 * The length of a packet is that of its frame, IPv6 assumed, from the Ethernet
 * header to the FCS; without VLAN tag, preamble and gap. Answers to requests of
 * the peer (READ responses, acknowledgements) are not paced.
 */
#ifndef HRP_PACE_H
#define HRP_PACE_H

#include <linux/types.h>
#include "burst.h"
#include "req.h"

/*
 * Default burst, in time. A wait lasts for a part of it, so that the timer does
 * not fire for each packet, and a late timer loses no credit.
 */
#define HRP_PACE_BURST_NS	1000000u
#define HRP_PACE_WAIT_NS	500000u

/**
 * struct hrp_pace - bucket of one requester; guarded by the send lock
 * @credit: what may be sent now, in kbps * ns: a byte is 8000000 of them
 * @max_credit: of a full bucket
 * @fill_ns: time in which an empty bucket fills
 * @seen_ns: time up to which @credit was added
 * @ready_ns: nothing is sent before; 0: nobody waits
 * @slack_ns: by how much the owner's timer may be late, longer bursts make up
 *	for it
 * @rate_kbps: rate in force, not 0
 * @paid_bytes: taken for the last burst, as long as that may be given back
 */
struct hrp_pace {
	u64 credit;
	u64 max_credit;
	u64 fill_ns;
	u64 seen_ns;
	u64 ready_ns;
	u64 slack_ns;
	u32 rate_kbps;
	u32 paid_bytes;
};

/**
 * hrp_pace_start - begin to pace a requester
 * @qp: queue pair that has a requester, and none that is paced
 * @pace: memory for it, the owner's
 * @now_ns: current time
 * @slack_ns: by how much the timer of the owner may be late as a rule
 *
 * hrp_pace_set() must follow before the lock is dropped. The bucket is empty:
 * who has sent without limit up to now has no claim to a burst.
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
 * At any time, by whoever holds the lock: credit that was earned at the old
 * rate stays, up to the new burst. hrp_req_next() is to be called afterwards,
 * and the timer to be looked at, as who waits may have to wait for less.
 * Context: send lock held.
 */
void hrp_pace_set(struct hrp_qp *qp, u64 now_ns, u32 rate_kbps,
		  u32 burst_bytes);

/**
 * hrp_pace_stop - pace a requester no more
 * @qp: queue pair
 *
 * hrp_req_next() is to be called afterwards. Context: send lock held.
 * Return: what was given to hrp_pace_start(); NULL if it was not paced.
 */
struct hrp_pace *hrp_pace_stop(struct hrp_qp *qp);

/**
 * hrp_pace_next - hrp_req_next() where packets do not simply go
 * @qp: queue pair with @qp->req.gated set, in a state that sends
 * @now_ns: current time
 * @b: as for hrp_req_next()
 *
 * Context: as hrp_req_next(), which calls it.
 * Return: see enum hrp_next. Where there is not credit enough @ready_ns is set,
 * and what needs none is done; HRP_NEXT_IDLE if there is no requester.
 */
enum hrp_next hrp_pace_next(struct hrp_qp *qp, u64 now_ns,
			    struct hrp_burst *b);

/**
 * hrp_pace_give_back - a burst has not left, or not all of it
 * @qp: queue pair, paced or not
 * @b: burst, the last one from hrp_req_next()
 * @nr_pkts: how many of its packets have
 *
 * Without that a requester whose memory is not there pays twice. Context: send
 * lock held, before hrp_req_sent() is told why.
 */
void hrp_pace_give_back(struct hrp_qp *qp, const struct hrp_burst *b,
			u32 nr_pkts);

/**
 * hrp_pace_cost - what a burst takes from the bucket
 * @b: burst
 *
 * Return: bytes.
 */
u32 hrp_pace_cost(const struct hrp_burst *b);

/* Largest cost of a packet of @mtu bytes, with any headers. */
u32 hrp_pace_max_cost(u32 mtu);

#endif /* HRP_PACE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pacing: limit the rate of a requester, as the program asks for, as congestion
 * control does, or to the lower of both.
 *
 * Credit accrues in a bucket at the rate, up to the longest burst; each packet,
 * resent or not, takes its length from it. A packet is sent only when there is
 * credit for all of it, so that in any time T at most burst + rate * T leaves.
 * Otherwise the requester waits.
 *
 * The length of a packet is that of its frame, IPv6 assumed, from the Ethernet
 * header to the FCS, without VLAN tag, preamble and gap. Of answers to
 * requests of the peer, READ responses are paced at the same rate, out of a
 * bucket of their own, while congestion control limits it; a limit of the program
 * is for requests.
 */
#ifndef HRP_PACE_H
#define HRP_PACE_H

#include <linux/types.h>
#include "burst.h"
#include "cc.h"
#include "cc_dcqcn.h"
#include "req.h"

/*
 * Default burst at the rate of a program, in time. A wait lasts for a part of
 * it: the timer does not fire for each packet, and a late timer loses no credit.
 */
#define HRP_PACE_BURST_NS	1000000u
#define HRP_PACE_WAIT_NS	500000u

/*
 * Burst and wait at the rate of a control, in time: what leaves at once waits in
 * the queue that is to become short. A timer that is late may make a burst as
 * long as that of a program.
 */
#define HRP_PACE_SHORT_NS	50000u

/**
 * struct hrp_bucket - credit of requests, or of READ responses
 * @credit: available credit in kbps * ns; a byte costs 8000000
 * @seen_ns: time up to which @credit was added
 * @ready_ns: end of the current wait; 0: there is none
 * @max_credit: credit of a full bucket
 * @fill_ns: time in which an empty bucket fills
 * @rate_kbps: rate in force; 0: not limited
 * @waited: they wait, or have waited and not looked for credit since
 * @brief: bursts are short, as that is no rate of the program
 */
struct hrp_bucket {
	u64 credit;
	u64 seen_ns;
	u64 ready_ns;
	u64 max_credit;
	u64 fill_ns;
	u32 rate_kbps;
	bool waited;
	bool brief;
};

/**
 * struct hrp_pace - rate of one queue pair; guarded by the send lock
 * @own: of requests: the lowest one of @limit_kbps, @window_kbps and, if the
 *	control limits the rate of requests, @control_kbps
 * @answers: of READ responses: @control_kbps
 * @slack_ns: how late the owner's timer usually is; the default burst is longer
 *	by that time
 * @paid_bytes: cost of the last burst of @own; 0 if it cannot be refunded
 * @asked_kbps: the owner's: rate limit that the program has set; 0: none
 * @asked_bytes: the owner's: longest burst that it has set with it
 * @limit_kbps: the lower one of @asked_kbps and the static rate; 0: none
 * @limit_bytes: longest burst; 0: the default
 * @control_kbps: rate of the control; 0: none
 * @window_kbps: rate at which a control spreads its window; 0: it does not
 * @reads_ns: while it does, when the next READ may be sent
 * @reads_wait: that is HRP_PACE_SHORT_NS later, or more, or was and is not over
 * @read_waits: a READ waits until then
 * @return_pkts: window to return to after it was made small to measure the path;
 *	0: it was not
 * @return_waits: a packet that was sent since then has waited
 * @dcqcn: state of the control
 */
struct hrp_pace {
	struct hrp_bucket own;
	struct hrp_bucket answers;
	u64 slack_ns;
	u64 reads_ns;
	u32 paid_bytes;
	u32 asked_kbps;
	u32 asked_bytes;
	u32 limit_kbps;
	u32 limit_bytes;
	u32 control_kbps;
	u32 window_kbps;
	u32 return_pkts;
	bool reads_wait;
	bool read_waits;
	bool return_waits;
	struct hrp_dcqcn dcqcn;
};

/* Is the rate of requests limited? Context: send lock held. */
static inline bool hrp_pace_limits(const struct hrp_req *req)
{
	return req->pace && req->pace->own.rate_kbps;
}

/* Is any rate limited? Context: send lock held. */
static inline bool hrp_pace_is_on(const struct hrp_req *req)
{
	return hrp_pace_limits(req) || (req->pace && req->pace->control_kbps);
}

/*
 * Does a READ that is next wait, as the window is spread? What would leave at once
 * are its answers. What has been sent before does not wait. Context: send lock
 * held, within hrp_req_next().
 */
static inline bool hrp_pace_holds_read(struct hrp_req *req)
{
	if (likely(!req->pace || !req->pace->reads_wait) ||
	    req->psn != req->psn_max)
		return false;
	req->pace->read_waits = true;
	return true;
}

/*
 * Is the window to be spread, and is not yet? See HRP_PENDING_SPREAD. Context: send
 * lock held.
 */
static inline bool hrp_pace_wants_spread(const struct hrp_qp *qp)
{
	return !(qp->req.pace && qp->req.pace->window_kbps) && hrp_cc_rate(qp);
}

/**
 * hrp_pace_start - give a requester memory for a rate
 * @qp: queue pair with a requester that has none
 * @pace: memory for it, owned by the caller
 * @rp: parameters of its control; not freed before @pace
 * @now_ns: current time
 * @slack_ns: how late the owner's timer usually is
 *
 * The bucket is empty: a requester that sent without limit until now gets no
 * burst. There is no limit before hrp_pace_set() or hrp_cc_notified().
 * Context: send lock held.
 */
void hrp_pace_start(struct hrp_qp *qp, struct hrp_pace *pace,
		    const struct hrp_rp *rp, u64 now_ns, u64 slack_ns);

/**
 * hrp_pace_set - change the rate of the program
 * @qp: queue pair with memory for a rate; its path MTU is set
 * @now_ns: current time
 * @rate_kbps: 1000 bits per second; 0: no limit
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
 * hrp_pace_control - change the rate of the control
 * @qp: queue pair with memory for a rate; its path MTU is set
 * @now_ns: current time
 * @rate_kbps: 1000 bits per second; 0: no limit
 *
 * Without a limit of the program, bursts last for HRP_PACE_SHORT_NS. Limits READ
 * responses, and requests if the control does so (hrp_cc_limits_rate()). A wait is
 * neither begun nor ended. If no limit is left, sets HRP_PENDING_UNPACED.
 * Context: send lock held.
 */
void hrp_pace_control(struct hrp_qp *qp, u64 now_ns, u32 rate_kbps);

/**
 * hrp_pace_spread - send the window in the course of a round trip
 * @qp: queue pair; its path MTU is set. Without memory for a rate nothing changes
 * @now_ns: current time
 *
 * At the rate that its control wants (&hrp_cc_ops.rate), which follows the window.
 * Bursts as those of hrp_pace_control(). READs are sent when the answer to the one
 * before has had its time. READ responses do not wait for it.
 * Context: send lock held.
 */
void hrp_pace_spread(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_pace_release - the control ends
 * @qp: queue pair, with memory for a rate or not
 *
 * Context: send lock held.
 */
void hrp_pace_release(struct hrp_qp *qp);

/**
 * hrp_pace_stop - end all limits and give the memory back
 * @qp: queue pair
 *
 * Call hrp_req_next() afterwards. Context: send lock held.
 * Return: the memory given to hrp_pace_start(); NULL if there is none.
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
 * enough credit it sets @own.ready_ns and processes only entries that send no
 * packet. If a READ has to wait, it sets @read_waits.
 */
enum hrp_next hrp_pace_next(struct hrp_qp *qp, u64 now_ns,
			    struct hrp_burst *b);

/**
 * hrp_pace_at - when does the wait of a requester end?
 * @pace: its rate
 *
 * Context: send lock held.
 * Return: time; 0: it does not wait for credit.
 */
u64 hrp_pace_at(const struct hrp_pace *pace);

/**
 * hrp_pace_timeout - does it end now?
 * @pace: its rate
 * @now_ns: current time
 *
 * Context: send lock held.
 * Return: true if it does: call hrp_req_next().
 */
bool hrp_pace_timeout(struct hrp_pace *pace, u64 now_ns);

/**
 * hrp_pace_answers_room - how many READ responses may be sent?
 * @qp: queue pair, paced or not
 * @now_ns: current time
 * @max: packets
 *
 * Context: send lock held.
 * Return: packets, up to @max; 0: none before hrp_pace_answers_at().
 */
u32 hrp_pace_answers_room(struct hrp_qp *qp, u64 now_ns, u32 max);

/**
 * hrp_pace_answered - READ responses are sent
 * @qp: queue pair, paced or not
 * @b: no more packets than hrp_pace_answers_room() has returned
 *
 * Context: send lock held.
 */
void hrp_pace_answered(struct hrp_qp *qp, const struct hrp_burst *b);

/* When READ responses that wait may be sent; 0: none waits. */
static inline u64 hrp_pace_answers_at(const struct hrp_qp *qp)
{
	return qp->req.pace ? qp->req.pace->answers.ready_ns : 0;
}

/**
 * hrp_pace_answers_timeout - does the wait of READ responses end?
 * @qp: queue pair
 * @now_ns: current time
 *
 * Context: send lock held.
 * Return: true if it does: call hrp_resp_next_paced().
 */
bool hrp_pace_answers_timeout(struct hrp_qp *qp, u64 now_ns);

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

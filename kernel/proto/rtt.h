/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Round-trip time, and how long to wait for an acknowledgement (RFC 6298).
 * Context of all: send lock held.
 */
#ifndef HRP_RTT_H
#define HRP_RTT_H

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/types.h>
#include "qp.h"

/* Time in units of 1024 ns; wraps after 73 minutes. */
static inline u32 hrp_rtt_clock(u64 now_ns)
{
	return now_ns >> 10;
}

/* Clock readings of two CPUs may be in the wrong order, by so much at most. */
#define HRP_RTT_SKEW	(1u << 20)

/* Time since @at, hrp_rtt_clock(). Context: it was not more than 73 minutes ago. */
static inline u32 hrp_rtt_since(u32 at, u64 now_ns)
{
	u32 passed = hrp_rtt_clock(now_ns) - at;

	return passed > U32_MAX - HRP_RTT_SKEW ? 0 : passed;
}

/* Time in units of 2^15 ns; wraps after 9 minutes. */
static inline u32 hrp_loss_clock(u64 now_ns)
{
	return (now_ns >> 15) & GENMASK(23, 0);
}

/* Has a packet been timed yet? */
static inline bool hrp_rtt_known(const struct hrp_req *req)
{
	return req->srtt8;
}

/**
 * hrp_rtt_begin - time a packet
 * @req: requester that times none and does not recover from a loss
 * @psn: PSN of a packet that requests an acknowledgement and is sent for the
 *	first time (Karn's rule)
 * @now_ns: time when it is sent, or earlier
 */
void hrp_rtt_begin(struct hrp_req *req, u32 psn, u64 now_ns);

/**
 * hrp_rtt_end - the packet is acknowledged
 * @qp: queue pair whose requester times a packet
 * @now_ns: current time
 *
 * The peer may have held the acknowledgement, and @now_ns of hrp_rtt_begin()
 * may be early by what one run of the requester takes: the measured time is too
 * long rather than too short.
 */
void hrp_rtt_end(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_rtt_measured - a packet is acknowledged that was sent once
 * @qp: queue pair with a requester
 * @sent_at: when it was sent, hrp_rtt_clock()
 * @alone: it was sent alone, for congestion control
 * @now_ns: current time
 */
void hrp_rtt_measured(struct hrp_qp *qp, u32 sent_at, bool alone, u64 now_ns);

/**
 * hrp_rtt_resent - a packet that was resent is acknowledged
 * @qp: queue pair whose requester has @req->resent set
 * @now_ns: current time
 *
 * That tells congestion control about the path, but is not measured: an earlier
 * copy may have been acknowledged (Karn's rule).
 */
void hrp_rtt_resent(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_rtt_probed - there is an acknowledgement after a probe
 * @req: requester; its timer has run since then
 * @now_ns: current time
 *
 * If no round trip is known, the next packet waits for so long that it, or one of the
 * four after it, can be measured if the answer was late. The second probe in a row does
 * not double the time any more: packets may be lost one after the other.
 *
 * If one is known, and the answer comes sooner than one to the probe, twice without a
 * measured packet in between, the path has become longer: the time to the next probe
 * is doubled, so that a packet is measured.
 */
void hrp_rtt_probed(struct hrp_req *req, u64 now_ns);

/**
 * hrp_loss_begin - a loss is noticed, by a NAK or for lack of an answer
 * @req: requester; if it still recovers from another loss, both are one
 * @now_ns: current time
 */
static inline void hrp_loss_begin(struct hrp_req *req, u64 now_ns)
{
	if (!req->lost_at)
		req->lost_at = hrp_loss_clock(now_ns) ?: 1;
}

/**
 * hrp_loss_end - all that was sent before a NAK has arrived, or the peer has
 *	answered after silence
 * @qp: queue pair whose requester recovers from one
 * @now_ns: current time
 */
void hrp_loss_end(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_rtt_back_off - the peer may need longer than was measured
 * @req: requester that has resent a packet without success
 *
 * Doubles times that were measured, in what the functions below return, until the
 * next hrp_rtt_end(). Progress that shows a loss takes one doubling back (comp_ease()).
 */
void hrp_rtt_back_off(struct hrp_req *req);

/**
 * hrp_rtt_rto_ns - retransmission timeout
 * @req: requester
 *
 * Return: srtt + 4 * rttvar, doubled for each expiry but the first, and at least
 * 1 ms, which is doubled for each if one path is to be used. Without a measured time,
 * twice hrp_rtt_probe_ns(). Not limited by the local ACK timeout.
 */
u64 hrp_rtt_rto_ns(const struct hrp_req *req);

/**
 * hrp_rtt_probes - is a probe next, if no answer comes?
 * @req: requester
 *
 * Return: true for the first expiry; for six, if no round trip is known, or nine as
 * long as there are to be several paths.
 */
bool hrp_rtt_probes(const struct hrp_req *req);

/**
 * hrp_rtt_probe_ns - time after which a single packet asks for an answer
 * @req: requester
 *
 * Return: 2 * srtt + 250 us or srtt + 4 * rttvar, whichever is longer, and at
 * least 1 ms if there is more to send or a long answer outstanding, nothing is
 * wrong and there is one path, doubled for each expiry; without a measured time,
 * 1 ms, or 128 us if there are to be several paths, doubled likewise, but 4 ms for
 * four in a row. If there are gaps, the first one is longer by the time that they
 * wait, see late.h.
 */
u64 hrp_rtt_probe_ns(const struct hrp_req *req);

/**
 * hrp_rtt_has_passed_since - was a packet sent at least a round trip ago?
 * @req: requester
 * @at: when it was sent, hrp_rtt_clock()
 * @now_ns: current time
 *
 * Return: true if a round trip with its usual variation, doubled for each
 * expiry, has passed since @at; false if it is not known how long that is.
 */
bool hrp_rtt_has_passed_since(const struct hrp_req *req, u32 at, u64 now_ns);

/* The same since @req->mark_at. */
static inline bool hrp_rtt_has_passed(const struct hrp_req *req, u64 now_ns)
{
	return hrp_rtt_has_passed_since(req, req->mark_at, now_ns);
}

#endif /* HRP_RTT_H */

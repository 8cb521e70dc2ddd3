/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Congestion control: how many packets may be in flight, and at which rate.
 *
 * A control sets hrp_req.cwnd_pkts from what a requester sees: packets that are
 * acknowledged, round-trip times, gaps. It has no timer and no clock, and keeps
 * its state in the queue pair, but that of a rate, which few have, in its bucket
 * (pace.h). Whatever the control, hrp_req_shrink() makes the window smaller when
 * packets were lost and have to be sent again.
 */
#ifndef HRP_CC_H
#define HRP_CC_H

#include <linux/compiler.h>
#include <linux/types.h>
#include "qp.h"

/**
 * struct hrp_cc_ops - a control
 * @name: for administrators
 * @start: sets the first window and the state of the control
 * @acked: packets were acknowledged while the window was below its maximum; if
 *	there is @measured, only while hrp_req.cc_start is set. May be NULL then
 * @measured: a round trip of a single packet was measured, @rtt in units of
 *	1024 ns, at @now_ns. @first: the packet was sent once; otherwise it was
 *	resent, and the answer may be that to an earlier copy. May be NULL
 * @cnp: the peer has sent a congestion notification packet (A17.9.3); NULL: the
 *	control does not react
 * @slow: the same, at @now_ns, if hrp_req.pace is not NULL: the control limits
 *	the rate. NULL: it only has a window
 * @rate: at how many 1000 bits per second the window is sent; 0: as fast as
 *	acknowledgements come. NULL: always so
 * @near_pkts: gaps that are nearer to each other than so many packets are a
 *	sign of congestion; those twice as far apart are not
 *
 * Context of all: send lock held.
 */
struct hrp_cc_ops {
	const char *name;
	void (*start)(struct hrp_qp *qp);
	void (*acked)(struct hrp_qp *qp, u32 nr_pkts, u64 now_ns);
	void (*measured)(struct hrp_qp *qp, u32 rtt, bool first, u64 now_ns);
	void (*cnp)(struct hrp_req *req);
	void (*slow)(struct hrp_qp *qp, u64 now_ns);
	u32 (*rate)(const struct hrp_qp *qp);
	u32 (*near_pkts)(const struct hrp_req *req);
};

extern const struct hrp_cc_ops hrp_cc_none;
extern const struct hrp_cc_ops hrp_cc_delay;
extern const struct hrp_cc_ops hrp_cc_dcqcn;

/**
 * hrp_cc_of - the operations of a control
 * @cc: enum hrp_cc; HRP_CC_ADDED after hrp_cc_add() only
 *
 * Return: one of the table.
 */
const struct hrp_cc_ops *hrp_cc_of(u8 cc);

/**
 * hrp_cc_add - fill HRP_CC_ADDED
 * @ops: a control of the owner; it stays
 *
 * Context: while the owner is initialised.
 */
void hrp_cc_add(const struct hrp_cc_ops *ops);

/**
 * hrp_cc_start - begin with the control that hrp_req.cc names
 * @qp: queue pair with a requester; its maximum window is set
 *
 * What another control has learnt of the path is forgotten. Context: send lock
 * held.
 */
void hrp_cc_start(struct hrp_qp *qp);

/**
 * hrp_cc_release - packets need no control: they stay on this host
 * @qp: queue pair with a requester
 *
 * The window becomes as large as can be, until hrp_cc_start(). Context: send
 * lock held.
 */
void hrp_cc_release(struct hrp_qp *qp);

/**
 * hrp_cc_set_base - the shortest round trip is known
 * @qp: queue pair
 * @base: in units of 1024 ns
 *
 * The largest window follows: twice that of the owner if the path takes a
 * millisecond, and twice as much again each time that it takes twice as long. The
 * window is made as small as that at once.
 * Context: send lock held.
 */
void hrp_cc_set_base(struct hrp_qp *qp, u32 base);

/* Limit of @cwnd_pkts. Context: send lock held. */
static inline u32 hrp_req_window_max(const struct hrp_req *req)
{
	return (u32)req->window_pkts << req->window_shift;
}

/* @nr_pkts were acknowledged. Context: send lock held. */
static __always_inline void hrp_cc_acked(struct hrp_qp *qp, u32 nr_pkts,
					 u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	if ((!req->cc_times || req->cc_start) &&
	    unlikely(req->cwnd_pkts < hrp_req_window_max(req)) &&
	    hrp_cc_of(req->cc)->acked)
		hrp_cc_of(req->cc)->acked(qp, nr_pkts, now_ns);
}

/**
 * hrp_cc_measured - a round trip was measured
 * @qp: queue pair
 * @rtt: in units of 1024 ns
 * @first: see &hrp_cc_ops.measured
 * @now_ns: current time
 *
 * Context: send lock held.
 */
static inline void hrp_cc_measured(struct hrp_qp *qp, u32 rtt, bool first,
				   u64 now_ns)
{
	if (qp->req.cc_times)
		hrp_cc_of(qp->req.cc)->measured(qp, rtt, first, now_ns);
}

/*
 * A round trip of any packet took @rtt, in units of 1024 ns. Controls that do not
 * look at it need the shortest one, for the largest window. Context: send lock
 * held.
 */
static inline void hrp_cc_passed(struct hrp_qp *qp, u32 rtt)
{
	if (!qp->req.cc_times && unlikely(rtt < qp->base))
		hrp_cc_set_base(qp, rtt);
}

/*
 * Do CNPs limit the rate of requests? UC has no window that a control could make
 * smaller, so they do with any control that reacts to them. Context: send lock held.
 */
static inline bool hrp_cc_limits_rate(const struct hrp_qp *qp)
{
	const struct hrp_cc_ops *ops = hrp_cc_of(qp->req.cc);

	return ops->slow || (ops->cnp && !hrp_qp_is_reliable(qp));
}

/*
 * Is a bucket needed before the first CNP, see hrp_pace_start()? A window is for
 * requests; READ responses have a rate in any case. Context: send lock held.
 */
static inline bool hrp_cc_wants_pace(const struct hrp_qp *qp)
{
	return !qp->req.pace && (hrp_cc_limits_rate(qp) ||
				 READ_ONCE(qp->resp.rd_head));
}

/* &hrp_cc_ops.rate. Context: send lock held. */
static inline u32 hrp_cc_rate(const struct hrp_qp *qp)
{
	const struct hrp_cc_ops *ops = hrp_cc_of(qp->req.cc);

	return ops->rate ? ops->rate(qp) : 0;
}

/**
 * hrp_cc_notified - a CNP has come, and the control reacts to it
 * @qp: queue pair
 * @now_ns: current time
 *
 * A control that limits the rate shrinks the window if there is no bucket. READ
 * responses and UC are slowed as by DCQCN, whatever the control. Context: send
 * lock held.
 */
static inline void hrp_cc_notified(struct hrp_qp *qp, u64 now_ns)
{
	if (qp->req.pace)
		hrp_cc_dcqcn.slow(qp, now_ns);
	if (!qp->req.pace || !hrp_cc_limits_rate(qp))
		hrp_cc_of(qp->req.cc)->cnp(&qp->req);
}

#endif /* HRP_CC_H */

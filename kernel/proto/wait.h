/* SPDX-License-Identifier: GPL-2.0 */
/* Why a requester does not send. */
#ifndef HRP_WAIT_H
#define HRP_WAIT_H

struct hrp_qp;

/* Length of the names, with the byte that ends them. */
#define HRP_WAIT_NAME_LEN	8

/* The reasons, as hrp_wait_name() has them. */
enum hrp_wait {
	HRP_WAIT_NOTHING,	/* all is sent and answered */
	HRP_WAIT_ANSWER,	/* all is sent, or the peer must answer first */
	HRP_WAIT_WINDOW,	/* the congestion window is full */
	HRP_WAIT_CREDITS,	/* the peer has told of no receive request */
	HRP_WAIT_READS,		/* as many READs and atomics as are allowed */
	HRP_WAIT_ORDER,		/* fence, or an entry that must be the oldest */
	HRP_WAIT_RNR,		/* the peer has no receive request */
	HRP_WAIT_ROOM,		/* the local stack has refused a frame */
	HRP_WAIT_MEMORY,	/* local memory is not present */
	HRP_WAIT_RATE,		/* rate limit, static rate or spread window */
	HRP_WAIT_DRAINED,	/* SQD: nothing new begins */
	HRP_WAIT_PAUSED,	/* its class is paused; only who looks below knows */
};

/**
 * hrp_wait_for - find why a requester does not send
 * @qp: queue pair with a requester
 *
 * Only looks, so that it costs nothing unless somebody asks. Entries that the
 * requester has not taken from the ring yet do not count: it is about to run.
 *
 * Context: send lock held.
 * Return: the reason; not HRP_WAIT_PAUSED.
 */
enum hrp_wait hrp_wait_for(const struct hrp_qp *qp);

/* The name of a reason, as `rdma resource` shows it. */
const char *hrp_wait_name(enum hrp_wait wait);

#endif /* HRP_WAIT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Of req.c: how much may be sent now, and of what an answer is wanted. Context:
 * send lock held.
 */
#ifndef HRP_REQ_ROOM_H
#define HRP_REQ_ROOM_H

#include <linux/minmax.h>
#include "ahead.h"
#include "psn.h"
#include "req_priv.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"

/* Most PSNs between the oldest unacknowledged one and the next (9.7.1). */
#define REQ_PSN_ROOM	(HRP_PSN_WINDOW - 1)

/* Is half of the congestion window in flight? */
static inline bool req_is_half_full(const struct hrp_req *req)
{
	return 2 * hrp_req_dist(req) >= req->cwnd_pkts;
}

/*
 * Packets for which one acknowledgement is requested: several in each round
 * trip, and for few packets, as those that are acknowledged together make room
 * for as many at once.
 */
#define REQ_ASK_PKTS	64u

/* Fewer packets do not leave alone while gaps are filled. */
#define REQ_SILLY_PKTS	32u

/* Of a window that is smaller, the part of a packet counts. */
#define REQ_SMALL_PKTS	16u

/* Whether it does is the same for so many packets in a row, as a power of two. */
#define REQ_RUN_SHIFT	3u

/* Least time between packets that are sent alone, in units of 1024 ns. */
#define REQ_TIMED_GAP	64u

/* @full: the window is full of them. */
static inline u32 req_ask_pkts(const struct hrp_req *req, bool full)
{
	if (req->cc_times && !full && !req_is_half_full(req))
		return REQ_ASK_PKTS;
	if (unlikely(req->troubled) && hrp_sack_is_active(req))
		return min(req->cwnd_pkts / 2, REQ_ASK_PKTS);
	return min(req->cwnd_pkts / 4, REQ_ASK_PKTS);
}

/* What of the next packets is timed? */
enum req_timing {
	TIME_NOTHING,
	TIME_ANY,	/* what requests an acknowledgement */
	TIME_ALONE,	/* a packet that is sent alone */
};

/* Is no packet timed, and may one be, although there may be gaps? */
static inline bool req_may_time(const struct hrp_req *req)
{
	if (req->timing)
		return false;
	return likely(!req->troubled) ||
	       (hrp_sack_is_active(req) && !req->sack->timing);
}

/*
 * Will half of the congestion window be in flight, if the rest of the entry is
 * sent? All of it may have been acknowledged at once.
 */
static inline bool req_fills_half(const struct hrp_req *req,
				  const struct hrp_wqe *w)
{
	return 2 * (hrp_req_dist(req) + w->nr_pkts - req->offset) >=
	       req->cwnd_pkts;
}

/*
 * Messages of @len bytes, one packet each, that may share a burst, even if each gets
 * a frame of its own. The last of them asks when that is due. None takes the place
 * of the packet that is to be sent alone, see req_what_to_time().
 */
static inline u32 req_train_max(const struct hrp_qp *qp, u32 len, u32 room)
{
	const struct hrp_req *req = &qp->req;
	u32 half = req->cwnd_pkts / 2, dist = hrp_req_dist(req);
	u32 ask = req_ask_pkts(req, false), pkts = req->burst_pkts;

	if (!hrp_spray_is_on(req))
		pkts = pkts * qp->mtu / (len + HRP_TRAIN_FRAME_LEN);
	room = min3(room, pkts, ask - min_t(u32, ask, req->unasked_pkts));
	return req->cc_times && dist < half ? min(room, half - dist) : room;
}

/*
 * While much is in flight, or about to be, congestion control wants a packet that
 * is sent alone, since the last of several waits for the others. On the shortest
 * paths not in each round trip, as it has its price. Otherwise, or to find back
 * to a short timeout, any will do.
 */
static inline enum req_timing
req_what_to_time(const struct hrp_qp *qp, const struct hrp_wqe *w, u64 now_ns)
{
	const struct hrp_req *req = &qp->req;
	u32 last_at;

	if (!req_may_time(req))
		return TIME_NOTHING;
	if (!req->cc_times || req->backoff || !req_fills_half(req, w))
		return TIME_ANY;
	last_at = unlikely(req->troubled) ? req->sack->timed_at : req->mark_at;
	return hrp_rtt_clock(now_ns) - last_at >= REQ_TIMED_GAP ?
	       TIME_ALONE : TIME_NOTHING;
}

/*
 * A selective acknowledgement may make room for one packet. If it were sent at
 * once, and asked for the next acknowledgement, there would be one for each
 * packet from then on.
 */
static inline bool req_room_is_silly(const struct hrp_req *req, u32 room)
{
	return hrp_sack_is_active(req) &&
	       room < min(req->cwnd_pkts / 2, REQ_SILLY_PKTS);
}

/*
 * May one packet more than the whole ones of the window be in flight? With a part
 * of 1/2, the packets of every other run may. Multiples of the golden ratio spread
 * these runs evenly.
 */
static inline bool req_may_exceed(const struct hrp_req *req)
{
	return req->cc_times && !req->troubled &&
	       req->cwnd_pkts < REQ_SMALL_PKTS &&
	       req->cwnd_rest > (u8)((req->psn >> REQ_RUN_SHIFT) * 159);
}

/*
 * Packets of SEND and WRITE that may be sent now; 0: the window is closed. If it
 * has become smaller, none of those in flight may have asked for an
 * acknowledgement: then one more does.
 */
static inline u32 req_room(const struct hrp_req *req)
{
	u32 window_pkts = hrp_req_window(req);
	u32 dist = hrp_req_dist(req);
	u32 inflight_pkts = dist - req->rd_pkts;
	u32 room = 0;

	if (likely(inflight_pkts < window_pkts)) {
		room = window_pkts - inflight_pkts;
		if (unlikely(req->troubled) && req_room_is_silly(req, room))
			room = 0;
	} else if (req->cc_times && dist && req->unasked_pkts >= dist) {
		room = 1;
	} else if (inflight_pkts == window_pkts && req_may_exceed(req)) {
		room = 1;
	}
	return min(room, REQ_PSN_ROOM - dist);
}

/* Packets of answers that may be outstanding: not those that are kept. */
static inline u32 req_read_window(const struct hrp_req *req)
{
	u32 window_pkts = hrp_req_window(req);

	if (likely(!req->troubled))
		return window_pkts;
	return min(window_pkts + hrp_ahead_nr(req), hrp_req_window_max(req));
}

/*
 * After a long silence, may another request be sent that has an answer? A single
 * one may be lost each time. The answers were outstanding before.
 */
static inline bool req_may_try(const struct hrp_req *req)
{
	return req->went_back && !req->rnr_row && req->probed &&
	       req->backoff >= HRP_LONG_SILENCE &&
	       req->nr_rd_atomic < HRP_SILENT_PKTS;
}

/*
 * How much of an answer to ask for, if @n packets from @psn on are wanted. If
 * the request may have been lost, this may be the first time that the peer gets
 * it, and decides which PSNs the answer takes: then all of it.
 */
static inline u32 req_again_pkts(struct hrp_req *req, const struct hrp_wqe *w,
				 u32 psn, u32 n)
{
	u32 offset = (psn - w->first_psn) & HRP_PSN_MASK;

	if (hrp_req_is_executed(req, w, psn)) {
		if (req->sack)
			hrp_ahead_asks(req, hrp_psn_add(psn, n));
		return n;
	}
	return min(1u << w->chunk_shift, w->nr_pkts - offset);
}

/* One may always be sent: the limit was not 0 when the entry was taken. */
static inline bool req_rd_is_full(const struct hrp_req *req)
{
	return req->nr_rd_atomic && req->nr_rd_atomic >= req->max_rd_atomic;
}

/*
 * An entry that cannot be executed completes after all earlier ones. So does
 * LOCAL_INV: a request that may have to be resent still needs the key (strong
 * ordering, IBTA 10.8.3.3).
 */
static inline bool req_must_be_oldest(const struct hrp_wqe *w)
{
	return w->status != HROCE_WC_SUCCESS ||
	       w->wqe.opcode == HROCE_WR_LOCAL_INV;
}

/* @w is the next entry. */
static inline bool req_is_fenced(const struct hrp_req *req,
				 const struct hrp_wqe *w)
{
	return w->wqe.flags & HROCE_WRF_FENCE && !req->offset &&
	       req->nr_rd_atomic;
}

#endif /* HRP_REQ_ROOM_H */

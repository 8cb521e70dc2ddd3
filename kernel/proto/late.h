/* SPDX-License-Identifier: GPL-2.0 */
/* Packets that come late, as others have overtaken them: see late.c. */
#ifndef HRP_LATE_H
#define HRP_LATE_H

#include <linux/types.h>

struct hrp_qp;
struct hrp_req;

/* How many points in time are noted; a power of two. */
#define HRP_LATE_MARKS	16u

/**
 * struct hrp_late_mark - a point in time
 * @psn: packets before this PSN that have not arrived were missing by then
 * @at: hrp_rtt_clock()
 */
struct hrp_late_mark {
	u32 psn;
	u32 at;
};

/* How many resent packets are noted. */
#define HRP_LATE_TRIES	32u

/**
 * struct hrp_late_try - a packet that was resent, or the first of several
 * @psn: its PSN
 * @again: it was resent more than once: that it comes twice tells nothing
 * @used: this is one
 * @more: how many were resent behind it
 * @at: when it was found missing, hrp_rtt_clock()
 */
struct hrp_late_try {
	u32 psn:24;
	u32 again:1;
	u32 used:1;
	u32 more:6;
	u32 at;
};

/**
 * struct hrp_late - what a requester knows of packets that come late
 * @wait: what has been missing for so long is lost, in units of 1024 ns; 0: at
 *	once, as packets keep their order
 * @most: latest packet of this round, likewise
 * @came_psn: @came: the first of them
 * @came: packets that were missing, and not resent, have arrived since
 *	hrp_late_look()
 * @news: something has arrived behind a gap, and the gaps have not been looked at
 *	after the time that they wait since then
 * @late: packets of this round that came late
 * @lost: gaps that were resent, as far as they are noted
 * @undo_pkts: largest window before gaps made it smaller in this round; 0: they
 *	have not
 * @back_pkts: the window before the requester went back after silence, if that may
 *	have been in vain; 0: it was not
 * @back_psn: the first packet that was resent then
 * @back_end: the one behind those that were acknowledged with it
 * @newest: index of the newest mark
 * @marks: how many there are
 * @mark: the last ones, as a ring
 * @next_try: where the next one is noted, if that is free or old
 * @try: packets that were resent and may come twice
 */
struct hrp_late {
	u32 wait;
	u32 most;
	u32 came_psn;
	u16 came;
	bool news;
	u8 late;
	u8 lost;
	u8 newest;
	u8 marks;
	u8 next_try;
	u32 undo_pkts;
	u32 back_pkts;
	u32 back_psn;
	u32 back_end;
	struct hrp_late_mark mark[HRP_LATE_MARKS];
	struct hrp_late_try try[HRP_LATE_TRIES];
};

/**
 * hrp_late_look - learn from what has arrived, and note what is missing
 * @qp: queue pair with @qp->req.sack
 * @now_ns: current time
 *
 * Context: send lock held.
 */
void hrp_late_look(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_late_end - which gaps are losses
 * @req: requester with @req->sack, after hrp_late_look()
 * @now_ns: current time
 *
 * Context: send lock held.
 * Return: PSN: what is missing before it is lost, not what is missing behind it.
 * It may be before the oldest packet in flight.
 */
u32 hrp_late_end(const struct hrp_req *req, u64 now_ns);

/**
 * hrp_late_is_over - has something been missing for too long?
 * @req: requester with @req->sack
 * @at: since when, hrp_rtt_clock()
 * @now_ns: current time
 *
 * Context: send lock held.
 * Return: true if it is taken for lost.
 */
bool hrp_late_is_over(const struct hrp_req *req, u32 at, u64 now_ns);

/**
 * hrp_late_came - packets that were not resent have arrived
 * @late: of a requester
 * @psn: the first
 * @nr: how many
 *
 * Those that were not missing before do not matter. Context: send lock held.
 */
void hrp_late_came(struct hrp_late *late, u32 psn, u32 nr);

/**
 * hrp_late_knows - was a packet resent, of which it matters that it comes twice?
 * @late: of a requester
 * @psn: its PSN
 *
 * Context: send lock held.
 * Return: true if hrp_late_again() may learn from it.
 */
bool hrp_late_knows(const struct hrp_late *late, u32 psn);

/**
 * hrp_late_again - packets have come twice: were they late, and not lost?
 * @qp: queue pair with @qp->req.sack
 * @psn: one of them
 * @nr: how many; 0: those that were resent with it, as one tells of all
 * @now_ns: current time
 *
 * Context: send lock held.
 */
void hrp_late_again(struct hrp_qp *qp, u32 psn, u32 nr, u64 now_ns);

/**
 * hrp_late_doubts - going back was in vain if what was resent has come twice
 * @req: requester with @req->sack
 * @psn: the first packet that was resent; it is acknowledged
 * @cwnd_pkts: the window before, which it has again if the peer tells so
 *
 * Context: send lock held.
 */
void hrp_late_doubts(struct hrp_req *req, u32 psn, u32 cwnd_pkts);

/**
 * hrp_late_resent - packets are resent as they are missing for too long
 * @req: requester with @req->sack, before hrp_sack_tried()
 * @psn: the first
 * @nr: how many, up to 64
 * @now_ns: current time
 *
 * Context: send lock held.
 */
void hrp_late_resent(struct hrp_req *req, u32 psn, u32 nr, u64 now_ns);

/**
 * hrp_late_shrinks - gaps are about to make the window smaller
 * @req: requester
 *
 * If they were none, the window will be restored. Context: send lock held.
 */
void hrp_late_shrinks(struct hrp_req *req);

/**
 * hrp_late_void - forget when packets were missing: all are sent again
 * @req: requester
 *
 * Context: send lock held.
 */
void hrp_late_void(struct hrp_req *req);

/**
 * hrp_late_expect - packets are about to come out of order
 * @req: requester with @req->sack
 *
 * Until it is known how late they are, gaps have to be as old as a few round
 * trips.
 * Context: send lock held.
 */
void hrp_late_expect(struct hrp_req *req);

/* Time for which a gap is none, in ns. Context: send lock held. */
u64 hrp_late_wait_ns(const struct hrp_req *req);

/**
 * hrp_late_gap_ns - time after which gaps are losses if nothing else arrives
 * @req: requester
 *
 * Context: send lock held.
 * Return: time from @req->timer_ns on; 0: there is none to wait for.
 */
u64 hrp_late_gap_ns(const struct hrp_req *req);

#endif /* HRP_LATE_H */

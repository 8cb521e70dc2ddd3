/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selective acknowledgements: the responder tells which requests behind a gap it
 * keeps, so that all gaps of a flight are filled in one round trip.
 *
 * The specification has none, so they are sent to a peer only if it has asked
 * for them, by a packet that others drop: table 38 leaves its opcode to
 * manufacturers. A requester asks when it recovers from a loss, a peer that has
 * been seen to keep requests, whose answers were lost, or that lacks a request
 * with an answer. The peer answers at once,
 * also if it keeps nothing. Documentation/protocol.rst has the bytes.
 *
 * A selective acknowledgement (SACK) is a sequence NAK for the first request
 * that is missing, with a map of those behind it, or of a part of them if they
 * are many. If none is missing, it is an ACK without a map. Another such ACK tells
 * that requests have come twice: what was resent was not lost (late.h).
 *
 * The requester notes here, too, which responses it keeps itself, see ahead.h.
 */
#ifndef HRP_SACK_H
#define HRP_SACK_H

#include "burst.h"
#include "damage.h"
#include "keep.h"
#include "late.h"
#include "rival.h"
#include "qp.h"

/* How often a peer is asked that does not answer. */
#define HRP_SACK_ASKS		3

/* Payload of the question. */
#define HRP_SACK_ASK_BYTES	8

/* Payload of an ACK that tells of requests that have come twice. */
#define HRP_SACK_AGAIN_BYTES	8

/* Longest map; fits the smallest path MTU. */
#define HRP_SACK_MAP_BYTES	256

/* What the requester notes of packets, in words of 64; powers of two. */
#define HRP_SACK_WORDS_MIN	32u
#define HRP_SACK_WORDS_MAX	(HRP_KEEP_PKTS / 64u)

/**
 * struct hrp_sack_word - what it notes of 64 packets
 * @kept: packets that have arrived: requests that the peer keeps or has executed,
 *	and answers in &hrp_sack.ahead
 * @tried: packets that were resent: before &hrp_sack.mark was taken, and since
 * @resent: packets that were resent, once or more, whatever has become of that
 */
struct hrp_sack_word {
	u64 kept;
	u64 tried[2];
	u64 resent;
};

/**
 * struct hrp_sack - what a requester knows of the packets in flight
 * @begin: @word covers PSNs from this one on, hrp_req.psn_una when it was looked
 *	at last
 * @end: one past the last packet that has arrived, or @acked or the end of what a
 *	broken path was given if that is later; equal to @begin if there is none
 * @top: nothing is noted of PSNs from this one on
 * @acked: the peer has executed all requests before this PSN: answers that are
 *	missing there were lost
 * @asked: one past the last answer that was asked for apart
 * @mark: packets from this PSN on were sent after those in the first half of
 *	@tried
 * @mark_at: when @mark was taken, hrp_rtt_clock()
 * @came_psn: @came: the last of them
 * @gap_psn: one past the newest gap that was judged, see hole.c
 * @nr: packets that have arrived
 * @cut_pkts: the window before it shrank the last time because of gaps
 * @timed_psn: a packet that measures the round trip, see hrp_req.timing, which is
 *	for times without gaps
 * @timed_at: when it was sent
 * @lost_psn: @lost: of that request
 * @lost_at: @lost: when the peer told so
 * @calm: so many measurements in a row show that hardly a packet waits, with a
 *	window of more than @cut_pkts, see cc_delay.c
 * @timing: the packet at @timed_psn is in flight
 * @alone: it was sent alone, for congestion control
 * @told: the peer has told that it understands; the owner sets it when a
 *	selective acknowledgement comes, new or not
 * @lost: the peer lacks a request with an answer, and keeps what is behind it;
 *	until it is known to be executed
 * @lost_due: that request is to be sent again
 * @came: packets in the first half of &hrp_sack_word.tried have arrived, and
 *	hrp_sack_judge() has not seen that yet
 * @came_new: the same of the second half
 * @damage: which losses are damage, see damage.h
 * @late: which gaps are losses, see late.h
 * @rival: others that fill the queue, see rival.h
 * @spray: several paths, see spray.h; NULL: not wanted yet
 * @ahead: answers that are kept, see ahead.h; NULL: there are none
 * @words: how many there are; a power of two
 * @word: by PSN
 */
struct hrp_sack {
	u32 begin;
	u32 end;
	u32 top;
	u32 acked;
	u32 asked;
	u32 mark;
	u32 mark_at;
	u32 came_psn;
	u32 gap_psn;
	u32 nr;
	u32 cut_pkts;
	u32 timed_psn;
	u32 timed_at;
	u32 lost_psn;
	u32 lost_at;
	u8 calm;
	bool timing;
	bool alone;
	bool told;
	bool lost;
	bool lost_due;
	bool came;
	bool came_new;
	struct hrp_damage damage;
	struct hrp_late late;
	struct hrp_rival rival;
	struct hrp_spray *spray;
	struct hrp_keep *ahead;
	u32 words;
	struct hrp_sack_word word[];
};

/* Words that the largest window takes. Context: send lock held. */
u32 hrp_sack_words(const struct hrp_req *req);

/* Is there no @req->sack, or one that has become too small for the window? */
static inline bool hrp_sack_is_short(const struct hrp_req *req)
{
	return !req->sack || req->sack->words < hrp_sack_words(req);
}

/* Packets from the oldest one in flight on that are noted, or would be. */
static inline u32 hrp_sack_pkts(const struct hrp_req *req)
{
	return (req->sack ? req->sack->words : hrp_sack_words(req)) * 64;
}

/* Memory that hrp_sack_open() takes. */
static inline size_t hrp_sack_size(u32 words)
{
	return sizeof(struct hrp_sack) + words * sizeof(struct hrp_sack_word);
}

/**
 * hrp_sack_open - begin to note what has arrived, or note it elsewhere
 * @req: requester for which hrp_sack_is_short()
 * @sack: hrp_sack_size(), owned by the caller until hrp_sack_close()
 * @words: hrp_sack_words(), or fewer if memory is short: more than there were,
 *	HRP_SACK_WORDS_MIN or more, and a power of two
 *
 * Context: send lock held.
 * Return: memory of before, to be freed; NULL if there was none.
 */
struct hrp_sack *hrp_sack_open(struct hrp_req *req, struct hrp_sack *sack,
			       u32 words);

/**
 * hrp_sack_start - a new connection: forget all that is known
 * @req: requester, with @req->sack or without; it keeps no answers
 *
 * The memory stays. Context: send lock held.
 */
void hrp_sack_start(struct hrp_req *req);

/**
 * hrp_sack_close - note nothing any more
 * @req: requester; hrp_ahead_close() was called
 *
 * Context: send lock held.
 * Return: what hrp_sack_open() was given; NULL if it was not called.
 */
struct hrp_sack *hrp_sack_close(struct hrp_req *req);

/**
 * hrp_sack_heard - the peer has sent a selective acknowledgement
 * @qp: queue pair, after hrp_sack_open()
 * @pkt: its headers; hrp_comp_begin() may have dropped it as it is late
 * @map: its payload
 * @now_ns: current time
 *
 * Learns what does not depend on the order of acknowledgements. Context: send
 * lock held.
 */
void hrp_sack_heard(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		    const u8 *map, u64 now_ns);

/**
 * hrp_sack_take - learn from a selective acknowledgement what is kept
 * @qp: queue pair, after hrp_sack_heard()
 * @pkt: its headers; hrp_comp_begin() has accepted it
 * @map: its payload
 * @now_ns: current time
 *
 * Acknowledges nothing: hrp_comp_commit() follows, and acts on the gaps.
 * What is not in flight is ignored. Context: send lock held.
 */
void hrp_sack_take(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		   const u8 *map, u64 now_ns);

/**
 * hrp_sack_acked - packets were acknowledged
 * @qp: queue pair with @qp->req.sack
 * @now_ns: current time
 *
 * Context: send lock held.
 */
void hrp_sack_acked(struct hrp_qp *qp, u64 now_ns);

/**
 * hrp_sack_time - time a packet
 * @req: requester for which hrp_sack_is_active()
 * @psn: as for hrp_rtt_begin()
 * @alone: it is sent alone, for congestion control
 * @now_ns: time when it is sent, or earlier
 *
 * Context: send lock held.
 */
void hrp_sack_time(struct hrp_req *req, u32 psn, bool alone, u64 now_ns);

/**
 * hrp_sack_forget - the requester goes back: the peer may keep nothing
 * @req: requester with @req->sack
 *
 * Context: send lock held.
 */
void hrp_sack_forget(struct hrp_req *req);

/* Is there a gap behind which packets have arrived? Context: send lock held. */
static inline bool hrp_sack_is_active(const struct hrp_req *req)
{
	return req->sack && req->sack->end != req->sack->begin;
}

/**
 * hrp_sack_judge - find out what was lost although it was resent
 * @req: requester for which hrp_sack_is_active()
 * @now_ns: current time
 *
 * A packet is, if one has arrived that was sent or resent after it was resent.
 * Context: send lock held.
 */
void hrp_sack_judge(struct hrp_req *req, u64 now_ns);

/**
 * hrp_sack_trim - forget of packets that are not in flight any more
 * @req: requester with @req->sack
 *
 * Context: send lock held.
 */
void hrp_sack_trim(struct hrp_req *req);

/**
 * hrp_sack_mark - packets have arrived
 * @req: requester with @req->sack
 * @psn: the first
 * @nr: how many
 *
 * Those that are not in flight, or too far ahead, are ignored. Context: send
 * lock held.
 */
void hrp_sack_mark(struct hrp_req *req, u32 psn, u32 nr);

/**
 * hrp_sack_reach - what is missing before a PSN is a gap
 * @req: requester with @req->sack
 * @end: not after @req->psn_max; what is too far ahead is ignored
 *
 * Context: send lock held.
 */
void hrp_sack_reach(struct hrp_req *req, u32 end);

/**
 * hrp_sack_next - find the next gap to fill
 * @req: requester for which hrp_sack_is_active()
 * @psn: where to begin; set to its first PSN
 * @end: what is missing from this PSN on is no gap yet
 *
 * Context: send lock held.
 * Return: its packets, up to 64, for hrp_sack_tried(); 0: there is none.
 */
u32 hrp_sack_next(struct hrp_req *req, u32 *psn, u32 end);

/* Packets from @psn on, and before @end, that have not arrived as far as is known. */
u32 hrp_sack_missing(const struct hrp_req *req, u32 psn, u32 end);

/* @nr packets from @psn on were resent. Context: send lock held. */
void hrp_sack_tried(struct hrp_req *req, u32 psn, u32 nr);

/* Was this packet, which is missing, ever resent? Context: send lock held. */
bool hrp_sack_is_resent(const struct hrp_req *req, u32 psn);

/* They were lost again, as far as they are missing. Context: send lock held. */
void hrp_sack_retry(struct hrp_req *req, u32 psn, u32 nr);

/**
 * hrp_sack_asks - ask for selective acknowledgements
 * @req: requester
 *
 * A few times only, until the peer has answered. Context: send lock held.
 */
static inline void hrp_sack_asks(struct hrp_req *req)
{
	if (!req->asks || (req->sack && req->sack->told))
		return;
	req->asks--;
	req->ask = 1;
	req->troubled = 1;
}

/**
 * hrp_sack_build_ask - the packet that asks for them
 * @qp: queue pair with @qp->req.ask
 * @b: burst
 *
 * Context: send lock held.
 */
void hrp_sack_build_ask(struct hrp_qp *qp, struct hrp_burst *b);

/**
 * hrp_sack_asked - the peer asks for selective acknowledgements
 * @qp: queue pair
 * @ask: payload of the packet; from the peer, its ICRC is correct
 * @len: bytes of @ask
 *
 * Context: receive lock held. If hrp_resp_is_due(), answers are to be sent.
 * Return: false if it is not a question that this side understands.
 */
bool hrp_sack_asked(struct hrp_qp *qp, const u8 *ask, u32 len);

/**
 * hrp_sack_tell - choose what the next selective acknowledgement tells of
 * @resp: responder that keeps requests
 *
 * If that is not all, the newest and, in turn, the others. Context: receive lock
 * held.
 */
void hrp_sack_tell(struct hrp_resp *resp);

/* Length of its map in bytes, a multiple of 4. */
u32 hrp_sack_len(const struct hrp_resp *resp);

/**
 * hrp_sack_again - a request has come twice
 * @resp: responder
 * @psn: of the request
 *
 * If the peer wants to know, the next acknowledgement tells. Context: receive
 * lock held.
 */
void hrp_sack_again(struct hrp_resp *resp, u32 psn);

/**
 * hrp_sack_fill - fill in the payload of a selective acknowledgement
 * @resp: responder whose hrp_resp_next() has just returned one
 * @b: the burst
 * @map: HRP_SACK_MAP_BYTES; the length is that of the burst
 *
 * Context: receive lock held since then.
 */
void hrp_sack_fill(struct hrp_resp *resp, const struct hrp_burst *b, u8 *map);

#endif /* HRP_SACK_H */

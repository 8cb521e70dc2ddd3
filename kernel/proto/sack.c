// SPDX-License-Identifier: GPL-2.0
/* Selective acknowledgements, see sack.h. */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "psn.h"
#include "req_priv.h"
#include "resp_priv.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"

/* Maps may begin later than at the missing request. */
#define ASK_LATER	1

/* What has come twice may be told. */
#define ASK_AGAIN	2

/* Answers may take the ways of their requests. */
#define ASK_FOLLOW	4

/* An ACK may follow a request in the same datagram. */
#define ASK_JOINS	8

/* What every requester takes. */
#define ASK_ALWAYS	(ASK_LATER | ASK_AGAIN | ASK_JOINS)

/*
 * Others may use the opcode for something else. The last bytes are the version,
 * flags, and two that are reserved.
 */
static const u8 sack_ask[HRP_SACK_ASK_BYTES] = {
	'h', 'r', 'o', 'c', 1, ASK_ALWAYS, 0, 0,
};

/* The same of a requester that uses several paths, see spray.h. */
static const u8 sack_ask_spread[HRP_SACK_ASK_BYTES] = {
	'h', 'r', 'o', 'c', 1, ASK_ALWAYS | ASK_FOLLOW, 0, 0,
};

/* All but flags and reserved bytes. */
#define ASK_CHECKED	5

/* In front of a map that begins later: the PSN of its first bit. */
#define MAP_PSN_BYTES	4u

/* Longest map in words, and longest that begins later. */
#define MAP_WORDS	(HRP_SACK_MAP_BYTES / 8u)
#define LATER_WORDS	(MAP_WORDS - 1)

/* Longest run of packets that are resent together. */
#define RUN_MAX		64u

/* More packets that have come twice are told of as if they were so many. */
#define AGAIN_MAX	127u

/* Packets of one word of a map begin at such a PSN. */
static_assert(!((HRP_PSN_MASK + 1) % HRP_KEEP_PKTS));

static struct hrp_sack_word *word_of(struct hrp_sack *sack, u32 psn)
{
	return &sack->word[psn / 64 & (sack->words - 1)];
}

/* Bits of PSNs from @psn to the end of its word. */
static u64 bits_from(u32 psn)
{
	return U64_MAX << psn % 64;
}

/* First PSN of the next word. */
static u32 word_end(u32 psn)
{
	return hrp_psn_add(psn & ~63u, 64);
}

/* Bits of PSNs from @psn on, and before @end, in the word of @psn. */
static u64 bits_between(u32 psn, u32 end)
{
	u64 bits = bits_from(psn);

	if (hrp_psn_diff(end, word_end(psn)) < 0)
		bits &= ~bits_from(end);
	return bits;
}

static u32 before(u32 a, u32 b)
{
	return hrp_psn_diff(a, b) < 0 ? a : b;
}

static u32 after(u32 a, u32 b)
{
	return hrp_psn_diff(a, b) > 0 ? a : b;
}

/* One past the last packet in flight of which there is a bit. */
static u32 map_end(const struct hrp_req *req)
{
	u32 pkts = (req->psn_max - req->psn_una) & HRP_PSN_MASK;

	return hrp_psn_add(req->psn_una, min(pkts, hrp_sack_pkts(req)));
}

/* @bits of the word of @psn arrive, or come again. Which have been resent? */
static void map_arrive(struct hrp_sack *sack, u32 psn, u64 bits)
{
	const struct hrp_sack_word *w = word_of(sack, psn);
	u64 late;

	bits &= ~w->kept;
	late = bits & ~w->resent;
	if (late)
		hrp_late_came(&sack->late, (psn & ~63u) + __ffs64(late),
			      hweight64(late));
	if (bits & w->tried[1])
		sack->came_new = true;
	bits &= w->tried[0];
	if (!bits)
		return;
	psn = (psn & ~63u) + fls64(bits) - 1;
	if (!sack->came || hrp_psn_diff(psn, sack->came_psn) > 0)
		sack->came_psn = psn;
	sack->came = true;
}

/* Forget packets that have arrived, or (!@arrived) that are sent again. */
static void map_clear(struct hrp_sack *sack, u32 psn, u32 end, bool arrived)
{
	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn)) {
		struct hrp_sack_word *w = word_of(sack, psn);
		u64 bits = bits_between(psn, end);

		if (arrived)
			map_arrive(sack, psn, bits);
		sack->nr -= hweight64(w->kept & bits);
		w->kept &= ~bits;
		w->tried[0] &= ~bits;
		w->tried[1] &= ~bits;
		w->resent &= ~bits;
	}
}

/* Something is noted of packets before @end. */
static void map_note(struct hrp_sack *sack, u32 end)
{
	if (hrp_psn_diff(end, sack->top) > 0)
		sack->top = end;
}

/* The packets with these @bits in the word of @psn have arrived. */
static void map_keep(struct hrp_sack *sack, u32 psn, u64 bits)
{
	struct hrp_sack_word *w = word_of(sack, psn);

	map_arrive(sack, psn, bits);
	sack->nr += hweight64(bits & ~w->kept);
	w->kept |= bits;
}

void hrp_sack_forget(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;

	map_clear(sack, sack->begin, sack->top, false);
	sack->begin = req->psn_una;
	sack->end = req->psn_una;
	sack->top = req->psn_una;
	sack->acked = req->psn_una;
	sack->mark = req->psn;
	sack->timed_at = 0;
	sack->timing = false;
	sack->came = false;
	sack->came_new = false;
	sack->lost = sack->lost && req->psn != req->psn_una &&
		     hrp_psn_diff(sack->lost_psn, req->psn_una) >= 0;
}

/*
 * No gap is left, and the packet that is timed is in flight. With several paths
 * there is a gap now and then in each round trip, and few would be measured.
 */
static void sack_return_timing(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;

	if (!sack->timing || !hrp_spray_is_on(req) || req->recovering ||
	    hrp_psn_diff(sack->timed_psn, req->psn_una) < 0)
		return;
	req->timing = 1;
	req->mark_psn = sack->timed_psn;
	req->mark_at = sack->timed_at;
	req->alone = sack->alone;
}

static void sack_end_gaps(struct hrp_req *req)
{
	sack_return_timing(req);
	hrp_sack_forget(req);
}

void hrp_sack_trim(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;

	if (sack->begin == req->psn_una)
		return;
	/* Without gaps, @end may be more than half of all PSNs ago. */
	if (!hrp_sack_is_active(req)) {
		sack_end_gaps(req);
		return;
	}
	map_clear(sack, sack->begin, before(req->psn_una, sack->top), true);
	sack->begin = req->psn_una;
	if (hrp_psn_diff(req->psn_una, sack->end) >= 0) {
		sack_end_gaps(req);
		return;
	}
	map_note(sack, req->psn_una);
}

static void word_try(struct hrp_sack_word *w, u64 bits)
{
	w->tried[1] |= bits;
	w->resent |= bits;
}

void hrp_sack_tried(struct hrp_req *req, u32 psn, u32 nr)
{
	u32 timed = (req->sack->timed_psn - psn) & HRP_PSN_MASK;
	u32 end = hrp_psn_add(psn, nr);

	/* Karn's rule */
	if (timed < nr)
		req->sack->timing = false;
	hrp_sack_trim(req);
	end = before(end, map_end(req));
	map_note(req->sack, end);
	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn))
		word_try(word_of(req->sack, psn), bits_between(psn, end));
}

bool hrp_sack_is_resent(const struct hrp_req *req, u32 psn)
{
	return word_of(req->sack, psn)->resent & BIT_ULL(psn % 64);
}

u32 hrp_sack_words(const struct hrp_req *req)
{
	return clamp((u32)roundup_pow_of_two(hrp_req_window_max(req)) / 64,
		     HRP_SACK_WORDS_MIN, HRP_SACK_WORDS_MAX);
}

/* What was noted goes to more memory. */
static void sack_move(struct hrp_sack *sack, struct hrp_sack *old)
{
	u32 words = sack->words;
	u32 psn;

	*sack = *old;
	sack->words = words;
	for (psn = old->begin; hrp_psn_diff(psn, old->top) < 0;
	     psn = word_end(psn)) {
		u64 bits = bits_between(psn, old->top);
		struct hrp_sack_word *from = word_of(old, psn);
		struct hrp_sack_word *to = word_of(sack, psn);

		to->kept |= from->kept & bits;
		to->tried[0] |= from->tried[0] & bits;
		to->tried[1] |= from->tried[1] & bits;
		to->resent |= from->resent & bits;
	}
}

/* Nothing is known, and all of @req->sack is 0 but what the owner has allocated. */
static void sack_begin(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;

	sack->begin = req->psn_una;
	sack->top = req->psn_una;
	sack->asked = req->psn_una;
	sack->mark_at = req->mark_at;
	sack->lost_psn = req->psn_una;
	sack->gap_psn = req->rtx_psn;
	hrp_damage_start(req);
	hrp_sack_forget(req);
}

void hrp_sack_start(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;
	struct hrp_spray *spray;
	struct hrp_keep *ahead;
	u32 words;

	if (!sack)
		return;
	spray = sack->spray;
	ahead = sack->ahead;
	words = sack->words;
	memset(sack, 0, hrp_sack_size(words));
	sack->spray = spray;
	sack->ahead = ahead;
	sack->words = words;
	sack_begin(req);
}

struct hrp_sack *hrp_sack_open(struct hrp_req *req, struct hrp_sack *sack,
			       u32 words)
{
	struct hrp_sack *old = req->sack;

	memset(sack, 0, hrp_sack_size(words));
	sack->words = words;
	req->sack = sack;
	if (old) {
		sack_move(sack, old);
		return old;
	}
	sack_begin(req);
	/* The first gap was filled before the peer was asked. */
	if (req->resent && hrp_psn_diff(req->rtx_psn, req->psn_una) > 0)
		hrp_sack_tried(req, req->psn_una,
			       min((u32)hrp_psn_diff(req->rtx_psn, req->psn_una),
				   RUN_MAX));
	return NULL;
}

struct hrp_sack *hrp_sack_close(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;

	req->sack = NULL;
	return sack;
}

void hrp_sack_time(struct hrp_req *req, u32 psn, bool alone, u64 now_ns)
{
	struct hrp_sack *sack = req->sack;

	sack->timing = true;
	sack->timed_psn = psn;
	sack->timed_at = hrp_rtt_clock(now_ns);
	sack->alone = alone;
}

/* A packet that is timed may be kept, and acknowledged long after that. */
static void sack_adopt_timing(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;

	if (!req->timing)
		return;
	req->timing = 0;
	sack->timing = true;
	sack->timed_psn = req->mark_psn;
	sack->timed_at = req->mark_at;
	sack->alone = req->alone;
}

/* Has the packet that is timed arrived? */
static void sack_end_timing(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_sack *sack = qp->req.sack;
	u32 psn;

	sack_adopt_timing(&qp->req);
	psn = sack->timed_psn;
	if (!sack->timing)
		return;
	if (hrp_psn_diff(psn, qp->req.psn_una) >= 0 &&
	    (hrp_psn_diff(psn, sack->end) >= 0 ||
	     !(word_of(sack, psn)->kept & BIT_ULL(psn % 64))))
		return;
	sack->timing = false;
	hrp_rtt_measured(qp, sack->timed_at, sack->alone, now_ns);
}

void hrp_sack_acked(struct hrp_qp *qp, u64 now_ns)
{
	sack_end_timing(qp, now_ns);
	hrp_sack_trim(&qp->req);
}

void hrp_sack_reach(struct hrp_req *req, u32 end)
{
	struct hrp_sack *sack = req->sack;

	end = before(end, map_end(req));
	if (hrp_psn_diff(end, sack->end) > 0)
		sack->end = end;
	map_note(sack, end);
}

void hrp_sack_mark(struct hrp_req *req, u32 psn, u32 nr)
{
	u32 end = hrp_psn_add(psn, nr);

	hrp_sack_trim(req);
	psn = after(psn, req->psn_una);
	end = before(end, map_end(req));
	if (hrp_psn_diff(psn, end) >= 0)
		return;
	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn))
		map_keep(req->sack, psn, bits_between(psn, end));
	hrp_sack_reach(req, end);
}

/*
 * Bits of requests with answers in the word of @psn: that the peer keeps one does
 * not mean that its answers have arrived. *@idx moves on to the entry of @psn;
 * PSNs are asked for in their order.
 */
static u64 map_answers(const struct hrp_req *req, u32 psn, u32 *idx)
{
	u32 end = word_end(psn);
	u64 bits = 0;

	for (; *idx != req->sq.head; ++*idx) {
		const struct hrp_wqe *w = hrp_sq_wqe(&req->sq, *idx);
		u32 first;

		if (!w->nr_pkts)
			continue;
		/* What has been answered may be half of all PSNs. */
		first = after(w->first_psn, req->psn_una);
		if (!w->started || hrp_psn_diff(first, end) >= 0)
			break;
		if (hrp_psn_diff(w->last_psn, psn) < 0)
			continue;
		if (hrp_wqe_is_answered(w))
			bits |= bits_between(after(first, psn),
					     hrp_psn_add(w->last_psn, 1));
		if (hrp_psn_diff(w->last_psn, end) >= 0)
			break;
	}
	return bits;
}

/*
 * Note what a map tells that begins at the word of @psn. What is not in flight is
 * nothing new, wherever the peer says that it begins.
 */
static void map_take(struct hrp_req *req, u32 psn, const u8 *map, u32 len)
{
	struct hrp_sack *sack = req->sack;
	u32 idx = req->sq.tail;
	u32 end = map_end(req);
	u64 bits;

	for (; len >= 8; len -= 8, map += 8, psn = word_end(psn)) {
		if (hrp_psn_diff(word_end(psn), req->psn_una) <= 0)
			continue;
		psn = after(psn, req->psn_una);
		if (hrp_psn_diff(psn, end) >= 0)
			break;
		bits = get_unaligned_le64(map) & bits_between(psn, end);
		if (bits && req->rd_pkts)
			bits &= ~map_answers(req, psn, &idx);
		if (!bits)
			continue;
		map_keep(sack, psn, bits);
		hrp_sack_reach(req, (psn & ~63u) + fls64(bits));
	}
}

/* Is it an acknowledgement, which tells of no gaps? */
static bool sack_is_ack(const struct hrp_pkt *pkt)
{
	return (pkt->syndrome & HRP_SYN_TYPE_MASK) == HRP_SYN_ACK;
}

void hrp_sack_heard(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		    const u8 *map, u64 now_ns)
{
	qp->req.sack->told = true;
	if (sack_is_ack(pkt) && pkt->payload_len == HRP_SACK_AGAIN_BYTES)
		hrp_late_again(qp, get_unaligned_be32(map) & HRP_PSN_MASK,
			       min(get_unaligned_be32(map + 4), AGAIN_MAX),
			       now_ns);
}

void hrp_sack_take(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		   const u8 *map, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	u32 len = pkt->payload_len;
	u32 psn = pkt->psn;
	u32 nr;

	/* All is sent again in any case. */
	if (req->psn != req->psn_max || sack_is_ack(pkt))
		return;
	hrp_sack_acked(qp, now_ns);
	nr = req->sack->nr;
	if (len % 8 == MAP_PSN_BYTES) {
		psn = get_unaligned_be32(map) & HRP_PSN_MASK & ~63u;
		map += MAP_PSN_BYTES;
		len -= MAP_PSN_BYTES;
	}
	map_take(req, psn, map, len);
	if (req->sack->nr == nr)
		return;
	hrp_count(qp, HROCE_EV_SACK_RCVD);
	hrp_spray_learn(req, pkt->psn, req->sack->nr - nr);
	sack_end_timing(qp, now_ns);
	req->troubled = 1;
	req->sack->late.news = true;
	if (req->timer == HRP_TIMER_ACK)
		hrp_req_restart(req, now_ns);
}

/* Packets that were resent before the mark was taken, or since, were not. */
static void map_untry(struct hrp_sack *sack, u32 since, u32 psn, u32 end)
{
	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn))
		word_of(sack, psn)->tried[since] &= ~bits_between(psn, end);
}

/*
 * Is it too soon for the arrival of a packet that was resent since @mark_at? Then
 * it was an earlier copy.
 */
static bool sack_is_early(const struct hrp_req *req, u64 now_ns)
{
	u32 most = (req->srtt8 - (req->srtt8 >> 3)) >> 3;

	return hrp_rtt_since(req->sack->mark_at, now_ns) < most;
}

void hrp_sack_judge(struct hrp_req *req, u64 now_ns)
{
	struct hrp_sack *sack = req->sack;
	u32 psn;

	if (!hrp_late_is_over(req, sack->mark_at, now_ns))
		return;
	if (sack->came)
		map_untry(sack, 0, req->psn_una, sack->came_psn);
	sack->came = false;
	if (sack_is_early(req, now_ns))
		sack->came_new = false;
	if (hrp_psn_diff(sack->end, sack->mark) <= 0 && !sack->came_new)
		return;
	for (psn = sack->begin; hrp_psn_diff(psn, sack->top) < 0;
	     psn = word_end(psn)) {
		struct hrp_sack_word *w = word_of(sack, psn);

		w->tried[0] = w->tried[1];
		w->tried[1] = 0;
	}
	sack->mark = req->psn;
	sack->mark_at = hrp_rtt_clock(now_ns);
	sack->came_new = false;
}

/*
 * First PSN from @psn on that is neither kept nor tried, or the contrary of that
 * (@found); @end if there is none before it.
 */
static u32 map_find(struct hrp_sack *sack, u32 psn, u32 end, bool found)
{
	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn)) {
		const struct hrp_sack_word *w = word_of(sack, psn);
		u64 bits = w->kept | w->tried[0] | w->tried[1];

		if (!found)
			bits = ~bits;
		bits &= bits_between(psn, end);
		if (bits)
			return hrp_psn_add(psn & ~63u, __ffs64(bits));
	}
	return end;
}

u32 hrp_sack_next(struct hrp_req *req, u32 *psn, u32 end)
{
	struct hrp_sack *sack = req->sack;
	u32 first, nr;

	hrp_sack_trim(req);
	end = before(end, sack->end);
	first = map_find(sack, *psn, end, false);
	if (hrp_psn_diff(first, end) >= 0)
		return 0;
	nr = (map_find(sack, first, end, true) - first) & HRP_PSN_MASK;
	*psn = first;
	return min(nr, RUN_MAX);
}

u32 hrp_sack_missing(const struct hrp_req *req, u32 psn, u32 end)
{
	u32 nr = (end - psn) & HRP_PSN_MASK;

	end = before(end, req->sack->end);
	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn))
		nr -= hweight64(word_of(req->sack, psn)->kept &
				bits_between(psn, end));
	return nr;
}

void hrp_sack_retry(struct hrp_req *req, u32 psn, u32 nr)
{
	u32 end = hrp_psn_add(psn, nr);

	map_untry(req->sack, 0, psn, end);
	map_untry(req->sack, 1, psn, end);
}

void hrp_sack_build_ask(struct hrp_qp *qp, struct hrp_burst *b)
{
	qp->req.ask = 0;
	hrp_burst_begin(b, qp, HRP_OPCODE_SACK_ASK, qp->req.psn_max);
	b->mem.bytes = qp->req.spray >= 2 ? sack_ask_spread : sack_ask;
	b->mem.len = sizeof(sack_ask);
	b->copy = 1;
	hrp_count(qp, HROCE_EV_SACK_ASKED);
}

bool hrp_sack_asked(struct hrp_qp *qp, const u8 *ask, u32 len)
{
	struct hrp_resp *resp = &qp->resp;

	if (qp->state < HRP_RTR || qp->state > HRP_SQE ||
	    len < sizeof(sack_ask) || memcmp(ask, sack_ask, ASK_CHECKED))
		return false;
	/* A question that comes again: the answer may be lost on its way. */
	if (resp->follows)
		hrp_set_pending(qp, HRP_PENDING_REHASH_ANSWERS);
	resp->sacks = 1;
	resp->sacks_later = !!(ask[ASK_CHECKED] & ASK_LATER);
	resp->sacks_again = !!(ask[ASK_CHECKED] & ASK_AGAIN);
	resp->follows = !!(ask[ASK_CHECKED] & ASK_FOLLOW);
	if (ask[ASK_CHECKED] & ASK_JOINS)
		hrp_set_pending(qp, HRP_PENDING_JOINS);
	resp->nak_held = 0;
	if (resp->kept && resp->nak_sent && !resp->rnr_sent)
		hrp_resp_nak(resp, HRP_NAK_PSN_SEQ);
	else if (!resp->nak_due)
		resp->nak_due = HRP_SYN_ACK | HRP_SYN_CREDIT_INVALID;
	return true;
}

/* Words of a map that begins at @psn and tells of all behind it. */
static u32 tell_words(const struct hrp_keep *keep, u32 psn)
{
	return DIV_ROUND_UP((keep->end - psn) & HRP_PSN_MASK, 64);
}

void hrp_sack_tell(struct hrp_resp *resp)
{
	struct hrp_keep *keep = resp->keep;
	u32 first = resp->psn & ~63u;
	u32 words = tell_words(keep, first);

	keep->tell = first;
	if (words <= MAP_WORDS || !resp->sacks_later)
		return;
	keep->tell_old = !keep->tell_old;
	if (!keep->tell_old) {
		keep->tell = hrp_psn_add(first, (words - LATER_WORDS) * 64);
		return;
	}
	if (hrp_psn_diff(keep->tell_next, first) > 0 &&
	    hrp_psn_diff(keep->tell_next, keep->end) < 0)
		keep->tell = keep->tell_next;
	keep->tell_next = hrp_psn_add(keep->tell, LATER_WORDS * 64);
}

/* Does the map begin at the missing request? */
static bool tells_first(const struct hrp_resp *resp)
{
	return resp->keep->tell == (resp->psn & ~63u);
}

u32 hrp_sack_len(const struct hrp_resp *resp)
{
	u32 words = tell_words(resp->keep, resp->keep->tell);

	if (tells_first(resp))
		return min(words, MAP_WORDS) * 8;
	return min(words, LATER_WORDS) * 8 + MAP_PSN_BYTES;
}

void hrp_sack_again(struct hrp_resp *resp, u32 psn)
{
	if (!resp->sacks_again)
		return;
	if (resp->again_pkts < AGAIN_MAX)
		resp->again_pkts++;
	if (resp->nak_due && !hrp_resp_greets(resp))
		return;
	resp->nak_due = HRP_SYN_ACK | HRP_SYN_CREDIT_INVALID;
	resp->nak_psn = psn;
}

void hrp_sack_fill(struct hrp_resp *resp, const struct hrp_burst *b, u8 *map)
{
	const struct hrp_keep *keep = resp->keep;
	u8 *end = map + b->mem.len;
	u64 bits = U64_MAX;
	u32 psn;

	if ((b->first.syndrome & HRP_SYN_TYPE_MASK) == HRP_SYN_ACK) {
		put_unaligned_be32(resp->nak_psn, map);
		put_unaligned_be32(resp->again_pkts, map + 4);
		resp->again_pkts = 0;
		return;
	}
	psn = keep->tell;
	if (tells_first(resp)) {
		bits = bits_from(resp->psn);
	} else {
		put_unaligned_be32(psn, map);
		map += MAP_PSN_BYTES;
	}
	for (; map < end; map += 8, psn = word_end(psn)) {
		put_unaligned_le64(hrp_keep_bits(keep, psn) & bits, map);
		bits = U64_MAX;
	}
}

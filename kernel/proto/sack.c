// SPDX-License-Identifier: GPL-2.0
/* Selective acknowledgements, see sack.h. */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/unaligned.h>
#include "psn.h"
#include "req_priv.h"
#include "resp_priv.h"
#include "rtt.h"
#include "sack.h"

/*
 * Others may use the opcode for something else. The last bytes are the version
 * and three that are reserved.
 */
static const u8 sack_ask[HRP_SACK_ASK_BYTES] = {
	'h', 'r', 'o', 'c', 1, 0, 0, 0,
};

/* All but the reserved bytes. */
#define ASK_CHECKED	5

/* Longest run of packets that are resent together. */
#define RUN_MAX		64u

/* Packets of one word of a map begin at such a PSN. */
static_assert(!((HRP_PSN_MASK + 1) % HRP_KEEP_PKTS));

static u32 word_of(u32 psn)
{
	return psn / 64 % HRP_SACK_WORDS;
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

static void map_clear(struct hrp_sack *sack, u32 psn, u32 end)
{
	while (hrp_psn_diff(psn, end) < 0) {
		u64 bits = bits_between(psn, end);
		u32 i = word_of(psn);

		sack->kept[i] &= ~bits;
		sack->tried[0][i] &= ~bits;
		sack->tried[1][i] &= ~bits;
		psn = word_end(psn);
	}
}

static void map_count(struct hrp_sack *sack)
{
	u32 i;

	sack->nr = 0;
	for (i = 0; i < HRP_SACK_WORDS; i++)
		sack->nr += hweight64(sack->kept[i]);
}

void hrp_sack_forget(struct hrp_req *req)
{
	*req->sack = (struct hrp_sack) {
		.begin = req->psn_una,
		.end = req->psn_una,
		.acked = req->psn_una,
		.asked = req->sack->asked,
		.mark = req->psn,
		.lost_psn = req->sack->lost_psn,
		.lost_at = req->sack->lost_at,
		.told = req->sack->told,
		.lost = req->sack->lost && req->psn != req->psn_una &&
			hrp_psn_diff(req->sack->lost_psn, req->psn_una) >= 0,
		.lost_due = req->sack->lost_due,
		.ahead = req->sack->ahead,
	};
}

void hrp_sack_trim(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;

	if (sack->begin == req->psn_una)
		return;
	/* Without gaps, @end may be more than half of all PSNs ago. */
	if (!hrp_sack_is_active(req) ||
	    hrp_psn_diff(req->psn_una, sack->end) >= 0) {
		hrp_sack_forget(req);
		return;
	}
	map_clear(sack, sack->begin, req->psn_una);
	sack->begin = req->psn_una;
	map_count(sack);
}

void hrp_sack_tried(struct hrp_req *req, u32 psn, u32 nr)
{
	u32 timed = (req->sack->timed_psn - psn) & HRP_PSN_MASK;
	u32 end = hrp_psn_add(psn, nr);

	/* Karn's rule */
	if (timed < nr)
		req->sack->timing = false;
	hrp_sack_trim(req);
	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn))
		req->sack->tried[1][word_of(psn)] |= bits_between(psn, end);
}

void hrp_sack_open(struct hrp_req *req, struct hrp_sack *sack)
{
	sack->asked = req->psn_una;
	sack->told = false;
	sack->lost_psn = req->psn_una;
	sack->lost_at = 0;
	sack->lost = false;
	sack->lost_due = false;
	sack->ahead = NULL;
	req->sack = sack;
	hrp_sack_forget(req);
	/* The first gap was filled before the peer was asked. */
	if (req->resent && hrp_psn_diff(req->rtx_psn, req->psn_una) > 0)
		hrp_sack_tried(req, req->psn_una,
			       min((u32)hrp_psn_diff(req->rtx_psn, req->psn_una),
				   RUN_MAX));
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

/* Has the packet that is timed arrived? */
static void sack_end_timing(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_sack *sack = qp->req.sack;
	u32 psn = sack->timed_psn;

	if (!sack->timing)
		return;
	if (hrp_psn_diff(psn, qp->req.psn_una) >= 0 &&
	    (hrp_psn_diff(psn, sack->end) >= 0 ||
	     !(sack->kept[word_of(psn)] & BIT_ULL(psn % 64))))
		return;
	sack->timing = false;
	hrp_rtt_measured(qp, sack->timed_at, sack->alone, now_ns);
}

void hrp_sack_acked(struct hrp_qp *qp, u64 now_ns)
{
	sack_end_timing(qp, now_ns);
	hrp_sack_trim(&qp->req);
}

/* One past the last packet in flight of which the maps have a bit. */
static u32 map_end(const struct hrp_req *req)
{
	u32 pkts = (req->psn_max - req->psn_una) & HRP_PSN_MASK;

	return hrp_psn_add(req->psn_una, min_t(u32, pkts, HRP_KEEP_PKTS));
}

void hrp_sack_reach(struct hrp_req *req, u32 end)
{
	struct hrp_sack *sack = req->sack;

	if (hrp_psn_diff(end, map_end(req)) > 0)
		end = map_end(req);
	if (hrp_psn_diff(end, sack->end) > 0)
		sack->end = end;
}

void hrp_sack_mark(struct hrp_req *req, u32 psn, u32 nr)
{
	struct hrp_sack *sack = req->sack;
	u32 end = hrp_psn_add(psn, nr);

	hrp_sack_trim(req);
	if (hrp_psn_diff(psn, req->psn_una) < 0)
		psn = req->psn_una;
	if (hrp_psn_diff(end, map_end(req)) > 0)
		end = map_end(req);
	if (hrp_psn_diff(psn, end) >= 0)
		return;
	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn))
		sack->kept[word_of(psn)] |= bits_between(psn, end);
	hrp_sack_reach(req, end);
	map_count(sack);
}

/*
 * Bits of requests with answers: that the peer keeps one does not mean that its
 * answers have arrived.
 */
static void map_answers(const struct hrp_req *req, u64 *map)
{
	const struct hrp_wqe *w;
	u32 psn, end;
	u32 idx;

	memset(map, 0, HRP_SACK_MAP_BYTES);
	if (!req->rd_pkts)
		return;
	for (idx = req->sq.tail; idx != req->sq.head; idx++) {
		w = hrp_sq_wqe(&req->sq, idx);
		if (!w->nr_pkts || !hrp_wqe_is_answered(w))
			continue;
		if (!w->started)
			break;
		psn = w->first_psn;
		if (hrp_psn_diff(psn, req->psn_una) < 0)
			psn = req->psn_una;
		end = hrp_psn_add(w->last_psn, 1);
		if (hrp_psn_diff(end, map_end(req)) > 0)
			end = map_end(req);
		for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn))
			map[word_of(psn)] |= bits_between(psn, end);
	}
}

void hrp_sack_take(struct hrp_qp *qp, u32 psn, const u8 *map, u32 len,
		   u64 now_ns)
{
	u64 answers[HRP_SACK_WORDS] __uninitialized;
	struct hrp_req *req = &qp->req;
	struct hrp_sack *sack = req->sack;
	u32 end = map_end(req);
	u64 bits, news = 0;
	u32 last = req->psn_una;

	/* All is sent again in any case. */
	if (req->psn != req->psn_max)
		return;
	hrp_sack_acked(qp, now_ns);
	map_answers(req, answers);
	for (; len >= 8 && hrp_psn_diff(psn, end) < 0; len -= 8, map += 8) {
		u64 *kept = &sack->kept[word_of(psn)];

		bits = get_unaligned_le64(map) & bits_between(psn, end) &
		       ~answers[word_of(psn)];
		news |= bits & ~*kept;
		*kept |= bits;
		if (bits)
			last = (psn & ~63u) + fls64(bits) - 1;
		psn = word_end(psn);
	}
	if (!news)
		return;
	if (hrp_psn_diff(last, sack->end) >= 0)
		sack->end = hrp_psn_add(last, 1);
	hrp_count(qp, HROCE_EV_SACK_RCVD);
	map_count(sack);
	sack_end_timing(qp, now_ns);
	req->troubled = 1;
	if (req->timer == HRP_TIMER_ACK)
		hrp_req_restart(req, now_ns);
}

void hrp_sack_judge(struct hrp_req *req)
{
	struct hrp_sack *sack = req->sack;

	if (hrp_psn_diff(sack->end, sack->mark) <= 0)
		return;
	memcpy(sack->tried[0], sack->tried[1], sizeof(sack->tried[0]));
	memset(sack->tried[1], 0, sizeof(sack->tried[1]));
	sack->mark = req->psn;
}

/*
 * First PSN from @psn on that is neither kept nor tried, or the contrary of that
 * (@found); @end if there is none before it.
 */
static u32 map_find(const struct hrp_sack *sack, u32 psn, u32 end, bool found)
{
	while (hrp_psn_diff(psn, end) < 0) {
		u32 i = word_of(psn);
		u64 bits = sack->kept[i] | sack->tried[0][i] |
			   sack->tried[1][i];

		if (!found)
			bits = ~bits;
		bits &= bits_between(psn, end);
		if (bits)
			return hrp_psn_add(psn & ~63u, __ffs64(bits));
		psn = word_end(psn);
	}
	return end;
}

u32 hrp_sack_next(struct hrp_req *req, u32 *psn)
{
	struct hrp_sack *sack = req->sack;
	u32 first, nr;

	hrp_sack_trim(req);
	first = map_find(sack, *psn, sack->end, false);
	if (hrp_psn_diff(first, sack->end) >= 0)
		return 0;
	nr = (map_find(sack, first, sack->end, true) - first) & HRP_PSN_MASK;
	*psn = first;
	return min(nr, RUN_MAX);
}

void hrp_sack_retry(struct hrp_req *req, u32 psn, u32 nr)
{
	u32 end = hrp_psn_add(psn, nr);

	for (; hrp_psn_diff(psn, end) < 0; psn = word_end(psn)) {
		req->sack->tried[0][word_of(psn)] &= ~bits_between(psn, end);
		req->sack->tried[1][word_of(psn)] &= ~bits_between(psn, end);
	}
}

void hrp_sack_build_ask(struct hrp_qp *qp, struct hrp_burst *b)
{
	qp->req.ask = 0;
	hrp_burst_begin(b, qp, HRP_OPCODE_SACK_ASK, qp->req.psn_max);
	b->mem.bytes = sack_ask;
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
	resp->sacks = 1;
	if (resp->kept && resp->nak_sent && !resp->rnr_sent)
		hrp_resp_nak(resp, HRP_NAK_PSN_SEQ);
	else if (!resp->nak_due)
		resp->nak_due = HRP_SYN_ACK | HRP_SYN_CREDIT_INVALID;
	return true;
}

u32 hrp_sack_len(const struct hrp_resp *resp)
{
	u32 pkts = (resp->keep->end - (resp->psn & ~63u)) & HRP_PSN_MASK;

	return min_t(u32, DIV_ROUND_UP(pkts, 64) * 8, HRP_SACK_MAP_BYTES);
}

void hrp_sack_fill(const struct hrp_resp *resp, u8 *map)
{
	u64 bits = bits_from(resp->psn);
	u32 len = hrp_sack_len(resp);
	u32 i;

	for (i = 0; i < len / 8; i++) {
		bits &= resp->keep->map[(word_of(resp->psn) + i) %
					HRP_SACK_WORDS];
		put_unaligned_le64(bits, map + i * 8);
		bits = U64_MAX;
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Completer: responses in, completions out (IBTA 9.7.5.1, 9.7.6, 9.9.2).
 *
 * A response with PSN n acknowledges every request before n; an ACK also
 * acknowledges n. An unanswered READ or atomic before n is not acknowledged,
 * since its data is missing: the response is then an implied NAK, and the
 * requester asks again from the first missing PSN, or for what is missing
 * (ahead.h).
 */
#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include "ahead.h"
#include "cc.h"
#include "damage.h"
#include "e2e.h"
#include "env.h"
#include "mtu.h"
#include "req.h"
#include "req_priv.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"
#include "table.h"

/* Limit up to which RNR delays are doubled. */
#define RNR_GROWN_NS	1000000ull
/* Doublings that take the shortest delay to RNR_GROWN_NS (table 45). */
#define RNR_ROW_MAX	7

/* PSNs from the oldest unacknowledged one to @psn. */
static u32 comp_distance(const struct hrp_req *req, u32 psn)
{
	return (psn - req->psn_una) & HRP_PSN_MASK;
}

static void rx_fail(struct hrp_rx *rx, u8 status)
{
	rx->verdict = HRP_RX_FAIL;
	rx->status = status;
}

/* Other syndromes are reserved, hence ignored. */
static bool comp_knows_syndrome(u8 syndrome)
{
	switch (syndrome & HRP_SYN_TYPE_MASK) {
	case HRP_SYN_ACK:
	case HRP_SYN_RNR:
		return true;
	case HRP_SYN_NAK:
		return syndrome <= HRP_NAK_REM_OP;
	}
	return false;
}

/*
 * Find the entry for a response @dist PSNs after the oldest unacknowledged one:
 * the entry of that PSN, or an unanswered READ or atomic before it. *@skip
 * becomes the PSNs before the entry, *@dist the distance from there.
 */
static const struct hrp_wqe *comp_find(const struct hrp_req *req, u32 *dist,
				       u32 *skip)
{
	const struct hrp_sq *sq = &req->sq;
	u32 psn = req->psn_una;
	u32 idx = sq->tail;
	const struct hrp_wqe *w;
	u32 left;

	*skip = 0;
	for (;; idx++) {
		w = hrp_sq_wqe(sq, idx);
		if (!w->nr_pkts)
			continue;
		left = ((w->last_psn - psn) & HRP_PSN_MASK) + 1;
		if (hrp_wqe_is_answered(w) || *dist < left)
			return w;
		*dist -= left;
		*skip += left;
		psn = hrp_psn_add(psn, left);
	}
}

/* Index of a packet in the answer to a READ. */
static u32 comp_read_pos(const struct hrp_wqe *w, const struct hrp_pkt *pkt)
{
	return (pkt->psn - w->first_psn) & HRP_PSN_MASK;
}

/* Index of the last packet of the response that @pkt belongs to. */
static u32 comp_read_last(const struct hrp_wqe *w, const struct hrp_pkt *pkt)
{
	return min(comp_read_pos(w, pkt) | ((1u << w->chunk_shift) - 1),
		   w->nr_pkts - 1);
}

/* Does a READ response begin and end at a valid packet? */
static bool comp_fits_read(const struct hrp_req *req, const struct hrp_wqe *w,
			   const struct hrp_pkt *pkt)
{
	u32 pos = comp_read_pos(w, pkt);
	bool last = pos == comp_read_last(w, pkt);
	bool first = pkt->info & HRP_OI_FIRST;

	if (!!(pkt->info & HRP_OI_LAST) == last) {
		if (first == hrp_req_read_begins(w, pos))
			return true;
		/* After a request for the rest, the first answer may arrive. */
		if (first && pkt->psn == req->restart_psn)
			return true;
	}
	return hrp_ahead_is_loose(req, pkt->psn);
}

static void comp_begin_read(const struct hrp_qp *qp, const struct hrp_wqe *w,
			    const struct hrp_pkt *pkt, struct hrp_rx *rx)
{
	u32 left = comp_read_last(w, pkt) - comp_read_pos(w, pkt);
	u32 offset = comp_read_pos(w, pkt) * w->mtu;
	/* Responses to ATOMIC WRITE and FLUSH are empty (A19.4). */
	u32 len = w->wqe.opcode == HROCE_WR_READ ? w->length : 0;

	if (!comp_fits_read(&qp->req, w, pkt)) {
		rx_fail(rx, HROCE_CAUSE_RESPONSE);
		return;
	}
	if (pkt->payload_len != min_t(u32, len - offset, w->mtu)) {
		rx_fail(rx, HROCE_CAUSE_RESPONSE_LENGTH);
		return;
	}
	rx->verdict = HRP_RX_ACCEPT;
	rx->fuse = 1;
	rx->mem.offset = offset;
	rx->mem.len = pkt->payload_len;
	/* A part may go on where the answer ends, if the peer is hostile. */
	if (!(pkt->info & (HRP_OI_FIRST | HRP_OI_LAST)) && left)
		rx->more = left - 1;
}

static void comp_begin_data(const struct hrp_qp *qp, const struct hrp_pkt *pkt,
			    struct hrp_rx *rx, u32 dist)
{
	const struct hrp_wqe *w = comp_find(&qp->req, &dist, &rx->skip_pkts);
	bool read = !hrp_wqe_is_atomic(w);

	if (!hrp_wqe_is_answered(w)) {
		rx_fail(rx, HROCE_CAUSE_RESPONSE);
		return;
	}
	if (dist) {
		/* What is kept fails at its turn only, and takes memory until then. */
		if (pkt->payload_len > hrp_mtu_max(qp))
			rx->drop = HROCE_DROP_LENGTH;
		else if (hrp_ahead_fits(&qp->req, pkt->psn))
			rx->verdict = HRP_RX_KEEP;
		else
			rx->verdict = HRP_RX_GO_BACK;
		return;
	}
	if (read != !!(pkt->info & HRP_OI_READ)) {
		rx_fail(rx, HROCE_CAUSE_RESPONSE);
		return;
	}
	if (read) {
		comp_begin_read(qp, w, pkt, rx);
	} else {
		rx->verdict = HRP_RX_ACCEPT;
		if (!hrp_masked_goes_on(w, pkt->orig))
			rx->mem.len = sizeof(u64);
	}
	rx->mem.sges = w->sges;
	rx->mem.nr_sges = w->wqe.nr_sges;
	rx->mem.access = HRP_ACCESS_LOCAL_WRITE;
}

/* Does an ACK repeat the one before, as the peer has more receive entries now? */
static bool comp_is_unsolicited(const struct hrp_req *req,
				const struct hrp_pkt *pkt)
{
	return req->credited && !(pkt->info & HRP_OI_EXT) &&
	       (pkt->syndrome & HRP_SYN_TYPE_MASK) == HRP_SYN_ACK &&
	       hrp_psn_add(pkt->psn, 1) == req->psn_una;
}

/*
 * An answer that comes twice was late, and is worth an ICRC. So are credits
 * (9.7.7.2).
 */
static void comp_begin_stale(const struct hrp_req *req,
			     const struct hrp_pkt *pkt, struct hrp_rx *rx)
{
	bool worth;

	if (pkt->info & (HRP_OI_READ | HRP_OI_ATOMIC))
		worth = req->sack && hrp_late_knows(&req->sack->late, pkt->psn);
	else
		worth = comp_is_unsolicited(req, pkt);
	if (worth)
		rx->verdict = HRP_RX_DUPLICATE;
	else
		rx->drop = HROCE_DROP_STALE_ACK;
}

void hrp_comp_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		    struct hrp_rx *rx)
{
	const struct hrp_req *req = &qp->req;
	u32 dist = comp_distance(req, pkt->psn);

	hrp_rx_begin(rx);
	if (!hrp_qp_is_reliable(qp) || !hrp_qp_sends(qp) ||
	    !(pkt->info & HRP_OI_RESPONSE))
		rx->drop = HROCE_DROP_OPCODE;
	else if (qp->state != HRP_RTS && qp->state != HRP_SQD)
		rx->drop = HROCE_DROP_QP_STATE;
	else if (dist >= comp_distance(req, req->psn_max))
		comp_begin_stale(req, pkt, rx);
	else if (pkt->info & (HRP_OI_READ | HRP_OI_ATOMIC))
		comp_begin_data(qp, pkt, rx, dist);
	else if (comp_knows_syndrome(pkt->syndrome))
		rx->verdict = HRP_RX_ACCEPT;
	else
		rx->drop = HROCE_DROP_STALE_ACK;
}

/* Acknowledge @n PSNs; return how many remain behind an unanswered entry. */
static u32 comp_ack(struct hrp_qp *qp, u32 n)
{
	struct hrp_req *req = &qp->req;
	const struct hrp_wqe *w;
	u32 step, left;

	while (n) {
		w = hrp_sq_wqe(&req->sq, req->sq.tail);
		/* Nor can an entry that failed locally be acknowledged. */
		if (hrp_wqe_is_answered(w) || w->status != HROCE_WC_SUCCESS)
			break;
		left = ((w->last_psn - req->psn_una) & HRP_PSN_MASK) + 1;
		step = min(n, left);
		req->psn_una = hrp_psn_add(req->psn_una, step);
		n -= step;
		if (step == left)
			hrp_req_complete(qp);
	}
	return n;
}

/*
 * Account for @nr_pkts response packets to the oldest entry, a READ or atomic.
 * A masked atomic may then need another request.
 */
static void comp_answered(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			  u32 nr_pkts)
{
	struct hrp_req *req = &qp->req;
	struct hrp_wqe *w = hrp_sq_wqe(&req->sq, req->sq.tail);
	bool last = req->psn_una == w->last_psn || hrp_wqe_is_masked(w);

	req->psn_una = hrp_psn_add(req->psn_una, nr_pkts);
	/* Both counts are 0 if the request is about to be resent. */
	req->rd_pkts -= min_t(u32, req->rd_pkts, nr_pkts);
	if (!last && !hrp_req_read_begins(w, (req->psn_una - w->first_psn) &
					  HRP_PSN_MASK))
		return;
	if (req->nr_rd_atomic)
		req->nr_rd_atomic--;
	if (!last)
		return;
	if (hrp_masked_goes_on(w, pkt->orig)) {
		hrp_masked_go_on(w, pkt->orig, req->psn_una);
		req->offset = 0;
	} else {
		hrp_req_complete(qp);
	}
}

/* What progress after a silence tells of the packets behind it. */
enum comp_rest {
	REST_FLIES,	/* nothing, or they may be on their way */
	REST_ASKED,	/* the answer to the next one will tell */
	REST_LOST,	/* the peer has none of them, or is late: one will tell */
	REST_LOST_ALL,	/* the peer has none of them, as was seen twice */
};

/*
 * Half of a round trip has passed since something was resent: this may be the answer
 * to that.
 */
static bool comp_is_answer(const struct hrp_req *req, u64 now_ns)
{
	u64 passed_ns = now_ns - min(req->timer_ns, now_ns);

	return hrp_rtt_known(req) && 2 * passed_ns > (u64)req->srtt8 << 7;
}

/*
 * After a silence, is the next packet worth resending? A peer that tells what it keeps,
 * and one that answers, need not be asked.
 */
static bool comp_may_ask(const struct hrp_req *req)
{
	return !req->resent && !req->recovering && !hrp_sack_is_active(req) &&
	       !hrp_wqe_is_answered(hrp_sq_wqe(&req->sq, req->sq.tail));
}

/* May the peer keep packets behind the gap? It need not say so once more. */
static bool comp_may_keep(const struct hrp_req *req)
{
	return req->keeps || (req->sack && req->sack->told);
}

/*
 * The peer has taken just the packets that were resent apart, and has none behind
 * them. Or it has more than was sent again after a short silence: it is late, and
 * the rest may follow.
 */
static enum comp_rest comp_rest_of(const struct hrp_req *req, s32 ahead,
				   u64 now_ns)
{
	/* After long silence, a few packets at a time might not be enough. */
	if (req->went_back)
		return ahead > 0 && !req->recovering &&
		       req->psn_una != req->psn_max &&
		       req->backoff < HRP_LONG_SILENCE ? REST_LOST : REST_FLIES;
	if (!(req->probed || req->resent) || req->rtx_pkts ||
	    hrp_psn_diff(req->psn, req->psn_una) <= 0)
		return REST_FLIES;
	if (req->psn_una != req->rtx_psn)
		return req->probed && comp_may_ask(req) &&
		       hrp_psn_diff(req->psn_una, req->rtx_psn) > 0 &&
		       comp_is_answer(req, now_ns) ? REST_ASKED : REST_FLIES;
	if (req->probed || req->recovering || comp_may_keep(req))
		return REST_LOST;
	return comp_is_answer(req, now_ns) ? REST_LOST_ALL : REST_FLIES;
}

/*
 * The requester has gone back, and the peer has @nr_pkts, more than it was sent again:
 * nothing was lost. The window becomes what it was, unless a part is missing after
 * long silence, or a test has made it smaller. If the peer keeps packets, what was
 * resent may have filled a gap: then it has to tell that it came twice.
 */
static void comp_undo(struct hrp_req *req, u32 nr_pkts, u64 now_ns)
{
	u32 cwnd_pkts = min_t(u32, req->mark_psn, hrp_req_window_max(req));

	if (hrp_damage_is_tested(req) ||
	    (req->psn_una != req->psn_max && req->backoff >= HRP_LONG_SILENCE))
		return;
	if (!comp_may_keep(req) || !comp_is_answer(req, now_ns))
		req->cwnd_pkts = max(req->cwnd_pkts, cwnd_pkts);
	else if (req->sack)
		hrp_late_doubts(req, (req->psn_una - nr_pkts) & HRP_PSN_MASK,
				cwnd_pkts);
}

/*
 * The timeout was not too short if the peer has reported a loss. Or if it has taken
 * what was sent again after silence, and still lacks a part of what was sent before. But
 * that may be an answer to the first copies, over a path that has become longer: it
 * counts once, then the time grows until a packet is measured.
 */
static void comp_ease(struct hrp_req *req, u64 now_ns)
{
	bool lost = req->went_back && !req->eased &&
		    req->psn_una != req->psn_max && comp_is_answer(req, now_ns);

	if (!req->backoff || !(req->recovering || lost))
		return;
	req->eased |= !req->recovering;
	req->backoff--;
}

/* Progress of @nr_pkts after a loss, a probe or another delay. */
static noinline enum comp_rest comp_recover(struct hrp_qp *qp, u32 nr_pkts,
					    u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	s32 ahead = hrp_psn_diff(req->psn_una, req->psn);
	enum comp_rest rest = comp_rest_of(req, ahead, now_ns);

	if (req->went_back && !req->recovering && ahead > 0)
		comp_undo(req, nr_pkts, now_ns);
	comp_ease(req, now_ns);
	if (req->recovering) {
		if (hrp_psn_diff(req->psn_una, req->mark_psn) >= 0) {
			req->recovering = 0;
			if (req->hole_shift && rest == REST_FLIES)
				req->hole_shift--;
		}
		if (ahead > 0 && ahead < (s32)nr_pkts && !req->again)
			hrp_hole_learn(req, nr_pkts - ahead);
	}
	if (req->probed)
		hrp_rtt_probed(req, now_ns);
	/* Of many answers that are asked for again, the last question tells little. */
	if (req->resent && !hrp_ahead_of(req))
		hrp_rtt_resent(qp, now_ns);
	if (req->sack)
		hrp_sack_acked(qp, now_ns);
	req->went_back = 0;
	req->resent = 0;
	req->probed = 0;
	req->refused = 0;
	req->retries = req->retry_cnt;
	req->rnr_retries = req->rnr_retry;
	req->rnr_row = 0;
	req->troubled = req->recovering || hrp_sack_is_active(req) ||
			hrp_ahead_of(req) || req->ask ||
			hrp_hole_lost_waits(req) || hrp_spray_evicts(req);
	if (req->lost_at && !req->recovering && rest == REST_FLIES)
		hrp_loss_end(qp, now_ns);
	return rest;
}

/* @nr_pkts were acknowledged: the peer is alive and ready. Return: what of the rest. */
static __always_inline enum comp_rest
comp_progress(struct hrp_qp *qp, u32 nr_pkts, u64 now_ns)
{
	struct hrp_req *req = &qp->req;
	enum comp_rest rest = REST_FLIES;

	hrp_cc_acked(qp, nr_pkts, now_ns);
	if (req->timing && hrp_psn_diff(req->psn_una, req->mark_psn) > 0)
		hrp_rtt_end(qp, now_ns);
	if (unlikely(req->troubled))
		rest = comp_recover(qp, nr_pkts, now_ns);
	/* Do not resend packets acknowledged meanwhile. */
	if (hrp_psn_diff(req->psn, req->psn_una) < 0)
		hrp_req_rewind(req);
	hrp_req_restart(req, now_ns);
	return rest;
}

/* Packets in flight, also if the requester has just gone back. */
static u32 comp_flight(const struct hrp_req *req)
{
	return (req->psn_max - req->psn_una) & HRP_PSN_MASK;
}

/*
 * The window after going back by all that is in flight: half of that. If no
 * packets wait on the path, it is as much as arrived since the last loss, if that
 * is more: then half of what is sent is new.
 */
static void comp_shrink(struct hrp_req *req)
{
	u32 flight = comp_flight(req);
	u32 pkts = flight / 2;

	if (req->cc_times && !req->cc_queued)
		pkts = clamp((req->psn_una - req->rtx_psn) & HRP_PSN_MASK, pkts,
			     flight);
	hrp_req_shrink(req, pkts);
}

/*
 * A sequence NAK, or an implied one. Each loss causes many of them: act on the
 * first, and on none during an RNR delay. One that comes a round trip after the
 * packet was resent reports that it was lost again, or the round trip has become
 * longer. While the requester waits for memory, only rewind.
 *
 * The first one shows that the peer is alive, so the local ACK timeout begins
 * anew. Further ones without progress do not.
 */
static void comp_go_back(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	if (req->timer == HRP_TIMER_MEM) {
		hrp_req_rewind(req);
		return;
	}
	if (req->timer == HRP_TIMER_RNR || hrp_hole_fill_known(qp, now_ns) ||
	    (req->resent && !hrp_rtt_has_passed(req, now_ns)))
		return;
	hrp_loss_begin(req, now_ns);
	if (!req->resent)
		req->since = hrp_req_clock(now_ns);
	else
		hrp_rtt_back_off(req);
	if (hrp_hole_fill(qp, now_ns))
		return;
	req->again = req->recovering;
	/* The peer keeps requests; answers are kept here. */
	if (!hrp_wqe_is_answered(hrp_sq_wqe(&req->sq, req->sq.tail)))
		hrp_spray_dropped(req);
	/* Later, only one packet is in flight: that says nothing. */
	if (!req->went_back)
		comp_shrink(req);
	req->rtx_psn = req->psn_una;
	hrp_hole_asks(req);
	hrp_req_go_back(qp, now_ns);
	req->recovering = 1;
	req->mark_psn = req->psn_max;
}

/*
 * Wait at least as long as the peer asks for (9.7.5.2.8), and twice as long
 * with each RNR NAK in a row: the receiver may need this CPU.
 */
static u64 comp_rnr_delay_ns(struct hrp_req *req, u8 code)
{
	u64 delay_ns = hrp_rnr_delay_ns(code);

	if (delay_ns < RNR_GROWN_NS)
		delay_ns = min(delay_ns << req->rnr_row, RNR_GROWN_NS);
	if (req->rnr_row < RNR_ROW_MAX)
		req->rnr_row++;
	return delay_ns;
}

static void comp_rnr(struct hrp_qp *qp, u8 code, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	if (req->timer == HRP_TIMER_RNR)
		return;
	hrp_count(qp, HROCE_EV_RNR_RCVD);
	req->troubled = 1;
	if (req->rnr_retry != HRP_INFINITE_RNR_RETRY) {
		if (!req->rnr_retries) {
			hrp_req_fail(qp, HROCE_CAUSE_PEER | HRP_SYN_RNR |
					 code);
			return;
		}
		req->rnr_retries--;
	}
	/* An RNR NAK proves that the peer is alive. */
	req->retries = req->retry_cnt;
	hrp_req_rewind(req);
	/* Continue to wait for memory. */
	if (req->timer == HRP_TIMER_MEM)
		return;
	req->timer = HRP_TIMER_RNR;
	req->timer_ns = now_ns + comp_rnr_delay_ns(req, code);
}

static void comp_nak(struct hrp_qp *qp, u8 syndrome, u64 now_ns)
{
	switch (syndrome) {
	case HRP_NAK_PSN_SEQ:
		hrp_count(qp, HROCE_EV_NAK_SEQ_RCVD);
		comp_go_back(qp, now_ns);
		break;
	case HRP_NAK_INV_REQ:
	case HRP_NAK_REM_ACCESS:
	case HRP_NAK_REM_OP:
		hrp_req_fail(qp, HROCE_CAUSE_PEER | syndrome);
		break;
	}
}

/*
 * Packets behind those that were resent apart were lost, too. After silence this
 * may be a peer that answers late, one by one: the window stays, and a packet is
 * sent each time.
 */
static void comp_lose_more(struct hrp_qp *qp, enum comp_rest rest, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	hrp_loss_begin(req, now_ns);
	if (rest == REST_ASKED) {
		if (hrp_hole_probe(req))
			hrp_req_resends(qp, now_ns);
		return;
	}
	if (rest == REST_LOST_ALL) {
		hrp_req_shrink(req, req->cwnd_pkts * 3 / 4);
		hrp_req_resend_all(qp, now_ns);
		return;
	}
	if (req->recovering && hrp_hole_fill(qp, now_ns))
		return;
	if (req->recovering)
		hrp_req_shrink(req, comp_flight(req) / 2);
	req->again = 1;
	hrp_req_go_back(qp, now_ns);
}

/*
 * A request is missing at the peer, and all before it have been executed. If it
 * says that it keeps what is behind, that need not be sent again.
 */
static noinline void comp_note_nak(struct hrp_req *req,
				   const struct hrp_pkt *pkt, u64 now_ns)
{
	if (hrp_psn_diff(pkt->psn, req->psn_una) < 0)
		return;
	if (pkt->info & HRP_OI_EXT && pkt->payload_len)
		hrp_hole_lost(req, pkt->psn, now_ns);
	else
		req->sack->lost = false;
}

void hrp_comp_credits(struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	if ((pkt->syndrome & HRP_SYN_TYPE_MASK) == HRP_SYN_ACK &&
	    !(pkt->info & HRP_OI_EXT))
		hrp_e2e_acked(&qp->req, pkt);
}

static void comp_commit_ack(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			    u64 now_ns)
{
	u8 type = pkt->syndrome & HRP_SYN_TYPE_MASK;
	struct hrp_req *req = &qp->req;
	enum comp_rest rest = REST_FLIES;
	u32 n, held;

	hrp_comp_credits(qp, pkt);
	n = comp_distance(req, pkt->psn) + (type == HRP_SYN_ACK);
	held = comp_ack(qp, n);
	if (held != n)
		rest = comp_progress(qp, n - held, now_ns);
	if (held && type == HRP_SYN_ACK && req->sack)
		hrp_ahead_acked(req, hrp_psn_add(pkt->psn, 1));
	if (unlikely(pkt->syndrome == HRP_NAK_PSN_SEQ) && req->sack)
		comp_note_nak(req, pkt, now_ns);
	if (held)
		comp_go_back(qp, now_ns);
	else if (type == HRP_SYN_RNR)
		comp_rnr(qp, pkt->syndrome & HRP_SYN_VALUE_MASK, now_ns);
	else if (type == HRP_SYN_NAK)
		comp_nak(qp, pkt->syndrome, now_ns);
	else if (unlikely(rest != REST_FLIES) && req->timer == HRP_TIMER_ACK)
		comp_lose_more(qp, rest, now_ns);
}

/*
 * The peer has acknowledged the requests behind the answer that was missing.
 * Return: PSNs.
 */
static u32 comp_ack_behind(struct hrp_qp *qp)
{
	struct hrp_req *req = &qp->req;
	u32 n;

	if (!hrp_sack_is_active(req) ||
	    hrp_psn_diff(req->sack->acked, req->psn_una) <= 0)
		return 0;
	n = (req->sack->acked - req->psn_una) & HRP_PSN_MASK;
	return n - comp_ack(qp, n);
}

static void comp_accept(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			u32 nr_pkts, u64 now_ns)
{
	struct hrp_req *req = &qp->req;

	/* The memory arrived before hrp_req_mem_ready(). */
	if (unlikely(req->timer == HRP_TIMER_MEM))
		req->timer = HRP_TIMER_OFF;
	if (pkt->info & HRP_OI_AETH)
		hrp_e2e_acked(req, pkt);
	comp_answered(qp, pkt, nr_pkts);
	if (likely(!req->troubled)) {
		comp_progress(qp, nr_pkts, now_ns);
		return;
	}
	nr_pkts += comp_ack_behind(qp);
	comp_progress(qp, nr_pkts, now_ns);
	if (!req->rtx_pkts)
		hrp_hole_more(qp, now_ns);
}

static void comp_commit_data(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			     const struct hrp_rx *rx, u64 now_ns, u8 status)
{
	struct hrp_req *req = &qp->req;
	u32 held;

	if (unlikely(rx->verdict == HRP_RX_DUPLICATE)) {
		hrp_count(qp, HROCE_DROP_STALE_ACK);
		hrp_late_again(qp, pkt->psn, 0, now_ns);
		return;
	}
	held = comp_ack(qp, rx->skip_pkts);
	if (held != rx->skip_pkts)
		comp_progress(qp, rx->skip_pkts - held, now_ns);
	/* The requester will fail the entry that it cannot send. */
	if (held)
		return;

	if (rx->verdict == HRP_RX_GO_BACK || rx->verdict == HRP_RX_KEEP) {
		if (rx->verdict == HRP_RX_KEEP && status == HROCE_WC_SUCCESS)
			hrp_ahead_kept(qp, pkt->psn, now_ns);
		comp_go_back(qp, now_ns);
	} else if (rx->verdict == HRP_RX_FAIL) {
		hrp_req_fail(qp, rx->status);
	} else if (status == HRP_MEM_FAULT) {
		/* Responses are ignored until the memory is present. */
		hrp_req_rewind(req);
		hrp_req_wait_mem(req, true);
	} else if (status != HROCE_WC_SUCCESS) {
		hrp_req_fail(qp, status);
	} else {
		comp_accept(qp, pkt, rx->nr_pkts, now_ns);
	}
}

/*
 * Must the caller run the requester or update the timer? @doubts: something was
 * wrong before, or times were doubled.
 */
static bool comp_wakes_requester(const struct hrp_qp *qp, bool doubts)
{
	const struct hrp_req *req = &qp->req;
	const struct hrp_sq *sq = &req->sq;

	if (qp->state != HRP_RTS)
		return qp->state == HRP_SQD;
	/* The timer may be armed for a later deadline. */
	if (req->timer == HRP_TIMER_RNR)
		return true;
	/* What is resent apart may be all there is to send, and waits become shorter. */
	if (unlikely(doubts || req->troubled) && req->timer != HRP_TIMER_OFF)
		return true;
	/* After an empty ring, the next post kicks or the poller sees it. */
	return sq->next != sq->head || !(sq->kick_asked || sq->polled);
}

bool hrp_comp_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		     const struct hrp_rx *rx, u64 now_ns, u8 status)
{
	bool doubts = qp->req.troubled || qp->req.backoff;

	if (pkt->info & (HRP_OI_READ | HRP_OI_ATOMIC))
		comp_commit_data(qp, pkt, rx, now_ns, status);
	else if (unlikely(rx->verdict == HRP_RX_DUPLICATE))
		hrp_comp_credits(qp, pkt);
	else
		comp_commit_ack(qp, pkt, now_ns);
	return comp_wakes_requester(qp, doubts);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Requester: work requests in, bursts of packets out (IBTA 9.7.2, 9.7.3).
 *
 * For RC, psn_una <= psn <= psn_max. Entry sq.next is being sent; req.offset of
 * its PSNs have been. Going back rewinds psn to psn_una, and sq.next and offset
 * with it, and clears the counts for [psn_una, psn): nr_rd_atomic and rd_pkts.
 * Entries keep their PSNs when they are sent again.
 *
 * UC and UD wait for nothing: an entry is complete when its last packet is out,
 * so psn_una, psn and psn_max are equal.
 */
#include <linux/types.h>
#include <linux/compiler.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include "ahead.h"
#include "cc.h"
#include "e2e.h"
#include "env.h"
#include "mtu.h"
#include "pace.h"
#include "req.h"
#include "req_build.h"
#include "req_priv.h"
#include "req_room.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"

/*
 * Most entries that one call processes without a burst; a local operation takes
 * about a microsecond.
 */
#define REQ_STEPS	16

/*
 * A local operation waits while this many entries are sent or executed and not
 * complete: one response may complete all of them.
 */
#define REQ_MAX_AHEAD	1024

/* Result of a step with the entry at the head of the queue. */
enum req_step {
	STEP_BURST,	/* there is a burst to send */
	STEP_NEXT,	/* done with it, look at the next one */
	STEP_WAIT,	/* something must happen first */
	STEP_STOP,	/* the queue pair is in error */
};

void hrp_req_reset(struct hrp_qp *qp)
{
	if (hrp_qp_sends(qp))
		hrp_sq_reset(&qp->req.sq);
	qp->req.gated = !hrp_qp_sends(qp) || hrp_pace_limits(&qp->req);
	hrp_req_start(qp, 0);
}

void hrp_req_start(struct hrp_qp *qp, u32 psn)
{
	struct hrp_req *req = &qp->req;

	req->psn = psn & HRP_PSN_MASK;
	req->psn_una = req->psn;
	req->psn_max = req->psn;
	req->offset = 0;
	req->unasked_pkts = 0;
	req->rd_pkts = 0;
	req->nr_rd_atomic = 0;
	req->retries = req->retry_cnt;
	req->rnr_retries = req->rnr_retry;
	req->rnr_row = 0;
	req->went_back = 0;
	req->resent = 0;
	req->probed = 0;
	req->recovering = 0;
	req->again = 0;
	req->timing = 0;
	req->troubled = 0;
	req->lost_at = 0;
	req->keeps = 0;
	req->hole_shift = 0;
	req->backoff = 0;
	req->srtt8 = 0;
	req->rttvar4 = 0;
	req->rtx_psn = req->psn;
	req->rtx_pkts = 0;
	req->refused = 0;
	req->ask = 0;
	req->mtu_ask = 0;
	req->mtu_wait = 0;
	req->agreed_mtu = 0;
	req->sq.ssn = 0;
	req->credited = 0;
	hrp_spray_reset(req);
	req->timer = HRP_TIMER_OFF;
	hrp_sack_start(req);
	hrp_cc_start(qp);
}

void hrp_req_rewind(struct hrp_req *req)
{
	const struct hrp_sq *sq = &req->sq;
	const struct hrp_wqe *w = hrp_sq_wqe(sq, sq->tail);

	req->sq.next = sq->tail;
	req->psn = req->psn_una;
	req->offset = 0;
	if (sq->tail != sq->head && w->started)
		req->offset = (req->psn_una - w->first_psn) & HRP_PSN_MASK;
	req->unasked_pkts = 0;
	req->rd_pkts = 0;
	req->nr_rd_atomic = 0;
	req->rtx_pkts = 0;
	req->timing = 0;
	if (req->sack)
		hrp_sack_forget(req);
}

void hrp_req_shrink(struct hrp_req *req, u32 cwnd_pkts)
{
	cwnd_pkts = max(cwnd_pkts, min_t(u32, HRP_CWND_MIN, req->window_pkts));
	req->cwnd_pkts = min(req->cwnd_pkts, cwnd_pkts);
	req->cwnd_rest = 0;
	req->cc_start = 0;
}

/* The completion may have overrun its CQ: then it is ERR already, not SQE. */
static void req_stop(struct hrp_qp *qp, u8 state)
{
	if (qp->state != HRP_ERR)
		qp->state = state;
	hrp_req_stop_timers(&qp->req);
	hrp_set_pending(qp, state == HRP_SQE ? HRP_PENDING_SQ_ERROR :
					       HRP_PENDING_ERROR);
}

void hrp_req_fail(struct hrp_qp *qp, u8 result)
{
	hrp_sq_report(qp, hrp_sq_release(&qp->req.sq), result);
	qp->req.psn_una = qp->req.psn_max;
	hrp_req_rewind(&qp->req);
	req_stop(qp, hrp_qp_is_reliable(qp) ? HRP_ERR : HRP_SQE);
}

static void req_start_message(struct hrp_req *req, struct hrp_wqe *w)
{
	if (w->started)
		return;
	w->started = true;
	w->first_psn = req->psn;
	w->last_psn = hrp_psn_add(req->psn, w->nr_pkts - 1);
}

/* The peer counts each request that is new, see e2e.h. */
static void req_count_request(struct hrp_req *req)
{
	if (req->psn == req->psn_max)
		req->sq.ssn++;
}

/* Mark @n PSNs of the entry as sent. */
static void req_advance(struct hrp_req *req, const struct hrp_wqe *w, u32 n)
{
	req->burst_idx = req->sq.next;
	req->psn = hrp_psn_add(req->psn, n);
	if (hrp_psn_diff(req->psn, req->psn_max) > 0)
		req->psn_max = req->psn;
	req->offset += n;
	if (req->offset == w->nr_pkts) {
		req->sq.next++;
		req->offset = 0;
	}
}

/* The entry behind the one that is being sent, if it may be begun; or NULL. */
static __always_inline struct hrp_wqe *req_behind(struct hrp_qp *qp)
{
	struct hrp_sq *sq = &qp->req.sq;

	if (qp->state != HRP_RTS)
		return NULL;
	if (sq->next + 1 == sq->head) {
		if (sq->posted == sq->head)
			return NULL;
		hrp_sq_take(qp);
	}
	return hrp_sq_wqe(sq, sq->next + 1);
}

/*
 * Will another SEND or WRITE follow this entry at once? If it cannot be sent
 * after all, req_ask_again() corrects that.
 */
static bool req_is_followed(struct hrp_qp *qp)
{
	const struct hrp_wqe *w = req_behind(qp);

	return w && w->status == HROCE_WC_SUCCESS &&
	       w->wqe.opcode < ARRAY_SIZE(data_ops) &&
	       !(w->wqe.flags & HROCE_WRF_FENCE) &&
	       !hrp_e2e_is_limited(&qp->req, w);
}

/*
 * Request an acknowledgement if the packet is timed (@alone), if nothing else
 * opens the window that is @full, after req_ask_pkts(), and at the end of a
 * message (@end) if no other follows at once.
 */
static void req_ask_ack(struct hrp_qp *qp, struct hrp_wqe *w,
			struct hrp_burst *b, bool end, bool full, bool alone)
{
	struct hrp_req *req = &qp->req;
	u32 unasked = req->unasked_pkts + b->nr_pkts;
	bool ask;

	/*
	 * Where gaps are filled, each packet that fills the window may be the
	 * one whose acknowledgement tells of the next. If they always asked,
	 * and each acknowledgement made room for one, all packets would have
	 * frames and acknowledgements of their own.
	 */
	ask = alone || (full && req->troubled) ||
	      unasked >= req_ask_pkts(req, full);
	if (!ask && end)
		ask = !req_is_followed(qp);
	w->unasked = end && !ask;
	b->ackreq_last = ask;
	req->unasked_pkts = ask ? 0 : unasked;
}

/*
 * The entry at @idx, which was to request the acknowledgement of earlier ones,
 * will not be sent. Resend those, so that their last one requests it.
 */
static bool req_ask_again(struct hrp_req *req, u32 idx)
{
	if (idx == req->sq.tail || !hrp_sq_wqe(&req->sq, idx - 1)->unasked)
		return false;
	hrp_req_rewind(req);
	return true;
}

/*
 * What of a limited message may be sent now. Its packets leave one by one, and what
 * is sent again takes none along that is new.
 */
static noinline u32 req_limit(struct hrp_qp *qp, const struct hrp_wqe *w,
			      u32 room)
{
	u32 again = (qp->req.psn_max - qp->req.psn) & HRP_PSN_MASK;

	if (again)
		return min(room, again);
	room = min(room, hrp_e2e_room(&qp->req, w));
	if (room && !w->started)
		hrp_count(qp, HROCE_EV_E2E_LIMITED);
	return room;
}

/* May a SEND or WRITE share a burst with others? */
static bool req_may_couple(const struct hrp_wqe *w)
{
	return w->nr_pkts == 1 && w->length &&
	       (w->wqe.nr_sges == 1 || w->wqe.flags & HROCE_WRF_INLINE);
}

/* May @w follow in the burst of @before? Only the last may be solicited. */
static bool req_may_follow(const struct hrp_req *req,
			   const struct hrp_wqe *before,
			   const struct hrp_wqe *w)
{
	/* Their copies are an array, but for the end of the ring. */
	return w > before && w->status == HROCE_WC_SUCCESS &&
	       w->wqe.opcode == before->wqe.opcode &&
	       req_may_couple(w) && w->length == before->length &&
	       !((w->wqe.flags ^ before->wqe.flags) & HROCE_WRF_INLINE) &&
	       !req_is_solicited(before) &&
	       !(w->wqe.flags & HROCE_WRF_FENCE) &&
	       !hrp_e2e_is_limited(req, w);
}

/*
 * Add the messages that are like @w, of which @b is, as far as there is @room.
 * Return: the last one, which is yet to be marked as sent.
 */
static noinline struct hrp_wqe *req_couple(struct hrp_qp *qp, struct hrp_wqe *w,
					   struct hrp_burst *b, u32 room)
{
	u32 max = req_train_max(qp, w->length, room);
	const struct hroce_sq_wqe *msgs = &w->wqe;
	struct hrp_req *req = &qp->req;
	struct hrp_wqe *next;

	for (; b->nr_pkts < max; b->nr_pkts++) {
		next = req_behind(qp);
		if (!next || !req_may_follow(req, w, next))
			break;
		w->unasked = true;
		req_advance(req, w, 1);
		w = next;
		req->sq.ssn++;
		req_start_message(req, w);
	}
	if (b->nr_pkts == 1)
		return w;
	b->msgs = msgs;
	b->mtu = w->length;
	b->op_middle = b->first.opcode;
	b->op_last = b->first.opcode;
	b->se_last = req_is_solicited(w);
	b->mem.nr_sges = b->nr_pkts;
	b->mem.stride = req->sq.copy_stride;
	b->mem.one.length = w->length;
	b->mem.len = b->nr_pkts * w->length;
	return w;
}

/* SEND and WRITE */
static enum req_step req_data(struct hrp_qp *qp, struct hrp_wqe *w,
			      struct hrp_burst *b, bool alone)
{
	u32 n = min_t(u32, w->nr_pkts - qp->req.offset, qp->req.burst_pkts);
	bool reliable = hrp_qp_is_reliable(qp);
	struct hrp_req *req = &qp->req;
	bool limited = false;
	u32 room = n;
	bool end;

	if (reliable) {
		room = req_room(req);
		limited = hrp_e2e_is_limited(req, w);
		if (unlikely(limited)) {
			room = req_limit(qp, w, room);
			alone |= req->psn == req->psn_max;
		}
		n = min3(n, room, alone ? 1u : n);
	}
	if (!n)
		return STEP_WAIT;
	if (!w->started)
		req->sq.ssn++;
	req_start_message(req, w);
	end = req->offset + n == w->nr_pkts;

	req_set_data(qp, w, b, req->psn, req->offset, n);
	/* The entry may complete before the frame has left. */
	if (!reliable || req->psn != req->psn_max)
		b->copy = 1;
	/* Nothing follows what is sent again. */
	if (unlikely(limited))
		alone |= hrp_psn_add(req->psn, n) == req->psn_max;
	else if (req->sq.posted - req->sq.next > 1 && reliable && !alone &&
		 req->psn == req->psn_max && req_may_couple(w))
		w = req_couple(qp, w, b, room);
	if (reliable)
		req_ask_ack(qp, w, b, end, b->nr_pkts == room, alone);

	req_advance(req, w, n);
	if (!reliable) {
		req->psn_una = req->psn;
		req->psn_max = req->psn;
	}
	return STEP_BURST;
}

/*
 * Divide the rest of a READ into requests, so that a few of them fill the
 * congestion window. What may have to be requested again stays divided as it
 * is: a responder repeats the answer to one request or a part of that.
 */
static void req_divide_read(const struct hrp_req *req, struct hrp_wqe *w)
{
	u32 reads, pkts;

	if (w->started && req->psn_una != req->psn_max)
		return;
	reads = max(hrp_spray_paths(req), HRP_READS_PER_CWND);
	reads = clamp((u32)req->max_rd_atomic, 1u, reads);
	pkts = max(req->cwnd_pkts / reads, 1u << HRP_READ_MIN_SHIFT);
	w->chunk_shift = min_t(u32, ilog2(pkts), HRP_READ_MAX_SHIFT);
	if (req->offset)
		w->chunk_shift = min_t(u32, w->chunk_shift, __ffs(req->offset));
}

static enum req_step req_read(struct hrp_qp *qp, struct hrp_wqe *w,
			      struct hrp_burst *b)
{
	struct hrp_req *req = &qp->req;
	u32 dist = hrp_req_dist(req);
	u32 n;

	if (!req->burst_pkts || req_rd_is_full(req))
		return STEP_WAIT;
	req_divide_read(req, w);
	n = 1u << w->chunk_shift;
	n -= req->offset & (n - 1);
	n = min(n, w->nr_pkts - req->offset);
	/* A request for more than the window may be sent alone. */
	if (req->rd_pkts && req->rd_pkts + n > req_read_window(req) &&
	    !req_may_try(req))
		return STEP_WAIT;
	if (n > REQ_PSN_ROOM - dist || hrp_pace_holds_read(req))
		return STEP_WAIT;
	req_start_message(req, w);
	if (!hrp_req_read_begins(w, req->offset))
		req->restart_psn = req->psn;

	req_set_read(qp, w, b, req->psn, req->offset, n);
	req_count_request(req);
	req->nr_rd_atomic++;
	req->rd_pkts += n;
	req->unasked_pkts = 0;
	req_advance(req, w, n);
	return STEP_BURST;
}

/* Atomics, ATOMIC WRITE and FLUSH: one request packet, one response. */
static enum req_step req_single(struct hrp_qp *qp, struct hrp_wqe *w,
				struct hrp_burst *b)
{
	struct hrp_req *req = &qp->req;

	/* A masked atomic waits for the answer to its last guess. */
	if (!req->burst_pkts || req->offset || req_rd_is_full(req) ||
	    hrp_req_dist(req) >= REQ_PSN_ROOM)
		return STEP_WAIT;
	/* After going back, one answer shows that the peer is there. */
	if (unlikely(req->went_back) && req->nr_rd_atomic && !req_may_try(req))
		return STEP_WAIT;
	req_start_message(req, w);
	req_set_single(qp, w, b, req->psn);
	req_count_request(req);
	req->nr_rd_atomic++;
	req->rd_pkts++;
	req->unasked_pkts = 0;
	req_advance(req, w, 1);
	return STEP_BURST;
}

static enum req_step req_local(struct hrp_qp *qp, struct hrp_wqe *w)
{
	struct hrp_sq *sq = &qp->req.sq;

	if (!w->done) {
		if (sq->next - sq->tail >= REQ_MAX_AHEAD)
			return STEP_WAIT;
		w->status = hrp_env_local_op(qp, w);
		if (w->status != HROCE_WC_SUCCESS)
			return STEP_NEXT;
		w->done = true;
	}
	sq->next++;
	if (sq->tail == sq->next - 1)
		hrp_req_complete(qp);
	return STEP_NEXT;
}

static enum req_step req_step(struct hrp_qp *qp, struct hrp_wqe *w,
			      struct hrp_burst *b, bool alone)
{
	struct hrp_req *req = &qp->req;

	if (req_must_be_oldest(w) && req->sq.tail != req->sq.next)
		return STEP_WAIT;
	if (w->status != HROCE_WC_SUCCESS) {
		hrp_req_fail(qp, w->status);
		return STEP_STOP;
	}
	if (req_is_fenced(req, w))
		return STEP_WAIT;

	switch ((enum hroce_wr_op)w->wqe.opcode) {
	case HROCE_WR_SEND:
	case HROCE_WR_SEND_IMM:
	case HROCE_WR_SEND_INV:
	case HROCE_WR_WRITE:
	case HROCE_WR_WRITE_IMM:
		return req_data(qp, w, b, alone);
	case HROCE_WR_READ:
		return req_read(qp, w, b);
	case HROCE_WR_CMP_SWAP:
	case HROCE_WR_FETCH_ADD:
	case HROCE_WR_ATOMIC_WRITE:
	case HROCE_WR_FLUSH:
	case HROCE_WR_MASKED_CMP_SWAP:
	case HROCE_WR_MASKED_FETCH_ADD:
		return req_single(qp, w, b);
	case HROCE_WR_LOCAL_INV:
	case HROCE_WR_REG_MR:
	case HROCE_WR_BIND_MW:
	case HROCE_WR_NR:
		break;
	}
	return req_local(qp, w);
}

bool hrp_req_is_drained(const struct hrp_req *req)
{
	const struct hrp_sq *sq = &req->sq;
	const struct hrp_wqe *w;

	if (sq->tail != sq->next)
		return false;
	if (sq->next == sq->head)
		return true;
	w = hrp_sq_wqe(sq, sq->next);
	return !w->started && !w->done;
}

static void req_check_drained(struct hrp_qp *qp)
{
	struct hrp_req *req = &qp->req;

	if (!req->drained_event || !hrp_req_is_drained(req))
		return;
	req->drained_event = 0;
	hrp_set_pending(qp, HRP_PENDING_SQ_DRAINED);
}

void hrp_req_drain(struct hrp_qp *qp, bool notify)
{
	qp->req.drained_event = notify;
	/* Who sends nothing is not asked for the next burst, where it is noticed. */
	if (!hrp_qp_sends(qp))
		req_check_drained(qp);
}

/* The entry to process next; NULL if there is none, with the result in @ret. */
static struct hrp_wqe *req_entry(struct hrp_qp *qp, enum hrp_next *ret)
{
	struct hrp_sq *sq = &qp->req.sq;
	struct hrp_wqe *w = NULL;
	enum hrp_look look;

	if (sq->next != sq->head)
		w = hrp_sq_wqe(sq, sq->next);
	if (qp->state == HRP_SQD && !(w && (w->started || w->done))) {
		if (req_ask_again(&qp->req, sq->next))
			return hrp_sq_wqe(sq, sq->next);
		req_check_drained(qp);
		*ret = HRP_NEXT_WAIT;
		return NULL;
	}
	if (w)
		return w;

	*ret = HRP_NEXT_IDLE;
	look = hrp_sq_look(sq);
	if (look == HRP_LOOK_EMPTY && !sq->kick_asked) {
		WRITE_ONCE(sq->polled, sq->watched);
		if (!sq->polled) {
			hrp_sq_ask_kick(sq);
			look = hrp_sq_look(sq);
		}
	}
	if (look == HRP_LOOK_POSTED)
		return hrp_sq_take(qp);
	if (look == HRP_LOOK_CORRUPT) {
		req_stop(qp, HRP_ERR);
		hrp_set_pending(qp, HRP_PENDING_QP_FATAL);
	}
	return NULL;
}

/*
 * The next packets to resend, or to ask for again, at @rtx_psn, of one entry.
 * Return: false if there are none, or if they were acknowledged meanwhile.
 */
static bool req_resend(struct hrp_qp *qp, struct hrp_burst *b)
{
	struct hrp_req *req = &qp->req;
	const struct hrp_sq *sq = &req->sq;
	u32 psn = req->rtx_psn;
	const struct hrp_wqe *w;
	u32 idx = sq->tail;
	u32 offset, n;

	if (!req->burst_pkts)
		return false;
	if (hrp_psn_diff(psn, req->psn) >= 0)
		goto none;
	if (hrp_psn_diff(psn, req->psn_una) < 0) {
		n = (req->psn_una - psn) & HRP_PSN_MASK;
		if (n >= req->rtx_pkts)
			goto none;
		req->rtx_pkts -= n;
		psn = req->psn_una;
	}
	for (;; idx++) {
		w = hrp_sq_wqe(sq, idx);
		if (!w->nr_pkts)
			continue;
		if (!w->started || w->status != HROCE_WC_SUCCESS)
			goto none;
		if (hrp_psn_diff(psn, w->last_psn) <= 0)
			break;
	}
	offset = (psn - w->first_psn) & HRP_PSN_MASK;
	n = min_t(u32, req->rtx_pkts, w->nr_pkts - offset);
	if (!hrp_wqe_is_answered(w)) {
		n = min_t(u32, n, req->burst_pkts);
		req_set_data(qp, w, b, psn, offset, n);
		b->copy = 1;
		b->ackreq_last = 1;
	} else if (w->wqe.opcode == HROCE_WR_READ) {
		n = req_again_pkts(req, w, psn, n);
		req_set_read(qp, w, b, psn, offset, n);
	} else {
		req_set_single(qp, w, b, psn);
	}
	req->burst_idx = idx;
	req->rtx_psn = hrp_psn_add(psn, n);
	req->rtx_pkts -= min_t(u32, n, req->rtx_pkts);
	return true;
none:
	req->rtx_pkts = 0;
	return false;
}

/*
 * What is to be resent apart, after the question to the peer what it keeps.
 * Return: false if there is nothing.
 */
static noinline bool req_recover(struct hrp_qp *qp, u64 now_ns,
				 struct hrp_burst *b)
{
	struct hrp_req *req = &qp->req;

	if (req->ask && req->burst_pkts) {
		hrp_sack_build_ask(qp, b);
		return true;
	}
	if (!req->rtx_pkts)
		return false;
	while (!req_resend(qp, b))
		if (!req->burst_pkts || !hrp_hole_more(qp, now_ns))
			return false;
	/* One answer for all gaps. */
	if (req->rtx_pkts || hrp_hole_more(qp, now_ns))
		b->ackreq_last = 0;
	return true;
}

/*
 * Measure how long the acknowledgement of this burst takes, if it is sent for the
 * first time.
 */
static void req_time(struct hrp_req *req, const struct hrp_burst *b,
		     u32 psn_max, bool alone, u64 now_ns)
{
	u32 last = hrp_psn_add(psn_max, b->nr_pkts - 1);

	if (b->first.psn != psn_max)
		return;
	if (unlikely(req->troubled)) {
		hrp_sack_time(req, last, alone, now_ns);
		return;
	}
	req->alone = alone;
	hrp_rtt_begin(req, last, now_ns);
}

static enum hrp_next req_run(struct hrp_qp *qp, u64 now_ns,
			     struct hrp_burst *b)
{
	struct hrp_req *req = &qp->req;
	u32 psn_max = req->psn_max;
	struct hrp_wqe *w;
	enum hrp_next ret;
	enum req_timing what;
	u32 n;

	if (unlikely(req->troubled) && req_recover(qp, now_ns, b))
		return HRP_NEXT_BURST;
	if (unlikely(req->mtu_ask) && req->burst_pkts) {
		hrp_mtu_build_ask(qp, b);
		return HRP_NEXT_BURST;
	}
	for (n = 0; n < REQ_STEPS; n++) {
		w = req_entry(qp, &ret);
		if (!w)
			return ret;
		what = req_what_to_time(qp, w, now_ns);
		switch (req_step(qp, w, b, what == TIME_ALONE)) {
		case STEP_BURST:
			b->more = req->sq.posted - req->sq.next;
			if (req->timer == HRP_TIMER_OFF)
				hrp_req_restart(req, now_ns);
			if (b->ackreq_last && what != TIME_NOTHING)
				req_time(req, b, psn_max, what == TIME_ALONE,
					 now_ns);
			return HRP_NEXT_BURST;
		case STEP_NEXT:
			break;
		case STEP_WAIT:
			return HRP_NEXT_WAIT;
		case STEP_STOP:
			return HRP_NEXT_IDLE;
		}
	}
	return HRP_NEXT_AGAIN;
}

enum hrp_next hrp_req_next(struct hrp_qp *qp, u64 now_ns, struct hrp_burst *b)
{
	enum hrp_next ret = HRP_NEXT_WAIT;

	if (qp->state != HRP_RTS && qp->state != HRP_SQD)
		return HRP_NEXT_IDLE;
	if (unlikely(qp->req.gated))
		return hrp_pace_next(qp, now_ns, b);
	if (qp->req.timer < HRP_TIMER_RNR)
		ret = req_run(qp, now_ns, b);
	if (ret != HRP_NEXT_IDLE)
		hrp_sq_spare_kick(&qp->req.sq);
	return ret;
}

void hrp_req_ask(struct hrp_qp *qp, struct hrp_burst *b)
{
	struct hrp_req *req = &qp->req;

	/* What is no request is answered in any case. */
	if (b->ackreq_last || b->first.info & HRP_OI_EXT)
		return;
	b->ackreq_last = 1;
	req->unasked_pkts = 0;
	hrp_sq_wqe(&req->sq, req->burst_idx)->unasked = false;
}

void hrp_req_wait_mem(struct hrp_req *req, bool oldest)
{
	req->timer = HRP_TIMER_MEM;
	req->mem_oldest = oldest;
}

/*
 * The entry of the last burst, behind all those that are not complete if it is
 * complete itself. A queue has at most 2^15 entries.
 */
static u32 req_burst_idx(const struct hrp_req *req)
{
	return req->sq.tail + (u16)(req->burst_idx - req->sq.tail);
}

bool hrp_req_mem_ready(struct hrp_qp *qp, u64 now_ns, bool ok)
{
	struct hrp_req *req = &qp->req;
	struct hrp_sq *sq = &req->sq;
	u32 idx = req->mem_oldest ? sq->tail : req_burst_idx(req);

	if (req->timer != HRP_TIMER_MEM)
		return false;
	req->timer = HRP_TIMER_OFF;
	hrp_req_restart(req, now_ns);
	if (!ok && idx - sq->tail < sq->head - sq->tail) {
		hrp_sq_wqe(sq, idx)->status = HROCE_CAUSE_FETCH;
		if (hrp_qp_is_reliable(qp))
			req_ask_again(req, idx);
	}
	return true;
}

/*
 * Go back to the entry of @b, to fail it or to send it later, unless it is
 * still ahead. The peer may have acknowledged packets that were never sent.
 */
static void req_return_to(struct hrp_req *req, const struct hrp_burst *b)
{
	u32 idx = req_burst_idx(req);
	const struct hrp_wqe *w;
	u32 psn = b->first.psn;

	if (hrp_psn_diff(psn, req->psn_una) < 0)
		psn = req->psn_una;
	if (hrp_psn_diff(req->psn, psn) <= 0)
		return;
	/* Packets behind a resent one are in flight. */
	if (unlikely(hrp_psn_add(b->first.psn, b->nr_pkts) != req->psn)) {
		hrp_req_rewind(req);
		return;
	}
	if (b->msgs)
		idx -= hrp_psn_diff(req->psn, psn) - 1;
	w = hrp_sq_wqe(&req->sq, idx);
	req->timing = 0;
	/* Only ATOMIC WRITE: the other answered operations read no memory. */
	if (unlikely(hrp_wqe_is_answered(w))) {
		req->nr_rd_atomic--;
		req->rd_pkts--;
	}
	req->sq.next = idx;
	req->psn = psn;
	req->offset = (psn - w->first_psn) & HRP_PSN_MASK;
	/* What @b asked for is not, and it is not known what was before. */
	req->unasked_pkts = min(hrp_req_dist(req), REQ_ASK_PKTS - 1);
}

void hrp_req_sent_slow(struct hrp_qp *qp, const struct hrp_burst *b, u8 status)
{
	struct hrp_req *req = &qp->req;
	struct hrp_sq *sq = &req->sq;
	u32 idx = req_burst_idx(req);
	struct hrp_wqe *w;

	/* A question that was not sent is not answered. */
	if (unlikely(b->first.info & HRP_OI_EXT))
		return;
	/* Complete meanwhile, or the queue pair was reset? */
	if (idx - sq->tail >= sq->head - sq->tail)
		return;
	w = hrp_sq_wqe(sq, idx);
	if (status == HROCE_WC_SUCCESS) {
		if (sq->next != idx)
			hrp_req_complete(qp);
		return;
	}
	/* Which of them failed shows when they are sent again, one by one. */
	if (b->msgs) {
		req_return_to(req, b);
		return;
	}
	if (status == HRP_MEM_FAULT)
		hrp_req_wait_mem(req, false);
	else
		w->status = status;
	if (hrp_qp_is_reliable(qp)) {
		if (status == HRP_MEM_FAULT || !req_ask_again(req, idx))
			req_return_to(req, b);
		return;
	}
	sq->next = idx;
	req->offset = 0;
}

/* Take an entry to flush. */
static bool req_take_posted(struct hrp_qp *qp)
{
	struct hrp_sq *sq = &qp->req.sq;

	if (sq->posted == sq->head) {
		/* Have later posts kick. */
		hrp_sq_ask_kick(sq);
		if (hrp_sq_look(sq) != HRP_LOOK_POSTED)
			return false;
	}
	hrp_sq_take(qp);
	return true;
}

u32 hrp_req_flush(struct hrp_qp *qp, u32 max)
{
	struct hrp_sq *sq = &qp->req.sq;
	u32 n;

	if (!hrp_qp_sends(qp))
		return 0;
	hrp_req_stop_timers(&qp->req);
	for (n = 0; n < max; n++) {
		if (sq->tail == sq->head && !req_take_posted(qp))
			break;
		hrp_sq_report(qp, hrp_sq_release(sq), HROCE_WC_WR_FLUSH_ERR);
	}
	sq->next = sq->tail;
	qp->req.offset = 0;
	return n;
}

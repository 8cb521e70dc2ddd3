// SPDX-License-Identifier: GPL-2.0
/*
 * Requester: takes bursts from the engine and sends them, in the context of a
 * post, an acknowledgement or a timeout.
 */
#include <linux/build_bug.h>
#include <linux/hrtimer.h>
#include <linux/random.h>
#include "../core/epoch.h"
#include "../mem/iter.h"
#include "../net/suspect.h"
#include "../proto/cc.h"
#include "../proto/flowlet.h"
#include "../proto/mtu.h"
#include "../proto/pace.h"
#include "../proto/req.h"
#include "../trace/trace.h"
#include "ah.h"
#include "cnp.h"
#include "fault.h"
#include "out.h"
#include "qp.h"
#include "recv.h"
#include "second.h"
#include "spray.h"

static struct hroce_path *send_path(struct hroce_qp *qp, struct hrp_burst *b)
{
	struct hroce_ah *ah;

	if (likely(!READ_ONCE(qp->elsewhere)))
		return &qp->path;
	if (unlikely(qp->proto.type != HRP_TYPE_UD))
		return hroce_second_aim(qp, b, false);
	ah = xa_load(&hqp_dev(qp)->ahs, b->ah);
	return ah && ah->pd == qp->ib.pd ? &ah->path : NULL;
}

/* What stays on this host needs no congestion control. */
static void send_is_local(struct hroce_qp *qp)
{
	struct hrp_req *req = &qp->proto.req;

	lockdep_assert_held(&qp->send.lock);
	if (req->cc == HRP_CC_NONE || qp->proto.type == HRP_TYPE_UD)
		return;
	hrp_cc_release(&qp->proto);
	hroce_cnp_choose(qp);
	req->spray = 1;
}

/*
 * The memory of a packet of @b could not be read; the first @nr_pkts are in frames.
 * Return: what the engine is told.
 */
static noinline u8 send_broken(struct hroce_qp *qp, struct hrp_burst *b,
			       u32 nr_pkts, const struct hroce_mem_iter *it)
{
	lockdep_assert_held(&qp->send.lock);
	hrp_pace_give_back(&qp->proto, b, nr_pkts);
	hrp_burst_cut(b, nr_pkts);
	return it->status == HRP_MEM_FAULT && !b->msgs ?
	       hroce_fault_begin(qp, HROCE_FAULT_SEND, it) : it->status;
}

/*
 * Send a burst, without the lock held. The frame stays open if another burst is
 * likely to follow at once.
 */
static u8 send_burst(struct hroce_qp *qp, struct hroce_out *out,
		     struct hrp_burst *b)
	__must_hold(&qp->send.lock)
{
	struct hroce_path *path = send_path(qp, b);
	struct hroce_mem_iter it __uninitialized;
	bool local;
	u8 status;

	if (!path)
		return HROCE_CAUSE_AH;
	if (hroce_tx_may_refer(b))
		hroce_early_begin(qp, !out->tx.frame.skb, b->first.psn);
	spin_unlock(&qp->send.lock);
	trace_hroce_tx(qp->proto.qpn, b);
	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, qp->ib.pd, 0, &b->mem);
	status = hroce_out_add(out, path, b, &it);
	hroce_mem_end(&it);
	local = out->tx.path && out->tx.route.to;
	/* hroce_out_end() may deliver on this host and run the completer. */
	if (!out->tx.frame.skb)
		hroce_early_sent(&qp->early);
	if (!b->more)
		hroce_out_end(out);
	spin_lock(&qp->send.lock);
	if (local)
		send_is_local(qp);
	if (unlikely(status != HROCE_WC_SUCCESS))
		status = send_broken(qp, b, out->tx.next, &it);
	return status;
}

/*
 * A process that polls the netdev notices in time what is due, so the timer is
 * for the case that it stops. Longer than a tick, before which there is no
 * other interrupt.
 */
#define POLLED_SLACK_NS	(5 * NSEC_PER_MSEC)

/* Arm the timer if @at_ns is before its expiry; 0: never. */
static void send_arm_timer(struct hroce_qp *qp, u64 at_ns)
{
	lockdep_assert_held(&qp->send.lock);
	if (!at_ns || qp->dead || (qp->timer_ns && qp->timer_ns <= at_ns))
		return;
	WRITE_ONCE(qp->timer_ns, at_ns);
	if (unlikely(READ_ONCE(qp->hold_polls)) && !qp->proto.req.pace)
		at_ns += POLLED_SLACK_NS;
	hrtimer_start(&qp->timer, ns_to_ktime(at_ns), HRTIMER_MODE_ABS_SOFT);
}

/*
 * How much may be sent now, in bytes? 0: sending must pause, although there may
 * be more to send.
 */
static u32 send_room(struct hroce_qp *qp, const struct hroce_out *out)
{
	u32 room = U32_MAX;

	if (qp->path_ok)
		room = hroce_out_room(out, &qp->path);
	if (unlikely(!room))
		send_arm_timer(qp, hroce_path_late_ns(&qp->path));
	else if (unlikely(!hroce_epoch_left()))
		tasklet_schedule(&qp->send.task);
	else
		return room;
	return 0;
}

/* Of the next burst, which fills the room. */
static u8 send_pkts(const struct hroce_qp *qp, u32 room)
{
	const struct hrp_req *req = &qp->proto.req;
	u32 mtu = max_t(u32, qp->proto.mtu, req->agreed_mtu * HRP_MTU_UNIT);
	u8 pkts = hroce_out_pkts(room, mtu);

	if (unlikely(qp->path.sprays) && hrp_spray_is_on(req))
		return hrp_spray_pkts(req, pkts);
	return pkts;
}

/* What does this resend, if it is one, say about super-packets? */
static void send_resends(struct hroce_qp *qp, const struct hrp_burst *b)
{
	const struct hrp_req *req = &qp->proto.req;
	u32 end = hrp_psn_add(b->first.psn, b->nr_pkts);
	struct hroce_resend resend = {
		.psn = req->psn_una,
		.end = req->psn_max,
		.arrived = req->psn_una,
		.next = req->psn_max,
		.keeps = true,
		.late = !req->resent,
	};

	if (req->resent)
		hroce_path_lost(&qp->path);
	else if (!req->probed)
		return;
	if (b->first.psn != req->psn_una)
		return;
	/* The answers to a READ may be what was lost. */
	if (!b->mem.len) {
		hroce_path_unwatch(&qp->path, false);
		return;
	}
	/* If the requester has not gone back, only the gap is resent. */
	if (req->psn != end) {
		resend.end = end;
		/* Otherwise, the next packets to resend are those of another gap. */
		if (req->rtx_psn == end)
			resend.end = hrp_psn_add(end, req->rtx_pkts);
	}
	hroce_path_resends(&qp->path, false, &resend);
}

/*
 * The path of the next burst. A frame that is open has another UDP source port.
 */
static noinline void send_spray(struct hroce_qp *qp, struct hroce_out *out,
				const struct hrp_burst *b)
	__must_hold(&qp->send.lock)
{
	u16 sport;

	if (!hrp_spray_is_on(&qp->proto.req)) {
		qp->path.sprays = false;
		return;
	}
	sport = hrp_spray_sport(&qp->proto.req, b);
	if (sport == qp->path.sport[0])
		return;
	spin_unlock(&qp->send.lock);
	hroce_out_end(out);
	WRITE_ONCE(qp->path.sport[0], sport);
	spin_lock(&qp->send.lock);
}

/* The engine resends what was lost, or single packets are being sent. */
static noinline void send_doubts(struct hroce_qp *qp, const struct hrp_burst *b)
{
	const struct hrp_req *req = &qp->proto.req;

	lockdep_assert_held(&qp->send.lock);
	hroce_path_arrived(&qp->path, false, req->psn_una);
	send_resends(qp, b);
	hroce_path_choose(&qp->path, false, b->first.psn);
}

/*
 * The next burst may have to wait. The peer is not to be waited for meanwhile
 * without being asked.
 */
static void send_fills(struct hroce_qp *qp, struct hrp_burst *b)
{
	lockdep_assert_held(&qp->send.lock);
	b->more = 0;
	if (hrp_qp_is_reliable(&qp->proto))
		hrp_req_ask(&qp->proto, b);
}

/* May the ACK that is held leave in the datagram of a request? */
static noinline_for_stack bool send_may_join(const struct hroce_qp *qp)
{
	const unsigned long both = BIT(HRP_PENDING_HELD) |
				   BIT(HRP_PENDING_JOINS);

	return (READ_ONCE(qp->proto.pending) & both) == both;
}

/*
 * The local stack has refused a frame. If it was a question, or is acknowledged
 * already, nothing waits for room, and what is behind it has not been sent.
 */
static noinline void send_refused(struct hroce_qp *qp, u32 psn, u64 now_ns)
{
	lockdep_assert_held(&qp->send.lock);
	hrp_req_refused(&qp->proto, psn, now_ns);
	if (qp->proto.req.timer < HRP_TIMER_RNR)
		qp->send.again = true;
}

/*
 * The engine is to be asked. Others that have set @again may have changed only what
 * it reads now, and that the poller sleeps. Errors, and packets to resend, take
 * another pass.
 */
static noinline_for_stack void send_ready(struct hroce_qp *qp)
{
	lockdep_assert_held(&qp->send.lock);
	qp->proto.req.sq.watched = qp->user &&
				   READ_ONCE(hqp_dev(qp)->poller.awake);
	if (likely(qp->proto.state == HRP_RTS && !qp->proto.req.troubled))
		qp->send.again = false;
}

/* Send the bursts that the engine allows now. */
static void send_bursts(struct hroce_qp *qp, u64 now_ns)
{
	struct hrp_burst b __uninitialized;
	struct hroce_out out __uninitialized;
	enum hrp_next next;
	u8 status;
	u32 room;

	lockdep_assert_held(&qp->send.lock);
	hroce_out_begin(&out, &qp->path, qp->proto.stats,
			hrp_qp_is_reliable(&qp->proto));
	out.tx.join = send_may_join(qp);
	while (!out.tx.refused && !qp->dead) {
		room = send_room(qp, &out);
		if (!room)
			break;
		qp->proto.req.burst_pkts = send_pkts(qp, room);
		send_ready(qp);
		next = hrp_req_next(&qp->proto, now_ns, &b);
		if (next == HRP_NEXT_AGAIN) {
			hroce_epoch_charge(1);
			continue;
		}
		if (next != HRP_NEXT_BURST)
			break;
		hroce_epoch_charge(b.nr_pkts);
		if (unlikely(qp->proto.req.troubled || qp->path.single[0]))
			send_doubts(qp, &b);
		if (unlikely(qp->path.sprays))
			send_spray(qp, &out, &b);
		/* Keep the frame open for an ACK. */
		b.more += test_bit(HRP_PENDING_HELD, &qp->proto.pending);
		if (unlikely(hroce_out_fills(&b, room)))
			send_fills(qp, &b);
		status = send_burst(qp, &out, &b);
		hrp_req_sent(&qp->proto, &b, status);
	}
	if (out.tx.path) {
		spin_unlock(&qp->send.lock);
		hroce_hold_ride(qp, &out);
		hroce_out_end(&out);
		spin_lock(&qp->send.lock);
	}
	hroce_early_sent(&qp->early);
	if (unlikely(qp->early.held))
		hroce_early_go_on(qp);
	if (unlikely(out.tx.refused))
		send_refused(qp, out.tx.refused_psn, now_ns);
}

/*
 * Flush requests, but none before the frames have been freed. A tasklet flushes
 * those beyond the budget of this epoch.
 */
static void send_flush(struct hroce_qp *qp, u64 now_ns)
{
	u32 n, max = hroce_epoch_left();

	lockdep_assert_held(&qp->send.lock);
	if (hroce_early_must_wait(qp, now_ns)) {
		qp->send.flushing = true;
		return;
	}
	n = hrp_req_flush(&qp->proto, max);
	hroce_epoch_charge(n);
	qp->send.flushing = n == max;
	if (n == max)
		tasklet_schedule(&qp->send.task);
}

/*
 * No answer has come twice: the way through the network may be broken. Or one of
 * several paths is to be replaced.
 */
static noinline void send_rehash(struct hroce_qp *qp)
{
	lockdep_assert_held(&qp->send.lock);
	if (test_and_clear_bit(HRP_PENDING_REHASH, &qp->proto.pending)) {
		hroce_qp_rehash(qp, false);
		if (unlikely(READ_ONCE(qp->second)) &&
		    qp->proto.req.went_back)
			hroce_second_silent(qp);
	}
	if (qp->path.sprays)
		hroce_spray_evict(qp);
}

/*
 * Take another way, if it is time. Of those that meet on a link half stay. Of two
 * addresses of the peer, it is a way to the one that requests go to.
 */
static noinline void send_flowlet(struct hroce_qp *qp, u64 now_ns)
{
	struct hroce_path *path = &qp->path;

	lockdep_assert_held(&qp->send.lock);
	if (qp->path.sprays || !hrp_flowlet_begins(&qp->proto, now_ns) ||
	    get_random_u32() & 1)
		return;
	if (unlikely(READ_ONCE(qp->elsewhere)))
		path = hroce_second_path(qp) ?: path;
	hroce_path_rehash(path, false);
	hrp_count(&qp->proto, HROCE_EV_REHASHES);
	trace_hroce_rehash(qp->proto.qpn, false, path->sport[0]);
}

/* The engine is told to wait while many frames of the path are queued below. */
enum hrp_wait hroce_qp_waits_for(const struct hroce_qp *qp)
{
	enum hrp_wait wait = hrp_wait_for(&qp->proto);

	return wait != HRP_WAIT_NOTHING && qp->path_ok &&
	       hroce_path_waits(&qp->path) ? HRP_WAIT_ROOM : wait;
}

/* Reason and hroce_trace_waits share a byte, of which 0 is what was never told. */
#define TRACED_BITS	4

static_assert(HRP_WAIT_PAUSED < 1 << TRACED_BITS);

noinline void hroce_qp_trace_wait(struct hroce_qp *qp)
{
	u8 on = READ_ONCE(hroce_trace_waits) % (1 << TRACED_BITS);
	enum hrp_wait wait;
	u8 traced;

	lockdep_assert_held(&qp->send.lock);
	if (qp->dead)
		return;
	wait = hroce_qp_waits_for(qp);
	traced = on << TRACED_BITS | wait;
	if (traced == qp->traced)
		return;
	qp->traced = traced;
	trace_hroce_wait(&qp->proto, wait);
}

/* The caller holds the token. */
static void send_loop(struct hroce_qp *qp)
{
	u64 now_ns = ktime_get_ns();

	lockdep_assert_held(&qp->send.lock);
	do {
		qp->send.again = false;
		if (unlikely(qp->proto.req.troubled))
			send_rehash(qp);
		if (qp->path_ok && unlikely(READ_ONCE(qp->path.port->flowlet)))
			send_flowlet(qp, now_ns);
		if (qp->proto.state == HRP_ERR || qp->proto.state == HRP_SQE)
			send_flush(qp, now_ns);
		else
			send_bursts(qp, now_ns);
	} while (hroce_qp_side_again(&qp->send));
}

/* Time at which the requester needs the timer; 0: never. */
static u64 send_deadline(const struct hroce_qp *qp)
{
	u64 at_ns = hrp_req_deadline(&qp->proto.req);

	if (hroce_early_waits(&qp->early) &&
	    (!at_ns || qp->early.until_ns < at_ns))
		at_ns = qp->early.until_ns;
	return at_ns;
}

void hroce_qp_send_wake(struct hroce_qp *qp, u64 at_ns)
{
	/* The timer takes both locks before it changes its expiry. */
	u64 timer_ns = READ_ONCE(qp->timer_ns);

	lockdep_assert_held(&qp->recv.lock);
	if (timer_ns && timer_ns <= at_ns)
		return;
	spin_lock(&qp->send.lock);
	send_arm_timer(qp, at_ns);
	spin_unlock(&qp->send.lock);
}

void hroce_qp_send_work(struct hroce_qp *qp)
{
	spin_lock(&qp->send.lock);
	if (unlikely(qp->proto.req.troubled) && !qp->dead)
		hroce_recv_answers(qp);
	if (hroce_qp_side_take(qp, &qp->send)) {
		send_loop(qp);
		qp->send.running = false;
		if (trace_hroce_wait_enabled())
			hroce_qp_trace_wait(qp);
		send_arm_timer(qp, send_deadline(qp));
	}
	spin_unlock(&qp->send.lock);
}

static void send_task(struct tasklet_struct *task)
{
	hroce_qp_send_run(container_of(task, struct hroce_qp, send.task));
}

/* Frames may not have been freed in time: both sides ask for room again. */
static void send_late(struct hroce_qp *qp, u64 now_ns)
{
	u64 at_ns = qp->path_ok ? hroce_path_late_ns(&qp->path) : 0;

	if (!at_ns || now_ns < at_ns) {
		send_arm_timer(qp, at_ns);
		return;
	}
	set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
	set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
}

/* The timer has fired, perhaps for the responder only. */
static void send_timeout(struct hroce_qp *qp, u64 now_ns)
{
	u64 at_ns = send_deadline(qp);
	bool run;

	if (!at_ns || now_ns < at_ns)
		return;
	trace_hroce_timeout(&qp->proto);
	run = hroce_early_timeout(qp, now_ns);
	run |= hrp_req_timeout(&qp->proto, now_ns);
	if (run)
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
}

void hroce_qp_send_due(struct hroce_qp *qp, u64 now_ns)
{
	hroce_qp_lock(qp);
	WRITE_ONCE(qp->timer_ns, 0);
	if (!qp->dead) {
		send_timeout(qp, now_ns);
		if (hrp_pace_answers_timeout(&qp->proto, now_ns))
			set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
		send_arm_timer(qp, hrp_pace_answers_at(&qp->proto));
		send_arm_timer(qp, hroce_hold_timeout(qp, now_ns));
		send_arm_timer(qp, send_deadline(qp));
		send_late(qp, now_ns);
	}
	hroce_qp_unlock(qp);
	hroce_qp_run_pending(qp);
}

static enum hrtimer_restart send_timer(struct hrtimer *timer)
{
	struct hroce_qp *qp = container_of(timer, struct hroce_qp, timer);

	/* The process has not polled, or does so again. */
	if (unlikely(READ_ONCE(qp->hold_polls)))
		WRITE_ONCE(qp->hold_polls, 0);
	hroce_qp_send_due(qp, ktime_get_ns());
	return HRTIMER_NORESTART;
}

void hroce_qp_send_init(struct hroce_qp *qp)
{
	spin_lock_init(&qp->send.lock);
	tasklet_setup(&qp->send.task, send_task);
	hrtimer_setup(&qp->timer, send_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

void hroce_qp_send_stop(struct hroce_qp *qp)
{
	hrtimer_cancel(&qp->timer);
	qp->timer_ns = 0;
	tasklet_kill(&qp->send.task);
}

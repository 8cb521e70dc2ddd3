// SPDX-License-Identifier: GPL-2.0
/*
 * Shared by requester and responder of a queue pair: work deferred until no
 * lock is held, errors, and stopping.
 */
#include <linux/hrtimer.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include "../core/epoch.h"
#include "../proto/pace.h"
#include "../proto/req.h"
#include "../proto/resp.h"
#include "../trace/trace.h"
#include "fault.h"
#include "keep.h"
#include "qp.h"
#include "ring.h"
#include "sack.h"
#include "second.h"
#include "spray.h"
#include "user.h"

#define EVENT(name)	(HRP_PENDING_##name - HRP_PENDING_FIRST_EVENT)

static const enum ib_event_type event_type[] = {
	[EVENT(COMM_EST)]	= IB_EVENT_COMM_EST,
	[EVENT(SQ_DRAINED)]	= IB_EVENT_SQ_DRAINED,
	[EVENT(QP_FATAL)]	= IB_EVENT_QP_FATAL,
	[EVENT(QP_REQ_ERR)]	= IB_EVENT_QP_REQ_ERR,
	[EVENT(QP_ACCESS_ERR)]	= IB_EVENT_QP_ACCESS_ERR,
	[EVENT(LAST_WQE)]	= IB_EVENT_QP_LAST_WQE_REACHED,
};

#undef EVENT

static void qp_raise_events(struct hroce_qp *qp)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(event_type); i++) {
		struct ib_event event = {
			.device = qp->ib.device,
			.element.qp = &qp->ib,
			.event = event_type[i],
		};

		if (test_and_clear_bit(HRP_PENDING_FIRST_EVENT + i,
				       &qp->proto.pending) &&
		    qp->ib.event_handler)
			qp->ib.event_handler(&event, qp->ib.qp_context);
	}
}

void hroce_qp_forget_kept(struct hroce_qp *qp)
{
	struct hrp_keep *keep;

	hroce_qp_lock(qp);
	keep = hrp_keep_close(&qp->proto);
	hroce_qp_unlock(qp);
	hroce_keep_destroy(qp, keep);
	hroce_sack_destroy(qp);
}

static void qp_set_error(struct hroce_qp *qp)
{
	hroce_qp_lock(qp);
	WRITE_ONCE(qp->proto.state, HRP_ERR);
	qp->send.flushing = true;
	qp->recv.flushing = true;
	hrp_resp_hold_end(&qp->proto);
	hroce_qp_unlock(qp);
	hroce_qp_forget_kept(qp);
	set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
}

/* SQE of UC and UD is an error of the send queue only. */
static void qp_set_sq_error(struct hroce_qp *qp)
{
	spin_lock(&qp->send.lock);
	qp->send.flushing = true;
	spin_unlock(&qp->send.lock);
	set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
}

static bool qp_has_work(const struct hroce_qp *qp)
{
	return READ_ONCE(qp->proto.pending) & HROCE_PENDING_WORK;
}

/* Usually the bit is clear: test it first, atomic operations are slow. */
static bool qp_take_pending(struct hroce_qp *qp, unsigned int bit)
{
	return test_bit(bit, &qp->proto.pending) &&
	       test_and_clear_bit(bit, &qp->proto.pending);
}

void hroce_qp_pace(struct hroce_qp *qp, u64 now_ns)
{
	struct hrp_pace *pace;

	lockdep_assert_held(&qp->send.lock);
	/* An owner at its limit must obey, too. */
	pace = hroce_user_alloc(qp, sizeof(*pace)) ?:
	       kzalloc(sizeof(*pace), HROCE_USER_GFP);
	if (pace)
		hrp_pace_start(&qp->proto, pace, &hqp_dev(qp)->rp, now_ns,
			       2 * hrtimer_resolution);
}

/* Without memory, the window is sent as fast as acknowledgements come. */
static void qp_spread(struct hroce_qp *qp)
{
	u64 now_ns = ktime_get_ns();

	spin_lock(&qp->send.lock);
	if (!qp->dead && hrp_pace_wants_spread(&qp->proto)) {
		if (!qp->proto.req.pace)
			hroce_qp_pace(qp, now_ns);
		hrp_pace_spread(&qp->proto, now_ns);
	}
	spin_unlock(&qp->send.lock);
}

/* The limit of the rate has ended, unless there is another one by now. */
static void qp_unpace(struct hroce_qp *qp)
{
	struct hrp_pace *pace = NULL;

	spin_lock(&qp->send.lock);
	if (!hrp_pace_is_on(&qp->proto.req)) {
		pace = hrp_pace_stop(&qp->proto);
		WRITE_ONCE(qp->paced, false);
	}
	spin_unlock(&qp->send.lock);
	kfree(pace);
	/* READ responses may have waited, and READs. */
	set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
}

#define PENDING_RARE	(BIT(HRP_PENDING_ERROR) | BIT(HRP_PENDING_SQ_ERROR) | \
			 BIT(HRP_PENDING_RETRANSMIT) | \
			 BIT(HRP_PENDING_RECOVERED) | \
			 BIT(HRP_PENDING_SPREAD) | BIT(HRP_PENDING_UNPACED) | \
			 BIT(HRP_PENDING_NAK_HELD))

static noinline void qp_do_rare(struct hroce_qp *qp)
{
	if (qp_take_pending(qp, HRP_PENDING_ERROR))
		qp_set_error(qp);
	if (qp_take_pending(qp, HRP_PENDING_SQ_ERROR))
		qp_set_sq_error(qp);
	if (qp_take_pending(qp, HRP_PENDING_RETRANSMIT))
		trace_hroce_retransmit(&qp->proto);
	if (qp_take_pending(qp, HRP_PENDING_RECOVERED))
		trace_hroce_recovered(&qp->proto);
	if (qp_take_pending(qp, HRP_PENDING_SPREAD))
		qp_spread(qp);
	if (qp_take_pending(qp, HRP_PENDING_UNPACED))
		qp_unpace(qp);
	if (qp_take_pending(qp, HRP_PENDING_NAK_HELD))
		hroce_hold_nak(qp);
}

void hroce_qp_run_pending_bh(struct hroce_qp *qp)
{
	/*
	 * A pass adds only bits that the engine sets because of it, or that
	 * other CPUs set.
	 */
	if (!qp_has_work(qp))
		return;
	for (;;) {
		if (unlikely(READ_ONCE(qp->proto.pending) & PENDING_RARE))
			qp_do_rare(qp);
		if (qp_take_pending(qp, HROCE_PENDING_RECV_RUN))
			hroce_qp_recv_work(qp);
		if (qp_take_pending(qp, HROCE_PENDING_SEND_RUN))
			hroce_qp_send_work(qp);
		if (qp_take_pending(qp, HROCE_PENDING_RECV_CQ))
			hroce_cq_notify(qp->recv_cq);
		if (qp_take_pending(qp, HROCE_PENDING_SEND_CQ))
			hroce_cq_notify(qp->send_cq);
		if (READ_ONCE(qp->proto.pending) & HRP_PENDING_EVENTS)
			qp_raise_events(qp);
		if (likely(!qp_has_work(qp)))
			return;
		if (unlikely(!hroce_epoch_left())) {
			tasklet_schedule(&qp->send.task);
			return;
		}
		hroce_epoch_charge(1);
	}
}

bool hroce_qp_side_may(struct hroce_side *side)
{
	lockdep_assert_held(&side->lock);
	if (hroce_epoch_left())
		return true;
	/* The setter of @again relies on another pass. */
	tasklet_schedule(&side->task);
	return false;
}

void hroce_qp_run_later(struct hroce_qp *qp)
{
	if (qp_has_work(qp))
		tasklet_schedule(&qp->send.task);
}

void hroce_qp_run_pending(struct hroce_qp *qp)
{
	if (!qp_has_work(qp))
		return;
	hroce_epoch_enter();
	hroce_qp_run_pending_bh(qp);
	hroce_epoch_leave();
}

void hroce_qp_rehash(struct hroce_qp *qp, bool answer)
{
	struct hroce_path *second;

	if (!qp->path_ok || !READ_ONCE(qp->path.port->rehash))
		return;
	hroce_path_rehash(&qp->path, answer);
	second = hroce_second_path(qp);
	if (unlikely(second))
		hroce_path_rehash(second, answer);
	hrp_count(&qp->proto, HROCE_EV_REHASHES);
	trace_hroce_rehash(qp->proto.qpn, answer, qp->path.sport[answer]);
	if (!answer && qp->path.sprays)
		hroce_spray_draw(qp);
}

void hroce_qp_error(struct hroce_qp *qp)
{
	set_bit(HRP_PENDING_ERROR, &qp->proto.pending);
	hroce_qp_run_pending(qp);
}

void hroce_qp_fatal(struct hroce_qp *qp)
{
	if (READ_ONCE(qp->proto.state) == HRP_ERR)
		return;
	WRITE_ONCE(qp->proto.state, HRP_ERR);
	hrp_set_pending(&qp->proto, HRP_PENDING_QP_FATAL);
	hrp_set_pending(&qp->proto, HRP_PENDING_ERROR);
}

void hroce_qp_visit_all(struct hroce_dev *dev,
			void (*visit)(struct hroce_qp *qp))
{
	unsigned long index = 0;
	struct hroce_qp *qp;

	do {
		hroce_epoch_enter();
		qp = xa_find(&dev->qps, &index, ULONG_MAX, XA_PRESENT);
		if (qp)
			visit(qp);
		hroce_epoch_leave();
		cond_resched();
		index++;
	} while (qp);
}

/* Return: true if there may be more to flush. */
static bool qp_flush_some(struct hroce_qp *qp)
{
	const u32 max = HROCE_EPOCH_WORK;
	bool more;

	/* XRC targets look SRQs up. */
	hroce_epoch_enter();
	spin_lock(&qp->recv.lock);
	if (qp->recv.flushing)
		qp->recv.flushing = hrp_resp_flush(&qp->proto, max) == max;
	more = qp->recv.flushing;
	spin_unlock(&qp->recv.lock);
	spin_lock(&qp->send.lock);
	if (qp->send.flushing)
		qp->send.flushing = hrp_req_flush(&qp->proto, max) == max;
	more |= qp->send.flushing;
	spin_unlock(&qp->send.lock);
	hroce_epoch_leave();
	hroce_qp_run_pending(qp);
	return more;
}

void hroce_qp_end_flush(struct hroce_qp *qp)
{
	u32 n;

	/* Bounded, as a process may keep posting. */
	for (n = 0; n < 2 * HROCE_MAX_WR / HROCE_EPOCH_WORK; n++) {
		if (!qp_flush_some(qp))
			return;
		cond_resched();
	}
}

void hroce_qp_stop(struct hroce_qp *qp)
{
	hroce_hold_end(qp);
	hroce_qp_lock(qp);
	qp->dead = true;
	hroce_fault_forget(qp);
	hroce_qp_unlock(qp);

	/* Runners, receivers and handlers are in epochs. */
	hroce_epoch_wait();
	hroce_qp_send_stop(qp);
	hroce_qp_recv_stop(qp);
}

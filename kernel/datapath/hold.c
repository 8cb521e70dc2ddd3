// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgements that the engine holds (proto/hold.c): the time that they may
 * be held, and a place in the frame of a request, or in its datagram. And NAKs
 * (proto/nak.c), for which an ACK that is held becomes due.
 *
 * The timer of the queue pair bounds the time. It is not armed for each ACK:
 * once it has fired, it fires at the end of the last time that began, even if
 * that ACK has been sent meanwhile, since the next one is likely to follow.
 */
#include <linux/rcupdate.h>
#include <linux/timekeeping.h>
#include "../core/epoch.h"
#include "../mem/iter.h"
#include "../proto/nak.h"
#include "../proto/resp.h"
#include "../proto/sack.h"
#include "../trace/trace.h"
#include "out.h"
#include "qp.h"

#define HOLD_UNIT_SHIFT	10

/*
 * A process that polls the netdev looks at a message at once. If it polls so
 * often instead of answering, it has no answer; or it does something else for
 * so long. The peer does not take the message for lost by then (proto/rtt.c).
 */
#define HOLD_POLLS	8
#define HOLD_POLLED_US	200u

/*
 * How long may an ACK be held for a process that polls? Its peer is to know that
 * ACKs may join requests. If the peer does not take such ACKs, they would take
 * a frame of their own in any case.
 */
static u32 hold_polled_us(struct hroce_qp *qp, u32 us)
{
	lockdep_assert_held(&qp->recv.lock);
	spin_lock(&qp->send.lock);
	hrp_sack_asks(&qp->proto.req);
	spin_unlock(&qp->send.lock);
	if (!test_bit(HRP_PENDING_JOINS, &qp->proto.pending))
		return us;
	WRITE_ONCE(qp->hold_polls, HOLD_POLLS);
	return max(us, HOLD_POLLED_US);
}

static void hold_for(struct hroce_qp *qp, u32 us)
{
	u64 at_ns = ktime_get_ns() + us * NSEC_PER_USEC;

	lockdep_assert_held(&qp->recv.lock);
	qp->hold_until = at_ns >> HOLD_UNIT_SHIFT;
	hroce_qp_send_wake(qp, at_ns);
}

void hroce_hold_begin(struct hroce_qp *qp)
{
	u32 us = hqp_dev(qp)->ack_delay_us;

	if (unlikely(READ_ONCE(qp->hold_polls)))
		us = hold_polled_us(qp, us);
	hold_for(qp, us);
}

void hroce_hold_nak(struct hroce_qp *qp)
{
	u32 us;

	spin_lock(&qp->recv.lock);
	us = hrp_nak_wait_us(&qp->proto.resp);
	if (us && !qp->dead)
		hold_for(qp, hrtimer_resolution < NSEC_PER_USEC ? us : 0);
	spin_unlock(&qp->recv.lock);
}

u64 hroce_hold_timeout(struct hroce_qp *qp, u64 now_ns)
{
	s32 left = qp->hold_until - (u32)(now_ns >> HOLD_UNIT_SHIFT);
	bool held;

	lockdep_assert_held(&qp->recv.lock);
	if (left > 0)
		return now_ns + ((u64)left << HOLD_UNIT_SHIFT);
	held = hrp_resp_is_held(&qp->proto.resp);
	if (held)
		hrp_resp_hold_late(&qp->proto);
	/* The ACK of what came before the gap may not have left yet. */
	if (!hrp_nak_due(&qp->proto) && !held)
		return 0;
	set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	return 0;
}

void hroce_hold_polled(struct hroce_qp *qp)
{
	u8 left;

	if (!test_bit(HRP_PENDING_HELD, &qp->proto.pending)) {
		if (READ_ONCE(qp->hold_polls) != HOLD_POLLS)
			WRITE_ONCE(qp->hold_polls, HOLD_POLLS);
		return;
	}
	spin_lock(&qp->recv.lock);
	left = hrp_resp_is_held(&qp->proto.resp) ? qp->hold_polls : 0;
	if (left)
		WRITE_ONCE(qp->hold_polls, left - 1);
	if (left == 1) {
		hrp_resp_hold_late(&qp->proto);
		set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	}
	spin_unlock(&qp->recv.lock);
	if (left == 1)
		hroce_qp_run_pending_bh(qp);
}

/*
 * Take the ACK that is held, unless a context is sending answers, or they are
 * still under way: requests may leave by another queue of this host, where the
 * ACK would overtake READ responses.
 */
static bool hold_take(struct hroce_qp *qp, struct hrp_burst *b)
{
	bool got;

	spin_lock(&qp->recv.lock);
	got = !qp->recv.running && hroce_path_is_idle(&qp->path, true) &&
	      hrp_resp_ride(&qp->proto, b);
	spin_unlock(&qp->recv.lock);
	return got;
}

void hroce_hold_ride(struct hroce_qp *qp, struct hroce_out *out)
{
	struct hroce_mem_iter it __uninitialized;
	struct hrp_burst b __uninitialized;
	bool joins;
	u32 len;

	len = hrp_opcode_hdr_len(hrp_opcode_info(HRP_SVC_RC | HRP_OP_ACK)) +
	      HRW_ICRC_LEN;
	/* Requests and answers may take different ways. */
	if (!test_bit(HRP_PENDING_HELD, &qp->proto.pending) ||
	    out->tx.path != &qp->path ||
	    test_bit(HROCE_PENDING_BY_SECOND, &qp->proto.pending))
		return;
	joins = hroce_tx_may_join(&out->tx);
	if ((!joins && !hroce_tx_has_room(&out->tx, len)) || !hold_take(qp, &b))
		return;
	trace_hroce_tx(qp->proto.qpn, &b);
	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, qp->ib.pd, 0, &b.mem);
	if (joins)
		hroce_tx_join(&out->tx, &b, &it);
	else
		hroce_tx_add(&out->tx, &b, &it);
	hroce_mem_end(&it);
}

void hroce_hold_end(struct hroce_qp *qp)
{
	bool due;

	spin_lock_bh(&qp->recv.lock);
	due = hrp_resp_hold_end(&qp->proto) || hrp_nak_due(&qp->proto);
	spin_unlock_bh(&qp->recv.lock);
	if (due)
		hroce_qp_recv_run(qp);
}

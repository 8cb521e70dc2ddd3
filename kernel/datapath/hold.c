// SPDX-License-Identifier: GPL-2.0
/*
 * Acknowledgements that the engine holds (proto/hold.c): the time that they may
 * be held, and a place in the frame of a request, or in its datagram.
 *
 * The timer of the queue pair bounds the time. It is not armed for each ACK:
 * once it has fired, it fires at the end of the last time that began, even if
 * that ACK has been sent meanwhile, since the next one is likely to follow.
 */
#include <linux/rcupdate.h>
#include <linux/timekeeping.h>
#include "../core/epoch.h"
#include "../mem/iter.h"
#include "../proto/resp.h"
#include "../trace/trace.h"
#include "out.h"
#include "qp.h"

#define HOLD_UNIT_SHIFT	10

void hroce_hold_begin(struct hroce_qp *qp)
{
	u64 at_ns = ktime_get_ns() + hqp_dev(qp)->ack_delay_us * NSEC_PER_USEC;

	lockdep_assert_held(&qp->recv.lock);
	qp->hold_until = at_ns >> HOLD_UNIT_SHIFT;
	hroce_qp_send_wake(qp, at_ns);
}

u64 hroce_hold_timeout(struct hroce_qp *qp, u64 now_ns)
{
	s32 left = qp->hold_until - (u32)(now_ns >> HOLD_UNIT_SHIFT);

	lockdep_assert_held(&qp->recv.lock);
	if (left > 0)
		return now_ns + ((u64)left << HOLD_UNIT_SHIFT);
	if (hrp_resp_is_held(&qp->proto.resp)) {
		hrp_resp_hold_late(&qp->proto);
		set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	}
	return 0;
}

/* Take the ACK that is held, unless a context is sending answers. */
static bool hold_take(struct hroce_qp *qp, struct hrp_burst *b)
{
	bool got;

	spin_lock(&qp->recv.lock);
	got = !qp->recv.running && hrp_resp_ride(&qp->proto, b);
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
	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, qp->ib.pd, &b.mem);
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
	due = hrp_resp_hold_end(&qp->proto);
	spin_unlock_bh(&qp->recv.lock);
	if (due)
		hroce_qp_recv_run(qp);
}

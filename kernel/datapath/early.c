// SPDX-License-Identifier: GPL-2.0
/*
 * A peer can guess PSNs, and acknowledge packets that still wait in a queue
 * below. The request would complete, the application would reuse the memory,
 * and queued frames that refer to it would be sent with the new contents. So a
 * SEND or WRITE request completes only after the frames that refer to its
 * memory have been freed.
 *
 * Such frames are counted in two alternating phases (net/path.h), which tell up
 * to which PSN all of them have been freed. Copied payload (below 2048 bytes
 * per packet, and all retransmissions) is not counted. At most one
 * acknowledgement is held back, the last one: it covers those before.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include "../net/path.h"
#include "../proto/psn.h"
#include "../proto/req.h"
#include "../proto/wire.h"
#include "early.h"
#include "qp.h"

/*
 * A frame that is not freed by then counts as sent. The megabyte that may be
 * queued is sent at 8 Mbit/s in that time. Drivers must free frames sooner
 * (Documentation/networking/driver.rst), as sockets wait for that, too; with a
 * driver that does not, requests complete late, but do not fail.
 */
#define EARLY_MAX_NS	NSEC_PER_SEC

void hroce_early_begin(struct hroce_qp *qp, bool fresh, u32 psn)
{
	struct hroce_early *e = &qp->early;

	lockdep_assert_held(&qp->send.lock);
	hroce_path_refer(&qp->path, fresh || !e->busy, psn);
	e->busy = true;
	WRITE_ONCE(e->open, true);
}

/* Frames do not refer to memory of requests before this PSN. */
static u32 early_end(struct hroce_qp *qp)
{
	struct hroce_early *e = &qp->early;
	u32 max = qp->proto.req.psn_max, end;
	bool open;

	if (!e->busy)
		return max;
	/* Pairs with hroce_early_sent(). */
	open = smp_load_acquire(&e->open);
	end = hroce_path_refs_begin(&qp->path, open, max);
	e->busy = open || end != max;
	return end;
}

/* One past the last PSN whose request the response would complete. */
static u32 early_needs(const struct hroce_qp *qp, u32 psn, u8 syndrome)
{
	const struct hrp_req *req = &qp->proto.req;
	bool ends_all = true;

	switch (syndrome & HRP_SYN_TYPE_MASK) {
	case HRP_SYN_ACK:
		return hrp_psn_add(psn, 1);
	case HRP_SYN_RNR:
		ends_all = req->rnr_retry != HRP_INFINITE_RNR_RETRY &&
			   !req->rnr_retries;
		break;
	case HRP_SYN_NAK:
		ends_all = syndrome != HRP_NAK_PSN_SEQ;
		break;
	}
	return ends_all ? req->psn_max : psn;
}

bool hroce_early_hold(struct hroce_qp *qp, const struct hrp_pkt *pkt)
{
	struct hroce_early *e = &qp->early;
	u32 needs;

	lockdep_assert_held(&qp->send.lock);
	if (pkt->info & (HRP_OI_READ | HRP_OI_ATOMIC))
		return false;
	needs = early_needs(qp, pkt->psn, pkt->syndrome);
	if (hrp_psn_diff(needs, early_end(qp)) <= 0)
		return false;
	/* It may be replaced by a later one, and is processed in parts. */
	hrp_comp_credits(&qp->proto, pkt);
	if (!e->held) {
		e->held = true;
		e->until_ns = ktime_get_ns() + EARLY_MAX_NS;
		/* The requester arms the timer for @until_ns. */
		if (!qp->timer_ns || qp->timer_ns > e->until_ns)
			set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
	} else if (hrp_psn_diff(pkt->psn, e->psn) < 0) {
		return true;
	}
	e->psn = pkt->psn;
	e->syndrome = pkt->syndrome;
	e->map = pkt->info & HRP_OI_EXT && pkt->payload_len;
	hroce_early_go_on(qp);
	return true;
}

/*
 * Process an acknowledgement. @map: it has told what is kept. Return: false if it
 * is not new.
 */
static bool early_commit(struct hroce_qp *qp, u32 psn, u8 syndrome, bool map,
			 u64 now_ns)
{
	struct hrp_pkt pkt = {
		.opcode = hrp_qp_service(&qp->proto) | HRP_OP_ACK,
		.psn = psn & HRP_PSN_MASK,
		.syndrome = syndrome,
		.payload_len = map,
	};
	struct hrp_rx rx __uninitialized;

	/* Like one between hroce peers, it has no credits. */
	pkt.info = hrp_opcode_info(pkt.opcode) | HRP_OI_EXT;
	hrp_comp_begin(&qp->proto, &pkt, &rx);
	if (rx.verdict == HRP_RX_DROP)
		return false;
	if (hrp_comp_commit(&qp->proto, &pkt, &rx, now_ns, HROCE_WC_SUCCESS))
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
	return true;
}

void hroce_early_go_on(struct hroce_qp *qp)
{
	struct hroce_early *e = &qp->early;
	u64 now_ns;
	u32 end;

	lockdep_assert_held(&qp->send.lock);
	hroce_path_await_refs(&qp->path);
	end = early_end(qp);
	now_ns = ktime_get_ns();
	if (hrp_psn_diff(early_needs(qp, e->psn, e->syndrome), end) <= 0) {
		e->held = false;
		early_commit(qp, e->psn, e->syndrome, e->map, now_ns);
		return;
	}
	/* A NAK acknowledges what is before its PSN, and nothing else. */
	if ((e->syndrome & HRP_SYN_TYPE_MASK) != HRP_SYN_ACK &&
	    hrp_psn_diff(end, e->psn) > 0)
		end = e->psn;
	if (early_commit(qp, end - 1, HRP_SYN_ACK, false, now_ns))
		e->until_ns = now_ns + EARLY_MAX_NS;
}

bool hroce_early_must_wait(struct hroce_qp *qp, u64 now_ns)
{
	struct hroce_early *e = &qp->early;
	u32 max = qp->proto.req.psn_max;
	bool must = false;

	lockdep_assert_held(&qp->send.lock);
	e->held = false;
	if (early_end(qp) != max) {
		hroce_path_await_refs(&qp->path);
		must = early_end(qp) != max;
	}
	if (must && !e->error)
		e->until_ns = now_ns + EARLY_MAX_NS;
	e->error = must;
	return must;
}

/* Is a request about to fail although frames refer to its memory? */
static bool early_fails(struct hroce_qp *qp, u64 now_ns)
{
	const struct hrp_req *req = &qp->proto.req;

	return hrp_req_gives_up(req, now_ns) && early_end(qp) != req->psn_max;
}

bool hroce_early_timeout(struct hroce_qp *qp, u64 now_ns)
{
	struct hroce_early *e = &qp->early;

	lockdep_assert_held(&qp->send.lock);
	if (!hroce_early_waits(e)) {
		if (!early_fails(qp, now_ns))
			return false;
		e->error = true;
		e->until_ns = now_ns + EARLY_MAX_NS;
	}
	if (now_ns < e->until_ns) {
		hrp_req_excuse(&qp->proto, now_ns);
		return false;
	}
	e->error = false;
	e->busy = false;
	if (e->held)
		hroce_early_go_on(qp);
	return true;
}

void hroce_early_drain(struct hroce_qp *qp)
{
	unsigned long end = jiffies + nsecs_to_jiffies(EARLY_MAX_NS);

	while (qp->path_ok && hroce_path_has_refs(&qp->path) &&
	       time_before(jiffies, end) && !READ_ONCE(hqp_dev(qp)->leaving) &&
	       !(current->flags & PF_EXITING) && !fatal_signal_pending(current))
		schedule_timeout_uninterruptible(1);
}

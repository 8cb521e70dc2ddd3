// SPDX-License-Identifier: GPL-2.0
/*
 * Responder: takes responses from the engine and sends them, flushes the
 * receive queue.
 */
#include <linux/rcupdate.h>
#include "../core/epoch.h"
#include "../mem/iter.h"
#include "../net/suspect.h"
#include "../proto/mtu.h"
#include "../proto/pace.h"
#include "../proto/rdres.h"
#include "../proto/resp.h"
#include "../trace/trace.h"
#include "cnp.h"
#include "fault.h"
#include "out.h"
#include "qp.h"
#include "recv.h"
#include "ring.h"
#include "sack.h"
#include "second.h"
#include "xrc.h"

/*
 * Send a burst, without the lock held. The frame stays open if another burst
 * follows.
 */
static noinline_for_stack u8 reply_burst(struct hroce_qp *qp,
					 struct hroce_out *out,
					 struct hrp_burst *b)
	__must_hold(&qp->recv.lock)
{
	struct hroce_mem_iter it __uninitialized;
	struct hroce_path *path = &qp->path;
	u8 status;

	if (unlikely(test_bit(HROCE_PENDING_BY_SECOND, &qp->proto.pending)))
		path = hroce_second_aim(qp, b, true);
	spin_unlock(&qp->recv.lock);
	trace_hroce_tx(qp->proto.qpn, b);
	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, hroce_xrc_pd(qp, b->first.srqn),
			qp->proto.qpn, &b->mem);
	status = hroce_out_add(out, path, b, &it);
	hroce_mem_end(&it);
	if (!b->more)
		hroce_out_end(out);
	spin_lock(&qp->recv.lock);
	if (likely(status == HROCE_WC_SUCCESS))
		return status;
	/* The peer may have had the packets that are in frames. */
	hrp_burst_cut(b, out->tx.next);
	return status == HRP_MEM_FAULT ?
	       hroce_fault_begin(qp, HROCE_FAULT_READ, &it) : status;
}

/* The same for a selective acknowledgement, with its map. */
static noinline_for_stack u8 reply_sack(struct hroce_qp *qp,
					struct hroce_out *out,
					struct hrp_burst *b)
	__must_hold(&qp->recv.lock)
{
	u8 map[HRP_SACK_MAP_BYTES] __uninitialized;

	if (b->mem.len)
		hrp_sack_fill(&qp->proto.resp, b, map);
	b->mem.bytes = map;
	return reply_burst(qp, out, b);
}

/* How much may be sent now, in bytes? 0: sending must pause. */
static u32 reply_room(struct hroce_qp *qp, const struct hroce_out *out)
{
	u32 room = hroce_out_room(out, &qp->path);

	if (!room) {
		hroce_qp_send_wake(qp, hroce_path_late_ns(&qp->path));
		return 0;
	}
	if (hroce_epoch_left())
		return room;
	tasklet_schedule(&qp->recv.task);
	return 0;
}

/* READ responses are all that may take more than a packet. */
static void reply_set_pkts(struct hrp_qp *qp, u32 room)
{
	struct hrp_resp *resp = &qp->resp;

	if (resp->rd_reply != resp->rd_head)
		resp->burst_pkts = hroce_out_pkts(room, hrp_mtu_max(qp));
}

/*
 * READ responses are sent again, or single ones are being sent. A peer that asks
 * for the rest of a READ has received what is before it. If it knows this side,
 * it asks for several parts, and keeps what is between them.
 */
static noinline void reply_doubts(struct hroce_qp *qp,
				  const struct hrp_burst *b)
{
	u32 oldest = hrp_rdres_oldest(&qp->proto.resp);
	bool parts = qp->proto.resp.sacks;
	struct hroce_resend resend = {
		.psn = b->first.psn,
		.end = qp->proto.resp.psn,
		.arrived = b->mem.offset && !parts ? b->first.psn : oldest,
		.next = qp->proto.resp.psn,
		.keeps = parts,
	};
	u8 op = hrp_opcode_op(b->first.opcode);

	lockdep_assert_held(&qp->recv.lock);
	if (op == HRP_OP_READ_RESP_FIRST || op == HRP_OP_READ_RESP_ONLY) {
		if (b->copy)
			hroce_path_resends(&qp->path, true, &resend);
		else
			hroce_path_arrived(&qp->path, true, oldest);
	}
	hroce_path_choose(&qp->path, true, b->first.psn);
}

/* The same for what is copied, or goes out in single packets. */
static noinline u8 reply_copied(struct hroce_qp *qp, struct hroce_out *out,
				struct hrp_burst *b)
	__must_hold(&qp->recv.lock)
{
	if (b->first.opcode == HRP_OPCODE_SACK)
		return reply_sack(qp, out, b);
	if (!(b->first.info & HRP_OI_EXT))
		reply_doubts(qp, b);
	return reply_burst(qp, out, b);
}

/*
 * The answer takes the way of its request, see &hrp_resp.follows. A frame that is
 * open has another UDP source port.
 */
static noinline void reply_follow(struct hroce_qp *qp, struct hroce_out *out,
				  const struct hrp_burst *b)
	__must_hold(&qp->recv.lock)
{
	u16 sport = b->first.sport;

	if (!(b->first.info & (HRP_OI_READ | HRP_OI_ATOMIC)) || !sport ||
	    sport == qp->path.sport[1])
		return;
	spin_unlock(&qp->recv.lock);
	hroce_out_end(out);
	WRITE_ONCE(qp->path.sport[1], sport);
	spin_lock(&qp->recv.lock);
}

/* The next answer, if there is one, and if congestion control lets it go. */
static noinline bool reply_next_paced(struct hroce_qp *qp, struct hrp_burst *b)
{
	u64 at_ns, now_ns = ktime_get_ns();
	bool got;

	lockdep_assert_held(&qp->recv.lock);
	spin_lock(&qp->send.lock);
	got = hrp_resp_next_paced(&qp->proto, now_ns, b);
	at_ns = hrp_pace_answers_at(&qp->proto);
	spin_unlock(&qp->send.lock);
	if (at_ns)
		hroce_qp_send_wake(qp, at_ns);
	return got;
}

static bool reply_next(struct hroce_qp *qp, struct hrp_burst *b)
{
	if (unlikely(READ_ONCE(qp->paced)))
		return reply_next_paced(qp, b);
	return hrp_resp_next(&qp->proto, b);
}

/* Send responses, in state ERR as well: a NAK tells the peer the cause. */
static void reply_bursts(struct hroce_qp *qp)
{
	struct hrp_burst b __uninitialized;
	struct hroce_out out __uninitialized;
	u8 status;
	u32 room;

	lockdep_assert_held(&qp->recv.lock);
	hroce_out_begin(&out, &qp->path, qp->proto.stats, false);
	while (qp->path_ok && !qp->dead) {
		room = reply_room(qp, &out);
		if (!room)
			break;
		reply_set_pkts(&qp->proto, room);
		if (!reply_next(qp, &b))
			break;
		hroce_epoch_charge(b.nr_pkts);
		if (unlikely(qp->proto.resp.follows))
			reply_follow(qp, &out, &b);
		if (unlikely(hroce_out_fills(&b, room)))
			b.more = 0;
		if (unlikely(b.copy || qp->path.single[1]))
			status = reply_copied(qp, &out, &b);
		else
			status = reply_burst(qp, &out, &b);
		hrp_resp_sent(&qp->proto, &b, status);
	}
	if (!out.tx.path)
		return;
	spin_unlock(&qp->recv.lock);
	hroce_out_end(&out);
	spin_lock(&qp->recv.lock);
}

/*
 * Complete the posted entries, and request a kick for later ones. A tasklet
 * flushes those beyond the budget of this epoch.
 */
static void reply_flush(struct hroce_qp *qp)
{
	u32 n, max = hroce_epoch_left();
	struct hroce_rq_hdr *hdr;

	if (qp->rq) {
		hdr = qp->rq->va;
		WRITE_ONCE(hdr->need_kick, 1);
		/* Store need_kick, then load prod: see rdma/hroce-abi.h. */
		smp_mb();
	}
	n = hrp_resp_flush(&qp->proto, max);
	hroce_epoch_charge(n);
	qp->recv.flushing = n == max;
	if (n == max)
		tasklet_schedule(&qp->recv.task);
}

#define REPLY_RARE	(BIT(HRP_PENDING_REHASH_ANSWERS) | \
			 BIT(HROCE_PENDING_CNP) | BIT(HROCE_PENDING_SECOND))

/* A CNP waits for nothing but for the token. */
static noinline void reply_cnp(struct hroce_qp *qp)
	__must_hold(&qp->recv.lock)
{
	clear_bit(HROCE_PENDING_CNP, &qp->proto.pending);
	if (!qp->path_ok || qp->dead)
		return;
	hroce_epoch_charge(1);
	spin_unlock(&qp->recv.lock);
	hroce_cnp_send(qp);
	spin_lock(&qp->recv.lock);
}

/* What is sent apart from answers, or before them. */
static noinline void reply_rare(struct hroce_qp *qp)
{
	lockdep_assert_held(&qp->recv.lock);
	if (test_and_clear_bit(HRP_PENDING_REHASH_ANSWERS, &qp->proto.pending))
		hroce_qp_rehash(qp, true);
	if (test_bit(HROCE_PENDING_CNP, &qp->proto.pending))
		reply_cnp(qp);
	if (test_and_clear_bit(HROCE_PENDING_SECOND, &qp->proto.pending))
		hroce_second_send(qp);
}

/* The caller holds the token. */
static void reply_loop(struct hroce_qp *qp)
{
	lockdep_assert_held(&qp->recv.lock);
	do {
		qp->recv.again = false;
		if (unlikely(READ_ONCE(qp->proto.pending) & REPLY_RARE))
			reply_rare(qp);
		reply_bursts(qp);
		if (qp->proto.state == HRP_ERR)
			reply_flush(qp);
	} while (hroce_qp_side_again(&qp->recv));
}

void hroce_qp_recv_work(struct hroce_qp *qp)
{
	spin_lock(&qp->recv.lock);
	if (unlikely(qp->proto.resp.kept) && !qp->dead)
		hroce_recv_kept(qp);
	if (hroce_qp_side_take(qp, &qp->recv)) {
		reply_loop(qp);
		qp->recv.running = false;
	}
	spin_unlock(&qp->recv.lock);
}

static void reply_task(struct tasklet_struct *task)
{
	hroce_qp_recv_run(container_of(task, struct hroce_qp, recv.task));
}

void hroce_qp_recv_init(struct hroce_qp *qp)
{
	spin_lock_init(&qp->recv.lock);
	tasklet_setup(&qp->recv.task, reply_task);
}

void hroce_qp_recv_stop(struct hroce_qp *qp)
{
	tasklet_kill(&qp->recv.task);
}

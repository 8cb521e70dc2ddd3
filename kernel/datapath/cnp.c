// SPDX-License-Identifier: GPL-2.0
/* Congestion notification packets, see cnp.h. */
#include <linux/pkt_sched.h>
#include <linux/timekeeping.h>
#include "../core/stats.h"
#include "../mem/iter.h"
#include "../net/class.h"
#include "../net/tx.h"
#include "../proto/cc.h"
#include "../proto/pace.h"
#include "../proto/spray.h"
#include "../trace/trace.h"
#include "cnp.h"
#include "qp.h"
#include "second.h"

/* Units of hroce_qp.cnp_at. */
#define CNP_UNIT_SHIFT	10

/* A CNP has no message: 16 bytes that are reserved (A17.9.3). */
#define CNP_PAYLOAD	16

void hroce_cnp_init(struct hroce_cnp *cnp)
{
	*cnp = (struct hroce_cnp) {
		.enable = true,
		.obey = true,
		.dscp = HROCE_CNP_DSCP,
		.prio = HROCE_CNP_PRIO,
		.min_us = HROCE_CNP_US,
	};
}

/*
 * Has the time since the last CNP passed? After a multiple of 67 ms without
 * one, it may seem not to, which delays the next.
 */
static bool cnp_is_due(const struct hroce_qp *qp, u16 now)
{
	u32 min_ns = READ_ONCE(hqp_dev(qp)->cnp.min_us) * NSEC_PER_USEC;

	BUILD_BUG_ON(HROCE_CNP_MAX_US * NSEC_PER_USEC >>
		     CNP_UNIT_SHIFT >= U16_MAX);
	/* The last unit may have just begun. */
	return !qp->cnp_at || !min_ns ||
	       (u16)(now - qp->cnp_at) > DIV_ROUND_UP(min_ns,
						      1u << CNP_UNIT_SHIFT);
}

/* An answer has the port of its request, which chose the way of both. */
static void cnp_count_answer(struct hroce_qp *qp, u16 sport, u64 now_ns)
{
	lockdep_assert_held(&qp->recv.lock);
	spin_lock(&qp->send.lock);
	hrp_spray_marked(&qp->proto.req, sport, now_ns);
	spin_unlock(&qp->send.lock);
}

void hroce_cnp_marked(struct hroce_qp *qp, u16 sport, bool answer)
{
	u64 now_ns;
	u16 now;

	if (qp->proto.type == HRP_TYPE_UD ||
	    !READ_ONCE(hqp_dev(qp)->cnp.enable))
		return;
	/* 0 means never. */
	now_ns = ktime_get_ns();
	now = (u16)(now_ns >> CNP_UNIT_SHIFT) ?: 1;
	spin_lock(&qp->recv.lock);
	if (!qp->dead && cnp_is_due(qp, now)) {
		qp->cnp_at = now;
		WRITE_ONCE(qp->cnp_sport, qp->proto.resp.follows ? sport : 0);
		if (unlikely(answer))
			cnp_count_answer(qp, sport, now_ns);
		set_bit(HROCE_PENDING_CNP, &qp->proto.pending);
		set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	}
	spin_unlock(&qp->recv.lock);
}

/*
 * The path that answers take, in the class of CNPs. A peer that has asked for
 * answers by the ways of their requests learns by the port which of them is marked.
 */
static int cnp_path(const struct hroce_qp *qp, const struct hroce_path *answers,
		    struct hroce_path *path)
{
	const struct hroce_cnp *cnp = &hqp_dev(qp)->cnp;
	struct hroce_path_key key = answers->key;
	int err;

	key.tclass = READ_ONCE(cnp->dscp) << 2;
	key.sl = READ_ONCE(cnp->prio);
	key.priority = hroce_class_priority(answers->port->dev, key.sl,
					    TC_PRIO_MAX);
	err = hroce_path_init(path, answers->port, &key, false, GFP_ATOMIC);
	path->sport[1] = answers->sport[1];
	/* The next packet that is marked may have another one already. */
	if (answers == &qp->path)
		path->sport[1] = READ_ONCE(qp->cnp_sport) ?: path->sport[1];
	return err;
}

/* As ConnectX builds it: PSN 0, MigReq 0. */
static void cnp_build(const struct hroce_qp *qp, struct hrp_burst *b)
{
	static const u8 reserved[CNP_PAYLOAD];

	hrp_burst_begin(b, &qp->proto, HRP_OPCODE_CNP, 0);
	b->first.cn = HRP_BECN;
	b->first.migreq = 0;
	b->mem.bytes = reserved;
	b->mem.len = sizeof(reserved);
}

/* Each of these functions has one big object on its stack. */
static noinline_for_stack void cnp_add(const struct hroce_qp *qp,
				       struct hroce_tx *tx,
				       const struct hrp_burst *b)
{
	struct hroce_mem_iter it __uninitialized;

	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, qp->ib.pd, 0, &b->mem);
	hroce_tx_add(tx, b, &it);
	hroce_mem_end(&it);
}

static noinline_for_stack void cnp_transmit(struct hroce_qp *qp,
					    struct hroce_path *path,
					    const struct hrp_burst *b)
{
	struct hroce_tx tx __uninitialized;

	hroce_tx_begin(&tx, &qp->path, qp->proto.stats, false);
	if (hroce_tx_aim(&tx, path)) {
		hroce_stats_add(qp->proto.stats, HROCE_EV_TX_ERRORS, 1);
		return;
	}
	/* As ConnectX sends them. */
	hroce_headers_set_ect(&tx.hdr, true);
	cnp_add(qp, &tx, b);
	hroce_tx_end(&tx);
	hroce_stats_add(qp->proto.stats, HROCE_EV_CNP_SENT, 1);
}

void hroce_cnp_send(struct hroce_qp *qp)
{
	const struct hroce_path *answers = &qp->path;
	struct hrp_burst b __uninitialized;
	struct hroce_path path = {};

	cnp_build(qp, &b);
	if (unlikely(test_bit(HROCE_PENDING_BY_SECOND, &qp->proto.pending)))
		answers = hroce_second_aim(qp, &b, true);
	if (cnp_path(qp, answers, &path))
		return;
	trace_hroce_tx(qp->proto.qpn, &b);
	cnp_transmit(qp, &path, &b);
}

/* Does the control of this queue pair react to CNPs? XRC targets send READ responses. */
static bool cnp_reacts(const struct hroce_qp *qp)
{
	return qp->proto.type != HRP_TYPE_UD &&
	       READ_ONCE(hqp_dev(qp)->cnp.obey) &&
	       hrp_cc_of(qp->proto.req.cc)->cnp;
}

void hroce_cnp_choose(struct hroce_qp *qp)
{
	bool reacts = cnp_reacts(qp);

	lockdep_assert_held(&qp->send.lock);
	WRITE_ONCE(qp->path.ect[0], reacts);
	WRITE_ONCE(qp->path.ect[1], reacts);
}

bool hroce_cnp_obey(struct hroce_qp *qp, u16 sport)
{
	u64 now_ns = ktime_get_ns();
	bool obeyed;

	spin_lock(&qp->send.lock);
	obeyed = !qp->dead && cnp_reacts(qp);
	if (obeyed) {
		/* Without memory, the window shrinks instead, which costs nothing. */
		if (hrp_cc_wants_pace(&qp->proto))
			hroce_qp_pace(qp, now_ns);
		hrp_cc_notified(&qp->proto, now_ns);
		hrp_spray_marked(&qp->proto.req, sport, now_ns);
		WRITE_ONCE(qp->paced, qp->proto.req.pace);
		trace_hroce_cnp(&qp->proto);
	}
	spin_unlock(&qp->send.lock);
	return obeyed;
}

// SPDX-License-Identifier: GPL-2.0
/* A second way to the peer, see second.h. */
#include <linux/minmax.h>
#include <linux/pkt_sched.h>
#include <linux/random.h>
#include <linux/timekeeping.h>
#include "../mem/iter.h"
#include "../net/class.h"
#include "../proto/req.h"
#include "../trace/trace.h"
#include "out.h"
#include "recv.h"
#include "second.h"
#include "user.h"

static_assert(sizeof(struct in6_addr) == HRP_SECOND_ADDR_BYTES);

/* Context: in an epoch, or owner of @qp. */
static struct hroce_second *second_of(const struct hroce_qp *qp)
{
	struct hroce_dev *dev = hqp_dev(qp);

	if (!READ_ONCE(qp->second))
		return NULL;
	return xa_load(&dev->seconds, hroce_qp_index(dev, qp->proto.qpn));
}

/* Its path and its number may be used. */
static bool second_is_ready(const struct hroce_second *second)
{
	/* Pairs with second_open(). */
	return second && smp_load_acquire(&second->ready);
}

struct hroce_qp *hroce_second_find(struct hroce_dev *dev, u32 qpn)
{
	struct hroce_second *second;

	hroce_epoch_assert();
	second = xa_load(&dev->aliases, hroce_qp_index(dev, qpn));
	return second ? second->qp : NULL;
}

bool hroce_second_is_peer(const struct hroce_qp *qp, const struct hroce_recv *r)
{
	const struct hroce_second *second = second_of(qp);

	return second_is_ready(second) &&
	       r->packet.pkt.dqpn == READ_ONCE(second->proto.own_qpn) &&
	       hroce_path_is_peer(&second->path, &r->frame->saddr,
				  &r->frame->daddr) &&
	       (READ_ONCE(second->proto.valid) ||
		hrp_second_is_about(&r->packet.pkt));
}

void hroce_second_requested(struct hroce_qp *qp, enum hrp_way way)
{
	bool second = way == HRP_WAY_SECOND;

	if (!!test_bit(HROCE_PENDING_BY_SECOND, &qp->proto.pending) == second)
		return;
	spin_lock(&qp->recv.lock);
	/* Not once that link is being removed. */
	if (second && second_is_ready(second_of(qp)))
		set_bit(HROCE_PENDING_BY_SECOND, &qp->proto.pending);
	else
		clear_bit(HROCE_PENDING_BY_SECOND, &qp->proto.pending);
	hrp_count(&qp->proto, HROCE_EV_REHASHES);
	trace_hroce_reroute(qp->proto.qpn, true, second);
	spin_unlock(&qp->recv.lock);
}

/* Something is due. */
static void second_run(struct hroce_qp *qp)
{
	set_bit(HROCE_PENDING_SECOND, &qp->proto.pending);
	set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
}

/* Requests go by that way from now on. */
static void second_take(struct hroce_qp *qp, struct hroce_second *second,
			bool away)
{
	lockdep_assert_held(&qp->send.lock);
	WRITE_ONCE(second->proto.away, away);
	WRITE_ONCE(qp->elsewhere, away);
	hrp_count(&qp->proto, HROCE_EV_REHASHES);
	trace_hroce_reroute(qp->proto.qpn, false, away);
}

/* The peer has told its second address. */
static void second_open(struct hroce_second *second)
{
	const struct hroce_qp *qp = second->qp;
	struct hroce_path_key key = qp->path.key;
	struct hroce_port *port = &second->dev->port;
	gfp_t gfp = HROCE_USER_GFP;
	struct mem_cgroup *before;
	int err;

	lockdep_assert_held(&qp->recv.lock);
	memcpy(&key.saddr, second->proto.own_addr, sizeof(key.saddr));
	memcpy(&key.daddr, second->proto.peer_addr, sizeof(key.daddr));
	key.priority = hroce_class_priority(port->dev, key.sl,
					    max_t(u8, key.priority,
						  TC_PRIO_INTERACTIVE));
	before = hroce_user_pay(qp, &gfp);
	err = hroce_path_init(&second->path, port, &key, true, gfp);
	hroce_user_paid(before);
	/* The next tick tries again. */
	if (err)
		return;
	/* Pairs with second_is_ready(). */
	smp_store_release(&second->ready, true);
}

static bool second_answered(struct hroce_second *second, const u8 *payload,
			    enum hrp_way way)
{
	struct hroce_qp *qp = second->qp;
	enum hrp_second_news news;

	spin_lock(&qp->send.lock);
	news = hrp_second_answered(&second->proto, payload, way);
	if (second->proto.agreed && !second->ready)
		second_open(second);
	if (news == HRP_SECOND_BACK)
		second_take(qp, second, false);
	spin_unlock(&qp->send.lock);
	return news != HRP_SECOND_BAD;
}

int hroce_second_heard(struct hroce_qp *qp, const struct hrp_pkt *pkt,
		       const u8 *payload)
{
	enum hrp_way way = pkt->dqpn == qp->proto.qpn ? HRP_WAY_FIRST :
							HRP_WAY_SECOND;
	struct hroce_second *second = second_of(qp);
	int drop = HROCE_DROP_QP_STATE;
	bool taken;

	if (!second)
		return HROCE_DROP_OPCODE;
	spin_lock(&qp->recv.lock);
	if (!qp->dead) {
		taken = pkt->info & HRP_OI_RESPONSE ?
			second_answered(second, payload, way) :
			hrp_second_asked(&second->proto, payload, way,
					 ktime_get_ns());
		drop = taken ? -1 : HROCE_DROP_OPCODE;
		if (second->proto.due)
			second_run(qp);
	}
	spin_unlock(&qp->recv.lock);
	return drop;
}

/* Without the lock. */
static noinline_for_stack void second_transmit(struct hroce_qp *qp,
					       struct hroce_path *path,
					       const struct hrp_burst *b)
{
	struct hroce_mem_iter it __uninitialized;
	struct hroce_out out __uninitialized;

	trace_hroce_tx(qp->proto.qpn, b);
	hroce_out_begin(&out, &qp->path, qp->proto.stats, false);
	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, qp->ib.pd, 0, &b->mem);
	hroce_out_add(&out, path, b, &it);
	hroce_mem_end(&it);
	hroce_out_end(&out);
}

static bool second_next(struct hroce_second *second, u8 *payload,
			struct hrp_burst *b, enum hrp_way *way)
{
	if (READ_ONCE(second->wanted)) {
		WRITE_ONCE(second->wanted, false);
		hrp_second_want(&second->proto);
	}
	return hrp_second_next(&second->proto, &second->qp->proto,
			       get_random_u64(), payload, b, way);
}

void hroce_second_send(struct hroce_qp *qp)
	__must_hold(&qp->recv.lock)
{
	u8 payload[HRP_SECOND_BYTES] __uninitialized;
	struct hroce_second *second = second_of(qp);
	struct hrp_burst b __uninitialized;
	struct hroce_path *path;
	enum hrp_way way;

	while (second && qp->path_ok && !qp->dead &&
	       second_next(second, payload, &b, &way)) {
		path = way == HRP_WAY_SECOND ? &second->path : &qp->path;
		if (way == HRP_WAY_SECOND && !second->ready)
			continue;
		hroce_epoch_charge(1);
		spin_unlock(&qp->recv.lock);
		second_transmit(qp, path, &b);
		spin_lock(&qp->recv.lock);
	}
}

struct hroce_path *hroce_second_aim(struct hroce_qp *qp, struct hrp_burst *b,
				    bool answer)
{
	struct hroce_second *second = second_of(qp);

	if (!second_is_ready(second))
		return &qp->path;
	b->first.dqpn = second->proto.peer_qpn;
	WRITE_ONCE(second->path.ect[answer], READ_ONCE(qp->path.ect[answer]));
	return &second->path;
}

void hroce_second_silent(struct hroce_qp *qp)
{
	struct hroce_second *second = second_of(qp);

	lockdep_assert_held(&qp->send.lock);
	if (!second_is_ready(second))
		return;
	if (!second->proto.away && !second->proto.valid) {
		WRITE_ONCE(second->wanted, true);
		second_run(qp);
		return;
	}
	second_take(qp, second, !second->proto.away);
}

struct hroce_path *hroce_second_path(const struct hroce_qp *qp)
{
	struct hroce_second *second = second_of(qp);

	return second_is_ready(second) ? &second->path : NULL;
}

static bool second_sends(const struct hroce_qp *qp)
{
	return !qp->dead && hrp_qp_sends(&qp->proto) &&
	       (qp->proto.state == HRP_RTS || qp->proto.state == HRP_SQD);
}

/* A target of XRC may stay in RTR; others are not asked before they may be ready. */
static bool second_is_live(const struct hroce_second *second)
{
	const struct hroce_qp *qp = second->qp;

	return second->dev && !qp->dead && qp->proto.state <= HRP_SQD &&
	       qp->proto.state >= (second->proto.agreed ? HRP_RTR : HRP_RTS);
}

void hroce_second_tick(struct hroce_second *second)
{
	struct hroce_qp *qp = second->qp;

	hroce_qp_lock(qp);
	if (second_is_live(second)) {
		/* There was no memory when the peer told its address. */
		if (unlikely(second->proto.agreed && !second->ready))
			second_open(second);
		hrp_second_tick(&second->proto);
		if (second->proto.due)
			second_run(qp);
	}
	hroce_qp_unlock(qp);
	hroce_qp_run_pending(qp);
}

void hroce_second_leave(struct hroce_second *second, enum hrp_way way)
{
	struct hroce_qp *qp = second->qp;
	bool first = way == HRP_WAY_FIRST;

	hroce_qp_lock(qp);
	if (second_sends(qp) && second->proto.away != first &&
	    (second->proto.valid || !first)) {
		second_take(qp, second, first);
		hrp_req_moved(&qp->proto, ktime_get_ns());
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
	}
	hroce_qp_unlock(qp);
	hroce_qp_run_pending(qp);
}

void hroce_second_drop(struct hroce_second *second)
{
	struct hroce_qp *qp = second->qp;

	hroce_second_leave(second, HRP_WAY_SECOND);
	hroce_qp_lock(qp);
	WRITE_ONCE(second->ready, false);
	second->dev = NULL;
	hrp_second_end(&second->proto);
	WRITE_ONCE(qp->elsewhere, false);
	clear_bit(HROCE_PENDING_BY_SECOND, &qp->proto.pending);
	hroce_qp_unlock(qp);
}

const char *hroce_second_state(const struct hroce_qp *qp)
{
	const struct hroce_second *second = second_of(qp);

	if (!second || !second->dev)
		return "off";
	if (second->proto.away)
		return "used";
	if (second->proto.valid)
		return "ready";
	return second->proto.agreed ? "agreed" : "asked";
}

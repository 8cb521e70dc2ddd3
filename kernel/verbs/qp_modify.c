// SPDX-License-Identifier: GPL-2.0
/*
 * modify_qp: the state machine of queue pairs (IBTA 10.3.1). ib_core's table
 * says which transitions and attributes go together; ranges are checked in
 * qp_attr.c.
 *
 * Everything that may fail or sleep is done first and kept in a struct
 * qp_change. It is applied with both locks held. What follows from it is done
 * last, without locks.
 */
#include <linux/hrtimer.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include "../datapath/mtu.h"
#include "../datapath/qp.h"
#include "../datapath/ring.h"
#include "../datapath/spray.h"
#include "../proto/pace.h"
#include "../proto/req.h"
#include "../proto/resp.h"
#include "../proto/sack.h"
#include "../trace/trace.h"
#include "ah.h"
#include "device.h"
#include "ops.h"
#include "port.h"
#include "qp_attr.h"
#include "second.h"
#include "ucontext.h"

/**
 * struct qp_change - modify_qp() in progress
 * @attr: attributes
 * @mask: which are set
 * @from: state before
 * @to: state wanted; may be the same
 * @key: new address vector, if IB_QP_AV is set
 * @rd: new responder resources; afterwards the old ones, to be freed
 * @nr_rd: number of @rd
 * @pace: memory for a rate; afterwards not used, to be freed
 * @max_burst_bytes: longest burst at the new rate limit; 0: the default
 * @static_kbps: static rate of the address vector; 0: none
 */
struct qp_change {
	const struct ib_qp_attr *attr;
	int mask;
	enum ib_qp_state from;
	enum ib_qp_state to;
	struct hroce_path_key key;
	struct hrp_rdres *rd;
	u8 nr_rd;
	struct hrp_pace *pace;
	u32 max_burst_bytes;
	u32 static_kbps;
};

static void qp_set_state(struct hroce_qp *qp, enum ib_qp_state state)
{
	trace_hroce_qp_state(qp->proto.qpn, qp->proto.state, state);
	WRITE_ONCE(qp->proto.state, (enum hrp_state)state);
}

static int change_prepare_path(struct hroce_qp *qp, struct qp_change *c)
{
	const struct rdma_ah_attr *ah = &c->attr->ah_attr;
	u32 dest_qpn = qp->proto.dest_qpn;
	u16 sport;
	int err;

	if (c->mask & IB_QP_DEST_QPN)
		dest_qpn = c->attr->dest_qp_num;
	/* Constant for a connection, but different for each. */
	sport = rdma_get_udp_sport(rdma_ah_read_grh(ah)->flow_label,
				   qp->proto.qpn, dest_qpn);
	err = hroce_ah_path_key(qp->ib.device, ah, sport, qp->user,
				&c->key);
	if (err || qp->path_ok)
		return err;

	err = hroce_qp_path_init(qp, &c->key, true);
	if (err)
		return err;
	hroce_qp_lock(qp);
	qp->path_ok = true;
	hroce_qp_unlock(qp);
	return 0;
}

static int change_prepare_rd(struct hroce_qp *qp, struct qp_change *c)
{
	u32 nr = c->attr->max_dest_rd_atomic;

	if (!hrp_qp_is_reliable(&qp->proto))
		return 0;
	/* Resources in use are not replaced. */
	if (c->from != IB_QPS_INIT)
		return nr <= qp->proto.resp.nr_rd ? 0 : -EINVAL;
	if (!nr)
		return 0;
	c->nr_rd = roundup_pow_of_two(nr);
	c->rd = kvcalloc(c->nr_rd, sizeof(*c->rd), GFP_KERNEL_ACCOUNT);
	return c->rd ? 0 : -ENOMEM;
}

static int change_check_limit(const struct hroce_qp *qp,
			      const struct qp_change *c)
{
	u32 rate_kbps = c->attr->rate_limit;

	if (!hrp_qp_sends(&qp->proto) || qp->proto.gsi)
		return -EOPNOTSUPP;
	if (c->to != IB_QPS_RTS ||
	    (c->from != IB_QPS_RTR && c->from != IB_QPS_RTS))
		return -EINVAL;
	if (!rate_kbps)
		return c->max_burst_bytes ? -EINVAL : 0;
	if (rate_kbps < HROCE_MIN_RATE_KBPS || rate_kbps > HROCE_MAX_RATE_KBPS)
		return -EINVAL;
	return 0;
}

/* Does the rate limit or the static rate begin, change or end? */
static bool change_has_rate(const struct hroce_qp *qp,
			    const struct qp_change *c)
{
	if (!hrp_qp_sends(&qp->proto))
		return false;
	return c->mask & IB_QP_RATE_LIMIT ||
	       (c->from == IB_QPS_RTR && c->to == IB_QPS_RTS) ||
	       (c->from == IB_QPS_SQD && c->mask & IB_QP_AV);
}

static int change_prepare_pace(struct hroce_qp *qp, struct qp_change *c)
{
	const struct hroce_path_key *key = c->mask & IB_QP_AV ? &c->key :
								&qp->path.key;
	bool limited = c->mask & IB_QP_RATE_LIMIT && c->attr->rate_limit;

	if (!change_has_rate(qp, c))
		return 0;
	c->static_kbps = hroce_port_static_kbps(hqp_dev(qp), key->static_rate);
	if (!limited && !c->static_kbps)
		return 0;
	/* That of the control may be freed before the change. */
	c->pace = kzalloc(sizeof(*c->pace), GFP_KERNEL_ACCOUNT);
	return c->pace ? 0 : -ENOMEM;
}

/*
 * Attributes that ib_core's table does not know in this place. It has RATE_LIMIT
 * for raw packet QPs only. In SQD uverbs adds PORT to each AV, which the table
 * has not for UC; the port is checked below.
 */
static int change_extra(const struct qp_change *c)
{
	int extra = IB_QP_RATE_LIMIT;

	if (c->from == IB_QPS_SQD && c->mask & IB_QP_AV)
		extra |= IB_QP_PORT;
	return extra;
}

static int change_prepare(struct hroce_qp *qp, struct qp_change *c)
{
	int err;

	if (c->mask & IB_QP_CUR_STATE && c->attr->cur_qp_state != c->from)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(c->from, c->to, qp->ib.qp_type,
				c->mask & ~change_extra(c)))
		return -EINVAL;
	err = hroce_qp_check_attr(qp, c->attr, c->mask);
	if (err)
		return err;
	if (c->mask & IB_QP_RATE_LIMIT) {
		err = change_check_limit(qp, c);
		if (err)
			return err;
	}
	if (c->mask & IB_QP_AV && qp->proto.type != HRP_TYPE_UD) {
		err = change_prepare_path(qp, c);
		if (err)
			return err;
	}
	if (c->mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		err = change_prepare_rd(qp, c);
		if (err)
			return err;
	}
	return change_prepare_pace(qp, c);
}

/* What is to control the congestion of the queue pair: its class decides. */
static u8 change_cc(const struct hroce_qp *qp)
{
	const struct hroce_dev *dev = hqp_dev(qp);
	u8 cc = HROCE_CC_LINK;

	if (qp->path_ok)
		cc = READ_ONCE(dev->cc_class[qp->path.key.sl]);
	return cc == HROCE_CC_LINK ? READ_ONCE(dev->cc) : cc;
}

/* Both locks are held: effects of the transition on the engine. */
static void change_enter(struct hroce_qp *qp, const struct qp_change *c)
{
	enum ib_mtu mtu = READ_ONCE(to_hibdev(qp->ib.device)->mtu);
	struct hrp_req *req = &qp->proto.req;

	switch (c->to) {
	case IB_QPS_RTR:
		if (qp->proto.type == HRP_TYPE_UD)
			qp->proto.mtu = ib_mtu_enum_to_int(mtu);
		hroce_mtu_start(qp);
		hrp_resp_start(&qp->proto, c->attr->rq_psn);
		/* READs are answered already. */
		req->cc = change_cc(qp);
		hroce_cnp_choose(qp);
		break;
	case IB_QPS_RTS:
		/* Of SQD, if it was left before that. */
		req->drained_event = 0;
		if (c->from != IB_QPS_RTR)
			break;
		req->cc = change_cc(qp);
		req->asks = READ_ONCE(hqp_dev(qp)->sack) ? HRP_SACK_ASKS : 0;
		req->spray = READ_ONCE(hqp_dev(qp)->spray);
		req->mtu_asks = qp->proto.resp.own_mtu ? HRP_MTU_ASKS : 0;
		hrp_req_start(&qp->proto, c->attr->sq_psn);
		hroce_cnp_choose(qp);
		break;
	case IB_QPS_SQD:
		if (c->from == IB_QPS_RTS)
			hrp_req_drain(&qp->proto,
				      c->mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
				      c->attr->en_sqd_async_notify);
		break;
	default:
		break;
	}
}

/*
 * Both locks are held. The lower of rate limit and static rate is in force. A
 * late timer must not lower the rate: see pace.h.
 */
static void change_rate(struct hroce_qp *qp, struct qp_change *c)
{
	struct hrp_pace *pace = qp->proto.req.pace;
	u64 now_ns = ktime_get_ns();
	u32 asked_bytes = 0;
	u32 asked_kbps = 0;
	u32 limit_kbps;

	if (c->mask & IB_QP_RATE_LIMIT) {
		asked_kbps = c->attr->rate_limit;
		asked_bytes = c->max_burst_bytes;
	} else if (pace) {
		asked_kbps = pace->asked_kbps;
		asked_bytes = pace->asked_bytes;
	}
	limit_kbps = min_not_zero(asked_kbps, c->static_kbps);
	if (!pace) {
		if (!limit_kbps)
			return;
		hrp_pace_start(&qp->proto, c->pace, &hqp_dev(qp)->rp, now_ns,
			       2 * hrtimer_resolution);
		swap(pace, c->pace);
	}
	pace->asked_kbps = asked_kbps;
	pace->asked_bytes = asked_bytes;
	hrp_pace_set(&qp->proto, now_ns, limit_kbps, asked_bytes);
}

/* Flush the requests posted before the error: they must not be sent later. */
static void qp_end_sqe(struct hroce_qp *qp)
{
	hroce_qp_stop(qp);
	hroce_qp_end_flush(qp);
	hroce_qp_lock(qp);
	qp->dead = false;
	hroce_qp_unlock(qp);
	hroce_qp_recv_run(qp);
	hroce_qp_send_run(qp);
}

static int change_commit(struct hroce_qp *qp, struct qp_change *c)
{
	int err = 0;

	hroce_qp_lock(qp);
	/* The engine may have entered an error state meanwhile. */
	if (qp->proto.state != c->from && c->to != IB_QPS_ERR) {
		err = -EINVAL;
		goto unlock;
	}
	if (c->nr_rd) {
		swap(qp->proto.resp.rd, c->rd);
		swap(qp->proto.resp.nr_rd, c->nr_rd);
	}
	/* The path is of a failed attempt; nothing is sent in INIT. */
	if (c->mask & IB_QP_AV && c->from == IB_QPS_INIT && qp->path_ok)
		hroce_path_update(&qp->path, &c->key);
	hroce_qp_set_attr(qp, c->attr, c->mask);
	if (change_has_rate(qp, c))
		change_rate(qp, c);
	if (c->to != c->from) {
		change_enter(qp, c);
		qp_set_state(qp, c->to);
	}
unlock:
	hroce_qp_unlock(qp);
	return err;
}

/*
 * A new address vector (SQD to SQD). Stopping cancels the timer and makes both
 * sides forget the memory that they wait for. So let them try again: they fetch
 * it again if it is still absent. The caller runs the requester, which arms the
 * timer. What is kept stays, as the peer may be answering for parts of a READ. The
 * second way, and those of several paths, were of the address vector before.
 */
static void qp_update_path(struct hroce_qp *qp, const struct qp_change *c)
{
	struct hroce_second *second = hroce_second_unhook(qp);

	hroce_qp_stop(qp);
	hroce_second_free(second);
	hroce_path_update(&qp->path, &c->key);
	hroce_qp_lock(qp);
	hrp_resp_read_ready(&qp->proto, true);
	hrp_req_mem_ready(&qp->proto, ktime_get_ns(), true);
	hroce_spray_draw(qp);
	qp->dead = false;
	hroce_qp_unlock(qp);
	/* An ACK that became held just before has lost its timer. */
	hroce_hold_end(qp);
	hroce_qp_recv_run(qp);
}

static void rq_skip(struct hroce_qp *qp)
{
	struct hroce_rq_hdr *hdr = qp->rq->va;

	qp->rq_head = READ_ONCE(hdr->prod);
	WRITE_ONCE(hdr->cons, qp->rq_head);
	WRITE_ONCE(hdr->need_kick, 0);
}

/* Back to the state after creation. */
static void qp_reset(struct hroce_qp *qp)
{
	hroce_qp_quiesce(qp, hroce_second_unhook(qp), false);
	hroce_qp_lock(qp);
	qp_set_state(qp, IB_QPS_RESET);
	if (qp->rq)
		rq_skip(qp);
	qp->traced = 0;
	qp->dead = false;
	hroce_qp_unlock(qp);
}

/*
 * The queue pairs of user space are flushed, or have been, as their device is
 * removed: one that came to life again would not be. See removal.c.
 */
static bool qp_is_leaving(const struct hroce_qp *qp, const struct qp_change *c)
{
	/* Pairs with removal_begin(): it is in the table, see there. */
	smp_mb();
	return qp->user && READ_ONCE(hqp_dev(qp)->leaving) &&
	       c->to != IB_QPS_RESET && c->to != IB_QPS_ERR;
}

static int qp_modify_locked(struct hroce_qp *qp, struct qp_change *c)
{
	int err;

	lockdep_assert_held(&qp->modify_lock);
	c->from = (enum ib_qp_state)READ_ONCE(qp->proto.state);
	c->to = c->mask & IB_QP_STATE ? c->attr->qp_state : c->from;
	if (qp_is_leaving(qp, c))
		return -EIO;
	err = change_prepare(qp, c);
	if (err)
		return err;
	if (c->to == IB_QPS_RESET) {
		qp_reset(qp);
		return 0;
	}
	if (c->from == IB_QPS_SQE)
		qp_end_sqe(qp);
	err = change_commit(qp, c);
	if (err)
		return err;

	if (c->mask & IB_QP_AV && c->from == IB_QPS_SQD && qp->path_ok)
		qp_update_path(qp, c);
	if (c->to == IB_QPS_RTR)
		hroce_second_add(qp);
	else if (c->from == IB_QPS_RTR && c->to == IB_QPS_RTS)
		hroce_second_start(qp);
	if (c->to == IB_QPS_ERR)
		hroce_qp_error(qp);
	else if (c->to == IB_QPS_RTS || c->to == IB_QPS_SQD)
		hroce_qp_send_run(qp);
	return 0;
}

/* User space may send struct hroce_modify_qp_req, zeros, or nothing. */
static int change_read(struct qp_change *c, struct ib_udata *udata)
{
	struct hroce_modify_qp_req req = {};
	int err;

	if (!udata)
		return 0;
	err = hroce_udata_read(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.comp_mask || memchr_inv(req.reserved, 0, sizeof(req.reserved)))
		return -EINVAL;
	if (!(c->mask & IB_QP_RATE_LIMIT) &&
	    (req.max_burst_sz || req.typical_pkt_sz))
		return -EINVAL;
	c->max_burst_bytes = req.max_burst_sz;
	return 0;
}

int hroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct qp_change c = { .attr = attr, .mask = mask };
	struct hroce_qp *qp = to_hqp(ibqp);
	int err;

	err = change_read(&c, udata);
	if (err)
		return err;
	mutex_lock(&qp->modify_lock);
	err = qp_modify_locked(qp, &c);
	mutex_unlock(&qp->modify_lock);
	kvfree(c.rd);
	kfree(c.pace);
	return err;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The receiving side at work: finds the queue pair of a packet, places its
 * payload, lets the engine decide, and sends the answers, all in the softirq
 * that brought the packet.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include "../mem/iter.h"
#include "../mem/mkeys.h"
#include "../net/rx.h"
#include "../net/tx.h"
#include "../proto/env.h"
#include "../proto/req.h"
#include "../proto/resp.h"
#include "../section.h"
#include "../trace.h"
#include "fault.h"
#include "mcast.h"
#include "mr.h"
#include "pkey.h"
#include "qp.h"
#include "ring.h"
#include "srq.h"
#include "turn.h"

#define QPN_MULTICAST	0xffffff

/* XRC. */

static struct hroce_srq *recv_find_srq(const struct hroce_qp *qp, u32 srqn)
{
	return hroce_srq_find(hqp_dev(qp), qp->ib.xrcd, srqn);
}

/*
 * Protection domain of the memory that the peer names by R_Key; XRC: that of
 * SRQ @srqn, NULL if that is gone.
 */
static struct ib_pd *recv_pd(const struct hroce_qp *qp, u32 srqn)
{
	const struct hroce_srq *srq;

	if (likely(qp->proto.type != HRP_TYPE_XRC_TGT))
		return qp->ib.pd;
	srq = recv_find_srq(qp, srqn);
	return srq ? srq->ib.pd : NULL;
}

/* The same for the request that is being worked on. */
static struct ib_pd *recv_request_pd(const struct hroce_qp *qp)
{
	return recv_pd(qp, qp->proto.resp.srqn);
}

/*
 * Protection domain of what @mem is: receive entries of an SRQ name memory of
 * the SRQ's domain, whatever queue pair takes them (10.2.9).
 */
static struct ib_pd *recv_mem_pd(const struct hroce_qp *qp,
				 const struct hrp_mem *mem)
{
	if (unlikely(qp->srq) && mem->access == HRP_ACCESS_LOCAL_WRITE)
		return qp->srq->ib.pd;
	return recv_request_pd(qp);
}

/*
 * Completions go where the SRQ wants them. The handler is called at once, as
 * more than one CQ may be concerned by the time that locks are dropped: it is
 * one of uverbs, which only wakes.
 */
static void recv_done_xrc(struct hroce_qp *qp, const struct hroce_cqe *cqe,
			  bool solicited)
{
	struct hroce_srq *srq = recv_find_srq(qp, qp->proto.resp.srqn);
	struct hroce_cq *cq;

	/* The SRQ is being destroyed: drop the completion. */
	if (!srq)
		return;
	cq = to_hcq(srq->ib.ext.cq);
	if (cqe->status != HROCE_WC_SUCCESS)
		solicited = true;
	if (hroce_cq_push(cq, cqe, solicited))
		hroce_cq_notify(cq);
	if (unlikely(READ_ONCE(cq->overrun)))
		hroce_qp_fatal(qp);
}

/* Answers. */

/*
 * Lets the frame stay open if another burst follows. The lock is not held
 * meanwhile.
 */
static noinline_for_stack u8 recv_burst(struct hroce_qp *qp,
					struct hroce_tx *tx,
					const struct hrp_burst *b)
	__must_hold(&qp->recv.lock)
{
	struct hroce_mem_iter it __uninitialized;
	u8 status;

	spin_unlock(&qp->recv.lock);
	trace_hroce_tx(qp->proto.qpn, b);
	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, recv_pd(qp, b->first.srqn),
			&b->mem);
	status = hroce_tx_add(tx, &qp->flow, b, &it);
	hroce_mem_end(&it);
	if (!b->more)
		hroce_tx_end(tx);
	spin_lock(&qp->recv.lock);
	if (unlikely(status == HRP_MEM_FAULT))
		status = hroce_fault_begin(qp, HROCE_FAULT_READ, &it);
	return status;
}

static bool recv_must_pause(struct hroce_qp *qp)
{
	if (hroce_flow_full(&qp->flow))
		return true;
	if (hroce_section_left())
		return false;
	tasklet_schedule(&qp->recv.task);
	return true;
}

/* Even in state ERR: the peer is to learn why. */
static void recv_bursts(struct hroce_qp *qp)
{
	struct hrp_burst b __uninitialized;
	struct hroce_tx tx __uninitialized;
	u8 status;

	lockdep_assert_held(&qp->recv.lock);
	hroce_tx_begin(&tx, &qp->flow, false);
	while (qp->flow_ok && !qp->dead && !recv_must_pause(qp) &&
	       hrp_resp_next(&qp->proto, &b)) {
		hroce_section_charge(b.nr_pkts);
		status = recv_burst(qp, &tx, &b);
		hrp_resp_sent(&qp->proto, &b, status);
	}
	if (!tx.flow)
		return;
	spin_unlock(&qp->recv.lock);
	hroce_tx_end(&tx);
	spin_lock(&qp->recv.lock);
}

/*
 * Complete the posted entries, and ask for a kick for later ones. A tasklet
 * flushes those beyond the work of this section.
 */
static void recv_flush(struct hroce_qp *qp)
{
	u32 n, max = hroce_section_left();
	struct hroce_rq_hdr *hdr;

	if (qp->rq) {
		hdr = qp->rq->va;
		WRITE_ONCE(hdr->need_kick, 1);
		/* Store need_kick, then load prod: see rdma/hroce-abi.h. */
		smp_mb();
	}
	n = hrp_resp_flush(&qp->proto, max);
	hroce_section_charge(n);
	qp->recv.flushing = n == max;
	if (n == max)
		tasklet_schedule(&qp->recv.task);
}

/* Holder of the token. */
static void recv_loop(struct hroce_qp *qp)
{
	lockdep_assert_held(&qp->recv.lock);
	do {
		qp->recv.again = false;
		recv_bursts(qp);
		if (qp->proto.state == HRP_ERR)
			recv_flush(qp);
	} while (hroce_qp_side_again(&qp->recv));
}

void hroce_qp_recv_work(struct hroce_qp *qp)
{
	spin_lock(&qp->recv.lock);
	if (qp->recv.running) {
		qp->recv.again = true;
	} else if (!qp->dead) {
		qp->recv.running = true;
		recv_loop(qp);
		qp->recv.running = false;
	}
	spin_unlock(&qp->recv.lock);
}

static void recv_task(struct tasklet_struct *task)
{
	hroce_qp_recv_run(container_of(task, struct hroce_qp, recv.task));
}

void hroce_qp_recv_init(struct hroce_qp *qp)
{
	spin_lock_init(&qp->recv.lock);
	tasklet_setup(&qp->recv.task, recv_task);
}

void hroce_qp_recv_stop(struct hroce_qp *qp)
{
	tasklet_kill(&qp->recv.task);
}

/* Packets. */

/* Place an ATOMIC WRITE: visible as a whole, after all payload before it. */
static u8 recv_place_word(const struct hroce_rx *rx, struct hroce_mem_iter *it)
{
	struct hroce_extent ext __uninitialized;
	u64 word, *p;

	if (!hroce_rx_word(rx, &word))
		return HROCE_WC_REM_ACCESS_ERR;
	if (!hroce_mem_next(it, sizeof(word), &ext))
		return it->status;
	p = hroce_extent_va(&ext);
	if (ext.len != sizeof(word) || !IS_ALIGNED((uintptr_t)p, sizeof(word)))
		return HROCE_WC_REM_ACCESS_ERR;
	/* Pairs with the acquire of whoever waits for it to change. */
	smp_store_release(p, word);
	hroce_port_stat_add(rx->port, HROCE_EV_RX_BYTES, sizeof(word));
	return HROCE_WC_SUCCESS;
}

/*
 * The answer to an atomic operation is in its header; that to an ATOMIC WRITE
 * is placed by itself.
 */
static u8 recv_place_atomic(const struct hroce_rx *rx,
			    struct hroce_mem_iter *it)
{
	if (rx->pkt.info & HRP_OI_ATOMIC_WRITE)
		return recv_place_word(rx, it);
	return hroce_mem_copy_in(it, &rx->pkt.orig, sizeof(rx->pkt.orig)) ?
	       HROCE_WC_SUCCESS : it->status;
}

/* The network header in front of a datagram. */
static u8 recv_place_grh(const struct hroce_rx *rx, struct hroce_mem_iter *it)
{
	u8 grh[HRW_GRH_LEN];

	hroce_rx_grh(rx, grh);
	return hroce_mem_copy_in(it, grh, sizeof(grh)) ? HROCE_WC_SUCCESS :
							 it->status;
}

/*
 * Check the ICRC and place the payload, that of packets behind this one, too,
 * if the decision is good for them. False if the ICRC was wrong; @checked: it
 * is known to be right.
 */
static bool recv_place(struct hroce_qp *qp, struct hroce_rx *rx,
		       struct hrp_rx *d, struct ib_pd *pd, bool checked,
		       u8 *status)
{
	const struct hroce_mkeys *mkeys = &hqp_dev(qp)->mkeys;
	struct hroce_mem_iter it __uninitialized;
	bool fuse = d->fuse && d->mem.len && !checked;

	*status = HROCE_WC_SUCCESS;
	if (!fuse && !checked && !hroce_rx_icrc_ok(rx))
		return false;

	if (d->mem.len) {
		if (fuse)
			d->nr_pkts += d->more;
		d->mem.len *= d->nr_pkts;
		hroce_mem_begin(&it, mkeys, pd, &d->mem);
		if (rx->pkt.info & (HRP_OI_ATOMICACKETH | HRP_OI_ATOMIC_WRITE))
			*status = recv_place_atomic(rx, &it);
		else
			*status = hroce_rx_place(rx, &it, fuse, &d->nr_pkts);
		hroce_mem_end(&it);
	}
	if (d->grh && d->nr_pkts && *status == HROCE_WC_SUCCESS) {
		struct hrp_mem mem = d->mem;

		mem.offset = 0;
		mem.len = HRW_GRH_LEN;
		hroce_mem_begin(&it, mkeys, pd, &mem);
		*status = recv_place_grh(rx, &it);
		hroce_mem_end(&it);
	}
	if (unlikely(*status == HRP_MEM_FAULT))
		*status = hroce_fault_begin(qp, rx->pkt.info & HRP_OI_RESPONSE ?
						HROCE_FAULT_SEND :
						HROCE_FAULT_PLACE, &it);
	return d->nr_pkts;
}

static int recv_request(struct hroce_qp *qp, struct hroce_rx *rx)
{
	bool checked = hrp_resp_is_delicate(&rx->pkt);
	int drop = HROCE_DROP_QP_STATE;
	struct hrp_rx d __uninitialized;
	u8 status;

	if (unlikely(checked) && !hroce_rx_icrc_ok(rx))
		return HROCE_DROP_ICRC;
	spin_lock(&qp->recv.lock);
	if (qp->dead)
		goto unlock;
	hrp_resp_begin(&qp->proto, &rx->pkt, &d);
	drop = d.drop;
	if (d.verdict == HRP_RX_DROP)
		goto unlock;
	drop = HROCE_DROP_ICRC;
	if (!recv_place(qp, rx, &d, recv_mem_pd(qp, &d.mem), checked, &status))
		goto unlock;
	hrp_resp_commit(&qp->proto, &rx->pkt, &d, status);
	/* The context that clears it takes the lock before it looks. */
	if (!test_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending))
		set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	if (qp->user)
		hroce_turn_heard(&qp->turn);
	drop = -1;
unlock:
	spin_unlock(&qp->recv.lock);
	return drop;
}

static int recv_response(struct hroce_qp *qp, struct hroce_rx *rx)
{
	int drop = HROCE_DROP_QP_STATE;
	struct hrp_rx d __uninitialized;
	u8 status;

	spin_lock(&qp->send.lock);
	if (qp->dead)
		goto unlock;
	hrp_comp_begin(&qp->proto, &rx->pkt, &d);
	drop = d.drop;
	if (d.verdict == HRP_RX_DROP)
		goto unlock;
	drop = HROCE_DROP_ICRC;
	if (!recv_place(qp, rx, &d, qp->ib.pd, false, &status))
		goto unlock;
	drop = -1;
	if (qp->early.busy && hroce_early_hold(qp, &rx->pkt))
		goto unlock;
	if (hrp_comp_commit(&qp->proto, &rx->pkt, &d, ktime_get_ns(), status))
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
unlock:
	spin_unlock(&qp->send.lock);
	return drop;
}

/* QP1 is in all partitions of the port, and tells which one it was. */
static bool recv_pkey_ok(const struct hroce_qp *qp, struct hrp_pkt *pkt)
{
	int index;

	if (likely(!qp->is_gsi))
		return hroce_pkey_matches(pkt->pkey, qp->proto.pkey);
	index = hroce_pkey_find(hqp_dev(qp), pkt->pkey);
	pkt->pkey_index = index;
	return index >= 0;
}

/* Does the packet belong to this queue pair at all? */
static int recv_check(const struct hroce_qp *qp, struct hroce_rx *rx)
{
	struct hrp_pkt *pkt = &rx->pkt;

	if ((pkt->opcode & HRP_SVC_MASK) != hrp_qp_service(&qp->proto))
		return HROCE_DROP_OPCODE;
	switch ((enum hrp_state)READ_ONCE(qp->proto.state)) {
	case HRP_RESET:
	case HRP_INIT:
	case HRP_ERR:
		return HROCE_DROP_QP_STATE;
	case HRP_RTR:
	case HRP_RTS:
	case HRP_SQD:
	case HRP_SQE:
		break;
	}
	if (!recv_pkey_ok(qp, pkt))
		return HROCE_DROP_PKEY;
	if (qp->proto.type == HRP_TYPE_UD)
		pkt->sl = rx->ipv6 ? HROCE_SL_UDP_IPV6 : HROCE_SL_UDP_IPV4;
	else if (!hroce_flow_is_peer(&qp->flow, &rx->saddr, &rx->daddr))
		return HROCE_DROP_PEER;
	return -1;
}

static void recv_drop(const struct hroce_rx *rx, enum hroce_stat reason)
{
	trace_hroce_drop(&rx->pkt, reason);
	hroce_port_stat_inc(rx->port, reason);
}

static void recv_packet(struct hroce_qp *qp, struct hroce_rx *rx)
{
	int drop = recv_check(qp, rx);

	if (drop < 0)
		drop = rx->pkt.info & HRP_OI_RESPONSE ?
		       recv_response(qp, rx) : recv_request(qp, rx);
	if (drop >= 0)
		recv_drop(rx, drop);
}

void hroce_rx_end(void *held)
{
	hroce_qp_settle_bh(held);
}

/*
 * Copies of the packets of a frame for members of a group, before the rest is
 * dropped, which UD permits: a quarter of a millisecond if they are short.
 */
#define MAX_COPIES	1024

static void recv_multicast(struct hroce_dev *dev, struct hroce_rx *rx)
{
	struct hroce_mcast_qp *member;
	struct hroce_mcast *group;

	group = hroce_mcast_find(dev, &rx->daddr);
	if (!group) {
		recv_drop(rx, HROCE_DROP_MCAST);
		return;
	}
	if (rx->copies >= MAX_COPIES) {
		recv_drop(rx, HROCE_DROP_MCAST_COPIES);
		return;
	}
	list_for_each_entry_rcu(member, &group->members, node) {
		rx->copies++;
		recv_packet(member->qp, rx);
		hroce_qp_settle_bh(member->qp);
	}
}

bool hroce_rx_is_wanted(struct hroce_port *port, const struct in6_addr *group)
{
	return hroce_mcast_find(port_to_hdev(port), group);
}

void hroce_rx_packet(struct hroce_rx *rx)
{
	struct hroce_dev *dev = port_to_hdev(rx->port);
	struct hroce_qp *qp = rx->held;

	trace_hroce_rx(&rx->pkt);
	if (rx->pkt.info & HRP_OI_CNP) {
		recv_drop(rx, HROCE_DROP_CNP);
		return;
	}
	if (rx->mcast) {
		if (rx->pkt.dqpn == QPN_MULTICAST)
			recv_multicast(dev, rx);
		else
			recv_drop(rx, HROCE_DROP_MCAST);
		return;
	}
	if (!qp || qp->proto.qpn != rx->pkt.dqpn) {
		if (qp)
			hroce_rx_end(qp);
		rx->held = NULL;
		qp = hroce_qp_find(dev, rx->pkt.dqpn);
		if (!qp) {
			recv_drop(rx, HROCE_DROP_NO_QP);
			return;
		}
		rx->held = qp;
	}
	recv_packet(qp, rx);
}

/* Called by the engine with the receive lock held. */

void hrp_env_recv_done(struct hrp_qp *proto, const struct hroce_cqe *cqe,
		       bool solicited)
{
	struct hroce_qp *qp = proto_to_hqp(proto);

	if (unlikely(proto->type == HRP_TYPE_XRC_TGT))
		recv_done_xrc(qp, cqe, solicited);
	else
		hroce_qp_complete(qp, cqe, solicited, HROCE_PENDING_RECV_CQ);
}

bool hrp_env_srq_find(struct hrp_qp *proto, u32 srqn)
{
	return recv_find_srq(proto_to_hqp(proto), srqn);
}

bool hrp_env_recv_take(struct hrp_qp *proto, struct hrp_rwqe *rwqe)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	bool corrupt = false, taken;
	struct hroce_srq *srq;

	if (qp->srq)
		return hroce_srq_take(qp->srq, rwqe);
	if (proto->type == HRP_TYPE_XRC_TGT) {
		srq = recv_find_srq(qp, proto->resp.srqn);
		return srq && hroce_srq_take(srq, rwqe);
	}
	taken = hroce_rq_copy(qp->rq, qp->max_recv_sge, &qp->rq_head, rwqe,
			      &corrupt);
	if (corrupt)
		hroce_qp_fatal(qp);
	return taken;
}

bool hrp_env_mem_check(struct hrp_qp *proto, u32 rkey, u64 va, u32 len,
		       u8 access)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	struct hroce_region *region;

	region = hroce_mkeys_find(&hqp_dev(qp)->mkeys, rkey);
	return region && hroce_region_is_for(region, proto->qpn) &&
	       hroce_region_check(region, recv_request_pd(qp), va, len, access);
}

u8 hrp_env_atomic(struct hrp_qp *proto, u32 rkey, u64 va, bool cas, u64 compare,
		  u64 swap_add, u64 *orig)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	const struct hrp_mem mem = {
		.one = { .addr = va, .length = sizeof(u64), .lkey = rkey },
		.len = sizeof(u64),
		.access = HRP_ACCESS_REMOTE_ATOMIC,
	};
	u8 status = HROCE_WC_REM_ACCESS_ERR;
	struct hroce_mem_iter it;
	struct hroce_extent ext;
	u64 *p;

	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, recv_request_pd(qp), &mem);
	if (it.region && hroce_mem_is_for(&it, proto->qpn) &&
	    hroce_mem_next(&it, sizeof(u64), &ext) == sizeof(u64)) {
		p = hroce_extent_va(&ext);
		if (IS_ALIGNED((uintptr_t)p, sizeof(u64))) {
			/* Atomic against the CPUs and so every other QP. */
			*orig = cas ? cmpxchg64(p, compare, swap_add) :
				      atomic64_fetch_add(swap_add,
							 (atomic64_t *)p);
			status = HROCE_WC_SUCCESS;
		}
	}
	hroce_mem_end(&it);
	if (unlikely(it.status == HRP_MEM_FAULT))
		status = hroce_fault_begin(qp, HROCE_FAULT_PLACE, &it);
	return status;
}

bool hrp_env_flush(struct hrp_qp *proto, u32 rkey, u64 va, u32 len, bool all,
		   u8 access)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	struct hroce_region *region;

	region = hroce_mkeys_find(&hqp_dev(qp)->mkeys, rkey);
	if (!region || !hroce_region_is_for(region, proto->qpn))
		return false;
	if (!hroce_region_check(region, recv_request_pd(qp),
				all ? region->iova : va, all ? 0 : len,
				access))
		return false;
	/*
	 * CPUs have placed it, and their caches are coherent. Persistent memory
	 * has been written back by hroce_mem_end().
	 */
	smp_mb();
	return true;
}

bool hrp_env_invalidate(struct hrp_qp *proto, u32 rkey)
{
	struct ib_pd *pd = recv_request_pd(proto_to_hqp(proto));

	return pd && hroce_mr_invalidate(pd, proto->qpn, rkey, true);
}

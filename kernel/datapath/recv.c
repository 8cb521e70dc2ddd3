// SPDX-License-Identifier: GPL-2.0
/*
 * Packets to queue pairs: finds the queue pair of a packet, places its payload
 * and passes it to the engine, in the softirq that received the packet. reply.c
 * sends the responses, once no lock is held.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include "../core/epoch.h"
#include "../mem/iter.h"
#include "../net/port.h"
#include "../proto/ahead.h"
#include "../proto/req.h"
#include "../proto/resp.h"
#include "../trace/trace.h"
#include "busy.h"
#include "cnp.h"
#include "fault.h"
#include "handover.h"
#include "keep.h"
#include "mcast.h"
#include "mtu.h"
#include "pkey.h"
#include "qp.h"
#include "recv.h"
#include "sack.h"
#include "second.h"
#include "srq.h"
#include "xrc.h"

#define QPN_MULTICAST	0xffffff

/* hroce_rx_place() without a frame. */
static u8 recv_place_local(struct hroce_recv *r, struct hroce_mem_iter *it,
			   u32 *nr_pkts)
{
	struct hroce_mem_iter src = *r->src;
	u32 len = r->packet.pkt.payload_len, nr;

	nr = hroce_mem_copy(it, &src, min(*nr_pkts, r->run) * len) / len;
	/* A packet that cannot be placed counts as taken. */
	*nr_pkts = max(nr, (u32)(it->status != HROCE_WC_SUCCESS));
	if (nr > 1)
		hroce_rx_taken(r->frame, &r->packet, nr - 1);
	return nr ? HROCE_WC_SUCCESS : it->status;
}

static u8 recv_place_payload(struct hroce_recv *r, struct hroce_mem_iter *it,
			     bool fuse, u32 *nr_pkts)
{
	u8 status;

	status = r->src ? recv_place_local(r, it, nr_pkts) :
			  hroce_rx_place(r->frame, &r->packet, it, fuse,
					 nr_pkts);
	if (likely(status == HROCE_WC_SUCCESS))
		hroce_stats_add(r->frame->stats, HROCE_EV_RX_BYTES,
				*nr_pkts * r->packet.pkt.payload_len);
	return status;
}

/* Read the beginning of the payload. */
static bool recv_read(const struct hroce_recv *r, void *dst, u32 len)
{
	struct hroce_mem_iter src;

	if (!r->src)
		return hroce_rx_read(r->frame, dst, len);
	src = *r->src;
	return hroce_mem_copy_out(&src, dst, len);
}

/* Place an ATOMIC WRITE: visible as a whole, after all payload before it. */
static u8 recv_place_word(const struct hroce_recv *r, struct hroce_mem_iter *it)
{
	struct hroce_extent ext __uninitialized;
	u64 word, *p;

	if (!recv_read(r, &word, sizeof(word)))
		return HROCE_WC_REM_ACCESS_ERR;
	if (!hroce_mem_next(it, sizeof(word), &ext))
		return it->status;
	p = hroce_extent_va(&ext);
	if (ext.len != sizeof(word) || !IS_ALIGNED((uintptr_t)p, sizeof(word)))
		return HROCE_WC_REM_ACCESS_ERR;
	/* Pairs with the acquire of readers that poll for the change. */
	smp_store_release(p, word);
	hroce_stats_add(r->frame->stats, HROCE_EV_RX_BYTES, sizeof(word));
	return HROCE_WC_SUCCESS;
}

/*
 * The result of an atomic operation is in the header of its response; the
 * payload of an ATOMIC WRITE is placed as one word.
 */
static u8 recv_place_atomic(const struct hroce_recv *r,
			    struct hroce_mem_iter *it)
{
	const struct hrp_pkt *pkt = &r->packet.pkt;

	if (pkt->info & HRP_OI_ATOMIC_WRITE)
		return recv_place_word(r, it);
	return hroce_mem_copy_in(it, &pkt->orig, sizeof(pkt->orig)) ?
	       HROCE_WC_SUCCESS : it->status;
}

/*
 * Place the network header in front of a datagram. In front of MADs always that
 * of IPv6: to find the request of a response, ib_mad compares the GIDs of a GRH
 * without asking for its kind.
 */
static u8 recv_place_grh(const struct hroce_qp *qp, const struct hroce_recv *r,
			 struct hroce_mem_iter *it)
{
	u8 grh[HRW_GRH_LEN] __aligned(__alignof__(struct ipv6hdr));

	hroce_rx_grh(r->frame, &r->packet, qp->proto.gsi, grh);
	return hroce_mem_copy_in(it, grh, sizeof(grh)) ? HROCE_WC_SUCCESS :
							 it->status;
}

/* Is the ICRC correct? @checked: that is known. */
static bool recv_is_correct(struct hroce_recv *r, bool checked)
{
	return checked || hroce_rx_icrc_ok(r->frame, &r->packet);
}

/*
 * Check the ICRC and place the payload, also that of following packets if the
 * decision covers them. @checked: the ICRC is known to be correct. Return:
 * false if it is wrong.
 */
static bool recv_place(struct hroce_qp *qp, struct hroce_recv *r,
		       struct hrp_rx *d, struct ib_pd *pd, bool checked,
		       u8 *status)
{
	const struct hroce_mkeys *mkeys = &hqp_dev(qp)->mkeys;
	struct hroce_mem_iter it __uninitialized;
	bool fuse = d->fuse && d->mem.len && !checked;
	const u32 info = r->packet.pkt.info;

	*status = HROCE_WC_SUCCESS;
	if (!fuse && !recv_is_correct(r, checked))
		return false;

	if (d->mem.len) {
		if (fuse)
			d->nr_pkts += d->more;
		d->mem.len *= d->nr_pkts;
		hroce_mem_begin(&it, mkeys, pd, qp->proto.qpn, &d->mem);
		if (info & (HRP_OI_ATOMICACKETH | HRP_OI_ATOMIC_WRITE))
			*status = recv_place_atomic(r, &it);
		else
			*status = recv_place_payload(r, &it, fuse, &d->nr_pkts);
		hroce_mem_end(&it);
	}
	if (d->grh && d->nr_pkts && *status == HROCE_WC_SUCCESS) {
		struct hrp_mem mem = d->mem;

		mem.offset = 0;
		mem.len = HRW_GRH_LEN;
		hroce_mem_begin(&it, mkeys, pd, 0, &mem);
		*status = recv_place_grh(qp, r, &it);
		hroce_mem_end(&it);
	}
	if (unlikely(*status == HRP_MEM_FAULT))
		*status = hroce_fault_begin(qp, info & HRP_OI_RESPONSE ?
						HROCE_FAULT_SEND :
						HROCE_FAULT_PLACE, &it);
	return d->nr_pkts;
}

/*
 * Protection domain of @mem: receive entries of an SRQ use memory of the SRQ's
 * domain, whichever queue pair takes them (10.2.9).
 */
static struct ib_pd *recv_mem_pd(const struct hroce_qp *qp,
				 const struct hrp_mem *mem)
{
	if (unlikely(qp->srq) && mem->access == HRP_ACCESS_LOCAL_WRITE)
		return qp->srq->ib.pd;
	return hroce_xrc_request_pd(qp);
}

/*
 * May an ACK be held? Not where packets take no frames. Nor if the sender has
 * this CPU and the receiver wants it: the sender leaves it when its request is
 * complete, see handover.h.
 */
static bool recv_may_hold(const struct hroce_qp *qp, const struct hroce_recv *r)
{
	return r->packet.pkt.ackreq && !r->src && hroce_hold_is_on(qp) &&
	       !(qp->user && hroce_handover_is_near(&qp->handover));
}

/* Copy the payload of a packet to @kept. Return: false if the ICRC is wrong. */
static bool recv_fetch(const struct hroce_qp *qp, struct hroce_recv *r,
		       struct hroce_kept *kept, bool checked)
{
	const struct hrp_mem mem = {
		.bytes = kept->payload,
		.len = r->packet.pkt.payload_len,
	};
	struct hroce_mem_iter it __uninitialized;
	u32 nr = 1;

	if (!mem.len)
		return recv_is_correct(r, checked);
	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, NULL, 0, &mem);
	if (r->src)
		recv_place_local(r, &it, &nr);
	else
		hroce_rx_place(r->frame, &r->packet, &it, !checked, &nr);
	hroce_mem_end(&it);
	return nr;
}

/* Put a packet into the table. @status stays as it is if there is no room. */
static bool recv_put(struct hroce_qp *qp, struct hroce_recv *r,
		     struct hrp_keep *keep, u32 psn, bool checked, u8 *status)
{
	struct hroce_kept *kept;

	kept = hroce_keep_alloc(qp, keep, psn, &r->packet.pkt);
	if (!kept)
		return recv_is_correct(r, checked);
	if (!recv_fetch(qp, r, kept, checked)) {
		hroce_keep_free(qp, keep, kept);
		return false;
	}
	hrp_keep_put(keep, &kept->proto);
	*status = HROCE_WC_SUCCESS;
	return true;
}

/*
 * Keep a request. Nothing is allocated for the first one before its ICRC is known
 * to be correct; that of others is computed while they are copied. Return: false
 * if it is wrong. @status is for the engine.
 */
static noinline bool recv_keep(struct hroce_qp *qp, struct hroce_recv *r,
			       bool checked, u8 *status)
{
	struct hrp_resp *resp = &qp->proto.resp;
	struct hrp_keep *keep;

	lockdep_assert_held(&qp->recv.lock);
	*status = HROCE_WC_GENERAL_ERR;
	if (!resp->kept) {
		if (!recv_is_correct(r, checked))
			return false;
		checked = true;
		keep = hroce_keep_create(qp, resp->psn);
		if (!keep)
			return true;
		hrp_keep_open(&qp->proto, keep);
	}
	return recv_put(qp, r, resp->keep, resp->psn, checked, status);
}

/* Return: NULL if no response can be kept. */
static struct hrp_keep *recv_begin_answers(struct hroce_qp *qp)
{
	struct hrp_req *req = &qp->proto.req;
	struct hrp_keep *keep;

	if (!hroce_sack_open(qp))
		return NULL;
	keep = hroce_keep_create(qp, req->psn_una);
	if (keep)
		hrp_ahead_open(req, keep);
	return keep;
}

/* As recv_keep(), with a response. */
static noinline bool recv_keep_answer(struct hroce_qp *qp, struct hroce_recv *r,
				      u8 *status)
{
	struct hrp_req *req = &qp->proto.req;
	struct hrp_keep *keep = hrp_ahead_of(req);
	bool checked = !keep;

	lockdep_assert_held(&qp->send.lock);
	*status = HROCE_WC_GENERAL_ERR;
	if (!keep) {
		if (!hroce_rx_icrc_ok(r->frame, &r->packet))
			return false;
		keep = recv_begin_answers(qp);
		if (!keep)
			return true;
	} else if (hrp_keep_has(keep, r->packet.pkt.psn)) {
		*status = HROCE_WC_SUCCESS;
		return hroce_rx_icrc_ok(r->frame, &r->packet);
	}
	return recv_put(qp, r, keep, req->psn_una, checked, status);
}

/* As recv_request() or recv_response(), but the payload is in @kept. */
static noinline_for_stack void recv_replay(struct hroce_qp *qp,
					   const struct hroce_kept *kept)
{
	const struct hrp_pkt *pkt = &kept->proto.pkt;
	bool response = pkt->info & HRP_OI_RESPONSE;
	const struct hrp_mem mem = {
		.bytes = kept->payload,
		.len = pkt->payload_len,
	};
	struct hroce_rx_frame frame __uninitialized;
	struct hroce_mem_iter src __uninitialized;
	struct hroce_recv r __uninitialized;
	struct hrp_rx d __uninitialized;
	struct ib_pd *pd = qp->ib.pd;
	u8 status;

	frame.stats = qp->proto.stats;
	r.frame = &frame;
	r.packet.pkt = *pkt;
	r.run = 1;
	hroce_recv_begin(&r, NULL, &src);
	hroce_mem_begin(&src, &hqp_dev(qp)->mkeys, pd, 0, &mem);
	if (response) {
		hrp_comp_begin(&qp->proto, pkt, &d);
	} else {
		hrp_resp_begin(&qp->proto, pkt, &d);
		pd = recv_mem_pd(qp, &d.mem);
	}
	if (d.verdict == HRP_RX_DROP ||
	    !recv_place(qp, &r, &d, pd, true, &status))
		return;
	if (!response)
		hrp_resp_commit(&qp->proto, pkt, &d, status);
	else if (hrp_comp_commit(&qp->proto, pkt, &d, ktime_get_ns(), status))
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
}

/* Work that is left to answer what was kept. */
#define KEPT_RESERVE	(HROCE_EPOCH_WORK / 8)

/* May one more be handled? Otherwise a tasklet goes on. */
static bool recv_may_replay(struct hroce_side *side)
{
	if (hroce_epoch_left() <= KEPT_RESERVE) {
		tasklet_schedule(&side->task);
		return false;
	}
	hroce_epoch_charge(1);
	return true;
}

void hroce_recv_kept(struct hroce_qp *qp)
{
	struct hrp_keep *keep = qp->proto.resp.keep;
	struct hrp_kept *kept;

	lockdep_assert_held(&qp->recv.lock);
	while (recv_may_replay(&qp->recv)) {
		kept = hrp_keep_take_stale(&qp->proto);
		if (!kept) {
			kept = hrp_resp_next_kept(&qp->proto);
			if (!kept)
				break;
			recv_replay(qp, to_hkept(kept));
		}
		hroce_keep_free(qp, keep, to_hkept(kept));
	}
	if (hrp_keep_is_over(&qp->proto.resp))
		hroce_keep_destroy(qp, hrp_keep_close(&qp->proto));
}

void hroce_recv_answers(struct hroce_qp *qp)
{
	struct hrp_keep *keep = hrp_ahead_of(&qp->proto.req);
	struct hrp_kept *kept;

	lockdep_assert_held(&qp->send.lock);
	if (!keep)
		return;
	while (keep->nr && recv_may_replay(&qp->send)) {
		kept = hrp_ahead_take_stale(&qp->proto);
		if (!kept) {
			kept = hrp_ahead_next(&qp->proto);
			if (!kept)
				break;
			recv_replay(qp, to_hkept(kept));
		}
		hroce_keep_free(qp, keep, to_hkept(kept));
	}
	if (!keep->nr)
		hroce_keep_destroy(qp, hrp_ahead_close(&qp->proto));
}

/*
 * UDP source port of the packet. Those that are not for RoCE are ignored
 * (rdma_flow_label_to_udp_sport()), and what came in no frame has none: 0.
 */
static u16 recv_sport(const struct hroce_recv *r)
{
	u16 sport;

	if (r->src)
		return 0;
	sport = ntohs(hroce_headers_udp(&r->frame->hdr)->source);
	return sport < IB_ROCE_UDP_ENCAP_VALID_PORT_MIN ? 0 : sport;
}

/* The answer is to take the way of the request. */
static noinline void recv_note_way(struct hroce_recv *r)
{
	r->packet.pkt.sport = recv_sport(r);
}

static int recv_request(struct hroce_qp *qp, struct hroce_recv *r)
{
	bool checked = hrp_resp_is_delicate(&r->packet.pkt);
	int drop = HROCE_DROP_QP_STATE;
	struct hrp_rx d __uninitialized;
	bool correct, held;
	u8 status;

	if (unlikely(checked) && !hroce_rx_icrc_ok(r->frame, &r->packet))
		return HROCE_DROP_ICRC;
	spin_lock(&qp->recv.lock);
	if (qp->dead)
		goto unlock;
	if (unlikely(qp->proto.resp.follows))
		recv_note_way(r);
	hrp_resp_begin(&qp->proto, &r->packet.pkt, &d);
	drop = d.drop;
	if (d.verdict == HRP_RX_DROP)
		goto unlock;
	drop = HROCE_DROP_ICRC;
	if (unlikely(d.verdict == HRP_RX_KEEP))
		correct = recv_keep(qp, r, checked, &status);
	else
		correct = recv_place(qp, r, &d, recv_mem_pd(qp, &d.mem),
				     checked, &status);
	if (!correct)
		goto unlock;
	held = hrp_resp_is_held(&qp->proto.resp);
	d.hold = recv_may_hold(qp, r);
	hrp_resp_commit(&qp->proto, &r->packet.pkt, &d, status);
	if (unlikely(qp->proto.resp.kept))
		hroce_recv_kept(qp);
	/* The context that clears the bit takes the lock afterwards. */
	if (hrp_resp_is_due(&qp->proto.resp) &&
	    !test_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending))
		set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	/* Also behind a READ whose answer is being sent. */
	if (!held && hrp_resp_is_held(&qp->proto.resp))
		hroce_hold_begin(qp);
	if (qp->user)
		hroce_handover_heard(&qp->handover);
	drop = -1;
unlock:
	spin_unlock(&qp->recv.lock);
	return drop;
}

/* If the requester runs, it does so itself. */
static noinline void recv_trace_wait(struct hroce_qp *qp)
{
	if (!test_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending))
		hroce_qp_trace_wait(qp);
}

static int recv_response(struct hroce_qp *qp, struct hroce_recv *r)
{
	int drop = HROCE_DROP_QP_STATE;
	struct hrp_rx d __uninitialized;
	bool correct;
	u8 status;

	spin_lock(&qp->send.lock);
	if (qp->dead)
		goto unlock;
	hrp_comp_begin(&qp->proto, &r->packet.pkt, &d);
	drop = d.drop;
	if (d.verdict == HRP_RX_DROP)
		goto unlock;
	drop = HROCE_DROP_ICRC;
	if (unlikely(d.verdict == HRP_RX_KEEP))
		correct = recv_keep_answer(qp, r, &status);
	else
		correct = recv_place(qp, r, &d, qp->ib.pd, false, &status);
	if (!correct)
		goto unlock;
	drop = -1;
	if (qp->early.busy && d.verdict != HRP_RX_DUPLICATE &&
	    hroce_early_hold(qp, &r->packet.pkt))
		goto unlock;
	if (hrp_comp_commit(&qp->proto, &r->packet.pkt, &d, ktime_get_ns(), status))
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
	if (unlikely(qp->proto.req.troubled))
		hroce_recv_answers(qp);
unlock:
	if (trace_hroce_wait_enabled())
		recv_trace_wait(qp);
	spin_unlock(&qp->send.lock);
	return drop;
}

/* QP1 is in all partitions of the port, and reports which one matched. */
static bool recv_pkey_ok(const struct hroce_qp *qp, struct hrp_pkt *pkt)
{
	int index;

	if (likely(!qp->proto.gsi))
		return hroce_pkey_matches(pkt->pkey, qp->proto.pkey);
	index = hroce_pkey_find(hqp_dev(qp), pkt->pkey);
	pkt->pkey_index = index;
	return index >= 0;
}

/* Does the packet belong to this queue pair at all? */
static int recv_check(const struct hroce_qp *qp, struct hroce_recv *r)
{
	struct hrp_pkt *pkt = &r->packet.pkt;

	if ((pkt->opcode & HRP_SVC_MASK) != hrp_qp_service(&qp->proto) &&
	    !(pkt->info & (HRP_OI_CNP | HRP_OI_EXT)))
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
		pkt->sl = r->frame->hdr.ipv6 || qp->proto.gsi ?
			  HROCE_SL_UDP_IPV6 : HROCE_SL_UDP_IPV4;
	else if (!hroce_path_is_peer(&qp->path, &r->frame->saddr,
				     &r->frame->daddr) &&
		 !hroce_second_is_peer(qp, r))
		return HROCE_DROP_PEER;
	return -1;
}

static void recv_drop(const struct hroce_recv *r, enum hroce_stat reason)
{
	if (hroce_rx_refuse(r->frame, reason))
		trace_hroce_drop(&r->packet.pkt, reason);
}

/* A switch has marked the packet, or it may have come by another way. */
static noinline void recv_rare(struct hroce_qp *qp, const struct hroce_recv *r)
{
	u32 info = r->packet.pkt.info;
	bool response = info & HRP_OI_RESPONSE;

	if (r->frame->ce)
		hroce_cnp_marked(qp, recv_sport(r), response &&
				 info & (HRP_OI_READ | HRP_OI_ATOMIC));
	if (READ_ONCE(qp->second) && !response)
		hroce_second_requested(qp, r->qpn == qp->proto.qpn ?
					   HRP_WAY_FIRST : HRP_WAY_SECOND);
}

static void recv_packet(struct hroce_qp *qp, struct hroce_recv *r)
{
	int drop = recv_check(qp, r);

	if (drop < 0)
		drop = r->packet.pkt.info & HRP_OI_RESPONSE ?
		       recv_response(qp, r) : recv_request(qp, r);
	if (drop >= 0)
		recv_drop(r, drop);
	else if (unlikely(r->rare))
		recv_rare(qp, r);
}

/*
 * Maximum number of multicast copies of the packets of a frame; the rest is
 * dropped, which UD permits. Short copies take a quarter of a millisecond.
 */
#define MAX_COPIES	1024

static void recv_multicast(struct hroce_dev *dev, struct hroce_recv *r)
{
	struct hroce_mcast_qp *member;
	struct hroce_mcast *group;

	group = hroce_mcast_find(&dev->mcast, &r->frame->daddr);
	if (!group) {
		recv_drop(r, HROCE_DROP_MCAST);
		return;
	}
	if (r->copies >= MAX_COPIES) {
		recv_drop(r, HROCE_DROP_MCAST_COPIES);
		return;
	}
	list_for_each_entry_rcu(member, &group->members, node) {
		r->copies++;
		recv_packet(member->qp, r);
		hroce_qp_run_pending_bh(member->qp);
	}
}

/*
 * The packet is for another queue pair than the one before. Count packets in
 * the set that their queue pair is bound to, or else in that of the port.
 */
static struct hroce_qp *recv_switch_qp(struct hroce_recv *r,
				       struct hroce_dev *dev, u32 qpn)
{
	struct hroce_rx_frame *frame = r->frame;
	struct hroce_qp *qp;

	if (r->qp)
		hroce_qp_run_pending_bh(r->qp);
	if (!r->src && unlikely(frame->counted != frame->next - 1))
		hroce_rx_count(frame, frame->next - 1);
	qp = hroce_qp_find(dev, qpn);
	if (unlikely(!qp) && READ_ONCE(dev->nr_aliases))
		qp = hroce_second_find(dev, qpn);
	r->qp = qp;
	r->qpn = qp ? qpn : HROCE_RECV_NOBODY;
	r->rare = frame->ce || (qp && READ_ONCE(qp->second));
	if (unlikely(READ_ONCE(dev->busy_poll)) && qp && !r->src)
		hroce_busy_note(qp, hroce_rx_napi(frame));
	/* Pairs with counter_use(); an epoch keeps the set. */
	frame->stats = qp ? READ_ONCE(qp->proto.stats) : frame->port->stats;
	return qp;
}

/*
 * A switch has marked what this side sent. CNPs are not answered. One that nothing
 * reacts to counts for the queue pair, too.
 */
static int recv_cnp(struct hroce_qp *qp, const struct hroce_recv *r)
{
	bool obeyed = hroce_cnp_obey(qp, recv_sport(r));

	hroce_stats_add(r->frame->stats, obeyed ? HROCE_EV_CNP_HANDLED :
						  HROCE_DROP_CNP, 1);
	if (!obeyed)
		trace_hroce_drop(&r->packet.pkt, HROCE_DROP_CNP);
	return -1;
}

/* A hroce peer asks for selective acknowledgements or for longer packets. */
static int recv_asked(struct hroce_qp *qp, const struct hrp_pkt *pkt,
		      const u8 *payload)
{
	int drop = HROCE_DROP_QP_STATE;
	bool agreed;

	if (!hrp_qp_receives(&qp->proto))
		return HROCE_DROP_OPCODE;
	spin_lock(&qp->recv.lock);
	if (!qp->dead) {
		agreed = hrp_mtu_is_about(pkt) ?
			 hrp_mtu_asked(&qp->proto, pkt, payload) :
			 hrp_sack_asked(&qp->proto, payload, pkt->payload_len);
		drop = agreed ? -1 : HROCE_DROP_OPCODE;
	}
	if (hrp_resp_is_due(&qp->proto.resp))
		set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	spin_unlock(&qp->recv.lock);
	return drop;
}

/* An agreement between hroce peers, or what was agreed. */
static noinline_for_stack int recv_ext(struct hroce_qp *qp,
				       const struct hroce_recv *r)
{
	const struct hrp_pkt *pkt = &r->packet.pkt;
	u8 payload[HRP_SACK_MAP_BYTES] __uninitialized;
	bool mtu = hrp_mtu_is_about(pkt);
	bool second = hrp_second_is_about(pkt);
	u32 len = pkt->payload_len;

	if (!hrp_qp_is_reliable(&qp->proto))
		return HROCE_DROP_OPCODE;
	/* What follows the magic is as long as the packets asked for. */
	if (mtu && len > HRP_MTU_MAGIC_BYTES)
		len = HRP_MTU_MAGIC_BYTES;
	if (len > sizeof(payload) || (mtu && len < HRP_MTU_MAGIC_BYTES) ||
	    (second && len != HRP_SECOND_BYTES) || !recv_read(r, payload, len))
		return HROCE_DROP_LENGTH;
	if (second)
		return hroce_second_heard(qp, pkt, payload);
	if (!mtu && !READ_ONCE(hqp_dev(qp)->sack))
		return HROCE_DROP_OPCODE;
	if (!(pkt->info & HRP_OI_RESPONSE))
		return recv_asked(qp, pkt, payload);
	return mtu ? hroce_mtu_answered(qp, pkt, payload) :
		     hroce_sack_heard(qp, pkt, payload);
}

/* Packets with opcodes that belong to no service. */
static noinline void recv_apart(struct hroce_recv *r, struct hroce_dev *dev)
{
	struct hroce_qp *qp = r->qp;
	int drop;

	if (r->frame->mcast) {
		recv_drop(r, HROCE_DROP_MCAST);
		return;
	}
	if (r->qpn != r->packet.pkt.dqpn)
		qp = recv_switch_qp(r, dev, r->packet.pkt.dqpn);
	if (!qp) {
		recv_drop(r, HROCE_DROP_NO_QP);
		return;
	}
	drop = recv_check(qp, r);
	if (drop < 0 && !hroce_rx_icrc_ok(r->frame, &r->packet))
		drop = HROCE_DROP_ICRC;
	if (drop < 0)
		drop = r->packet.pkt.info & HRP_OI_CNP ? recv_cnp(qp, r) :
							 recv_ext(qp, r);
	if (drop >= 0)
		recv_drop(r, drop);
}

/* Inlined into the loop over a frame; the other caller is local.c. */
static __always_inline void recv_one(struct hroce_recv *r)
{
	const struct hrp_pkt *pkt = &r->packet.pkt;
	struct hroce_dev *dev = port_to_hdev(r->frame->port);
	struct hroce_qp *qp = r->qp;

	trace_hroce_rx(pkt);
	if (unlikely(pkt->info & (HRP_OI_CNP | HRP_OI_EXT))) {
		recv_apart(r, dev);
		return;
	}
	if (r->frame->mcast) {
		if (pkt->dqpn == QPN_MULTICAST)
			recv_multicast(dev, r);
		else
			recv_drop(r, HROCE_DROP_MCAST);
		return;
	}
	if (r->qpn != pkt->dqpn) {
		qp = recv_switch_qp(r, dev, pkt->dqpn);
		if (!qp) {
			recv_drop(r, HROCE_DROP_NO_QP);
			return;
		}
	}
	recv_packet(qp, r);
}

void hroce_recv_packet(struct hroce_recv *r)
{
	recv_one(r);
}

static void recv_frame(struct hroce_rx_frame *frame)
{
	struct hroce_recv r __uninitialized;

	r.frame = frame;
	hroce_recv_begin(&r, NULL, NULL);
	hroce_epoch_begin();
	while (hroce_rx_next(frame, &r.packet))
		recv_one(&r);
	/*
	 * Settle after the frame has been freed: until then, a sender on this
	 * host may hold back the responses sent here. XDP programs get packets
	 * one by one: a tasklet settles those of a NAPI poll, once.
	 */
	if (r.qp && frame->xdp)
		hroce_qp_run_later(r.qp);
	else if (r.qp)
		hroce_qp_run_pending_bh(r.qp);
	hroce_epoch_end();
}

static bool recv_wants(struct hroce_port *port, const struct in6_addr *group)
{
	return hroce_mcast_find(&port_to_hdev(port)->mcast, group);
}

static u32 recv_qpn(const struct hroce_path *path)
{
	return container_of(path, struct hroce_qp, path)->proto.qpn;
}

const struct hroce_port_ops hroce_recv_ops = {
	.receive = recv_frame,
	.wants = recv_wants,
	.qpn = recv_qpn,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * One queue pair: calls the engine in the way that datapath/ does, without
 * payload and without locks.
 */
#include <linux/overflow.h>
#include <stdlib.h>
#include <string.h>
#include "kept.h"
#include "proto/env.h"
#include "proto/pace.h"
#include "fabric.h"

#define SQ_ENTRIES	16
#define NR_RD		16
#define BURST_PKTS	64

/* As net/path.c: above the first, nothing is sent until it is the second. */
#define NIC_FULL	(1u << 20)
#define NIC_READY	(1u << 19)

/* As datapath/cnp.c */
#define CNP_PAYLOAD	16

static void qp_timer(struct fab_actor *actor);

static struct fabric *qp_fab(const struct fab_qp *qp)
{
	return qp->host->node.fab;
}

static bool qp_reacts(const struct fab_qp *qp)
{
	return hrp_cc_of(qp->hrp.req.cc)->cnp;
}

/* As send_arm_timer(): the timer is armed for the earliest time alone. */
static void arm_timer(struct fab_qp *qp, u64 at_ns)
{
	struct fabric *fab = qp_fab(qp);

	if (!at_ns || (qp->timer_ns && qp->timer_ns <= at_ns))
		return;
	qp->timer_ns = max(at_ns, fab->now_ns + 1);
	fab_at(fab, qp->timer_ns, &qp->timer);
}

/* The requester runs only if it has something to do, as in the kernel. */
static void wake_requester(struct fab_qp *qp)
{
	qp->sends = true;
	fab_qp_kick(qp);
}

/* The time for which an ACK or a NAK may be held. */
static void hold_timer(struct fab_qp *qp, u64 now_ns)
{
	bool held = hrp_resp_is_held(&qp->hrp.resp);

	if (!held && !hrp_nak_wait_us(&qp->hrp.resp))
		return;
	if (qp->hold_ns > now_ns) {
		arm_timer(qp, qp->hold_ns);
		return;
	}
	if (held)
		hrp_resp_hold_late(&qp->hrp);
	else
		hrp_nak_due(&qp->hrp);
	fab_qp_kick(qp);
}

static void qp_timer(struct fab_actor *actor)
{
	struct fab_qp *qp = fab_of(actor, struct fab_qp, timer);
	struct hrp_req *req = &qp->hrp.req;
	u64 now_ns = qp_fab(qp)->now_ns;

	if (now_ns != qp->timer_ns)
		return;		/* an earlier one was armed instead */
	qp->timer_ns = 0;
	if (hrp_req_deadline(req) && hrp_req_deadline(req) <= now_ns &&
	    hrp_req_timeout(&qp->hrp, now_ns))
		wake_requester(qp);
	hold_timer(qp, now_ns);
	if (hrp_pace_answers_timeout(&qp->hrp, now_ns))
		fab_qp_kick(qp);
	arm_timer(qp, hrp_pace_answers_at(&qp->hrp));
	arm_timer(qp, hrp_req_deadline(req));
}

/* The queue of the host has no more room for this queue pair. */
static bool must_pause(struct fab_qp *qp)
{
	if (qp->nic_bytes >= NIC_FULL)
		qp->full = true;
	return qp->full;
}

void fab_qp_left(struct fab_qp *qp, u32 bytes)
{
	qp->nic_bytes -= bytes;
	if (!qp->full || qp->nic_bytes >= NIC_READY)
		return;
	qp->full = false;
	wake_requester(qp);
}

/* As datapath/cnp.c: a control that limits the rate gets a bucket. */
static void notified(struct fab_qp *qp, u16 sport)
{
	struct fabric *fab = qp_fab(qp);

	if (!qp_reacts(qp))
		return;
	if (hrp_cc_wants_pace(&qp->hrp))
		hrp_pace_start(&qp->hrp, fab_alloc(1, sizeof(struct hrp_pace)),
			       &fab->rp, fab->now_ns, 0);
	hrp_cc_notified(&qp->hrp, fab->now_ns);
	hrp_spray_marked(&qp->hrp.req, sport, fab->now_ns);
}

/* As datapath/run.c: a control that spreads its window gets one, too. */
static void spread(struct fab_qp *qp)
{
	struct fabric *fab = qp_fab(qp);

	if (!test_and_clear_bit(HRP_PENDING_SPREAD, &qp->hrp.pending) ||
	    !hrp_pace_wants_spread(&qp->hrp))
		return;
	if (!qp->hrp.req.pace)
		hrp_pace_start(&qp->hrp, fab_alloc(1, sizeof(struct hrp_pace)),
			       &fab->rp, fab->now_ns, 0);
	hrp_pace_spread(&qp->hrp, fab->now_ns);
}

/* The rate is that of the line again. */
static void unpace(struct fab_qp *qp)
{
	if (!test_and_clear_bit(HRP_PENDING_UNPACED, &qp->hrp.pending))
		return;
	if (!hrp_pace_is_on(&qp->hrp.req))
		free(hrp_pace_stop(&qp->hrp));
	qp->sends = true;
}

/* All paths are new but the first one. */
static void spray_draw(struct fab_qp *qp)
{
	u16 *sport = qp->hrp.req.sack->spray->sport;
	u32 i;

	sport[0] = qp->sport[0];
	for (i = 1; i < HRP_SPRAY_PATHS; i++)
		sport[i] = fab_draw_sport(qp_fab(qp));
}

/* A NAK waits for a request that may only be late. */
static void hold_nak(struct fab_qp *qp)
{
	u32 us = hrp_nak_wait_us(&qp->hrp.resp);

	if (!test_and_clear_bit(HRP_PENDING_NAK_HELD, &qp->hrp.pending) || !us)
		return;
	qp->hold_ns = qp_fab(qp)->now_ns + us * 1000;
	arm_timer(qp, qp->hold_ns);
}

/* What was sent was not answered: it takes another way, if there is one. */
static void rehash(struct fab_qp *qp, enum hrp_pending what, bool answer)
{
	struct fabric *fab = qp_fab(qp);

	if (!test_and_clear_bit(what, &qp->hrp.pending) || !fab->opts.rehash)
		return;
	qp->sport[answer] = fab_draw_sport(fab);
	hrp_count(&qp->hrp, HROCE_EV_REHASHES);
	if (!answer && hrp_spray_is_on(&qp->hrp.req))
		spray_draw(qp);
}

/* After a pause. Of those that meet on a link half stay. */
static void flowlet(struct fab_qp *qp)
{
	struct fabric *fab = qp_fab(qp);

	if (!fab->opts.flowlet || hrp_spray_is_on(&qp->hrp.req) ||
	    !hrp_flowlet_begins(&qp->hrp, fab->now_ns) ||
	    sim_below(&fab->rng, 2))
		return;
	qp->sport[0] = fab_draw_sport(fab);
	hrp_count(&qp->hrp, HROCE_EV_REHASHES);
}

/* A path that is slower than others, or broken, is replaced. */
static void evict(struct fab_qp *qp)
{
	struct hrp_req *req = &qp->hrp.req;
	int path;

	while ((path = hrp_spray_evict(req)) >= 0) {
		if (!qp_fab(qp)->opts.rehash)
			continue;
		req->sack->spray->sport[path] = fab_draw_sport(qp_fab(qp));
		hrp_count(&qp->hrp, HROCE_EV_REHASHES);
	}
}

static void send_cnp(struct fab_qp *qp)
{
	static const u8 reserved[CNP_PAYLOAD];
	struct hrp_burst b;

	qp->cnp_due = false;
	hrp_burst_begin(&b, &qp->hrp, HRP_OPCODE_CNP, 0);
	b.first.cn = HRP_BECN;
	b.mem.bytes = reserved;
	b.mem.len = sizeof(reserved);
	b.first.sport = qp->cnp_sport;
	qp_fab(qp)->c.cnps++;
	fab_host_send(qp, &b, NULL, true, true);
}

/* READ responses have a rate; what acknowledges reacts to nothing. */
static bool answer_reacts(const struct fab_qp *qp, const struct hrp_burst *b)
{
	return qp_reacts(qp) && b->first.info & HRP_OI_READ;
}

static void answer(struct fab_qp *qp)
{
	u8 map[HRP_SACK_MAP_BYTES];
	struct hrp_burst b;

	if (qp->cnp_due)
		send_cnp(qp);
	while (!must_pause(qp) &&
	       hrp_resp_next_paced(&qp->hrp, qp_fab(qp)->now_ns, &b)) {
		bool sack = b.first.info & HRP_OI_EXT && b.mem.len;

		if (sack)
			hrp_sack_fill(&qp->hrp.resp, &b, map);
		fab_host_send(qp, &b, sack ? map : NULL, answer_reacts(qp, &b),
			      false);
		hrp_resp_sent(&qp->hrp, &b, HROCE_WC_SUCCESS);
	}
	arm_timer(qp, hrp_pace_answers_at(&qp->hrp));
}

/* What is resent apart, or after going back. */
static void count_burst(struct fab_qp *qp, const struct hrp_burst *b,
			u32 psn_max)
{
	struct fabric *fab = qp_fab(qp);

	if (b->first.info & HRP_OI_EXT)
		return;
	fab->c.data_pkts += b->nr_pkts;
	if (hrp_psn_diff(b->first.psn, psn_max) < 0)
		fab->c.resent_pkts += b->nr_pkts;
}

static void request(struct fab_qp *qp)
{
	struct hrp_req *req = &qp->hrp.req;
	u64 now_ns = qp_fab(qp)->now_ns;
	struct hrp_burst b;
	enum hrp_next next;
	bool sent = false;

	while (!must_pause(qp)) {
		u32 psn_max = req->psn_max;

		req->burst_pkts = BURST_PKTS;
		if (hrp_spray_is_on(req))
			req->burst_pkts = hrp_spray_pkts(req, BURST_PKTS);
		next = hrp_req_next(&qp->hrp, now_ns, &b);
		if (next == HRP_NEXT_AGAIN)
			continue;
		if (next != HRP_NEXT_BURST)
			break;
		count_burst(qp, &b, psn_max);
		if (hrp_spray_is_on(req))
			qp->sport[0] = hrp_spray_sport(req, &b);
		fab_host_send(qp, &b,
			      b.first.info & HRP_OI_EXT ? b.mem.bytes : NULL,
			      qp_reacts(qp), false);
		hrp_req_sent(&qp->hrp, &b, HROCE_WC_SUCCESS);
		sent = true;
	}
	if (sent && test_bit(HRP_PENDING_HELD, &qp->hrp.pending) &&
	    hrp_resp_ride(&qp->hrp, &b))
		fab_host_send(qp, &b, NULL, qp_reacts(qp), false);
	arm_timer(qp, hrp_req_deadline(req));
}

void fab_qp_run(struct fab_qp *qp)
{
	qp->run_bytes = 0;
	qp->run_pkts = 0;
	spread(qp);
	unpace(qp);
	hold_nak(qp);
	rehash(qp, HRP_PENDING_REHASH, false);
	rehash(qp, HRP_PENDING_REHASH_ANSWERS, true);
	evict(qp);
	flowlet(qp);
	if (test_and_clear_bit(HRP_PENDING_ERROR, &qp->hrp.pending)) {
		hrp_req_flush(&qp->hrp, SQ_ENTRIES);
		hrp_resp_flush(&qp->hrp, SQ_ENTRIES);
	}
	if (qp->cnp_due || hrp_resp_is_due(&qp->hrp.resp))
		answer(qp);
	if (!qp->sends)
		return;
	qp->sends = false;
	request(qp);
}

void fab_qp_kick(struct fab_qp *qp)
{
	struct fabric *fab = qp_fab(qp);

	if (qp->kicked)
		return;
	qp->kicked = true;
	qp->next_kick = NULL;
	*fab->kick_tail = qp;
	fab->kick_tail = &qp->next_kick;
}

static void keep_packet(struct hrp_keep *keep, const struct hrp_pkt *pkt)
{
	struct hrp_kept *kept = fab_alloc(1, sizeof(*kept));

	kept->pkt = *pkt;
	hrp_keep_put(keep, kept);
}

/* Return: status for the engine. */
static u8 keep_answer(struct fab_qp *qp, const struct hrp_pkt *pkt)
{
	struct hrp_req *req = &qp->hrp.req;
	struct hrp_keep *keep;

	if (!qp_fab(qp)->opts.keep)
		return HROCE_WC_GENERAL_ERR;
	kept_open_sack(req);
	keep = kept_prepare_answer(req, pkt->psn);
	if (!hrp_keep_has(keep, pkt->psn))
		keep_packet(keep, pkt);
	return HROCE_WC_SUCCESS;
}

static bool take_request(struct fab_qp *qp, const struct hrp_pkt *pkt)
{
	bool held = hrp_resp_is_held(&qp->hrp.resp);
	struct fabric *fab = qp_fab(qp);
	struct hrp_rx rx;

	hrp_resp_begin(&qp->hrp, pkt, &rx);
	if (rx.verdict == HRP_RX_DROP) {
		fab->counts.v[rx.drop]++;
		return false;
	}
	if (rx.verdict == HRP_RX_KEEP) {
		kept_prepare(&qp->hrp, pkt->psn);
		keep_packet(qp->hrp.resp.keep, pkt);
	} else if (rx.verdict == HRP_RX_ACCEPT) {
		qp->rx_bytes += pkt->payload_len;
	}
	rx.hold = pkt->ackreq && fab->opts.ack_delay;
	hrp_resp_commit(&qp->hrp, pkt, &rx, HROCE_WC_SUCCESS);
	if (!held && hrp_resp_is_held(&qp->hrp.resp)) {
		qp->hold_ns = fab->now_ns + fab->opts.ack_delay;
		arm_timer(qp, qp->hold_ns);
	}
	return true;
}

static void drain(struct fab_qp *qp)
{
	struct hrp_kept *kept;

	while ((kept = hrp_keep_take_stale(&qp->hrp)))
		free(kept);
	while ((kept = hrp_resp_next_kept(&qp->hrp))) {
		take_request(qp, &kept->pkt);
		free(kept);
	}
	if (hrp_keep_is_over(&qp->hrp.resp))
		kept_end(&qp->hrp);
}

/* @map: of a selective acknowledgement */
static bool take_response(struct fab_qp *qp, const struct hrp_pkt *pkt,
			  const u8 *map)
{
	struct fabric *fab = qp_fab(qp);
	u8 status = HROCE_WC_SUCCESS;
	struct hrp_rx rx;

	hrp_comp_begin(&qp->hrp, pkt, &rx);
	if (rx.verdict == HRP_RX_DROP) {
		fab->counts.v[rx.drop]++;
		return false;
	}
	if (pkt->info & HRP_OI_EXT)
		hrp_sack_take(&qp->hrp, pkt, map, fab->now_ns);
	if (rx.verdict == HRP_RX_KEEP)
		status = keep_answer(qp, pkt);
	else if (rx.verdict == HRP_RX_ACCEPT)
		qp->rx_bytes += pkt->payload_len;
	if (hrp_comp_commit(&qp->hrp, pkt, &rx, fab->now_ns, status))
		qp->sends = true;
	return true;
}

static void drain_answers(struct fab_qp *qp)
{
	struct hrp_req *req = &qp->hrp.req;
	struct hrp_kept *kept;

	while (hrp_ahead_of(req)) {
		while ((kept = hrp_ahead_take_stale(&qp->hrp)))
			free(kept);
		if (!hrp_ahead_nr(req)) {
			kept_free(hrp_ahead_close(&qp->hrp));
			return;
		}
		kept = hrp_ahead_next(&qp->hrp);
		if (!kept)
			return;
		take_response(qp, &kept->pkt, NULL);
		free(kept);
	}
}

/*
 * The packet came through congestion: tell the peer, but not too often. The way of
 * an answer is of this side's choice.
 */
static void marked(struct fab_qp *qp, const struct hrp_pkt *pkt)
{
	struct fabric *fab = qp_fab(qp);

	if (qp->cnp_ns && fab->now_ns - qp->cnp_ns < fab->opts.cnp_gap)
		return;
	qp->cnp_ns = fab->now_ns;
	qp->cnp_due = true;
	qp->cnp_sport = qp->hrp.resp.follows ? pkt->sport : 0;
	if (pkt->info & HRP_OI_RESPONSE && pkt->info & HRP_OI_READ)
		hrp_spray_marked(&qp->hrp.req, pkt->sport, fab->now_ns);
}

void fab_qp_receive(struct fab_qp *qp, struct fab_pkt *p)
{
	const struct hrp_pkt *pkt = &p->hdr;
	bool taken = true;

	if (qp->hrp.state == HRP_ERR)
		return;
	if (pkt->info & HRP_OI_CNP) {
		notified(qp, pkt->sport);
		return;
	}
	if (pkt->info & HRP_OI_RESPONSE) {
		if (pkt->info & HRP_OI_EXT) {
			kept_open_sack(&qp->hrp.req);
			hrp_sack_heard(&qp->hrp, pkt, p->map,
				       qp_fab(qp)->now_ns);
			if (kept_start_spray(&qp->hrp))
				spray_draw(qp);
		}
		taken = take_response(qp, pkt, p->map);
		drain_answers(qp);
	} else if (pkt->info & HRP_OI_EXT) {
		if (qp_fab(qp)->opts.sack)
			hrp_sack_asked(&qp->hrp, p->map, pkt->payload_len);
	} else {
		taken = take_request(qp, pkt);
		if (qp->hrp.resp.kept)
			drain(qp);
	}
	if (p->ce && taken)
		marked(qp, pkt);
}

static void post(struct fab_qp *qp, struct fab_msg *msg)
{
	struct hrp_sq *sq = &qp->hrp.req.sq;
	struct hroce_sq_wqe *wqe;
	struct hroce_sge *sge;

	wqe = sq->ring + (sq->hdr->prod & (SQ_ENTRIES - 1)) * sq->stride;
	sge = (void *)(wqe + 1);
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = msg->idx;
	wqe->opcode = msg->read ? HROCE_WR_READ : HROCE_WR_WRITE_IMM;
	wqe->flags = HROCE_WRF_SIGNALED;
	wqe->imm_data = msg->idx;
	wqe->rdma.remote_addr = 1 << 20;
	wqe->rdma.rkey = 1;
	wqe->nr_sges = !!msg->len;
	sge->addr = 1 << 20;
	sge->length = msg->len;
	sge->lkey = 1;
	WRITE_ONCE(sq->hdr->prod, sq->hdr->prod + 1);
	if (READ_ONCE(sq->hdr->need_kick))
		wake_requester(qp);
}

static bool ring_is_full(const struct fab_qp *qp)
{
	const struct hroce_sq_hdr *hdr = qp->hrp.req.sq.hdr;

	return hdr->prod - hdr->cons >= SQ_ENTRIES;
}

void fab_qp_post(struct fab_qp *qp, struct fab_msg *msg)
{
	msg->next = NULL;
	*qp->msg_tail = msg;
	qp->msg_tail = &msg->next;
	while (qp->msg_head && !ring_is_full(qp)) {
		msg = qp->msg_head;
		qp->msg_head = msg->next;
		if (!qp->msg_head)
			qp->msg_tail = &qp->msg_head;
		post(qp, msg);
	}
}

void hrp_env_send_done(struct hrp_qp *hrp, const struct hroce_cqe *cqe)
{
	struct fab_qp *qp = to_fab_qp(hrp);
	struct fabric *fab = qp_fab(qp);
	struct fab_msg *msg = fab->msg[cqe->wr_id];

	if (qp->msg_head) {
		struct fab_msg *next = qp->msg_head;

		qp->msg_head = next->next;
		if (!qp->msg_head)
			qp->msg_tail = &qp->msg_head;
		post(qp, next);
	}
	fab_msg_completed(fab, msg, cqe->status == HROCE_WC_SUCCESS);
}

void hrp_env_recv_done(struct hrp_qp *hrp, const struct hroce_cqe *cqe,
		       bool solicited)
{
	struct fabric *fab = qp_fab(to_fab_qp(hrp));

	if (cqe->status == HROCE_WC_SUCCESS)
		fab_msg_arrived(fab, fab->msg[cqe->imm_data]);
}

bool hrp_env_recv_take(struct hrp_qp *hrp, struct hrp_rwqe *rwqe)
{
	rwqe->wr_id = 0;
	rwqe->nr_sges = 0;
	rwqe->length = 0;
	return true;
}

u32 hrp_env_recv_avail(const struct hrp_qp *hrp)
{
	return HRP_RECV_SHARED;
}

bool hrp_env_mem_check(struct hrp_qp *hrp, u32 rkey, u64 va, u32 len,
		       u8 access)
{
	return true;
}

/* The loads have none of the following. */

bool hrp_env_srq_find(struct hrp_qp *hrp, u32 srqn)
{
	return false;
}

u8 hrp_env_atomic(struct hrp_qp *hrp, u32 rkey, u64 va, bool cas, u64 compare,
		  u64 swap_add, u64 *orig)
{
	return HROCE_WC_REM_ACCESS_ERR;
}

bool hrp_env_flush(struct hrp_qp *hrp, u32 rkey, u64 va, u32 len, bool all,
		   u8 access)
{
	return false;
}

bool hrp_env_invalidate(struct hrp_qp *hrp, u32 rkey)
{
	return false;
}

u8 hrp_env_local_op(struct hrp_qp *hrp, const struct hrp_wqe *wqe)
{
	return HROCE_WC_LOC_QP_OP_ERR;
}

static void sq_new(struct hrp_sq *sq)
{
	sq->max_sges = 1;
	sq->nr_entries = SQ_ENTRIES;
	sq->stride = hrp_sq_stride(1, 0);
	sq->copy_stride = hrp_sq_copy_stride(sq->stride);
	sq->hdr = fab_alloc(1, sizeof(*sq->hdr));
	sq->ring = fab_alloc(SQ_ENTRIES, sq->stride);
	sq->copies = fab_alloc(SQ_ENTRIES, sq->copy_stride);
}

static struct fab_qp *qp_new(struct fabric *fab, u32 host)
{
	const struct fab_opts *o = &fab->opts;
	struct fab_qp *qp = aligned_alloc(64, sizeof(*qp));
	struct hrp_resp *resp;
	struct hrp_req *req;

	if (!qp)
		fab_die("no memory");
	memset(qp, 0, sizeof(*qp));
	resp = &qp->hrp.resp;
	req = &qp->hrp.req;
	qp->host = &fab->host[host];
	qp->timer.act = qp_timer;
	qp->msg_tail = &qp->msg_head;
	qp->out.tail = &qp->out.head;
	qp->sport[0] = fab_draw_sport(fab);
	qp->sport[1] = qp->sport[0];
	qp->hrp.type = HRP_TYPE_RC;
	qp->hrp.qpn = fab->nr_qps + 2;
	qp->hrp.stats = &fab->counts;
	qp->hrp.pkey = 0xffff;
	qp->hrp.mtu = o->mtu;
	qp->hrp.access = HRP_QP_REMOTE_WRITE | HRP_QP_REMOTE_READ;
	sq_new(&req->sq);
	req->window_pkts = o->window;
	req->burst_pkts = BURST_PKTS;
	req->max_rd_atomic = NR_RD;
	req->cc = fab->cc;
	req->timeout = o->timeout;
	req->retry_cnt = 7;
	req->rnr_retry = HRP_INFINITE_RNR_RETRY;
	req->asks = o->sack ? HRP_SACK_ASKS : 0;
	req->spray = o->spray;
	resp->burst_pkts = BURST_PKTS;
	resp->keeps = !!o->keep;
	resp->max_dest_rd_atomic = NR_RD;
	resp->nr_rd = NR_RD;
	resp->rd = fab_alloc(NR_RD, sizeof(*resp->rd));
	resp->rwqe = fab_alloc(1, struct_size(resp->rwqe, sges, 1));
	fab->qps = realloc(fab->qps, (fab->nr_qps + 1) * sizeof(*fab->qps));
	if (!fab->qps)
		fab_die("no memory");
	fab->qps[fab->nr_qps++] = qp;
	return qp;
}

static void qp_start(struct fab_qp *qp, struct fab_qp *peer)
{
	qp->peer = peer;
	/*
	 * As rdma_get_udp_sport(): both ends compute the same. It matters if
	 * answers begin to take the ports of requests.
	 */
	if (qp->hrp.req.spray >= 2)
		qp->sport[1] = peer->sport[0];
	qp->hrp.dest_qpn = peer->hrp.qpn;
	hrp_req_reset(&qp->hrp);
	hrp_resp_reset(&qp->hrp);
	hrp_resp_start(&qp->hrp, 0);
	qp->hrp.state = HRP_RTS;
	hrp_req_start(&qp->hrp, 0);
}

static struct fab_qp **qp_slot(struct fabric *fab, u32 from, u32 to)
{
	struct fab_host *host = &fab->host[from];

	if (!host->qp)
		host->qp = fab_alloc(fab->nr_hosts, sizeof(*host->qp));
	return &host->qp[to];
}

struct fab_qp *fab_qp_get(struct fabric *fab, u32 from, u32 to)
{
	struct fab_qp *a = *qp_slot(fab, from, to), *b;

	if (a)
		return a;
	a = qp_new(fab, from);
	b = qp_new(fab, to);
	*qp_slot(fab, from, to) = a;
	*qp_slot(fab, to, from) = b;
	qp_start(a, b);
	qp_start(b, a);
	return a;
}

void fab_qp_free(struct fab_qp *qp)
{
	kept_end(&qp->hrp);
	kept_free(hrp_ahead_close(&qp->hrp));
	kept_close_sack(&qp->hrp.req);
	free(hrp_pace_stop(&qp->hrp));
	free(qp->hrp.req.sq.hdr);
	free(qp->hrp.req.sq.ring);
	free(qp->hrp.req.sq.copies);
	free(qp->hrp.resp.rwqe);
	free(qp->hrp.resp.rd);
	free(qp);
}

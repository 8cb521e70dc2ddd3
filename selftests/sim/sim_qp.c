// SPDX-License-Identifier: GPL-2.0
/*
 * One queue pair: calls the engine in the way that the module does. Whoever
 * transmits holds a token; a burst is handed out, time goes by, during which
 * acknowledgements may arrive, and only then the next one is asked for.
 */
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/overflow.h>
#include "kept.h"
#include "proto/cc.h"
#include "proto/env.h"
#include "proto/mtu.h"
#include "sim_spec.h"

#define SQ_MAX_INLINE	256

static void run_requester(struct sim_qp *qp);
static void drain(struct sim_qp *qp);
static void flush(struct sim_qp *qp);

static void keep_end(struct sim_qp *qp)
{
	sim_check(qp->node->sim, !kept_end(&qp->hrp));
}

static void sack_end(struct sim_qp *qp)
{
	sim_check(qp->node->sim, !kept_free(hrp_ahead_close(&qp->hrp)));
	kept_close_sack(&qp->hrp.req);
}

static void error_work(void *ctx)
{
	struct sim_qp *qp = ctx;

	keep_end(qp);
	sack_end(qp);
	if (qp->hrp.state == HRP_ERR && hrp_resp_hold_end(&qp->hrp))
		sim_plan_answer(qp);
	flush(qp);
}

/* A CNP may have come meanwhile. */
static void unpace(struct sim_qp *qp)
{
	if (!hrp_pace_is_on(&qp->hrp.req))
		free(hrp_pace_stop(&qp->hrp));
	sim_plan_answer(qp);
}

static void rehash(struct sim_qp *qp, bool answer)
{
	qp->way[answer] = sim_rand(&qp->node->sim->rng);
	hrp_count(&qp->hrp, HROCE_EV_REHASHES);
}

/* After each call of the engine that may end with an error. */
static void take_pending(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;

	if (test_and_clear_bit(HRP_PENDING_SPREAD, &qp->hrp.pending))
		sim_pace_spread(qp);
	if (test_and_clear_bit(HRP_PENDING_UNPACED, &qp->hrp.pending))
		unpace(qp);
	if (test_and_clear_bit(HRP_PENDING_NAK_HELD, &qp->hrp.pending))
		sim_hold_nak(qp);
	if (test_and_clear_bit(HRP_PENDING_REHASH, &qp->hrp.pending)) {
		rehash(qp, false);
		sim_spray_draw(qp);
	}
	if (test_and_clear_bit(HRP_PENDING_REHASH_ANSWERS, &qp->hrp.pending))
		rehash(qp, true);
	sim_spray_evict(qp);
	if (test_and_clear_bit(HRP_PENDING_ERROR, &qp->hrp.pending)) {
		sim_check(sim, qp->hrp.state == HRP_ERR);
		sim_at(sim, 2 * SIM_US, error_work, qp);
	}
	if (test_and_clear_bit(HRP_PENDING_SQ_ERROR, &qp->hrp.pending)) {
		sim_check(sim, !hrp_qp_is_reliable(&qp->hrp));
		sim_at(sim, 2 * SIM_US, error_work, qp);
	}
}

/* When the timer has to fire for either side; 0: never. */
static u64 deadline(const struct sim_qp *qp)
{
	return min_not_zero(hrp_req_deadline(&qp->hrp.req),
			    hrp_pace_answers_at(&qp->hrp));
}

static void timer_fired(void *ctx)
{
	struct sim_qp *qp = ctx;
	struct hrp_req *req = &qp->hrp.req;
	struct sim *sim = qp->node->sim;

	if (sim->now_ns != qp->timer_ns)
		return;		/* an earlier one was planned instead */
	qp->timer_ns = 0;
	if (hrp_req_deadline(req) && hrp_req_deadline(req) <= sim->now_ns &&
	    hrp_req_timeout(&qp->hrp, sim->now_ns))
		run_requester(qp);
	if (hrp_pace_answers_timeout(&qp->hrp, sim->now_ns))
		sim_plan_answer(qp);
	take_pending(qp);
	if (deadline(qp) && !qp->timer_ns) {
		u64 at = max(deadline(qp), sim->now_ns + 1);

		qp->timer_ns = at;
		sim_at(sim, at - sim->now_ns, timer_fired, qp);
	}
}

/* After each run of the requester: the deadline may have changed. */
static void plan_timer(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;
	u64 at;

	if (!deadline(qp))
		return;
	/* A kernel timer is late, never early. */
	at = max(deadline(qp), sim->now_ns) +
	     sim_below(&sim->rng, 5 * SIM_US);
	if (qp->timer_ns && qp->timer_ns <= at)
		return;
	qp->timer_ns = at;
	sim_at(sim, at - sim->now_ns, timer_fired, qp);
}

/* Rates change at any time, as they would with congestion control. */
static void pace_change(void *ctx)
{
	struct sim_qp *qp = ctx;
	struct sim *sim = qp->node->sim;
	u32 burst = sim_below(&sim->rng, 2) ? sim_below(&sim->rng, 100000) : 0;

	if (sim->stopped)
		return;
	sim_pace_drain(qp);
	hrp_pace_set(&qp->hrp, sim->now_ns,
		     (100000 + sim_below(&sim->rng, 100000)) <<
		     sim_below(&sim->rng, 6), burst);
	sim_pace_drain(qp);
	run_requester(qp);
	sim_at(sim, sim_below(&sim->rng, 5 * SIM_MS), pace_change, qp);
}

#define CNP_NS		(50 * SIM_US)

static void cnp_arrives(void *ctx)
{
	struct sim_qp *qp = ctx;
	struct sim *sim = qp->node->sim;

	if (qp->hrp.state == HRP_ERR)
		return;
	sim->nr_cnps++;
	if (qp->pace)
		sim_pace_drain(qp);
	/* There may be no memory. */
	if (hrp_cc_wants_pace(&qp->hrp) && sim_below(&sim->rng, 8))
		hrp_pace_start(&qp->hrp, malloc(sizeof(struct hrp_pace)),
			       &sim->rp, sim->now_ns, SIM_PACE_SLACK_NS);
	hrp_cc_notified(&qp->hrp, sim->now_ns);
	if (qp->pace)
		sim_pace_drain(qp);
	take_pending(qp);
}

void sim_qp_marked(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;

	if (qp->hrp.type == HRP_TYPE_UD ||
	    (qp->cnp_ns && sim->now_ns < qp->cnp_ns + CNP_NS) ||
	    sim_chance(&sim->rng, sim->opts.drop_ppm))
		return;
	qp->cnp_ns = sim->now_ns;
	sim_at(sim, 3 * SIM_US + sim_below(&sim->rng, 5 * SIM_US), cnp_arrives,
	       qp->peer);
}

static u64 transmit_time(struct sim *sim, const struct hrp_burst *b)
{
	return 100 + sim_below(&sim->rng, 400 * b->nr_pkts);
}

/* Fetches the payload, some time while the token is held. */
static void answer(void *ctx);

static void own_memory_is_back(void *ctx)
{
	struct sim_qp *qp = ctx;

	if (hrp_req_mem_ready(&qp->hrp, qp->node->sim->now_ns, true))
		run_requester(qp);
}

static void read_memory_is_back(void *ctx)
{
	struct sim_qp *qp = ctx;

	hrp_resp_read_ready(&qp->hrp, true);
	take_pending(qp);
	answer(qp);
}

/* The module tells the engine once that memory is there; twice is harmless. */
static void fetch(struct sim_qp *qp, void (*back)(void *))
{
	struct sim *sim = qp->node->sim;

	sim_at(sim, sim_below(&sim->rng, 20 * SIM_US), back, qp);
}

static u8 maybe_away(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;

	return sim_chance(&sim->rng, sim->opts.away_ppm) ? HRP_MEM_FAULT :
							   HROCE_WC_SUCCESS;
}

static u8 fill(struct sim_qp *qp, const struct hrp_burst *b, u8 *bytes)
{
	u8 status;

	if (!b->mem.len)
		return HROCE_WC_SUCCESS;
	status = maybe_away(qp);
	if (status != HROCE_WC_SUCCESS)
		return status;
	return sim_mem_copy(qp->node, &b->mem, bytes, false);
}

static void flush(struct sim_qp *qp)
{
	if (qp->req_busy) {
		qp->flush_due = true;
		return;
	}
	qp->flush_due = false;
	hrp_req_flush(&qp->hrp, U32_MAX);
	if (qp->hrp.state == HRP_ERR)
		hrp_resp_flush(&qp->hrp, U32_MAX);
}

/*
 * The frame that the burst went to is refused. It may have begun with a burst
 * before, of which the stack has sent some packets, or all, before it said so.
 */
static bool refused(struct sim_qp *qp)
{
	u32 psn = qp->req_burst.first.psn;
	struct sim *sim = qp->node->sim;

	if (!hrp_qp_is_reliable(&qp->hrp) ||
	    !sim_chance(&sim->rng, sim->opts.refuse_ppm)) {
		qp->refused_psn = psn;
		return false;
	}
	if (sim_below(&sim->rng, 4))
		qp->refused_psn = psn;
	hrp_req_sent(&qp->hrp, &qp->req_burst, HROCE_WC_SUCCESS);
	hrp_req_refused(&qp->hrp, qp->refused_psn, sim->now_ns);
	return true;
}

/* The ACK that is held follows a request, or not. */
static void ride(struct sim_qp *qp)
{
	struct hrp_burst b;

	if (test_bit(HRP_PENDING_HELD, &qp->hrp.pending) && !qp->resp_busy &&
	    sim_below(&qp->node->sim->rng, 4) && hrp_resp_ride(&qp->hrp, &b)) {
		sim_credit_answer(qp, &b);
		sim_net_send(qp, &b, qp->resp_bytes);
	}
}

/* The first packets of the burst have left: their memory is there. */
static void send_part(struct sim_qp *qp, struct hrp_burst *b, u8 *bytes)
{
	u32 nr = sim_below(&qp->node->sim->rng, b->nr_pkts);
	struct hrp_burst part = *b;

	part.nr_pkts = nr;
	part.op_last = part.op_middle;
	part.ackreq_last = false;
	part.se_last = false;
	part.mem.len = nr * part.mtu;
	if (!nr || qp->pace ||
	    sim_mem_copy(qp->node, &part.mem, bytes, false) != HROCE_WC_SUCCESS)
		return;
	sim_net_send(qp, &part, bytes);
	hrp_burst_cut(b, nr);
}

static void requester_sent(void *ctx)
{
	struct sim_qp *qp = ctx;

	if (refused(qp)) {
		qp->req_busy = false;
		if (qp->flush_due)
			flush(qp);
		run_requester(qp);
		return;
	}
	if (!qp->req_filled)
		qp->req_status = fill(qp, &qp->req_burst, qp->req_bytes);
	if (qp->req_status == HROCE_WC_SUCCESS)
		sim_net_send(qp, &qp->req_burst, qp->req_bytes);
	else if (qp->pace)
		sim_pace_give_back(qp, &qp->req_burst);
	if (qp->req_status != HROCE_WC_SUCCESS)
		send_part(qp, &qp->req_burst, qp->req_bytes);
	hrp_req_sent(&qp->hrp, &qp->req_burst, qp->req_status);
	if (qp->req_status == HRP_MEM_FAULT)
		fetch(qp, own_memory_is_back);
	qp->req_busy = false;
	if (qp->flush_due)
		flush(qp);
	ride(qp);
	run_requester(qp);
}

static void run_requester(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;
	u64 *nr_limited = &sim->counts.v[HROCE_EV_E2E_LIMITED];
	u64 limited = *nr_limited;
	enum hrp_next next;

	if (qp->req_busy)
		return;		/* the holder asks again in any case */
	do {
		sim_spray_bound(qp);
		next = hrp_req_next(&qp->hrp, sim->now_ns, &qp->req_burst);
		/* It may have raised the rate. */
		if (qp->pace)
			sim_pace_drain(qp);
	} while (next == HRP_NEXT_AGAIN);
	take_pending(qp);
	plan_timer(qp);
	sim_check(sim, next != HRP_NEXT_WAIT ||
		       qp->hrp.req.timer != HRP_TIMER_OFF ||
		       hrp_req_deadline(&qp->hrp.req) ||
		       qp->hrp.state != HRP_RTS);
	if (next != HRP_NEXT_BURST)
		return;
	if (hrp_qp_is_reliable(&qp->hrp))
		sim_credit_burst(qp, &qp->req_burst, *nr_limited != limited);
	sim_spray_choose(qp);
	if (qp->pace)
		sim_pace_check(qp, &qp->req_burst);
	sim_check(sim, qp->req_burst.nr_pkts);
	if (qp->req_burst.msgs) {
		sim->trains[hrp_opcode_op(qp->req_burst.first.opcode) ==
			    HRP_OP_SEND_ONLY]++;
		sim_check(sim, qp->req_burst.mem.len <=
			       qp->hrp.req.burst_pkts * qp->hrp.mtu);
	} else {
		sim_check(sim, qp->req_burst.nr_pkts <= qp->hrp.req.burst_pkts);
	}
	qp->req_busy = true;
	qp->req_filled = sim_below(&sim->rng, 2);
	if (qp->req_filled)
		qp->req_status = fill(qp, &qp->req_burst, qp->req_bytes);
	sim_at(sim, transmit_time(sim, &qp->req_burst), requester_sent, qp);
}

void sim_qp_kick(struct sim_qp *qp)
{
	if (qp->spec)
		sim_spec_kick(qp);
	else if (qp->hrp.state == HRP_ERR || qp->hrp.state == HRP_SQE)
		flush(qp);
	else
		run_requester(qp);
}

static void answer_sent(void *ctx)
{
	struct sim_qp *qp = ctx;

	if (!qp->resp_filled)
		qp->resp_status = fill(qp, &qp->resp_burst, qp->resp_bytes);
	if (qp->resp_status == HROCE_WC_SUCCESS)
		sim_net_send(qp, &qp->resp_burst, qp->resp_bytes);
	else
		send_part(qp, &qp->resp_burst, qp->resp_bytes);
	hrp_resp_sent(&qp->hrp, &qp->resp_burst, qp->resp_status);
	take_pending(qp);
	if (qp->resp_status == HRP_MEM_FAULT)
		fetch(qp, read_memory_is_back);
	qp->resp_busy = false;
	answer(qp);
}

/* What is kept is told before the state changes. */
static void fill_map(struct sim_qp *qp)
{
	const struct hrp_burst *b = &qp->resp_burst;
	bool nak = b->first.syndrome == HRP_NAK_PSN_SEQ;

	sim_check(qp->node->sim, !b->mem.len ||
		  b->mem.len == (nak ? hrp_sack_len(&qp->hrp.resp) :
				       HRP_SACK_AGAIN_BYTES));
	if (b->mem.len)
		hrp_sack_fill(&qp->hrp.resp, b, qp->resp_bytes);
	qp->resp_filled = true;
	qp->resp_status = HROCE_WC_SUCCESS;
}

static void answer(void *ctx)
{
	struct sim_qp *qp = ctx;
	struct sim *sim = qp->node->sim;
	bool more;

	qp->answer_planned = false;
	if (qp->resp_busy)
		return;
	more = hrp_resp_next_paced(&qp->hrp, sim->now_ns, &qp->resp_burst);
	/* It may have raised the rate. */
	if (qp->pace)
		sim_pace_drain(qp);
	take_pending(qp);
	plan_timer(qp);
	if (!more)
		return;
	sim_credit_answer(qp, &qp->resp_burst);
	sim_check(sim, qp->resp_burst.nr_pkts &&
		       qp->resp_burst.nr_pkts <= qp->hrp.resp.burst_pkts);
	qp->resp_busy = true;
	/* The memory of a READ is read now or later; both are right. */
	qp->resp_filled = sim_below(&sim->rng, 2);
	if (qp->resp_burst.first.opcode == HRP_OPCODE_SACK)
		fill_map(qp);
	else if (qp->resp_filled)
		qp->resp_status = fill(qp, &qp->resp_burst, qp->resp_bytes);
	sim_at(sim, transmit_time(sim, &qp->resp_burst), answer_sent, qp);
}

/* Answers wait for the end of a batch of received packets. */
void sim_plan_answer(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;

	if (qp->answer_planned)
		return;
	qp->answer_planned = true;
	sim_at(sim, sim_below(&sim->rng, 1000), answer, qp);
}

static void receive_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
			    struct hrp_rx *rx, u8 status)
{
	bool held = hrp_resp_is_held(&qp->hrp.resp);
	struct sim *sim = qp->node->sim;

	sim_hold_check(qp);
	/* Not at times that the owner chooses. */
	rx->hold = qp->may_hold && sim_below(&sim->rng, 50);
	hrp_resp_commit(&qp->hrp, pkt, rx, status);
	if (rx->verdict == HRP_RX_NAK &&
	    (rx->syndrome & HRP_SYN_TYPE_MASK) == HRP_SYN_RNR &&
	    !qp->hrp.resp.srq)
		sim_credit_rnr(qp);
	if (!held && hrp_resp_is_held(&qp->hrp.resp))
		sim_hold_begin(qp);
	sim_hold_check(qp);
	if (hrp_resp_is_due(&qp->hrp.resp))
		sim_plan_answer(qp);
}

static void receive_map(struct sim_qp *qp, const struct hrp_pkt *pkt,
			const u8 *map)
{
	struct hrp_req *req = &qp->hrp.req;
	struct sim *sim = qp->node->sim;

	if (req->sack)
		hrp_sack_take(&qp->hrp, pkt, map, sim->now_ns);
}

/* The peer understands. Memory is short now and then. */
static void hear_map(struct sim_qp *qp, const struct hrp_pkt *pkt,
		     const u8 *map)
{
	struct hrp_req *req = &qp->hrp.req;
	struct sim *sim = qp->node->sim;

	sim_check(sim, req->asks < HRP_SACK_ASKS);
	if (sim_below(&sim->rng, 8))
		kept_open_sack(req);
	if (!req->sack)
		return;
	hrp_sack_heard(&qp->hrp, pkt, map, sim->now_ns);
	sim_spray_begin(qp);
}

/* Longer packets: some agree, some do not know the question. */
static void agree(struct sim_qp *qp, const struct hrp_pkt *pkt,
		  const u8 *payload)
{
	struct sim *sim = qp->node->sim;
	u32 own = qp->hrp.resp.own_mtu;

	if (pkt->info & HRP_OI_RESPONSE) {
		sim_check(sim, own && pkt->payload_len <= own * HRP_MTU_UNIT);
		/* A second answer is not needed, and one of before is late. */
		hrp_mtu_answered(&qp->hrp, pkt, payload);
		return;
	}
	sim_check(sim, hrp_mtu_asked(&qp->hrp, pkt, payload) == !!own);
	if (hrp_resp_is_due(&qp->hrp.resp))
		sim_plan_answer(qp);
}

/* Return: false if that is all. */
static bool receive_apart(struct sim_qp *qp, const struct hrp_pkt *pkt,
			  const u8 *payload, bool damaged)
{
	if (damaged || qp->hrp.state == HRP_ERR) {
		qp->node->sim->counts.v[HROCE_DROP_ICRC] += damaged;
		return false;
	}
	if (hrp_mtu_is_about(pkt)) {
		agree(qp, pkt, payload);
		return false;
	}
	if (pkt->info & HRP_OI_RESPONSE) {
		hear_map(qp, pkt, payload);
		return true;
	}
	/* It does not know the question. */
	if (!qp->tells)
		return false;
	sim_check(qp->node->sim,
		  hrp_sack_asked(&qp->hrp, payload, pkt->payload_len));
	if (hrp_resp_is_due(&qp->hrp.resp))
		sim_plan_answer(qp);
	return false;
}

/* As the module checks before it asks the engine. */
static bool is_of_service(const struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	return (pkt->opcode & HRP_SVC_MASK) == hrp_qp_service(&qp->hrp) ||
	       pkt->info & (HRP_OI_CNP | HRP_OI_EXT);
}

static void receive(struct sim_qp *qp, const struct hrp_pkt *pkt, u8 *payload,
		    bool damaged)
{
	struct sim *sim = qp->node->sim;
	bool response = pkt->info & HRP_OI_RESPONSE;
	u8 status = HROCE_WC_SUCCESS;
	u64 orig = pkt->orig;
	struct hrp_mem grh;
	struct hrp_rx rx;

	if (!is_of_service(qp, pkt)) {
		sim->counts.v[HROCE_DROP_OPCODE]++;
		return;
	}
	if (pkt->info & HRP_OI_EXT &&
	    !receive_apart(qp, pkt, payload, damaged))
		return;
	if (damaged && !response && hrp_resp_is_delicate(pkt)) {
		sim->counts.v[HROCE_DROP_ICRC]++;
		return;
	}
	if (!response && !damaged && sim_is_forgotten(qp, pkt))
		return;
	if (response && !damaged)
		sim_credit_told(qp, pkt);
	if (response)
		hrp_comp_begin(&qp->hrp, pkt, &rx);
	else
		hrp_resp_begin(&qp->hrp, pkt, &rx);
	if (rx.verdict == HRP_RX_DROP) {
		sim->counts.v[rx.drop]++;
		return;
	}
	if (damaged && !rx.fuse) {
		sim->counts.v[HROCE_DROP_ICRC]++;
		return;
	}
	if (rx.mem.len && pkt->info & HRP_OI_ATOMIC) {
		sim_check(sim, rx.mem.len == 8 && !rx.fuse);
		payload = (u8 *)&orig;
	} else {
		sim_check(sim, !rx.mem.len || rx.mem.len == pkt->payload_len);
	}
	if (pkt->info & HRP_OI_EXT)
		receive_map(qp, pkt, payload);
	if (rx.verdict == HRP_RX_KEEP && !damaged) {
		sim_check(sim, !rx.mem.len && !rx.fuse);
		status = response ? sim_keep_answer(qp, pkt, payload) :
				    sim_keep_request(qp, pkt, payload);
	}
	if (rx.mem.len && !damaged)
		status = maybe_away(qp);
	if (status == HRP_MEM_FAULT && response)
		fetch(qp, own_memory_is_back);
	if (rx.mem.len && status == HROCE_WC_SUCCESS)
		status = sim_mem_copy(qp->node, &rx.mem, payload, true);
	if (damaged) {
		sim->counts.v[HROCE_DROP_ICRC]++;
		return;
	}
	if (rx.grh) {
		static u8 zero[HRW_GRH_LEN];

		grh = rx.mem;
		grh.offset = 0;
		grh.len = HRW_GRH_LEN;
		status = sim_mem_copy(qp->node, &grh, zero, true);
	}
	if (!response) {
		receive_request(qp, pkt, &rx, status);
	} else if (hrp_comp_commit(&qp->hrp, pkt, &rx, sim->now_ns, status)) {
		run_requester(qp);
	}
	take_pending(qp);
}

void sim_qp_receive_alone(struct sim_qp *qp, const struct hrp_pkt *pkt,
			  u8 *payload, bool damaged)
{
	receive(qp, pkt, payload, damaged);
}

static void drain_later(void *ctx)
{
	struct sim_qp *qp = ctx;

	qp->drain_planned = false;
	drain(qp);
}

/* Kept requests whose turn it is, some of them now and the rest later. */
static void drain(struct sim_qp *qp)
{
	struct hrp_resp *resp = &qp->hrp.resp;
	struct sim *sim = qp->node->sim;
	struct hrp_kept *kept;

	if (!resp->kept)
		return;
	while (sim_below(&sim->rng, 20)) {
		kept = hrp_keep_take_stale(&qp->hrp);
		if (kept) {
			free(kept);
			continue;
		}
		kept = hrp_resp_next_kept(&qp->hrp);
		if (!kept)
			break;
		sim_check(sim, kept->pkt.psn == resp->psn);
		receive(qp, &kept->pkt, ((struct sim_kept *)kept)->payload,
			false);
		free(kept);
	}
	if (hrp_keep_is_over(resp))
		keep_end(qp);
	if (hrp_resp_is_due(resp))
		sim_plan_answer(qp);
	/* What is missing may never come, if the peer has given up. */
	if (!resp->kept || qp->drain_planned || sim->stopped)
		return;
	qp->drain_planned = true;
	sim_at(sim, sim_below(&sim->rng, 3 * SIM_US), drain_later, qp);
}

/* Kept answers whose turn it is. Now and then all that is kept is lost. */
static void drain_answers(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;
	struct hrp_kept *kept;

	if (!sim_below(&sim->rng, 500))
		sim_check(sim, !kept_free(hrp_ahead_close(&qp->hrp)));
	while (hrp_ahead_of(&qp->hrp.req)) {
		while ((kept = hrp_ahead_take_stale(&qp->hrp)))
			free(kept);
		if (!hrp_ahead_nr(&qp->hrp.req)) {
			sim_check(sim, !kept_free(hrp_ahead_close(&qp->hrp)));
			return;
		}
		kept = hrp_ahead_next(&qp->hrp);
		if (!kept)
			return;
		sim_check(sim, kept->pkt.psn == qp->hrp.req.psn_una);
		receive(qp, &kept->pkt, ((struct sim_kept *)kept)->payload,
			false);
		free(kept);
	}
}

/* Messages of SEND and WRITE that have arrived, if it is the only one to receive. */
static u64 messages(const struct sim_qp *qp)
{
	return qp->nr_sends + qp->node->sim->counts.v[HROCE_EV_RX_WRITES];
}

void sim_qp_receive(struct sim_qp *qp, const struct hrp_pkt *pkt, u8 *payload,
		    bool damaged)
{
	bool watched = qp->peer->spec && qp->hrp.type == HRP_TYPE_UC;
	u64 had = messages(qp);
	bool ends;

	if (qp->spec) {
		if (!damaged)
			sim_spec_receive(qp, pkt, payload);
		return;
	}
	ends = watched && sim_spec_uc_ends(qp, pkt);
	receive(qp, pkt, payload, damaged);
	sim_check(qp->node->sim, !watched || messages(qp) == had + ends);
	if (pkt->info & HRP_OI_RESPONSE)
		drain_answers(qp);
	else
		drain(qp);
}

void sim_qp_error(struct sim_qp *qp)
{
	if (qp->hrp.state == HRP_ERR)
		return;
	qp->hrp.state = HRP_ERR;
	sim_at(qp->node->sim, 2 * SIM_US, error_work, qp);
}

u8 hrp_env_local_op(struct hrp_qp *hrp, const struct hrp_wqe *wqe)
{
	struct sim_node *node = to_sim_qp(hrp)->node;
	struct sim_mr *mr = sim_mr_find(node, wqe->wqe.imm_data);

	sim_check(node->sim, wqe->wqe.opcode == HROCE_WR_LOCAL_INV);
	if (!mr || !mr->one_shot)
		return HROCE_WC_LOC_QP_OP_ERR;
	mr->valid = false;
	return HROCE_WC_SUCCESS;
}

static void sq_new(struct sim *sim, struct hrp_sq *sq)
{
	sq->max_sges = SIM_MAX_PIECES;
	sq->max_inline = SQ_MAX_INLINE;
	sq->nr_entries = 16u << sim_below(&sim->rng, 3);
	sq->stride = hrp_sq_stride(sq->max_sges, sq->max_inline);
	sq->copy_stride = hrp_sq_copy_stride(sq->stride);
	sq->hdr = calloc(1, sizeof(*sq->hdr));
	sq->ring = calloc(sq->nr_entries, sq->stride);
	sq->copies = calloc(sq->nr_entries, sq->copy_stride);
	/* The indices wrap on the way. */
	sq->hdr->prod = -sim_below(&sim->rng, 100);
}

struct sim_qp *sim_qp_new(struct sim_node *node, enum hrp_type type, u32 qpn,
			  struct sim_rq *rq)
{
	struct sim *sim = node->sim;
	struct sim_qp *qp = calloc(1, sizeof(*qp));
	struct hrp_resp *resp = &qp->hrp.resp;
	struct hrp_req *req = &qp->hrp.req;

	qp->node = node;
	qp->rq = rq;
	qp->may_hold = sim_below(&sim->rng, 4);
	qp->hrp.type = type;
	qp->hrp.qpn = qpn;
	qp->hrp.qkey = 0x1234;
	qp->hrp.stats = &sim->counts;
	qp->hrp.pkey = 0xffff;
	qp->hrp.mtu = 1u << sim->opts.mtu_shift;
	qp->hrp.access = HRP_QP_REMOTE_WRITE | HRP_QP_REMOTE_READ |
			 HRP_QP_REMOTE_ATOMIC | HRP_QP_FLUSH_GLOBAL |
			 HRP_QP_FLUSH_PERSISTENT;
	if (hrp_qp_sends(&qp->hrp)) {
		sq_new(sim, &req->sq);
		qp->hdr = req->sq.hdr;
		qp->prod = qp->hdr->prod;
	}
	req->window_pkts = sim->opts.queue_us || sim->opts.spray ? 512 :
			   8u << sim_below(&sim->rng, 6);
	qp->burst_pkts = 1u << sim_below(&sim->rng, 7);
	req->spray = sim->opts.spray ? 2 + qpn % 15 : 1;
	req->cc = sim->opts.dcqcn ? HRP_CC_DCQCN : qpn / 2 % HRP_CC_NR;
	resp->burst_pkts = 1u << sim_below(&sim->rng, 7);
	/*
	 * 67 ms is longer than it takes to be refused several times, and until
	 * a long READ is requested again if nothing was measured yet.
	 */
	req->timeout = sim->opts.refuse_ppm ? 14 : 6;
	/* Where 6 of 10 answers do not come, 16 in a row may not. */
	if (sim->opts.drop_ppm >= SIM_PPM / 10)
		req->timeout = 9;
	if (sim->opts.timeout)
		req->timeout = sim->opts.timeout;
	req->retry_cnt = sim->opts.kill_one ? 7 : 255;
	if (sim->opts.no_retry)
		req->retry_cnt = 0;
	req->rnr_retry = HRP_INFINITE_RNR_RETRY;
	resp->min_rnr_timer = 1 + sim_below(&sim->rng, 8);
	resp->srq = sim->opts.srq || type == HRP_TYPE_XRC_TGT;
	resp->keeps = sim->opts.keeps || qpn & 3;
	qp->keeps_answers = sim->opts.keeps || qpn % 3;
	qp->forgets = !resp->keeps;
	qp->tells = resp->keeps;
	if (sim->opts.longer || sim_below(&sim->rng, 4))
		/* Up to twice the path MTU, as on links. */
		resp->own_mtu = (qp->hrp.mtu + sim_below(&sim->rng,
				 qp->hrp.mtu)) / HRP_MTU_UNIT + 1;
	req->mtu_asks = resp->own_mtu ? HRP_MTU_ASKS : 0;
	if (!sim->opts.plain)
		req->asks = sim->opts.sacks || qpn & 3 ? HRP_SACK_ASKS : 0;
	if (sim_has_modes(&sim->opts))
		sim_mode_set(qp);
	resp->rwqe = calloc(1, struct_size(resp->rwqe, sges, HROCE_MAX_SGES));
	qp->req_bytes = malloc(128 * HRP_MTU_MAX);
	qp->resp_bytes = malloc(128 * HRP_MTU_MAX);
	return qp;
}

void sim_qp_connect(struct sim_qp *qp, struct sim_qp *peer, u32 psn,
		    u32 peer_psn)
{
	struct hrp_resp *resp = &qp->hrp.resp;
	struct sim *sim = qp->node->sim;

	qp->peer = peer;
	qp->hrp.dest_qpn = peer->hrp.qpn;
	resp->max_dest_rd_atomic = 1 + sim_below(&sim->rng, SIM_MAX_RD);
	for (resp->nr_rd = 1; resp->nr_rd < resp->max_dest_rd_atomic;)
		resp->nr_rd *= 2;
	resp->rd = calloc(resp->nr_rd, sizeof(*resp->rd));
	peer->hrp.req.max_rd_atomic =
		1 + sim_below(&sim->rng, resp->max_dest_rd_atomic);
	hrp_req_reset(&qp->hrp);
	hrp_resp_reset(&qp->hrp);
	qp->hrp.state = HRP_RTR;
	hrp_resp_start(&qp->hrp, peer_psn);
	qp->hrp.state = HRP_RTS;
	hrp_req_start(&qp->hrp, psn);
	if (sim->opts.paced && hrp_qp_sends(&qp->hrp)) {
		qp->pace = malloc(sizeof(*qp->pace));
		hrp_pace_start(&qp->hrp, qp->pace, &sim->rp, sim->now_ns,
			       SIM_PACE_SLACK_NS);
		pace_change(qp);
	}
	qp->credit.next_psn = psn;
	qp->uc.psn = peer_psn;
	if (qp->mode == SIM_SPEC)
		sim_spec_start(qp, psn, peer_psn);
}

void sim_qp_free(struct sim_qp *qp)
{
	keep_end(qp);
	sack_end(qp);
	free(qp->hrp.req.sq.hdr);
	free(qp->hrp.req.sq.ring);
	free(qp->hrp.req.sq.copies);
	free(qp->hrp.resp.rwqe);
	free(qp->hrp.resp.rd);
	free(qp->req_bytes);
	free(qp->resp_bytes);
	free(qp->hrp.req.pace);
	free(qp->spec);
	free(qp);
}

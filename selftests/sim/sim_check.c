// SPDX-License-Identifier: GPL-2.0
/*
 * The oracle: every request completes exactly once, in order, and has done
 * what the model says.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim_spec.h"

static const u8 wc_op[HROCE_WR_NR] = {
	[HROCE_WR_SEND] = HROCE_WC_SEND,
	[HROCE_WR_SEND_IMM] = HROCE_WC_SEND,
	[HROCE_WR_SEND_INV] = HROCE_WC_SEND,
	[HROCE_WR_WRITE] = HROCE_WC_WRITE,
	[HROCE_WR_WRITE_IMM] = HROCE_WC_WRITE,
	[HROCE_WR_READ] = HROCE_WC_READ,
	[HROCE_WR_CMP_SWAP] = HROCE_WC_CMP_SWAP,
	[HROCE_WR_FETCH_ADD] = HROCE_WC_FETCH_ADD,
	[HROCE_WR_LOCAL_INV] = HROCE_WC_LOCAL_INV,
	[HROCE_WR_ATOMIC_WRITE] = HROCE_WC_ATOMIC_WRITE,
	[HROCE_WR_FLUSH] = HROCE_WC_FLUSH,
	[HROCE_WR_MASKED_CMP_SWAP] = HROCE_WC_MASKED_CMP_SWAP,
	[HROCE_WR_MASKED_FETCH_ADD] = HROCE_WC_MASKED_FETCH_ADD,
};

bool sim_uses_recv(const struct sim_wr *wr)
{
	return wr->op == HROCE_WR_SEND || wr->op == HROCE_WR_SEND_IMM ||
	       wr->op == HROCE_WR_SEND_INV || wr->op == HROCE_WR_WRITE_IMM;
}

static bool may_fail(const struct sim *sim)
{
	return sim->opts.kill_one || sim->opts.kill_both || sim->opts.fault;
}

/* A request has succeeded: has it done what it had to? */
static void check_outcome(struct sim_qp *qp, const struct sim_wr *wr)
{
	struct sim *sim = qp->node->sim;

	switch ((enum hroce_wr_op)wr->op) {
	case HROCE_WR_SEND:
	case HROCE_WR_SEND_IMM:
	case HROCE_WR_SEND_INV:
	case HROCE_WR_WRITE_IMM:
		sim_check(sim, wr->received || !hrp_qp_is_reliable(&qp->hrp));
		break;
	case HROCE_WR_CMP_SWAP:
	case HROCE_WR_FETCH_ADD:
	case HROCE_WR_MASKED_CMP_SWAP:
	case HROCE_WR_MASKED_FETCH_ADD:
		if (wr->shared)
			break;
		sim_check(sim, sim_buf_equal(qp->node, &wr->buf, wr->want, 8));
		break;
	case HROCE_WR_READ:
		sim_check(sim, sim_buf_equal(qp->node, &wr->buf, wr->want,
					     wr->len));
		break;
	case HROCE_WR_WRITE:
	case HROCE_WR_ATOMIC_WRITE:
	case HROCE_WR_FLUSH:
	case HROCE_WR_LOCAL_INV:
	case HROCE_WR_REG_MR:
	case HROCE_WR_BIND_MW:
	case HROCE_WR_NR:
		break;
	}
}

static void finish(struct sim_qp *qp, bool success)
{
	struct sim_work *w = &qp->work;
	struct sim_wr *wr = &w->wr[w->done];

	if (success)
		check_outcome(qp, wr);
	w->arena_tail = wr->arena_end;
	w->done++;
	if (hrp_qp_is_reliable(&qp->hrp) && !may_fail(qp->node->sim)) {
		free(wr->want);
		wr->want = NULL;
	}
}

void sim_send_done(struct sim_qp *qp, const struct hroce_cqe *cqe)
{
	struct sim *sim = qp->node->sim;
	struct sim_work *w = &qp->work;
	const struct sim_wr *wr;

	sim_check(sim, cqe->qpn == qp->hrp.qpn);
	sim_check(sim, cqe->wr_id >= w->done && cqe->wr_id < w->posted);
	sim_check(sim, cqe->status == HROCE_WC_SUCCESS || may_fail(sim));
	/* Those between are complete without a completion: all was well. */
	while (w->done != cqe->wr_id) {
		sim_check(sim, !w->failed);
		sim_check(sim, !(w->wr[w->done].flags & HROCE_WRF_SIGNALED));
		finish(qp, true);
	}
	wr = &w->wr[w->done];
	if (w->fault)
		sim_fault_check_send(qp, cqe->status);
	sim_check(sim, cqe->opcode == wc_op[wr->op]);
	if (cqe->status != HROCE_WC_SUCCESS) {
		sim_check(sim, !w->failed ||
			       cqe->status == HROCE_WC_WR_FLUSH_ERR);
		w->failed = true;
	} else {
		sim_check(sim, !w->failed);
		sim_check(sim, wr->flags & HROCE_WRF_SIGNALED);
		sim_check(sim, cqe->byte_len == wr->len ||
			       wc_op[wr->op] == HROCE_WC_SEND ||
			       wc_op[wr->op] == HROCE_WC_WRITE);
	}
	finish(qp, cqe->status == HROCE_WC_SUCCESS);
}

void hrp_env_send_done(struct hrp_qp *hrp, const struct hroce_cqe *cqe)
{
	sim_send_done(to_sim_qp(hrp), cqe);
}

/* Which request of the peer has been received? */
static struct sim_wr *find_message(struct sim_qp *from, struct sim_slot *slot,
				   const struct hroce_cqe *cqe)
{
	struct sim_work *w = &from->work;
	struct sim *sim = from->node->sim;
	u32 idx, i;

	if (hrp_qp_is_reliable(&from->hrp)) {
		while (w->recv_next < w->posted &&
		       !sim_uses_recv(&w->wr[w->recv_next]))
			w->recv_next++;
		idx = w->recv_next++;
	} else if (cqe->flags & HROCE_WCF_IMM) {
		idx = ntohl(cqe->imm_data);
	} else {
		u32 skip = from->hrp.type == HRP_TYPE_UD ? HRW_GRH_LEN : 0;
		u8 bytes[4];

		for (i = 0, idx = 0; idx < 4; skip++) {
			while (skip >= slot->buf.piece[i].len)
				skip -= slot->buf.piece[i++].len;
			bytes[idx++] = from->peer->node->mem[skip +
				slot->buf.piece[i].base];
		}
		memcpy(&idx, bytes, 4);
	}
	sim_check(sim, idx < w->posted);
	return &w->wr[idx];
}

static void check_message(struct sim_qp *qp, struct sim_slot *slot,
			  struct sim_wr *wr, const struct hroce_cqe *cqe)
{
	struct sim_node *node = qp->node;
	struct sim *sim = node->sim;
	u32 skip = 0;
	u8 *bytes;

	if (wr->op == HROCE_WR_WRITE_IMM) {
		sim_check(sim, cqe->byte_len == wr->len);
		/* Nothing that was sent later has been placed yet. */
		sim_check(sim, !memcmp(node->mem + qp->peer->work.win_base +
				       wr->remote_off, wr->want, wr->len));
		return;
	}
	if (qp->hrp.type == HRP_TYPE_UD)
		skip = HRW_GRH_LEN;
	sim_check(sim, cqe->byte_len == skip + wr->len);
	bytes = calloc(1, skip + wr->len + 1);
	memcpy(bytes + skip, wr->want, wr->len);
	skip = sim_buf_equal(node, &slot->buf, bytes, skip + wr->len);
	free(bytes);
	sim_check(sim, skip);
}

static void check_recv_flags(struct sim_qp *qp, const struct sim_wr *wr,
			     const struct hroce_cqe *cqe, bool solicited)
{
	struct sim *sim = qp->node->sim;
	u32 flags = 0;

	if (wr->op == HROCE_WR_SEND_IMM || wr->op == HROCE_WR_WRITE_IMM)
		flags |= HROCE_WCF_IMM;
	if (wr->op == HROCE_WR_SEND_INV)
		flags |= HROCE_WCF_INV;
	if (qp->hrp.type == HRP_TYPE_UD) {
		flags |= HROCE_WCF_GRH;
		sim_check(sim, cqe->src_qpn == qp->peer->hrp.qpn);
	}
	sim_check(sim, cqe->flags == flags);
	sim_check(sim, !(flags & ~HROCE_WCF_GRH) || cqe->imm_data == wr->imm);
	sim_check(sim, solicited == !!(wr->flags & HROCE_WRF_SOLICITED));
	sim_check(sim, cqe->opcode == (wr->op == HROCE_WR_WRITE_IMM ?
				       HROCE_WC_RECV_WRITE_IMM :
				       HROCE_WC_RECV));
}

void sim_recv_done(struct sim_qp *qp, const struct hroce_cqe *cqe,
		   bool solicited)
{
	struct sim *sim = qp->node->sim;
	struct sim_slot *slot;
	struct sim_wr *wr;

	sim_check(sim, cqe->qpn == qp->hrp.qpn);
	sim_check(sim, cqe->wr_id < SIM_NR_SLOTS);
	slot = &sim_qp_rq(qp)->slot[cqe->wr_id];
	sim_check(sim, slot->state == SIM_SLOT_TAKEN);
	slot->state = SIM_SLOT_FREE;
	if (cqe->status != HROCE_WC_SUCCESS) {
		sim_check(sim, may_fail(sim));
		sim_fault_check_recv(qp, cqe->status);
		sim_qp_rq(qp)->dead |= !qp->hrp.resp.srq;
		return;
	}
	sim_check(sim, qp->hrp.state != HRP_ERR);
	wr = find_message(qp->peer, slot, cqe);
	sim_check(sim, wr->want && sim_uses_recv(wr));
	/* What comes behind a fault is dropped. */
	sim_check(sim, !sim_fault_prevents(qp->peer, wr));
	sim_check(sim, !wr->received || sim->opts.dup_ppm);
	sim_check(sim, qp->hrp.type != HRP_TYPE_XRC_TGT ||
		       qp->hrp.resp.srqn == wr->srqn);
	check_message(qp, slot, wr, cqe);
	check_recv_flags(qp, wr, cqe, solicited);
	wr->received = true;
	qp->nr_sends += cqe->opcode == HROCE_WC_RECV;
	if (!sim->opts.pause_us)
		sim_rq_post(sim_qp_rq(qp), 1);
}

void hrp_env_recv_done(struct hrp_qp *hrp, const struct hroce_cqe *cqe,
		       bool solicited)
{
	sim_recv_done(to_sim_qp(hrp), cqe, solicited);
}

bool sim_work_done(struct sim *sim)
{
	u32 i;

	for (i = 0; i < sim->nr_qps; i++) {
		struct sim_work *w = &sim->qp[i]->work;

		if (w->done != w->nr && !(w->failed && w->done == w->posted))
			return false;
	}
	return true;
}

static void check_idle(struct sim *sim, struct sim_qp *qp)
{
	const struct hrp_sq *sq = &qp->hrp.req.sq;
	struct hrp_burst b;

	sim_check(sim, qp->hrp.req.timer == HRP_TIMER_OFF);
	sim_check(sim, !hrp_resp_next(&qp->hrp, &b));
	/* In the error state one may be left that nobody is to send. */
	sim_check(sim, qp->hrp.state == HRP_ERR ||
		       !hrp_resp_is_held(&qp->hrp.resp));
	sim_check(sim, !qp->req_busy && !qp->resp_busy);
	if (qp->spec)
		sim_spec_check_idle(qp);
	if (!hrp_qp_sends(&qp->hrp) || qp->spec)
		return;
	sim_check(sim, sq->tail == sq->head && sq->head == qp->prod);
	sim_check(sim, qp->hdr->cons == qp->prod);
	if (qp->hrp.state != HRP_ERR)
		sim_check(sim, qp->hdr->need_kick);
}

/* Messages of a requester, and of a responder. */
static u16 begun(const struct sim_qp *qp)
{
	return qp->spec ? qp->spec->req.ssn : qp->hrp.req.sq.ssn;
}

static u32 executed(const struct sim_qp *qp)
{
	return qp->spec ? qp->spec->resp.msn : qp->hrp.resp.msn;
}

/* Has all up to a fault been executed once, and nothing behind it? */
static void check_fault_memory(struct sim *sim, struct sim_qp *qp)
{
	struct sim_node *to = qp->peer->node;
	struct sim_work *w = &qp->work;

	sim_fault_check_state(qp);
	if (!w->fault || sim_fault_spoils_memory(qp))
		return;
	sim_check(sim, !memcmp(to->mem + w->win_base, w->win_model,
			       SIM_WIN_SIZE));
	sim_check(sim, !memcmp(to->mem + w->count_base, w->count_model,
			       8 * SIM_NR_COUNTERS));
}

/* Does everything of a healthy connection agree with the model? */
static void check_memory(struct sim *sim, struct sim_qp *qp)
{
	struct sim_node *to = qp->peer->node;
	struct sim_work *w = &qp->work;
	u32 i;

	sim_check(sim, !memcmp(to->mem + w->fixed_base, w->fixed_model,
			       SIM_WIN_SIZE));
	if (hrp_qp_is_reliable(&qp->hrp)) {
		sim_check(sim, !memcmp(to->mem + w->win_base, w->win_model,
				       SIM_WIN_SIZE));
		sim_check(sim, !memcmp(to->mem + w->count_base, w->count_model,
				       8 * SIM_NR_COUNTERS));
		sim_check(sim, qp->hrp.req.nr_rd_atomic == 0);
		sim_check(sim, begun(qp) == (u16)executed(qp->peer));
	}
	/* On a good network unreliable services are reliable. */
	if (sim->opts.drop_ppm || sim->opts.damage_ppm ||
	    sim->opts.reorder_ppm || sim->opts.dup_ppm || sim->opts.pause_us ||
	    sim->opts.junk)
		return;
	for (i = 0; i < w->nr; i++)
		sim_check(sim, !sim_uses_recv(&w->wr[i]) || w->wr[i].received);
	if (qp->hrp.type == HRP_TYPE_UC)
		sim_check(sim, !memcmp(to->mem + w->win_base, w->win_model,
				       SIM_WIN_SIZE));
}

/*
 * Where nothing gets lost, only a request that draws no answer waits until its
 * queue pair gives up. Everything else that waits, waits for something that does
 * not come, such as an acknowledgement that was not asked for.
 */
static void check_timeouts(struct sim *sim)
{
	const struct sim_opts *opts = &sim->opts;
	u64 expected = 0;
	u32 i;

	if (opts->drop_ppm || opts->reorder_ppm || opts->damage_ppm ||
	    opts->queue_us || opts->broken_us || opts->kill_one || opts->kill_both ||
	    opts->both)
		return;
	for (i = 0; i < sim->nr_qps; i++) {
		const struct sim_qp *qp = sim->qp[i];
		u64 of_this = 0;

		if (sim_fault_status(qp) == HROCE_WC_RETRY_EXC_ERR)
			of_this = qp->hrp.req.retry_cnt + 1;
		if (qp->spec)
			sim_check(sim, qp->spec->req.timeouts == of_this);
		else
			expected += of_this;
	}
	sim_check(sim, sim->counts.v[HROCE_EV_TIMEOUTS] == expected);
}

/*
 * Short queues must not make requesters send all again and again, nor ask for
 * it. What the queues have dropped never arrives.
 */
static void check_waste(struct sim *sim)
{
	u64 waste = sim->counts.v[HROCE_DROP_PSN] + sim->counts.v[HROCE_EV_DUPLICATES];
	u64 lost = sim->nr_sent - min(sim->nr_sent, sim->nr_frames);

	if (sim->opts.verbose)
		printf("# %llu of %llu frames wasted, %llu of %llu lost\n",
		       (unsigned long long)waste,
		       (unsigned long long)sim->nr_frames,
		       (unsigned long long)lost,
		       (unsigned long long)sim->nr_sent);
	sim_check(sim, !sim->opts.max_waste ||
		       100 * waste <= sim->opts.max_waste * sim->nr_frames);
	sim_check(sim, !sim->opts.max_lost ||
		       100 * lost <= sim->opts.max_lost * sim->nr_sent);
}

/* Are there packets that were kept, and not in vain? */
static void check_keeps(struct sim *sim)
{
	const u64 *v = sim->counts.v;

	if (sim->opts.verbose)
		printf("# %llu requests and %llu answers kept, %llu dropped\n",
		       (unsigned long long)v[HROCE_EV_KEPT],
		       (unsigned long long)v[HROCE_EV_ANSWERS_KEPT],
		       (unsigned long long)v[HROCE_EV_KEPT_DROPPED]);
	/* The end may come before any was used. */
	sim_check(sim, v[HROCE_EV_KEPT] + v[HROCE_EV_ANSWERS_KEPT] >
		       v[HROCE_EV_KEPT_DROPPED] || sim->opts.kill_both);
}

/* Do marks keep the queue short? Most round trips are as if there were none. */
static void check_marks(struct sim *sim)
{
	u64 all = 0, late = 0;
	u32 i;

	for (i = HROCE_EV_RTT_64US; i <= HROCE_EV_RTT_MORE; i++) {
		all += sim->counts.v[i];
		if (i > HROCE_EV_RTT_64US)
			late += sim->counts.v[i];
	}
	if (sim->opts.verbose)
		printf("# %llu CNPs, %llu of %llu round trips late\n",
		       (unsigned long long)sim->nr_cnps,
		       (unsigned long long)late, (unsigned long long)all);
	/* In other runs there may be no queue. */
	sim_check(sim, !sim->opts.max_late ||
		       (sim->nr_cnps &&
			100 * late <= sim->opts.max_late * all));
}

void sim_check_end(struct sim *sim)
{
	u32 i, n;

	if (sim->opts.longer)
		sim_check(sim, sim->counts.v[HROCE_EV_MTU_AGREED]);
	if (sim->opts.keeps)
		check_keeps(sim);
	if (sim->opts.sacks)
		sim_check(sim, sim->counts.v[HROCE_EV_SACK_RCVD]);
	/* 9.7.7.2: there are no credits for entries that are shared. */
	if (sim->opts.srq || sim->opts.type == HRP_TYPE_XRC_INI)
		sim_check(sim, !sim->counts.v[HROCE_EV_E2E_LIMITED]);
	if (sim->opts.broken_us)
		sim_check(sim, sim->counts.v[HROCE_EV_REHASHES]);
	if (sim->opts.spray && !sim->opts.kill_both)
		sim_check(sim, sim->counts.v[HROCE_EV_SPRAY_AGREED] &&
			       sim->nr_followed);
	if (sim->opts.mark_us)
		check_marks(sim);

	check_timeouts(sim);
	check_waste(sim);
	for (i = 0; i < sim->nr_qps; i++) {
		check_idle(sim, sim->qp[i]);
		if (sim_has_modes(&sim->opts))
			sim_mode_check(sim->qp[i]);
		if (sim->opts.fault)
			check_fault_memory(sim, sim->qp[i]);
		else if (!may_fail(sim))
			check_memory(sim, sim->qp[i]);
	}
	for (n = 0; n < 2 && !may_fail(sim); n++) {
		struct sim_node *node = &sim->node[n];

		sim_check(sim, !memcmp(node->mem + node->shared_base,
				       node->shared_sum, 8 * SIM_NR_COUNTERS));
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * One request of each queue pair that has to fail, and how. All before it are
 * executed, and of those behind it none is, unless the fault is a local one.
 */
#include <linux/array_size.h>
#include <linux/build_bug.h>
#include <stdio.h>
#include "sim.h"

struct sim_fault {
	u8 op;
	u8 status;
	u8 recv_status;		/* of the receive request, if it has one */
	bool only_rc;
	bool only_xrc;
	bool bad_rkey;
	bool bad_lkey;
	bool past_end;
	bool unaligned;
	bool too_long;
	bool bad_recv;		/* memory of the receive request */
	bool starve;		/* from some point on there are no receive requests */
	bool bad_srqn;
	u8 wrong;		/* enum sim_wrong */
};

/* IBTA 9.7.5.2, table 44; 11.6.2 for the status */
static const struct sim_fault faults[] = {
	{ HROCE_WR_ATOMIC_WRITE, HROCE_WC_REM_ACCESS_ERR, .bad_rkey = true,
	  .only_rc = true },
	{ HROCE_WR_FLUSH, HROCE_WC_REM_ACCESS_ERR, .bad_rkey = true,
	  .only_rc = true },
	{ HROCE_WR_WRITE, HROCE_WC_REM_ACCESS_ERR, .bad_rkey = true },
	{ HROCE_WR_WRITE, HROCE_WC_REM_ACCESS_ERR, .past_end = true },
	{ HROCE_WR_WRITE, HROCE_WC_LOC_PROT_ERR, .bad_lkey = true },
	{ HROCE_WR_READ, HROCE_WC_REM_ACCESS_ERR, .bad_rkey = true },
	{ HROCE_WR_READ, HROCE_WC_REM_ACCESS_ERR, .past_end = true },
	{ HROCE_WR_READ, HROCE_WC_LOC_PROT_ERR, .bad_lkey = true },
	{ HROCE_WR_FETCH_ADD, HROCE_WC_REM_ACCESS_ERR, .bad_rkey = true },
	{ HROCE_WR_FETCH_ADD, HROCE_WC_REM_INV_REQ_ERR, .unaligned = true },
	{ HROCE_WR_CMP_SWAP, HROCE_WC_LOC_PROT_ERR, .bad_lkey = true },
	{ HROCE_WR_MASKED_FETCH_ADD, HROCE_WC_REM_ACCESS_ERR, .bad_rkey = true },
	{ HROCE_WR_MASKED_CMP_SWAP, HROCE_WC_LOC_PROT_ERR, .bad_lkey = true },
	{ HROCE_WR_SEND, HROCE_WC_LOC_PROT_ERR, .bad_lkey = true },
	{ HROCE_WR_SEND_IMM, HROCE_WC_REM_INV_REQ_ERR, .too_long = true,
	  .recv_status = HROCE_WC_LOC_LEN_ERR },
	{ HROCE_WR_SEND, HROCE_WC_REM_OP_ERR, .bad_recv = true,
	  .recv_status = HROCE_WC_LOC_PROT_ERR, .only_rc = true },
	{ HROCE_WR_SEND, HROCE_WC_RNR_RETRY_EXC_ERR, .starve = true,
	  .only_rc = true },
	/* A fault of class J has no NAK (9.9.6.3). */
	{ HROCE_WR_SEND_INV, HROCE_WC_RETRY_EXC_ERR, .bad_rkey = true,
	  .recv_status = HROCE_WC_MW_BIND_ERR },
	{ HROCE_WR_SEND, HROCE_WC_REM_INV_REQ_ERR, .bad_srqn = true,
	  .only_xrc = true },
	{ HROCE_WR_WRITE, HROCE_WC_REM_INV_REQ_ERR, .bad_srqn = true,
	  .only_xrc = true },
	{ HROCE_WR_READ, HROCE_WC_REM_INV_REQ_ERR, .bad_srqn = true,
	  .only_xrc = true },
};

/*
 * The same, and table 55 for answers. A reserved opcode, and what else is dropped,
 * has no answer.
 */
#define INVALID	HROCE_WC_REM_INV_REQ_ERR
#define BAD	HROCE_WC_BAD_RESP_ERR
#define LENGTH	HROCE_WC_LOC_LEN_ERR
#define NONE	HROCE_WC_RETRY_EXC_ERR
static const struct sim_fault wrong_faults[] = {
	{ HROCE_WR_SEND, INVALID, INVALID, .wrong = SIM_FIRST_IN_MSG },
	{ HROCE_WR_SEND, INVALID, INVALID, .wrong = SIM_MIDDLE_ALONE },
	{ HROCE_WR_WRITE, INVALID, .wrong = SIM_LAST_ALONE },
	{ HROCE_WR_SEND, INVALID, INVALID, .wrong = SIM_OTHER_KIND },
	{ HROCE_WR_SEND_IMM, INVALID, INVALID, .wrong = SIM_READ_IN_MSG },
	{ HROCE_WR_SEND, INVALID, INVALID, .wrong = SIM_SHORT_FIRST },
	{ HROCE_WR_WRITE, INVALID, .wrong = SIM_SHORT_MIDDLE },
	{ HROCE_WR_WRITE, INVALID, .wrong = SIM_LONG_ONLY },
	{ HROCE_WR_SEND_IMM, INVALID, INVALID, .wrong = SIM_EMPTY_LAST },
	{ HROCE_WR_WRITE, INVALID, .wrong = SIM_LESS },
	{ HROCE_WR_WRITE, INVALID, .wrong = SIM_MORE },
	{ HROCE_WR_WRITE, INVALID, .wrong = SIM_HUGE },
	{ HROCE_WR_READ, INVALID, .wrong = SIM_HUGE },
	{ HROCE_WR_ATOMIC_WRITE, INVALID, .wrong = SIM_ODD_LEN,
	  .only_rc = true },
	{ HROCE_WR_ATOMIC_WRITE, INVALID, .wrong = SIM_UNALIGNED,
	  .only_rc = true },
	{ HROCE_WR_FLUSH, INVALID, .wrong = SIM_NO_TYPE, .only_rc = true },
	{ HROCE_WR_FLUSH, INVALID, .wrong = SIM_OTHER_TYPE, .only_rc = true },
	{ HROCE_WR_FLUSH, INVALID, .wrong = SIM_OTHER_LEVEL, .only_rc = true },
	{ HROCE_WR_SEND, INVALID, INVALID, .wrong = SIM_OTHER_SRQ,
	  .only_xrc = true },
	{ HROCE_WR_WRITE, NONE, .wrong = SIM_RESERVED_OP },
	{ HROCE_WR_READ, LENGTH, .wrong = SIM_ANSWER_SHORT },
	{ HROCE_WR_READ, LENGTH, .wrong = SIM_ANSWER_MORE },
	{ HROCE_WR_READ, LENGTH, .wrong = SIM_ANSWER_LESS },
	{ HROCE_WR_READ, BAD, .wrong = SIM_ANSWER_ONLY },
	{ HROCE_WR_READ, BAD, .wrong = SIM_ANSWER_MIDDLE },
	{ HROCE_WR_READ, BAD, .wrong = SIM_ANSWER_LAST },
	{ HROCE_WR_READ, BAD, .wrong = SIM_ANSWER_NO_LAST },
	{ HROCE_WR_READ, BAD, .wrong = SIM_ANSWER_ATOMIC },
	{ HROCE_WR_READ, NONE, .wrong = SIM_ANSWER_ACK },
	{ HROCE_WR_FETCH_ADD, BAD, .wrong = SIM_ANSWER_READ },
	{ HROCE_WR_SEND, BAD, .wrong = SIM_ANSWER_READ },
	{ HROCE_WR_WRITE, BAD, .wrong = SIM_ANSWER_ATOMIC },
	{ HROCE_WR_ATOMIC_WRITE, LENGTH, .wrong = SIM_ANSWER_PAYLOAD,
	  .only_rc = true },
	{ HROCE_WR_FLUSH, LENGTH, .wrong = SIM_ANSWER_PAYLOAD,
	  .only_rc = true },
	{ HROCE_WR_SEND, INVALID, .wrong = SIM_NAK_INVALID },
	{ HROCE_WR_WRITE, HROCE_WC_REM_ACCESS_ERR, .wrong = SIM_NAK_ACCESS },
	{ HROCE_WR_SEND, HROCE_WC_REM_OP_ERR, .wrong = SIM_NAK_OPERATION },
	{ HROCE_WR_READ, HROCE_WC_REM_ACCESS_ERR, .wrong = SIM_NAK_MIDWAY },
	{ HROCE_WR_SEND, NONE, .wrong = SIM_NAK_RESERVED },
};

static_assert(ARRAY_SIZE(wrong_faults) <= SIM_MAX_FAULTS);

static const struct sim_fault *list_of(const struct sim_opts *opts, u32 *nr)
{
	*nr = opts->wrong ? ARRAY_SIZE(wrong_faults) : ARRAY_SIZE(faults);
	return opts->wrong ? wrong_faults : faults;
}

/* Is the path to blame if no answer comes? */
static bool is_lossy(const struct sim_opts *opts)
{
	return opts->drop_ppm || opts->reorder_ppm;
}

/* Where parts were asked for again, an answer may begin and end anywhere. */
static bool begins_wrongly(u8 wrong)
{
	return wrong >= SIM_ANSWER_ONLY && wrong <= SIM_ANSWER_NO_LAST;
}

/* Otherwise models do nothing wrong. They know no masked atomics. */
static bool fits(const struct sim_qp *qp, const struct sim_fault *fault)
{
	bool masked = fault->op == HROCE_WR_MASKED_CMP_SWAP ||
		      fault->op == HROCE_WR_MASKED_FETCH_ADD;

	if (qp->hrp.type == HRP_TYPE_RC ? fault->only_xrc : fault->only_rc)
		return false;
	if (qp->spec && fault->bad_lkey)
		return false;
	if (fault->wrong && is_lossy(&qp->node->sim->opts) &&
	    begins_wrongly(fault->wrong))
		return false;
	if (fault->wrong)
		return qp->spec ? fault->wrong < SIM_WRONG_ANSWERS :
				  fault->wrong >= SIM_WRONG_ANSWERS;
	return !masked || !(qp->spec || qp->peer->spec);
}

void sim_fault_init(struct sim_qp *qp)
{
	const struct sim_opts *opts = &qp->node->sim->opts;
	struct sim_rng *rng = &qp->node->sim->rng;
	u32 nr = qp->hrp.qpn / 2 + opts->seed;
	struct hrp_req *req = &qp->hrp.req;
	const struct sim_fault *list;
	struct sim_work *w = &qp->work;
	u32 i, nr_list;

	if (!opts->fault || qp->node->id || !w->nr)
		return;
	/* Of two pairs, the model is the responder of one. */
	if (opts->spec)
		nr = qp->hrp.qpn / 4 + opts->seed;
	list = list_of(opts, &nr_list);
	for (i = 0; !fits(qp, &list[i]) || nr--;)
		i = (i + 1) % nr_list;
	w->fault = &list[i];
	w->fault_at = w->nr - 1;
	if (opts->early)
		w->fault_at -= sim_below(rng, w->nr / 2);
	if (!w->fault->starve)
		return;
	w->fault_at = w->nr;
	w->entries = 3 + sim_below(rng, 6);
	sim_rq_limit(qp->peer->rq, w->entries);
	req->rnr_retry = 1 + sim_below(rng, 6);
	req->rnr_retries = req->rnr_retry;
}

bool sim_fault_is_next(const struct sim_qp *qp)
{
	return qp->work.fault && qp->work.posted == qp->work.fault_at;
}

/* The requester finds a bad local key: what is behind may have been executed. */
bool sim_fault_prevents(const struct sim_qp *qp, const struct sim_wr *wr)
{
	const struct sim_work *w = &qp->work;

	return w->fault && !w->fault->bad_lkey && wr - w->wr >= w->fault_at;
}

u8 sim_fault_status(const struct sim_qp *qp)
{
	return qp->work.fault ? qp->work.fault->status : HROCE_WC_SUCCESS;
}

u8 sim_fault_wrong(const struct sim_qp *qp)
{
	return qp->work.fault ? qp->work.fault->wrong : SIM_RIGHT;
}

/* Four packets, the last of which is short */
static u32 wrong_len(const struct sim_qp *qp, u8 wrong)
{
	return wrong == SIM_LONG_ONLY ? qp->hrp.mtu + 4 : 3 * qp->hrp.mtu + 64;
}

void sim_fault_choose(struct sim_qp *qp, struct sim_wr *wr)
{
	const struct sim_fault *fault = qp->work.fault;
	struct sim_work *w = &qp->work;

	if (sim_fault_is_next(qp)) {
		wr->op = fault->op;
		/* More than goes inline. */
		if (wr->len <= qp->hrp.req.sq.max_inline)
			wr->len = qp->hrp.req.sq.max_inline + 1;
		if (fault->too_long)
			wr->len = qp->node->sim->opts.max_msg + 1;
		if (fault->wrong)
			wr->len = wrong_len(qp, fault->wrong);
	}
	if (!sim_uses_recv(wr))
		return;
	/* The first one that finds no receive request */
	if (fault && fault->starve && w->takers == w->entries &&
	    w->fault_at == w->nr)
		w->fault_at = w->posted;
	w->takers++;
}

void sim_fault_make(struct sim_qp *qp, struct hroce_sq_wqe *wqe,
		    struct hroce_sge *sges)
{
	const struct sim_fault *fault = qp->work.fault;
	u32 i;

	if (!sim_fault_is_next(qp))
		return;
	if (fault->bad_rkey && wqe->opcode == HROCE_WR_SEND_INV)
		wqe->imm_data ^= 1;
	else if (fault->bad_rkey)
		wqe->rdma.rkey ^= 1;
	for (i = 0; fault->bad_lkey && i < wqe->nr_sges; i++)
		sges[i].lkey ^= 1;
	if (fault->past_end)
		wqe->rdma.remote_addr += SIM_WIN_SIZE;
	if (fault->unaligned)
		wqe->rdma.remote_addr += 4;
	if (fault->bad_srqn)
		wqe->srqn += SIM_NR_SRQS;
	if (fault->bad_recv)
		sim_rq_spoil(qp->peer->rq, qp->work.takers - 1);
}

/*
 * If a fault draws no answer, its requester gives up the oldest request that is
 * not acknowledged, which may come before.
 */
void sim_fault_check_send(const struct sim_qp *qp, u8 status)
{
	const struct sim_work *w = &qp->work;
	struct sim *sim = qp->node->sim;
	bool mute = is_lossy(&sim->opts) ||
		    w->fault->status == HROCE_WC_RETRY_EXC_ERR;

	if (w->failed) {
		sim_check(sim, status == HROCE_WC_WR_FLUSH_ERR);
		return;
	}
	sim_check(sim, w->done <= w->fault_at);
	if (sim->opts.wrong && status == w->fault->status &&
	    (status == NONE || w->done == w->fault_at))
		sim->faults[w->fault - wrong_faults]++;
	if (mute && status == NONE)
		return;
	sim_check(sim, status == (w->done == w->fault_at ? w->fault->status :
							   HROCE_WC_SUCCESS));
}

void sim_fault_check_recv(const struct sim_qp *qp, u8 status)
{
	const struct sim_fault *fault = qp->peer->work.fault;

	sim_check(qp->node->sim, status == HROCE_WC_WR_FLUSH_ERR ||
				 (fault && status == fault->recv_status));
}

/* Of a connection with a model: what is not answered does not end it. */
void sim_fault_check_state(const struct sim_qp *qp)
{
	const struct sim_work *w = &qp->work;
	struct sim *sim = qp->node->sim;

	if (!sim->opts.wrong || !w->fault || is_lossy(&sim->opts))
		return;
	if (qp->spec)
		sim_check(sim, qp->peer->hrp.state ==
			       (w->fault->wrong == SIM_RESERVED_OP ? HRP_RTS :
								     HRP_ERR));
	else
		sim_check(sim, qp->hrp.state == HRP_ERR);
}

bool sim_faults_met(const struct sim_opts *opts, const struct sim_sum *sum)
{
	bool xrc = opts->type == HRP_TYPE_XRC_INI, all = true;
	const struct sim_fault *fault;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong_faults); i++) {
		fault = &wrong_faults[i];
		if (xrc ? fault->only_rc : fault->only_xrc)
			continue;
		printf("# fault %u of operation %u: %llu\n", fault->wrong,
		       fault->op, (unsigned long long)sum->faults[i]);
		all = all && sum->faults[i];
	}
	return all || is_lossy(opts);
}

bool sim_fault_spoils_memory(const struct sim_qp *qp)
{
	const struct sim_work *w = &qp->work;

	if (!w->fault || w->fault_at >= w->posted)
		return false;
	/* The first packets of a WRITE that waits for a receive request */
	if (w->fault->wrong && w->fault->op == HROCE_WR_WRITE)
		return true;
	return w->fault->bad_lkey ||
	       w->wr[w->fault_at].op == HROCE_WR_WRITE_IMM;
}

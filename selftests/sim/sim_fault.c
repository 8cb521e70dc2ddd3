// SPDX-License-Identifier: GPL-2.0
/*
 * One request of each queue pair that has to fail, and how. All before it are
 * executed, and of those behind it none is, unless the fault is a local one.
 */
#include <linux/array_size.h>
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

/* Models do nothing wrong, and know no masked atomics. */
static bool fits(const struct sim_qp *qp, const struct sim_fault *fault)
{
	bool masked = fault->op == HROCE_WR_MASKED_CMP_SWAP ||
		      fault->op == HROCE_WR_MASKED_FETCH_ADD;

	if (qp->hrp.type == HRP_TYPE_RC ? fault->only_xrc : fault->only_rc)
		return false;
	if (qp->spec && fault->bad_lkey)
		return false;
	return !masked || !(qp->spec || qp->peer->spec);
}

void sim_fault_init(struct sim_qp *qp)
{
	const struct sim_opts *opts = &qp->node->sim->opts;
	struct sim_rng *rng = &qp->node->sim->rng;
	u32 nr = qp->hrp.qpn / 2 + opts->seed;
	struct hrp_req *req = &qp->hrp.req;
	struct sim_work *w = &qp->work;
	u32 i;

	if (!opts->fault || qp->node->id || !w->nr)
		return;
	/* Of two pairs, the model is the responder of one. */
	if (opts->spec)
		nr = qp->hrp.qpn / 4 + opts->seed;
	for (i = 0; !fits(qp, &faults[i]) || nr--;)
		i = (i + 1) % ARRAY_SIZE(faults);
	w->fault = &faults[i];
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

/* Is the path to blame if no answer comes? */
static bool is_lossy(const struct sim_opts *opts)
{
	return opts->drop_ppm || opts->reorder_ppm;
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
	if (mute && status == HROCE_WC_RETRY_EXC_ERR)
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

bool sim_fault_spoils_memory(const struct sim_qp *qp)
{
	const struct sim_work *w = &qp->work;

	if (!w->fault || w->fault_at >= w->posted)
		return false;
	/* The first packets of a WRITE that waits for a receive request */
	return w->fault->bad_lkey ||
	       w->wr[w->fault_at].op == HROCE_WR_WRITE_IMM;
}

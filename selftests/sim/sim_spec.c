// SPDX-License-Identifier: GPL-2.0
/* What the two sides of the model share: beginning, end, and the way in. */
#include <stdlib.h>
#include <linux/array_size.h>
#include <linux/limits.h>
#include "sim_spec.h"

/* Opcodes that the specification leaves to manufacturers are unknown here. */
void sim_spec_receive(struct sim_qp *qp, const struct hrp_pkt *pkt,
		      u8 *payload)
{
	if ((pkt->opcode & HRP_SVC_MASK) != hrp_qp_service(&qp->hrp))
		return;
	if (qp->hrp.type == HRP_TYPE_UC)
		sim_spec_uc_request(qp, pkt, payload);
	else if (qp->hrp.type == HRP_TYPE_UD)
		sim_spec_ud_request(qp, pkt, payload);
	else if (pkt->info & HRP_OI_RESPONSE)
		sim_spec_response(qp, pkt, payload);
	else
		sim_spec_request(qp, pkt, payload);
}

/*
 * Peers differ in how they use credits, and all of that is right. Those who tell
 * less than they have slow the requester down.
 */
static void choose_credits(struct sim *sim, struct sim_spec *spec)
{
	static const u32 most[] = { U32_MAX, U32_MAX, 2, 0 };

	spec->req.obeys = sim->opts.limited || sim_below(&sim->rng, 2);
	spec->resp.tells = sim->opts.limited || sim_below(&sim->rng, 4);
	spec->resp.tells_own = sim_below(&sim->rng, 2);
	spec->resp.most = most[sim_below(&sim->rng, ARRAY_SIZE(most))];
}

u32 sim_spec_rnr_us(struct sim *sim, u8 code)
{
	static const u32 delay_us[] = {
		655360, 10, 20, 30, 40, 60, 80, 120, 160,
	};

	sim_check(sim, code < ARRAY_SIZE(delay_us));
	return delay_us[code];
}

void sim_spec_start(struct sim_qp *qp, u32 psn, u32 peer_psn)
{
	struct sim *sim = qp->node->sim;
	struct sim_spec *spec = calloc(1, sizeof(*spec));

	sim_check(sim, qp->hrp.req.sq.nr_entries <= SIM_SPEC_ENTRIES);
	qp->spec = spec;
	spec->req.tail = qp->prod;
	spec->req.next = qp->prod;
	spec->req.psn = psn;
	spec->req.una = psn;
	spec->req.max = psn;
	spec->req.end = psn;
	spec->req.retries = qp->hrp.req.retry_cnt;
	spec->req.rnr_retries = qp->hrp.req.rnr_retry;
	spec->req.window = 8u << sim_below(&sim->rng, 4);
	spec->resp.psn = peer_psn;
	choose_credits(sim, spec);
	/* All posts kick. */
	if (hrp_qp_sends(&qp->hrp))
		qp->hdr->need_kick = 1;
}

static void flush_later(void *ctx)
{
	sim_spec_flush(ctx);
}

void sim_spec_fail(struct sim_qp *qp)
{
	qp->spec->failed = true;
	sim_at(qp->node->sim, 2 * SIM_US, flush_later, qp);
}

/* Where nothing is lost or comes twice, each RNR retry draws an RNR NAK. */
static void check_rnr_retries(const struct sim_qp *qp)
{
	const struct sim_opts *opts = &qp->node->sim->opts;
	const struct sim_qp *peer = qp->peer;

	if (opts->drop_ppm || opts->reorder_ppm || opts->dup_ppm ||
	    !peer->work.failed ||
	    sim_fault_status(peer) != HROCE_WC_RNR_RETRY_EXC_ERR)
		return;
	sim_check(qp->node->sim, qp->spec->resp.rnr_row ==
				 peer->hrp.req.rnr_retry + 1u);
}

void sim_spec_check_idle(const struct sim_qp *qp)
{
	const struct sim_spec *spec = qp->spec;
	struct sim *sim = qp->node->sim;

	sim_check(sim, spec->req.una == spec->req.max && !spec->req.busy);
	sim_check(sim, spec->req.tail == qp->prod);
	sim_check(sim, !hrp_qp_sends(&qp->hrp) || qp->hdr->cons == qp->prod);
	sim_check(sim, spec->resp.head == spec->resp.end);
	sim_check(sim, !spec->resp.busy);
	sim_check(sim, !spec->resp.in_msg || sim->opts.fault ||
		       qp->hrp.type == HRP_TYPE_UC);
	check_rnr_retries(qp);
}

// SPDX-License-Identifier: GPL-2.0
/* Modes of queue pairs: all pairs of them meet if there are nine connections. */
#include <stdio.h>
#include "sim.h"

#define NR_ENGINE	SIM_SPEC	/* modes of the engine */

void sim_mode_set(struct sim_qp *qp)
{
	struct hrp_resp *resp = &qp->hrp.resp;
	struct hrp_req *req = &qp->hrp.req;
	const struct sim_opts *opts = &qp->node->sim->opts;
	u32 pair = qp->hrp.qpn / 2;
	/* Where one node alone sends, the model is on either side. */
	bool one_way = opts->fault || opts->type == HRP_TYPE_XRC_INI;
	u32 model = one_way ? ~pair & 1 : 1;

	if (opts->spec)
		qp->mode = qp->node->id == model ? SIM_SPEC :
			   (one_way ? pair / 2 : pair) % NR_ENGINE;
	else
		qp->mode = qp->node->id ? pair / NR_ENGINE % NR_ENGINE :
					  pair % NR_ENGINE;
	resp->keeps = qp->mode != SIM_PLAIN;
	qp->keeps_answers = resp->keeps;
	qp->forgets = !resp->keeps;
	qp->tells = qp->mode == SIM_AGREED;
	req->asks = qp->tells ? HRP_SACK_ASKS : 0;
	/* Others do not know that question either. */
	if (!qp->tells)
		resp->own_mtu = 0;
	req->mtu_asks = resp->own_mtu ? HRP_MTU_ASKS : 0;
}

/* Plain queue pairs keep nothing; only two that know the question agree. */
void sim_mode_check(const struct sim_qp *qp)
{
	bool agree = qp->mode == SIM_AGREED && qp->peer->mode == SIM_AGREED;
	struct sim *sim = qp->node->sim;

	if (qp->mode == SIM_PLAIN)
		sim_check(sim, !qp->nr_kept && !qp->hrp.req.sack);
	sim_check(sim, agree || !qp->hrp.resp.sacks);
}

void sim_mode_count(const struct sim_qp *qp, struct sim_sum *sum)
{
	const struct sim_qp *peer = qp->peer;

	sum->mode_ops[qp->mode][peer->mode] += qp->work.done;
	sum->mode_kept[qp->mode] += qp->nr_kept;
	sum->mode_agreed += peer->hrp.resp.sacks;
}

static bool meet(const struct sim_opts *opts, u32 req, u32 resp)
{
	if (opts->spec)
		return (req == SIM_SPEC) != (resp == SIM_SPEC);
	return req != SIM_SPEC && resp != SIM_SPEC;
}

bool sim_modes_met(const struct sim_opts *opts, const struct sim_sum *sum)
{
	static const char * const name[SIM_MODE_NR] = {
		[SIM_PLAIN] = "plain",
		[SIM_KEEPING] = "keeping",
		[SIM_AGREED] = "agreed",
		[SIM_SPEC] = "model",
	};
	bool all = true;
	u32 req, resp;

	for (req = 0; req < SIM_MODE_NR; req++) {
		for (resp = 0; resp < SIM_MODE_NR; resp++) {
			if (!meet(opts, req, resp))
				continue;
			printf("# %s to %s: %llu operations\n", name[req],
			       name[resp],
			       (unsigned long long)sum->mode_ops[req][resp]);
			all = all && sum->mode_ops[req][resp];
		}
	}
	/* Packets of UC and UD are not kept. */
	if (opts->drop_ppm && opts->type != HRP_TYPE_UC &&
	    opts->type != HRP_TYPE_UD)
		all = all && sum->mode_kept[SIM_KEEPING] &&
		      sum->mode_kept[SIM_AGREED];
	return all && (opts->spec || sum->mode_agreed);
}

// SPDX-License-Identifier: GPL-2.0
/* Packets that came too early, and what a responder forgets. */
#include <stdlib.h>
#include <string.h>
#include "kept.h"
#include "sim.h"

static void keep_packet(struct hrp_keep *keep, const struct hrp_pkt *pkt,
			const u8 *payload)
{
	struct sim_kept *k = malloc(sizeof(*k) + pkt->payload_len);

	k->kept.pkt = *pkt;
	memcpy(k->payload, payload, pkt->payload_len);
	hrp_keep_put(keep, &k->kept);
}

/* Memory is short now and then. */
u8 sim_keep_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
		    const u8 *payload)
{
	struct sim *sim = qp->node->sim;

	if (!sim_below(&sim->rng, 30))
		return HROCE_WC_GENERAL_ERR;
	kept_prepare(&qp->hrp, pkt->psn);
	if (!sim_below(&sim->rng, 30))
		return HROCE_WC_GENERAL_ERR;
	keep_packet(qp->hrp.resp.keep, pkt, payload);
	qp->nr_kept++;
	return HROCE_WC_SUCCESS;
}

u8 sim_keep_answer(struct sim_qp *qp, const struct hrp_pkt *pkt,
		   const u8 *payload)
{
	struct hrp_req *req = &qp->hrp.req;
	struct sim *sim = qp->node->sim;
	struct hrp_keep *keep;

	if (!qp->keeps_answers || !sim_below(&sim->rng, 30))
		return HROCE_WC_GENERAL_ERR;
	kept_open_sack(req);
	if (!sim_below(&sim->rng, 30))
		return HROCE_WC_GENERAL_ERR;
	keep = kept_prepare_answer(req, pkt->psn);
	if (hrp_keep_has(keep, pkt->psn))
		return HROCE_WC_SUCCESS;
	if (!sim_below(&sim->rng, 30))
		return HROCE_WC_GENERAL_ERR;
	keep_packet(keep, pkt, payload);
	return HROCE_WC_SUCCESS;
}

bool sim_is_forgotten(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	const struct hrp_resp *resp = &qp->hrp.resp;
	u32 i;

	if (!qp->forgets || !(pkt->info & HRP_OI_READ) ||
	    hrp_psn_diff(pkt->psn, resp->psn) >= 0)
		return false;
	for (i = 0; i < resp->nr_rd; i++) {
		const struct hrp_rdres *res = &resp->rd[i];

		if (((pkt->psn - res->psn) & HRP_PSN_MASK) >= res->nr_pkts)
			continue;
		if (qp->repeated[i].psn == res->psn &&
		    hrp_psn_diff(pkt->psn, qp->repeated[i].from) < 0)
			return true;
		qp->repeated[i].psn = res->psn;
		qp->repeated[i].from = pkt->psn;
	}
	return false;
}

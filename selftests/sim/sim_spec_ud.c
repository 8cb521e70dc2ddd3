// SPDX-License-Identifier: GPL-2.0
/*
 * Responder of UD (IBTA 9.8.3), as a model in place of the engine: a packet is a
 * message, and is dropped unless the Q_Key is right, it is no longer than the MTU,
 * and there is a receive request that has room for it and the 40 bytes before it.
 */
#include "sim_spec.h"

void sim_spec_ud_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
			 u8 *payload)
{
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct hrp_pkt grh = { .payload_len = HRW_GRH_LEN };
	u8 zero[HRW_GRH_LEN] = {};
	struct sim *sim = qp->node->sim;

	if (pkt->qkey != qp->hrp.qkey || pkt->payload_len > qp->hrp.mtu)
		return;
	if (!resp->has_entry)
		resp->has_entry = hrp_env_recv_take(&qp->hrp,
						    qp->hrp.resp.rwqe);
	if (!resp->has_entry ||
	    HRW_GRH_LEN + pkt->payload_len > qp->hrp.resp.rwqe->length)
		return;
	sim_spec_begin_msg(resp, pkt);
	resp->in_msg = HRP_OI_SEND;
	sim_check(sim, !sim_spec_place(qp, &grh, zero));
	sim_check(sim, !sim_spec_place(qp, pkt, payload));
	sim_spec_receive_done(qp, pkt, HROCE_WC_SUCCESS);
	resp->in_msg = 0;
	resp->has_entry = false;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Responder of UC (IBTA 9.8.2.2), as a model in place of the engine, and as one that
 * the engine is compared with, packet by packet. A packet that does not follow the
 * one before, has a wrong length or finds no receive request is dropped, and so is
 * its message. The next message begins with any first packet. A receive request
 * that was taken for what was dropped serves the next message.
 */
#include "sim_spec.h"

enum fate {
	UC_DROPPED,
	UC_PLACED,
	UC_COMPLETE,	/* and its message is complete */
};

static bool takes_entry(const struct hrp_pkt *pkt)
{
	return pkt->info & (HRP_OI_SEND | HRP_OI_IMM);
}

/*
 * Does the message have room for the payload, and may it go there? A receive request
 * that is too short was taken.
 */
static bool has_room(struct sim_qp *qp, struct sim_uc *uc,
		     const struct hrp_pkt *pkt)
{
	bool write = pkt->info & HRP_OI_WRITE;

	if (pkt->info & HRP_OI_FIRST) {
		uc->room = write ? pkt->dmalen : qp->rq->room;
		if (write &&
		    !sim_spec_may_access(qp, pkt, HRP_ACCESS_REMOTE_WRITE))
			return false;
	}
	if (pkt->payload_len > uc->room)
		return false;
	uc->room -= pkt->payload_len;
	return !write || !(pkt->info & HRP_OI_LAST) || !uc->room;
}

static enum fate judge(struct sim_qp *qp, struct sim_uc *uc,
		       const struct hrp_pkt *pkt)
{
	u32 kind = pkt->info & (HRP_OI_SEND | HRP_OI_WRITE);
	bool fits;
	bool follows = pkt->psn == uc->psn && uc->in_msg == kind;

	uc->psn = hrp_psn_add(pkt->psn, 1);
	uc->in_msg = 0;
	if (!(pkt->info & HRP_OI_FIRST) && !follows)
		return UC_DROPPED;
	if (!sim_spec_length_is_right(qp, pkt))
		return UC_DROPPED;
	fits = has_room(qp, uc, pkt);
	if (!fits && kind == HRP_OI_WRITE)
		return UC_DROPPED;
	if (takes_entry(pkt)) {
		if (!uc->has_entry && qp->rq->head == qp->rq->tail)
			return UC_DROPPED;
		uc->has_entry = true;
	}
	if (!fits)
		return UC_DROPPED;
	if (!(pkt->info & HRP_OI_LAST)) {
		uc->in_msg = kind;
		return UC_PLACED;
	}
	if (takes_entry(pkt))
		uc->has_entry = false;
	return UC_COMPLETE;
}

void sim_spec_uc_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
			 u8 *payload)
{
	struct sim_spec *spec = qp->spec;
	struct sim *sim = qp->node->sim;
	bool had = qp->uc.has_entry;
	enum fate fate = judge(qp, &qp->uc, pkt);

	if (fate == UC_DROPPED)
		return;
	if (takes_entry(pkt) && !had)
		sim_check(sim, hrp_env_recv_take(&qp->hrp,
						 qp->hrp.resp.rwqe));
	if (pkt->info & HRP_OI_FIRST)
		sim_spec_begin_msg(&spec->resp, pkt);
	sim_check(sim, !sim_spec_place(qp, pkt, payload));
	if (fate == UC_COMPLETE && takes_entry(pkt))
		sim_spec_receive_done(qp, pkt, HROCE_WC_SUCCESS);
	else if (fate == UC_COMPLETE)
		sim_check(sim, spec->resp.offset == spec->resp.write_len);
}

bool sim_spec_uc_ends(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	return judge(qp, &qp->uc, pkt) == UC_COMPLETE;
}

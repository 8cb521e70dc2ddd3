// SPDX-License-Identifier: GPL-2.0
/*
 * The packet of a model that ends its connection: a request that breaks a rule
 * (IBTA 9.7.4.1), or an answer that does (9.9.2).
 */
#include "sim_spec.h"

static void set_op(const struct sim_qp *qp, struct hrp_pkt *pkt, u8 op)
{
	sim_set_opcode(pkt, hrp_qp_service(&qp->hrp) | op);
}

/* Table 38 has no such opcode, so that its headers are not known, either. */
static void send_reserved(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	u8 bytes[SIM_MAX_FRAME] __attribute__((__aligned__(8))) = {};
	u32 len = hrp_pkt_build(pkt, bytes);

	bytes[0] = hrp_qp_service(&qp->hrp) | 0x15;
	sim_net_send_junk(qp, SIM_JUNK_OPCODE, bytes, len + HRW_ICRC_LEN);
}

/* Of a first packet */
static void spoil_first(struct sim_qp *qp, u8 wrong, struct hrp_pkt *pkt)
{
	switch (wrong) {
	case SIM_MIDDLE_ALONE:
		set_op(qp, pkt, HRP_OP_SEND_MIDDLE);
		break;
	case SIM_LAST_ALONE:
		set_op(qp, pkt, HRP_OP_WRITE_LAST);
		break;
	case SIM_SHORT_FIRST:
		sim_set_len(pkt, pkt->payload_len - 4);
		break;
	case SIM_LONG_ONLY:
		set_op(qp, pkt, HRP_OP_WRITE_ONLY);
		sim_set_len(pkt, pkt->dmalen);
		break;
	case SIM_HUGE:
		pkt->dmalen = (1u << 31) + 1;
		break;
	case SIM_ODD_LEN:
		sim_set_len(pkt, 4);
		break;
	case SIM_UNALIGNED:
		pkt->va += 4;
		break;
	case SIM_NO_TYPE:
		pkt->feth &= ~HRW_FETH_PLT_MASK;
		break;
	case SIM_OTHER_TYPE:
		pkt->feth |= 4;
		break;
	case SIM_OTHER_LEVEL:
		pkt->feth |= 2 << HRW_FETH_SEL_SHIFT;
		break;
	}
}

/* Of the second one */
static void spoil_second(struct sim_qp *qp, u8 wrong, struct hrp_pkt *pkt)
{
	switch (wrong) {
	case SIM_FIRST_IN_MSG:
		set_op(qp, pkt, HRP_OP_SEND_FIRST);
		break;
	case SIM_OTHER_KIND:
		set_op(qp, pkt, HRP_OP_WRITE_MIDDLE);
		break;
	case SIM_READ_IN_MSG:
		set_op(qp, pkt, HRP_OP_READ_REQ);
		break;
	case SIM_SHORT_MIDDLE:
		sim_set_len(pkt, pkt->payload_len - 1);
		break;
	case SIM_OTHER_SRQ:
		pkt->srqn = SIM_SRQN +
			    (pkt->srqn - SIM_SRQN + 1) % SIM_NR_SRQS;
		break;
	}
}

static void spoil_last(u8 wrong, struct hrp_pkt *pkt)
{
	switch (wrong) {
	case SIM_EMPTY_LAST:
		sim_set_len(pkt, 0);
		break;
	case SIM_LESS:
		sim_set_len(pkt, pkt->payload_len - 4);
		break;
	case SIM_MORE:
		sim_set_len(pkt, pkt->payload_len + 4);
		break;
	}
}

bool sim_wrong_request(struct sim_qp *qp, u64 wr_id, u32 i, struct hrp_pkt *pkt)
{
	u8 wrong = sim_fault_wrong(qp);

	if (!wrong || wr_id != qp->work.fault_at)
		return true;
	if (wrong == SIM_RESERVED_OP) {
		send_reserved(qp, pkt);
		return false;
	}
	if (pkt->info & HRP_OI_LAST)
		spoil_last(wrong, pkt);
	if (i == 0)
		spoil_first(qp, wrong, pkt);
	else if (i == 1)
		spoil_second(qp, wrong, pkt);
	return true;
}

bool sim_wrong_is_answer(const struct sim_qp *qp)
{
	const struct sim_spec_resp *resp = &qp->spec->resp;
	u8 wrong = sim_fault_wrong(qp->peer);

	return wrong >= SIM_WRONG_ANSWERS && !resp->in_msg &&
	       resp->msn == qp->peer->work.fault_at;
}

/* The first packet of an answer to a READ, or the only one of any other answer */
static void spoil_first_answer(struct sim_qp *qp, u8 wrong, struct hrp_pkt *pkt)
{
	switch (wrong) {
	case SIM_ANSWER_SHORT:
		sim_set_len(pkt, pkt->payload_len - 4);
		break;
	case SIM_ANSWER_ONLY:
		set_op(qp, pkt, HRP_OP_READ_RESP_ONLY);
		break;
	case SIM_ANSWER_MIDDLE:
		set_op(qp, pkt, HRP_OP_READ_RESP_MIDDLE);
		break;
	case SIM_ANSWER_ATOMIC:
		set_op(qp, pkt, HRP_OP_ATOMIC_ACK);
		break;
	case SIM_ANSWER_READ:
		set_op(qp, pkt, HRP_OP_READ_RESP_ONLY);
		break;
	case SIM_ANSWER_ACK:
		set_op(qp, pkt, HRP_OP_ACK);
		break;
	case SIM_ANSWER_PAYLOAD:
		sim_set_len(pkt, 8);
		break;
	case SIM_NAK_INVALID:
		pkt->syndrome = HRP_NAK_INV_REQ;
		break;
	case SIM_NAK_ACCESS:
		pkt->syndrome = HRP_NAK_REM_ACCESS;
		break;
	case SIM_NAK_OPERATION:
		pkt->syndrome = HRP_NAK_REM_OP;
		break;
	case SIM_NAK_RESERVED:
		pkt->syndrome = HRP_NAK_REM_OP + 1;
		break;
	}
}

void sim_wrong_answer(struct sim_qp *qp, struct sim_spec_answer *a,
		      struct hrp_pkt *pkt)
{
	bool last = a->sent + 1 == a->nr_pkts;

	if (!a->sent)
		spoil_first_answer(qp, a->wrong, pkt);
	if (a->sent == 1 && a->wrong == SIM_ANSWER_LAST)
		set_op(qp, pkt, HRP_OP_READ_RESP_LAST);
	if (a->sent == 1 && a->wrong == SIM_NAK_MIDWAY) {
		set_op(qp, pkt, HRP_OP_ACK);
		pkt->syndrome = HRP_NAK_REM_ACCESS;
		a->nr_pkts = 2;
	}
	if (last && a->wrong == SIM_ANSWER_NO_LAST)
		set_op(qp, pkt, HRP_OP_READ_RESP_MIDDLE);
	if (last && a->wrong == SIM_ANSWER_MORE)
		sim_set_len(pkt, pkt->payload_len + 4);
	if (last && a->wrong == SIM_ANSWER_LESS)
		sim_set_len(pkt, pkt->payload_len - 4);
	/* That is all. */
	if (a->wrong == SIM_ANSWER_ACK)
		a->nr_pkts = 1;
}

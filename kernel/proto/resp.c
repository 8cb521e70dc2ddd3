// SPDX-License-Identifier: GPL-2.0
/*
 * Responder: the part common to all services, and the answers (IBTA 9.7.5).
 *
 * Answers leave in PSN order: first those to READs, atomics, ATOMIC WRITEs and
 * FLUSHes, then one NAK or ACK for all other requests so far. No request behind
 * a READ needs an answer before the READ is answered, so two flags and a
 * syndrome replace a queue of acknowledgements.
 */
#include <linux/string.h>
#include "hold.h"
#include "mtu.h"
#include "rdres.h"
#include "resp_priv.h"
#include "sack.h"

void hrp_resp_recv_done(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			u8 result, u8 opcode, u32 len)
{
	struct hroce_cqe cqe __uninitialized;
	bool solicited = pkt->se;

	hrp_cqe_begin(&cqe, qp, qp->resp.rwqe->wr_id, result, opcode);
	cqe.byte_len = len;
	qp->resp.have_rwqe = 0;
	if (pkt->info & HRP_OI_DETH) {
		cqe.src_qpn = pkt->sqpn;
		cqe.flags = HROCE_WCF_GRH;
		cqe.sl = pkt->sl;
		if (qp->gsi)
			cqe.pkey_index = pkt->pkey_index;
	}
	if (result != HROCE_WC_SUCCESS) {
		if (result != HROCE_WC_WR_FLUSH_ERR)
			hrp_count(qp, HROCE_EV_RESP_CQE);
		solicited = true;
	} else if (pkt->info & HRP_OI_IMM) {
		cqe.imm_data = (__force u32)pkt->imm;
		cqe.flags |= HROCE_WCF_IMM;
	} else if (pkt->info & HRP_OI_INV) {
		cqe.imm_data = pkt->inv_rkey;
		cqe.flags |= HROCE_WCF_INV;
	}
	hrp_env_recv_done(qp, &cqe, solicited);
}

void hrp_resp_to_error(struct hrp_qp *qp)
{
	if (qp->state == HRP_ERR)
		return;
	qp->state = HRP_ERR;
	hrp_set_pending(qp, HRP_PENDING_ERROR);
}

void hrp_resp_reset(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	resp->in_msg = 0;
	resp->offset = 0;
	resp->srqn = 0;
	resp->have_rwqe = 0;
	resp->nak_sent = 0;
	resp->nak_held = 0;
	resp->nak_step = 0;
	resp->nak_trust = 0;
	resp->rnr_sent = 0;
	resp->nak_due = 0;
	resp->comm_est = 0;
	resp->last_wqe = 0;
	resp->rd_wait = 0;
	resp->mem_bad = 0;
	resp->again = 0;
	resp->finishing = 0;
	resp->sacks = 0;
	resp->sacks_again = 0;
	resp->follows = 0;
	clear_bit(HRP_PENDING_JOINS, &qp->pending);
	resp->again_pkts = 0;
	resp->mtu_due = 0;
	resp->agreed_mtu = 0;
	resp->msn = 0;
	resp->rd_head = 0;
	resp->rd_reply = 0;
	if (resp->nr_rd)
		memset(resp->rd, 0, resp->nr_rd * sizeof(*resp->rd));
	hrp_hold_reset(qp);
}

void hrp_resp_start(struct hrp_qp *qp, u32 psn)
{
	hrp_resp_reset(qp);
	qp->resp.psn = psn & HRP_PSN_MASK;
	qp->resp.again_psn = psn - HRP_AGAIN_PKTS;
	qp->resp.ack_psn = hrp_psn_add(psn, HRP_PSN_MASK);
	qp->resp.acked = qp->resp.ack_psn;
}

/* Does the queue pair accept requests in its state? */
static bool resp_is_up(const struct hrp_qp *qp)
{
	return qp->state >= HRP_RTR && qp->state <= HRP_SQE;
}

static bool resp_serves(const struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	return pkt->info && !(pkt->info & (HRP_OI_RESPONSE | HRP_OI_CNP)) &&
	       (pkt->opcode & HRP_SVC_MASK) == hrp_qp_service(qp);
}

void hrp_resp_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		    struct hrp_rx *rx)
{
	hrp_rx_begin(rx);
	if (unlikely(!resp_is_up(qp))) {
		rx->drop = HROCE_DROP_QP_STATE;
		return;
	}
	if (unlikely(!resp_serves(qp, pkt))) {
		rx->drop = HROCE_DROP_OPCODE;
		return;
	}
	switch ((enum hrp_type)qp->type) {
	case HRP_TYPE_RC:
	case HRP_TYPE_XRC_TGT:
		hrp_resp_rc_begin(qp, pkt, rx);
		break;
	case HRP_TYPE_UC:
		hrp_resp_uc_begin(qp, pkt, rx);
		break;
	case HRP_TYPE_UD:
		hrp_resp_ud_begin(qp, pkt, rx);
		break;
	case HRP_TYPE_XRC_INI:
		rx->drop = HROCE_DROP_OPCODE;
		break;
	}
}

void hrp_resp_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		     const struct hrp_rx *rx, u8 status)
{
	switch ((enum hrp_type)qp->type) {
	case HRP_TYPE_RC:
	case HRP_TYPE_XRC_TGT:
		hrp_resp_rc_commit(qp, pkt, rx, status);
		break;
	case HRP_TYPE_UC:
		hrp_resp_uc_commit(qp, pkt, rx, status);
		break;
	case HRP_TYPE_UD:
		hrp_resp_ud_commit(qp, pkt, rx, status);
		break;
	case HRP_TYPE_XRC_INI:
		break;
	}
}

/* Is a NAK due that ends the connection? */
static bool resp_refuses(const struct hrp_resp *resp)
{
	return (resp->nak_due & HRP_SYN_TYPE_MASK) == HRP_SYN_NAK &&
	       resp->nak_due != HRP_NAK_PSN_SEQ;
}

/*
 * Are answers due that are sent even in the error state: those up to a NAK, or
 * up to a fault without one?
 */
static bool resp_is_finishing(const struct hrp_resp *resp)
{
	return resp->finishing || resp_refuses(resp);
}

/*
 * In the error state the answers up to the fault still go out, and so does the
 * acknowledgement of earlier completions: an application may see a completion
 * and disconnect before the peer is told.
 */
static bool resp_may_finish(const struct hrp_qp *qp)
{
	const struct hrp_resp *resp = &qp->resp;

	if (qp->state != HRP_ERR)
		return false;
	return resp_is_finishing(resp) ||
	       (resp->ack_due && resp->rd_reply == resp->rd_head);
}

/* Does the NAK that is due say what is kept? */
static bool resp_nak_sacks(const struct hrp_resp *resp)
{
	return resp->nak_due == HRP_NAK_PSN_SEQ && resp->sacks && resp->kept &&
	       hrp_psn_diff(resp->keep->end, resp->psn) > 0;
}

/* Tell the peer that its question was understood, or what has come twice. */
static void resp_next_greeting(struct hrp_qp *qp, struct hrp_burst *b)
{
	hrp_burst_begin(b, qp, HRP_OPCODE_SACK, qp->resp.ack_psn);
	b->first.msn = qp->resp.msn;
	b->first.syndrome = qp->resp.nak_due;
	if (qp->resp.again_pkts)
		b->mem.len = HRP_SACK_AGAIN_BYTES;
	b->copy = 1;
}

static noinline void resp_next_nak(struct hrp_qp *qp, struct hrp_burst *b)
{
	struct hrp_resp *resp = &qp->resp;
	bool sacks = resp_nak_sacks(resp);

	if (hrp_resp_greets(resp)) {
		resp_next_greeting(qp, b);
		return;
	}
	hrp_burst_begin(b, qp, sacks ? HRP_OPCODE_SACK :
				       hrp_qp_service(qp) | HRP_OP_ACK,
			resp_refuses(resp) ? resp->nak_psn : resp->psn);
	b->first.msn = resp->nak_msn;
	b->first.syndrome = resp->nak_due;
	if (!sacks)
		return;
	hrp_sack_tell(resp);
	b->mem.len = hrp_sack_len(resp);
	b->copy = 1;
	resp->keep->untold = 0;
	hrp_count(qp, HROCE_EV_SACK_SENT);
}

/* Build the NAK or greeting that is due, or else the acknowledgement. */
static bool resp_next_ack(struct hrp_qp *qp, struct hrp_burst *b)
{
	struct hrp_resp *resp = &qp->resp;

	if (unlikely(resp->nak_due)) {
		resp_next_nak(qp, b);
	} else if (resp->ack_due) {
		hrp_burst_begin(b, qp, hrp_qp_service(qp) | HRP_OP_ACK,
				resp->ack_psn);
		b->first.msn = resp->msn;
		b->first.syndrome = hrp_resp_syndrome(qp, resp->msn);
	} else {
		return false;
	}
	resp->nak_due = 0;
	hrp_hold_acked(qp, resp->ack_psn);
	hrp_count(qp, HROCE_EV_ACKS_SENT);
	return true;
}

bool hrp_resp_next(struct hrp_qp *qp, struct hrp_burst *b)
{
	struct hrp_resp *resp = &qp->resp;

	if (!hrp_resp_is_due(resp))
		return false;
	if (resp->rd_wait)
		return false;
	if (unlikely(!resp_is_up(qp))) {
		if (!resp_may_finish(qp))
			return false;
		/* What is missing is not waited for any more. */
		if (!resp_refuses(resp))
			resp->nak_due = 0;
	}
	if (unlikely(resp->mtu_due))
		hrp_mtu_build_answer(qp, b);
	else if (!hrp_rdres_next(qp, b) && !resp_next_ack(qp, b))
		return false;
	b->more = resp->rd_head - resp->rd_reply +
		  (resp->ack_due || resp->nak_due);
	return true;
}

bool hrp_resp_ride(struct hrp_qp *qp, struct hrp_burst *b)
{
	if (!hrp_resp_is_held(&qp->resp) || hrp_resp_is_due(&qp->resp) ||
	    !resp_is_up(qp))
		return false;
	hrp_hold_paid(qp);
	hrp_count(qp, HROCE_EV_ACKS_RODE);
	qp->resp.ack_due = 1;
	return resp_next_ack(qp, b);
}

void hrp_resp_sent(struct hrp_qp *qp, const struct hrp_burst *b, u8 status)
{
	struct hrp_resp *resp = &qp->resp;

	if (likely(status == HROCE_WC_SUCCESS))
		return;
	if (!resp_is_up(qp) &&
	    !(qp->state == HRP_ERR && resp_is_finishing(resp)))
		return;
	if (status == HRP_MEM_FAULT) {
		resp->rd_wait = hrp_rdres_return(resp, b->first.psn);
		return;
	}
	/* The peer may have had the answer, and have made the key invalid. */
	if (b->copy && hrp_rdres_was_answered(resp, b->first.psn))
		return;
	/* The NAK replaces the response; no later request is answered. */
	resp->rd_reply = resp->rd_head;
	hrp_resp_refuse(resp, HRP_NAK_REM_ACCESS, b->first.psn,
			hrp_psn_add(b->first.msn, HRP_PSN_MASK));
	if (qp->state == HRP_ERR)
		return;
	hrp_count(qp, HROCE_EV_RESP_ERRORS);
	hrp_set_pending(qp, HRP_PENDING_QP_ACCESS_ERR);
	hrp_resp_to_error(qp);
}

void hrp_resp_read_ready(struct hrp_qp *qp, bool ok)
{
	struct hrp_burst b __uninitialized;

	if (!qp->resp.rd_wait)
		return;
	qp->resp.rd_wait = 0;
	if (!ok && hrp_rdres_waits(&qp->resp) && hrp_rdres_next(qp, &b))
		hrp_resp_sent(qp, &b, HROCE_WC_REM_ACCESS_ERR);
}

void hrp_resp_place_failed(struct hrp_qp *qp)
{
	qp->resp.mem_bad = qp->resp.mem_psn == qp->resp.psn;
}

u32 hrp_resp_flush(struct hrp_qp *qp, u32 max)
{
	static const struct hrp_pkt none;
	struct hrp_resp *resp = &qp->resp;
	u32 n;

	if (!hrp_qp_receives(qp))
		return 0;
	for (n = 0; n < max; n++) {
		if (!resp->have_rwqe && (resp->srq || !hrp_resp_take(qp)))
			break;
		hrp_resp_recv_done(qp, &none, HROCE_WC_WR_FLUSH_ERR,
				   HROCE_WC_RECV, 0);
	}
	if (n < max && resp->srq && !resp->last_wqe) {
		resp->last_wqe = 1;
		hrp_set_pending(qp, HRP_PENDING_LAST_WQE);
	}
	return n;
}

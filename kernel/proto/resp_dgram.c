// SPDX-License-Identifier: GPL-2.0
/*
 * Responder without answers: unreliable connections (IBTA 9.8.2) and
 * unreliable datagrams (9.8.3).
 *
 * A packet that cannot be accepted is dropped, with its whole message; the
 * receive entry in use serves the next message, unless it is of an SRQ and too
 * short: then it ends in error. Only a receive entry whose memory cannot be
 * written puts the queue pair into the error state.
 */
#include "resp_priv.h"

static const u16 dgram_drop_reason[] = {
	[HRP_FAULT_SEQUENCE] = HROCE_DROP_SEQUENCE,
	[HRP_FAULT_LENGTH] = HROCE_DROP_LENGTH,
	[HRP_FAULT_TOO_LONG] = HROCE_DROP_LENGTH,
	[HRP_FAULT_NO_ENTRY] = HROCE_DROP_NO_WQE,
	[HRP_FAULT_DENIED] = HROCE_DROP_ACCESS,
	[HRP_FAULT_ACCESS] = HROCE_DROP_ACCESS,
};

/* The memory of the receive entry cannot be written. */
static void dgram_fail(struct hrp_qp *qp, const struct hrp_pkt *pkt, u8 status)
{
	hrp_count(qp, HROCE_EV_RESP_ERRORS);
	hrp_resp_recv_done(qp, pkt, status, HROCE_WC_RECV, 0);
	hrp_resp_to_error(qp);
}

/* Drop the message in progress; its receive entry serves the next one. */
static void uc_abort(struct hrp_resp *resp)
{
	resp->in_msg = 0;
	resp->offset = 0;
}

void hrp_resp_uc_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		       struct hrp_rx *rx)
{
	struct hrp_resp *resp = &qp->resp;
	enum hrp_fault fault;

	/* A first packet is accepted even in the middle of a message. */
	if (pkt->info & HRP_OI_FIRST)
		fault = hrp_resp_msg_begin(qp, pkt, 0, rx);
	else if (pkt->psn == resp->psn)
		fault = hrp_resp_msg_begin(qp, pkt, resp->in_msg, rx);
	else
		fault = HRP_FAULT_SEQUENCE;
	if (likely(!fault)) {
		rx->verdict = HRP_RX_ACCEPT;
		/* If corrupted, it must not touch the message in progress. */
		if (resp->in_msg && (pkt->info & HRP_OI_FIRST))
			rx->fuse = 0;
		return;
	}
	rx->verdict = HRP_RX_IGNORE;
	rx->drop = dgram_drop_reason[fault];
	rx->fuse = 0;
	rx->mem.len = 0;
	/* That of an SRQ must not wait for a message that fits. */
	if (fault == HRP_FAULT_TOO_LONG && resp->srq)
		rx->status = HROCE_CAUSE_RECV_LENGTH;
}

void hrp_resp_uc_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			const struct hrp_rx *rx, u8 status)
{
	struct hrp_resp *resp = &qp->resp;

	hrp_resp_established(qp);
	resp->psn = hrp_psn_add(pkt->psn, 1);
	if (rx->verdict != HRP_RX_ACCEPT) {
		hrp_count(qp, rx->drop);
		uc_abort(resp);
		if (rx->status)
			hrp_resp_recv_done(qp, pkt, rx->status, HROCE_WC_RECV,
					   0);
		return;
	}
	if (unlikely(status != HROCE_WC_SUCCESS)) {
		uc_abort(resp);
		if (status == HRP_MEM_FAULT)
			hrp_count(qp, HROCE_DROP_MEMORY);
		else if (pkt->info & HRP_OI_SEND)
			dgram_fail(qp, pkt, status);
		else
			hrp_count(qp, HROCE_DROP_ACCESS);
		return;
	}
	if (pkt->info & HRP_OI_FIRST)
		uc_abort(resp);
	hrp_resp_msg_commit(qp, pkt, rx->nr_pkts);
}

/* Leave an entry of an SRQ that is too short to others, which may need it. */
static bool ud_take(struct hrp_qp *qp, u32 len)
{
	if (qp->resp.srq)
		qp->resp.rwqe->least = len;
	return hrp_resp_take(qp);
}

void hrp_resp_ud_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		       struct hrp_rx *rx)
{
	u32 len = HRW_GRH_LEN + pkt->payload_len;

	if (pkt->qkey != qp->qkey) {
		rx->drop = HROCE_DROP_QKEY;
	} else if (pkt->payload_len > qp->mtu) {
		rx->drop = HROCE_DROP_LENGTH;
	} else if (!ud_take(qp, len)) {
		rx->drop = HROCE_DROP_NO_WQE;
	} else if (len > qp->resp.rwqe->length) {
		rx->drop = HROCE_DROP_LENGTH;
	} else {
		rx->verdict = HRP_RX_ACCEPT;
		rx->grh = 1;
		hrp_resp_scatter(qp, rx, HRW_GRH_LEN, pkt->payload_len);
	}
}

void hrp_resp_ud_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			const struct hrp_rx *rx, u8 status)
{
	/* The receive entry serves the next one. */
	if (unlikely(status == HRP_MEM_FAULT)) {
		hrp_count(qp, HROCE_DROP_MEMORY);
		return;
	}
	if (unlikely(status != HROCE_WC_SUCCESS)) {
		dgram_fail(qp, pkt, status);
		return;
	}
	hrp_resp_recv_done(qp, pkt, HROCE_WC_SUCCESS, HROCE_WC_RECV,
			   HRW_GRH_LEN + pkt->payload_len);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Responder of a reliable connection (IBTA 9.7.4, 9.7.5), XRC too (A14).
 *
 * A request before the expected PSN is a duplicate and is answered again. A
 * request after it shows a loss and draws one NAK, at once or later, see nak.c. It
 * may be kept, see keep.c.
 * The expected request is checked; a fault in it ends the connection, except a
 * missing receive entry (RNR).
 */
#include "hold.h"
#include "mtu.h"
#include "nak.h"
#include "rdres.h"
#include "resp_priv.h"
#include "sack.h"

/*
 * Requests further ahead of the expected PSN are dropped without a NAK. Only
 * one PSN in 64 is within this window, so a forged packet rarely draws a NAK,
 * which makes the peer go back. All packets that a peer may have in flight must
 * fit: 2^18 packets of 1024 bytes are 5 ms at 400 Gbit/s. After the loss of a
 * READ with more responses (1 GB at 4096 bytes), the peer's timeout replaces
 * the NAK.
 */
#define RC_AHEAD_MAX	(1 << 18)

/* The PSN of an ACK is not further behind: so many later it would seem ahead. */
#define ACK_AGE_MAX	(1u << 22)

static void rc_nak(struct hrp_rx *rx, u8 syndrome, u8 status)
{
	rx->verdict = HRP_RX_NAK;
	rx->syndrome = syndrome;
	rx->status = status;
	rx->fuse = 0;
	rx->mem.len = 0;
}

static void rc_fault(const struct hrp_qp *qp, struct hrp_rx *rx,
		     enum hrp_fault fault)
{
	switch (fault) {
	case HRP_FAULT_NONE:
		rx->verdict = HRP_RX_ACCEPT;
		break;
	case HRP_FAULT_SEQUENCE:
		rc_nak(rx, HRP_NAK_INV_REQ, HROCE_CAUSE_RECV_SEQUENCE);
		break;
	case HRP_FAULT_LENGTH:
		rc_nak(rx, HRP_NAK_INV_REQ, HROCE_CAUSE_RECV_PACKET);
		break;
	case HRP_FAULT_DENIED:
		rc_nak(rx, HRP_NAK_INV_REQ, HROCE_CAUSE_RECV_REFUSED);
		break;
	case HRP_FAULT_TOO_LONG:
		rc_nak(rx, HRP_NAK_INV_REQ, HROCE_CAUSE_RECV_LENGTH);
		break;
	case HRP_FAULT_NO_ENTRY:
		rc_nak(rx, HRP_SYN_RNR | qp->resp.min_rnr_timer, 0);
		break;
	case HRP_FAULT_ACCESS:
		rc_nak(rx, HRP_NAK_REM_ACCESS, HROCE_CAUSE_RECV_KEY);
		break;
	}
}

static enum hrp_fault rc_atomic_begin(const struct hrp_qp *qp,
				      const struct hrp_pkt *pkt)
{
	if (!(qp->access & HRP_QP_REMOTE_ATOMIC) || (pkt->va & 7))
		return HRP_FAULT_DENIED;
	return HRP_FAULT_NONE;
}

/* A19.4.2: 8 aligned bytes, placed only if the ICRC is correct. */
static enum hrp_fault rc_atomic_write_begin(struct hrp_qp *qp,
					    const struct hrp_pkt *pkt,
					    struct hrp_rx *rx)
{
	if (!(qp->access & HRP_QP_REMOTE_WRITE) || (pkt->va & 7))
		return HRP_FAULT_DENIED;
	if (pkt->dmalen != sizeof(u64) || pkt->payload_len != sizeof(u64))
		return HRP_FAULT_LENGTH;
	if (!hrp_env_mem_check(qp, pkt->rkey, pkt->va, sizeof(u64),
			       HRP_ACCESS_REMOTE_WRITE))
		return HRP_FAULT_ACCESS;
	rx->mem.one.addr = pkt->va;
	rx->mem.one.length = sizeof(u64);
	rx->mem.one.lkey = pkt->rkey;
	rx->mem.len = sizeof(u64);
	rx->mem.access = HRP_ACCESS_REMOTE_WRITE;
	return HRP_FAULT_NONE;
}

static enum hrp_fault rc_flush_begin(const struct hrp_qp *qp,
				     const struct hrp_pkt *pkt)
{
	u32 types = pkt->feth & HRW_FETH_PLT_MASK;
	u8 need = 0;

	if (!types || types & ~(HRW_FETH_GLOBAL | HRW_FETH_PERSISTENT) ||
	    (pkt->feth & HRW_FETH_SEL_MASK) > HRW_FETH_SEL_MR)
		return HRP_FAULT_DENIED;
	if (types & HRW_FETH_GLOBAL)
		need |= HRP_QP_FLUSH_GLOBAL;
	if (types & HRW_FETH_PERSISTENT)
		need |= HRP_QP_FLUSH_PERSISTENT;
	return need & ~qp->access ? HRP_FAULT_DENIED : HRP_FAULT_NONE;
}

/* A19.4: the key must grant each placement type of the request. */
static bool rc_flush(struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	bool all = (pkt->feth & HRW_FETH_SEL_MASK) == HRW_FETH_SEL_MR;

	if (pkt->feth & HRW_FETH_GLOBAL &&
	    !hrp_env_flush(qp, pkt->rkey, pkt->va, pkt->dmalen, all,
			   HRP_ACCESS_FLUSH_GLOBAL))
		return false;
	return !(pkt->feth & HRW_FETH_PERSISTENT) ||
	       hrp_env_flush(qp, pkt->rkey, pkt->va, pkt->dmalen, all,
			     HRP_ACCESS_FLUSH_PERSISTENT);
}

/* READs, atomics, ATOMIC WRITE and FLUSH: one packet each. */
static enum hrp_fault rc_rdatomic_begin(struct hrp_qp *qp,
					const struct hrp_pkt *pkt,
					struct hrp_rx *rx)
{
	if (qp->resp.in_msg)
		return HRP_FAULT_SEQUENCE;
	if (!hrp_rdres_room(&qp->resp))
		return HRP_FAULT_DENIED;
	if (pkt->info & HRP_OI_READ)
		return hrp_resp_check_range(qp, pkt, HRP_QP_REMOTE_READ,
					    HRP_ACCESS_REMOTE_READ);
	if (pkt->info & HRP_OI_ATOMIC_WRITE)
		return rc_atomic_write_begin(qp, pkt, rx);
	if (pkt->info & HRP_OI_FLUSH)
		return rc_flush_begin(qp, pkt);
	return rc_atomic_begin(qp, pkt);
}

/*
 * XRC: each packet names its SRQ, which must be in the domain of the queue
 * pair; all packets of a message name the same one. An entry held between
 * messages is for the message that the peer must resend (RNR).
 */
static enum hrp_fault rc_select_srq(struct hrp_qp *qp,
				    const struct hrp_pkt *pkt)
{
	struct hrp_resp *resp = &qp->resp;

	if ((resp->in_msg || resp->have_rwqe) && pkt->srqn != resp->srqn)
		return HRP_FAULT_SEQUENCE;
	if (!hrp_env_srq_find(qp, pkt->srqn))
		return HRP_FAULT_DENIED;
	resp->srqn = pkt->srqn;
	return HRP_FAULT_NONE;
}

/* Check the request with the expected PSN. */
static enum hrp_fault rc_request_begin(struct hrp_qp *qp,
				       const struct hrp_pkt *pkt,
				       struct hrp_rx *rx)
{
	enum hrp_fault fault;

	if (unlikely(pkt->info & HRP_OI_XRCETH)) {
		fault = rc_select_srq(qp, pkt);
		if (fault)
			return fault;
	}
	if (pkt->info & HRP_OI_RESOURCE)
		return rc_rdatomic_begin(qp, pkt, rx);
	return hrp_resp_msg_begin(qp, pkt, qp->resp.in_msg, rx);
}

/*
 * Is the expected request missing, and has no NAK said so? It is not if it is
 * kept, and about to be taken.
 */
static bool rc_is_gap(const struct hrp_resp *resp)
{
	return !resp->nak_sent && !(resp->kept &&
				    hrp_keep_has(resp->keep, resp->psn));
}

/* A request after the expected one. What is longer than the MTU is not kept. */
static noinline void rc_ahead_begin(const struct hrp_qp *qp,
				    const struct hrp_pkt *pkt,
				    struct hrp_rx *rx)
{
	const struct hrp_resp *resp = &qp->resp;

	if (resp->keeps && !resp->rnr_sent &&
	    pkt->payload_len <= hrp_mtu_of_peer(qp, pkt) &&
	    hrp_keep_fits(resp, pkt->psn))
		rx->verdict = HRP_RX_KEEP;
	else if (resp->sacks_again && resp->kept &&
		 hrp_keep_has(resp->keep, pkt->psn))
		rx->verdict = HRP_RX_DUPLICATE;
	else if (hrp_psn_diff(pkt->psn, resp->psn) > RC_AHEAD_MAX ||
		 !rc_is_gap(resp))
		rx->drop = HROCE_DROP_PSN;
	else
		rc_nak(rx, HRP_NAK_PSN_SEQ, 0);
}

void hrp_resp_rc_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		       struct hrp_rx *rx)
{
	s32 ahead = hrp_psn_diff(pkt->psn, qp->resp.psn);

	if (unlikely(ahead > 0)) {
		rc_ahead_begin(qp, pkt, rx);
	} else if (unlikely(ahead < 0)) {
		if ((pkt->info & HRP_OI_RESOURCE) &&
		    !hrp_rdres_known(qp, pkt))
			rx->drop = HROCE_DROP_PSN;
		else
			rx->verdict = HRP_RX_DUPLICATE;
	} else {
		rc_fault(qp, rx, rc_request_begin(qp, pkt, rx));
	}
}

/*
 * Does the request end a WRITE with immediate data, and is there a receive
 * entry to complete?
 */
static bool rc_is_write_imm(struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	return pkt->info & HRP_OI_WRITE && pkt->info & HRP_OI_IMM &&
	       hrp_resp_take(qp);
}

/* End the connection: a NAK for the expected PSN is the last answer. */
static void rc_fail(struct hrp_qp *qp, const struct hrp_pkt *pkt, u8 syndrome,
		    u8 status)
{
	struct hrp_resp *resp = &qp->resp;

	hrp_count(qp, HROCE_EV_RESP_ERRORS);
	hrp_resp_refuse(resp, syndrome, resp->psn, resp->msn);
	if (resp->have_rwqe &&
	    ((resp->in_msg | pkt->info) & HRP_OI_SEND))
		hrp_resp_recv_done(qp, pkt, status, HROCE_WC_RECV, 0);
	else if (syndrome == HRP_NAK_REM_ACCESS && rc_is_write_imm(qp, pkt))
		hrp_resp_recv_done(qp, pkt, HROCE_CAUSE_RECV_KEY,
				   HROCE_WC_RECV_WRITE_IMM, 0);
	else if (syndrome == HRP_NAK_REM_ACCESS)
		hrp_set_pending(qp, HRP_PENDING_QP_ACCESS_ERR);
	else
		hrp_set_pending(qp, HRP_PENDING_QP_REQ_ERR);
	hrp_resp_to_error(qp);
}

/*
 * The peer may not invalidate this key: a fault of class J (9.9.6.3), which has
 * no NAK. The receive request ends with a memory management error (11.6.2).
 * Earlier requests are acknowledged, even if not requested, as a NAK would do.
 */
static void rc_fail_invalidate(struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	struct hrp_resp *resp = &qp->resp;

	hrp_count(qp, HROCE_EV_RESP_ERRORS);
	/* A NAK for an out-of-order request is void. */
	resp->nak_due = 0;
	/* Otherwise the answer to a READ or atomic acknowledges them. */
	if (hrp_psn_add(resp->ack_psn, 1) == resp->psn)
		resp->ack_due = 1;
	resp->finishing = 1;
	hrp_resp_recv_done(qp, pkt, HROCE_CAUSE_RECV_INVALIDATE, HROCE_WC_RECV,
			   0);
	hrp_resp_to_error(qp);
}

/* Have the peer send the expected PSN again, later. */
static void rc_rnr(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	if (unlikely(resp->nak_held))
		hrp_nak_came(qp);
	hrp_count(qp, HROCE_EV_RNR_SENT);
	hrp_resp_nak(resp, HRP_SYN_RNR | resp->min_rnr_timer);
	resp->nak_sent = 1;
	resp->rnr_sent = 1;
}

/* Advance by @nr_pkts PSNs; a NAK for the old expected PSN is void. */
static __always_inline void rc_advance(struct hrp_qp *qp, u32 nr_pkts)
{
	struct hrp_resp *resp = &qp->resp;

	if (unlikely(resp->nak_held))
		hrp_nak_came(qp);
	resp->psn = hrp_psn_add(resp->psn, nr_pkts);
	resp->nak_sent = 0;
	resp->rnr_sent = 0;
	resp->again = 0;
	/* An answer to the peer's question waits until READs are answered. */
	if (unlikely(resp->nak_due) && !hrp_resp_greets(resp))
		resp->nak_due = 0;
}

/*
 * The memory of the request is not present. Have the peer retry later, as for a
 * missing receive entry (9.7.5.2.8). Return: false if this is such a retry and
 * the fetch has failed: the request is then refused.
 */
static bool rc_mem_fault(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	if (resp->mem_bad && resp->mem_psn == resp->psn)
		return false;
	resp->mem_bad = 0;
	resp->mem_psn = resp->psn;
	rc_rnr(qp);
	return true;
}

/*
 * May the ACK that the request asks for be held? A peer that asks in the middle
 * of a message is about to wait for the answer, and so is one that was told to
 * send again, or will learn from the ACK what was kept.
 */
static bool rc_may_hold(const struct hrp_resp *resp, const struct hrp_pkt *pkt,
			const struct hrp_rx *rx)
{
	return rx->hold && (pkt->info & HRP_OI_LAST) && !resp->nak_sent &&
	       !resp->kept;
}

static void rc_msg_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			  const struct hrp_rx *rx, u8 status)
{
	struct hrp_resp *resp = &qp->resp;
	bool hold = rc_may_hold(resp, pkt, rx);

	if (unlikely(status != HROCE_WC_SUCCESS)) {
		if (status == HRP_MEM_FAULT) {
			if (rc_mem_fault(qp))
				return;
			status = HROCE_CAUSE_FETCH;
		}
		if (pkt->info & HRP_OI_SEND)
			rc_fail(qp, pkt, HRP_NAK_REM_OP, status);
		else
			rc_fail(qp, pkt, HRP_NAK_REM_ACCESS, status);
		return;
	}
	if ((pkt->info & HRP_OI_INV) && !hrp_env_invalidate(qp, pkt->inv_rkey)) {
		rc_fail_invalidate(qp, pkt);
		return;
	}
	rc_advance(qp, rx->nr_pkts);
	resp->ack_psn = pkt->psn;
	/* After a gap the peer is told at once how much need not be resent. */
	if (pkt->ackreq || (unlikely(resp->kept) && resp->keep->taken))
		hrp_hold_ask(qp, hold);
	if (pkt->info & HRP_OI_LAST)
		resp->msn = hrp_psn_add(resp->msn, 1);
	hrp_resp_msg_commit(qp, pkt, rx->nr_pkts);
}

/*
 * Of nothing but READs and atomics, the PSN of an ACK must not seem to be ahead. Nor
 * is it that of the last request, @psn.
 */
static void rc_age_ack(struct hrp_resp *resp, u32 psn)
{
	u32 most = clamp(((resp->psn - psn) & HRP_PSN_MASK) + 1, ACK_AGE_MAX,
			 HRP_PSN_MASK / 2 + 1);

	if (((resp->psn - resp->ack_psn) & HRP_PSN_MASK) > most)
		resp->ack_psn = (resp->psn - most) & HRP_PSN_MASK;
}

/* @status: result of placing the payload of an ATOMIC WRITE. */
static void rc_rdatomic_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			       u8 status)
{
	u64 orig = 0;

	if (pkt->info & HRP_OI_FLUSH && !rc_flush(qp, pkt))
		status = HROCE_WC_REM_ACCESS_ERR;
	if (pkt->info & HRP_OI_ATOMIC)
		status = hrp_env_atomic(qp, pkt->rkey, pkt->va,
					hrp_opcode_op(pkt->opcode) ==
					HRP_OP_CMP_SWAP,
					pkt->compare, pkt->swap_add, &orig);
	if (status == HRP_MEM_FAULT && rc_mem_fault(qp))
		return;
	if (status != HROCE_WC_SUCCESS) {
		rc_fail(qp, pkt, HRP_NAK_REM_ACCESS, HROCE_CAUSE_RECV_KEY);
		return;
	}
	if (pkt->info & HRP_OI_READ)
		hrp_count(qp, HROCE_EV_RX_READS);
	else if (pkt->info & HRP_OI_ATOMIC)
		hrp_count(qp, HROCE_EV_RX_ATOMICS);
	else if (pkt->info & HRP_OI_ATOMIC_WRITE)
		hrp_count(qp, HROCE_EV_RX_WRITES);
	qp->resp.msn = hrp_psn_add(qp->resp.msn, 1);
	rc_advance(qp, hrp_rdres_add(qp, pkt, orig));
	/* The response acknowledges everything before it, too. */
	hrp_hold_acked(qp, qp->resp.psn - 1);
	rc_age_ack(&qp->resp, pkt->psn);
}

/*
 * A request was kept. Is the peer to be told, and does it know that there is a
 * gap?
 */
static bool rc_tells_kept(const struct hrp_resp *resp,
			  const struct hrp_pkt *pkt)
{
	return resp->sacks && resp->nak_sent &&
	       (pkt->ackreq || resp->keep->untold >= HRP_KEEP_TELL);
}

/* A request came too early. It draws a NAK as if it were not kept. */
static noinline void rc_keep_commit(struct hrp_qp *qp,
				    const struct hrp_pkt *pkt, u8 status)
{
	struct hrp_resp *resp = &qp->resp;
	bool gap = rc_is_gap(resp);

	if (status == HROCE_WC_SUCCESS)
		hrp_count(qp, HROCE_EV_KEPT);
	else if (!gap)
		hrp_count(qp, HROCE_DROP_PSN);
	if (gap)
		hrp_nak_gap(qp, status == HROCE_WC_SUCCESS);
	else if (status == HROCE_WC_SUCCESS && rc_tells_kept(resp, pkt))
		hrp_resp_nak(resp, HRP_NAK_PSN_SEQ);
}

/*
 * Behind those that are taken, the next gap draws its NAK at once. A gap of several
 * packets that is being filled draws no other: the rest is on its way, or a later
 * request tells that it is not.
 */
struct hrp_kept *hrp_resp_next_kept(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;
	struct hrp_keep *keep = resp->keep;
	struct hrp_kept *kept;

	if (qp->state == HRP_ERR || resp->rnr_sent)
		return NULL;
	kept = hrp_keep_take(keep, resp->psn);
	if (kept) {
		keep->taken = true;
	} else if (keep->taken && keep->nr && rc_is_gap(resp)) {
		keep->taken = false;
		hrp_nak_gap(qp, true);
	}
	return kept;
}

/*
 * Does it look as if answers were lost on their way? The peer asks for one again,
 * @ahead of what it has asked for again before. A flight is hardly lost by chance,
 * but may come again, as may what is behind it, after a silence. Else it is to
 * begin anew, and to have asked for nothing new meanwhile.
 */
static bool rc_is_deaf(const struct hrp_resp *resp, u16 ahead,
		       enum hrp_again again)
{
	if (!resp->again)
		return again == HRP_AGAIN_FLIGHT && ahead >= HRP_AGAIN_PKTS;
	return again == HRP_AGAIN_PART ? !ahead : (s16)ahead <= 0;
}

static void rc_again(struct hrp_qp *qp, u16 psn, enum hrp_again again)
{
	struct hrp_resp *resp = &qp->resp;

	if (rc_is_deaf(resp, psn - resp->again_psn, again))
		hrp_set_pending(qp, HRP_PENDING_REHASH_ANSWERS);
	resp->again = 1;
	resp->again_psn = psn;
}

/* The peer asks for an ACK again, and should have had those for what came since. */
static enum hrp_again rc_again_ack(const struct hrp_resp *resp, u32 psn)
{
	return hrp_psn_diff(resp->psn, psn) < HRP_MUTE_PKTS ? HRP_AGAIN_END :
							      HRP_AGAIN_FLIGHT;
}

static void rc_duplicate(struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	bool kept = hrp_psn_diff(pkt->psn, qp->resp.psn) > 0;

	hrp_count(qp, HROCE_EV_DUPLICATES);
	hrp_nak_again(qp, pkt->psn);
	if (pkt->info & HRP_OI_RESOURCE) {
		if (!kept)
			rc_again(qp, pkt->psn, hrp_rdres_replay(qp, pkt));
		return;
	}
	hrp_sack_again(&qp->resp, pkt->psn);
	/* What is kept will be answered in its turn. */
	if (kept)
		return;
	/*
	 * What asks for no answer was only late. A peer that takes several ways may
	 * get ACKs in any order.
	 */
	if (pkt->ackreq && qp->resp.follows)
		hrp_set_pending(qp, HRP_PENDING_REHASH_ANSWERS);
	else if (pkt->ackreq)
		rc_again(qp, pkt->psn, rc_again_ack(&qp->resp, pkt->psn));
	qp->resp.ack_due = 1;
}

void hrp_resp_rc_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			const struct hrp_rx *rx, u8 status)
{
	hrp_resp_established(qp);
	if (likely(rx->verdict == HRP_RX_ACCEPT)) {
		if (pkt->info & HRP_OI_RESOURCE)
			rc_rdatomic_commit(qp, pkt, status);
		else
			rc_msg_commit(qp, pkt, rx, status);
	} else if (rx->verdict == HRP_RX_DUPLICATE) {
		rc_duplicate(qp, pkt);
	} else if (rx->verdict == HRP_RX_KEEP) {
		rc_keep_commit(qp, pkt, status);
	} else if (rx->syndrome == HRP_NAK_PSN_SEQ) {
		hrp_nak_gap(qp, false);
	} else if ((rx->syndrome & HRP_SYN_TYPE_MASK) == HRP_SYN_RNR) {
		hrp_count(qp, HROCE_EV_RNR_NO_WQE);
		rc_rnr(qp);
	} else {
		rc_fail(qp, pkt, rx->syndrome, rx->status);
	}
}

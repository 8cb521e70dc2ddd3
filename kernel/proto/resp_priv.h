/* SPDX-License-Identifier: GPL-2.0 */
/* Shared by the files of the responder. */
#ifndef HRP_RESP_PRIV_H
#define HRP_RESP_PRIV_H

#include <linux/compiler.h>
#include "e2e.h"
#include "env.h"
#include "psn.h"
#include "resp.h"

/* What comes again so far ahead of the last time tells of another loss. */
#define HRP_AGAIN_PKTS	2048

/* Faults of a request; each service handles them in its own way. */
enum hrp_fault {
	HRP_FAULT_NONE,
	HRP_FAULT_SEQUENCE,	/* opcode does not follow the one before */
	HRP_FAULT_LENGTH,	/* payload, path MTU and RETH disagree */
	HRP_FAULT_TOO_LONG,	/* receive entry is too small */
	HRP_FAULT_NO_ENTRY,	/* there is no receive entry */
	HRP_FAULT_DENIED,	/* the queue pair does not take this request */
	HRP_FAULT_ACCESS,	/* the key does not grant this access */
};

/**
 * hrp_resp_take - take a receive entry unless one is in use
 * @qp: queue pair
 *
 * Return: false if there is none.
 */
static inline bool hrp_resp_take(struct hrp_qp *qp)
{
	struct hrp_resp *resp = &qp->resp;

	if (!resp->have_rwqe)
		resp->have_rwqe = hrp_env_recv_take(qp, resp->rwqe);
	return resp->have_rwqe;
}

/**
 * hrp_resp_established - a packet has been accepted
 * @qp: queue pair
 *
 * Raises COMM_EST if it is the first one and the queue pair still in RTR.
 */
static inline void hrp_resp_established(struct hrp_qp *qp)
{
	if (likely(qp->resp.comm_est))
		return;
	qp->resp.comm_est = 1;
	if (qp->state == HRP_RTR)
		hrp_set_pending(qp, HRP_PENDING_COMM_EST);
}

/* Is the next acknowledgement the answer to hrp_sack_asked()? */
static inline bool hrp_resp_greets(const struct hrp_resp *resp)
{
	return resp->nak_due &&
	       (resp->nak_due & HRP_SYN_TYPE_MASK) == HRP_SYN_ACK;
}

/**
 * hrp_resp_syndrome - syndrome of an ACK, or of a READ or atomic response
 * @qp: reliable queue pair
 * @msn: MSN of the answer: that of the responder, or an earlier one
 *
 * Context: receive lock held.
 * Return: ACK, with credits unless the receive entries are shared with others.
 */
static inline u8 hrp_resp_syndrome(const struct hrp_qp *qp, u32 msn)
{
	const struct hrp_resp *resp = &qp->resp;
	u32 credits = hrp_env_recv_avail(qp);

	if (credits == HRP_RECV_SHARED)
		return HRP_SYN_ACK | HRP_SYN_CREDIT_INVALID;
	/*
	 * The message in progress has its entry already, or needs none. Later
	 * messages than @msn have taken theirs.
	 */
	credits += resp->have_rwqe + ((resp->msn - msn) & HRP_PSN_MASK);
	return HRP_SYN_ACK | hrp_e2e_code(credits);
}

/*
 * The next acknowledgement is a NAK of the expected PSN, which has the peer send
 * it again.
 */
static inline void hrp_resp_nak(struct hrp_resp *resp, u8 syndrome)
{
	resp->nak_due = syndrome;
	resp->nak_msn = resp->msn;
}

/* The last one is a NAK: the connection ends. */
static inline void hrp_resp_refuse(struct hrp_resp *resp, u8 syndrome, u32 psn,
				   u32 msn)
{
	resp->nak_due = syndrome;
	resp->nak_psn = psn;
	resp->nak_msn = msn;
}

/**
 * hrp_resp_scatter - direct payload to the receive entry in use
 * @qp: queue pair
 * @rx: decision
 * @offset: from the start of the entry
 * @len: bytes
 */
static inline void hrp_resp_scatter(const struct hrp_qp *qp, struct hrp_rx *rx,
				    u32 offset, u32 len)
{
	rx->fuse = 1;
	rx->mem.sges = qp->resp.rwqe->sges;
	rx->mem.nr_sges = qp->resp.rwqe->nr_sges;
	rx->mem.offset = offset;
	rx->mem.len = len;
	rx->mem.access = HRP_ACCESS_LOCAL_WRITE;
}

/**
 * hrp_resp_recv_done - complete the receive entry in use
 * @qp: queue pair
 * @pkt: last packet of the message
 * @result: enum hroce_wc_status or enum hroce_cause
 * @opcode: enum hroce_wc_op
 * @len: bytes received
 */
void hrp_resp_recv_done(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			u8 result, u8 opcode, u32 len);

/**
 * hrp_resp_to_error - put the queue pair into the error state
 * @qp: queue pair
 *
 * Does nothing in the error state.
 */
void hrp_resp_to_error(struct hrp_qp *qp);

/* Check the access that a RETH requests; @right: the HRP_QP_REMOTE_* needed. */
enum hrp_fault hrp_resp_check_range(struct hrp_qp *qp,
				    const struct hrp_pkt *pkt, u8 right,
				    u8 access);

/**
 * hrp_resp_msg_begin - check a packet of a SEND or WRITE (RC, UC)
 * @qp: queue pair
 * @pkt: packet, in the right place in the sequence of PSNs
 * @in_msg: message that it has to continue, see struct hrp_resp
 * @rx: its @fuse and @mem are filled in
 *
 * Return: the fault, with @rx undefined; HRP_FAULT_NONE if there is none.
 */
enum hrp_fault hrp_resp_msg_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
				  u32 in_msg, struct hrp_rx *rx);

/**
 * hrp_resp_msg_commit - packets of a SEND or WRITE are in place (RC, UC)
 * @qp: queue pair
 * @pkt: the packet that hrp_resp_msg_begin() accepted, or the last of those
 *	merged with it
 * @nr_pkts: number of packets
 *
 * Completes the receive entry at the end of a message that uses one.
 */
void hrp_resp_msg_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			 u32 nr_pkts);

/* The services; see hrp_resp_begin() and hrp_resp_commit(). */
void hrp_resp_rc_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		       struct hrp_rx *rx);
void hrp_resp_rc_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			const struct hrp_rx *rx, u8 status);
void hrp_resp_uc_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		       struct hrp_rx *rx);
void hrp_resp_uc_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			const struct hrp_rx *rx, u8 status);
void hrp_resp_ud_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		       struct hrp_rx *rx);
void hrp_resp_ud_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			const struct hrp_rx *rx, u8 status);

#endif /* HRP_RESP_PRIV_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* XRC targets: SRQ, protection domain and CQ depend on the request. */
#ifndef HROCE_XRC_H
#define HROCE_XRC_H

#include "qp.h"

struct hroce_srq;

/**
 * hroce_xrc_srq - find the SRQ that a request names
 * @qp: XRC target
 * @srqn: number of the SRQ
 *
 * Context: in an epoch.
 * Return: SRQ of the XRC domain of @qp, or NULL.
 */
struct hroce_srq *hroce_xrc_srq(const struct hroce_qp *qp, u32 srqn);

/* Protection domain of hroce_xrc_srq(); NULL if there is none. */
struct ib_pd *hroce_xrc_srq_pd(const struct hroce_qp *qp, u32 srqn);

/**
 * hroce_xrc_pd - protection domain of the memory that the peer names by R_Key
 * @qp: queue pair of any type
 * @srqn: SRQ that the request names, if @qp is an XRC target
 *
 * Context: in an epoch.
 * Return: protection domain; NULL if that SRQ is gone.
 */
static inline struct ib_pd *hroce_xrc_pd(const struct hroce_qp *qp, u32 srqn)
{
	if (likely(qp->proto.type != HRP_TYPE_XRC_TGT))
		return qp->ib.pd;
	return hroce_xrc_srq_pd(qp, srqn);
}

/* The same for the current request. */
static inline struct ib_pd *hroce_xrc_request_pd(const struct hroce_qp *qp)
{
	return hroce_xrc_pd(qp, qp->proto.resp.srqn);
}

/**
 * hroce_xrc_complete - complete a receive request on the CQ of its SRQ
 * @qp: XRC target
 * @cqe: as for hroce_cq_push()
 * @solicited: the sender asked for an event
 *
 * Context: as hroce_qp_push().
 */
void hroce_xrc_complete(struct hroce_qp *qp, const struct hroce_cqe *cqe,
			bool solicited);

#endif /* HROCE_XRC_H */

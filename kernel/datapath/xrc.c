// SPDX-License-Identifier: GPL-2.0
/* XRC targets. */
#include "srq.h"
#include "xrc.h"

struct hroce_srq *hroce_xrc_srq(const struct hroce_qp *qp, u32 srqn)
{
	return hroce_srq_find(hqp_dev(qp), qp->ib.xrcd, srqn);
}

struct ib_pd *hroce_xrc_srq_pd(const struct hroce_qp *qp, u32 srqn)
{
	const struct hroce_srq *srq = hroce_xrc_srq(qp, srqn);

	return srq ? srq->ib.pd : NULL;
}

/*
 * Notify the CQ at once: several CQs may have completions by the time that
 * locks are dropped. The handler belongs to uverbs and only wakes.
 */
void hroce_xrc_complete(struct hroce_qp *qp, const struct hroce_cqe *cqe,
			bool solicited)
{
	struct hroce_srq *srq = hroce_xrc_srq(qp, qp->proto.resp.srqn);
	struct hroce_cq *cq;

	/* The SRQ is being destroyed: drop the completion. */
	if (!srq)
		return;
	cq = to_hcq(srq->ib.ext.cq);
	if (hroce_qp_push(qp, cq, cqe, solicited))
		hroce_cq_notify(cq);
}

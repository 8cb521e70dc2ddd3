// SPDX-License-Identifier: GPL-2.0
/* Callbacks of the protocol engine, see proto/env.h. */
#include <linux/atomic.h>
#include "../core/epoch.h"
#include "../mem/iter.h"
#include "../mem/mkeys.h"
#include "../mem/mr.h"
#include "../mem/mw.h"
#include "../mem/region.h"
#include "../proto/env.h"
#include "fault.h"
#include "qp.h"
#include "ring.h"
#include "srq.h"
#include "xrc.h"

/* Called by the engine with the send lock held. */

void hrp_env_send_done(struct hrp_qp *proto, const struct hroce_cqe *cqe)
{
	struct hroce_qp *qp = proto_to_hqp(proto);

	if (hroce_qp_push(qp, qp->send_cq, cqe, false))
		set_bit(HROCE_PENDING_SEND_CQ, &proto->pending);
	if (cqe->status != HROCE_WC_SUCCESS &&
	    cqe->status != HROCE_WC_WR_FLUSH_ERR)
		hrp_count(proto, HROCE_EV_REQ_ERRORS);
}

u8 hrp_env_local_op(struct hrp_qp *proto, const struct hrp_wqe *wqe)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	const struct hroce_mkeys *mkeys = &hqp_dev(qp)->mkeys;

	hroce_epoch_charge(1);
	if (wqe->wqe.opcode == HROCE_WR_REG_MR)
		return hroce_mr_register(qp->ib.pd, &wqe->wqe);
	if (wqe->wqe.opcode == HROCE_WR_BIND_MW)
		return hroce_mw_bind(mkeys, qp->ib.pd, proto->qpn,
				     &wqe->wqe);
	return hroce_mr_invalidate(mkeys, qp->ib.pd, proto->qpn,
				   wqe->wqe.imm_data, false) ?
	       HROCE_WC_SUCCESS : HROCE_CAUSE_INVALIDATE;
}

/* Called with the receive lock held. */

void hrp_env_recv_done(struct hrp_qp *proto, const struct hroce_cqe *cqe,
		       bool solicited)
{
	struct hroce_qp *qp = proto_to_hqp(proto);

	if (unlikely(proto->type == HRP_TYPE_XRC_TGT))
		hroce_xrc_complete(qp, cqe, solicited);
	else if (hroce_qp_push(qp, qp->recv_cq, cqe, solicited))
		set_bit(HROCE_PENDING_RECV_CQ, &proto->pending);
}

bool hrp_env_srq_find(struct hrp_qp *proto, u32 srqn)
{
	return hroce_xrc_srq(proto_to_hqp(proto), srqn);
}

bool hrp_env_recv_take(struct hrp_qp *proto, struct hrp_rwqe *rwqe)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	bool corrupt = false, taken;
	struct hroce_srq *srq;

	if (qp->srq)
		return hroce_srq_take(qp->srq, rwqe);
	if (proto->type == HRP_TYPE_XRC_TGT) {
		srq = hroce_xrc_srq(qp, proto->resp.srqn);
		return srq && hroce_srq_take(srq, rwqe);
	}
	taken = hroce_rq_copy(qp->rq, qp->max_recv_sge, &qp->rq_head, rwqe,
			      &corrupt);
	if (corrupt)
		hroce_qp_fatal(qp);
	return taken;
}

u32 hrp_env_recv_avail(const struct hrp_qp *proto)
{
	const struct hroce_qp *qp = proto_to_hqp(proto);

	return qp->rq ? hroce_rq_avail(qp->rq, qp->rq_head) : HRP_RECV_SHARED;
}

bool hrp_env_mem_check(struct hrp_qp *proto, u32 rkey, u64 va, u32 len,
		       u8 access)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	struct hroce_region *region;

	region = hroce_mkeys_find(&hqp_dev(qp)->mkeys, rkey);
	return region && hroce_region_is_for(region, proto->qpn) &&
	       hroce_region_check(region, hroce_xrc_request_pd(qp), va, len, access);
}

u8 hrp_env_atomic(struct hrp_qp *proto, u32 rkey, u64 va, bool cas, u64 compare,
		  u64 swap_add, u64 *orig)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	const struct hrp_mem mem = {
		.one = { .addr = va, .length = sizeof(u64), .lkey = rkey },
		.len = sizeof(u64),
		.access = HRP_ACCESS_REMOTE_ATOMIC,
	};
	u8 status = HROCE_WC_REM_ACCESS_ERR;
	struct hroce_mem_iter it;
	struct hroce_extent ext;
	u64 *p;

	hroce_mem_begin(&it, &hqp_dev(qp)->mkeys, hroce_xrc_request_pd(qp),
			proto->qpn, &mem);
	if (hroce_mem_next(&it, sizeof(u64), &ext) == sizeof(u64)) {
		p = hroce_extent_va(&ext);
		if (IS_ALIGNED((uintptr_t)p, sizeof(u64))) {
			/* Atomic for CPUs, and so for all other QPs. */
			*orig = cas ? cmpxchg64(p, compare, swap_add) :
				      atomic64_fetch_add(swap_add,
							 (atomic64_t *)p);
			status = HROCE_WC_SUCCESS;
		}
	}
	hroce_mem_end(&it);
	if (unlikely(it.status == HRP_MEM_FAULT))
		status = hroce_fault_begin(qp, HROCE_FAULT_PLACE, &it);
	return status;
}

bool hrp_env_flush(struct hrp_qp *proto, u32 rkey, u64 va, u32 len, bool all,
		   u8 access)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	struct hroce_region *region;

	region = hroce_mkeys_find(&hqp_dev(qp)->mkeys, rkey);
	if (!region || !hroce_region_is_for(region, proto->qpn))
		return false;
	if (!hroce_region_check(region, hroce_xrc_request_pd(qp),
				all ? region->iova : va, all ? 0 : len,
				access))
		return false;
	/*
	 * CPUs have placed the data, and their caches are coherent.
	 * hroce_mem_end() has written persistent memory back.
	 */
	smp_mb();
	return true;
}

bool hrp_env_invalidate(struct hrp_qp *proto, u32 rkey)
{
	struct hroce_qp *qp = proto_to_hqp(proto);
	struct ib_pd *pd = hroce_xrc_request_pd(qp);

	return pd && hroce_mr_invalidate(&hqp_dev(qp)->mkeys, pd, proto->qpn,
					 rkey, true);
}

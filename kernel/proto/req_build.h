/* SPDX-License-Identifier: GPL-2.0 */
/* Of req.c: the packets of an entry. Context: send lock held. */
#ifndef HRP_REQ_BUILD_H
#define HRP_REQ_BUILD_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include "burst.h"
#include "masked.h"
#include "qp.h"

struct req_ops {
	u8 first;
	u8 middle;
	u8 last;
	u8 only;
};

static const struct req_ops data_ops[] = {
	[HROCE_WR_SEND] = {
		HRP_OP_SEND_FIRST, HRP_OP_SEND_MIDDLE,
		HRP_OP_SEND_LAST, HRP_OP_SEND_ONLY,
	},
	[HROCE_WR_SEND_IMM] = {
		HRP_OP_SEND_FIRST, HRP_OP_SEND_MIDDLE,
		HRP_OP_SEND_LAST_IMM, HRP_OP_SEND_ONLY_IMM,
	},
	[HROCE_WR_SEND_INV] = {
		HRP_OP_SEND_FIRST, HRP_OP_SEND_MIDDLE,
		HRP_OP_SEND_LAST_INV, HRP_OP_SEND_ONLY_INV,
	},
	[HROCE_WR_WRITE] = {
		HRP_OP_WRITE_FIRST, HRP_OP_WRITE_MIDDLE,
		HRP_OP_WRITE_LAST, HRP_OP_WRITE_ONLY,
	},
	[HROCE_WR_WRITE_IMM] = {
		HRP_OP_WRITE_FIRST, HRP_OP_WRITE_MIDDLE,
		HRP_OP_WRITE_LAST_IMM, HRP_OP_WRITE_ONLY_IMM,
	},
};

static const u8 single_ops[] = {
	[HROCE_WR_CMP_SWAP] = HRP_OP_CMP_SWAP,
	[HROCE_WR_FETCH_ADD] = HRP_OP_FETCH_ADD,
	[HROCE_WR_ATOMIC_WRITE] = HRP_OP_ATOMIC_WRITE,
	[HROCE_WR_FLUSH] = HRP_OP_FLUSH,
	[HROCE_WR_MASKED_CMP_SWAP] = HRP_OP_CMP_SWAP,
	[HROCE_WR_MASKED_FETCH_ADD] = HRP_OP_CMP_SWAP,
};

/* Connected peers get full packets of @w->mtu. */
static inline void req_set_mtu(const struct hrp_qp *qp, const struct hrp_wqe *w,
			       struct hrp_burst *b)
{
	b->mtu = w->mtu;
	b->first.longer = w->mtu > qp->mtu;
}

static inline void req_set_mem(const struct hrp_wqe *w, struct hrp_burst *b,
			       u32 offset_pkts, bool end)
{
	u32 offset = offset_pkts * b->mtu;

	if (w->wqe.flags & HROCE_WRF_INLINE) {
		b->mem.bytes = w->sges;
		b->copy = 1;
	} else {
		b->mem.sges = w->sges;
		b->mem.nr_sges = w->wqe.nr_sges;
	}
	b->mem.offset = offset;
	b->mem.len = end ? w->length - offset : b->nr_pkts * b->mtu;
	b->mem.access = HRP_ACCESS_LOCAL_READ;
}

static inline void req_set_headers(const struct hrp_qp *qp, const struct hrp_wqe *w,
				   struct hrp_burst *b)
{
	const struct hroce_sq_wqe *wqe = &w->wqe;
	struct hrp_pkt *first = &b->first;

	hrp_burst_set_entry(first, wqe);
	first->dmalen = w->length;
	if (qp->type != HRP_TYPE_UD)
		return;
	first->dqpn = wqe->ud.qpn & HRP_PSN_MASK;
	first->sqpn = qp->qpn;
	/* The high bit selects the Q_Key of the queue pair (10.2.5). */
	first->qkey = wqe->ud.qkey >> 31 ? qp->qkey : wqe->ud.qkey;
	b->ah = wqe->ud.ah;
	if (qp->gsi)
		first->pkey = wqe->ud.pkey;
}

static inline u8 req_first_op(const struct req_ops *ops, bool begin, bool end)
{
	if (begin)
		return end ? ops->only : ops->first;
	return end ? ops->last : ops->middle;
}

/* A WRITE without immediate data has no event (9.2.3). */
static inline bool req_is_solicited(const struct hrp_wqe *w)
{
	return w->wqe.flags & HROCE_WRF_SOLICITED &&
	       w->wqe.opcode != HROCE_WR_WRITE;
}

/* @n packets of SEND or WRITE, from @offset_pkts of the entry on. */
static __always_inline void req_set_data(const struct hrp_qp *qp,
					 const struct hrp_wqe *w,
					 struct hrp_burst *b, u32 psn,
					 u32 offset_pkts, u32 n)
{
	const struct req_ops *ops = &data_ops[w->wqe.opcode];
	bool end = offset_pkts + n == w->nr_pkts;
	u8 svc = hrp_qp_service(qp);

	hrp_burst_begin(b, qp,
			svc | req_first_op(ops, !offset_pkts, end && n == 1),
			psn);
	b->nr_pkts = n;
	b->op_middle = svc | ops->middle;
	b->op_last = svc | (end ? ops->last : ops->middle);
	b->se_last = end && req_is_solicited(w);
	req_set_headers(qp, w, b);
	req_set_mtu(qp, w, b);
	req_set_mem(w, b, offset_pkts, end);
}

/* Ask for @n packets of the answer to a READ, from @offset_pkts on. */
static inline void req_set_read(const struct hrp_qp *qp, const struct hrp_wqe *w,
				struct hrp_burst *b, u32 psn, u32 offset_pkts, u32 n)
{
	u32 offset = offset_pkts * w->mtu;

	hrp_burst_begin(b, qp, hrp_qp_service(qp) | HRP_OP_READ_REQ, psn);
	req_set_mtu(qp, w, b);
	b->ackreq_last = 1;
	b->first.va = w->wqe.rdma.remote_addr + offset;
	b->first.rkey = w->wqe.rdma.rkey;
	b->first.srqn = w->wqe.srqn;
	b->first.dmalen = min(w->length - offset, n * w->mtu);
}

/* Fields of the entry other than address, key and SRQ. */
static inline void req_single_fill(const struct hrp_wqe *w, struct hrp_burst *b)
{
	const struct hroce_sq_wqe *wqe = &w->wqe;
	struct hrp_pkt *first = &b->first;

	switch (wqe->opcode) {
	case HROCE_WR_CMP_SWAP:
		first->swap_add = wqe->rdma.swap;
		first->compare = wqe->rdma.compare_add;
		break;
	case HROCE_WR_FETCH_ADD:
		first->swap_add = wqe->rdma.compare_add;
		first->compare = 0;
		break;
	case HROCE_WR_ATOMIC_WRITE:
		first->dmalen = w->length;
		req_set_mem(w, b, 0, true);
		b->copy = 1;
		break;
	case HROCE_WR_FLUSH:
		first->dmalen = wqe->flush.length;
		first->feth = wqe->flush.placement |
			      wqe->flush.selectivity << HRW_FETH_SEL_SHIFT;
		break;
	case HROCE_WR_MASKED_CMP_SWAP:
	case HROCE_WR_MASKED_FETCH_ADD:
		hrp_masked_ask(w, first);
		break;
	}
}

static inline void req_set_single(const struct hrp_qp *qp, const struct hrp_wqe *w,
				  struct hrp_burst *b, u32 psn)
{
	hrp_burst_begin(b, qp, hrp_qp_service(qp) | single_ops[w->wqe.opcode],
			psn);
	req_set_mtu(qp, w, b);
	b->ackreq_last = 1;
	b->first.va = w->wqe.rdma.remote_addr;
	b->first.rkey = w->wqe.rdma.rkey;
	b->first.srqn = w->wqe.srqn;
	req_single_fill(w, b);
}

#endif /* HRP_REQ_BUILD_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Posting by kernel consumers: work requests become entries of the same rings
 * that user space fills directly.
 *
 * Consumers may post with interrupts disabled (ib_mad does), where sending is
 * not possible: then a tasklet sends.
 */
#include <linux/irqflags.h>
#include "../datapath/pkey.h"
#include "../datapath/qp.h"
#include "../datapath/ring.h"
#include "../datapath/srq.h"
#include "../trace/trace.h"
#include "ah.h"
#include "device.h"
#include "mr.h"
#include "ops.h"

static int send_opcode(enum ib_wr_opcode opcode)
{
	/* A cast, as older kernels lack some values of the enum. */
	switch ((int)opcode) {
	case IB_WR_SEND:
		return HROCE_WR_SEND;
	case IB_WR_SEND_WITH_IMM:
		return HROCE_WR_SEND_IMM;
	case IB_WR_SEND_WITH_INV:
		return HROCE_WR_SEND_INV;
	case IB_WR_RDMA_WRITE:
		return HROCE_WR_WRITE;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return HROCE_WR_WRITE_IMM;
	case IB_WR_RDMA_READ:
		return HROCE_WR_READ;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return HROCE_WR_CMP_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return HROCE_WR_FETCH_ADD;
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		return HROCE_WR_MASKED_CMP_SWAP;
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return HROCE_WR_MASKED_FETCH_ADD;
	case IB_WR_ATOMIC_WRITE:
		return HROCE_WR_ATOMIC_WRITE;
	case IB_WR_LOCAL_INV:
		return HROCE_WR_LOCAL_INV;
	case IB_WR_REG_MR:
		return HROCE_WR_REG_MR;
	default:
		return -EINVAL;
	}
}

static u8 send_flags(const struct hroce_qp *qp, const struct ib_send_wr *wr)
{
	u8 flags = 0;

	if (wr->send_flags & IB_SEND_FENCE)
		flags |= HROCE_WRF_FENCE;
	if (wr->send_flags & IB_SEND_SIGNALED || qp->sig_all)
		flags |= HROCE_WRF_SIGNALED;
	if (wr->send_flags & IB_SEND_SOLICITED)
		flags |= HROCE_WRF_SOLICITED;
	if (wr->send_flags & IB_SEND_INLINE)
		flags |= HROCE_WRF_INLINE;
	return flags;
}

static u16 send_pkey(const struct hroce_qp *qp, const struct ib_ud_wr *wr)
{
	return wr->pkey_index < HROCE_PKEY_TABLE_LEN ?
	       hroce_pkey_at(hqp_dev(qp), wr->pkey_index) : 0;
}

static void send_fill_ud(const struct hroce_qp *qp, struct hroce_sq_wqe *wqe,
			 const struct ib_ud_wr *wr)
{
	wqe->ud.ah = to_hah(wr->ah)->id;
	wqe->ud.qpn = wr->remote_qpn;
	wqe->ud.qkey = wr->remote_qkey;
	wqe->ud.pkey = qp->proto.gsi ? send_pkey(qp, wr) : 0;
}

/* The part that depends on the operation. */
static void send_fill_op(const struct hroce_qp *qp, struct hroce_sq_wqe *wqe,
			 const struct ib_send_wr *wr)
{
	switch ((enum hroce_wr_op)wqe->opcode) {
	case HROCE_WR_SEND_IMM:
		wqe->imm_data = (__force u32)wr->ex.imm_data;
		fallthrough;
	case HROCE_WR_SEND:
		/* ib_drain_sq() posts a WRITE to UD, too: struct ib_rdma_wr. */
		if (qp->proto.type == HRP_TYPE_UD)
			send_fill_ud(qp, wqe, ud_wr(wr));
		break;
	case HROCE_WR_SEND_INV:
	case HROCE_WR_LOCAL_INV:
		wqe->imm_data = wr->ex.invalidate_rkey;
		break;
	case HROCE_WR_WRITE_IMM:
		wqe->imm_data = (__force u32)wr->ex.imm_data;
		fallthrough;
	case HROCE_WR_WRITE:
	case HROCE_WR_READ:
	case HROCE_WR_ATOMIC_WRITE:
		wqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rdma.rkey = rdma_wr(wr)->rkey;
		break;
	case HROCE_WR_CMP_SWAP:
	case HROCE_WR_FETCH_ADD:
	case HROCE_WR_MASKED_CMP_SWAP:
	case HROCE_WR_MASKED_FETCH_ADD:
		wqe->rdma.remote_addr = atomic_wr(wr)->remote_addr;
		wqe->rdma.rkey = atomic_wr(wr)->rkey;
		wqe->rdma.compare_add = atomic_wr(wr)->compare_add;
		wqe->rdma.swap = atomic_wr(wr)->swap;
		break;
	case HROCE_WR_REG_MR:
		wqe->reg.mr = (uintptr_t)to_hmr(reg_wr(wr)->mr);
		wqe->reg.key = reg_wr(wr)->key;
		wqe->reg.access = reg_wr(wr)->access;
		break;
	case HROCE_WR_BIND_MW:
	case HROCE_WR_FLUSH:
	case HROCE_WR_NR:
		break;
	}
}

static int fill_sges(struct hroce_sge *dst, const struct ib_sge *src, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		dst[i] = (struct hroce_sge) {
			.addr = src[i].addr,
			.length = src[i].length,
			.lkey = src[i].lkey,
		};
	return nr;
}

/* Store the masks after the SGEs. */
static int send_fill_masks(const struct hroce_qp *qp, void *dst,
			   const struct ib_atomic_wr *wr)
{
	size_t at = wr->wr.num_sge * sizeof(struct hroce_sge);

	if (at + sizeof(struct hroce_masks) > qp->proto.req.sq.max_inline)
		return -EINVAL;
	*(struct hroce_masks *)(dst + at) = (struct hroce_masks){
		.compare_add = wr->compare_add_mask,
		.swap = wr->swap_mask,
	};
	return 0;
}

/* SGEs of inline data have kernel addresses; their lkeys are ignored. */
static int send_fill_inline(const struct hroce_qp *qp, void *dst,
			    const struct ib_send_wr *wr)
{
	u32 len = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->proto.req.sq.max_inline - len)
			return -EINVAL;
		memcpy(dst + len, (void *)(uintptr_t)sge->addr, sge->length);
		len += sge->length;
	}
	return len;
}

static int send_fill(const struct hroce_qp *qp, struct hroce_sq_wqe *wqe,
		     const struct ib_send_wr *wr)
{
	int opcode = send_opcode(wr->opcode);
	int n;

	if (opcode < 0 || wr->num_sge < 0 || wr->num_sge > qp->proto.req.sq.max_sges)
		return -EINVAL;
	memset(wqe, 0, sizeof(*wqe));
	wqe->wr_id = wr->wr_id;
	wqe->opcode = opcode;
	wqe->flags = send_flags(qp, wr);
	send_fill_op(qp, wqe, wr);
	if (wqe->flags & HROCE_WRF_INLINE) {
		n = send_fill_inline(qp, wqe + 1, wr);
		if (n < 0)
			return n;
		wqe->inline_len = n;
	} else {
		wqe->nr_sges = fill_sges((void *)(wqe + 1), wr->sg_list,
					 wr->num_sge);
		if (wqe->opcode == HROCE_WR_MASKED_CMP_SWAP ||
		    wqe->opcode == HROCE_WR_MASKED_FETCH_ADD)
			return send_fill_masks(qp, wqe + 1, atomic_wr(wr));
	}
	return 0;
}

static int send_post_one(struct hroce_qp *qp, const struct ib_send_wr *wr)
{
	struct hroce_sq_hdr *hdr = qp->sq->va;
	struct hroce_sq_wqe *wqe;
	u32 prod = hdr->prod;
	int err;

	/* The slot is free: pairs with the engine's release. */
	if (prod - smp_load_acquire(&hdr->cons) >= qp->sq->nr_entries)
		return -ENOMEM;
	wqe = hroce_ring_entry(qp->sq, prod);
	err = send_fill(qp, wqe, wr);
	if (err)
		return err;
	trace_hroce_post(qp->proto.qpn, wqe);
	/* Pairs with the engine's acquire. */
	smp_store_release(&hdr->prod, prod + 1);
	return 0;
}

int hroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct hroce_qp *qp = to_hqp(ibqp);
	unsigned long flags;
	int err = 0;

	if (qp->user || READ_ONCE(qp->proto.state) < HRP_RTS) {
		*bad_wr = wr;
		return -EINVAL;
	}

	spin_lock_irqsave(&qp->post_lock, flags);
	for (; wr && !err; wr = wr->next) {
		err = send_post_one(qp, wr);
		if (err)
			*bad_wr = wr;
	}
	spin_unlock_irqrestore(&qp->post_lock, flags);

	if (irqs_disabled())
		tasklet_schedule(&qp->send.task);
	else
		hroce_qp_send_run(qp);
	return err;
}

static int recv_post_one(struct hroce_ring *ring, u32 max_sge,
			 const struct ib_recv_wr *wr)
{
	struct hroce_rq_hdr *hdr = ring->va;
	struct hroce_rq_wqe *wqe;
	u32 prod = hdr->prod;

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	/* The slot is free: pairs with the release in hroce_rq_copy(). */
	if (prod - smp_load_acquire(&hdr->cons) >= ring->nr_entries)
		return -ENOMEM;
	wqe = hroce_ring_entry(ring, prod);
	wqe->wr_id = wr->wr_id;
	wqe->nr_sges = fill_sges((void *)(wqe + 1), wr->sg_list, wr->num_sge);
	wqe->reserved = 0;
	/* Pairs with the acquire in hroce_rq_copy(). */
	smp_store_release(&hdr->prod, prod + 1);
	return 0;
}

static int recv_post(struct hroce_ring *ring, u32 max_sge, spinlock_t *lock,
		     const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad_wr)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(lock, flags);
	for (; wr && !err; wr = wr->next) {
		err = recv_post_one(ring, max_sge, wr);
		if (err)
			*bad_wr = wr;
	}
	spin_unlock_irqrestore(lock, flags);
	return err;
}

int hroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct hroce_qp *qp = to_hqp(ibqp);
	int err;

	if (qp->user || !qp->rq ||
	    READ_ONCE(qp->proto.state) == HRP_RESET) {
		*bad_wr = wr;
		return -EINVAL;
	}

	err = recv_post(qp->rq, qp->max_recv_sge, &qp->post_lock, wr, bad_wr);
	/* Either we see the error state, or its flush sees the entries. */
	smp_mb();
	if (READ_ONCE(qp->proto.state) != HRP_ERR)
		return err;
	if (irqs_disabled())
		tasklet_schedule(&qp->recv.task);
	else
		hroce_qp_recv_run(qp);
	return err;
}

int hroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct hroce_srq *srq = to_hsrq(ibsrq);

	if (srq->user) {
		*bad_wr = wr;
		return -EINVAL;
	}
	return recv_post(srq->ring, srq->max_sge, &srq->post_lock, wr, bad_wr);
}

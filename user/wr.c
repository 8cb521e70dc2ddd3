// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ibv_wr_* calls build a list in place, one call per part.
 *
 *   wr_start    takes the send queue's lock
 *   wr_<op>     begins an entry
 *   wr_set_*    completes it
 *   wr_complete publishes all entries, or none if something failed; unlocks
 *   wr_abort    discards them; unlocks
 *
 * The first error sticks; later calls until wr_complete are ignored.
 */
#include <errno.h>

#include "ah.h"
#include "hroce.h"
#include "kick.h"
#include "mw.h"
#include "qp.h"

#define UD_OPS	(IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define UC_OPS	(UD_OPS | IBV_QP_EX_WITH_RDMA_WRITE | \
		 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | \
		 IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)
#define XRC_OPS	(UC_OPS | IBV_QP_EX_WITH_RDMA_READ | \
		 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | \
		 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | \
		 IBV_QP_EX_WITH_SEND_WITH_INV)
#ifdef HROCE_VERBS_LACK_FLUSH
#define FLUSH_OP	0
#else
#define FLUSH_OP	IBV_QP_EX_WITH_FLUSH
#endif
#define RC_OPS	(XRC_OPS | IBV_QP_EX_WITH_ATOMIC_WRITE | FLUSH_OP)

static struct hroce_qp *ex_to_hqp(struct ibv_qp_ex *qp_ex)
{
	return container_of(qp_ex, struct hroce_qp, vqp.qp_ex);
}

static void wr_fail(struct hroce_qp *qp, int err)
{
	qp->wr.wqe = NULL;
	if (!qp->wr.err)
		qp->wr.err = err;
}

/* Begin an entry. Return: NULL if the list has failed. */
static struct hroce_sq_wqe *wr_begin(struct ibv_qp_ex *qp_ex,
				     enum hroce_wr_op code)
{
	struct hroce_qp *qp = ex_to_hqp(qp_ex);
	struct hroce_sq *sq = &qp->sq;
	struct hroce_sq_wqe *wqe;

	if (qp->wr.err)
		return NULL;
	if (qp_ex->wr_flags & ~HROCE_WRF_ALL) {
		wr_fail(qp, EINVAL);
		return NULL;
	}
	if (hroce_prod_full(&sq->ring)) {
		wr_fail(qp, ENOMEM);
		return NULL;
	}

	wqe = hroce_prod_slot(&sq->ring);
	*wqe = (struct hroce_sq_wqe) {
		.wr_id = qp_ex->wr_id,
		.opcode = code,
		/* wr_set_inline_data() sets HROCE_WRF_INLINE */
		.flags = (qp_ex->wr_flags & ~HROCE_WRF_INLINE) |
			 sq->always_flags,
	};
	sq->ring.prod++;
	qp->wr.wqe = wqe;
	return wqe;
}

static void wr_send(struct ibv_qp_ex *qp_ex)
{
	wr_begin(qp_ex, HROCE_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp_ex, __be32 imm_data)
{
	struct hroce_sq_wqe *wqe = wr_begin(qp_ex, HROCE_WR_SEND_IMM);

	if (wqe)
		wqe->imm_data = imm_data;
}

static void wr_send_inv(struct ibv_qp_ex *qp_ex, uint32_t key)
{
	struct hroce_sq_wqe *wqe = wr_begin(qp_ex, HROCE_WR_SEND_INV);

	if (wqe)
		wqe->imm_data = key;
}

static void wr_local_inv(struct ibv_qp_ex *qp_ex, uint32_t key)
{
	struct hroce_sq_wqe *wqe = wr_begin(qp_ex, HROCE_WR_LOCAL_INV);

	if (wqe)
		wqe->imm_data = key;
}

static void wr_bind_mw(struct ibv_qp_ex *qp_ex, struct ibv_mw *mw,
		       uint32_t rkey, const struct ibv_mw_bind_info *bind_info)
{
	struct hroce_sq_wqe *wqe = wr_begin(qp_ex, HROCE_WR_BIND_MW);

	if (wqe && !mw)
		wr_fail(ex_to_hqp(qp_ex), EINVAL);
	else if (wqe)
		hroce_mw_set_bind(wqe, mw, rkey, bind_info);
}

static struct hroce_sq_wqe *wr_begin_remote(struct ibv_qp_ex *qp_ex,
					    enum hroce_wr_op code,
					    uint32_t rkey, uint64_t addr)
{
	struct hroce_sq_wqe *wqe = wr_begin(qp_ex, code);

	if (wqe) {
		wqe->rdma.remote_addr = addr;
		wqe->rdma.rkey = rkey;
	}
	return wqe;
}

static void wr_rdma_write(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t addr)
{
	wr_begin_remote(qp_ex, HROCE_WR_WRITE, rkey, addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp_ex, uint32_t rkey,
			      uint64_t addr, __be32 imm_data)
{
	struct hroce_sq_wqe *wqe;

	wqe = wr_begin_remote(qp_ex, HROCE_WR_WRITE_IMM, rkey, addr);
	if (wqe)
		wqe->imm_data = imm_data;
}

static void wr_rdma_read(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t addr)
{
	wr_begin_remote(qp_ex, HROCE_WR_READ, rkey, addr);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp_ex, uint32_t rkey,
			      uint64_t addr, uint64_t compare, uint64_t swap)
{
	struct hroce_sq_wqe *wqe;

	wqe = wr_begin_remote(qp_ex, HROCE_WR_CMP_SWAP, rkey, addr);
	if (wqe) {
		wqe->rdma.compare_add = compare;
		wqe->rdma.swap = swap;
	}
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp_ex, uint32_t rkey,
				uint64_t addr, uint64_t addend)
{
	struct hroce_sq_wqe *wqe;

	wqe = wr_begin_remote(qp_ex, HROCE_WR_FETCH_ADD, rkey, addr);
	if (wqe)
		wqe->rdma.compare_add = addend;
}

static void wr_atomic_write(struct ibv_qp_ex *qp_ex, uint32_t rkey,
			    uint64_t addr, const void *word)
{
	struct hroce_qp *qp = ex_to_hqp(qp_ex);
	struct hroce_sq_wqe *wqe;

	wqe = wr_begin_remote(qp_ex, HROCE_WR_ATOMIC_WRITE, rkey, addr);
	if (!wqe)
		return;
	wqe->flags |= HROCE_WRF_INLINE;
	if (hroce_sq_add_inline(&qp->sq, wqe, word, sizeof(uint64_t)))
		wr_fail(qp, EINVAL);
}

#ifndef HROCE_VERBS_LACK_FLUSH
/* The kernel refuses types and levels that it does not know. */
static void wr_flush(struct ibv_qp_ex *qp_ex, uint32_t rkey, uint64_t addr,
		     size_t length, uint8_t type, uint8_t level)
{
	struct hroce_sq_wqe *wqe = wr_begin(qp_ex, HROCE_WR_FLUSH);

	if (!wqe)
		return;
	if (length > UINT32_MAX) {
		wr_fail(ex_to_hqp(qp_ex), EINVAL);
		return;
	}
	wqe->flush.remote_addr = addr;
	wqe->flush.length = length;
	wqe->flush.placement = type;
	wqe->flush.selectivity = level;
	wqe->flush.rkey = rkey;
}
#endif

static void wr_set_ud_addr(struct ibv_qp_ex *qp_ex, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct hroce_sq_wqe *wqe = ex_to_hqp(qp_ex)->wr.wqe;

	if (!wqe)
		return;
	wqe->ud.ah = to_hah(ah)->id;
	wqe->ud.qpn = remote_qpn;
	wqe->ud.qkey = remote_qkey;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp_ex, uint32_t remote_srqn)
{
	struct hroce_sq_wqe *wqe = ex_to_hqp(qp_ex)->wr.wqe;

	if (wqe)
		wqe->srqn = remote_srqn;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp_ex, size_t nr_sges,
			    const struct ibv_sge *sges)
{
	struct hroce_qp *qp = ex_to_hqp(qp_ex);

	if (qp->wr.wqe &&
	    hroce_sq_set_sges(&qp->sq, qp->wr.wqe, sges, nr_sges))
		wr_fail(qp, EINVAL);
}

static void wr_set_sge(struct ibv_qp_ex *qp_ex, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(qp_ex, 1, &sge);
}

static bool op_has_payload(uint8_t code)
{
	return code == HROCE_WR_SEND || code == HROCE_WR_SEND_IMM ||
	       code == HROCE_WR_SEND_INV || code == HROCE_WR_WRITE ||
	       code == HROCE_WR_WRITE_IMM;
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp_ex, size_t nr_bufs,
				    const struct ibv_data_buf *bufs)
{
	struct hroce_qp *qp = ex_to_hqp(qp_ex);
	struct hroce_sq_wqe *wqe = qp->wr.wqe;
	size_t idx;

	if (!wqe)
		return;
	if (!op_has_payload(wqe->opcode)) {
		wr_fail(qp, EINVAL);
		return;
	}

	wqe->flags |= HROCE_WRF_INLINE;
	for (idx = 0; idx < nr_bufs; idx++) {
		if (hroce_sq_add_inline(&qp->sq, wqe, bufs[idx].addr,
					bufs[idx].length)) {
			wr_fail(qp, EINVAL);
			return;
		}
	}
}

static void wr_set_inline_data(struct ibv_qp_ex *qp_ex, void *addr,
			       size_t length)
{
	struct ibv_data_buf buf = { .addr = addr, .length = length };

	wr_set_inline_data_list(qp_ex, 1, &buf);
}

static void wr_start(struct ibv_qp_ex *qp_ex)
{
	struct hroce_qp *qp = ex_to_hqp(qp_ex);

	hroce_lock(&qp->sq.lock);
	qp->wr = (struct hroce_wr_list) {
		.start = qp->sq.ring.prod,
		.err = hroce_qp_state(qp) < IBV_QPS_RTS ? EINVAL : 0,
	};
}

static int wr_complete(struct ibv_qp_ex *qp_ex)
{
	struct ibv_qp *ibqp = &qp_ex->qp_base;
	struct hroce_qp *qp = ex_to_hqp(qp_ex);
	struct hroce_sq *sq = &qp->sq;
	int err = qp->wr.err;
	bool kick = false;

	if (err)
		sq->ring.prod = qp->wr.start;
	else if (sq->ring.prod != qp->wr.start)
		kick = hroce_prod_publish_and_look(&sq->ring, sq->need_kick);
	hroce_unlock(&sq->lock);

	if (kick)
		err = hroce_kick(to_hctx(ibqp->context)->kick_fd,
				 ibqp->qp_num);
	return err;
}

static void wr_abort(struct ibv_qp_ex *qp_ex)
{
	struct hroce_qp *qp = ex_to_hqp(qp_ex);

	qp->sq.ring.prod = qp->wr.start;
	hroce_unlock(&qp->sq.lock);
}

static uint64_t service_ops(enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_RC:
		return RC_OPS;
	case IBV_QPT_XRC_SEND:
		return XRC_OPS;
	case IBV_QPT_UC:
		return UC_OPS;
	case IBV_QPT_UD:
		return UD_OPS;
	}
	return 0;
}

bool hroce_wr_supports(enum ibv_qp_type type, uint64_t send_ops)
{
	uint64_t known = service_ops(type);

	if (type == IBV_QPT_XRC_RECV)
		return !send_ops;
	return known && !(send_ops & ~known);
}

void hroce_wr_set_ops(struct ibv_qp_ex *qp_ex, enum ibv_qp_type type)
{
	uint64_t ops = service_ops(type);

	qp_ex->wr_start = wr_start;
	qp_ex->wr_complete = wr_complete;
	qp_ex->wr_abort = wr_abort;
	qp_ex->wr_set_sge = wr_set_sge;
	qp_ex->wr_set_sge_list = wr_set_sge_list;
	qp_ex->wr_set_inline_data = wr_set_inline_data;
	qp_ex->wr_set_inline_data_list = wr_set_inline_data_list;
	if (type == IBV_QPT_UD)
		qp_ex->wr_set_ud_addr = wr_set_ud_addr;
	else if (type == IBV_QPT_XRC_SEND)
		qp_ex->wr_set_xrc_srqn = wr_set_xrc_srqn;

	qp_ex->wr_send = wr_send;
	qp_ex->wr_send_imm = wr_send_imm;
	if (ops & IBV_QP_EX_WITH_RDMA_WRITE) {
		qp_ex->wr_rdma_write = wr_rdma_write;
		qp_ex->wr_rdma_write_imm = wr_rdma_write_imm;
		qp_ex->wr_local_inv = wr_local_inv;
		qp_ex->wr_bind_mw = wr_bind_mw;
	}
	if (ops & IBV_QP_EX_WITH_RDMA_READ) {
		qp_ex->wr_rdma_read = wr_rdma_read;
		qp_ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
		qp_ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
		qp_ex->wr_send_inv = wr_send_inv;
	}
	if (ops & IBV_QP_EX_WITH_ATOMIC_WRITE)
		qp_ex->wr_atomic_write = wr_atomic_write;
#ifndef HROCE_VERBS_LACK_FLUSH
	if (ops & IBV_QP_EX_WITH_FLUSH)
		qp_ex->wr_flush = wr_flush;
#endif
}

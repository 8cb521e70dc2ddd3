// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues and ibv_post_send().
 *
 * Each entry is complete before the index moves; one store publishes a whole
 * list, with at most one system call to kick.
 */
#include <errno.h>
#include <string.h>

#include "ah.h"
#include "hroce.h"
#include "kick.h"
#include "mw.h"
#include "qp.h"
#include "sq.h"

#define QPT(type)	(1U << IBV_QPT_##type)
#define RELIABLE	(QPT(RC) | QPT(XRC_SEND))

/* Parts of a request besides its wr_id and its data */
#define HAS_REMOTE	(1U << 0)	/* address and key at the peer */
#define HAS_ATOMIC	(1U << 1)	/* the same with operands */
#define HAS_IMM		(1U << 2)	/* immediate data */
#define HAS_KEY		(1U << 3)	/* key to invalidate */
#define HAS_PAYLOAD	(1U << 4)	/* outgoing data, may be inline */
#define HAS_NO_DATA	(1U << 5)	/* no memory at all */
#define HAS_BIND	(1U << 6)	/* a window and its binding */

/**
 * struct send_op - properties of an operation for ibv_post_send()
 * @qp_types: QPT() of the services that support it; 0: none
 * @code: enum hroce_wr_op
 * @parts: HAS_*
 */
struct send_op {
	uint16_t qp_types;
	uint8_t code;
	uint8_t parts;
};

#define NR_SEND_OPS	(IBV_WR_ATOMIC_WRITE + 1)

static const struct send_op send_ops[NR_SEND_OPS] = {
	[IBV_WR_RDMA_WRITE] = { RELIABLE | QPT(UC), HROCE_WR_WRITE,
				HAS_REMOTE | HAS_PAYLOAD },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { RELIABLE | QPT(UC), HROCE_WR_WRITE_IMM,
					 HAS_REMOTE | HAS_PAYLOAD | HAS_IMM },
	[IBV_WR_SEND] = { RELIABLE | QPT(UC) | QPT(UD), HROCE_WR_SEND,
			  HAS_PAYLOAD },
	[IBV_WR_SEND_WITH_IMM] = { RELIABLE | QPT(UC) | QPT(UD),
				   HROCE_WR_SEND_IMM, HAS_PAYLOAD | HAS_IMM },
	[IBV_WR_SEND_WITH_INV] = { RELIABLE, HROCE_WR_SEND_INV,
				   HAS_PAYLOAD | HAS_KEY },
	[IBV_WR_RDMA_READ] = { RELIABLE, HROCE_WR_READ, HAS_REMOTE },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { RELIABLE, HROCE_WR_CMP_SWAP,
					HAS_ATOMIC },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { RELIABLE, HROCE_WR_FETCH_ADD,
					  HAS_ATOMIC },
	[IBV_WR_ATOMIC_WRITE] = { QPT(RC), HROCE_WR_ATOMIC_WRITE,
				  HAS_REMOTE | HAS_PAYLOAD },
	[IBV_WR_LOCAL_INV] = { RELIABLE | QPT(UC), HROCE_WR_LOCAL_INV,
			       HAS_KEY | HAS_NO_DATA },
	[IBV_WR_BIND_MW] = { RELIABLE | QPT(UC), HROCE_WR_BIND_MW,
			     HAS_BIND | HAS_NO_DATA },
};

int hroce_sq_open(struct hroce_sq *sq, int cmd_fd,
		  const struct hroce_ring_info *info,
		  const struct ibv_qp_cap *cap, bool sig_all,
		  bool single_threaded)
{
	size_t data_bytes = cap->max_send_sge * sizeof(struct hroce_sge);
	struct hroce_sq_hdr *hdr;
	int ret;

	if (data_bytes < cap->max_inline_data)
		data_bytes = cap->max_inline_data;

	ret = hroce_map_open(&sq->map, cmd_fd, info, cap->max_send_wr,
			     sizeof(struct hroce_sq_wqe) + data_bytes);
	if (ret)
		return ret;

	hroce_lock_init(&sq->lock, !single_threaded);
	sq->max_sges = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	sq->always_flags = sig_all ? HROCE_WRF_SIGNALED : 0;

	hdr = sq->map.base;
	if (hdr) {
		hroce_prod_init(&sq->ring, &sq->map, info, &hdr->prod,
				&hdr->cons, cap->max_send_wr);
		sq->need_kick = &hdr->need_kick;
	}
	return 0;
}

void hroce_sq_close(struct hroce_sq *sq)
{
	hroce_map_close(&sq->map);
	hroce_lock_destroy(&sq->lock);
}

void hroce_sq_reset(struct hroce_sq *sq)
{
	hroce_lock(&sq->lock);
	hroce_prod_resync(&sq->ring);
	hroce_unlock(&sq->lock);
}

int hroce_sq_add_inline(const struct hroce_sq *sq, struct hroce_sq_wqe *wqe,
			const void *data, size_t len_bytes)
{
	if (len_bytes > sq->max_inline - wqe->inline_len)
		return EINVAL;
	if (len_bytes)
		memcpy((uint8_t *)(wqe + 1) + wqe->inline_len, data, len_bytes);
	wqe->inline_len += len_bytes;
	return 0;
}

int hroce_sq_set_sges(const struct hroce_sq *sq, struct hroce_sq_wqe *wqe,
		      const struct ibv_sge *sges, size_t nr_sges)
{
	if (nr_sges > sq->max_sges)
		return EINVAL;
	if (nr_sges)
		memcpy(wqe + 1, sges, nr_sges * sizeof(struct hroce_sge));
	wqe->nr_sges = nr_sges;
	return 0;
}

static const struct send_op *send_op_find(const struct ibv_send_wr *wr,
					  enum ibv_qp_type type)
{
	const struct send_op *op;

	if ((unsigned int)wr->opcode >= NR_SEND_OPS)
		return NULL;

	op = &send_ops[wr->opcode];
	if (!(op->qp_types & (1U << type)))
		return NULL;
	if (wr->send_flags & ~HROCE_WRF_ALL)
		return NULL;
	if ((wr->send_flags & IBV_SEND_INLINE) && !(op->parts & HAS_PAYLOAD))
		return NULL;
	return op;
}

static void wqe_set_target(struct hroce_sq_wqe *wqe,
			   const struct ibv_send_wr *wr, unsigned int parts)
{
	if (parts & HAS_REMOTE) {
		wqe->rdma.remote_addr = wr->wr.rdma.remote_addr;
		wqe->rdma.rkey = wr->wr.rdma.rkey;
	} else if (parts & HAS_ATOMIC) {
		wqe->rdma.remote_addr = wr->wr.atomic.remote_addr;
		wqe->rdma.compare_add = wr->wr.atomic.compare_add;
		wqe->rdma.swap = wr->wr.atomic.swap;
		wqe->rdma.rkey = wr->wr.atomic.rkey;
	} else if (parts & HAS_BIND) {
		hroce_mw_set_bind(wqe, wr->bind_mw.mw, wr->bind_mw.rkey,
				  &wr->bind_mw.bind_info);
	}

	if (parts & HAS_IMM)
		wqe->imm_data = wr->imm_data;
	else if (parts & HAS_KEY)
		wqe->imm_data = wr->invalidate_rkey;
}

static int wqe_set_data(const struct hroce_sq *sq, struct hroce_sq_wqe *wqe,
			const struct ibv_send_wr *wr, unsigned int parts)
{
	const struct ibv_sge *sge = wr->sg_list;
	int ret, idx;

	if (wr->num_sge < 0)
		return EINVAL;
	if (parts & HAS_NO_DATA)
		return 0;
	if (!(wr->send_flags & IBV_SEND_INLINE))
		return hroce_sq_set_sges(sq, wqe, sge, wr->num_sge);

	for (idx = 0; idx < wr->num_sge; idx++, sge++) {
		ret = hroce_sq_add_inline(sq, wqe,
					  (const void *)(uintptr_t)sge->addr,
					  sge->length);
		if (ret)
			return ret;
	}
	return 0;
}

static int sq_add(struct hroce_qp *qp, const struct ibv_send_wr *wr)
{
	enum ibv_qp_type type = qp->vqp.qp.qp_type;
	struct hroce_sq *sq = &qp->sq;
	const struct send_op *op;
	struct hroce_sq_wqe *wqe;
	int ret;

	op = send_op_find(wr, type);
	if (!op || (type == IBV_QPT_UD && !wr->wr.ud.ah) ||
	    (op->parts & HAS_BIND && !wr->bind_mw.mw))
		return EINVAL;
	if (hroce_prod_full(&sq->ring))
		return ENOMEM;

	wqe = hroce_prod_slot(&sq->ring);
	*wqe = (struct hroce_sq_wqe) {
		.wr_id = wr->wr_id,
		.opcode = op->code,
		.flags = wr->send_flags | sq->always_flags,
	};
	wqe_set_target(wqe, wr, op->parts);
	if (type == IBV_QPT_UD) {
		wqe->ud.ah = to_hah(wr->wr.ud.ah)->id;
		wqe->ud.qpn = wr->wr.ud.remote_qpn;
		wqe->ud.qkey = wr->wr.ud.remote_qkey;
	} else if (type == IBV_QPT_XRC_SEND) {
		wqe->srqn = wr->qp_type.xrc.remote_srqn;
	}

	ret = wqe_set_data(sq, wqe, wr, op->parts);
	if (ret)
		return ret;
	sq->ring.prod++;
	return 0;
}

int hroce_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	struct hroce_qp *qp = to_hqp(ibqp);
	struct ibv_send_wr *first = wr;
	struct hroce_sq *sq = &qp->sq;
	bool kick = false;
	uint32_t before;
	int ret = 0;

	if (hroce_qp_state(qp) < IBV_QPS_RTS) {
		*bad_wr = wr;
		return EINVAL;
	}

	hroce_lock(&sq->lock);
	before = sq->ring.prod;
	for (; wr; wr = wr->next) {
		ret = sq_add(qp, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
	}
	if (sq->ring.prod != before)
		kick = hroce_prod_publish_and_look(&sq->ring, sq->need_kick);
	hroce_unlock(&sq->lock);

	if (kick && hroce_kick(to_hctx(ibqp->context)->kick_fd, ibqp->qp_num)) {
		*bad_wr = first;
		return EIO;
	}
	return ret;
}

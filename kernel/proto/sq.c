// SPDX-License-Identifier: GPL-2.0
/*
 * Send queue: take and check entries of the mapped ring, and complete them
 * (IBTA 10.8, 11.4.1.1). The application may change the ring at any moment:
 * each entry is read once, into a private copy, and only the copy is used.
 */
#include <linux/types.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/barrier.h>
#include "env.h"
#include "masked.h"
#include "mtu.h"
#include "qp.h"
#include "sq.h"

#define STRIDE_UNIT	64

#define OP_BIT(op)	(1u << (op))

/* Operations of each service (IBTA table 85). */
#define OPS_LOCAL	(OP_BIT(HROCE_WR_LOCAL_INV) | \
			 OP_BIT(HROCE_WR_REG_MR) | OP_BIT(HROCE_WR_BIND_MW))
#define OPS_MASKED	(OP_BIT(HROCE_WR_MASKED_CMP_SWAP) | \
			 OP_BIT(HROCE_WR_MASKED_FETCH_ADD))
#define OPS_ATOMIC	(OP_BIT(HROCE_WR_CMP_SWAP) | \
			 OP_BIT(HROCE_WR_FETCH_ADD) | OPS_MASKED)
#define OPS_A19		(OP_BIT(HROCE_WR_ATOMIC_WRITE) | OP_BIT(HROCE_WR_FLUSH))
/* Operations on exactly 8 bytes. */
#define OPS_WORD	(OPS_ATOMIC | OP_BIT(HROCE_WR_ATOMIC_WRITE))
/* Operations limited by max_rd_atomic. */
#define OPS_RESOURCE	(OPS_ATOMIC | OPS_A19 | OP_BIT(HROCE_WR_READ))
/* Operations without local memory. */
#define OPS_NO_DATA	(OPS_LOCAL | OP_BIT(HROCE_WR_FLUSH))
#define OPS_UD		(OP_BIT(HROCE_WR_SEND) | OP_BIT(HROCE_WR_SEND_IMM))
#define OPS_UC		(OPS_UD | OPS_LOCAL | OP_BIT(HROCE_WR_WRITE) | \
			 OP_BIT(HROCE_WR_WRITE_IMM))
#define OPS_XRC		(OPS_UC | OPS_ATOMIC | OP_BIT(HROCE_WR_READ) | \
			 OP_BIT(HROCE_WR_SEND_INV))
#define OPS_RC		(OPS_XRC | OPS_A19)
#define OPS_INLINE	(OPS_UD | OP_BIT(HROCE_WR_SEND_INV) | \
			 OP_BIT(HROCE_WR_WRITE) | \
			 OP_BIT(HROCE_WR_WRITE_IMM) | \
			 OP_BIT(HROCE_WR_ATOMIC_WRITE))

static const u32 ops_offered[] = {
	[HRP_TYPE_RC] = OPS_RC,
	[HRP_TYPE_UC] = OPS_UC,
	[HRP_TYPE_UD] = OPS_UD,
	[HRP_TYPE_XRC_INI] = OPS_XRC,
};

static const u8 wc_opcodes[HROCE_WR_NR] = {
	[HROCE_WR_SEND] = HROCE_WC_SEND,
	[HROCE_WR_SEND_IMM] = HROCE_WC_SEND,
	[HROCE_WR_SEND_INV] = HROCE_WC_SEND,
	[HROCE_WR_WRITE] = HROCE_WC_WRITE,
	[HROCE_WR_WRITE_IMM] = HROCE_WC_WRITE,
	[HROCE_WR_READ] = HROCE_WC_READ,
	[HROCE_WR_CMP_SWAP] = HROCE_WC_CMP_SWAP,
	[HROCE_WR_FETCH_ADD] = HROCE_WC_FETCH_ADD,
	[HROCE_WR_LOCAL_INV] = HROCE_WC_LOCAL_INV,
	[HROCE_WR_REG_MR] = HROCE_WC_REG_MR,
	[HROCE_WR_BIND_MW] = HROCE_WC_BIND_MW,
	[HROCE_WR_ATOMIC_WRITE] = HROCE_WC_ATOMIC_WRITE,
	[HROCE_WR_FLUSH] = HROCE_WC_FLUSH,
	[HROCE_WR_MASKED_CMP_SWAP] = HROCE_WC_MASKED_CMP_SWAP,
	[HROCE_WR_MASKED_FETCH_ADD] = HROCE_WC_MASKED_FETCH_ADD,
};

u32 hrp_sq_stride(u32 max_sges, u32 max_inline)
{
	u32 room = max_t(u32, max_sges * sizeof(struct hroce_sge), max_inline);

	return round_up((u32)sizeof(struct hroce_sq_wqe) + room, STRIDE_UNIT);
}

u32 hrp_sq_copy_stride(u32 stride)
{
	u32 room = stride - sizeof(struct hroce_sq_wqe);

	return round_up((u32)sizeof(struct hrp_wqe) + room, STRIDE_UNIT);
}

void hrp_sq_reset(struct hrp_sq *sq)
{
	u32 prod = READ_ONCE(sq->hdr->prod);

	sq->posted = prod;
	sq->head = prod;
	sq->next = prod;
	sq->tail = prod;
	WRITE_ONCE(sq->hdr->cons, prod);
	WRITE_ONCE(sq->hdr->need_kick, 1);
	sq->kick_asked = true;
	WRITE_ONCE(sq->polled, false);
}

enum hrp_look hrp_sq_look(struct hrp_sq *sq)
{
	u32 prod;

	if (sq->posted != sq->head)
		return HRP_LOOK_POSTED;
	/* Pairs with the release of the producer: entries before the index. */
	prod = smp_load_acquire(&sq->hdr->prod);
	if (prod == sq->head)
		return HRP_LOOK_EMPTY;
	/*
	 * Entries taken and not complete still occupy copies, which must not be
	 * overwritten. An index that went backwards fails this check, too.
	 */
	if (prod - sq->head > sq->nr_entries - (sq->head - sq->tail))
		return HRP_LOOK_CORRUPT;
	sq->posted = prod;
	return HRP_LOOK_POSTED;
}

void hrp_sq_ask_kick(struct hrp_sq *sq)
{
	if (sq->kick_asked)
		return;
	WRITE_ONCE(sq->polled, false);
	WRITE_ONCE(sq->hdr->need_kick, 1);
	sq->kick_asked = true;
	/* Pairs with the producer, which stores prod and loads need_kick. */
	smp_mb();
}

/* Read hostile memory once; the barrier forces later reads to the copy. */
static __always_inline void sq_copy(void *dst, const void *src, u32 len)
{
	memcpy(dst, src, len);
	barrier();
}

static bool sq_flush_ok(const struct hroce_sq_wqe *wqe)
{
	return wqe->flush.placement && wqe->flush.selectivity <= HROCE_FLUSH_MR &&
	       !(wqe->flush.placement & ~(HROCE_FLUSH_GLOBAL |
					  HROCE_FLUSH_PERSISTENT));
}

static u8 sq_check_op(const struct hrp_qp *qp, const struct hroce_sq_wqe *wqe)
{
	u32 op;

	if (wqe->opcode >= HROCE_WR_NR || wqe->flags & ~HROCE_WRF_ALL)
		return HROCE_CAUSE_OPCODE;
	op = OP_BIT(wqe->opcode);
	if (!(ops_offered[qp->type] & op))
		return HROCE_CAUSE_OPCODE;
	if (wqe->opcode == HROCE_WR_REG_MR && !qp->req.sq.reg_mr)
		return HROCE_CAUSE_OPCODE;
	if (op & OPS_RESOURCE && !qp->req.max_rd_atomic)
		return HROCE_CAUSE_NO_RD_ATOMIC;
	if (op & OPS_NO_DATA && wqe->nr_sges)
		return HROCE_CAUSE_PIECES;
	if (wqe->opcode == HROCE_WR_FLUSH && !sq_flush_ok(wqe))
		return HROCE_CAUSE_OPCODE;
	if (qp->type == HRP_TYPE_UD && !wqe->ud.ah)
		return HROCE_CAUSE_AH;
	return HROCE_WC_SUCCESS;
}

/* Check and copy the data that follows the entry in the ring. */
static u8 sq_copy_data(const struct hrp_sq *sq, struct hrp_wqe *w,
		       const void *data)
{
	const struct hroce_sq_wqe *wqe = &w->wqe;
	const struct hroce_sge *sges = data;
	u64 length = 0;
	u32 i;

	if (wqe->flags & HROCE_WRF_INLINE) {
		if (!(OPS_INLINE & OP_BIT(wqe->opcode)) || wqe->nr_sges)
			return HROCE_CAUSE_PIECES;
		if (wqe->inline_len > sq->max_inline)
			return HROCE_CAUSE_LENGTH;
		sq_copy(w->sges, data, wqe->inline_len);
		w->length = wqe->inline_len;
		return HROCE_WC_SUCCESS;
	}

	if (wqe->inline_len || wqe->nr_sges > sq->max_sges)
		return HROCE_CAUSE_PIECES;
	for (i = 0; i < wqe->nr_sges; i++) {
		sq_copy(&w->sges[i], &sges[i], sizeof(w->sges[i]));
		length += w->sges[i].length;
	}
	if (length > HRP_MAX_MESSAGE)
		return HROCE_CAUSE_LENGTH;
	w->length = length;
	if (OPS_MASKED & OP_BIT(wqe->opcode)) {
		/* The masks take the room of one SGE. */
		if (sizeof(*wqe) + (i + 1) * sizeof(*sges) > sq->stride)
			return HROCE_CAUSE_PIECES;
		sq_copy(&w->sges[i], &sges[i], sizeof(struct hroce_masks));
	}
	return HROCE_WC_SUCCESS;
}

static u8 sq_check_length(struct hrp_qp *qp, struct hrp_wqe *w)
{
	u32 op = OP_BIT(w->wqe.opcode);

	if (op & OPS_LOCAL)
		return HROCE_WC_SUCCESS;
	if (op & OPS_WORD && w->length != sizeof(u64))
		return HROCE_CAUSE_LENGTH;
	if (qp->type == HRP_TYPE_UD && w->length > qp->mtu)
		return HROCE_CAUSE_LENGTH;
	w->mtu = qp->mtu;
	w->nr_pkts = 1;
	if (w->length > qp->mtu) {
		w->mtu = hrp_mtu_choose(qp, w->length);
		w->nr_pkts = DIV_ROUND_UP(w->length, w->mtu);
	}
	if (op & OPS_MASKED)
		w->nr_pkts = HRP_MASKED_PSNS;
	return HROCE_WC_SUCCESS;
}

struct hrp_wqe *hrp_sq_take(struct hrp_qp *qp)
{
	struct hrp_sq *sq = &qp->req.sq;
	struct hrp_wqe *w = hrp_sq_wqe(sq, sq->head);
	const void *entry;

	BUILD_BUG_ON(sizeof(struct hroce_sq_wqe) != STRIDE_UNIT);
	BUILD_BUG_ON(sizeof(struct hroce_masks) != sizeof(struct hroce_sge));

	entry = sq->ring + (size_t)(sq->head & (sq->nr_entries - 1)) *
			   sq->stride;
	sq_copy(&w->wqe, entry, sizeof(w->wqe));
	w->length = 0;
	w->nr_pkts = 0;
	w->started = false;
	w->done = false;
	w->unasked = false;
	w->chunk_shift = 0;
	w->status = sq_check_op(qp, &w->wqe);
	if (w->status == HROCE_WC_SUCCESS)
		w->status = sq_copy_data(sq, w, entry + sizeof(w->wqe));
	if (w->status == HROCE_WC_SUCCESS)
		w->status = sq_check_length(qp, w);
	WRITE_ONCE(sq->polled, false);
	sq->head++;
	return w;
}

void hrp_sq_report(struct hrp_qp *qp, const struct hrp_wqe *w, u8 result)
{
	struct hroce_cqe cqe __uninitialized;
	u8 opcode = 0;

	if (w->wqe.opcode < HROCE_WR_NR)
		opcode = wc_opcodes[w->wqe.opcode];
	hrp_cqe_begin(&cqe, qp, w->wqe.wr_id, result, opcode);
	if (result == HROCE_WC_SUCCESS)
		cqe.byte_len = w->length;
	hrp_env_send_done(qp, &cqe);
}

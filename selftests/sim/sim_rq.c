// SPDX-License-Identifier: GPL-2.0
/* Receive queues, shared ones too: slots in the order in which they were posted. */
#include <stdlib.h>
#include "sim.h"

bool hrp_env_srq_find(struct hrp_qp *hrp, u32 srqn)
{
	sim_check(to_sim_qp(hrp)->node->sim, hrp->type == HRP_TYPE_XRC_TGT);
	return srqn >= SIM_SRQN && srqn < SIM_SRQN + SIM_NR_SRQS;
}

struct sim_rq *sim_qp_rq(const struct sim_qp *qp)
{
	u32 srqn = qp->hrp.resp.srqn;

	if (qp->hrp.type != HRP_TYPE_XRC_TGT)
		return qp->rq;
	sim_check(qp->node->sim, srqn >= SIM_SRQN &&
				 srqn < SIM_SRQN + SIM_NR_SRQS);
	return qp->node->xrc_srq[srqn - SIM_SRQN];
}

bool hrp_env_recv_take(struct hrp_qp *hrp, struct hrp_rwqe *rwqe)
{
	struct sim_rq *rq = sim_qp_rq(to_sim_qp(hrp));
	struct sim_slot *slot;
	bool spoilt;
	u32 idx, i;

	if (rq->head == rq->tail)
		return false;
	spoilt = rq->spoilt && rq->head == rq->spoilt_idx;
	idx = rq->fifo[rq->head++ % SIM_NR_SLOTS];
	slot = &rq->slot[idx];
	sim_check(rq->node->sim, slot->state == SIM_SLOT_POSTED);
	slot->state = SIM_SLOT_TAKEN;
	rwqe->wr_id = idx;
	rwqe->nr_sges = sim_buf_sges(rq->node, &slot->buf, rq->key,
				     rwqe->sges);
	rwqe->length = 0;
	for (i = 0; i < rwqe->nr_sges; i++) {
		rwqe->length += rwqe->sges[i].length;
		rwqe->sges[i].lkey ^= spoilt;
	}
	return true;
}

u32 hrp_env_recv_avail(const struct hrp_qp *hrp)
{
	const struct sim_rq *rq = to_sim_qp(hrp)->rq;

	if (hrp->resp.srq || hrp->type == HRP_TYPE_XRC_TGT)
		return HRP_RECV_SHARED;
	return rq->tail - rq->head;
}

struct sim_rq *sim_rq_new(struct sim_node *node, u32 room)
{
	struct sim_rq *rq = calloc(1, sizeof(*rq));
	u32 pitch = room + 33 * SIM_MAX_PIECES;
	u32 base = sim_mem_alloc(node, pitch * SIM_NR_SLOTS);
	u32 i;

	rq->node = node;
	rq->room = room;
	rq->key = sim_mr_add(node, base, pitch * SIM_NR_SLOTS,
			     1u << HRP_ACCESS_LOCAL_WRITE);
	for (i = 0; i < SIM_NR_SLOTS; i++)
		rq->slot[i].base = base + i * pitch;
	return rq;
}

void sim_rq_post(struct sim_rq *rq, u32 max)
{
	u32 i;

	for (i = 0; i < SIM_NR_SLOTS && max && !rq->dead; i++) {
		struct sim_slot *slot = &rq->slot[i];

		if (rq->limit && rq->tail == rq->limit)
			break;
		if (slot->state != SIM_SLOT_FREE)
			continue;
		sim_buf_split(rq->node->sim, &slot->buf, slot->base, rq->room,
			      true);
		slot->state = SIM_SLOT_POSTED;
		rq->fifo[rq->tail++ % SIM_NR_SLOTS] = i;
		max--;
	}
}

void sim_rq_limit(struct sim_rq *rq, u32 nr)
{
	sim_check(rq->node->sim, nr && !rq->head && rq->tail >= nr);
	while (rq->tail != nr)
		rq->slot[rq->fifo[--rq->tail]].state = SIM_SLOT_FREE;
	rq->limit = nr;
}

void sim_rq_spoil(struct sim_rq *rq, u32 idx)
{
	rq->spoilt = true;
	rq->spoilt_idx = idx;
}

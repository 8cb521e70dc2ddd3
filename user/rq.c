// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive queues and ibv_post_recv(). */
#include <errno.h>
#include <string.h>

#include "hroce.h"
#include "kick.h"
#include "qp.h"
#include "rq.h"

int hroce_rq_open(struct hroce_rq *rq, int cmd_fd,
		  const struct hroce_ring_info *info, uint32_t max_wr,
		  uint32_t max_sges, bool single_threaded)
{
	struct hroce_rq_hdr *hdr;
	int ret;

	ret = hroce_map_open(&rq->map, cmd_fd, info, max_wr,
			     sizeof(struct hroce_rq_wqe) +
			     max_sges * sizeof(struct hroce_sge));
	if (ret)
		return ret;

	hroce_lock_init(&rq->lock, !single_threaded);
	rq->max_sges = max_sges;
	hdr = rq->map.base;
	if (hdr) {
		hroce_prod_init(&rq->ring, &rq->map, info, &hdr->prod,
				&hdr->cons, max_wr);
		rq->need_kick = &hdr->need_kick;
	}
	return 0;
}

void hroce_rq_close(struct hroce_rq *rq)
{
	hroce_map_close(&rq->map);
	hroce_lock_destroy(&rq->lock);
}

void hroce_rq_replace(struct hroce_rq *rq, const struct hroce_map *map,
		      const struct hroce_ring_info *info)
{
	struct hroce_rq_hdr *hdr = map->base;

	hroce_map_close(&rq->map);
	rq->map = *map;
	hroce_prod_init(&rq->ring, &rq->map, info, &hdr->prod, &hdr->cons,
			info->nr_entries);
	hroce_prod_resync(&rq->ring);
	rq->need_kick = &hdr->need_kick;
}

void hroce_rq_reset(struct hroce_rq *rq)
{
	hroce_lock(&rq->lock);
	hroce_prod_resync(&rq->ring);
	hroce_unlock(&rq->lock);
}

static int rq_add_one(struct hroce_rq *rq, const struct ibv_recv_wr *wr)
{
	struct hroce_rq_wqe *wqe;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sges)
		return EINVAL;
	if (hroce_prod_full(&rq->ring))
		return ENOMEM;

	wqe = hroce_prod_slot(&rq->ring);
	*wqe = (struct hroce_rq_wqe) {
		.wr_id = wr->wr_id,
		.nr_sges = wr->num_sge,
	};
	if (wr->num_sge)
		memcpy(wqe + 1, wr->sg_list,
		       wr->num_sge * sizeof(struct hroce_sge));
	rq->ring.prod++;
	return 0;
}

int hroce_rq_add(struct hroce_rq *rq, struct ibv_recv_wr *wr,
		 struct ibv_recv_wr **bad_wr)
{
	int ret;

	for (; wr; wr = wr->next) {
		ret = rq_add_one(rq, wr);
		if (ret) {
			*bad_wr = wr;
			return ret;
		}
	}
	return 0;
}

static bool has_rq(const struct ibv_qp *ibqp)
{
	return !ibqp->srq && ibqp->qp_type != IBV_QPT_XRC_SEND &&
	       ibqp->qp_type != IBV_QPT_XRC_RECV;
}

/* Only a queue pair in the error state asks for a kick, to flush entries. */
int hroce_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	struct hroce_qp *qp = to_hqp(ibqp);
	struct ibv_recv_wr *first = wr;
	struct hroce_rq *rq = &qp->rq;
	bool kick = false;
	uint32_t before;
	int ret;

	if (!has_rq(ibqp) || hroce_qp_state(qp) == IBV_QPS_RESET) {
		*bad_wr = wr;
		return EINVAL;
	}

	hroce_lock(&rq->lock);
	before = rq->ring.prod;
	ret = hroce_rq_add(rq, wr, bad_wr);
	if (rq->ring.prod != before)
		kick = hroce_prod_publish_and_look(&rq->ring, rq->need_kick);
	hroce_unlock(&rq->lock);

	if (kick && hroce_kick(to_hctx(ibqp->context)->kick_fd, ibqp->qp_num)) {
		*bad_wr = first;
		return EIO;
	}
	return ret;
}

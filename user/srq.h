/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues. */
#ifndef HROCE_SRQ_H
#define HROCE_SRQ_H

#include "rq.h"

/**
 * struct hroce_srq - shared receive queue
 * @vsrq: base object of libibverbs
 * @pd: parent domain, or NULL
 * @rq: the queue
 */
struct hroce_srq {
	struct verbs_srq vsrq;
	struct ibv_pd *pd;
	struct hroce_rq rq;
};

static inline struct hroce_srq *to_hsrq(struct ibv_srq *ibsrq)
{
	return container_of(ibsrq, struct hroce_srq, vsrq.srq);
}

struct ibv_srq *hroce_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr);
struct ibv_srq *hroce_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr);
int hroce_get_srq_num(struct ibv_srq *ibsrq, uint32_t *number);
int hroce_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		     int attr_mask);
int hroce_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr);
int hroce_destroy_srq(struct ibv_srq *ibsrq);
int hroce_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr);

#endif /* HROCE_SRQ_H */

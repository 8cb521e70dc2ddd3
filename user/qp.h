/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs. */
#ifndef HROCE_QP_H
#define HROCE_QP_H

#include "rq.h"
#include "sq.h"
#include "wr.h"

/*
 * Spare room behind struct verbs_qp: later releases of libibverbs with the same
 * private ABI number write behind its end.
 */
#define HROCE_QP_SPARE_BYTES	64

/**
 * struct hroce_qp - queue pair
 * @vqp: base object of libibverbs
 * @spare: not used by libhroce
 * @sq: send queue; without a ring for an XRC target
 * @rq: receive queue; without a ring for XRC or a shared receive queue
 * @wr: list being built by the ibv_wr_* calls
 * @pd: parent domain, or NULL
 * @state: enum ibv_qp_state that the last call of ibv_modify_qp() asked for;
 *	that of @vqp may be an older one, of a query at the same time
 */
struct hroce_qp {
	struct verbs_qp vqp;
	uint8_t spare[HROCE_QP_SPARE_BYTES];
	struct hroce_sq sq;
	struct hroce_rq rq;
	struct hroce_wr_list wr;
	struct ibv_pd *pd;
	uint32_t state;
};

static inline struct hroce_qp *to_hqp(struct ibv_qp *ibqp)
{
	return container_of(ibqp, struct hroce_qp, vqp.qp);
}

/* State for posting; the kernel knows when it is an error meanwhile. */
static inline uint32_t hroce_qp_state(const struct hroce_qp *qp)
{
	return __atomic_load_n(&qp->state, __ATOMIC_RELAXED);
}

struct ibv_qp *hroce_create_qp(struct ibv_pd *pd,
			       struct ibv_qp_init_attr *attr);
struct ibv_qp *hroce_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *hroce_open_qp(struct ibv_context *context,
			     struct ibv_qp_open_attr *attr);
int hroce_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		    int attr_mask);
int hroce_modify_qp_rate_limit(struct ibv_qp *ibqp,
			       struct ibv_qp_rate_limit_attr *attr);
int hroce_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr);
int hroce_destroy_qp(struct ibv_qp *ibqp);

#endif /* HROCE_QP_H */

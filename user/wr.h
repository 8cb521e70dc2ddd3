/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The ibv_wr_* calls of extended queue pairs. */
#ifndef HROCE_WR_H
#define HROCE_WR_H

#include "ring.h"

/**
 * struct hroce_wr_list - list between wr_start and wr_complete
 * @start: index of its first entry, restored if the list fails
 * @err: first error, returned by wr_complete
 * @wqe: entry that the set functions fill; NULL if there is none
 *
 * Guarded by the send queue's lock.
 */
struct hroce_wr_list {
	uint32_t start;
	int err;
	struct hroce_sq_wqe *wqe;
};

/**
 * hroce_wr_supports - can a queue pair have these operations?
 * @type: of the queue pair
 * @send_ops: IBV_QP_EX_WITH_*
 *
 * Return: true if the service exists and has all of them.
 */
bool hroce_wr_supports(enum ibv_qp_type type, uint64_t send_ops);

/**
 * hroce_wr_set_ops - fill in the functions for all operations of a service
 * @qp_ex: queue pair
 * @type: its service
 */
void hroce_wr_set_ops(struct ibv_qp_ex *qp_ex, enum ibv_qp_type type);

#endif /* HROCE_WR_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Counters of queue pairs, as bound by `rdma statistic qp`. */
#ifndef HROCE_COUNTER_H
#define HROCE_COUNTER_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

/* ib_device_ops. Context: process. */
int hroce_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp);
int hroce_counter_unbind_qp(struct ib_qp *ibqp);
int hroce_counter_dealloc(struct rdma_counter *counter);
struct rdma_hw_stats *hroce_counter_alloc_stats(struct rdma_counter *counter);
int hroce_counter_update_stats(struct rdma_counter *counter);

#endif /* HROCE_COUNTER_H */

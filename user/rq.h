/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Receive queues, of one QP or shared. */
#ifndef HROCE_RQ_H
#define HROCE_RQ_H

#include "lock.h"
#include "ring.h"

/**
 * struct hroce_rq - receive queue
 * @map: mapping of the queue
 * @ring: the ring, and the position of posting
 * @need_kick: in the header, written by the kernel; not used by shared queues
 * @lock: guards @ring
 * @max_sges: most SGEs per request, as granted
 */
struct hroce_rq {
	struct hroce_map map;
	struct hroce_prod_ring ring;
	const uint32_t *need_kick;
	struct hroce_lock lock;
	uint32_t max_sges;
};

/**
 * hroce_rq_open - map a receive queue
 * @rq: zeroed
 * @cmd_fd: command descriptor of the context
 * @info: the kernel's answer; it describes no ring if there is no queue
 * @max_wr: entries that were granted
 * @max_sges: SGEs per entry that were granted
 * @single_threaded: no lock is needed
 *
 * Return: 0 or an errno value; after an error hroce_rq_close() is not needed.
 */
int hroce_rq_open(struct hroce_rq *rq, int cmd_fd,
		  const struct hroce_ring_info *info, uint32_t max_wr,
		  uint32_t max_sges, bool single_threaded);

void hroce_rq_close(struct hroce_rq *rq);

/**
 * hroce_rq_replace - switch to another ring, which the kernel has filled
 * @rq: receive queue, locked
 * @map: mapping of that ring
 * @info: the kernel's answer
 */
void hroce_rq_replace(struct hroce_rq *rq, const struct hroce_map *map,
		      const struct hroce_ring_info *info);

/**
 * hroce_rq_reset - start anew, after the kernel has emptied the queue
 * @rq: receive queue
 */
void hroce_rq_reset(struct hroce_rq *rq);

/**
 * hroce_rq_add - add a list of receive requests to the queue
 * @rq: receive queue, locked
 * @wr: list
 * @bad_wr: set to the first request that was not added, if any
 *
 * The caller publishes the requests that were added.
 * Return: 0, EINVAL or ENOMEM.
 */
int hroce_rq_add(struct hroce_rq *rq, struct ibv_recv_wr *wr,
		 struct ibv_recv_wr **bad_wr);

int hroce_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr);

#endif /* HROCE_RQ_H */

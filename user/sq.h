/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send queues. */
#ifndef HROCE_SQ_H
#define HROCE_SQ_H

#include "lock.h"
#include "ring.h"

/**
 * struct hroce_sq - send queue of one QP
 * @map: mapping of the queue
 * @ring: the ring, and the position of posting
 * @need_kick: in the header, written by the kernel
 * @lock: guards @ring; held from wr_start to wr_complete
 * @max_sges: most SGEs per request, as granted
 * @max_inline: most inline bytes per request, as granted
 * @always_flags: HROCE_WRF_SIGNALED if all requests are signaled, otherwise 0
 */
struct hroce_sq {
	struct hroce_map map;
	struct hroce_prod_ring ring;
	const uint32_t *need_kick;
	struct hroce_lock lock;
	uint32_t max_sges;
	uint32_t max_inline;
	uint8_t always_flags;
};

/**
 * hroce_sq_open - map a send queue
 * @sq: zeroed
 * @cmd_fd: command descriptor of the context
 * @info: the kernel's answer
 * @cap: granted capabilities
 * @sig_all: every request is signaled
 * @single_threaded: no lock is needed
 *
 * Return: 0 or an errno value; after an error hroce_sq_close() is not needed.
 */
int hroce_sq_open(struct hroce_sq *sq, int cmd_fd,
		  const struct hroce_ring_info *info,
		  const struct ibv_qp_cap *cap, bool sig_all,
		  bool single_threaded);

void hroce_sq_close(struct hroce_sq *sq);

/**
 * hroce_sq_reset - start anew, after the kernel has emptied the queue
 * @sq: send queue
 */
void hroce_sq_reset(struct hroce_sq *sq);

/**
 * hroce_sq_add_inline - copy data behind an entry
 * @sq: send queue
 * @wqe: its next entry
 * @data: may be NULL if @len_bytes is 0
 * @len_bytes: length of @data
 *
 * Return: 0, or EINVAL if the entry has less room left.
 */
int hroce_sq_add_inline(const struct hroce_sq *sq, struct hroce_sq_wqe *wqe,
			const void *data, size_t len_bytes);

/**
 * hroce_sq_set_sges - copy SGEs behind an entry
 * @sq: send queue
 * @wqe: its next entry
 * @sges: SGEs
 * @nr_sges: number of @sges
 *
 * Return: 0, or EINVAL if there are too many.
 */
int hroce_sq_set_sges(const struct hroce_sq *sq, struct hroce_sq_wqe *wqe,
		      const struct ibv_sge *sges, size_t nr_sges);

int hroce_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr);

#endif /* HROCE_SQ_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues. */
#ifndef HROCE_CQ_H
#define HROCE_CQ_H

#include "lock.h"
#include "ring.h"

/* Bits of hroce_cqe.flags that verbs define, with the same values */
#define HROCE_WCF_VERBS	(HROCE_WCF_GRH | HROCE_WCF_IMM | HROCE_WCF_INV)

/**
 * struct hroce_cq - completion queue
 * @vcq: base object of libibverbs
 * @pd: parent domain, or NULL
 * @map: mapping of the queue
 * @hdr: words shared with the kernel; never moves, since arming does not take
 *	@lock
 * @hdr_map: page of @hdr after a resize has replaced the first ring
 * @lock: guards @ring and the members behind it; held from start_poll to end_poll
 * @ring: the ring, and the position of polling
 * @current: entry of the read functions of the extended interface
 * @nr_empty: polls that found nothing
 * @poll_qpn: queue pair to poll the netdev for, or 0; see hroce_cq_found_none()
 */
struct hroce_cq {
	struct verbs_cq vcq;
	struct ibv_pd *pd;
	struct hroce_map map;
	struct hroce_cq_hdr *hdr;
	struct hroce_map hdr_map;
	struct hroce_lock lock;
	struct hroce_cons_ring ring;
	const struct hroce_cqe *current;
	uint32_t nr_empty;
	uint32_t poll_qpn;
};

static inline struct hroce_cq *to_hcq(struct ibv_cq *ibcq)
{
	return container_of(ibcq, struct hroce_cq, vcq.cq);
}

struct ibv_cq *hroce_create_cq(struct ibv_context *context, int nr_cqes,
			       struct ibv_comp_channel *channel,
			       int comp_vector);
struct ibv_cq_ex *hroce_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr);
int hroce_destroy_cq(struct ibv_cq *ibcq);
int hroce_resize_cq(struct ibv_cq *ibcq, int nr_cqes);
int hroce_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr);
int hroce_poll_cq(struct ibv_cq *ibcq, int nr_entries, struct ibv_wc *wc);
int hroce_req_notify_cq(struct ibv_cq *ibcq, int solicited_only);

/**
 * hroce_cq_next - next completion to report
 * @cq: completion queue, locked
 *
 * Skips dropped entries. The entry remains until hroce_cons_advance() and
 * hroce_cons_publish().
 * Return: the entry at the ring's current index, or NULL if there is none.
 */
const struct hroce_cqe *hroce_cq_next(struct hroce_cq *cq);

/**
 * hroce_cq_found_none - note that polling found no completion
 * @cq: completion queue, locked
 *
 * Looks at the word of the kernel only now and then: it is in a cache line that
 * polling does not touch.
 * Return: queue pair for hroce_cq_poll_netdev(), or 0.
 */
uint32_t hroce_cq_found_none(struct hroce_cq *cq);

/**
 * hroce_cq_poll_netdev - look for frames instead of waiting for an interrupt
 * @cq: completion queue, not locked
 * @qpn: from hroce_cq_found_none()
 *
 * Return: true if @cq should be polled once more.
 */
bool hroce_cq_poll_netdev(struct hroce_cq *cq, uint32_t qpn);

/**
 * hroce_cq_forget_qp - drop completions of a queue pair that were not polled
 * @ibcq: completion queue, or NULL
 * @qpn: number of a queue pair that produces no more completions
 *
 * Returns their places to the kernel, but for that of the entry that is being
 * read. Takes the lock: not between start_poll and end_poll of the same thread,
 * unless the queue has no lock.
 */
void hroce_cq_forget_qp(struct ibv_cq *ibcq, uint32_t qpn);

/**
 * hroce_cq_set_poll_ops - fill in the functions of the extended interface
 * @cq_ex: completion queue
 */
void hroce_cq_set_poll_ops(struct ibv_cq_ex *cq_ex);

#endif /* HROCE_CQ_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of queue pairs. Many queue pairs may be bound to one counter, each
 * queue pair to one counter at most. The port does not count these events
 * again: ib_core adds both when it shows the port.
 *
 * The counter has all counts of the engine, but no packets and bytes: frames
 * belong to no queue pair.
 *
 * hrp_qp.stats points to the set in use. Both locks of the queue pair guard
 * changes, one of them suffices for use. So the counter's set is unused once
 * the queue pair is unbound.
 */
#include <linux/slab.h>
#include <linux/xarray.h>
#include "../datapath/qp.h"
#include "device.h"
#include "ops.h"

/* The counters that hrp_count() is called with. */
static bool counter_is_offered(enum hroce_stat stat)
{
	switch (stat) {
	case HROCE_DROP_LENGTH:
	case HROCE_DROP_SEQUENCE:
	case HROCE_DROP_NO_WQE:
	case HROCE_DROP_ACCESS:
	case HROCE_DROP_MEMORY:
	case HROCE_EV_RETRANSMITS:
	case HROCE_EV_TIMEOUTS:
	case HROCE_EV_NAK_SEQ_SENT:
	case HROCE_EV_NAK_SEQ_RCVD:
	case HROCE_EV_RNR_SENT:
	case HROCE_EV_RNR_RCVD:
	case HROCE_EV_DUPLICATES:
	case HROCE_EV_ACKS_SENT:
	case HROCE_EV_REQ_ERRORS:
	case HROCE_EV_RESP_ERRORS:
		return true;
	default:
		return false;
	}
}

/*
 * How the set of a counter is kept in the XArray. Through an integer, as per-CPU
 * memory may be an address space of its own.
 */
static void *counter_pack(struct hroce_stats __percpu *stats)
{
	return (void *)(__force uintptr_t)stats;
}

static struct hroce_stats __percpu *counter_unpack(void *entry)
{
	return (__force struct hroce_stats __percpu *)(uintptr_t)entry;
}

static struct hroce_stats __percpu *
counter_find(const struct rdma_counter *counter)
{
	return counter_unpack(xa_load(&to_hdev(counter->device)->counters,
				      counter->id));
}

/* Called when the first queue pair is bound. */
static int counter_create(struct rdma_counter *counter)
{
	struct hroce_stats __percpu *stats;
	int err;

	stats = alloc_percpu(struct hroce_stats);
	if (!stats)
		return -ENOMEM;
	err = xa_alloc(&to_hdev(counter->device)->counters, &counter->id,
		       counter_pack(stats), xa_limit_31b, GFP_KERNEL);
	if (err) {
		counter->id = 0;
		free_percpu(stats);
	}
	return err;
}

static void counter_use(struct hroce_qp *qp,
			struct hroce_stats __percpu *stats)
{
	hroce_qp_lock(qp);
	qp->proto.stats = stats;
	hroce_qp_unlock(qp);
}

int hroce_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp,
			  u32 port_num)
{
	int err;

	if (!counter->id) {
		err = counter_create(counter);
		if (err)
			return err;
	}
	counter_use(to_hqp(ibqp), counter_find(counter));
	ibqp->counter = counter;
	return 0;
}

int hroce_counter_unbind_qp(struct ib_qp *ibqp, u32 port_num)
{
	struct hroce_qp *qp = to_hqp(ibqp);

	counter_use(qp, hqp_dev(qp)->port.stats);
	ibqp->counter = NULL;
	return 0;
}

int hroce_counter_dealloc(struct rdma_counter *counter)
{
	free_percpu(counter_unpack(xa_erase(&to_hdev(counter->device)->counters,
					    counter->id)));
	return 0;
}

/* Counters that the engine does not use are not shown. */
struct rdma_hw_stats *hroce_counter_alloc_stats(struct rdma_counter *counter)
{
	struct rdma_hw_stats *stats;
	int i;

	stats = hroce_hw_stats_alloc(counter->device, counter->port);
	if (!stats)
		return NULL;
	for (i = 0; i < HROCE_STAT_NR; i++)
		if (!counter_is_offered(i))
			set_bit(i, stats->is_disabled);
	return stats;
}

int hroce_counter_update_stats(struct rdma_counter *counter)
{
	const struct hroce_stats __percpu *stats = counter_find(counter);

	if (!stats)
		return -ENOENT;
	hroce_stats_sum(stats, counter->stats->value);
	return 0;
}

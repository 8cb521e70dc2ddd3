// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of queue pairs. Many queue pairs may be bound to one counter, each
 * queue pair to one counter at most. The port does not count these events
 * again: ib_core adds both when it shows hw_counters, hroce_counters_sum() does
 * for everything else.
 *
 * A counter has all that the engine counts, packets and bytes, marks of switches
 * and CNPs. Packets without a queue pair and those to multicast addresses count
 * for the port only, as a frame may be for many queue pairs.
 *
 * hrp_qp.stats points to the set in use. It changes with both locks of the
 * queue pair held. Users hold one of them, or are in the epoch that has read
 * the pointer. So the counter's set is unused once the queue pair is unbound
 * and all epochs have ended.
 */
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include "../core/epoch.h"
#include "../datapath/qp.h"
#include "counter.h"
#include "device.h"
#include "ops.h"

/*
 * ib_core shows a counter with all its queue pairs in one message of a page. If
 * they do not fit, the message is empty, and so are all that follow: the dump
 * never ends.
 */
#define COUNTER_MAX_QPS	96

/* Is it counted for queue pairs? @value: enum hroce_stat or hroce_alias */
static bool counter_is_offered(int value)
{
	switch (value) {
	case HROCE_DROP_LENGTH:
	case HROCE_DROP_SEQUENCE:
	case HROCE_DROP_NO_WQE:
	case HROCE_DROP_ACCESS:
	case HROCE_DROP_MEMORY:
	case HROCE_DROP_CNP:
	case HROCE_EV_TX_PACKETS:
	case HROCE_EV_TX_FRAMES:
	case HROCE_EV_TX_LOCAL:
	case HROCE_EV_TX_BYTES:
	case HROCE_EV_TX_WIRE:
	case HROCE_EV_TX_COPIED:
	case HROCE_EV_TX_ERRORS:
	case HROCE_EV_TX_REFUSED:
	case HROCE_EV_TX_MCAST:
	case HROCE_EV_RX_PACKETS:
	case HROCE_EV_RX_FRAMES:
	case HROCE_EV_RX_XDP:
	case HROCE_EV_RX_BYTES:
	case HROCE_EV_RX_WIRE:
	case HROCE_EV_RX_WRITES:
	case HROCE_EV_RX_READS:
	case HROCE_EV_RX_ATOMICS:
	case HROCE_EV_RETRANSMITS:
	case HROCE_EV_TIMEOUTS:
	case HROCE_EV_RTO_EXPIRED:
	case HROCE_EV_PROBES:
	case HROCE_EV_HOLES_RESENT:
	case HROCE_EV_MTU_ASKED:
	case HROCE_EV_MTU_AGREED:
	case HROCE_EV_SPRAY_AGREED:
	case HROCE_EV_SACK_ASKED:
	case HROCE_EV_SACK_SENT:
	case HROCE_EV_SACK_RCVD:
	case HROCE_EV_RTT_64US ... HROCE_EV_RECOVERY_MORE:
	case HROCE_EV_NAK_SEQ_SENT:
	case HROCE_EV_NAK_SEQ_RCVD:
	case HROCE_EV_RNR_SENT:
	case HROCE_EV_RNR_NO_WQE:
	case HROCE_EV_RNR_RCVD:
	case HROCE_EV_E2E_LIMITED:
	case HROCE_EV_DUPLICATES:
	case HROCE_EV_ACKS_SENT:
	case HROCE_EV_REQ_ERRORS:
	case HROCE_EV_RESP_ERRORS:
	case HROCE_EV_RESP_CQE:
	case HROCE_EV_ECN_MARKED:
	case HROCE_EV_CNP_SENT:
	case HROCE_EV_CNP_HANDLED:
	case HROCE_ALIAS_DUPLICATE:
	case HROCE_ALIAS_REQ_CQE:
	case HROCE_ALIAS_RNR_NAK:
	case HROCE_ALIAS_SEQ_NAK:
	case HROCE_ALIAS_TIMEOUT:
	case HROCE_ALIAS_CNP_IGNORED:
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
	return counter_unpack(xa_load(&to_hibdev(counter->device)->counters,
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
	err = xa_alloc(&to_hibdev(counter->device)->counters, &counter->id,
		       counter_pack(stats), xa_limit_31b, GFP_KERNEL);
	if (err) {
		counter->id = 0;
		free_percpu(stats);
	}
	return err;
}

/* ib_core has zeroed it, but calls this without asking whether it is there. */
void hroce_counter_init(struct rdma_counter *counter)
{
}

static void counter_use(struct hroce_qp *qp,
			struct hroce_stats __percpu *stats)
{
	hroce_qp_lock(qp);
	WRITE_ONCE(qp->proto.stats, stats);
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
	} else if (kref_read(&counter->kref) > COUNTER_MAX_QPS) {
		/* Each queue pair has a reference, this one too. */
		return -ENOSPC;
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
	struct hroce_ibdev *ibdev = to_hibdev(counter->device);
	struct hroce_stats __percpu *stats;

	stats = counter_find(counter);
	hroce_epoch_wait();
	mutex_lock(&ibdev->counters_lock);
	xa_erase(&ibdev->counters, counter->id);
	hroce_stats_gather(stats, ibdev->counters_past);
	mutex_unlock(&ibdev->counters_lock);
	free_percpu(stats);
	return 0;
}

void hroce_counters_sum(struct hroce_ibdev *ibdev, u64 *values)
{
	unsigned long id;
	void *stats;
	int i;

	hroce_stats_sum(ibdev->dev.port.stats, values);
	mutex_lock(&ibdev->counters_lock);
	xa_for_each(&ibdev->counters, id, stats)
		hroce_stats_gather(counter_unpack(stats), values);
	for (i = 0; i < HROCE_STAT_NR; i++)
		values[i] += ibdev->counters_past[i];
	mutex_unlock(&ibdev->counters_lock);
}

/* Counters that the engine does not use are not shown. */
struct rdma_hw_stats *hroce_counter_alloc_stats(struct rdma_counter *counter)
{
	struct rdma_hw_stats *stats;
	int i;

	stats = hroce_hw_stats_alloc(counter->device, counter->port);
	if (!stats)
		return NULL;
	for (i = 0; i < stats->num_counters; i++)
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
	hroce_stats_alias(counter->stats->value);
	return 0;
}

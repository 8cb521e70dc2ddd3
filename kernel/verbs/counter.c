// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of queue pairs. One counter may serve many queue pairs, a queue pair
 * has one at most, and what it counts is not counted by the port: ib_core adds
 * both where it shows the port.
 *
 * What the engine counts for a queue pair is counted here. Packets and bytes are
 * not: frames know none.
 *
 * ib_qp.counter is set here, and read with one of the locks of the queue pair
 * held. It is cleared with both held, so that the counter is there as long as
 * anybody has seen it.
 */
#include <linux/slab.h>
#include <linux/xarray.h>
#include "../stats.h"
#include "counter.h"
#include "device.h"
#include "qp.h"

/**
 * struct hroce_counter - what one counter has counted
 * @v: by enum hroce_count
 */
struct hroce_counter {
	atomic64_t v[HROCE_COUNT_NR];
};

/* Those that hrp_env_count() is called with. */
static bool counter_is_offered(enum hroce_count what)
{
	switch (what) {
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

static struct hroce_counter *counter_find(struct ib_device *ibdev, u32 id)
{
	return xa_load(&to_hdev(ibdev)->counters, id);
}

bool hroce_counter_add(const struct hroce_qp *qp, enum hroce_count what)
{
	const struct rdma_counter *counter = READ_ONCE(qp->ib.counter);
	struct hroce_counter *c;

	lockdep_assert(lockdep_is_held(&qp->recv.lock) ||
		       lockdep_is_held(&qp->send.lock));
	c = counter ? counter_find(qp->ib.device, counter->id) : NULL;
	if (!c)
		return false;
	atomic64_inc(&c->v[what]);
	return true;
}

/* The first queue pair of a counter brings it to life. */
static int counter_create(struct rdma_counter *counter)
{
	struct hroce_counter *c;
	int err;

	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	err = xa_alloc(&to_hdev(counter->device)->counters, &counter->id, c,
		       xa_limit_31b, GFP_KERNEL);
	if (err) {
		counter->id = 0;
		kfree(c);
	}
	return err;
}

int hroce_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	int err;

	if (!counter->id) {
		err = counter_create(counter);
		if (err)
			return err;
	}
	WRITE_ONCE(ibqp->counter, counter);
	return 0;
}

int hroce_counter_unbind_qp(struct ib_qp *ibqp)
{
	struct hroce_qp *qp = to_hqp(ibqp);

	spin_lock_bh(&qp->recv.lock);
	spin_lock(&qp->send.lock);
	WRITE_ONCE(ibqp->counter, NULL);
	spin_unlock(&qp->send.lock);
	spin_unlock_bh(&qp->recv.lock);
	return 0;
}

int hroce_counter_dealloc(struct rdma_counter *counter)
{
	kfree(xa_erase(&to_hdev(counter->device)->counters, counter->id));
	return 0;
}

/* What is not counted here is not shown. */
struct rdma_hw_stats *hroce_counter_alloc_stats(struct rdma_counter *counter)
{
	struct rdma_hw_stats *stats;
	int i;

	stats = hroce_stats_alloc(counter->device, counter->port);
	if (!stats)
		return NULL;
	for (i = 0; i < HROCE_COUNT_NR; i++)
		if (!counter_is_offered(i))
			set_bit(i, stats->is_disabled);
	return stats;
}

int hroce_counter_update_stats(struct rdma_counter *counter)
{
	struct hroce_counter *c = counter_find(counter->device, counter->id);
	int i;

	if (!c)
		return -ENOENT;
	for (i = 0; i < HROCE_COUNT_NR; i++)
		counter->stats->value[i] = atomic64_read(&c->v[i]);
	return 0;
}

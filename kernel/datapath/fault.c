// SPDX-License-Identifier: GPL-2.0
/*
 * Faults of the datapath: fetching memory that is not present.
 *
 * A work item refers to its queue pair by number, and is in the table of the
 * device while the queue pair waits. So it does not delay destruction, and does
 * not affect a queue pair that was reset or that reuses the number.
 *
 * A work item may wait for its page indefinitely, so it may outlive its queue
 * pair, its region and its device. It has a reference to the region, and reads
 * its pointer to the device in an epoch. hroce_fault_forget() clears the
 * pointer, and its caller waits for epochs.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "../core/epoch.h"
#include "../mem/iter.h"
#include "../mem/mr.h"
#include "../proto/env.h"
#include "../proto/req.h"
#include "../proto/resp.h"
#include "fault.h"
#include "fetch.h"
#include "user.h"

/**
 * struct hroce_fault - memory being fetched
 * @work: fetches the memory
 * @rcu: frees this structure
 * @dev: device; NULL after hroce_fault_forget()
 * @mr: region, with a reference; NULL if it was already gone
 * @qpn: queue pair that waits
 * @who: side of it that waits
 * @key: key of the region
 * @len: bytes wanted
 * @pos: offset in the region
 * @write: for writing
 * @stale: that side waits for other memory by now [its lock]
 */
struct hroce_fault {
	struct work_struct work;
	struct rcu_head rcu;
	struct hroce_dev *dev;
	struct hroce_mr *mr;
	u32 qpn;
	enum hroce_fault_who who;
	u32 key;
	u32 len;
	u64 pos;
	bool write;
	bool stale;
};

/* Index of this side of a queue pair in hroce_dev.faults. */
static unsigned long fault_index(u32 qpn, enum hroce_fault_who who)
{
	return (unsigned long)qpn * HROCE_FAULT_NR + who;
}

/* Remove @fault. Return: false if its queue pair does not wait any more. */
static bool fault_take(struct hroce_dev *dev, struct hroce_fault *fault)
{
	unsigned long index = fault_index(fault->qpn, fault->who);

	return xa_cmpxchg(&dev->faults, index, fault, NULL, GFP_ATOMIC) ==
	       fault;
}

static void fault_tell_requester(struct hroce_qp *qp,
				 struct hroce_fault *fault, bool ok)
{
	spin_lock(&qp->send.lock);
	if (fault_take(hqp_dev(qp), fault) &&
	    hrp_req_mem_ready(&qp->proto, ktime_get_ns(), ok || fault->stale))
		set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
	spin_unlock(&qp->send.lock);
}

static void fault_tell_responder(struct hroce_qp *qp,
				 struct hroce_fault *fault, bool ok)
{
	spin_lock(&qp->recv.lock);
	if (!fault_take(hqp_dev(qp), fault))
		goto unlock;
	ok |= fault->stale;
	if (fault->who == HROCE_FAULT_READ) {
		hrp_resp_read_ready(&qp->proto, ok);
		set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	} else if (!ok) {
		hrp_resp_place_failed(&qp->proto);
	}
unlock:
	spin_unlock(&qp->recv.lock);
}

static void fault_tell_qp(struct hroce_dev *dev, struct hroce_fault *fault,
			  bool ok)
{
	struct hroce_qp *qp = hroce_qp_find(dev, fault->qpn);

	if (!ok)
		hroce_port_stat_inc(&dev->port, HROCE_EV_MEM_FAULTS_BAD);
	if (!qp) {
		/* It is being destroyed: do not leave @fault in the table. */
		fault_take(dev, fault);
		return;
	}
	if (fault->who == HROCE_FAULT_SEND)
		fault_tell_requester(qp, fault, ok);
	else
		fault_tell_responder(qp, fault, ok);
	hroce_qp_run_pending_bh(qp);
}

static void fault_tell(struct hroce_fault *fault, bool ok)
{
	struct hroce_dev *dev;

	hroce_epoch_enter();
	dev = READ_ONCE(fault->dev);
	if (dev)
		fault_tell_qp(dev, fault, ok);
	hroce_epoch_leave();
}

static void fault_work(struct work_struct *work)
{
	struct hroce_fault *fault;
	bool ok;

	fault = container_of(work, struct hroce_fault, work);
	ok = fault->mr && READ_ONCE(fault->dev) &&
	     !hroce_mr_fetch(fault->mr, fault->pos, fault->len, fault->write);
	fault_tell(fault, ok);
	if (fault->mr) {
		hroce_fetch_done(fault->mr->fetcher);
		hroce_mr_put(fault->mr);
	}
	kfree_rcu(fault, rcu);
}

static struct hroce_fault *fault_create(struct hroce_qp *qp,
					enum hroce_fault_who who,
					const struct hroce_mem_iter *it,
					gfp_t gfp)
{
	struct hroce_fault *fault = kmalloc(sizeof(*fault), gfp);

	if (!fault)
		return NULL;
	INIT_WORK(&fault->work, fault_work);
	fault->dev = hqp_dev(qp);
	fault->qpn = qp->proto.qpn;
	fault->who = who;
	fault->key = it->fault_key;
	fault->len = it->fault_len;
	fault->pos = it->pos;
	fault->write = it->fault_write;
	fault->stale = false;
	return fault;
}

/*
 * Its memory was present, in another way, before @fault has ended, and @it waits
 * for other memory. When @fault ends, that is asked for, even if @fault fails.
 */
static void fault_compare(struct hroce_fault *fault,
			  const struct hroce_mem_iter *it)
{
	fault->stale |= fault->key != it->fault_key || fault->pos != it->pos ||
			fault->write != it->fault_write;
}

/* Queue a fetch. Return: 0; -EBUSY if one is queued already; -ENOMEM. */
static int fault_queue(struct hroce_qp *qp, enum hroce_fault_who who,
		       const struct hroce_mem_iter *it)
{
	unsigned long index = fault_index(qp->proto.qpn, who);
	struct hroce_dev *dev = hqp_dev(qp);
	gfp_t gfp = GFP_ATOMIC | __GFP_NOWARN;
	struct mem_cgroup *before;
	struct hroce_fault *fault;
	int err;

	fault = xa_load(&dev->faults, index);
	if (fault) {
		fault_compare(fault, it);
		return -EBUSY;
	}
	/*
	 * A request would fail without, so the owner pays even beyond its limit:
	 * GFP_ATOMIC may exceed that.
	 */
	before = hroce_user_pay(qp, &gfp);
	fault = fault_create(qp, who, it, gfp);
	err = fault ? xa_insert(&dev->faults, index, fault, gfp) : -ENOMEM;
	hroce_user_paid(before);
	if (err) {
		kfree(fault);
		return err;
	}
	hroce_port_stat_inc(&dev->port, HROCE_EV_MEM_FAULTS);
	fault->mr = hroce_mr_tryget(&dev->mkeys, it->fault_key);
	hroce_fetch_queue(fault->mr ? fault->mr->fetcher : NULL, &fault->work);
	return 0;
}

u8 hroce_fault_begin(struct hroce_qp *qp, enum hroce_fault_who who,
		     const struct hroce_mem_iter *it)
{
	int err;

	if (qp->dead)
		return HRP_MEM_FAULT;
	err = fault_queue(qp, who, it);
	/* The peer will retry. */
	if (err == -ENOMEM && who != HROCE_FAULT_PLACE)
		return HROCE_CAUSE_NO_MEMORY;
	return HRP_MEM_FAULT;
}

void hroce_fault_forget(struct hroce_qp *qp)
{
	struct hroce_fault *fault;
	int who;

	lockdep_assert_held(&qp->send.lock);
	lockdep_assert_held(&qp->recv.lock);
	rcu_read_lock();
	for (who = 0; who < HROCE_FAULT_NR; who++) {
		fault = xa_erase(&hqp_dev(qp)->faults,
				 fault_index(qp->proto.qpn, who));
		if (!fault)
			continue;
		/* The work may have finished; RCU keeps the structure. */
		WRITE_ONCE(fault->dev, NULL);
		hroce_fetch_skip(&fault->work);
	}
	rcu_read_unlock();
}

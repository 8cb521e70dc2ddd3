// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues. User space polls its queues without a system call. Queues
 * of the kernel are the same rings, polled by hroce_cq_poll().
 */
#include <linux/if_vlan.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <rdma/ib_cache.h>
#include "../compat/uverbs.h"
#include "../trace/trace.h"
#include "cq.h"
#include "device.h"
#include "qp.h"
#include "ring.h"
#include "ucontext.h"

/* Marks completions to skip: no queue pair has this number. */
#define QPN_NONE	U32_MAX

#define CQ_FLAGS	(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | \
			 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

/*
 * Most unread completion events of a user CQ. ib_uverbs allocates each event in
 * memory that is not charged to a cgroup; this many take less than the smallest
 * CQ.
 */
#define MAX_UNREAD_EVENTS	32

/* Most entries to process with interrupts disabled. */
#define LOCK_BATCH	64

/* Most calls of the completion handler in a row. */
#define MAX_CALLS	16

/* The value of owner that marks the entry at index @idx as valid. */
static u32 cq_phase(const struct hroce_ring *ring, u32 idx)
{
	return idx & ring->nr_entries ? 0 : HROCE_CQE_PHASE;
}

static u32 cq_room(const struct hroce_cq *cq)
{
	const struct hroce_cq_hdr *hdr = cq->hdr;
	u32 used;

	if (unlikely(cq->ignore_overrun))
		return 1;
	/* The slots up to @cons are free once their reader is done. */
	used = cq->prod - (cq->user ? smp_load_acquire(&hdr->cons) : cq->cons);
	/* An invalid @cons counts as a full queue. */
	return used < cq->ring->nr_entries ? cq->ring->nr_entries - used : 0;
}

/*
 * False if the process does not read its events: the CQ then stays armed. The
 * consumer misses nothing: it has older events to read, and finds this
 * completion when it polls after them.
 */
static bool cq_may_fire(const struct hroce_cq *cq)
{
	const struct compat_cq_object *obj = cq->object;

	lockdep_assert_held(&cq->lock);
	return !obj || READ_ONCE(cq->nr_events) -
		       READ_ONCE(obj->comp_events_reported) < MAX_UNREAD_EVENTS ||
	       list_empty(&obj->comp_list);
}

static void cq_fire(struct hroce_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	cq->held_back = 0;
	/*
	 * If the consumer arms the CQ again before this store, no event is
	 * lost: this one is raised after that.
	 */
	WRITE_ONCE(cq->hdr->arm, HROCE_CQ_ARM_NONE);
	set_bit(HROCE_CQ_COMP, &cq->events);
}

/* Moderation: does the event wait for further completions? */
static bool cq_hold_back(struct hroce_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	if (++cq->held_back >= cq->mod_count)
		return false;
	if (cq->timer_on)
		return true;
	cq->timer_on = true;
	hrtimer_start(&cq->timer,
		      ns_to_ktime(cq->mod_period_us * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_SOFT);
	return true;
}

/* Return: true if this completion raises an event. */
static bool cq_disarm(struct hroce_cq *cq, bool solicited)
{
	u32 arm;

	/* Store the entry, then load arm: see rdma/hroce-abi.h. */
	smp_mb();
	arm = READ_ONCE(cq->hdr->arm);
	if (arm != HROCE_CQ_ARM_NEXT &&
	    !(arm == HROCE_CQ_ARM_SOLICITED && solicited))
		return false;
	if (unlikely(!cq_may_fire(cq)))
		return false;
	if (unlikely(cq->mod_count) && cq_hold_back(cq))
		return false;
	cq_fire(cq);
	return true;
}

/* The moderation period is over. Polled completions need no event. */
static enum hrtimer_restart cq_timer(struct hrtimer *timer)
{
	struct hroce_cq *cq = container_of(timer, struct hroce_cq, timer);
	const struct hroce_cq_hdr *hdr = cq->hdr;
	unsigned long flags;
	bool notify = false;

	rcu_read_lock();
	spin_lock_irqsave(&cq->lock, flags);
	cq->timer_on = false;
	if (cq->held_back && READ_ONCE(hdr->arm) != HROCE_CQ_ARM_NONE &&
	    cq->prod != (cq->user ? READ_ONCE(hdr->cons) : cq->cons) &&
	    cq_may_fire(cq)) {
		cq_fire(cq);
		notify = true;
	}
	cq->held_back = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
	if (notify)
		hroce_cq_notify(cq);
	rcu_read_unlock();
	return HRTIMER_NORESTART;
}

static bool cq_lose(struct hroce_cq *cq)
{
	hroce_port_stat_inc(&to_hdev(cq->ib.device)->port,
			    HROCE_EV_CQ_OVERRUNS);
	if (cq->overrun)
		return false;
	WRITE_ONCE(cq->overrun, true);
	set_bit(HROCE_CQ_ERR, &cq->events);
	return true;
}

bool hroce_cq_push(struct hroce_cq *cq, const struct hroce_cqe *cqe,
		   bool solicited)
{
	struct hroce_cqe *slot;
	unsigned long flags;
	bool notify;

	trace_hroce_complete(cqe);
	spin_lock_irqsave(&cq->lock, flags);
	if (unlikely(cq->overrun || !cq_room(cq))) {
		notify = cq_lose(cq);
		goto unlock;
	}
	slot = hroce_ring_entry(cq->ring, cq->prod);
	/* hrp_cqe_begin() sets these fields; the others are still zero. */
	memcpy(slot, cqe, offsetof(struct hroce_cqe, reserved));
	if (unlikely(cq->timestamps))
		slot->timestamp_ns = ktime_get_ns();
	/* Pairs with the consumer's acquire. */
	smp_store_release(&slot->owner, cq_phase(cq->ring, cq->prod));
	cq->prod++;
	WRITE_ONCE(cq->hdr->prod, cq->prod);
	notify = cq_disarm(cq, solicited);
unlock:
	spin_unlock_irqrestore(&cq->lock, flags);
	return notify;
}

/*
 * Clear RUNNING unless COMP is set. COMP is set before RUNNING is tested, and
 * both are in one word, so no event is lost.
 *
 * Return: true if that was the last access to @cq.
 */
static bool cq_rest(struct hroce_cq *cq)
{
	unsigned long events = READ_ONCE(cq->events);

	do {
		if (events & BIT(HROCE_CQ_COMP))
			return false;
	} while (!try_cmpxchg_release(&cq->events, &events,
				      events & ~BIT(HROCE_CQ_RUNNING)));
	return true;
}

/*
 * Count anew when the list is empty: some events may not have been queued, for
 * lack of memory or of a channel.
 */
static void cq_count_event(struct hroce_cq *cq)
{
	const struct compat_cq_object *obj = cq->object;
	u32 nr = cq->nr_events;

	if (!obj)
		return;
	if (list_empty(&obj->comp_list))
		nr = READ_ONCE(obj->comp_events_reported);
	WRITE_ONCE(cq->nr_events, nr + 1);
}

/*
 * The caller has set RUNNING. Other CPUs may keep arming the CQ and adding
 * completions, so after MAX_CALLS @task continues: other softirqs must run,
 * too.
 */
static void cq_run(struct hroce_cq *cq)
{
	int calls = 0;

	do {
		while (test_and_clear_bit(HROCE_CQ_COMP, &cq->events)) {
			if (calls++ == MAX_CALLS) {
				set_bit(HROCE_CQ_COMP, &cq->events);
				tasklet_schedule(&cq->task);
				return;
			}
			trace_hroce_cq_event(cq->ib.res.id, cq->cpu);
			cq_count_event(cq);
			cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
		}
	} while (!cq_rest(cq));
}

static void cq_task(struct tasklet_struct *task)
{
	cq_run(container_of(task, struct hroce_cq, task));
}

static void cq_run_here(void *cq)
{
	cq_run(cq);
}

/*
 * Call the handler on the CPU of the vector, as a card's interrupt would. On
 * PREEMPT_RT handlers cannot run in hard interrupt context.
 */
static bool cq_run_there(struct hroce_cq *cq)
{
	return cq->cpu >= 0 && cq->cpu != smp_processor_id() &&
	       !IS_ENABLED(CONFIG_PREEMPT_RT) &&
	       !smp_call_function_single_async(cq->cpu, &cq->call);
}

void hroce_cq_notify(struct hroce_cq *cq)
{
	struct ib_event event = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	if (test_and_clear_bit(HROCE_CQ_ERR, &cq->events) &&
	    cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);

	if (!test_bit(HROCE_CQ_COMP, &cq->events) ||
	    test_and_set_bit_lock(HROCE_CQ_RUNNING, &cq->events))
		return;
	if (!cq_run_there(cq))
		cq_run(cq);
}

/* Return: index after the last entry examined. */
static u32 cq_forget_some(struct hroce_cq *cq, u32 qpn, u32 idx, u32 end)
{
	struct hroce_cqe *cqe;

	lockdep_assert_held(&cq->lock);
	end = idx + min_t(u32, end - idx, LOCK_BATCH);
	for (; idx != end; idx++) {
		cqe = hroce_ring_entry(cq->ring, idx);
		if (cqe->qpn == qpn)
			cqe->qpn = QPN_NONE;
	}
	return idx;
}

void hroce_cq_forget(struct hroce_cq *cq, u32 qpn)
{
	unsigned long flags;
	u32 idx, end;

	if (!cq || cq->user)
		return;
	spin_lock_irqsave(&cq->lock, flags);
	idx = cq->cons;
	end = cq->prod;
	while ((s32)(end - idx) > 0) {
		idx = cq_forget_some(cq, qpn, idx, end);
		/* Allow interrupts between batches. */
		spin_unlock_irqrestore(&cq->lock, flags);
		spin_lock_irqsave(&cq->lock, flags);
		if ((s32)(cq->cons - idx) > 0)
			idx = cq->cons;
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

/* Copy entries [@from, @to); their indices decrease by @base. */
static void cq_copy(const struct hroce_ring *dst, const struct hroce_ring *src,
		    u32 from, u32 to, u32 base)
{
	struct hroce_cqe *cqe;

	for (; from != to; from++) {
		cqe = hroce_ring_entry(dst, from - base);
		memcpy(cqe, hroce_ring_entry(src, from), sizeof(*cqe));
		cqe->owner = cq_phase(dst, from - base);
	}
}

/*
 * Move unpolled entries to the prepared ring. Its indices start at 0, where an
 * entry of zeros is invalid. Completions may arrive meanwhile, so all but the
 * last few entries are copied without the lock.
 */
static bool cq_move(struct hroce_resize *resize)
{
	struct hroce_cq *cq = container_of(resize, struct hroce_cq, resize);
	struct hroce_ring *ring = resize->ring, *old = cq->ring;
	u32 base = READ_ONCE(cq->hdr->cons), done = base;
	u32 most, prod;

	lockdep_assert_held(&cq->resize_lock);
	most = min(ring->nr_entries, old->nr_entries);
	for (;;) {
		spin_lock_irq(&cq->lock);
		prod = cq->prod;
		if (cq->overrun || prod - base > most) {
			spin_unlock_irq(&cq->lock);
			return false;
		}
		if (prod - done <= LOCK_BATCH)
			break;
		spin_unlock_irq(&cq->lock);
		cq_copy(ring, old, done, prod, base);
		done = prod;
	}
	cq_copy(ring, old, done, prod, base);
	cq->prod = prod - base;
	WRITE_ONCE(cq->hdr->prod, cq->prod);
	/* User space does not poll meanwhile. */
	WRITE_ONCE(cq->hdr->cons, 0);
	cq->ring = ring;
	cq->ib.cqe = ring->nr_entries;
	spin_unlock_irq(&cq->lock);
	resize->ring = old;
	return true;
}

static void cq_free_memory(struct hroce_cq *cq)
{
	put_page(cq->hdr_page);
	hroce_ring_destroy(cq->ring);
	hroce_ring_destroy(cq->resize.ring);
}

int hroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct hroce_create_cq_resp resp = {};
	struct hroce_cq *cq = to_hcq(ibcq);
	int err;

	err = hroce_udata_check(udata, sizeof(resp));
	if (err)
		return err;
	if (attr->flags & ~CQ_FLAGS)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > HROCE_MAX_CQE)
		return -EINVAL;

	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize_lock);
	cq->resize.stride = sizeof(struct hroce_cqe);
	cq->resize.move = cq_move;
	hrtimer_setup(&cq->timer, cq_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	INIT_CSD(&cq->call, cq_run_here, cq);
	tasklet_setup(&cq->task, cq_task);
	/* Vector 0 is the default: any CPU. */
	cq->cpu = attr->comp_vector ?
		  cpumask_local_spread(attr->comp_vector, NUMA_NO_NODE) : -1;
	cq->user = udata;
	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->ignore_overrun = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	cq->ring = hroce_ring_create(attr->cqe, sizeof(struct hroce_cqe));
	if (IS_ERR(cq->ring))
		return PTR_ERR(cq->ring);
	ibcq->cqe = cq->ring->nr_entries;
	/* Mappings hold references of their own. */
	cq->hdr_page = cq->ring->pages[0];
	get_page(cq->hdr_page);
	cq->hdr = page_address(cq->hdr_page);
	if (!udata)
		return 0;
	cq->object = compat_cq_to_object(ibcq);
	if (!cq->object)
		pr_warn_once("hroce: unread completion events are not limited on this kernel\n");

	err = hroce_ring_export(cq->ring, hroce_udata_context(udata), &resp.cq);
	if (!err)
		err = hroce_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		cq_free_memory(cq);
	return err;
}

int hroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct hroce_cq *cq = to_hcq(ibcq);

	/*
	 * No queue pair refers to the CQ any more: only the timer and a CPU
	 * that runs the handler still use it. Kill the tasklet before waiting
	 * for that CPU, which may be this one, and again after it, as that CPU
	 * may have scheduled it.
	 */
	hrtimer_cancel(&cq->timer);
	tasklet_kill(&cq->task);
	smp_cond_load_acquire(&cq->events, !(VAL & BIT(HROCE_CQ_RUNNING)));
	tasklet_kill(&cq->task);
	cq_free_memory(cq);
	return 0;
}

int hroce_cq_resize(struct ib_cq *ibcq, int nr_cqes, struct ib_udata *udata)
{
	struct hroce_resize_cq_req req = {};
	struct hroce_cq *cq = to_hcq(ibcq);
	int err;

	/* No kernel consumer resizes a CQ. */
	if (!cq->user || !udata)
		return -EOPNOTSUPP;
	err = hroce_udata_read(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.reserved)
		return -EINVAL;
	if (req.step == HROCE_RESIZE_PREPARE &&
	    (nr_cqes <= 0 || nr_cqes > HROCE_MAX_CQE ||
	     udata->outlen < sizeof(struct hroce_resize_cq_resp)))
		return -EINVAL;
	mutex_lock(&cq->resize_lock);
	err = hroce_resize_run(&cq->resize, req.step, nr_cqes,
			       hroce_udata_context(udata), udata->outbuf);
	mutex_unlock(&cq->resize_lock);
	return err;
}

u32 hroce_cq_pending(struct hroce_cq *cq)
{
	unsigned long flags;
	u32 used;

	spin_lock_irqsave(&cq->lock, flags);
	used = cq->prod - READ_ONCE(cq->hdr->cons);
	spin_unlock_irqrestore(&cq->lock, flags);
	return used;
}

int hroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period_us)
{
	struct hroce_cq *cq = to_hcq(ibcq);
	unsigned long flags;

	/* Without a period the last completions would raise no event. */
	if (!period_us)
		count = 0;
	spin_lock_irqsave(&cq->lock, flags);
	cq->mod_count = count > 1 ? count : 0;
	cq->mod_period_us = period_us;
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

static enum ib_wc_opcode wc_opcode(u8 opcode)
{
	switch ((enum hroce_wc_op)opcode) {
	case HROCE_WC_SEND:
		return IB_WC_SEND;
	case HROCE_WC_WRITE:
		return IB_WC_RDMA_WRITE;
	case HROCE_WC_READ:
		return IB_WC_RDMA_READ;
	case HROCE_WC_CMP_SWAP:
		return IB_WC_COMP_SWAP;
	case HROCE_WC_FETCH_ADD:
		return IB_WC_FETCH_ADD;
	case HROCE_WC_BIND_MW:
		return IB_WC_BIND_MW;
	case HROCE_WC_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case HROCE_WC_FLUSH:
		return IB_WC_FLUSH;
	case HROCE_WC_ATOMIC_WRITE:
		return IB_WC_ATOMIC_WRITE;
	case HROCE_WC_REG_MR:
		return IB_WC_REG_MR;
	case HROCE_WC_MASKED_CMP_SWAP:
		return IB_WC_MASKED_COMP_SWAP;
	case HROCE_WC_MASKED_FETCH_ADD:
		return IB_WC_MASKED_FETCH_ADD;
	case HROCE_WC_RECV:
		return IB_WC_RECV;
	case HROCE_WC_RECV_WRITE_IMM:
		return IB_WC_RECV_RDMA_WITH_IMM;
	}
	return IB_WC_SEND;
}

/* ib_core looks up the local GID of a reply only in this VLAN. */
static void wc_fill_vlan(struct ib_wc *wc, const struct hroce_dev *dev)
{
	struct ib_gid_attr attr = { .ndev = RCU_INITIALIZER(dev->port.dev) };
	u16 vlan_id;

	if (rdma_read_gid_l2_fields(&attr, &vlan_id, NULL) ||
	    vlan_id >= VLAN_N_VID)
		return;
	wc->wc_flags |= IB_WC_WITH_VLAN;
	wc->vlan_id = vlan_id;
}

static void wc_fill(struct ib_wc *wc, const struct hroce_cqe *cqe,
		    struct ib_qp *qp)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = wc_opcode(cqe->opcode),
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp = qp,
		.src_qp = cqe->src_qpn,
		.pkey_index = cqe->pkey_index,
		.port_num = 1,
	};
	if (cqe->flags & HROCE_WCF_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = (__force __be32)cqe->imm_data;
	}
	if (cqe->flags & HROCE_WCF_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->imm_data;
	}
	/* SL stays 0: ib_core would use it as the priority of a reply. */
	if (cqe->flags & HROCE_WCF_GRH) {
		wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = cqe->sl == HROCE_SL_UDP_IPV4 ?
				       RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
		wc_fill_vlan(wc, to_hdev(qp->device));
	}
}

int hroce_cq_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct hroce_dev *dev = to_hdev(ibcq->device);
	struct hroce_cq *cq = to_hcq(ibcq);
	const struct hroce_cqe *cqe;
	unsigned long flags;
	struct hroce_qp *qp;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num_entries && cq->cons != cq->prod) {
		cqe = hroce_ring_entry(cq->ring, cq->cons++);
		/*
		 * NULL: the QP is being destroyed. Others stay while we hold
		 * the lock: destruction takes it in hroce_cq_forget().
		 */
		qp = xa_load(&dev->qps, hroce_qp_index(dev, cqe->qpn));
		if (qp)
			wc_fill(&wc[n++], cqe, &qp->ib);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

int hroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct hroce_cq *cq = to_hcq(ibcq);
	unsigned long flags;
	int missed = 0;
	u32 arm;

	/* User space arms its queues without a system call. */
	if (cq->user)
		return -EOPNOTSUPP;

	arm = (notify & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ?
	      HROCE_CQ_ARM_SOLICITED : HROCE_CQ_ARM_NEXT;
	spin_lock_irqsave(&cq->lock, flags);
	/* NEXT includes SOLICITED (IBTA 11.4.2.2). */
	cq->hdr->arm = max(cq->hdr->arm, arm);
	if (notify & IB_CQ_REPORT_MISSED_EVENTS && cq->cons != cq->prod)
		missed = 1;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

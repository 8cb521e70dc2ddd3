/* SPDX-License-Identifier: GPL-2.0 */
/* Completion queues. */
#ifndef HROCE_CQ_H
#define HROCE_CQ_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>
#include "resize.h"

struct compat_cq_object;

/* Bit numbers of hroce_cq.events */
enum hroce_cq_event {
	HROCE_CQ_COMP,		/* call the completion handler */
	HROCE_CQ_ERR,		/* raise IB_EVENT_CQ_ERR */
	HROCE_CQ_RUNNING,	/* somebody is calling the completion handler */
};

/**
 * struct hroce_cq - completion queue
 * @ib: what ib_core knows
 * @hdr: words shared with who polls: where they were in the first @ring
 * @hdr_page: its page
 * @ring: entries in mapped memory; hroce_cq_resize() puts another one in place
 *	[lock]
 * @lock: guards @prod, @cons, @overrun, moderation and the producing side of
 *	the ring; any context. Innermost lock: taken with a QP's lock held
 * @prod: entries written, free-running, private
 * @cons: queues of the kernel: entries polled, private
 * @events: bits of enum hroce_cq_event
 * @object: ib_uverbs' object of a queue of user space; NULL: unknown
 * @nr_events: times that its handler was called, to compare with the events that
 *	were read [HROCE_CQ_RUNNING]
 * @cpu: the CPU of the completion vector, -1 for whichever completes
 * @call: calls the completion handler there; of who has set HROCE_CQ_RUNNING
 * @task: goes on calling the handler; likewise
 * @overrun: an entry was lost; nothing is written any more
 * @user: mapped into user space
 * @timestamps: completions carry the time
 * @ignore_overrun: the consumer answers for the room; entries may be lost
 * @timer_on: @timer will look at @held_back [lock]
 * @mod_count: an event waits for so many completions; 0: for none [lock]
 * @mod_period_us: or for so long since the first of them [lock]
 * @held_back: completions that wait for company [lock]
 * @timer: ends their wait
 * @resize: the ring to come [resize_lock]
 * @resize_lock: one hroce_cq_resize() at a time
 */
struct hroce_cq {
	struct ib_cq ib;
	struct hroce_cq_hdr *hdr;
	struct page *hdr_page;
	struct hroce_ring *ring;
	spinlock_t lock;
	u32 prod;
	u32 cons;
	unsigned long events;
	const struct compat_cq_object *object;
	u32 nr_events;
	int cpu;
	call_single_data_t call;
	struct tasklet_struct task;
	bool overrun;
	bool user;
	bool timestamps;
	bool ignore_overrun;
	bool timer_on;
	u16 mod_count;
	u16 mod_period_us;
	u32 held_back;
	struct hrtimer timer;
	struct hroce_resize resize;
	struct mutex resize_lock;
};

static inline struct hroce_cq *to_hcq(struct ib_cq *ib)
{
	return container_of(ib, struct hroce_cq, ib);
}

/**
 * hroce_cq_push - write one completion
 * @cq: completion queue
 * @cqe: from hrp_cqe_begin(), filled in
 * @solicited: counts as a solicited event
 *
 * A full CQ is put into error: the entry is lost and IB_EVENT_CQ_ERR raised
 * once.
 *
 * Context: softirq or process, a QP lock may be held.
 * Return: true if the caller must call hroce_cq_notify() after dropping its
 * locks.
 */
bool __must_check hroce_cq_push(struct hroce_cq *cq,
				const struct hroce_cqe *cqe, bool solicited);

/**
 * hroce_cq_notify - call the completion handler
 * @cq: completion queue, kept alive by the caller
 *
 * It is called here, or by an interrupt of the CPU that the completion vector
 * stands for. Handlers run one at a time per CQ: if one is running, whoever runs
 * it calls it again.
 *
 * Context: BH disabled, no lock held, RCU read side.
 */
void hroce_cq_notify(struct hroce_cq *cq);

/**
 * hroce_cq_forget - disown the completions of a queue pair
 * @cq: completion queue, or NULL; those of user space are left alone
 * @qpn: its number, which may soon be that of another one
 *
 * Context: process; nobody completes requests of that queue pair any more.
 */
void hroce_cq_forget(struct hroce_cq *cq, u32 qpn);

/**
 * hroce_cq_pending - how many completions wait to be polled?
 * @cq: queue of a process
 *
 * Context: any, RCU read side or owner of a QP that uses @cq.
 * Return: as far as the process tells the truth.
 */
u32 hroce_cq_pending(struct hroce_cq *cq);

/* ib_device_ops */
int hroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int hroce_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
int hroce_cq_resize(struct ib_cq *ibcq, int nr_cqes, struct ib_udata *udata);
int hroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period_us);
int hroce_cq_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int hroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* HROCE_CQ_H */

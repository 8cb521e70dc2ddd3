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
#include "ring.h"

struct hroce_ucq;

/* Most entries to process with interrupts disabled. */
#define HROCE_CQ_LOCK_BATCH	64

/* Bit numbers of hroce_cq.events */
enum hroce_cq_event {
	HROCE_CQ_COMP,		/* call the completion handler */
	HROCE_CQ_ERR,		/* raise IB_EVENT_CQ_ERR */
	HROCE_CQ_RUNNING,	/* a CPU is calling the completion handler */
};

/**
 * struct hroce_cq - completion queue
 * @ib: ib_core's CQ
 * @hdr: words shared with the consumer; they stay in the first @ring
 * @hdr_page: page of @hdr
 * @ring: entries in mapped memory; hroce_cq_resize() replaces it [lock]
 * @lock: guards @prod, @cons, @overrun, moderation and the producing side of
 *	the ring; any context. Innermost lock: taken with a QP's lock held
 * @prod: entries written, free-running, private
 * @cons: queues of the kernel: entries polled, private
 * @events: bits of enum hroce_cq_event
 * @object: ib_uverbs' object of a queue of user space; NULL: unknown
 * @nr_events: calls of the completion handler, to compare with the events read
 *	[HROCE_CQ_RUNNING]
 * @cpu: CPU of the completion vector; -1: the CPU that completes
 * @call: calls the completion handler on @cpu [HROCE_CQ_RUNNING]
 * @task: continues calling the handler [HROCE_CQ_RUNNING]
 * @overrun: an entry was lost; no more entries are written
 * @user: mapped into user space
 * @timestamps: completions carry the time
 * @ignore_overrun: the consumer guarantees space (IGNORE_OVERRUN); entries may
 *	be lost
 * @timer_on: @timer is armed [lock]
 * @mod_count: completions before an event is raised; 0: no moderation [lock]
 * @mod_period_us: longest delay of an event after the first of them [lock]
 * @held_back: completions whose event is delayed [lock]
 * @timer: ends the delay
 * @resize: prepared ring [resize_lock]
 * @resize_lock: serialises hroce_cq_resize()
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
	const struct hroce_ucq *object;
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

/* The value of owner that marks the entry at index @idx as valid. */
static inline u32 hroce_cq_phase(const struct hroce_ring *ring, u32 idx)
{
	return idx & ring->nr_entries ? 0 : HROCE_CQE_PHASE;
}

/**
 * hroce_cq_init - prepare lock, moderation timer and calls of the handler
 * @cq: being created
 *
 * Context: process.
 */
void hroce_cq_init(struct hroce_cq *cq);

/**
 * hroce_cq_stop - wait for the timer and for calls of the handler
 * @cq: queue that no queue pair refers to any more
 *
 * Context: process, may sleep.
 */
void hroce_cq_stop(struct hroce_cq *cq);

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
 * The handler runs here, or in an interrupt on the CPU of the completion
 * vector. It never runs on two CPUs at once: the CPU that is running it calls
 * it again.
 *
 * Context: BH disabled, no lock held, RCU read side.
 */
void hroce_cq_notify(struct hroce_cq *cq);

/**
 * hroce_cq_forget - skip the remaining completions of a queue pair
 * @cq: completion queue, or NULL; queues of user space are left alone
 * @qpn: number of the queue pair, which may be reused soon
 *
 * Context: process; the queue pair completes no more requests.
 */
void hroce_cq_forget(struct hroce_cq *cq, u32 qpn);

/**
 * hroce_cq_pending - count completions that have not been polled
 * @cq: queue of a process
 *
 * Context: any, RCU read side or owner of a QP that uses @cq.
 * Return: their number; wrong if the process writes a false @cons.
 */
u32 hroce_cq_pending(struct hroce_cq *cq);

#endif /* HROCE_CQ_H */

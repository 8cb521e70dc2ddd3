/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs. verbs/ creates, modifies and destroys them; send.c runs the
 * requester, reply.c the responder, recv.c the completer.
 *
 * Locks. recv.lock before send.lock, both before a CQ's lock; all _bh. Frames
 * are sent with none of them held. A token decides which context runs the
 * requester (responder), see struct hroce_side.
 */
#ifndef HROCE_QP_H
#define HROCE_QP_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "../net/path.h"
#include "../proto/qp.h"
#include "../proto/wait.h"
#include "cq.h"
#include "dev.h"
#include "early.h"
#include "handover.h"

struct hroce_out;
struct hroce_srq;
struct hroce_user;

/**
 * struct hroce_side - one side of a queue pair: requester or responder
 * @lock: send lock or receive lock of &struct hrp_qp; softirq, so _bh
 * @running: a context holds the token and sends what the engine gives it [lock]
 * @again: something changed meanwhile; the holder must look again [lock]
 * @flushing: requests are left to flush [lock]
 * @task: continues when back-pressure stopped the holder, or its epoch had no
 *	work left
 *
 * The token is taken and released within one epoch of the datapath.
 */
struct hroce_side {
	spinlock_t lock;
	bool running;
	bool again;
	bool flushing;
	struct tasklet_struct task;
};

/* Bit numbers of hrp_qp.pending outside of proto/ */
enum hroce_qp_pending {
	HROCE_PENDING_SEND_CQ = HRP_PENDING_NR,	/* call the send CQ's handler */
	HROCE_PENDING_RECV_CQ,		/* call the receive CQ's handler */
	HROCE_PENDING_SEND_RUN,		/* an ACK opened the window */
	HROCE_PENDING_RECV_RUN,		/* there are answers to send */
	HROCE_PENDING_CNP,		/* a CNP is one of them */
	HROCE_PENDING_SECOND,		/* what second.h sends is one of them */
	HROCE_PENDING_BY_SECOND,	/* answers take the second way */
};

/*
 * Bits of hrp_qp.pending that say that there is work to do. An ACK that is held
 * waits for an event, the others for their side to run; the last one stays.
 */
#define HROCE_PENDING_WORK	(~(BIT(HRP_PENDING_HELD) | \
				   BIT(HRP_PENDING_JOINS) | \
				   BIT(HRP_PENDING_REHASH) | \
				   BIT(HRP_PENDING_REHASH_ANSWERS) | \
				   BIT(HROCE_PENDING_CNP) | \
				   BIT(HROCE_PENDING_SECOND) | \
				   BIT(HROCE_PENDING_BY_SECOND)))

/**
 * struct hroce_qp - queue pair
 * @ib: ib_core's queue pair
 * @sq: send queue memory; XRC target: NULL
 * @rq: receive queue memory, or NULL with an SRQ and XRC
 * @srq: shared receive queue or NULL; XRC: NULL, found by number
 * @send_cq: completions of the requester; XRC target: NULL
 * @recv_cq: completions of the responder; XRC: NULL, each SRQ has its own
 * @path_ok: @path is initialised
 * @max_recv_sge: granted
 * @user: queues are mapped into user space
 * @sig_all: each request of the kernel is signaled
 * @elsewhere: requests do not take @path: UD, or the second way of second.h
 *	[send.lock]
 * @second: it has a second way, see second.h; until destruction or reset
 * @dead: being destroyed or reset: no new run of either side [both locks]
 * @sgid_index: as last set
 * @pkey_index: of @proto.pkey in the table of the port [both locks]
 * @paced: congestion control may limit the rate of READ responses: ask it, and
 *	else do not look at what the requester writes [send.lock]
 * @modify_lock: serialises hroce_qp_modify()
 * @proto: protocol state; @proto.req is guarded by @send.lock, @proto.resp by
 *	@recv.lock
 * @send: requester side
 * @timer_ns: when @timer is to fire, 0 if it is not armed; it is later if the
 *	process polls the netdev [send.lock]
 * @owner: user context that created it, or domain of an XRC target; NULL: the
 *	kernel
 * @timer: for hrp_req_deadline() and @hold_until; armed lazily, never moved on
 *	progress
 * @recv: responder side
 * @rq_head: receive entries taken, private [recv.lock]
 * @post_lock: queues of the kernel: guards posting to @sq and @rq; any context
 * @access_flags: as last set, for query_qp [modify_lock]
 * @cnp_at: time of the last CNP, in units of 1024 ns, modulo 2^16; 0: there was
 *	none [recv.lock]
 * @hold_until: end of the time that an ACK or a NAK may be held, in units of
 *	1024 ns, modulo 2^32 [recv.lock]
 * @path: route to the connected peer (RC, UC); frames are charged to it; valid
 *	if @path_ok
 * @handover: of this CPU to the peer's process
 * @early: acknowledgements that arrive before their frames have left
 *	[send.lock]
 * @napi: NAPI instance that brought the last frame, if the link polls; or 0
 * @hold_polls: calls of hroce_hold_polled() that an ACK is held for; 0: the
 *	process does not poll the netdev
 * @traced: the last reason to wait that was traced, see hroce_qp_trace_wait()
 *	[send.lock]
 * @cnp_sport: UDP source port of the CNP that is due; 0: that of answers
 *	[recv.lock]
 *
 * Lifetime: every use begins with a look-up by QPN, or with a pointer that the
 * caller of a verb owns, and stays within one epoch (core/epoch.h). Timer
 * and tasklets are stopped by hroce_qp_stop().
 *
 * There may be many thousands, most of them idle. The struct fills 1024 bytes;
 * for one byte more the allocator would take twice as much. Cache lines of 64
 * bytes, in a kernel without lock debugging:
 *
 *	0-5	@ib and what both sides read
 *	6	what both sides read of @proto; @modify_lock
 *	7-8	responder: @proto.resp
 *	8-10	requester: @proto.req; its first half line is not written to
 *	11-12	requester: @send to @timer
 *	13	responder: @recv to @hold_until
 *	14-15	what both sides need to send
 *
 * @proto.pending, in line 10, is written to by both sides.
 */
struct hroce_qp {
	struct ib_qp ib;
	struct hroce_ring *sq;
	struct hroce_ring *rq;
	struct hroce_srq *srq;
	struct hroce_cq *send_cq;
	struct hroce_cq *recv_cq;
	bool path_ok;
	u8 max_recv_sge:6;
	u8 user:1;
	u8 sig_all:1;
	bool elsewhere;
	bool second;
	bool dead;
	u8 sgid_index;
	u8 pkey_index;
	bool paced;

	struct mutex modify_lock ____cacheline_aligned_in_smp;
	struct hrp_qp proto;

	struct hroce_side send ____cacheline_aligned_in_smp;
	u64 timer_ns;
	struct hroce_user *owner;
	struct hrtimer timer;

	struct hroce_side recv ____cacheline_aligned_in_smp;
	u32 rq_head;
	spinlock_t post_lock;
	u16 access_flags;
	u16 cnp_at;
	u32 hold_until;

	struct hroce_path path;
	struct hroce_handover handover;
	struct hroce_early early;
	u32 napi;
	u8 hold_polls;
	u8 traced;
	u16 cnp_sport;
};

static inline struct hroce_qp *to_hqp(struct ib_qp *ib)
{
	return container_of(ib, struct hroce_qp, ib);
}

static inline struct hroce_qp *proto_to_hqp(const struct hrp_qp *proto)
{
	return container_of(proto, struct hroce_qp, proto);
}

static inline struct hroce_dev *hqp_dev(const struct hroce_qp *qp)
{
	return to_hdev(qp->ib.device);
}

/* Take both locks of a queue pair. Context: any but hard interrupts. */
static inline void hroce_qp_lock(struct hroce_qp *qp)
	__acquires(&qp->recv.lock) __acquires(&qp->send.lock)
{
	spin_lock_bh(&qp->recv.lock);
	spin_lock(&qp->send.lock);
}

static inline void hroce_qp_unlock(struct hroce_qp *qp)
	__releases(&qp->send.lock) __releases(&qp->recv.lock)
{
	spin_unlock(&qp->send.lock);
	spin_unlock_bh(&qp->recv.lock);
}

/*
 * The number of a queue pair is its index in hroce_dev.qps, permuted except for
 * the lowest bits. These stay because ib_core has a table by number, too: four
 * neighbours share a node of 576 bytes there, which each queue pair would need
 * otherwise.
 */
#define HROCE_QPN_LOW_BITS	2
#define HROCE_QPN_LOW_MASK	((1u << HROCE_QPN_LOW_BITS) - 1)
#define HROCE_QPN_HALF_BITS	((24 - HROCE_QPN_LOW_BITS) / 2)

/* Number of the queue pair at @index of hroce_dev.qps. */
static inline u32 hroce_qp_number(const struct hroce_dev *dev, u32 index)
{
	return hroce_hide_index(&dev->qpn_hide, HROCE_QPN_HALF_BITS,
				index >> HROCE_QPN_LOW_BITS) <<
	       HROCE_QPN_LOW_BITS | (index & HROCE_QPN_LOW_MASK);
}

/* The inverse. */
static inline u32 hroce_qp_index(const struct hroce_dev *dev, u32 qpn)
{
	return hroce_hide_reveal(&dev->qpn_hide, HROCE_QPN_HALF_BITS,
				 qpn >> HROCE_QPN_LOW_BITS) <<
	       HROCE_QPN_LOW_BITS | (qpn & HROCE_QPN_LOW_MASK);
}

/**
 * hroce_qp_find - look a queue pair up
 * @dev: device
 * @qpn: its number
 *
 * Context: in an epoch.
 * Return: queue pair or NULL.
 */
static inline struct hroce_qp *hroce_qp_find(struct hroce_dev *dev,
					     unsigned long qpn)
{
	struct hroce_lookup_slot *slot;
	unsigned long removals;
	struct hroce_qp *qp;

	qp = hroce_lookup_find(&dev->qp_lookup, qpn, &slot, &removals);
	if (likely(qp && qp->proto.qpn == qpn))
		return qp;
	qp = xa_load(&dev->qps, hroce_qp_index(dev, qpn));
	/* User space may pass any number. */
	if (!qp || qp->proto.qpn != qpn)
		return NULL;
	hroce_lookup_store(slot, qp, removals);
	return qp;
}

/* send.c */

/**
 * hroce_qp_send_init - prepare the requester side's lock, runner and timer
 * @qp: being created
 */
void hroce_qp_send_init(struct hroce_qp *qp);

/**
 * hroce_qp_send_work - run the requester, unless another context does
 * @qp: queue pair
 *
 * Only for hroce_qp_run_pending(). Context: in an epoch, no lock.
 */
void hroce_qp_send_work(struct hroce_qp *qp);

/**
 * hroce_qp_waits_for - find why the requester does not send
 * @qp: queue pair with a requester
 *
 * As hrp_wait_for(), and it knows what is queued below.
 *
 * Context: send lock held.
 * Return: the reason.
 */
enum hrp_wait hroce_qp_waits_for(const struct hroce_qp *qp);

/**
 * hroce_qp_trace_wait - trace why the requester does not send
 * @qp: queue pair whose requester has sent what it may, or has been answered
 *
 * Tells a reason when it is another one than was told last.
 *
 * Context: send lock held, in an epoch.
 */
void hroce_qp_trace_wait(struct hroce_qp *qp);

/**
 * hroce_qp_send_stop - stop timer and tasklet of the requester side
 * @qp: queue pair, @qp->dead is set and epochs have been waited for
 *
 * Context: process, may sleep.
 */
void hroce_qp_send_stop(struct hroce_qp *qp);

/**
 * hroce_qp_send_wake - have the timer of a queue pair fire
 * @qp: queue pair
 * @at_ns: at this time at the latest
 *
 * Context: in an epoch; @qp->recv.lock held, but not @qp->send.lock.
 */
void hroce_qp_send_wake(struct hroce_qp *qp, u64 at_ns);

/**
 * hroce_qp_send_due - do what is due at the expiry of the timer, @qp->timer_ns
 * @qp: queue pair
 * @now_ns: current time
 *
 * For the timer, and for a process that polls the netdev and comes earlier.
 * Context: softirq, or process in an epoch; no lock.
 */
void hroce_qp_send_due(struct hroce_qp *qp, u64 now_ns);

/* reply.c: the same for the responder side */
void hroce_qp_recv_init(struct hroce_qp *qp);
void hroce_qp_recv_work(struct hroce_qp *qp);
void hroce_qp_recv_stop(struct hroce_qp *qp);

/* hold.c */

/*
 * May ACKs be held? Only if timers are more precise than ticks. Context: any.
 */
static inline bool hroce_hold_is_on(const struct hroce_qp *qp)
{
	return READ_ONCE(hqp_dev(qp)->ack_delay_us) &&
	       hrtimer_resolution < NSEC_PER_USEC;
}

/**
 * hroce_hold_begin - an ACK is held from now on
 * @qp: queue pair
 *
 * Has the timer bound the time. Context: softirq, @qp->recv.lock held.
 */
void hroce_hold_begin(struct hroce_qp *qp);

/**
 * hroce_hold_nak - a sequence NAK is held from now on, or was a moment ago
 * @qp: queue pair
 *
 * Has the timer bound the time. Context: softirq, in an epoch, no lock.
 */
void hroce_hold_nak(struct hroce_qp *qp);

/**
 * hroce_hold_polled - the process polls the netdev for want of completions
 * @qp: queue pair
 *
 * It has not answered yet. ACKs are held longer for such a process, unless it
 * polls several times without an answer.
 *
 * Context: process, in an epoch, no lock.
 */
void hroce_hold_polled(struct hroce_qp *qp);

/**
 * hroce_hold_timeout - the timer has fired
 * @qp: queue pair
 * @now_ns: current time
 *
 * Context: both locks held; hroce_qp_run_pending() follows.
 * Return: time to call again; 0: never.
 */
u64 hroce_hold_timeout(struct hroce_qp *qp, u64 now_ns);

/**
 * hroce_hold_ride - add the ACK that is held to the frame of a request
 * @qp: queue pair
 * @out: run of the requester, after its last burst
 *
 * Context: as hroce_out_add(); no lock of the queue pair held.
 */
void hroce_hold_ride(struct hroce_qp *qp, struct hroce_out *out);

/**
 * hroce_hold_end - send the ACK or NAK that is held, if any
 * @qp: queue pair, about to be stopped
 *
 * Context: as hroce_qp_run_pending().
 */
void hroce_hold_end(struct hroce_qp *qp);

/* run.c: what both sides share */

/**
 * hroce_qp_visit_all - call a function for each queue pair of a device
 * @dev: device
 * @visit: called in an epoch, once for each queue pair; those that are created
 *	or destroyed meanwhile may be left out
 *
 * Context: process, may sleep.
 */
void hroce_qp_visit_all(struct hroce_dev *dev,
			void (*visit)(struct hroce_qp *qp));

/**
 * hroce_qp_stop - end all work on a queue pair
 * @qp: queue pair; for destruction already removed from hroce_dev.qps
 *
 * Sets @qp->dead and waits for runners, timer and tasklets. After return the
 * caller is the only user, until it clears @qp->dead under both locks. Packets
 * that are kept stay, see hroce_qp_forget_kept().
 * Context: process, may sleep.
 */
void hroce_qp_stop(struct hroce_qp *qp);

/**
 * hroce_qp_forget_kept - free the packets that are kept
 * @qp: queue pair in state ERR, or stopped by hroce_qp_stop() and never to go on
 *
 * And what it knows of those that its peer keeps: a peer answers what was asked
 * because of that. Context: any but hard interrupts, no lock held.
 */
void hroce_qp_forget_kept(struct hroce_qp *qp);

/**
 * hroce_qp_side_take - take the token of a side
 * @qp: queue pair
 * @side: one of its sides
 *
 * Context: @side->lock held, in an epoch.
 * Return: true if the caller has the token now; false if another context has
 * it, which looks again, or if nothing may run any more.
 */
static inline bool hroce_qp_side_take(const struct hroce_qp *qp,
				      struct hroce_side *side)
{
	lockdep_assert_held(&side->lock);
	if (side->running) {
		side->again = true;
		return false;
	}
	side->running = !qp->dead;
	return side->running;
}

/* Return: true if this epoch may do more work; if not, the tasklet runs. */
bool hroce_qp_side_may(struct hroce_side *side);

/**
 * hroce_qp_side_again - must the holder of a token look again?
 * @side: side of which the caller holds the token
 *
 * If so, but this epoch may do no more work, the tasklet looks.
 * Context: @side->lock held, in an epoch.
 * Return: true to look again now, false to release the token.
 */
static inline bool hroce_qp_side_again(struct hroce_side *side)
{
	lockdep_assert_held(&side->lock);
	return side->again && hroce_qp_side_may(side);
}

/**
 * hroce_qp_end_flush - flush the requests left in a stopped queue pair
 * @qp: queue pair, stopped by hroce_qp_stop()
 *
 * Calls the handlers, too. Context: process, may sleep.
 */
void hroce_qp_end_flush(struct hroce_qp *qp);

/**
 * hroce_qp_pace - give a requester memory for a rate
 * @qp: queue pair; @qp->proto.req.pace is NULL, and stays so if there is no memory
 * @now_ns: current time
 *
 * Context: send lock held.
 */
void hroce_qp_pace(struct hroce_qp *qp, u64 now_ns);

/**
 * hroce_qp_rehash - have packets take another way through the network
 * @qp: queue pair
 * @answer: answers, else requests
 *
 * Unless the switch of the link is off. Context: sender of that side, with its
 * lock; no frame is open.
 */
void hroce_qp_rehash(struct hroce_qp *qp, bool answer);

/**
 * hroce_qp_fatal - request the error state and the event QP_FATAL
 * @qp: queue pair
 *
 * Takes effect in hroce_qp_run_pending().
 * Context: one of the QP's locks is held.
 */
void hroce_qp_fatal(struct hroce_qp *qp);

/**
 * hroce_qp_run_pending - do the work deferred until the locks are dropped
 * @qp: queue pair
 *
 * Runs the sides, calls completion and event handlers as @qp->proto.pending
 * says.
 * Context: process or softirq, no QP lock held, in an epoch or owner of @qp.
 */
void hroce_qp_run_pending(struct hroce_qp *qp);

/* The same in an epoch, under RCU. */
void hroce_qp_run_pending_bh(struct hroce_qp *qp);

/**
 * hroce_qp_run_later - let a tasklet do that work, if there is any
 * @qp: queue pair
 *
 * Context: BH disabled, in an epoch.
 */
void hroce_qp_run_later(struct hroce_qp *qp);

/**
 * hroce_qp_push - complete a request
 * @qp: queue pair
 * @cq: completion queue
 * @cqe: as for hroce_cq_push()
 * @solicited: the sender asked for an event
 *
 * Context: the lock of the side held; hroce_qp_run_pending() follows.
 * Return: true if the caller must call hroce_cq_notify() after dropping its
 * locks.
 */
static inline bool __must_check hroce_qp_push(struct hroce_qp *qp,
					      struct hroce_cq *cq,
					      const struct hroce_cqe *cqe,
					      bool solicited)
{
	bool notify;

	/* A completion in error always raises an event (IBTA 11.4.2.2). */
	if (cqe->status != HROCE_WC_SUCCESS)
		solicited = true;
	notify = hroce_cq_push(cq, cqe, solicited);
	/* CQ overrun: move the QP to ERR. */
	if (unlikely(READ_ONCE(cq->overrun)))
		hroce_qp_fatal(qp);
	return notify;
}

/* Send what can be sent now. Context: as hroce_qp_run_pending(). */
static inline void hroce_qp_send_run(struct hroce_qp *qp)
{
	set_bit(HROCE_PENDING_SEND_RUN, &qp->proto.pending);
	hroce_qp_run_pending(qp);
}

/* Answer and flush. Context: as hroce_qp_run_pending(). */
static inline void hroce_qp_recv_run(struct hroce_qp *qp)
{
	set_bit(HROCE_PENDING_RECV_RUN, &qp->proto.pending);
	hroce_qp_run_pending(qp);
}

/**
 * hroce_qp_error - put a queue pair into the error state and flush it
 * @qp: queue pair
 *
 * May be called again, to flush what was posted later.
 * Context: process or softirq, no QP lock held, in an epoch or owner of @qp.
 */
void hroce_qp_error(struct hroce_qp *qp);

#endif /* HROCE_QP_H */

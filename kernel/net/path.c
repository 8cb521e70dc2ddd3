// SPDX-License-Identifier: GPL-2.0
/*
 * Paths: back-pressure, order, and detection of frames that stay on this host.
 *
 * The destructor of a frame has two jobs. It uncharges the frame. And a
 * received frame that still has it was sent by this module on this host and
 * passed through memory only: a frame that crosses a wire, or is copied or
 * split, loses its destructor. The receiver then marks the sender's path, which
 * elides the ICRC of later frames. Those have a different destructor and a
 * partial checksum. Code that modifies a frame (netem) must complete the
 * checksum first, and the frame is no longer trusted.
 *
 * The receiver that trusts a frame exchanges that destructor. If the destructor
 * runs, the frame was dropped, or its clone or its segments go on, which have
 * neither mark nor ICRC. Then later frames have an ICRC again. Senders of UC and
 * UD have no other way to know.
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/wait_bit.h>
#include <net/ipv6.h>

#include "../core/epoch.h"
#include "limit.h"
#include "microburst.h"
#include "path.h"
#include "port.h"
#include "route.h"
#include "suspect.h"

/*
 * Charges are counted in units, to fit into the low bits of the pointer to the
 * aligned queue. They are stored because the truesize of a frame may change
 * later.
 */
#define QUEUE_ALIGN	256
#define QUEUE_UNITS	0x3ful	/* low bits of the pointer: units */
#define QUEUE_CLASS	6	/* ... and above them the class of the frame */

/*
 * Units, frames and the CPU share one word. The last frame to return its units
 * leaves none, however many destructors are running: each of them still counts
 * as a frame.
 */
#define USED_UNITS_BITS		24
#define USED_FRAME		BIT_ULL(USED_UNITS_BITS)
#define USED_CPU_SHIFT		48
#define USED_CPU		BIT_ULL(USED_CPU_SHIFT)

/* Elide the ICRC for this long after a local delivery. */
#define PATH_LOCAL_TIME	(HZ / 20 + 1)
/* Do not elide the ICRC for this long after a loss, and longer if it recurs. */
#define PATH_LOST_TIME	HZ
#define PATH_LOST_MAX	(64 * HZ)

/* Interval of messages while hroce_path_drain() waits. */
#define PATH_DRAIN_NOTICE	(5 * HZ)

/* Whether a frame refers to memory of a region, and for which side. */
enum queue_class {
	QUEUE_NONE,		/* no, or not counted */
	QUEUE_ANSWER,		/* READ responses */
	QUEUE_PHASE,		/* requests, first phase */
	QUEUE_PHASE_ODD,	/* requests, second phase */
	QUEUE_NR_CLASSES
};

/**
 * struct hroce_path_queue - state that frames share with their path
 * @used: units of frames not yet freed; above them the number of these frames,
 *	plus one for the path; the queue is freed when that drops to zero. Above
 *	it the CPU, plus one, that sent the first of these frames
 * @full: sides that hroce_path_room() told to pause since the last wake, by bit
 * @limit: of the units
 * @late: frames are freed late: this side may send a packet above the limit
 * @refs: frames of each class not yet freed; not used for QUEUE_NONE
 * @awaited: wake the path when one of @refs drops to zero
 * @phase: class of the requests being sent
 * @begun: the owner's mark at the start of the current phase
 * @left: the owner's mark at the start of the other phase
 * @local: frames have arrived on this host, until @local_until
 * @local_hash: path_hash() of the destination of the last such frame
 * @ip_id: next IPv4 identification
 * @local_until: in jiffies
 * @lost: do not set @local before @lost_until
 * @lost_until: in jiffies
 * @lost_time: how long that was from the loss on; 0 if there was none
 * @suspect: about the netdev, by requests and by answers
 * @share: of what the recorder of the link counts
 * @path: the path; NULL after hroce_path_fini()
 * @rcu: to free it
 */
struct hroce_path_queue {
	atomic64_t used;
	struct hroce_limit limit;
	atomic_t full;
	bool late[2];
	atomic_t refs[QUEUE_NR_CLASSES];
	atomic_t awaited;
	u32 phase;
	u32 begun;
	u32 left;
	bool local;
	bool lost;
	u32 local_hash;
	atomic_t ip_id;
	unsigned long local_until;
	unsigned long lost_until;
	unsigned long lost_time;
	struct hroce_suspect suspect[2];
	struct hroce_share share;
	struct hroce_path __rcu *path;
	struct rcu_head rcu;
} __aligned(QUEUE_ALIGN);

/* Queues of all links that are not freed yet. */
static atomic_t path_queues = ATOMIC_INIT(0);

static u32 used_units(u64 used)
{
	return used & (USED_FRAME - 1);
}

static u32 used_frames(u64 used)
{
	return (used & (USED_CPU - 1)) >> USED_UNITS_BITS;
}

static u64 queue_used(const struct hroce_path_queue *queue)
{
	return atomic64_read_acquire(&queue->used);
}

/* Return: units in use. */
static u32 queue_units(const struct hroce_path_queue *queue)
{
	return used_units(queue_used(queue));
}

/*
 * Take units for a frame. Return: the CPU, plus one, whose transmit queue the
 * frame is to use. That changes only while no frame is under way, so that frames
 * do not overtake each other.
 */
static u32 queue_take(struct hroce_path_queue *queue, unsigned int units)
{
	s64 cpu = raw_smp_processor_id() + 1;
	s64 used = atomic64_read(&queue->used);
	s64 taken = USED_FRAME + units;

	if (used_frames(used) == 1 &&
	    atomic64_try_cmpxchg(&queue->used, &used,
				 cpu << USED_CPU_SHIFT | (USED_FRAME + taken)))
		return cpu;
	return (u64)atomic64_add_return(taken, &queue->used) >> USED_CPU_SHIFT;
}

static u32 queue_release(struct hroce_path_queue *queue, unsigned int units)
{
	return used_units(atomic64_sub_return(units, &queue->used));
}

/* Let go of the queue, for a frame or the path. */
static void queue_put(struct hroce_path_queue *queue)
{
	if (used_frames(atomic64_sub_return(USED_FRAME, &queue->used)))
		return;
	kfree_rcu(queue, rcu);
	if (atomic_dec_and_test(&path_queues))
		wake_up_var(&path_queues);
}

static struct hroce_path_queue *queue_of(const struct sk_buff *skb)
{
	unsigned long arg = (unsigned long)skb_shinfo(skb)->destructor_arg;

	return (struct hroce_path_queue *)(arg & ~(QUEUE_ALIGN - 1UL));
}

/* The senders that pause may go on, unless another context has seen to it. */
static void queue_drained(struct hroce_path_queue *queue,
			  struct hroce_path *path)
{
	if (!atomic_xchg(&queue->full, 0))
		return;
	hroce_limit_drained(&queue->limit, queue_units(queue),
			    atomic_read(&path->port->waiting), ktime_get_ns());
	atomic_dec(&path->port->waiting);
	path->wake(path);
}

/* One side has room, so the other one has it, too. */
static void queue_has_room(struct hroce_path_queue *queue,
			   struct hroce_path *path)
{
	if (!atomic_xchg(&queue->full, 0))
		return;
	atomic_dec(&path->port->waiting);
	path->wake(path);
}

/* The last frame of a class has gone. */
static void queue_unreferred(struct hroce_path_queue *queue,
			     struct hroce_path *path)
{
	if (atomic_xchg(&queue->awaited, 0))
		path->wake(path);
}

/* Call the function if the path is still there. */
static void queue_tell(struct hroce_path_queue *queue,
		       void (*tell)(struct hroce_path_queue *queue,
				    struct hroce_path *path))
{
	struct hroce_path *path;
	unsigned long flags;

	/*
	 * Frames may be freed with interrupts disabled, where BH cannot be
	 * disabled. A softirq in between would run as part of this epoch.
	 */
	local_irq_save(flags);
	hroce_epoch_begin();
	path = rcu_dereference(queue->path);
	if (path)
		tell(queue, path);
	hroce_epoch_end();
	local_irq_restore(flags);
}

/*
 * Tell the recorder of the link, if there is one, what is queued; nothing if the
 * path ends.
 */
static void queue_count(struct hroce_path_queue *queue, struct hroce_path *path)
{
	const struct hroce_port *port = path->port;
	struct hroce_recorder *rec;
	unsigned long flags;

	BUILD_BUG_ON(HROCE_LIMIT_UNIT != 1024);
	rcu_read_lock();
	rec = rcu_dereference(port->recorder);
	if (rec) {
		flags = hroce_recorder_lock(rec);
		hroce_recorder_count(rec, &queue->share, port->ops->qpn(path),
				     rcu_access_pointer(queue->path) ?
				     queue_units(queue) : 0);
		hroce_recorder_unlock(rec, flags);
	}
	rcu_read_unlock();
}

static void path_free_skb(struct sk_buff *skb)
{
	unsigned long arg = (unsigned long)skb_shinfo(skb)->destructor_arg;
	enum queue_class class = arg >> QUEUE_CLASS & (QUEUE_NR_CLASSES - 1);
	struct hroce_path_queue *queue = queue_of(skb);
	u32 units;

	rcu_read_lock();
	/* Fully ordered: see hroce_path_await_refs(). */
	if (class != QUEUE_NONE && atomic_dec_and_test(&queue->refs[class]) &&
	    atomic_read(&queue->awaited))
		queue_tell(queue, queue_unreferred);
	units = queue_release(queue, arg & QUEUE_UNITS);
	if (units < hroce_limit_low(&queue->limit) && atomic_read(&queue->full))
		queue_tell(queue, queue_drained);
	if (static_branch_unlikely(&hroce_microbursts))
		queue_tell(queue, queue_count);
	queue_put(queue);
	rcu_read_unlock();
}

/*
 * Frames need an ICRC for a while: for twice as long as after the loss before,
 * if they have gone without for no longer than that.
 */
static void queue_lost(struct hroce_path_queue *queue)
{
	unsigned long last = READ_ONCE(queue->lost_time);
	unsigned long time = PATH_LOST_TIME;

	if (!READ_ONCE(queue->local))
		return;
	if (time_before(jiffies, READ_ONCE(queue->lost_until) + last))
		time = clamp_t(unsigned long, 2 * last, PATH_LOST_TIME,
			       PATH_LOST_MAX);
	WRITE_ONCE(queue->lost_time, time);
	WRITE_ONCE(queue->lost_until, jiffies + time);
	WRITE_ONCE(queue->lost, true);
	WRITE_ONCE(queue->local, false);
}

/* Its identity marks skbs without an ICRC that no receiver has trusted yet. */
static void path_free_elided_skb(struct sk_buff *skb)
{
	queue_lost(queue_of(skb));
	path_free_skb(skb);
}

void hroce_path_drain(void)
{
	/* Destructors are code of this module, so wait for them. */
	while (!wait_var_event_timeout(&path_queues, !atomic_read(&path_queues),
				       PATH_DRAIN_NOTICE))
		pr_warn("unloading waits for frames of %d paths that a qdisc, a netfilter queue or a device holds: remove the qdisc (tc qdisc del), end the program behind the queue, or set the device down\n",
			atomic_read(&path_queues));
	/* The last destructor may not have returned yet. */
	synchronize_rcu();
}

static struct hroce_path_queue *queue_create(struct hroce_path *path,
					     gfp_t gfp)
{
	struct hroce_path_queue *queue;

	BUILD_BUG_ON(!is_power_of_2(sizeof(*queue)));
	queue = kzalloc(sizeof(*queue), gfp);
	if (!queue)
		return NULL;
	atomic_inc(&path_queues);
	atomic64_set(&queue->used, USED_FRAME);
	queue->limit.stale_at = jiffies;
	queue->phase = QUEUE_PHASE;
	atomic_set(&queue->ip_id, get_random_u32() & 0xffff);
	rcu_assign_pointer(queue->path, path);
	return queue;
}

static void path_set_key(struct hroce_path *path,
			 const struct hroce_path_key *key)
{
	path->key = *key;
	path->sport[0] = key->sport;
	path->sport[1] = key->sport;
}

int hroce_path_init(struct hroce_path *path, struct hroce_port *port,
		    const struct hroce_path_key *key, bool cached, gfp_t gfp)
{
	if (ipv6_addr_v4mapped(&key->saddr) != ipv6_addr_v4mapped(&key->daddr))
		return -EAFNOSUPPORT;
	path->known = NULL;
	if (cached && hroce_route_init(path, gfp))
		return -ENOMEM;
	path->queue = NULL;
	if (path->wake) {
		path->queue = queue_create(path, gfp);
		if (!path->queue) {
			hroce_route_fini(path);
			return -ENOMEM;
		}
	}
	path->port = port;
	path_set_key(path, key);
	return 0;
}

void hroce_path_update(struct hroce_path *path,
		       const struct hroce_path_key *key)
{
	path_set_key(path, key);
	hroce_route_forget(path);
	WRITE_ONCE(path->queue->local, false);
	path->queue->limit.stale_at = jiffies;
	memset(path->queue->suspect, 0, sizeof(path->queue->suspect));
	memset(path->single, 0, sizeof(path->single));
}

u16 hroce_path_draw_sport(u16 old)
{
	const u16 first = IB_ROCE_UDP_ENCAP_VALID_PORT_MIN + 1;
	u16 sport;

	/* The port before belongs to flow label 0, which means that there is none. */
	do {
		sport = get_random_u32_inclusive(first,
						 IB_ROCE_UDP_ENCAP_VALID_PORT_MAX);
	} while (sport == old);
	return sport;
}

void hroce_path_rehash(struct hroce_path *path, bool answer)
{
	/* The sender of the other side may look the route up. */
	WRITE_ONCE(path->sport[answer],
		   hroce_path_draw_sport(path->sport[answer]));
	if (!answer)
		hroce_route_forget(path);
}

void hroce_path_fini(struct hroce_path *path)
{
	struct hroce_path_queue *queue = path->queue;

	hroce_route_fini(path);
	if (!queue)
		return;
	RCU_INIT_POINTER(queue->path, NULL);
	/*
	 * A destructor counts as a frame until it has called wake; pairs with
	 * its atomic64_sub_return().
	 */
	smp_mb();
	if (!hroce_path_is_idle(path))
		hroce_epoch_wait();
	if (static_branch_unlikely(&hroce_microbursts))
		queue_count(queue, path);
	if (atomic_xchg(&queue->full, 0))
		atomic_dec(&path->port->waiting);
	path->queue = NULL;
	queue_put(queue);
}

/*
 * A side that paused has room. Return: false if it had been told already that it
 * may go on.
 */
static bool path_go_on(struct hroce_path *path, int side)
{
	int full = atomic_fetch_andnot(side, &path->queue->full);

	if (full == side)
		atomic_dec(&path->port->waiting);
	return full & side;
}

/*
 * The queue is full. Return: true if the sender has to pause; a destructor wakes
 * the path.
 */
static bool path_pause(struct hroce_path *path, bool answer)
{
	struct hroce_path_queue *queue = path->queue;
	struct hroce_limit *limit = &queue->limit;
	u32 units = queue_units(queue);
	u64 now_ns = ktime_get_ns();
	int side = BIT(answer);

	if (!atomic_read(&queue->full)) {
		hroce_limit_full(limit, units, now_ns);
	} else if (hroce_limit_late(limit, units, now_ns)) {
		/* It is not known which side has something to send. */
		WRITE_ONCE(queue->late[0], true);
		WRITE_ONCE(queue->late[1], true);
	}
	if (READ_ONCE(queue->late[answer])) {
		WRITE_ONCE(queue->late[answer], false);
		return false;
	}
	if (!atomic_fetch_or(side, &queue->full))
		atomic_inc(&path->port->waiting);
	/*
	 * Fully ordered: either this sees the returned units, or destructors
	 * see @full. The last of these frames leaves no units, so it does wake
	 * the path, whatever the limit is by then.
	 */
	if (queue_units(queue) >= hroce_limit_high(limit))
		return true;
	/* If @full is already clear, a destructor wakes the path. */
	return !path_go_on(path, side);
}

/* Return: bytes up to the limit behind an open frame, at least one. */
static u32 queue_room(u32 high, u32 units, u32 open)
{
	u32 room = high > units ? (high - units) * HROCE_LIMIT_UNIT : 0;

	return room > open ? room - open : 1;
}

static noinline u32 path_room_rare(struct hroce_path *path, bool answer,
				   u32 open)
{
	struct hroce_path_queue *queue = path->queue;
	struct hroce_limit *limit = &queue->limit;
	int side = BIT(answer);

	if (hroce_limit_is_stale(limit) && !atomic_read(&queue->full))
		hroce_limit_forget(limit, atomic_read(&path->port->waiting));
	if (queue_units(queue) < hroce_limit_high(limit)) {
		/*
		 * This side might keep the queue at more than half for ever:
		 * there is room for the other one, too.
		 */
		if (atomic_read(&queue->full) & ~side)
			queue_tell(queue, queue_has_room);
		if (atomic_read(&queue->full))
			path_go_on(path, side);
	} else if (path_pause(path, answer)) {
		return 0;
	}
	return queue_room(hroce_limit_high(limit), queue_units(queue), open);
}

u32 hroce_path_room(struct hroce_path *path, bool answer, u32 open)
{
	struct hroce_path_queue *queue = path->queue;
	u32 high = hroce_limit_high(&queue->limit);
	u32 units = queue_units(queue);

	if (unlikely(units >= high || atomic_read(&queue->full) ||
		     hroce_limit_is_stale(&queue->limit)))
		return path_room_rare(path, answer, open);
	return queue_room(high, units, open);
}

u64 hroce_path_late_ns(const struct hroce_path *path)
{
	return hroce_path_waits(path) ?
	       READ_ONCE(path->queue->limit.late_ns) : 0;
}

static u32 queue_other_phase(const struct hroce_path_queue *queue)
{
	return queue->phase ^ QUEUE_PHASE ^ QUEUE_PHASE_ODD;
}

void hroce_path_refer(struct hroce_path *path, bool fresh, u32 mark)
{
	struct hroce_path_queue *queue = path->queue;
	u32 other = queue_other_phase(queue);

	if (!fresh || atomic_read_acquire(&queue->refs[other]))
		return;
	queue->left = queue->begun;
	queue->begun = mark;
	WRITE_ONCE(queue->phase, other);
}

u32 hroce_path_refs_begin(const struct hroce_path *path, bool open, u32 end)
{
	const struct hroce_path_queue *queue = path->queue;

	if (atomic_read_acquire(&queue->refs[queue_other_phase(queue)]))
		return queue->left;
	if (open || atomic_read_acquire(&queue->refs[queue->phase]))
		return queue->begun;
	return end;
}

bool hroce_path_has_refs(const struct hroce_path *path)
{
	const struct hroce_path_queue *queue = path->queue;

	return atomic_read_acquire(&queue->refs[QUEUE_ANSWER]) ||
	       atomic_read_acquire(&queue->refs[QUEUE_PHASE]) ||
	       atomic_read_acquire(&queue->refs[QUEUE_PHASE_ODD]);
}

void hroce_path_await_refs(struct hroce_path *path)
{
	atomic_set(&path->queue->awaited, 1);
	/* Pairs with the atomic_dec_and_test() of destructors. */
	smp_mb__after_atomic();
}

bool hroce_path_waits(const struct hroce_path *path)
{
	return atomic_read(&path->queue->full);
}

bool hroce_path_is_queued(const struct hroce_path *path)
{
	return queue_units(path->queue);
}

void hroce_path_lost(struct hroce_path *path)
{
	queue_lost(path->queue);
}

void hroce_path_resends(struct hroce_path *path, bool answer,
			const struct hroce_resend *resend)
{
	hroce_suspect_resend(&path->queue->suspect[answer], resend,
			     &path->watched[answer]);
}

void hroce_path_watch(struct hroce_path *path, bool answer, u32 psn)
{
	path->watched[answer] =
		hroce_suspect_watch(&path->queue->suspect[answer], psn);
}

void hroce_path_unwatch(struct hroce_path *path, bool answer)
{
	path->watched[answer] = false;
}

void hroce_path_arrived(struct hroce_path *path, bool answer, u32 psn)
{
	if (hroce_suspect_progress(&path->queue->suspect[answer], psn))
		hroce_port_spoils(path->port);
}

void hroce_path_choose(struct hroce_path *path, bool answer, u32 psn)
{
	path->single[answer] =
		hroce_suspect_single(&path->queue->suspect[answer], psn);
}

static u32 path_hash(const struct in6_addr *daddr)
{
	return __ipv6_addr_jhash(daddr, 0);
}

bool hroce_path_elides(const struct hroce_path *path,
		       const struct in6_addr *daddr)
{
	const struct hroce_path_queue *queue = path->queue;

	return READ_ONCE(path->port->elide_icrc) && READ_ONCE(queue->local) &&
	       time_before(jiffies, READ_ONCE(queue->local_until)) &&
	       READ_ONCE(queue->local_hash) == path_hash(daddr);
}

bool hroce_path_is_idle(const struct hroce_path *path)
{
	return used_frames(queue_used(path->queue)) == 1;
}

int hroce_path_take_ids(struct hroce_path *path, int nr)
{
	return atomic_fetch_add(nr, &path->queue->ip_id);
}

void hroce_path_return_ids(struct hroce_path *path, int end, int unused)
{
	atomic_cmpxchg(&path->queue->ip_id, end, unused);
}

void hroce_path_charge(struct hroce_path *path, struct sk_buff *skb,
		       bool elided, bool answer)
{
	unsigned int units = clamp_t(unsigned int,
				     skb->truesize / HROCE_LIMIT_UNIT,
				     1, QUEUE_UNITS);
	struct hroce_path_queue *queue = path->queue;
	u32 cpu, class = QUEUE_NONE;

	BUILD_BUG_ON(QUEUE_NR_CLASSES << QUEUE_CLASS > QUEUE_ALIGN);
	if (skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG) {
		class = answer ? QUEUE_ANSWER : queue->phase;
		atomic_inc(&queue->refs[class]);
	}
	cpu = queue_take(queue, units);
#ifdef CONFIG_XPS
	skb->sender_cpu = cpu;
#endif
	skb_shinfo(skb)->destructor_arg = (void *)queue +
					  (class << QUEUE_CLASS | units);
	skb->destructor = elided ? path_free_elided_skb : path_free_skb;
	/* Make GRO call the destructor when it takes the frame apart. */
	skb->slow_gro = 1;
	if (static_branch_unlikely(&hroce_microbursts))
		queue_count(queue, path);
}

/* Only super-packets count, as smaller frames may take other paths. */
static void queue_heard(struct hroce_path_queue *queue, u32 daddr_hash)
{
	unsigned long until = jiffies + PATH_LOCAL_TIME;

	if (READ_ONCE(queue->lost)) {
		if (time_before(jiffies, READ_ONCE(queue->lost_until)))
			return;
		WRITE_ONCE(queue->lost, false);
	}
	/* Do not dirty the sender's cache line for every frame. */
	if (READ_ONCE(queue->local_hash) != daddr_hash)
		WRITE_ONCE(queue->local_hash, daddr_hash);
	if (READ_ONCE(queue->local_until) != until)
		WRITE_ONCE(queue->local_until, until);
	if (!READ_ONCE(queue->local))
		WRITE_ONCE(queue->local, true);
}

bool hroce_path_trusts(struct sk_buff *skb, const struct in6_addr *daddr)
{
	bool elided = skb->destructor == path_free_elided_skb;

	if ((!elided && skb->destructor != path_free_skb) ||
	    skb->ip_summed != CHECKSUM_PARTIAL)
		return false;
	if (skb_is_gso(skb))
		queue_heard(queue_of(skb), path_hash(daddr));
	if (elided)
		skb->destructor = path_free_skb;
	return elided;
}

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
#define QUEUE_UNITS	0x1ful	/* low bits of the pointer, see units_of() */
#define QUEUE_CLASS	5	/* ... and above them the class of the frame */

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

/* Requests, or answers: the lowest bit of the class of a frame. */
#define NR_SIDES	2

/* Side of a frame, and whether it refers to memory of a region. */
enum queue_class {
	QUEUE_REQUEST,		/* no */
	QUEUE_ANSWER,		/* no */
	QUEUE_PHASE,		/* requests, first phase */
	QUEUE_ANSWER_REF,	/* READ responses */
	QUEUE_PHASE_ODD,	/* requests, second phase */
	QUEUE_NR_CLASSES,
	QUEUE_NO_REFS = QUEUE_PHASE	/* those below refer to none */
};

/**
 * struct queue_side - what the frames of one side write: requests, or answers
 * @used: units of frames not yet freed; above them the number of these frames,
 *	plus one for the path. Above it the CPU, plus one, that sent the first of
 *	these frames
 * @limit: of the units
 * @full: hroce_path_room() has told the sender to pause since the last wake
 * @ip_id: next IPv4 identification
 *
 * The two ends of a queue pair may be used on two CPUs. Then requests are sent by
 * one, and answers by the other: each has a cache line.
 */
struct queue_side {
	atomic64_t used;
	struct hroce_limit limit;
	atomic_t full;
	atomic_t ip_id;
} __aligned(QUEUE_ALIGN / 4);

/**
 * struct hroce_path_queue - state that frames share with their path
 * @sides: requests and answers
 * @users: sides that the path or a frame still uses; the queue is freed when that
 *	drops to zero
 * @refs: frames not yet freed, of each class that refers to memory
 * @awaited: wake the path when one of @refs drops to zero
 * @phase: class of the requests being sent
 * @begun: the owner's mark at the start of the current phase
 * @left: the owner's mark at the start of the other phase
 * @local: frames have arrived on this host, until @local_until
 * @local_hash: path_hash() of the destination of the last such frame
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
	struct queue_side sides[NR_SIDES];
	atomic_t refs[QUEUE_NR_CLASSES - QUEUE_NO_REFS];
	atomic_t awaited;
	atomic_t users;
	u8 phase;
	bool local;
	bool lost;
	u32 begun;
	u32 left;
	u32 local_hash;
	u32 lost_time;
	unsigned long local_until;
	unsigned long lost_until;
	struct hroce_suspect suspect[NR_SIDES];
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

static u64 side_used(const struct queue_side *side)
{
	return atomic64_read_acquire(&side->used);
}

/* Return: units in use. */
static u32 side_units(const struct queue_side *side)
{
	return used_units(side_used(side));
}

static bool side_is_idle(const struct queue_side *side)
{
	return used_frames(side_used(side)) == 1;
}

static u32 queue_units(const struct hroce_path_queue *queue)
{
	return side_units(&queue->sides[0]) + side_units(&queue->sides[1]);
}

/*
 * Take units for a frame. Return: the CPU, plus one, whose transmit queue the
 * frame is to use. That changes only while no frame is under way, so that frames
 * do not overtake each other.
 */
static u32 side_take(struct queue_side *side, unsigned int units)
{
	s64 cpu = raw_smp_processor_id() + 1;
	s64 used = atomic64_read(&side->used);
	s64 taken = USED_FRAME + units;

	if (used_frames(used) == 1 &&
	    atomic64_try_cmpxchg(&side->used, &used,
				 cpu << USED_CPU_SHIFT | (USED_FRAME + taken)))
		return cpu;
	return (u64)atomic64_add_return(taken, &side->used) >> USED_CPU_SHIFT;
}

static u32 side_release(struct queue_side *side, unsigned int units)
{
	return used_units(atomic64_sub_return(units, &side->used));
}

/* Let go of a side, for a frame or the path. */
static void queue_put(struct hroce_path_queue *queue, struct queue_side *side)
{
	if (used_frames(atomic64_sub_return(USED_FRAME, &side->used)) ||
	    !atomic_dec_and_test(&queue->users))
		return;
	kfree_rcu(queue, rcu);
	if (atomic_dec_and_test(&path_queues))
		wake_up_var(&path_queues);
}

/* The low bits of the pointer count pairs of units; a frame has one more. */
static unsigned int units_of(unsigned int pairs)
{
	return 2 * pairs + 1;
}

static atomic_t *queue_refs(struct hroce_path_queue *queue,
			    enum queue_class class)
{
	return &queue->refs[class - QUEUE_NO_REFS];
}

static bool queue_has_refs(struct hroce_path_queue *queue,
			   enum queue_class class)
{
	return atomic_read_acquire(queue_refs(queue, class));
}

static struct hroce_path_queue *queue_of(const struct sk_buff *skb)
{
	unsigned long arg = (unsigned long)skb_shinfo(skb)->destructor_arg;

	return (struct hroce_path_queue *)(arg & ~(QUEUE_ALIGN - 1UL));
}

/* A sender that paused may go on, unless another context has seen to it. */
static void queue_drained(struct hroce_path_queue *queue,
			  struct queue_side *side, struct hroce_path *path)
{
	if (!atomic_xchg(&side->full, 0))
		return;
	hroce_limit_drained(&side->limit, side_units(side),
			    atomic_read(&path->port->waiting), ktime_get_ns());
	atomic_dec(&path->port->waiting);
	path->wake(path);
}

/* The last frame of a class has gone. */
static void queue_unreferred(struct hroce_path_queue *queue,
			     struct queue_side *side, struct hroce_path *path)
{
	if (atomic_xchg(&queue->awaited, 0))
		path->wake(path);
}

/* Call the function if the path is still there. */
static void queue_tell(struct hroce_path_queue *queue, struct queue_side *side,
		       void (*tell)(struct hroce_path_queue *queue,
				    struct queue_side *side,
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
		tell(queue, side, path);
	hroce_epoch_end();
	local_irq_restore(flags);
}

/*
 * Tell the recorder of the link, if there is one, what is queued; nothing if the
 * path ends.
 */
static void queue_count(struct hroce_path_queue *queue, struct queue_side *side,
			struct hroce_path *path)
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
	enum queue_class class = (arg & (QUEUE_ALIGN - 1)) >> QUEUE_CLASS;
	struct hroce_path_queue *queue = queue_of(skb);
	struct queue_side *side = &queue->sides[class % NR_SIDES];
	u32 units;

	rcu_read_lock();
	/* Fully ordered: see hroce_path_await_refs(). */
	if (class >= QUEUE_NO_REFS &&
	    atomic_dec_and_test(queue_refs(queue, class)) &&
	    atomic_read(&queue->awaited))
		queue_tell(queue, side, queue_unreferred);
	units = side_release(side, units_of(arg & QUEUE_UNITS));
	if (units < hroce_limit_low(&side->limit) && atomic_read(&side->full))
		queue_tell(queue, side, queue_drained);
	if (static_branch_unlikely(&hroce_microbursts))
		queue_tell(queue, side, queue_count);
	queue_put(queue, side);
	rcu_read_unlock();
}

/*
 * Frames need an ICRC for a while: for twice as long as after the loss before,
 * if they have gone without for no longer than that.
 */
static void queue_lost(struct hroce_path_queue *queue)
{
	u32 last = READ_ONCE(queue->lost_time);
	u32 time = PATH_LOST_TIME;

	if (!READ_ONCE(queue->local))
		return;
	if (time_before(jiffies, READ_ONCE(queue->lost_until) + last))
		time = clamp_t(u32, 2 * last, PATH_LOST_TIME, PATH_LOST_MAX);
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
	struct queue_side *side;

	BUILD_BUG_ON(sizeof(*queue) != QUEUE_ALIGN);
	queue = kzalloc(sizeof(*queue), gfp);
	if (!queue)
		return NULL;
	atomic_inc(&path_queues);
	for (side = queue->sides; side < queue->sides + NR_SIDES; side++) {
		atomic64_set(&side->used, USED_FRAME);
		side->limit.stale_at = jiffies;
		atomic_set(&side->ip_id, get_random_u32() & 0xffff);
	}
	atomic_set(&queue->users, NR_SIDES);
	queue->phase = QUEUE_PHASE;
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
	path->queue->sides[0].limit.stale_at = jiffies;
	path->queue->sides[1].limit.stale_at = jiffies;
	memset(path->queue->suspect, 0, sizeof(path->queue->suspect));
	memset(path->watched, 0, sizeof(path->watched));
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
	struct queue_side *side;

	hroce_route_fini(path);
	if (!queue)
		return;
	RCU_INIT_POINTER(queue->path, NULL);
	/*
	 * A destructor counts as a frame until it has called wake; pairs with
	 * its atomic64_sub_return().
	 */
	smp_mb();
	if (!side_is_idle(&queue->sides[0]) || !side_is_idle(&queue->sides[1]))
		hroce_epoch_wait();
	if (static_branch_unlikely(&hroce_microbursts))
		queue_count(queue, queue->sides, path);
	path->queue = NULL;
	for (side = queue->sides; side < queue->sides + NR_SIDES; side++)
		if (atomic_xchg(&side->full, 0))
			atomic_dec(&path->port->waiting);
	queue_put(queue, &queue->sides[0]);
	queue_put(queue, &queue->sides[1]);
}

/*
 * A sender that paused has room. Return: false if it had been told already that
 * it may go on.
 */
static bool path_go_on(struct hroce_path *path, struct queue_side *side)
{
	if (!atomic_xchg(&side->full, 0))
		return false;
	atomic_dec(&path->port->waiting);
	return true;
}

/*
 * The side is full. Return: true if the sender has to pause; a destructor wakes
 * the path.
 */
static bool path_pause(struct hroce_path *path, struct queue_side *side)
{
	struct hroce_limit *limit = &side->limit;
	u32 units = side_units(side);
	u64 now_ns = ktime_get_ns();

	if (!atomic_read(&side->full))
		hroce_limit_full(limit, units, now_ns);
	else if (hroce_limit_late(limit, units, now_ns))
		return false;
	if (!atomic_xchg(&side->full, 1))
		atomic_inc(&path->port->waiting);
	/*
	 * Fully ordered: either this sees the returned units, or destructors
	 * see @full. The last of these frames leaves no units, so it does wake
	 * the path, whatever the limit is by then.
	 */
	if (side_units(side) >= hroce_limit_high(limit))
		return true;
	/* If @full is already clear, a destructor wakes the path. */
	return !path_go_on(path, side);
}

/* Return: bytes up to the limit behind an open frame, at least one. */
static u32 room_up_to(u32 high, u32 units, u32 open)
{
	u32 room = high > units ? (high - units) * HROCE_LIMIT_UNIT : 0;

	return room > open ? room - open : 1;
}

static noinline u32 path_room_rare(struct hroce_path *path,
				   struct queue_side *side, u32 open)
{
	struct hroce_limit *limit = &side->limit;

	if (hroce_limit_is_stale(limit) && !atomic_read(&side->full))
		hroce_limit_forget(limit, atomic_read(&path->port->waiting));
	if (side_units(side) >= hroce_limit_high(limit)) {
		if (path_pause(path, side))
			return 0;
	} else if (atomic_read(&side->full)) {
		path_go_on(path, side);
	}
	return room_up_to(hroce_limit_high(limit), side_units(side), open);
}

u32 hroce_path_room(struct hroce_path *path, bool answer, u32 open)
{
	struct queue_side *side = &path->queue->sides[answer];
	u32 high = hroce_limit_high(&side->limit);
	u32 units = side_units(side);

	if (unlikely(units >= high || atomic_read(&side->full) ||
		     hroce_limit_is_stale(&side->limit)))
		return path_room_rare(path, side, open);
	return room_up_to(high, units, open);
}

u64 hroce_path_late_ns(const struct hroce_path *path)
{
	const struct hroce_path_queue *queue = path->queue;
	const struct queue_side *side;
	u64 late_ns = 0, at_ns;

	for (side = queue->sides; side < queue->sides + NR_SIDES; side++) {
		if (!atomic_read(&side->full))
			continue;
		at_ns = READ_ONCE(side->limit.late_ns);
		late_ns = late_ns ? min(late_ns, at_ns) : at_ns;
	}
	return late_ns;
}

static u32 queue_other_phase(const struct hroce_path_queue *queue)
{
	return queue->phase ^ QUEUE_PHASE ^ QUEUE_PHASE_ODD;
}

void hroce_path_refer(struct hroce_path *path, bool fresh, u32 mark)
{
	struct hroce_path_queue *queue = path->queue;
	u32 other = queue_other_phase(queue);

	if (!fresh || queue_has_refs(queue, other))
		return;
	queue->left = queue->begun;
	queue->begun = mark;
	WRITE_ONCE(queue->phase, other);
}

u32 hroce_path_refs_begin(const struct hroce_path *path, bool open, u32 end)
{
	struct hroce_path_queue *queue = path->queue;

	if (queue_has_refs(queue, queue_other_phase(queue)))
		return queue->left;
	if (open || queue_has_refs(queue, queue->phase))
		return queue->begun;
	return end;
}

bool hroce_path_has_refs(const struct hroce_path *path)
{
	struct hroce_path_queue *queue = path->queue;

	return queue_has_refs(queue, QUEUE_ANSWER_REF) ||
	       queue_has_refs(queue, QUEUE_PHASE) ||
	       queue_has_refs(queue, QUEUE_PHASE_ODD);
}

void hroce_path_await_refs(struct hroce_path *path)
{
	atomic_set(&path->queue->awaited, 1);
	/* Pairs with the atomic_dec_and_test() of destructors. */
	smp_mb__after_atomic();
}

bool hroce_path_waits(const struct hroce_path *path)
{
	return atomic_read(&path->queue->sides[0].full) ||
	       atomic_read(&path->queue->sides[1].full);
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

bool hroce_path_is_idle(const struct hroce_path *path, bool answer)
{
	return side_is_idle(&path->queue->sides[answer]);
}

int hroce_path_take_ids(struct hroce_path *path, bool answer, int nr)
{
	return atomic_fetch_add(nr, &path->queue->sides[answer].ip_id);
}

void hroce_path_return_ids(struct hroce_path *path, bool answer, int end,
			   int unused)
{
	atomic_cmpxchg(&path->queue->sides[answer].ip_id, end, unused);
}

void hroce_path_charge(struct hroce_path *path, struct sk_buff *skb,
		       bool elided, bool answer)
{
	unsigned int pairs = min_t(unsigned int, QUEUE_UNITS,
				   skb->truesize / (2 * HROCE_LIMIT_UNIT));
	u32 cpu, class = answer ? QUEUE_ANSWER : QUEUE_REQUEST;
	struct hroce_path_queue *queue = path->queue;

	BUILD_BUG_ON(QUEUE_NR_CLASSES << QUEUE_CLASS > QUEUE_ALIGN);
	if (skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG) {
		class = answer ? QUEUE_ANSWER_REF : queue->phase;
		atomic_inc(queue_refs(queue, class));
	}
	cpu = side_take(&queue->sides[answer], units_of(pairs));
#ifdef CONFIG_XPS
	skb->sender_cpu = cpu;
#endif
	skb_shinfo(skb)->destructor_arg = (void *)queue +
					  (class << QUEUE_CLASS | pairs);
	skb->destructor = elided ? path_free_elided_skb : path_free_skb;
	/* Make GRO call the destructor when it takes the frame apart. */
	skb->slow_gro = 1;
	if (static_branch_unlikely(&hroce_microbursts))
		queue_count(queue, &queue->sides[answer], path);
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of packets that came too early: copies, as a frame would keep its
 * sender, its netdev or a pool of pages waiting.
 *
 * A peer decides how long they are kept, so memory is bounded. A queue pair has
 * at most a window of each kind. All of a link have at most @keep_mb; none of
 * them may take more than it leaves, so each gets at least half of what it
 * finds, up to its window. All links have at most hroce_keep_host_mb. The cgroup
 * of the process that created the queue pair pays for it. No reserves are used,
 * and a failure is a lost packet. When memory is short, or a bound is reached,
 * packets behind old gaps are given up: the peer may be gone.
 */
#include <linux/atomic.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sizes.h>
#include <linux/workqueue.h>
#include "../compat/shrinker.h"
#include "../proto/ahead.h"
#include "keep.h"
#include "qp.h"
#include "user.h"

/* Up to this size a packet is one piece of memory; none has over a page. */
#define KEEP_SMALL	(PAGE_SIZE / 2)

/* A link may take that much by default, or a part of the memory of the host. */
#define KEEP_MB		256ul
#define KEEP_RAM_PART	16

/* All links may take that part of it. */
#define KEEP_HOST_PART	8

/* A part of the memory of a cgroup that is left to its processes. */
#define KEEP_SPARE_PART	32

/*
 * A gap that has been open for this long is old, in jiffies: longer than a
 * requester takes to close one by far.
 */
#define KEEP_OLD	(HZ / 2)

/* What a part of the table takes. */
#define KEEP_PART_BYTES	(HRP_KEEP_SLOTS_BYTES + \
			 roundup_pow_of_two(sizeof(struct hrp_keep_slots)))

/* So many are freed at once; more have to wait for a worker. */
#define KEEP_FREE_NOW	2048u

/**
 * struct keep - packets of one kind that a queue pair keeps
 * @proto: part of the engine
 * @freed: in the list of those that a worker frees
 * @charged: bytes that the link has been charged for all of them
 * @psn: where the gap before them began when the last one came
 * @since: time of the first one that came behind that gap, in jiffies
 */
struct keep {
	struct hrp_keep proto;
	struct llist_node freed;
	u32 charged;
	u32 psn;
	unsigned long since;
};

static struct keep *to_keep(struct hrp_keep *proto)
{
	return container_of(proto, struct keep, proto);
}

/* Have old ones given up. Context: any. */
static void keep_make_room(struct hroce_dev *dev)
{
	if (time_before(jiffies, READ_ONCE(dev->keep_room_at)))
		return;
	WRITE_ONCE(dev->keep_room_at, jiffies + KEEP_OLD);
	schedule_work(&dev->keep_work);
}

u32 hroce_keep_host_mb;

/* Memory of all links, and when old packets are given up next for want of it. */
static atomic_long_t keep_host_bytes;
static unsigned long keep_host_room_at;

static void keep_host_work_fn(struct work_struct *work);
static DECLARE_WORK(keep_host_work, keep_host_work_fn);

/* Have old ones of all links given up. Context: any. */
static void keep_make_host_room(void)
{
	if (time_before(jiffies, READ_ONCE(keep_host_room_at)))
		return;
	WRITE_ONCE(keep_host_room_at, jiffies + KEEP_OLD);
	schedule_work(&keep_host_work);
}

static bool keep_charge_host(u32 bytes)
{
	long all = atomic_long_add_return(bytes, &keep_host_bytes);

	if (all <= (long)READ_ONCE(hroce_keep_host_mb) * SZ_1M)
		return true;
	atomic_long_sub(bytes, &keep_host_bytes);
	keep_make_host_room();
	return false;
}

static bool keep_charge(struct hroce_dev *dev, struct keep *keep, u32 bytes)
{
	long all;

	if (!keep_charge_host(bytes))
		return false;
	all = atomic_long_add_return(bytes, &dev->kept_bytes);
	if (all + keep->charged > (long)READ_ONCE(dev->keep_mb) * SZ_1M) {
		atomic_long_sub(bytes, &dev->kept_bytes);
		atomic_long_sub(bytes, &keep_host_bytes);
		keep_make_room(dev);
		return false;
	}
	keep->charged += bytes;
	return true;
}

static void keep_uncharge(struct hroce_dev *dev, struct keep *keep, u32 bytes)
{
	atomic_long_sub(bytes, &dev->kept_bytes);
	atomic_long_sub(bytes, &keep_host_bytes);
	keep->charged -= bytes;
}

/*
 * What is kept cannot be reclaimed at once. So some of each limit that holds for
 * the owner is left, or its processes would be killed for what a peer sends.
 */
static bool keep_may_pay(const struct hroce_qp *qp)
{
#ifdef CONFIG_MEMCG
	struct mem_cgroup *memcg = qp->owner ? qp->owner->memcg : NULL;
	unsigned long max;

	for (; memcg; memcg = parent_mem_cgroup(memcg)) {
		max = READ_ONCE(memcg->memory.max);
		if (max != PAGE_COUNTER_MAX &&
		    page_counter_read(&memcg->memory) >
		    max - max / KEEP_SPARE_PART)
			return false;
	}
#endif
	return true;
}

struct hrp_keep *hroce_keep_create(struct hroce_qp *qp, u32 psn)
{
	struct keep *keep;

	if (!READ_ONCE(hqp_dev(qp)->keep_mb))
		return NULL;
	keep = hroce_user_alloc(qp, sizeof(*keep));
	if (!keep)
		return NULL;
	if (!keep_charge(hqp_dev(qp), keep, roundup_pow_of_two(sizeof(*keep)))) {
		kfree(keep);
		return NULL;
	}
	keep->psn = psn;
	keep->since = jiffies;
	return &keep->proto;
}

/* Is it another gap than before? */
static void keep_look(struct keep *keep, u32 psn)
{
	if (keep->psn == psn)
		return;
	keep->psn = psn;
	keep->since = jiffies;
}

static struct hrp_keep_slots *keep_part_create(gfp_t gfp)
{
	struct hrp_keep_slots *part = kzalloc(sizeof(*part), gfp);

	if (!part)
		return NULL;
	part->slot = kzalloc(HRP_KEEP_SLOTS_BYTES, gfp);
	if (part->slot)
		return part;
	kfree(part);
	return NULL;
}

static void keep_part_destroy(struct hrp_keep_slots *part)
{
	if (!part)
		return;
	kfree(part->slot);
	kfree(part);
}

static bool keep_grow(struct hroce_dev *dev, struct keep *keep, u32 psn,
		      gfp_t gfp)
{
	struct hrp_keep_slots **part = hrp_keep_part(&keep->proto, psn);

	if (*part)
		return true;
	if (!keep_charge(dev, keep, KEEP_PART_BYTES))
		return false;
	*part = keep_part_create(gfp);
	if (!*part)
		keep_uncharge(dev, keep, KEEP_PART_BYTES);
	return *part;
}

static bool kept_is_small(u32 len)
{
	return sizeof(struct hroce_kept) + len <= KEEP_SMALL;
}

static struct hroce_kept *kept_alloc(u32 len, gfp_t gfp)
{
	struct hroce_kept *kept;

	if (kept_is_small(len)) {
		kept = kmalloc(sizeof(*kept) + len, gfp);
		if (kept)
			kept->payload = kept->bytes;
		return kept;
	}
	kept = kmalloc(sizeof(*kept), gfp);
	if (!kept)
		return NULL;
	kept->payload = (void *)__get_free_pages(gfp, get_order(len));
	if (kept->payload)
		return kept;
	kfree(kept);
	return NULL;
}

static void kept_free(struct hroce_kept *kept)
{
	u32 len = kept->proto.pkt.payload_len;

	if (!kept_is_small(len))
		free_pages((unsigned long)kept->payload, get_order(len));
	kfree(kept);
}

/* Memory that kept_alloc() takes. */
static u32 kept_cost(u32 len)
{
	u32 size = sizeof(struct hroce_kept);

	if (kept_is_small(len))
		return roundup_pow_of_two(size + len);
	return roundup_pow_of_two(size) + (PAGE_SIZE << get_order(len));
}

static struct hroce_kept *keep_alloc(struct hroce_dev *dev, struct keep *keep,
				     const struct hrp_pkt *pkt, gfp_t gfp)
{
	u32 cost = kept_cost(pkt->payload_len);
	struct hroce_kept *kept;

	if (!keep_grow(dev, keep, pkt->psn, gfp) ||
	    !keep_charge(dev, keep, cost))
		return NULL;
	kept = kept_alloc(pkt->payload_len, gfp);
	if (!kept) {
		keep_uncharge(dev, keep, cost);
		return NULL;
	}
	kept->proto.pkt = *pkt;
	kept->charged = cost;
	return kept;
}

struct hroce_kept *hroce_keep_alloc(struct hroce_qp *qp, struct hrp_keep *proto,
				    u32 psn, const struct hrp_pkt *pkt)
{
	struct keep *keep = to_keep(proto);
	gfp_t gfp = HROCE_USER_GFP;
	struct mem_cgroup *before;
	struct hroce_kept *kept;

	keep_look(keep, psn);
	if (!keep_may_pay(qp)) {
		keep_make_room(hqp_dev(qp));
		return NULL;
	}
	before = hroce_user_pay(qp, &gfp);
	kept = keep_alloc(hqp_dev(qp), keep, pkt, gfp);
	hroce_user_paid(before);
	return kept;
}

void hroce_keep_free(struct hroce_qp *qp, struct hrp_keep *proto,
		     struct hroce_kept *kept)
{
	keep_uncharge(hqp_dev(qp), to_keep(proto), kept->charged);
	kept_free(kept);
}

static void keep_free(struct hroce_dev *dev, struct keep *keep)
{
	struct hrp_kept *kept;
	u32 i;

	while ((kept = hrp_keep_take_any(&keep->proto)))
		kept_free(to_hkept(kept));
	for (i = 0; i < HRP_KEEP_PARTS; i++)
		keep_part_destroy(keep->proto.part[i]);
	keep_uncharge(dev, keep, keep->charged);
	kfree(keep);
}

void hroce_keep_destroy(struct hroce_qp *qp, struct hrp_keep *proto)
{
	struct hroce_dev *dev = hqp_dev(qp);
	struct keep *keep;

	if (!proto)
		return;
	keep = to_keep(proto);
	if (proto->nr <= KEEP_FREE_NOW)
		keep_free(dev, keep);
	else if (llist_add(&keep->freed, &dev->keep_freed))
		schedule_work(&dev->keep_free_work);
}

static void keep_free_work(struct work_struct *work)
{
	struct hroce_dev *dev = container_of(work, struct hroce_dev,
					     keep_free_work);
	struct keep *keep, *next;

	llist_for_each_entry_safe(keep, next, llist_del_all(&dev->keep_freed),
				  freed) {
		keep_free(dev, keep);
		cond_resched();
	}
}

/* All devices, and what gives up for them [keep_mutex]. */
static DEFINE_MUTEX(keep_mutex);
static LIST_HEAD(keep_devs);
static struct shrinker *keep_shrinker;

static unsigned long keep_pages(void)
{
	return atomic_long_read(&keep_host_bytes) >> PAGE_SHIFT;
}

static unsigned long keep_count(struct shrinker *shrinker,
				struct shrink_control *sc)
{
	return keep_pages();
}

static bool keep_is_old(struct hrp_keep *keep)
{
	return keep && time_after(jiffies, to_keep(keep)->since + KEEP_OLD);
}

static void keep_give_up_requests(struct hroce_qp *qp)
{
	struct hrp_keep *keep = NULL;

	if (!READ_ONCE(qp->proto.resp.keep))
		return;
	spin_lock(&qp->recv.lock);
	if (keep_is_old(qp->proto.resp.keep))
		keep = hrp_keep_close(&qp->proto);
	spin_unlock(&qp->recv.lock);
	hroce_keep_destroy(qp, keep);
}

static void keep_give_up_answers(struct hroce_qp *qp)
{
	struct hrp_keep *keep = NULL;

	if (!READ_ONCE(qp->proto.req.sack))
		return;
	spin_lock(&qp->send.lock);
	if (keep_is_old(hrp_ahead_of(&qp->proto.req)))
		keep = hrp_ahead_close(&qp->proto);
	spin_unlock(&qp->send.lock);
	hroce_keep_destroy(qp, keep);
}

static void keep_give_up(struct hroce_qp *qp)
{
	keep_give_up_requests(qp);
	keep_give_up_answers(qp);
}

static void keep_work(struct work_struct *work)
{
	hroce_qp_visit_all(container_of(work, struct hroce_dev, keep_work),
			   keep_give_up);
}

static void keep_give_up_all(void)
{
	struct hroce_dev *dev;

	lockdep_assert_held(&keep_mutex);
	list_for_each_entry(dev, &keep_devs, keep_list)
		hroce_qp_visit_all(dev, keep_give_up);
}

static void keep_host_work_fn(struct work_struct *work)
{
	mutex_lock(&keep_mutex);
	keep_give_up_all();
	mutex_unlock(&keep_mutex);
}

/* The mutex may be held by who is waiting for memory. */
static unsigned long keep_scan(struct shrinker *shrinker,
			       struct shrink_control *sc)
{
	unsigned long before, after;

	if (!mutex_trylock(&keep_mutex))
		return SHRINK_STOP;
	before = keep_pages();
	keep_give_up_all();
	after = keep_pages();
	mutex_unlock(&keep_mutex);
	return before > after ? before - after : SHRINK_STOP;
}

static struct shrinker *keep_create_shrinker(void)
{
	struct shrinker *shrinker = shrinker_alloc(0, "hroce");

	if (!shrinker)
		return NULL;
	shrinker->count_objects = keep_count;
	shrinker->scan_objects = keep_scan;
	shrinker_register(shrinker);
	return shrinker;
}

static unsigned long keep_ram_mb(void)
{
	return totalram_pages() >> (20 - PAGE_SHIFT);
}

void hroce_keep_setup(void)
{
	hroce_keep_host_mb = max(keep_ram_mb() / KEEP_HOST_PART, 1ul);
	keep_host_room_at = jiffies;
}

void hroce_keep_init(struct hroce_dev *dev)
{
	dev->keep_mb = clamp(keep_ram_mb() / KEEP_RAM_PART, 1ul, KEEP_MB);
	INIT_WORK(&dev->keep_work, keep_work);
	INIT_WORK(&dev->keep_free_work, keep_free_work);
	init_llist_head(&dev->keep_freed);
	dev->keep_room_at = jiffies;
	mutex_lock(&keep_mutex);
	list_add(&dev->keep_list, &keep_devs);
	if (!keep_shrinker)
		keep_shrinker = keep_create_shrinker();
	mutex_unlock(&keep_mutex);
}

void hroce_keep_fini(struct hroce_dev *dev)
{
	struct shrinker *shrinker = NULL;
	bool last;

	mutex_lock(&keep_mutex);
	list_del(&dev->keep_list);
	last = list_empty(&keep_devs);
	if (last)
		swap(shrinker, keep_shrinker);
	mutex_unlock(&keep_mutex);
	shrinker_free(shrinker);
	if (last)
		cancel_work_sync(&keep_host_work);
	cancel_work_sync(&dev->keep_work);
	flush_work(&dev->keep_free_work);
}

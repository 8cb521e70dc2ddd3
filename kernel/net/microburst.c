// SPDX-License-Identifier: GPL-2.0
/*
 * Recorder of microbursts.
 *
 * What the paths of a link have queued below it is summed while the recorder is
 * on. A burst begins when the sum is above the threshold. It is recorded when no
 * more than half of the threshold is left, so that a sum which goes up and down
 * around the threshold is one burst; its time ends when the sum was last above
 * the threshold. Frames of a path that is gone do not count.
 *
 * A sum needs all paths at once, so there is a lock that each frame takes twice
 * while the recorder is on. When it is off there is a static branch for each
 * frame, and nothing else.
 */
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>

#include "../trace/trace.h"
#include "microburst.h"
#include "port.h"

/* Bursts that are kept. */
#define MICROBURST_NR	64
/* Longer ones are standing queues. */
#define MICROBURST_NS	NSEC_PER_MSEC
/* Paths that had much queued when they last sent or freed a frame. */
#define RECORDER_TOPS	8

/**
 * struct microburst - a time in which much was queued below a link
 * @begin_ns: when there was more than the threshold, CLOCK_MONOTONIC
 * @end_ns: when there no longer was
 * @peak_kb: most that was queued
 * @top_qpn: queue pair that had most of that
 * @top_kb: how much it had
 */
struct microburst {
	u64 begin_ns;
	u64 end_ns;
	u32 peak_kb;
	u32 top_qpn;
	u32 top_kb;
};

/**
 * struct recorder_top - a path that has much queued
 * @share: its share; NULL: none. It is taken off before the path is freed
 * @qpn: of its queue pair
 */
struct recorder_top {
	const struct hroce_share *share;
	u32 qpn;
};

/**
 * struct hroce_recorder - recorder of one link
 * @lock: guards the rest, but for what never changes; any context
 * @ifindex: of the netdev
 * @nr: number of this recorder, never 0; shares of others are not in @sum_kb
 * @threshold_kb: a burst is above it
 * @sum_kb: queued by all paths of the link
 * @tops: those that have most queued. One that has less may be missing, until
 *	one of its frames is sent or freed
 * @open: a burst goes on: @now is it; @now.end_ns counts if @sum_kb is no longer
 *	above the threshold
 * @now: see @open
 * @recorded: bursts that have ended
 * @ring: the last of them, by number
 */
struct hroce_recorder {
	spinlock_t lock;
	int ifindex;
	u32 nr;
	u32 threshold_kb;
	u32 sum_kb;
	struct recorder_top tops[RECORDER_TOPS];
	bool open;
	struct microburst now;
	u64 recorded;
	struct microburst ring[MICROBURST_NR];
};

DEFINE_STATIC_KEY_FALSE(hroce_microbursts);

/* Serialises changes of &hroce_port.recorder and @recorder_last. */
static DEFINE_MUTEX(recorder_mutex);
/* Number of the last recorder. */
static u32 recorder_last;

static u64 burst_length_ns(const struct microburst *burst)
{
	return burst->end_ns - burst->begin_ns;
}

static u32 top_kb(const struct recorder_top *top)
{
	return top->share ? top->share->kb : 0;
}

static struct recorder_top *recorder_most(struct hroce_recorder *rec)
{
	struct recorder_top *most = &rec->tops[0];
	u32 i;

	for (i = 1; i < RECORDER_TOPS; i++)
		if (top_kb(&rec->tops[i]) > top_kb(most))
			most = &rec->tops[i];
	return most;
}

/* Keep a path among those that have most, instead of the one that has least. */
static void recorder_rank(struct hroce_recorder *rec,
			  const struct hroce_share *share, u32 qpn)
{
	struct recorder_top *least = &rec->tops[0];
	u32 i;

	for (i = 0; i < RECORDER_TOPS; i++) {
		if (rec->tops[i].share == share) {
			if (!share->kb)
				rec->tops[i].share = NULL;
			return;
		}
		if (top_kb(&rec->tops[i]) < top_kb(least))
			least = &rec->tops[i];
	}
	if (share->kb > top_kb(least))
		*least = (struct recorder_top){ share, qpn };
}

/* The sum is above the threshold. */
static void recorder_rise(struct hroce_recorder *rec)
{
	const struct recorder_top *most;

	if (!rec->open) {
		rec->open = true;
		memset(&rec->now, 0, sizeof(rec->now));
		rec->now.begin_ns = ktime_get_ns();
	}
	rec->now.end_ns = 0;
	if (rec->sum_kb <= rec->now.peak_kb)
		return;
	most = recorder_most(rec);
	rec->now.peak_kb = rec->sum_kb;
	rec->now.top_qpn = most->qpn;
	rec->now.top_kb = top_kb(most);
}

/* The sum is not, or no longer, above the threshold. */
static void recorder_fall(struct hroce_recorder *rec)
{
	if (!rec->now.end_ns)
		rec->now.end_ns = ktime_get_ns();
	if (rec->sum_kb > rec->threshold_kb / 2)
		return;
	rec->open = false;
	trace_hroce_microburst(rec->ifindex, rec->now.begin_ns,
			       burst_length_ns(&rec->now), rec->now.peak_kb,
			       rec->now.top_qpn, rec->now.top_kb);
	rec->ring[rec->recorded++ % MICROBURST_NR] = rec->now;
}

void hroce_recorder_count(struct hroce_recorder *rec, struct hroce_share *share,
			  u32 qpn, u32 kb)
{
	lockdep_assert_held(&rec->lock);
	if (share->recorder == rec->nr)
		rec->sum_kb -= share->kb;
	share->recorder = rec->nr;
	share->kb = kb;
	rec->sum_kb += kb;
	recorder_rank(rec, share, qpn);
	if (rec->sum_kb > rec->threshold_kb)
		recorder_rise(rec);
	else if (rec->open)
		recorder_fall(rec);
}

unsigned long hroce_recorder_lock(struct hroce_recorder *rec)
	__acquires(&rec->lock)
{
	unsigned long flags;

	spin_lock_irqsave(&rec->lock, flags);
	return flags;
}

void hroce_recorder_unlock(struct hroce_recorder *rec, unsigned long flags)
	__releases(&rec->lock)
{
	spin_unlock_irqrestore(&rec->lock, flags);
}

static struct hroce_recorder *port_recorder(const struct hroce_port *port)
{
	return rcu_dereference_protected(port->recorder,
					 lockdep_is_held(&recorder_mutex));
}

static int recorder_start(struct hroce_port *port, u32 kb)
{
	struct hroce_recorder *rec;

	rec = kzalloc(sizeof(*rec), GFP_KERNEL);
	if (!rec)
		return -ENOMEM;
	spin_lock_init(&rec->lock);
	rec->threshold_kb = kb;
	rec->ifindex = port->dev->ifindex;
	do {
		rec->nr = ++recorder_last;
	} while (!rec->nr);
	static_branch_inc(&hroce_microbursts);
	rcu_assign_pointer(port->recorder, rec);
	return 0;
}

static void recorder_stop(struct hroce_port *port, struct hroce_recorder *rec)
{
	RCU_INIT_POINTER(port->recorder, NULL);
	/* Two recorders of a link do not count the same share. */
	synchronize_rcu();
	static_branch_dec(&hroce_microbursts);
	kfree(rec);
}

static void recorder_change(struct hroce_recorder *rec, u32 kb)
{
	unsigned long flags = hroce_recorder_lock(rec);

	/* The next frame sees to it. */
	WRITE_ONCE(rec->threshold_kb, kb);
	hroce_recorder_unlock(rec, flags);
}

int hroce_microburst_set(struct hroce_port *port, u64 kb)
{
	struct hroce_recorder *rec;
	int err = 0;

	if (kb > HROCE_MICROBURST_MAX_KB)
		return -EINVAL;
	mutex_lock(&recorder_mutex);
	rec = port_recorder(port);
	if (rec && kb)
		recorder_change(rec, kb);
	else if (rec)
		recorder_stop(port, rec);
	else if (kb)
		err = recorder_start(port, kb);
	mutex_unlock(&recorder_mutex);
	return err;
}

u32 hroce_microburst_kb(const struct hroce_port *port)
{
	const struct hroce_recorder *rec;
	u32 kb = 0;

	rcu_read_lock();
	rec = rcu_dereference(port->recorder);
	if (rec)
		kb = READ_ONCE(rec->threshold_kb);
	rcu_read_unlock();
	return kb;
}

/*
 * Read the burst of a number, or if that is overwritten, the oldest one. The one
 * that goes on has the number behind the last. Return: false if there is none.
 */
static bool recorder_read(struct hroce_recorder *rec, u64 *number,
			  struct microburst *burst, bool *open)
{
	unsigned long flags = hroce_recorder_lock(rec);
	bool found;

	if (rec->recorded > MICROBURST_NR)
		*number = max(*number, rec->recorded - MICROBURST_NR);
	*open = *number == rec->recorded;
	found = !*open || rec->open;
	*burst = *open ? rec->now : rec->ring[*number % MICROBURST_NR];
	hroce_recorder_unlock(rec, flags);
	if (*open && !burst->end_ns)
		burst->end_ns = ktime_get_ns();
	return found;
}

static void recorder_show(struct hroce_recorder *rec, struct seq_file *file)
{
	struct microburst burst;
	bool open = false;
	u64 number = 0;
	u32 lines;

	/* Others may be recorded meanwhile: that is no reason to go on for ever. */
	for (lines = 0; lines <= MICROBURST_NR && !open; lines++, number++) {
		if (!recorder_read(rec, &number, &burst, &open))
			break;
		seq_printf(file, "%llu %llu %llu %u %u %u %s%s\n", number,
			   burst.begin_ns, burst_length_ns(&burst),
			   burst.peak_kb, burst.top_qpn,
			   100 * burst.top_kb / burst.peak_kb,
			   burst_length_ns(&burst) < MICROBURST_NS ?
			   "burst" : "standing",
			   open ? " now" : "");
	}
}

void hroce_microburst_show(struct hroce_port *port, struct seq_file *file)
{
	struct hroce_recorder *rec;

	seq_puts(file, "# number begin_ns length_ns peak_kb qpn per_cent kind\n");
	mutex_lock(&recorder_mutex);
	rec = port_recorder(port);
	if (rec)
		recorder_show(rec, file);
	mutex_unlock(&recorder_mutex);
}

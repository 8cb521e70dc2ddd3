// SPDX-License-Identifier: GPL-2.0
/*
 * Workqueues that fetch memory.
 *
 * A page of user memory may never arrive: its FUSE server or userfaultfd
 * handler may have stopped responding. get_user_pages_remote() then sleeps, for
 * FUSE even unkillably. So nothing waits for such a work item: it holds
 * references to all objects that it uses, and the objects it was queued for are
 * destroyed without it. See "Teardown" in locking.rst.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/wait_bit.h>
#include "fetch.h"

/* Work items of one process that may wait for pages at a time. */
#define FETCH_MAX_ACTIVE	16

/*
 * Processes of one user that have ended and still wait for pages: each of them
 * keeps up to FETCH_MAX_ACTIVE kernel threads, and nothing else counts it. And
 * those of all users in the namespaces that one user has made, who may give
 * itself many.
 */
#define FETCH_MAX_ENDED	16
#define FETCH_MAX_ENDED_OUTSIDE	64

/* For work items that end in finite time. */
static struct workqueue_struct *fetch_wq;

static LIST_HEAD(fetchers);
static DEFINE_MUTEX(fetchers_mutex);

int hroce_fetch_init(void)
{
	fetch_wq = alloc_workqueue("hroce_fault", WQ_UNBOUND, 0);
	return fetch_wq ? 0 : -ENOMEM;
}

static bool fetchers_gone(void)
{
	bool gone;

	mutex_lock(&fetchers_mutex);
	gone = list_empty(&fetchers);
	mutex_unlock(&fetchers_mutex);
	return gone;
}

void hroce_fetch_exit(void)
{
	wait_var_event(&fetchers, fetchers_gone());
	destroy_workqueue(fetch_wq);
}

static void fetcher_free(struct hroce_fetcher *fetcher)
{
	destroy_workqueue(fetcher->wq);
	mmdrop(fetcher->mm);
	kfree(fetcher);
}

/* Must not be a work item of @fetcher: it waits for all of those. */
static void fetcher_destroy(struct work_struct *work)
{
	struct hroce_fetcher *fetcher = container_of(work, struct hroce_fetcher,
						     destroy);

	mutex_lock(&fetchers_mutex);
	list_del(&fetcher->node);
	mutex_unlock(&fetchers_mutex);
	wake_up_var(&fetchers);
	fetcher_free(fetcher);
}

/*
 * Its process has ended or has called execve(), but a fetch needs the address
 * space, and so keeps its mappings, and with them the open device.
 */
static bool fetcher_orphaned(const struct hroce_fetcher *fetcher)
{
#ifdef CONFIG_MEMCG
	return atomic_read(&fetcher->nr_works) &&
	       !rcu_access_pointer(fetcher->mm->owner);
#else
	/* The kernel does not tell. */
	return false;
#endif
}

/*
 * Who has made the outermost user namespace that this process is in. Those that root
 * makes are of as many tenants, and root gives them no more users than it wants.
 */
static kuid_t fetch_outside_uid(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = GLOBAL_ROOT_UID;

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static bool fetcher_may_add(const struct hroce_fetcher *fetcher)
{
	unsigned int nr = 0, nr_outside = 0;
	const struct hroce_fetcher *other;

	list_for_each_entry(other, &fetchers, node) {
		if (!fetcher_orphaned(other))
			continue;
		nr += uid_eq(other->owner, fetcher->owner);
		nr_outside += uid_eq(other->outside, fetcher->outside);
	}
	return nr < FETCH_MAX_ENDED &&
	       (uid_eq(fetcher->outside, GLOBAL_ROOT_UID) ||
		nr_outside < FETCH_MAX_ENDED_OUTSIDE);
}

static struct hroce_fetcher *fetcher_create(void)
{
	struct hroce_fetcher *fetcher;

	fetcher = kzalloc(sizeof(*fetcher), GFP_KERNEL_ACCOUNT);
	if (!fetcher)
		return NULL;
	INIT_WORK(&fetcher->destroy, fetcher_destroy);
	refcount_set(&fetcher->users, 1);
	fetcher->owner = current_uid();
	fetcher->outside = fetch_outside_uid();
	fetcher->wq = alloc_workqueue("hroce_fetch", WQ_UNBOUND,
				      FETCH_MAX_ACTIVE);
	if (!fetcher->wq) {
		kfree(fetcher);
		return NULL;
	}
	fetcher->mm = current->mm;
	mmgrab(fetcher->mm);
	return fetcher;
}

/* That of the calling process, with a reference; NULL if it has none. */
static struct hroce_fetcher *fetcher_find(void)
{
	struct hroce_fetcher *fetcher;

	list_for_each_entry(fetcher, &fetchers, node)
		if (fetcher->mm == current->mm &&
		    refcount_inc_not_zero(&fetcher->users))
			return fetcher;
	return NULL;
}

/*
 * That of the calling process, which becomes @spare if it has none. Return: with a
 * reference; NULL: it has none, and must not have one.
 */
static struct hroce_fetcher *fetcher_get(struct hroce_fetcher *spare)
{
	struct hroce_fetcher *fetcher;

	mutex_lock(&fetchers_mutex);
	fetcher = fetcher_find();
	if (!fetcher && spare && fetcher_may_add(spare)) {
		list_add(&spare->node, &fetchers);
		fetcher = spare;
	}
	mutex_unlock(&fetchers_mutex);
	return fetcher;
}

struct hroce_fetcher *hroce_fetcher_of_process(void)
{
	struct hroce_fetcher *fetcher = fetcher_get(NULL), *spare;

	if (fetcher)
		return fetcher;
	spare = fetcher_create();
	if (!spare)
		return ERR_PTR(-ENOMEM);
	fetcher = fetcher_get(spare);
	if (fetcher != spare)
		fetcher_free(spare);
	return fetcher ?: ERR_PTR(-EAGAIN);
}

void hroce_fetcher_get(struct hroce_fetcher *fetcher)
{
	refcount_inc(&fetcher->users);
}

void hroce_fetcher_put(struct hroce_fetcher *fetcher)
{
	if (refcount_dec_and_test(&fetcher->users))
		queue_work(fetch_wq, &fetcher->destroy);
}

void hroce_fetch_queue(struct hroce_fetcher *fetcher, struct work_struct *work)
{
	if (fetcher)
		atomic_inc(&fetcher->nr_works);
	queue_work(fetcher ? fetcher->wq : fetch_wq, work);
}

void hroce_fetch_done(struct hroce_fetcher *fetcher)
{
	if (fetcher)
		atomic_dec(&fetcher->nr_works);
}

void hroce_fetch_skip(struct work_struct *work)
{
	if (cancel_work(work))
		queue_work(fetch_wq, work);
}

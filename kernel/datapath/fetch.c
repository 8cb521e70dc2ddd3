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
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/wait_bit.h>
#include "fetch.h"

/* Work items of one context that may wait for pages at a time. */
#define FETCH_MAX_ACTIVE	16

/*
 * Closed contexts of one user that may still wait for pages: each of them keeps
 * up to FETCH_MAX_ACTIVE kernel threads. And those of all users in the namespaces
 * that one user has made, who may give itself many.
 */
#define FETCH_MAX_CLOSED	16
#define FETCH_MAX_CLOSED_OUTSIDE	64

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

/* Must not be a work item of @fetcher: it waits for all of those. */
static void fetcher_destroy(struct work_struct *work)
{
	struct hroce_fetcher *fetcher = container_of(work, struct hroce_fetcher,
						     destroy);

	destroy_workqueue(fetcher->wq);
	mutex_lock(&fetchers_mutex);
	list_del(&fetcher->node);
	mutex_unlock(&fetchers_mutex);
	wake_up_var(&fetchers);
	kfree(fetcher);
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

static int fetcher_add(struct hroce_fetcher *fetcher)
{
	unsigned int nr = 0, nr_outside = 0;
	const struct hroce_fetcher *other;
	bool may;

	mutex_lock(&fetchers_mutex);
	list_for_each_entry(other, &fetchers, node) {
		if (!other->closed)
			continue;
		nr += uid_eq(other->owner, fetcher->owner);
		nr_outside += uid_eq(other->outside, fetcher->outside);
	}
	may = nr < FETCH_MAX_CLOSED &&
	      (uid_eq(fetcher->outside, GLOBAL_ROOT_UID) ||
	       nr_outside < FETCH_MAX_CLOSED_OUTSIDE);
	if (may)
		list_add(&fetcher->node, &fetchers);
	mutex_unlock(&fetchers_mutex);
	return may ? 0 : -EAGAIN;
}

struct hroce_fetcher *hroce_fetcher_create(void)
{
	struct hroce_fetcher *fetcher;
	int err = -ENOMEM;

	fetcher = kzalloc(sizeof(*fetcher), GFP_KERNEL_ACCOUNT);
	if (!fetcher)
		return ERR_PTR(-ENOMEM);
	INIT_WORK(&fetcher->destroy, fetcher_destroy);
	refcount_set(&fetcher->users, 1);
	fetcher->owner = current_uid();
	fetcher->outside = fetch_outside_uid();
	fetcher->wq = alloc_workqueue("hroce_fetch", WQ_UNBOUND,
				      FETCH_MAX_ACTIVE);
	if (!fetcher->wq)
		goto free_fetcher;
	err = fetcher_add(fetcher);
	if (err)
		goto destroy_wq;
	return fetcher;

destroy_wq:
	destroy_workqueue(fetcher->wq);
free_fetcher:
	kfree(fetcher);
	return ERR_PTR(err);
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

void hroce_fetcher_close(struct hroce_fetcher *fetcher)
{
	mutex_lock(&fetchers_mutex);
	fetcher->closed = true;
	mutex_unlock(&fetchers_mutex);
	hroce_fetcher_put(fetcher);
}

void hroce_fetch_queue(struct hroce_fetcher *fetcher, struct work_struct *work)
{
	queue_work(fetcher ? fetcher->wq : fetch_wq, work);
}

void hroce_fetch_skip(struct work_struct *work)
{
	if (cancel_work(work))
		queue_work(fetch_wq, work);
}

/* SPDX-License-Identifier: GPL-2.0 */
/* Where memory that is not pinned is fetched, and for how long that may last. */
#ifndef HROCE_FETCH_H
#define HROCE_FETCH_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

/**
 * struct hroce_fetcher - fetches for one user context
 * @node: in the list of all fetchers [fetchers_mutex]
 * @destroy: frees this structure
 * @wq: workqueue of its own: a stalled page delays this context only
 * @users: the context, until it closes, and each region that is fetched there
 * @owner: user that made the first such region
 * @closed: the context has closed [fetchers_mutex]
 * @nr_advices: work items queued by advice
 */
struct hroce_fetcher {
	struct list_head node;
	struct work_struct destroy;
	struct workqueue_struct *wq;
	refcount_t users;
	kuid_t owner;
	bool closed;
	atomic_t nr_advices;
};

/* When the module is loaded. Return: 0 or -ENOMEM. */
int hroce_fetch_init(void);

/**
 * hroce_fetch_exit - counterpart of hroce_fetch_init()
 *
 * All devices are gone. No page is being waited for: that would hold a
 * reference to the module.
 * Context: process.
 */
void hroce_fetch_exit(void);

/**
 * hroce_fetcher_create - make a fetcher
 *
 * Context: process, may sleep.
 * Return: fetcher with one user; or ERR_PTR(): -ENOMEM; -EAGAIN: too many of
 * the caller's closed contexts still wait for pages.
 */
struct hroce_fetcher *hroce_fetcher_create(void);

/* Context: process. The caller has a reference. */
void hroce_fetcher_get(struct hroce_fetcher *fetcher);

/* Context: any. */
void hroce_fetcher_put(struct hroce_fetcher *fetcher);

/**
 * hroce_fetcher_close - the context closes
 * @fetcher: the context's reference is dropped
 *
 * Does not wait: what is being fetched keeps the fetcher.
 * Context: process, may sleep.
 */
void hroce_fetcher_close(struct hroce_fetcher *fetcher);

/**
 * hroce_fetch_queue - have a work item run where fetching may sleep
 * @fetcher: of the memory's owner; NULL: the item ends in finite time
 * @work: work item
 *
 * Context: any.
 */
void hroce_fetch_queue(struct hroce_fetcher *fetcher, struct work_struct *work);

/**
 * hroce_fetch_skip - the work item has nothing to fetch any more
 * @work: from hroce_fetch_queue(); still allocated
 *
 * If it has not begun, it runs soon, instead of behind items that wait.
 * Context: any.
 */
void hroce_fetch_skip(struct work_struct *work);

#endif /* HROCE_FETCH_H */

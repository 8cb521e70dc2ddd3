/* SPDX-License-Identifier: GPL-2.0 */
/* Workqueues that fetch memory that is not pinned. */
#ifndef HROCE_FETCH_H
#define HROCE_FETCH_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

/**
 * struct hroce_fetcher - fetcher of one process
 * @node: in the list of all fetchers [fetchers_mutex]
 * @destroy: frees this structure
 * @wq: own workqueue, so that a stalled page delays this process only
 * @users: references: contexts that used it last, and regions
 * @mm: address space of the process; the structure stays, its contents may go
 * @owner: user that registered the first such region
 * @outside: who has made the outermost user namespace of that one; root if none
 * @nr_works: work items that have not ended
 */
struct hroce_fetcher {
	struct list_head node;
	struct work_struct destroy;
	struct workqueue_struct *wq;
	refcount_t users;
	struct mm_struct *mm;
	kuid_t owner;
	kuid_t outside;
	atomic_t nr_works;
};

/* Called when the module is loaded. Return: 0 or -ENOMEM. */
int hroce_fetch_init(void);

/**
 * hroce_fetch_exit - counterpart of hroce_fetch_init()
 *
 * All devices are gone. No work item waits for a page, as it would hold a
 * reference to the module.
 * Context: process.
 */
void hroce_fetch_exit(void);

/**
 * hroce_fetcher_of_process - get the fetcher of the calling process
 *
 * Context: process, may sleep.
 * Return: fetcher, with a reference; or ERR_PTR(): -ENOMEM; -EAGAIN: too many
 * processes of the caller's user have ended and still wait for pages.
 */
struct hroce_fetcher *hroce_fetcher_of_process(void);

/* Context: process. The caller has a reference. */
void hroce_fetcher_get(struct hroce_fetcher *fetcher);

/* Does not wait: fetches in progress keep the fetcher. Context: any. */
void hroce_fetcher_put(struct hroce_fetcher *fetcher);

/**
 * hroce_fetch_queue - queue a work item that may wait for pages
 * @fetcher: fetcher of the memory's owner; NULL if @work ends in finite time
 * @work: work item; calls hroce_fetch_done() before it ends
 *
 * Context: any.
 */
void hroce_fetch_queue(struct hroce_fetcher *fetcher, struct work_struct *work);

/* A work item of hroce_fetch_queue(), with the same @fetcher, ends. */
void hroce_fetch_done(struct hroce_fetcher *fetcher);

/**
 * hroce_fetch_skip - expedite a work item that need not fetch any more
 * @work: from hroce_fetch_queue(); still allocated
 *
 * If it has not started, it runs soon instead of after items that wait.
 * Context: any.
 */
void hroce_fetch_skip(struct work_struct *work);

#endif /* HROCE_FETCH_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The number of completion events that user space has read from a CQ. ib_uverbs
 * counts them, but has no interface for it. The structures are private to
 * drivers/infiniband/core; their first members are the same since 5.8. A later
 * kernel may change them, and no header says so to modules. So hroce_ucq_of()
 * checks them, and without an object there is no limit; and who has read the
 * whole list gets the next event, whatever the count is (cq_may_fire()). The
 * test cq.unread_events_are_limited fails then.
 */
#ifndef HROCE_UCQ_H
#define HROCE_UCQ_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

/**
 * struct hroce_ucq - ib_uverbs' object of a CQ
 * @uobject: common part of all objects
 * @event_file: file of asynchronous events
 * @event_list: asynchronous events not read
 * @events_reported: asynchronous events read
 * @comp_list: completion events not read
 * @comp_events_reported: completion events read
 */
struct hroce_ucq {
	struct ib_uobject uobject;
	void *event_file;
	struct list_head event_list;
	u32 events_reported;
	struct list_head comp_list;
	u32 comp_events_reported;
};

/**
 * hroce_ucq_of - get the object of a CQ that is being created
 * @cq: CQ of user space; its object has no events yet
 *
 * Return: object; NULL if it does not look as expected.
 */
static inline const struct hroce_ucq *hroce_ucq_of(const struct ib_cq *cq)
{
	const struct hroce_ucq *obj = (const void *)cq->uobject;

	if (!obj || obj->event_list.next != &obj->event_list ||
	    obj->event_list.prev != &obj->event_list ||
	    obj->comp_list.next != &obj->comp_list ||
	    obj->comp_list.prev != &obj->comp_list ||
	    obj->events_reported || obj->comp_events_reported)
		return NULL;
	return obj;
}

#endif /* HROCE_UCQ_H */

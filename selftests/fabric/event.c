// SPDX-License-Identifier: GPL-2.0
/*
 * Events in the order of virtual time; those of the same time in the order in
 * which they were planned. There are few: each link has one packet that is being
 * sent and one that arrives next, whatever is behind them.
 */
#include <stdlib.h>
#include "fabric.h"

/* The heap has four children per node: half as deep, in the same cache lines. */
#define WAYS	4u

static inline bool event_before(const struct fab_event *a,
				const struct fab_event *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	return a->order < b->order;
}

void fab_at(struct fabric *fab, u64 at_ns, struct fab_actor *actor)
{
	struct fab_event ev = {
		.at_ns = at_ns,
		.order = fab->order++,
		.actor = actor,
	};
	struct fab_event *heap;
	u32 i = fab->nr_heap++;

	if (fab->nr_heap > fab->max_heap) {
		fab->max_heap = 2 * fab->nr_heap + 1024;
		fab->heap = realloc(fab->heap,
				    fab->max_heap * sizeof(*fab->heap));
		if (!fab->heap)
			fab_die("no memory");
	}
	heap = fab->heap;
	for (; i && event_before(&ev, &heap[(i - 1) / WAYS]);
	     i = (i - 1) / WAYS)
		heap[i] = heap[(i - 1) / WAYS];
	heap[i] = ev;
}

static struct fab_event event_take(struct fabric *fab)
{
	struct fab_event *heap = fab->heap;
	struct fab_event first = heap[0];
	struct fab_event last = heap[--fab->nr_heap];
	u32 nr = fab->nr_heap;
	u32 i = 0;

	for (;;) {
		u32 kid = WAYS * i + 1;
		u32 best = kid, end = min(kid + WAYS, nr);

		if (kid >= nr)
			break;
		while (++kid < end)
			if (event_before(&heap[kid], &heap[best]))
				best = kid;
		if (!event_before(&heap[best], &last))
			break;
		heap[i] = heap[best];
		i = best;
	}
	heap[i] = last;
	return first;
}

/* Queue pairs that were kicked run after the event, not in the middle of it. */
static void run_kicked(struct fabric *fab)
{
	struct fab_qp *qp;

	while ((qp = fab->kick_head)) {
		fab->kick_head = qp->next_kick;
		if (!fab->kick_head)
			fab->kick_tail = &fab->kick_head;
		qp->kicked = false;
		fab_qp_run(qp);
	}
}

void fab_run(struct fabric *fab)
{
	struct fab_event ev;

	run_kicked(fab);
	while (fab->nr_heap && !fab->stop) {
		ev = event_take(fab);
		fab->now_ns = ev.at_ns;
		fab->nr_events++;
		ev.actor->act(ev.actor);
		if (fab->kick_head)
			run_kicked(fab);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Messages, and loads of flows that know nothing of each other. A message is a
 * WRITE with immediate data, so that the receiver knows when it is there, or a
 * READ.
 */
#include <linux/limits.h>
#include <math.h>
#include <stdlib.h>
#include "fabric.h"

static struct fab_msg *msg_new(struct fabric *fab)
{
	struct fab_msg *msg = fab->free_msgs;

	if (msg) {
		fab->free_msgs = msg->next;
		return msg;
	}
	/* Twice as many whenever the number is a power of two. */
	if (!(fab->nr_msgs & (fab->nr_msgs - 1))) {
		fab->msg = realloc(fab->msg, (2 * fab->nr_msgs + 1) *
					     sizeof(*fab->msg));
		if (!fab->msg)
			fab_die("no memory");
	}
	msg = fab_pool_get(&fab->msgs);
	msg->idx = fab->nr_msgs++;
	fab->msg[msg->idx] = msg;
	return msg;
}

struct fab_msg *fab_msg_send(struct fabric *fab, u32 from, u32 to, u32 len,
			     u32 tag, bool read)
{
	struct fab_msg *msg = msg_new(fab);

	fab->nr_sent++;
	msg->qp = fab_qp_get(fab, from, to);
	msg->posted_ns = fab->now_ns;
	msg->len = len;
	msg->tag = tag;
	msg->read = read;
	msg->arrived = false;
	fab_qp_post(msg->qp, msg);
	return msg;
}

static void sample(struct fabric *fab, const struct fab_msg *msg)
{
	u64 took_ns = fab->now_ns - msg->posted_ns;
	u64 ideal_ns;

	if (msg->posted_ns < fab->measure_ns)
		return;
	if (fab->nr_samples == fab->max_samples) {
		fab->max_samples = 2 * fab->max_samples + 1024;
		fab->sample = realloc(fab->sample, fab->max_samples *
						   sizeof(*fab->sample));
		if (!fab->sample)
			fab_die("no memory");
	}
	ideal_ns = fab_ideal_ns(fab, msg->qp->host->id,
				msg->qp->peer->host->id, msg->len);
	fab->sample[fab->nr_samples++] = (struct fab_sample) {
		.us = took_ns / 1e3,
		.slowdown = (double)took_ns / ideal_ns,
	};
}

void fab_msg_arrived(struct fabric *fab, struct fab_msg *msg)
{
	msg->arrived = true;
	if (!fab->nr_arrived++)
		fab->first_arrival_ns = fab->now_ns;
	fab->last_arrival_ns = fab->now_ns;
	sample(fab, msg);
	if (fab->load->arrived)
		fab->load->arrived(fab, msg);
}

/* One that failed keeps its number: it may still arrive. */
void fab_msg_completed(struct fabric *fab, struct fab_msg *msg, bool ok)
{
	if (!ok) {
		fab->nr_failed++;
		return;
	}
	if (msg->read)
		fab_msg_arrived(fab, msg);
	if (fab->load->completed)
		fab->load->completed(fab, msg);
	msg->next = fab->free_msgs;
	fab->free_msgs = msg;
	if (fab->load->is_done && fab->load->is_done(fab))
		fab->stop = true;
}

/*
 * Flows: from one host to another, from some time on. With gaps all messages are
 * sent at once, and again when none of them is left and the gap has passed.
 */
struct flow {
	struct fab_actor start;
	struct fabric *fab;
	u32 from;
	u32 to;
	u32 left;
};

struct flows {
	u32 nr;
	struct flow flow[];
};

static void flow_start(struct fab_actor *actor)
{
	struct flow *flow = fab_of(actor, struct flow, start);
	struct flows *flows = flow->fab->load_state;
	const struct fab_opts *o = &flow->fab->opts;
	u32 i, nr = o->load == FAB_LONG ? o->depth : 1;

	flow->left = nr;
	for (i = 0; i < nr; i++)
		fab_msg_send(flow->fab, flow->from, flow->to, o->size,
			     flow - flows->flow, o->reads);
}

static void shuffle(struct fabric *fab, u32 *v, u32 nr)
{
	u32 i, j;

	for (i = 0; i < nr; i++)
		v[i] = i;
	for (i = nr; i > 1; i--) {
		j = sim_below(&fab->rng, i);
		swap(v[i - 1], v[j]);
	}
}

/* Each to the next one in a random circle, so none to itself. */
static void choose_hosts(struct fabric *fab, struct flows *flows)
{
	u32 nr = fab->nr_hosts, i;
	u32 *order = fab_alloc(nr, sizeof(*order));

	shuffle(fab, order, nr);
	for (i = 0; i < flows->nr; i++) {
		struct flow *flow = &flows->flow[i];

		switch ((enum fab_pattern)fab->opts.pattern) {
		case FAB_INCAST:
			flow->from = i + 1;
			flow->to = 0;
			break;
		case FAB_PERMUTATION:
			flow->from = order[i];
			flow->to = order[(i + 1) % nr];
			break;
		case FAB_PAIRS:
			flow->from = i;
			flow->to = nr / 2 + i;
			break;
		}
	}
	free(order);
}

static u32 max_flows(const struct fabric *fab)
{
	switch ((enum fab_pattern)fab->opts.pattern) {
	case FAB_INCAST:
		return fab->nr_hosts - 1;
	case FAB_PERMUTATION:
		return fab->nr_hosts;
	case FAB_PAIRS:
		break;
	}
	return fab->nr_hosts / 2;
}

static void flows_start(struct fabric *fab)
{
	u32 nr = fab->opts.flows ?: max_flows(fab), i;
	struct flows *flows;

	if (nr > max_flows(fab))
		fab_die("%s: too few hosts for %u flows", fab->opts.name, nr);
	flows = fab_alloc(1, sizeof(*flows) + nr * sizeof(flows->flow[0]));
	flows->nr = nr;
	fab->load_state = flows;
	choose_hosts(fab, flows);
	for (i = 0; i < nr; i++) {
		struct flow *flow = &flows->flow[i];
		struct fab_qp *qp;

		flow->start.act = flow_start;
		flow->fab = fab;
		qp = fab_qp_get(fab, flow->from, flow->to);
		/* The end that takes the data. */
		(fab->opts.reads ? qp : qp->peer)->is_flow = true;
		fab_at(fab, fab->now_ns +
		       sim_below(&fab->rng, fab->opts.jitter + 1),
		       &flow->start);
	}
}

static bool flows_done(const struct fabric *fab)
{
	const struct flows *flows = fab->load_state;

	return fab->opts.load == FAB_ONCE && fab->nr_arrived == flows->nr;
}

static void flows_completed(struct fabric *fab, struct fab_msg *msg)
{
	struct flows *flows = fab->load_state;
	struct flow *flow = &flows->flow[msg->tag];

	if (fab->opts.load != FAB_LONG)
		return;
	if (!fab->opts.gap)
		fab_msg_send(fab, flow->from, flow->to, msg->len, msg->tag,
			     msg->read);
	else if (!--flow->left)
		fab_at(fab, fab->now_ns + fab->opts.gap, &flow->start);
}

/* The link with the most to carry, and the shortest way of a first packet. */
static u64 flows_ideal_ns(struct fabric *fab)
{
	const struct flows *flows = fab->load_state;
	const struct fab_opts *o = &fab->opts;
	u64 bytes = fab_wire_bytes(fab, o->size);
	u32 *nr = fab_alloc(2 * fab->nr_hosts, sizeof(*nr));
	u64 most = 0, rest = U64_MAX;
	u32 i;

	for (i = 0; i < flows->nr; i++) {
		const struct flow *f = &flows->flow[i];

		most = max(most, ++nr[2 * f->from] * bytes);
		most = max(most, ++nr[2 * f->to + 1] * bytes);
		rest = min(rest, fab_first_ns(fab, f->from, f->to, o->size));
	}
	free(nr);
	if (o->topology == FAB_DUMBBELL)
		most = max(most, flows->nr * bytes * o->rate / o->fabric_rate);
	return most * 8000000 / (o->rate / 1000) + rest;
}

const struct fab_load_ops fab_load_flows = {
	.start = flows_start,
	.is_done = flows_done,
	.completed = flows_completed,
	.ideal_ns = flows_ideal_ns,
};

/*
 * Sizes as of IRN (SIGCOMM 2018): half of the messages are small requests of one
 * packet, and most bytes are in a few large ones. Evenly in each part, by their
 * logarithm.
 */
static const struct part {
	double share, low, high;
} parts[] = {
	{ 0.50, 32, 1e3 },
	{ 0.35, 1e3, 200e3 },
	{ 0.15, 200e3, 3e6 },
};

#define NR_PARTS	(sizeof(parts) / sizeof(parts[0]))

static double uniform(struct fabric *fab)
{
	return ((sim_rand(&fab->rng) >> 11) + 0.5) / 9007199254740992.0;
}

static double mean_size(const struct fabric *fab)
{
	double sum = 0;
	u32 i;

	if (fab->opts.size)
		return fab->opts.size;
	for (i = 0; i < NR_PARTS; i++)
		sum += parts[i].share * (parts[i].high - parts[i].low) /
		       log(parts[i].high / parts[i].low);
	return sum;
}

static u32 random_size(struct fabric *fab)
{
	double u = uniform(fab);
	u32 i = 0;

	if (fab->opts.size)
		return fab->opts.size;
	while (i + 1 < NR_PARTS && u >= parts[i].share)
		u -= parts[i++].share;
	u /= parts[i].share;
	return parts[i].low * pow(parts[i].high / parts[i].low, u);
}

struct source {
	struct fab_actor next;
	struct fabric *fab;
	u32 host;
};

static void source_next(struct fab_actor *actor)
{
	struct source *source = fab_of(actor, struct source, next);
	struct fabric *fab = source->fab;
	const struct fab_opts *o = &fab->opts;
	double gap_ns = 8e9 * mean_size(fab) / (o->offered * o->rate);
	u32 to = sim_below(&fab->rng, fab->nr_hosts - 1);
	u64 at_ns;

	if (fab->now_ns != FAB_START)
		fab_msg_send(fab, source->host, to + (to >= source->host),
			     random_size(fab), 0, false);
	at_ns = fab->now_ns + 1 - log(uniform(fab)) * gap_ns;
	if (at_ns < FAB_START + o->duration)
		fab_at(fab, at_ns, &source->next);
}

static void poisson_start(struct fabric *fab)
{
	struct source *source = fab_alloc(fab->nr_hosts, sizeof(*source));
	u32 i;

	fab->load_state = source;
	for (i = 0; i < fab->nr_hosts; i++) {
		source[i].next.act = source_next;
		source[i].fab = fab;
		source[i].host = i;
		source_next(&source[i].next);
	}
}

static bool poisson_done(const struct fabric *fab)
{
	return fab->now_ns >= FAB_START + fab->opts.duration &&
	       fab->nr_arrived == fab->nr_sent;
}

const struct fab_load_ops fab_load_poisson = {
	.start = poisson_start,
	.is_done = poisson_done,
};

/*
 * Storage: each host of the first half has some operations under way at random
 * hosts of the second half. Of ten, seven are READs; of five, two are 64 KB, the
 * others 4 KB.
 */
static void storage_next(struct fabric *fab, u32 host)
{
	u32 half = fab->nr_hosts / 2;
	u32 to = half + sim_below(&fab->rng, fab->nr_hosts - half);

	fab_msg_send(fab, host, to,
		     sim_below(&fab->rng, 5) < 2 ? 65536 : 4096, host,
		     sim_below(&fab->rng, 10) < 7);
}

static void storage_start(struct fabric *fab)
{
	u32 i, j;

	for (i = 0; i < fab->nr_hosts / 2; i++)
		for (j = 0; j < fab->opts.depth; j++)
			storage_next(fab, i);
}

static void storage_completed(struct fabric *fab, struct fab_msg *msg)
{
	storage_next(fab, msg->tag);
}

const struct fab_load_ops fab_load_storage = {
	.start = storage_start,
	.completed = storage_completed,
};

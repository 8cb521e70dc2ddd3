// SPDX-License-Identifier: GPL-2.0
/* Loads of messages that wait for others: collective operations of all hosts. */
#include "fabric.h"

static u64 worst_ns(const struct fabric *fab, u64 len)
{
	u64 worst = 0;
	u32 i;

	for (i = 1; i < fab->nr_hosts; i++)
		worst = max(worst, fab_ideal_ns(fab, 0, i, len));
	return worst;
}

/*
 * All-to-all: each host sends a part to each other one, to the next one first, so
 * that each is the target of one at a time if all are equally fast.
 */
static void alltoall_next(struct fabric *fab, u32 host)
{
	u32 *sent = fab->load_state;

	if (++sent[host] < fab->nr_hosts)
		fab_msg_send(fab, host, (host + sent[host]) % fab->nr_hosts,
			     fab->opts.size, host, false);
}

static void alltoall_start(struct fabric *fab)
{
	u32 i, j;

	fab->load_state = fab_alloc(fab->nr_hosts, sizeof(u32));
	for (i = 0; i < fab->nr_hosts; i++)
		for (j = 0; j < fab->opts.depth; j++)
			alltoall_next(fab, i);
}

static void alltoall_completed(struct fabric *fab, struct fab_msg *msg)
{
	alltoall_next(fab, msg->tag);
}

static bool alltoall_done(const struct fabric *fab)
{
	return fab->nr_arrived == fab->nr_hosts * (fab->nr_hosts - 1);
}

static u64 alltoall_ideal_ns(struct fabric *fab)
{
	const struct fab_opts *o = &fab->opts;

	return (fab->nr_hosts - 2) * fab_wire_bytes(fab, o->size) * 8000000 /
	       (o->rate / 1000) + worst_ns(fab, o->size);
}

const struct fab_load_ops fab_load_alltoall = {
	.start = alltoall_start,
	.is_done = alltoall_done,
	.completed = alltoall_completed,
	.ideal_ns = alltoall_ideal_ns,
};

/*
 * Ring all-reduce: in each of 2 (n - 1) steps, a host sends a part of the vector
 * to the next host, once it has that of the step before, and has computed for the
 * time of a gap.
 */
struct ring {
	struct fab_actor send;
	struct fabric *fab;
	u32 host;
	u32 step;
};

static u32 ring_steps(const struct fabric *fab)
{
	return 2 * (fab->nr_hosts - 1);
}

static u32 ring_part(const struct fabric *fab)
{
	return max(fab->opts.size / fab->nr_hosts, 1ull);
}

static void ring_send(struct fabric *fab, u32 host, u32 step)
{
	fab_msg_send(fab, host, (host + 1) % fab->nr_hosts, ring_part(fab),
		     step, false);
}

static void ring_next(struct fab_actor *actor)
{
	struct ring *ring = fab_of(actor, struct ring, send);

	ring_send(ring->fab, ring->host, ring->step++);
}

static void ring_start(struct fabric *fab)
{
	struct ring *ring = fab_alloc(fab->nr_hosts, sizeof(*ring));
	u32 i;

	fab->load_state = ring;
	for (i = 0; i < fab->nr_hosts; i++) {
		ring[i] = (struct ring){ { ring_next }, fab, i, 0 };
		ring_next(&ring[i].send);
	}
}

static void ring_arrived(struct fabric *fab, struct fab_msg *msg)
{
	struct ring *ring = fab->load_state;

	ring += msg->qp->peer->host->id;
	if (msg->tag + 1 == ring_steps(fab))
		return;
	if (fab->opts.gap)
		fab_at(fab, fab->now_ns + fab->opts.gap, &ring->send);
	else
		ring_next(&ring->send);
}

static bool ring_done(const struct fabric *fab)
{
	return fab->nr_arrived == fab->nr_hosts * ring_steps(fab);
}

static u64 ring_ideal_ns(struct fabric *fab)
{
	u32 n = fab->nr_hosts, step;
	u64 sum = 0;

	for (step = 0; step < ring_steps(fab); step++)
		sum += fab_ideal_ns(fab, step % n, (step + 1) % n,
				    ring_part(fab));
	return sum + (ring_steps(fab) - 1) * fab->opts.gap;
}

const struct fab_load_ops fab_load_ring = {
	.start = ring_start,
	.is_done = ring_done,
	.arrived = ring_arrived,
	.ideal_ns = ring_ideal_ns,
};

/*
 * Binomial trees: the parent of a host has its number without the lowest bit. A
 * host that has heard of all its children tells its parent; from host 0 on, a
 * host that knows the result tells its children one after the other, that with
 * the most below it first.
 */
enum tree_tag {
	TREE_UP,
	TREE_DOWN,
};

struct tree {
	u32 heard;	/* children that have sent */
	u32 told;	/* and have been sent to */
};

static u32 tree_children(const struct fabric *fab, u32 host)
{
	u32 bit, nr = 0;

	for (bit = 1; host + bit < fab->nr_hosts && !(host & bit); bit <<= 1)
		nr++;
	return nr;
}

static void tree_down(struct fabric *fab, u32 host)
{
	struct tree *tree = fab->load_state;
	u32 nr = tree_children(fab, host);

	if (tree[host].told == nr)
		return;
	tree[host].told++;
	fab_msg_send(fab, host, host + (1u << (nr - tree[host].told)),
		     fab->opts.size, TREE_DOWN, false);
}

static void tree_up(struct fabric *fab, u32 host)
{
	struct tree *tree = fab->load_state;

	if (tree[host].heard < tree_children(fab, host))
		return;
	if (host)
		fab_msg_send(fab, host, host & (host - 1), fab->opts.size,
			     TREE_UP, false);
	else
		tree_down(fab, 0);
}

static void tree_start(struct fabric *fab)
{
	u32 i;

	fab->load_state = fab_alloc(fab->nr_hosts, sizeof(struct tree));
	for (i = 0; i < fab->nr_hosts; i++)
		tree_up(fab, i);
}

static void tree_arrived(struct fabric *fab, struct fab_msg *msg)
{
	u32 host = msg->qp->peer->host->id;
	struct tree *tree = fab->load_state;

	if (msg->tag == TREE_DOWN) {
		tree_down(fab, host);
		return;
	}
	tree[host].heard++;
	tree_up(fab, host);
}

static void tree_completed(struct fabric *fab, struct fab_msg *msg)
{
	if (msg->tag == TREE_DOWN)
		tree_down(fab, msg->qp->host->id);
}

static bool tree_done(const struct fabric *fab)
{
	return fab->nr_arrived == 2 * (fab->nr_hosts - 1);
}

static u64 rounds_ns(struct fabric *fab)
{
	u32 rounds = 0;

	while (1u << rounds < fab->nr_hosts)
		rounds++;
	return rounds * worst_ns(fab, fab->opts.size);
}

static u64 tree_ideal_ns(struct fabric *fab)
{
	return 2 * rounds_ns(fab);
}

const struct fab_load_ops fab_load_tree = {
	.start = tree_start,
	.is_done = tree_done,
	.arrived = tree_arrived,
	.completed = tree_completed,
	.ideal_ns = tree_ideal_ns,
};

static void broadcast_start(struct fabric *fab)
{
	fab->load_state = fab_alloc(fab->nr_hosts, sizeof(struct tree));
	tree_down(fab, 0);
}

static bool broadcast_done(const struct fabric *fab)
{
	return fab->nr_arrived == fab->nr_hosts - 1;
}

const struct fab_load_ops fab_load_broadcast = {
	.start = broadcast_start,
	.is_done = broadcast_done,
	.arrived = tree_arrived,
	.completed = tree_completed,
	.ideal_ns = rounds_ns,
};

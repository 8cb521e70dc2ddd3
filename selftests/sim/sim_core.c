// SPDX-License-Identifier: GPL-2.0
/* Events in the order of virtual time, and failure. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "proto/psn.h"
#include "sim_spec.h"

static jmp_buf sim_failed;

void sim_fail(struct sim *sim, const char *file, int line, const char *what)
{
	printf("# %s:%d: false at %llu us: %s\n", file, line,
	       (unsigned long long)(sim->now_ns / SIM_US), what);
	printf("# again: build/sim/sim --run %s --seed %llu\n", sim->opts.name,
	       (unsigned long long)sim->opts.seed);
	fflush(stdout);
	if (getenv("SIM_ABORT"))
		abort();
	longjmp(sim_failed, 1);
}

static bool event_before(const struct sim_event *a, const struct sim_event *b)
{
	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns;
	return a->order < b->order;
}

void sim_at(struct sim *sim, u64 delay_ns, void (*fn)(void *ctx), void *ctx)
{
	struct sim_event ev = {
		.at_ns = sim->now_ns + delay_ns,
		.order = sim->order++,
		.fn = fn,
		.ctx = ctx,
	};
	u32 i = sim->nr_events++;

	if (sim->nr_events > sim->max_events) {
		sim->max_events = 2 * sim->nr_events + 64;
		sim->heap = realloc(sim->heap,
				    sim->max_events * sizeof(*sim->heap));
	}
	for (; i && event_before(&ev, &sim->heap[(i - 1) / 2]); i = (i - 1) / 2)
		sim->heap[i] = sim->heap[(i - 1) / 2];
	sim->heap[i] = ev;
}

bool sim_step(struct sim *sim)
{
	struct sim_event first, last;
	u32 i = 0;

	if (!sim->nr_events)
		return false;
	first = sim->heap[0];
	last = sim->heap[--sim->nr_events];
	for (;;) {
		u32 kid = 2 * i + 1;

		if (kid >= sim->nr_events)
			break;
		if (kid + 1 < sim->nr_events &&
		    event_before(&sim->heap[kid + 1], &sim->heap[kid]))
			kid++;
		if (!event_before(&sim->heap[kid], &last))
			break;
		sim->heap[i] = sim->heap[kid];
		i = kid;
	}
	sim->heap[i] = last;
	sim->now_ns = first.at_ns;
	first.fn(first.ctx);
	return true;
}

/* Posts receive entries now and then, until there is nothing left to do. */
static void replenish(void *ctx)
{
	struct sim_rq *rq = ctx;
	struct sim *sim = rq->node->sim;

	if (sim->stopped)
		return;
	sim_rq_post(rq, 1 + sim_below(&sim->rng, SIM_NR_SLOTS));
	if (sim_chance(&sim->rng, SIM_PPM / 20))
		sim_at(sim, sim_below(&sim->rng,
				      2 * sim->opts.pause_us + 1) * SIM_US,
		       replenish, rq);
	else
		sim_at(sim, 1000 + sim_below(&sim->rng, 20 * SIM_US),
		       replenish, rq);
}

static void kill_side(void *ctx)
{
	struct sim_node *node = ctx;
	struct sim *sim = node->sim;
	u32 i;

	for (i = 0; i < sim->nr_qps; i++)
		if (sim->qp[i]->node == node)
			sim_qp_error(sim->qp[i]);
}

static struct sim_rq *rq_start(struct sim_node *node, u32 room)
{
	struct sim_rq *rq = sim_rq_new(node, room);
	struct sim *sim = node->sim;

	sim_rq_post(rq, SIM_NR_SLOTS);
	sim_at(sim, sim_below(&sim->rng, 20 * SIM_US), replenish, rq);
	return rq;
}

static struct sim_rq *rq_for(struct sim_node *node, enum hrp_type type,
			     u32 room)
{
	struct sim *sim = node->sim;
	struct sim_rq *rq = node->srq;

	if (rq || type == HRP_TYPE_XRC_INI || type == HRP_TYPE_XRC_TGT)
		return rq;
	rq = rq_start(node, room);
	if (sim->opts.srq)
		node->srq = rq;
	return rq;
}

static enum hrp_type type_at(const struct sim *sim, u32 node)
{
	if (sim->opts.type == HRP_TYPE_XRC_INI && node)
		return HRP_TYPE_XRC_TGT;
	return sim->opts.type;
}

static void sim_setup(struct sim *sim)
{
	u32 room = sim->opts.max_msg;
	u32 i, n;

	if (sim->opts.type == HRP_TYPE_UD)
		room += HRW_GRH_LEN;
	for (n = 0; n < 2; n++) {
		struct sim_node *node = &sim->node[n];

		node->sim = sim;
		node->id = n;
		node->mem = calloc(1, SIM_MEM_SIZE);
		node->shared_base = sim_mem_alloc(node, 8 * SIM_NR_COUNTERS);
		node->shared_key = sim_mr_add(node, node->shared_base,
					      8 * SIM_NR_COUNTERS,
					      1u << HRP_ACCESS_REMOTE_ATOMIC);
	}
	for (i = 0; i < SIM_NR_SRQS && sim->opts.type == HRP_TYPE_XRC_INI; i++)
		sim->node[1].xrc_srq[i] = rq_start(&sim->node[1], room);
	for (i = 0; i < sim->opts.nr_pairs; i++) {
		for (n = 0; n < 2; n++) {
			struct sim_node *node = &sim->node[n];
			enum hrp_type type = type_at(sim, n);

			sim->qp[sim->nr_qps++] =
				sim_qp_new(node, type, 2 * i + n,
					   rq_for(node, type, room));
		}
	}
	for (i = 0; i < sim->nr_qps; i += 2) {
		/* Often close to where PSNs wrap. */
		u32 a = (sim_rand(&sim->rng) & 1) ?
			HRP_PSN_MASK - sim_below(&sim->rng, 200) :
			sim_rand(&sim->rng) & HRP_PSN_MASK;
		u32 b = HRP_PSN_MASK - sim_below(&sim->rng, 200);

		sim_qp_connect(sim->qp[i], sim->qp[i + 1], a, b);
		sim_qp_connect(sim->qp[i + 1], sim->qp[i], b, a);
	}
	for (i = 0; i < sim->nr_qps; i++)
		sim_work_init(sim->qp[i]);
	/* With a rate nothing is sent at first. */
	if (sim->opts.kill_one || sim->opts.kill_both)
		sim_at(sim, (sim->opts.paced ? SIM_MS : 0) +
		       sim_below(&sim->rng, 500 * SIM_US), kill_side,
		       &sim->node[0]);
	if (sim->opts.kill_both)
		sim_at(sim, (sim->opts.paced ? SIM_MS : 0) +
		       sim_below(&sim->rng, 500 * SIM_US), kill_side,
		       &sim->node[1]);
}

static void sim_teardown(struct sim *sim)
{
	u32 i;

	for (i = 0; i < SIM_NR_SRQS; i++)
		free(sim->node[1].xrc_srq[i]);
	for (i = 0; i < sim->nr_qps; i++) {
		if (!sim->opts.srq)
			free(sim->qp[i]->rq);
		sim_work_free(sim->qp[i]);
		sim_qp_free(sim->qp[i]);
	}
	for (i = 0; i < 2; i++) {
		free(sim->node[i].srq);
		free(sim->node[i].mem);
	}
	free(sim->heap);
	free(sim);
}

static void sim_report(const struct sim *sim)
{
	u32 i;
	static const char * const name[] = {
#define SIM_NAME(id, str, proves) str,
		HROCE_DROPS(SIM_NAME)
		HROCE_EVENTS(SIM_NAME)
#undef SIM_NAME
	};

	printf("# %s seed %llu: %llu frames in %llu us\n", sim->opts.name,
	       (unsigned long long)sim->opts.seed,
	       (unsigned long long)sim->nr_frames,
	       (unsigned long long)(sim->done_ns / SIM_US));
	for (i = 0; sim->opts.verbose && i < HROCE_STAT_NR; i++)
		if (sim->counts.v[i])
			printf("#  %s %llu\n", name[i],
			       (unsigned long long)sim->counts.v[i]);
}

static void run_to_end(struct sim *sim)
{
	/* Far more than bad luck can take, far less than never. */
	u64 limit_ns = 5 * SIM_SEC + sim->opts.nr_ops * 100 * SIM_MS;

	sim_setup(sim);
	while (!sim_work_done(sim)) {
		sim_check(sim, sim_step(sim));
		sim_check(sim, sim->now_ns < limit_ns);
	}
	sim->done_ns = sim->now_ns;
	/* Nothing goes on for ever: the last frames arrive, timers stop. */
	sim->stopped = true;
	limit_ns = sim->now_ns + 60 * SIM_SEC;
	while (sim_step(sim))
		sim_check(sim, sim->now_ns < limit_ns);
	sim_check_end(sim);
}

static void sim_count(const struct sim *sim, struct sim_sum *sum)
{
	const u64 *v = sim->counts.v;
	u32 i;

	sum->runs++;
	for (i = 0; i < sim->nr_qps; i++) {
		sum->ops += sim->qp[i]->work.done;
		if (sim->qp[i]->spec)
			sum->spec_limited += sim->qp[i]->spec->req.limited;
	}
	sum->frames += sim->nr_frames;
	sum->us += sim->done_ns / SIM_US;
	sum->held += v[HROCE_EV_ACKS_HELD];
	sum->held_well += v[HROCE_EV_ACKS_LATE] + v[HROCE_EV_ACKS_RODE];
	sum->limited += v[HROCE_EV_E2E_LIMITED];
	sum->trains[0] += sim->trains[0];
	sum->trains[1] += sim->trains[1];
	sum->naks += v[HROCE_EV_NAK_SEQ_SENT];
	sum->naks_saved += v[HROCE_EV_NAK_SAVED];
	for (i = 0; i < SIM_JUNK_NR; i++)
		sum->junk[i] += sim->junk[i];
	for (i = 0; i < SIM_MAX_FAULTS; i++)
		sum->faults[i] += sim->faults[i];
	for (i = 0; sim_has_modes(&sim->opts) && i < sim->nr_qps; i++)
		sim_mode_count(sim->qp[i], sum);
}

bool sim_run(const struct sim_opts *opts, struct sim_sum *sum)
{
	struct sim *sim = calloc(1, sizeof(*sim));

	sim->opts = *opts;
	sim->rng.state = opts->seed;
	hrp_rp_init(&sim->rp);
	if (!sim->opts.mtu_shift)
		sim->opts.mtu_shift = 8 + sim_below(&sim->rng, 5);
	if (!sim->opts.max_msg)
		sim->opts.max_msg = opts->type == HRP_TYPE_UD ?
				    1u << sim->opts.mtu_shift :
				    8u << sim->opts.mtu_shift;
	if (setjmp(sim_failed))
		return false;	/* what it leaves behind does not matter now */
	run_to_end(sim);
	sim_report(sim);
	sim_count(sim, sum);
	sim_teardown(sim);
	return true;
}

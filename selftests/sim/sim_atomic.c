// SPDX-License-Identifier: GPL-2.0
/* Random atomics, and a model of what they do: bit by bit where there are masks. */
#include <string.h>
#include "sim.h"

/* Fields of counters that several queue pairs add to, so that order is nothing. */
#define SHARED_TOPS	0x8000000100800888ull

bool sim_is_masked(const struct sim_wr *wr)
{
	return wr->op == HROCE_WR_MASKED_CMP_SWAP ||
	       wr->op == HROCE_WR_MASKED_FETCH_ADD;
}

bool sim_is_atomic(const struct sim_wr *wr)
{
	return wr->op == HROCE_WR_CMP_SWAP || wr->op == HROCE_WR_FETCH_ADD ||
	       sim_is_masked(wr);
}

static bool is_add(const struct sim_wr *wr)
{
	return wr->op == HROCE_WR_FETCH_ADD ||
	       wr->op == HROCE_WR_MASKED_FETCH_ADD;
}

static u64 add_bits(u64 a, u64 b, u64 tops)
{
	u32 carry = 0, i, n;
	u64 sum = 0;

	for (i = 0; i < 64; i++) {
		n = (a >> i & 1) + (b >> i & 1) + carry;
		sum |= (u64)(n & 1) << i;
		carry = tops >> i & 1 ? 0 : n >> 1;
	}
	return sum;
}

static u64 swap_bits(u64 old, const struct hroce_sq_wqe *wqe,
		     const struct hroce_masks *m)
{
	u64 now = 0, from;
	u32 i;

	for (i = 0; i < 64; i++) {
		if (m->compare_add >> i & 1 &&
		    (old ^ wqe->rdma.compare_add) >> i & 1)
			return old;
		from = m->swap >> i & 1 ? wqe->rdma.swap : old;
		now |= from & 1ull << i;
	}
	return now;
}

/* Few bits, many, all or none. */
static u64 random_mask(struct sim_rng *rng)
{
	u64 mask = sim_rand(rng);

	switch (sim_below(rng, 5)) {
	case 0:
		return mask & sim_rand(rng) & sim_rand(rng) & sim_rand(rng);
	case 1:
		return mask | sim_rand(rng) | sim_rand(rng);
	case 2:
		return 0;
	case 3:
		return ~0ull;
	default:
		return mask;
	}
}

/* What is compared is there half of the time. */
static void choose_operands(struct sim_qp *qp, struct sim_wr *wr,
			    struct hroce_sq_wqe *wqe, u64 model)
{
	struct sim_rng *rng = &qp->node->sim->rng;

	wqe->rdma.compare_add = sim_rand(rng);
	wqe->rdma.swap = sim_rand(rng);
	if (sim_is_masked(wr)) {
		wr->masks.compare_add = random_mask(rng);
		wr->masks.swap = random_mask(rng);
	} else {
		wr->masks.compare_add = is_add(wr) ? 0 : ~0ull;
		wr->masks.swap = ~0ull;
	}
	if (!is_add(wr) && sim_below(rng, 2)) {
		wqe->rdma.compare_add &= ~wr->masks.compare_add;
		wqe->rdma.compare_add |= model & wr->masks.compare_add;
	}
}

void sim_make_atomic(struct sim_qp *qp, struct sim_wr *wr,
		     struct hroce_sq_wqe *wqe, u32 base)
{
	struct sim_node *to = qp->peer->node;
	struct sim_work *w = &qp->work;
	struct sim *sim = to->sim;
	u32 i = sim_below(&sim->rng, SIM_NR_COUNTERS);
	u64 *model = &w->count_model[i];
	u32 key = w->count_key;

	choose_operands(qp, wr, wqe, *model);
	wr->shared = is_add(wr) && sim_below(&sim->rng, 2);
	memcpy(wr->want, model, 8);
	if (wr->shared) {
		/* The odd ones have fields. */
		i = (i & ~1u) | sim_is_masked(wr);
		if (sim_is_masked(wr))
			wr->masks.compare_add = SHARED_TOPS;
		key = to->shared_key;
		model = &to->shared_sum[i];
	}
	wqe->rdma.rkey = key;
	wqe->rdma.remote_addr = sim_mr_find(to, key)->va + 8 * i;
	sim_make_room(qp, wr, base);
	if (sim_is_in_vain(w))
		return;
	*model = is_add(wr) ? add_bits(*model, wqe->rdma.compare_add,
				       wr->masks.compare_add) :
			      swap_bits(*model, wqe, &wr->masks);
}

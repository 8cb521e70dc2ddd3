// SPDX-License-Identifier: GPL-2.0
/* ACKs and NAKs that the engine holds: the timer of the owner. */
#include "proto/nak.h"
#include "proto/resp.h"
#include "sim.h"

/* A kernel timer is late, never early; so may be what it starts. */
#define HOLD_LATE_NS	1000

static void hold_fired(void *ctx)
{
	struct sim_qp *qp = ctx;
	bool held;

	if (qp->node->sim->now_ns < qp->hold_ns)
		return;
	held = hrp_resp_is_held(&qp->hrp.resp);
	if (held)
		hrp_resp_hold_late(&qp->hrp);
	if (!hrp_nak_due(&qp->hrp) && !held)
		return;
	sim_plan_answer(qp);
}

static void hold_for(struct sim_qp *qp, u64 ns)
{
	struct sim *sim = qp->node->sim;

	qp->hold_ns = sim->now_ns + ns;
	sim_at(sim, ns + sim_below(&sim->rng, HOLD_LATE_NS), hold_fired, qp);
}

void sim_hold_begin(struct sim_qp *qp)
{
	hold_for(qp, SIM_HOLD_NS);
}

void sim_hold_nak(struct sim_qp *qp)
{
	u32 us = hrp_nak_wait_us(&qp->hrp.resp);

	if (us)
		hold_for(qp, us * SIM_US);
}

void sim_hold_check(const struct sim_qp *qp)
{
	const struct hrp_resp *resp = &qp->hrp.resp;
	bool in_time = qp->node->sim->now_ns <= qp->hold_ns + HOLD_LATE_NS;
	bool held = hrp_resp_is_held(resp);
	struct sim *sim = qp->node->sim;

	sim_check(sim, held == test_bit(HRP_PENDING_HELD, &qp->hrp.pending));
	sim_check(sim, !held || resp->ack_due || in_time);
	sim_check(sim, !resp->nak_held || resp->nak_sent);
	sim_check(sim, !resp->nak_held || qp->hrp.state == HRP_ERR || in_time ||
		       test_bit(HRP_PENDING_NAK_HELD, &qp->hrp.pending));
}

// SPDX-License-Identifier: GPL-2.0
/* A second bucket, of bytes: does the engine send more than its rate allows? */
#include <stdlib.h>
#include "proto/burst.h"
#include "sim.h"

void sim_pace_drain(struct sim_qp *qp)
{
	u64 now_ns = qp->node->sim->now_ns;
	double max = qp->pace->own.max_credit / 8e6;

	qp->paced_bytes -= (now_ns - qp->paced_ns) * (qp->paced_kbps / 8e6);
	if (qp->paced_bytes < 0)
		qp->paced_bytes = 0;
	qp->paced_bytes += max - qp->paced_max;
	if (qp->paced_bytes < 0)
		qp->paced_bytes = 0;
	qp->paced_ns = now_ns;
	qp->paced_max = max;
	qp->paced_kbps = qp->pace->own.rate_kbps;
}

static u32 pace_bytes(const struct hrp_burst *b)
{
	struct hrp_pkt pkt;
	u32 i, bytes = 0;

	for (i = 0; i < b->nr_pkts; i++) {
		hrp_burst_pkt(b, i, &pkt);
		bytes += 14 + 40 + 8 + pkt.payload_len + pkt.pad +
			 hrp_opcode_hdr_len(pkt.info) + 4 + 4;
	}
	return bytes;
}

void sim_pace_check(struct sim_qp *qp, const struct hrp_burst *b)
{
	struct sim *sim = qp->node->sim;

	sim_pace_drain(qp);
	qp->paced_bytes += pace_bytes(b);
	sim_check(sim, qp->paced_bytes <= qp->pace->own.max_credit / 8e6 + 1);
}

void sim_pace_give_back(struct sim_qp *qp, const struct hrp_burst *b)
{
	sim_pace_drain(qp);
	qp->paced_bytes -= pace_bytes(b);
	if (qp->paced_bytes < 0)
		qp->paced_bytes = 0;
	hrp_pace_give_back(&qp->hrp, b, 0);
}

void sim_pace_spread(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;

	/* The second bucket knows the rates of the simulator only. */
	if (qp->pace || !hrp_pace_wants_spread(&qp->hrp) ||
	    !sim_below(&sim->rng, 8))
		return;
	if (!qp->hrp.req.pace)
		hrp_pace_start(&qp->hrp, malloc(sizeof(struct hrp_pace)),
			       &sim->rp, sim->now_ns, SIM_PACE_SLACK_NS);
	hrp_pace_spread(&qp->hrp, sim->now_ns);
}

// SPDX-License-Identifier: GPL-2.0
/* Requests and answers on several ways, each of which takes its time. */
#include <linux/bits.h>
#include "kept.h"
#include "sim.h"

void sim_spray_bound(struct sim_qp *qp)
{
	struct hrp_req *req = &qp->hrp.req;

	req->burst_pkts = qp->burst_pkts;
	if (hrp_spray_is_on(req))
		req->burst_pkts = hrp_spray_pkts(req, qp->burst_pkts);
}

void sim_spray_choose(struct sim_qp *qp)
{
	if (hrp_spray_is_on(&qp->hrp.req))
		qp->way[0] = hrp_spray_sport(&qp->hrp.req, &qp->req_burst);
}

void sim_spray_draw(struct sim_qp *qp)
{
	struct hrp_req *req = &qp->hrp.req;
	u32 i;

	if (!hrp_spray_is_on(req))
		return;
	for (i = 0; i < HRP_SPRAY_PATHS; i++)
		req->sack->spray->sport[i] = qp->way[0] + i;
}

void sim_spray_begin(struct sim_qp *qp)
{
	if (kept_start_spray(&qp->hrp))
		sim_spray_draw(qp);
}

void sim_spray_evict(struct sim_qp *qp)
{
	struct hrp_req *req = &qp->hrp.req;
	struct sim *sim = qp->node->sim;
	int path;

	while ((path = hrp_spray_evict(req)) >= 0) {
		sim_check(sim, path < req->sack->spray->paths);
		req->sack->spray->sport[path] = sim_rand(&sim->rng);
		hrp_count(&qp->hrp, HROCE_EV_REHASHES);
	}
}

/* No port is 0. The lower bits make the way. */
u16 sim_spray_sport(u32 way)
{
	return way | BIT(15);
}

u32 sim_spray_way(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	bool response = pkt->info & HRP_OI_RESPONSE;

	if (!response || !(pkt->info & (HRP_OI_READ | HRP_OI_ATOMIC)) ||
	    !qp->hrp.resp.follows || !pkt->sport)
		return qp->way[response];
	qp->node->sim->nr_followed++;
	return pkt->sport;
}

u64 sim_spray_delay(const struct sim *sim, u32 way)
{
	return sim->opts.spray ? (way & 7) * 20 * SIM_US : 0;
}

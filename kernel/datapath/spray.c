// SPDX-License-Identifier: GPL-2.0
/* Requests on several paths between hroce peers, see spray.h. */
#include <linux/lockdep.h>
#include "../net/path.h"
#include "../net/port.h"
#include "../proto/sack.h"
#include "../trace/trace.h"
#include "qp.h"
#include "spray.h"
#include "user.h"

void hroce_spray_draw(struct hroce_qp *qp)
{
	u16 *sport;
	u32 i;

	lockdep_assert_held(&qp->send.lock);
	if (!hrp_spray_is_on(&qp->proto.req))
		return;
	sport = qp->proto.req.sack->spray->sport;
	sport[0] = qp->path.sport[0];
	for (i = 1; i < HRP_SPRAY_PATHS; i++)
		sport[i] = hroce_path_draw_sport(sport[0]);
}

void hroce_spray_begin(struct hroce_qp *qp)
{
	struct hrp_req *req = &qp->proto.req;
	struct hrp_spray *spray;

	lockdep_assert_held(&qp->send.lock);
	if (!hrp_spray_is_wanted(req))
		return;
	spray = req->sack->spray ?: hroce_user_alloc(qp, sizeof(*spray));
	if (!spray)
		return;
	hrp_spray_start(&qp->proto, spray);
	hroce_spray_draw(qp);
	qp->path.sprays = true;
}

void hroce_spray_evict(struct hroce_qp *qp)
{
	struct hrp_req *req = &qp->proto.req;
	u16 *sport;
	int path;

	lockdep_assert_held(&qp->send.lock);
	while ((path = hrp_spray_evict(req)) >= 0) {
		if (!READ_ONCE(qp->path.port->rehash))
			continue;
		sport = &req->sack->spray->sport[path];
		*sport = hroce_path_draw_sport(*sport);
		hrp_count(&qp->proto, HROCE_EV_REHASHES);
		trace_hroce_rehash(qp->proto.qpn, false, *sport);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * READ responses at the rate that congestion control allows. Responses are sent
 * in order: what is behind one that has to wait is not sent, either.
 */
#include <linux/types.h>
#include "pace.h"
#include "rdres.h"
#include "resp.h"

bool hrp_resp_next_paced(struct hrp_qp *qp, u64 now_ns, struct hrp_burst *b)
{
	struct hrp_resp *resp = &qp->resp;
	u8 burst_pkts = resp->burst_pkts;
	bool got;

	if (!hrp_rdres_is_read(resp))
		return hrp_resp_next(qp, b);
	resp->burst_pkts = hrp_pace_answers_room(qp, now_ns, burst_pkts);
	got = resp->burst_pkts && hrp_resp_next(qp, b);
	resp->burst_pkts = burst_pkts;
	if (got)
		hrp_pace_answered(qp, b);
	return got;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing, see pace.h. All arithmetic is exact: unused credit stays in the
 * bucket, so the rate does not depend on how often it is updated.
 */
#include <linux/types.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "pace.h"
#include "pkt.h"
#include "wire.h"

/* Credit for one byte: 8 bits at 1 kbps take 8000000 ns. */
#define BYTE_CREDIT	8000000ull

/* Ethernet header, IPv6 header, UDP header, FCS. */
#define LOWER_BYTES	(14 + 40 + 8 + 4)

static u32 pkt_cost(u8 opcode)
{
	return LOWER_BYTES + hrp_opcode_hdr_len(hrp_opcode_info(opcode)) +
	       HRW_ICRC_LEN;
}

/* Cost of the first @nr_pkts of the burst. */
static u32 burst_cost(const struct hrp_burst *b, u32 nr_pkts)
{
	bool end = nr_pkts == b->nr_pkts;
	u32 len = end ? b->mem.len : nr_pkts * b->mtu;
	u32 bytes;

	if (!nr_pkts)
		return 0;
	bytes = len + (-len & 3) + pkt_cost(b->first.opcode);
	if (nr_pkts > 1)
		bytes += (nr_pkts - 2) * pkt_cost(b->op_middle) +
			 pkt_cost(end ? b->op_last : b->op_middle);
	return bytes;
}

u32 hrp_pace_cost(const struct hrp_burst *b)
{
	return burst_cost(b, b->nr_pkts);
}

u32 hrp_pace_max_cost(u32 mtu)
{
	return LOWER_BYTES + HRW_MAX_HDR_LEN + mtu + HRW_ICRC_LEN;
}

/* Add the credit earned up to @now_ns. */
static void pace_earn(struct hrp_pace *pace, u64 now_ns)
{
	u64 elapsed_ns = now_ns - pace->seen_ns;

	/* Another context may have passed a later time. */
	if (now_ns <= pace->seen_ns)
		return;
	pace->seen_ns = now_ns;
	if (elapsed_ns >= pace->fill_ns)
		pace->credit = pace->max_credit;
	else
		pace->credit = min(pace->max_credit, pace->credit +
				   elapsed_ns * pace->rate_kbps);
}

/* Packets of @pkt_credit that may go now, at most @max; 0: see @ready_ns. */
static u32 pace_room(struct hrp_pace *pace, u64 now_ns, u64 pkt_credit,
		     u32 max)
{
	u64 wait_ns;

	if (now_ns < pace->ready_ns)
		return 0;
	pace->ready_ns = 0;
	pace_earn(pace, now_ns);
	if (pace->credit >= max * pkt_credit)
		return max;
	if (pace->credit >= pkt_credit)
		return div64_u64(pace->credit, pkt_credit);
	wait_ns = div_u64(pkt_credit - pace->credit + pace->rate_kbps - 1,
			  pace->rate_kbps);
	wait_ns = max(wait_ns, min_t(u64, HRP_PACE_WAIT_NS,
				     pace->fill_ns / 2));
	pace->ready_ns = pace->seen_ns + wait_ns;
	return 0;
}

enum hrp_next hrp_pace_next(struct hrp_qp *qp, u64 now_ns, struct hrp_burst *b)
{
	struct hrp_req *req = &qp->req;
	struct hrp_pace *pace = req->pace;
	u32 burst_pkts = req->burst_pkts;
	enum hrp_next ret;
	u64 pkt_credit;

	if (!pace)
		return HRP_NEXT_IDLE;
	pkt_credit = hrp_pace_max_cost(hrp_qp_mtu(qp)) * BYTE_CREDIT;
	/*
	 * Call hrp_req_next() with a burst limited by the credit. Without
	 * credit, it processes only entries that send no packet.
	 */
	req->gated = 0;
	req->burst_pkts = pace_room(pace, now_ns, pkt_credit, burst_pkts);
	ret = hrp_req_next(qp, now_ns, b);
	req->burst_pkts = burst_pkts;
	req->gated = 1;
	if (ret != HRP_NEXT_BURST)
		return ret;
	pace->paid_bytes = hrp_pace_cost(b);
	pace->credit -= pace->paid_bytes * BYTE_CREDIT;
	/*
	 * The requester will pause, perhaps longer than the local ACK timeout:
	 * request an acknowledgement of all packets sent so far.
	 */
	if (pace->credit < pkt_credit && hrp_qp_is_reliable(qp) &&
	    !(b->first.info & HRP_OI_SACK)) {
		b->ackreq_last = 1;
		req->unasked_pkts = 0;
		hrp_sq_wqe(&req->sq, req->burst_idx)->unasked = false;
	}
	return ret;
}

void hrp_pace_give_back(struct hrp_qp *qp, const struct hrp_burst *b,
			u32 nr_pkts)
{
	struct hrp_pace *pace = qp->req.pace;
	u64 credit;

	/* If pacing began after the burst, no credit was taken. */
	if (!pace || !pace->paid_bytes)
		return;
	credit = (pace->paid_bytes - burst_cost(b, nr_pkts)) * BYTE_CREDIT;
	pace->credit = min(pace->max_credit, pace->credit + credit);
	pace->paid_bytes = 0;
}

void hrp_pace_start(struct hrp_qp *qp, struct hrp_pace *pace, u64 now_ns,
		    u64 slack_ns)
{
	*pace = (struct hrp_pace) {
		.seen_ns = now_ns,
		.slack_ns = slack_ns,
	};
	qp->req.pace = pace;
	qp->req.gated = 1;
}

void hrp_pace_set(struct hrp_qp *qp, u64 now_ns, u32 rate_kbps,
		  u32 burst_bytes)
{
	u64 pkt_credit = hrp_pace_max_cost(hrp_qp_mtu(qp)) * BYTE_CREDIT;
	struct hrp_pace *pace = qp->req.pace;

	pace_earn(pace, now_ns);
	pace->rate_kbps = rate_kbps;
	if (burst_bytes)
		pace->max_credit = max(burst_bytes * BYTE_CREDIT, pkt_credit);
	else
		pace->max_credit = max((HRP_PACE_BURST_NS + pace->slack_ns) *
				       rate_kbps, 2 * pkt_credit);
	pace->fill_ns = div_u64(pace->max_credit + rate_kbps - 1, rate_kbps);
	pace->credit = min(pace->credit, pace->max_credit);
	pace->ready_ns = 0;
}

struct hrp_pace *hrp_pace_stop(struct hrp_qp *qp)
{
	struct hrp_pace *pace = qp->req.pace;

	qp->req.pace = NULL;
	qp->req.gated = !hrp_qp_sends(qp);
	return pace;
}

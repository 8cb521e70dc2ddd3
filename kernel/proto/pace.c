// SPDX-License-Identifier: GPL-2.0
/*
 * Pacing, see pace.h. All arithmetic is exact: unused credit stays in the
 * bucket, so the rate does not depend on how often it is updated.
 */
#include <linux/types.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "cc.h"
#include "mtu.h"
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
	if (b->msgs)
		return nr_pkts * (b->mtu + (-b->mtu & 3) +
				  pkt_cost(b->first.opcode));
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

/* Credit that a wait may earn, however late the timer is. */
static u64 bucket_late_credit(const struct hrp_pace *pace,
			      const struct hrp_bucket *k)
{
	if (!k->brief)
		return k->max_credit;
	return max((HRP_PACE_BURST_NS + pace->slack_ns) * k->rate_kbps,
		   k->max_credit);
}

/* Add the credit earned up to @now_ns, but not beyond @max_credit. */
static void bucket_earn(const struct hrp_pace *pace, struct hrp_bucket *k,
			u64 now_ns, u64 max_credit)
{
	u64 elapsed_ns = now_ns - k->seen_ns;
	u64 credit = max_credit;

	/* Another context may have passed a later time. */
	if (now_ns <= k->seen_ns)
		return;
	k->seen_ns = now_ns;
	if (elapsed_ns < k->fill_ns + HRP_PACE_BURST_NS + pace->slack_ns)
		credit = min(credit, k->credit + elapsed_ns * k->rate_kbps);
	k->credit = max(k->credit, credit);
}

/* The same, for a wait that is not over, too. */
static void bucket_settle(const struct hrp_pace *pace, struct hrp_bucket *k,
			  u64 now_ns)
{
	bucket_earn(pace, k, now_ns, k->waited ? bucket_late_credit(pace, k) :
						 k->max_credit);
}

/* The rate may rise during the wait. */
static u64 bucket_wait_ns(const struct hrp_pace *pace,
			  const struct hrp_bucket *k, u64 wait_ns)
{
	u64 next_ns;

	if (!k->brief)
		return max(wait_ns, min_t(u64, HRP_PACE_WAIT_NS,
					  k->fill_ns / 2));
	next_ns = hrp_dcqcn_next_ns(&pace->dcqcn);
	if (next_ns > k->seen_ns)
		wait_ns = min(wait_ns, next_ns - k->seen_ns);
	return max_t(u64, wait_ns, HRP_PACE_SHORT_NS);
}

/* Packets of @pkt_credit that may go now, at most @max; 0: see @ready_ns of @k. */
static u32 bucket_room(const struct hrp_pace *pace, struct hrp_bucket *k,
		       u64 now_ns, u64 pkt_credit, u32 max)
{
	u64 wait_ns;

	if (now_ns < k->ready_ns)
		return 0;
	k->ready_ns = 0;
	bucket_settle(pace, k, now_ns);
	k->waited = false;
	if (k->credit >= max * pkt_credit)
		return max;
	if (k->credit >= pkt_credit)
		return div64_u64(k->credit, pkt_credit);
	wait_ns = div_u64(pkt_credit - k->credit + k->rate_kbps - 1,
			  k->rate_kbps);
	k->ready_ns = k->seen_ns + bucket_wait_ns(pace, k, wait_ns);
	k->waited = true;
	return 0;
}

/*
 * Ask for an acknowledgement of all packets sent so far before a wait that may
 * be longer than the local ACK timeout? Short waits are not, so enough packets
 * have to be sent before.
 */
static bool pace_must_ask(const struct hrp_qp *qp, u64 pkt_credit)
{
	const struct hrp_pace *pace = qp->req.pace;

	if (pace->own.credit >= pkt_credit || !hrp_qp_is_reliable(qp))
		return false;
	return !pace->own.brief ||
	       (qp->req.unasked_pkts + 1) * pkt_credit >=
	       (u64)HRP_PACE_WAIT_NS * pace->own.rate_kbps;
}

/*
 * While the window is spread, so are the answers that READs ask for. The next READ
 * waits for a round trip at most, by which the window may have changed.
 */
static void pace_read(struct hrp_qp *qp, const struct hrp_burst *b, u64 now_ns)
{
	struct hrp_pace *pace = qp->req.pace;
	u32 len = b->first.dmalen;
	u64 bytes = len;

	if (!pace->window_kbps || !(b->first.info & HRP_OI_READ))
		return;
	bytes += (u64)(len >> ilog2(b->mtu)) *
		 pkt_cost(HRP_OP_READ_RESP_MIDDLE);
	pace->reads_ns = max(pace->reads_ns, now_ns - pace->slack_ns) +
			 div_u64(bytes * BYTE_CREDIT, pace->window_kbps);
	/* srtt8 is in units of 128 ns. */
	pace->reads_ns = min(pace->reads_ns,
			     now_ns + ((u64)qp->req.srtt8 << 7));
}

/* They wait when so many were sent that it is for HRP_PACE_SHORT_NS or longer. */
static bool pace_reads_wait(const struct hrp_pace *pace, u64 now_ns)
{
	u64 ahead_ns = pace->reads_wait ? 0 : HRP_PACE_SHORT_NS;

	return pace->window_kbps && now_ns + ahead_ns < pace->reads_ns;
}

enum hrp_next hrp_pace_next(struct hrp_qp *qp, u64 now_ns, struct hrp_burst *b)
{
	struct hrp_req *req = &qp->req;
	struct hrp_pace *pace = req->pace;
	u32 burst_pkts = req->burst_pkts;
	enum hrp_next ret;
	u64 pkt_credit;

	if (!pace || !hrp_qp_sends(qp))
		return HRP_NEXT_IDLE;
	if (pace->control_kbps)
		hrp_pace_control(qp, now_ns,
				 hrp_dcqcn_rate(&pace->dcqcn, now_ns));
	if (pace->window_kbps)
		hrp_pace_spread(qp, now_ns);
	if (!req->gated)
		return hrp_req_next(qp, now_ns, b);
	pkt_credit = hrp_pace_max_cost(hrp_mtu_max(qp)) * BYTE_CREDIT;
	/*
	 * Call hrp_req_next() with a burst limited by the credit. Without
	 * credit, it processes only entries that send no packet.
	 */
	pace->reads_wait = pace_reads_wait(pace, now_ns);
	pace->read_waits = false;
	req->gated = 0;
	req->burst_pkts = bucket_room(pace, &pace->own, now_ns, pkt_credit,
				      burst_pkts);
	ret = hrp_req_next(qp, now_ns, b);
	req->burst_pkts = burst_pkts;
	req->gated = 1;
	if (ret != HRP_NEXT_BURST)
		return ret;
	pace->paid_bytes = hrp_pace_cost(b);
	pace->own.credit -= pace->paid_bytes * BYTE_CREDIT;
	pace_read(qp, b, now_ns);
	if (pace->control_kbps && hrp_cc_limits_rate(qp))
		hrp_dcqcn_sent(&pace->dcqcn, pace->paid_bytes);
	if (pace_must_ask(qp, pkt_credit))
		hrp_req_ask(qp, b);
	return ret;
}

u64 hrp_pace_at(const struct hrp_pace *pace)
{
	if (!pace->read_waits)
		return pace->own.ready_ns;
	return min_not_zero(pace->own.ready_ns, pace->reads_ns);
}

bool hrp_pace_timeout(struct hrp_pace *pace, u64 now_ns)
{
	u64 at_ns = hrp_pace_at(pace);

	if (!at_ns || now_ns < at_ns)
		return false;
	if (at_ns == pace->own.ready_ns)
		pace->own.ready_ns = 0;
	else
		pace->read_waits = false;
	return true;
}

u32 hrp_pace_answers_room(struct hrp_qp *qp, u64 now_ns, u32 max)
{
	struct hrp_pace *pace = qp->req.pace;

	if (!pace || !pace->control_kbps)
		return max;
	hrp_pace_control(qp, now_ns, hrp_dcqcn_rate(&pace->dcqcn, now_ns));
	if (!pace->control_kbps) {
		pace->answers.ready_ns = 0;
		return max;
	}
	return bucket_room(pace, &pace->answers, now_ns,
			   hrp_pace_max_cost(hrp_mtu_max(qp)) * BYTE_CREDIT, max);
}

void hrp_pace_answered(struct hrp_qp *qp, const struct hrp_burst *b)
{
	struct hrp_pace *pace = qp->req.pace;
	u32 bytes = hrp_pace_cost(b);

	if (!pace || !pace->control_kbps)
		return;
	pace->answers.credit -= bytes * BYTE_CREDIT;
	hrp_dcqcn_sent(&pace->dcqcn, bytes);
}

bool hrp_pace_answers_timeout(struct hrp_qp *qp, u64 now_ns)
{
	u64 at_ns = hrp_pace_answers_at(qp);

	if (!at_ns || now_ns < at_ns)
		return false;
	qp->req.pace->answers.ready_ns = 0;
	return true;
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
	pace->own.credit = min(pace->own.max_credit, pace->own.credit + credit);
	pace->paid_bytes = 0;
}

void hrp_pace_start(struct hrp_qp *qp, struct hrp_pace *pace,
		    const struct hrp_rp *rp, u64 now_ns, u64 slack_ns)
{
	*pace = (struct hrp_pace) {
		.own.seen_ns = now_ns,
		.answers.seen_ns = now_ns,
		.slack_ns = slack_ns,
		.dcqcn.rp = rp,
	};
	qp->req.pace = pace;
}

/* The rate has changed: to @rate_kbps, of a program if @brief is not set. */
static void bucket_apply(const struct hrp_qp *qp, struct hrp_bucket *k,
			 u32 rate_kbps, bool brief)
{
	u64 pkt_credit = hrp_pace_max_cost(hrp_mtu_max(qp)) * BYTE_CREDIT;
	const struct hrp_pace *pace = qp->req.pace;

	k->rate_kbps = rate_kbps;
	k->brief = brief;
	if (!rate_kbps) {
		k->credit = 0;
		k->max_credit = 0;
		return;
	}
	if (brief)
		k->max_credit = max((u64)HRP_PACE_SHORT_NS * rate_kbps,
				    pkt_credit);
	else if (pace->limit_bytes)
		k->max_credit = max(pace->limit_bytes * BYTE_CREDIT,
				    pkt_credit);
	else
		k->max_credit = max((HRP_PACE_BURST_NS + pace->slack_ns) *
				    rate_kbps, 2 * pkt_credit);
	k->fill_ns = div_u64(k->max_credit + rate_kbps - 1, rate_kbps);
	k->credit = min(k->credit, bucket_late_credit(pace, k));
}

/* A limit has changed. A wait of answers ends when it would have, if at all. */
static void pace_apply(struct hrp_qp *qp)
{
	struct hrp_pace *pace = qp->req.pace;
	u32 own_kbps = min_not_zero(pace->limit_kbps, pace->window_kbps);

	if (hrp_cc_limits_rate(qp))
		own_kbps = min_not_zero(own_kbps, pace->control_kbps);
	bucket_apply(qp, &pace->own, own_kbps, !pace->limit_kbps);
	bucket_apply(qp, &pace->answers, pace->control_kbps, true);
	qp->req.gated = own_kbps || !hrp_qp_sends(qp);
	if (!own_kbps)
		pace->own.ready_ns = 0;
	if (!pace->window_kbps) {
		pace->reads_wait = false;
		pace->read_waits = false;
	}
	if (!hrp_pace_is_on(&qp->req))
		hrp_set_pending(qp, HRP_PENDING_UNPACED);
}

void hrp_pace_set(struct hrp_qp *qp, u64 now_ns, u32 rate_kbps,
		  u32 burst_bytes)
{
	struct hrp_pace *pace = qp->req.pace;

	bucket_earn(pace, &pace->own, now_ns, pace->own.max_credit);
	bucket_settle(pace, &pace->answers, now_ns);
	pace->limit_kbps = rate_kbps;
	pace->limit_bytes = burst_bytes;
	pace_apply(qp);
	pace->own.ready_ns = 0;
}

void hrp_pace_control(struct hrp_qp *qp, u64 now_ns, u32 rate_kbps)
{
	struct hrp_pace *pace = qp->req.pace;

	if (rate_kbps == pace->control_kbps)
		return;
	bucket_settle(pace, &pace->own, now_ns);
	bucket_settle(pace, &pace->answers, now_ns);
	pace->control_kbps = rate_kbps;
	pace_apply(qp);
}

void hrp_pace_spread(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_pace *pace = qp->req.pace;
	u32 rate_kbps = hrp_cc_rate(qp);

	if (!pace || rate_kbps == pace->window_kbps)
		return;
	bucket_settle(pace, &pace->own, now_ns);
	pace->window_kbps = rate_kbps;
	pace_apply(qp);
}

void hrp_pace_release(struct hrp_qp *qp)
{
	struct hrp_pace *pace = qp->req.pace;

	if (!pace || !(pace->control_kbps || pace->window_kbps))
		return;
	pace->control_kbps = 0;
	pace->window_kbps = 0;
	pace->dcqcn.rate_kbps = 0;
	pace_apply(qp);
}

struct hrp_pace *hrp_pace_stop(struct hrp_qp *qp)
{
	struct hrp_pace *pace = qp->req.pace;

	qp->req.pace = NULL;
	qp->req.gated = !hrp_qp_sends(qp);
	return pace;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Control by marks, after DCQCN (SIGCOMM 2015), as ConnectX has it. The window is
 * that of hrp_cc_none. The first CNP gives the queue pair a rate; each CNP cuts
 * it by a share that grows with their number (alpha). Raises bring it back, by
 * time and by bytes: first half of the way to the target, which was the rate
 * before the cut, then beyond it by constant steps, and by growing steps if no
 * CNP comes for long. At the line rate the limit ends.
 *
 * All periods that have passed are made up for when the rate is asked for: a
 * power for alpha, and a loop of limited length for raises.
 */
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include "cc.h"
#include "cc_dcqcn.h"
#include "pace.h"

#define ALPHA_SHIFT	20
#define ALPHA_ONE	(1u << ALPHA_SHIFT)
/* In 1/HRP_RP_ONE. */
#define ALPHA_UNIT	(ALPHA_ONE / HRP_RP_ONE)

#define NS_PER_US	1000u
#define KBPS_PER_MBPS	1000u
#define GBIT_KBPS	1000000u

/*
 * So many raises are made one by one. They bring the rate to its target, and if
 * more are due the rest only adds to that.
 */
#define MAX_RAISES	32u

/* The limit ends when only this part of the line rate is missing. */
#define END_SHIFT	6

/* Without memory for a rate, the window shrinks by this part. */
#define CNP_SHIFT	3

void hrp_rp_init(struct hrp_rp *rp)
{
	*rp = (struct hrp_rp) {
		.line_kbps = HRP_RP_LINE_KBPS,
		.clamp_tgt_rate_ati = 1,
		.byte_reset = 32767,
		.threshold = 1,
		.hai_rate = 50,
		.min_rate = 1,
		.gd = 11,
		.min_dec_fac = 50,
		.dce_tcp_g = 1020,
		.dce_tcp_rtt = 55,
		.initial_alpha_value = 1023,
		.rate_reduce_monitor_period = 40,
	};
}

static u32 dcqcn_max_kbps(const struct hrp_rp *rp)
{
	u32 max_mbps = READ_ONCE(rp->max_rate);

	return max_mbps ? max_mbps * KBPS_PER_MBPS : READ_ONCE(rp->line_kbps);
}

static bool dcqcn_is_slow(const struct hrp_rp *rp)
{
	return READ_ONCE(rp->line_kbps) <= GBIT_KBPS;
}

static u32 dcqcn_raise_period_ns(const struct hrp_rp *rp)
{
	u32 us = READ_ONCE(rp->time_reset);

	if (!us)
		us = dcqcn_is_slow(rp) ? HRP_RP_SLOW_TIME_RESET :
					 HRP_RP_TIME_RESET;
	return us * NS_PER_US;
}

static u32 dcqcn_raise_mbps(const struct hrp_rp *rp)
{
	u32 mbps = READ_ONCE(rp->ai_rate);

	if (mbps)
		return mbps;
	return dcqcn_is_slow(rp) ? HRP_RP_SLOW_AI_RATE : HRP_RP_AI_RATE;
}

/* @part to the power of @n, all in 1/ALPHA_ONE. */
static u32 dcqcn_power(u32 part, u64 n)
{
	u32 ret = ALPHA_ONE;

	for (; n && ret; n >>= 1) {
		if (n & 1)
			ret = (u64)ret * part >> ALPHA_SHIFT;
		part = (u64)part * part >> ALPHA_SHIFT;
	}
	return ret;
}

/* Each period without a CNP leaves this part of alpha. */
static void dcqcn_decay(struct hrp_dcqcn *d, u64 now_ns)
{
	u32 period_ns = READ_ONCE(d->rp->dce_tcp_rtt) * NS_PER_US;
	u32 old = READ_ONCE(d->rp->dce_tcp_g) * ALPHA_UNIT;
	u64 n;

	if (now_ns < d->alpha_ns + period_ns)
		return;
	n = div_u64(now_ns - d->alpha_ns, period_ns);
	d->alpha_ns += n * period_ns;
	d->alpha = (u64)d->alpha * dcqcn_power(old, n) >> ALPHA_SHIFT;
}

/* A raise by time (by bytes). Return: what it has added to the target. */
static u64 dcqcn_raise(struct hrp_dcqcn *d, u8 *raises, u32 max_kbps)
{
	u32 threshold = READ_ONCE(d->rp->threshold);
	u32 least, most, step = 0;
	u64 target = d->target_kbps, sum;

	*raises += *raises < U8_MAX;
	least = min(d->time_raises, d->byte_raises);
	most = max(d->time_raises, d->byte_raises);
	if (least > threshold)
		step = READ_ONCE(d->rp->hai_rate) * (least - threshold);
	else if (most >= threshold)
		step = dcqcn_raise_mbps(d->rp);
	target += (u64)step * KBPS_PER_MBPS;
	d->target_kbps = min_t(u64, target, max_kbps);
	sum = (u64)d->rate_kbps + d->target_kbps;
	d->rate_kbps = div_u64(sum + 1, 2);
	return (u64)step * KBPS_PER_MBPS;
}

/* Raises by time that were due. */
static void dcqcn_catch_up(struct hrp_dcqcn *d, u64 now_ns, u32 max_kbps)
{
	u32 period_ns = dcqcn_raise_period_ns(d->rp);
	u64 n, left, step = 0;

	if (now_ns < d->raise_ns + period_ns)
		return;
	n = div_u64(now_ns - d->raise_ns, period_ns);
	d->raise_ns += n * period_ns;
	for (left = n; left && left + MAX_RAISES > n; left--)
		step = dcqcn_raise(d, &d->time_raises, max_kbps);
	if (!left)
		return;
	left = min_t(u64, left, max_kbps) * min_t(u64, step, max_kbps);
	d->target_kbps = min_t(u64, d->target_kbps + left, max_kbps);
	d->rate_kbps = d->target_kbps;
}

static void dcqcn_begin(struct hrp_dcqcn *d, u64 now_ns, u32 max_kbps)
{
	d->rate_kbps = max_kbps;
	d->target_kbps = max_kbps;
	d->alpha = READ_ONCE(d->rp->initial_alpha_value) * ALPHA_UNIT;
	d->alpha_ns = now_ns;
}

static void dcqcn_cut(struct hrp_dcqcn *d, u32 max_kbps)
{
	u32 least = READ_ONCE(d->rp->min_rate) * KBPS_PER_MBPS;
	u32 left = READ_ONCE(d->rp->min_dec_fac);
	u32 gd = READ_ONCE(d->rp->gd);
	u32 rate = d->rate_kbps;
	u64 cut;

	if (READ_ONCE(d->rp->clamp_tgt_rate) || d->byte_raises ||
	    (d->time_raises && READ_ONCE(d->rp->clamp_tgt_rate_ati)))
		d->target_kbps = rate;
	cut = (u64)rate * d->alpha >> (gd + ALPHA_SHIFT - 10);
	least = max_t(u64, least, div_u64((u64)rate * left, 100));
	d->rate_kbps = max_t(u64, rate - min_t(u64, cut, rate), least);
	d->rate_kbps = min(d->rate_kbps, max_kbps);
}

bool hrp_dcqcn_cnp(struct hrp_dcqcn *d, u64 now_ns)
{
	u32 pause_ns = READ_ONCE(d->rp->rate_reduce_monitor_period) * NS_PER_US;
	u32 first_mbps = READ_ONCE(d->rp->rate_to_set_on_first_cnp);
	u32 old = READ_ONCE(d->rp->dce_tcp_g) * ALPHA_UNIT;
	u32 max_kbps = dcqcn_max_kbps(d->rp);
	bool first = !hrp_dcqcn_rate(d, now_ns);

	if (!first && now_ns < d->cut_ns + pause_ns)
		return false;
	if (first)
		dcqcn_begin(d, now_ns, max_kbps);
	dcqcn_decay(d, now_ns);
	if (first && first_mbps) {
		d->rate_kbps = min(first_mbps * KBPS_PER_MBPS, max_kbps);
		d->target_kbps = d->rate_kbps;
	} else {
		dcqcn_cut(d, max_kbps);
	}
	d->alpha = ((u64)d->alpha * old >> ALPHA_SHIFT) + ALPHA_ONE - old;
	d->alpha_ns = now_ns;
	d->cut_ns = now_ns;
	d->raise_ns = now_ns;
	d->time_raises = 0;
	d->byte_raises = 0;
	d->bytes = 0;
	return true;
}

void hrp_dcqcn_sent(struct hrp_dcqcn *d, u32 bytes)
{
	u32 period = READ_ONCE(d->rp->byte_reset) * HRP_RP_BYTE_UNIT;

	d->bytes += bytes;
	if (!period || d->bytes < period)
		return;
	d->bytes %= period;
	dcqcn_raise(d, &d->byte_raises, dcqcn_max_kbps(d->rp));
}

u32 hrp_dcqcn_rate(struct hrp_dcqcn *d, u64 now_ns)
{
	u32 max_kbps = dcqcn_max_kbps(d->rp);

	if (!d->rate_kbps)
		return 0;
	dcqcn_catch_up(d, now_ns, max_kbps);
	if (d->rate_kbps >= max_kbps - (max_kbps >> END_SHIFT))
		d->rate_kbps = 0;
	return d->rate_kbps;
}

u64 hrp_dcqcn_next_ns(const struct hrp_dcqcn *d)
{
	return d->raise_ns + dcqcn_raise_period_ns(d->rp);
}

static void dcqcn_start(struct hrp_qp *qp)
{
	hrp_cc_none.start(qp);
}

static void dcqcn_acked(struct hrp_qp *qp, u32 nr_pkts, u64 now_ns)
{
	hrp_cc_none.acked(qp, nr_pkts, now_ns);
}

static u32 dcqcn_near_pkts(const struct hrp_req *req)
{
	return hrp_cc_none.near_pkts(req);
}

static void dcqcn_cnp(struct hrp_req *req)
{
	req->cc_start = 0;
	req->cwnd_pkts -= req->cwnd_pkts >> CNP_SHIFT;
}

static void dcqcn_slow(struct hrp_qp *qp, u64 now_ns)
{
	struct hrp_dcqcn *d = &qp->req.pace->dcqcn;

	if (hrp_dcqcn_cnp(d, now_ns))
		hrp_pace_control(qp, now_ns, d->rate_kbps);
}

const struct hrp_cc_ops hrp_cc_dcqcn = {
	.name = "dcqcn",
	.start = dcqcn_start,
	.acked = dcqcn_acked,
	.cnp = dcqcn_cnp,
	.slow = dcqcn_slow,
	.near_pkts = dcqcn_near_pkts,
};

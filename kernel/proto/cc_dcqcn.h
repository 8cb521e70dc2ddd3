/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reaction point of DCQCN (SIGCOMM 2015): the rate of a queue pair whose packets
 * are marked. There is no timer: each call catches up with the time that has
 * passed.
 */
#ifndef HRP_CC_DCQCN_H
#define HRP_CC_DCQCN_H

#include <linux/types.h>

/* Units of parameters. */
#define HRP_RP_BYTE_UNIT	64u
#define HRP_RP_ONE		1024u

/* Default of &hrp_rp.line_kbps. */
#define HRP_RP_LINE_KBPS	10000000u

/* What 0 stands for in @time_reset and @ai_rate, on slow links the second. */
#define HRP_RP_TIME_RESET	300u
#define HRP_RP_SLOW_TIME_RESET	500u
#define HRP_RP_AI_RATE		5u
#define HRP_RP_SLOW_AI_RATE	1u

/**
 * struct hrp_rp - parameters of a link, named as in mlx5
 * @line_kbps: rate of the netdev, in 1000 bits per second; not 0
 * @clamp_tgt_rate: 1: each cut makes the target the rate before it; 0: only the
 *	first one after a raise
 * @clamp_tgt_rate_ati: 0: a raise by time is none in that respect
 * @time_reset: microseconds between raises by time; 0: HRP_RP_TIME_RESET, or
 *	HRP_RP_SLOW_TIME_RESET if @line_kbps is a gigabit at most
 * @byte_reset: bytes between raises by bytes, in units of HRP_RP_BYTE_UNIT; 0:
 *	there are none
 * @threshold: raises of one kind that only halve the distance to the target; not
 *	0
 * @ai_rate: what a raise adds to the target, in Mbit/s; 0: HRP_RP_AI_RATE, or
 *	HRP_RP_SLOW_AI_RATE as above
 * @hai_rate: the same after more than @threshold raises of both kinds
 * @max_rate: the queue pair is not limited from here on, in Mbit/s; 0:
 *	@line_kbps
 * @min_rate: no cut goes below, in Mbit/s, not 0
 * @gd: a cut takes alpha * 2^(10 - @gd) of the rate, up to 15
 * @min_dec_fac: per cent of the rate that a cut leaves at least
 * @rate_to_set_on_first_cnp: rate and target after the first CNP, in Mbit/s; 0:
 *	that CNP cuts @max_rate
 * @dce_tcp_g: part of the old alpha in the new one, in 1/HRP_RP_ONE
 * @dce_tcp_rtt: microseconds between updates of alpha, not 0
 * @initial_alpha_value: alpha at the first CNP, in 1/HRP_RP_ONE
 * @rate_reduce_monitor_period: least microseconds between cuts
 *
 * May change at any time: read once.
 */
struct hrp_rp {
	u32 line_kbps;
	u32 clamp_tgt_rate;
	u32 clamp_tgt_rate_ati;
	u32 time_reset;
	u32 byte_reset;
	u32 threshold;
	u32 ai_rate;
	u32 hai_rate;
	u32 max_rate;
	u32 min_rate;
	u32 gd;
	u32 min_dec_fac;
	u32 rate_to_set_on_first_cnp;
	u32 dce_tcp_g;
	u32 dce_tcp_rtt;
	u32 initial_alpha_value;
	u32 rate_reduce_monitor_period;
};

/**
 * struct hrp_dcqcn - state of one queue pair; guarded by the send lock
 * @rp: parameters
 * @alpha_ns: time up to which @alpha has decayed
 * @raise_ns: time of the last raise by time, or of the last cut
 * @cut_ns: time of the last cut
 * @rate_kbps: rate, in 1000 bits per second; 0: not limited, and nothing else
 *	here means anything but @rp
 * @target_kbps: rate before the last cuts, and what was added since
 * @alpha: how much is marked, 2^20 is all
 * @bytes: sent since the last raise by bytes, or since the last cut
 * @time_raises: raises by time since the last cut, saturating
 * @byte_raises: raises by bytes
 */
struct hrp_dcqcn {
	const struct hrp_rp *rp;
	u64 alpha_ns;
	u64 raise_ns;
	u64 cut_ns;
	u32 rate_kbps;
	u32 target_kbps;
	u32 alpha;
	u32 bytes;
	u8 time_raises;
	u8 byte_raises;
};

/**
 * hrp_rp_init - set the defaults
 * @rp: parameters
 */
void hrp_rp_init(struct hrp_rp *rp);

/**
 * hrp_dcqcn_cnp - the peer has sent a CNP
 * @d: state
 * @now_ns: current time
 *
 * Return: true if the rate has been cut.
 */
bool hrp_dcqcn_cnp(struct hrp_dcqcn *d, u64 now_ns);

/**
 * hrp_dcqcn_sent - bytes were sent
 * @d: state of a limited queue pair
 * @bytes: how many
 */
void hrp_dcqcn_sent(struct hrp_dcqcn *d, u32 bytes);

/**
 * hrp_dcqcn_rate - the rate at this time
 * @d: state
 * @now_ns: current time
 *
 * Return: 1000 bits per second; 0: not limited any more.
 */
u32 hrp_dcqcn_rate(struct hrp_dcqcn *d, u64 now_ns);

/**
 * hrp_dcqcn_next_ns - when time raises the rate
 * @d: state of a limited queue pair
 *
 * Return: time.
 */
u64 hrp_dcqcn_next_ns(const struct hrp_dcqcn *d);

#endif /* HRP_CC_DCQCN_H */

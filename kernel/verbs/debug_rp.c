// SPDX-License-Identifier: GPL-2.0
/* Parameters of DCQCN in debugfs, under the names of mlx5; see struct hrp_rp. */
#include "debug.h"
#include "debug_knob.h"

#define MAX_US		131071
#define MAX_MBPS	1000000

/* The knobs: field of struct hrp_rp, minimum, maximum. */
#define RP_KNOBS(KNOB)							\
	KNOB(clamp_tgt_rate, 0, 1);					\
	KNOB(clamp_tgt_rate_ati, 0, 1);					\
	KNOB(time_reset, 0, MAX_US);					\
	KNOB(byte_reset, 0, 32767);					\
	KNOB(threshold, 1, 31);						\
	KNOB(ai_rate, 0, MAX_MBPS);					\
	KNOB(hai_rate, 1, MAX_MBPS);					\
	KNOB(max_rate, 0, MAX_MBPS);					\
	KNOB(min_rate, 1, MAX_MBPS);					\
	KNOB(gd, 0, 15);						\
	KNOB(min_dec_fac, 1, 100);					\
	KNOB(rate_to_set_on_first_cnp, 0, MAX_MBPS);			\
	KNOB(dce_tcp_g, 0, HRP_RP_ONE - 1);				\
	KNOB(dce_tcp_rtt, 1, MAX_US);					\
	KNOB(initial_alpha_value, 1, HRP_RP_ONE - 1);			\
	KNOB(rate_reduce_monitor_period, 0, MAX_US)

/* The file of a field is called rp_FIELD. */
#define RP_DEFINE(field, min, max)					\
	HROCE_KNOB(rp_##field, rp.field, min, max)
#define RP_CREATE(field, min, max)					\
	debugfs_create_file_unsafe("rp_" #field, 0600, dir, dev,	\
				   &rp_##field##_fops)

RP_KNOBS(RP_DEFINE);

void hroce_debug_add_rp(struct hroce_dev *dev, struct dentry *dir)
{
	RP_KNOBS(RP_CREATE);
}

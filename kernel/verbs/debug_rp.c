// SPDX-License-Identifier: GPL-2.0
/* Parameters of DCQCN in debugfs, under the names of mlx5; see struct hrp_rp. */
#include "debug.h"
#include "debug_knob.h"

#define MAX_US		131071
#define MAX_MBPS	1000000

HROCE_KNOB(rp_clamp_tgt_rate, rp.clamp_tgt_rate, 0, 1);
HROCE_KNOB(rp_clamp_tgt_rate_ati, rp.clamp_tgt_rate_ati, 0, 1);
HROCE_KNOB(rp_time_reset, rp.time_reset, 1, MAX_US);
HROCE_KNOB(rp_byte_reset, rp.byte_reset, 0, 32767);
HROCE_KNOB(rp_threshold, rp.threshold, 1, 31);
HROCE_KNOB(rp_ai_rate, rp.ai_rate, 1, MAX_MBPS);
HROCE_KNOB(rp_hai_rate, rp.hai_rate, 1, MAX_MBPS);
HROCE_KNOB(rp_max_rate, rp.max_rate, 0, MAX_MBPS);
HROCE_KNOB(rp_min_rate, rp.min_rate, 1, MAX_MBPS);
HROCE_KNOB(rp_gd, rp.gd, 0, 15);
HROCE_KNOB(rp_min_dec_fac, rp.min_dec_fac, 1, 100);
HROCE_KNOB(rp_rate_to_set_on_first_cnp,
	   rp.rate_to_set_on_first_cnp, 0, MAX_MBPS);
HROCE_KNOB(rp_dce_tcp_g, rp.dce_tcp_g, 0, HRP_RP_ONE - 1);
HROCE_KNOB(rp_dce_tcp_rtt, rp.dce_tcp_rtt, 1, MAX_US);
HROCE_KNOB(rp_initial_alpha_value, rp.initial_alpha_value, 1, HRP_RP_ONE - 1);
HROCE_KNOB(rp_rate_reduce_monitor_period,
	   rp.rate_reduce_monitor_period, 0, MAX_US);

void hroce_debug_add_rp(struct hroce_dev *dev, struct dentry *dir)
{
	debugfs_create_file_unsafe("rp_clamp_tgt_rate", 0600, dir, dev,
				   &rp_clamp_tgt_rate_fops);
	debugfs_create_file_unsafe("rp_clamp_tgt_rate_ati", 0600, dir, dev,
				   &rp_clamp_tgt_rate_ati_fops);
	debugfs_create_file_unsafe("rp_time_reset", 0600, dir, dev,
				   &rp_time_reset_fops);
	debugfs_create_file_unsafe("rp_byte_reset", 0600, dir, dev,
				   &rp_byte_reset_fops);
	debugfs_create_file_unsafe("rp_threshold", 0600, dir, dev,
				   &rp_threshold_fops);
	debugfs_create_file_unsafe("rp_ai_rate", 0600, dir, dev,
				   &rp_ai_rate_fops);
	debugfs_create_file_unsafe("rp_hai_rate", 0600, dir, dev,
				   &rp_hai_rate_fops);
	debugfs_create_file_unsafe("rp_max_rate", 0600, dir, dev,
				   &rp_max_rate_fops);
	debugfs_create_file_unsafe("rp_min_rate", 0600, dir, dev,
				   &rp_min_rate_fops);
	debugfs_create_file_unsafe("rp_gd", 0600, dir, dev, &rp_gd_fops);
	debugfs_create_file_unsafe("rp_min_dec_fac", 0600, dir, dev,
				   &rp_min_dec_fac_fops);
	debugfs_create_file_unsafe("rp_rate_to_set_on_first_cnp", 0600, dir, dev,
				   &rp_rate_to_set_on_first_cnp_fops);
	debugfs_create_file_unsafe("rp_dce_tcp_g", 0600, dir, dev,
				   &rp_dce_tcp_g_fops);
	debugfs_create_file_unsafe("rp_dce_tcp_rtt", 0600, dir, dev,
				   &rp_dce_tcp_rtt_fops);
	debugfs_create_file_unsafe("rp_initial_alpha_value", 0600, dir, dev,
				   &rp_initial_alpha_value_fops);
	debugfs_create_file_unsafe("rp_rate_reduce_monitor_period", 0600, dir, dev,
				   &rp_rate_reduce_monitor_period_fops);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Runs of the simulator:
 *	sim [--seed N] [--scale N]	all runs, as TAP
 *	sim --run NAME --seed N [-v]	one run, as printed by one that failed
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "sim_junk.h"
#include "tap.h"

static const struct sim_opts runs[] = {
	{ .name = "rc_clean", .nr_pairs = 2, .nr_ops = 1500 },
	{ .name = "rc_rnr", .nr_pairs = 2, .nr_ops = 800, .pause_us = 300,
	  .limited = true },
	{ .name = "rc_loss_1", .nr_pairs = 2, .nr_ops = 1500,
	  .drop_ppm = 10000, .pause_us = 50 },
	{ .name = "rc_loss_5", .nr_pairs = 2, .nr_ops = 1000,
	  .drop_ppm = 50000 },
	{ .name = "rc_loss_20", .nr_pairs = 2, .nr_ops = 600,
	  .drop_ppm = 200000, .pause_us = 100 },
	{ .name = "rc_reorder", .nr_pairs = 2, .nr_ops = 1000,
	  .reorder_ppm = 100000 },
	{ .name = "rc_duplicate", .nr_pairs = 2, .nr_ops = 1000,
	  .dup_ppm = 200000, .reorder_ppm = 20000 },
	{ .name = "rc_damage", .nr_pairs = 2, .nr_ops = 1000,
	  .damage_ppm = 100000 },
	{ .name = "rc_all_5", .nr_pairs = 3, .nr_ops = 800, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000, .damage_ppm = 50000,
	  .pause_us = 100 },
	{ .name = "rc_all_20", .nr_pairs = 2, .nr_ops = 400,
	  .timeout = 11, .drop_ppm = 200000, .dup_ppm = 200000,
	  .reorder_ppm = 200000, .damage_ppm = 200000, .pause_us = 100 },
	/* The local ACK timeout is long: 67 ms. */
	{ .name = "rc_long_1", .nr_pairs = 2, .nr_ops = 1500, .timeout = 14,
	  .drop_ppm = 10000, .mean_us = 60000 },
	{ .name = "rc_long_5", .nr_pairs = 2, .nr_ops = 1000, .timeout = 14,
	  .drop_ppm = 50000, .mean_us = 150000 },
	{ .name = "rc_long_all_5", .nr_pairs = 2, .nr_ops = 800, .timeout = 14,
	  .drop_ppm = 50000, .dup_ppm = 50000, .reorder_ppm = 50000,
	  .damage_ppm = 50000, .mean_us = 400000 },
	{ .name = "rc_long_no_retry", .nr_pairs = 2, .nr_ops = 1500,
	  .timeout = 14, .no_retry = true, .drop_ppm = 10000,
	  .mean_us = 60000 },
	{ .name = "rc_long_rnr", .nr_pairs = 2, .nr_ops = 800, .timeout = 14,
	  .pause_us = 300 },
	{ .name = "rc_long_reads", .nr_pairs = 2, .nr_ops = 300,
	  .timeout = 14, .mtu_shift = 8, .max_msg = 65536, .big_read = true,
	  .drop_ppm = 10000, .dup_ppm = 10000, .reorder_ppm = 10000,
	  .mean_us = 200000 },
	{ .name = "rc_long_short_5", .nr_pairs = 3, .nr_ops = 1500,
	  .max_msg = 64, .timeout = 14, .drop_ppm = 50000,
	  .mean_us = 200000 },
	{ .name = "rc_queue", .nr_pairs = 2, .nr_ops = 1500, .mtu_shift = 10,
	  .max_msg = 65536, .queue_us = 60, .max_waste = 6 },
	{ .name = "rc_queue_reads", .nr_pairs = 2, .nr_ops = 1000,
	  .mtu_shift = 8, .max_msg = 65536, .big_read = true, .queue_us = 20,
	  .max_lost = 3 },
	{ .name = "rc_refused", .nr_pairs = 2, .nr_ops = 1000,
	  .refuse_ppm = 50000 },
	{ .name = "rc_refused_reads", .nr_pairs = 2, .nr_ops = 300,
	  .mtu_shift = 8, .max_msg = 65536, .big_read = true,
	  .refuse_ppm = 50000 },
	{ .name = "rc_refused_loss", .nr_pairs = 2, .nr_ops = 800,
	  .refuse_ppm = 50000, .drop_ppm = 10000, .dup_ppm = 20000,
	  .reorder_ppm = 20000, .away_ppm = 20000, .pause_us = 50 },
	{ .name = "rc_refused_killed", .nr_pairs = 3, .nr_ops = 800,
	  .refuse_ppm = 50000, .drop_ppm = 10000, .kill_both = true },
	{ .name = "rc_away", .nr_pairs = 2, .nr_ops = 800, .away_ppm = 50000 },
	{ .name = "rc_away_loss", .nr_pairs = 2, .nr_ops = 800,
	  .away_ppm = 50000, .drop_ppm = 20000, .dup_ppm = 20000,
	  .reorder_ppm = 20000, .pause_us = 50 },
	{ .name = "rc_away_reads", .nr_pairs = 2, .nr_ops = 200,
	  .mtu_shift = 8, .max_msg = 32768, .big_read = true,
	  .away_ppm = 50000, .drop_ppm = 5000 },
	{ .name = "rc_reads", .nr_pairs = 2, .nr_ops = 300, .mtu_shift = 8,
	  .max_msg = 65536, .big_read = true, .drop_ppm = 10000,
	  .dup_ppm = 10000, .reorder_ppm = 10000, .damage_ppm = 10000 },
	{ .name = "rc_srq", .nr_pairs = 6, .nr_ops = 400, .srq = true,
	  .drop_ppm = 20000, .dup_ppm = 20000, .pause_us = 100 },
	{ .name = "rc_one_killed", .nr_pairs = 3, .nr_ops = 800,
	  .drop_ppm = 10000, .kill_one = true },
	{ .name = "rc_both_killed", .nr_pairs = 3, .nr_ops = 800,
	  .drop_ppm = 10000, .dup_ppm = 20000, .kill_both = true },
	{ .name = "rc_faults", .nr_pairs = 18, .nr_ops = 60, .mtu_shift = 9,
	  .dup_ppm = 10000, .fault = true },
	{ .name = "rc_faults_early", .nr_pairs = 18, .nr_ops = 60,
	  .mtu_shift = 9, .dup_ppm = 10000, .fault = true, .early = true },
	{ .name = "rc_faults_both", .nr_pairs = 18, .nr_ops = 60,
	  .mtu_shift = 9, .fault = true, .early = true, .both = true },
	{ .name = "rc_short", .nr_pairs = 3, .nr_ops = 3000, .max_msg = 64,
	  .holds = true },
	{ .name = "rc_short_rnr", .nr_pairs = 3, .nr_ops = 1500, .max_msg = 64,
	  .pause_us = 100, .holds = true },
	{ .name = "rc_short_all_5", .nr_pairs = 3, .nr_ops = 1500,
	  .max_msg = 64, .drop_ppm = 50000, .dup_ppm = 50000,
	  .reorder_ppm = 50000, .damage_ppm = 50000, .holds = true },
	{ .name = "rc_short_killed", .nr_pairs = 4, .nr_ops = 1500,
	  .max_msg = 64, .drop_ppm = 10000, .kill_both = true },
	{ .name = "rc_short_one_killed", .nr_pairs = 4, .nr_ops = 1500,
	  .max_msg = 64, .kill_one = true },
	{ .name = "rc_kept", .nr_pairs = 3, .nr_ops = 1000, .keeps = true,
	  .drop_ppm = 30000, .dup_ppm = 50000, .reorder_ppm = 100000,
	  .damage_ppm = 30000, .pause_us = 100 },
	{ .name = "rc_kept_late", .nr_pairs = 2, .nr_ops = 3000, .keeps = true,
	  .plain = true, .reorder_ppm = 100000, .waits = true },
	{ .name = "rc_kept_away", .nr_pairs = 3, .nr_ops = 800, .keeps = true,
	  .drop_ppm = 20000, .dup_ppm = 20000, .reorder_ppm = 50000,
	  .away_ppm = 20000, .pause_us = 100 },
	{ .name = "rc_kept_killed", .nr_pairs = 4, .nr_ops = 800, .keeps = true,
	  .drop_ppm = 30000, .reorder_ppm = 50000, .dup_ppm = 50000,
	  .pause_us = 100, .kill_both = true },
	/* Each mode meets each. */
	{ .name = "rc_modes_5", .nr_pairs = 9, .nr_ops = 100, .modes = true,
	  .drop_ppm = 50000, .pause_us = 50 },
	{ .name = "rc_modes_all_20", .nr_pairs = 9, .nr_ops = 80,
	  .modes = true, .timeout = 11, .drop_ppm = 200000,
	  .dup_ppm = 200000, .reorder_ppm = 200000, .pause_us = 100 },
	{ .name = "xrc_modes_all_20", .type = HRP_TYPE_XRC_INI, .nr_pairs = 9,
	  .nr_ops = 80, .modes = true, .timeout = 11, .drop_ppm = 200000,
	  .dup_ppm = 200000, .reorder_ppm = 200000, .pause_us = 100 },
	/* Each mode meets a peer that is not hroce. */
	{ .name = "rc_spec_clean", .nr_pairs = 3, .nr_ops = 400, .spec = true,
	  .pause_us = 50 },
	{ .name = "rc_spec_1", .nr_pairs = 3, .nr_ops = 400, .spec = true,
	  .drop_ppm = 10000, .pause_us = 50 },
	{ .name = "rc_spec_all_20", .nr_pairs = 3, .nr_ops = 200,
	  .spec = true, .drop_ppm = 200000, .dup_ppm = 200000,
	  .reorder_ppm = 200000, .pause_us = 100 },
	{ .name = "rc_spec_rnr", .nr_pairs = 6, .nr_ops = 200, .spec = true,
	  .pause_us = 600, .limited = true },
	{ .name = "rc_spec_rnr_all_5", .nr_pairs = 6, .nr_ops = 200,
	  .spec = true, .pause_us = 600, .limited = true, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000 },
	/* Two connections for each fault, with the model at either side. */
	{ .name = "rc_spec_faults", .nr_pairs = 32, .nr_ops = 60,
	  .mtu_shift = 9, .spec = true, .fault = true, .early = true },
	{ .name = "rc_spec_faults_all_5", .nr_pairs = 32, .nr_ops = 60,
	  .mtu_shift = 9, .spec = true, .fault = true, .early = true,
	  .drop_ppm = 50000, .dup_ppm = 50000, .reorder_ppm = 50000 },
	{ .name = "rc_spec_faults_both", .nr_pairs = 32, .nr_ops = 60,
	  .mtu_shift = 9, .spec = true, .fault = true, .early = true,
	  .both = true },
	{ .name = "rc_spec_srq", .nr_pairs = 6, .nr_ops = 200, .spec = true,
	  .srq = true, .pause_us = 300 },
	{ .name = "rc_spec_srq_all_5", .nr_pairs = 6, .nr_ops = 200,
	  .spec = true, .srq = true, .pause_us = 300, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000 },
	{ .name = "xrc_spec_clean", .type = HRP_TYPE_XRC_INI, .nr_pairs = 6,
	  .nr_ops = 200, .spec = true, .pause_us = 50 },
	{ .name = "xrc_spec_all_5", .type = HRP_TYPE_XRC_INI, .nr_pairs = 6,
	  .nr_ops = 200, .spec = true, .pause_us = 100, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000 },
	{ .name = "xrc_spec_faults", .type = HRP_TYPE_XRC_INI,
	  .nr_pairs = 30, .nr_ops = 60, .mtu_shift = 9, .spec = true,
	  .fault = true, .early = true },
	{ .name = "uc_spec_clean", .type = HRP_TYPE_UC, .nr_pairs = 3,
	  .nr_ops = 400, .spec = true },
	{ .name = "uc_spec_all_5", .type = HRP_TYPE_UC, .nr_pairs = 3,
	  .nr_ops = 800, .spec = true, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000, .pause_us = 100 },
	{ .name = "ud_spec_clean", .type = HRP_TYPE_UD, .nr_pairs = 3,
	  .nr_ops = 400, .spec = true },
	{ .name = "ud_spec_all_5", .type = HRP_TYPE_UD, .nr_pairs = 3,
	  .nr_ops = 800, .spec = true, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000, .pause_us = 100 },
	/* It sends malformed packets between good ones. */
	{ .name = "rc_spec_junk", .nr_pairs = 6, .nr_ops = 400, .spec = true,
	  .junk = true, .pause_us = 50 },
	{ .name = "rc_spec_junk_all_5", .nr_pairs = 6, .nr_ops = 200,
	  .spec = true, .junk = true, .pause_us = 100, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000 },
	{ .name = "xrc_spec_junk", .type = HRP_TYPE_XRC_INI, .nr_pairs = 6,
	  .nr_ops = 300, .spec = true, .junk = true, .pause_us = 50 },
	{ .name = "xrc_spec_junk_all_5", .type = HRP_TYPE_XRC_INI,
	  .nr_pairs = 6, .nr_ops = 200, .spec = true, .junk = true,
	  .pause_us = 100, .drop_ppm = 50000, .dup_ppm = 50000,
	  .reorder_ppm = 50000 },
	{ .name = "uc_spec_junk", .type = HRP_TYPE_UC, .nr_pairs = 3,
	  .nr_ops = 800, .spec = true, .junk = true, .pause_us = 50 },
	{ .name = "uc_spec_junk_all_5", .type = HRP_TYPE_UC, .nr_pairs = 3,
	  .nr_ops = 800, .spec = true, .junk = true, .pause_us = 100,
	  .drop_ppm = 50000, .dup_ppm = 50000, .reorder_ppm = 50000 },
	{ .name = "ud_spec_junk", .type = HRP_TYPE_UD, .nr_pairs = 3,
	  .nr_ops = 800, .spec = true, .junk = true },
	{ .name = "ud_spec_junk_all_5", .type = HRP_TYPE_UD, .nr_pairs = 3,
	  .nr_ops = 800, .spec = true, .junk = true, .pause_us = 100,
	  .drop_ppm = 50000, .dup_ppm = 50000, .reorder_ppm = 50000 },
	/* A packet of it ends the connection; two of them for each. */
	{ .name = "rc_spec_wrong", .nr_pairs = 40, .nr_ops = 60,
	  .mtu_shift = 9, .spec = true, .fault = true, .wrong = true,
	  .early = true },
	{ .name = "rc_spec_wrong_all_5", .nr_pairs = 40, .nr_ops = 60,
	  .mtu_shift = 9, .spec = true, .fault = true, .wrong = true,
	  .early = true, .drop_ppm = 50000, .dup_ppm = 50000,
	  .reorder_ppm = 50000 },
	{ .name = "xrc_spec_wrong", .type = HRP_TYPE_XRC_INI, .nr_pairs = 36,
	  .nr_ops = 60, .mtu_shift = 9, .spec = true, .fault = true,
	  .wrong = true, .early = true },
	{ .name = "rc_spec_wrong_junk", .nr_pairs = 40, .nr_ops = 60,
	  .mtu_shift = 9, .spec = true, .fault = true, .wrong = true,
	  .early = true, .junk = true },
	/* Several gaps in a flight. */
	{ .name = "rc_sack", .nr_pairs = 3, .nr_ops = 1500, .keeps = true,
	  .sacks = true, .mtu_shift = 8, .max_msg = 65536, .timeout = 14,
	  .drop_ppm = 50000, .mean_us = 1000000 },
	{ .name = "rc_sack_all_5", .nr_pairs = 3, .nr_ops = 1000,
	  .keeps = true, .sacks = true, .max_msg = 65536, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000, .damage_ppm = 50000,
	  .away_ppm = 10000, .pause_us = 100 },
	{ .name = "rc_sack_all_20", .nr_pairs = 2, .nr_ops = 400,
	  .keeps = true, .sacks = true, .timeout = 11, .drop_ppm = 200000,
	  .dup_ppm = 200000, .reorder_ppm = 200000,
	  .damage_ppm = 200000, .pause_us = 100 },
	{ .name = "rc_sack_reads", .nr_pairs = 3, .nr_ops = 400,
	  .keeps = true, .sacks = true, .big_read = true, .mtu_shift = 8,
	  .max_msg = 65536, .drop_ppm = 30000, .dup_ppm = 20000,
	  .reorder_ppm = 30000, .damage_ppm = 10000 },
	{ .name = "rc_sack_killed", .nr_pairs = 4, .nr_ops = 1000,
	  .max_msg = 65536, .drop_ppm = 50000, .reorder_ppm = 50000,
	  .kill_both = true },
	/* Packets longer than the path MTU, of several lengths at a time. */
	{ .name = "rc_longer", .nr_pairs = 3, .nr_ops = 1500, .longer = true,
	  .max_msg = 65536 },
	{ .name = "rc_longer_all_5", .nr_pairs = 3, .nr_ops = 1000,
	  .longer = true, .keeps = true, .sacks = true, .max_msg = 65536,
	  .drop_ppm = 50000, .dup_ppm = 50000, .reorder_ppm = 50000,
	  .damage_ppm = 50000, .away_ppm = 10000, .pause_us = 100 },
	{ .name = "rc_longer_reads", .nr_pairs = 3, .nr_ops = 400,
	  .longer = true, .keeps = true, .sacks = true, .big_read = true,
	  .max_msg = 65536, .drop_ppm = 30000, .dup_ppm = 20000,
	  .reorder_ppm = 30000, .damage_ppm = 10000 },
	{ .name = "xrc_longer", .type = HRP_TYPE_XRC_INI, .nr_pairs = 4,
	  .nr_ops = 500, .longer = true, .max_msg = 65536,
	  .drop_ppm = 30000, .reorder_ppm = 30000 },
	/* For good, and all queue pairs use that way when it breaks. */
	{ .name = "rc_broken", .nr_pairs = 3, .nr_ops = 800, .timeout = 14,
	  .broken_us = 300 },
	{ .name = "rc_broken_all_5", .nr_pairs = 3, .nr_ops = 600,
	  .timeout = 14, .broken_us = 300, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000, .damage_ppm = 50000 },
	{ .name = "rc_broken_reads", .nr_pairs = 2, .nr_ops = 300,
	  .timeout = 14, .mtu_shift = 8, .max_msg = 65536, .big_read = true,
	  .keeps = true, .broken_us = 300, .drop_ppm = 10000 },
	{ .name = "xrc_broken", .type = HRP_TYPE_XRC_INI, .nr_pairs = 4,
	  .nr_ops = 800, .timeout = 14, .broken_us = 300 },
	{ .name = "rc_sprayed", .nr_pairs = 2, .nr_ops = 800, .timeout = 14,
	  .mtu_shift = 8, .max_msg = 65536, .keeps = true, .spray = true },
	{ .name = "rc_sprayed_all_5", .nr_pairs = 2, .nr_ops = 400,
	  .mtu_shift = 8, .max_msg = 65536, .keeps = true, .spray = true,
	  .drop_ppm = 50000, .dup_ppm = 50000, .reorder_ppm = 50000,
	  .damage_ppm = 50000, .pause_us = 100 },
	{ .name = "rc_sprayed_broken", .nr_pairs = 2, .nr_ops = 600,
	  .timeout = 14, .mtu_shift = 8, .max_msg = 65536, .keeps = true,
	  .spray = true, .broken_us = 2000 },
	{ .name = "rc_sprayed_killed", .nr_pairs = 3, .nr_ops = 400,
	  .mtu_shift = 8, .max_msg = 65536, .keeps = true, .spray = true,
	  .drop_ppm = 10000, .kill_both = true },
	{ .name = "xrc_sprayed", .type = HRP_TYPE_XRC_INI, .nr_pairs = 4,
	  .nr_ops = 400, .mtu_shift = 8, .max_msg = 65536, .keeps = true,
	  .spray = true, .drop_ppm = 10000 },
	{ .name = "rc_paced", .nr_pairs = 2, .nr_ops = 600, .paced = true },
	{ .name = "rc_paced_all_5", .nr_pairs = 2, .nr_ops = 400,
	  .paced = true, .drop_ppm = 50000, .dup_ppm = 50000,
	  .reorder_ppm = 50000, .damage_ppm = 50000, .pause_us = 100 },
	{ .name = "rc_paced_away", .nr_pairs = 2, .nr_ops = 400,
	  .paced = true, .away_ppm = 50000, .drop_ppm = 10000 },
	{ .name = "rc_paced_killed", .nr_pairs = 3, .nr_ops = 400,
	  .paced = true, .drop_ppm = 10000, .kill_both = true },
	{ .name = "rc_paced_faults", .nr_pairs = 11, .nr_ops = 60,
	  .mtu_shift = 9, .paced = true, .fault = true },
	/* Marks instead of losses, beside them, and in trouble. */
	{ .name = "rc_marked", .nr_pairs = 3, .nr_ops = 3000, .mtu_shift = 10,
	  .max_msg = 65536, .queue_us = 300, .mark_us = 30, .dcqcn = true,
	  .max_late = 5 },
	{ .name = "rc_marked_reads", .nr_pairs = 3, .nr_ops = 1500,
	  .mtu_shift = 10, .max_msg = 65536, .big_read = true,
	  .queue_us = 150, .mark_us = 15, .dcqcn = true },
	{ .name = "rc_marked_all_5", .nr_pairs = 2, .nr_ops = 1500,
	  .max_msg = 65536, .mark_us = 5, .drop_ppm = 50000,
	  .dup_ppm = 50000, .reorder_ppm = 50000, .damage_ppm = 50000,
	  .pause_us = 100 },
	{ .name = "rc_marked_paced", .nr_pairs = 2, .nr_ops = 800,
	  .mark_us = 1, .paced = true, .drop_ppm = 10000, .dcqcn = true },
	{ .name = "rc_marked_killed", .nr_pairs = 3, .nr_ops = 1500,
	  .max_msg = 65536, .queue_us = 60, .mark_us = 10, .dcqcn = true,
	  .kill_both = true },
	{ .name = "uc_marked", .type = HRP_TYPE_UC, .nr_pairs = 2,
	  .nr_ops = 2000, .max_msg = 65536, .mark_us = 5, .dcqcn = true },
	{ .name = "xrc_clean", .type = HRP_TYPE_XRC_INI, .nr_pairs = 4,
	  .nr_ops = 800 },
	{ .name = "xrc_all_5", .type = HRP_TYPE_XRC_INI, .nr_pairs = 4,
	  .nr_ops = 800, .drop_ppm = 50000, .dup_ppm = 50000,
	  .reorder_ppm = 50000, .damage_ppm = 50000, .pause_us = 100 },
	{ .name = "xrc_kept", .type = HRP_TYPE_XRC_INI, .nr_pairs = 4,
	  .nr_ops = 800, .keeps = true, .drop_ppm = 30000, .dup_ppm = 30000,
	  .reorder_ppm = 100000, .damage_ppm = 30000, .pause_us = 100 },
	{ .name = "xrc_both_killed", .type = HRP_TYPE_XRC_INI, .nr_pairs = 6,
	  .nr_ops = 800, .drop_ppm = 10000, .dup_ppm = 20000,
	  .kill_both = true },
	{ .name = "xrc_faults", .type = HRP_TYPE_XRC_INI, .nr_pairs = 14,
	  .nr_ops = 60, .mtu_shift = 9, .dup_ppm = 10000, .fault = true },
	{ .name = "uc_clean", .type = HRP_TYPE_UC, .nr_pairs = 2,
	  .nr_ops = 1000 },
	{ .name = "uc_all_5", .type = HRP_TYPE_UC, .nr_pairs = 2,
	  .nr_ops = 2000, .drop_ppm = 50000, .dup_ppm = 50000,
	  .reorder_ppm = 50000, .damage_ppm = 50000, .pause_us = 50 },
	{ .name = "uc_paced_all_5", .type = HRP_TYPE_UC, .nr_pairs = 2,
	  .nr_ops = 1000, .paced = true, .drop_ppm = 50000, .dup_ppm = 50000,
	  .reorder_ppm = 50000, .damage_ppm = 50000, .pause_us = 50 },
	{ .name = "ud_clean", .type = HRP_TYPE_UD, .nr_pairs = 2,
	  .nr_ops = 1000 },
	{ .name = "ud_all_5", .type = HRP_TYPE_UD, .nr_pairs = 2,
	  .nr_ops = 2000, .drop_ppm = 50000, .dup_ppm = 50000,
	  .reorder_ppm = 50000, .damage_ppm = 50000, .srq = true },
	{ .name = "ud_paced", .type = HRP_TYPE_UD, .nr_pairs = 2,
	  .nr_ops = 1000, .paced = true },
};

#define NR_RUNS	(sizeof(runs) / sizeof(runs[0]))

static struct sim_sum total;

/*
 * What chance decides, in a single run: a packet may be lost many times in a row,
 * and the time doubles; in a short run no ACK may be held for its whole time.
 */
static void check_sum(const struct sim_opts *run, const struct sim_sum *sum)
{
	if (run->mean_us)
		tap_ok(sum->us <= sum->runs * run->mean_us);
	if (run->holds)
		tap_ok(sum->held && sum->held_well);
	if (run->waits)
		tap_ok(sum->naks_saved > sum->naks);
	if (run->type != HRP_TYPE_UC && run->type != HRP_TYPE_UD &&
	    !run->big_read && !run->kill_both && !run->kill_one)
		tap_ok(sum->trains[0] + sum->trains[1]);
	if (run->limited)
		tap_ok(sum->limited && (!run->spec || sum->spec_limited));
	if (sim_has_modes(run))
		tap_ok(sim_modes_met(run, sum));
	if (run->wrong)
		tap_ok(sim_faults_met(run, sum));
	if (run->junk)
		tap_ok(sim_junk_met(run, sum));
}

/* Each run several times, with other seeds and hence other sizes. */
static void run_case(const struct sim_opts *run, u64 seed, u32 scale,
		     bool verbose)
{
	struct sim_opts opts = *run;
	struct sim_sum sum = {};

	while (sum.runs < scale) {
		opts.seed = seed + sum.runs;
		opts.verbose = verbose;
		if (!tap_ok(sim_run(&opts, &sum)))
			break;
	}
	check_sum(run, &sum);
	total.ops += sum.ops;
	total.frames += sum.frames;
	total.trains[0] += sum.trains[0];
	total.trains[1] += sum.trains[1];
	tap_end(run->name);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "scale", required_argument, NULL, 'n' },
		{ "run", required_argument, NULL, 'r' },
		{ "verbose", no_argument, NULL, 'v' },
		{ }
	};
	const char *name = NULL;
	bool verbose = false;
	u32 scale = 1;
	u64 seed = 1;
	size_t i;
	int opt;

	while ((opt = getopt_long(argc, argv, "v", options, NULL)) != -1) {
		switch (opt) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			scale = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			name = optarg;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return 2;
		}
	}
	tap_plan(name ? 1 : NR_RUNS);
	for (i = 0; i < NR_RUNS; i++)
		if (!name || !strcmp(name, runs[i].name))
			run_case(&runs[i], seed, scale, verbose);
	if (!name && !(total.trains[0] && total.trains[1])) {
		printf("# no bursts of several messages: WRITEs and the like %llu, SENDs %llu\n",
		       (unsigned long long)total.trains[0],
		       (unsigned long long)total.trains[1]);
		return 1;
	}
	printf("# %llu operations, %llu frames\n", (unsigned long long)total.ops,
	       (unsigned long long)total.frames);
	return tap_exit();
}

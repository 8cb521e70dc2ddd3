/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Malformed packets, nonsense, and what a sender may leave undefined: with
 * opts.junk, models send all of it between their good packets.
 */
#ifndef SIM_JUNK_H
#define SIM_JUNK_H

#include "sim.h"

/* After each good packet of a model: perhaps one that is not. */
void sim_junk_send(struct sim_qp *from, const struct hrp_pkt *good,
		   const u8 *payload);

/* It has arrived at the engine, which must do just what is right. */
void sim_junk_arrive(struct sim_qp *qp, enum sim_junk kind, u8 *bytes, u32 len);

/* Set bits that are reserved, or mean nothing here. Return: true if it was done. */
bool sim_junk_set_bits(struct sim_qp *from, const struct hrp_pkt *pkt,
		       u8 *bytes);

/* Of the last two answers, does the second one go first? */
bool sim_junk_swaps(struct sim_qp *qp);

/* Print what was counted. Return: has each kind of packet been of use? */
bool sim_junk_met(const struct sim_opts *opts, const struct sim_sum *sum);

#endif /* SIM_JUNK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Port counters of a lower device. */
#ifndef HROCE_OFFLOAD_MIRROR_H
#define HROCE_OFFLOAD_MIRROR_H

#include <linux/types.h>

struct hroce_lower;
struct ib_mad;

/**
 * hroce_mirror_counters - have a lower device answer for its port
 * @lower: port
 * @in: Get(PortCounters) or Get(PortCountersExtended) for port 1, valid
 * @out: the attribute is filled in, with PortSelect 1; 0 where the device does
 *	not count
 *
 * Context: process, may sleep; no lock held.
 */
void hroce_mirror_counters(const struct hroce_lower *lower,
			   const struct ib_mad *in, struct ib_mad *out);

#endif /* HROCE_OFFLOAD_MIRROR_H */

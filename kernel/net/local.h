/* SPDX-License-Identifier: GPL-2.0 */
/* Bursts to packets for links of this host, without frames. */
#ifndef HROCE_LOCAL_H
#define HROCE_LOCAL_H

#include <linux/types.h>

struct hroce_flow;
struct hroce_headers;
struct hroce_mem_iter;
struct hroce_route;
struct hrp_burst;

/**
 * hroce_local_may - may a burst go without frames?
 * @sender: flow that frames are charged to
 * @route: its route
 * @it: payload, at its beginning
 *
 * Context: BH disabled, RCU read side.
 * Return: true if the peer is on this host, the link allows it, and nothing
 * stands in the way: frames that have not arrived yet must not be overtaken,
 * and who is called back deeper and deeper had better be called later.
 */
bool hroce_local_may(const struct hroce_flow *sender,
		     const struct hroce_route *route,
		     const struct hroce_mem_iter *it);

/**
 * hroce_local_deliver - deliver the packets of a burst
 * @flow: flow
 * @route: its route
 * @hdr: headers of its packets; changed
 * @b: burst
 * @it: payload; hroce_local_may() said true
 * @held: the receiver's state between bursts, NULL at first; in the end to be
 *	given to hroce_local_end()
 *
 * Context: as hroce_local_may(), until after hroce_local_end(). No lock held
 * that a receiver takes.
 */
void hroce_local_deliver(const struct hroce_flow *flow,
			 const struct hroce_route *route,
			 struct hroce_headers *hdr, const struct hrp_burst *b,
			 struct hroce_mem_iter *it, void **held);

/**
 * hroce_local_end - that was the last burst of a run
 * @held: from hroce_local_deliver(), not NULL
 */
void hroce_local_end(void *held);

#endif /* HROCE_LOCAL_H */

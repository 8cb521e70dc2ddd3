/* SPDX-License-Identifier: GPL-2.0 */
/* Others that fill the queue until packets are dropped: see rival.c. */
#ifndef HRP_RIVAL_H
#define HRP_RIVAL_H

#include <linux/types.h>

struct hrp_req;

/**
 * struct hrp_rival - what a requester knows of them
 * @rtt: the last round trip without a probe, in units of 1024 ns
 * @window: in packets: the window before the probe, while it grows back to that;
 *	0: it does not
 * @far: round trips that were far too long; once rivals are here: as many, or 0
 *	after a probe that found none
 * @probe: round trips until the probe tells; 0: there is none
 * @calm: periods in a row in which nothing was lost
 * @ours: the probe tells that the queue is that of queue pairs that probe
 * @here: they are there
 * @gains: nothing was lost since they were noticed
 */
struct hrp_rival {
	u32 rtt;
	u16 window;
	u8 far;
	u8 probe;
	u8 calm;
	bool ours;
	bool here;
	bool gains;
};

/* Forget what is known. Context: send lock held. */
void hrp_rival_start(struct hrp_req *req);

/* What a measured round trip tells. */
enum hrp_rivals {
	HRP_RIVALS_NONE,
	/* Delay is theirs: losses alone are to be the control. */
	HRP_RIVALS_HERE,
	/* A probe has found none: the shortest round trip is that of the probe. */
	HRP_RIVALS_GONE,
};

/**
 * hrp_rival_look - are there rivals?
 * @req: requester
 * @rtt: a round trip, in units of 1024 ns
 * @delay: how long the packet has waited; part of it
 * @target: how long it may
 *
 * To be called about once in a round trip. Context: send lock held.
 * Return: HRP_RIVALS_GONE once, when they have gone or a probe has found none.
 */
enum hrp_rivals hrp_rival_look(struct hrp_req *req, u32 rtt, u32 delay,
			       u32 target);

/**
 * hrp_rival_renew - a period of several seconds has ended
 * @req: requester
 *
 * A probe begins if there are rivals, or may be: the window is to become a
 * quarter. If nothing was lost beside them in several periods, there are none:
 * the path is longer. Context: send lock held.
 * Return: true if the shortest round trip is not to be learnt anew before the
 * probe has ended.
 */
bool hrp_rival_renew(struct hrp_req *req);

/**
 * hrp_rival_window - how the window grows beside rivals
 * @req: requester with rivals
 * @window: present window, in units of 2^-8 packets
 * @may_grow: there is more to send, and losses do not speak against it
 *
 * Context: send lock held.
 * Return: the next one.
 */
u32 hrp_rival_window(struct hrp_req *req, u32 window, bool may_grow);

/* There is a new gap. Context: send lock held. */
void hrp_rival_lost(struct hrp_req *req);

/* Are there rivals? Then each loss counts. Context: send lock held. */
bool hrp_rival_is_here(const struct hrp_req *req);

#endif /* HRP_RIVAL_H */

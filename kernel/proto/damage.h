/* SPDX-License-Identifier: GPL-2.0 */
/* Losses that a smaller window does not avoid: see damage.c. */
#ifndef HRP_DAMAGE_H
#define HRP_DAMAGE_H

#include <linux/types.h>

struct hrp_req;

/**
 * struct hrp_damage - what a requester knows of them
 * @psn: losses count from this PSN on: in a test, those of packets that were
 *	sent with the small window
 * @before: of how many packets 64 were lost without a test, up to 6400; 0: that
 *	is not known
 * @lost: packets that were lost, up to 64
 * @near_pkts: gaps that are nearer to each other than so many packets are
 *	congestion, see &hrp_cc_ops.near_pkts; 0: no damage is known
 * @tests: a test goes on: the window stays
 * @tested: no test begins before hrp_damage_renew()
 * @doubted: the first one since then has ended with less losses: there is another
 */
struct hrp_damage {
	u32 psn;
	u16 before;
	u8 lost;
	u8 near_pkts;
	bool tests;
	bool tested;
	bool doubted;
};

/**
 * hrp_damage_start - forget what is known
 * @req: requester
 *
 * Context: send lock held.
 */
void hrp_damage_start(struct hrp_req *req);

/**
 * hrp_damage_test - begin a test
 * @req: requester whose window is about to become small
 *
 * There is one after each hrp_damage_renew(), and only with a peer that tells
 * what it keeps. Context: send lock held.
 * Return: true if it has begun.
 */
bool hrp_damage_test(struct hrp_req *req);

/**
 * hrp_damage_renew - let another test begin
 * @req: requester
 *
 * Context: send lock held.
 * Return: true if one is due, as the last one told of damage.
 */
bool hrp_damage_renew(struct hrp_req *req);

/**
 * hrp_damage_look - end a test that finds few losses, or is void
 * @req: requester
 * @queued: packets wait for too long: losses may be due to that, the test is void
 *
 * To be called about once in a round trip. Context: send lock held.
 * Return: true if a test goes on.
 */
bool hrp_damage_look(struct hrp_req *req, bool queued);

/**
 * hrp_damage_lost - there is a new gap
 * @req: requester
 * @psn: where it begins
 * @nr: packets that were lost
 *
 * Context: send lock held.
 */
void hrp_damage_lost(struct hrp_req *req, u32 psn, u32 nr);

/* Does a test go on? Then the window stays. Context: send lock held. */
bool hrp_damage_is_tested(const struct hrp_req *req);

/**
 * hrp_damage_near - which gaps are congestion
 * @req: requester
 *
 * Context: send lock held.
 * Return: see &hrp_damage.near_pkts.
 */
u32 hrp_damage_near(const struct hrp_req *req);

#endif /* HRP_DAMAGE_H */

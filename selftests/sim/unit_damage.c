// SPDX-License-Identifier: GPL-2.0
/* Which share of the packets is lost whatever the window. */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <string.h>
#include "proto/damage.h"
#include "proto/hole.h"
#include "proto/psn.h"
#include "proto/qp.h"
#include "proto/sack.h"
#include "tap.h"

#define LOST	64u

static u64 room[256];
static struct hrp_req req;

/* PSNs wrap in each test. */
static void begin(void)
{
	memset(&req, 0, sizeof(req));
	memset(room, 0xa5, sizeof(room));
	req.psn = 0xffff00;
	req.psn_una = req.psn;
	req.psn_max = req.psn;
	req.window_pkts = 512;
	req.cwnd_pkts = 100;
	hrp_sack_open(&req, (void *)room, HRP_SACK_WORDS_MIN);
}

static void deliver(u32 pkts)
{
	req.psn_max = hrp_psn_add(req.psn_max, pkts);
	req.psn = req.psn_max;
	req.psn_una = req.psn_max;
}

/* Of each @dist packets one is lost, @nr in all. */
static void lose(u32 nr, u32 dist)
{
	while (nr--) {
		deliver(dist);
		hrp_damage_lost(&req, hrp_psn_add(req.psn_max, HRP_PSN_MASK), 1);
	}
}

/* A test in which one of @dist packets is lost: 64 packets, or of 3200. */
static u32 near_after(u32 dist)
{
	u32 nr = min(LOST, 3200 / dist);

	hrp_damage_renew(&req);
	tap_ok(hrp_damage_test(&req));
	lose(nr - 1, dist);
	tap_ok(hrp_damage_look(&req, false));
	lose(1, dist);
	if (nr < LOST)
		deliver(3200 - nr * dist);
	tap_ok(!hrp_damage_look(&req, false));
	return hrp_damage_near(&req);
}

/* Gaps are near if there are 1.5 times as many as in the test. */
static void shares_are_learnt(void)
{
	begin();
	tap_eq(hrp_damage_near(&req), 0);
	tap_eq(near_after(20), 6);
	tap_eq(req.sparse, HRP_SPARSE_FIRST);
	/* The window was small for nothing. */
	tap_eq(req.cc_start, 1);
	tap_eq(near_after(50), 16);
	/* The fewer were lost, the more may it be. */
	tap_eq(near_after(100), 26);
	tap_eq(near_after(200), 40);
	/* That need not be known. */
	tap_eq(near_after(250), 0);
}

static void more_than_a_tenth_is_congestion(void)
{
	begin();
	tap_eq(near_after(9), 0);
	tap_eq(near_after(11), 5);
	tap_eq(near_after(9), 0);
	/* Gaps of many packets are so many losses. */
	tap_eq(near_after(20), 6);
	hrp_damage_renew(&req);
	hrp_damage_test(&req);
	deliver(560);
	hrp_damage_lost(&req, hrp_psn_add(req.psn_max, HRP_PSN_MASK), LOST + 1);
	tap_eq(hrp_damage_near(&req), 0);
}

/* A smaller window has fewer losses: they depend on it. */
static void congestion_is_told_from_damage(void)
{
	begin();
	lose(LOST, 15);
	req.cc_start = 0;
	tap_eq(near_after(30), 0);
	tap_eq(req.cc_start, 0);
	lose(LOST, 15);
	tap_eq(near_after(17), 5);
	/* Or half as many count, if there were no more. */
	lose(LOST, 20);
	lose(LOST / 2, 10);
	tap_eq(near_after(20), 0);
	/* If there were few for long, all that are lost now are damage. */
	lose(LOST, 11);
	deliver(6400);
	tap_ok(!hrp_damage_look(&req, false));
	tap_eq(near_after(20), 6);
	tap_eq(near_after(160), 36);
}

/*
 * A queue that overflowed before the test lost many at a time. What is lost with
 * the smaller window is tested once more, by a window that is smaller still.
 */
static void overflow_hides_no_damage(void)
{
	begin();
	deliver(100);
	hrp_damage_lost(&req, hrp_psn_add(req.psn_max, HRP_PSN_MASK), LOST);
	tap_eq(near_after(20), 0);
	tap_ok(hrp_damage_test(&req));
	lose(LOST, 20);
	tap_eq(hrp_damage_near(&req), 6);
	tap_ok(!hrp_damage_test(&req));
	/* Again fewer: that is congestion, and enough tests. */
	lose(LOST, 11);
	tap_eq(near_after(20), 0);
	tap_ok(hrp_damage_test(&req));
	lose(LOST, 40);
	tap_eq(hrp_damage_near(&req), 0);
	tap_ok(!hrp_damage_test(&req));
}

static void few_losses_end_a_test(void)
{
	begin();
	near_after(20);
	hrp_damage_renew(&req);
	hrp_damage_test(&req);
	lose(1, 639);
	tap_ok(hrp_damage_look(&req, false));
	deliver(1);
	tap_ok(!hrp_damage_look(&req, false));
	tap_eq(hrp_damage_near(&req), 0);
}

/* On a long path they take too long otherwise. */
static void small_windows_end_a_test_soon(void)
{
	begin();
	req.cwnd_pkts = 16;
	tap_ok(hrp_damage_test(&req));
	lose(25, 20);
	deliver(11);
	tap_ok(hrp_damage_look(&req, false));
	tap_ok(hrp_damage_is_tested(&req));
	deliver(1);
	tap_ok(!hrp_damage_look(&req, false));
	tap_ok(!hrp_damage_is_tested(&req));
	tap_eq(hrp_damage_near(&req), 5);
}

/* What was lost of the large window does not count. */
static void earlier_packets_do_not_count(void)
{
	u32 i;

	begin();
	hrp_damage_test(&req);
	for (i = 1; i <= 10; i++)
		hrp_damage_lost(&req, hrp_psn_add(req.psn_max,
						  HRP_PSN_MASK + 1 - i), 1);
	tap_eq(req.sack->damage.lost, 0);
}

static void queues_make_a_test_void(void)
{
	begin();
	near_after(20);
	hrp_damage_renew(&req);
	hrp_damage_test(&req);
	lose(50, 11);
	tap_ok(!hrp_damage_look(&req, true));
	tap_eq(hrp_damage_near(&req), 6);
}

/* One in each period, and none again if there is nothing to check. */
static void tests_are_rare(void)
{
	begin();
	tap_ok(!hrp_damage_renew(&req));
	tap_ok(hrp_damage_test(&req));
	tap_ok(!hrp_damage_test(&req));
	/* A period ends in the middle of it. */
	tap_ok(!hrp_damage_renew(&req));
	tap_ok(!hrp_damage_test(&req));
	lose(LOST, 20);
	tap_ok(!hrp_damage_test(&req));
	tap_ok(hrp_damage_renew(&req));
	tap_ok(hrp_damage_test(&req));
}

/* Peers that do not tell what they keep, and the begin. */
static void nothing_is_known_without_a_map(void)
{
	begin();
	near_after(20);
	hrp_sack_forget(&req);
	tap_eq(hrp_damage_near(&req), 6);
	hrp_damage_start(&req);
	tap_eq(hrp_damage_near(&req), 0);
	hrp_sack_close(&req);
	tap_ok(!hrp_damage_renew(&req));
	tap_ok(!hrp_damage_test(&req));
	lose(2 * LOST, 20);
	tap_ok(!hrp_damage_look(&req, false));
	tap_eq(hrp_damage_near(&req), 0);
}

int main(void)
{
	tap_plan(10);
	tap_run(shares_are_learnt);
	tap_run(more_than_a_tenth_is_congestion);
	tap_run(congestion_is_told_from_damage);
	tap_run(overflow_hides_no_damage);
	tap_run(few_losses_end_a_test);
	tap_run(small_windows_end_a_test_soon);
	tap_run(earlier_packets_do_not_count);
	tap_run(queues_make_a_test_void);
	tap_run(tests_are_rare);
	tap_run(nothing_is_known_without_a_map);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Losses that a smaller window does not avoid.
 *
 * Where no packets wait, a queue that is too short to be noticed loses a share
 * of the packets that depends on the window: it overflows, or a policer drops
 * what is above its rate. What a damaged cable or a radio link loses does not
 * depend on it. So when there are too many gaps, the window becomes small, and
 * losses are counted until their share is known. If it is hardly less than
 * before, that share is damage, and gaps count as congestion only if there are
 * half as many again.
 *
 * The test is repeated now and then, as paths change. Between two of them, other
 * queue pairs may take the share that one of them tolerates for damage: that is
 * why more than 10 % never is.
 */
#include <linux/minmax.h>
#include "damage.h"
#include "hole.h"
#include "psn.h"
#include "qp.h"
#include "sack.h"

/*
 * A test ends when so many packets were lost, which tells the share within an
 * eighth, mostly, or after so many packets: if fewer are lost, a worse guess is
 * good enough. So it is after as many round trips with a small window, which on a
 * long path would take seconds.
 */
#define TEST_LOST	64u
#define TEST_PKTS	3200u
#define TEST_TRIPS	32u

/* It ends soon if fewer than so many of the first packets are lost. */
#define SOON_LOST	2u
#define SOON_PKTS	640u

/* A share of more than 10 % is congestion. */
#define MAX_PERCENT	10u

/*
 * Gaps are near if they are 0.32 times as far from each other as in the test, on
 * average. The count of gaps, see hole.c, then stays high up to 1.5 times the
 * share that was measured. With the least, it falls if more than 10 % are lost;
 * with the most, 0.5 % were lost, and that need not be known.
 */
#define NEAR_PERCENT	32u
#define NEAR_LEAST	5u
#define NEAR_MOST	64u

/* As if this part of those that the test has not waited for were lost, too. */
#define UNSURE_PART	5u

/* Less than TEST_LOST of so many packets are few. */
#define FEW_PKTS	(100 * TEST_LOST)

/*
 * A share of less than three fifths of the one before depends on the window. Of
 * two that are equal, one is so much less by chance in a few per cent of tests at
 * most.
 */
#define SAME_OF_5	3u

/* Of how many packets TEST_LOST would be lost, as @lost of @pkts were. */
static u32 damage_pkts(s32 pkts, u32 lost)
{
	return min((u32)max(pkts, 0) * TEST_LOST / lost, FEW_PKTS);
}

static void damage_begin(struct hrp_damage *damage, u32 psn)
{
	damage->psn = psn;
	damage->lost = 0;
}

void hrp_damage_start(struct hrp_req *req)
{
	if (req->sack)
		req->sack->damage = (struct hrp_damage) { .psn = req->psn };
}

bool hrp_damage_test(struct hrp_req *req)
{
	struct hrp_damage *damage;
	s32 pkts;

	if (!req->sack || req->sack->damage.tested)
		return false;
	damage = &req->sack->damage;
	pkts = hrp_psn_diff(req->psn_max, damage->psn);
	if (damage->lost >= TEST_LOST / 2)
		damage->before = damage_pkts(pkts, damage->lost);
	damage_begin(damage, req->psn_max);
	damage->tests = true;
	damage->tested = true;
	return true;
}

bool hrp_damage_renew(struct hrp_req *req)
{
	if (!req->sack || req->sack->damage.tests)
		return false;
	req->sack->damage.tested = false;
	req->sack->damage.doubted = false;
	return req->sack->damage.near_pkts;
}

/*
 * The share depends on the window. Or the losses before had another reason: packets
 * that were sent too fast overflow a queue many at a time. So that is tested once
 * more, against the share that is left.
 */
static void damage_doubt(struct hrp_damage *damage, u32 before)
{
	damage->before = before;
	damage->tested = damage->doubted;
	damage->doubted = true;
}

/* The test ends, for which @pkts were sent. */
static void damage_end(struct hrp_req *req, u32 pkts)
{
	struct hrp_damage *damage = &req->sack->damage;
	u32 lost = damage->lost;
	u32 near_pkts;

	damage->tests = false;
	damage->near_pkts = 0;
	if (lost < SOON_LOST || lost * 100 > MAX_PERCENT * pkts)
		return;
	if (NEAR_PERCENT * pkts > 100 * NEAR_MOST * lost)
		return;
	if (damage->before &&
	    SAME_OF_5 * damage_pkts(pkts, lost) > 5u * damage->before) {
		damage_doubt(damage, damage_pkts(pkts, lost));
		return;
	}
	/* A few losses tell less exactly. */
	lost += (TEST_LOST - lost) / UNSURE_PART;
	near_pkts = NEAR_PERCENT * pkts / (100 * lost);
	damage->near_pkts = max(near_pkts, NEAR_LEAST);
	req->sparse = HRP_SPARSE_FIRST;
	/* The losses before were no reason for a small window. */
	req->cc_start = 1;
}

bool hrp_damage_look(struct hrp_req *req, bool queued)
{
	struct hrp_damage *damage;
	s32 pkts;

	if (!req->sack)
		return false;
	damage = &req->sack->damage;
	pkts = hrp_psn_diff(req->psn_una, damage->psn);
	if (!damage->tests) {
		if (pkts >= (s32)FEW_PKTS) {
			damage->before = FEW_PKTS;
			damage_begin(damage, req->psn_una);
		}
	} else if (queued) {
		damage->tests = false;
	} else if (pkts >= (s32)min(TEST_PKTS, TEST_TRIPS * req->cwnd_pkts) ||
		   (pkts >= (s32)SOON_PKTS && damage->lost < SOON_LOST)) {
		damage_end(req, pkts);
		damage_begin(damage, req->psn_una);
	}
	return damage->tests;
}

void hrp_damage_lost(struct hrp_req *req, u32 psn, u32 nr)
{
	struct hrp_damage *damage;
	s32 pkts;

	if (!req->sack)
		return;
	damage = &req->sack->damage;
	pkts = hrp_psn_diff(psn, damage->psn);
	/* Sent before the test. */
	if (pkts < 0)
		return;
	pkts += nr;
	damage->lost = min(damage->lost + nr, TEST_LOST);
	if (damage->lost < TEST_LOST)
		return;
	if (damage->tests)
		damage_end(req, pkts);
	else
		damage->before = damage_pkts(pkts, TEST_LOST);
	damage_begin(damage, hrp_psn_add(psn, nr));
}

bool hrp_damage_is_tested(const struct hrp_req *req)
{
	return req->sack && req->sack->damage.tests;
}

u32 hrp_damage_near(const struct hrp_req *req)
{
	return req->sack ? req->sack->damage.near_pkts : 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Several paths for the requests of one queue pair.
 *
 * A peer that sends selective acknowledgements keeps what comes out of order and
 * tells what is missing, so its packets may take several paths at once. Blocks of
 * consecutive packets, each about a super-packet, stay together. A block takes the
 * path on which the fewest packets are missing: so a slow path gets less. The paths
 * of the last blocks are noted, nothing for each packet. What is resent takes
 * another path than before.
 *
 * The oldest packet that is missing is nearly always one of the slowest path,
 * whether it waits in a queue or was lost. Packets that arrive meanwhile are
 * counted for that path. If in a round trip most count for the same one, it is
 * replaced: the owner draws another UDP source port. Random loss, and queues on all
 * paths, spread over the paths.
 */
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include "burst.h"
#include "late.h"
#include "mtu.h"
#include "psn.h"
#include "qp.h"
#include "sack.h"
#include "spray.h"

/* Payload of a block: about that of a super-packet. */
#define BLOCK_BYTES	(15 * 4096u)

/* Most packets of a block. */
#define BLOCK_PKTS	60u

#define NO_BLOCK	U32_MAX

/* So many packets in flight are worth several paths. */
#define SPRAY_PKTS	48u

/* The peer may drop what came out of order so often before spraying ends. */
#define STRIKES		3u

bool hrp_spray_is_on(const struct hrp_req *req)
{
	return req->sack && req->sack->spray.paths;
}

void hrp_spray_look(struct hrp_req *req)
{
	if (req->spray < 2 || !req->asks || (req->sack && req->sack->told) ||
	    hrp_psn_diff(req->psn_max, req->psn_una) < (s32)SPRAY_PKTS)
		return;
	req->asks--;
	req->ask = 1;
	req->troubled = 1;
}

static void spray_begin_round(const struct hrp_req *req, struct hrp_spray *s)
{
	u32 i;

	s->end = req->psn_max;
	for (i = 0; i < HRP_SPRAY_PATHS; i++)
		s->blame[i] = 0;
}

bool hrp_spray_start(struct hrp_qp *qp)
{
	struct hrp_req *req = &qp->req;
	struct hrp_spray *s = &req->sack->spray;
	u32 mtu = max_t(u32, qp->mtu, req->agreed_mtu * HRP_MTU_UNIT);

	if (req->spray < 2 || s->paths || s->strikes == STRIKES)
		return false;
	s->paths = min_t(u32, req->spray, HRP_SPRAY_PATHS);
	s->block = clamp(BLOCK_BYTES / mtu, 1u, BLOCK_PKTS);
	s->evict = 0;
	s->newest = NO_BLOCK;
	s->begin = req->psn_max;
	hrp_count(qp, HROCE_EV_SPRAY_AGREED);
	req->keeps = 1;
	hrp_late_expect(req);
	spray_begin_round(req, s);
	return true;
}

void hrp_spray_reset(struct hrp_req *req)
{
	if (!req->sack)
		return;
	req->sack->told = false;
	req->sack->spray.paths = 0;
	req->sack->spray.strikes = 0;
}

static u32 spray_path(const struct hrp_spray *s, u32 psn)
{
	return s->path[psn / s->block % HRP_SPRAY_BLOCKS] % s->paths;
}

/* Packets from @psn to the end of its block. Blocks begin anew at PSN 0. */
static u32 spray_left(const struct hrp_spray *s, u32 psn)
{
	return min(s->block - psn % s->block, HRP_PSN_MASK + 1 - psn);
}

u32 hrp_spray_pkts(const struct hrp_req *req, u32 pkts)
{
	return min(pkts, spray_left(&req->sack->spray, req->psn));
}

/* Has this burst been sent before? */
static bool spray_resends(const struct hrp_req *req, const struct hrp_burst *b)
{
	u32 end = hrp_psn_add(b->first.psn, b->nr_pkts);

	return req->troubled && (end == req->rtx_psn || end != req->psn);
}

/*
 * The path on which the fewest packets before @end are missing, as far as is
 * known; of equal ones, that which has not been used for longest.
 */
static u32 spray_choose(struct hrp_req *req, const struct hrp_spray *s, u32 end)
{
	u32 missing[HRP_SPRAY_PATHS] = {};
	u32 i, nr, next, path, psn = req->psn_una;
	u32 best = s->turn;

	hrp_sack_trim(req);
	for (nr = 0; nr < HRP_SPRAY_BLOCKS; nr++) {
		if (hrp_psn_diff(psn, end) >= 0)
			break;
		next = hrp_psn_add(psn, spray_left(s, psn));
		if (hrp_psn_diff(next, end) > 0)
			next = end;
		missing[spray_path(s, psn)] += hrp_sack_missing(req, psn, next);
		psn = next;
	}
	for (i = s->paths; i; i--) {
		path = (s->turn + i) % s->paths;
		if (missing[path] <= missing[best])
			best = path;
	}
	return best;
}

u16 hrp_spray_sport(struct hrp_req *req, const struct hrp_burst *b)
{
	struct hrp_spray *s = &req->sack->spray;
	u32 block = b->first.psn / s->block;

	if (spray_resends(req, b))
		return s->sport[(spray_path(s, b->first.psn) + 1 +
				 req->backoff) % s->paths];
	if (s->newest != block) {
		s->turn = spray_choose(req, s, b->first.psn);
		s->newest = block;
		s->path[block % HRP_SPRAY_BLOCKS] = s->turn;
	}
	return s->sport[s->turn];
}

/* Which path is slower than all others? Negative: none is. */
static int spray_worst(const struct hrp_req *req, const struct hrp_spray *s)
{
	u32 i, worst = 0, all = 0;

	for (i = 0; i < s->paths; i++) {
		all += s->blame[i];
		if (s->blame[i] > s->blame[worst])
			worst = i;
	}
	if (s->blame[worst] < s->block || 2 * s->blame[worst] < all)
		return -1;
	return worst;
}

void hrp_spray_learn(struct hrp_req *req, u32 psn, u32 nr)
{
	struct hrp_spray *s = &req->sack->spray;
	int worst;

	if (!s->paths)
		return;
	req->keeps = 1;
	/* It was long ago. */
	if (hrp_psn_diff(s->end, req->psn_max) > 0 ||
	    hrp_psn_diff(s->begin, req->psn_max) > 0) {
		s->begin = req->psn_una;
		spray_begin_round(req, s);
	}
	/* That path has been replaced meanwhile. */
	if (hrp_psn_diff(psn, s->begin) < 0)
		return;
	s->blame[spray_path(s, psn)] += nr;
	if (hrp_psn_diff(req->sack->end, s->end) < 0)
		return;
	worst = spray_worst(req, s);
	if (worst >= 0) {
		s->evict |= BIT(worst);
		s->begin = req->psn_max;
	}
	spray_begin_round(req, s);
}

void hrp_spray_silent(struct hrp_req *req)
{
	struct hrp_spray *s;

	if (!hrp_spray_is_on(req))
		return;
	s = &req->sack->spray;
	s->evict |= BIT(spray_path(s, req->psn_una));
	s->begin = req->psn_max;
}

void hrp_spray_dropped(struct hrp_req *req)
{
	if (!hrp_spray_is_on(req))
		return;
	if (++req->sack->spray.strikes == STRIKES)
		req->sack->spray.paths = 0;
}

int hrp_spray_evict(struct hrp_req *req)
{
	struct hrp_spray *s;
	int path;

	if (!req->sack || !req->sack->spray.evict)
		return -1;
	s = &req->sack->spray;
	path = __ffs(s->evict);
	s->evict &= s->evict - 1;
	return path;
}

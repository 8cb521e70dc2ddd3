// SPDX-License-Identifier: GPL-2.0
/*
 * Several paths for the requests of one queue pair, and for the answers to them.
 *
 * A peer that sends selective acknowledgements keeps what comes out of order and
 * tells what is missing, so its packets may take several paths at once. Runs of
 * consecutive packets, each about a super-packet, stay together; they are shorter
 * if the window is small, so that it takes all paths. A run takes the path on
 * which the fewest packets are missing: so a slow path gets less. The paths of the
 * last blocks, parts of runs, are noted, nothing for each packet. What is resent
 * takes another path than before, and one that is known to deliver if there is any.
 *
 * The oldest packet that is missing is nearly always one of the slowest path,
 * whether it waits in a queue or was lost. Packets that arrive meanwhile are counted
 * for that path. If in a round trip most count for the same one, it gets less; if it
 * is slow all the same, it is replaced: the owner draws another UDP source port.
 * Random loss, and queues on all paths, spread over the paths. A path that has lost
 * a block is replaced, too; and where nothing arrives, as the peer waits for a
 * request that was lost, that of what is resent.
 *
 * Switches that mark packets (ECN) single a path out before it is slow. The peer
 * tells by the UDP source port of a CNP which one it is; of answers this side knows.
 * It learns of one marked packet in a while. So a path is replaced if it alone is
 * marked again, or later if few others are: it does not help to leave a network that
 * is full.
 *
 * A responder that was asked to (sack.c) sends an answer with the port of its request.
 * So a READ takes the path that is chosen for its answer, and what is missing of that
 * counts like packets of this side.
 */
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "burst.h"
#include "late.h"
#include "mtu.h"
#include "psn.h"
#include "qp.h"
#include "rtt.h"
#include "sack.h"
#include "spray.h"

/* Payload of a run: about that of a super-packet. */
#define RUN_BYTES	(15 * 4096u)

/* Most packets of a run, and blocks of the longest one. */
#define RUN_PKTS	60u
#define RUN_BLOCKS	5u

/* So many packets in flight are worth several paths. */
#define SPRAY_PKTS	48u

/* More packets than can be missing, whatever the weight. */
#define UNPROVED	(8u << 24)

/* So many times as often as for others packets wait for a path that is slow. */
#define OFTEN		3u

/*
 * Weights: of a path that is not slow, and the greatest. A path of twice the weight
 * has half as many packets in flight.
 */
#define WEIGHT_ONE	16u
#define WEIGHT_MAX	(4 * WEIGHT_ONE)

/* The peer may drop what came out of order so often before spraying ends. */
#define STRIKES		3u

/*
 * So many marks in a row single one path out, or for each of several. If more than
 * half of the paths are marked, the network is full, or many send to one; that is
 * forgotten after two rounds of marks.
 */
#define MARKS_ONE	2u
#define MARKS_EACH	4u
#define MARKS_ROUND	16u

/*
 * Older marks tell nothing, in units of 1024 ns, and not less than two round trips.
 * Owners tell one in 50 us.
 */
#define MARKS_APART	4000u

bool hrp_spray_is_on(const struct hrp_req *req)
{
	return req->sack && req->sack->spray && req->sack->spray->paths;
}

bool hrp_spray_is_near(const struct hrp_req *req)
{
	return req->spray >= 2 && req->asks && !(req->sack && req->sack->told);
}

bool hrp_spray_is_wished(const struct hrp_req *req)
{
	return hrp_spray_is_on(req) || hrp_spray_is_near(req);
}

u32 hrp_spray_paths(const struct hrp_req *req)
{
	return hrp_spray_is_on(req) ? req->sack->spray->paths : 1;
}

void hrp_spray_look(struct hrp_req *req)
{
	if (req->spray >= 2 &&
	    hrp_psn_diff(req->psn_max, req->psn_una) >= (s32)SPRAY_PKTS)
		hrp_sack_asks(req);
}

static void spray_begin_round(const struct hrp_req *req, struct hrp_spray *s)
{
	u32 i;

	s->end = req->psn_max;
	for (i = 0; i < HRP_SPRAY_PATHS; i++) {
		s->blame[i] = 0;
		/* Before half of all PSNs have passed. */
		if (hrp_psn_diff(s->since[i], req->psn_una) < 0)
			s->since[i] = req->psn_una;
	}
}

/* Begin to count marks anew, but remember those of other paths than @paths. */
static void spray_forget_marks(struct hrp_spray *s, u16 paths)
{
	s->marked[1] = (s->marked[0] | s->marked[1]) & ~paths;
	s->marked[0] = 0;
	s->marks = 0;
}

/* A path that loses, is slow or is marked is replaced. */
static void spray_replace(const struct hrp_req *req, struct hrp_spray *s,
			  u32 path)
{
	s->evict |= BIT(path);
	s->proved &= ~BIT(path);
	s->weight[path] = WEIGHT_ONE;
	if (path == s->again_path)
		s->again = false;
	spray_forget_marks(s, BIT(path));
	s->since[path] = req->psn_max;
	s->begin = req->psn_max;
}

bool hrp_spray_is_wanted(const struct hrp_req *req)
{
	const struct hrp_spray *s = req->sack->spray;

	return req->spray >= 2 && !(s && (s->paths || s->strikes == STRIKES));
}

/* How long runs may be, as a multiple of blocks. */
static void spray_set_run(const struct hrp_qp *qp, struct hrp_spray *s)
{
	u32 mtu = max_t(u32, qp->mtu, qp->req.agreed_mtu * HRP_MTU_UNIT);
	u32 run = min(max(RUN_BYTES / mtu, 1u), RUN_PKTS);

	s->block = max(run / RUN_BLOCKS, 1u);
	s->run = run / s->block * s->block;
	s->run_end = qp->req.psn_max;
	s->noted = qp->req.psn_max;
}

void hrp_spray_start(struct hrp_qp *qp, struct hrp_spray *spray)
{
	struct hrp_req *req = &qp->req;
	u32 i;

	if (!req->sack->spray)
		memset(spray, 0, sizeof(*spray));
	req->sack->spray = spray;
	spray->paths = min_t(u32, req->spray, HRP_SPRAY_PATHS);
	spray->evict = 0;
	/* The peer was asked by this one, and has answered. */
	spray->proved = BIT(0);
	spray->marked_psn = hrp_psn_add(req->psn_una, HRP_PSN_MASK);
	spray_forget_marks(spray, U16_MAX);
	spray->begin = req->psn_max;
	for (i = 0; i < HRP_SPRAY_PATHS; i++) {
		spray->since[i] = req->psn_max;
		spray->weight[i] = WEIGHT_ONE;
	}
	spray_set_run(qp, spray);
	hrp_count(qp, HROCE_EV_SPRAY_AGREED);
	req->keeps = 1;
	hrp_late_expect(req);
	spray_begin_round(req, spray);
}

struct hrp_spray *hrp_spray_close(struct hrp_req *req)
{
	struct hrp_spray *spray = req->sack ? req->sack->spray : NULL;

	if (spray)
		req->sack->spray = NULL;
	return spray;
}

void hrp_spray_reset(struct hrp_req *req)
{
	if (!req->sack || !req->sack->spray)
		return;
	req->sack->spray->paths = 0;
	req->sack->spray->strikes = 0;
}

static u32 spray_path(const struct hrp_spray *s, u32 psn)
{
	return s->path[psn / s->block % HRP_SPRAY_BLOCKS] % s->paths;
}

/*
 * Has @psn taken the path that is there now, or has that been replaced since? If it
 * was so long ago that PSNs have come round, that is not known any more.
 */
static bool spray_is_present(const struct hrp_req *req,
			     const struct hrp_spray *s, u32 psn)
{
	u32 since = s->since[spray_path(s, psn)];

	return hrp_psn_diff(psn, since) >= 0 ||
	       hrp_psn_diff(since, req->psn_max) > 0;
}

/*
 * The path by which @psn was sent last, as far as that is noted; as many as there
 * are: it has been replaced since.
 */
static u32 spray_used(const struct hrp_req *req, const struct hrp_spray *s,
		      u32 psn)
{
	if (s->again && s->again_psn == psn)
		return s->again_path;
	return spray_is_present(req, s, psn) ? spray_path(s, psn) : s->paths;
}

/* Packets from @psn to the end of its block. Blocks begin anew at PSN 0. */
static u32 spray_left(const struct hrp_spray *s, u32 psn)
{
	return min(s->block - psn % s->block, HRP_PSN_MASK + 1 - psn);
}

/* Packets of a run that begins at @psn. */
static u32 spray_run(const struct hrp_req *req, u32 psn)
{
	const struct hrp_spray *s = req->sack->spray;
	u32 run = min_t(u32, req->cwnd_pkts / s->paths, s->run);
	u32 blocks = max(run / s->block, 1u);

	return min(blocks * s->block - psn % s->block, HRP_PSN_MASK + 1 - psn);
}

/* Packets from @psn to the end of the newest run; 0: another one begins. */
static u32 spray_rest(const struct hrp_spray *s, u32 psn)
{
	u32 rest = (s->run_end - psn) & HRP_PSN_MASK;

	return rest <= s->run ? rest : 0;
}

u32 hrp_spray_pkts(const struct hrp_req *req, u32 pkts)
{
	u32 rest = spray_rest(req->sack->spray, req->psn);

	return min(pkts, rest ?: spray_run(req, req->psn));
}

/* Packet @psn has arrived, so its path is not broken. */
static void spray_prove(const struct hrp_req *req, struct hrp_spray *s, u32 psn)
{
	if (spray_is_present(req, s, psn))
		s->proved |= BIT(spray_path(s, psn));
}

/*
 * The path on which the fewest packets before @end are missing, as far as is
 * known, but not @but; of equal ones, one that is known to deliver, and then that
 * which has not been used for longest since @turn was. What is resent (@again) goes
 * by one that delivers if there is any.
 */
static u32 spray_choose(struct hrp_req *req, struct hrp_spray *s, u32 end,
			u32 but, u32 turn, bool again)
{
	u32 missing[HRP_SPRAY_PATHS] = {};
	u32 i, nr, next, path, lost, psn = req->psn_una;
	u32 best = turn, least = U32_MAX;

	hrp_sack_trim(req);
	spray_prove(req, s, hrp_psn_add(psn, HRP_PSN_MASK));
	for (nr = 0; nr < HRP_SPRAY_BLOCKS; nr++) {
		if (hrp_psn_diff(psn, end) >= 0)
			break;
		next = hrp_psn_add(psn, spray_left(s, psn));
		if (hrp_psn_diff(next, end) > 0)
			next = end;
		lost = hrp_sack_missing(req, psn, next);
		missing[spray_path(s, psn)] += lost;
		if (lost != ((next - psn) & HRP_PSN_MASK))
			spray_prove(req, s, psn);
		psn = next;
	}
	for (i = s->paths; i; i--) {
		path = (turn + i) % s->paths;
		nr = 2 * missing[path] * s->weight[path] / WEIGHT_ONE;
		if (!(s->proved & BIT(path)))
			nr += again ? UNPROVED : s->run;
		if (path != but && nr <= least) {
			least = nr;
			best = path;
		}
	}
	return best;
}

/*
 * Packets up to hrp_req.psn_max have been sent, the last ones by the newest path.
 * Of a READ, these are its answers.
 */
static void spray_note(const struct hrp_req *req, struct hrp_spray *s)
{
	u32 nr = (req->psn_max - s->noted) & HRP_PSN_MASK;
	u32 psn = hrp_psn_add(req->psn_max,
			      -min(nr, s->block * HRP_SPRAY_BLOCKS));

	for (; hrp_psn_diff(psn, req->psn_max) < 0;
	     psn = hrp_psn_add(psn, spray_left(s, psn)))
		s->path[psn / s->block % HRP_SPRAY_BLOCKS] = s->turn;
	s->noted = req->psn_max;
	if (hrp_psn_diff(s->noted, s->run_end) > 0)
		s->run_end = s->noted;
}

u16 hrp_spray_sport(struct hrp_req *req, const struct hrp_burst *b)
{
	struct hrp_spray *s = req->sack->spray;
	u32 psn = b->first.psn;

	if (hrp_psn_diff(psn, s->noted) < 0) {
		spray_note(req, s);
		s->again_path = spray_choose(req, s, req->psn_max,
					     spray_used(req, s, psn),
					     s->again_path, true);
		s->again_psn = psn;
		s->again = true;
		return s->sport[s->again_path];
	}
	if (!spray_rest(s, psn)) {
		s->run_end = hrp_psn_add(psn, spray_run(req, psn));
		s->turn = spray_choose(req, s, psn, s->paths, s->turn, false);
	}
	spray_note(req, s);
	return s->sport[s->turn];
}

static u32 spray_all_blame(const struct hrp_spray *s)
{
	u32 i, all = 0;

	for (i = 0; i < s->paths; i++)
		all += s->blame[i];
	return all;
}

/*
 * A path for which packets wait more than half as often again as for one on average
 * gets less from now on, and more if it is less than half as often.
 */
static void spray_weigh(struct hrp_spray *s)
{
	u32 i, blame, weight, all = spray_all_blame(s);

	for (i = 0; i < s->paths; i++) {
		blame = 2 * s->paths * s->blame[i];
		weight = s->weight[i];
		if (all >= s->run && blame > 3 * all)
			weight += weight / 2;
		else if (all < s->run || blame < all)
			weight -= weight / 4;
		s->weight[i] = clamp(weight, WEIGHT_ONE, WEIGHT_MAX);
	}
}

/*
 * Is a path to be replaced if it is slow? Of many, any. Of a few only one that is
 * slow although it gets less: each that is replaced disturbs others.
 */
static bool spray_is_spent(const struct hrp_spray *s, u32 path)
{
	return s->weight[path] >= min(WEIGHT_ONE * HRP_SPRAY_PATHS / s->paths,
				      WEIGHT_MAX);
}

/*
 * Which path is slower than all others? Negative: none is. One is if packets wait
 * for it as often as for all others together, or OFTEN times as often as for one
 * on average.
 */
static int spray_worst(const struct hrp_spray *s)
{
	u32 i, blame, worst = 0, all = spray_all_blame(s);

	for (i = 1; i < s->paths; i++) {
		if (s->blame[i] > s->blame[worst])
			worst = i;
	}
	blame = s->blame[worst];
	if (blame < s->run || !spray_is_spent(s, worst) ||
	    (2 * blame < all && s->paths * blame < OFTEN * all))
		return -1;
	return worst;
}

void hrp_spray_learn(struct hrp_req *req, u32 psn, u32 nr)
{
	struct hrp_spray *s = req->sack->spray;
	int worst;

	if (!hrp_spray_is_on(req))
		return;
	req->keeps = 1;
	s->strikes = 0;
	/* It was long ago. */
	if (hrp_psn_diff(s->end, req->psn_max) > 0 ||
	    hrp_psn_diff(s->begin, req->psn_max) > 0) {
		s->begin = req->psn_una;
		spray_begin_round(req, s);
	}
	/* A path has been replaced meanwhile: that may have helped. */
	if (hrp_psn_diff(psn, s->begin) < 0)
		return;
	s->blame[spray_path(s, psn)] += nr;
	if (hrp_psn_diff(req->sack->end, s->end) < 0)
		return;
	spray_weigh(s);
	worst = spray_worst(s);
	if (worst >= 0)
		spray_replace(req, s, worst);
	spray_begin_round(req, s);
}

void hrp_spray_suspect(struct hrp_req *req, u32 psn)
{
	struct hrp_spray *s;
	u32 path;

	if (!hrp_spray_is_on(req))
		return;
	s = req->sack->spray;
	path = spray_used(req, s, psn);
	if (path != s->paths)
		spray_replace(req, s, path);
}

/* One past the last packet that has taken the path of @psn. */
static u32 spray_path_end(const struct hrp_req *req, const struct hrp_spray *s,
			  u32 psn)
{
	u32 path = spray_path(s, psn);
	u32 nr, end = psn;

	for (nr = 0; nr < HRP_SPRAY_BLOCKS; nr++) {
		if (hrp_psn_diff(psn, req->psn_max) >= 0)
			break;
		if (spray_path(s, psn) == path)
			end = hrp_psn_add(psn, spray_left(s, psn));
		psn = hrp_psn_add(psn, spray_left(s, psn));
	}
	return hrp_psn_diff(end, req->psn_max) < 0 ? end : req->psn_max;
}

void hrp_spray_lost(struct hrp_req *req, u32 psn, u32 nr)
{
	struct hrp_spray *s;

	if (!hrp_spray_is_on(req) || !req->sack->late.wait)
		return;
	s = req->sack->spray;
	if (hrp_sack_is_resent(req, psn) || nr < max_t(u32, s->block, 2) ||
	    spray_used(req, s, psn) == s->paths)
		return;
	/* Nothing need arrive behind the last ones that it has lost. */
	hrp_sack_reach(req, spray_path_end(req, s, psn));
	req->sack->late.news = true;
	hrp_spray_suspect(req, psn);
}

/* The path that has this UDP source port; as many as there are: none. */
static u32 spray_find(const struct hrp_spray *s, u16 sport)
{
	u32 path;

	for (path = 0; path < s->paths; path++) {
		if (s->sport[path] == sport)
			break;
	}
	return path;
}

/* Marks that were told long ago count no more. */
static void spray_note_mark(const struct hrp_req *req, struct hrp_spray *s,
			    u32 now)
{
	if (now - s->marked_at > max_t(u32, MARKS_APART, req->srtt8 >> 2))
		spray_forget_marks(s, U16_MAX);
	s->marked_at = now;
	/* Before half of all PSNs have passed. */
	if (hrp_psn_diff(req->psn_una, s->marked_psn) > 0)
		s->marked_psn = hrp_psn_add(req->psn_una, HRP_PSN_MASK);
}

/*
 * Note that a packet of @path was marked. Return: @path is one of few that are, as
 * far as that is known.
 */
static bool spray_is_singled_out(struct hrp_spray *s, u32 path)
{
	u32 nr, marks = ++s->marks;

	s->marked[0] |= BIT(path);
	nr = hweight16(s->marked[0] | s->marked[1]);
	if (!(marks % MARKS_ROUND)) {
		s->marked[1] = s->marked[0];
		s->marked[0] = 0;
		s->marks = MARKS_ROUND;
	}
	return nr == 1 ? marks >= MARKS_ONE :
			 2 * nr <= s->paths && marks >= nr * MARKS_EACH;
}

void hrp_spray_marked(struct hrp_req *req, u16 sport, u64 now_ns)
{
	struct hrp_spray *s;
	u32 path;

	if (!hrp_spray_is_on(req))
		return;
	s = req->sack->spray;
	path = spray_find(s, sport);
	if (path == s->paths)
		return;
	spray_note_mark(req, s, hrp_rtt_clock(now_ns));
	if (!spray_is_singled_out(s, path) ||
	    hrp_psn_diff(req->psn_una, s->marked_psn) <= 0)
		return;
	s->marked_psn = req->psn_max;
	spray_replace(req, s, path);
	req->troubled = 1;
}

void hrp_spray_dropped(struct hrp_req *req)
{
	if (!hrp_spray_is_on(req))
		return;
	if (++req->sack->spray->strikes == STRIKES)
		req->sack->spray->paths = 0;
}

bool hrp_spray_evicts(const struct hrp_req *req)
{
	return hrp_spray_is_on(req) && req->sack->spray->evict;
}

int hrp_spray_evict(struct hrp_req *req)
{
	struct hrp_spray *s;
	int path;

	if (!hrp_spray_evicts(req))
		return -1;
	s = req->sack->spray;
	path = __ffs(s->evict);
	s->evict &= s->evict - 1;
	return path;
}

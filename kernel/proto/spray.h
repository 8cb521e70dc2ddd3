/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Several paths for requests and their answers: see spray.c and
 * Documentation/paths.rst.
 */
#ifndef HRP_SPRAY_H
#define HRP_SPRAY_H

#include <linux/compiler.h>
#include <linux/types.h>

struct hrp_burst;
struct hrp_qp;
struct hrp_req;

/* Most paths of a queue pair. */
#define HRP_SPRAY_PATHS	16u

/* Blocks whose path is noted. */
#define HRP_SPRAY_BLOCKS	1024u

/**
 * struct hrp_spray - the paths of a requester
 * @paths: how many; 0: all packets take one
 * @block: packets whose path is noted together
 * @run: so many packets in a row take the same at most; several blocks
 * @strikes: how often the peer has not kept what came out of order, since it last did
 * @turn: path of the newest run
 * @proved: bits of paths by which packets have arrived since they are there
 * @again_path: path of @again_psn when that was sent last
 * @again: @again_psn was resent, and that path has not been replaced since
 * @again_psn: the last packet that was resent, or the first of several
 * @marks: how many were told, as far as it matters
 * @marked: bits of paths that they were of: of the last marks, and of those before
 * @evict: bits of paths that are to be replaced
 * @marked_at: when the last mark was told, hrp_rtt_clock()
 * @marked_psn: marks replace no path before this PSN is acknowledged
 * @run_end: one past the last packet of the newest run
 * @noted: one past the last packet whose path is noted
 * @begin: packets from this PSN on were sent after the last path was replaced
 * @since: of each path: packets from this PSN on were sent after it was replaced
 * @end: a round ends when a packet behind this PSN has arrived
 * @blame: packets of this round that arrived while one of that path was the
 *	oldest that was missing
 * @weight: of each path: what is missing there counts by that
 * @sport: UDP source port of each path; the owner's
 * @path: of the last blocks, by their numbers
 */
struct hrp_spray {
	u8 paths;
	u8 block;
	u8 run;
	u8 strikes;
	u8 turn;
	u8 again_path;
	bool again;
	u8 marks;
	u16 marked[2];
	u16 evict;
	u16 proved;
	u32 again_psn;
	u32 marked_at;
	u32 marked_psn;
	u32 run_end;
	u32 noted;
	u32 begin;
	u32 end;
	u32 since[HRP_SPRAY_PATHS];
	u32 blame[HRP_SPRAY_PATHS];
	u8 weight[HRP_SPRAY_PATHS];
	u16 sport[HRP_SPRAY_PATHS];
	u8 path[HRP_SPRAY_BLOCKS];
};

/**
 * hrp_spray_look - ask the peer whether it takes packets out of order, if more
 *	than one path is wanted
 * @req: requester; a round trip was measured
 *
 * Context: send lock held.
 */
void hrp_spray_look(struct hrp_req *req);

/**
 * hrp_spray_is_wanted - are several paths to be used from now on?
 * @req: requester with @req->sack; the peer takes packets out of order
 *
 * Context: send lock held.
 * Return: true if so, and hrp_spray_start() was not called yet.
 */
bool hrp_spray_is_wanted(const struct hrp_req *req);

/**
 * hrp_spray_start - use several paths
 * @qp: queue pair with @qp->req.sack, for whose requester hrp_spray_is_wanted()
 * @spray: memory, kept until hrp_spray_close(); that of before if there is any
 *
 * Then the owner sets &hrp_spray.sport. Context: send lock held.
 */
void hrp_spray_start(struct hrp_qp *qp, struct hrp_spray *spray);

/**
 * hrp_spray_close - counterpart of hrp_spray_start()
 * @req: requester
 *
 * Context: send lock held.
 * Return: memory to free, or NULL.
 */
struct hrp_spray *hrp_spray_close(struct hrp_req *req);

/**
 * hrp_spray_reset - begin with one path
 * @req: requester; with @req->sack, or without
 *
 * Context: send lock held.
 */
void hrp_spray_reset(struct hrp_req *req);

/**
 * hrp_spray_is_on - does a requester use several paths?
 * @req: requester
 *
 * Context: send lock held.
 * Return: true if so.
 */
bool hrp_spray_is_on(const struct hrp_req *req);

/**
 * hrp_spray_is_near - may a requester use several paths before long?
 * @req: requester
 *
 * Context: send lock held.
 * Return: true if they are wanted, and the peer has not been asked, or may not have
 * got the questions.
 */
bool hrp_spray_is_near(const struct hrp_req *req);

/**
 * hrp_spray_is_wished - does a requester use several paths, or may it before long?
 * @req: requester
 *
 * Context: send lock held.
 * Return: hrp_spray_is_on() or hrp_spray_is_near().
 */
bool hrp_spray_is_wished(const struct hrp_req *req);

/**
 * hrp_spray_paths - how many paths do requests take?
 * @req: requester
 *
 * Context: send lock held.
 * Return: 1 or more.
 */
u32 hrp_spray_paths(const struct hrp_req *req);

/**
 * hrp_spray_pkts - bound a burst, so that it takes one path
 * @req: requester for which hrp_spray_is_on(), before hrp_req_next()
 * @pkts: bound of before, not 0
 *
 * Context: send lock held.
 * Return: the new bound for hrp_req.burst_pkts.
 */
u32 hrp_spray_pkts(const struct hrp_req *req, u32 pkts);

/**
 * hrp_spray_sport - choose the path of a burst
 * @req: requester for which hrp_spray_is_on()
 * @b: what hrp_req_next() has just returned
 *
 * Context: send lock held.
 * Return: &hrp_spray.sport of that path.
 */
u16 hrp_spray_sport(struct hrp_req *req, const struct hrp_burst *b);

/**
 * hrp_spray_learn - packets have arrived behind a missing one
 * @req: requester with @req->sack
 * @psn: the oldest that is missing
 * @nr: how many have arrived
 *
 * Context: send lock held.
 */
void hrp_spray_learn(struct hrp_req *req, u32 psn, u32 nr);

/**
 * hrp_spray_suspect - a packet is resent, and its path may be broken
 * @req: requester
 * @psn: oldest packet in flight, to which no answer comes; or a lost request for
 *	which all others have to wait. There is nothing else to judge its path by
 *
 * Context: send lock held.
 */
void hrp_spray_suspect(struct hrp_req *req, u32 psn);

/**
 * hrp_spray_lost - packets are resent, as later ones have arrived long ago
 * @req: requester with @req->sack
 * @psn: the first
 * @nr: how many
 *
 * If it is a block of packets, all that has taken its path has been lost: it is
 * replaced, and what else is missing of it is a gap. Context: send lock held.
 */
void hrp_spray_lost(struct hrp_req *req, u32 psn, u32 nr);

/**
 * hrp_spray_marked - a switch has marked a packet of one of the paths
 * @req: requester, whether it uses several paths or not
 * @sport: UDP source port of the packet; those of no path are ignored
 * @now_ns: current time
 *
 * It may be one mark of many. A path is replaced if all are of that one, at most
 * once in a round trip. Context: send lock held.
 */
void hrp_spray_marked(struct hrp_req *req, u16 sport, u64 now_ns);

/**
 * hrp_spray_dropped - the peer has not kept what came out of order
 * @req: requester
 *
 * If it does that three times, and tells of nothing that it has kept in between, one
 * path is used. Context: send lock held.
 */
void hrp_spray_dropped(struct hrp_req *req);

/**
 * hrp_spray_evicts - is there a path for hrp_spray_evict()?
 * @req: requester
 *
 * Context: send lock held.
 * Return: true if so; the owner looks for it as long as @req->troubled.
 */
bool hrp_spray_evicts(const struct hrp_req *req);

/**
 * hrp_spray_evict - take the next path that is to be replaced
 * @req: requester
 *
 * Context: send lock held.
 * Return: its number, less than HRP_SPRAY_PATHS; negative: there is none.
 */
int hrp_spray_evict(struct hrp_req *req);

#endif /* HRP_SPRAY_H */

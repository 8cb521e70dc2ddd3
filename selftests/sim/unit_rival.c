// SPDX-License-Identifier: GPL-2.0
/* Others that fill the queue: how they are noticed, lived with and missed. */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <string.h>
#include "proto/cc.h"
#include "proto/req_priv.h"
#include "proto/rival.h"
#include "proto/sack.h"
#include "tap.h"

#define TARGET	1000u
#define LONG	50000u
#define FAR	(2 * TARGET + 1)
#define TRIPS	16
#define PROBE	4

static u64 room[256];
static struct hrp_qp qp;
static struct hrp_req *const req = &qp.req;

static void begin(void)
{
	memset(&qp, 0, sizeof(qp));
	memset(room, 0xa5, sizeof(room));
	req->window_pkts = 2048;
	req->cc = HRP_CC_DELAY;
	req->asks = 3;
	req->sq.head = 1;
	hrp_cc_start(&qp);
	hrp_sack_open(req, (void *)room, HRP_SACK_WORDS_MIN);
}

/* @nr round trips with so much delay. Return: what the last one tells. */
static enum hrp_rivals look(u32 rtt, u32 delay, u32 nr)
{
	enum hrp_rivals rivals = HRP_RIVALS_NONE;

	while (nr--)
		rivals = hrp_rival_look(req, rtt, delay, TARGET);
	return rivals;
}

static enum hrp_rivals probe(u32 rtt)
{
	tap_ok(hrp_rival_renew(req));
	return look(rtt, FAR, PROBE);
}

static void begin_with_rivals(void)
{
	begin();
	look(LONG, FAR, TRIPS);
	tap_eq(probe(LONG), HRP_RIVALS_HERE);
}

static u32 grown(u32 pkts, bool may_grow)
{
	return hrp_rival_window(req, pkts << 8, may_grow);
}

static void round_trips_are_far_too_long(void)
{
	begin();
	tap_eq(look(LONG, FAR, TRIPS - 1), HRP_RIVALS_NONE);
	tap_ok(!hrp_rival_renew(req));
	look(LONG, FAR - 1, 100);
	tap_ok(!hrp_rival_renew(req));
	look(LONG, FAR, 1);
	tap_ok(hrp_rival_renew(req));
	/* A short one begins anew. */
	begin();
	look(LONG, FAR, TRIPS - 1);
	look(LONG, TARGET, 1);
	look(LONG, FAR, TRIPS - 1);
	tap_ok(!hrp_rival_renew(req));
}

static void a_probe_tells_whose_queue_it_is(void)
{
	begin();
	look(LONG, FAR, TRIPS);
	tap_ok(hrp_rival_renew(req));
	tap_eq(look(LONG / 2 + 1, FAR, PROBE - 1), HRP_RIVALS_NONE);
	tap_ok(!hrp_rival_is_here(req));
	tap_eq(look(LONG / 2 + 1, FAR, 1), HRP_RIVALS_HERE);
	tap_ok(hrp_rival_is_here(req));
	/* One that is half as long is enough. */
	begin();
	look(LONG, FAR, TRIPS);
	tap_ok(hrp_rival_renew(req));
	look(LONG, FAR, 1);
	look(LONG / 2, FAR, 1);
	tap_eq(look(LONG, FAR, PROBE - 2), HRP_RIVALS_GONE);
	tap_ok(!hrp_rival_is_here(req));
	/* Once. */
	tap_eq(look(LONG, FAR, 1), HRP_RIVALS_NONE);
	tap_ok(!hrp_rival_renew(req));
}

static void two_probes_miss_them(void)
{
	begin_with_rivals();
	tap_eq(probe(LONG / 2), HRP_RIVALS_HERE);
	look(LONG, FAR, 1);
	tap_eq(probe(LONG / 3), HRP_RIVALS_HERE);
	look(LONG, FAR, 1);
	hrp_rival_lost(req);
	/* Not in a row. */
	tap_eq(probe(LONG), HRP_RIVALS_HERE);
	tap_eq(probe(LONG / 3), HRP_RIVALS_HERE);
	look(LONG, FAR, 1);
	tap_eq(probe(LONG / 3), HRP_RIVALS_GONE);
	tap_ok(!hrp_rival_is_here(req));
}

/* The path is longer than it was. */
static void nothing_is_lost(void)
{
	int i;

	begin_with_rivals();
	for (i = 0; i < 4; i++)
		tap_eq(probe(LONG), HRP_RIVALS_HERE);
	tap_ok(!hrp_rival_renew(req));
	tap_ok(!hrp_rival_is_here(req));
	begin_with_rivals();
	for (i = 0; i < 10; i++) {
		tap_eq(probe(LONG), HRP_RIVALS_HERE);
		hrp_rival_lost(req);
	}
}

static void window_is_that_of_reno(void)
{
	begin_with_rivals();
	tap_eq(grown(64, false), 64 << 8);
	tap_eq(grown(64, true), 69 << 8);
	hrp_rival_lost(req);
	tap_eq(grown(64, true), 65 << 8);
	/* Each loss counts. */
	tap_eq(hrp_cc_delay.near_pkts(req), HRP_PSN_MASK);
}

/* The queue pair is connected anew, or gets another control. */
static void nothing_is_known_in_the_beginning(void)
{
	begin_with_rivals();
	hrp_cc_start(&qp);
	tap_ok(!hrp_rival_is_here(req));
	look(LONG, FAR, TRIPS - 1);
	tap_ok(!hrp_rival_renew(req));
	begin_with_rivals();
	req->cc = HRP_CC_NONE;
	hrp_cc_start(&qp);
	tap_ok(!hrp_rival_is_here(req));
}

static void window_returns_after_a_probe(void)
{
	begin_with_rivals();
	req->cwnd_pkts = 100;
	tap_ok(hrp_rival_renew(req));
	look(LONG, FAR, PROBE - 1);
	tap_eq(grown(25, true), 25 << 8);
	look(LONG, FAR, 1);
	tap_eq(grown(25, true), 50 << 8);
	tap_eq(grown(50, false), 100 << 8);
	tap_eq(grown(100, false), 100 << 8);
	/* Not if packets are lost meanwhile. */
	tap_ok(hrp_rival_renew(req));
	look(LONG, FAR, PROBE);
	tap_eq(grown(25, true), 50 << 8);
	hrp_rival_lost(req);
	tap_eq(grown(50, true), 51 << 8);
	/* Those that are lost in the probe were sent before. */
	tap_ok(hrp_rival_renew(req));
	hrp_rival_lost(req);
	look(LONG, FAR, PROBE);
	tap_eq(grown(25, true), 50 << 8);
}

static void peer_is_asked_what_it_keeps(void)
{
	begin();
	req->sack = NULL;
	req->cwnd_pkts = 5;
	look(LONG, FAR, 1);
	tap_ok(!req->ask);
	req->cwnd_pkts = 4;
	look(LONG, FAR - 1, 1);
	tap_ok(!req->ask);
	tap_eq(look(LONG, FAR, 1), HRP_RIVALS_NONE);
	tap_ok(req->ask && req->troubled);
	tap_ok(!hrp_rival_renew(req));
	look(LONG, FAR, 100);
	tap_eq(req->asks, 0);
}

/**
 * struct path - a queue that drops what is too much
 * @base: round-trip time without it, in units of 1024 ns
 * @pkts: so many packets are under way without it
 * @room: and so many in all
 * @others: window of a rival, which has a packet more in each round trip
 * @marks: the switch marks what waits
 */
struct path {
	u32 base;
	u32 pkts;
	u32 room;
	u32 others;
	bool marks;
};

static u64 now_ns;

static void path_round(struct path *path)
{
	u32 total = req->cwnd_pkts + path->others;
	u32 rtt = path->base * max(total, path->pkts) / path->pkts;

	if (total > path->room) {
		path->others = path->others * 7 / 10;
		hrp_rival_lost(req);
		hrp_req_shrink(req, req->cwnd_pkts * 3 / 4);
	} else if (path->others) {
		path->others++;
	}
	now_ns += rtt << 10;
	if (path->marks && total > path->pkts)
		hrp_cc_notified(&qp, now_ns);
	hrp_cc_measured(&qp, rtt, true, now_ns);
}

/* Return: percent that this queue pair has, on average. */
static u32 path_share(struct path *path, u32 rounds)
{
	u64 ours = 0, all = 0;

	while (rounds--) {
		path_round(path);
		ours += req->cwnd_pkts;
		all += req->cwnd_pkts + path->others;
	}
	return ours * 100 / all;
}

/* 10 ms, and a queue of four times what is under way. */
static void shares_with_a_rival(void)
{
	struct path path = { .base = 10000, .pkts = 100, .room = 500 };
	u32 share;

	begin();
	now_ns = 7ull << 32;
	path_share(&path, 100);
	path.others = 10;
	path_share(&path, 2000);
	share = path_share(&path, 5000);
	tap_ok(hrp_rival_is_here(req));
	tap_ok(share >= 30 && share <= 70);
	/* It has gone, and the queue becomes short. */
	path.others = 0;
	path_share(&path, 1500);
	tap_ok(!hrp_rival_is_here(req));
	path_round(&path);
	tap_ok(req->cwnd_pkts >= path.pkts && req->cwnd_pkts < 2 * path.pkts);
}

/* A switch that marks keeps the queue short, whoever fills it. */
static void marks_are_no_rivals(void)
{
	struct path path = { .base = 10000, .pkts = 100, .room = 500 };

	begin();
	now_ns = 7ull << 32;
	path_share(&path, 100);
	path.others = 10;
	path.marks = true;
	path_share(&path, 5000);
	tap_ok(!hrp_rival_is_here(req));
}

int main(void)
{
	tap_plan(10);
	tap_run(round_trips_are_far_too_long);
	tap_run(a_probe_tells_whose_queue_it_is);
	tap_run(two_probes_miss_them);
	tap_run(nothing_is_lost);
	tap_run(window_is_that_of_reno);
	tap_run(nothing_is_known_in_the_beginning);
	tap_run(window_returns_after_a_probe);
	tap_run(peer_is_asked_what_it_keeps);
	tap_run(shares_with_a_rival);
	tap_run(marks_are_no_rivals);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/* Requester: several paths. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "kept.h"
#include "proto/req_priv.h"
#include "proto/spray.h"
#include "rig.h"
#include "rng.h"
#include "sprayed.h"
#include "tap.h"

static void asked_if_it_is_worth_it(void)
{
	u32 i;

	/* One path is enough. */
	begin(0, 200, 1);
	pass_rtt();
	rig_drain();
	tap_eq(questions(), 0);
	rig_end();

	/* Little in flight. */
	begin(0, 16, 4);
	for (i = 0; i < 5; i++)
		pass_rtt();
	rig_drain();
	tap_eq(questions(), 0);
	rig_end();

	/* A peer that never answers. */
	begin(0, 200, 4);
	for (i = 0; i < 3 * HRP_SACK_ASKS; i++) {
		rig_drain();
		rig.now_ns += RTT_NS;
		rig_ack(hrp_psn_add(req->psn_una, 149), ACK);
	}
	rig_drain();
	tap_eq(questions(), HRP_SACK_ASKS);
	tap_ok(!hrp_spray_is_on(req));
	rig_end();

	/* Switched off. */
	begin(0, 200, 4);
	req->asks = 0;
	rig_drain();
	rig.now_ns += RTT_NS;
	rig_ack(100, ACK);
	rig_drain();
	tap_eq(questions(), 0);
	rig_end();
}

static void begins_once(void)
{
	begin(0, 200, 1);
	kept_open_sack(req);
	tap_ok(!kept_start_spray(&rig.qp));
	tap_ok(!hrp_spray_is_on(req));
	rig_end();

	begin_sprayed(0, 200, 2);
	tap_ok(hrp_spray_is_on(req));
	tap_eq(req->sack->spray->paths, 2);
	tap_eq(rig.counts.v[HROCE_EV_SPRAY_AGREED], 1);
	tap_ok(!kept_start_spray(&rig.qp));
	tap_eq(rig.counts.v[HROCE_EV_SPRAY_AGREED], 1);
	hrp_req_start(&rig.qp, 5);
	tap_ok(!hrp_spray_is_on(req));
	tap_ok(!req->sack->told);
	rig_end();
}

static void runs_take_turns(void)
{
	static const u32 begins[] = { 0, 7, 0xffffc0 };
	u32 pkts[HRP_SPRAY_PATHS], i, paths, psn;
	int path;

	for (paths = 2; paths <= HRP_SPRAY_PATHS; paths++) {
		for (i = 0; i < ARRAY_SIZE(begins); i++) {
			begin_sprayed(begins[i], 480, paths);
			while ((path = send_one()) >= 0) {
				tap_ok(rig.burst.nr_pkts <= RUN);
				for (psn = 0; psn < rig.burst.nr_pkts; psn++)
					tap_eq(path_of(hrp_psn_add(rig.burst.first.psn, psn)),
					       path);
			}
			rig_end();
		}
		begin_sprayed(0, 2 * RUN * paths, paths);
		fill(pkts);
		for (i = 0; i < HRP_SPRAY_PATHS; i++)
			tap_eq(pkts[i], i < paths ? 2 * RUN : 0);
		rig_end();
	}
}

/* Answers will take the way of the request, so it is noted for all of them. */
static void requests_choose_for_answers(void)
{
	static const u32 begins[] = { 0, 0xffffe7 };
	u32 i, n, path, nr[HRP_SPRAY_PATHS];

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		begin_op(HROCE_WR_READ, begins[i], 256, 8);
		agree();
		req->sack->spray->proved = 0xff;
		memset(nr, 0, sizeof(nr));
		while ((int)(path = send_one()) >= 0) {
			u32 pkts = rig.burst.first.dmalen / 1024;

			tap_eq(pkts, 32);
			nr[path]++;
			/* Blocks at the end have packets of the next answer, too. */
			for (n = 0; n < pkts - BLOCK; n++)
				tap_eq(path_of(hrp_psn_add(rig.burst.first.psn, n)),
				       path);
		}
		for (path = 0; path < 8; path++)
			tap_eq(nr[path], 1);
		rig_end();
	}
}

/* What comes behind a missing answer counts for its way. */
static void slow_answers_are_replaced(void)
{
	u32 n, path;

	begin_op(HROCE_WR_READ, 0, 256, 2);
	agree();
	path = send_one();
	while (send_one() >= 0)
		;
	tap_eq(path_of(0), path);
	/* It has been slow before. */
	req->sack->spray->weight[path] = 64;
	for (n = 64; n < 128; n++)
		rig_read_resp(n == 64 ? HRP_OP_READ_RESP_FIRST :
			      n == 127 ? HRP_OP_READ_RESP_LAST :
			      HRP_OP_READ_RESP_MIDDLE, n, 1024);
	tap_eq(hrp_spray_evict(req), -1);
	/* The end of the flight: the first answer is still missing. */
	for (; n < 256; n++)
		rig_read_resp(n % 64 == 0 ? HRP_OP_READ_RESP_FIRST :
			      n % 64 == 63 ? HRP_OP_READ_RESP_LAST :
			      HRP_OP_READ_RESP_MIDDLE, n, 1024);
	tap_eq(hrp_spray_evict(req), (int)path);
	rig_end();
}

/* Such a requester asks for that; others do not. */
static void question_says_so(void)
{
	u32 paths;

	for (paths = 1; paths <= 2; paths++) {
		begin(0, 200, paths);
		req->ask = 1;
		req->troubled = 1;
		tap_eq(rig_next(), HRP_NEXT_BURST);
		tap_eq(rig.burst.first.opcode, HRP_OPCODE_SACK_ASK);
		tap_eq(((const u8 *)rig.burst.mem.bytes)[5],
		       paths == 2 ? 15 : 11);
		rig_end();
	}
}

/* A window takes all paths, unless blocks are too long for that. */
static void runs_follow_the_window(void)
{
	static const struct {
		u32 window;
		u32 run;
	} cases[] = {
		{ 4 * RUN, RUN }, { 4 * RUN - 1, RUN - BLOCK },
		{ 4 * BLOCK, BLOCK }, { 4, 4 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin_sprayed(0, cases[i].window, 4);
		tap_ok(send_one() >= 0);
		tap_eq(rig.burst.nr_pkts, cases[i].run);
		rig_end();
	}

	/* A run goes on behind a burst that is shorter. */
	begin_sprayed(0, 8 * RUN, 4);
	req->burst_pkts = 5;
	tap_eq(rig_next(), HRP_NEXT_BURST);
	hrp_spray_sport(req, &rig.burst);
	tap_ok(send_one() >= 0);
	tap_eq(rig.burst.nr_pkts, RUN - 5);
	tap_eq(path_of(0), path_of(RUN - 1));
	rig_end();
}

/* What is missing on a path is not followed by more, as long as others are free. */
static void slow_path_gets_less(void)
{
	u32 pkts[HRP_SPRAY_PATHS], slow;

	begin_sprayed(0, 8 * RUN, 4);
	fill(pkts);
	slow = path_of(0);
	req->sparse = 15;
	arrive_but(0, 8 * RUN);
	/* One packet is missing: it is resent by another path. */
	tap_ok(send_one() != (int)slow);
	tap_eq(rig.burst.first.psn, 0);
	req->cwnd_pkts = 12 * RUN;
	fill(pkts);
	tap_ok(path_of(8 * RUN) != slow);
	tap_ok(path_of(9 * RUN) != slow);
	tap_ok(path_of(10 * RUN) != slow);
	tap_eq(path_of(11 * RUN), slow);
	rig_end();
}

/* A round trip ends, in which packets waited for paths; others are not counted. */
static int end_round(u32 a, u32 b, u32 c, u32 d)
{
	struct hrp_spray *s = req->sack->spray;

	s->blame[0] = a;
	s->blame[1] = b;
	s->blame[2] = c;
	s->blame[3] = d;
	s->begin = req->psn_una;
	s->end = req->psn_una;
	hrp_spray_learn(req, req->psn_una, 0);
	return hrp_spray_evict(req);
}

/* As long as it gets less in each round trip, it is not replaced. */
static void slow_path_gets_less_and_less(void)
{
	static const u8 slower[] = { 24, 36, 54 };
	u32 pkts[HRP_SPRAY_PATHS], i;
	const u8 *weight;

	begin_sprayed(0, 8 * RUN, 4);
	fill(pkts);
	weight = req->sack->spray->weight;
	for (i = 0; i < ARRAY_SIZE(slower); i++) {
		tap_eq(end_round(9, 8, 200, 7), -1);
		tap_eq(weight[2], slower[i]);
		tap_eq(weight[0], 16);
	}
	/* With the fewest packets missing it is not the first choice. */
	for (i = 0; i < 8 * RUN; i++)
		req->sack->spray->path[i / BLOCK] = i < RUN ? 2 : i / BLOCK % 2;
	req->sack->spray->path[0] = 3;
	req->cwnd_pkts = 9 * RUN;
	req->sack->spray->proved = 15;
	req->sack->spray->turn = 2;
	tap_eq(send_one(), 3);
	/* The others get slow: it is like them again. */
	tap_eq(end_round(80, 75, 0, 90), -1);
	tap_eq(weight[2], 41);
	/* Nothing waits. */
	tap_eq(end_round(0, 0, RUN - 1, 0), -1);
	tap_eq(weight[2], 31);
	for (i = 0; i < 4; i++)
		tap_eq(end_round(0, 0, 0, 0), -1);
	tap_eq(weight[2], 16);
	rig_end();

	/* It is slow all the same, and the next one is new. */
	begin_sprayed(0, 8 * RUN, 4);
	fill(pkts);
	for (i = 0; i < ARRAY_SIZE(slower); i++)
		tap_eq(end_round(0, 200, 0, 0), -1);
	tap_eq(end_round(0, 200, 0, 0), 1);
	tap_eq(req->sack->spray->weight[1], 16);
	rig_end();
}

/* In a round trip, what arrives counts for the path of what is missing. */
static void slow_path_is_replaced(void)
{
	u32 pkts[HRP_SPRAY_PATHS], path, psn;
	int evicted;

	begin_sprayed(0, 4 * RUN, 4);
	fill(pkts);
	path = path_of(RUN);
	req->sack->spray->weight[path] = 54;
	rig_ack(RUN - 1, ACK);
	arrive_but(RUN, 4 * RUN);
	evicted = hrp_spray_evict(req);
	tap_eq(evicted, (int)path);
	tap_eq(hrp_spray_evict(req), -1);
	/* What was sent before that tells nothing more. */
	fill(pkts);
	psn = req->psn_max;
	rig_ack(2 * RUN - 1, ACK);
	arrive_but(2 * RUN, psn);
	tap_eq(hrp_spray_evict(req), -1);
	rig_end();

	/* A few packets that arrive before others are nothing. */
	begin_sprayed(0, 4 * RUN, 4);
	fill(pkts);
	arrive_but(0, RUN - 2);
	tap_eq(hrp_spray_evict(req), -1);
	rig_end();
}

static void loss_on_all_paths_replaces_none(void)
{
	u32 i;

	begin_sprayed(0, 16 * RUN, 4);
	req->sack->spray->begin = 0;
	for (i = 0; i < 4 * RUN; i++)
		req->sack->spray->path[i / BLOCK] = i / RUN;
	req->psn_max = 16 * RUN;
	req->sack->spray->end = 4 * RUN;
	for (i = 0; i < 4; i++) {
		req->sack->end = (i + 1) * RUN;
		hrp_spray_learn(req, i * RUN, 2 * RUN);
	}
	tap_eq(hrp_spray_evict(req), -1);
	tap_eq(req->sack->spray->end, 16 * RUN);
	req->psn_max = 0;
	rig_end();
}

/* Packets waited so often for one of 16 paths, and for each of the others. */
static int evicted_of_16(u32 one, u32 others)
{
	struct hrp_spray *spray;
	int path;
	u32 i;

	begin_sprayed(0, 32 * RUN, 16);
	spray = req->sack->spray;
	spray->begin = 0;
	spray->end = RUN;
	for (i = 0; i < 16; i++)
		spray->blame[i] = i == 5 ? one : others;
	req->psn_max = 2 * RUN;
	req->sack->end = RUN;
	hrp_spray_learn(req, 0, 0);
	path = hrp_spray_evict(req);
	req->psn_max = 0;
	rig_end();
	return path;
}

/* Three times as often as for one on average. */
static void one_of_many_is_replaced(void)
{
	tap_eq(evicted_of_16(90, 26), 5);
	tap_eq(evicted_of_16(89, 26), -1);
	tap_eq(evicted_of_16(RUN, 1), 5);
	tap_eq(evicted_of_16(RUN - 1, 1), -1);
}

/* A packet is timed while there is a gap, and is in flight when that is closed. */
static void round_trips_outlive_gaps(bool sprayed)
{
	u32 psn, end, paths = sprayed ? 4 : 0;
	u64 counted;

	begin_sprayed(0, 64, 4);
	req->sack->spray->paths = paths;
	req->cc_times = 1;
	req->cc = HRP_CC_DELAY;
	rig_drain();
	rig.now_ns += RTT_NS;
	end = req->psn_max;
	arrive_but(0, end);
	req->sack->spray->paths = paths;
	rig_drain();
	tap_ok(req->sack->timing);
	psn = req->sack->timed_psn;
	rig_ack(end - 1, ACK);
	tap_ok(!req->sack->timing);
	counted = rig.counts.v[HROCE_EV_RTT_256US];
	rig.now_ns += RTT_NS;
	rig_ack(psn, ACK);
	tap_eq(rig.counts.v[HROCE_EV_RTT_256US], counted + sprayed);
	rig_end();
}

static void sprayed_round_trips_are_measured(void)
{
	round_trips_outlive_gaps(true);
	round_trips_outlive_gaps(false);
}

/* A peer that answers, but drops what comes out of order. */
static void peer_that_keeps_nothing(void)
{
	u32 i;

	begin_sprayed(0, 200, 4);
	for (i = 0; i < 3; i++) {
		tap_ok(hrp_spray_is_on(req));
		hrp_spray_dropped(req);
	}
	tap_ok(!hrp_spray_is_on(req));
	tap_ok(!kept_start_spray(&rig.qp));
	/* The next connection is another matter. */
	hrp_req_start(&rig.qp, 0);
	tap_ok(kept_start_spray(&rig.qp));
	rig_end();

	/* It is not to blame for answers that this side drops. */
	begin_op(HROCE_WR_READ, 0, 256, 2);
	agree();
	req->srtt8 = 60 << 3;
	rig.keeps_answers = false;
	for (i = 1; i <= 4; i++) {
		rig_drain();
		rig.now_ns += 100000000;
		rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 2, 1024);
		tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], i);
	}
	tap_ok(hrp_spray_is_on(req));
	rig_end();
}

/* One that tells what it has kept in between was short of memory, or a path broke. */
static void peer_that_keeps_at_times(void)
{
	u32 i;

	begin_sprayed(0, 200, 4);
	for (i = 0; i < 9; i++) {
		hrp_spray_dropped(req);
		tap_ok(hrp_spray_is_on(req));
		if (i % 2)
			hrp_spray_learn(req, req->psn_una, 1);
	}
	rig_end();
}

/* A CNP tells a port, @us after the one before. Return: the path to replace, or -1. */
static int mark(u32 sport, u32 us)
{
	rig.now_ns += us * 1000;
	hrp_spray_marked(req, sport, rig.now_ns);
	return hrp_spray_evict(req);
}

static int mark_path(u32 path)
{
	return mark(req->sack->spray->sport[path], 50);
}

/* Paths are marked again and again, in turns. Return: the first that is replaced. */
static int mark_in_turns(u32 paths, u32 times)
{
	int path = -1;
	u32 i;

	for (i = 0; i < times && path < 0; i++)
		path = mark_path(i % paths);
	return path;
}

static void marked_path_is_replaced(void)
{
	u32 i;

	begin_sprayed(0, 8 * RUN, 4);
	rig_drain();
	req->troubled = 0;
	tap_eq(mark_path(2), -1);
	rig.now_ns += 50000;
	hrp_spray_marked(req, FIRST_SPORT + 2, rig.now_ns);
	/* The owner looks for it, whatever is acknowledged meanwhile. */
	for (i = 0; i < 2; i++) {
		tap_eq(req->troubled, 1);
		rig_ack(i, ACK);
	}
	tap_eq(req->troubled, 1);
	tap_eq(hrp_spray_evict(req), 2);
	rig_ack(i, ACK);
	tap_eq(req->troubled, 0);
	tap_eq(req->sack->spray->since[2], req->psn_max);
	rig_end();

	/* Marks that are far apart tell nothing of each other. */
	begin_sprayed(0, 8 * RUN, 4);
	tap_eq(mark_path(2), -1);
	tap_eq(mark(FIRST_SPORT + 2, 5000), -1);
	tap_eq(mark(FIRST_SPORT + 2, 3000), 2);
	/* Unless round trips are as long. */
	req->srtt8 = 5000 << 3;
	pass_rtt();
	tap_eq(mark(FIRST_SPORT + 3, 9000), -1);
	tap_eq(mark(FIRST_SPORT + 3, 9000), 3);
	rig_end();

	/* It has been replaced for something else meanwhile. */
	begin_sprayed(0, 8 * RUN, 4);
	tap_eq(mark_path(2), -1);
	req->sack->spray->path[0] = 2;
	hrp_spray_suspect(req, 0);
	tap_eq(hrp_spray_evict(req), 2);
	tap_eq(mark_path(2), -1);
	rig_end();
}

/* At most one is in a round trip. */
static void one_marked_path_in_a_round_trip(void)
{
	u32 i;

	begin_sprayed(0xfffff0, 8 * RUN, 4);
	rig_drain();
	tap_eq(mark_path(2), -1);
	tap_eq(mark_path(2), 2);
	for (i = 0; i < 10; i++)
		tap_eq(mark_path(1), -1);
	rig_ack(hrp_psn_add(req->psn_max, HRP_PSN_MASK), ACK);
	tap_eq(mark_path(1), -1);
	pass_rtt();
	tap_eq(mark_path(1), 1);
	/* PSNs come round while marks come. */
	for (i = 0; i < 6; i++) {
		req->psn_una = hrp_psn_add(req->psn_una, 0x400000);
		req->psn_max = hrp_psn_add(req->psn_una, 1);
		hrp_spray_marked(req, FIRST_SPORT + i % 4, rig.now_ns);
	}
	tap_eq(req->sack->spray->marked_psn,
	       hrp_psn_add(req->psn_una, HRP_PSN_MASK));
	rig_end();
}

/* Many that send to one, or a full network: all paths are marked. */
static void marks_on_all_paths_replace_none(void)
{
	u32 i;

	for (i = 2; i <= HRP_SPRAY_PATHS; i++) {
		begin_sprayed(0, 8 * RUN, i);
		tap_eq(mark_in_turns(i, 100), -1);
		/* That is over: then, one is marked. */
		tap_eq(mark_in_turns(1, 2 * 16), 0);
		rig_end();
	}

	/* Half of them share a link. */
	begin_sprayed(0, 8 * RUN, 4);
	tap_eq(mark_in_turns(3, 100), -1);
	rig_end();
	begin_sprayed(0, 8 * RUN, 4);
	tap_eq(mark_in_turns(2, 7), -1);
	tap_eq(mark_path(1), 1);
	pass_rtt();
	tap_eq(mark_path(0), -1);
	tap_eq(mark_path(0), 0);
	rig_end();
}

/* Ports of no path, and those of paths that are not used. */
static void hostile_marks(void)
{
	struct sim_rng rng = { 2 };
	u32 i, nr = 0;
	int path;

	begin_sprayed(0, 8 * RUN, 4);
	for (i = 0; i < 10; i++) {
		tap_eq(mark(0, 1), -1);
		tap_eq(mark(FIRST_SPORT + 4, 1), -1);
		tap_eq(mark(FIRST_SPORT - 1, 1), -1);
	}
	tap_eq(req->sack->spray->marks, 0);
	/* However fast they come, there is one new path in a round trip. */
	for (i = 0; i < 1000; i++)
		nr += mark(FIRST_SPORT, 0) >= 0;
	tap_eq(nr, 1);
	rig_end();

	/* Without several paths, and without what the peer has told. */
	begin(0, 200, 4);
	hrp_spray_marked(req, FIRST_SPORT, rig.now_ns);
	kept_open_sack(req);
	hrp_spray_marked(req, FIRST_SPORT, rig.now_ns);
	tap_eq(hrp_spray_evict(req), -1);
	rig_end();

	for (i = 0; i < 200; i++) {
		begin_sprayed(0xfffe00, 200, 2 + i % 15);
		for (nr = 0; nr < 100; nr++) {
			if (!sim_below(&rng, 4))
				pass_rtt();
			path = mark(FIRST_SPORT + sim_below(&rng, 20),
				    sim_below(&rng, 100));
			tap_ok(path < (int)req->sack->spray->paths);
		}
		rig_end();
	}
}

static void hostile_answers(void)
{
	struct sim_rng rng = { 1 };
	u32 i, j, begins[] = { 0, 0xfffe00 };
	int path;

	for (i = 0; i < 2000; i++) {
		u32 base = begins[i & 1];
		u32 len;

		begin_sprayed(base, 100 + sim_below(&rng, 900), 2 + i % (HRP_SPRAY_PATHS - 1));
		for (j = 0; j < 20; j++) {
			while (send_one() >= 0)
				;
			for (len = 0; len < sizeof(map); len++)
				map[len] = sim_rand(&rng) & sim_rand(&rng);
			len = sim_below(&rng, sizeof(map) / 4 + 1) * 4;
			rig_sack(sim_below(&rng, 4) ?
				 hrp_psn_add(req->psn_una, sim_below(&rng, 99)) :
				 sim_rand(&rng) & HRP_PSN_MASK, map, len);
			if (!sim_below(&rng, 4))
				rig_ack(sim_rand(&rng) & HRP_PSN_MASK, ACK);
			if (!sim_below(&rng, 4))
				rig_ack(hrp_psn_add(req->psn_una,
						    sim_below(&rng, 300)),
					sim_below(&rng, 2) ? ACK : NAK);
			while ((path = hrp_spray_evict(req)) >= 0)
				tap_ok(path < req->sack->spray->paths);
			if (!hrp_spray_is_on(req))
				break;
		}
		rig_end();
	}
}

int main(void)
{
	tap_plan(20);
	tap_run(asked_if_it_is_worth_it);
	tap_run(begins_once);
	tap_run(runs_take_turns);
	tap_run(requests_choose_for_answers);
	tap_run(slow_answers_are_replaced);
	tap_run(question_says_so);
	tap_run(runs_follow_the_window);
	tap_run(slow_path_gets_less);
	tap_run(slow_path_gets_less_and_less);
	tap_run(slow_path_is_replaced);
	tap_run(loss_on_all_paths_replaces_none);
	tap_run(one_of_many_is_replaced);
	tap_run(sprayed_round_trips_are_measured);
	tap_run(marked_path_is_replaced);
	tap_run(one_marked_path_in_a_round_trip);
	tap_run(marks_on_all_paths_replace_none);
	tap_run(hostile_marks);
	tap_run(peer_that_keeps_nothing);
	tap_run(peer_that_keeps_at_times);
	tap_run(hostile_answers);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Congestion control by delay. Most tests close the loop over a model of a path:
 * all flows share a queue, and each has one measurement in a round trip.
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <stdlib.h>
#include <string.h>
#include "proto/cc.h"
#include "proto/damage.h"
#include "proto/req_priv.h"
#include "proto/rtt.h"
#include "proto/sack.h"
#include "rig.h"
#include "tap.h"

#define ACK		HRP_SYN_CREDIT_INVALID
#define NAK		HRP_NAK_PSN_SEQ
#define WINDOW		2048
#define START		64
#define ASK_PKTS	64u
#define TARGET		100	/* units of 1024 ns */
#define MAX_FLOWS	16
#define ACKS		8

/**
 * struct path - a queue that all flows go through
 * @base: round-trip time without it, in units of 1024 ns
 * @pkt_us100: time that a packet takes to leave it, in hundredths of that unit
 * @queue: how long the last packet waited
 * @idle: rounds in which the queue ran empty and the link with it
 */
struct path {
	u32 base;
	u32 pkt_us100;
	u32 queue;
	u32 idle;
};

static struct hrp_qp flows[MAX_FLOWS];
static u64 now_ns;

static void flow_start(struct hrp_qp *qp)
{
	memset(qp, 0, sizeof(*qp));
	qp->req.window_pkts = WINDOW;
	qp->req.cc = HRP_CC_DELAY;
	/* There is always something to send. */
	qp->req.sq.head = 1;
	hrp_cc_start(qp);
}

static void flows_start(u32 nr)
{
	u32 i;

	now_ns = 7ull << 32;
	for (i = 0; i < nr; i++)
		flow_start(&flows[i]);
}

/* The window is acknowledged within @took, in units of 1024 ns. */
static void flow_acked(struct hrp_qp *qp, u32 took)
{
	u32 nr_pkts = qp->req.cwnd_pkts, done = 0, i, end;

	qp->req.timing = 1;
	qp->req.mark_at = hrp_rtt_clock(now_ns);
	for (i = 1; i <= ACKS; i++) {
		end = nr_pkts * i / ACKS;
		hrp_cc_acked(qp, end - done,
			     now_ns + ((u64)took * i / ACKS << 10));
		done = end;
	}
}

/*
 * All flows send a window each, in quarters, and measure the first packet
 * of one. If there is more on the way than the path holds, it comes when all
 * before it have left the queue; at first there are none.
 */
static void path_round(struct path *path, u32 nr)
{
	u32 total = 0, before, busy, rtt, i;

	for (i = 0; i < nr; i++)
		total += flows[i].req.cwnd_pkts;
	busy = total * path->pkt_us100 / 100;
	path->idle += busy < path->base;
	path->queue = busy - min(busy, path->base);
	for (i = 0; i < nr; i++)
		flow_acked(&flows[i], busy);
	now_ns += max(busy, path->base) << 10;
	for (i = 0; i < nr; i++) {
		before = total - min(flows[i].req.cwnd_pkts / 4, ASK_PKTS);
		rtt = path->base + path->pkt_us100 / 100;
		if (flows[i].base != HRP_BASE_MAX)
			rtt = max(rtt, (before + 1) * path->pkt_us100 / 100);
		hrp_cc_measured(&flows[i], rtt, true, now_ns);
	}
}

static void path_rounds(struct path *path, u32 nr, u32 rounds)
{
	while (rounds--)
		path_round(path, nr);
}

/* Mean time in the queue over @rounds. */
static u32 path_mean(struct path *path, u32 nr, u32 rounds)
{
	u64 sum = 0;
	u32 i;

	path->idle = 0;
	for (i = 0; i < rounds; i++) {
		path_round(path, nr);
		sum += path->queue;
	}
	return sum / rounds;
}

/* Jain's index of the windows, in percent. */
static u32 fairness(u32 nr)
{
	u64 sum = 0, squares = 0, cwnd;
	u32 i;

	for (i = 0; i < nr; i++) {
		cwnd = flows[i].req.cwnd_pkts;
		sum += cwnd;
		squares += cwnd * cwnd;
	}
	return sum * sum * 100 / (nr * squares);
}

/* Doubled in each round trip, until packets wait. */
static void begins_fast(void)
{
	/* 10 Gbit/s, 1 ms: 312 packets. */
	struct path path = { .base = 1000, .pkt_us100 = 320 };

	flows_start(1);
	tap_eq(flows[0].req.cwnd_pkts, START);
	path_round(&path, 1);
	tap_eq(flows[0].req.cwnd_pkts, 2 * START + 1);
	path_rounds(&path, 1, 2);
	tap_ok(flows[0].req.cwnd_pkts > 312);
	path_rounds(&path, 1, 10);
	tap_ok(path.queue < 2 * TARGET + path.base / 2 +
	       ASK_PKTS * path.pkt_us100 / 100);
	tap_eq(flows[0].req.cc_start, 0);
}

/* The link is always busy, and packets wait for about as long as they may. */
static void meets_the_target(void)
{
	static const struct path paths[] = {
		{ .base = 20, .pkt_us100 = 320 },
		{ .base = 100, .pkt_us100 = 320 },
		{ .base = 1000, .pkt_us100 = 320 },
		{ .base = 20, .pkt_us100 = 32 },
		{ .base = 1000, .pkt_us100 = 80 },
		{ .base = 50, .pkt_us100 = 3200 },
	};
	struct path path;
	u32 i, mean, clump;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		path = paths[i];
		flows_start(1);
		path_rounds(&path, 1, 400);
		mean = path_mean(&path, 1, 1000);
		/* What is sent at once, and a few packets on slow links. */
		clump = min(flows[0].req.cwnd_pkts / 4, ASK_PKTS) / 2 + 4;
		tap_ok(mean > TARGET / 4 && mean < 2 * TARGET + path.base / 2 +
		       clump * path.pkt_us100 / 100);
		tap_eq(path.idle, 0);
	}
}

/* Whoever came first has no advantage after a while. */
static void windows_become_equal(void)
{
	struct path path = { .base = 100, .pkt_us100 = 320 };
	u32 i;

	flows_start(4);
	for (i = 0; i < 4; i++) {
		flows[i].req.cc_start = 0;
		flows[i].req.cwnd_pkts = i ? 2 : 60;
	}
	tap_ok(fairness(4) < 50);
	path_rounds(&path, 4, 500);
	tap_ok(fairness(4) >= 95);
}

/* 16 flows on 1 Gbit/s: each has less than it takes for the target alone. */
static void many_flows_share_a_slow_link(void)
{
	struct path path = { .base = 50, .pkt_us100 = 3200 };
	u32 mean;

	flows_start(16);
	path_rounds(&path, 16, 10000);
	mean = path_mean(&path, 16, 500);
	tap_ok(mean < 16 * 6 * 32);
	tap_eq(path.idle, 0);
	tap_ok(fairness(16) >= 95);
}

/* Hosts are busy for a moment now and then. */
static void one_late_answer_is_nothing(void)
{
	struct path path = { .base = 100, .pkt_us100 = 32 };
	struct hrp_qp *qp = &flows[0];
	u32 cwnd;

	flows_start(1);
	path_rounds(&path, 1, 100);
	hrp_cc_measured(qp, 110, true, now_ns);
	cwnd = qp->req.cwnd_pkts;
	hrp_cc_measured(qp, 5000, true, now_ns);
	tap_eq(qp->req.cwnd_pkts, cwnd);
	hrp_cc_measured(qp, 110, true, now_ns);
	hrp_cc_measured(qp, 5000, true, now_ns);
	tap_ok(qp->req.cwnd_pkts >= cwnd);
	/* Two are something. */
	cwnd = qp->req.cwnd_pkts;
	hrp_cc_measured(qp, 5000, true, now_ns);
	tap_ok(qp->req.cwnd_pkts <= cwnd / 2 + 2);
}

/* Who is not held back by the window learns nothing about it. */
static void idle_windows_do_not_grow(void)
{
	struct path path = { .base = 100, .pkt_us100 = 32 };

	flows_start(1);
	flows[0].req.sq.head = 0;
	path_rounds(&path, 1, 100);
	tap_eq(flows[0].req.cwnd_pkts, START);
	flows[0].req.sq.head = 1;
	path_rounds(&path, 1, 10);
	tap_ok(flows[0].req.cwnd_pkts > START);
}

/* A route over another city: what was a queue is the path now. */
static void longer_paths_are_learnt(void)
{
	struct path path = { .base = 100, .pkt_us100 = 320 };
	u32 cwnd;

	flows_start(1);
	path_rounds(&path, 1, 500);
	cwnd = flows[0].req.cwnd_pkts;
	path.base = 2000;
	path_rounds(&path, 1, 50);
	tap_ok(flows[0].req.cwnd_pkts < cwnd);
	/* Two periods of 4.3 s, and some time to grow. */
	path_rounds(&path, 1, 2 * 4300 / 2 + 200);
	tap_ok(flows[0].base >= 2000 && flows[0].base < 2200);
	tap_ok(flows[0].req.cwnd_pkts > 600);
	/* And back, which shows when the window becomes small. */
	path.base = 100;
	path_rounds(&path, 1, 4 * 4300 / 2);
	tap_ok(flows[0].base >= 100 && flows[0].base < 400);
}

/*
 * A flow that comes late takes the queue for the path, so it would take more
 * than its share for ever.
 */
static void late_flows_do_not_win(void)
{
	struct path path = { .base = 100, .pkt_us100 = 320 };
	u32 i;

	flows_start(4);
	path_rounds(&path, 3, 1000);
	flow_start(&flows[3]);
	/* 30 s; a round takes 0.2 ms. */
	path_rounds(&path, 4, 150000);
	for (i = 0; i < 4; i++)
		tap_ok(flows[i].base < 100 + 2 * TARGET);
	tap_ok(fairness(4) >= 90);
}

/* Whatever is measured. */
static void windows_have_limits(void)
{
	struct hrp_qp *qp = &flows[0];
	u64 random = 1;
	u32 i, bad = 0;

	flows_start(1);
	for (i = 0; i < 100000; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		now_ns += random >> 40;
		hrp_cc_measured(qp, 1 + (random >> 33) % (1u << (i % 25)),
				random >> 32 & 1, now_ns);
		bad += !qp->req.cwnd_pkts || qp->req.cwnd_pkts > WINDOW;
		bad += qp->base > qp->base_next && qp->base_next;
	}
	tap_eq(bad, 0);
}

/* Longer than can be counted: only losses control. */
static void satellites_are_not_slowed_down(void)
{
	u32 i;

	flows_start(1);
	for (i = 0; i < 100; i++)
		hrp_cc_measured(&flows[0], 1u << 20, true, now_ns);
	tap_eq(flows[0].req.cwnd_pkts, WINDOW << 4);
}

/* The longer a round trip without queues, the more packets it holds. */
static void longer_paths_hold_more(void)
{
	static const struct {
		u32 us, doublings;
	} paths[] = {
		{ 10, 0 }, { 900, 0 }, { 1100, 1 }, { 3000, 2 }, { 7000, 3 },
		{ 20000, 4 }, { 60000, 4 },
	};
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		flows_start(1);
		for (k = 0; k < 12; k++) {
			flow_acked(&flows[0], 0);
			hrp_cc_measured(&flows[0], paths[i].us, true, now_ns);
		}
		tap_eq(flows[0].req.cwnd_pkts, WINDOW << paths[i].doublings);
	}
	/* A shorter path was found: so is the window. */
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	tap_eq(flows[0].req.cwnd_pkts, WINDOW);
	/* Another control begins anew. */
	hrp_cc_measured(&flows[0], 60000, true, now_ns);
	flows[0].req.cc = HRP_CC_NONE;
	hrp_cc_start(&flows[0]);
	tap_eq(hrp_req_window_max(&flows[0].req), WINDOW);
}

/* So they do for controls that do not measure delay. */
static void longer_paths_hold_more_without_control(void)
{
	struct hrp_req *req = &flows[0].req;
	u32 i;

	flows_start(1);
	req->cc = HRP_CC_NONE;
	hrp_cc_start(&flows[0]);
	hrp_cc_passed(&flows[0], 60000);
	tap_eq(req->cwnd_pkts, WINDOW);
	for (i = 0; i < 5; i++)
		hrp_cc_acked(&flows[0], req->cwnd_pkts, now_ns);
	tap_eq(req->cwnd_pkts, 16 * WINDOW);
	/* A shorter path was found; later ones tell nothing. */
	hrp_cc_passed(&flows[0], 1100);
	tap_eq(req->cwnd_pkts, 2 * WINDOW);
	hrp_cc_passed(&flows[0], 60000);
	tap_eq(hrp_req_window_max(req), 2 * WINDOW);
	/* After a loss it grows by a 64th. */
	hrp_req_shrink(req, WINDOW);
	hrp_cc_acked(&flows[0], WINDOW, now_ns);
	tap_eq(req->cwnd_pkts, WINDOW + WINDOW / 64);
}

/* That of an answer to an earlier copy is too short. */
static void resent_packets_teach_no_base(void)
{
	struct path path = { .base = 100, .pkt_us100 = 320 };
	u32 base;

	flows_start(1);
	path_rounds(&path, 1, 100);
	base = flows[0].base;
	hrp_cc_measured(&flows[0], 10, false, now_ns);
	tap_eq(flows[0].base, base);
	/* But they tell of queues. */
	hrp_cc_measured(&flows[0], 1000, false, now_ns);
	tap_eq(flows[0].req.cc_queued, 1);
}

/* A CNP counts once in a round trip; there is no control without window. */
static void marks_shrink_the_window(void)
{
	struct path path = { .base = 1000, .pkt_us100 = 32 };
	struct hrp_req *req = &flows[0].req;
	u32 i, cwnd;

	flows_start(1);
	path_rounds(&path, 1, 3);
	tap_eq(req->cc_start, 1);
	cwnd = req->cwnd_pkts;
	for (i = 0; i < 10; i++)
		hrp_cc_notified(&flows[0], 0);
	tap_ok(req->cwnd_pkts >= cwnd * 7 / 8 && req->cwnd_pkts < cwnd);
	tap_eq(req->cc_start, 0);
	/* It does not grow in that round trip, but later. */
	cwnd = req->cwnd_pkts;
	path_round(&path, 1);
	tap_eq(req->cwnd_pkts, cwnd);
	path_round(&path, 1);
	tap_ok(req->cwnd_pkts > cwnd);
	for (i = 0; i < 1000; i++) {
		hrp_cc_notified(&flows[0], 0);
		path_round(&path, 1);
	}
	tap_eq(req->cwnd_pkts, 1);
	tap_ok(!hrp_cc_none.cnp);
}

static void local_delivery_is_not_controlled(void)
{
	flows_start(1);
	hrp_cc_release(&flows[0]);
	tap_eq(flows[0].req.cwnd_pkts, WINDOW);
	hrp_cc_measured(&flows[0], 5000, true, now_ns);
	hrp_cc_measured(&flows[0], 5000, true, now_ns);
	tap_eq(flows[0].req.cwnd_pkts, WINDOW);
}

/* A long message to a peer that keeps packets; round trips of 100 us so far. */
static void rig_begin_kept(void)
{
	struct hrp_req *req = &rig.qp.req;

	rig_begin(HRP_TYPE_RC, 0);
	rig.now_ns = 1000000000;
	req->timeout = 16;
	req->window_pkts = WINDOW;
	req->cc = HRP_CC_DELAY;
	hrp_req_start(&rig.qp, 0);
	rig_post_op(HROCE_WR_WRITE, 1u << 30);
	tap_eq(rig_drain(), START);
	rig.now_ns += 100000;
	rig_ack(15, ACK);
	rig_drain();
	rig_ack(20, NAK);
	rig_drain();
	rig_ack(req->psn_max - 1, ACK);
	req->cwnd_pkts = 400;
	rig_drain();
}

/* Gaps of one packet, @dist apart, each filled @rtt_ns after it was reported. */
static void rig_gaps(u32 nr, u32 dist, u64 rtt_ns)
{
	u32 psn = rig.qp.req.psn_una;

	while (nr--) {
		psn += dist;
		rig.now_ns += rtt_ns;
		rig_ack(psn, NAK);
		rig_drain();
		rig.now_ns += rtt_ns;
		rig_ack(psn + dist - 1, ACK);
		rig_drain();
	}
}

static void losses_without_a_queue_cost_nothing(void)
{
	rig_begin_kept();
	rig_gaps(50, 70, 110000);
	tap_ok(rig.qp.req.cwnd_pkts >= 400);
	rig_end();
}

static void losses_in_a_queue_shrink_the_window(void)
{
	rig_begin_kept();
	rig_gaps(50, 70, 2000000);
	tap_ok(rig.qp.req.cwnd_pkts < 100);
	rig_end();
}

/* There is no queue any more: a smaller window would not avoid them. */
static void losses_behind_a_queue_cost_nothing(void)
{
	rig_begin_kept();
	/* As gaps in a queue leave it. */
	rig.qp.req.sparse = 0;
	rig_gaps(4, 70, 110000);
	tap_ok(rig.qp.req.sparse < 5);
	tap_ok(rig.qp.req.cwnd_pkts >= 400);
	rig_end();
}

static void one_late_answer_is_no_queue(void)
{
	struct hrp_req *req = &flows[0].req;

	flows_start(1);
	hrp_cc_measured(&flows[0], 1000, true, now_ns);
	hrp_cc_measured(&flows[0], 1500, true, now_ns);
	tap_ok(!req->cc_queued);
	hrp_cc_measured(&flows[0], 1000, true, now_ns);
	hrp_cc_measured(&flows[0], 1500, true, now_ns);
	tap_ok(!req->cc_queued);
	hrp_cc_measured(&flows[0], 1500, true, now_ns);
	tap_ok(req->cc_queued);
}

/* A queue that is too short to be noticed. */
static void many_losses_shrink_the_window(void)
{
	rig_begin_kept();
	rig_gaps(2000, 8, 110000);
	tap_ok(rig.qp.req.cwnd_pkts < 100);
	rig_end();
}

static void open_sack(struct hrp_req *req)
{
	static u64 room[256];

	tap_ok(hrp_sack_size(HRP_SACK_WORDS_MIN) <= sizeof(room));
	hrp_sack_open(req, (void *)room, HRP_SACK_WORDS_MIN);
}

/* Nothing waits, and there are too many gaps: the window is 400 packets. */
static void begin_puzzled(void)
{
	struct hrp_req *req = &flows[0].req;

	flows_start(1);
	open_sack(req);
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	req->cc_start = 0;
	req->cwnd_pkts = 400;
	req->sparse = 0;
	hrp_cc_measured(&flows[0], 100, true, now_ns);
}

/* One of 20 packets is lost, whatever the window. */
static void lose_a_share(struct hrp_req *req)
{
	u32 i;

	for (i = 0; i < 64; i++) {
		req->psn_max += 20;
		hrp_damage_lost(req, req->psn_max - 1, 1);
		req->psn_una = req->psn_max;
	}
}

static u32 near_pkts(const struct hrp_req *req)
{
	return hrp_cc_of(req->cc)->near_pkts(req);
}

/* For so long that a test ends. */
static void lose_nothing(struct hrp_req *req)
{
	req->psn_una += 640;
	req->psn_max = req->psn_una;
	hrp_cc_measured(&flows[0], 100, true, now_ns);
}

/* The window stays small until it is known whether that avoids them. */
static void many_losses_are_tested(void)
{
	struct hrp_req *req = &flows[0].req;

	begin_puzzled();
	tap_eq(req->cwnd_pkts, 100);
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	tap_eq(req->cwnd_pkts, 100);
	/* It does: the window grows again, and is not tested again so soon. */
	lose_nothing(req);
	tap_ok(req->cwnd_pkts > 100 && req->cwnd_pkts < 110);
	tap_eq(near_pkts(req), 32);

	/* It does not. */
	begin_puzzled();
	lose_a_share(req);
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	tap_ok(req->cwnd_pkts > 100);
	tap_eq(near_pkts(req), 6);
	req->cc_queued = 1;
	tap_eq(near_pkts(req), 6);
	hrp_cc_start(&flows[0]);
	tap_eq(near_pkts(req), 32);
}

/* In each period, with a quarter of the window. */
static void damage_is_tested_again(void)
{
	struct hrp_req *req = &flows[0].req;

	begin_puzzled();
	lose_a_share(req);
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	req->cwnd_pkts = 400;
	now_ns += 1ull << 32;
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	tap_eq(req->cwnd_pkts, 100);
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	tap_eq(req->cwnd_pkts, 100);
	/* It is gone. */
	lose_nothing(req);
	tap_ok(req->cwnd_pkts > 100);
	tap_eq(near_pkts(req), 32);
	/* Then there is nothing to test. */
	req->cwnd_pkts = 400;
	now_ns += 1ull << 32;
	hrp_cc_measured(&flows[0], 100, true, now_ns);
	tap_ok(!req->sack->damage.tests);
	tap_ok(req->cwnd_pkts > 100);
}

/* Where delay says nothing, or tells of a queue. */
static void queues_are_not_tested(void)
{
	struct hrp_req *req = &flows[0].req;
	u32 i;

	begin_puzzled();
	tap_ok(req->sack->damage.tests);
	for (i = 0; i < 2; i++)
		hrp_cc_measured(&flows[0], 290, true, now_ns);
	tap_ok(!req->sack->damage.tests);

	flows_start(1);
	open_sack(req);
	req->sparse = 0;
	hrp_cc_measured(&flows[0], 1u << 20, true, now_ns);
	tap_ok(!req->sack->damage.tests);
}

/* All responses to a READ that are due. */
static void rig_answer_reads(void)
{
	struct hrp_req *req = &rig.qp.req;
	const struct hrp_wqe *w = hrp_sq_wqe(&req->sq, req->sq.tail);
	u32 end = req->psn_max;

	while (req->psn_una != end) {
		u32 chunk = 1u << w->chunk_shift;
		u32 pos = (req->psn_una - w->first_psn) % chunk;
		u8 op = HRP_OP_READ_RESP_MIDDLE;

		if (!pos)
			op = HRP_OP_READ_RESP_FIRST;
		else if (pos == chunk - 1)
			op = HRP_OP_READ_RESP_LAST;
		tap_eq(rig_read_resp(op, req->psn_una, 1024), HRP_RX_ACCEPT);
	}
}

/* One request for a small window is much in flight, and is measured. */
static void windows_of_reads_grow(void)
{
	struct hrp_req *req = &rig.qp.req;
	u32 n;

	rig_begin(HRP_TYPE_RC, 0);
	req->timeout = 16;
	req->window_pkts = WINDOW;
	req->max_rd_atomic = 16;
	req->cc = HRP_CC_DELAY;
	hrp_req_start(&rig.qp, 0);
	rig_post_op(HROCE_WR_READ, 1u << 30);
	for (n = 0; n < 100; n++) {
		/* After many losses. */
		if (n == 3) {
			req->cwnd_pkts = 16;
			req->cc_start = 0;
		}
		rig_drain();
		rig.now_ns += 110000;
		rig_answer_reads();
	}
	tap_ok(req->cwnd_pkts > 400);
	rig_end();
}

/* Nothing is in flight whenever the window opens, and still it is measured. */
static void windows_acknowledged_at_once_shrink(void)
{
	struct hrp_req *req = &rig.qp.req;
	u64 rtt_ns = 110000;
	u32 n;

	rig_begin(HRP_TYPE_RC, 0);
	req->timeout = 16;
	req->window_pkts = WINDOW;
	req->burst_pkts = START;
	req->cc = HRP_CC_DELAY;
	hrp_req_start(&rig.qp, 0);
	rig_post_op(HROCE_WR_WRITE, 1u << 30);
	for (n = 0; n < 40; n++) {
		if (n == 3) {
			req->cwnd_pkts = START;
			req->cc_start = 0;
			rtt_ns = 5000000;
		}
		rig_drain();
		rig.now_ns += rtt_ns;
		rig_ack(req->psn_max - 1, ACK);
	}
	tap_ok(req->cwnd_pkts <= 2);
	rig_end();
}

/* The window after a peer that keeps nothing lost the packet @psn of 400. */
static u32 rig_go_back(u32 psn, bool queued)
{
	u32 cwnd;

	rig_begin_kept();
	rig.qp.req.keeps = 0;
	rig.qp.req.cc_queued = queued;
	rig.qp.req.rtx_psn = rig.qp.req.psn_una;
	rig_ack(rig.qp.req.psn_una + psn, NAK);
	tap_ok(rig.qp.req.went_back);
	cwnd = rig.qp.req.cwnd_pkts;
	rig_end();
	return cwnd;
}

/* Without a queue, half of what is sent is new, or more. */
static void plain_peers_get_as_much_as_arrives(void)
{
	tap_eq(rig_go_back(50, false), 175);
	tap_eq(rig_go_back(180, false), 180);
	tap_eq(rig_go_back(300, false), 100);
	tap_eq(rig_go_back(180, true), 110);
}

int main(void)
{
	tap_plan(26);
	tap_run(begins_fast);
	tap_run(meets_the_target);
	tap_run(windows_become_equal);
	tap_run(many_flows_share_a_slow_link);
	tap_run(one_late_answer_is_nothing);
	tap_run(idle_windows_do_not_grow);
	tap_run(longer_paths_are_learnt);
	tap_run(late_flows_do_not_win);
	tap_run(windows_have_limits);
	tap_run(satellites_are_not_slowed_down);
	tap_run(longer_paths_hold_more);
	tap_run(longer_paths_hold_more_without_control);
	tap_run(resent_packets_teach_no_base);
	tap_run(marks_shrink_the_window);
	tap_run(local_delivery_is_not_controlled);
	tap_run(losses_without_a_queue_cost_nothing);
	tap_run(losses_in_a_queue_shrink_the_window);
	tap_run(losses_behind_a_queue_cost_nothing);
	tap_run(one_late_answer_is_no_queue);
	tap_run(many_losses_shrink_the_window);
	tap_run(many_losses_are_tested);
	tap_run(damage_is_tested_again);
	tap_run(queues_are_not_tested);
	tap_run(windows_of_reads_grow);
	tap_run(windows_acknowledged_at_once_shrink);
	tap_run(plain_peers_get_as_much_as_arrives);
	return tap_exit();
}

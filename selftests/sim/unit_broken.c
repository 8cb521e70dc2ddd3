// SPDX-License-Identifier: GPL-2.0
/* Requester: several paths, of which one is broken. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "proto/req_priv.h"
#include "proto/spray.h"
#include "rig.h"
#include "sprayed.h"
#include "tap.h"

static void silence_replaces_the_path(void)
{
	u32 pkts[HRP_SPRAY_PATHS], path;

	begin_sprayed(0, 2 * RUN, 4);
	fill(pkts);
	rig_ack(RUN - 1, ACK);
	path = path_of(RUN);
	rig.now_ns = hrp_req_deadline(req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(hrp_spray_evict(req), (int)path);
	tap_eq(hrp_spray_evict(req), -1);
	tap_ok(send_one() != (int)path);
	tap_eq(rig.burst.first.psn, RUN);
	rig_end();
}

/* All of a run is lost, and what was sent after it has arrived: after @ns. */
static void lose_run(u32 psn, u32 end, u64 ns)
{
	u32 bit, nr = end - (psn & ~63u);

	for (bit = psn + RUN - (psn & ~63u); bit < nr; bit++)
		map[bit / 8] |= 1u << bit % 8;
	tap_eq(rig_sack(psn, map, (nr + 63) / 64 * 8), HRP_RX_ACCEPT);
	memset(map, 0, sizeof(map));
	while (send_one() >= 0)
		tap_ok(hrp_psn_diff(rig.burst.first.psn, end) >= 0);
	/* Nothing else comes: it is not waited for an answer as well. */
	tap_eq(hrp_req_deadline(req), rig.now_ns + ns);
	rig.now_ns += ns;
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(rig.counts.v[HROCE_EV_RTO_EXPIRED], 0);
}

/* However small the window is. */
static void lost_run_replaces_the_path(void)
{
	u32 pkts[HRP_SPRAY_PATHS], path, wait = 200;

	begin_sprayed(0, 4 * RUN, 4);
	req->srtt8 = 60 << 3;
	req->sack->late.wait = wait;
	fill(pkts);
	path = path_of(RUN);
	rig_ack(RUN - 1, ACK);
	/* So many that nothing can be told of ways. */
	req->sack->spray->end = 0x100000;
	lose_run(RUN, 4 * RUN, (wait + 1) * 1024);
	tap_eq(hrp_spray_evict(req), (int)path);
	tap_eq(hrp_spray_evict(req), -1);
	/* It goes by one that delivers, and not by another one that is new. */
	req->sack->spray->proved = 0;
	tap_ok(BIT(send_one()) & (BIT(path_of(2 * RUN)) | BIT(path_of(3 * RUN))));
	tap_eq(rig.burst.first.psn, RUN);
	rig_end();

	/* A few packets tell nothing of it, nor do those that are not waited for. */
	begin_sprayed(0, 4 * RUN, 4);
	hrp_spray_lost(req, 0, BLOCK - 1);
	tap_eq(hrp_spray_evict(req), -1);
	req->sack->late.wait = 0;
	hrp_spray_lost(req, 0, RUN);
	tap_eq(hrp_spray_evict(req), -1);
	rig_end();
}

/* The last run has taken the broken path, too: nothing arrives behind it. */
static void end_of_lost_path_is_resent(void)
{
	u32 pkts[HRP_SPRAY_PATHS], wait = 200;

	begin_sprayed(0, 4 * RUN, 2);
	req->srtt8 = 60 << 3;
	req->sack->late.wait = wait;
	fill(pkts);
	tap_eq(path_of(3 * RUN), path_of(RUN));
	tap_ok(path_of(2 * RUN) != path_of(RUN));
	rig_ack(RUN - 1, ACK);
	lose_run(RUN, 3 * RUN, (wait + 1) * 1024);
	tap_ok(send_one() >= 0);
	tap_eq(rig.burst.first.psn, RUN);
	while (send_one() >= 0)
		tap_ok(hrp_psn_diff(rig.burst.first.psn, 3 * RUN) < 0 ||
		       hrp_psn_diff(rig.burst.first.psn, 4 * RUN) >= 0);
	tap_eq(hrp_req_deadline(req), rig.now_ns + (wait + 1) * 1024);
	rig.now_ns = hrp_req_deadline(req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_ok(send_one() >= 0);
	tap_eq(rig.burst.first.psn, 3 * RUN);
	tap_eq(rig.counts.v[HROCE_EV_RTO_EXPIRED], 0);
	rig_end();
}

/* The peer was asked by the first path, and has answered: others may be broken. */
static void first_flight_is_resent_by_what_answered(void)
{
	u64 sent_ns;
	u32 n;

	begin(0, 40, 4);
	sent_ns = rig.now_ns;
	rig_drain();
	rig.now_ns = hrp_req_deadline(req);
	tap_eq(rig.now_ns - sent_ns, 128 * 1024);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_ok(rig_pending(HRP_PENDING_REHASH));
	rig_drain();
	tap_eq(questions(), 1);
	agree();
	for (n = 0; n < 2; n++) {
		rig_ack(n, ACK);
		tap_eq(send_one(), 0);
		tap_eq(rig.burst.first.psn, n + 1);
	}
	rig_end();
}

/* What is not known to deliver is taken if the others are not free. */
static void path_that_delivers_is_preferred(void)
{
	u32 pkts[HRP_SPRAY_PATHS], psn;

	begin_sprayed(0, 4 * RUN, 4);
	fill(pkts);
	psn = req->psn_max;
	rig_ack(psn - 1, ACK);
	req->sack->spray->proved = BIT(1) | BIT(2);
	req->sack->spray->since[0] = psn;
	req->sack->spray->since[3] = psn;
	tap_ok(BIT(send_one()) & (BIT(1) | BIT(2)));
	tap_ok(BIT(send_one()) & (BIT(1) | BIT(2)));
	tap_ok(BIT(send_one()) & (BIT(0) | BIT(3)));
	rig_end();
}

/*
 * The path breaks before the peer is asked, or the question is lost: the first
 * probe takes another one, and soon, and others follow as fast. A peer that does not
 * answer gets them later.
 */
static void silence_before_the_peer_agrees(void)
{
	u32 asks, i;

	for (asks = 0; asks <= HRP_SACK_ASKS; asks += HRP_SACK_ASKS) {
		begin(0, 40, 4);
		req->asks = asks;
		pass_rtt();
		rig_drain();
		tap_eq(hrp_req_deadline(req) < rig.now_ns + 1000000, !!asks);
		rig.now_ns = hrp_req_deadline(req);
		tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
		tap_ok(rig_pending(HRP_PENDING_REHASH));
		rig_drain();
		tap_eq(questions(), !!asks);
		for (i = 0; i < 2; i++) {
			rig_drain();
			tap_eq(hrp_req_deadline(req), rig.now_ns +
						      (asks ? 1000000 :
							      1000000 << i));
			rig.now_ns = hrp_req_deadline(req);
			tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
		}
		rig_end();
	}
}

int main(void)
{
	tap_plan(6);
	tap_run(silence_replaces_the_path);
	tap_run(lost_run_replaces_the_path);
	tap_run(end_of_lost_path_is_resent);
	tap_run(first_flight_is_resent_by_what_answered);
	tap_run(path_that_delivers_is_preferred);
	tap_run(silence_before_the_peer_agrees);
	return tap_exit();
}

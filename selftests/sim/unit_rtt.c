// SPDX-License-Identifier: GPL-2.0
/* Round-trip time, retransmission timeout, probes. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "proto/rtt.h"
#include "rig.h"
#include "tap.h"

#define ACK		HRP_SYN_CREDIT_INVALID
#define UNIT_NS		1024	/* of measured times */
#define FIRST_NS	(1024ull << 10)
#define RTO_MIN_NS	1000000
#define PROBE_SLACK_NS	250000
#define LONG		16	/* code: 268 ms */
#define LONG_NS		(4096ull << LONG)

/* A queue pair whose local ACK timeout is long. */
static void begin(u32 psn)
{
	rig_begin(HRP_TYPE_RC, psn);
	rig.qp.req.timeout = LONG;
}

/* A message of one packet, acknowledged after @units. */
static void round_trip(u32 units)
{
	u32 psn = rig.qp.req.psn;

	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	rig.now_ns += (u64)units * UNIT_NS;
	rig_ack(psn, ACK);
	rig_expect_cqe(rig.seen_cqes, HROCE_WC_SUCCESS);
}

/* The same as long as it takes to know the time well. */
static void know(u32 units)
{
	u32 i;

	for (i = 0; i < 60; i++)
		round_trip(units);
}

/* The timer fires; returns the packets sent then. */
static u32 expire(void)
{
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
	return rig_drain();
}

/* RFC 6298, 2.2 and 2.3, with the values it gives for alpha and beta. */
static void smoothed_as_in_rfc_6298(void)
{
	static const u32 rtt[] = { 100, 100, 900, 20, 20, 5000, 1 };
	const struct hrp_req *req = &rig.qp.req;
	s64 srtt = 0, rttvar = 0, err;	/* in thousandths */
	u32 i;

	begin(0);
	tap_ok(!hrp_rtt_known(req));
	for (i = 0; i < ARRAY_SIZE(rtt); i++) {
		round_trip(rtt[i]);
		err = srtt - 1000 * (s64)rtt[i];
		if (err < 0)
			err = -err;
		rttvar = i ? (3 * rttvar + err) / 4 : 500 * rtt[i];
		srtt = i ? (7 * srtt + 1000 * rtt[i]) / 8 : 1000 * rtt[i];
		err = 125 * (s64)req->srtt8 - srtt;
		tap_ok(err > -3000 && err < 3000);
		err = 250 * (s64)req->rttvar4 - rttvar;
		tap_ok(err > -4000 && err < 4000);
	}
	rig_end();
}

/* Very long times, and clocks that go back a little. */
static void extreme_times(void)
{
	u32 i;

	begin(0);
	round_trip(0x7fffffff);
	tap_eq(rig.qp.req.srtt8, 8 << 23);
	for (i = 0; i < 100; i++)
		round_trip(0x7fffffff);
	tap_eq(rig.qp.req.srtt8, 8 << 23);
	rig_end();

	begin(0);
	rig.now_ns = 100 * UNIT_NS;
	round_trip(-2);
	tap_eq(rig.qp.req.srtt8, 8);
	know(0);
	tap_ok(hrp_rtt_known(&rig.qp.req));
	rig_end();
}

/* One sample for a flight of several packets that ask. */
static void one_sample_per_flight(void)
{
	begin(0xfffffe);
	rig_post_op(HROCE_WR_WRITE, 64 * 1024);
	tap_eq(rig_drain(), 64);
	tap_ok(rig.qp.req.timing);
	/* The first packet that asks is behind a quarter of the window. */
	tap_eq(rig.qp.req.mark_psn, 13);
	rig.now_ns += 10 * UNIT_NS;
	rig_ack(12, ACK);
	tap_ok(!hrp_rtt_known(&rig.qp.req));
	rig_ack(13, ACK);
	tap_eq(rig.qp.req.srtt8, 80);
	rig.now_ns += 10 * UNIT_NS;
	rig_ack(61, ACK);
	tap_eq(rig.qp.req.srtt8, 80);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

/* READs are answered, which is as good. */
static void reads_are_timed(void)
{
	begin(0);
	rig_post_op(HROCE_WR_READ, 3 * 1024);
	rig_drain();
	rig.now_ns += 7 * UNIT_NS;
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024);
	tap_eq(rig.qp.req.srtt8, 56);
	rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 1, 1024);
	rig_read_resp(HRP_OP_READ_RESP_LAST, 2, 1024);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

/* Karn's rule: it is not known which of the two was acknowledged. */
static void resent_packets_are_not_timed(void)
{
	begin(0);
	rig_post_op(HROCE_WR_WRITE, 1024);
	rig_drain();
	tap_eq(expire(), 1);
	rig.now_ns += FIRST_NS / 2;
	rig_ack(0, ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_ok(!hrp_rtt_known(&rig.qp.req));

	rig_post_op(HROCE_WR_WRITE, 10 * 1024);
	rig_drain();
	rig_ack(3, HRP_NAK_PSN_SEQ);
	tap_eq(rig_drain(), 1);
	tap_ok(!rig.qp.req.timing);
	rig_ack(3, ACK);
	tap_eq(rig_drain(), 7);
	tap_ok(!rig.qp.req.timing);
	rig_ack(10, ACK);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	tap_ok(!hrp_rtt_known(&rig.qp.req));

	/* An RNR NAK is not an acknowledgement either. */
	rig_post_op(HROCE_WR_SEND, 1);
	rig_drain();
	rig.now_ns += UNIT_NS;
	rig_ack(11, HRP_SYN_RNR | 1);
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	rig_drain();
	rig_ack(11, ACK);
	rig_expect_cqe(2, HROCE_WC_SUCCESS);
	tap_ok(!hrp_rtt_known(&rig.qp.req));
	round_trip(1);
	tap_ok(hrp_rtt_known(&rig.qp.req));
	rig_end();
}

/* The measured time decides when to resend, the attribute when to give up. */
static void attribute_gives_up(void)
{
	struct hrp_req *req = &rig.qp.req;
	u64 sent_ns;
	u32 i;

	begin(0);
	know(50);
	req->retry_cnt = 2;
	req->retries = 2;
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	tap_eq(rig_drain(), 40);
	sent_ns = rig.now_ns;
	for (i = 0; rig.qp.state == HRP_RTS && i < 1000; i++) {
		tap_ok(!hrp_req_gives_up(req, hrp_req_deadline(req) - 1));
		tap_ok(expire() <= 4);
	}
	rig_expect_cqe(60, HROCE_WC_RETRY_EXC_ERR);
	tap_eq(rig.cqes[60].vendor_err, HROCE_CAUSE_TIMEOUT);
	tap_eq(rig.counts.v[HROCE_EV_TIMEOUTS], 3);
	tap_ok(rig.now_ns >= sent_ns + 3 * LONG_NS);
	tap_ok(rig.now_ns < sent_ns + 4 * LONG_NS);
	tap_ok(i < 40);
	rig_end();
}

/* Doubled with each expiry, until a packet is timed again. */
static void timeout_doubles(void)
{
	struct hrp_req *req = &rig.qp.req;
	u64 was_ns, wait_ns = RTO_MIN_NS;
	u32 i;

	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 1024);
	rig_post_op(HROCE_WR_WRITE, 1024);
	rig_drain();
	tap_eq(expire(), 1);
	for (i = 0; i < 5; i++) {
		was_ns = rig.now_ns;
		tap_eq(expire(), 2);
		tap_eq(rig.now_ns - was_ns, wait_ns);
		wait_ns *= 2;
	}
	rig.now_ns += UNIT_NS;
	/* The timer may be armed for a later deadline. */
	tap_ok(rig_ack(60, ACK));
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	tap_ok(req->backoff);
	rig_drain();
	rig_ack(61, ACK);
	rig_expect_cqe(61, HROCE_WC_SUCCESS);
	tap_ok(req->backoff);
	round_trip(50);
	tap_eq(req->backoff, 0);
	rig_end();
}

/* A round trip of 200 ms, with a probe or without. */
static void far_away(void)
{
	u64 end_ns = rig.now_ns + 200000000;
	u32 psn = rig.qp.req.psn;

	rig_post_op(HROCE_WR_WRITE, 1024);
	rig_drain();
	while (hrp_req_deadline(&rig.qp.req) < end_ns)
		expire();
	rig.now_ns = end_ns;
	rig_ack(psn, ACK);
	rig_expect_cqe(rig.seen_cqes, HROCE_WC_SUCCESS);
}

/* From near to far: the measured time follows. */
static void path_grows_longer(void)
{
	u32 i;

	begin(0);
	know(50);
	for (i = 0; i < 5; i++)
		far_away();
	tap_ok(rig.qp.req.srtt8 / 8 > 10000);
	rig_end();
}

/* Before anything is known; a peer far away costs a few packets. */
static void first_timeout(void)
{
	static const u8 at_ms[] = { 1, 3, 7, 11, 15, 19, 35, 67, 131 };
	u64 sent_ns;
	u32 i;

	begin(0);
	rig_post_op(HROCE_WR_WRITE, 64 * 1024);
	tap_eq(rig_drain(), 64);
	sent_ns = rig.now_ns;
	for (i = 0; i < ARRAY_SIZE(at_ms); i++) {
		tap_eq(hrp_req_deadline(&rig.qp.req),
		       sent_ns + at_ms[i] * FIRST_NS);
		tap_eq(expire(), i < 6 ? 1 : 4);
	}
	rig_ack(63, ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig.qp.req.cwnd_pkts, rig.qp.req.window_pkts);
	/* Later flights take as long, and the second one is measured. */
	far_away();
	far_away();
	tap_ok(hrp_rtt_known(&rig.qp.req));
	rig_end();

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 1024);
	rig_drain();
	tap_eq(hrp_req_deadline(&rig.qp.req), rig.now_ns + RIG_TIMEOUT_NS);
	rig_end();
}

/* The first packets are lost: each is resent soon, not later than the one before. */
static void first_packets_are_lost(void)
{
	u32 i;

	begin(0);
	for (i = 0; i < 8; i++) {
		rig_post_op(HROCE_WR_SEND, 1);
		rig_drain();
		tap_ok(hrp_req_deadline(&rig.qp.req) <=
		       rig.now_ns + 2 * FIRST_NS);
		tap_eq(expire(), 1);
		rig.now_ns += 20 * UNIT_NS;
		rig_ack(i, ACK);
		rig_expect_cqe(i, HROCE_WC_SUCCESS);
		tap_ok(!hrp_rtt_known(&rig.qp.req));
	}
	round_trip(20);
	tap_ok(hrp_rtt_known(&rig.qp.req));
	rig_end();
}

/* However late the first answer is, one of the next five is measured. */
static void first_answer_is_late(void)
{
	u64 late_ns, sent_ns;
	u32 i;

	for (late_ns = 1000; late_ns < 200000000; late_ns += 100000) {
		begin(0);
		for (i = 0; i < 6; i++) {
			rig_post_op(HROCE_WR_SEND, 1);
			rig_drain();
			sent_ns = rig.now_ns;
			while (hrp_req_deadline(&rig.qp.req) < sent_ns + late_ns)
				expire();
			rig.now_ns = sent_ns + late_ns;
			rig_ack(i, ACK);
			rig_expect_cqe(i, HROCE_WC_SUCCESS);
		}
		tap_ok(hrp_rtt_known(&rig.qp.req));
		rig_end();
	}
}

/* Nothing follows that would tell of its loss. */
static void tail_is_probed_soon(void)
{
	const struct hrp_req *req = &rig.qp.req;
	u64 sent_ns;

	begin(0);
	know(50);
	sent_ns = rig.now_ns;
	rig_post_op(HROCE_WR_WRITE, 1024);
	tap_eq(rig_drain(), 1);
	tap_eq(hrp_req_deadline(req),
	       sent_ns + 2 * 50 * UNIT_NS + PROBE_SLACK_NS);
	tap_eq(expire(), 1);
	tap_eq(rig.counts.v[HROCE_EV_PROBES], 1);
	rig.now_ns += 50 * UNIT_NS;
	rig_ack(60, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);

	/* There is more to send: the timer does not fire more often. */
	sent_ns = rig.now_ns;
	rig_post_op(HROCE_WR_WRITE, 16 * 1024 * 1024);
	tap_ok(rig_drain() < 16 * 1024);
	tap_eq(hrp_req_deadline(req), sent_ns + RTO_MIN_NS);
	rig_end();
}

/* A probe in vain: packets behind it that are not resent tell the time. */
static void long_path_is_measured_at_once(void)
{
	const struct hrp_req *req = &rig.qp.req;

	begin(0);
	rig_post_op(HROCE_WR_WRITE, 64 * 1024);
	rig_drain();
	rig.now_ns += FIRST_NS;
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(rig_drain(), 1);
	rig.now_ns += FIRST_NS;
	rig_ack(63, ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(req->srtt8, 8 * 2 * FIRST_NS / UNIT_NS);
	rig_end();

	/* Those that are resent do not. */
	begin(0);
	rig_post_op(HROCE_WR_READ, 16 * 1024);
	rig_drain();
	rig.now_ns += FIRST_NS;
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(rig_drain(), 1);
	tap_ok(!req->timing);
	rig_end();
}

/* One packet asks; a peer that has all says so. */
static void probe_finds_a_lost_ack(void)
{
	struct hrp_req *req = &rig.qp.req;

	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	tap_eq(rig_drain(), 40);
	tap_eq(expire(), 1);
	tap_eq(rig.burst.first.psn, 60);
	tap_eq(rig.burst.first.opcode, HRP_OP_WRITE_FIRST);
	tap_ok(rig.burst.ackreq_last);
	tap_ok(rig.burst.copy);
	tap_eq(req->psn, req->psn_max);
	tap_eq(rig.counts.v[HROCE_EV_PROBES], 1);
	rig_ack(99, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
	tap_eq(req->cwnd_pkts, req->window_pkts);
	tap_eq(rig_drain(), 0);
	rig_end();
}

/* A single silence may be a lost packet. Each one after it asks for another way. */
static void silence_asks_for_another_way(void)
{
	u32 i;

	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	tap_eq(expire(), 1);
	tap_eq(rig_pending(HRP_PENDING_REHASH), 0);
	for (i = 1; i <= 3; i++) {
		tap_eq(expire(), 1);
		tap_eq(rig_pending(HRP_PENDING_REHASH), i);
	}
	rig_ack(60, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	round_trip(50);
	tap_eq(rig_pending(HRP_PENDING_REHASH), 3);
	/* Gaps are told by peers that can be reached. */
	rig_post_op(HROCE_WR_WRITE, 4 * 1024);
	rig_drain();
	rig_ack(63, HRP_NAK_PSN_SEQ);
	rig_drain();
	rig_ack(65, ACK);
	rig_expect_cqe(62, HROCE_WC_SUCCESS);
	tap_eq(rig_pending(HRP_PENDING_REHASH), 3);
	rig_end();
}

/* Of 40 packets the peer acknowledges the probe alone: the next one is sent. */
static void answer_a_probe(void)
{
	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	rig_drain();
	tap_eq(expire(), 1);
	rig_ack(60, ACK);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.first.psn, 61);
}

/* It takes the probe, but misses what follows. */
static void probe_finds_a_lost_flight(void)
{
	answer_a_probe();
	rig_ack(61, ACK);
	/* The peer may just be slow to acknowledge one by one. */
	tap_eq(rig.qp.req.cwnd_pkts, rig.qp.req.window_pkts);
	tap_eq(rig_drain(), 38);
	rig_end();
}

/* What was sent before the silence arrives after all: little is sent again. */
static void late_flight_is_not_sent_again(void)
{
	answer_a_probe();
	rig_ack(70, ACK);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.first.psn, 71);
	rig_ack(80, ACK);
	tap_eq(rig_drain(), 1);
	/* The rest is lost. */
	rig_ack(81, ACK);
	tap_eq(rig_drain(), 18);
	tap_eq(rig.qp.req.cwnd_pkts, rig.qp.req.window_pkts);
	rig_ack(99, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	rig_end();
}

/* After long silence, a window may be needed for an answer: the least, by now. */
static void long_silence_ends_with_a_flight(void)
{
	u32 i;

	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	rig_drain();
	for (i = 0; i < 5; i++)
		expire();
	rig_ack(70, ACK);
	tap_eq(rig_drain(), 16);
	rig_ack(99, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	rig_end();
}

/* The NAK was lost: the next one is heard. */
static void probe_draws_a_nak(void)
{
	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	rig_drain();
	tap_eq(expire(), 1);
	rig_ack(70, HRP_NAK_PSN_SEQ);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.first.psn, 70);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	rig_end();
}

/* Acknowledged before it was sent, or its memory is away. */
static void probe_is_not_needed(void)
{
	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	rig_drain();
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	rig_ack(64, ACK);
	tap_eq(rig_drain(), 0);
	rig_end();

	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	rig_drain();
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_eq(rig_drain(), 0);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	tap_eq(rig_drain(), 40);
	rig_ack(99, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	rig_end();
}

/* The head of a flight in several messages, some with an answer behind it. */
static void probe_before_reads(void)
{
	const struct hrp_req *req = &rig.qp.req;

	begin(0);
	know(50);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_READ, 5 * 1024);
	tap_eq(rig_drain(), 3);
	rig_ack(60, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	tap_eq(expire(), 1);
	tap_eq(rig.burst.first.psn, 61);
	tap_eq(rig.burst.first.opcode, HRP_OP_SEND_ONLY);
	tap_eq(req->nr_rd_atomic, 1);
	tap_eq(req->rd_pkts, 5);
	rig_ack(61, ACK);
	rig_expect_cqe(61, HROCE_WC_SUCCESS);
	/* Short answers are asked for at once, too. */
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.first.opcode, HRP_OP_READ_REQ);
	tap_eq(req->nr_rd_atomic, 1);
	tap_eq(req->rd_pkts, 5);
	rig_end();
}

/* The second packet in a row is lost: found by the next NAK. */
static void nak_after_a_round_trip(void)
{
	u32 i, sent = 0;

	begin(0);
	know(500);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	rig_drain();
	rig_ack(64, HRP_NAK_PSN_SEQ);
	tap_eq(rig_drain(), 1);
	rig.now_ns += 400 * UNIT_NS;
	rig_ack(64, HRP_NAK_PSN_SEQ);
	tap_eq(rig_drain(), 0);
	rig.now_ns += 200 * UNIT_NS;
	rig_ack(64, HRP_NAK_PSN_SEQ);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.first.psn, 64);
	/* The window shrinks once. */
	tap_eq(rig.qp.req.cwnd_pkts, 18);
	/* The path may have grown longer: each time it waits twice as long. */
	for (i = 0; i < 10000; i++) {
		rig.now_ns += UNIT_NS;
		rig_ack(64, HRP_NAK_PSN_SEQ);
		sent += rig_drain();
	}
	tap_eq(sent, 3);
	/* It goes on with one step less after each packet that arrives. */
	i = rig.qp.req.backoff;
	rig_ack(64, ACK);
	tap_eq(rig.qp.req.backoff, i - 1);
	rig_ack(65, ACK);
	tap_eq(rig.qp.req.backoff, i - 2);
	rig_ack(99, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	rig_end();
}

/* A peer that has nothing but NAKs is given up. */
static void naks_do_not_keep_alive(void)
{
	u64 sent_ns;
	u32 i;

	begin(0);
	know(50);
	rig.qp.req.retry_cnt = 1;
	rig.qp.req.retries = 1;
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	rig_drain();
	sent_ns = rig.now_ns;
	for (i = 0; rig.qp.state == HRP_RTS && i < 100000; i++) {
		rig.now_ns += 100 * UNIT_NS;
		if (rig.now_ns >= hrp_req_deadline(&rig.qp.req))
			hrp_req_timeout(&rig.qp, rig.now_ns);
		if (rig.qp.state == HRP_RTS)
			rig_ack(60, HRP_NAK_PSN_SEQ);
		rig_drain();
	}
	rig_expect_cqe(60, HROCE_WC_RETRY_EXC_ERR);
	tap_ok(rig.now_ns >= sent_ns + 2 * LONG_NS);
	tap_ok(rig.now_ns < sent_ns + 3 * LONG_NS);
	rig_end();
}

/* One of several atomics asks whether the peer is there. */
static void probe_of_one_atomic(void)
{
	begin(0);
	know(50);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	tap_eq(rig_drain(), 3);
	tap_eq(expire(), 1);
	tap_eq(rig.burst.first.psn, 60);
	rig_end();
}

/* With no retry at all, lost packets are resent. */
static void naks_cost_no_retry(void)
{
	u32 i;

	begin(0);
	rig.qp.req.retry_cnt = 0;
	rig.qp.req.retries = 0;
	know(50);
	rig_post_op(HROCE_WR_WRITE, 20 * 1024);
	rig_drain();
	for (i = 0; i < 10; i++) {
		rig_ack(61 + i, HRP_NAK_PSN_SEQ);
		tap_ok(rig_drain());
	}
	tap_eq(expire(), 1);
	rig_ack(79, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	rig_end();
}

/* Packets go missing again and again until the time is over. */
static void gap_that_stays_is_named(void)
{
	u32 i;

	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 20 * 1024);
	rig_drain();
	rig_ack(63, HRP_NAK_PSN_SEQ);
	for (i = 0; rig.qp.state == HRP_RTS && i < 1000; i++)
		expire();
	rig_expect_cqe(60, HROCE_WC_RETRY_EXC_ERR);
	tap_eq(rig.cqes[60].vendor_err, HROCE_CAUSE_LOSS);
	rig_end();
}

/* A peer that is not ready is no loss. */
static void rnr_leaves_all_alone(void)
{
	const struct hrp_req *req = &rig.qp.req;
	u32 srtt8, rttvar4;

	begin(0);
	know(50);
	srtt8 = req->srtt8;
	rttvar4 = req->rttvar4;
	rig_post_op(HROCE_WR_SEND, 20 * 1024);
	rig_drain();
	rig_ack(60, HRP_SYN_RNR | 14);
	tap_eq(expire(), 1);
	rig_ack(60, ACK);
	tap_eq(rig_drain(), 19);
	rig_ack(79, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	tap_eq(req->srtt8, srtt8);
	tap_eq(req->rttvar4, rttvar4);
	tap_eq(req->backoff, 0);
	tap_eq(req->cwnd_pkts, req->window_pkts);
	rig_end();
}

static u64 counted(enum hroce_stat first)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < 7; i++)
		sum += rig.counts.v[first + i];
	return sum;
}

/* Each limit is the last time of its counter. */
static void round_trips_are_counted(void)
{
	u32 i, limit = 64;

	begin(0);
	round_trip(1);
	for (i = 0; i < 6; i++) {
		round_trip(limit);
		round_trip(limit + 1);
		tap_eq(rig.counts.v[HROCE_EV_RTT_64US + i], 2);
		limit *= 4;
	}
	tap_eq(rig.counts.v[HROCE_EV_RTT_MORE], 1);
	round_trip(0x7fffffff);
	tap_eq(rig.counts.v[HROCE_EV_RTT_MORE], 2);
	tap_eq(counted(HROCE_EV_RTT_64US), 14);
	tap_eq(counted(HROCE_EV_RECOVERY_64US), 0);
	rig_end();
}

/* One for all gaps that are reported until all before the first NAK has come. */
static void recoveries_are_counted(void)
{
	begin(0);
	know(50);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	tap_eq(rig_drain(), 40);
	rig.now_ns += 50 * UNIT_NS;
	rig_ack(60 + 5, HRP_NAK_PSN_SEQ);
	rig_drain();
	rig.now_ns += 100 * UNIT_NS;
	/* The peer had kept the others. */
	rig_ack(60 + 20, HRP_NAK_PSN_SEQ);
	rig_drain();
	tap_eq(counted(HROCE_EV_RECOVERY_64US), 0);
	rig.now_ns += 100 * UNIT_NS;
	rig_ack(60 + 39, ACK);
	rig_expect_cqe(60, HROCE_WC_SUCCESS);
	tap_eq(rig.counts.v[HROCE_EV_RECOVERY_256US], 1);
	tap_eq(counted(HROCE_EV_RECOVERY_64US), 1);
	tap_eq(rig.qp.req.lost_at, 0);

	/* Silence: from the probe to the answer. */
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	tap_eq(expire(), 1);
	tap_eq(expire(), 1);
	rig.now_ns += 150 * UNIT_NS;
	rig_ack(100, ACK);
	rig_expect_cqe(61, HROCE_WC_SUCCESS);
	tap_eq(rig.counts.v[HROCE_EV_RECOVERY_4MS], 1);
	tap_eq(counted(HROCE_EV_RECOVERY_64US), 2);

	/* The time may be 0, and wraps. */
	rig.now_ns = (1ull << 39) - (1ull << 15);
	rig_post_op(HROCE_WR_WRITE, 1);
	rig_drain();
	rig_ack(101, HRP_NAK_PSN_SEQ);
	rig_drain();
	rig.now_ns += 2ull << 15;
	rig_ack(101, ACK);
	rig_expect_cqe(62, HROCE_WC_SUCCESS);
	tap_eq(rig.counts.v[HROCE_EV_RECOVERY_64US], 1);
	tap_eq(counted(HROCE_EV_RECOVERY_64US), 3);

	/* A receiver that is not ready has lost nothing. */
	rig_post_op(HROCE_WR_SEND, 1);
	rig_drain();
	rig_ack(102, HRP_SYN_RNR | 1);
	tap_eq(expire(), 1);
	rig_ack(102, ACK);
	rig_expect_cqe(63, HROCE_WC_SUCCESS);
	tap_eq(counted(HROCE_EV_RECOVERY_64US), 3);
	rig_end();
}

/* A path that loses some packets in a row does not lose each single one. */
static void silence_draws_a_few_packets(void)
{
	u32 i;

	begin(0);
	round_trip(100);
	rig_post_op(HROCE_WR_WRITE, 64 * 1024);
	tap_eq(rig_drain(), 64);
	for (i = 0; i < 6; i++) {
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
		tap_eq(rig_drain(), i ? 4 : 1);
	}
	/* The last of them has arrived. */
	rig_ack(2, HRP_NAK_PSN_SEQ);
	tap_eq(rig_drain(), 1);
	rig_ack(5, ACK);
	tap_ok(!rig.qp.req.went_back);
	rig_end();
}

/* One request has an answer of many packets, or of one: several are sent, too. */
static void long_silence_draws_a_few_requests(void)
{
	static const struct {
		u8 op;
		u32 len;
	} kinds[] = {
		{ HROCE_WR_READ, 16 * 1024 }, { HROCE_WR_FETCH_ADD, 8 },
	};
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(kinds); k++) {
		begin(0);
		round_trip(100);
		for (i = 0; i < 4; i++)
			rig_post_op(kinds[k].op, kinds[k].len);
		tap_eq(rig_drain(), 4);
		for (i = 0; i < 6; i++) {
			rig.now_ns = hrp_req_deadline(&rig.qp.req);
			tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
			tap_eq(rig_drain(), i < 3 ? 1 : 4);
		}
		rig_end();
	}
}

int main(void)
{
	tap_plan(31);
	tap_run(smoothed_as_in_rfc_6298);
	tap_run(extreme_times);
	tap_run(one_sample_per_flight);
	tap_run(reads_are_timed);
	tap_run(resent_packets_are_not_timed);
	tap_run(attribute_gives_up);
	tap_run(timeout_doubles);
	tap_run(path_grows_longer);
	tap_run(first_timeout);
	tap_run(first_packets_are_lost);
	tap_run(first_answer_is_late);
	tap_run(tail_is_probed_soon);
	tap_run(long_path_is_measured_at_once);
	tap_run(probe_finds_a_lost_ack);
	tap_run(silence_asks_for_another_way);
	tap_run(probe_finds_a_lost_flight);
	tap_run(late_flight_is_not_sent_again);
	tap_run(long_silence_ends_with_a_flight);
	tap_run(probe_draws_a_nak);
	tap_run(probe_is_not_needed);
	tap_run(probe_before_reads);
	tap_run(probe_of_one_atomic);
	tap_run(nak_after_a_round_trip);
	tap_run(naks_do_not_keep_alive);
	tap_run(naks_cost_no_retry);
	tap_run(gap_that_stays_is_named);
	tap_run(rnr_leaves_all_alone);
	tap_run(round_trips_are_counted);
	tap_run(recoveries_are_counted);
	tap_run(silence_draws_a_few_packets);
	tap_run(long_silence_draws_a_few_requests);
	return tap_exit();
}

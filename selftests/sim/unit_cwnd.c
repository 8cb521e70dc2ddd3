// SPDX-License-Identifier: GPL-2.0
/* Congestion window, and frames that the local stack has no room for. */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>
#include "rig.h"
#include "tap.h"

#define ACK		HRP_SYN_CREDIT_INVALID
#define WINDOW		64	/* that of the rig */
#define CWND_MIN	16
#define ROOM_NS		100000

/* Send until nothing more can be sent; returns the PSN behind. */
static u32 drain(void)
{
	rig_drain();
	return rig.qp.req.psn;
}

static void window_starts_full(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 200 * 1024);
	tap_eq(drain(), WINDOW);
	rig_ack(0, ACK);
	tap_eq(drain(), WINDOW + 1);
	rig_end();
}

/*
 * One acknowledgement is requested for a quarter of the window, however small the
 * pieces in which it opens, so that the next ones are larger.
 */
static void small_openings_grow(void)
{
	u32 asked = 0, psn;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 1024 * 1024);
	tap_eq(rig_drain(), 64);
	for (psn = 0; psn < 64; psn++) {
		rig_ack(psn, 0);
		tap_eq(rig_next(), HRP_NEXT_BURST);
		tap_eq(rig.burst.nr_pkts, 1);
		asked += rig.burst.ackreq_last;
	}
	tap_eq(asked, 4);
	rig_end();
}

/* What was to ask is not sent: the next burst asks. */
static void memory_fails_before_it_asks(void)
{
	struct hrp_req *req = &rig.qp.req;

	rig_begin(HRP_TYPE_RC, 0);
	req->burst_pkts = 8;
	rig_post_op(HROCE_WR_WRITE, 1024 * 1024);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(!rig.burst.ackreq_last);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	tap_ok(rig.burst.ackreq_last);
	hrp_req_sent(&rig.qp, &rig.burst, HRP_MEM_FAULT);
	tap_eq(req->psn, 8);
	tap_ok(hrp_req_mem_ready(&rig.qp, rig.now_ns, true));
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.nr_pkts, 8);
	tap_ok(rig.burst.ackreq_last);
	rig_end();
}

/* The sender asks before it pauses; no packet is sent again for that. */
static void pause_asks(void)
{
	struct hrp_req *req = &rig.qp.req;
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	for (i = 0; i < 3; i++)
		rig_post_op(HROCE_WR_WRITE, 64 - i);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(!rig.burst.ackreq_last);
	tap_eq(req->unasked_pkts, 2);
	hrp_req_ask(&rig.qp, &rig.burst);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(req->unasked_pkts, 0);
	tap_eq(hrp_req_next(&rig.qp, rig.now_ns, &rig.burst), HRP_NEXT_BURST);
	hrp_req_sent(&rig.qp, &rig.burst, HROCE_WC_LOC_PROT_ERR);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(rig_ack(1, 0));
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_expect_cqe(1, HROCE_WC_SUCCESS);
	rig_end();
}

/* One packet asks, so that what is useless by now can leave the path. */
static void nak_halves_the_window(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 200 * 1024);
	tap_eq(drain(), WINDOW);
	rig_ack(4, HRP_NAK_PSN_SEQ);
	tap_eq(drain(), 5);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(rig.burst.nr_pkts, 1);
	rig_ack(4, HRP_NAK_PSN_SEQ);
	tap_eq(drain(), 5);
	rig_ack(4, ACK);
	tap_eq(drain(), 5 + (WINDOW - 4) / 2);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	rig_end();
}

/* The first NAK costs one packet, the others cost nothing. */
static void ten_thousand_naks_resend_one_packet(void)
{
	u32 i, sent = 0;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.retry_cnt = 7;
	rig.qp.req.retries = 7;
	rig_post_op(HROCE_WR_WRITE, 200 * 1024);
	tap_eq(drain(), WINDOW);
	rig_ack(4, HRP_NAK_PSN_SEQ);
	tap_eq(drain(), 5);
	for (i = 0; i < 10000; i++) {
		rig_ack(4, HRP_NAK_PSN_SEQ);
		sent += drain() - 5;
	}
	tap_eq(sent, 0);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 1);
	tap_eq(rig.qp.req.retries, 7);
	rig_end();
}

/* What counts is what was in flight, not what could have been. */
static void few_in_flight_leave_a_small_window(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 40 * 1024);
	tap_eq(drain(), 40);
	rig_ack(0, HRP_NAK_PSN_SEQ);
	tap_eq(rig.qp.req.cwnd_pkts, 20);
	rig_end();
}

static void losses_leave_some_packets(void)
{
	unsigned int i;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.retry_cnt = 7;
	rig.qp.req.retries = 7;
	rig_post_op(HROCE_WR_WRITE, 200 * 1024);
	drain();
	for (i = 0; i < 7; i++) {
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
		tap_eq(drain(), 4);
	}
	rig_ack(0, ACK);
	tap_eq(drain(), 1 + CWND_MIN);
	rig_end();
}

/* Windows that are smaller anyway stay as they are. */
static void small_windows_stay(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.window_pkts = 8;
	hrp_req_start(&rig.qp, 0);
	rig_post_op(HROCE_WR_WRITE, 200 * 1024);
	tap_eq(drain(), 8);
	rig_ack(0, HRP_NAK_PSN_SEQ);
	tap_eq(drain(), 1);
	rig_ack(0, ACK);
	tap_eq(drain(), 9);
	rig_end();
}

/* By one packet in a round trip, and by a 64th of large windows. */
static void window_grows_back(void)
{
	struct hrp_req *req = &rig.qp.req;
	u32 i, psn;

	rig_begin(HRP_TYPE_RC, 0);
	req->window_pkts = 1024;
	hrp_req_start(&rig.qp, 0);
	rig_post_op(HROCE_WR_WRITE, 1u << 30);
	drain();
	rig_ack(0, HRP_NAK_PSN_SEQ);
	req->cwnd_pkts = 20;
	for (i = 0; i < 10; i++) {
		psn = drain();
		rig_ack(psn - 1, ACK);
		/* The first round trip is that of one packet. */
		tap_eq(req->cwnd_pkts, 20 + i);
	}
	req->cwnd_pkts = 640;
	req->cwnd_rest = 0;
	psn = drain();
	rig_ack(psn - 1, ACK);
	tap_eq(req->cwnd_pkts, 650);
	for (i = 0; i < 40; i++) {
		psn = drain();
		rig_ack(psn - 1, ACK);
	}
	tap_eq(req->cwnd_pkts, 1024);
	rig_end();
}

/*
 * Round trips that 240 packets take with a window of @parts / 256, in each of which
 * all in flight is acknowledged.
 */
static u32 round_trips(u32 parts)
{
	struct hrp_req *req = &rig.qp.req;
	u32 trips;

	rig_begin(HRP_TYPE_RC, 0);
	req->cc = HRP_CC_DELAY;
	hrp_req_start(&rig.qp, 0);
	rig_post_op(HROCE_WR_WRITE, 240 * 1024);
	for (trips = 0; req->psn_una != 240; trips++) {
		req->cwnd_pkts = parts >> 8;
		req->cwnd_rest = parts & 0xff;
		rig_ack(drain() - 1, ACK);
	}
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
	return trips;
}

/* Small windows are not the same from one packet up to two. */
static void small_windows_have_parts(void)
{
	tap_eq(round_trips(256), 240);
	tap_ok(round_trips(320) > 180);
	tap_ok(round_trips(320) < 230);
	tap_ok(round_trips(384) > 160);
	tap_ok(round_trips(384) < 200);
	tap_ok(round_trips(508) < 130);
	tap_eq(round_trips(512), 120);
	tap_eq(round_trips(16 * 256 + 255), 15);
}

/* With "none" the rest counts acknowledgements. */
static void other_windows_have_no_parts(void)
{
	struct hrp_req *req = &rig.qp.req;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 100 * 1024);
	req->cwnd_pkts = 2;
	req->cwnd_rest = 255;
	tap_eq(drain(), 2);
	rig_end();
}

/* The first @nr packets of a response. */
static void begin_answer(u32 psn, u32 nr)
{
	u32 i;

	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, psn, 1024), HRP_RX_ACCEPT);
	for (i = 1; i < nr; i++)
		tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, psn + i, 1024),
		       HRP_RX_ACCEPT);
}

/* A response of @nr packets, all that was asked for. */
static void answer(u32 psn, u32 nr)
{
	begin_answer(psn, nr - 1);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_LAST, psn + nr - 1, 1024),
	       HRP_RX_ACCEPT);
}

/* The next burst asks for @nr packets from @psn on. */
static void expect_request(u32 psn, u32 nr)
{
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.opcode, HRP_OP_READ_REQ);
	tap_eq(rig.burst.first.psn, psn);
	tap_eq(rig.burst.first.dmalen, nr * 1024);
	tap_eq(rig.burst.first.va, 0x200000 + psn * 1024);
}

/* The responses to READs are in flight, too. */
static void reads_ask_for_a_window(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.max_rd_atomic = 16;
	rig_post_op(HROCE_WR_READ, 40 * 1024);
	rig_post_op(HROCE_WR_READ, 24 * 1024);
	rig_post_op(HROCE_WR_READ, 1024);
	tap_eq(rig_drain(), 3 + 2);
	tap_eq(rig.qp.req.nr_rd_atomic, 5);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024), HRP_RX_ACCEPT);
	tap_eq(rig_drain(), 1);
	rig_end();
}

/* Each request takes a resource of the peer until its last packet is here. */
static void long_reads_ask_in_pieces(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 96 * 1024);
	for (i = 0; i < 4; i++)
		expect_request(16 * i, 16);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(rig.qp.req.nr_rd_atomic, 4);
	for (i = 0; i < 6; i++) {
		answer(16 * i, 16);
		if (i < 2)
			expect_request(64 + 16 * i, 16);
		tap_eq(rig.qp.req.nr_rd_atomic, i < 2 ? 4 : 5 - i);
	}
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	tap_eq(rig.qp.req.rd_pkts, 0);
	rig_end();

	/* One that may ask only once at a time asks for all. */
	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.max_rd_atomic = 1;
	rig_post_op(HROCE_WR_READ, 96 * 1024);
	expect_request(0, 64);
	answer(0, 64);
	expect_request(64, 32);
	answer(64, 32);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

/* A response that ends where no request ended, or goes on there. */
static void pieces_end_where_they_were_asked_to(void)
{
	static const u8 opcode[] = {
		HRP_OP_READ_RESP_LAST, HRP_OP_READ_RESP_MIDDLE,
	};
	u32 i, end;

	for (i = 0; i < ARRAY_SIZE(opcode); i++) {
		rig_begin(HRP_TYPE_RC, 0);
		rig_post_op(HROCE_WR_READ, 96 * 1024);
		rig_drain();
		end = i ? 15 : 14;
		rig_read_resp(HRP_OP_READ_RESP_FIRST, 0, 1024);
		rig.qp.req.psn_una = end;
		tap_eq(rig_read_resp(opcode[i], end, 1024), HRP_RX_FAIL);
		rig_expect_cqe(0, HROCE_WC_BAD_RESP_ERR);
		rig_end();
	}
}

/* What was asked for may be asked for again only in the same pieces. */
static void losses_make_pieces_smaller(void)
{
	struct hrp_req *req = &rig.qp.req;

	rig_begin(HRP_TYPE_RC, 0);
	req->window_pkts = 256;
	hrp_req_start(&rig.qp, 0);
	rig_post_op(HROCE_WR_READ, 512 * 1024);
	expect_request(0, 64);
	tap_eq(rig_drain(), 3);

	/* Packets 40 to 49 were lost. */
	begin_answer(0, 40);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 50, 1024),
	       HRP_RX_KEEP);
	tap_eq(req->cwnd_pkts, (256 - 40) / 2);
	expect_request(40, 24);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	answer(40, 24);
	expect_request(64, 64);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	answer(64, 64);
	expect_request(128, 64);
	answer(128, 64);
	expect_request(192, 64);
	answer(192, 64);

	/* No answer is outstanding: the rest is divided anew. */
	req->cwnd_pkts = 100;
	expect_request(256, 16);
	expect_request(272, 16);
	rig_end();
}

/* The frame that begins with @psn is refused. */
static void refuse(u32 psn)
{
	hrp_req_refused(&rig.qp, psn, rig.now_ns);
}

/* What is sent later takes no resource of the peer until then. */
static void refused_pieces_are_not_asked_for(void)
{
	const struct hrp_req *req = &rig.qp.req;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_READ, 96 * 1024);
	tap_eq(rig_drain(), 4);
	tap_eq(req->nr_rd_atomic, 4);
	refuse(16);
	tap_eq(req->psn, 16);
	tap_eq(req->nr_rd_atomic, 1);
	tap_eq(req->rd_pkts, 16);
	refuse(0);
	tap_eq(req->nr_rd_atomic, 0);
	tap_eq(req->rd_pkts, 0);
	rig.now_ns += ROOM_NS;
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	expect_request(0, 16);
	rig_end();
}

static void refused_packets_are_not_sent(void)
{
	const struct hrp_req *req = &rig.qp.req;

	rig_begin(HRP_TYPE_RC, 0xfffff0);
	rig_post_op(HROCE_WR_WRITE, 200 * 1024);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	refuse(4);
	tap_eq(req->psn, 4);
	/* Neither now nor when something is posted. */
	rig_post_op(HROCE_WR_WRITE, 1);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_eq(hrp_req_deadline(req), rig.now_ns + ROOM_NS);
	rig.now_ns += ROOM_NS;
	tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 4);
	tap_eq(rig.burst.mem.offset, 20 * 1024);
	tap_eq(rig.counts.v[HROCE_EV_RETRANSMITS], 0);
	tap_eq(rig.counts.v[HROCE_EV_TIMEOUTS], 0);
	/* Not much more is in flight than there was room for, to begin with. */
	tap_eq(req->cwnd_pkts, 20 + CWND_MIN);
	tap_eq(rig.burst.nr_pkts, CWND_MIN);
	tap_ok(rig.burst.ackreq_last);
	rig_end();
}

static void acknowledgement_ends_the_wait(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 200 * 1024);
	rig_next();
	rig_next();
	refuse(16);
	tap_eq(rig_next(), HRP_NEXT_WAIT);
	tap_ok(rig_ack(3, ACK));
	tap_eq(rig.qp.req.timer, HRP_TIMER_ACK);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 16);
	rig_end();
}

/* A frame may have begun with an earlier message, and hold answers. */
static void refused_frame_holds_many(void)
{
	const struct hrp_req *req = &rig.qp.req;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.sq.reg_mr = true;
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 3 * 1024);
	rig_post_op(HROCE_WR_READ, 5 * 1024);
	rig_post_op(HROCE_WR_FETCH_ADD, 8);
	rig_post_op(HROCE_WR_REG_MR, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	tap_eq(rig_drain(), 7);
	tap_eq(req->psn, 11);
	tap_eq(req->rd_pkts, 6);
	refuse(9);
	tap_eq(req->rd_pkts, 5);
	tap_eq(req->nr_rd_atomic, 1);
	tap_eq(req->sq.next, 3);
	refuse(2);
	tap_eq(req->psn, 2);
	tap_eq(req->offset, 1);
	tap_eq(req->rd_pkts, 0);
	tap_eq(req->nr_rd_atomic, 0);
	rig.now_ns = hrp_req_deadline(req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 2);
	tap_eq(rig.burst.first.opcode, HRP_OP_SEND_MIDDLE);
	tap_eq(rig_drain(), 3);
	tap_eq(rig.local_ops, 1);
	tap_eq(req->psn, 11);
	tap_eq(req->rd_pkts, 6);
	tap_eq(req->nr_rd_atomic, 2);
	rig_end();
}

/* The stack may have sent a part before it ran out of room. */
static void refused_and_acknowledged(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 16 * 1024);
	rig_next();
	rig_ack(7, ACK);
	refuse(0);
	tap_eq(rig.qp.req.psn, 8);
	rig.now_ns = hrp_req_deadline(&rig.qp.req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(rig.burst.first.psn, 8);
	tap_eq(rig.burst.nr_pkts, 8);
	refuse(8);
	rig_ack(15, ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	refuse(8);
	tap_eq(rig.qp.req.psn, 16);
	tap_eq(rig_next(), HRP_NEXT_IDLE);
	rig_end();
}

/* It is worth a local ACK timeout each time that one has passed. */
static void refused_for_ever(void)
{
	u32 tries = 0;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_WRITE, 1024);
	while (rig.qp.state == HRP_RTS && tries++ < 1000) {
		tap_eq(rig_next(), HRP_NEXT_BURST);
		refuse(0);
		tap_ok(hrp_req_deadline(&rig.qp.req) > rig.now_ns);
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		hrp_req_timeout(&rig.qp, rig.now_ns);
	}
	rig_expect_cqe(0, HROCE_WC_RETRY_EXC_ERR);
	tap_eq(rig.counts.v[HROCE_EV_TIMEOUTS], 4);
	tap_ok(rig.now_ns >= 4 * RIG_TIMEOUT_NS);
	tap_ok(rig.now_ns <= 8 * RIG_TIMEOUT_NS);
	tap_ok(tries < 40);
	rig_end();
}

/* Where nothing expires it is tried now and then. */
static void refused_without_a_timeout(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	rig.qp.req.timeout = 0;
	rig_post_op(HROCE_WR_WRITE, 1024);
	for (i = 0; i < 1000; i++) {
		tap_eq(rig_next(), HRP_NEXT_BURST);
		refuse(0);
		rig.now_ns = hrp_req_deadline(&rig.qp.req);
		tap_ok(hrp_req_timeout(&rig.qp, rig.now_ns));
	}
	tap_ok(rig.now_ns <= 1001 * 4000000ull);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	rig_ack(0, ACK);
	rig_expect_cqe(0, HROCE_WC_SUCCESS);
	rig_end();
}

/* Waits for other reasons are not cut short. */
static void refused_while_the_peer_is_not_ready(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_next();
	rig_next();
	rig_ack(0, HRP_SYN_RNR | 14);
	refuse(1);
	tap_eq(rig.qp.req.psn, 0);
	tap_eq(rig.qp.req.timer, HRP_TIMER_RNR);
	tap_eq(hrp_req_deadline(&rig.qp.req), rig.now_ns + 1280000);
	rig_end();
}

static void refused_after_an_error(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_next();
	rig_ack(0, HRP_NAK_REM_OP);
	rig_expect_cqe(0, HROCE_WC_REM_OP_ERR);
	refuse(0);
	tap_eq(rig.qp.req.timer, HRP_TIMER_OFF);
	rig_end();
}

int main(void)
{
	tap_plan(25);
	tap_run(window_starts_full);
	tap_run(small_openings_grow);
	tap_run(memory_fails_before_it_asks);
	tap_run(pause_asks);
	tap_run(nak_halves_the_window);
	tap_run(ten_thousand_naks_resend_one_packet);
	tap_run(few_in_flight_leave_a_small_window);
	tap_run(losses_leave_some_packets);
	tap_run(small_windows_stay);
	tap_run(window_grows_back);
	tap_run(small_windows_have_parts);
	tap_run(other_windows_have_no_parts);
	tap_run(reads_ask_for_a_window);
	tap_run(long_reads_ask_in_pieces);
	tap_run(pieces_end_where_they_were_asked_to);
	tap_run(losses_make_pieces_smaller);
	tap_run(refused_pieces_are_not_asked_for);
	tap_run(refused_packets_are_not_sent);
	tap_run(acknowledgement_ends_the_wait);
	tap_run(refused_frame_holds_many);
	tap_run(refused_and_acknowledged);
	tap_run(refused_for_ever);
	tap_run(refused_without_a_timeout);
	tap_run(refused_while_the_peer_is_not_ready);
	tap_run(refused_after_an_error);
	return tap_exit();
}

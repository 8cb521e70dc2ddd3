// SPDX-License-Identifier: GPL-2.0
/* Requester: end-to-end flow control. */
#include <linux/kernel.h>
#include "proto/e2e.h"
#include "proto/wait.h"
#include "rig.h"
#include "tap.h"

#define MTU	1024u

static struct hrp_req *const req = &rig.qp.req;

/* The peer acknowledges @psn, has completed @msn messages, and has entries. */
static void ack(u32 psn, u32 msn, u32 credits)
{
	rig.msn = msn;
	rig.credit_code = hrp_e2e_code(credits);
	rig_ack(psn, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
}

/* A connection on which a first message has told @credits. */
static void begin(u32 credits)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_drain();
	ack(0, 1, credits);
}

static void post(u8 opcode, u32 nr, u32 len)
{
	while (nr--)
		rig_post_op(opcode, len);
}

static u64 limited(void)
{
	return rig.counts.v[HROCE_EV_E2E_LIMITED];
}

/* IBTA 9.7.7.2 */
static void codes(void)
{
	static const u16 table[] = {
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256,
		384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
		16384, 24576, 32768,
	};
	const u32 last = ARRAY_SIZE(table) - 1;
	u32 i, n, wrong = 0;

	for (i = 0; i < last; i++)
		tap_eq(hrp_e2e_credits[i], table[i]);
	for (n = 0, i = 0; n < 40000; n++) {
		if (i < last && n == table[i + 1])
			i++;
		wrong += hrp_e2e_code(n) != i;
	}
	tap_eq(wrong, 0);
	tap_eq(hrp_e2e_code(~0u), last);
}

static void nothing_is_limited_without_credits(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	post(HROCE_WR_SEND, 10, 1);
	tap_eq(rig_drain(), 10);
	rig_ack(9, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	post(HROCE_WR_SEND, 10, 1);
	tap_eq(rig_drain(), 10);
	tap_eq(limited(), 0);
	rig_ack(19, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

static void one_packet_beyond_the_limit(void)
{
	begin(2);
	post(HROCE_WR_SEND, 2, 1);
	post(HROCE_WR_SEND, 2, 3 * MTU);
	/* Two with entries, and one packet of the third. */
	tap_eq(rig_drain(), 3);
	tap_eq(rig.burst.first.opcode, HRP_OP_SEND_FIRST);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(limited(), 1);
	tap_eq(hrp_wait_for(&rig.qp), HRP_WAIT_CREDITS);
	/* There is an entry for that one, and none for the next. */
	ack(3, 3, 1);
	tap_eq(rig_drain(), 3);
	tap_eq(rig.burst.first.opcode, HRP_OP_SEND_FIRST);
	tap_eq(limited(), 2);
	ack(6, 4, 4);
	tap_eq(rig_drain(), 2);
	ack(8, 5, 3);
	tap_eq(hrp_wait_for(&rig.qp), HRP_WAIT_NOTHING);
	rig_end();
}

/*
 * The first acknowledgement tells that there are no entries, when a message is on
 * its way and has not asked for one yet.
 */
static void what_was_begun_asks(void)
{
	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_drain();
	req->burst_pkts = 1;
	post(HROCE_WR_SEND, 1, 4 * MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(!rig.burst.ackreq_last);
	ack(0, 1, 0);
	tap_eq(rig_drain(), 1);
	tap_ok(rig.burst.ackreq_last);
	ack(2, 1, 0);
	tap_eq(rig_drain(), 1);
	ack(3, 1, 1);
	tap_eq(rig_drain(), 1);
	ack(4, 2, 0);
	rig_end();
}

static void what_was_sent_asks(void)
{
	u32 i;

	rig_begin(HRP_TYPE_RC, 0);
	rig_post_op(HROCE_WR_SEND, 1);
	rig_drain();
	for (i = 0; i < 5; i++)
		rig_post_op(HROCE_WR_SEND_IMM, 1 + i);
	for (i = 0; i < 2; i++) {
		tap_eq(rig_next(), HRP_NEXT_BURST);
		tap_ok(!rig.burst.ackreq_last);
	}
	ack(0, 1, 0);
	tap_eq(rig_drain(), 1);
	tap_ok(rig.burst.ackreq_last);
	ack(3, 4, 2);
	tap_eq(rig_drain(), 2);
	ack(5, 6, 0);
	rig_end();
}

/* Resent, the one packet beyond the limit takes none along that is new. */
static void going_back_is_limited_too(void)
{
	begin(0);
	post(HROCE_WR_SEND, 1, 3 * MTU);
	tap_eq(rig_drain(), 1);
	/* As many as nobody has asked for yet. */
	rig.now_ns += RIG_TIMEOUT_NS;
	hrp_req_timeout(&rig.qp, rig.now_ns);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.nr_pkts, 1);
	tap_ok(rig.burst.ackreq_last);
	tap_eq(req->psn_max, 2);
	ack(1, 1, 1);
	tap_eq(rig_drain(), 2);
	ack(3, 2, 0);
	rig_end();
}

/* A message of one packet does not open the limit for the next. */
static void short_messages_wait_for_each_other(void)
{
	begin(0);
	post(HROCE_WR_SEND_IMM, 5, 1);
	tap_eq(rig_drain(), 1);
	ack(1, 2, 0);
	tap_eq(rig_drain(), 1);
	ack(2, 3, 3);
	tap_eq(rig_drain(), 3);
	ack(5, 6, 0);
	rig_end();
}

static void writes_need_no_entry(void)
{
	begin(0);
	post(HROCE_WR_WRITE, 3, MTU);
	post(HROCE_WR_WRITE_IMM, 1, 1);
	/* The last of them asks, as what follows has to wait. */
	tap_eq(rig_drain(), 3);
	tap_eq(rig.burst.first.opcode, HRP_OP_WRITE_ONLY);
	tap_ok(rig.burst.ackreq_last);
	ack(3, 4, 0);
	tap_eq(rig_drain(), 1);
	tap_eq(rig.burst.first.opcode, HRP_OP_WRITE_ONLY_IMM);
	ack(4, 5, 0);
	rig_end();
}

static void each_request_is_counted(void)
{
	begin(6);
	/* Two READs of one request, one of two, two atomics. */
	post(HROCE_WR_READ, 2, 1);
	rig_drain();
	rig.msn = 2;
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 1, 1);
	rig.msn = 3;
	rig_read_resp(HRP_OP_READ_RESP_ONLY, 2, 1);
	tap_eq(req->sq.ssn, 3);
	post(HROCE_WR_READ, 1, 17 * MTU);
	post(HROCE_WR_FETCH_ADD, 1, 8);
	rig_drain();
	tap_eq(req->sq.ssn, 6);
	/* Resent, they are not counted again. */
	rig.now_ns += 10 * RIG_TIMEOUT_NS;
	hrp_req_timeout(&rig.qp, rig.now_ns);
	rig_drain();
	tap_eq(req->sq.ssn, 6);
	rig.qp.state = HRP_ERR;
	hrp_req_flush(&rig.qp, 99);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

/* The field is rounded down, and acknowledgements may overtake each other. */
static void what_was_granted_stays(void)
{
	begin(12);
	post(HROCE_WR_SEND, 12, 1);
	ack(0, 0, 4);
	tap_eq(rig_drain(), 12);
	tap_eq(limited(), 0);
	ack(12, 13, 0);
	rig_end();
}

static void peers_may_stop_to_tell(void)
{
	begin(0);
	rig.credit_code = HRP_SYN_CREDIT_INVALID;
	post(HROCE_WR_SEND, 1, 1);
	rig_drain();
	rig_ack(1, HRP_SYN_ACK);
	post(HROCE_WR_SEND, 9, 1);
	tap_eq(rig_drain(), 9);
	rig_ack(10, HRP_SYN_ACK);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

/* A peer that never tells of an entry slows itself down. */
static void wrong_credits_stop_nothing(void)
{
	u32 psn;

	begin(0);
	post(HROCE_WR_SEND, 1, 9 * MTU);
	for (psn = 1; psn <= 9; psn++) {
		tap_eq(rig_drain(), 1);
		ack(psn, 0xffff00, 0);
	}
	tap_eq(hrp_wait_for(&rig.qp), HRP_WAIT_NOTHING);
	rig_end();
}

/* The peer posts entries, and says so without being asked. */
static void unsolicited_acks_bring_credits(void)
{
	begin(0);
	post(HROCE_WR_SEND, 1, 9 * MTU);
	tap_eq(rig_drain(), 1);
	rig_ack(1, HRP_SYN_RNR | 1);
	ack(0, 1, 4);
	tap_eq(rig_drain(), 0);
	rig.now_ns = hrp_req_deadline(req);
	hrp_req_timeout(&rig.qp, rig.now_ns);
	/* After an RNR NAK, one packet is first. */
	tap_eq(rig_drain(), 1);
	ack(1, 1, 0);
	tap_eq(rig_drain(), 8);
	ack(9, 2, 0);
	/* Fewer, and one that is older than the last. */
	ack(9, 2, 1);
	ack(8, 2, 9);
	post(HROCE_WR_SEND, 6, 1);
	tap_eq(rig_drain(), 4);
	ack(13, 6, 2);
	tap_eq(rig_drain(), 2);
	ack(15, 8, 0);
	rig_end();
}

int main(void)
{
	tap_plan(13);
	tap_run(codes);
	tap_run(nothing_is_limited_without_credits);
	tap_run(one_packet_beyond_the_limit);
	tap_run(what_was_begun_asks);
	tap_run(what_was_sent_asks);
	tap_run(going_back_is_limited_too);
	tap_run(short_messages_wait_for_each_other);
	tap_run(writes_need_no_entry);
	tap_run(each_request_is_counted);
	tap_run(what_was_granted_stays);
	tap_run(peers_may_stop_to_tell);
	tap_run(wrong_credits_stop_nothing);
	tap_run(unsolicited_acks_bring_credits);
	return tap_exit();
}

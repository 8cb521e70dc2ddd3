// SPDX-License-Identifier: GPL-2.0
/* Responder: end-to-end flow control. */
#include "proto/e2e.h"
#include "resp_rig.h"
#include "tap.h"

static void begin(u32 nr_recvs)
{
	rr_begin(HRP_TYPE_RC);
	rr.credits = true;
	rr.nr_recvs = nr_recvs;
}

static u8 code(u32 credits)
{
	return HRP_SYN_ACK | hrp_e2e_code(credits);
}

static void ask(enum hrp_op op, u32 n, u32 len)
{
	struct hrp_pkt pkt = rr_request(op, n, len);

	pkt.ackreq = true;
	rr_arrive(&pkt);
}

static void entries_left(void)
{
	begin(8);
	ask(HRP_OP_SEND_ONLY, 0, 1);
	rr_expect_ack(0, code(7), 1);
	rr.nr_recvs = 1;
	ask(HRP_OP_SEND_ONLY, 1, 1);
	rr_expect_ack(1, code(0), 2);
}

/* The message has its entry, and its number is above the MSN. */
static void entry_in_use(void)
{
	begin(4);
	ask(HRP_OP_SEND_FIRST, 0, MTU);
	rr_expect_ack(0, code(4), 0);
	ask(HRP_OP_SEND_LAST, 1, 1);
	rr_expect_ack(1, code(3), 1);
}

/* The answer has the MSN of the READ, and three messages came since. */
static void answers_to_reads(void)
{
	u32 n;

	begin(5);
	rr_ask(HRP_OP_READ_REQ, 0, 1);
	for (n = 1; n <= 3; n++)
		ask(HRP_OP_SEND_ONLY, n, 1);
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(rr.burst.first.msn, 1);
	tap_eq(rr.burst.first.syndrome, code(2 + 3));
	rr_expect_ack(3, code(2), 4);
}

static void shared_entries(void)
{
	rr_begin(HRP_TYPE_RC);
	ask(HRP_OP_SEND_ONLY, 0, 1);
	rr_expect_ack(0, HRP_SYN_ACK | HRP_SYN_CREDIT_INVALID, 1);
}

int main(void)
{
	tap_plan(4);
	tap_run(entries_left);
	tap_run(entry_in_use);
	tap_run(answers_to_reads);
	tap_run(shared_entries);
	return tap_exit();
}

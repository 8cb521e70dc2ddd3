// SPDX-License-Identifier: GPL-2.0
/* Responder: longer packets, agreed with the peer. */
#include <linux/string.h>
#include "proto/mtu.h"
#include "resp_rig.h"
#include "tap.h"

#define LONG	1408u

static const u8 magic[HRP_MTU_MAGIC_BYTES] = { 'h', 'r', 'o', 'c', 1 };

static void begin(void)
{
	rr_begin(HRP_TYPE_RC);
	rr.qp.resp.own_mtu = LONG / HRP_MTU_UNIT;
}

/* The peer asks for @len. */
static bool asked(u32 len, const u8 *with)
{
	struct hrp_pkt pkt = {
		.opcode = HRP_OPCODE_MTU_ASK,
		.info = hrp_opcode_info(HRP_OPCODE_MTU_ASK),
		.psn = START_PSN,
		.payload_len = len,
	};

	return hrp_mtu_asked(&rr.qp, &pkt, with);
}

static void expect_answer(u32 n, u32 len)
{
	const struct hrp_burst *b = &rr.burst;

	tap_ok(hrp_resp_is_due(&rr.qp.resp));
	tap_ok(hrp_resp_next(&rr.qp, &rr.burst));
	tap_eq(b->first.opcode, HRP_OPCODE_MTU);
	tap_eq(b->first.psn, hrp_psn_add(START_PSN, n + HRP_PSN_MASK));
	tap_eq(b->first.dqpn, PEER_QPN);
	tap_eq(b->nr_pkts, 1);
	tap_eq(b->mem.len, len);
	tap_ok(b->copy);
	tap_ok(!memcmp(b->mem.bytes, magic, sizeof(magic)));
}

/* A packet that says that it belongs to a longer message. */
static u8 arrive(enum hrp_op op, u32 n, u32 len, u32 dmalen)
{
	struct hrp_pkt pkt = rr_request(op, n, len);

	pkt.longer = true;
	pkt.dmalen = dmalen;
	return rr_arrive(&pkt);
}

static void agrees_to_what_both_can(void)
{
	begin();
	tap_ok(asked(LONG, magic));
	expect_answer(0, LONG);
	rr_expect_nothing();
	/* The answer was lost. */
	rr_ask(HRP_OP_SEND_ONLY, 0, 1);
	tap_ok(asked(LONG, magic));
	expect_answer(1, LONG);
	rr_expect_ack(0, HRP_SYN_CREDIT_INVALID, 1);

	begin();
	tap_ok(asked(HRP_MTU_MAX, magic));
	expect_answer(0, LONG);
	begin();
	tap_ok(asked(MTU + HRP_MTU_UNIT, magic));
	expect_answer(0, MTU + HRP_MTU_UNIT);
	/* It does not change any more. */
	tap_ok(asked(LONG, magic));
	expect_answer(0, MTU + HRP_MTU_UNIT);
}

/* READs take PSNs, too: the requester would not know the PSN of an older ACK. */
static void behind_reads_alone(void)
{
	struct hrp_pkt pkt;

	begin();
	pkt = rr_request(HRP_OP_READ_REQ, 0, 0);
	pkt.dmalen = 3 * MTU;
	tap_eq(rr_arrive(&pkt), HRP_RX_ACCEPT);
	tap_ok(asked(LONG, magic));
	expect_answer(3, LONG);
}

static void questions_that_are_none(void)
{
	u8 other[HRP_MTU_MAGIC_BYTES];
	u32 i;

	begin();
	tap_ok(!asked(MTU, magic));
	tap_ok(!asked(LONG - 1, magic));
	tap_ok(!asked(HRP_MTU_MAX + HRP_MTU_UNIT, magic));
	for (i = 0; i < 5; i++) {
		memcpy(other, magic, sizeof(other));
		other[i] ^= 0x80;
		tap_ok(!asked(LONG, other));
	}
	rr.qp.resp.own_mtu = 0;
	tap_ok(!asked(LONG, magic));
	rr.qp.resp.own_mtu = LONG / HRP_MTU_UNIT;
	rr.qp.state = HRP_ERR;
	tap_ok(!asked(LONG, magic));
	tap_ok(!hrp_resp_is_due(&rr.qp.resp));
	tap_eq(rr.qp.resp.agreed_mtu, 0);
}

static void longer_packets(void)
{
	begin();
	asked(LONG, magic);
	expect_answer(0, LONG);
	tap_eq(arrive(HRP_OP_WRITE_FIRST, 0, LONG, 2 * LONG + 5),
	       HRP_RX_ACCEPT);
	tap_eq(arrive(HRP_OP_WRITE_MIDDLE, 1, LONG, 0), HRP_RX_ACCEPT);
	tap_eq(rr.rx.mem.offset, LONG);
	tap_eq(rr.rx.more, 0);
	tap_eq(arrive(HRP_OP_WRITE_LAST, 2, 5, 0), HRP_RX_ACCEPT);
	rr_expect_ack(2, HRP_SYN_CREDIT_INVALID, 1);
	/* The path MTU remains. */
	tap_eq(rr_ask(HRP_OP_SEND_FIRST, 3, MTU), HRP_RX_ACCEPT);
	tap_eq(rr_ask(HRP_OP_SEND_LAST, 4, MTU), HRP_RX_ACCEPT);
	rr_expect_ack(4, HRP_SYN_CREDIT_INVALID, 2);
	tap_eq(arrive(HRP_OP_SEND_ONLY, 5, LONG, 0), HRP_RX_ACCEPT);
	rr_expect_ack(5, HRP_SYN_CREDIT_INVALID, 3);
	/* Each packet has the length that it says. */
	arrive(HRP_OP_WRITE_FIRST, 6, MTU, 2 * LONG);
	rr_expect_end(6, HRP_NAK_INV_REQ, 3);

	begin();
	asked(LONG, magic);
	expect_answer(0, LONG);
	rr_ask(HRP_OP_SEND_FIRST, 0, LONG);
	rr_expect_end(0, HRP_NAK_INV_REQ, 0);
}

/* Without an agreement the bit means nothing. */
static void reserved_bit_is_ignored(void)
{
	begin();
	tap_eq(arrive(HRP_OP_SEND_FIRST, 0, MTU, 0), HRP_RX_ACCEPT);
	tap_eq(arrive(HRP_OP_SEND_LAST, 1, 1, 0), HRP_RX_ACCEPT);
	rr_expect_ack(1, HRP_SYN_CREDIT_INVALID, 1);
	arrive(HRP_OP_SEND_FIRST, 2, LONG, 0);
	rr_expect_end(2, HRP_NAK_INV_REQ, 1);
}

static void kept(void)
{
	begin();
	rr_keep(10);
	tap_eq(arrive(HRP_OP_SEND_LAST, 1, LONG, 0), HRP_RX_NAK);
	asked(LONG, magic);
	while (hrp_resp_next(&rr.qp, &rr.burst))
		;
	tap_eq(arrive(HRP_OP_SEND_LAST, 1, LONG, 0), HRP_RX_KEEP);
	tap_eq(rr_ask(HRP_OP_SEND_ONLY, 2, LONG), HRP_RX_DROP);
	tap_eq(arrive(HRP_OP_SEND_FIRST, 0, LONG, 0), HRP_RX_ACCEPT);
	tap_eq(rr_drain(9), 1);
	tap_eq(rr.cqe.byte_len, 2 * LONG);
	rr_end();
}

static void reads(void)
{
	struct hrp_pkt part;

	begin();
	asked(LONG, magic);
	expect_answer(0, LONG);
	tap_eq(arrive(HRP_OP_READ_REQ, 0, 0, 2 * LONG + 5), HRP_RX_ACCEPT);
	rr_expect_read(0, 2, HRP_OP_READ_RESP_FIRST, 0, 2 * LONG);
	tap_eq(rr.burst.mtu, LONG);
	rr_expect_read(2, 1, HRP_OP_READ_RESP_LAST, 2 * LONG, 5);
	/* The PSNs of three responses are taken. */
	tap_eq(rr_ask(HRP_OP_READ_REQ, 3, 0), HRP_RX_ACCEPT);
	rr_expect_read(3, 1, HRP_OP_READ_RESP_ONLY, 0, 0);

	part = rr_request(HRP_OP_READ_REQ, 1, 0);
	part.va += LONG;
	part.dmalen = LONG;
	part.longer = true;
	tap_eq(rr_arrive(&part), HRP_RX_DUPLICATE);
	rr_expect_read(1, 1, HRP_OP_READ_RESP_ONLY, LONG, LONG);
	/* It must begin where a packet does. */
	part.va = 0x1000 + MTU;
	tap_eq(rr_arrive(&part), HRP_RX_DROP);
	rr_expect_nothing();
}

/* A peer that connects anew has agreed to nothing. */
static void ends_with_the_connection(void)
{
	begin();
	asked(LONG, magic);
	hrp_resp_reset(&rr.qp);
	hrp_resp_start(&rr.qp, START_PSN);
	tap_ok(!hrp_resp_is_due(&rr.qp.resp));
	arrive(HRP_OP_SEND_FIRST, 0, LONG, 0);
	rr_expect_end(0, HRP_NAK_INV_REQ, 0);
}

int main(void)
{
	tap_plan(8);
	tap_run(agrees_to_what_both_can);
	tap_run(behind_reads_alone);
	tap_run(questions_that_are_none);
	tap_run(longer_packets);
	tap_run(reserved_bit_is_ignored);
	tap_run(kept);
	tap_run(reads);
	tap_run(ends_with_the_connection);
	return tap_exit();
}

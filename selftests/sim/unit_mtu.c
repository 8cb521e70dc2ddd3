// SPDX-License-Identifier: GPL-2.0
/* Requester: longer packets, agreed with the peer. */
#include <linux/kernel.h>
#include <linux/string.h>
#include "proto/mtu.h"
#include "rig.h"
#include "tap.h"

#define MTU	1024u
#define LONG	1408u

/* Where rig_read_resp() says no more than the verdict. */
#define READ_LEN	(10 * LONG + 1)

static struct hrp_req *const req = &rig.qp.req;
static const u8 magic[HRP_MTU_MAGIC_BYTES] = { 'h', 'r', 'o', 'c', 1 };

static void begin(u32 psn)
{
	rig_begin(HRP_TYPE_RC, psn);
	rig.qp.resp.own_mtu = LONG / HRP_MTU_UNIT;
	req->mtu_asks = HRP_MTU_ASKS;
}

/* Post a message and send it. Return: did a question go with it? */
static bool asks(u8 opcode, u32 len)
{
	u32 before = rig.counts.v[HROCE_EV_MTU_ASKED];

	rig_post_op(opcode, len);
	while (rig_next() == HRP_NEXT_BURST)
		;
	return rig.counts.v[HROCE_EV_MTU_ASKED] != before;
}

static struct hrp_pkt answer(u32 len)
{
	return (struct hrp_pkt) {
		.opcode = HRP_OPCODE_MTU,
		.info = hrp_opcode_info(HRP_OPCODE_MTU),
		.psn = hrp_psn_add(req->psn_una, HRP_PSN_MASK),
		.payload_len = len,
	};
}

/* The peer agrees to @len. */
static bool agrees(u32 len)
{
	struct hrp_pkt pkt = answer(len);

	return hrp_mtu_answered(&rig.qp, &pkt, magic);
}

static void ack_all(void)
{
	rig_ack(hrp_psn_add(req->psn_max, HRP_PSN_MASK),
		HRP_SYN_CREDIT_INVALID);
	rig.seen_cqes = rig.nr_cqes;
}

static void of_links(void)
{
	static const u32 lens[][2] = {
		{ 0, 0 }, { 88, 0 }, { 151, 0 }, { 152, 64 }, { 576, 448 },
		{ 1280, 1152 }, { 1460, 1344 }, { 1500, 1408 },
		{ 3000, 2880 }, { 4183, 4032 }, { 4184, 4096 },
		{ 8279, 4096 }, { 8280, 8192 }, { 9000, 8192 },
		{ 65535, 8192 }, { 0xffffffff, 8192 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lens); i++)
		tap_eq(hrp_mtu_of_link(lens[i][0]), lens[i][1]);
}

static void question(void)
{
	const struct hrp_burst *b = &rig.burst;

	begin(7);
	rig_post_op(HROCE_WR_WRITE, 4 * MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.opcode, HRP_OP_WRITE_FIRST);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.opcode, HRP_OPCODE_MTU_ASK);
	tap_eq(b->first.psn, req->psn_max);
	tap_eq(b->first.dqpn, RIG_PEER_QPN);
	tap_eq(b->nr_pkts, 1);
	tap_eq(b->mem.len, LONG);
	tap_ok(b->copy);
	tap_ok(!memcmp(b->mem.bytes, magic, sizeof(magic)));
	tap_ok(!((const u8 *)b->mem.bytes)[sizeof(magic)]);
	/* It takes no PSN, and nothing waits for it. */
	tap_eq(req->psn, 7 + 4);
	ack_all();
	rig_end();
}

static void asked_for_long_messages_only(void)
{
	u32 n;

	begin(0);
	tap_ok(!asks(HROCE_WR_WRITE, 4 * MTU - 1));
	ack_all();
	tap_ok(asks(HROCE_WR_SEND, 4 * MTU));
	ack_all();
	/* The peer does not answer. */
	for (n = 0; n < 15; n++) {
		tap_ok(!asks(HROCE_WR_WRITE, 4 * MTU));
		ack_all();
	}
	tap_ok(asks(HROCE_WR_READ, 4 * MTU));
	rig.qp.state = HRP_ERR;
	hrp_req_flush(&rig.qp, 99);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();

	begin(0);
	for (n = 0; n < 99; n++) {
		asks(HROCE_WR_WRITE, 5 * MTU);
		ack_all();
	}
	tap_eq(rig.counts.v[HROCE_EV_MTU_ASKED], HRP_MTU_ASKS);
	rig_end();

	begin(0);
	req->mtu_asks = 0;
	tap_ok(!asks(HROCE_WR_WRITE, 4 * MTU));
	ack_all();
	rig_end();
}

static void answers_that_are_none(void)
{
	struct hrp_pkt pkt;
	u8 other[HRP_MTU_MAGIC_BYTES];
	u32 i;

	begin(100);
	tap_ok(!agrees(LONG));
	asks(HROCE_WR_WRITE, 4 * MTU);
	tap_ok(!agrees(LONG + HRP_MTU_UNIT));
	tap_ok(!agrees(LONG - 1));
	tap_ok(!agrees(MTU));
	tap_ok(!agrees(0));
	for (i = 0; i < 5; i++) {
		memcpy(other, magic, sizeof(other));
		other[i] ^= 1;
		pkt = answer(LONG);
		tap_ok(!hrp_mtu_answered(&rig.qp, &pkt, other));
	}
	pkt.psn = 98;
	tap_ok(!hrp_mtu_answered(&rig.qp, &pkt, magic));
	pkt.psn = 104;
	tap_ok(!hrp_mtu_answered(&rig.qp, &pkt, magic));
	tap_eq(req->agreed_mtu, 0);
	/* What is reserved is not looked at. */
	memcpy(other, magic, sizeof(other));
	other[7] = 9;
	pkt.psn = 103;
	tap_ok(hrp_mtu_answered(&rig.qp, &pkt, other));
	tap_eq(req->agreed_mtu * HRP_MTU_UNIT, LONG);
	/* That was the answer. */
	tap_ok(!agrees(LONG));
	tap_eq(rig.counts.v[HROCE_EV_MTU_AGREED], 1);
	ack_all();
	rig_end();
}

/* A message keeps the packets that it began with. */
static void from_the_next_message_on(void)
{
	const struct hrp_burst *b = &rig.burst;

	begin(0);
	req->cwnd_pkts = 4;
	asks(HROCE_WR_WRITE, 8 * MTU);
	tap_ok(agrees(LONG));
	ack_all();
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->mtu, MTU);
	tap_ok(!b->first.longer);
	rig_drain();
	ack_all();

	rig_post_op(HROCE_WR_WRITE, 2 * LONG + 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 8);
	tap_eq(b->nr_pkts, 3);
	tap_eq(b->mtu, LONG);
	tap_eq(b->mem.len, 2 * LONG + 1);
	tap_ok(b->first.longer);
	ack_all();

	/* What fits one packet of the path MTU is one. */
	rig_post_op(HROCE_WR_WRITE, MTU);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(!b->first.longer);
	tap_eq(b->mtu, MTU);
	ack_all();
	rig_post_op(HROCE_WR_SEND, MTU + 1);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(b->first.longer);
	tap_eq(b->nr_pkts, 1);
	tap_eq(b->first.opcode, HRP_OP_SEND_ONLY);
	ack_all();

	/* Another connection begins with nothing. */
	hrp_req_reset(&rig.qp);
	hrp_req_start(&rig.qp, 0);
	rig_post_op(HROCE_WR_WRITE, 2 * LONG);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_ok(!b->first.longer);
	ack_all();
	rig_end();
}

static void resent_as_it_was(void)
{
	const struct hrp_burst *b = &rig.burst;

	begin(0);
	asks(HROCE_WR_WRITE, 4 * MTU);
	tap_ok(agrees(LONG));
	rig_post_op(HROCE_WR_WRITE, 3 * LONG);
	rig_drain();
	/* The third packet of the first message is missing. */
	rig_ack(2, HRP_NAK_PSN_SEQ);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 2);
	tap_eq(b->mem.offset, 2 * MTU);
	tap_eq(b->mtu, MTU);
	rig_drain();
	rig_ack(4, HRP_SYN_CREDIT_INVALID);
	rig_ack(5, HRP_NAK_PSN_SEQ);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 5);
	tap_eq(b->mem.offset, LONG);
	tap_eq(b->mtu, LONG);
	tap_ok(b->first.longer);
	rig_drain();
	ack_all();
	rig_end();
}

static void reads(void)
{
	const struct hrp_burst *b = &rig.burst;
	u32 n;

	begin(0);
	asks(HROCE_WR_WRITE, 4 * MTU);
	tap_ok(agrees(LONG));
	ack_all();
	rig_post_op(HROCE_WR_READ, READ_LEN);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.opcode, HRP_OP_READ_REQ);
	tap_ok(b->first.longer);
	tap_eq(b->first.dmalen, READ_LEN);
	tap_eq(req->psn, 4 + 11);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, 4, LONG), HRP_RX_ACCEPT);
	for (n = 1; n < 9; n++)
		tap_eq(rig_read_resp(HRP_OP_READ_RESP_MIDDLE, 4 + n, LONG),
		       HRP_RX_ACCEPT);
	/* The rest is asked for again, where it begins. */
	rig.now_ns += 4 * RIG_TIMEOUT_NS;
	hrp_req_timeout(&rig.qp, rig.now_ns);
	tap_eq(rig_next(), HRP_NEXT_BURST);
	tap_eq(b->first.psn, 4 + 9);
	tap_eq(b->first.va, 0x200000 + 9 * LONG);
	tap_eq(b->first.dmalen, LONG + 1);
	tap_ok(b->first.longer);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_FIRST, 4 + 9, LONG),
	       HRP_RX_ACCEPT);
	tap_eq(rig_read_resp(HRP_OP_READ_RESP_LAST, 4 + 10, 1), HRP_RX_ACCEPT);
	rig.seen_cqes = rig.nr_cqes;

	/* Packets of the path MTU are no answer. */
	rig_post_op(HROCE_WR_READ, READ_LEN);
	rig_drain();
	rig_read_resp(HRP_OP_READ_RESP_FIRST, 15, MTU);
	tap_eq(rig.qp.state, HRP_ERR);
	hrp_req_flush(&rig.qp, 99);
	rig.seen_cqes = rig.nr_cqes;
	rig_end();
}

int main(void)
{
	tap_plan(7);
	tap_run(of_links);
	tap_run(question);
	tap_run(asked_for_long_messages_only);
	tap_run(answers_that_are_none);
	tap_run(from_the_next_message_on);
	tap_run(resent_as_it_was);
	tap_run(reads);
	return tap_exit();
}

// SPDX-License-Identifier: GPL-2.0
/* A second way between hroce peers: what is asked, told, believed and used. */
#include <linux/string.h>
#include <linux/unaligned.h>
#include "proto/qp.h"
#include "proto/second.h"
#include "tap.h"

#define FIRST	HRP_WAY_FIRST
#define SECOND	HRP_WAY_SECOND
#define MSEC	1000000ull

/**
 * struct end - one of two peers
 * @s: its second way
 * @qp: its queue pair
 * @token: of its next question
 */
struct end {
	struct hrp_second s;
	struct hrp_qp qp;
	u64 token;
};

/* A packet on its way. */
struct packet {
	u8 payload[HRP_SECOND_BYTES];
	struct hrp_burst b;
	enum hrp_way way;
};

static struct end a, b;
static struct packet p;
static u64 now_ns;

static void begin_end(struct end *e, u8 number)
{
	const u8 addr[HRP_SECOND_ADDR_BYTES] = {
		[10] = 0xff, 0xff, 10, 91, 0, number,
	};

	memset(e, 0, sizeof(*e));
	e->qp.type = HRP_TYPE_RC;
	e->qp.state = HRP_RTS;
	e->qp.mtu = 1024;
	e->qp.dest_qpn = 100 * (3 - number);
	e->token = 1000 * number;
	hrp_second_begin(&e->s, addr, 111 * number);
}

static void begin(void)
{
	now_ns = 1;
	begin_end(&a, 1);
	begin_end(&b, 2);
}

/* The next packet of @e. */
static bool next(struct end *e)
{
	return hrp_second_next(&e->s, &e->qp, e->token++, p.payload, &p.b,
			       &p.way);
}

/* It arrives at the other end. Return: what that says, or -1: a bad question. */
static int arrive(struct end *e)
{
	now_ns += 100 * MSEC;
	if (p.b.first.opcode == HRP_OPCODE_SECOND)
		return hrp_second_answered(&e->s, p.payload, p.way);
	tap_eq(p.b.first.opcode, HRP_OPCODE_SECOND_ASK);
	return hrp_second_asked(&e->s, p.payload, p.way, now_ns) ? 0 : -1;
}

/* All that is due arrives, by both ways or by one. */
static void talk(bool first, bool second)
{
	struct end *ends[] = { &a, &b };
	u32 n, nr = 0;

	for (n = 0; n < 16; n++) {
		u32 i = n & 1;

		while (next(ends[i])) {
			nr++;
			if (p.way == FIRST ? first : second)
				arrive(ends[!i]);
		}
	}
	/* It ends. */
	tap_ok(nr < 16);
	tap_eq(a.s.due | b.s.due, 0);
}

static void agree(void)
{
	begin();
	hrp_second_tick(&a.s);
	talk(true, true);
	tap_ok(a.s.agreed && a.s.valid && b.s.agreed && b.s.valid);
}

static void expect(u8 opcode, enum hrp_way way, u32 dqpn)
{
	tap_eq(p.b.first.opcode, opcode);
	tap_eq(p.way, way);
	tap_eq(p.b.first.dqpn, dqpn);
	tap_eq(p.b.first.psn, 0);
	tap_eq(p.b.nr_pkts, 1);
	tap_eq(p.b.mem.len, HRP_SECOND_BYTES);
	tap_ok(p.b.mem.bytes == p.payload && p.b.copy);
	tap_ok(!memcmp(p.payload, "hroc\1\0\0\0", 8));
}

/* Packet by packet. */
static void one_asks(void)
{
	begin();
	tap_ok(!next(&a));
	hrp_second_tick(&a.s);
	tap_ok(next(&a));
	expect(HRP_OPCODE_SECOND_ASK, FIRST, 200);
	tap_eq(get_unaligned_be64(p.payload + 32), 1001);
	tap_ok(!memchr(p.payload + 8, 91, 24));
	tap_eq(arrive(&b), 0);
	tap_ok(!b.s.agreed);
	/* The answer. */
	tap_ok(next(&b));
	expect(HRP_OPCODE_SECOND, FIRST, 100);
	tap_eq(p.payload[8 + 15], 2);
	tap_eq(get_unaligned_be32(p.payload + 24), 222);
	tap_eq(get_unaligned_be64(p.payload + 32), 1001);
	tap_eq(arrive(&a), HRP_SECOND_NONE);
	tap_ok(a.s.agreed && !a.s.valid);
	tap_eq(a.s.peer_qpn, 222);
	/* It comes once more. */
	tap_eq(arrive(&a), HRP_SECOND_BAD);
	/* Who is asked asks. */
	tap_ok(next(&b));
	expect(HRP_OPCODE_SECOND_ASK, FIRST, 100);
	tap_ok(!next(&b));
	/* By the second way. */
	tap_ok(next(&a));
	expect(HRP_OPCODE_SECOND_ASK, SECOND, 222);
	tap_eq(arrive(&b), -1);
}

static void both_become_valid(void)
{
	agree();
	tap_eq(memcmp(a.s.peer_addr, b.s.own_addr, sizeof(a.s.peer_addr)), 0);
	tap_eq(memcmp(b.s.peer_addr, a.s.own_addr, sizeof(b.s.peer_addr)), 0);
	tap_eq(a.s.peer_qpn, 222);
	tap_eq(b.s.peer_qpn, 111);
}

static u32 ticks(struct end *e, u32 n, enum hrp_way way)
{
	u32 nr = 0;

	while (n--) {
		hrp_second_tick(&e->s);
		while (next(e))
			nr += p.way == way && p.b.first.opcode ==
			      HRP_OPCODE_SECOND_ASK;
	}
	return nr;
}

static void three_questions(void)
{
	begin();
	tap_eq(ticks(&a, 1000, FIRST), HRP_SECOND_ASKS);
	/* The peer was late, and asks: so does this end. */
	hrp_second_tick(&b.s);
	talk(true, true);
	tap_ok(a.s.valid && b.s.valid);
}

/* The second way is silent: three questions, then a pause. */
static void proved_first(void)
{
	begin();
	hrp_second_tick(&a.s);
	talk(true, false);
	tap_ok(a.s.agreed && !a.s.valid && b.s.agreed && !b.s.valid);
	/* One was asked at once. */
	tap_eq(ticks(&a, HRP_SECOND_REST, SECOND), HRP_SECOND_ASKS - 1);
	tap_eq(ticks(&a, 1000, FIRST), 0);
	tap_ok(!a.s.valid);
	ticks(&b, HRP_SECOND_ASKS, SECOND);
	hrp_second_want(&a.s);
	talk(true, true);
	tap_ok(a.s.valid && b.s.valid);
}

/* It was good, and is asked again from time to time. */
static void proved_again(void)
{
	u32 n;

	agree();
	tap_eq(ticks(&a, HRP_SECOND_REST - 1, SECOND), 0);
	hrp_second_tick(&a.s);
	talk(true, true);
	tap_ok(a.s.valid);
	for (n = 0; n < HRP_SECOND_REST + HRP_SECOND_ASKS - 1; n++) {
		tap_ok(a.s.valid);
		ticks(&a, 1, SECOND);
	}
	tap_ok(a.s.valid);
	ticks(&a, 1, SECOND);
	tap_ok(!a.s.valid);
	/* Nothing else is wanted of what is valid. */
	agree();
	hrp_second_want(&a.s);
	tap_eq(a.s.due, 0);
}

/* The first way is asked as long as the second is taken. */
static void returns(void)
{
	agree();
	a.s.away = true;
	tap_eq(ticks(&a, 5, FIRST), 5);
	tap_eq(a.s.good, 0);
	hrp_second_tick(&a.s);
	tap_ok(next(&a));
	tap_eq(arrive(&b), 0);
	tap_ok(next(&b));
	tap_eq(arrive(&a), HRP_SECOND_NONE);
	/* A question is lost in between. */
	tap_eq(ticks(&a, 2, FIRST), 2);
	tap_eq(a.s.good, 0);
	hrp_second_tick(&a.s);
	while (next(&a))
		arrive(&b);
	while (next(&b))
		tap_eq(arrive(&a), HRP_SECOND_NONE);
	hrp_second_tick(&a.s);
	while (next(&a))
		arrive(&b);
	while (next(&b))
		tap_eq(arrive(&a), HRP_SECOND_BACK);
	a.s.away = false;
	tap_eq(ticks(&a, 5, FIRST), 0);
	tap_eq(a.s.good, 0);
}

static void stays_as_told(void)
{
	u8 qpn[] = { 0, 1, 2, 3 };

	agree();
	a.s.away = true;
	hrp_second_tick(&a.s);
	tap_ok(next(&a));
	tap_eq(arrive(&b), 0);
	tap_ok(next(&b));
	memcpy(p.payload + 24, qpn, sizeof(qpn));
	tap_eq(arrive(&a), HRP_SECOND_BAD);
	tap_eq(a.s.peer_qpn, 222);
	put_unaligned_be32(222, p.payload + 24);
	p.payload[8 + 15] = 3;
	tap_eq(arrive(&a), HRP_SECOND_BAD);
	p.payload[8 + 15] = 2;
	tap_eq(arrive(&a), HRP_SECOND_NONE);
}

static void try_answer(const u8 *addr, u32 qpn, bool good)
{
	begin();
	hrp_second_tick(&a.s);
	tap_ok(next(&a));
	tap_eq(arrive(&b), 0);
	tap_ok(next(&b));
	memcpy(p.payload + 8, addr, HRP_SECOND_ADDR_BYTES);
	put_unaligned_be32(qpn, p.payload + 24);
	tap_eq(arrive(&a) == HRP_SECOND_NONE, good);
	tap_eq(a.s.agreed, good);
}

static void what_is_refused(void)
{
	u8 v4[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 91, 0, 2 };
	u8 v6[16] = { 0x20, 0x01, [15] = 7 };
	u8 none[16] = {};
	u32 i;

	try_answer(v4, 222, true);
	try_answer(v4, 0, false);
	try_answer(v4, 1, false);
	try_answer(v4, 0xffffff, false);
	try_answer(v4, 0x1000000 + 222, false);
	try_answer(v6, 222, false);
	try_answer(none, 222, false);
	v4[15] = 1;
	try_answer(v4, 222, false);
	v4[12] = 127;
	try_answer(v4, 222, false);
	v4[12] = 224;
	try_answer(v4, 222, false);
	v4[12] = 0;
	try_answer(v4, 222, false);
	for (i = 0; i < 3; i++) {
		static const u8 bad[][2] = { { 0xff, 2 }, { 0xfe, 0x80 }, { 0 } };

		begin();
		memcpy(a.s.own_addr, v6, sizeof(v6));
		a.s.own_addr[15] = 8;
		memcpy(b.s.own_addr, v6, sizeof(v6));
		memcpy(b.s.own_addr, bad[i], 2);
		hrp_second_tick(&a.s);
		tap_ok(next(&a) && !arrive(&b) && next(&b));
		tap_eq(arrive(&a), HRP_SECOND_BAD);
		memcpy(p.payload + 8, v6, sizeof(v6));
		tap_eq(arrive(&a), HRP_SECOND_NONE);
	}
}

/* Every byte of the magic counts. */
static void of_others(void)
{
	u32 i;

	for (i = 0; i < 8; i++) {
		begin();
		hrp_second_tick(&a.s);
		tap_ok(next(&a));
		p.payload[i] ^= 0x10;
		tap_eq(arrive(&b), -1);
		p.payload[i] ^= 0x10;
		tap_eq(arrive(&b), 0);
		tap_ok(next(&b));
		p.payload[i] ^= 0x10;
		tap_eq(arrive(&a), HRP_SECOND_BAD);
		p.payload[i] ^= 0x10;
		p.payload[32 + i] ^= 0x10;
		tap_eq(arrive(&a), HRP_SECOND_BAD);
	}
}

static void unasked(void)
{
	begin();
	hrp_second_tick(&a.s);
	tap_ok(next(&a) && !arrive(&b) && next(&b));
	/* No question is open there; token 0 is no way round it. */
	tap_eq(arrive(&b), HRP_SECOND_BAD);
	put_unaligned_be64(0, p.payload + 32);
	tap_eq(arrive(&b), HRP_SECOND_BAD);
	tap_ok(!b.s.agreed);
	/* A random 0 is none. */
	begin();
	a.token = 0;
	hrp_second_tick(&a.s);
	tap_ok(next(&a));
	tap_ok(get_unaligned_be64(p.payload + 32));
}

static void few_answers(void)
{
	u32 i, nr = 0;

	begin();
	hrp_second_tick(&a.s);
	tap_ok(next(&a));
	for (i = 0; i < 1000; i++) {
		now_ns += MSEC;
		tap_ok(hrp_second_asked(&b.s, p.payload, FIRST, now_ns));
		nr += !!(b.s.due & HRP_SECOND_ANSWER(FIRST));
		b.s.due = 0;
	}
	tap_eq(nr, 1000 * MSEC / HRP_SECOND_GAP_NS);
}

static void end_of_it(void)
{
	agree();
	hrp_second_end(&a.s);
	tap_eq(ticks(&a, 100, FIRST), 0);
	hrp_second_want(&a.s);
	tap_ok(!next(&a));
	b.s.away = true;
	hrp_second_tick(&b.s);
	tap_ok(next(&b));
	tap_eq(arrive(&a), -1);
	tap_ok(!next(&a));
}

int main(void)
{
	tap_plan(12);
	tap_run(one_asks);
	tap_run(both_become_valid);
	tap_run(three_questions);
	tap_run(proved_first);
	tap_run(proved_again);
	tap_run(returns);
	tap_run(stays_as_told);
	tap_run(what_is_refused);
	tap_run(of_others);
	tap_run(unasked);
	tap_run(few_answers);
	tap_run(end_of_it);
	return tap_exit();
}

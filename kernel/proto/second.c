// SPDX-License-Identifier: GPL-2.0
/* A second way between hroce peers, see second.h. */
#include <linux/string.h>
#include <linux/unaligned.h>
#include "psn.h"
#include "qp.h"
#include "second.h"

/* Others may use the opcodes for something else. The fifth byte is a version. */
static const u8 second_magic[] = { 'h', 'r', 'o', 'c', 1, 0, 0, 0 };

/* Offsets in the payload. */
#define AT_ADDR		8
#define AT_QPN		24
#define AT_TOKEN	32

static_assert(AT_TOKEN + sizeof(u64) == HRP_SECOND_BYTES);

/* Lower numbers are those of QP0 and QP1, the highest one means multicast. */
#define QPN_MIN		2
#define QPN_MAX		0xfffffe

/* The first bytes of an IPv4 address that is mapped to IPv6. */
static const u8 second_mapped[12] = { [10] = 0xff, [11] = 0xff };

static bool addr_is_v4(const u8 *addr)
{
	return !memcmp(addr, second_mapped, sizeof(second_mapped));
}

/* Neither multicast nor loopback, nor of this network only, nor none at all. */
static bool addr_is_common(const u8 *addr)
{
	static const u8 none[HRP_SECOND_ADDR_BYTES - 1];

	if (addr_is_v4(addr))
		return addr[12] && addr[12] != 127 && addr[12] < 224;
	return addr[0] != 0xff && !(addr[0] == 0xfe && addr[1] & 0x80) &&
	       memcmp(addr, none, sizeof(none));
}

void hrp_second_begin(struct hrp_second *second, const u8 *addr, u32 qpn)
{
	*second = (struct hrp_second) {
		.own_qpn = qpn,
		.asks = HRP_SECOND_ASKS,
	};
	memcpy(second->own_addr, addr, sizeof(second->own_addr));
}

void hrp_second_end(struct hrp_second *second)
{
	*second = (struct hrp_second) {};
}

/* Ask by the second way, unless nobody has answered there for some time. */
static void second_check(struct hrp_second *second)
{
	second->tries++;
	second->due |= HRP_SECOND_ASK(HRP_WAY_SECOND);
}

void hrp_second_tick(struct hrp_second *second)
{
	if (!second->agreed && second->asks) {
		second->asks--;
		second->due |= HRP_SECOND_ASK(HRP_WAY_FIRST);
	}
	if (!second->agreed)
		return;
	if (second->tries == HRP_SECOND_ASKS) {
		second->valid = false;
		second->tries = 0;
		second->rest = 0;
	} else if (second->tries || ++second->rest >= HRP_SECOND_REST) {
		second_check(second);
	}
	/* Was the last question not answered? */
	if (!second->away || second->token[HRP_WAY_FIRST])
		second->good = 0;
	if (second->away)
		second->due |= HRP_SECOND_ASK(HRP_WAY_FIRST);
}

void hrp_second_want(struct hrp_second *second)
{
	if (second->agreed && !second->valid && !second->tries)
		second_check(second);
}

/*
 * Is it from a hroce peer? By the second way nothing comes before that has been
 * told of by the first one.
 */
static bool second_is_known(const struct hrp_second *second, const u8 *payload,
			    enum hrp_way way)
{
	return second->own_qpn && (second->agreed || way == HRP_WAY_FIRST) &&
	       !memcmp(payload, second_magic, sizeof(second_magic));
}

bool hrp_second_asked(struct hrp_second *second, const u8 *payload,
		      enum hrp_way way, u64 now_ns)
{
	if (!second_is_known(second, payload, way))
		return false;
	if (second->answered_ns[way] &&
	    now_ns - second->answered_ns[way] < HRP_SECOND_GAP_NS)
		return true;
	second->answered_ns[way] = now_ns;
	second->echo[way] = get_unaligned_be64(payload + AT_TOKEN);
	second->due |= HRP_SECOND_ANSWER(way);
	/* This end may have asked too early. */
	if (!second->agreed)
		second->due |= HRP_SECOND_ASK(HRP_WAY_FIRST);
	/* The peer wants to use that way, so see whether it may. */
	if (way == HRP_WAY_SECOND)
		hrp_second_want(second);
	return true;
}

/* What the peer tells for the first time, or again. Return: false if it is bad. */
static bool second_told(struct hrp_second *second, const u8 *payload)
{
	u32 qpn = get_unaligned_be32(payload + AT_QPN);
	const u8 *addr = payload + AT_ADDR;

	if (second->agreed)
		return qpn == second->peer_qpn &&
		       !memcmp(addr, second->peer_addr,
			       sizeof(second->peer_addr));
	if (qpn < QPN_MIN || qpn > QPN_MAX || !addr_is_common(addr) ||
	    addr_is_v4(addr) != addr_is_v4(second->own_addr) ||
	    !memcmp(addr, second->own_addr, sizeof(second->own_addr)))
		return false;
	memcpy(second->peer_addr, addr, sizeof(second->peer_addr));
	second->peer_qpn = qpn;
	second->agreed = true;
	second_check(second);
	return true;
}

enum hrp_second_news hrp_second_answered(struct hrp_second *second,
					 const u8 *payload, enum hrp_way way)
{
	u64 token = second->token[way];

	if (!token || get_unaligned_be64(payload + AT_TOKEN) != token ||
	    !second_is_known(second, payload, way) ||
	    !second_told(second, payload))
		return HRP_SECOND_BAD;
	second->token[way] = 0;
	if (way == HRP_WAY_SECOND) {
		second->valid = true;
		second->tries = 0;
		second->rest = 0;
		return HRP_SECOND_NONE;
	}
	if (!second->away)
		return HRP_SECOND_NONE;
	second->good++;
	return second->good >= HRP_SECOND_GOOD ? HRP_SECOND_BACK :
						 HRP_SECOND_NONE;
}

static void second_build(const struct hrp_second *second,
			 const struct hrp_qp *qp, u8 opcode, u64 token,
			 u8 *payload, struct hrp_burst *b, enum hrp_way way)
{
	memset(payload, 0, HRP_SECOND_BYTES);
	memcpy(payload, second_magic, sizeof(second_magic));
	if (opcode == HRP_OPCODE_SECOND) {
		memcpy(payload + AT_ADDR, second->own_addr,
		       sizeof(second->own_addr));
		put_unaligned_be32(second->own_qpn, payload + AT_QPN);
	}
	put_unaligned_be64(token, payload + AT_TOKEN);
	hrp_burst_begin(b, qp, opcode, 0);
	if (way == HRP_WAY_SECOND)
		b->first.dqpn = second->peer_qpn;
	b->mem.bytes = payload;
	b->mem.len = HRP_SECOND_BYTES;
	b->copy = true;
}

bool hrp_second_next(struct hrp_second *second, const struct hrp_qp *qp,
		     u64 token, u8 *payload, struct hrp_burst *b,
		     enum hrp_way *way)
{
	for (*way = HRP_WAY_FIRST; *way < HRP_WAY_NR; (*way)++) {
		if (second->due & HRP_SECOND_ANSWER(*way)) {
			second->due &= ~HRP_SECOND_ANSWER(*way);
			second_build(second, qp, HRP_OPCODE_SECOND,
				     second->echo[*way], payload, b, *way);
			return true;
		}
		if (second->due & HRP_SECOND_ASK(*way)) {
			second->due &= ~HRP_SECOND_ASK(*way);
			/* 0 means that no question is open. */
			second->token[*way] = token ?: 1;
			second_build(second, qp, HRP_OPCODE_SECOND_ASK,
				     second->token[*way], payload, b, *way);
			return true;
		}
	}
	return false;
}

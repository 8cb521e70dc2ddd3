/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A second way between hroce peers that have two addresses each.
 *
 * The first way leads between the addresses that the queue pair was connected
 * with. If both ends are set to use a second link, each asks the other for its
 * address, and for the number that the queue pair has there, with packets that
 * others drop: table 38 leaves their opcodes to manufacturers. A question has a
 * random token, which the answer repeats, so that nobody answers who does not see
 * what is sent to the peer. Documentation/protocol.rst has the bytes.
 *
 * What a peer tells is not believed: packets go to the second address only after
 * a question that was sent there has been answered from there. It is asked again
 * from time to time. While packets take the second way, the first one is asked;
 * they return when it has answered twice in a row.
 *
 * The owner sends questions and answers, chooses tokens, and knows the time.
 */
#ifndef HRP_SECOND_H
#define HRP_SECOND_H

#include <linux/types.h>
#include "burst.h"
#include "opcode.h"
#include "pkt.h"

struct hrp_qp;

/* Payload of a question and of an answer. */
#define HRP_SECOND_BYTES	40

/* IPv4 addresses are mapped to IPv6. */
#define HRP_SECOND_ADDR_BYTES	16

/* How often a peer is asked that does not answer. */
#define HRP_SECOND_ASKS		3

/* Calls of hrp_second_tick() between questions whether the second way is good. */
#define HRP_SECOND_REST		30

/* Answers by the first way, one after the other, before packets return to it. */
#define HRP_SECOND_GOOD		2

/* Least time between two answers by the same way. */
#define HRP_SECOND_GAP_NS	20000000u

/* The two ways of a queue pair. */
enum hrp_way {
	HRP_WAY_FIRST,
	HRP_WAY_SECOND,
	HRP_WAY_NR,
};

/* Bits of hrp_second.due: what is to be sent by a way. */
#define HRP_SECOND_ASK(way)	(1u << (way))
#define HRP_SECOND_ANSWER(way)	(1u << (HRP_WAY_NR + (way)))

/* What an answer changes, see hrp_second_answered(). */
enum hrp_second_news {
	HRP_SECOND_BAD,		/* it answers nothing that was asked */
	HRP_SECOND_NONE,	/* nothing */
	HRP_SECOND_BACK,	/* packets may return to the first way */
};

/**
 * struct hrp_second - the second way of a queue pair
 * @own_addr: address of the own second link
 * @peer_addr: that of the peer, if @agreed
 * @own_qpn: number that the queue pair has at the own second link
 * @peer_qpn: the same of the peer, if @agreed
 * @token: by way: of the question that is open; 0: none is
 * @echo: by way: of the question that is to be answered
 * @answered_ns: by way: when the last answer was due
 * @due: HRP_SECOND_ASK() and HRP_SECOND_ANSWER()
 * @asks: how often the peer may still be asked by the first way
 * @tries: questions by the second way since the last answer
 * @rest: calls of hrp_second_tick() since that answer
 * @good: answers by the first way, one after the other
 * @agreed: the peer has told its second address
 * @valid: packets may go there [both locks]
 * @away: requests do [send lock]
 *
 * Guarded by the receive lock, but for what is said above.
 */
struct hrp_second {
	u8 own_addr[HRP_SECOND_ADDR_BYTES];
	u8 peer_addr[HRP_SECOND_ADDR_BYTES];
	u32 own_qpn;
	u32 peer_qpn;
	u64 token[HRP_WAY_NR];
	u64 echo[HRP_WAY_NR];
	u64 answered_ns[HRP_WAY_NR];
	u8 due;
	u8 asks;
	u8 tries;
	u8 rest;
	u8 good;
	bool agreed;
	bool valid;
	bool away;
};

/**
 * hrp_second_is_about - is a packet a question for a second way, or its answer?
 * @pkt: headers
 *
 * Return: true if so.
 */
static inline bool hrp_second_is_about(const struct hrp_pkt *pkt)
{
	return pkt->opcode == HRP_OPCODE_SECOND_ASK ||
	       pkt->opcode == HRP_OPCODE_SECOND;
}

/**
 * hrp_second_begin - offer a second way
 * @second: filled in
 * @addr: address of the own second link, HRP_SECOND_ADDR_BYTES
 * @qpn: number that the queue pair has there
 */
void hrp_second_begin(struct hrp_second *second, const u8 *addr, u32 qpn);

/**
 * hrp_second_end - there is no second way any more
 * @second: second way
 *
 * Nothing is due any more, and no packet is right. Context: both locks held.
 */
void hrp_second_end(struct hrp_second *second);

/**
 * hrp_second_tick - a second has passed
 * @second: second way of a queue pair that may send
 *
 * Sets @second->due. Context: both locks held.
 */
void hrp_second_tick(struct hrp_second *second);

/**
 * hrp_second_want - a second way is missed that is agreed on, but not valid
 * @second: second way
 *
 * Context: receive lock held.
 */
void hrp_second_want(struct hrp_second *second);

/**
 * hrp_second_asked - the peer asks
 * @second: second way
 * @payload: HRP_SECOND_BYTES
 * @way: by which the question came; for the second one, the owner has compared
 *	addresses and number
 * @now_ns: current time
 *
 * Sets @second->due. Context: receive lock held.
 * Return: false if it is not a question of hroce.
 */
bool hrp_second_asked(struct hrp_second *second, const u8 *payload,
		      enum hrp_way way, u64 now_ns);

/**
 * hrp_second_answered - the peer answers
 * @second: second way
 * @payload: HRP_SECOND_BYTES
 * @way: by which the answer came, as above
 *
 * Sets @second->due. Context: both locks held.
 * Return: what it changes.
 */
enum hrp_second_news hrp_second_answered(struct hrp_second *second,
					 const u8 *payload, enum hrp_way way);

/**
 * hrp_second_next - build the next question or answer that is due
 * @second: second way
 * @qp: its queue pair
 * @token: random number for a question
 * @payload: HRP_SECOND_BYTES, used until @b has been sent
 * @b: filled in
 * @way: set to the way that it is to take
 *
 * Context: receive lock held.
 * Return: false if nothing is due.
 */
bool hrp_second_next(struct hrp_second *second, const struct hrp_qp *qp,
		     u64 token, u8 *payload, struct hrp_burst *b,
		     enum hrp_way *way);

#endif /* HRP_SECOND_H */

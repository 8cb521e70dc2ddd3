/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Longer packets between hroce peers.
 *
 * The path MTU of the specification is a power of two up to 4096 (9.7.1): at most
 * 1024 bytes of 1,500 that Ethernet carries, and 4096 of 9,000. Peers that are
 * hroce agree on a longer one, so that the same data takes fewer packets.
 * Documentation/protocol.rst has the bytes.
 *
 * A requester that has a long message asks, with a packet that others drop: table
 * 38 leaves its opcode to manufacturers. The packet is as long as those that it
 * asks for, and so is the answer: what the network does not pass is not agreed
 * to. Each requester asks for itself.
 *
 * Messages that are taken from the send queue afterwards consist of such packets,
 * and each of them says so, by a bit that is reserved otherwise. A READ request
 * with this bit asks for such responses. So both ends know the length of each
 * packet, whenever it was sent.
 */
#ifndef HRP_MTU_H
#define HRP_MTU_H

#include <linux/compiler.h>
#include <linux/minmax.h>
#include "burst.h"
#include "qp.h"

/* Lengths that are agreed on are multiples of this. */
#define HRP_MTU_UNIT	64u

/* The longest; two pages, so that payload in pages stays whole. */
#define HRP_MTU_MAX	8192u

/* How often a peer is asked that does not answer. */
#define HRP_MTU_ASKS	3

/* Beginning of the payload of question and answer. */
#define HRP_MTU_MAGIC_BYTES	8

/* Messages of so many packets of the path MTU are long. */
#define HRP_MTU_LONG_PKTS	4u

/**
 * hrp_mtu_is_about - is a packet the question for longer packets, or its answer?
 * @pkt: headers
 *
 * Return: true if so; false for all others, those that are longer included.
 */
static inline bool hrp_mtu_is_about(const struct hrp_pkt *pkt)
{
	return pkt->opcode == HRP_OPCODE_MTU ||
	       pkt->opcode == HRP_OPCODE_MTU_ASK;
}

/**
 * hrp_mtu_of_link - the longest payload that a link can agree to
 * @ip_mtu: longest IP packet, in bytes
 *
 * The same for IPv4 and IPv6, and for all headers that come with payload.
 *
 * Return: bytes, up to HRP_MTU_MAX, a multiple of HRP_MTU_UNIT; 0 if @ip_mtu is
 * too short for any.
 */
u32 hrp_mtu_of_link(u32 ip_mtu);

/**
 * hrp_mtu_of_peer - bytes of payload in a full packet
 * @qp: queue pair
 * @pkt: request from the peer
 *
 * Context: receive lock held.
 * Return: bytes in full packets of the message that @pkt belongs to, or of the
 * responses that it asks for.
 */
static inline u32 hrp_mtu_of_peer(const struct hrp_qp *qp,
				  const struct hrp_pkt *pkt)
{
	if (pkt->longer && qp->resp.agreed_mtu)
		return qp->resp.agreed_mtu * HRP_MTU_UNIT;
	return qp->mtu;
}

/**
 * hrp_mtu_max - the longest payload
 * @qp: queue pair
 *
 * Return: bytes of payload in the longest packet that is ever sent.
 */
static inline u32 hrp_mtu_max(const struct hrp_qp *qp)
{
	return max_t(u32, qp->mtu, qp->resp.own_mtu * HRP_MTU_UNIT);
}

/**
 * hrp_mtu_want - a message is long: ask the peer for longer packets
 * @req: requester with @req->mtu_asks
 *
 * hrp_req_next() returns the question with one of its next bursts. Context: send
 * lock held.
 */
void hrp_mtu_want(struct hrp_req *req);

/**
 * hrp_mtu_choose - bytes of payload in full packets of a new message
 * @qp: queue pair
 * @length: bytes of the message, more than @qp->mtu
 *
 * Context: send lock held.
 * Return: bytes.
 */
static inline u32 hrp_mtu_choose(struct hrp_qp *qp, u32 length)
{
	if (qp->req.agreed_mtu)
		return qp->req.agreed_mtu * HRP_MTU_UNIT;
	if (unlikely(qp->req.mtu_asks) && length >= HRP_MTU_LONG_PKTS * qp->mtu)
		hrp_mtu_want(&qp->req);
	return qp->mtu;
}

/**
 * hrp_mtu_build_ask - build the question
 * @qp: queue pair with @qp->req.mtu_ask
 * @b: filled in
 *
 * Context: send lock held.
 */
void hrp_mtu_build_ask(struct hrp_qp *qp, struct hrp_burst *b);

/**
 * hrp_mtu_asked - the peer asks for longer packets
 * @qp: queue pair
 * @pkt: the question
 * @magic: the first HRP_MTU_MAGIC_BYTES of its payload
 *
 * Agrees to as many bytes as it asks for, or to fewer; hrp_resp_next() returns the
 * answer. Context: receive lock held.
 * Return: false if it is not one of hroce, or this end agrees to nothing.
 */
bool hrp_mtu_asked(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		   const u8 *magic);

/**
 * hrp_mtu_build_answer - build the answer
 * @qp: queue pair with @qp->resp.mtu_due
 * @b: filled in
 *
 * Context: receive lock held.
 */
void hrp_mtu_build_answer(struct hrp_qp *qp, struct hrp_burst *b);

/**
 * hrp_mtu_answered - the peer has agreed to longer packets
 * @qp: queue pair
 * @pkt: the answer
 * @magic: the first HRP_MTU_MAGIC_BYTES of its payload
 *
 * Context: send lock held.
 * Return: false if nothing was asked, or it is not an answer to that.
 */
bool hrp_mtu_answered(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		      const u8 *magic);

#endif /* HRP_MTU_H */

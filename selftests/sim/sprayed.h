/* SPDX-License-Identifier: GPL-2.0 */
/* A requester that uses several paths. */
#ifndef SPRAYED_H
#define SPRAYED_H

#include <string.h>
#include "kept.h"
#include "proto/req_priv.h"
#include "proto/spray.h"
#include "rig.h"
#include "tap.h"

#define ACK	HRP_SYN_CREDIT_INVALID
#define NAK	HRP_NAK_PSN_SEQ
#define RTT_NS	100000

/* At the MTU of the rig. */
#define RUN	60u
#define BLOCK	12u

#define FIRST_SPORT	0xc100

static struct hrp_req *const req = &rig.qp.req;
static u8 map[256];

/* A long message of WRITE or READ; @window packets are in flight. */
static inline void begin_op(u8 opcode, u32 psn, u32 window, u32 paths)
{
	rig_begin(HRP_TYPE_RC, psn);
	req->timeout = 16;
	req->window_pkts = 2048;
	req->cwnd_pkts = window;
	req->burst_pkts = 16;
	req->asks = HRP_SACK_ASKS;
	req->spray = paths;
	req->sparse = 15;
	req->max_rd_atomic = 16;
	rig.keeps_answers = true;
	rig_post_op(opcode, 1u << 30);
	memset(map, 0, sizeof(map));
}

static inline void begin(u32 psn, u32 window, u32 paths)
{
	begin_op(HROCE_WR_WRITE, psn, window, paths);
}

/* The peer has agreed. */
static inline void agree(void)
{
	u32 i;

	kept_open_sack(req);
	req->sack->told = true;
	tap_ok(kept_start_spray(&rig.qp));
	for (i = 0; i < HRP_SPRAY_PATHS; i++)
		req->sack->spray->sport[i] = FIRST_SPORT + i;
}

static inline void begin_sprayed(u32 psn, u32 window, u32 paths)
{
	begin(psn, window, paths);
	agree();
}

/* Send the next burst. Return: its path; negative: there is none. */
static inline int send_one(void)
{
	u32 path;

	req->burst_pkts = hrp_spray_pkts(req, 64);
	tap_ok(req->burst_pkts && req->burst_pkts <= 64);
	if (rig_next() != HRP_NEXT_BURST)
		return -1;
	path = hrp_spray_sport(req, &rig.burst) - FIRST_SPORT;
	tap_ok(path < req->sack->spray->paths);
	return path;
}

/* Packets on each path until the window is full. */
static inline void fill(u32 pkts[HRP_SPRAY_PATHS])
{
	int path;

	memset(pkts, 0, HRP_SPRAY_PATHS * sizeof(*pkts));
	while ((path = send_one()) >= 0)
		pkts[path] += rig.burst.nr_pkts;
}

static inline u32 path_of(u32 psn)
{
	const struct hrp_spray *s = req->sack->spray;

	return s->path[psn / s->block % HRP_SPRAY_BLOCKS];
}

/* All packets up to @end but @psn have arrived, in the order of PSNs. */
static inline void arrive_but(u32 psn, u32 end)
{
	u32 bit = (psn - (psn & ~63u)) + 1;
	u32 nr = end - (psn & ~63u);

	for (; bit < nr; bit++)
		map[bit / 8] |= 1u << bit % 8;
	tap_eq(rig_sack(psn, map, (nr + 63) / 64 * 8), HRP_RX_ACCEPT);
	memset(map, 0, sizeof(map));
}

/* Acknowledge a packet that was timed. */
static inline void pass_rtt(void)
{
	rig_drain();
	rig.now_ns += RTT_NS;
	rig_ack(hrp_psn_add(req->psn_max, HRP_PSN_MASK), ACK);
}

/* Return: how often the peer has been asked. */
static inline u32 questions(void)
{
	return rig.counts.v[HROCE_EV_SACK_ASKED];
}

#endif /* SPRAYED_H */

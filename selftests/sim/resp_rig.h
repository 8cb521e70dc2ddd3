/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One queue pair that receives. The test plays the peer and the surroundings:
 * a key is good unless it is BAD_KEY; the memory behind AWAY_KEY is not there.
 */
#ifndef RESP_RIG_H
#define RESP_RIG_H

#include <linux/types.h>
#include "pending.h"
#include "proto/env.h"
#include "proto/psn.h"
#include "proto/resp.h"
#include "tap.h"

#define QPN		0x42
#define PEER_QPN	0x777
#define START_PSN	0xfffffe	/* wraps after two packets */
#define MTU		1024
#define NR_RD		4
#define RNR_CODE	14
#define BAD_KEY		0xbad
#define AWAY_KEY	0xaaa
#define VOLATILE_KEY	0xf0a		/* may not be flushed for persistence */
#define ROOM		4096
#define SRQN		0x5151		/* XRC: this one and the next exist */

struct resp_rig {
	struct hrp_qp qp;
	union {
		struct hrp_rwqe rwqe;
		u8 rwqe_room[sizeof(struct hrp_rwqe) +
			     sizeof(struct hroce_sge)];
	};
	struct hrp_rdres rd[NR_RD];
	struct hroce_cqe cqe;
	bool solicited;
	u32 nr_cqes;
	u32 nr_recvs;		/* receive entries posted */
	bool credits;		/* they are told: not an SRQ */
	u32 taken_from;		/* XRC: SRQ of the last one taken */
	u32 checked_for;	/* XRC: SRQ in whose name a key was checked */
	u32 next_wr_id;
	u32 nr_atomics;
	u32 nr_invalidated;
	u32 flushes[HRP_ACCESS_FLUSH_PERSISTENT + 1];
	u32 flush_len;
	struct pending pending;	/* see rr_pending() */
	struct hroce_stats counts;
	u64 word;		/* what atomics work on */
	struct hrp_burst burst;
	struct hrp_rx rx;
	bool hold;		/* ACKs may be held */
	u32 keep_room;		/* requests that may be kept; see rr_keep() */
};

extern struct resp_rig rr;

/* Begin anew: a queue pair in state RTS, 100 receive entries. */
void rr_begin(enum hrp_type type);

/* A request with @len bytes, @n packets after the first PSN. */
struct hrp_pkt rr_request(enum hrp_op op, u32 n, u32 len);

/* It arrives, and its payload is placed with @status. Return: verdict. */
u8 rr_arrive_status(const struct hrp_pkt *pkt, u8 status);

/* It arrives, and all is well. */
u8 rr_arrive(const struct hrp_pkt *pkt);

/* Both, for a request without further ado. */
u8 rr_ask(enum hrp_op op, u32 n, u32 len);

/* The next answer is an ACK or NAK, of the packet @n after the first PSN. */
void rr_expect_ack(u32 n, u8 syndrome, u32 msn);

void rr_expect_nothing(void);

/* The next answer is part of that to a READ. */
void rr_expect_read(u32 n, u32 nr_pkts, u8 op, u32 offset, u32 len);

/* The connection has ended with a NAK, and answers nothing any more. */
void rr_expect_end(u32 n, u8 syndrome, u32 msn);

/* Keep up to @room requests that come too early from now on. */
void rr_keep(u32 room);

/* Process at most @max kept requests whose turn it is. Return: how many. */
u32 rr_drain(u32 max);

/* Number of requests kept now. */
u32 rr_nr_kept(void);

/* Drop all that is kept, as the owner does in the error state. */
void rr_end(void);

/* How often has the engine left that to its owner? */
u32 rr_pending(enum hrp_pending what);

#endif /* RESP_RIG_H */

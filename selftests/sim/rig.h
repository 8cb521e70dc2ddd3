/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One queue pair with a ring, no network and a recorder in place of its
 * surroundings. The test plays the application and the peer.
 */
#ifndef RIG_H
#define RIG_H

#include <linux/types.h>
#include "pending.h"
#include "proto/env.h"
#include "proto/req.h"
#include "proto/sack.h"

#define RIG_MAX_CQES	4096
#define RIG_QPN		0x42
#define RIG_PEER_QPN	0x777
#define RIG_TIMEOUT	8	/* code */
#define RIG_TIMEOUT_NS	(4096ull << RIG_TIMEOUT)

/**
 * struct rig - what the test sees
 * @qp: queue pair under test
 * @hdr: header of the ring
 * @ring: entries
 * @burst: what rig_next() returned last
 * @now_ns: time
 * @cqes: completions so far
 * @nr_cqes: how many
 * @seen_cqes: how many rig_expect_cqe() has looked at
 * @pending: see rig_pending()
 * @counts: counters
 * @local_ops: calls of hrp_env_local_op()
 * @local_status: what that returns
 * @posts_left: local operations that the application posts in response to one
 * @cq_overrun: completions have no room: the owner ends the queue pair
 * @keeps_answers: there is memory to keep answers
 * @credit_code: what answers say in the credit field
 * @msn: their MSN
 */
struct rig {
	struct hrp_qp qp;
	struct hroce_sq_hdr hdr;
	void *ring;
	struct hrp_burst burst;
	u64 now_ns;
	struct hroce_cqe cqes[RIG_MAX_CQES];
	u32 nr_cqes;
	u32 seen_cqes;
	struct pending pending;
	struct hroce_stats counts;
	u32 local_ops;
	u8 local_status;
	u32 posts_left;
	bool cq_overrun;
	bool keeps_answers;
	u8 credit_code;
	u32 msn;
};

extern struct rig rig;

/* Begin anew: a queue pair in state RTS, PSN @psn, 16 entries, MTU 1024. */
void rig_begin(enum hrp_type type, u32 psn);

/* Give memory back; each test ends with it. */
void rig_end(void);

/* The slot of the next entry, zeroed, with wr_id = index and SIGNALED set. */
struct hroce_sq_wqe *rig_slot(u8 opcode);

/* Post the slot with one piece of @len bytes; more pieces may follow it. */
void rig_post(struct hroce_sq_wqe *wqe, u32 len);

/* Both, with a remote address. */
void rig_post_op(u8 opcode, u32 len);

/* hrp_req_next() and hrp_req_sent(); the burst is in @rig.burst. */
enum hrp_next rig_next(void);

/* Send until nothing more can be sent; returns the number of packets. */
u32 rig_drain(void);

/* An acknowledge packet arrives. */
bool rig_ack(u32 psn, u8 syndrome);

/*
 * A selective acknowledgement arrives, with a map of @len bytes; returns the
 * verdict.
 */
u8 rig_sack(u32 psn, const u8 *map, u32 len);

/* The peer tells that packets, @nr of them from @psn on, have come twice. */
void rig_tell_again(u32 psn, u32 nr);

/* A READ response arrives; returns the verdict. */
u8 rig_read_resp(u8 opcode, u32 psn, u32 len);

/* The answer to an atomic arrives; returns the verdict. */
u8 rig_atomic_resp(u32 psn, u64 orig);

/* The next completion is that of @wr_id with @status. */
void rig_expect_cqe(u64 wr_id, u8 status);

/* There are no completions but those expected so far. */
void rig_expect_no_cqe(void);

/* How often has the engine left that to its owner? */
u32 rig_pending(enum hrp_pending what);

#endif /* RIG_H */

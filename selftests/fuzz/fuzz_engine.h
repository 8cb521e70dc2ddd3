/* SPDX-License-Identifier: GPL-2.0 */
/* The queue pair that is fuzzed, and its surroundings. */
#ifndef FUZZ_ENGINE_H
#define FUZZ_ENGINE_H

#include <linux/types.h>
#include "proto/burst.h"
#include "proto/env.h"
#include "proto/pace.h"
#include "proto/psn.h"
#include "proto/req.h"
#include "proto/resp.h"

#define FUZZ_SQ_ENTRIES	16
#define FUZZ_MAX_SGES	4
#define FUZZ_MAX_INLINE	64
#define FUZZ_MAX_RQ	32
#define FUZZ_NR_RD	4
#define FUZZ_NR_SGES	3

/**
 * struct fuzz - all there is
 * @qp: queue pair
 * @burst: burst on its way, if nr_pkts is not 0
 * @pace: for the queue pair while it has a rate
 * @rp: parameters of its control
 * @data: rest of the input
 * @len: bytes of it
 * @now_ns: time
 * @rq_avail: receive entries posted
 * @rq_taken: receive entries taken so far
 * @taken_from: XRC: SRQ that the last one belongs to
 * @env_calls: calls of the surroundings since the last check
 * @counts: counters
 * @state_seen: state of the queue pair at the last check
 */
struct fuzz {
	struct hrp_qp qp;
	struct hrp_burst burst;
	struct hrp_pace pace;
	struct hrp_rp rp;
	const u8 *data;
	size_t len;
	u64 now_ns;
	u32 rq_avail;
	u32 rq_taken;
	u32 taken_from;
	u32 env_calls;
	struct hroce_stats counts;
	u8 state_seen;
};

extern struct fuzz fuzz;

#define fuzz_demand(cond) \
	do { \
		if (!(cond)) \
			fuzz_fail(#cond, __FILE__, __LINE__); \
	} while (0)

void __attribute__((__noreturn__))
fuzz_fail(const char *what, const char *file, int line);

/* A queue pair in state RESET; @kind and @size choose what it is like. */
void fuzz_setup(u8 kind, u8 size);
void fuzz_teardown(void);

/* Keep a request that came too early. Return: status for hrp_resp_commit(). */
u8 fuzz_keep(const struct hrp_pkt *pkt);

/* Drop all that is kept. */
void fuzz_keep_end(void);

/* The same for answers. */
u8 fuzz_keep_answer(const struct hrp_pkt *pkt);
void fuzz_ahead_end(void);

#endif /* FUZZ_ENGINE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A libibverbs and a kernel for unit tests of the provider.
 *
 * The provider's sources are linked with this instead of libibverbs and of
 * kick.c. Queues live in a memfd, which takes the place of the command
 * descriptor; a test plays the kernel on the same memory.
 */
#ifndef HROCE_FAKE_H
#define HROCE_FAKE_H

#include <infiniband/driver.h>
#include <rdma/hroce-abi.h>

/**
 * struct fake_ring - the kernel's view of one queue
 * @base: the header
 * @nr_entries: power of two
 * @stride: bytes from one entry to the next
 * @len_bytes: of the mapping
 */
struct fake_ring {
	uint8_t *base;
	uint32_t nr_entries;
	uint32_t stride;
	uint32_t len_bytes;
};

/**
 * struct fake_lower - the hardware that a link stands for
 * @absent: libibverbs does not list it
 * @open_err: errno of its opening
 * @foreign: what the library keeps of its context is not what it seems
 * @nr_open: contexts that are open
 */
struct fake_lower {
	bool absent;
	int open_err;
	bool foreign;
	int nr_open;
};

/**
 * struct fake_rate - the kernel and rates of queue pairs
 * @unknown: the module is older than these
 * @mask: attributes of the last extended command that modified a queue pair
 * @kbps: its rate
 * @req: libhroce's part of it
 */
struct fake_rate {
	bool unknown;
	int mask;
	uint32_t kbps;
	struct hroce_modify_qp_req req;
};

/**
 * struct fake - knobs and records; cleared by fake_open()
 * @ops: what the provider registered
 * @mode: answered to alloc_ucontext
 * @connect_err: errno value of alloc_ucontext
 * @lower: what becomes of the lower device, see fake_lower.c
 * @rate: see fake_rate.c
 * @library: path of the running libibverbs, NULL: unknown
 * @layout_shift: bytes by which the library's struct verbs_qp is larger
 * @skip_ops: the library's verbs table has other offsets: it copies nothing
 * @spoil: changes the answer to a creation before the provider sees it
 * @kicked: called by hroce_kick()
 * @kick_err: what that returns
 * @polled: called by hroce_kick_poll(), which returns what it does; NULL: the
 *	link does not poll
 * @nr_contexts: of the link, initialised and not yet released
 * @nr_objects: created and not yet destroyed
 * @nr_kicks: calls of hroce_kick()
 * @kicked_qpn: of the last one
 * @nr_polls: calls of hroce_kick_poll()
 * @sq: send queue of the QP created last
 * @rq: its receive queue
 * @srq: SRQ created last
 * @cq: CQs in the order of creation
 * @nr_cqs: how many
 * @timestamps: the one created last is to have them
 * @next_qpn: number of the next QP
 */
struct fake {
	const struct verbs_device_ops *ops;
	uint32_t mode;
	int connect_err;
	struct fake_lower lower;
	struct fake_rate rate;
	const char *library;
	size_t layout_shift;
	bool skip_ops;
	void (*spoil)(struct hroce_ring_info *info);
	void (*kicked)(uint32_t qpn);
	int kick_err;
	bool (*polled)(uint32_t qpn);
	int nr_contexts;
	int nr_objects;
	int nr_kicks;
	uint32_t kicked_qpn;
	int nr_polls;
	struct fake_ring sq;
	struct fake_ring rq;
	struct fake_ring srq;
	struct fake_ring cq[4];
	int nr_cqs;
	bool timestamps;
	uint32_t next_qpn;
};

extern struct fake fake;

/* The file of libibverbs, as rdma-core names it. */
#define FAKE_LIBRARY(release)	FAKE_LIBRARY_(release)
#define FAKE_LIBRARY_(release)	"/usr/lib/libibverbs.so.1.14." #release ".0"

/**
 * fake_open - open the device
 *
 * Keeps what the test has set in @fake's knobs.
 * Return: the context, or NULL with errno set.
 */
struct ibv_context *fake_open(void);

/* Close it; the knobs go back to their defaults. */
void fake_close(struct ibv_context *context);

void *fake_entry(const struct fake_ring *ring, uint32_t idx);

/**
 * fake_complete - write a completion
 * @ring: CQ
 * @idx: free-running index of the entry
 * @cqe: all but the owner word
 */
void fake_complete(const struct fake_ring *ring, uint32_t idx,
		   const struct hroce_cqe *cqe);

/* The kernel's answer for a link over the lower device. */
void fake_lower_answer(struct hroce_alloc_ucontext_resp *answer);

/* verbs_set_ops() for the lower device's context. */
void fake_lower_set_ops(struct verbs_context *vctx,
			const struct verbs_context_ops *ops);

#endif /* HROCE_FAKE_H */

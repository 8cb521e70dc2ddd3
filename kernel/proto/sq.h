/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send queue: the mapped ring, and private copies of the entries taken.
 *
 * Entries pass through these free-running indices, tail <= next <= head <=
 * prod: [tail, next) sent and not yet complete, [next, head) taken and checked,
 * [head, prod) posted and still in the ring.
 */
#ifndef HRP_SQ_H
#define HRP_SQ_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <uapi/rdma/hroce-abi.h>

struct hrp_qp;

/* Most bytes in a message (IBTA 9.7.7). */
#define HRP_MAX_MESSAGE	(1u << 31)

/**
 * struct hrp_wqe - private copy of one send work queue entry
 * @wqe: the entry; @wqe.reserved0 and later reserved words are not read
 * @length: bytes of the message, the sum over its SGEs
 * @first_psn: PSN of its first packet (READ: of its first response packet);
 *	valid once the entry was sent
 * @last_psn: PSN of its last packet (READ: of its last response packet)
 * @nr_pkts: PSNs that it takes, at least 1; 0 for LOCAL_INV, REG_MR, BIND_MW
 * @status: HROCE_WC_SUCCESS; or enum hroce_cause: the entry failed locally and
 *	completes with this result after all earlier entries
 * @started: @first_psn and @last_psn are valid
 * @done: LOCAL_INV, REG_MR, BIND_MW: executed
 * @unasked: its last packet requests no acknowledgement; the next entry does
 * @chunk_shift: READ: response packets of each request, as power of two, once
 *	the entry was sent; otherwise 0
 * @mtu: bytes of payload in full packets; valid if @nr_pkts is not 0
 * @sges: SGEs, or inline data; the masks of a masked atomic follow its SGEs
 *
 * Written by the context that runs the requester (one at a time, see req.h),
 * read by the completer under the send lock.
 */
struct hrp_wqe {
	struct hroce_sq_wqe wqe;
	u32 length;
	u32 first_psn;
	u32 last_psn;
	u32 nr_pkts;
	u8 status;
	u8 started;
	u8 done;
	u8 unasked;
	u8 chunk_shift;
	u16 mtu;
	struct hroce_sge sges[];
};

/**
 * struct hrp_sq - send queue
 * @hdr: mapped header, hostile
 * @ring: mapped entries, hostile; each is copied once
 * @copies: private copies, @nr_entries of them, @copy_stride apart
 * @nr_entries: power of two
 * @stride: bytes from one ring entry to the next
 * @copy_stride: bytes from one copy to the next
 * @max_inline: most inline bytes of an entry
 * @max_sges: most SGEs of an entry
 * @posted: producer index as last read and found valid; private
 * @head: entries taken
 * @next: entry that is being sent
 * @tail: oldest entry that is not complete
 * @reg_mr: REG_MR is permitted: a queue of the kernel
 * @watched: a poller watches the queue, so an empty queue asks for no kick. The
 *	owner calls hrp_req_next() when the producer index of a queue with
 *	@polled has moved, and once after the poller has stopped
 * @kick_asked: @hdr->need_kick is 1
 * @polled: the queue was empty and did not ask for a kick, since a poller
 *	watches it; the poller reads this without the lock
 * @ssn: SSN of the message that was begun last, see e2e.h
 *
 * Guarded by the send lock.
 */
struct hrp_sq {
	struct hroce_sq_hdr *hdr;
	void *ring;
	void *copies;
	u32 nr_entries;
	u16 stride;
	u16 copy_stride;
	u16 max_inline;
	u8 max_sges;
	u8 reg_mr:1;
	u8 watched:1;
	u32 posted;
	u32 head;
	u32 next;
	u32 tail;
	bool kick_asked;
	bool polled;
	u16 ssn;
};

/* Result of hrp_sq_look(). */
enum hrp_look {
	HRP_LOOK_EMPTY,
	HRP_LOOK_POSTED,
	HRP_LOOK_CORRUPT,	/* the producer index is out of range */
};

/**
 * hrp_sq_stride - size of a ring entry
 * @max_sges: most SGEs of an entry, up to HROCE_MAX_SGES
 * @max_inline: most inline bytes, up to HROCE_MAX_INLINE
 *
 * Return: bytes, a multiple of 64.
 */
u32 hrp_sq_stride(u32 max_sges, u32 max_inline);

/**
 * hrp_sq_copy_stride - size of a private copy
 * @stride: as returned by hrp_sq_stride()
 *
 * Return: bytes, a multiple of 64.
 */
u32 hrp_sq_copy_stride(u32 stride);

/**
 * hrp_sq_reset - discard all entries, including those still in the ring
 * @sq: send queue
 *
 * Leaves the ring empty with need_kick set.
 */
void hrp_sq_reset(struct hrp_sq *sq);

/**
 * hrp_sq_look - are there entries to take?
 * @sq: send queue
 *
 * Reads the producer index only if no posted entry is known.
 *
 * Return: see enum hrp_look.
 */
enum hrp_look hrp_sq_look(struct hrp_sq *sq);

/**
 * hrp_sq_ask_kick - have the next post kick
 * @sq: send queue
 *
 * Call hrp_sq_look() next: it finds entries posted before the producer could
 * see the request.
 */
void hrp_sq_ask_kick(struct hrp_sq *sq);

/**
 * hrp_sq_spare_kick - tell the producer that it need not kick
 * @sq: send queue
 */
static inline void hrp_sq_spare_kick(struct hrp_sq *sq)
{
	if (!sq->kick_asked)
		return;
	WRITE_ONCE(sq->hdr->need_kick, 0);
	sq->kick_asked = false;
}

/**
 * hrp_sq_take - copy and check the next entry
 * @qp: queue pair; hrp_sq_look() returned HRP_LOOK_POSTED
 *
 * Return: private copy; its status says whether it may be executed.
 */
struct hrp_wqe *hrp_sq_take(struct hrp_qp *qp);

/* The copy of entry @idx. */
static inline struct hrp_wqe *hrp_sq_wqe(const struct hrp_sq *sq, u32 idx)
{
	return sq->copies + (size_t)(idx & (sq->nr_entries - 1)) *
			    sq->copy_stride;
}

/**
 * hrp_sq_release - take the oldest entry out of the queue
 * @sq: send queue; at least one entry was taken and is not complete
 *
 * The application may reuse the slot: it is to find room when it polls the
 * completion, so hrp_sq_report() follows.
 *
 * Return: private copy, until the next hrp_sq_take().
 */
static inline const struct hrp_wqe *hrp_sq_release(struct hrp_sq *sq)
{
	const struct hrp_wqe *w = hrp_sq_wqe(sq, sq->tail++);

	/* Pairs with the acquire of the producer before it reuses the slot. */
	smp_store_release(&sq->hdr->cons, sq->tail);
	return w;
}

/**
 * hrp_sq_report - make the completion of an entry
 * @qp: queue pair
 * @w: entry, from hrp_sq_release()
 * @result: enum hroce_wc_status or enum hroce_cause
 */
void hrp_sq_report(struct hrp_qp *qp, const struct hrp_wqe *w, u8 result);

#endif /* HRP_SQ_H */

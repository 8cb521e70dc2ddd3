/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Send queue: the mapped ring, and the private copies of what was taken.
 *
 * Entries pass through these free-running indices, tail <= next <= head <=
 * prod: [tail, next) sent and not yet complete, [next, head) taken and
 * checked, [head, prod) posted and still in the ring.
 */
#ifndef HRP_SQ_H
#define HRP_SQ_H

#include <linux/types.h>
#include <uapi/rdma/hroce-abi.h>

/**
 * struct hrp_wqe - private copy of one send work queue entry
 * @wqe: the entry; @wqe.reserved0 and later reserved words are not read
 * @length: bytes of the message, the sum over its pieces
 * @first_psn: PSN of its first packet (READ: of its first response packet);
 *	valid once the entry was sent
 * @last_psn: PSN of its last packet (READ: of its last response packet)
 * @nr_pkts: packets that it takes, at least 1
 * @status: enum hroce_wc_status; not SUCCESS: the entry failed locally and is
 *	to be completed so when its turn comes
 * @responded: response packets received so far (READ, atomics)
 * @sges: pieces, or the inline data
 *
 * Written by whoever runs the requester (only one context at a time, see
 * struct hrp_req), read by the completer under the send lock.
 */
struct hrp_wqe {
	struct hroce_sq_wqe wqe;
	u32 length;
	u32 first_psn;
	u32 last_psn;
	u32 nr_pkts;
	u32 responded;
	u8 status;
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
 * @max_sges: most pieces an entry may have
 * @max_inline: most inline bytes an entry may have
 * @head: entries taken
 * @next: entry that is being sent
 * @tail: oldest entry that is not complete
 *
 * Guarded by the send lock.
 */
struct hrp_sq {
	struct hroce_sq_hdr *hdr;
	void *ring;
	void *copies;
	u32 nr_entries;
	u32 stride;
	u32 copy_stride;
	u32 max_sges;
	u32 max_inline;
	u32 head;
	u32 next;
	u32 tail;
};

/**
 * hrp_sq_stride - size of a ring entry
 * @max_sges: most pieces of an entry, up to HROCE_MAX_SGES
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

/* The copy of entry @idx. */
static inline struct hrp_wqe *hrp_sq_wqe(const struct hrp_sq *sq, u32 idx)
{
	return sq->copies + (size_t)(idx & (sq->nr_entries - 1)) *
			    sq->copy_stride;
}

#endif /* HRP_SQ_H */

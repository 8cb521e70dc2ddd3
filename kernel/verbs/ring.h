/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of one queue: a header and a power-of-two number of entries, mapped
 * into user space for user queues.
 */
#ifndef HROCE_RING_H
#define HROCE_RING_H

#include <rdma/hroce-abi.h>
#include <rdma/ib_verbs.h>

/**
 * struct hroce_ring - memory of one queue
 * @va: kernel address of the header
 * @entries: kernel address of entry 0
 * @pages: what @va and mappings refer to
 * @nr_pages: of them
 * @nr_entries: power of two
 * @stride: bytes from one entry to the next
 * @entry: mmap entry, or NULL for queues of the kernel; its release frees
 *	this structure, so that mappings outlive the queue safely
 *
 * What user space writes there is hostile.
 */
struct hroce_ring;

#endif /* HROCE_RING_H */

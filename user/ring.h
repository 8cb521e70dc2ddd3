/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Access to the mapped queues. Two types, so that a producer cannot consume:
 * this side produces into SQ, RQ and SRQ and consumes from CQs.
 *
 * Pairing of barriers:
 *
 *   hroce_prod_publish()  store entry, release prod
 *       kernel            acquire prod, copy entry
 *   hroce_prod_full()     acquire cons, reuse slot
 *       kernel            copy entry, release cons
 *   hroce_cons_at()       acquire owner, read entry
 *       kernel            store entry, release owner
 *   hroce_cons_publish()  read entry, release cons
 *       kernel            acquire cons, reuse slot
 *
 * Where each side stores one word and then loads the other's, release and
 * acquire are not enough, since the load may pass the store. Both sides use a
 * full barrier there:
 *
 *   hroce_prod_publish_and_look()  store prod, barrier, load need_kick
 *       kernel                     store need_kick, barrier, load prod
 *   hroce_req_notify_cq()          store arm, barrier, application polls
 *       kernel                     store owner, barrier, load arm
 *
 * This side also keeps the indices that it advances in private memory, and
 * reads its own words back only after the kernel has reset the queue.
 */
#ifndef HROCE_RING_H
#define HROCE_RING_H

#include <stdbool.h>
#include <stdint.h>
#include "cmd.h"

/**
 * struct hroce_map - one queue as mapped
 * @base: the header, or NULL if there is no queue
 * @len_bytes: length of the mapping
 */
struct hroce_map {
	void *base;
	size_t len_bytes;
};

/**
 * hroce_map_open - map a queue that the kernel has just created
 * @map: filled in; stays empty if @info describes no ring
 * @cmd_fd: command descriptor of the context
 * @info: the kernel's answer
 * @min_entries: entries that were granted
 * @min_stride: bytes that the largest entry needs
 *
 * Refuses a geometry that the accessors below cannot handle.
 * Return: 0 or an errno value.
 */
int hroce_map_open(struct hroce_map *map, int cmd_fd,
		   const struct hroce_ring_info *info, uint32_t min_entries,
		   size_t min_stride);

/**
 * hroce_map_close - undo hroce_map_open()
 * @map: may be empty
 */
void hroce_map_close(struct hroce_map *map);

/**
 * hroce_map_trim - unmap all but the header
 * @map: not empty; hroce_map_close() is still needed
 */
void hroce_map_trim(struct hroce_map *map);

/**
 * struct hroce_prod_ring - a queue that this side produces into
 * @entries: first entry
 * @shared_prod: producer index in the header, read by the kernel
 * @shared_cons: consumer index in the header, written by the kernel
 * @mask: number of entries less one
 * @stride: bytes from one entry to the next
 * @limit: most entries in use at a time, as granted; at most @mask + 1
 * @prod: next entry to fill, free-running; ahead of *@shared_prod while a list
 *	is being written
 * @cons: *@shared_cons as last seen
 */
struct hroce_prod_ring {
	uint8_t *entries;
	uint32_t *shared_prod;
	const uint32_t *shared_cons;
	uint32_t mask;
	uint32_t stride;
	uint32_t limit;
	uint32_t prod;
	uint32_t cons;
};

/**
 * struct hroce_cons_ring - a queue that the kernel produces into
 * @entries: first entry
 * @shared_cons: consumer index in the header, read by the kernel
 * @nr_entries: power of two
 * @stride: bytes from one entry to the next
 * @cons: next entry to consume, free-running
 * @published: *@shared_cons as last written
 */
struct hroce_cons_ring {
	const uint8_t *entries;
	uint32_t *shared_cons;
	uint32_t nr_entries;
	uint32_t stride;
	uint32_t cons;
	uint32_t published;
};

/* Orders a store of one side's word before the load of the other's. */
static inline void hroce_full_barrier(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline uint32_t hroce_load_acquire(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void hroce_store_release(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline void hroce_prod_init(struct hroce_prod_ring *ring,
				   const struct hroce_map *map,
				   const struct hroce_ring_info *info,
				   uint32_t *shared_prod,
				   const uint32_t *shared_cons, uint32_t limit)
{
	*ring = (struct hroce_prod_ring) {
		.entries = (uint8_t *)map->base + HROCE_RING_ENTRIES_OFFSET,
		.shared_prod = shared_prod,
		.shared_cons = shared_cons,
		.mask = info->nr_entries - 1,
		.stride = info->stride,
		.limit = limit,
	};
}

/* Slot of the next entry; it may be written unless the ring is full. */
static inline void *hroce_prod_slot(const struct hroce_prod_ring *ring)
{
	return ring->entries + (size_t)(ring->prod & ring->mask) * ring->stride;
}

/* A queue without a ring has limit 0 and is always full. */
static inline bool hroce_prod_full(struct hroce_prod_ring *ring)
{
	if (ring->prod - ring->cons < ring->limit)
		return false;
	if (!ring->limit)
		return true;
	ring->cons = hroce_load_acquire(ring->shared_cons);
	return ring->prod - ring->cons >= ring->limit;
}

/* Publish all entries before @prod. */
static inline void hroce_prod_publish(struct hroce_prod_ring *ring)
{
	hroce_store_release(ring->shared_prod, ring->prod);
}

/* Publish entries. Return: true if the kernel asks for a kick. */
static inline bool hroce_prod_publish_and_look(struct hroce_prod_ring *ring,
					       const uint32_t *need_kick)
{
	hroce_prod_publish(ring);
	hroce_full_barrier();
	return __atomic_load_n(need_kick, __ATOMIC_RELAXED);
}

/* Resume from the kernel's indices after it has emptied the queue (reset). */
static inline void hroce_prod_resync(struct hroce_prod_ring *ring)
{
	if (!ring->limit)
		return;
	ring->prod = hroce_load_acquire(ring->shared_prod);
	ring->cons = hroce_load_acquire(ring->shared_cons);
}

static inline void hroce_cons_init(struct hroce_cons_ring *ring,
				   const struct hroce_map *map,
				   const struct hroce_ring_info *info,
				   uint32_t *shared_cons)
{
	*ring = (struct hroce_cons_ring) {
		.entries = (uint8_t *)map->base + HROCE_RING_ENTRIES_OFFSET,
		.shared_cons = shared_cons,
		.nr_entries = info->nr_entries,
		.stride = info->stride,
	};
}

/* Entry at free-running index @idx, or NULL if it is not valid yet. */
static inline struct hroce_cqe *
hroce_cons_at(const struct hroce_cons_ring *ring, uint32_t idx)
{
	size_t slot = idx & (ring->nr_entries - 1);
	struct hroce_cqe *cqe =
		(struct hroce_cqe *)(ring->entries + slot * ring->stride);
	bool phase = hroce_load_acquire(&cqe->owner) & HROCE_CQE_PHASE;

	return phase == !(idx & ring->nr_entries) ? cqe : NULL;
}

static inline struct hroce_cqe *
hroce_cons_peek(const struct hroce_cons_ring *ring)
{
	return hroce_cons_at(ring, ring->cons);
}

/* Consume the current entry; hroce_cons_publish() tells the kernel. */
static inline void hroce_cons_advance(struct hroce_cons_ring *ring)
{
	ring->cons++;
}

/* Return all entries before @cons to the kernel. */
static inline void hroce_cons_publish(struct hroce_cons_ring *ring)
{
	ring->published = ring->cons;
	hroce_store_release(ring->shared_cons, ring->cons);
}

/* The same, if they are a quarter of the ring: for who consumes without an end. */
static inline void hroce_cons_publish_many(struct hroce_cons_ring *ring)
{
	if (ring->cons - ring->published >= ring->nr_entries / 4)
		hroce_cons_publish(ring);
}

#endif /* HROCE_RING_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of packets that came too early: requests, see proto/keep.h, and answers,
 * see proto/ahead.h.
 */
#ifndef HROCE_KEEP_H
#define HROCE_KEEP_H

#include "../proto/keep.h"

struct hroce_dev;
struct hroce_qp;

/**
 * struct hroce_kept - a copy of a packet
 * @proto: part of the engine
 * @payload: &hrp_pkt.payload_len bytes: @bytes, or pages
 * @charged: bytes of memory that the link has been charged for
 * @bytes: short payload
 */
struct hroce_kept {
	struct hrp_kept proto;
	void *payload;
	u32 charged;
	u8 bytes[];
};

static inline struct hroce_kept *to_hkept(struct hrp_kept *proto)
{
	return container_of(proto, struct hroce_kept, proto);
}

/**
 * hroce_keep_create - begin to keep packets
 * @qp: queue pair
 * @psn: where the gap begins
 *
 * Context: softirq or BH disabled.
 * Return: what hrp_keep_open() or hrp_ahead_open() takes; NULL if the link keeps
 * none, or there is no memory.
 */
struct hrp_keep *hroce_keep_create(struct hroce_qp *qp, u32 psn);

/**
 * hroce_keep_alloc - allocate memory for a packet
 * @qp: queue pair; HRP_RX_KEEP was returned
 * @keep: from hroce_keep_create()
 * @psn: where the gap before it begins
 * @pkt: the packet
 *
 * If anything but hrp_keep_put() follows, the caller frees it.
 * Context: softirq or BH disabled, the lock that guards @keep held.
 * Return: packet with @pkt, without payload; NULL if it cannot be kept.
 */
struct hroce_kept *hroce_keep_alloc(struct hroce_qp *qp, struct hrp_keep *keep,
				    u32 psn, const struct hrp_pkt *pkt);

/**
 * hroce_keep_free - free a packet
 * @qp: queue pair
 * @keep: as for hroce_keep_alloc()
 * @kept: not in the table any more
 *
 * Context: as hroce_keep_alloc().
 */
void hroce_keep_free(struct hroce_qp *qp, struct hrp_keep *keep,
		     struct hroce_kept *kept);

/**
 * hroce_keep_destroy - free all that a queue pair kept
 * @qp: queue pair
 * @keep: closed, may be NULL
 *
 * At once, or by a worker if they are many. Context: any but hard interrupts.
 */
void hroce_keep_destroy(struct hroce_qp *qp, struct hrp_keep *keep);

/* MB of memory that all links may take; 0: none is kept. May change at any time. */
extern u32 hroce_keep_host_mb;

/* Set hroce_keep_host_mb to its default. Context: module init. */
void hroce_keep_setup(void);

/**
 * hroce_keep_init - have old packets given up when memory is short
 * @dev: device
 *
 * If there is no memory for that, only the bounds of the link, which is set, and
 * of the host hold.
 * Context: process, may sleep.
 */
void hroce_keep_init(struct hroce_dev *dev);

/* Counterpart of hroce_keep_init(), without queue pairs. */
void hroce_keep_fini(struct hroce_dev *dev);

#endif /* HROCE_KEEP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Second links: which link has which, and the second ways of its queue pairs, see
 * datapath/second.h.
 */
#ifndef HROCE_VERBS_SECOND_H
#define HROCE_VERBS_SECOND_H

#include <linux/types.h>

struct hroce_dev;
struct hroce_qp;
struct hroce_second;

/* Initialise what a device has for it. */
void hroce_second_init(struct hroce_dev *dev);

/**
 * hroce_second_enter - a device is being registered: others may choose it
 * @dev: device; its name is set
 *
 * Context: process, may sleep.
 */
void hroce_second_enter(struct hroce_dev *dev);

/**
 * hroce_second_fini - a device is no second link any more, and has none
 * @dev: device without queue pairs; those of others may use it
 *
 * Context: process, may sleep.
 */
void hroce_second_fini(struct hroce_dev *dev);

/**
 * hroce_second_set - choose the second link of a link
 * @dev: device; its queue pairs that are connected from now on use it
 * @name: name of another device of hroce; "" for none
 *
 * Two links may be the second one of each other: a second way leads no further.
 *
 * Context: process, may sleep.
 * Return: 0; -ENODEV: there is no such device, or it is one of hardware; -EINVAL:
 * it is @dev; -EXDEV: its netdev is in another network namespace.
 */
int hroce_second_set(struct hroce_dev *dev, const char *name);

/**
 * hroce_second_name - find the name of the second link
 * @dev: device
 * @name: set to it, or to ""
 * @size: bytes at @name
 *
 * Context: process, may sleep.
 */
void hroce_second_name(const struct hroce_dev *dev, char *name, size_t size);

/**
 * hroce_second_add - offer a second way
 * @qp: queue pair that has gone to RTR
 *
 * If its link has a second one, with an address of the same family and a netdev
 * for packets as long; without memory or numbers there is none, either.
 * Context: process, may sleep, @qp->modify_lock held.
 */
void hroce_second_add(struct hroce_qp *qp);

/**
 * hroce_second_start - ask the peer for its second address
 * @qp: queue pair that has gone to RTS
 *
 * Context: process, @qp->modify_lock held.
 */
void hroce_second_start(struct hroce_qp *qp);

/**
 * hroce_second_unhook - nobody is to find the second way any more
 * @qp: queue pair that is about to be stopped by hroce_qp_stop()
 *
 * Context: process, may sleep.
 * Return: it, for hroce_second_free(); NULL if there is none.
 */
struct hroce_second *hroce_second_unhook(struct hroce_qp *qp);

/**
 * hroce_second_free - free a second way
 * @second: from hroce_second_unhook(); its queue pair is stopped. May be NULL
 *
 * Context: process, may sleep.
 */
void hroce_second_free(struct hroce_second *second);

/**
 * hroce_second_down - the netdev of a device is down
 * @dev: device
 *
 * Queue pairs that have another way take it at once. Context: process, may sleep.
 */
void hroce_second_down(struct hroce_dev *dev);

#endif /* HROCE_VERBS_SECOND_H */

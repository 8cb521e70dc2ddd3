/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Busy polling: a process that polls an empty CQ polls the NAPI instance that
 * brought the last frame for it. A message then waits neither for an interrupt
 * nor for the moderation of interrupts.
 */
#ifndef HROCE_BUSY_H
#define HROCE_BUSY_H

#include <linux/types.h>

struct hroce_qp;

/**
 * hroce_busy_note - remember where frames for a queue pair come from
 * @qp: queue pair that gets a packet
 * @napi: NAPI instance that brought it, from hroce_rx_napi()
 *
 * Tells the pollers of its CQs to poll for @qp.
 *
 * Context: softirq or BH disabled; @qp is in use.
 */
void hroce_busy_note(struct hroce_qp *qp, u32 napi);

/**
 * hroce_busy_napi - the NAPI instance to poll for a queue pair
 * @qp: queue pair
 *
 * Context: epoch.
 * Return: argument of hroce_busy_poll(), or 0 if there is none, or the link
 * does not poll. The CQs of @qp then stop to name it.
 */
u32 hroce_busy_napi(struct hroce_qp *qp);

/**
 * hroce_busy_poll - poll a NAPI instance once
 * @napi: from hroce_busy_napi(); it may be gone by now
 *
 * Frames are received as in the softirq, before this returns.
 *
 * Context: process, no epoch.
 */
void hroce_busy_poll(u32 napi);

#endif /* HROCE_BUSY_H */

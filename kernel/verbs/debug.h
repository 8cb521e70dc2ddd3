/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Per-link switches in debugfs, directory hroce/NAME:
 *   gso		N: each packet is a frame of its own
 *   elide_icrc		N: frames have an ICRC even if they stay on this host
 *   local		N: packets to links of this host are frames, which packet
 *			taps see
 *   strict		N: frames pass by the rules of netfilter but for those of
 *			its ingress and egress hooks
 *   take_turns		N: a kick does not leave the CPU to who polls for it
 * They may be turned at any time; what is being sent then goes either way.
 *   poll_us		a thread looks into the send queues, so that who posts need
 *			not kick, until there was nothing to do for that many
 *			microseconds; 0: there is none; see poller.h
 * Beside the links, the file icrc_method names the ways to compute the ICRC, and
 * takes the name of the one that is to be used from now on: EOPNOTSUPP if the
 * CPU cannot, EINVAL if there is none such.
 */
#ifndef HROCE_DEBUG_H
#define HROCE_DEBUG_H

struct hroce_dev;
struct ib_device;

/**
 * hroce_debug_init - make the directory of all links
 *
 * As everywhere with debugfs, nothing fails if there is none.
 * Context: process, may sleep.
 */
void hroce_debug_init(void);
void hroce_debug_exit(void);

/**
 * hroce_debug_add - make the files of a link
 * @ibdev: being registered, has its name
 *
 * Context: process, may sleep.
 * Return: 0.
 */
int hroce_debug_add(struct ib_device *ibdev);

/* Counterpart of hroce_debug_add(); does nothing without it. */
void hroce_debug_del(struct hroce_dev *dev);

#endif /* HROCE_DEBUG_H */

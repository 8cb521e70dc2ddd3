/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kick descriptor: its ioctl starts processing of a send queue. */
#ifndef HROCE_KICK_H
#define HROCE_KICK_H

#include <stdbool.h>
#include <stdint.h>

/**
 * hroce_kick_open - get the kick descriptor of a context
 * @cmd_fd: command descriptor of the context
 *
 * Return: a descriptor to be closed by close(), or -1 with errno set.
 */
int hroce_kick_open(int cmd_fd);

/**
 * hroce_kick - make the kernel process a queue pair
 * @kick_fd: from hroce_kick_open()
 * @qpn: number of the queue pair
 *
 * Return: 0, or EIO if the device has been removed: nothing completes any more.
 * IBV_EVENT_DEVICE_FATAL reports that, too.
 */
int hroce_kick(int kick_fd, uint32_t qpn);

/**
 * hroce_kick_poll - make the kernel look for frames of a queue pair
 * @kick_fd: from hroce_kick_open()
 * @qpn: number of the queue pair
 *
 * Return: true if it did.
 */
bool hroce_kick_poll(int kick_fd, uint32_t qpn);

#endif /* HROCE_KICK_H */

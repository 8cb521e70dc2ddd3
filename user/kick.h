/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The kick descriptor, whose ioctl sends what a send queue holds. */
#ifndef HROCE_KICK_H
#define HROCE_KICK_H

#include <stdint.h>

/**
 * hroce_kick_open - get the kick descriptor of a context
 * @cmd_fd: command descriptor of the context
 *
 * Return: a descriptor to be closed by close(), or -1 with errno set.
 */
int hroce_kick_open(int cmd_fd);

/**
 * hroce_kick - have a queue pair send
 * @kick_fd: from hroce_kick_open()
 * @qpn: number of the queue pair
 *
 * Has no result: the only error that can come is that the device is gone,
 * which the application learns from IBV_EVENT_DEVICE_FATAL.
 */
void hroce_kick(int kick_fd, uint32_t qpn);

#endif /* HROCE_KICK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* The kick descriptor: user space asks the kernel to run a send queue. */
#ifndef HROCE_KICK_H
#define HROCE_KICK_H

#include <rdma/uverbs_ioctl.h>

/* ib_device.driver_def: adds HROCE_OBJECT_KICK. */
extern const struct uapi_definition hroce_kick_defs[];

#endif /* HROCE_KICK_H */

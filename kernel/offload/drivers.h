/* SPDX-License-Identifier: GPL-2.0 */
/* Drivers whose hardware is used: the module parameter offload_drivers. */
#ifndef HROCE_OFFLOAD_DRIVERS_H
#define HROCE_OFFLOAD_DRIVERS_H

#include <linux/types.h>

/**
 * hroce_driver_is_eligible - may links stand for devices of a driver?
 * @driver_id: enum rdma_driver_id, by which libibverbs finds providers, too
 *
 * Context: any.
 * Return: true if the administrator said so.
 */
bool hroce_driver_is_eligible(u32 driver_id);

#endif /* HROCE_OFFLOAD_DRIVERS_H */

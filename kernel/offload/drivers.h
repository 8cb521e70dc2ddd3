/* SPDX-License-Identifier: GPL-2.0 */
/* Drivers whose hardware links may use: module parameter offload_drivers. */
#ifndef HROCE_OFFLOAD_DRIVERS_H
#define HROCE_OFFLOAD_DRIVERS_H

#include <linux/types.h>

/**
 * hroce_driver_is_eligible - may links use devices of a driver?
 * @driver_id: enum rdma_driver_id, which libibverbs also uses to find providers
 *
 * Context: any.
 * Return: true if offload_drivers lists the driver.
 */
bool hroce_driver_is_eligible(u32 driver_id);

#endif /* HROCE_OFFLOAD_DRIVERS_H */

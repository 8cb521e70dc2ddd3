/* SPDX-License-Identifier: GPL-2.0 */
/* Partition keys: the table of a port, which the administrator fills. */
#ifndef HROCE_VERBS_PKEY_H
#define HROCE_VERBS_PKEY_H

#include <linux/device.h>
#include "../datapath/pkey.h"

/* The file set_pkey in /sys/class/infiniband/NAME. */
extern struct device_attribute hroce_attr_set_pkey;

/**
 * hroce_pkey_init - use the table of the owner
 * @dev: device
 */
void hroce_pkey_init(struct hroce_dev *dev);

#endif /* HROCE_VERBS_PKEY_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Files of a device in /sys/class/infiniband/NAME. */
#ifndef HROCE_VERBS_SYSFS_H
#define HROCE_VERBS_SYSFS_H

struct attribute_group;

/* The files of both modes of a link; the owner has a group of its own. */
extern const struct attribute_group hroce_device_group;

#endif /* HROCE_VERBS_SYSFS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directory "offload" of a link in /sys/class/infiniband/NAME:
 *   mode	software or hardware
 *   lower	device and port that the link uses, or could use
 *   reason	reason for the mode
 *   policy	auto, software or hardware; writable
 *   flips	number of changes of the mode
 */
#ifndef HROCE_LINK_SYSFS_H
#define HROCE_LINK_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group hroce_link_group;

#endif /* HROCE_LINK_SYSFS_H */

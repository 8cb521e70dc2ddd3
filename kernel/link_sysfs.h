/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directory offload of a link in /sys/class/infiniband/NAME:
 *   mode	software or hardware
 *   lower	device and port that the link stands for, or could
 *   reason	why
 *   policy	auto, software or hardware; may be written
 *   flips	how often the mode has changed
 */
#ifndef HROCE_LINK_SYSFS_H
#define HROCE_LINK_SYSFS_H

#include <linux/sysfs.h>

extern const struct attribute_group hroce_link_group;

#endif /* HROCE_LINK_SYSFS_H */

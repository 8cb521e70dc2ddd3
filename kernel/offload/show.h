/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directory offload of a link in /sys/class/infiniband/NAME:
 *   mode	software or hardware
 *   lower	device and port that the link stands for, or could
 *   reason	why
 *   policy	auto, software or hardware; may be written
 *   flips	how often the mode has changed
 */
#ifndef HROCE_OFFLOAD_SHOW_H
#define HROCE_OFFLOAD_SHOW_H

#include <linux/sysfs.h>

extern const struct attribute_group hroce_show_group;

#endif /* HROCE_OFFLOAD_SHOW_H */

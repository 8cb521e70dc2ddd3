/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of a link in debugfs. */
#ifndef HROCE_DEBUG_KNOB_H
#define HROCE_DEBUG_KNOB_H

#include <linux/debugfs.h>
#include <linux/fs.h>
#include "../datapath/dev.h"

/* A number, @field of struct hroce_dev, from @min to @max. */
#define HROCE_KNOB(name, field, min, max)				\
static int name##_get(void *data, u64 *val)				\
{									\
	const struct hroce_dev *dev = data;				\
									\
	*val = READ_ONCE(dev->field);					\
	return 0;							\
}									\
									\
static int name##_set(void *data, u64 val)				\
{									\
	struct hroce_dev *dev = data;					\
									\
	if (val < (min) || val > (max))					\
		return -EINVAL;						\
	WRITE_ONCE(dev->field, val);					\
	return 0;							\
}									\
									\
DEFINE_DEBUGFS_ATTRIBUTE(name##_fops, name##_get, name##_set, "%llu\n")

#endif /* HROCE_DEBUG_KNOB_H */

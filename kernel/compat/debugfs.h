/* SPDX-License-Identifier: GPL-2.0 */
/* For the file that has the switches of links. */
#ifndef HROCE_COMPAT_DEBUGFS_H
#define HROCE_COMPAT_DEBUGFS_H

#include <linux/debugfs.h>
#include <linux/slab.h>

/* Before 6.14 it took both directories and the name. */
#ifndef HROCE_HAVE_DEBUGFS_CHANGE_NAME
static inline __printf(2, 3) int
debugfs_change_name(struct dentry *dentry, const char *fmt, ...)
{
	struct dentry *renamed;
	const char *name;
	va_list args;

	if (IS_ERR_OR_NULL(dentry))
		return 0;
	va_start(args, fmt);
	name = kvasprintf_const(GFP_KERNEL, fmt, args);
	va_end(args);
	if (!name)
		return -ENOMEM;
	renamed = debugfs_rename(dentry->d_parent, dentry, dentry->d_parent,
				 name);
	kfree_const(name);
	return PTR_ERR_OR_ZERO(renamed);
}
#endif

#endif /* HROCE_COMPAT_DEBUGFS_H */

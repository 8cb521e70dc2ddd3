// SPDX-License-Identifier: GPL-2.0
/* debugfs_change_name(): 6.14 on. */
#include <linux/debugfs.h>

int probe(struct dentry *dentry);
int probe(struct dentry *dentry)
{
	return debugfs_change_name(dentry, "%s", "probe");
}

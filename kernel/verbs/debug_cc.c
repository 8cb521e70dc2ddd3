// SPDX-License-Identifier: GPL-2.0
/*
 * Controls of congestion in debugfs: that of the link, and those of service
 * levels that have their own.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include "../proto/cc.h"
#include "debug.h"
#include "device.h"

/* Of a service level: the control of the link. */
#define NAME_LINK	"link"

/* HRP_CC_NR if no control has that name. */
static u8 cc_find(const char *name)
{
	u8 cc;

	for (cc = 0; cc < HRP_CC_NR; cc++)
		if (!strcmp(name, hrp_cc_of(cc)->name))
			break;
	return cc;
}

/* All controls, that of new queue pairs in brackets. */
static int cc_show(struct seq_file *file, void *unused)
{
	const struct hroce_dev *dev = file->private;
	u8 cc, now = READ_ONCE(dev->cc);

	for (cc = 0; cc < HRP_CC_NR; cc++)
		seq_printf(file, cc == now ? "%s[%s]" : "%s%s", cc ? " " : "",
			   hrp_cc_of(cc)->name);
	seq_putc(file, '\n');
	return 0;
}

static ssize_t cc_write(struct file *file, const char __user *buf, size_t len,
			loff_t *pos)
{
	struct hroce_dev *dev = file_inode(file)->i_private;
	char name[16];
	int err;
	u8 cc;

	err = hroce_debug_words(name, sizeof(name), buf, len, *pos);
	if (err)
		return err;
	cc = cc_find(strim(name));
	if (cc == HRP_CC_NR)
		return -EINVAL;
	WRITE_ONCE(dev->cc, cc);
	return len;
}

DEFINE_SHOW_STORE_ATTRIBUTE(cc);

/* A line for each service level. */
static int cc_class_show(struct seq_file *file, void *unused)
{
	const struct hroce_dev *dev = file->private;
	u32 sl;

	for (sl = 0; sl < ARRAY_SIZE(dev->cc_class); sl++) {
		u8 cc = READ_ONCE(dev->cc_class[sl]);

		seq_printf(file, "%u %s\n", sl, cc == HRP_CC_NR ?
			   NAME_LINK : hrp_cc_of(cc)->name);
	}
	return 0;
}

/* "SL CONTROL", or "SL link" */
static ssize_t cc_class_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	struct hroce_dev *dev = file_inode(file)->i_private;
	char words[20], *name = words;
	const char *level;
	int err;
	u8 cc;
	u8 sl;

	err = hroce_debug_words(words, sizeof(words), buf, len, *pos);
	if (err)
		return err;
	name = strim(words);
	level = strsep(&name, " ");
	if (!name || kstrtou8(level, 10, &sl) ||
	    sl >= ARRAY_SIZE(dev->cc_class))
		return -EINVAL;
	name = skip_spaces(name);
	cc = cc_find(name);
	if (cc == HRP_CC_NR && strcmp(name, NAME_LINK))
		return -EINVAL;
	WRITE_ONCE(dev->cc_class[sl], cc);
	return len;
}

DEFINE_SHOW_STORE_ATTRIBUTE(cc_class);

void hroce_debug_add_cc(struct hroce_dev *dev, struct dentry *dir)
{
	debugfs_create_file("cc", 0600, dir, dev, &cc_fops);
	debugfs_create_file("cc_class", 0600, dir, dev, &cc_class_fops);
}

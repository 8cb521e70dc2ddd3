// SPDX-License-Identifier: GPL-2.0
/*
 * Switches for capturing packets and for comparisons. They are in debugfs
 * because they are not a stable interface.
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "../datapath/keep.h"
#include "../datapath/poller.h"
#include "../net/crc.h"
#include "../net/microburst.h"
#include "../proto/spray.h"
#include "debug.h"
#include "debug_knob.h"
#include "device.h"
#include "second.h"
#include "../compat/debugfs.h"

static struct dentry *debug_root;

int hroce_debug_words(char *words, size_t size, const char __user *buf,
		      size_t len, loff_t pos)
{
	if (pos || len >= size)
		return -EINVAL;
	if (copy_from_user(words, buf, len))
		return -EFAULT;
	words[len] = '\0';
	return 0;
}

static int icrc_method_show(struct seq_file *file, void *unused)
{
	hroce_crc_show(file);
	return 0;
}

static ssize_t icrc_method_write(struct file *file, const char __user *buf,
				 size_t len, loff_t *pos)
{
	char name[32];
	int err;

	err = hroce_debug_words(name, sizeof(name), buf, len, *pos);
	if (err)
		return err;
	err = hroce_crc_choose(strim(name));
	return err ?: len;
}

DEFINE_SHOW_STORE_ATTRIBUTE(icrc_method);

static int poll_us_get(void *data, u64 *val)
{
	const struct hroce_dev *dev = data;

	*val = READ_ONCE(dev->poller.poll_us);
	return 0;
}

static int poll_us_set(void *data, u64 val)
{
	return hroce_poller_set(data, val);
}

DEFINE_DEBUGFS_ATTRIBUTE(poll_us_fops, poll_us_get, poll_us_set, "%llu\n");

static int burst_kb_get(void *data, u64 *val)
{
	const struct hroce_dev *dev = data;

	*val = hroce_microburst_kb(&dev->port);
	return 0;
}

static int burst_kb_set(void *data, u64 val)
{
	struct hroce_dev *dev = data;

	return hroce_microburst_set(&dev->port, val);
}

DEFINE_DEBUGFS_ATTRIBUTE(burst_kb_fops, burst_kb_get, burst_kb_set, "%llu\n");

static int bursts_show(struct seq_file *file, void *unused)
{
	struct hroce_dev *dev = file->private;

	hroce_microburst_show(&dev->port, file);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(bursts);

/* The administrator's choice stands, whatever was found. */
static ssize_t gso_write(struct file *file, const char __user *buf, size_t len,
			 loff_t *pos)
{
	bool *gso = file->private_data;

	atomic_set(&container_of(gso, struct hroce_port, gso)->spoils, 0);
	return debugfs_write_file_bool(file, buf, len, pos);
}

static const struct file_operations gso_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = debugfs_read_file_bool,
	.write = gso_write,
	.llseek = default_llseek,
};

HROCE_KNOB(ack_delay_us, ack_delay_us, 0, HROCE_ACK_DELAY_MAX_US);
HROCE_KNOB(keep_mb, keep_mb, 0, HROCE_KEEP_MAX_MB);
HROCE_KNOB(spray, spray, 1, HRP_SPRAY_PATHS);
HROCE_KNOB(np_cnp_dscp, cnp.dscp, 0, HROCE_CNP_DSCP_MAX);
HROCE_KNOB(np_cnp_prio, cnp.prio, 0, HROCE_CNP_PRIO_MAX);
HROCE_KNOB(np_min_time_between_cnps, cnp.min_us, 0, HROCE_CNP_MAX_US);

static int kept_bytes_get(void *data, u64 *val)
{
	const struct hroce_dev *dev = data;

	*val = atomic_long_read(&dev->kept_bytes);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(kept_bytes_fops, kept_bytes_get, NULL, "%llu\n");

static int limits_show(struct seq_file *file, void *unused)
{
	hroce_quota_show(file->private, file);
	return 0;
}

/* Takes a line of hroce_quota_show() without its last number. */
static ssize_t limits_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	struct hroce_dev *dev = file_inode(file)->i_private;
	char line[64], kind[16];
	u32 each, all;
	int err;

	err = hroce_debug_words(line, sizeof(line), buf, len, *pos);
	if (err)
		return err;
	if (sscanf(line, "%15s %u %u", kind, &each, &all) != 3)
		return -EINVAL;
	err = hroce_quota_set(dev, kind, each, all);
	return err ?: len;
}

DEFINE_SHOW_STORE_ATTRIBUTE(limits);

static int second_show(struct seq_file *file, void *unused)
{
	char name[IB_DEVICE_NAME_MAX];

	hroce_second_name(file->private, name, sizeof(name));
	seq_printf(file, "%s\n", name);
	return 0;
}

/* The name of a link, or an empty line. */
static ssize_t second_write(struct file *file, const char __user *buf,
			    size_t len, loff_t *pos)
{
	struct hroce_dev *dev = file_inode(file)->i_private;
	char name[IB_DEVICE_NAME_MAX + 1];
	int err;

	err = hroce_debug_words(name, sizeof(name), buf, len, *pos);
	if (err)
		return err;
	err = hroce_second_set(dev, strim(name));
	return err ?: len;
}

DEFINE_SHOW_STORE_ATTRIBUTE(second);

void hroce_debug_init(void)
{
	debug_root = debugfs_create_dir("hroce", NULL);
	debugfs_create_file("icrc_method", 0600, debug_root, NULL,
			    &icrc_method_fops);
	debugfs_create_u32("keep_mb", 0600, debug_root, &hroce_keep_host_mb);
}

void hroce_debug_exit(void)
{
	debugfs_remove_recursive(debug_root);
}

void hroce_debug_add(struct hroce_dev *dev)
{
	struct dentry *dir;

	dir = debugfs_create_dir(dev->ib.name, debug_root);
	debugfs_create_file("gso", 0600, dir, &dev->port.gso, &gso_fops);
	debugfs_create_bool("gro", 0600, dir, &dev->port.gro);
	debugfs_create_bool("elide_icrc", 0600, dir, &dev->port.elide_icrc);
	debugfs_create_bool("local", 0600, dir, &dev->port.local);
	debugfs_create_bool("strict", 0600, dir, &dev->port.strict);
	debugfs_create_bool("rehash", 0600, dir, &dev->port.rehash);
	debugfs_create_bool("flowlet", 0600, dir, &dev->port.flowlet);
	debugfs_create_bool("hand_over", 0600, dir, &dev->hand_over);
	debugfs_create_bool("busy_poll", 0600, dir, &dev->busy_poll);
	debugfs_create_bool("np_enable", 0600, dir, &dev->cnp.enable);
	debugfs_create_bool("rp_enable", 0600, dir, &dev->cnp.obey);
	debugfs_create_bool("agree_mtu", 0600, dir, &dev->agree_mtu);
	debugfs_create_bool("sack", 0600, dir, &dev->sack);
	debugfs_create_file_unsafe("spray", 0600, dir, dev, &spray_fops);
	hroce_debug_add_cc(dev, dir);
	debugfs_create_file_unsafe("np_cnp_dscp", 0600, dir, dev,
				   &np_cnp_dscp_fops);
	debugfs_create_file_unsafe("np_cnp_prio", 0600, dir, dev,
				   &np_cnp_prio_fops);
	debugfs_create_file_unsafe("np_min_time_between_cnps", 0600, dir, dev,
				   &np_min_time_between_cnps_fops);
	hroce_debug_add_rp(dev, dir);
	debugfs_create_file_unsafe("ack_delay_us", 0600, dir, dev,
				   &ack_delay_us_fops);
	debugfs_create_file_unsafe("keep_mb", 0600, dir, dev, &keep_mb_fops);
	debugfs_create_file_unsafe("kept_bytes", 0400, dir, dev,
				   &kept_bytes_fops);
	debugfs_create_file_unsafe("poll_us", 0600, dir, dev, &poll_us_fops);
	debugfs_create_file("limits", 0600, dir, dev, &limits_fops);
	debugfs_create_file("second", 0600, dir, dev, &second_fops);
	debugfs_create_file_unsafe("burst_kb", 0600, dir, dev, &burst_kb_fops);
	debugfs_create_file("bursts", 0400, dir, dev, &bursts_fops);
	to_hibdev(&dev->ib)->debug = dir;
}

void hroce_debug_rename(struct hroce_dev *dev)
{
	debugfs_change_name(to_hibdev(&dev->ib)->debug, "%s", dev->ib.name);
}

void hroce_debug_del(struct hroce_dev *dev)
{
	debugfs_remove_recursive(to_hibdev(&dev->ib)->debug);
}

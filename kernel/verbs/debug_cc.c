// SPDX-License-Identifier: GPL-2.0
/*
 * Controls of congestion in debugfs: that of the link, and those of service
 * levels and queue pairs that have their own.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include "../core/epoch.h"
#include "../datapath/cnp.h"
#include "../datapath/qp.h"
#include "../proto/cc.h"
#include "cc_bpf.h"
#include "debug.h"
#include "device.h"

/* Of a service level: the control of the link. */
#define NAME_LINK	"link"

/* The control of that name, or an error. */
static int cc_find(const char *name)
{
	int cc;

	for (cc = 0; cc < HRP_CC_NR; cc++)
		if (!strcmp(name, hrp_cc_of(cc)->name))
			return cc;
	return strcmp(name, HROCE_CC_BPF_NAME) ? -EINVAL : hroce_cc_bpf_find();
}

/*
 * All controls, that of new queue pairs in brackets, even if its program is
 * gone.
 */
static int cc_show(struct seq_file *file, void *unused)
{
	const struct hroce_dev *dev = file->private;
	u8 cc, now = READ_ONCE(dev->cc);
	u8 nr = HRP_CC_NR;

	if (now == HRP_CC_ADDED || hroce_cc_bpf_find() >= 0)
		nr++;
	for (cc = 0; cc < nr; cc++)
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
	int err, cc;

	err = hroce_debug_words(name, sizeof(name), buf, len, *pos);
	if (err)
		return err;
	cc = cc_find(strim(name));
	if (cc < 0)
		return cc;
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

		seq_printf(file, "%u %s\n", sl, cc == HROCE_CC_LINK ?
			   NAME_LINK : hrp_cc_of(cc)->name);
	}
	return 0;
}

/* "NUMBER CONTROL". Return: the control, or an error. */
static int cc_read(const char __user *buf, size_t len, loff_t pos, u32 *number)
{
	char words[24], *name;
	const char *first;
	int err;

	err = hroce_debug_words(words, sizeof(words), buf, len, pos);
	if (err)
		return err;
	name = strim(words);
	first = strsep(&name, " ");
	if (!name || kstrtou32(first, 0, number))
		return -EINVAL;
	name = skip_spaces(name);
	return strcmp(name, NAME_LINK) ? cc_find(name) : HROCE_CC_LINK;
}

/* "SL CONTROL", or "SL link" */
static ssize_t cc_class_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	struct hroce_dev *dev = file_inode(file)->i_private;
	u32 sl;
	int cc;

	cc = cc_read(buf, len, *pos, &sl);
	if (cc < 0)
		return cc;
	if (sl >= ARRAY_SIZE(dev->cc_class))
		return -EINVAL;
	WRITE_ONCE(dev->cc_class[sl], cc);
	return len;
}

DEFINE_SHOW_STORE_ATTRIBUTE(cc_class);

/* Its state of the other control is forgotten, as if it began to send. */
static int cc_change(struct hroce_qp *qp, u8 cc)
{
	struct hrp_qp *proto = &qp->proto;
	int err = -ENOTCONN;

	if (proto->type == HRP_TYPE_UD ||
	    (cc == HRP_CC_ADDED && !hrp_qp_is_reliable(proto)))
		return -EOPNOTSUPP;
	hroce_qp_lock(qp);
	if (!qp->dead &&
	    (proto->state == HRP_RTS || proto->state == HRP_SQD)) {
		proto->req.cc = cc;
		hrp_cc_start(proto);
		hroce_cnp_choose(qp);
		err = proto->req.cc == cc ? 0 : -ENOMEM;
		/* Nothing waits for the other control any more. */
		set_bit(HROCE_PENDING_SEND_RUN, &proto->pending);
	}
	hroce_qp_unlock(qp);
	hroce_qp_run_pending(qp);
	return err;
}

/* "QPN CONTROL", from now on, until the queue pair is connected anew. */
static ssize_t cc_qp_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	struct hroce_dev *dev = file_inode(file)->i_private;
	struct hroce_qp *qp;
	int err, cc;
	u32 qpn;

	cc = cc_read(buf, len, *pos, &qpn);
	if (cc < 0)
		return cc;
	if (cc == HROCE_CC_LINK)
		return -EINVAL;
	hroce_epoch_enter();
	qp = hroce_qp_find(dev, qpn);
	err = qp ? cc_change(qp, cc) : -ENOENT;
	hroce_epoch_leave();
	return err ?: len;
}

static const struct file_operations cc_qp_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = cc_qp_write,
};

void hroce_debug_add_cc(struct hroce_dev *dev, struct dentry *dir)
{
	debugfs_create_file("cc", 0600, dir, dev, &cc_fops);
	debugfs_create_file("cc_class", 0600, dir, dev, &cc_class_fops);
	debugfs_create_file("cc_qp", 0200, dir, dev, &cc_qp_fops);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Switches of a link in debugfs, directory hroce/NAME, and of the module beside
 * them. Documentation/admin-guide.rst lists them.
 */
#ifndef HROCE_DEBUG_H
#define HROCE_DEBUG_H

#include <linux/types.h>

struct dentry;
struct hroce_dev;

/**
 * hroce_debug_init - create the directory of all links
 *
 * As usual with debugfs, errors are ignored.
 * Context: process, may sleep.
 */
void hroce_debug_init(void);
void hroce_debug_exit(void);

/**
 * hroce_debug_add - create the files of a link
 * @dev: device that is being registered; its name is set
 *
 * Context: process, may sleep.
 */
void hroce_debug_add(struct hroce_dev *dev);

/**
 * hroce_debug_words - read what a process writes to a file
 * @words: filled in, and ended by a 0
 * @size: bytes at @words
 * @buf: what the process writes
 * @len: bytes at @buf
 * @pos: position in the file
 *
 * Context: process, may sleep.
 * Return: 0; -EINVAL if that is too long, or does not begin at 0; -EFAULT.
 */
int hroce_debug_words(char *words, size_t size, const char __user *buf,
		      size_t len, loff_t pos);

/**
 * hroce_debug_add_cc - create the files that choose the control of congestion
 * @dev: device
 * @dir: its directory
 *
 * Context: process, may sleep.
 */
void hroce_debug_add_cc(struct hroce_dev *dev, struct dentry *dir);

/**
 * hroce_debug_add_rp - create the files of the parameters of DCQCN
 * @dev: device
 * @dir: its directory
 *
 * Context: process, may sleep.
 */
void hroce_debug_add_rp(struct hroce_dev *dev, struct dentry *dir);

/**
 * hroce_debug_rename - give the directory of a link its new name
 * @dev: device, after hroce_debug_add()
 *
 * Context: process, may sleep; a lock of ib_core keeps the name.
 */
void hroce_debug_rename(struct hroce_dev *dev);

/* Counterpart of hroce_debug_add(); does nothing without it. */
void hroce_debug_del(struct hroce_dev *dev);

#endif /* HROCE_DEBUG_H */

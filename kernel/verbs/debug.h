/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Switches of a link in debugfs, directory hroce/NAME, and of the module beside
 * them. Documentation/admin-guide.rst lists them.
 */
#ifndef HROCE_DEBUG_H
#define HROCE_DEBUG_H

struct hroce_dev;
struct ib_device;

/**
 * hroce_debug_init - make the directory of all links
 *
 * As everywhere with debugfs, nothing fails if there is none.
 * Context: process, may sleep.
 */
void hroce_debug_init(void);
void hroce_debug_exit(void);

/**
 * hroce_debug_add - make the files of a link
 * @ibdev: being registered, has its name
 *
 * Context: process, may sleep.
 * Return: 0.
 */
int hroce_debug_add(struct ib_device *ibdev);

/* Counterpart of hroce_debug_add(); does nothing without it. */
void hroce_debug_del(struct hroce_dev *dev);

#endif /* HROCE_DEBUG_H */

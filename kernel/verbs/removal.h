/* SPDX-License-Identifier: GPL-2.0 */
/* Flush queue pairs of user space on removal of their device. */
#ifndef HROCE_REMOVAL_H
#define HROCE_REMOVAL_H

/**
 * hroce_removal_init - begin to hear of the removal of devices
 *
 * Context: process.
 * Return: 0 or negative errno.
 */
int hroce_removal_init(void);
void hroce_removal_exit(void);

#endif /* HROCE_REMOVAL_H */

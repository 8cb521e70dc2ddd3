/* SPDX-License-Identifier: GPL-2.0 */
/* Flush queue pairs of user space on removal of their device. */
#ifndef HROCE_REMOVAL_H
#define HROCE_REMOVAL_H

/**
 * hroce_removal_init - register as a client of ib_core
 *
 * Context: process.
 * Return: 0 or negative errno.
 */
int hroce_removal_init(void);
void hroce_removal_exit(void);

#endif /* HROCE_REMOVAL_H */

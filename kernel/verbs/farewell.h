/* SPDX-License-Identifier: GPL-2.0 */
/* Telling those who poll that their device goes. */
#ifndef HROCE_FAREWELL_H
#define HROCE_FAREWELL_H

/**
 * hroce_farewell_init - flush queue pairs of user space before devices go
 *
 * Context: process.
 * Return: 0 or negative errno.
 */
int hroce_farewell_init(void);
void hroce_farewell_exit(void);

#endif /* HROCE_FAREWELL_H */

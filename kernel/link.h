/* SPDX-License-Identifier: GPL-2.0 */
/* Links: `rdma link add`, and what happens to the netdev below. */
#ifndef HROCE_LINK_H
#define HROCE_LINK_H

/**
 * hroce_link_init - offer links of type hroce and follow network devices
 *
 * Context: process.
 * Return: 0 or negative errno.
 */
int hroce_link_init(void);

/**
 * hroce_link_exit - counterpart of hroce_link_init(); removes all links
 *
 * Context: process, sleeps until the last user is gone.
 */
void hroce_link_exit(void);

#endif /* HROCE_LINK_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The libibverbs that this process runs with. */
#ifndef HROCE_LIBRARY_H
#define HROCE_LIBRARY_H

/**
 * hroce_library_file - find the file of the running libibverbs
 *
 * Return: its path without symbolic links, to be freed; NULL if unknown.
 */
char *hroce_library_file(void);

#endif /* HROCE_LIBRARY_H */

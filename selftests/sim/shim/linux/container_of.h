/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: from a member to its structure. */
#ifndef SHIM_LINUX_CONTAINER_OF_H
#define SHIM_LINUX_CONTAINER_OF_H

#include <stddef.h>

#define container_of(p, type, member) \
	((type *)((char *)(p) - offsetof(type, member)))

#endif /* SHIM_LINUX_CONTAINER_OF_H */

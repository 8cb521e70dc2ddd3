/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: length of an array. */
#ifndef SHIM_LINUX_ARRAY_SIZE_H
#define SHIM_LINUX_ARRAY_SIZE_H

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* SHIM_LINUX_ARRAY_SIZE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: bounds of the kernel's integer types. */
#ifndef SHIM_LINUX_LIMITS_H
#define SHIM_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define U8_MAX	0xffU
#define U16_MAX	0xffffU
#define U32_MAX	0xffffffffU
#define U64_MAX	0xffffffffffffffffULL

#endif /* SHIM_LINUX_LIMITS_H */

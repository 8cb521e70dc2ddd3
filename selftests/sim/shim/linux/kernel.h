/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: what the kernel gathers under this name, as far as it is here. */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <linux/types.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#endif /* SHIM_LINUX_KERNEL_H */

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_STDLIB_H
#define SHIM_STDLIB_H

#include <linux/slab.h>

static inline void *malloc(size_t size)
{
	return kmalloc(size, GFP_KERNEL | __GFP_NOFAIL);
}

static inline void *calloc(size_t n, size_t size)
{
	return kcalloc(n, size, GFP_KERNEL | __GFP_NOFAIL);
}

static inline void free(void *p)
{
	kfree(p);
}

#endif /* SHIM_STDLIB_H */

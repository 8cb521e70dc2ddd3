/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: a broken invariant ends the test. */
#ifndef SHIM_LINUX_BUG_H
#define SHIM_LINUX_BUG_H

#include <stdio.h>
#include <stdlib.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>

#define WARN_ON(cond) ({ \
	if (unlikely(cond)) { \
		fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
		abort(); \
	} \
	0; \
})
#define WARN_ON_ONCE(cond)	WARN_ON(cond)

#endif /* SHIM_LINUX_BUG_H */

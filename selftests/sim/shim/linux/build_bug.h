/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: checks at build time. */
#ifndef SHIM_LINUX_BUILD_BUG_H
#define SHIM_LINUX_BUILD_BUG_H

#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
#ifndef static_assert
#define static_assert(...)	SHIM_STATIC_ASSERT(__VA_ARGS__, #__VA_ARGS__, )
#define SHIM_STATIC_ASSERT(expr, msg, ...)	_Static_assert(expr, msg)
#endif

#endif /* SHIM_LINUX_BUILD_BUG_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: rounding. */
#ifndef SHIM_LINUX_MATH_H
#define SHIM_LINUX_MATH_H

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define SHIM_MASK(x, a)		((__typeof__(x))(a) - 1)
#define round_up(x, a)		((((x) - 1) | SHIM_MASK(x, a)) + 1)
#define round_down(x, a)	((x) & ~SHIM_MASK(x, a))
#define ALIGN(x, a)		(((x) + SHIM_MASK(x, a)) & ~SHIM_MASK(x, a))
#define IS_ALIGNED(x, a)	(((x) & SHIM_MASK(x, a)) == 0)

#endif /* SHIM_LINUX_MATH_H */

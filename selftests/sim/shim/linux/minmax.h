/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: both arguments must have one type, as kernels before 6.7 demand. */
#ifndef SHIM_LINUX_MINMAX_H
#define SHIM_LINUX_MINMAX_H

#define SHIM_PICK(a, op, b) ({ \
	__typeof__(a) shim_a = (a); \
	__typeof__(b) shim_b = (b); \
	(void)(&shim_a == &shim_b); \
	shim_a op shim_b ? shim_a : shim_b; \
})

#define min(a, b)		SHIM_PICK(a, <, b)
#define max(a, b)		SHIM_PICK(a, >, b)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define min3(a, b, c)		min(min(a, b), c)
#define min_not_zero(a, b)	(!(a) ? (b) : !(b) ? (a) : min(a, b))
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define swap(a, b) \
	do { \
		__typeof__(a) shim_tmp = (a); \
		(a) = (b); \
		(b) = shim_tmp; \
	} while (0)

#endif /* SHIM_LINUX_MINMAX_H */

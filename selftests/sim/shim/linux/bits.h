/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: single bits. */
#ifndef SHIM_LINUX_BITS_H
#define SHIM_LINUX_BITS_H

#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define GENMASK(h, l)	((2UL << (h)) - (1UL << (l)))

#endif /* SHIM_LINUX_BITS_H */

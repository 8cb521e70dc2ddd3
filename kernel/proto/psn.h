/* SPDX-License-Identifier: GPL-2.0 */
/* Packet sequence numbers: 24 bits, compared modulo 2^24 (IBTA 9.7.1). */
#ifndef HRP_PSN_H
#define HRP_PSN_H

#include <linux/types.h>

#define HRP_PSN_MASK	0xffffffu

/* The valid PSN region holds 2^23 PSNs (IBTA 9.7.1): half of the circle. */
#define HRP_PSN_WINDOW	(1u << 23)

/**
 * hrp_psn_add - advance a PSN
 * @psn: 24-bit PSN
 * @n: packets to advance by, modulo 2^24
 *
 * Return: @psn + @n modulo 2^24.
 */
static inline u32 hrp_psn_add(u32 psn, u32 n)
{
	return (psn + n) & HRP_PSN_MASK;
}

/**
 * hrp_psn_diff - signed distance between two PSNs
 * @a: 24-bit PSN
 * @b: 24-bit PSN
 *
 * Return: @a - @b in -2^23 .. 2^23 - 1; negative if @a is before @b.
 */
static inline s32 hrp_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

#endif /* HRP_PSN_H */

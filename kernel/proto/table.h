/* SPDX-License-Identifier: GPL-2.0 */
/* Time values that attributes and syndromes encode. */
#ifndef HRP_TABLE_H
#define HRP_TABLE_H

#include <linux/types.h>

/**
 * hrp_rnr_delay_ns - RNR NAK timer, IBTA table 45
 * @code: 5-bit code of the AETH or of the min_rnr_timer attribute
 *
 * Return: nanoseconds, 10 us to 655.36 ms.
 */
u64 hrp_rnr_delay_ns(u8 code);

/**
 * hrp_timeout_ns - local ACK timeout, IBTA 9.9.2.1.1
 * @code: 5-bit timeout attribute
 *
 * Return: 4.096 us * 2^@code in nanoseconds; 0, no timeout, if @code is 0.
 */
static inline u64 hrp_timeout_ns(u8 code)
{
	code &= 0x1f;
	return code ? 4096ULL << code : 0;
}

#endif /* HRP_TABLE_H */

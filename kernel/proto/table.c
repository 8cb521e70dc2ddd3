// SPDX-License-Identifier: GPL-2.0
/* Time values that attributes and syndromes encode. */
#include <linux/types.h>
#include "table.h"

#define CODE_MASK	0x1f

/* Units of 10 us; code 0 is the longest (IBTA table 45). */
static const u32 rnr_delays_10us[CODE_MASK + 1] = {
	65536, 1, 2, 3, 4, 6, 8, 12,
	16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072,
	4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

u64 hrp_rnr_delay_ns(u8 code)
{
	return (u64)rnr_delays_10us[code & CODE_MASK] * 10000;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of the ICRC by shifts: needs neither vector registers nor, but for the
 * last bytes, tables; may be used anywhere. Pure computation; also built in user
 * space for tests.
 */
#ifndef HROCE_CRC_SHIFT_H
#define HROCE_CRC_SHIFT_H

#include <linux/types.h>

/* The same as hroce_crc_table_update(), and what is too short is left to it. */
u32 hroce_crc_shift_update(u32 state, const void *p, size_t len);

/* The same as hroce_crc_table_copy(). */
u32 hroce_crc_shift_copy(u32 state, void *dst, const void *src, size_t len);

#endif /* HROCE_CRC_SHIFT_H */

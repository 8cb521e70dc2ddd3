/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of the ICRC by shifts: needs no vector registers, and tables only for
 * the last bytes; usable in any context. Pure computation; also built in user
 * space for tests.
 */
#ifndef HROCE_CRC_SHIFT_H
#define HROCE_CRC_SHIFT_H

#include <linux/types.h>

/* As hroce_crc_table_update(), which it calls for short lengths. */
u32 hroce_crc_shift_update(u32 state, const void *p, size_t len);

/* As hroce_crc_table_copy(). */
u32 hroce_crc_shift_copy(u32 state, void *dst, const void *src, size_t len);

#endif /* HROCE_CRC_SHIFT_H */

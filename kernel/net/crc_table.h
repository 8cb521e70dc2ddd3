/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of the ICRC by tables: needs no vector registers, usable in any
 * context. Pure computation; also built in user space for tests.
 */
#ifndef HROCE_CRC_TABLE_H
#define HROCE_CRC_TABLE_H

#include <linux/types.h>

/* CRC of byte b followed by t zero bytes, at [t][b]. */
extern const u32 hroce_crc_tables[8][256];

/* The same, followed by HROCE_CRC_EARLY more zero bytes. */
extern const u32 hroce_crc_early_tables[2][256];

/**
 * hroce_crc_table_update - continue a CRC
 * @state: CRC state, as in crc32_le()
 * @p: bytes, at any address
 * @len: number of bytes
 *
 * Context: any.
 * Return: new state.
 */
u32 hroce_crc_table_update(u32 state, const void *p, size_t len);

/**
 * hroce_crc_table_copy - copy and continue a CRC in one pass
 * @state: CRC state, as in crc32_le()
 * @dst: destination; the CRC covers the bytes stored there
 * @src: source, not overlapping @dst
 * @len: number of bytes
 *
 * Reads each byte of @src once. Context: any.
 * Return: new state.
 */
u32 hroce_crc_table_copy(u32 state, void *dst, const void *src, size_t len);

/**
 * hroce_crc_table_last - change of a CRC by a change of its last bytes
 * @change: XOR of old and new last four bytes, as a big-endian number
 *
 * Return: XOR of old and new state.
 */
static inline u32 hroce_crc_table_last(u32 change)
{
	return hroce_crc_tables[3][change >> 24] ^
	       hroce_crc_tables[2][(change >> 16) & 0xff] ^
	       hroce_crc_tables[1][(change >> 8) & 0xff] ^
	       hroce_crc_tables[0][change & 0xff];
}

/* Number of bytes behind those that hroce_crc_table_early() changes. */
#define HROCE_CRC_EARLY	34

/**
 * hroce_crc_table_early - change of a CRC by a change of earlier bytes
 * @change: XOR of the old and new two bytes in front of the last
 *	HROCE_CRC_EARLY bytes, as a big-endian number
 *
 * Return: XOR of old and new state.
 */
static inline u32 hroce_crc_table_early(u16 change)
{
	return hroce_crc_early_tables[1][change >> 8] ^
	       hroce_crc_early_tables[0][change & 0xff];
}

#endif /* HROCE_CRC_TABLE_H */

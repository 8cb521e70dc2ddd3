/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of the ICRC by tables: needs no vector registers, may be used
 * anywhere. Pure computation; also built in user space for tests.
 */
#ifndef HROCE_CRC_TABLE_H
#define HROCE_CRC_TABLE_H

#include <linux/types.h>

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
 * @dst: destination; what is stored is what the CRC covers
 * @src: source, not overlapping @dst
 * @len: number of bytes
 *
 * Reads each byte of @src once. Context: any.
 * Return: new state.
 */
u32 hroce_crc_table_copy(u32 state, void *dst, const void *src, size_t len);

#endif /* HROCE_CRC_TABLE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Methods to compute the CRC-32 of the ICRC. Pure computation; also built in
 * user space for tests.
 */
#ifndef HROCE_CRC_METHODS_H
#define HROCE_CRC_METHODS_H

#include <linux/types.h>

/* CRC of byte b followed by t zero bytes, at [t][b]. */
extern u32 hroce_crc_tables[8][256];

/* The same, followed by HROCE_CRC_EARLY more zero bytes. */
extern u32 hroce_crc_early_tables[2][256];

/* Compute the tables. To be called before all else. */
void hroce_crc_tables_init(void);

/**
 * hroce_crc_table - continue a CRC by tables, for short lengths
 * @state: CRC state, as in crc32_le()
 * @dst: the bytes are copied there in the same pass, and the CRC covers those
 *	stored; NULL: no copy
 * @src: bytes, at any address, not overlapping @dst; each is read once
 * @len: number of bytes
 *
 * Context: any.
 * Return: new state.
 */
u32 hroce_crc_table(u32 state, void *dst, const void *src, size_t len);

/* The same by shifts, which takes a third of the time of tables. */
u32 hroce_crc_shift(u32 state, void *dst, const void *src, size_t len);

/*
 * The same by carry-less multiplication, on x86. The caller checks that the CPU
 * has the instructions, and in the kernel that vector registers may be used.
 */

/* 128-bit registers: SSE4.1 and PCLMULQDQ. */
u32 hroce_crc_pclmul(u32 state, void *dst, const void *src, size_t len);

/* 256-bit registers: also AVX2 and VPCLMULQDQ. */
u32 hroce_crc_avx2(u32 state, void *dst, const void *src, size_t len);

/* 512-bit registers: also AVX512F. */
u32 hroce_crc_avx512(u32 state, void *dst, const void *src, size_t len);

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

#endif /* HROCE_CRC_METHODS_H */

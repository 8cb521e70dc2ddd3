// SPDX-License-Identifier: GPL-2.0
/*
 * CRC-32 by eight tables, eight bytes at a time.
 *
 * The kernel's crc32_le() does the same, but cannot copy in the same pass,
 * which is free here. A table is linear over GF(2), so the compiler computes
 * all 256 entries from the eight for single bits: no code runs at load, and the
 * tables are read-only.
 */
#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "crc_table.h"

/*
 * x^32, x^33, ... x^95 modulo the CRC polynomial, reflected. Bit b of the byte
 * for table t stands for x^(32 + 8 * t + 7 - b), so lists run downwards.
 */
#define BITS_0	0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, \
		0x1db71064, 0x3b6e20c8, 0x76dc4190, 0xedb88320
#define BITS_1	0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, \
		0x4ac21251, 0x958424a2, 0xf0794f05, 0x3b83984b
#define BITS_2	0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, \
		0x1c26a370, 0x384d46e0, 0x709a8dc0, 0xe1351b80
#define BITS_3	0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, \
		0x5019579f, 0xa032af3e, 0x9b14583d, 0xed59b63b
#define BITS_4	0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, \
		0x60e09782, 0xc1c12f04, 0x58f35849, 0xb1e6b092
#define BITS_5	0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, \
		0x03d6029b, 0x07ac0536, 0x0f580a6c, 0x1eb014d8
#define BITS_6	0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, \
		0x67de9cce, 0xcfbd399c, 0x440b7579, 0x8816eaf2
#define BITS_7	0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, \
		0x7cbb312b, 0xf9766256, 0x299dc2ed, 0x533b85da

/* The same for bytes followed by HROCE_CRC_EARLY bytes, and by one more. */
#define BITS_34	0xcf9e17c8, 0x444d29d1, 0x889a53a2, 0xca45a105, \
		0x4ffa444b, 0x9ff48896, 0xe498176d, 0x1241289b
#define BITS_35	0x9570d495, 0xf190af6b, 0x38505897, 0x70a0b12e, \
		0xe141625c, 0x19f3c2f9, 0x33e785f2, 0x67cf0be4

#define BIT_OF(i, n, v)	(((i) >> (n)) & 1 ? (v) : 0)
#define ENTRY(i, b0, b1, b2, b3, b4, b5, b6, b7) \
	(BIT_OF(i, 0, b0) ^ BIT_OF(i, 1, b1) ^ BIT_OF(i, 2, b2) ^ \
	 BIT_OF(i, 3, b3) ^ BIT_OF(i, 4, b4) ^ BIT_OF(i, 5, b5) ^ \
	 BIT_OF(i, 6, b6) ^ BIT_OF(i, 7, b7))
#define ENTRY_1(i, ...)	ENTRY(i, __VA_ARGS__)
#define ENTRY_4(i, ...)	ENTRY_1(i, __VA_ARGS__), \
			ENTRY_1((i) + 1, __VA_ARGS__), \
			ENTRY_1((i) + 2, __VA_ARGS__), \
			ENTRY_1((i) + 3, __VA_ARGS__)
#define ENTRY_16(i, ...) ENTRY_4(i, __VA_ARGS__), \
			ENTRY_4((i) + 4, __VA_ARGS__), \
			ENTRY_4((i) + 8, __VA_ARGS__), \
			ENTRY_4((i) + 12, __VA_ARGS__)
#define ENTRY_64(i, ...) ENTRY_16(i, __VA_ARGS__), \
			ENTRY_16((i) + 16, __VA_ARGS__), \
			ENTRY_16((i) + 32, __VA_ARGS__), \
			ENTRY_16((i) + 48, __VA_ARGS__)
#define TABLE(...)	{ ENTRY_64(0, __VA_ARGS__), \
			ENTRY_64(64, __VA_ARGS__), \
			ENTRY_64(128, __VA_ARGS__), \
			ENTRY_64(192, __VA_ARGS__) }

const u32 hroce_crc_tables[8][256] = {
	TABLE(BITS_0), TABLE(BITS_1), TABLE(BITS_2), TABLE(BITS_3),
	TABLE(BITS_4), TABLE(BITS_5), TABLE(BITS_6), TABLE(BITS_7),
};

const u32 hroce_crc_early_tables[2][256] = {
	TABLE(BITS_34), TABLE(BITS_35),
};

static inline u32 crc_byte(u32 state, u8 byte)
{
	return hroce_crc_tables[0][(state ^ byte) & 0xff] ^ (state >> 8);
}

static inline u32 crc_8bytes(u32 state, u64 v)
{
	v ^= state;
	return hroce_crc_tables[7][v & 0xff] ^
	       hroce_crc_tables[6][(v >> 8) & 0xff] ^
	       hroce_crc_tables[5][(v >> 16) & 0xff] ^
	       hroce_crc_tables[4][(v >> 24) & 0xff] ^
	       hroce_crc_tables[3][(v >> 32) & 0xff] ^
	       hroce_crc_tables[2][(v >> 40) & 0xff] ^
	       hroce_crc_tables[1][(v >> 48) & 0xff] ^
	       hroce_crc_tables[0][v >> 56];
}

u32 hroce_crc_table_update(u32 state, const void *p, size_t len)
{
	const u8 *s = p;

	for (; len >= 8; len -= 8, s += 8)
		state = crc_8bytes(state, get_unaligned_le64(s));
	while (len--)
		state = crc_byte(state, *s++);
	return state;
}

/*
 * The owner may change the source concurrently. Load every word once, so that
 * the CRC covers the stored bytes.
 */
u32 hroce_crc_table_copy(u32 state, void *dst, const void *src, size_t len)
{
	const u8 *s = src;
	u8 *d = dst;

	for (; len >= 8; len -= 8, s += 8, d += 8) {
		u64 v = get_unaligned_le64(s);

		OPTIMIZER_HIDE_VAR(v);
		put_unaligned_le64(v, d);
		state = crc_8bytes(state, v);
	}
	while (len--) {
		u8 v = *s++;

		OPTIMIZER_HIDE_VAR(v);
		*d++ = v;
		state = crc_byte(state, v);
	}
	return state;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * CRC-32 without vector registers: by tables up to some eighty bytes, by shifts
 * beyond.
 *
 * A message is a polynomial over GF(2), and modulo the CRC polynomial x^300 =
 * x^155 + x^117 + x^89 + 1: a bit may be removed by adding it 145, 183, 211 and
 * 300 bits later. This works for all bits of a word at once, and leaves the
 * last five words of a message, which tables reduce. No other sum of so few
 * bits is so short, so only the message is loaded from memory. The idea is from
 * "Chorba: A novel CRC32 implementation" (2024).
 *
 * Bits are reflected: a later bit is further left in a little-endian word.
 */
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/types.h>
#include <linux/unaligned.h>

#include "crc_methods.h"

#define CRC_POLYNOMIAL	0xedb88320u

#define WORDS		5
#define BLOCK		(WORDS * sizeof(u64))

u32 hroce_crc_tables[8][256] __ro_after_init;
u32 hroce_crc_early_tables[2][256] __ro_after_init;

void __init hroce_crc_tables_init(void)
{
	u32 byte, state;
	int zeros, bit;

	for (byte = 0; byte < 256; byte++) {
		state = byte;
		for (zeros = 0; zeros < HROCE_CRC_EARLY + 2; zeros++) {
			for (bit = 0; bit < 8; bit++)
				state = state >> 1 ^
					(state & 1 ? CRC_POLYNOMIAL : 0);
			if (zeros < 8)
				hroce_crc_tables[zeros][byte] = state;
			else if (zeros >= HROCE_CRC_EARLY)
				hroce_crc_early_tables[zeros - HROCE_CRC_EARLY]
						      [byte] = state;
		}
	}
}

/*
 * The owner may change the source concurrently. Load every word once, so that
 * the CRC covers the stored bytes.
 */
static __always_inline u64 load(bool copy, u8 *d, const u8 *s, size_t i)
{
	u64 v = get_unaligned_le64(s + i);

	if (copy) {
		OPTIMIZER_HIDE_VAR(v);
		put_unaligned_le64(v, d + i);
	}
	return v;
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

static __always_inline
u32 sum_by_tables(bool copy, u32 state, u8 *d, const u8 *s, size_t len)
{
	size_t i;

	for (i = 0; i + 8 <= len; i += 8)
		state = crc_8bytes(state, load(copy, d, s, i));
	for (; i < len; i++) {
		u8 v = s[i];

		if (copy) {
			OPTIMIZER_HIDE_VAR(v);
			d[i] = v;
		}
		state = hroce_crc_tables[0][(state ^ v) & 0xff] ^ (state >> 8);
	}
	return state;
}

u32 hroce_crc_table(u32 state, void *dst, const void *src, size_t len)
{
	if (dst)
		return sum_by_tables(true, state, dst, src, len);
	return sum_by_tables(false, state, NULL, src, len);
}

/* Contribution of the words five, four, three and two positions earlier. */
static __always_inline u64 moved(u64 w5, u64 w4, u64 w3, u64 w2)
{
	return w5 >> 20 ^ w4 << 44 ^		/* 300 = 4 * 64 + 44 */
	       w4 >> 45 ^ w3 << 19 ^		/* 211 = 3 * 64 + 19 */
	       w3 >> 9 ^ w2 << 55 ^		/* 183 = 2 * 64 + 55 */
	       w3 >> 47 ^ w2 << 17;		/* 145 = 2 * 64 + 17 */
}

/* Sum all whole blocks of @len bytes, at least two. */
static __always_inline
u32 sum_blocks(bool copy, u32 state, u8 *d, const u8 *s, size_t len)
{
	u64 v0 = 0, v1 = 0, v2 = 0, v3 = 0, v4 = 0, first = state;
	__le64 last[WORDS];
	size_t i;

	for (i = 0; i + 2 * BLOCK <= len; i += BLOCK) {
		v0 = load(copy, d, s, i) ^ moved(v0, v1, v2, v3) ^ first;
		v1 = load(copy, d, s, i + 8) ^ moved(v1, v2, v3, v4);
		v2 = load(copy, d, s, i + 16) ^ moved(v2, v3, v4, v0);
		v3 = load(copy, d, s, i + 24) ^ moved(v3, v4, v0, v1);
		v4 = load(copy, d, s, i + 32) ^ moved(v4, v0, v1, v2);
		first = 0;
	}
	last[0] = cpu_to_le64(load(copy, d, s, i) ^ moved(v0, v1, v2, v3));
	last[1] = cpu_to_le64(load(copy, d, s, i + 8) ^ moved(v1, v2, v3, v4));
	last[2] = cpu_to_le64(load(copy, d, s, i + 16) ^ moved(v2, v3, v4, 0));
	last[3] = cpu_to_le64(load(copy, d, s, i + 24) ^ moved(v3, v4, 0, 0));
	last[4] = cpu_to_le64(load(copy, d, s, i + 32) ^ moved(v4, 0, 0, 0));
	return hroce_crc_table(0, NULL, last, sizeof(last));
}

/* Out of line, so that short lengths save no registers for it. */
static noinline u32 sum_long(u32 state, u8 *d, const u8 *s, size_t len)
{
	size_t blocks = len - len % BLOCK;

	if (d) {
		state = sum_blocks(true, state, d, s, len);
		d += blocks;
	} else {
		state = sum_blocks(false, state, NULL, s, len);
	}
	return hroce_crc_table(state, d, s + blocks, len - blocks);
}

u32 hroce_crc_shift(u32 state, void *dst, const void *src, size_t len)
{
	if (len < 2 * BLOCK)
		return hroce_crc_table(state, dst, src, len);
	return sum_long(state, dst, src, len);
}

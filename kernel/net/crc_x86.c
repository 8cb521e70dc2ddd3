// SPDX-License-Identifier: GPL-2.0
/*
 * CRC-32 by folding: the message is a polynomial over GF(2), and its part of
 * 128 bits that lies D bits in front of another one may be added there after
 * multiplication by x^D modulo the CRC polynomial. Four independent
 * accumulators hide the latency of the multiplier; in the end they are folded
 * into one, whose 16 bytes and those left over go through the tables.
 *
 * A 64-bit half times a 33-bit constant fits into 128 bits, so halves are
 * multiplied one by one. Bits are reflected: the low half is the earlier one,
 * and constants are x^(D + 32) and x^(D - 32) modulo the polynomial, reflected,
 * times x.
 */
#include <linux/compiler.h>
#include <linux/types.h>

#include "crc_table.h"
#include "crc_x86.h"

#ifndef __CHECKER__	/* sparse does not know vector types */

#define V128		long long __attribute__((__vector_size__(16)))
#define V512		long long __attribute__((__vector_size__(64)))

#define target_pclmul	__attribute__((__target__("sse4.1,pclmul")))
#define target_vpclmul	__attribute__((__target__("avx512f,vpclmulqdq,pclmul")))

/* x^(D + 32), x^(D - 32) for the distance D in bits */
#define FOLD_128	0x1751997d0, 0x0ccaa009e
#define FOLD_512	0x154442bd4, 0x1c6e41596
#define FOLD_2048	0x11542778a, 0x1322d1430

/* The compiler must not load again what it has loaded. */
#define hide_128(v)	asm("" : "+x"(v))
#define hide_512(v)	asm("" : "+v"(v))

#ifdef __clang__
#define clmul512(a, b, half)	__builtin_ia32_pclmulqdq512(a, b, half)
#else
#define clmul512(a, b, half)	__builtin_ia32_vpclmulqdq_v8di(a, b, half)
#endif

static __always_inline target_pclmul V128 fold_128(V128 acc, V128 k, V128 next)
{
	V128 lo = __builtin_ia32_pclmulqdq128(acc, k, 0x00);
	V128 hi = __builtin_ia32_pclmulqdq128(acc, k, 0x11);

	return lo ^ hi ^ next;
}

/*
 * Every byte is loaded once, even if its owner changes it meanwhile, so that
 * what is stored and what is summed are the same.
 */
static __always_inline target_pclmul V128 load_128(const u8 *s, u8 *d)
{
	V128 v;

	__builtin_memcpy(&v, s, sizeof(v));
	if (d) {
		hide_128(v);
		__builtin_memcpy(d, &v, sizeof(v));
	}
	return v;
}

#define step(i)	(d ? d + (i) : d)

/* At least 64 bytes. Return: folded up to the last 16-byte block. */
static __always_inline target_pclmul
V128 fold_blocks_128(u32 state, u8 *d, const u8 *s, size_t blocks)
{
	const V128 k512 = { FOLD_512 }, k128 = { FOLD_128 };
	V128 a0 = { state }, a1, a2, a3;

	a0 ^= load_128(s, d);
	a1 = load_128(s + 16, step(16));
	a2 = load_128(s + 32, step(32));
	a3 = load_128(s + 48, step(48));
	for (blocks -= 4, s += 64, d = step(64); blocks >= 4;
	     blocks -= 4, s += 64, d = step(64)) {
		a0 = fold_128(a0, k512, load_128(s, d));
		a1 = fold_128(a1, k512, load_128(s + 16, step(16)));
		a2 = fold_128(a2, k512, load_128(s + 32, step(32)));
		a3 = fold_128(a3, k512, load_128(s + 48, step(48)));
	}
	a0 = fold_128(a0, k128, a1);
	a0 = fold_128(a0, k128, a2);
	a0 = fold_128(a0, k128, a3);
	for (; blocks; blocks--, s += 16, d = step(16))
		a0 = fold_128(a0, k128, load_128(s, d));
	return a0;
}

u32 target_pclmul hroce_crc_pclmul_update(u32 state, const void *p, size_t len)
{
	V128 acc;

	if (len < 64)
		return hroce_crc_table_update(state, p, len);
	acc = fold_blocks_128(state, NULL, p, len / 16);
	state = hroce_crc_table_update(0, &acc, sizeof(acc));
	return hroce_crc_table_update(state, p + (len & ~(size_t)15), len & 15);
}

u32 target_pclmul hroce_crc_pclmul_copy(u32 state, void *dst, const void *src,
					size_t len)
{
	V128 acc;

	if (len < 64)
		return hroce_crc_table_copy(state, dst, src, len);
	acc = fold_blocks_128(state, dst, src, len / 16);
	state = hroce_crc_table_update(0, &acc, sizeof(acc));
	return hroce_crc_table_copy(state, dst + (len & ~(size_t)15), src + (len & ~(size_t)15),
				    len & 15);
}

static __always_inline target_vpclmul V512 fold_512(V512 acc, V512 k, V512 next)
{
	V512 lo = clmul512(acc, k, 0x00);
	V512 hi = clmul512(acc, k, 0x11);

	return lo ^ hi ^ next;
}

static __always_inline target_vpclmul V512 load_512(const u8 *s, u8 *d)
{
	V512 v;

	__builtin_memcpy(&v, s, sizeof(v));
	if (d) {
		hide_512(v);
		__builtin_memcpy(d, &v, sizeof(v));
	}
	return v;
}

/* At least 256 bytes. Stores 64 bytes into which all blocks are folded. */
static __always_inline target_vpclmul
void fold_blocks_512(u8 *out, u32 state, u8 *d, const u8 *s, size_t blocks)
{
	const V512 k2048 = { FOLD_2048, FOLD_2048, FOLD_2048, FOLD_2048 };
	const V512 k512 = { FOLD_512, FOLD_512, FOLD_512, FOLD_512 };
	V512 a0 = { state }, a1, a2, a3;

	a0 ^= load_512(s, d);
	a1 = load_512(s + 64, step(64));
	a2 = load_512(s + 128, step(128));
	a3 = load_512(s + 192, step(192));
	for (blocks -= 4, s += 256, d = step(256); blocks >= 4;
	     blocks -= 4, s += 256, d = step(256)) {
		a0 = fold_512(a0, k2048, load_512(s, d));
		a1 = fold_512(a1, k2048, load_512(s + 64, step(64)));
		a2 = fold_512(a2, k2048, load_512(s + 128, step(128)));
		a3 = fold_512(a3, k2048, load_512(s + 192, step(192)));
	}
	a0 = fold_512(a0, k512, a1);
	a0 = fold_512(a0, k512, a2);
	a0 = fold_512(a0, k512, a3);
	for (; blocks; blocks--, s += 64, d = step(64))
		a0 = fold_512(a0, k512, load_512(s, d));
	__builtin_memcpy(out, &a0, sizeof(a0));
}

u32 target_vpclmul hroce_crc_vpclmul_update(u32 state, const void *p,
					    size_t len)
{
	u8 folded[64];

	if (len < 256)
		return hroce_crc_pclmul_update(state, p, len);
	fold_blocks_512(folded, state, NULL, p, len / 64);
	state = hroce_crc_pclmul_update(0, folded, sizeof(folded));
	return hroce_crc_pclmul_update(state, p + (len & ~(size_t)63), len & 63);
}

u32 target_vpclmul hroce_crc_vpclmul_copy(u32 state, void *dst,
					  const void *src, size_t len)
{
	u8 folded[64];

	if (len < 256)
		return hroce_crc_pclmul_copy(state, dst, src, len);
	fold_blocks_512(folded, state, dst, src, len / 64);
	state = hroce_crc_pclmul_update(0, folded, sizeof(folded));
	return hroce_crc_pclmul_copy(state, dst + (len & ~(size_t)63),
				     src + (len & ~(size_t)63), len & 63);
}

#endif /* __CHECKER__ */

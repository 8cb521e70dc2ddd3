// SPDX-License-Identifier: GPL-2.0
/*
 * CRC-32 by folding. The message is a polynomial over GF(2). A part of 128 bits
 * may be added to a part D bits later, after multiplication by x^D modulo the
 * CRC polynomial. Wider registers fold two or four such parts at once. The last
 * 16 bytes are reduced to the four of the CRC.
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
#define V256		long long __attribute__((__vector_size__(32)))
#define V512		long long __attribute__((__vector_size__(64)))

#define target_128	__attribute__((__target__("sse4.1,pclmul")))
#define target_256	__attribute__((__target__("avx2,vpclmulqdq,pclmul")))
#define target_512	__attribute__((__target__("avx512f,vpclmulqdq,pclmul")))

/* x^(D + 32), x^(D - 32) for the distance D in bits */
#define FOLD_128	0x1751997d0, 0x0ccaa009e
#define FOLD_256	0x0f1da05aa, 0x15a546366
#define FOLD_512	0x154442bd4, 0x1c6e41596
#define FOLD_1024	0x1e88ef372, 0x14a7fe880
#define FOLD_2048	0x11542778a, 0x1322d1430

/* x^96 divided by the polynomial, and the polynomial; both reflected */
#define BARRETT		0xb4e5b025f7011641, 0x1db710641

#define clmul_128(a, b, half)	__builtin_ia32_pclmulqdq128(a, b, half)

#ifdef __clang__
#define clmul_256(a, b, half)	__builtin_ia32_pclmulqdq256(a, b, half)
#define clmul_512(a, b, half)	__builtin_ia32_pclmulqdq512(a, b, half)
#else
#define clmul_256(a, b, half)	__builtin_ia32_vpclmulqdq_v4di(a, b, half)
#define clmul_512(a, b, half)	__builtin_ia32_vpclmulqdq_v8di(a, b, half)
#endif

#define VEC		V128
#define WIDTH(name)	name##_128
#define TARGET		target_128
#define CLMUL		clmul_128
#define LANES(...)	__VA_ARGS__
#define FOLD_FAR	FOLD_512
#define FOLD_NEAR	FOLD_128
#include "crc_x86_fold.h"

#define VEC		V256
#define WIDTH(name)	name##_256
#define TARGET		target_256
#define CLMUL		clmul_256
#define LANES(...)	__VA_ARGS__, __VA_ARGS__
#define FOLD_FAR	FOLD_1024
#define FOLD_NEAR	FOLD_256
#include "crc_x86_fold.h"

#define VEC		V512
#define WIDTH(name)	name##_512
#define TARGET		target_512
#define CLMUL		clmul_512
#define LANES(...)	__VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define FOLD_FAR	FOLD_2048
#define FOLD_NEAR	FOLD_512
#include "crc_x86_fold.h"

/* Initializer: the 128 bits at @i of a wider register. */
#define LANE(v, i)	{ (v)[2 * (i)], (v)[2 * (i) + 1] }

/*
 * Remainder of 16 bytes followed by four zero bytes, by Barrett's method. The
 * first half times x^96, added to the second, leaves 96 bits. One
 * multiplication gives the quotient of all but the last 32 bits; another one
 * subtracts the quotient times the polynomial. The remainder is then in the
 * last 32 bits, at the beginning of the upper half.
 */
static __always_inline target_128 u32 reduce(V128 acc)
{
	const V128 k = { FOLD_128 }, barrett = { BARRETT };
	V128 rest = { acc[1] }, quotient;

	rest ^= clmul_128(acc, k, 0x10);
	quotient = clmul_128(rest, barrett, 0x00);
	rest ^= clmul_128(quotient, barrett, 0x10);
	return rest[1];
}

/* Sum the bytes from @i on, too few for a register. */
static __always_inline
u32 sum_rest(bool copy, u32 state, u8 *d, const u8 *s, size_t len, size_t i)
{
	if (i == len)
		return state;
	if (copy)
		return hroce_crc_table_copy(state, d + i, s + i, len - i);
	return hroce_crc_table_update(state, s + i, len - i);
}

/* Fold the bytes from @i on into @acc, and reduce it. */
static __always_inline target_128
u32 finish(bool copy, V128 acc, u8 *d, const u8 *s, size_t len, size_t i)
{
	const V128 k = { FOLD_128 };

	for (; i + sizeof(acc) <= len; i += sizeof(acc))
		acc = fold_128(acc, k, load_128(copy, d, s, i));
	return sum_rest(copy, reduce(acc), d, s, len, i);
}

static __always_inline target_128
u32 sum_128(bool copy, u32 state, u8 *d, const u8 *s, size_t len)
{
	V128 acc = { state };

	if (len < sizeof(acc))
		return sum_rest(copy, state, d, s, len, 0);
	if (len < 4 * sizeof(acc)) {
		acc ^= load_128(copy, d, s, 0);
		return finish(copy, acc, d, s, len, sizeof(acc));
	}
	acc = fold_all_128(copy, state, d, s, len);
	return finish(copy, acc, d, s, len, len & -sizeof(acc));
}

u32 target_128 hroce_crc_pclmul_update(u32 state, const void *p, size_t len)
{
	return sum_128(false, state, NULL, p, len);
}

u32 target_128 hroce_crc_pclmul_copy(u32 state, void *dst, const void *src,
				     size_t len)
{
	return sum_128(true, state, dst, src, len);
}

static __always_inline target_256
u32 sum_256(bool copy, u32 state, u8 *d, const u8 *s, size_t len)
{
	V256 acc = fold_all_256(copy, state, d, s, len);
	V128 l0 = LANE(acc, 0), l1 = LANE(acc, 1);
	const V128 k = { FOLD_128 };

	l1 = fold_128(l0, k, l1);
	return finish(copy, l1, d, s, len, len & -sizeof(acc));
}

u32 target_256 hroce_crc_avx2_update(u32 state, const void *p, size_t len)
{
	if (len < 4 * sizeof(V256))
		return hroce_crc_pclmul_update(state, p, len);
	return sum_256(false, state, NULL, p, len);
}

u32 target_256 hroce_crc_avx2_copy(u32 state, void *dst, const void *src,
				   size_t len)
{
	if (len < 4 * sizeof(V256))
		return hroce_crc_pclmul_copy(state, dst, src, len);
	return sum_256(true, state, dst, src, len);
}

static __always_inline target_512
u32 sum_512(bool copy, u32 state, u8 *d, const u8 *s, size_t len)
{
	V512 acc = fold_all_512(copy, state, d, s, len);
	V128 l0 = LANE(acc, 0), l1 = LANE(acc, 1);
	V128 l2 = LANE(acc, 2), l3 = LANE(acc, 3);
	const V128 k = { FOLD_128 };

	l1 = fold_128(l0, k, l1);
	l2 = fold_128(l1, k, l2);
	l3 = fold_128(l2, k, l3);
	return finish(copy, l3, d, s, len, len & -sizeof(acc));
}

u32 target_512 hroce_crc_avx512_update(u32 state, const void *p, size_t len)
{
	if (len < 4 * sizeof(V512))
		return hroce_crc_avx2_update(state, p, len);
	return sum_512(false, state, NULL, p, len);
}

u32 target_512 hroce_crc_avx512_copy(u32 state, void *dst, const void *src,
				     size_t len)
{
	if (len < 4 * sizeof(V512))
		return hroce_crc_avx2_copy(state, dst, src, len);
	return sum_512(true, state, dst, src, len);
}

#endif /* __CHECKER__ */

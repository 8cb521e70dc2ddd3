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
#include <linux/array_size.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "crc_methods.h"

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

/*
 * Remainder of the lanes, 16 bytes each, followed by four zero bytes, by
 * Barrett's method. The first half of the last lane times x^96, added to the
 * second, leaves 96 bits. One multiplication gives the quotient of all but the
 * last 32 bits; another one subtracts the quotient times the polynomial. The
 * remainder is then in the last 32 bits, at the beginning of the upper half.
 */
static __always_inline target_128 u32 reduce(const V128 *lanes, size_t nr)
{
	const V128 k = { FOLD_128 }, barrett = { BARRETT };
	V128 acc = lanes[0], rest, quotient;
	size_t i;

	for (i = 1; i < nr; i++)
		acc = clmul_128(acc, k, 0x00) ^ clmul_128(acc, k, 0x11) ^
		      lanes[i];
	rest = (V128){ acc[1] } ^ clmul_128(acc, k, 0x10);
	quotient = clmul_128(rest, barrett, 0x00);
	rest ^= clmul_128(quotient, barrett, 0x10);
	return rest[1];
}

#define SUM		hroce_crc_pclmul
#define SHORT		sizeof(V128)
#define NARROW		hroce_crc_table
#define VEC		V128
#define WIDTH(name)	name##_128
#define TARGET		target_128
#define CLMUL		clmul_128
#define LANES(...)	__VA_ARGS__
#define FOLD_FAR	FOLD_512
#define FOLD_NEAR	FOLD_128
#include "crc_x86_fold.h"

#define SUM		hroce_crc_avx2
#define SHORT		(4 * sizeof(V256))
#define NARROW		hroce_crc_pclmul
#define VEC		V256
#define WIDTH(name)	name##_256
#define TARGET		target_256
#define CLMUL		clmul_256
#define LANES(...)	__VA_ARGS__, __VA_ARGS__
#define FOLD_FAR	FOLD_1024
#define FOLD_NEAR	FOLD_256
#include "crc_x86_fold.h"

#define SUM		hroce_crc_avx512
#define SHORT		(4 * sizeof(V512))
#define NARROW		hroce_crc_avx2
#define VEC		V512
#define WIDTH(name)	name##_512
#define TARGET		target_512
#define CLMUL		clmul_512
#define LANES(...)	__VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define FOLD_FAR	FOLD_2048
#define FOLD_NEAR	FOLD_512
#include "crc_x86_fold.h"

#endif /* __CHECKER__ */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Folding with registers of one width. crc_x86.c includes this file once for
 * each width, with these defined:
 *
 *	VEC			the register, a vector of long long
 *	WIDTH(name)		name for this width
 *	TARGET			attribute of functions that use it
 *	CLMUL(a, b, half)	multiply 64-bit halves in each lane of 128 bits
 *	LANES(...)		the same 128 bits in each lane
 *	FOLD_FAR, FOLD_NEAR	for distances of four registers and of one
 */

/*
 * The owner may change the source concurrently. Load every byte once, so that
 * the CRC covers the stored bytes.
 */
static __always_inline TARGET
VEC WIDTH(load)(bool copy, u8 *d, const u8 *s, size_t i)
{
	VEC v;

	__builtin_memcpy(&v, s + i, sizeof(v));
	if (copy) {
		/* Keep the compiler from loading it again. */
		asm("" : "+v"(v));
		__builtin_memcpy(d + i, &v, sizeof(v));
	}
	return v;
}

static __always_inline TARGET VEC WIDTH(fold)(VEC acc, VEC k, VEC next)
{
	return CLMUL(acc, k, 0x00) ^ CLMUL(acc, k, 0x11) ^ next;
}

/*
 * Fold all whole registers of @len bytes, at least four, into one.
 * Four accumulators hide the latency of the multiplier.
 */
static __always_inline TARGET
VEC WIDTH(fold_all)(bool copy, u32 state, u8 *d, const u8 *s, size_t len)
{
	const VEC far = { LANES(FOLD_FAR) }, near = { LANES(FOLD_NEAR) };
	VEC a0 = { state }, a1, a2, a3, b0, b1, b2, b3;
	const size_t w = sizeof(VEC);
	size_t i;

	a0 ^= WIDTH(load)(copy, d, s, 0);
	a1 = WIDTH(load)(copy, d, s, w);
	a2 = WIDTH(load)(copy, d, s, 2 * w);
	a3 = WIDTH(load)(copy, d, s, 3 * w);
	for (i = 4 * w; i + 4 * w <= len; i += 4 * w) {
		b0 = WIDTH(load)(copy, d, s, i);
		b1 = WIDTH(load)(copy, d, s, i + w);
		b2 = WIDTH(load)(copy, d, s, i + 2 * w);
		b3 = WIDTH(load)(copy, d, s, i + 3 * w);
		a0 = WIDTH(fold)(a0, far, b0);
		a1 = WIDTH(fold)(a1, far, b1);
		a2 = WIDTH(fold)(a2, far, b2);
		a3 = WIDTH(fold)(a3, far, b3);
	}
	a1 = WIDTH(fold)(a0, near, a1);
	a2 = WIDTH(fold)(a1, near, a2);
	a3 = WIDTH(fold)(a2, near, a3);
	for (; i + w <= len; i += w)
		a3 = WIDTH(fold)(a3, near, WIDTH(load)(copy, d, s, i));
	return a3;
}

#undef VEC
#undef WIDTH
#undef TARGET
#undef CLMUL
#undef LANES
#undef FOLD_FAR
#undef FOLD_NEAR

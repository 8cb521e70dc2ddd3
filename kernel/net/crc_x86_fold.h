/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Folding with registers of one width. crc_x86.c includes this file once for
 * each width, with these defined:
 *
 *	SUM			name of the function
 *	SHORT			fewer bytes are left to NARROW; at least a register
 *	NARROW			function for these, and for the rest
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

/* Fold all whole registers of @len bytes, at least one, into one. */
static __always_inline TARGET
VEC WIDTH(fold_all)(bool copy, u32 state, u8 *d, const u8 *s, size_t len)
{
	const VEC far = { LANES(FOLD_FAR) }, near = { LANES(FOLD_NEAR) };
	VEC a0 = { state }, a1, a2, a3;
	const size_t w = sizeof(VEC);
	size_t i = w;

	a0 ^= WIDTH(load)(copy, d, s, 0);
	if (len >= 4 * w) {
		/* Four accumulators hide the latency of the multiplier. */
		a1 = WIDTH(load)(copy, d, s, w);
		a2 = WIDTH(load)(copy, d, s, 2 * w);
		a3 = WIDTH(load)(copy, d, s, 3 * w);
		for (i = 4 * w; i + 4 * w <= len; i += 4 * w) {
			a0 = WIDTH(fold)(a0, far, WIDTH(load)(copy, d, s, i));
			a1 = WIDTH(fold)(a1, far,
					 WIDTH(load)(copy, d, s, i + w));
			a2 = WIDTH(fold)(a2, far,
					 WIDTH(load)(copy, d, s, i + 2 * w));
			a3 = WIDTH(fold)(a3, far,
					 WIDTH(load)(copy, d, s, i + 3 * w));
		}
		a1 = WIDTH(fold)(a0, near, a1);
		a2 = WIDTH(fold)(a1, near, a2);
		a0 = WIDTH(fold)(a2, near, a3);
	}
	for (; i + w <= len; i += w)
		a0 = WIDTH(fold)(a0, near, WIDTH(load)(copy, d, s, i));
	return a0;
}

u32 TARGET SUM(u32 state, void *dst, const void *src, size_t len)
{
	union {
		VEC all;
		V128 lanes[sizeof(VEC) / sizeof(V128)];
	} acc;
	size_t folded = len & -sizeof(VEC);

	if (len < SHORT)
		return NARROW(state, dst, src, len);
	if (dst) {
		acc.all = WIDTH(fold_all)(true, state, dst, src, len);
		dst += folded;
	} else {
		acc.all = WIDTH(fold_all)(false, state, NULL, src, len);
	}
	state = reduce(acc.lanes, ARRAY_SIZE(acc.lanes));
	if (folded == len)
		return state;
	return NARROW(state, dst, src + folded, len - folded);
}

#undef SUM
#undef SHORT
#undef NARROW
#undef VEC
#undef WIDTH
#undef TARGET
#undef CLMUL
#undef LANES
#undef FOLD_FAR
#undef FOLD_NEAR

// SPDX-License-Identifier: GPL-2.0
/*
 * All methods of the ICRC's CRC-32 against one that goes bit by bit: every
 * length up to some kilobytes, any alignment, any state.
 */
#include <linux/kernel.h>
#include <stdlib.h>
#include <string.h>

#include "net/crc_methods.h"
#include "net/icrc.h"
#include "tap.h"

#define MAX_LEN		2200
#define MAX_SHIFT	64

struct method {
	const char *name;
	bool usable;
	u32 (*sum)(u32 state, void *dst, const void *src, size_t len);
};

static u32 crc_bitwise(u32 state, const void *p, size_t len)
{
	const u8 *s = p;
	int bit;

	while (len--) {
		state ^= *s++;
		for (bit = 0; bit < 8; bit++)
			state = (state >> 1) ^ (state & 1 ? 0xedb88320 : 0);
	}
	return state;
}

/* Exact allocations, so that the sanitizer sees every byte too many. */
static bool method_agrees(const struct method *m, size_t len)
{
	size_t shift = rand() % MAX_SHIFT, dst_shift = rand() % MAX_SHIFT;
	u8 *src = malloc(shift + len), *dst = malloc(dst_shift + len);
	u32 state = (u32)rand() * 2 + (rand() & 1), expected;
	bool ok;
	size_t i;

	for (i = 0; i < len; i++)
		src[shift + i] = rand();
	expected = crc_bitwise(state, src + shift, len);
	ok = m->sum(state, NULL, src + shift, len) == expected;
	ok &= m->sum(state, dst + dst_shift, src + shift, len) == expected;
	ok &= !len || !memcmp(dst + dst_shift, src + shift, len);
	free(src);
	free(dst);
	return ok;
}

static void test_method(const struct method *m)
{
	size_t len;

	if (!m->usable) {
		tap_skip(m->name, "this CPU cannot");
		return;
	}
	for (len = 0; len <= MAX_LEN; len++)
		tap_ok(method_agrees(m, len));
	for (len = 4090; len < 4100; len++)
		tap_ok(method_agrees(m, len));
	tap_end(m->name);
}

/* Bytes of the IP, UDP and base transport headers that the ICRC leaves out. */
static const u8 variant_ipv4[] = { 1, 8, 10, 11, 26, 27, 32 };
static const u8 variant_ipv6[] = { 1, 2, 3, 7, 46, 47, 52 };

static void icrc_covers_all_but(const u8 *variant, size_t nr_variant, bool ipv6)
{
	size_t l3_len = ipv6 ? 40 : 20, len = l3_len + 8 + 12, i;
	u8 hdr[60];
	u32 icrc;

	for (i = 0; i < len; i++)
		hdr[i] = rand();
	icrc = hroce_icrc_headers(hdr, ipv6, hdr + l3_len, hdr + l3_len + 8);
	for (i = 0; i < len; i++) {
		bool covered = !memchr(variant, (int)i, nr_variant);
		u8 bit = ipv6 && !i ? 0x10 : 1;

		hdr[i] ^= bit;
		tap_eq(hroce_icrc_headers(hdr, ipv6, hdr + l3_len,
					  hdr + l3_len + 8) != icrc, covered);
		hdr[i] ^= bit;
	}
}

static void icrc_headers_ipv4(void)
{
	icrc_covers_all_but(variant_ipv4, sizeof(variant_ipv4), false);
}

static void icrc_headers_ipv6(void)
{
	icrc_covers_all_but(variant_ipv6, sizeof(variant_ipv6), true);
}

static void icrc_headers_ones(void)
{
	u8 hdr[40];
	u8 ones[48];

	/* With nothing but ones the masking and the 8 bytes do not show. */
	memset(hdr, 0xff, sizeof(hdr));
	memset(ones, 0xff, sizeof(ones));
	tap_eq(hroce_icrc_headers(hdr, false, hdr + 20, hdr + 28),
	       crc_bitwise(~0u, ones, sizeof(ones)));
}

static void icrc_step_is_a_shortcut(void)
{
	u8 hdr[40];
	u32 icrc, i, k;

	for (i = 0; i < sizeof(hdr); i++)
		hdr[i] = rand();
	icrc = hroce_icrc_headers(hdr, false, hdr + 20, hdr + 28);
	for (i = 0; i < 1000; i++) {
		u16 id = rand();
		u32 psn = rand() & 0xffffff;

		hdr[4] ^= id >> 8;
		hdr[5] ^= id;
		for (k = 0; k < 3; k++)
			hdr[37 + k] ^= psn >> (16 - 8 * k);
		icrc = hroce_icrc_step(icrc, id, psn);
		tap_eq(hroce_icrc_headers(hdr, false, hdr + 20, hdr + 28),
		       icrc);
	}
}

/* What the packet before says must not show, whatever differs from it. */
static void icrc_after_another_packet(void)
{
	static struct hroce_icrc_known known;
	struct hroce_icrc_last last = {};
	u8 hdr[40] __aligned(4);
	u32 i, k, psn;

	for (i = 0; i < sizeof(hdr); i++)
		hdr[i] = rand();
	for (i = 0; i < 1000; i++) {
		hdr[4] = rand();	/* ID */
		hdr[5] = rand();
		k = rand() % 36;
		if (k >= 24)		/* UDP length and BTH, now and then */
			hdr[k] ^= 1 << rand() % 8;
		for (k = 36; k < 40; k++)
			hdr[k] = rand();
		if (!hroce_icrc_repeat(&last, hdr[24] << 8 | hdr[25],
				       hdr[4] << 8 | hdr[5], hdr + 28))
			hroce_icrc_begin(&known, &last, hdr, false, hdr + 20,
					 hdr + 28);
		tap_eq(last.state,
		       hroce_icrc_headers(hdr, false, hdr + 20, hdr + 28));
	}
	for (i = 0; i < 1000; i++) {
		psn = rand();
		hdr[5]++;
		if (!hdr[5])
			hdr[4]++;
		for (k = 0; k < 3; k++)
			hdr[37 + k] = psn >> (16 - 8 * k);
		tap_eq(hroce_icrc_next(&last, false, hdr + 28),
		       hroce_icrc_headers(hdr, false, hdr + 20, hdr + 28));
	}
}

/* Two kinds of packets in turn; one bit of one of them changes now and then. */
static void icrc_recalls(bool ipv6)
{
	static struct hroce_icrc_known known;
	const u32 l3_len = ipv6 ? 40 : 20, len = l3_len + 8 + 12;
	u8 hdr[2][60] __aligned(4);
	u32 i, k;

	for (i = 0; i < len; i++) {
		hdr[0][i] = rand();
		hdr[1][i] = rand();
	}
	hdr[0][0] = ipv6 ? 0x60 : 0x45;
	hdr[1][0] = hdr[0][0];
	for (i = 0; i < 20000; i++) {
		u8 *h = hdr[rand() % 2];

		if (!(rand() % 4))
			h[rand() % len] ^= 1 << rand() % 4;
		if (!ipv6) {
			h[4] = rand();	/* ID */
			h[5] = rand();
		}
		for (k = len - 4; k < len; k++)
			h[k] = rand();
		tap_eq(hroce_icrc_recall(&known, h, ipv6, h + l3_len,
					 h + l3_len + 8),
		       hroce_icrc_headers(h, ipv6, h + l3_len, h + l3_len + 8));
	}
}

static void icrc_recalls_ipv4(void)
{
	icrc_recalls(false);
}

static void icrc_recalls_ipv6(void)
{
	icrc_recalls(true);
}

int main(void)
{
	const struct method methods[] = {
		{ "table", true, hroce_crc_table },
		{ "shift", true, hroce_crc_shift },
#ifdef __x86_64__
		{ "pclmul", __builtin_cpu_supports("pclmul"),
		  hroce_crc_pclmul },
		{ "vpclmul_avx2", __builtin_cpu_supports("vpclmulqdq") &&
				  __builtin_cpu_supports("avx2"),
		  hroce_crc_avx2 },
		{ "vpclmul_avx512", __builtin_cpu_supports("vpclmulqdq") &&
				    __builtin_cpu_supports("avx512f"),
		  hroce_crc_avx512 },
#endif
	};
	size_t i, nr = ARRAY_SIZE(methods);

	tap_plan(nr + 7);
	for (i = 0; i < nr; i++)
		test_method(&methods[i]);
	tap_run(icrc_headers_ipv4);
	tap_run(icrc_headers_ipv6);
	tap_run(icrc_headers_ones);
	tap_run(icrc_step_is_a_shortcut);
	tap_run(icrc_after_another_packet);
	tap_run(icrc_recalls_ipv4);
	tap_run(icrc_recalls_ipv6);
	return tap_exit();
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unpredictable numbers for the indices of a dense table: a Feistel network,
 * which is a permutation chosen by a secret. It is not a cipher: an observer of
 * many numbers can compute the others.
 */
#ifndef HROCE_HIDE_H
#define HROCE_HIDE_H

#include <linux/array_size.h>
#include <linux/random.h>
#include <linux/types.h>

/**
 * struct hroce_hide - a permutation
 * @secret: one for each round
 */
struct hroce_hide {
	u32 secret[4];
};

/* Choose a random permutation. Context: any. */
static inline void hroce_hide_init(struct hroce_hide *hide)
{
	get_random_bytes(hide->secret, sizeof(hide->secret));
}

/* One round: mixes well, need not be invertible. */
static inline u32 hroce_hide_round(u32 half, u32 secret, u32 mask)
{
	u32 x = (half ^ secret) * 0x9e3779b1u;

	x ^= x >> 15;
	x *= secret | 1;
	return (x >> 16) & mask;
}

/**
 * hroce_hide_index - map an index to its number
 * @hide: permutation
 * @half_bits: half the bits of index and number, at most 16
 * @index: index
 *
 * Context: any.
 * Return: number.
 */
static inline u32 hroce_hide_index(const struct hroce_hide *hide,
				   u32 half_bits, u32 index)
{
	const u32 mask = (1u << half_bits) - 1;
	u32 left = index >> half_bits;
	u32 right = index & mask;
	u32 tmp;
	int i;

	for (i = 0; i < ARRAY_SIZE(hide->secret); i++) {
		tmp = left ^ hroce_hide_round(right, hide->secret[i], mask);
		left = right;
		right = tmp;
	}
	return left << half_bits | right;
}

/**
 * hroce_hide_reveal - the inverse of hroce_hide_index()
 * @hide: permutation
 * @half_bits: as for hroce_hide_index()
 * @number: number
 *
 * Context: any.
 * Return: index.
 */
static inline u32 hroce_hide_reveal(const struct hroce_hide *hide,
				    u32 half_bits, u32 number)
{
	const u32 mask = (1u << half_bits) - 1;
	u32 left = number >> half_bits;
	u32 right = number & mask;
	u32 tmp;
	int i;

	for (i = ARRAY_SIZE(hide->secret) - 1; i >= 0; i--) {
		tmp = right ^ hroce_hide_round(left, hide->secret[i], mask);
		right = left;
		left = tmp;
	}
	return left << half_bits | right;
}

#endif /* HROCE_HIDE_H */

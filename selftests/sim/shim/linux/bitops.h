/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: bits in memory; there is one thread. */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <stdbool.h>
#include <linux/bits.h>
#include <linux/types.h>

static inline void set_bit(unsigned int nr, unsigned long *word)
{
	*word |= BIT(nr);
}

static inline void clear_bit(unsigned int nr, unsigned long *word)
{
	*word &= ~BIT(nr);
}

static inline bool test_bit(unsigned int nr, const unsigned long *word)
{
	return *word & BIT(nr);
}

static inline bool test_and_clear_bit(unsigned int nr, unsigned long *word)
{
	bool set = *word & BIT(nr);

	*word &= ~BIT(nr);
	return set;
}

static inline unsigned int hweight16(u16 word)
{
	return __builtin_popcount(word);
}

static inline unsigned int hweight64(u64 word)
{
	return __builtin_popcountll(word);
}

/* From 1 on; @word is not 0 in what is tested. */
static inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

static inline unsigned long __ffs64(u64 word)
{
	return __builtin_ctzll(word);
}

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

#endif /* SHIM_LINUX_BITOPS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: bits in memory; there is one thread. */
#ifndef SHIM_LINUX_BITOPS_H
#define SHIM_LINUX_BITOPS_H

#include <stdbool.h>
#include <linux/bits.h>

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

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

#endif /* SHIM_LINUX_BITOPS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of the ICRC by the fastest method on this machine: methods are timed
 * once at load, and another one may be chosen later. All methods return the
 * same result. The state is as in crc32_le(): initially ~0, complemented by the
 * caller at the end.
 */
#ifndef HROCE_CRC_H
#define HROCE_CRC_H

#include <linux/static_call.h>
#include <linux/types.h>
#include "crc_methods.h"

struct seq_file;

DECLARE_STATIC_CALL(hroce_crc_scalar, hroce_crc_table);
DECLARE_STATIC_CALL(hroce_crc_vector, hroce_crc_table);

/* Choose the fastest method and log it. Context: process, may sleep. */
void hroce_crc_init(void);

/**
 * hroce_crc_choose - use another method from now on
 * @name: a name from hroce_crc_show()
 *
 * Context: process, may sleep; CRCs may be in progress.
 * Return: 0, -EOPNOTSUPP if this CPU does not support the method, -EINVAL if
 * @name is unknown.
 */
int hroce_crc_choose(const char *name);

/* Print the methods this CPU supports, the current one in brackets. */
void hroce_crc_show(struct seq_file *file);

/* Below this length, in bytes, a vector section costs more than tables. */
#define HROCE_CRC_VECTOR_MIN	256

/* For hroce_crc_begin() and hroce_crc_end(). */
bool hroce_crc_enter(void);
void hroce_crc_leave(void);

/**
 * hroce_crc_begin - enable vector registers if they are worth it
 * @len: bytes to be summed
 *
 * Disables preemption if it returns true. Sections do not nest: a softirq that
 * interrupts, or a receiver that replies within the section, gets false. One
 * section covers a whole super-packet and all work on its packets.
 * Context: any but hard interrupt.
 * Return: the @vector argument of the other functions.
 */
static inline bool hroce_crc_begin(size_t len)
{
	return len >= HROCE_CRC_VECTOR_MIN && hroce_crc_enter();
}

/**
 * hroce_crc_end - counterpart of hroce_crc_begin()
 * @vector: from hroce_crc_begin()
 */
static inline void hroce_crc_end(bool vector)
{
	if (vector)
		hroce_crc_leave();
}

/**
 * hroce_crc_copy - copy and continue a CRC in one pass
 * @vector: from hroce_crc_begin()
 * @state: CRC state
 * @dst: destination, see hroce_crc_table()
 * @src: source
 * @len: number of bytes
 *
 * Return: new state.
 */
static inline u32 hroce_crc_copy(bool vector, u32 state, void *dst,
				 const void *src, size_t len)
{
	if (vector)
		return static_call(hroce_crc_vector)(state, dst, src, len);
	return static_call(hroce_crc_scalar)(state, dst, src, len);
}

/* Continue a CRC. As hroce_crc_copy(), but without the copy. */
static inline u32 hroce_crc_update(bool vector, u32 state, const void *p,
				   size_t len)
{
	return hroce_crc_copy(vector, state, NULL, p, len);
}

#endif /* HROCE_CRC_H */

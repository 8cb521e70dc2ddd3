/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of the ICRC by the fastest method of this machine: candidates are
 * timed once at load; another one may be chosen later. All methods give the
 * same result; state is as in crc32_le(): initial ~0, complemented by the caller
 * at the end.
 */
#ifndef HROCE_CRC_H
#define HROCE_CRC_H

#include <linux/static_call.h>
#include <linux/types.h>
#include "crc_table.h"

struct seq_file;

/**
 * struct hroce_crc_method - one way to compute it
 * @name: for debugfs and the log
 * @vector: needs vector registers
 * @usable: whether this CPU can; NULL means always
 * @update: as hroce_crc_update()
 * @copy: as hroce_crc_copy()
 */
struct hroce_crc_method {
	const char *name;
	bool vector;
	bool (*usable)(void);
	u32 (*update)(u32 state, const void *p, size_t len);
	u32 (*copy)(u32 state, void *dst, const void *src, size_t len);
};

DECLARE_STATIC_CALL(hroce_crc_scalar_update, hroce_crc_table_update);
DECLARE_STATIC_CALL(hroce_crc_scalar_copy, hroce_crc_table_copy);
DECLARE_STATIC_CALL(hroce_crc_vector_update, hroce_crc_table_update);
DECLARE_STATIC_CALL(hroce_crc_vector_copy, hroce_crc_table_copy);

/* Choose the method; logs the choice once. Context: process, may sleep. */
void hroce_crc_init(void);

/**
 * hroce_crc_choose - use another method from now on
 * @name: one of those that hroce_crc_show() names
 *
 * Context: process, may sleep; any number of sums may be under way.
 * Return: 0, -EOPNOTSUPP if this CPU cannot, -EINVAL if there is none such.
 */
int hroce_crc_choose(const char *name);

/* Names of the methods that this CPU can, the one in use in brackets. */
void hroce_crc_show(struct seq_file *file);

/**
 * hroce_crc_begin - make vector registers usable, if that pays
 * @len: bytes that are going to be summed
 *
 * Disables preemption if it returns true. Sections do not nest: an interrupting
 * softirq, or a receiver that answers meanwhile, gets false. One section serves
 * a whole super-packet, and all that is done for its packets.
 * Context: any but hard interrupt.
 * Return: what to pass to the other functions as @vector.
 */
bool hroce_crc_begin(size_t len);

/**
 * hroce_crc_end - counterpart of hroce_crc_begin()
 * @vector: what hroce_crc_begin() returned
 */
void hroce_crc_end(bool vector);

/**
 * hroce_crc_update - continue a CRC
 * @vector: what hroce_crc_begin() returned
 * @state: CRC state
 * @p: bytes
 * @len: number of bytes
 *
 * Return: new state.
 */
static inline u32 hroce_crc_update(bool vector, u32 state, const void *p,
				   size_t len)
{
	if (vector)
		return static_call(hroce_crc_vector_update)(state, p, len);
	return static_call(hroce_crc_scalar_update)(state, p, len);
}

/**
 * hroce_crc_copy - copy and continue a CRC in one pass
 * @vector: what hroce_crc_begin() returned
 * @state: CRC state
 * @dst: destination; what is copied is what the CRC covers
 * @src: source
 * @len: number of bytes
 *
 * Return: new state.
 */
static inline u32 hroce_crc_copy(bool vector, u32 state, void *dst,
				 const void *src, size_t len)
{
	if (vector)
		return static_call(hroce_crc_vector_copy)(state, dst, src, len);
	return static_call(hroce_crc_scalar_copy)(state, dst, src, len);
}

#endif /* HROCE_CRC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CRC-32 of the ICRC by the fastest method of this machine: candidates are
 * timed once at load. All methods give the same result; state is as in
 * crc32_le(): initial ~0, complemented by the caller at the end.
 */
#ifndef HROCE_CRC_H
#define HROCE_CRC_H

#include <linux/types.h>

/* Choose the methods; logs the choice once. Context: process, may sleep. */
void hroce_crc_init(void);

/* Name of the method in use, for sysfs and the log. */
const char *hroce_crc_name(void);

/**
 * hroce_crc_begin - make vector registers usable, if the method needs them
 *
 * May be nested with nothing else that uses them. Disables preemption if so;
 * one section serves a whole super-packet.
 */
void hroce_crc_begin(void);

/* End of hroce_crc_begin(). */
void hroce_crc_end(void);

/**
 * hroce_crc_update - continue a CRC
 * @state: CRC state
 * @p: bytes
 * @len: number of bytes
 *
 * Context: between hroce_crc_begin() and hroce_crc_end(). Return: new state.
 */
u32 hroce_crc_update(u32 state, const void *p, size_t len);

/**
 * hroce_crc_copy - copy and continue a CRC in one pass
 * @state: CRC state
 * @dst: destination; what is copied is what the CRC covers
 * @src: source
 * @len: number of bytes
 *
 * Context: between hroce_crc_begin() and hroce_crc_end(). Return: new state.
 */
u32 hroce_crc_copy(u32 state, void *dst, const void *src, size_t len);

#endif /* HROCE_CRC_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Partition keys of packets (IBTA 10.9). */
#ifndef HROCE_PKEY_H
#define HROCE_PKEY_H

#include "dev.h"

#define HROCE_PKEY_DEFAULT	0xffff	/* all nodes, full membership */

/* Two P_Keys match if one of them has full membership (IBTA 10.9.3). */
static inline bool hroce_pkey_matches(u16 a, u16 b)
{
	return !((a ^ b) & 0x7fff) && ((a | b) & 0x8000) && (a & 0x7fff);
}

/**
 * hroce_pkey_at - entry of the table
 * @dev: device
 * @index: below HROCE_PKEY_TABLE_LEN
 *
 * Return: P_Key; 0 if there is none, which matches no other.
 */
static inline u16 hroce_pkey_at(const struct hroce_dev *dev, u32 index)
{
	return READ_ONCE(dev->pkeys[index]);
}

/**
 * hroce_pkey_find - find the entry that a packet's key matches
 * @dev: device
 * @pkey: from the packet
 *
 * Return: index, or -1.
 */
static inline int hroce_pkey_find(const struct hroce_dev *dev, u16 pkey)
{
	int i;

	for (i = 0; i < HROCE_PKEY_TABLE_LEN; i++)
		if (hroce_pkey_matches(hroce_pkey_at(dev, i), pkey))
			return i;
	return -1;
}

#endif /* HROCE_PKEY_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* Partition keys: the table of a port, which the administrator fills. */
#ifndef HROCE_PKEY_H
#define HROCE_PKEY_H

#include <rdma/ib_verbs.h>

struct hroce_dev;

#define HROCE_PKEY_DEFAULT	0xffff	/* all nodes, full membership */

/* The group of files in /sys/class/infiniband/NAME. */
extern const struct attribute_group hroce_pkey_group;

/**
 * hroce_pkey_init - fill the table with the default partition only
 * @dev: device
 */
void hroce_pkey_init(struct hroce_dev *dev);

/**
 * hroce_pkey_at - entry of the table
 * @dev: device
 * @index: below HROCE_PKEY_TABLE_LEN
 *
 * Return: P_Key; 0 if there is none, which matches no other.
 */
u16 hroce_pkey_at(const struct hroce_dev *dev, u32 index);

/**
 * hroce_pkey_find - find the entry that a packet's key matches
 * @dev: device
 * @pkey: from the packet
 *
 * Return: index, or -1.
 */
int hroce_pkey_find(const struct hroce_dev *dev, u16 pkey);

/* Two P_Keys match if one of them has full membership (IBTA 10.9.3). */
static inline bool hroce_pkey_matches(u16 a, u16 b)
{
	return !((a ^ b) & 0x7fff) && ((a | b) & 0x8000) && (a & 0x7fff);
}

/* ib_device_ops */
int hroce_pkey_query(struct ib_device *ibdev, u32 port_num, u16 index,
		     u16 *pkey);

#endif /* HROCE_PKEY_H */

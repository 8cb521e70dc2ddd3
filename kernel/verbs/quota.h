/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Limits for the objects of user space, per context and for all contexts
 * together. Objects of the kernel are not counted. There are more numbers than
 * all contexts may use, so ib_mad, and with it rdma_cm, always gets one.
 */
#ifndef HROCE_QUOTA_H
#define HROCE_QUOTA_H

#include <linux/atomic.h>
#include <linux/types.h>

struct hroce_dev;
struct ib_device_attr;
struct seq_file;

enum hroce_quota_kind {
	HROCE_QUOTA_AH,
	HROCE_QUOTA_CQ,
	HROCE_QUOTA_MCAST_ATTACH,	/* a queue pair's membership */
	HROCE_QUOTA_MCAST_GRP,		/* groups are shared */
	HROCE_QUOTA_MR,
	HROCE_QUOTA_MW,
	HROCE_QUOTA_PD,
	HROCE_QUOTA_QP,			/* but XRC targets */
	HROCE_QUOTA_SRQ,
	HROCE_QUOTA_XRCD,		/* XRC domains are shared */
	HROCE_QUOTA_XRC_TGT,		/* and so are their targets */
	HROCE_QUOTA_NR,
};

/**
 * struct hroce_quota - limits of a device and objects in use
 * @each: limit per context, as ib_query_device() reports; unused for shared
 *	objects
 * @all: limit of all contexts together, shared objects included
 * @used: objects in use
 */
struct hroce_quota {
	u32 each[HROCE_QUOTA_NR];
	u32 all[HROCE_QUOTA_NR];
	atomic_t used[HROCE_QUOTA_NR];
};

/**
 * hroce_quota_init - set the limits of a new device
 * @quota: zeroed
 */
void hroce_quota_init(struct hroce_quota *quota);

/**
 * hroce_quota_query - report the limits per context
 * @quota: limits
 * @attr: its max_* fields that count objects are set
 *
 * Context: any.
 */
void hroce_quota_query(const struct hroce_quota *quota,
		       struct ib_device_attr *attr);

/**
 * hroce_quota_set - change the limits of one kind of objects
 * @dev: device
 * @kind: its name in hroce_quota_show()
 * @each: limit per context
 * @all: limit of all contexts together, at most the default
 *
 * Objects beyond a new limit stay.
 * Context: process.
 * Return: 0 or -EINVAL.
 */
int hroce_quota_set(struct hroce_dev *dev, const char *kind, u32 each, u32 all);

/**
 * hroce_quota_show - print limits and use
 * @dev: device
 * @file: gets a line for each kind: name, limit of a context, limit of all,
 *	used
 *
 * Context: process.
 */
void hroce_quota_show(struct hroce_dev *dev, struct seq_file *file);

/**
 * hroce_quota_take_group - count a new multicast group of user space
 * @dev: device
 *
 * Context: any.
 * Return: 0, or -ENOMEM at the limit.
 */
int hroce_quota_take_group(struct hroce_dev *dev);

/* Counterpart of hroce_quota_take_group(). Context: any. */
void hroce_quota_give_group(struct hroce_dev *dev);

#endif /* HROCE_QUOTA_H */

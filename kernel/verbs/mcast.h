/* SPDX-License-Identifier: GPL-2.0 */
/* Multicast groups of UD queue pairs. */
#ifndef HROCE_MCAST_H
#define HROCE_MCAST_H

#include <linux/in6.h>
#include <linux/list.h>

struct hroce_dev;
struct hroce_qp;
struct ib_qp;
union ib_gid;

/**
 * struct hroce_mcast_qp - membership of one queue pair
 * @node: in hroce_mcast.members, RCU
 * @qp: member
 * @rcu: for freeing
 */
struct hroce_mcast_qp {
	struct list_head node;
	struct hroce_qp *qp;
	struct rcu_head rcu;
};

/**
 * struct hroce_mcast - group that at least one queue pair is attached to
 * @node: in hroce_dev.mcast, RCU
 * @addr: group address, IPv4 mapped
 * @members: of &struct hroce_mcast_qp, RCU
 * @nr_members: their number [hroce_dev.mcast_lock]
 * @counted: made for user space, see verbs/quota.h
 * @rcu: for freeing
 */
struct hroce_mcast {
	struct list_head node;
	struct in6_addr addr;
	struct list_head members;
	u32 nr_members;
	bool counted;
	struct rcu_head rcu;
};

/**
 * hroce_mcast_find - look a group up
 * @dev: device
 * @addr: destination of a packet, IPv4 mapped
 *
 * Context: RCU read side.
 * Return: the group or NULL.
 */
struct hroce_mcast *hroce_mcast_find(struct hroce_dev *dev,
				     const struct in6_addr *addr);

/* ib_device_ops */
int hroce_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int hroce_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif /* HROCE_MCAST_H */

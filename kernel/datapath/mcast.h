/* SPDX-License-Identifier: GPL-2.0 */
/* Multicast groups of UD queue pairs. */
#ifndef HROCE_MCAST_H
#define HROCE_MCAST_H

#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/list.h>
#include <linux/spinlock.h>

struct hroce_qp;

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
 * @node: in &struct hroce_mcast_table, RCU
 * @addr: group address, IPv4 mapped
 * @members: of &struct hroce_mcast_qp, RCU
 * @nr_members: their number [hroce_mcast_table.lock]
 * @counted: made for user space, see verbs/quota.h
 * @rcu: for freeing
 */
struct hroce_mcast {
	struct hlist_node node;
	struct in6_addr addr;
	struct list_head members;
	u32 nr_members;
	bool counted;
	struct rcu_head rcu;
};

#define HROCE_MCAST_HASH_BITS	9

/**
 * struct hroce_mcast_table - groups of a link by address
 * @groups: of &struct hroce_mcast, RCU readers; changed with @lock held
 * @secret: part of the hash, so that colliding addresses cannot be chosen
 * @lock: guards changes of the table and of its groups
 */
struct hroce_mcast_table {
	DECLARE_HASHTABLE(groups, HROCE_MCAST_HASH_BITS);
	u32 secret;
	spinlock_t lock;
};

/* Context: any. */
void hroce_mcast_init(struct hroce_mcast_table *table);

/* The groups with the hash of @addr. Context: any. */
struct hlist_head *hroce_mcast_bucket(struct hroce_mcast_table *table,
				      const struct in6_addr *addr);

/**
 * hroce_mcast_find - look a group up
 * @table: groups of the device
 * @addr: destination of a packet, IPv4 mapped
 *
 * Context: RCU read side.
 * Return: the group or NULL.
 */
struct hroce_mcast *hroce_mcast_find(struct hroce_mcast_table *table,
				     const struct in6_addr *addr);

#endif /* HROCE_MCAST_H */

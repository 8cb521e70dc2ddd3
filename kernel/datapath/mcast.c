// SPDX-License-Identifier: GPL-2.0
/* Looking up multicast groups. */
#include <linux/jhash.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <net/ipv6.h>
#include "mcast.h"

void hroce_mcast_init(struct hroce_mcast_table *table)
{
	hash_init(table->groups);
	table->secret = get_random_u32();
	spin_lock_init(&table->lock);
}

struct hlist_head *hroce_mcast_bucket(struct hroce_mcast_table *table,
				      const struct in6_addr *addr)
{
	u32 hash = jhash2((const u32 *)addr->s6_addr32,
			  ARRAY_SIZE(addr->s6_addr32), table->secret);

	return &table->groups[hash_min(hash, HASH_BITS(table->groups))];
}

struct hroce_mcast *hroce_mcast_find(struct hroce_mcast_table *table,
				     const struct in6_addr *addr)
{
	struct hroce_mcast *group;

	hlist_for_each_entry_rcu(group, hroce_mcast_bucket(table, addr), node,
				 lockdep_is_held(&table->lock))
		if (ipv6_addr_equal(&group->addr, addr))
			return group;
	return NULL;
}

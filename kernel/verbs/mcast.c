// SPDX-License-Identifier: GPL-2.0
/*
 * Joining multicast groups. The netdev is set to accept the group's MAC address;
 * rdma_cm announces the membership to switches (IGMP, MLD).
 */
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include "../datapath/qp.h"
#include "device.h"
#include "ops.h"
#include "quota.h"

static void mcast_mac(const struct in6_addr *addr, u8 mac[ETH_ALEN])
{
	if (ipv6_addr_v4mapped(addr))
		ip_eth_mc_map(addr->s6_addr32[3], mac);
	else
		ipv6_eth_mc_map(addr, mac);
}

/*
 * The netdev counts references to a MAC address: one for each member. A netdev
 * that leaves its namespace drops them all; later ones are not of this link,
 * which may still have members.
 */
static int mcast_add_mac(struct hroce_dev *dev, const struct in6_addr *addr)
{
	u8 mac[ETH_ALEN];
	int err = -ENODEV;

	mcast_mac(addr, mac);
	rtnl_lock();
	if (dev->port.hooked)
		err = dev_mc_add(dev->port.dev, mac);
	rtnl_unlock();
	return err;
}

static void mcast_del_mac(struct hroce_dev *dev, const struct in6_addr *addr)
{
	u8 mac[ETH_ALEN];

	mcast_mac(addr, mac);
	rtnl_lock();
	if (dev->port.hooked)
		dev_mc_del(dev->port.dev, mac);
	rtnl_unlock();
}

static struct hroce_mcast_qp *mcast_member(struct hroce_mcast *group,
					   const struct hroce_qp *qp)
{
	struct hroce_mcast_qp *member;

	list_for_each_entry(member, &group->members, node)
		if (member->qp == qp)
			return member;
	return NULL;
}

/*
 * Join the group, which is @fresh if it does not exist yet. Sets the pointers
 * to allocations that were used to NULL.
 */
static int mcast_join(struct hroce_dev *dev, struct hroce_mcast **fresh,
		      struct hroce_mcast_qp **member)
{
	bool user = (*member)->qp->user;
	struct hroce_mcast *group;
	int err = 0;

	spin_lock(&dev->mcast.lock);
	group = hroce_mcast_find(&dev->mcast, &(*fresh)->addr);
	if (group && mcast_member(group, (*member)->qp)) {
		err = -EEXIST;
		goto unlock;
	}
	if (group && user && group->nr_members >= HROCE_MAX_MCAST_QP) {
		err = -ENOMEM;
		goto unlock;
	}
	if (!group) {
		err = user ? hroce_quota_take_group(dev) : 0;
		if (err)
			goto unlock;
		group = *fresh;
		group->counted = user;
		*fresh = NULL;
		hlist_add_head_rcu(&group->node,
				   hroce_mcast_bucket(&dev->mcast, &group->addr));
	}
	group->nr_members++;
	list_add_tail_rcu(&(*member)->node, &group->members);
	*member = NULL;
unlock:
	spin_unlock(&dev->mcast.lock);
	return err;
}

int hroce_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct hroce_dev *dev = to_hdev(ibqp->device);
	struct hroce_mcast_qp *member;
	struct hroce_mcast *group;
	int err = -ENOMEM;

	group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	member = kzalloc(sizeof(*member), GFP_KERNEL_ACCOUNT);
	if (!group || !member)
		goto free;
	memcpy(&group->addr, gid->raw, sizeof(group->addr));
	INIT_LIST_HEAD(&group->members);
	member->qp = to_hqp(ibqp);

	err = mcast_add_mac(dev, &group->addr);
	if (err)
		goto free;
	err = mcast_join(dev, &group, &member);
	if (err)
		mcast_del_mac(dev, &group->addr);
free:
	kfree(group);
	kfree(member);
	return err;
}

int hroce_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct hroce_dev *dev = to_hdev(ibqp->device);
	struct hroce_mcast_qp *member = NULL;
	struct hroce_mcast *group;
	struct in6_addr addr;

	memcpy(&addr, gid->raw, sizeof(addr));
	spin_lock(&dev->mcast.lock);
	group = hroce_mcast_find(&dev->mcast, &addr);
	if (group)
		member = mcast_member(group, to_hqp(ibqp));
	if (member) {
		list_del_rcu(&member->node);
		group->nr_members--;
		if (list_empty(&group->members)) {
			hlist_del_rcu(&group->node);
			if (group->counted)
				hroce_quota_give_group(dev);
			kfree_rcu(group, rcu);
		}
	}
	spin_unlock(&dev->mcast.lock);
	if (!member)
		return -EINVAL;

	/* hroce_qp_stop() waits for readers that still see the queue pair. */
	kfree_rcu(member, rcu);
	mcast_del_mac(dev, &addr);
	return 0;
}

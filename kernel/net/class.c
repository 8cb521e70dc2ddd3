// SPDX-License-Identifier: GPL-2.0
/* Traffic class of frames, see class.h. */
#include <linux/if_vlan.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>

#include "class.h"

static int class_find_vlan(struct net_device *dev,
			   struct netdev_nested_priv *priv)
{
	if (!is_vlan_dev(dev))
		return 0;
	priv->data = dev;
	return 1;
}

/* The VLAN device that frames of @dev pass, or NULL. As in iboe_tos_to_sl(). */
static struct net_device *class_vlan(struct net_device *dev)
{
	struct netdev_nested_priv priv = {};

	if (is_vlan_dev(dev))
		return dev;
	netdev_walk_all_lower_dev_rcu(dev, class_find_vlan, &priv);
	return priv.data;
}

static bool class_sends_as(struct net_device *vlan, u8 priority, u8 pcp)
{
	u16 tci = vlan_dev_get_egress_qos_mask(vlan, priority);

	return tci >> VLAN_PRIO_SHIFT == pcp;
}

/* The priority that is sent as @pcp, at most @max; else @priority. */
static u8 class_find(struct net_device *vlan, u8 priority, u8 pcp, u8 max)
{
	u8 other;

	if (class_sends_as(vlan, priority, pcp))
		return priority;
	for (other = 0; other <= max; other++)
		if (class_sends_as(vlan, other, pcp))
			return other;
	return priority;
}

int hroce_class_pcp(struct net_device *dev, u8 priority)
{
	struct net_device *vlan;
	int pcp = -ENOENT;

	rcu_read_lock();
	vlan = class_vlan(dev);
	if (vlan)
		pcp = vlan_dev_get_egress_qos_mask(vlan, priority) >>
		      VLAN_PRIO_SHIFT;
	rcu_read_unlock();
	return pcp;
}

u8 hroce_class_priority(struct net_device *dev, u8 sl, u8 max)
{
	u8 priority = min(sl, max);
	struct net_device *vlan;

	rcu_read_lock();
	vlan = class_vlan(dev);
	if (vlan)
		priority = class_find(vlan, priority, sl, max);
	rcu_read_unlock();
	return priority;
}

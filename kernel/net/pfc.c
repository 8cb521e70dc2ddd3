// SPDX-License-Identifier: GPL-2.0
/* Priority-based flow control, see pfc.h. */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <net/dcbnl.h>
#include "class.h"
#include "pfc.h"

/* Looks that are closer together, or further apart, tell nothing new. */
#define LOOK_MIN	(HZ / 100 + 1)
#define LOOK_MAX	(10 * HZ)

#ifdef CONFIG_DCB
/**
 * struct pfc_walk - what has been found
 * @sum: pause frames so far
 * @found: a netdev counts them
 */
struct pfc_walk {
	struct hroce_pfc *sum;
	bool found;
};

static int pfc_add(struct net_device *dev, struct netdev_nested_priv *priv)
{
	const struct dcbnl_rtnl_ops *ops = dev->dcbnl_ops;
	struct pfc_walk *walk = priv->data;
	struct ieee_pfc pfc = {};
	int i;

	if (!ops || !ops->ieee_getpfc || ops->ieee_getpfc(dev, &pfc))
		return 0;
	walk->found = true;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		walk->sum->rcvd[i] += pfc.indications[i];
		walk->sum->sent[i] += pfc.requests[i];
	}
	return 0;
}

bool hroce_pfc_read(struct net_device *dev, struct hroce_pfc *pfc)
{
	struct pfc_walk walk = { .sum = pfc };
	struct netdev_nested_priv priv = { .data = &walk };

	ASSERT_RTNL();
	memset(pfc, 0, sizeof(*pfc));
	pfc_add(dev, &priv);
	netdev_walk_all_lower_dev(dev, pfc_add, &priv);
	return walk.found;
}

static int pfc_find(struct net_device *dev, struct netdev_nested_priv *priv)
{
	const struct dcbnl_rtnl_ops *ops = dev->dcbnl_ops;

	if (!ops || !ops->ieee_getpfc)
		return 0;
	priv->data = dev;
	return 1;
}

/* Of several priorities for the same thing the highest one counts. */
static int pfc_highest(u8 priorities)
{
	return priorities ? fls(priorities) - 1 : 0;
}

static int pfc_port_priority(const struct net_device *port, int pcp,
			     u8 priority, u8 dscp)
{
	struct dcb_ieee_app_dscp_map trusted;

	dcb_ieee_getapp_dscp_prio_mask_map(port, &trusted);
	if (memchr_inv(trusted.map, 0, sizeof(trusted.map)))
		return pfc_highest(trusted.map[dscp]);
	return pcp >= 0 || !priority ? max(pcp, 0) : -ENOENT;
}

int hroce_pfc_priority(struct net_device *dev, u8 priority, u8 dscp)
{
	int pcp = hroce_class_pcp(dev, priority), found = -ENOENT;
	struct netdev_nested_priv priv = {};

	rcu_read_lock();
	if (!pfc_find(dev, &priv))
		netdev_walk_all_lower_dev_rcu(dev, pfc_find, &priv);
	if (priv.data)
		found = pfc_port_priority(priv.data, pcp, priority, dscp);
	rcu_read_unlock();
	return found;
}
#else
bool hroce_pfc_read(struct net_device *dev, struct hroce_pfc *pfc)
{
	return false;
}

int hroce_pfc_priority(struct net_device *dev, u8 priority, u8 dscp)
{
	return -ENOENT;
}
#endif

static bool pfc_looked_within(const struct hroce_pfc_watch *watch,
			      unsigned long time)
{
	return READ_ONCE(watch->looked) &&
	       time_before(jiffies, READ_ONCE(watch->at) + time);
}

static void pfc_compare(struct hroce_pfc_watch *watch, struct net_device *dev)
{
	bool recent = pfc_looked_within(watch, LOOK_MAX);
	struct hroce_pfc pfc;
	u8 paused = 0;
	int i;

	/* Another one may have looked until RTNL was free. */
	if (pfc_looked_within(watch, LOOK_MIN) || !hroce_pfc_read(dev, &pfc))
		return;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		if (recent && pfc.rcvd[i] > watch->rcvd[i])
			paused |= BIT(i);
	memcpy(watch->rcvd, pfc.rcvd, sizeof(watch->rcvd));
	WRITE_ONCE(watch->paused, paused);
	WRITE_ONCE(watch->at, jiffies);
	WRITE_ONCE(watch->looked, true);
}

u8 hroce_pfc_look(struct hroce_pfc_watch *watch, struct net_device *dev)
{
	/* Who holds RTNL may wait for this reader. */
	if (!pfc_looked_within(watch, LOOK_MIN) && rtnl_trylock()) {
		pfc_compare(watch, dev);
		rtnl_unlock();
	}
	return pfc_looked_within(watch, LOOK_MAX) ? READ_ONCE(watch->paused) : 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Priority-based flow control, see pfc.h. */
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/dcbnl.h>
#include "pfc.h"

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
#else
bool hroce_pfc_read(struct net_device *dev, struct hroce_pfc *pfc)
{
	return false;
}
#endif

// SPDX-License-Identifier: GPL-2.0
/* Programs of traffic control are kept in another way since 6.6. */
#include <linux/netdevice.h>

const void *probe(const struct net_device *dev);
const void *probe(const struct net_device *dev)
{
	return rcu_access_pointer(dev->tcx_ingress);
}

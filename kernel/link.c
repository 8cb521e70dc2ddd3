// SPDX-License-Identifier: GPL-2.0
/*
 * One link per network device, in whatever network namespace that is.
 *
 * A link goes when its netdev is unregistered, which includes its move to
 * another namespace: addresses, routes and hooks stay behind then.
 */
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <net/net_namespace.h>
#include <rdma/rdma_netlink.h>
#include "link.h"
#include "verbs/device.h"

/* Makes the test for an existing link and its creation one step. */
static DEFINE_MUTEX(link_mutex);

static struct hroce_dev *link_get(struct net_device *ndev)
{
	struct ib_device *ibdev;

	ibdev = ib_device_get_by_netdev(ndev, RDMA_DRIVER_HROCE);
	return ibdev ? to_hdev(ibdev) : NULL;
}

/* Did the netdev's unregistration come too early for link_event()? */
static bool link_is_stale(struct net_device *ndev, struct net *net)
{
	bool stale;

	rtnl_lock();
	stale = ndev->reg_state != NETREG_REGISTERED || dev_net(ndev) != net;
	rtnl_unlock();
	return stale;
}

static int link_new(const char *name, struct net_device *ndev)
{
	struct net *net = dev_net(ndev);
	struct hroce_dev *dev;
	int err;

	/* GIDs come from Ethernet devices only; loopback has no use for them. */
	if (ndev->type != ARPHRD_ETHER)
		return -EOPNOTSUPP;

	mutex_lock(&link_mutex);
	dev = link_get(ndev);
	if (dev) {
		ib_device_put(&dev->ib);
		err = -EEXIST;
		goto unlock;
	}
	err = hroce_dev_create(name, ndev);
	if (err || !link_is_stale(ndev, net))
		goto unlock;
	dev = link_get(ndev);
	if (dev)
		ib_unregister_device_and_put(&dev->ib);
	err = -ENODEV;
unlock:
	mutex_unlock(&link_mutex);
	return err;
}

static struct rdma_link_ops link_ops = {
	.type = "hroce",
	.newlink = link_new,
};

static int link_event(struct notifier_block *nb, unsigned long event,
		      void *info)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	struct hroce_dev *dev;

	switch (event) {
	case NETDEV_UNREGISTER:
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		break;
	default:
		return NOTIFY_DONE;
	}

	dev = link_get(ndev);
	if (!dev)
		return NOTIFY_DONE;
	if (event == NETDEV_UNREGISTER)
		ib_unregister_device_queued(&dev->ib);
	else
		hroce_dev_follow(dev);
	ib_device_put(&dev->ib);
	return NOTIFY_OK;
}

static struct notifier_block link_notifier = {
	.notifier_call = link_event,
};

int hroce_link_init(void)
{
	int err;

	err = register_netdevice_notifier(&link_notifier);
	if (err)
		return err;
	rdma_link_register(&link_ops);
	return 0;
}

void hroce_link_exit(void)
{
	rdma_link_unregister(&link_ops);
	unregister_netdevice_notifier(&link_notifier);
	ib_unregister_driver(RDMA_DRIVER_HROCE);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Lower devices, found by their GIDs.
 *
 * ib_core gives the ports of RoCE devices a GID for each address of their
 * netdev and of its upper devices (VLANs, bonds), and records the netdev of the
 * address. This is the only relation that all drivers provide. A port with RoCE
 * disabled (devlink enable_roce) does not report RoCEv2, or has no GIDs.
 *
 * ib_core calls the callbacks with its locks held. They only change the list; a
 * work item updates the links later.
 */
#include <linux/if_vlan.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <rdma/hroce-abi.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include "drivers.h"
#include "lower.h"

/**
 * struct candidate - an RDMA device of another driver
 * @node: in @candidates
 * @ibdev: valid as long as this is in the list
 * @handler: for events of the device
 * @name: of the device
 */
struct candidate {
	struct list_head node;
	struct ib_device *ibdev;
	struct ib_event_handler handler;
	char name[IB_DEVICE_NAME_MAX];
};

static LIST_HEAD(candidates);

/* Guards @candidates; innermost lock, so callbacks may take it. */
static DEFINE_MUTEX(candidates_lock);

/* Set once, never cleared. Module parameters may be written earlier. */
static void (*lower_told)(void);

void hroce_lower_changed(void)
{
	if (READ_ONCE(lower_told))
		lower_told();
}

/* A VLAN uses the hardware of its real device, even without an address. */
static bool netdev_is_on(const struct net_device *ndev,
			 const struct net_device *below)
{
	return ndev == below ||
	       (is_vlan_dev(ndev) && vlan_dev_real_dev(ndev) == below);
}

static bool gid_is_on(const struct ib_gid_attr *attr,
		      const struct net_device *ndev)
{
	const struct net_device *gid_dev;
	bool is_on;

	rcu_read_lock();
	gid_dev = rcu_dereference(attr->ndev);
	is_on = attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP && gid_dev &&
		netdev_is_on(ndev, gid_dev);
	rcu_read_unlock();
	return is_on;
}

/* How well a port serves a netdev, in ascending order. */
enum port_match {
	MATCH_NONE,
	MATCH_LINK_LOCAL,
	MATCH_ADDRESS,
};

/*
 * All ports of a bond in mode active-backup have its default GID, and only the
 * active one has its addresses.
 */
static enum port_match port_match(struct ib_device *ibdev, u32 port,
				  const struct net_device *ndev)
{
	int len = ibdev->port_data[port].immutable.gid_tbl_len;
	enum port_match match = MATCH_NONE;
	const struct ib_gid_attr *attr;
	int i;

	if (!rdma_protocol_roce_udp_encap(ibdev, port))
		return match;
	for (i = 0; i < len && match != MATCH_ADDRESS; i++) {
		attr = rdma_get_gid_attr(ibdev, port, i);
		if (IS_ERR(attr))
			continue;
		if (gid_is_on(attr, ndev))
			match = rdma_link_local_addr((void *)&attr->gid) ?
					MATCH_LINK_LOCAL : MATCH_ADDRESS;
		rdma_put_gid_attr(attr);
	}
	return match;
}

static void lower_fill(struct hroce_lower *lower, const struct candidate *it,
		       u32 port)
{
	const struct device *parent = it->ibdev->dev.parent;

	memset(lower, 0, sizeof(*lower));
	lower->index = it->ibdev->index;
	lower->port = port;
	lower->driver_id = it->ibdev->ops.driver_id;
	strscpy(lower->name, it->name, sizeof(lower->name));
	if (parent && parent->bus)
		snprintf(lower->parent, sizeof(lower->parent), "%s/%s",
			 parent->bus->name, dev_name(parent));
}

bool hroce_lower_find(const struct net_device *ndev,
		      const struct hroce_lower *prefer,
		      struct hroce_lower *lower)
{
	struct candidate *it;
	int match, best = 0;
	u32 port;

	mutex_lock(&candidates_lock);
	list_for_each_entry(it, &candidates, node) {
		if (!hroce_driver_is_eligible(it->ibdev->ops.driver_id))
			continue;
		rdma_for_each_port(it->ibdev, port) {
			match = 2 * port_match(it->ibdev, port, ndev);
			if (match && prefer &&
			    prefer->index == it->ibdev->index &&
			    prefer->port == port)
				match++;
			if (match > best) {
				lower_fill(lower, it, port);
				best = match;
			}
		}
	}
	mutex_unlock(&candidates_lock);
	return best;
}

bool hroce_lower_exists(struct hroce_lower *lower)
{
	struct candidate *it;
	bool found = false;

	mutex_lock(&candidates_lock);
	list_for_each_entry(it, &candidates, node) {
		if (it->ibdev->index != lower->index)
			continue;
		strscpy(lower->name, it->name, sizeof(lower->name));
		found = hroce_driver_is_eligible(it->ibdev->ops.driver_id);
		break;
	}
	mutex_unlock(&candidates_lock);
	return found;
}

struct ib_device *hroce_lower_get(const struct hroce_lower *lower)
{
	struct ib_device *ibdev = NULL;
	struct candidate *it;

	mutex_lock(&candidates_lock);
	list_for_each_entry(it, &candidates, node) {
		if (it->ibdev->index != lower->index)
			continue;
		if (ib_device_try_get(it->ibdev))
			ibdev = it->ibdev;
		break;
	}
	mutex_unlock(&candidates_lock);
	return ibdev;
}

void hroce_lower_remedy(const struct hroce_lower *lower, char *buf, size_t len)
{
	switch (lower->driver_id) {
	case RDMA_DRIVER_MLX5:
		snprintf(buf, len,
			 "devlink dev param set %s name enable_roce value false cmode driverinit && devlink dev reload %s",
			 lower->parent, lower->parent);
		break;
	case RDMA_DRIVER_MLX4:
		snprintf(buf, len, "modprobe -r mlx4_ib");
		break;
	default:
		snprintf(buf, len, "rdma link delete %s", lower->name);
		break;
	}
}

static void lower_event(struct ib_event_handler *handler,
			struct ib_event *event)
{
	if (event->event == IB_EVENT_GID_CHANGE)
		hroce_lower_changed();
}

static struct ib_client lower_client;

static int lower_add(struct ib_device *ibdev)
{
	struct candidate *it;

	/*
	 * A device is unregistered for a moment while it moves to another
	 * namespace, and its link cannot change the mode then: look again.
	 */
	if (ibdev->ops.driver_id == (enum rdma_driver_id)HROCE_DRIVER_ID) {
		hroce_lower_changed();
		return -EOPNOTSUPP;
	}
	it = kzalloc(sizeof(*it), GFP_KERNEL);
	if (!it)
		return -ENOMEM;
	it->ibdev = ibdev;
	strscpy(it->name, dev_name(&ibdev->dev), sizeof(it->name));
	ib_set_client_data(ibdev, &lower_client, it);
	mutex_lock(&candidates_lock);
	list_add_tail(&it->node, &candidates);
	mutex_unlock(&candidates_lock);
	INIT_IB_EVENT_HANDLER(&it->handler, ibdev, lower_event);
	ib_register_event_handler(&it->handler);
	hroce_lower_changed();
	return 0;
}

/*
 * ib_core calls clients in reverse order of registration, so this runs before
 * users of the device are disassociated: a user that then reopens the link does
 * not find the old device.
 */
static void lower_remove(struct ib_device *ibdev, void *client_data)
{
	struct candidate *it = client_data;

	ib_unregister_event_handler(&it->handler);
	mutex_lock(&candidates_lock);
	list_del(&it->node);
	mutex_unlock(&candidates_lock);
	kfree(it);
	hroce_lower_changed();
}

static void lower_rename(struct ib_device *ibdev, void *client_data)
{
	struct candidate *it = client_data;

	mutex_lock(&candidates_lock);
	strscpy(it->name, dev_name(&ibdev->dev), sizeof(it->name));
	mutex_unlock(&candidates_lock);
	hroce_lower_changed();
}

static struct ib_client lower_client = {
	.name = "hroce",
	.add = lower_add,
	.remove = lower_remove,
	.rename = lower_rename,
	.no_kverbs_req = true,
};

int hroce_lower_init(void (*changed)(void))
{
	WRITE_ONCE(lower_told, changed);
	return ib_register_client(&lower_client);
}

void hroce_lower_exit(void)
{
	ib_unregister_client(&lower_client);
}

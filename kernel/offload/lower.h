/* SPDX-License-Identifier: GPL-2.0 */
/* Lower devices: RDMA hardware that speaks RoCEv2 on a netdev. */
#ifndef HROCE_OFFLOAD_LOWER_H
#define HROCE_OFFLOAD_LOWER_H

#include <rdma/ib_verbs.h>

/* Room for what hroce_lower_remedy() tells. */
#define HROCE_REMEDY_LEN	256

/**
 * struct hroce_lower - a port of a lower device, as last seen
 * @index: RDMA_NLDEV_ATTR_DEV_INDEX; never used again when the device is gone
 * @port: number
 * @driver_id: enum rdma_driver_id
 * @name: of the device; may change
 * @parent: its parent as devlink calls it (pci/0000:03:00.0); may be empty
 *
 * A copy: no reference is held, as the device's removal would wait for it.
 */
struct hroce_lower {
	u32 index;
	u32 port;
	u32 driver_id;
	char name[IB_DEVICE_NAME_MAX];
	char parent[64];
};

/**
 * hroce_lower_find - which port offers RoCEv2 on a netdev?
 * @ndev: netdev, may be a VLAN or bond
 * @prefer: the answer until now, which is kept if it is still right; or NULL
 * @lower: the answer
 *
 * Context: process, may sleep; any lock of ib_core may be held.
 * Return: true if there is one.
 */
bool hroce_lower_find(const struct net_device *ndev,
		      const struct hroce_lower *prefer,
		      struct hroce_lower *lower);

/**
 * hroce_lower_exists - is a lower device still there?
 * @lower: as it was found; its name is brought up to date
 *
 * Context: process, may sleep; any lock of ib_core may be held.
 * Return: true if it is.
 */
bool hroce_lower_exists(struct hroce_lower *lower);

/**
 * hroce_lower_remedy - how to take RoCEv2 away from it
 * @lower: port
 * @buf: for the text
 * @len: room in @buf
 */
void hroce_lower_remedy(const struct hroce_lower *lower, char *buf,
			size_t len);

/**
 * hroce_lower_init - follow RDMA devices
 * @changed: called when a device, its addresses or what counts as hardware has
 *	changed, and whenever a device of this driver has come. Any context that
 *	may not sleep as well; any lock may be held. May be called until the module
 *	is gone
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_lower_init(void (*changed)(void));
void hroce_lower_exit(void);

/* For drivers.c: another answer of hroce_driver_is_eligible(). */
void hroce_lower_changed(void);

#endif /* HROCE_OFFLOAD_LOWER_H */

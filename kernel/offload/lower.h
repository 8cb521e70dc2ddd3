/* SPDX-License-Identifier: GPL-2.0 */
/* Lower devices: RDMA hardware that speaks RoCEv2 on a netdev. */
#ifndef HROCE_OFFLOAD_LOWER_H
#define HROCE_OFFLOAD_LOWER_H

#include <rdma/ib_verbs.h>

/* Buffer size for hroce_lower_remedy(). */
#define HROCE_REMEDY_LEN	256

/**
 * struct hroce_lower - a port of a lower device, as last seen
 * @index: RDMA_NLDEV_ATTR_DEV_INDEX; not reused after removal of the device
 * @port: port number
 * @driver_id: enum rdma_driver_id
 * @name: of the device; may change
 * @parent: its parent in devlink notation (pci/0000:03:00.0); may be empty
 *
 * A copy: it holds no reference, which would block removal of the device.
 */
struct hroce_lower {
	u32 index;
	u32 port;
	u32 driver_id;
	char name[IB_DEVICE_NAME_MAX];
	char parent[64];
};

/**
 * hroce_lower_find - find the port that offers RoCEv2 on a netdev
 * @ndev: netdev, may be a VLAN or bond
 * @prefer: the last result, kept if no other port is better; or NULL
 * @lower: filled in if true is returned
 *
 * Context: process, may sleep; any lock of ib_core may be held.
 * Return: true if there is one.
 */
bool hroce_lower_find(const struct net_device *ndev,
		      const struct hroce_lower *prefer,
		      struct hroce_lower *lower);

/**
 * hroce_lower_exists - is a lower device still there, and its driver eligible?
 * @lower: result of hroce_lower_find(); its name is updated
 *
 * Context: process, may sleep; any lock of ib_core may be held.
 * Return: true if it is.
 */
bool hroce_lower_exists(struct hroce_lower *lower);

/**
 * hroce_lower_get - get a lower device
 * @lower: result of hroce_lower_find()
 *
 * A reference blocks removal of the device: keep it for one call of its driver,
 * then drop it by ib_device_put().
 *
 * Context: process, may sleep; any lock of ib_core may be held.
 * Return: device, or NULL if it is gone or going.
 */
struct ib_device *hroce_lower_get(const struct hroce_lower *lower);

/**
 * hroce_lower_remedy - tell how to disable RoCEv2 on a port
 * @lower: port
 * @buf: for the text
 * @len: size of @buf
 */
void hroce_lower_remedy(const struct hroce_lower *lower, char *buf,
			size_t len);

/**
 * hroce_lower_init - watch RDMA devices
 * @changed: called when a device, its addresses or the list of eligible drivers
 *	has changed, and whenever a device of this driver was added. Must not
 *	sleep; the caller may be in any context and hold any lock. May be called
 *	until the module is unloaded
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_lower_init(void (*changed)(void));
void hroce_lower_exit(void);

/* For drivers.c: the result of hroce_driver_is_eligible() has changed. */
void hroce_lower_changed(void);

#endif /* HROCE_OFFLOAD_LOWER_H */

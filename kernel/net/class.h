/* SPDX-License-Identifier: GPL-2.0 */
/* Traffic class of frames: from service level to socket priority. */
#ifndef HROCE_CLASS_H
#define HROCE_CLASS_H

#include <linux/types.h>

/* Highest service level */
#define HROCE_MAX_SL	15

struct net_device;

/**
 * hroce_class_priority - find the socket priority for a service level
 * @dev: netdev of the link
 * @sl: service level, 0 to 15
 * @max: highest priority that the owner may use, 0 to TC_PRIO_MAX
 *
 * On a VLAN, the priority (PCP) in the tag is to be the service level, as
 * hardware sends it and as rdma_cm computes it (iboe_tos_to_sl()). The VLAN
 * device translates the socket priority by its egress map, so this is the
 * priority that the map translates to @sl. Elsewhere, and if the map has no
 * such priority, it is @sl itself.
 *
 * Context: any.
 * Return: a value for skb->priority, at most @max.
 */
u8 hroce_class_priority(struct net_device *dev, u8 sl, u8 max);

/**
 * hroce_class_pcp - find the priority in the VLAN tag
 * @dev: netdev of the link
 * @priority: skb->priority
 *
 * Context: any.
 * Return: the PCP that frames of this priority have, or -ENOENT without a VLAN.
 */
int hroce_class_pcp(struct net_device *dev, u8 priority);

#endif /* HROCE_CLASS_H */

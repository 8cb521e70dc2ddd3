/* SPDX-License-Identifier: GPL-2.0 */
/* Priority-based flow control (IEEE 802.1Qbb) of netdevs: pause frames. */
#ifndef HROCE_PFC_H
#define HROCE_PFC_H

#include <linux/types.h>
#include <uapi/linux/dcbnl.h>

struct net_device;

/**
 * struct hroce_pfc - pause frames for each priority of a netdev
 * @rcvd: received: the peer had this netdev stop
 * @sent: sent: this netdev had the peer stop
 */
struct hroce_pfc {
	u64 rcvd[IEEE_8021QAZ_MAX_TCS];
	u64 sent[IEEE_8021QAZ_MAX_TCS];
};

/**
 * hroce_pfc_read - read what a netdev, or those below it, count
 * @dev: netdev
 * @pfc: filled in; the sum over all netdevs below, such as members of a bond
 *
 * Context: RTNL held, may sleep.
 * Return: false if none of them counts pause frames.
 */
bool hroce_pfc_read(struct net_device *dev, struct hroce_pfc *pfc);

#endif /* HROCE_PFC_H */

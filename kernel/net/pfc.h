/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Priority-based flow control (IEEE 802.1Qbb) of netdevs: pause frames, and whose
 * they are.
 */
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

/**
 * struct hroce_pfc_watch - which priorities of a link are being paused
 * @rcvd: pause frames received at the last look [RTNL]
 * @at: time of that look, in jiffies [RTNL; read without it]
 * @looked: there was one [RTNL; read without it]
 * @paused: priorities for which some came between the last two looks, by bit
 *	[RTNL; read without it]
 */
struct hroce_pfc_watch {
	u64 rcvd[IEEE_8021QAZ_MAX_TCS];
	unsigned long at;
	bool looked;
	u8 paused;
};

/**
 * hroce_pfc_look - look which priorities are being paused
 * @watch: of the link; zeroed before the first look
 * @dev: netdev of the link
 *
 * The first look finds none, and neither does one that comes more than ten
 * seconds after the one before. Looks that follow within ten milliseconds find
 * the same. If another process holds RTNL, what was found last counts.
 * Context: process, RTNL not held.
 * Return: priorities for which pause frames have come since the look before, by
 * bit.
 */
u8 hroce_pfc_look(struct hroce_pfc_watch *watch, struct net_device *dev);

/**
 * hroce_pfc_priority - which priority pauses a class?
 * @dev: netdev of the link
 * @priority: skb->priority of its frames
 * @dscp: their DSCP
 *
 * If the netdev that counts pause frames has a table of DSCPs ("trust dscp"), it
 * goes by that. Otherwise it goes by the VLAN tag. Frames without one have
 * priority 0, if their socket priority is that, too: drivers disagree about the
 * others. Of several netdevs below, such as members of a bond, the first one
 * counts.
 * Context: any, RTNL may be held.
 * Return: the priority, 0 to 7; -ENOENT if that is not known, or if no netdev
 * counts pause frames.
 */
int hroce_pfc_priority(struct net_device *dev, u8 priority, u8 dscp);

#endif /* HROCE_PFC_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * A netdev with priority-based flow control, and pause frames as a card counts
 * them. What one sends, those in other namespaces receive, as if they were at
 * one cable. Parameters set how many pause frames it has received and sent, for
 * priority 0 to 7, and which priorities are paused: their frames wait, and pause
 * frames are counted all the time, as a switch repeats them.
 *
 * The class of a frame is found as ConnectX does: by its DSCP, if there is an
 * entry for any ("dcb app add dev pfc0 dscp-prio 26:3"), or else by its VLAN
 * tag.
 *
 *	insmod hroce_pfc.ko rcvd=0,0,0,7
 *	ip link add pfc0 type hroce_pfc
 *	echo 8 >/sys/module/hroce_pfc/parameters/paused
 */
#include <linux/bits.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/workqueue.h>
#include <net/dcbnl.h>
#include <net/dsfield.h>
#include <net/rtnetlink.h>

static ulong rcvd[IEEE_8021QAZ_MAX_TCS];
module_param_array(rcvd, ulong, NULL, 0644);
MODULE_PARM_DESC(rcvd, "Pause frames received, for each priority");

static ulong sent[IEEE_8021QAZ_MAX_TCS];
module_param_array(sent, ulong, NULL, 0644);
MODULE_PARM_DESC(sent, "Pause frames sent, for each priority");

static uint paused;
module_param(paused, uint, 0644);
MODULE_PARM_DESC(paused, "Priorities that are paused, by bit");

/**
 * struct end - one netdev
 * @dev: the netdev
 * @node: in @ends while it is up [RTNL; RCU readers]
 * @waiting: frames of each priority that is paused
 * @work: counts pause frames, and sends what is not paused any more
 */
struct end {
	struct net_device *dev;
	struct list_head node;
	struct sk_buff_head waiting[IEEE_8021QAZ_MAX_TCS];
	struct delayed_work work;
};

static LIST_HEAD(ends);

static int get_pfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	int i;

	ASSERT_RTNL();
	pfc->pfc_cap = IEEE_8021QAZ_MAX_TCS;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		pfc->indications[i] = rcvd[i];
		pfc->requests[i] = sent[i];
	}
	return 0;
}

static const struct dcbnl_rtnl_ops dcbnl_ops = { .ieee_getpfc = get_pfc };

/* The DSCP of a frame, 0 if it is not of IP. */
static u8 dscp_of(struct sk_buff *skb)
{
	switch (vlan_get_protocol(skb)) {
	case htons(ETH_P_IP):
		return ipv4_get_dsfield(ip_hdr(skb)) >> 2;
	case htons(ETH_P_IPV6):
		return ipv6_get_dsfield(ipv6_hdr(skb)) >> 2;
	}
	return 0;
}

static u8 priority_of(struct net_device *dev, struct sk_buff *skb)
{
	struct dcb_ieee_app_dscp_map trusted;
	u8 mask;

	dcb_ieee_getapp_dscp_prio_mask_map(dev, &trusted);
	if (!memchr_inv(trusted.map, 0, sizeof(trusted.map)))
		return skb_vlan_tag_present(skb) ?
		       skb_vlan_tag_get_prio(skb) : 0;
	mask = trusted.map[dscp_of(skb)];
	return mask ? fls(mask) - 1 : 0;
}

static void to_others(struct end *end, struct sk_buff *skb)
{
	struct sk_buff *copy;
	struct end *other;

	rcu_read_lock();
	list_for_each_entry_rcu(other, &ends, node) {
		if (net_eq(dev_net(other->dev), dev_net(end->dev)))
			continue;
		copy = skb_copy(skb, GFP_ATOMIC);
		if (copy)
			dev_forward_skb(other->dev, copy);
	}
	rcu_read_unlock();
	dev_kfree_skb_any(skb);
}

static bool is_paused(u8 priority)
{
	return READ_ONCE(paused) & BIT(priority);
}

static netdev_tx_t xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct end *end = netdev_priv(dev);
	u8 priority = priority_of(dev, skb);

	if (is_paused(priority) || !skb_queue_empty(&end->waiting[priority]))
		skb_queue_tail(&end->waiting[priority], skb);
	else
		to_others(end, skb);
	return NETDEV_TX_OK;
}

static void work(struct work_struct *work)
{
	struct end *end = container_of(to_delayed_work(work), struct end, work);
	struct sk_buff *skb;
	int i;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (is_paused(i)) {
			rcvd[i]++;
			continue;
		}
		local_bh_disable();
		while ((skb = skb_dequeue(&end->waiting[i])))
			to_others(end, skb);
		local_bh_enable();
	}
	schedule_delayed_work(&end->work, 1);
}

static int open(struct net_device *dev)
{
	struct end *end = netdev_priv(dev);

	list_add_rcu(&end->node, &ends);
	schedule_delayed_work(&end->work, 1);
	return 0;
}

static int stop(struct net_device *dev)
{
	struct end *end = netdev_priv(dev);
	int i;

	list_del_rcu(&end->node);
	synchronize_net();
	cancel_delayed_work_sync(&end->work);
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		skb_queue_purge(&end->waiting[i]);
	return 0;
}

static const struct net_device_ops netdev_ops = {
	.ndo_open = open,
	.ndo_stop = stop,
	.ndo_start_xmit = xmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void setup(struct net_device *dev)
{
	struct end *end = netdev_priv(dev);
	int i;

	ether_setup(dev);
	end->dev = dev;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		skb_queue_head_init(&end->waiting[i]);
	INIT_DELAYED_WORK(&end->work, work);
	dev->features |= NETIF_F_HW_VLAN_CTAG_TX;
	dev->netdev_ops = &netdev_ops;
	dev->dcbnl_ops = &dcbnl_ops;
	dev->needs_free_netdev = true;
	eth_hw_addr_random(dev);
}

static struct rtnl_link_ops link_ops = {
	.kind = "hroce_pfc",
	.priv_size = sizeof(struct end),
	.setup = setup,
};

static int __init pfc_init(void)
{
	return rtnl_link_register(&link_ops);
}
module_init(pfc_init);

static void __exit pfc_exit(void)
{
	rtnl_link_unregister(&link_ops);
}
module_exit(pfc_exit);

MODULE_DESCRIPTION("Netdev that counts pause frames, to test hroce with");
MODULE_LICENSE("GPL");
MODULE_ALIAS_RTNL_LINK("hroce_pfc");

// SPDX-License-Identifier: GPL-2.0
/*
 * A netdev that drops what it is to send, and counts pause frames as a card with
 * priority-based flow control does. How many it has received and sent, for
 * priority 0 to 7, is set by parameters.
 *
 *	insmod hroce_pfc.ko rcvd=0,0,0,7
 *	ip link add pfc0 type hroce_pfc
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>
#include <net/rtnetlink.h>

static ulong rcvd[IEEE_8021QAZ_MAX_TCS];
module_param_array(rcvd, ulong, NULL, 0644);
MODULE_PARM_DESC(rcvd, "Pause frames received, for each priority");

static ulong sent[IEEE_8021QAZ_MAX_TCS];
module_param_array(sent, ulong, NULL, 0644);
MODULE_PARM_DESC(sent, "Pause frames sent, for each priority");

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

static netdev_tx_t xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops netdev_ops = {
	.ndo_start_xmit = xmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static void setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &netdev_ops;
	dev->dcbnl_ops = &dcbnl_ops;
	dev->needs_free_netdev = true;
	eth_hw_addr_random(dev);
}

static struct rtnl_link_ops link_ops = {
	.kind = "hroce_pfc",
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Frames from XDP programs.
 *
 * A program on the netdev of a link, or on one below that, gets a frame before
 * there is an sk_buff, and may hand it over here. What is not taken, goes up the
 * IP stack: frames that are not for the link, those that the link would drop,
 * and all frames while anything looks at them that sees sk_buffs only.
 */
#include <linux/etherdevice.h>
#include <linux/filter.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/netdev_rx_queue.h>
#include <net/xdp.h>

#include "../compat/btf.h"
#include "../core/btf.h"
#include "policy.h"
#include "port.h"
#include "rx.h"
#include "xdp.h"
#include "xdp_above.h"
#include "xdp_bridge.h"

/* Such a program sees sk_buffs, whose VLAN tags are beside the frames. */
static bool xdp_is_generic(const struct xdp_rxq_info *rxq)
{
	return rxq == &rxq->dev->_rx[rxq->queue_index].xdp_rxq;
}

/* The tag that one end of a veth pair leaves to its driver is in no frame. */
static noinline bool xdp_peer_hides_vlan(struct net_device *dev)
{
	const struct net_device *peer = dev->netdev_ops->ndo_get_peer_dev(dev);

	return !peer || peer->features & (NETIF_F_HW_VLAN_CTAG_TX |
					  NETIF_F_HW_VLAN_STAG_TX);
}

/*
 * A card that takes VLAN tags off leaves nothing that tells a VLAN's frame from
 * an untagged one.
 */
static bool xdp_hides_vlan(struct net_device *dev)
{
	return dev->features & (NETIF_F_HW_VLAN_CTAG_RX |
				NETIF_F_HW_VLAN_STAG_RX) ||
	       (unlikely(dev->netdev_ops->ndo_get_peer_dev) &&
		xdp_peer_hides_vlan(dev));
}

static bool xdp_receive(struct xdp_buff *xdp)
{
	struct net_device *dev = xdp->rxq->dev;
	struct hroce_port *port = hroce_port_find_dev(dev);
	const struct ethhdr *eth = xdp->data;

	if (xdp_is_generic(xdp->rxq) || xdp_hides_vlan(dev) ||
	    xdp->data + ETH_HLEN > xdp->data_end)
		return false;
	if (likely(port) && ether_addr_equal(eth->h_dest, dev->dev_addr) &&
	    !hroce_policy_watched(dev, true) && hroce_rx_from_xdp(port, xdp))
		return true;
	return hroce_xdp_receive_above(dev, xdp);
}

__bpf_kfunc int hroce_xdp_receive(struct xdp_md *ctx)
{
	/* Drivers have BH disabled, but tests of programs run in processes. */
	bool enabled = !in_softirq();
	bool taken;

	if (unlikely(enabled))
		local_bh_disable();
	rcu_read_lock();
	taken = xdp_receive((struct xdp_buff *)ctx);
	rcu_read_unlock();
	if (unlikely(enabled))
		local_bh_enable();
	return taken ? XDP_DROP : XDP_PASS;
}

BTF_KFUNCS_START(xdp_kfuncs)
BTF_ID_FLAGS(func, hroce_xdp_receive)
BTF_KFUNCS_END(xdp_kfuncs)

static const struct btf_kfunc_id_set xdp_kfunc_set = {
	.owner = THIS_MODULE,
	.set = &xdp_kfuncs,
};

void hroce_xdp_init(void)
{
	int err;

	if (!hroce_has_btf())
		return;
	hroce_xdp_bridge_init();
	err = register_btf_kfunc_id_set(BPF_PROG_TYPE_XDP, &xdp_kfunc_set);
	if (err)
		pr_notice("no XDP program can hand frames over (%d)\n", err);
}

void hroce_xdp_exit(void)
{
	hroce_xdp_bridge_exit();
}

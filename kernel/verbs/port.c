// SPDX-License-Identifier: GPL-2.0
/*
 * Attributes of the device and its port. Each is a constant or the current
 * state of the netdev. Only what works is advertised.
 */
#include <linux/ethtool.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include "../datapath/ring.h"
#include "../proto/qp.h"
#include "device.h"
#include "ops.h"
#include "port.h"
#include "ucontext.h"

/* vendor_id is an OUI; no vendor has this one. */
#define VENDOR_NONE		0xffffff

static bool netdev_is_up(const struct net_device *ndev)
{
	return netif_running(ndev) && netif_carrier_ok(ndev) &&
	       iboe_get_mtu(READ_ONCE(ndev->mtu));
}

static enum ib_mtu netdev_mtu(const struct net_device *ndev)
{
	return iboe_get_mtu(READ_ONCE(ndev->mtu)) ?: IB_MTU_256;
}

bool hroce_port_is_up(const struct hroce_dev *dev)
{
	return netdev_is_up(dev->port.dev);
}

enum ib_mtu hroce_port_mtu(const struct hroce_dev *dev)
{
	return netdev_mtu(dev->port.dev);
}

static u32 netdev_mbps(struct net_device *ndev)
{
	struct ethtool_link_ksettings settings;
	int err;

	rtnl_lock();
	err = __ethtool_get_link_ksettings(ndev, &settings);
	rtnl_unlock();
	return err || !settings.base.speed ? SPEED_UNKNOWN :
					     settings.base.speed;
}

/* Peers with old kernels ask for the rate of their own netdev. */
u32 hroce_port_static_kbps(const struct hroce_dev *dev, enum ib_rate rate)
{
	u32 mbps;

	if (rate == IB_RATE_PORT_CURRENT)
		return 0;
	mbps = ib_rate_to_mbps(rate);
	if (mbps >= HROCE_MAX_RATE_KBPS / 1000 ||
	    mbps >= netdev_mbps(dev->port.dev))
		return 0;
	return mbps * 1000;
}

/*
 * UC and UD do not report support for receiving: a message is lost while its
 * memory is fetched.
 */
static void query_odp(struct ib_odp_caps *caps)
{
	const u32 requests = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_WRITE |
			     IB_ODP_SUPPORT_READ | IB_ODP_SUPPORT_ATOMIC |
			     IB_ODP_SUPPORT_SRQ_RECV;
	const u32 rc = IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_ATOMIC_WRITE |
		       (IB_DEVICE_FLUSH_GLOBAL ? IB_ODP_SUPPORT_FLUSH : 0);

	caps->general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	caps->per_transport_caps.rc_odp_caps = requests | rc;
	caps->per_transport_caps.xrc_odp_caps = requests;
	caps->per_transport_caps.uc_odp_caps = IB_ODP_SUPPORT_SEND;
	caps->per_transport_caps.ud_odp_caps = IB_ODP_SUPPORT_SEND;
}

int hroce_device_query(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata)
{
	const struct hroce_query_device_resp resp = {
		.rate_limit_min = HROCE_MIN_RATE_KBPS,
		.rate_limit_max = HROCE_MAX_RATE_KBPS,
		.rate_limit_qpts = BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
				   BIT(IB_QPT_UD) | BIT(IB_QPT_XRC_INI),
	};
	struct hroce_dev *dev = to_hdev(ibdev);
	int err;

	err = hroce_udata_check(udata, 0);
	if (!err)
		err = hroce_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		return err;

	memset(attr, 0, sizeof(*attr));
	attr->fw_ver = (u64)HROCE_VERSION_MAJOR << 32 |
		       HROCE_VERSION_MINOR << 16 | HROCE_VERSION_PATCH;
	addrconf_addr_eui48((u8 *)&attr->sys_image_guid,
			    dev->port.dev->dev_addr);
	attr->vendor_id = VENDOR_NONE;
	attr->max_mr_size = 1ULL << 47;
	attr->page_size_cap = PAGE_MASK & GENMASK_ULL(31, 0);
	attr->device_cap_flags = IB_DEVICE_BAD_PKEY_CNTR |
				 IB_DEVICE_BAD_QKEY_CNTR |
				 IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_CURR_QP_STATE_MOD |
				 IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID |
				 IB_DEVICE_SRQ_RESIZE |
				 IB_DEVICE_XRC |
				 IB_DEVICE_MEM_MGT_EXTENSIONS |
				 IB_DEVICE_MEM_WINDOW |
				 IB_DEVICE_MEM_WINDOW_TYPE_2B |
				 IB_DEVICE_FLUSH_GLOBAL |
				 IB_DEVICE_ATOMIC_WRITE;
	/* Required to write back CPU caches. */
	if (IS_ENABLED(CONFIG_ARCH_HAS_PMEM_API))
		attr->device_cap_flags |= IB_DEVICE_FLUSH_PERSISTENT;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	if (IS_ENABLED(CONFIG_MMU_NOTIFIER)) {
		attr->kernel_cap_flags |= IBK_ON_DEMAND_PAGING;
		query_odp(&attr->odp_caps);
	}
	hroce_quota_query(hroce_dev_quota(dev), attr);
	attr->max_qp_wr = HROCE_MAX_WR;
	attr->max_send_sge = HROCE_MAX_SGES;
	attr->max_recv_sge = HROCE_MAX_SGES;
	attr->max_sge_rd = HROCE_MAX_SGES;
	attr->max_cqe = HROCE_MAX_CQE;
	attr->cq_caps.max_cq_moderation_count = U16_MAX;
	attr->cq_caps.max_cq_moderation_period = U16_MAX;
	attr->max_qp_rd_atom = HRP_MAX_RD_ATOMIC;
	attr->max_qp_init_rd_atom = HRP_MAX_RD_ATOMIC;
	attr->max_res_rd_atom = HRP_MAX_RD_ATOMIC * attr->max_qp;
	/*
	 * IB_ATOMIC_GLOB would be true, too: atomics are atomic for CPUs. But
	 * UCX and the tests of rdma-core use atomics only with IB_ATOMIC_HCA.
	 */
	attr->atomic_cap = IB_ATOMIC_HCA;
	attr->masked_atomic_cap = IB_ATOMIC_HCA;
	attr->max_mcast_qp_attach = HROCE_MAX_MCAST_QP;
	attr->max_srq_wr = HROCE_MAX_WR;
	attr->max_srq_sge = HROCE_MAX_SGES;
	attr->max_fast_reg_page_list_len = HROCE_MAX_FAST_REG;
	attr->max_pkeys = HROCE_PKEY_TABLE_LEN;
	attr->local_ca_ack_delay = 12;	/* 4.096 us * 2^12 = 17 ms */
	attr->timestamp_mask = U64_MAX;
	attr->hca_core_clock = NSEC_PER_SEC / 1000;
	return 0;
}

int hroce_device_modify(struct ib_device *ibdev, int mask,
			struct ib_device_modify *modify)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, modify->node_desc,
		       sizeof(ibdev->node_desc));
	return 0;
}

void hroce_device_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, HROCE_VERSION, IB_FW_VERSION_NAME_MAX);
}

void hroce_port_describe(struct ib_device *ibdev,
			 const struct net_device *ndev,
			 struct ib_port_attr *attr)
{
	bool up = netdev_is_up(ndev);

	/* ib_core has zeroed @attr. */
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	if (up)
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	else if (netif_running(ndev))
		attr->phys_state = IB_PORT_PHYS_STATE_POLLING;
	else
		attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = netdev_mtu(ndev);
	attr->phys_mtu = READ_ONCE(ndev->mtu);
	attr->max_vl_num = 1;
	/* A netdev that is being removed has no speed. */
	if (ib_get_eth_speed(ibdev, 1, &attr->active_speed,
			     &attr->active_width)) {
		attr->active_speed = IB_SPEED_SDR;
		attr->active_width = IB_WIDTH_1X;
	}
}

/* The line rate for congestion control. */
static u32 port_kbps(const struct hroce_dev *dev)
{
	u32 mbps = netdev_mbps(dev->port.dev);

	return mbps < U32_MAX / 1000 ? mbps * 1000 : HRP_RP_LINE_KBPS;
}

/* As PortInfo has it: it stops at its largest value. */
static u32 port_count(const struct hroce_dev *dev, enum hroce_stat stat)
{
	return min_t(u64, hroce_stats_get(dev->port.stats, stat), U16_MAX);
}

int hroce_port_query(struct ib_device *ibdev, u32 port_num,
		     struct ib_port_attr *attr)
{
	struct hroce_dev *dev = to_hdev(ibdev);

	hroce_port_describe(ibdev, dev->port.dev, attr);
	WRITE_ONCE(dev->rp.line_kbps, port_kbps(dev));
	attr->gid_tbl_len = HROCE_GID_TABLE_LEN;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = HROCE_MAX_MSG;
	attr->bad_pkey_cntr = port_count(dev, HROCE_DROP_PKEY);
	attr->qkey_viol_cntr = port_count(dev, HROCE_DROP_QKEY);
	attr->pkey_tbl_len = HROCE_PKEY_TABLE_LEN;
	return 0;
}

/*
 * Instead of ib_core, hroce_dev_follow() raises the events: also for bonds, and
 * only if the state of the port changes.
 */
void hroce_port_report_event(struct ib_device *ibdev, struct net_device *ndev,
			     unsigned long event)
{
}

int hroce_port_immutable(struct ib_device *ibdev, u32 port_num,
			 struct ib_port_immutable *immutable)
{
	immutable->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	immutable->gid_tbl_len = HROCE_GID_TABLE_LEN;
	immutable->pkey_tbl_len = HROCE_PKEY_TABLE_LEN;
	return 0;
}

enum rdma_link_layer hroce_port_link_layer(struct ib_device *ibdev,
					   u32 port_num)
{
	return IB_LINK_LAYER_ETHERNET;
}

static bool netdev_has_addr4(const struct net_device *ndev, __be32 addr)
{
	const struct in_device *in_dev = __in_dev_get_rcu(ndev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (ifa->ifa_local == addr)
			return true;
	return false;
}

static bool netdev_has_addr6(const struct net_device *ndev,
			     const struct in6_addr *addr)
{
	const struct inet6_dev *in6_dev = __in6_dev_get(ndev);
	const struct inet6_ifaddr *ifa;

	if (!in6_dev)
		return false;
	list_for_each_entry_rcu(ifa, &in6_dev->addr_list, if_list)
		if (ipv6_addr_equal(&ifa->addr, addr))
			return true;
	return false;
}

static bool netdev_has_addr(const struct net_device *ndev,
			    const struct in6_addr *addr)
{
	bool found;

	rcu_read_lock();
	found = ipv6_addr_v4mapped(addr) ?
			netdev_has_addr4(ndev, addr->s6_addr32[3]) :
			netdev_has_addr6(ndev, addr);
	rcu_read_unlock();
	return found;
}

int hroce_port_add_gid(const struct ib_gid_attr *attr, void **context)
{
	const struct in6_addr *addr = (const struct in6_addr *)attr->gid.raw;
	struct hroce_dev *dev = to_hdev(attr->device);
	bool foreign;

	/*
	 * ib_core offers the GIDs of all devices above the netdev: VLANs,
	 * macvlans, bridges. Frames of this link carry neither their tags nor
	 * their MACs. See also hroce_port_vlan_netdev().
	 */
	rcu_read_lock();
	foreign = rcu_dereference(attr->ndev) != dev->port.dev;
	rcu_read_unlock();
	if (foreign)
		return -EADDRNOTAVAIL;

	/*
	 * Of a point-to-point IPv4 address, ib_core offers the peer's. The table
	 * of a bare netdev also holds removed addresses, and a default GID that
	 * is no address. See hroce_port_follow_addrs().
	 */
	if ((ipv6_addr_v4mapped(addr) || hroce_netdev_is_bare(dev->port.dev)) &&
	    !netdev_has_addr(dev->port.dev, addr))
		addr = &in6addr_any;
	hroce_port_addr_set(&dev->port, attr->index, addr);
	return 0;
}

int hroce_port_del_gid(const struct ib_gid_attr *attr, void **context)
{
	hroce_port_addr_set(&to_hdev(attr->device)->port, attr->index,
			    &in6addr_any);
	return 0;
}

/*
 * ib_core ignores address events of netdevs other than Ethernet, and drivers
 * cannot remove a GID: those of removed addresses stay in the table, but the
 * port does not use them.
 */
void hroce_port_follow_addrs(struct hroce_dev *dev)
{
	const struct ib_gid_attr *attr;
	int i;

	if (!hroce_netdev_is_bare(dev->port.dev))
		return;
	rdma_roce_rescan_device(&dev->ib);
	for (i = 0; i < HROCE_GID_TABLE_LEN; i++) {
		attr = rdma_get_gid_attr(&dev->ib, 1, i);
		if (IS_ERR(attr))
			continue;
		hroce_port_add_gid(attr, NULL);
		rdma_put_gid_attr(attr);
	}
}

/*
 * ib_core gives a device the addresses of its netdev and of VLANs above that,
 * never those of a netdev that is a VLAN itself. So a link on a VLAN names the
 * device below, and takes no address but its own.
 */
struct net_device *hroce_port_vlan_netdev(struct ib_device *ibdev,
					  u32 port_num)
{
	struct net_device *ndev;

	ndev = vlan_dev_real_dev(to_hdev(ibdev)->port.dev);
	dev_hold(ndev);
	return ndev;
}

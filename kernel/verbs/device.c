// SPDX-License-Identifier: GPL-2.0
/*
 * The ib_device of one link: its operations, creation and destruction.
 *
 * Creation sets up the network side, then registers. Destruction always starts
 * in ib_core, which removes all users and then calls hroce_dev_dealloc().
 */
#include <linux/dma-mapping.h>
#include <linux/if_vlan.h>
#include <net/addrconf.h>
#include "../datapath/cq.h"
#include "../datapath/keep.h"
#include "../datapath/mcast.h"
#include "../datapath/qp.h"
#include "../datapath/recv.h"
#include "../datapath/srq.h"
#include "../mem/mw.h"
#include "ah.h"
#include "counter.h"
#include "debug.h"
#include "device.h"
#include "domain.h"
#include "kick.h"
#include "mr.h"
#include "ops.h"
#include "owner.h"
#include "pkey.h"
#include "port.h"
#include "ring.h"
#include "second.h"
#include "sysfs.h"
#include "ucontext.h"
/* Names in the table below stand for wrappers on older kernels. */
#include "../compat/ops.h"

static struct lock_class_key faults_lock_key;
static struct lock_class_key cc_flows_lock_key;

static void hroce_dev_dealloc(struct ib_device *ibdev);
static int dev_enable(struct ib_device *ibdev);

static const struct ib_device_ops dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_HROCE,
	.uverbs_abi_ver = HROCE_UVERBS_ABI_VERSION,

	.add_gid = hroce_port_add_gid,
	.advise_mr = hroce_mr_advise,
	.alloc_hw_port_stats = hroce_hw_stats_alloc_port,
	.alloc_mr = hroce_mr_alloc,
	.alloc_mw = hroce_quota_mw_alloc,
	.alloc_pd = hroce_quota_pd_alloc,
	.alloc_ucontext = hroce_ucontext_alloc,
	.alloc_xrcd = hroce_quota_xrcd_alloc,
	.attach_mcast = hroce_quota_mcast_attach,
	.counter_alloc_stats = hroce_counter_alloc_stats,
	.counter_bind_qp = hroce_counter_bind_qp,
	.counter_dealloc = hroce_counter_dealloc,
	.counter_init = hroce_counter_init,
	.counter_unbind_qp = hroce_counter_unbind_qp,
	.counter_update_stats = hroce_counter_update_stats,
	.create_ah = hroce_ah_create,
	.create_cq = hroce_quota_cq_create,
	.create_qp = hroce_quota_qp_create,
	.create_srq = hroce_quota_srq_create,
	.create_user_ah = hroce_quota_ah_create,
	.dealloc_driver = hroce_dev_dealloc,
	.dealloc_mw = hroce_quota_mw_dealloc,
	.dealloc_pd = hroce_quota_pd_dealloc,
	.dealloc_ucontext = hroce_ucontext_dealloc,
	.dealloc_xrcd = hroce_quota_xrcd_dealloc,
	.del_gid = hroce_port_del_gid,
	.dereg_mr = hroce_quota_mr_dereg,
	.destroy_ah = hroce_quota_ah_destroy,
	.destroy_cq = hroce_quota_cq_destroy,
	.destroy_qp = hroce_quota_qp_destroy,
	.destroy_srq = hroce_quota_srq_destroy,
	.detach_mcast = hroce_quota_mcast_detach,
	.device_group = &hroce_device_group,
	.disassociate_ucontext = hroce_ucontext_disassociate,
	.enable_driver = dev_enable,
	.fill_res_qp_entry = hroce_qp_show,
	.fill_stat_mr_entry = hroce_mr_fill_stat,
	.get_dev_fw_str = hroce_device_fw_str,
	.get_dma_mr = hroce_mr_get_dma,
	.get_hw_stats = hroce_hw_stats_get,
	.get_link_layer = hroce_port_link_layer,
	.get_port_immutable = hroce_port_immutable,
	.map_mr_sg = hroce_mr_map_sg,
	.mmap = hroce_ring_mmap,
	.mmap_free = hroce_ring_mmap_free,
	.modify_cq = hroce_cq_modify,
	.modify_device = hroce_device_modify,
	.modify_qp = hroce_qp_modify,
	.modify_srq = hroce_srq_modify,
	.poll_cq = hroce_cq_poll,
	.post_recv = hroce_post_recv,
	.post_send = hroce_post_send,
	.post_srq_recv = hroce_post_srq_recv,
	.pre_destroy_cq = hroce_cq_pre_destroy,
	.process_mad = hroce_mad_process,
	.query_ah = hroce_ah_query,
	.query_device = hroce_device_query,
	.query_pkey = hroce_pkey_query,
	.query_port = hroce_port_query,
	.query_qp = hroce_qp_query,
	.query_srq = hroce_srq_query,
	.query_ucontext = hroce_ucontext_query,
	.reg_user_mr = hroce_quota_mr_reg_user,
	.reg_user_mr_dmabuf = hroce_quota_mr_reg_dmabuf,
	.report_port_event = hroce_port_report_event,
	.req_notify_cq = hroce_cq_req_notify,
	.rereg_user_mr = hroce_mr_rereg,
	.resize_user_cq = hroce_cq_resize,

	INIT_RDMA_OBJ_SIZE(ib_ah, hroce_ib_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, hroce_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, hroce_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, hroce_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, hroce_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, hroce_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, hroce_ucontext, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, hroce_xrcd, ib),
	INIT_RDMA_OBJ_SIZE(rdma_counter, hroce_counter, ib),
};

static const struct ib_device_ops dev_vlan_ops = {
	.get_netdev = hroce_port_vlan_netdev,
};

void hroce_ibdev_setup(struct ib_device *ibdev,
		       const struct hroce_owner *owner)
{
	const struct net_device *ndev = owner->ndev;
	u8 *guid = (u8 *)&ibdev->node_guid;

	/*
	 * In exclusive mode a device is visible in one namespace, by default
	 * the initial one.
	 */
	if (!rdma_dev_access_netns(ibdev, owner->rdma_net))
		write_pnet(&ibdev->coredev.rdma_net, owner->rdma_net);

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_online_cpus();
	strscpy(ibdev->node_desc, "hroce", sizeof(ibdev->node_desc));

	if (!ndev->addr_len) {
		get_random_bytes(guid, sizeof(ibdev->node_guid));
		return;
	}
	/*
	 * A VLAN and an ipvlan have the MAC of the device below, and hardware
	 * derives its GUID from that MAC, too: change the bytes ff:fe.
	 * Indices of netdevs are equal in different namespaces.
	 */
	addrconf_addr_eui48(guid, ndev->dev_addr);
	guid[3] ^= owner->number >> 8;
	guid[4] ^= owner->number;
}

/* For ib_core, a name with a '%' is a format, where "%%" stands for one. */
int hroce_ibdev_register(struct ib_device *ibdev, const char *name)
{
	char format[2 * IB_DEVICE_NAME_MAX], *end = format;

	while (*name && end < format + sizeof(format) - 2) {
		if (*name == '%')
			*end++ = '%';
		*end++ = *name++;
	}
	*end = '\0';
	ib_mark_name_assigned_by_user(ibdev);
	return ib_register_device(ibdev, format, NULL);
}

/* Initialise everything that needs no cleanup. */
static void ibdev_setup(struct hroce_ibdev *ibdev)
{
	struct hroce_dev *dev = &ibdev->dev;

	hroce_ibdev_setup(&dev->ib, ibdev->owner);
	xa_init_flags(&dev->qps, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->xrc_srqs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->faults, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	/* Unlike the locks of other tables, these are taken in softirqs. */
	lockdep_set_class(&dev->faults.xa_lock, &faults_lock_key);
	xa_init_flags(&dev->cc_flows, XA_FLAGS_LOCK_BH | XA_FLAGS_ACCOUNT);
	lockdep_set_class(&dev->cc_flows.xa_lock, &cc_flows_lock_key);
	xa_init_flags(&dev->ahs,
		      XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ | XA_FLAGS_ACCOUNT);
	xa_init_flags(&ibdev->counters, XA_FLAGS_ALLOC1);
	mutex_init(&ibdev->counters_lock);
	hroce_second_init(dev);
	hroce_quota_init(&ibdev->quota);
	hroce_mcast_init(&dev->mcast);
	hroce_pkey_init(dev);
	dev->ack_delay_us = HROCE_ACK_DELAY_US;
	dev->agree_mtu = true;
	dev->sack = true;
	dev->spray = 1;
	dev->cc = HRP_CC_DELAY;
	memset(dev->cc_class, HROCE_CC_LINK, sizeof(dev->cc_class));
	hroce_cnp_init(&dev->cnp);
	hrp_rp_init(&dev->rp);
	dev->hand_over = true;
	hroce_poller_init(&dev->poller);
	hroce_hide_init(&dev->qpn_hide);
}

/* The device has its name; or it has moved to another network namespace. */
static int dev_enable(struct ib_device *ibdev)
{
	struct hroce_dev *dev = to_hdev(ibdev);

	/* ib_core took the device away from its users for the move. */
	WRITE_ONCE(dev->leaving, false);
	if (to_hibdev(ibdev)->debug) {
		/* A rename beside the move may have found no clients. */
		hroce_debug_rename(dev);
		return 0;
	}
	hroce_debug_add(dev);
	hroce_second_enter(dev);
	return 0;
}

static void hroce_dev_dealloc(struct ib_device *ibdev)
{
	struct hroce_ibdev *hibdev = to_hibdev(ibdev);
	unsigned long qp = 0, srq = 0, ah = 0;
	struct hroce_dev *dev = &hibdev->dev;

	hroce_debug_del(dev);
	hroce_second_fini(dev);
	hroce_keep_fini(dev);
	hroce_poller_set(dev, 0);
	hroce_port_close(&dev->port);
	/* Address handles outlive their verbs objects. */
	hroce_ah_flush();
	hroce_port_fini(&dev->port);
	/* Not xa_empty(): a failed insertion may leave empty nodes. */
	WARN_ON_ONCE(atomic_long_read(&dev->kept_bytes) ||
		     xa_find(&dev->qps, &qp, ULONG_MAX, XA_PRESENT) ||
		     xa_find(&dev->xrc_srqs, &srq, ULONG_MAX, XA_PRESENT) ||
		     xa_find(&dev->ahs, &ah, ULONG_MAX, XA_PRESENT));
	xa_destroy(&dev->qps);
	hroce_lookup_fini(&dev->qp_lookup);
	xa_destroy(&dev->xrc_srqs);
	xa_destroy(&dev->faults);
	xa_destroy(&dev->ahs);
	xa_destroy(&dev->cc_flows);
	xa_destroy(&hibdev->counters);
	hroce_mkeys_fini(&dev->mkeys);
	hibdev->owner->ops->gone(hibdev->owner, ibdev);
}

int hroce_dev_create(struct hroce_owner *owner, const char *name)
{
	struct net_device *ndev = owner->ndev;
	struct hroce_ibdev *ibdev;
	struct hroce_dev *dev;
	int err;

	ibdev = ib_alloc_device(hroce_ibdev, dev.ib);
	if (!ibdev)
		return -ENOMEM;
	dev = &ibdev->dev;
	ibdev->owner = owner;
	ibdev_setup(ibdev);
	/* dma-buf exporters may map for the attached device. */
	err = dma_coerce_mask_and_coherent(&dev->ib.dev, DMA_BIT_MASK(64));
	if (err)
		goto dealloc;
	err = hroce_mkeys_init(&dev->mkeys);
	if (err)
		goto dealloc;
	err = hroce_lookup_init(&dev->qp_lookup);
	if (err)
		goto fini_keys;
	err = hroce_port_init(&dev->port, ndev, &hroce_recv_ops);
	if (err)
		goto fini_recent;
	ibdev->mtu = hroce_port_mtu(dev);
	ibdev->active = hroce_port_is_up(dev);

	/* From here on ib_dealloc_device() calls hroce_dev_dealloc(). */
	ib_set_device_ops(&dev->ib, &dev_ops);
	if (is_vlan_dev(ndev))
		ib_set_device_ops(&dev->ib, &dev_vlan_ops);
	dev->ib.driver_def = hroce_kick_defs;
	hroce_keep_init(dev);

	err = ib_device_set_netdev(&dev->ib, ndev, 1);
	if (err)
		goto dealloc;
	err = hroce_port_open(&dev->port);
	if (err)
		goto dealloc;
	/* groups[1] is .device_group. All namespaces see the directory. */
	dev->ib.groups[2] = owner->ops->group;
	err = hroce_ibdev_register(&dev->ib, name);
	if (err)
		goto dealloc;
	return 0;

fini_recent:
	hroce_lookup_fini(&dev->qp_lookup);
fini_keys:
	hroce_mkeys_fini(&dev->mkeys);
dealloc:
	ib_dealloc_device(&dev->ib);
	return err;
}

void hroce_dev_follow(struct hroce_dev *dev)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = 1,
	};
	struct hroce_ibdev *ibdev = to_hibdev(&dev->ib);
	bool active = hroce_port_is_up(dev);

	ASSERT_RTNL();
	WRITE_ONCE(ibdev->mtu, hroce_port_mtu(dev));
	if (active == ibdev->active)
		return;
	ibdev->active = active;
	if (!active) {
		WRITE_ONCE(ibdev->link_downed, ibdev->link_downed + 1);
		hroce_second_down(dev);
	}
	event.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	ib_dispatch_event(&event);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * RDMA cards with nothing behind them, for tests.
 *
 * What they have is what the distribution's libmlx5 and libmlx4 want to see
 * when they open a device: the identity, the answers of the first commands, and
 * pages of doorbells that are mapped into the program. What they do not have is
 * queues: a doorbell is noted, and that is all.
 *
 *	rdma link add mlx5_9 type standin5 netdev ia	one port
 *	rdma link add mlx4_9 type standin4 netdev ia	two ports, this is the
 *							second
 *
 * Deleting such a link is what pulling the card is to its driver: the programs
 * that use it are told, their mappings are taken away, and nobody waits for
 * them. The module can be removed with programs on it, as those of the cards.
 */
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_verbs.h>
#include <rdma/mlx4-abi.h>
#include <rdma/mlx5-abi.h>
#include <rdma/rdma_netlink.h>
#include <rdma/uverbs_ioctl.h>

/* Where both libraries ring for completion queues. */
#define DOORBELL_CQ	0x20

#define GID_TABLE_LEN	16

struct standin {
	struct ib_device ib;
};

struct standin_ucontext {
	struct ib_ucontext ib;
};

struct standin_pd {
	struct ib_pd ib;
};

struct standin_cq {
	struct ib_cq ib;
};

/*
 * Stays when the cards go, as the memory of a machine whose card has gone:
 * what still reaches it has not been taken away.
 */
static unsigned long doorbells;

static struct platform_device *slot;

static bool roce = true;
module_param(roce, bool, 0644);
MODULE_PARM_DESC(roce, "cards to come have RoCE switched on");

static int doorbell_get(char *buf, const struct kernel_param *kp)
{
	const __be64 *at = (void *)(doorbells + DOORBELL_CQ);

	return sysfs_emit(buf, "%016llx\n", be64_to_cpu(READ_ONCE(*at)));
}

static const struct kernel_param_ops doorbell_ops = {
	.get = doorbell_get,
};

module_param_cb(doorbell, &doorbell_ops, NULL, 0444);
MODULE_PARM_DESC(doorbell, "the last doorbell of a completion queue");

static int standin_query_device(struct ib_device *ibdev,
				struct ib_device_attr *attr,
				struct ib_udata *udata)
{
	attr->max_pkeys = 1;
	attr->max_pd = 1000;
	attr->max_cq = 1000;
	attr->max_cqe = 1000;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	return 0;
}

static int standin_query_port(struct ib_device *ibdev, u32 port,
			      struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = IB_MTU_4096;
	attr->active_speed = IB_SPEED_EDR;
	attr->active_width = IB_WIDTH_4X;
	attr->gid_tbl_len = GID_TABLE_LEN;
	attr->pkey_tbl_len = 1;
	attr->max_msg_sz = SZ_1G;
	return 0;
}

static int standin_query_pkey(struct ib_device *ibdev, u32 port, u16 index,
			      u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static enum rdma_link_layer standin_link_layer(struct ib_device *ibdev,
					       u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/* GIDs of both versions, as cards have; none with RoCE switched off. */
static int standin_port_immutable(struct ib_device *ibdev, u32 port,
				  struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = GID_TABLE_LEN;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = roce ? RDMA_CORE_CAP_PROT_ROCE |
					   RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP :
					   RDMA_CORE_PORT_RAW_PACKET;
	return 0;
}

static uint gid_ms;
module_param(gid_ms, uint, 0644);
MODULE_PARM_DESC(gid_ms, "milliseconds that a card takes to add a GID");

static int standin_add_gid(const struct ib_gid_attr *attr, void **context)
{
	if (gid_ms)
		msleep(gid_ms);
	return 0;
}

static int standin_del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

static u64 traffic;
module_param(traffic, ullong, 0644);
MODULE_PARM_DESC(traffic, "port counters that cards report; port 2 has twice as much");

/*
 * Counters of a port, as firmware tells them: bytes in units of 4, and packets,
 * received ones with a bit more.
 */
static int standin_process_mad(struct ib_device *ibdev, int flags, u32 port,
			       const struct ib_wc *wc, const struct ib_grh *grh,
			       const struct ib_mad *in, struct ib_mad *out,
			       size_t *out_size, u16 *out_pkey_index)
{
	struct ib_pma_portcounters_ext *ext = (void *)(out->data + 40);
	struct ib_class_port_info *info = (void *)(out->data + 40);
	struct ib_pma_portcounters *c = (void *)(out->data + 40);
	u64 n = traffic * in->data[41];

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT ||
	    in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		break;
	case IB_PMA_PORT_COUNTERS:
		if (in->data[41] != port)
			return IB_MAD_RESULT_FAILURE;
		c->symbol_error_counter = cpu_to_be16(port);
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		if (in->data[41] != port)
			return IB_MAD_RESULT_FAILURE;
		ext->port_xmit_data = cpu_to_be64(n * 256);
		ext->port_rcv_data = cpu_to_be64(n * 256 + 1);
		ext->port_xmit_packets = cpu_to_be64(n);
		ext->port_rcv_packets = cpu_to_be64(n + 1);
		break;
	default:
		return IB_MAD_RESULT_FAILURE;
	}
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static int answer(struct ib_udata *udata, void *resp, size_t len)
{
	return ib_copy_to_udata(udata, resp, min(len, udata->outlen));
}

static int mlx5_alloc_ucontext(struct ib_ucontext *context,
			       struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_resp resp = {
		.qp_tab_size = 1 << 18,
		.bf_reg_size = 512,
		.tot_bfregs = 16,
		.cache_line_size = 64,
		.max_sq_desc_sz = 1024,
		.max_rq_desc_sz = 512,
		.max_send_wqebb = 8192,
		.max_recv_wr = 8192,
		.max_srq_recv_wr = 8192,
		.num_ports = 1,
		.response_length = sizeof(resp),
		.cqe_version = 1,
		.num_uars_per_page = 1,
	};

	return answer(udata, &resp, sizeof(resp));
}

static int mlx4_alloc_ucontext(struct ib_ucontext *context,
			       struct ib_udata *udata)
{
	struct mlx4_ib_alloc_ucontext_resp resp = {
		.dev_caps = MLX4_USER_DEV_CAP_LARGE_CQE,
		.qp_tab_size = 1 << 18,
		.bf_reg_size = 512,
		.bf_regs_per_page = 8,
		.cqe_size = 64,
	};

	return answer(udata, &resp, sizeof(resp));
}

static void standin_dealloc_ucontext(struct ib_ucontext *context)
{
}

static void standin_disassociate_ucontext(struct ib_ucontext *context)
{
}

/* Whichever page a library asks for, it is that one. */
static int standin_mmap(struct ib_ucontext *context,
			struct vm_area_struct *vma)
{
	return rdma_user_mmap_io(context, vma,
				 page_to_pfn(virt_to_page((void *)doorbells)),
				 PAGE_SIZE, vma->vm_page_prot, NULL);
}

static int standin_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct mlx4_ib_alloc_pd_resp resp = { .pdn = 1 };

	/* That of mlx5 is the same, and ends before the reserved member. */
	return answer(udata, &resp, sizeof(resp));
}

static int standin_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int cq_create(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		     struct ib_udata *udata)
{
	/* The same for both. */
	struct mlx5_ib_create_cq_resp resp = { .cqn = 1 };

	cq->cqe = attr->cqe;
	return answer(udata, &resp, sizeof(resp));
}

#ifdef HROCE_HAVE_CREATE_CQ_ATTRS
static int standin_create_cq(struct ib_cq *cq,
			     const struct ib_cq_init_attr *attr,
			     struct uverbs_attr_bundle *attrs)
{
	return cq_create(cq, attr, &attrs->driver_udata);
}
#else
#define standin_create_cq	cq_create
#endif

static int standin_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return 0;
}

/* ib_core asks for it before it lets a user unregister a device. */
static void standin_dealloc_driver(struct ib_device *ibdev)
{
}

/*
 * Files that the cards' drivers have: node_exporter 1.5.0 insists on board_id,
 * and 1.9.0 on hw_counters of devices that are called mlx5_*.
 */
static ssize_t board_id_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "standin\n");
}
static DEVICE_ATTR_RO(board_id);

static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "standin\n");
}
static DEVICE_ATTR_RO(hca_type);

static struct rdma_hw_stats *standin_hw_stats_alloc(struct ib_device *ibdev,
						    u32 port)
{
	static const struct rdma_stat_desc descs[] = {
		{ .name = "out_of_sequence" },
	};

	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int standin_hw_stats_get(struct ib_device *ibdev,
				struct rdma_hw_stats *stats, u32 port,
				int index)
{
	stats->value[0] = traffic;
	return 1;
}

static struct attribute *standin_attrs[] = {
	&dev_attr_board_id.attr,
	&dev_attr_hca_type.attr,
	NULL,
};

static const struct attribute_group standin_group = {
	.attrs = standin_attrs,
};

static const struct ib_device_ops standin_ops = {
	.owner = THIS_MODULE,

	.add_gid = standin_add_gid,
	.alloc_hw_port_stats = standin_hw_stats_alloc,
	.alloc_pd = standin_alloc_pd,
	.create_cq = standin_create_cq,
	.dealloc_driver = standin_dealloc_driver,
	.dealloc_pd = standin_dealloc_pd,
	.dealloc_ucontext = standin_dealloc_ucontext,
	.del_gid = standin_del_gid,
	.destroy_cq = standin_destroy_cq,
	.device_group = &standin_group,
	.disassociate_ucontext = standin_disassociate_ucontext,
	.get_hw_stats = standin_hw_stats_get,
	.get_link_layer = standin_link_layer,
	.get_port_immutable = standin_port_immutable,
	.mmap = standin_mmap,
	.process_mad = standin_process_mad,
	.query_device = standin_query_device,
	.query_pkey = standin_query_pkey,
	.query_port = standin_query_port,

	INIT_RDMA_OBJ_SIZE(ib_cq, standin_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, standin_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, standin_ucontext, ib),
};

static const struct ib_device_ops mlx5_ops = {
	.driver_id = RDMA_DRIVER_MLX5,
	.uverbs_abi_ver = MLX5_IB_UVERBS_ABI_VERSION,
	.alloc_ucontext = mlx5_alloc_ucontext,
};

static const struct ib_device_ops mlx4_ops = {
	.driver_id = RDMA_DRIVER_MLX4,
	.uverbs_abi_ver = MLX4_IB_UVERBS_ABI_VERSION,
	.alloc_ucontext = mlx4_alloc_ucontext,
};

static int standin_add(const char *name, struct net_device *ndev, u32 port,
		       const struct ib_device_ops *ops)
{
	struct standin *card;
	int err;

	card = ib_alloc_device(standin, ib);
	if (!card)
		return -ENOMEM;
	card->ib.node_type = RDMA_NODE_IB_CA;
	card->ib.phys_port_cnt = port;
	card->ib.num_comp_vectors = 1;
	card->ib.dev.parent = &slot->dev;
	eth_random_addr((u8 *)&card->ib.node_guid);
	ib_set_device_ops(&card->ib, &standin_ops);
	ib_set_device_ops(&card->ib, ops);
	err = ib_device_set_netdev(&card->ib, ndev, port);
	if (err)
		goto dealloc;
	ib_mark_name_assigned_by_user(&card->ib);
	err = ib_register_device(&card->ib, name, NULL);
	if (err)
		goto dealloc;
	return 0;

dealloc:
	ib_dealloc_device(&card->ib);
	return err;
}

static int mlx5_newlink(const char *name, struct net_device *ndev)
{
	return standin_add(name, ndev, 1, &mlx5_ops);
}

static int mlx4_newlink(const char *name, struct net_device *ndev)
{
	return standin_add(name, ndev, 2, &mlx4_ops);
}

static struct rdma_link_ops mlx5_link_ops = {
	.type = "standin5",
	.newlink = mlx5_newlink,
};

static struct rdma_link_ops mlx4_link_ops = {
	.type = "standin4",
	.newlink = mlx4_newlink,
};

static int __init standin_init(void)
{
	doorbells = get_zeroed_page(GFP_KERNEL);
	if (!doorbells)
		return -ENOMEM;
	slot = platform_device_register_simple("standin", PLATFORM_DEVID_NONE,
					       NULL, 0);
	if (IS_ERR(slot)) {
		free_page(doorbells);
		return PTR_ERR(slot);
	}
	rdma_link_register(&mlx5_link_ops);
	rdma_link_register(&mlx4_link_ops);
	return 0;
}

static void __exit standin_exit(void)
{
	rdma_link_unregister(&mlx4_link_ops);
	rdma_link_unregister(&mlx5_link_ops);
	ib_unregister_driver(RDMA_DRIVER_MLX4);
	ib_unregister_driver(RDMA_DRIVER_MLX5);
	platform_device_unregister(slot);
	free_page(doorbells);
}

module_init(standin_init);
module_exit(standin_exit);

MODULE_AUTHOR("The hroce developers");
MODULE_DESCRIPTION("RDMA cards with nothing behind them");
MODULE_LICENSE("GPL");

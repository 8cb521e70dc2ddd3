// SPDX-License-Identifier: GPL-2.0
/*
 * Facades.
 *
 * A facade lacks operations on purpose. Without the mandatory verbs, ib_core
 * hides it from kernel users: rdma_cm, NVMe and others find the hardware by its
 * address, whichever device was registered first. Its port has no RoCE
 * capability, hence no GIDs, and no MADs, hence no QP1. Its counters are those
 * of the hardware. It has no socket and no
 * hook: UDP port 4791 of the netdev belongs to the hardware.
 */
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include "device.h"
#include "facade.h"
#include "ops.h"
#include "owner.h"
#include "pma.h"
#include "port.h"
#include "sysfs.h"
#include "ucontext.h"

/* Not a hroce_ucontext: there are no queues to map and no memory to fetch. */
struct facade_ucontext {
	struct ib_ucontext ib;
};

static int facade_ucontext_alloc(struct ib_ucontext *ibctx,
				 struct ib_udata *udata)
{
	struct hroce_owner *owner = to_hfacade(ibctx->device)->owner;
	struct hroce_alloc_ucontext_resp resp = {
		.mode = HROCE_MODE_FACADE,
	};
	int err;

	err = hroce_ucontext_check(udata);
	if (err)
		return err;
	if (!owner->ops->lower(owner, &resp))
		return -ENODEV;
	return hroce_udata_answer(udata, &resp, sizeof(resp));
}

static void facade_ucontext_dealloc(struct ib_ucontext *ibctx)
{
}

static int facade_query_device(struct ib_device *ibdev,
			       struct ib_device_attr *attr,
			       struct ib_udata *udata)
{
	const struct hroce_facade *facade = to_hfacade(ibdev);

	if (udata->inlen || udata->outlen)
		return -EINVAL;
	memset(attr, 0, sizeof(*attr));
	addrconf_addr_eui48((u8 *)&attr->sys_image_guid,
			    facade->owner->ndev->dev_addr);
	attr->device_cap_flags = IB_DEVICE_SYS_IMAGE_GUID;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->max_pkeys = 1;
	return 0;
}

static int facade_query_port(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_attr *attr)
{
	hroce_port_describe(ibdev, to_hfacade(ibdev)->owner->ndev, attr);
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	return 0;
}

/* ib_core requires a table of at least one entry: the zero GID. */
static int facade_query_gid(struct ib_device *ibdev, u32 port_num, int index,
			    union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	return 0;
}

static int facade_query_pkey(struct ib_device *ibdev, u32 port_num, u16 index,
			     u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int facade_port_immutable(struct ib_device *ibdev, u32 port_num,
				 struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 1;
	return 0;
}

/* `rdma dev` shows this string without options. */
void hroce_facade_fw_str(struct ib_device *ibdev, char *str)
{
	struct hroce_owner *owner = to_hfacade(ibdev)->owner;
	struct hroce_alloc_ucontext_resp lower;

	if (owner->ops->lower(owner, &lower))
		snprintf(str, IB_FW_VERSION_NAME_MAX, "of-%.20s/%u",
			 lower.lower_name, lower.lower_port);
	else
		snprintf(str, IB_FW_VERSION_NAME_MAX, "of-nothing");
}

/*
 * Without MADs on the wire only ib_core asks, for ports/1/counters. Tools that
 * read those of all devices fail if one device has none.
 */
static int facade_process_mad(struct ib_device *ibdev, int flags, u32 port_num,
			      const struct ib_wc *wc, const struct ib_grh *grh,
			      const struct ib_mad *in, struct ib_mad *out,
			      size_t *out_size, u16 *out_pkey_index)
{
	struct hroce_owner *owner = to_hfacade(ibdev)->owner;
	bool counters;
	int result;

	result = hroce_pma_begin(wc, in, out, &counters);
	if (counters)
		owner->ops->lower_counters(owner, in, out);
	return result;
}

static void facade_dealloc(struct ib_device *ibdev)
{
	struct hroce_owner *owner = to_hfacade(ibdev)->owner;

	owner->ops->gone(owner, ibdev);
}

static const struct ib_device_ops facade_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_HROCE,
	.uverbs_abi_ver = HROCE_UVERBS_ABI_VERSION,

	.alloc_ucontext = facade_ucontext_alloc,
	.dealloc_driver = facade_dealloc,
	.dealloc_ucontext = facade_ucontext_dealloc,
	.device_group = &hroce_device_group,
	.disassociate_ucontext = hroce_ucontext_disassociate,
	.get_dev_fw_str = hroce_facade_fw_str,
	.get_link_layer = hroce_port_link_layer,
	.get_port_immutable = facade_port_immutable,
	.process_mad = facade_process_mad,
	.query_device = facade_query_device,
	.query_gid = facade_query_gid,
	.query_pkey = facade_query_pkey,
	.query_port = facade_query_port,

	INIT_RDMA_OBJ_SIZE(ib_ucontext, facade_ucontext, ib),
};

bool hroce_is_facade(const struct ib_device *ibdev)
{
	return ibdev->ops.alloc_ucontext == facade_ucontext_alloc;
}

int hroce_facade_create(struct hroce_owner *owner, const char *name)
{
	struct hroce_facade *facade;
	int err;

	facade = ib_alloc_device(hroce_facade, ib);
	if (!facade)
		return -ENOMEM;
	facade->owner = owner;
	hroce_ibdev_setup(&facade->ib, owner);
	ib_set_device_ops(&facade->ib, &facade_ops);
	/* groups[1] is .device_group. */
	facade->ib.groups[2] = owner->ops->group;
	err = ib_device_set_netdev(&facade->ib, owner->ndev, 1);
	if (err)
		goto dealloc;
	err = hroce_ibdev_register(&facade->ib, name);
	if (err)
		goto dealloc;
	return 0;

dealloc:
	ib_dealloc_device(&facade->ib);
	return err;
}

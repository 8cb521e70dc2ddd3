// SPDX-License-Identifier: GPL-2.0
/*
 * Facades.
 *
 * What a facade lacks is the point. Without the verbs of kernel users, ib_core
 * shows it to none of them: rdma_cm, NVMe and the like find the hardware itself
 * by its address, whatever was registered first. Without RoCE in its port's
 * capabilities it gets no GIDs, and without MADs no QP1. There is no socket and
 * no hook either: UDP port 4791 of the netdev is the hardware's.
 */
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <rdma/ib_mad.h>
#include "../link.h"
#include "../verbs/device.h"
#include "../verbs/port.h"
#include "../verbs/ucontext.h"
#include "choice.h"
#include "facade.h"
#include "show.h"

/* There are no queues to map, and no memory to fetch: not a hroce_ucontext. */
struct facade_ucontext {
	struct ib_ucontext ib;
};

static int facade_ucontext_alloc(struct ib_ucontext *ibctx,
				 struct ib_udata *udata)
{
	struct hroce_facade *facade = to_hfacade(ibctx->device);
	struct hroce_alloc_ucontext_resp resp = {
		.mode = HROCE_MODE_FACADE,
	};
	struct hroce_choice choice;
	int err;

	err = hroce_ucontext_check(udata);
	if (err)
		return err;
	hroce_link_choice(facade->link, &choice);
	if (!choice.has_lower || !hroce_lower_exists(&choice.lower))
		return -ENODEV;
	resp.lower_index = choice.lower.index;
	resp.lower_port = choice.lower.port;
	resp.lower_driver_id = choice.lower.driver_id;
	static_assert(sizeof(resp.lower_name) >= sizeof(choice.lower.name));
	strscpy(resp.lower_name, choice.lower.name, sizeof(resp.lower_name));
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
			    facade->link->ndev->dev_addr);
	attr->device_cap_flags = IB_DEVICE_SYS_IMAGE_GUID;
	attr->kernel_cap_flags = IBK_ALLOW_USER_UNREG;
	attr->max_pkeys = 1;
	return 0;
}

static int facade_query_port(struct ib_device *ibdev, u32 port_num,
			     struct ib_port_attr *attr)
{
	hroce_port_describe(ibdev, to_hfacade(ibdev)->link->ndev, attr);
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	return 0;
}

/* The table has one entry, since it must have some. */
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

/* `rdma dev` shows it, without options. */
static void facade_fw_str(struct ib_device *ibdev, char *str)
{
	struct hroce_choice choice;

	hroce_link_choice(to_hfacade(ibdev)->link, &choice);
	if (choice.has_lower)
		snprintf(str, IB_FW_VERSION_NAME_MAX, "of-%.20s/%u",
			 choice.lower.name, choice.lower.port);
	else
		snprintf(str, IB_FW_VERSION_NAME_MAX, "of-nothing");
}

static void facade_dealloc(struct ib_device *ibdev)
{
	hroce_link_device_gone(to_hfacade(ibdev)->link, ibdev);
}

static const struct ib_device_ops facade_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_HROCE,
	.uverbs_abi_ver = HROCE_UVERBS_ABI_VERSION,

	.alloc_ucontext = facade_ucontext_alloc,
	.dealloc_driver = facade_dealloc,
	.dealloc_ucontext = facade_ucontext_dealloc,
	.device_group = &hroce_show_group,
	.disassociate_ucontext = hroce_ucontext_disassociate,
	.get_dev_fw_str = facade_fw_str,
	.get_link_layer = hroce_port_link_layer,
	.get_port_immutable = facade_port_immutable,
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

int hroce_facade_create(struct hroce_link *link, const char *name)
{
	struct hroce_facade *facade;
	int err;

	facade = ib_alloc_device(hroce_facade, ib);
	if (!facade)
		return -ENOMEM;
	facade->link = link;
	hroce_ibdev_setup(&facade->ib, link);
	ib_set_device_ops(&facade->ib, &facade_ops);
	err = ib_device_set_netdev(&facade->ib, link->ndev, 1);
	if (err)
		goto dealloc;
	ib_mark_name_assigned_by_user(&facade->ib);
	err = ib_register_device(&facade->ib, name, NULL);
	if (err)
		goto dealloc;
	return 0;

dealloc:
	ib_dealloc_device(&facade->ib);
	return err;
}

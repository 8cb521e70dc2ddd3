// SPDX-License-Identifier: GPL-2.0
/*
 * Files in the directory of a device in sysfs, in both modes of a link. Tools
 * for monitoring expect hca_type and board_id of each RDMA device.
 */
#include <linux/sysfs.h>
#include "device.h"
#include "facade.h"
#include "owner.h"
#include "pkey.h"
#include "sysfs.h"

static ssize_t hca_type_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "hroce\n");
}
static DEVICE_ATTR_RO(hca_type);

/* Software, or the hardware that the link stands for. */
static ssize_t board_id_show(struct device *device,
			     struct device_attribute *attr, char *buf)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(device);
	char version[IB_FW_VERSION_NAME_MAX];

	if (!hroce_is_facade(ibdev))
		return sysfs_emit(buf, "software\n");
	hroce_facade_fw_str(ibdev, version);
	return sysfs_emit(buf, "%s\n", version);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *device_attrs[] = {
	&dev_attr_board_id.attr,
	&dev_attr_hca_type.attr,
	&hroce_attr_set_pkey.attr,
	NULL,
};

/* A facade has no P_Keys to set. */
static umode_t device_attr_mode(struct kobject *kobj, struct attribute *attr,
				int index)
{
	struct ib_device *ibdev = rdma_device_to_ibdev(kobj_to_dev(kobj));

	if (attr == &hroce_attr_set_pkey.attr && hroce_is_facade(ibdev))
		return 0;
	return attr->mode;
}

const struct attribute_group hroce_device_group = {
	.attrs = device_attrs,
	.is_visible = device_attr_mode,
};

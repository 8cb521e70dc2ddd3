// SPDX-License-Identifier: GPL-2.0
/*
 * Partition keys (IBTA 10.9). Without a subnet manager the administrator fills
 * the table:
 *
 *	echo 1 0x8001 >/sys/class/infiniband/NAME/set_pkey
 *
 * and reads it in ports/1/pkeys. Each queue pair keeps a copy of its entry,
 * which follows the table.
 */
#include <linux/capability.h>
#include <linux/kernel.h>
#include "../datapath/pkey.h"
#include "../datapath/qp.h"
#include "device.h"
#include "ops.h"
#include "owner.h"
#include "pkey.h"

void hroce_pkey_init(struct hroce_dev *dev)
{
	mutex_init(&dev->pkey_lock);
	dev->pkeys = to_hibdev(&dev->ib)->owner->pkeys;
}

int hroce_pkey_query(struct ib_device *ibdev, u32 port_num, u16 index,
		     u16 *pkey)
{
	if (index >= HROCE_PKEY_TABLE_LEN)
		return -EINVAL;
	*pkey = hroce_pkey_at(to_hdev(ibdev), index);
	return 0;
}

/* A queue pair takes its copy under the same locks (hroce_qp_set_attr()). */
static void pkey_update_qp(struct hroce_qp *qp)
{
	hroce_qp_lock(qp);
	qp->proto.pkey = hroce_pkey_at(hqp_dev(qp), qp->pkey_index);
	hroce_qp_unlock(qp);
}

static void pkey_set(struct hroce_dev *dev, u32 index, u16 pkey)
{
	struct ib_event event = {
		.device = &dev->ib,
		.element.port_num = 1,
		.event = IB_EVENT_PKEY_CHANGE,
	};

	mutex_lock(&dev->pkey_lock);
	WRITE_ONCE(dev->pkeys[index], pkey);
	hroce_qp_visit_all(dev, pkey_update_qp);
	mutex_unlock(&dev->pkey_lock);
	ib_dispatch_event(&event);
}

static ssize_t set_pkey_store(struct device *device,
			      struct device_attribute *attr, const char *buf,
			      size_t count)
{
	struct hroce_dev *dev =
		rdma_device_to_drv_device(device, struct hroce_dev, ib);
	unsigned int index, pkey;
	char end;

	/* The file is visible in all namespaces. */
	if (!ns_capable(dev->port.net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (sscanf(buf, "%u %i %c", &index, &pkey, &end) != 2 ||
	    index >= HROCE_PKEY_TABLE_LEN || pkey > U16_MAX)
		return -EINVAL;
	/* 0x8000 is no partition either. */
	if (!(pkey & 0x7fff))
		pkey = 0;
	pkey_set(dev, index, pkey);
	return count;
}

struct device_attribute hroce_attr_set_pkey = __ATTR_WO(set_pkey);

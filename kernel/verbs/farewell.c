// SPDX-License-Identifier: GPL-2.0
/*
 * Flush queue pairs of user space before their device goes. ib_core raises
 * IBV_EVENT_DEVICE_FATAL and destroys the objects; a process that polls looks
 * at the CQ alone, and would wait for ever.
 *
 * This is a client of ib_core, since clients hear first, whatever the reason,
 * and in the reverse order of their registration: ib_uverbs, which was loaded
 * before, comes later. It waits for verbs that are being called, so those that
 * wait for user memory are sent home before, too.
 */
#include "device.h"
#include "facade.h"
#include "farewell.h"
#include "mr.h"
#include "qp.h"

static int farewell_add(struct ib_device *ibdev)
{
	if (ibdev->ops.driver_id != RDMA_DRIVER_HROCE || hroce_is_facade(ibdev))
		return -EOPNOTSUPP;
	return 0;
}

/* Those of the kernel are flushed by who owns them. */
static void farewell_to(struct hroce_qp *qp)
{
	if (qp->user)
		hroce_qp_error(qp);
}

static void farewell_remove(struct ib_device *ibdev, void *client_data)
{
	struct hroce_dev *dev = to_hdev(ibdev);

	WRITE_ONCE(dev->leaving, true);
	hroce_mr_end_advice();
	hroce_qp_visit_all(dev, farewell_to);
}

static struct ib_client farewell_client = {
	.name = "hroce_farewell",
	.add = farewell_add,
	.remove = farewell_remove,
};

int hroce_farewell_init(void)
{
	return ib_register_client(&farewell_client);
}

void hroce_farewell_exit(void)
{
	ib_unregister_client(&farewell_client);
}

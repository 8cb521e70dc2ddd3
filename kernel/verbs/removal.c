// SPDX-License-Identifier: GPL-2.0
/*
 * Flush queue pairs of user space before their device is removed. ib_core
 * raises IBV_EVENT_DEVICE_FATAL and destroys the objects; a process that only
 * polls a CQ would wait forever. From then on they stay in RESET or ERR: many
 * programs connect again when they see that their requests are flushed.
 *
 * This is a client of ib_core, since every removal calls clients first, in the
 * reverse order of registration: this one before ib_uverbs, which was loaded
 * earlier. ib_uverbs waits for running verbs, so those that wait for user
 * memory are woken here, too. Clients also hear of new names.
 */
#include "../datapath/qp.h"
#include "debug.h"
#include "device.h"
#include "facade.h"
#include "mr.h"
#include "removal.h"

static int removal_add(struct ib_device *ibdev)
{
	if (ibdev->ops.driver_id != RDMA_DRIVER_HROCE || hroce_is_facade(ibdev))
		return -EOPNOTSUPP;
	return 0;
}

/* Kernel consumers flush their own queue pairs. */
static void removal_flush(struct hroce_qp *qp)
{
	if (qp->user)
		hroce_qp_error(qp);
}

static void removal_begin(struct ib_device *ibdev, void *client_data)
{
	struct hroce_dev *dev = to_hdev(ibdev);

	WRITE_ONCE(dev->leaving, true);
	/*
	 * Pairs with qp_is_leaving(): either a queue pair is found below, or it
	 * finds @leaving set.
	 */
	smp_mb();
	hroce_mr_end_advice();
	hroce_qp_visit_all(dev, removal_flush);
}

static void removal_rename(struct ib_device *ibdev, void *client_data)
{
	hroce_debug_rename(to_hdev(ibdev));
}

static struct ib_client removal_client = {
	.name = "hroce_removal",
	.add = removal_add,
	.remove = removal_begin,
	.rename = removal_rename,
};

int hroce_removal_init(void)
{
	return ib_register_client(&removal_client);
}

void hroce_removal_exit(void)
{
	ib_unregister_client(&removal_client);
}

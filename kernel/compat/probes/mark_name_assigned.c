// SPDX-License-Identifier: GPL-2.0
/* ib_mark_name_assigned_by_user(): 6.12 on. */
#include <rdma/ib_verbs.h>

void probe(struct ib_device *dev);
void probe(struct ib_device *dev)
{
	ib_mark_name_assigned_by_user(dev);
}

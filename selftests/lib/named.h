/* SPDX-License-Identifier: GPL-2.0 */
/* An RDMA device by its name: for the modules that test. */
#ifndef HROCE_SELFTESTS_NAMED_H
#define HROCE_SELFTESTS_NAMED_H

#include <rdma/ib_verbs.h>

static struct ib_device *named_device;
static const char *named_name;

static int named_add(struct ib_device *dev)
{
	if (!named_device && !strcmp(dev_name(&dev->dev), named_name) &&
	    ib_device_try_get(dev))
		named_device = dev;
	return -EOPNOTSUPP;
}

/*
 * Returns the device, to be given back by ib_device_put(), or NULL. 6.12
 * exports a function for that, 7.2 does not; a client sees all devices on both.
 */
static struct ib_device *named_get(const char *name)
{
	static struct ib_client client = { .name = "named", .add = named_add };

	named_name = name;
	if (ib_register_client(&client))
		return NULL;
	ib_unregister_client(&client);
	return named_device;
}

#endif

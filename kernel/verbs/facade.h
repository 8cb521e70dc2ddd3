/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ib_device of a link over hardware: user space opens it, reads which
 * device is the hardware, and opens that.
 */
#ifndef HROCE_FACADE_H
#define HROCE_FACADE_H

#include <rdma/ib_verbs.h>

struct hroce_owner;

/**
 * struct hroce_facade - facade of a link
 * @ib: ib_core's device
 * @owner: the link
 */
struct hroce_facade {
	struct ib_device ib;
	struct hroce_owner *owner;
};

/**
 * hroce_facade_create - register the facade of a link
 * @owner: the link
 * @name: name of the device
 *
 * ib_unregister_device*() removes and frees the device.
 * Context: process; RTNL must not be held, as ib_core takes it.
 * Return: 0 or negative errno.
 */
int hroce_facade_create(struct hroce_owner *owner, const char *name);

/* Is this device of ours a facade? Otherwise it is a struct hroce_dev. */
bool hroce_is_facade(const struct ib_device *ibdev);

/* Name the hardware below; @str has IB_FW_VERSION_NAME_MAX bytes. */
void hroce_facade_fw_str(struct ib_device *ibdev, char *str);

static inline struct hroce_facade *to_hfacade(struct ib_device *ib)
{
	return container_of(ib, struct hroce_facade, ib);
}

#endif /* HROCE_FACADE_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * Drivers by name. A name maps to an enum rdma_driver_id, which is part of the
 * kernel's ABI, unlike names of modules and devices.
 */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/hroce-abi.h>
#include "drivers.h"
#include "lower.h"

/* Drivers that support RoCEv2. */
static const struct {
	const char *name;
	u32 id;
} driver_names[] = {
	{ "mlx5", RDMA_DRIVER_MLX5 },
	{ "mlx4", RDMA_DRIVER_MLX4 },
	{ "bnxt_re", RDMA_DRIVER_BNXT_RE },
	{ "hns", RDMA_DRIVER_HNS },
	{ "irdma", RDMA_DRIVER_IRDMA },
	{ "ocrdma", RDMA_DRIVER_OCRDMA },
	{ "qedr", RDMA_DRIVER_QEDR },
	{ "rxe", RDMA_DRIVER_RXE },
	{ "vmw_pvrdma", RDMA_DRIVER_VMW_PVRDMA },
};

#define MAX_DRIVERS	16

/**
 * struct drivers - value of the module parameter
 * @nr: entries of @ids
 * @ids: enum rdma_driver_id
 * @text: the value as written
 */
struct drivers {
	unsigned int nr;
	u32 ids[MAX_DRIVERS];
	char text[128];
};

static struct drivers drivers = {
	.nr = 2,
	.ids = { RDMA_DRIVER_MLX5, RDMA_DRIVER_MLX4 },
	.text = "mlx5,mlx4",
};

/* Guards @drivers. */
static DEFINE_SPINLOCK(drivers_lock);

bool hroce_driver_is_eligible(u32 driver_id)
{
	bool eligible = false;
	unsigned int i;

	spin_lock(&drivers_lock);
	for (i = 0; i < drivers.nr && !eligible; i++)
		eligible = drivers.ids[i] == driver_id;
	spin_unlock(&drivers_lock);
	return eligible;
}

/* Accept numbers, too, for drivers newer than the list above. */
static int driver_parse(const char *word, u32 *id)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(driver_names); i++) {
		if (!strcmp(driver_names[i].name, word)) {
			*id = driver_names[i].id;
			return 0;
		}
	}
	if (kstrtou32(word, 0, id) || *id == RDMA_DRIVER_UNKNOWN ||
	    *id == HROCE_DRIVER_ID) {
		pr_err("offload_drivers: no RoCEv2 driver \"%s\"\n", word);
		return -EINVAL;
	}
	return 0;
}

static int drivers_set(const char *val, const struct kernel_param *kp)
{
	struct drivers next = {};
	char text[sizeof(next.text)];
	char *rest = text, *word;
	int err;

	if (strscpy(text, val, sizeof(text)) < 0)
		return -EINVAL;
	strscpy(next.text, strim(text), sizeof(next.text));
	while ((word = strsep(&rest, ",")) != NULL) {
		word = strim(word);
		if (!*word)
			continue;
		if (next.nr == MAX_DRIVERS)
			return -EINVAL;
		err = driver_parse(word, &next.ids[next.nr]);
		if (err)
			return err;
		next.nr++;
	}
	spin_lock(&drivers_lock);
	drivers = next;
	spin_unlock(&drivers_lock);
	hroce_lower_changed();
	return 0;
}

static int drivers_get(char *buf, const struct kernel_param *kp)
{
	int len;

	spin_lock(&drivers_lock);
	len = sysfs_emit(buf, "%s\n", drivers.text);
	spin_unlock(&drivers_lock);
	return len;
}

static const struct kernel_param_ops drivers_ops = {
	.set = drivers_set,
	.get = drivers_get,
};

module_param_cb(offload_drivers, &drivers_ops, NULL, 0644);
MODULE_PARM_DESC(offload_drivers,
		 "RDMA drivers whose devices links stand for, by name or number (default mlx5,mlx4)");

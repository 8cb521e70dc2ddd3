// SPDX-License-Identifier: GPL-2.0
/*
 * usage: load PLUGIN
 *
 * Loads the plugin in the way of libibverbs: all symbols bound at once. Its
 * constructor registers with this program, whose symbol comes before that of
 * the library.
 */
#include <dlfcn.h>
#include <string.h>

#include <infiniband/driver.h>
#include <rdma/hroce-abi.h>

#include "tap.h"

static const struct verbs_device_ops *registered;

void verbs_register_driver(const struct verbs_device_ops *ops)
{
	registered = ops;
}

int main(int argc, char **argv)
{
	struct verbs_sysfs_dev dev = { .abi_ver = HROCE_UVERBS_ABI_VERSION };
	struct verbs_device *vdev;
	void *handle;

	if (argc != 2)
		return 2;

	tap_plan(3);
	handle = dlopen(argv[1], RTLD_NOW);
	if (!tap_ok(handle))
		printf("# %s\n", dlerror());
	tap_end("plugin_finds_all_symbols");

	if (tap_ok(registered))
		tap_ok(!strcmp(registered->name, "hroce"));
	tap_end("plugin_registers_itself");

	if (tap_ok(registered)) {
		dev.match = registered->match_table;
		tap_ok(registered->match_device(&dev));
		vdev = registered->alloc_device(&dev);
		tap_ok(vdev);
		registered->uninit_device(vdev);
	}
	tap_end("plugin_accepts_the_installed_libibverbs");
	return tap_exit();
}

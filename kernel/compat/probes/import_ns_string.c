// SPDX-License-Identifier: GPL-2.0
/* MODULE_IMPORT_NS() takes a string: 6.13 on. */
#include <linux/module.h>

#undef MODULE_INFO
#define MODULE_INFO(tag, info)	static_assert(sizeof(info) == sizeof("NS"))
MODULE_IMPORT_NS("NS");

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The libibverbs that this process runs with. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include <infiniband/driver.h>

#include "library.h"

char *hroce_library_file(void)
{
	Dl_info info;

	/* For providers only, hence no symbol of the program's. */
	if (!dladdr((void *)verbs_set_ops, &info) || !info.dli_fname)
		return NULL;
	return realpath(info.dli_fname, NULL);
}

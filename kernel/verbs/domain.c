// SPDX-License-Identifier: GPL-2.0
/* XRC domains. */
#include <linux/memcontrol.h>
#include "domain.h"
#include "ops.h"
#include "ucontext.h"

int hroce_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	int err = hroce_udata_check(udata, 0);

	if (!err)
		to_hxrcd(ibxrcd)->user.memcg =
			get_mem_cgroup_from_mm(current->mm);
	return err;
}

void hroce_xrcd_dealloc(struct ib_xrcd *ibxrcd)
{
	mem_cgroup_put(to_hxrcd(ibxrcd)->user.memcg);
}

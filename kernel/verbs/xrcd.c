// SPDX-License-Identifier: GPL-2.0
/* XRC domains: users compare addresses. */
#include "ucontext.h"
#include "xrcd.h"

int hroce_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return hroce_udata_check(udata, 0);
}

int hroce_xrcd_dealloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* Protection domains and XRC domains: users compare addresses. */
#include "ops.h"
#include "ucontext.h"

int hroce_pd_alloc(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

int hroce_pd_dealloc(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return 0;
}

int hroce_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return hroce_udata_check(udata, 0);
}

int hroce_xrcd_dealloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	return 0;
}

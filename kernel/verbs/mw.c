// SPDX-License-Identifier: GPL-2.0
/* Memory windows: creation. Binding is in mem/bind.c. */
#include "../datapath/dev.h"
#include "../mem/mw.h"
#include "ops.h"
#include "ucontext.h"

int hroce_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct hroce_mw *mw = to_hmw(ibmw);
	int err;

	err = hroce_udata_check(udata, 0);
	if (err)
		return err;
	mw->region.pd = ibmw->pd;
	rwlock_init(&mw->region.lock);
	mw->region.type = HROCE_REGION_WINDOW;
	mw->region.state = HROCE_REGION_FREE;
	err = hroce_mkeys_add(&to_hdev(ibmw->device)->mkeys, &mw->region, -1);
	if (err)
		return err;
	ibmw->rkey = mw->region.key;
	return 0;
}

void hroce_mw_dealloc(struct ib_mw *ibmw)
{
	struct hroce_mw *mw = to_hmw(ibmw);

	hroce_mkeys_del(&to_hdev(ibmw->device)->mkeys, &mw->region);
	hroce_mw_put_parent(mw->region.parent);
}

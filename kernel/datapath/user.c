// SPDX-License-Identifier: GPL-2.0
/* Memory that the owner of a queue pair pays for, see user.h. */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "qp.h"
#include "user.h"

struct mem_cgroup *hroce_user_pay(const struct hroce_qp *qp, gfp_t *gfp)
{
	struct mem_cgroup *memcg = qp->owner ? qp->owner->memcg : NULL;

	if (memcg)
		*gfp |= __GFP_ACCOUNT;
	return set_active_memcg(memcg);
}

void hroce_user_paid(struct mem_cgroup *before)
{
	set_active_memcg(before);
}

void *hroce_user_alloc(const struct hroce_qp *qp, size_t size)
{
	struct mem_cgroup *before;
	gfp_t gfp = HROCE_USER_GFP;
	void *memory;

	before = hroce_user_pay(qp, &gfp);
	memory = kzalloc(size, gfp);
	hroce_user_paid(before);
	return memory;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains, thread domains and parent domains. */
#include <errno.h>
#include <stdlib.h>

#include "pd.h"

static struct hroce_pd *to_hpd(struct ibv_pd *pd)
{
	return container_of(pd, struct hroce_pd, pd);
}

static struct hroce_td *to_htd(struct ibv_td *td)
{
	return container_of(td, struct hroce_td, td);
}

struct ibv_pd *hroce_pd_get(struct ibv_pd *ibpd)
{
	if (!ibpd || !to_hpd(ibpd)->parent_of)
		return NULL;
	to_hpd(ibpd)->nr_users++;
	return ibpd;
}

static void pd_put(struct hroce_pd *pd)
{
	struct hroce_pd *parent_of;

	while (pd && --pd->nr_users == 0) {
		parent_of = pd->parent_of;
		if (pd->domain)
			pd->domain->nr_users--;
		free(pd);
		pd = parent_of;
	}
}

void hroce_pd_put(struct ibv_pd *ibpd)
{
	if (ibpd)
		pd_put(to_hpd(ibpd));
}

static struct hroce_pd *pd_create(void)
{
	struct hroce_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (pd)
		pd->nr_users = 1;
	return pd;
}

struct ibv_pd *hroce_alloc_pd(struct ibv_context *context)
{
	struct ib_uverbs_alloc_pd_resp resp = {};
	struct ibv_alloc_pd cmd = {};
	struct hroce_pd *pd;
	int ret;

	pd = pd_create();
	if (!pd)
		return NULL;

	ret = ibv_cmd_alloc_pd(context, &pd->pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (ret) {
		free(pd);
		errno = ret;
		return NULL;
	}
	return &pd->pd;
}

/* The first use of the handle shows whether it is valid. */
struct ibv_pd *hroce_import_pd(struct ibv_context *context, uint32_t handle)
{
	struct hroce_pd *pd;

	pd = pd_create();
	if (!pd)
		return NULL;
	pd->pd.context = context;
	pd->pd.handle = handle;
	return &pd->pd;
}

/* This cannot fail: the local object stays as long as its parent domains. */
void hroce_unimport_pd(struct ibv_pd *ibpd)
{
	pd_put(to_hpd(ibpd));
}

struct ibv_td *hroce_alloc_td(struct ibv_context *context,
			      struct ibv_td_init_attr *attr)
{
	struct hroce_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = context;
	return &td->td;
}

int hroce_dealloc_td(struct ibv_td *ibtd)
{
	struct hroce_td *td = to_htd(ibtd);

	if (td->nr_users)
		return EBUSY;
	free(td);
	return 0;
}

/* Custom allocators are refused: the kernel allocates the queues. */
struct ibv_pd *
hroce_alloc_parent_domain(struct ibv_context *context,
			  struct ibv_parent_domain_init_attr *attr)
{
	struct hroce_pd *pd;

	if (attr->comp_mask & ~(uint32_t)IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (!attr->pd || to_hpd(attr->pd)->parent_of) {
		errno = EINVAL;
		return NULL;
	}
	pd = pd_create();
	if (!pd)
		return NULL;

	pd->pd.context = context;
	pd->pd.handle = attr->pd->handle;
	pd->parent_of = to_hpd(attr->pd);
	pd->parent_of->nr_users++;
	if (attr->td) {
		pd->domain = to_htd(attr->td);
		pd->domain->nr_users++;
	}
	return &pd->pd;
}

int hroce_dealloc_pd(struct ibv_pd *ibpd)
{
	struct hroce_pd *pd = to_hpd(ibpd);
	int ret;

	if (pd->nr_users > 1)
		return EBUSY;
	if (!pd->parent_of) {
		ret = ibv_cmd_dealloc_pd(ibpd);
		if (ret)
			return ret;
	}
	pd_put(pd);
	return 0;
}

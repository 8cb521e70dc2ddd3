/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains, thread domains, and parent domains, which name both. */
#ifndef HROCE_PD_H
#define HROCE_PD_H

#include <stdatomic.h>
#include <infiniband/driver.h>

/**
 * struct hroce_td - thread domain: a promise that one thread at a time comes
 * @td: what libibverbs knows
 * @nr_users: parent domains
 */
struct hroce_td {
	struct ibv_td td;
	atomic_uint nr_users;
};

/**
 * struct hroce_pd - protection domain, or parent domain
 * @pd: what libibverbs knows; a parent domain has the handle of its protection
 *	domain, so that the kernel knows no difference
 * @parent_of: parent domain: the protection domain; otherwise NULL
 * @domain: parent domain: the thread domain, or NULL
 * @nr_users: protection domain: parent domains; parent domain: queues, which
 *	for a protection domain the kernel counts
 */
struct hroce_pd {
	struct ibv_pd pd;
	struct hroce_pd *parent_of;
	struct hroce_td *domain;
	atomic_uint nr_users;
};

/* Is what belongs to @pd, if to any, used by one thread at a time? */
static inline bool hroce_pd_is_single_threaded(const struct ibv_pd *pd)
{
	return pd && container_of(pd, struct hroce_pd, pd)->domain;
}

/**
 * hroce_pd_get - a queue has been made
 * @pd: its domain, or NULL
 *
 * Parent domains count their queues. Of others nothing is kept: one that was
 * imported may be forgotten earlier.
 *
 * Return: what hroce_pd_put() is to be called with when the queue has gone.
 */
struct ibv_pd *hroce_pd_get(struct ibv_pd *pd);
void hroce_pd_put(struct ibv_pd *pd);

struct ibv_pd *hroce_alloc_pd(struct ibv_context *context);
struct ibv_pd *hroce_import_pd(struct ibv_context *context, uint32_t handle);
void hroce_unimport_pd(struct ibv_pd *pd);
struct ibv_td *hroce_alloc_td(struct ibv_context *context,
			      struct ibv_td_init_attr *attr);
int hroce_dealloc_td(struct ibv_td *td);
struct ibv_pd *
hroce_alloc_parent_domain(struct ibv_context *context,
			  struct ibv_parent_domain_init_attr *attr);
int hroce_dealloc_pd(struct ibv_pd *pd);

#endif /* HROCE_PD_H */

/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Protection domains, thread domains, and parent domains, combining both. */
#ifndef HROCE_PD_H
#define HROCE_PD_H

#include <stdatomic.h>
#include <infiniband/driver.h>

/**
 * struct hroce_td - thread domain: used by one thread at a time
 * @td: base object of libibverbs
 * @nr_users: number of parent domains
 */
struct hroce_td {
	struct ibv_td td;
	atomic_uint nr_users;
};

/**
 * struct hroce_pd - protection domain, or parent domain
 * @pd: base object of libibverbs; a parent domain has the handle of its
 *	protection domain, so the kernel sees no difference
 * @parent_of: for a parent domain, its protection domain; otherwise NULL
 * @domain: for a parent domain, its thread domain or NULL
 * @nr_users: the program, until it deallocates or unimports this; in addition,
 *	for a protection domain, parent domains; for a parent domain, queues. The
 *	last one frees it. The kernel counts the queues of protection domains
 */
struct hroce_pd {
	struct ibv_pd pd;
	struct hroce_pd *parent_of;
	struct hroce_td *domain;
	atomic_uint nr_users;
};

/* Does one thread at a time use the objects of @pd? @pd may be NULL. */
static inline bool hroce_pd_is_single_threaded(const struct ibv_pd *pd)
{
	return pd && container_of(pd, struct hroce_pd, pd)->domain;
}

/**
 * hroce_pd_get - count a queue of a domain
 * @pd: domain of the queue, or NULL
 *
 * Only parent domains count their queues: an imported protection domain may be
 * freed before its queues.
 *
 * Return: argument for hroce_pd_put() after destruction of the queue.
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

/* SPDX-License-Identifier: GPL-2.0 */
/* What the datapath knows of who owns a queue pair. */
#ifndef HROCE_USER_H
#define HROCE_USER_H

#include <linux/gfp.h>
#include <linux/types.h>

/* No reserves are used, as callers can do without. */
#define HROCE_USER_GFP	(GFP_NOWAIT | __GFP_NOWARN | __GFP_NOMEMALLOC)

struct hroce_qp;
struct mem_cgroup;

/**
 * struct hroce_user - a user context, or the XRC domain of target queue pairs
 * @memcg: pays for memory that its queue pairs take up while packets come and
 *	go; NULL: none does
 *
 * Exists at least as long as its queue pairs.
 */
struct hroce_user {
	struct mem_cgroup *memcg;
};

/**
 * hroce_user_pay - have the owner of a queue pair pay for what is allocated
 * @qp: queue pair
 * @gfp: __GFP_ACCOUNT is added if there is who pays
 *
 * Whoever runs this, the sender's process, too. hroce_user_paid() follows.
 *
 * Context: BH disabled.
 * Return: for hroce_user_paid().
 */
struct mem_cgroup *hroce_user_pay(const struct hroce_qp *qp, gfp_t *gfp);

/* Counterpart of hroce_user_pay(). */
void hroce_user_paid(struct mem_cgroup *before);

/**
 * hroce_user_alloc - allocate memory that the owner of a queue pair pays for
 * @qp: queue pair
 * @size: bytes
 *
 * Context: BH disabled.
 * Return: zeroed memory for kfree(); NULL: there is none, or the cgroup of the
 * owner may have no more.
 */
void *hroce_user_alloc(const struct hroce_qp *qp, size_t size);

#endif /* HROCE_USER_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * As many objects as ibv_query_device() tells, and no more: of one context, and
 * of all. Limits are set low for that, see "limits" of a link in debugfs.
 */
#include <fcntl.h>
#include <unistd.h>

#include "vt.h"

#define EACH	12	/* objects of one context */
#define SPARE	7	/* that others may have beside one context */
#define MOST	(EACH + SPARE + 1)

/**
 * struct user - a context of its own, with what objects are made of
 * @e: opened once more
 * @cq: for queue pairs
 * @mem: to be registered
 * @udqp: to be attached to groups
 * @next: number of the next group
 * @xrcd: domain of XRC targets
 */
struct user {
	struct vt_end e;
	struct ibv_cq *cq;
	char mem[64];
	struct ibv_qp *udqp;
	unsigned int next;
	struct ibv_xrcd *xrcd;
};

static struct ibv_qp *make_qp(struct user *u, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = u->cq, .recv_cq = u->cq, .qp_type = type,
		.cap = { 1, 1, 1, 1, 0 },
	};

	return ibv_create_qp(u->e.pd, &attr);
}

static void *new_ah(struct user *u)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .port_num = 1,
		.grh = { .dgid = u->e.gid, .sgid_index = u->e.gid_idx,
			 .hop_limit = 8 },
	};

	return ibv_create_ah(u->e.pd, &attr);
}

static int del_ah(struct user *u, void *ah)
{
	(void)u;
	return ibv_destroy_ah(ah);
}

static void *new_cq(struct user *u)
{
	return ibv_create_cq(u->e.ctx, 1, NULL, NULL, 0);
}

static int del_cq(struct user *u, void *cq)
{
	(void)u;
	return ibv_destroy_cq(cq);
}

static void *new_mr(struct user *u)
{
	return ibv_reg_mr(u->e.pd, u->mem, sizeof(u->mem), 0);
}

static void *new_null_mr(struct user *u)
{
	return ibv_alloc_null_mr(u->e.pd);
}

static int del_mr(struct user *u, void *mr)
{
	(void)u;
	return ibv_dereg_mr(mr);
}

static void *new_mw(struct user *u)
{
	return ibv_alloc_mw(u->e.pd, IBV_MW_TYPE_2);
}

static int del_mw(struct user *u, void *mw)
{
	(void)u;
	return ibv_dealloc_mw(mw);
}

static void *new_pd(struct user *u)
{
	return ibv_alloc_pd(u->e.ctx);
}

static int del_pd(struct user *u, void *pd)
{
	(void)u;
	return ibv_dealloc_pd(pd);
}

static void *new_qp(struct user *u)
{
	return make_qp(u, IBV_QPT_RC);
}

static int del_qp(struct user *u, void *qp)
{
	(void)u;
	return ibv_destroy_qp(qp);
}

static void *new_srq(struct user *u)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1,
						    .max_sge = 1 } };

	return ibv_create_srq(u->e.pd, &attr);
}

static int del_srq(struct user *u, void *srq)
{
	(void)u;
	return ibv_destroy_srq(srq);
}

static void *new_xrcd(struct user *u)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	return ibv_open_xrcd(u->e.ctx, &attr);
}

static int del_xrcd(struct user *u, void *xrcd)
{
	(void)u;
	return ibv_close_xrcd(xrcd);
}

static void *new_target(struct user *u)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};

	if (!u->xrcd)
		u->xrcd = new_xrcd(u);
	attr.xrcd = u->xrcd;
	return ibv_create_qp_ex(u->e.ctx, &attr);
}

/* A group of one member; the object is its number. */
static union ibv_gid group(uintptr_t number)
{
	return (union ibv_gid){ .raw = { [10] = 0xff, 0xff, 239, 7,
					 number >> 8, number } };
}

static void *new_attachment(struct user *u)
{
	union ibv_gid mgid = group(++u->next);
	int err = ibv_attach_mcast(u->udqp, &mgid, 0);

	errno = err;
	return err ? NULL : (void *)(uintptr_t)u->next;
}

static int del_attachment(struct user *u, void *number)
{
	union ibv_gid mgid = group((uintptr_t)number);

	return ibv_detach_mcast(u->udqp, &mgid, 0);
}

#define ATTR(field)	offsetof(struct ibv_device_attr, field)

/**
 * struct kind - what is counted
 * @name: of its limit
 * @make: NULL and errno if there is to be none
 * @destroy: 0 or errno
 * @attr: where struct ibv_device_attr has the limit; 0: nowhere
 * @shared: contexts have no limit of their own
 * @own: what a context has of it already, see user_open()
 */
static const struct kind {
	const char *name;
	void *(*make)(struct user *u);
	int (*destroy)(struct user *u, void *obj);
	size_t attr;
	bool shared;
	unsigned int own;
} kinds[] = {
	{ "ah", new_ah, del_ah, ATTR(max_ah), false, 0 },
	{ "cq", new_cq, del_cq, ATTR(max_cq), false, 1 },
	{ "mr", new_mr, del_mr, ATTR(max_mr), false, 0 },
	{ "mr", new_null_mr, del_mr, ATTR(max_mr), false, 0 },
	{ "mw", new_mw, del_mw, ATTR(max_mw), false, 0 },
	{ "pd", new_pd, del_pd, ATTR(max_pd), false, 1 },
	{ "qp", new_qp, del_qp, ATTR(max_qp), false, 1 },
	{ "srq", new_srq, del_srq, ATTR(max_srq), false, 0 },
	{ "xrcd", new_xrcd, del_xrcd, 0, true, 0 },
	{ "xrc_tgt", new_target, del_qp, 0, true, 0 },
	{ "mcast_attach", new_attachment, del_attachment,
	  ATTR(max_total_mcast_qp_attach), false, 0 },
	{ "mcast_grp", new_attachment, del_attachment, ATTR(max_mcast_grp),
	  true, 0 },
};

static void user_open(struct user *u, struct vt *t)
{
	static unsigned int groups;

	memset(u, 0, sizeof(*u));
	/* Each context has groups of its own. */
	u->next = groups;
	groups += 2 * MOST;
	vt_open(&u->e, ibv_get_device_name(t->a.ctx->device), 4);
	u->cq = ibv_create_cq(u->e.ctx, 8, NULL, NULL, 0);
	VT_OK(u->cq, "%s", strerror(errno));
	u->udqp = make_qp(u, IBV_QPT_UD);
	VT_OK(u->udqp, "%s", strerror(errno));
}

static void user_close(struct user *u)
{
	VT_EQ(ibv_destroy_qp(u->udqp), 0);
	if (u->xrcd)
		VT_EQ(ibv_close_xrcd(u->xrcd), 0);
	VT_EQ(ibv_destroy_cq(u->cq), 0);
	vt_close(&u->e);
}

static void needs_hroce(struct vt *t)
{
	if (!vt_is_hroce(&t->a))
		vt_skip("limits of hroce alone");
}

/* Make objects until there are no more to be had. Return: how many. */
static unsigned int exhaust(struct user *u, const struct kind *k, void **objs)
{
	unsigned int n = 0;

	while ((objs[n] = k->make(u))) {
		n++;
		VT_OK(n < MOST, "%s: no limit at %u", k->name, n);
	}
	VT_EQ(errno, ENOMEM);
	return n;
}

static void destroy_all(struct user *u, const struct kind *k, void **objs,
			unsigned int n)
{
	while (n--)
		VT_EQ(k->destroy(u, objs[n]), 0);
}

/*
 * Two contexts: the first one gets what is advertised, the second one what is
 * left of what all may have; what one gives back the other can have.
 */
static void objects_of(struct vt *t)
{
	const struct kind *k = &kinds[t->arg];
	unsigned int each, rest, before;
	void *objs[2][MOST];
	struct user u[2];

	needs_hroce(t);
	before = vt_limit(&t->a, k->name).used;
	user_open(&u[0], t);
	user_open(&u[1], t);
	/* Beside what was there, each context has @own already. */
	vt_set_limit(&t->a, k->name, EACH,
		     before + 2 * k->own + EACH - k->own + SPARE);
	if (k->attr) {
		struct ibv_device_attr attr;

		VT_EQ(ibv_query_device(u[0].e.ctx, &attr), 0);
		VT_EQ(*(int *)((char *)&attr + k->attr), k->shared ?
		      vt_limit(&t->a, k->name).all : EACH);
	}
	each = exhaust(&u[0], k, objs[0]);
	VT_EQ(each, k->shared ? EACH - k->own + SPARE : EACH - k->own);
	rest = exhaust(&u[1], k, objs[1]);
	VT_EQ(rest, k->shared ? 0 : SPARE);
	VT_EQ(k->destroy(&u[0], objs[0][--each]), 0);
	objs[1][rest] = k->make(&u[1]);
	VT_OK(objs[1][rest++], "%s: %s", k->name, strerror(errno));
	VT_NULL(k->make(&u[1]), ENOMEM);
	destroy_all(&u[1], k, objs[1], rest);
	destroy_all(&u[0], k, objs[0], each);
	user_close(&u[1]);
	user_close(&u[0]);
	VT_EQ(vt_limit(&t->a, k->name).used, before);
}

/* What a process leaves behind is not counted any more. */
static void left_behind(struct vt *t, int ready)
{
	struct user u;

	user_open(&u, t);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		VT_OK(kinds[i].make(&u), "%s: %s", kinds[i].name,
		      strerror(errno));
	VT_EQ(write(ready, "x", 1), 1);
	pause();
}

static void killed_owner(struct vt *t)
{
	unsigned int before[ARRAY_SIZE(kinds)];

	needs_hroce(t);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		before[i] = vt_limit(&t->a, kinds[i].name).used;
	vt_kill(t, left_behind);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		VT_EQ(vt_limit(&t->a, kinds[i].name).used, before[i]);
}

/* Objects that cannot be made are not counted. */
static void refused_is_not_counted(struct vt *t)
{
	struct vt_limit was[ARRAY_SIZE(kinds)];
	union ibv_gid mgid = group(1);
	struct ibv_ah_attr ah = { .port_num = 3 };
	struct user u;

	needs_hroce(t);
	user_open(&u, t);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		was[i] = vt_limit(&t->a, kinds[i].name);
	VT_OK(!ibv_create_ah(u.e.pd, &ah), "AH");
	VT_OK(!ibv_create_cq(u.e.ctx, u.e.dev.max_cqe + 1, NULL, NULL, 0),
	      "CQ");
	VT_OK(!ibv_reg_mr(u.e.pd, NULL, 64, 0), "MR");
	VT_OK(!make_qp(&u, 77), "QP");
	VT_EQ(ibv_attach_mcast(u.udqp, &mgid, 0), 0);
	VT_EQ(ibv_detach_mcast(u.udqp, &mgid, 0), 0);
	VT_OK(ibv_detach_mcast(u.udqp, &mgid, 0), "detached twice");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		VT_EQ(vt_limit(&t->a, kinds[i].name).used, was[i].used);
	user_close(&u);
}

/* A group has so many members. */
static void members_of_a_group(struct vt *t)
{
	unsigned int most = t->a.dev.max_mcast_qp_attach, n;
	union ibv_gid mgid = group(1);
	struct ibv_qp **qps;
	struct user u;

	needs_hroce(t);
	VT_OK(most > 0 && most <= 1024, "%u", most);
	qps = calloc(most + 1, sizeof(*qps));
	VT_OK(qps, "no memory");
	user_open(&u, t);
	for (n = 0; n <= most; n++) {
		qps[n] = make_qp(&u, IBV_QPT_UD);
		VT_OK(qps[n], "%s", strerror(errno));
		VT_EQ(ibv_attach_mcast(qps[n], &mgid, 0),
		      n < most ? 0 : ENOMEM);
	}
	VT_EQ(ibv_detach_mcast(qps[0], &mgid, 0), 0);
	VT_EQ(ibv_attach_mcast(qps[most], &mgid, 0), 0);
	for (n = 1; n <= most; n++)
		VT_EQ(ibv_detach_mcast(qps[n], &mgid, 0), 0);
	for (n = 0; n <= most; n++)
		VT_EQ(ibv_destroy_qp(qps[n]), 0);
	user_close(&u);
	free(qps);
}

/* The kernel is left some numbers even if contexts have all that they may. */
static void defaults(struct vt *t)
{
	needs_hroce(t);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct vt_limit l = vt_limit(&t->a, kinds[i].name);

		VT_OK(l.all && l.all <= 1 << 23, "%s: %u", kinds[i].name,
		      l.all);
		if (!kinds[i].shared)
			VT_EQ(l.each, l.all / 4);
		if (kinds[i].attr)
			VT_EQ(*(int *)((char *)&t->a.dev + kinds[i].attr),
			      l.each);
	}
}

static const struct vt_case cases[] = {
	VT_CASE(defaults),
	VT_CASE_ARG("address_handles", objects_of, 0),
	VT_CASE_ARG("completion_queues", objects_of, 1),
	VT_CASE_ARG("regions", objects_of, 2),
	VT_CASE_ARG("null_regions", objects_of, 3),
	VT_CASE_ARG("windows", objects_of, 4),
	VT_CASE_ARG("protection_domains", objects_of, 5),
	VT_CASE_ARG("queue_pairs", objects_of, 6),
	VT_CASE_ARG("shared_receive_queues", objects_of, 7),
	VT_CASE_ARG("xrc_domains", objects_of, 8),
	VT_CASE_ARG("xrc_targets", objects_of, 9),
	VT_CASE_ARG("attachments", objects_of, 10),
	VT_CASE_ARG("groups", objects_of, 11),
	VT_CASE(members_of_a_group),
	VT_CASE(killed_owner),
	VT_CASE(refused_is_not_counted),
};

VT_MAIN(cases)

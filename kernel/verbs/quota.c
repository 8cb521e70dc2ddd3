// SPDX-License-Identifier: GPL-2.0
/*
 * Count the objects of user space and refuse those beyond a limit.
 *
 * Objects belong to the context that creates them, which outlives them. XRC
 * domains, XRC targets and multicast groups are shared by processes, and count
 * for all contexts only.
 */
#include <linux/seq_file.h>
#include <rdma/uverbs_ioctl.h>
#include "../datapath/cq.h"
#include "../datapath/mcast.h"
#include "../datapath/qp.h"
#include "../datapath/srq.h"
#include "../mem/mw.h"
#include "ah.h"
#include "device.h"
#include "domain.h"
#include "mr.h"
#include "ops.h"
#include "quota.h"
#include "ucontext.h"

/* A context may have a quarter, so that one process cannot use up all. */
#define EACH_SHIFT	2

#define ATTR(field)	offsetof(struct ib_device_attr, field)

/**
 * struct quota_kind - kind of object
 * @name: for hroce_quota_show()
 * @all: limit of all contexts
 * @attr: offset in struct ib_device_attr of the limit per context; 0: none
 * @shared: there is no limit per context
 */
struct quota_kind {
	const char *name;
	u32 all;
	u32 attr;
	bool shared;
};

static const struct quota_kind kinds[HROCE_QUOTA_NR] = {
	[HROCE_QUOTA_AH] = { "ah", HROCE_MAX_AH, ATTR(max_ah) },
	[HROCE_QUOTA_CQ] = { "cq", HROCE_MAX_CQ, ATTR(max_cq) },
	[HROCE_QUOTA_MCAST_ATTACH] = { "mcast_attach", HROCE_MAX_MCAST_ATTACH,
				       ATTR(max_total_mcast_qp_attach) },
	[HROCE_QUOTA_MCAST_GRP] = { "mcast_grp", HROCE_MAX_MCAST_GRP,
				    ATTR(max_mcast_grp), true },
	[HROCE_QUOTA_MR] = { "mr", HROCE_MAX_MR, ATTR(max_mr) },
	[HROCE_QUOTA_MW] = { "mw", HROCE_MAX_MW, ATTR(max_mw) },
	[HROCE_QUOTA_PD] = { "pd", HROCE_MAX_PD, ATTR(max_pd) },
	[HROCE_QUOTA_QP] = { "qp", HROCE_MAX_QP, ATTR(max_qp) },
	[HROCE_QUOTA_SRQ] = { "srq", HROCE_MAX_SRQ, ATTR(max_srq) },
	[HROCE_QUOTA_XRCD] = { "xrcd", HROCE_MAX_XRCD, 0, true },
	/* Not so many that they could use up those of any context. */
	[HROCE_QUOTA_XRC_TGT] = { "xrc_tgt", HROCE_MAX_QP >> EACH_SHIFT, 0,
				  true },
};

/* At their limits, contexts leave at least half of the numbers unused. */
static_assert(2 * HROCE_MAX_AH <= HROCE_MAX_AH_ID);
/* And as many aliases, see second.c. */
static_assert(2 * (HROCE_MAX_QP + (HROCE_MAX_QP >> EACH_SHIFT) +
		   HROCE_MAX_QP) <= HROCE_MAX_QPN);
static_assert(HROCE_MAX_MR + HROCE_MAX_MW <= HROCE_MAX_KEYS / 5 * 4);

void hroce_quota_init(struct hroce_quota *quota)
{
	u32 i;

	for (i = 0; i < HROCE_QUOTA_NR; i++) {
		quota->all[i] = kinds[i].all;
		quota->each[i] = kinds[i].shared ? kinds[i].all :
						   kinds[i].all >> EACH_SHIFT;
	}
}

void hroce_quota_query(const struct hroce_quota *quota,
		       struct ib_device_attr *attr)
{
	u32 i;

	for (i = 0; i < HROCE_QUOTA_NR; i++)
		if (kinds[i].attr)
			*(int *)((void *)attr + kinds[i].attr) =
				READ_ONCE(quota->each[i]);
}

int hroce_quota_set(struct hroce_dev *dev, const char *kind, u32 each, u32 all)
{
	struct hroce_quota *quota = hroce_dev_quota(dev);
	u32 i;

	for (i = 0; i < HROCE_QUOTA_NR; i++)
		if (!strcmp(kind, kinds[i].name))
			break;
	if (i == HROCE_QUOTA_NR || each > all || all > kinds[i].all)
		return -EINVAL;
	WRITE_ONCE(quota->each[i], kinds[i].shared ? all : each);
	WRITE_ONCE(quota->all[i], all);
	/* ib_core keeps the attributes that it queried at registration. */
	hroce_quota_query(quota, &dev->ib.attrs);
	return 0;
}

void hroce_quota_show(struct hroce_dev *dev, struct seq_file *file)
{
	const struct hroce_quota *quota = hroce_dev_quota(dev);
	u32 i;

	for (i = 0; i < HROCE_QUOTA_NR; i++)
		seq_printf(file, "%s %u %u %d\n", kinds[i].name,
			   READ_ONCE(quota->each[i]), READ_ONCE(quota->all[i]),
			   atomic_read(&quota->used[i]));
}

static bool inc_below(atomic_t *counter, u32 limit)
{
	int n = atomic_read(counter);

	do {
		if (n >= (int)limit)
			return false;
	} while (!atomic_try_cmpxchg(counter, &n, n + 1));
	return true;
}

/* @ctx: context that the object belongs to; NULL: it is shared */
static int quota_take(struct ib_device *ibdev, struct hroce_ucontext *ctx,
		      enum hroce_quota_kind kind)
{
	struct hroce_quota *quota = hroce_dev_quota(to_hdev(ibdev));

	if (ctx && !inc_below(&ctx->used[kind], READ_ONCE(quota->each[kind])))
		return -ENOMEM;
	if (inc_below(&quota->used[kind], READ_ONCE(quota->all[kind])))
		return 0;
	if (ctx)
		atomic_dec(&ctx->used[kind]);
	return -ENOMEM;
}

static void quota_give(struct ib_device *ibdev, struct hroce_ucontext *ctx,
		       enum hroce_quota_kind kind)
{
	if (ctx)
		atomic_dec(&ctx->used[kind]);
	atomic_dec(&hroce_dev_quota(to_hdev(ibdev))->used[kind]);
}

/* Context of a command. */
static struct hroce_ucontext *udata_ctx(struct ib_udata *udata)
{
	struct ib_ucontext *ibctx = hroce_udata_context(udata);

	return ibctx ? to_hctx(ibctx) : NULL;
}

/* Objects of the kernel have no @udata and are not counted. */
static int quota_take_user(struct ib_device *ibdev, struct ib_udata *udata,
			   enum hroce_quota_kind kind)
{
	return udata ? quota_take(ibdev, udata_ctx(udata), kind) : 0;
}

static void quota_give_user(struct ib_device *ibdev, struct ib_udata *udata,
			    enum hroce_quota_kind kind)
{
	if (udata)
		quota_give(ibdev, udata_ctx(udata), kind);
}

int hroce_quota_ah_create(struct ib_ah *ibah,
			  struct rdma_ah_init_attr *init_attr,
			  struct ib_udata *udata)
{
	int err;

	err = quota_take_user(ibah->device, udata, HROCE_QUOTA_AH);
	if (err)
		return err;
	err = hroce_ah_create(ibah, init_attr, udata);
	if (err)
		quota_give_user(ibah->device, udata, HROCE_QUOTA_AH);
	return err;
}

int hroce_quota_ah_destroy(struct ib_ah *ibah, u32 flags)
{
	hroce_ah_destroy(ibah);
	if (ibah->uobject)
		quota_give(ibah->device, to_hctx(ibah->uobject->context),
			   HROCE_QUOTA_AH);
	return 0;
}

int hroce_quota_cq_create(struct ib_cq *ibcq,
			  const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	int err;

	err = quota_take_user(ibcq->device, udata, HROCE_QUOTA_CQ);
	if (err)
		return err;
	err = hroce_cq_create(ibcq, attr, attrs);
	if (err)
		quota_give_user(ibcq->device, udata, HROCE_QUOTA_CQ);
	return err;
}

int hroce_quota_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata)
{
	hroce_cq_destroy(ibcq);
	quota_give_user(ibcq->device, udata, HROCE_QUOTA_CQ);
	return 0;
}

int hroce_quota_take_group(struct hroce_dev *dev)
{
	return quota_take(&dev->ib, NULL, HROCE_QUOTA_MCAST_GRP);
}

void hroce_quota_give_group(struct hroce_dev *dev)
{
	quota_give(&dev->ib, NULL, HROCE_QUOTA_MCAST_GRP);
}

/* Context of the owner; NULL: the kernel, or an XRC target. */
static struct hroce_ucontext *qp_ctx(const struct hroce_qp *qp)
{
	if (!qp->owner || qp->proto.type == HRP_TYPE_XRC_TGT)
		return NULL;
	return container_of(qp->owner, struct hroce_ucontext, user);
}

int hroce_quota_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct hroce_ucontext *ctx = qp_ctx(to_hqp(ibqp));
	int err;

	err = ctx ? quota_take(ibqp->device, ctx, HROCE_QUOTA_MCAST_ATTACH) : 0;
	if (err)
		return err;
	err = hroce_mcast_attach(ibqp, gid, lid);
	if (err && ctx)
		quota_give(ibqp->device, ctx, HROCE_QUOTA_MCAST_ATTACH);
	return err;
}

int hroce_quota_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct hroce_ucontext *ctx = qp_ctx(to_hqp(ibqp));
	int err = hroce_mcast_detach(ibqp, gid, lid);

	if (!err && ctx)
		quota_give(ibqp->device, ctx, HROCE_QUOTA_MCAST_ATTACH);
	return err;
}

struct ib_mr *hroce_quota_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				      u64 iova, int access,
				      struct ib_dmah *dmah,
				      struct ib_udata *udata)
{
	struct ib_mr *mr;
	int err;

	/* There is no DMA that a handle could steer. */
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	err = quota_take_user(pd->device, udata, HROCE_QUOTA_MR);
	if (err)
		return ERR_PTR(err);
	mr = hroce_mr_reg_user(pd, start, length, iova, access, udata);
	if (IS_ERR(mr))
		quota_give_user(pd->device, udata, HROCE_QUOTA_MR);
	return mr;
}

struct ib_mr *hroce_quota_mr_reg_dmabuf(struct ib_pd *pd, u64 offset,
					u64 length, u64 iova, int fd,
					int access, struct ib_dmah *dmah,
					struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = &attrs->driver_udata;
	struct ib_mr *mr;
	int err;

	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	err = quota_take_user(pd->device, udata, HROCE_QUOTA_MR);
	if (err)
		return ERR_PTR(err);
	mr = hroce_mr_reg_dmabuf(pd, offset, length, iova, fd, access, attrs);
	if (IS_ERR(mr))
		quota_give_user(pd->device, udata, HROCE_QUOTA_MR);
	return mr;
}

int hroce_quota_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct ib_device *ibdev = ibmr->device;
	int err = hroce_mr_dereg(ibmr, udata);

	if (!err)
		quota_give_user(ibdev, udata, HROCE_QUOTA_MR);
	return err;
}

int hroce_quota_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata)
{
	int err;

	err = quota_take_user(ibmw->device, udata, HROCE_QUOTA_MW);
	if (err)
		return err;
	err = hroce_mw_alloc(ibmw, udata);
	if (err)
		quota_give_user(ibmw->device, udata, HROCE_QUOTA_MW);
	return err;
}

/* Only user space has windows. */
int hroce_quota_mw_dealloc(struct ib_mw *ibmw)
{
	hroce_mw_dealloc(ibmw);
	quota_give(ibmw->device, to_hctx(ibmw->uobject->context),
		   HROCE_QUOTA_MW);
	return 0;
}

/* A protection domain is an address that is compared. */
int hroce_quota_pd_alloc(struct ib_pd *ibpd, struct ib_udata *udata)
{
	return quota_take_user(ibpd->device, udata, HROCE_QUOTA_PD);
}

int hroce_quota_pd_dealloc(struct ib_pd *ibpd, struct ib_udata *udata)
{
	quota_give_user(ibpd->device, udata, HROCE_QUOTA_PD);
	return 0;
}

/* ib_core creates XRC targets as kernel QPs, for all users of the domain. */
static enum hroce_quota_kind qp_kind(enum ib_qp_type type, bool user)
{
	if (type == IB_QPT_XRC_TGT)
		return HROCE_QUOTA_XRC_TGT;
	return user ? HROCE_QUOTA_QP : HROCE_QUOTA_NR;
}

int hroce_quota_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
			  struct ib_udata *udata)
{
	enum hroce_quota_kind kind = qp_kind(init->qp_type, udata);
	struct hroce_ucontext *ctx = udata_ctx(udata);
	int err;

	if (kind == HROCE_QUOTA_NR)
		return hroce_qp_create(ibqp, init, udata);
	err = quota_take(ibqp->device, ctx, kind);
	if (err)
		return err;
	err = hroce_qp_create(ibqp, init, udata);
	if (err)
		quota_give(ibqp->device, ctx, kind);
	return err;
}

/* Not by @udata: ib_core may destroy a QP that it cannot use without it. */
int hroce_quota_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct hroce_ucontext *ctx = qp_ctx(to_hqp(ibqp));
	enum hroce_quota_kind kind = qp_kind(ibqp->qp_type, ctx);

	hroce_qp_destroy(ibqp);
	if (kind != HROCE_QUOTA_NR)
		quota_give(ibqp->device, ctx, kind);
	return 0;
}

int hroce_quota_srq_create(struct ib_srq *ibsrq,
			   struct ib_srq_init_attr *init_attr,
			   struct ib_udata *udata)
{
	int err;

	err = quota_take_user(ibsrq->device, udata, HROCE_QUOTA_SRQ);
	if (err)
		return err;
	err = hroce_srq_create(ibsrq, init_attr, udata);
	if (err)
		quota_give_user(ibsrq->device, udata, HROCE_QUOTA_SRQ);
	return err;
}

int hroce_quota_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	hroce_srq_destroy(ibsrq);
	quota_give_user(ibsrq->device, udata, HROCE_QUOTA_SRQ);
	return 0;
}

int hroce_quota_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	int err;

	err = quota_take(ibxrcd->device, NULL, HROCE_QUOTA_XRCD);
	if (err)
		return err;
	err = hroce_xrcd_alloc(ibxrcd, udata);
	if (err)
		quota_give(ibxrcd->device, NULL, HROCE_QUOTA_XRCD);
	return err;
}

int hroce_quota_xrcd_dealloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	hroce_xrcd_dealloc(ibxrcd);
	quota_give(ibxrcd->device, NULL, HROCE_QUOTA_XRCD);
	return 0;
}

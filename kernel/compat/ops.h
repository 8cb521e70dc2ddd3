/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Operations whose prototypes differ between kernel versions: for the file that
 * has the table, which includes this behind the prototypes of ops.h.
 */
#ifndef HROCE_COMPAT_OPS_H
#define HROCE_COMPAT_OPS_H

/* Before 6.11 create_cq got the bundle's driver_udata instead of the bundle. */
#ifndef HROCE_HAVE_CREATE_CQ_ATTRS
static int compat_cq_create(struct ib_cq *cq,
			    const struct ib_cq_init_attr *attr,
			    struct ib_udata *udata)
{
	struct uverbs_attr_bundle *attrs = NULL;

	if (udata)
		attrs = container_of(udata, struct uverbs_attr_bundle,
				     driver_udata);
	return hroce_quota_cq_create(cq, attr, attrs);
}

#define hroce_quota_cq_create	compat_cq_create
#endif

#ifndef HROCE_HAVE_REG_MR_DMAH
/* Before 6.17 there were no DMA handles. */
static struct ib_mr *compat_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
					u64 iova, int access,
					struct ib_udata *udata)
{
	return hroce_quota_mr_reg_user(pd, start, length, iova, access, NULL,
				       udata);
}

#define hroce_quota_mr_reg_user	compat_mr_reg_user

#ifdef HROCE_HAVE_REG_DMABUF_ATTRS
static struct ib_mr *compat_mr_reg_dmabuf(struct ib_pd *pd, u64 offset,
					  u64 length, u64 iova, int fd,
					  int access,
					  struct uverbs_attr_bundle *attrs)
{
	return hroce_quota_mr_reg_dmabuf(pd, offset, length, iova, fd, access,
					 NULL, attrs);
}
#else
/* Before 6.12 reg_user_mr_dmabuf got the bundle's driver_udata. */
static struct ib_mr *compat_mr_reg_dmabuf(struct ib_pd *pd, u64 offset,
					  u64 length, u64 iova, int fd,
					  int access, struct ib_udata *udata)
{
	return hroce_quota_mr_reg_dmabuf(pd, offset, length, iova, fd, access,
					 NULL,
					 container_of(udata,
						      struct uverbs_attr_bundle,
						      driver_udata));
}
#endif

#define hroce_quota_mr_reg_dmabuf	compat_mr_reg_dmabuf
#endif

/* Up to 6.12 the port was not passed. */
#ifndef HROCE_HAVE_COUNTER_PORT
static int compat_counter_bind_qp(struct rdma_counter *counter,
				  struct ib_qp *qp)
{
	return hroce_counter_bind_qp(counter, qp, counter->port);
}

static int compat_counter_unbind_qp(struct ib_qp *qp)
{
	return hroce_counter_unbind_qp(qp, qp->port);
}

#define hroce_counter_bind_qp	compat_counter_bind_qp
#define hroce_counter_unbind_qp	compat_counter_unbind_qp
#endif

/*
 * Up to 6.12 ib_core made counters by itself. Both members stand for those of
 * an object that the driver does not make.
 */
#ifndef HROCE_HAVE_COUNTER_SIZE
#define size_rdma_counter	size_ib_counters
#define counter_init	create_counters
#define hroce_counter_init	NULL
#endif

/* Up to 6.12 the name and the type of the number were others. */
#ifndef HROCE_HAVE_RESIZE_USER_CQ
static int compat_cq_resize(struct ib_cq *cq, int nr_cqes,
			    struct ib_udata *udata)
{
	return hroce_cq_resize(cq, nr_cqes, udata);
}

#define hroce_cq_resize	compat_cq_resize
#define resize_user_cq	resize_cq
#endif

/*
 * Older releases of 6.12 and 6.1 do not ask for it. The member stands for one
 * that the driver does not have.
 */
#ifndef HROCE_HAVE_PRE_DESTROY_CQ
#define pre_destroy_cq	drain_sq
#define hroce_cq_pre_destroy	NULL
#endif

/*
 * Up to 6.12 ib_core raised no port events. The member stands for one that the
 * driver does not have.
 */
#ifndef HROCE_HAVE_REPORT_PORT_EVENT
#define report_port_event	get_vector_affinity
#define hroce_port_report_event	NULL
#endif

#endif /* HROCE_COMPAT_OPS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions of struct ib_device_ops; rdma/ib_verbs.h documents them. Those
 * that quota.c calls and that cannot fail return nothing.
 * Context: process, may sleep, unless another one is named.
 */
#ifndef HROCE_OPS_H
#define HROCE_OPS_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

/* port.c: the device and its only port */
int hroce_device_query(struct ib_device *ibdev, struct ib_device_attr *attr,
		       struct ib_udata *udata);
int hroce_device_modify(struct ib_device *ibdev, int mask,
			struct ib_device_modify *modify);
void hroce_device_fw_str(struct ib_device *ibdev, char *str);
int hroce_port_query(struct ib_device *ibdev, u32 port_num,
		     struct ib_port_attr *attr);
void hroce_port_report_event(struct ib_device *ibdev, struct net_device *ndev,
			     unsigned long event);
int hroce_port_immutable(struct ib_device *ibdev, u32 port_num,
			 struct ib_port_immutable *immutable);
enum rdma_link_layer hroce_port_link_layer(struct ib_device *ibdev,
					   u32 port_num);
int hroce_port_add_gid(const struct ib_gid_attr *attr, void **context);
int hroce_port_del_gid(const struct ib_gid_attr *attr, void **context);
struct net_device *hroce_port_vlan_netdev(struct ib_device *ibdev,
					  u32 port_num);

/* ucontext.c */
int hroce_ucontext_alloc(struct ib_ucontext *ibctx, struct ib_udata *udata);
int hroce_ucontext_query(struct ib_ucontext *ibctx,
			 struct uverbs_attr_bundle *attrs);
void hroce_ucontext_dealloc(struct ib_ucontext *ibctx);
void hroce_ucontext_disassociate(struct ib_ucontext *ibctx);

/* domain.c */
int hroce_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
void hroce_xrcd_dealloc(struct ib_xrcd *ibxrcd);

/* ah.c */
int hroce_ah_create(struct ib_ah *ibah, struct rdma_ah_init_attr *init_attr,
		    struct ib_udata *udata);
int hroce_ah_query(struct ib_ah *ibah, struct rdma_ah_attr *attr);
void hroce_ah_destroy(struct ib_ah *ibah);

/* cq.c */
int hroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs);
int hroce_cq_pre_destroy(struct ib_cq *ibcq);
void hroce_cq_destroy(struct ib_cq *ibcq);
int hroce_cq_resize(struct ib_cq *ibcq, unsigned int nr_cqes,
		    struct ib_udata *udata);
int hroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period_us);
int hroce_cq_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc);
int hroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

/* srq.c */
int hroce_srq_create(struct ib_srq *ibsrq, struct ib_srq_init_attr *init_attr,
		     struct ib_udata *udata);
int hroce_srq_modify(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata);
int hroce_srq_query(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
void hroce_srq_destroy(struct ib_srq *ibsrq);

/* qp.c, qp_modify.c, qp_attr.c */
int hroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata);
void hroce_qp_destroy(struct ib_qp *ibqp);
int hroce_qp_modify(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int hroce_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);

/* qp_show.c */
int hroce_qp_show(struct sk_buff *msg, struct ib_qp *ibqp);

/* post.c. Context: any, also with interrupts disabled */
int hroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr);
int hroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr);
int hroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr);

/* mr.c, mr_odp.c, mr_dmabuf.c */
struct ib_mr *hroce_mr_get_dma(struct ib_pd *pd, int access);
struct ib_mr *hroce_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, struct ib_udata *udata);
struct ib_mr *hroce_mr_rereg(struct ib_mr *ibmr, int flags, u64 start,
			     u64 length, u64 iova, int access, struct ib_pd *pd,
			     struct ib_udata *udata);
int hroce_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
struct ib_mr *hroce_mr_alloc(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_num_sg);
struct ib_mr *hroce_mr_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length,
				  u64 iova, int fd, int access,
				  struct uverbs_attr_bundle *attrs);
int hroce_mr_advise(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sges, u32 nr_sges,
		    struct uverbs_attr_bundle *attrs);
int hroce_mr_fill_stat(struct sk_buff *msg, struct ib_mr *ibmr);
int hroce_mr_map_sg(struct ib_mr *ibmr, struct scatterlist *sg, int sg_nents,
		    unsigned int *sg_offset);

/* mw.c */
int hroce_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata);
void hroce_mw_dealloc(struct ib_mw *ibmw);

/* mcast.c */
int hroce_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int hroce_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* pkey.c */
int hroce_pkey_query(struct ib_device *ibdev, u32 port_num, u16 index,
		     u16 *pkey);

/* pma.c */
int hroce_mad_process(struct ib_device *ibdev, int flags, u32 port_num,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);

/* ring.c */
int hroce_ring_mmap(struct ib_ucontext *ucontext, struct vm_area_struct *vma);
void hroce_ring_mmap_free(struct rdma_user_mmap_entry *entry);

/* counter.c, hw_stats.c */
int hroce_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *ibqp,
			  u32 port_num);
int hroce_counter_unbind_qp(struct ib_qp *ibqp, u32 port_num);
int hroce_counter_dealloc(struct rdma_counter *counter);
void hroce_counter_init(struct rdma_counter *counter);
struct rdma_hw_stats *hroce_counter_alloc_stats(struct rdma_counter *counter);
int hroce_counter_update_stats(struct rdma_counter *counter);
struct rdma_hw_stats *hroce_hw_stats_alloc(struct ib_device *ibdev,
					   u32 port_num);
struct rdma_hw_stats *hroce_hw_stats_alloc_port(struct ib_device *ibdev,
						u32 port_num);
int hroce_hw_stats_get(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port_num, int index);

/* quota.c: the same with counting; -ENOMEM at a limit */
int hroce_quota_ah_create(struct ib_ah *ibah,
			  struct rdma_ah_init_attr *init_attr,
			  struct ib_udata *udata);
int hroce_quota_ah_destroy(struct ib_ah *ibah, u32 flags);
int hroce_quota_cq_create(struct ib_cq *ibcq,
			  const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs);
int hroce_quota_cq_destroy(struct ib_cq *ibcq, struct ib_udata *udata);
int hroce_quota_mcast_attach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int hroce_quota_mcast_detach(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
struct ib_mr *hroce_quota_mr_reg_user(struct ib_pd *pd, u64 start, u64 length,
				      u64 iova, int access,
				      struct ib_dmah *dmah,
				      struct ib_udata *udata);
struct ib_mr *hroce_quota_mr_reg_dmabuf(struct ib_pd *pd, u64 offset,
					u64 length, u64 iova, int fd,
					int access, struct ib_dmah *dmah,
					struct uverbs_attr_bundle *attrs);
int hroce_quota_mr_dereg(struct ib_mr *ibmr, struct ib_udata *udata);
int hroce_quota_mw_alloc(struct ib_mw *ibmw, struct ib_udata *udata);
int hroce_quota_mw_dealloc(struct ib_mw *ibmw);
int hroce_quota_pd_alloc(struct ib_pd *ibpd, struct ib_udata *udata);
int hroce_quota_pd_dealloc(struct ib_pd *ibpd, struct ib_udata *udata);
int hroce_quota_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
			  struct ib_udata *udata);
int hroce_quota_qp_destroy(struct ib_qp *ibqp, struct ib_udata *udata);
int hroce_quota_srq_create(struct ib_srq *ibsrq,
			   struct ib_srq_init_attr *init_attr,
			   struct ib_udata *udata);
int hroce_quota_srq_destroy(struct ib_srq *ibsrq, struct ib_udata *udata);
int hroce_quota_xrcd_alloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int hroce_quota_xrcd_dealloc(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

#endif /* HROCE_OPS_H */

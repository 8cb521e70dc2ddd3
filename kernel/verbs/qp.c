// SPDX-License-Identifier: GPL-2.0
/*
 * Creation and destruction of queue pairs.
 *
 * Look-ups by number find a queue pair once it is complete. Destruction removes
 * the number, waits for epochs of the datapath, and stops timer and tasklets;
 * then no other user is left.
 */
#include <linux/slab.h>
#include "../datapath/out.h"
#include "../datapath/pkey.h"
#include "../datapath/qp.h"
#include "../datapath/srq.h"
#include "../proto/pace.h"
#include "../proto/req.h"
#include "../proto/resp.h"
#include "cc_bpf.h"
#include "device.h"
#include "domain.h"
#include "ops.h"
#include "qp_attr.h"
#include "ring.h"
#include "second.h"
#include "ucontext.h"

#define QPN_GSI		1
#define QPN_MIN		16		/* low numbers look special */
#define QPN_MASK	0xffffffu

/*
 * Most packets in flight: 8 MB at MTU 4096, more than a data center path holds,
 * but too little to overrun a switch or a slow receiver.
 */
#define WINDOW_PKTS	2048

static int qp_check_init(const struct ib_qp_init_attr *init,
			 const struct ib_udata *udata)
{
	const struct ib_qp_cap *cap = &init->cap;

	switch (init->qp_type) {
	case IB_QPT_GSI:
		if (udata || init->port_num != 1)
			return -EINVAL;
		break;
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_XRC_TGT:
		break;
	case IB_QPT_XRC_INI:
		/* The kernel has no work request that names an SRQ. */
		if (!udata)
			return -EOPNOTSUPP;
		break;
	default:
		return -EOPNOTSUPP;
	}
	if (init->create_flags || init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (init->qp_type == IB_QPT_XRC_TGT)
		return init->xrcd ? 0 : -EINVAL;
	if (!init->send_cq ||
	    (!init->recv_cq && init->qp_type != IB_QPT_XRC_INI))
		return -EINVAL;
	if (cap->max_send_wr > HROCE_MAX_WR ||
	    cap->max_send_sge > HROCE_MAX_SGES ||
	    cap->max_inline_data > HROCE_MAX_INLINE)
		return -EINVAL;
	if (init->qp_type == IB_QPT_XRC_INI)
		return init->srq ? -EINVAL : 0;
	if (!init->srq && (cap->max_recv_wr > HROCE_MAX_WR ||
			   cap->max_recv_sge > HROCE_MAX_SGES))
		return -EINVAL;
	return 0;
}

static u8 qp_proto_type(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return HRP_TYPE_RC;
	case IB_QPT_UC:
		return HRP_TYPE_UC;
	case IB_QPT_XRC_INI:
		return HRP_TYPE_XRC_INI;
	case IB_QPT_XRC_TGT:
		return HRP_TYPE_XRC_TGT;
	default:
		return HRP_TYPE_UD;
	}
}

static void qp_setup(struct hroce_qp *qp, const struct ib_qp_init_attr *init,
		     struct ib_udata *udata)
{
	enum ib_mtu mtu = READ_ONCE(to_hibdev(qp->ib.device)->mtu);

	mutex_init(&qp->modify_lock);
	spin_lock_init(&qp->post_lock);
	hroce_qp_send_init(qp);
	hroce_qp_recv_init(qp);
	qp->handover.cpu = HROCE_HANDOVER_NOWHERE;
	qp->user = !!udata;
	qp->sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	qp->send_cq = init->send_cq ? to_hcq(init->send_cq) : NULL;
	qp->recv_cq = init->recv_cq ? to_hcq(init->recv_cq) : NULL;
	/* ib_core takes no reference to one that is given for an XRC target. */
	if (init->srq && init->qp_type != IB_QPT_XRC_TGT)
		qp->srq = to_hsrq(init->srq);
	qp->proto.type = qp_proto_type(init->qp_type);
	qp->elsewhere = qp->proto.type == HRP_TYPE_UD;
	qp->proto.state = HRP_RESET;
	qp->proto.pkey = hroce_pkey_at(hqp_dev(qp), 0);
	qp->proto.gsi = init->qp_type == IB_QPT_GSI;
	qp->proto.stats = hqp_dev(qp)->port.stats;
	qp->proto.req.sq.reg_mr = !udata;
	qp->proto.mtu = ib_mtu_enum_to_int(mtu);
	qp->proto.req.window_pkts = WINDOW_PKTS;
	qp->proto.req.burst_pkts = HROCE_OUT_PKTS;
	qp->proto.resp.burst_pkts = HROCE_OUT_PKTS;
	qp->proto.resp.srq = !!qp->srq;
	qp->proto.resp.keeps = 1;
	if (init->qp_type != IB_QPT_XRC_TGT) {
		if (udata)
			qp->owner = &to_hctx(hroce_udata_context(udata))->user;
		return;
	}
	/*
	 * An XRC target belongs to its domain: any process of that may open it,
	 * and its creator may be gone. So ib_core treats it as a kernel QP,
	 * but its SRQs belong to user space only.
	 */
	qp->owner = &to_hxrcd(init->xrcd)->user;
	qp->user = true;
	qp->proto.resp.srq = 1;
}

static int qp_create_sq(struct hroce_qp *qp, struct ib_qp_cap *cap,
			struct ib_udata *udata)
{
	struct hrp_sq *sq = &qp->proto.req.sq;
	u32 stride;

	if (!hrp_qp_sends(&qp->proto)) {
		cap->max_send_wr = 0;
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
		return 0;
	}
	stride = hrp_sq_stride(cap->max_send_sge, cap->max_inline_data);
	/*
	 * Grant all the space there is, as hardware does: some programs send
	 * short inline data without asking for it (rdma_xclient).
	 */
	cap->max_inline_data = stride - sizeof(struct hroce_sq_wqe);
	qp->sq = hroce_ring_create(max(cap->max_send_wr, 1U), stride,
				   hroce_udata_context(udata));
	if (IS_ERR(qp->sq))
		return PTR_ERR(qp->sq);

	sq->hdr = qp->sq->va;
	sq->ring = qp->sq->entries;
	sq->nr_entries = qp->sq->nr_entries;
	sq->stride = stride;
	sq->copy_stride = hrp_sq_copy_stride(stride);
	sq->max_sges = cap->max_send_sge;
	sq->max_inline = cap->max_inline_data;
	sq->copies = kvcalloc(sq->nr_entries, sq->copy_stride,
			      GFP_KERNEL_ACCOUNT);
	if (!sq->copies) {
		hroce_ring_destroy(qp->sq);
		return -ENOMEM;
	}
	cap->max_send_wr = qp->sq->nr_entries;
	return 0;
}

static void qp_destroy_sq(struct hroce_qp *qp)
{
	struct hrp_sq *sq = &qp->proto.req.sq;

	kvfree(sq->copies);
	hroce_ring_destroy(qp->sq);
	qp->sq = NULL;
	sq->hdr = NULL;
	sq->ring = NULL;
	sq->copies = NULL;
}

static bool qp_has_rq(const struct hroce_qp *qp)
{
	return hrp_qp_receives(&qp->proto) && !qp->proto.resp.srq;
}

/* Most SGEs of a receive entry; XRC: of an entry of any SRQ. */
static u32 qp_max_recv_sges(const struct hroce_qp *qp,
			    const struct ib_qp_cap *cap)
{
	if (qp->srq)
		return qp->srq->max_sge;
	return qp_has_rq(qp) ? cap->max_recv_sge : HROCE_MAX_SGES;
}

static int qp_create_rq(struct hroce_qp *qp, struct ib_qp_cap *cap,
			struct ib_udata *udata)
{
	struct hrp_resp *resp = &qp->proto.resp;

	if (hrp_qp_receives(&qp->proto)) {
		resp->rwqe = kzalloc(struct_size(resp->rwqe, sges,
						 qp_max_recv_sges(qp, cap)),
				     GFP_KERNEL_ACCOUNT);
		if (!resp->rwqe)
			return -ENOMEM;
	}
	if (!qp_has_rq(qp)) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	qp->rq = hroce_ring_create(max(cap->max_recv_wr, 1U),
				   hroce_rq_stride(cap->max_recv_sge),
				   hroce_udata_context(udata));
	if (IS_ERR(qp->rq)) {
		kfree(resp->rwqe);
		return PTR_ERR(qp->rq);
	}
	qp->max_recv_sge = cap->max_recv_sge;
	cap->max_recv_wr = qp->rq->nr_entries;
	return 0;
}

static void qp_destroy_rq(struct hroce_qp *qp)
{
	struct hrp_resp *resp = &qp->proto.resp;

	hroce_ring_destroy(qp->rq);
	qp->rq = NULL;
	kfree(resp->rwqe);
	resp->rwqe = NULL;
	kvfree(resp->rd);
	resp->rd = NULL;
	resp->nr_rd = 0;
}

/* Frames have left: both sides may send again. */
static void path_wake(struct hroce_path *path)
{
	struct hroce_qp *qp = container_of(path, struct hroce_qp, path);

	if (READ_ONCE(qp->dead))
		return;
	tasklet_schedule(&qp->send.task);
	tasklet_schedule(&qp->recv.task);
}

int hroce_qp_path_init(struct hroce_qp *qp, const struct hroce_path_key *key,
		       bool cached)
{
	memset(&qp->path, 0, sizeof(qp->path));
	qp->path.wake = path_wake;
	return hroce_path_init(&qp->path, &hqp_dev(qp)->port, key, cached,
			       GFP_KERNEL_ACCOUNT);
}

/* UD: address handles have the routes; this path only counts queued bytes. */
static int qp_create_path(struct hroce_qp *qp)
{
	static const struct hroce_path_key nowhere;
	int err;

	if (qp->proto.type != HRP_TYPE_UD)
		return 0;
	err = hroce_qp_path_init(qp, &nowhere, false);
	qp->path_ok = !err;
	return err;
}

/* The loop ends soon: few numbers are special, and the table is not full. */
int hroce_qp_take_index(struct hroce_dev *dev, u32 *qpn)
{
	u32 index;
	int err;

	for (;;) {
		err = xa_alloc_cyclic(&dev->qps, &index, NULL,
				      XA_LIMIT(0, QPN_MASK),
				      &to_hibdev(&dev->ib)->qp_next,
				      GFP_KERNEL);
		if (err < 0)
			return err == -EBUSY ? -ENOSPC : err;
		*qpn = hroce_qp_number(dev, index);
		if (*qpn >= QPN_MIN && *qpn <= HROCE_MAX_QPN)
			return 0;
		xa_erase(&dev->qps, index);
	}
}

/* Reserve a number; look-ups do not find it yet. */
static int qp_take_number(struct hroce_qp *qp)
{
	struct hroce_dev *dev = hqp_dev(qp);
	u32 qpn = QPN_GSI;
	int err;

	if (qp->proto.gsi)
		err = xa_insert(&dev->qps, hroce_qp_index(dev, qpn), NULL,
				GFP_KERNEL);
	else
		err = hroce_qp_take_index(dev, &qpn);
	if (err)
		return err;
	qp->proto.qpn = qpn;
	qp->ib.qp_num = qpn;
	return 0;
}

static int qp_answer(struct hroce_qp *qp, struct ib_udata *udata)
{
	struct ib_ucontext *ctx = hroce_udata_context(udata);
	struct hroce_create_qp_resp resp = {};
	int err = 0;

	if (!udata)
		return 0;
	if (qp->sq)
		err = hroce_ring_export(qp->sq, ctx, &resp.sq);
	if (!err && qp->rq)
		err = hroce_ring_export(qp->rq, ctx, &resp.rq);
	if (err)
		return err;
	return hroce_udata_answer(udata, &resp, sizeof(resp));
}

int hroce_qp_create(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct hroce_dev *dev = to_hdev(ibqp->device);
	struct hroce_qp *qp = to_hqp(ibqp);
	int err;

	err = hroce_udata_check_create(udata,
				       offsetofend(struct hroce_create_qp_resp,
						   rq),
				       UVERBS_ATTR_CREATE_QP_RESP_QP_NUM);
	if (err)
		return err;
	err = qp_check_init(init, udata);
	if (err)
		return err;
	qp_setup(qp, init, udata);
	err = qp_create_sq(qp, &init->cap, udata);
	if (err)
		return err;
	err = qp_create_rq(qp, &init->cap, udata);
	if (err)
		goto destroy_sq;
	err = qp_create_path(qp);
	if (err)
		goto destroy_rq;
	err = qp_take_number(qp);
	if (err)
		goto destroy_flow;
	hrp_req_reset(&qp->proto);
	hrp_resp_reset(&qp->proto);
	err = qp_answer(qp, udata);
	if (err)
		goto put_number;
	/* The slot is reserved, so this allocates no memory. */
	xa_store(&dev->qps, hroce_qp_index(dev, qp->proto.qpn), qp,
		 GFP_KERNEL);
	return 0;

put_number:
	xa_erase(&dev->qps, hroce_qp_index(dev, qp->proto.qpn));
destroy_flow:
	if (qp->path_ok)
		hroce_path_fini(&qp->path);
destroy_rq:
	qp_destroy_rq(qp);
destroy_sq:
	qp_destroy_sq(qp);
	return err;
}

static void qp_end_path(struct hroce_qp *qp)
{
	hroce_qp_lock(qp);
	qp->path_ok = false;
	hroce_qp_unlock(qp);
	hroce_path_fini(&qp->path);
	/* The path may have woken the tasklets once more. */
	hroce_qp_send_stop(qp);
	hroce_qp_recv_stop(qp);
}

void hroce_qp_quiesce(struct hroce_qp *qp, struct hroce_second *second,
		      bool ends)
{
	struct hrp_qp *proto = &qp->proto;
	struct hrp_pace *pace;

	hroce_qp_stop(qp);
	hroce_qp_forget_kept(qp);
	hroce_early_drain(qp);
	hroce_qp_end_flush(qp);
	hroce_second_free(second);
	if (qp->path_ok && (ends || proto->type != HRP_TYPE_UD))
		qp_end_path(qp);
	hroce_cq_forget(qp->send_cq, proto->qpn);
	hroce_cq_forget(qp->recv_cq, proto->qpn);

	hroce_qp_lock(qp);
	proto->pending = 0;
	qp->cnp_at = 0;
	pace = hrp_pace_stop(proto);
	qp->paced = false;
	hroce_cc_bpf_forget(qp);
	qp->early = (struct hroce_early) {};
	hrp_req_reset(proto);
	hrp_resp_reset(proto);
	hroce_qp_unlock(qp);
	kfree(pace);
}

void hroce_qp_destroy(struct ib_qp *ibqp)
{
	struct hroce_qp *qp = to_hqp(ibqp);
	struct hroce_dev *dev = hqp_dev(qp);
	struct hroce_second *second = hroce_second_unhook(qp);

	xa_lock(&dev->qps);
	__xa_erase(&dev->qps, hroce_qp_index(dev, qp->proto.qpn));
	hroce_lookup_forget(&dev->qp_lookup);
	xa_unlock(&dev->qps);
	hroce_qp_quiesce(qp, second, true);
	hroce_handover_wake(&qp->handover);
	/* ib_core may still query it. */
	mutex_lock(&qp->modify_lock);
	qp_destroy_rq(qp);
	qp_destroy_sq(qp);
	mutex_unlock(&qp->modify_lock);
}

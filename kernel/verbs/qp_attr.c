// SPDX-License-Identifier: GPL-2.0
/* Attributes of queue pairs: check, apply and query. */
#include <linux/capability.h>
#include <net/net_namespace.h>
#include "../datapath/pkey.h"
#include "../datapath/qp.h"
#include "../datapath/ring.h"
#include "../proto/pace.h"
#include "../proto/psn.h"
#include "ah.h"
#include "device.h"
#include "ops.h"
#include "qp_attr.h"

#define MAX_5BITS	31	/* timeouts and RNR timers */
#define MAX_3BITS	7	/* retry counters */

/*
 * The kernel's CM sets both FLUSH flags if the device supports one of them. The
 * last ones concern regions only, but many programs set them here, too.
 */
#define QP_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT | \
			 IB_ACCESS_MW_BIND | IB_ACCESS_ON_DEMAND | \
			 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

/* QP1 is in all partitions; ib_core gives it index 0 if none has 0xffff. */
static bool attr_pkey_ok(const struct hroce_qp *qp, u16 index)
{
	return index < HROCE_PKEY_TABLE_LEN &&
	       (qp->proto.gsi || hroce_pkey_at(hqp_dev(qp), index));
}

static int attr_check_path(const struct hroce_qp *qp,
			   const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PKEY_INDEX && !attr_pkey_ok(qp, attr->pkey_index))
		return -EINVAL;
	if (mask & IB_QP_PORT && attr->port_num != 1)
		return -EINVAL;
	if (mask & IB_QP_PATH_MTU &&
	    (attr->path_mtu < IB_MTU_256 ||
	     attr->path_mtu > READ_ONCE(to_hibdev(qp->ib.device)->mtu)))
		return -EINVAL;
	if (mask & IB_QP_DEST_QPN && attr->dest_qp_num & ~HRP_PSN_MASK)
		return -EINVAL;
	if (mask & IB_QP_RQ_PSN && attr->rq_psn & ~HRP_PSN_MASK)
		return -EINVAL;
	if (mask & IB_QP_SQ_PSN && attr->sq_psn & ~HRP_PSN_MASK)
		return -EINVAL;
	/* There is no alternate path. */
	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return -EINVAL;
	return 0;
}

int hroce_qp_check_attr(const struct hroce_qp *qp,
			const struct ib_qp_attr *attr, int mask)
{
	if (mask & ~(IB_QP_ATTR_STANDARD_BITS | IB_QP_RATE_LIMIT) ||
	    mask & (IB_QP_ALT_PATH | IB_QP_CAP))
		return -EOPNOTSUPP;
	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags & ~QP_ACCESS)
		return -EINVAL;
	if (mask & IB_QP_TIMEOUT && attr->timeout > MAX_5BITS)
		return -EINVAL;
	if (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > MAX_5BITS)
		return -EINVAL;
	if (mask & IB_QP_RETRY_CNT && attr->retry_cnt > MAX_3BITS)
		return -EINVAL;
	if (mask & IB_QP_RNR_RETRY && attr->rnr_retry > MAX_3BITS)
		return -EINVAL;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	    attr->max_rd_atomic > HRP_MAX_RD_ATOMIC)
		return -EINVAL;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	    attr->max_dest_rd_atomic > HRP_MAX_RD_ATOMIC)
		return -EINVAL;
	return attr_check_path(qp, attr, mask);
}

static u8 attr_access(int flags)
{
	u8 access = 0;

	if (flags & IB_ACCESS_REMOTE_WRITE)
		access |= HRP_QP_REMOTE_WRITE;
	if (flags & IB_ACCESS_REMOTE_READ)
		access |= HRP_QP_REMOTE_READ;
	if (flags & IB_ACCESS_REMOTE_ATOMIC)
		access |= HRP_QP_REMOTE_ATOMIC;
	if (flags & IB_ACCESS_FLUSH_GLOBAL)
		access |= HRP_QP_FLUSH_GLOBAL;
	if (flags & IB_ACCESS_FLUSH_PERSISTENT)
		access |= HRP_QP_FLUSH_PERSISTENT;
	return access;
}

static void attr_set_req(struct hroce_qp *qp, const struct ib_qp_attr *attr,
			 int mask)
{
	struct hrp_req *req = &qp->proto.req;

	lockdep_assert_held(&qp->send.lock);
	if (mask & IB_QP_TIMEOUT)
		req->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT) {
		req->retry_cnt = attr->retry_cnt;
		req->retries = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		req->rnr_retry = attr->rnr_retry;
		req->rnr_retries = attr->rnr_retry;
	}
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		req->max_rd_atomic = attr->max_rd_atomic;
}

static void attr_set_resp(struct hroce_qp *qp, const struct ib_qp_attr *attr,
			  int mask)
{
	struct hrp_resp *resp = &qp->proto.resp;

	lockdep_assert_held(&qp->recv.lock);
	if (mask & IB_QP_MIN_RNR_TIMER)
		resp->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		resp->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

void hroce_qp_set_attr(struct hroce_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
{
	struct hrp_qp *proto = &qp->proto;

	lockdep_assert_held(&qp->modify_lock);
	attr_set_resp(qp, attr, mask);
	attr_set_req(qp, attr, mask);
	if (mask & IB_QP_ACCESS_FLAGS) {
		qp->access_flags = attr->qp_access_flags;
		proto->access = attr_access(attr->qp_access_flags);
	}
	if (mask & IB_QP_QKEY)
		proto->qkey = attr->qkey;
	if (mask & IB_QP_PKEY_INDEX) {
		qp->pkey_index = attr->pkey_index;
		proto->pkey = hroce_pkey_at(hqp_dev(qp), qp->pkey_index);
	}
	if (mask & IB_QP_PATH_MTU)
		proto->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_DEST_QPN)
		proto->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_AV)
		qp->sgid_index = rdma_ah_read_grh(&attr->ah_attr)->sgid_index;
}

/* Rebuild the address vector from the path. */
static void attr_query_av(const struct hroce_qp *qp, struct rdma_ah_attr *ah)
{
	const struct hroce_path_key *key = &qp->path.key;
	union ib_gid dgid;

	if (!qp->path_ok || qp->proto.type == HRP_TYPE_UD)
		return;
	BUILD_BUG_ON(sizeof(dgid) != sizeof(key->daddr));
	memcpy(&dgid, &key->daddr, sizeof(dgid));
	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_grh(ah, &dgid, key->flow_label, qp->sgid_index,
			key->hop_limit, key->tclass);
	rdma_ah_set_sl(ah, key->sl);
	rdma_ah_set_port_num(ah, 1);
	rdma_ah_set_static_rate(ah, key->static_rate);
}

static void attr_query_req(const struct hroce_qp *qp, struct ib_qp_attr *attr)
{
	const struct hrp_req *req = &qp->proto.req;

	lockdep_assert_held(&qp->send.lock);
	attr->sq_psn = req->psn;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    !hrp_req_is_drained(req);
	attr->en_sqd_async_notify = req->drained_event;
	attr->max_rd_atomic = req->max_rd_atomic;
	attr->timeout = req->timeout;
	attr->retry_cnt = req->retry_cnt;
	attr->rnr_retry = req->rnr_retry;
	attr->rate_limit = req->pace ? req->pace->asked_kbps : 0;
}

static void attr_query_resp(const struct hroce_qp *qp, struct ib_qp_attr *attr)
{
	const struct hrp_resp *resp = &qp->proto.resp;

	lockdep_assert_held(&qp->recv.lock);
	attr->rq_psn = resp->psn;
	attr->max_dest_rd_atomic = resp->max_dest_rd_atomic;
	attr->min_rnr_timer = resp->min_rnr_timer;
}

static void attr_query(struct hroce_qp *qp, struct ib_qp_attr *attr)
{
	const struct hrp_qp *proto = &qp->proto;

	hroce_qp_lock(qp);
	attr->qp_state = (enum ib_qp_state)proto->state;
	attr->cur_qp_state = attr->qp_state;
	attr->path_mtu = ib_mtu_int_to_enum(proto->mtu);
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->qkey = proto->qkey;
	attr->pkey_index = qp->pkey_index;
	attr->dest_qp_num = proto->dest_qpn;
	attr->qp_access_flags = qp->access_flags;
	attr->port_num = 1;
	attr_query_req(qp, attr);
	attr_query_resp(qp, attr);
	attr_query_av(qp, &attr->ah_attr);
	hroce_qp_unlock(qp);
}

/*
 * With these numbers one can send packets that pass for the peer's. Anybody may
 * list queue pairs by netlink, which asks for nothing by the mask; who asks for
 * them has the queue pair.
 */
static void attr_hide(const struct hroce_dev *dev, struct ib_qp_attr *attr,
		      int mask)
{
	if (ns_capable_noaudit(dev->port.net->user_ns, CAP_NET_ADMIN))
		return;
	if (!(mask & IB_QP_SQ_PSN))
		attr->sq_psn = 0;
	if (!(mask & IB_QP_RQ_PSN))
		attr->rq_psn = 0;
	if (!(mask & IB_QP_DEST_QPN))
		attr->dest_qp_num = 0;
}

int hroce_qp_query(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct hroce_qp *qp = to_hqp(ibqp);

	mutex_lock(&qp->modify_lock);
	*attr = (struct ib_qp_attr) {
		.cap = {
			.max_send_wr = qp->sq ? qp->sq->nr_entries : 0,
			.max_recv_wr = qp->rq ? qp->rq->nr_entries : 0,
			.max_send_sge = qp->proto.req.sq.max_sges,
			.max_recv_sge = qp->max_recv_sge,
			.max_inline_data = qp->proto.req.sq.max_inline,
		},
	};
	attr_query(qp, attr);
	attr_hide(hqp_dev(qp), attr, mask);
	mutex_unlock(&qp->modify_lock);

	*init = (struct ib_qp_init_attr) {
		.event_handler = ibqp->event_handler,
		.qp_context = ibqp->qp_context,
		.send_cq = ibqp->send_cq,
		.recv_cq = ibqp->recv_cq,
		.srq = ibqp->srq,
		.cap = attr->cap,
		.sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR :
					     IB_SIGNAL_REQ_WR,
		.qp_type = ibqp->qp_type,
		.port_num = 1,
	};
	return 0;
}

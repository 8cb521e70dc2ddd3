// SPDX-License-Identifier: GPL-2.0
/*
 * Completion queues: creation, resizing, and polling by the kernel. User space
 * polls its queues without a system call. Completing is in datapath/cq.c.
 */
#include <linux/if_vlan.h>
#include <rdma/ib_cache.h>
#include "../datapath/qp.h"
#include "../datapath/ucq.h"
#include "device.h"
#include "ops.h"
#include "resize.h"
#include "ring.h"
#include "ucontext.h"

#define CQ_FLAGS	(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | \
			 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

/* Copy entries [@from, @to); their indices decrease by @base. */
static void cq_copy(const struct hroce_ring *dst, const struct hroce_ring *src,
		    u32 from, u32 to, u32 base)
{
	struct hroce_cqe *cqe;

	for (; from != to; from++) {
		cqe = hroce_ring_entry(dst, from - base);
		memcpy(cqe, hroce_ring_entry(src, from), sizeof(*cqe));
		cqe->owner = hroce_cq_phase(dst, from - base);
	}
}

/*
 * Move unpolled entries to the prepared ring. Its indices start at 0, where an
 * entry of zeros is invalid. Completions may arrive meanwhile, so all but the
 * last few entries are copied without the lock.
 */
static bool cq_move(struct hroce_resize *resize)
{
	struct hroce_cq *cq = container_of(resize, struct hroce_cq, resize);
	struct hroce_ring *ring = resize->ring, *old = cq->ring;
	u32 base = READ_ONCE(cq->hdr->cons), done = base;
	u32 most, prod;

	lockdep_assert_held(&cq->resize_lock);
	most = min(ring->nr_entries, old->nr_entries);
	for (;;) {
		spin_lock_irq(&cq->lock);
		prod = cq->prod;
		if (cq->overrun || prod - base > most) {
			spin_unlock_irq(&cq->lock);
			return false;
		}
		if (prod - done <= HROCE_CQ_LOCK_BATCH)
			break;
		spin_unlock_irq(&cq->lock);
		cq_copy(ring, old, done, prod, base);
		done = prod;
	}
	cq_copy(ring, old, done, prod, base);
	cq->prod = prod - base;
	/* User space does not poll meanwhile. */
	WRITE_ONCE(cq->hdr->cons, 0);
	cq->ring = ring;
	cq->ib.cqe = ring->nr_entries;
	spin_unlock_irq(&cq->lock);
	resize->ring = old;
	return true;
}

static void cq_free_memory(struct hroce_cq *cq)
{
	put_page(cq->hdr_page);
	hroce_ring_destroy(cq->ring);
	hroce_ring_destroy(cq->resize.ring);
}

int hroce_cq_create(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct hroce_create_cq_resp resp = {};
	struct hroce_cq *cq = to_hcq(ibcq);
	int err;

	err = hroce_udata_check_create(udata, offsetofend(typeof(resp), cq),
				       UVERBS_ATTR_CREATE_CQ_EVENT_FD);
	if (err)
		return err;
	if (attr->flags & ~CQ_FLAGS)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > HROCE_MAX_CQE)
		return -EINVAL;

	hroce_cq_init(cq);
	mutex_init(&cq->resize_lock);
	cq->resize.stride = sizeof(struct hroce_cqe);
	cq->resize.move = cq_move;
	/* Vector 0 is the default: any CPU. */
	cq->cpu = attr->comp_vector ?
		  cpumask_local_spread(attr->comp_vector, NUMA_NO_NODE) : -1;
	cq->user = udata;
	cq->timestamps = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->ignore_overrun = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	cq->ring = hroce_ring_create(attr->cqe, sizeof(struct hroce_cqe),
				     hroce_udata_context(udata));
	if (IS_ERR(cq->ring))
		return PTR_ERR(cq->ring);
	ibcq->cqe = cq->ring->nr_entries;
	/* Mappings hold references of their own. */
	cq->hdr_page = cq->ring->pages[0];
	get_page(cq->hdr_page);
	cq->hdr = page_address(cq->hdr_page);
	if (!udata)
		return 0;
	cq->object = hroce_ucq_of(ibcq);
	if (!cq->object)
		pr_warn_once("unread completion events are not limited on this kernel\n");

	err = hroce_ring_export(cq->ring, hroce_udata_context(udata), &resp.cq);
	if (!err)
		err = hroce_udata_answer(udata, &resp, sizeof(resp));
	if (err)
		cq_free_memory(cq);
	return err;
}

/* No QP refers to it: from now on, no event queues the work of ib_core. */
int hroce_cq_pre_destroy(struct ib_cq *ibcq)
{
	hroce_cq_stop(to_hcq(ibcq));
	return 0;
}

void hroce_cq_destroy(struct ib_cq *ibcq)
{
	struct hroce_cq *cq = to_hcq(ibcq);

	hroce_cq_stop(cq);
	cq_free_memory(cq);
}

int hroce_cq_resize(struct ib_cq *ibcq, unsigned int nr_cqes,
		    struct ib_udata *udata)
{
	struct hroce_resize_cq_req req = {};
	struct hroce_cq *cq = to_hcq(ibcq);
	int err;

	/* No kernel consumer resizes a CQ. */
	if (!cq->user || !udata)
		return -EOPNOTSUPP;
	err = hroce_udata_read(udata, &req, sizeof(req));
	if (err)
		return err;
	if (req.reserved)
		return -EINVAL;
	if (req.step == HROCE_RESIZE_PREPARE &&
	    (!nr_cqes || nr_cqes > HROCE_MAX_CQE ||
	     udata->outlen < offsetofend(struct hroce_resize_cq_resp, cq)))
		return -EINVAL;
	mutex_lock(&cq->resize_lock);
	err = hroce_resize_run(&cq->resize, req.step, nr_cqes,
			       hroce_udata_context(udata), udata->outbuf);
	mutex_unlock(&cq->resize_lock);
	return err;
}

int hroce_cq_modify(struct ib_cq *ibcq, u16 count, u16 period_us)
{
	struct hroce_cq *cq = to_hcq(ibcq);
	unsigned long flags;

	/* Without a period the last completions would raise no event. */
	if (!period_us)
		count = 0;
	spin_lock_irqsave(&cq->lock, flags);
	cq->mod_count = count > 1 ? count : 0;
	cq->mod_period_us = period_us;
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

static enum ib_wc_opcode wc_opcode(u8 opcode)
{
	switch ((enum hroce_wc_op)opcode) {
	case HROCE_WC_SEND:
		return IB_WC_SEND;
	case HROCE_WC_WRITE:
		return IB_WC_RDMA_WRITE;
	case HROCE_WC_READ:
		return IB_WC_RDMA_READ;
	case HROCE_WC_CMP_SWAP:
		return IB_WC_COMP_SWAP;
	case HROCE_WC_FETCH_ADD:
		return IB_WC_FETCH_ADD;
	case HROCE_WC_BIND_MW:
		return IB_WC_BIND_MW;
	case HROCE_WC_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	case HROCE_WC_FLUSH:
		return IB_WC_FLUSH;
	case HROCE_WC_ATOMIC_WRITE:
		return IB_WC_ATOMIC_WRITE;
	case HROCE_WC_REG_MR:
		return IB_WC_REG_MR;
	case HROCE_WC_MASKED_CMP_SWAP:
		return IB_WC_MASKED_COMP_SWAP;
	case HROCE_WC_MASKED_FETCH_ADD:
		return IB_WC_MASKED_FETCH_ADD;
	case HROCE_WC_RECV:
		return IB_WC_RECV;
	case HROCE_WC_RECV_WRITE_IMM:
		return IB_WC_RECV_RDMA_WITH_IMM;
	}
	return IB_WC_SEND;
}

/* ib_core looks up the local GID of a reply only in this VLAN. */
static void wc_fill_vlan(struct ib_wc *wc, const struct hroce_dev *dev)
{
	struct ib_gid_attr attr = { .ndev = RCU_INITIALIZER(dev->port.dev) };
	u16 vlan_id;

	if (rdma_read_gid_l2_fields(&attr, &vlan_id, NULL) ||
	    vlan_id >= VLAN_N_VID)
		return;
	wc->wc_flags |= IB_WC_WITH_VLAN;
	wc->vlan_id = vlan_id;
}

static void wc_fill(struct ib_wc *wc, const struct hroce_cqe *cqe,
		    struct ib_qp *qp)
{
	*wc = (struct ib_wc) {
		.wr_id = cqe->wr_id,
		.status = cqe->status,
		.opcode = wc_opcode(cqe->opcode),
		.vendor_err = cqe->vendor_err,
		.byte_len = cqe->byte_len,
		.qp = qp,
		.src_qp = cqe->src_qpn,
		.pkey_index = cqe->pkey_index,
		.port_num = 1,
	};
	if (cqe->flags & HROCE_WCF_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = (__force __be32)cqe->imm_data;
	}
	if (cqe->flags & HROCE_WCF_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->imm_data;
	}
	/* SL stays 0: ib_core would use it as the priority of a reply. */
	if (cqe->flags & HROCE_WCF_GRH) {
		wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = cqe->sl == HROCE_SL_UDP_IPV4 ?
				       RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
		wc_fill_vlan(wc, to_hdev(qp->device));
	}
}

int hroce_cq_poll(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct hroce_dev *dev = to_hdev(ibcq->device);
	struct hroce_cq *cq = to_hcq(ibcq);
	const struct hroce_cqe *cqe;
	unsigned long flags;
	struct hroce_qp *qp;
	int n = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (n < num_entries && cq->cons != cq->prod) {
		cqe = hroce_ring_entry(cq->ring, cq->cons++);
		/*
		 * NULL: the QP is being destroyed. Others stay while we hold
		 * the lock: destruction takes it in hroce_cq_forget().
		 */
		qp = xa_load(&dev->qps, hroce_qp_index(dev, cqe->qpn));
		if (qp)
			wc_fill(&wc[n++], cqe, &qp->ib);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	return n;
}

int hroce_cq_req_notify(struct ib_cq *ibcq, enum ib_cq_notify_flags notify)
{
	struct hroce_cq *cq = to_hcq(ibcq);
	unsigned long flags;
	int missed = 0;
	u32 arm;

	/* User space arms its queues without a system call. */
	if (cq->user)
		return -EOPNOTSUPP;

	arm = (notify & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED ?
	      HROCE_CQ_ARM_SOLICITED : HROCE_CQ_ARM_NEXT;
	spin_lock_irqsave(&cq->lock, flags);
	/* NEXT includes SOLICITED (IBTA 11.4.2.2). */
	cq->hdr->arm = max(cq->hdr->arm, arm);
	if (notify & IB_CQ_REPORT_MISSED_EVENTS && cq->cons != cq->prod)
		missed = 1;
	spin_unlock_irqrestore(&cq->lock, flags);
	return missed;
}

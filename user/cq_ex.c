// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended completion queues: the application reads entries in place, one after
 * the other; they return to the kernel together, at end_poll or if they are many.
 */
#include <errno.h>

#include "cq.h"

static struct hroce_cq *ex_to_hcq(struct ibv_cq_ex *cq_ex)
{
	return to_hcq(ibv_cq_ex_to_cq(cq_ex));
}

static int cq_take(struct hroce_cq *cq)
{
	const struct hroce_cqe *cqe = hroce_cq_next(cq);

	if (!cqe)
		return ENOENT;

	cq->current = cqe;
	cq->vcq.cq_ex.wr_id = cqe->wr_id;
	cq->vcq.cq_ex.status = cqe->status;
	return 0;
}

/* @qpn: set if nothing was found; then @cq is not locked any more */
static int cq_try_start(struct hroce_cq *cq, uint32_t *qpn)
{
	uint32_t before;
	int ret;

	hroce_lock(&cq->lock);
	before = cq->ring.cons;
	ret = cq_take(cq);
	if (!ret)
		return 0;

	/* No end_poll follows: return dropped entries here. */
	if (cq->ring.cons != before)
		hroce_cons_publish(&cq->ring);
	*qpn = hroce_cq_found_none(cq);
	hroce_unlock(&cq->lock);
	return ret;
}

static int cq_start_poll(struct ibv_cq_ex *cq_ex, struct ibv_poll_cq_attr *attr)
{
	struct hroce_cq *cq = ex_to_hcq(cq_ex);
	uint32_t qpn = 0;
	int ret;

	if (attr->comp_mask)
		return EINVAL;

	ret = cq_try_start(cq, &qpn);
	if (qpn && hroce_cq_poll_netdev(cq, qpn))
		ret = cq_try_start(cq, &qpn);
	return ret;
}

static int cq_next_poll(struct ibv_cq_ex *cq_ex)
{
	struct hroce_cq *cq = ex_to_hcq(cq_ex);

	/* If the last call found no entry, @current was already consumed. */
	if (cq->current)
		hroce_cons_advance(&cq->ring);
	cq->current = NULL;
	hroce_cons_publish_many(&cq->ring);
	return cq_take(cq);
}

static void cq_end_poll(struct ibv_cq_ex *cq_ex)
{
	struct hroce_cq *cq = ex_to_hcq(cq_ex);

	if (cq->current)
		hroce_cons_advance(&cq->ring);
	cq->current = NULL;
	hroce_cons_publish(&cq->ring);
	hroce_unlock(&cq->lock);
}

static enum ibv_wc_opcode cq_read_opcode(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->opcode;
}

static uint32_t cq_read_vendor_err(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->vendor_err;
}

static uint32_t cq_read_byte_len(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->byte_len;
}

static __be32 cq_read_imm_data(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->imm_data;
}

static uint32_t cq_read_qp_num(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->qpn;
}

static uint32_t cq_read_src_qp(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->src_qpn;
}

static unsigned int cq_read_wc_flags(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->flags & HROCE_WCF_VERBS;
}

/* LIDs do not exist on Ethernet. */
static uint32_t cq_read_slid(struct ibv_cq_ex *cq_ex)
{
	(void)cq_ex;
	return 0;
}

static uint8_t cq_read_sl(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->sl;
}

static uint8_t cq_read_dlid_path_bits(struct ibv_cq_ex *cq_ex)
{
	(void)cq_ex;
	return 0;
}

static uint64_t cq_read_completion_ts(struct ibv_cq_ex *cq_ex)
{
	return ex_to_hcq(cq_ex)->current->timestamp_ns;
}

void hroce_cq_set_poll_ops(struct ibv_cq_ex *cq_ex)
{
	cq_ex->start_poll = cq_start_poll;
	cq_ex->next_poll = cq_next_poll;
	cq_ex->end_poll = cq_end_poll;
	cq_ex->read_opcode = cq_read_opcode;
	cq_ex->read_vendor_err = cq_read_vendor_err;
	cq_ex->read_byte_len = cq_read_byte_len;
	cq_ex->read_imm_data = cq_read_imm_data;
	cq_ex->read_qp_num = cq_read_qp_num;
	cq_ex->read_src_qp = cq_read_src_qp;
	cq_ex->read_wc_flags = cq_read_wc_flags;
	cq_ex->read_slid = cq_read_slid;
	cq_ex->read_sl = cq_read_sl;
	cq_ex->read_dlid_path_bits = cq_read_dlid_path_bits;
	cq_ex->read_completion_ts = cq_read_completion_ts;
}

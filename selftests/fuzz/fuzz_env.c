// SPDX-License-Identifier: GPL-2.0
/*
 * Surroundings of the queue pair that is fuzzed. Keys mean what their low bits
 * say, so that the input decides what is permitted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/overflow.h>
#include "../sim/kept.h"
#include "proto/env.h"
#include "proto/sack.h"
#include "fuzz_engine.h"

void fuzz_fail(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: false: %s\n", file, line, what);
	abort();
}

void fuzz_setup(u8 kind, u8 size)
{
	const u8 *data = fuzz.data;
	struct hrp_qp *qp = &fuzz.qp;
	struct hrp_sq *sq = &qp->req.sq;
	size_t len = fuzz.len;

	memset(&fuzz, 0, sizeof(fuzz));
	fuzz.data = data;
	fuzz.len = len;
	/* Half are RC, where there is most to break. */
	qp->type = kind & 4 ? HRP_TYPE_RC :
			      (kind & 3) + (kind >> 4 & 1);
	qp->access = ~(kind >> 5);
	qp->mtu = 256u << size % 5;
	qp->qpn = 0x11;
	qp->dest_qpn = 0x22;
	qp->qkey = 0x33;
	qp->stats = &fuzz.counts;
	sq->nr_entries = FUZZ_SQ_ENTRIES;
	sq->max_sges = FUZZ_MAX_SGES;
	sq->max_inline = FUZZ_MAX_INLINE;
	sq->stride = hrp_sq_stride(sq->max_sges, sq->max_inline);
	sq->copy_stride = hrp_sq_copy_stride(sq->stride);
	sq->hdr = calloc(1, sizeof(*sq->hdr));
	sq->ring = calloc(sq->nr_entries, sq->stride);
	sq->copies = calloc(sq->nr_entries, sq->copy_stride);
	qp->req.window_pkts = 8 + size % 7 * 8;
	hrp_rp_init(&fuzz.rp);
	qp->req.cc = size / 7 % HRP_CC_NR;
	qp->req.burst_pkts = 1 + size % 16;
	qp->req.max_rd_atomic = size % 3 * 2;
	qp->req.retry_cnt = 3;
	qp->req.rnr_retry = kind & 8 ? HRP_INFINITE_RNR_RETRY : 2;
	qp->req.timeout = 8;
	qp->resp.rwqe = calloc(1, struct_size(qp->resp.rwqe, sges,
					      FUZZ_NR_SGES));
	qp->resp.rd = calloc(FUZZ_NR_RD, sizeof(*qp->resp.rd));
	qp->resp.nr_rd = FUZZ_NR_RD;
	qp->resp.max_dest_rd_atomic = size % (FUZZ_NR_RD + 1);
	qp->resp.burst_pkts = 1 + size % 16;
	qp->resp.srq = kind >> 4 & 1 || qp->type == HRP_TYPE_XRC_TGT;
	qp->resp.keeps = size >> 7;
}

u8 fuzz_keep(const struct hrp_pkt *pkt)
{
	struct hrp_resp *resp = &fuzz.qp.resp;
	struct hrp_kept *kept = malloc(sizeof(*kept));

	kept_prepare(&fuzz.qp, pkt->psn);
	kept->pkt = *pkt;
	hrp_keep_put(resp->keep, kept);
	return HROCE_WC_SUCCESS;
}

void fuzz_keep_end(void)
{
	fuzz_demand(!kept_end(&fuzz.qp));
}

u8 fuzz_keep_answer(const struct hrp_pkt *pkt)
{
	struct hrp_req *req = &fuzz.qp.req;

	kept_open_sack(req);
	kept_put_answer(req, pkt);
	return HROCE_WC_SUCCESS;
}

void fuzz_ahead_end(void)
{
	fuzz_demand(!kept_free(hrp_ahead_close(&fuzz.qp)));
}

void fuzz_teardown(void)
{
	fuzz_ahead_end();
	kept_close_sack(&fuzz.qp.req);
	free(fuzz.qp.req.sq.hdr);
	free(fuzz.qp.req.sq.ring);
	free(fuzz.qp.req.sq.copies);
	free(fuzz.qp.resp.rwqe);
	free(fuzz.qp.resp.rd);
}

void hrp_env_send_done(struct hrp_qp *qp, const struct hroce_cqe *cqe)
{
	fuzz.env_calls++;
	fuzz_demand(cqe->qpn == qp->qpn);
	fuzz_demand(qp->req.sq.hdr->cons == qp->req.sq.tail);
	fuzz_demand(cqe->status == HROCE_WC_SUCCESS || qp->state != HRP_RESET);
}

void hrp_env_recv_done(struct hrp_qp *qp, const struct hroce_cqe *cqe,
		       bool solicited)
{
	fuzz.env_calls++;
	fuzz_demand(cqe->qpn == qp->qpn);
	fuzz_demand(cqe->wr_id == fuzz.rq_taken);
	fuzz_demand(qp->resp.srqn == fuzz.taken_from);
	fuzz_demand(cqe->status != HROCE_WC_SUCCESS ||
		    cqe->opcode == HROCE_WC_RECV_WRITE_IMM ||
		    cqe->byte_len <= qp->resp.rwqe->length);
	fuzz_demand(solicited || cqe->status == HROCE_WC_SUCCESS);
}

bool hrp_env_recv_take(struct hrp_qp *qp, struct hrp_rwqe *rwqe)
{
	fuzz.env_calls++;
	/* The one before is complete, or was forgotten by a reset. */
	fuzz_demand(!qp->resp.have_rwqe);
	fuzz_demand(qp->type != HRP_TYPE_XRC_TGT || qp->resp.srqn < 7);
	if (!fuzz.rq_avail)
		return false;
	fuzz.taken_from = qp->resp.srqn;
	fuzz.rq_avail--;
	memset(rwqe, 0, struct_size(rwqe, sges, FUZZ_NR_SGES));
	rwqe->wr_id = ++fuzz.rq_taken;
	rwqe->nr_sges = fuzz.rq_taken % (FUZZ_NR_SGES + 1);
	rwqe->sges[0].length = 64;
	rwqe->sges[1].length = fuzz.rq_taken & 8 ? 5000 : 300;
	rwqe->sges[2].length = fuzz.rq_taken & 16 ? ~0u : 0;
	for (u32 i = 0; i < rwqe->nr_sges; i++)
		rwqe->length += rwqe->sges[i].length;
	return true;
}

u32 hrp_env_recv_avail(const struct hrp_qp *qp)
{
	fuzz.env_calls++;
	fuzz_demand(hrp_qp_is_reliable(qp));
	return qp->resp.srq || qp->type == HRP_TYPE_XRC_TGT ? HRP_RECV_SHARED :
							      fuzz.rq_avail;
}

/* As the numbers of SRQs that there are; each has entries of its own kind. */
bool hrp_env_srq_find(struct hrp_qp *qp, u32 srqn)
{
	fuzz.env_calls++;
	fuzz_demand(qp->type == HRP_TYPE_XRC_TGT && !(srqn >> 24));
	return srqn < 7;
}

bool hrp_env_mem_check(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, u8 access)
{
	fuzz.env_calls++;
	fuzz_demand(len && len <= HRP_MAX_MESSAGE);
	fuzz_demand(access >= HRP_ACCESS_REMOTE_READ);
	return (rkey & 7) != 7;
}

u8 hrp_env_atomic(struct hrp_qp *qp, u32 rkey, u64 va, bool cas, u64 compare,
		  u64 swap_add, u64 *orig)
{
	fuzz.env_calls++;
	fuzz_demand(!(va & 7));
	*orig = va;
	if ((rkey & 7) == 6)
		return HRP_MEM_FAULT;
	return (rkey & 7) != 7 ? HROCE_WC_SUCCESS : HROCE_WC_REM_ACCESS_ERR;
}

bool hrp_env_flush(struct hrp_qp *qp, u32 rkey, u64 va, u32 len, bool all,
		   u8 access)
{
	fuzz.env_calls++;
	fuzz_demand(qp->type == HRP_TYPE_RC);
	return (rkey & 7) != 7;
}

bool hrp_env_invalidate(struct hrp_qp *qp, u32 rkey)
{
	fuzz.env_calls++;
	return (rkey & 7) != 7;
}

u8 hrp_env_local_op(struct hrp_qp *qp, const struct hrp_wqe *wqe)
{
	fuzz.env_calls++;
	return (wqe->wqe.imm_data & 7) == 7 ? HROCE_WC_LOC_QP_OP_ERR :
					      HROCE_WC_SUCCESS;
}

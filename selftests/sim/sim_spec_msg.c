// SPDX-License-Identifier: GPL-2.0
/* What responders of the model do with messages of SEND and WRITE. */
#include "sim_spec.h"

bool sim_spec_may_access(struct sim_qp *qp, const struct hrp_pkt *pkt,
			 u8 access)
{
	return !pkt->dmalen || hrp_env_mem_check(&qp->hrp, pkt->rkey, pkt->va,
						 pkt->dmalen, access);
}

void sim_spec_begin_msg(struct sim_spec_resp *resp, const struct hrp_pkt *pkt)
{
	resp->in_msg = pkt->info & (HRP_OI_SEND | HRP_OI_WRITE);
	resp->offset = 0;
	resp->write_va = pkt->va;
	resp->write_rkey = pkt->rkey;
	resp->write_len = pkt->dmalen;
}

/* Where the payload of a SEND or WRITE goes. */
u8 sim_spec_place(struct sim_qp *qp, const struct hrp_pkt *pkt, u8 *payload)
{
	const struct hrp_rwqe *rwqe = qp->hrp.resp.rwqe;
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct hrp_mem mem;

	hrp_mem_begin(&mem);
	if (resp->in_msg == HRP_OI_SEND) {
		mem.sges = rwqe->sges;
		mem.nr_sges = rwqe->nr_sges;
		mem.access = HRP_ACCESS_LOCAL_WRITE;
	} else {
		mem.one.addr = resp->write_va;
		mem.one.length = resp->write_len;
		mem.one.lkey = resp->write_rkey;
		mem.access = HRP_ACCESS_REMOTE_WRITE;
	}
	mem.offset = resp->offset;
	mem.len = pkt->payload_len;
	resp->offset += pkt->payload_len;
	return sim_mem_copy(qp->node, &mem, payload, true);
}

void sim_spec_receive_done(struct sim_qp *qp, const struct hrp_pkt *pkt,
			   u8 status)
{
	struct sim_spec_resp *resp = &qp->spec->resp;
	struct hroce_cqe cqe = {
		.wr_id = qp->hrp.resp.rwqe->wr_id,
		.byte_len = resp->offset,
		.qpn = qp->hrp.qpn,
		.status = status,
		.opcode = pkt->info & HRP_OI_WRITE ? HROCE_WC_RECV_WRITE_IMM :
						     HROCE_WC_RECV,
	};

	if (pkt->info & HRP_OI_DETH) {
		cqe.flags = HROCE_WCF_GRH;
		cqe.src_qpn = pkt->sqpn;
	}
	if (pkt->info & HRP_OI_IMM) {
		cqe.flags |= HROCE_WCF_IMM;
		cqe.imm_data = (__force u32)pkt->imm;
	}
	if (pkt->info & HRP_OI_INV) {
		cqe.flags = HROCE_WCF_INV;
		cqe.imm_data = pkt->inv_rkey;
	}
	sim_recv_done(qp, &cqe, pkt->se);
}

/* 9.7.4.1.6: full packets, but for the last */
bool sim_spec_length_is_right(const struct sim_qp *qp,
			      const struct hrp_pkt *pkt)
{
	if (!(pkt->info & HRP_OI_LAST))
		return pkt->payload_len == qp->hrp.mtu;
	return pkt->payload_len <= qp->hrp.mtu &&
	       (pkt->payload_len || pkt->info & HRP_OI_FIRST);
}

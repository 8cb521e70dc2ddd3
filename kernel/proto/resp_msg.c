// SPDX-License-Identifier: GPL-2.0
/*
 * Receive SEND and WRITE messages packet by packet; common to RC and UC (IBTA
 * 9.7.4.1, 9.8.2.2).
 *
 * @in_msg is the kind of message in progress, @offset its bytes in place. A
 * SEND holds a receive entry from its first packet on; a WRITE with immediate
 * data takes one with its last.
 */
#include <linux/minmax.h>
#include "mtu.h"
#include "resp_priv.h"

/* May the opcode follow the previous one? */
static bool msg_in_sequence(u32 in_msg, u32 info)
{
	if (info & HRP_OI_FIRST)
		return !in_msg;
	return in_msg & info;
}

static bool msg_length_ok(const struct hrp_qp *qp, const struct hrp_pkt *pkt)
{
	u32 mtu = hrp_mtu_of_peer(qp, pkt);

	if (!(pkt->info & HRP_OI_LAST))
		return pkt->payload_len == mtu && !pkt->pad;
	if (pkt->payload_len > mtu)
		return false;
	return pkt->payload_len || (pkt->info & HRP_OI_FIRST);
}

/*
 * Middle packets differ only in the PSN and may be merged, as far as @room
 * allows. XRC packets differ in the XRCETH, too, and are handled one by one.
 */
static void msg_more(const struct hrp_pkt *pkt, struct hrp_rx *rx, u32 room)
{
	if (!(pkt->info & (HRP_OI_FIRST | HRP_OI_LAST | HRP_OI_XRCETH)))
		rx->more = room / pkt->payload_len;
}

static enum hrp_fault msg_send_begin(struct hrp_qp *qp,
				     const struct hrp_pkt *pkt,
				     struct hrp_rx *rx)
{
	u32 offset = pkt->info & HRP_OI_FIRST ? 0 : qp->resp.offset;
	u32 end = offset + pkt->payload_len;

	if (!hrp_resp_take(qp))
		return HRP_FAULT_NO_ENTRY;
	if (end > HRP_MAX_MESSAGE)
		return HRP_FAULT_LENGTH;
	if (end > qp->resp.rwqe->length)
		return HRP_FAULT_TOO_LONG;
	hrp_resp_scatter(qp, rx, offset, pkt->payload_len);
	msg_more(pkt, rx,
		 min_t(u64, qp->resp.rwqe->length, HRP_MAX_MESSAGE) - end);
	return HRP_FAULT_NONE;
}

static enum hrp_fault msg_check_right(const struct hrp_qp *qp,
				      const struct hrp_pkt *pkt, u8 right)
{
	if (!(qp->access & right))
		return HRP_FAULT_DENIED;
	return pkt->dmalen > HRP_MAX_MESSAGE ? HRP_FAULT_LENGTH : HRP_FAULT_NONE;
}

enum hrp_fault hrp_resp_check_range(struct hrp_qp *qp,
				    const struct hrp_pkt *pkt, u8 right,
				    u8 access)
{
	enum hrp_fault fault = msg_check_right(qp, pkt, right);

	if (fault)
		return fault;
	if (pkt->dmalen && !hrp_env_mem_check(qp, pkt->rkey, pkt->va,
					      pkt->dmalen, access))
		return HRP_FAULT_ACCESS;
	return HRP_FAULT_NONE;
}

/*
 * The owner checks all of the range when it places the first packet. But a receive
 * entry is taken only if the range is accessible.
 */
static enum hrp_fault msg_write_check(struct hrp_qp *qp,
				      const struct hrp_pkt *pkt)
{
	if (pkt->info & HRP_OI_IMM)
		return hrp_resp_check_range(qp, pkt, HRP_QP_REMOTE_WRITE,
					    HRP_ACCESS_REMOTE_WRITE);
	return msg_check_right(qp, pkt, HRP_QP_REMOTE_WRITE);
}

static enum hrp_fault msg_write_begin(struct hrp_qp *qp,
				      const struct hrp_pkt *pkt,
				      struct hrp_rx *rx)
{
	struct hrp_resp *resp = &qp->resp;
	struct hrp_mem *mem = &rx->mem;
	enum hrp_fault fault;
	u32 room;

	if (pkt->info & HRP_OI_FIRST) {
		fault = msg_write_check(qp, pkt);
		if (fault)
			return fault;
		mem->one.addr = pkt->va;
		mem->one.length = pkt->dmalen;
		mem->one.lkey = pkt->rkey;
	} else {
		mem->one.addr = resp->write_va;
		mem->one.length = resp->write_len;
		mem->one.lkey = resp->write_rkey;
		mem->offset = resp->offset;
		/* UC does not retransmit: corrupted bytes would remain. */
		rx->fuse = hrp_qp_is_reliable(qp);
	}
	room = mem->one.length - mem->offset;
	if (pkt->payload_len > room)
		return HRP_FAULT_LENGTH;
	room -= pkt->payload_len;
	if ((pkt->info & HRP_OI_LAST) && room)
		return HRP_FAULT_LENGTH;
	if ((pkt->info & HRP_OI_IMM) && !hrp_resp_take(qp))
		return HRP_FAULT_NO_ENTRY;
	mem->len = pkt->payload_len;
	mem->access = HRP_ACCESS_REMOTE_WRITE;
	msg_more(pkt, rx, room);
	return HRP_FAULT_NONE;
}

enum hrp_fault hrp_resp_msg_begin(struct hrp_qp *qp, const struct hrp_pkt *pkt,
				  u32 in_msg, struct hrp_rx *rx)
{
	if (unlikely(!msg_in_sequence(in_msg, pkt->info)))
		return HRP_FAULT_SEQUENCE;
	if (unlikely(!msg_length_ok(qp, pkt)))
		return HRP_FAULT_LENGTH;
	if (pkt->info & HRP_OI_SEND)
		return msg_send_begin(qp, pkt, rx);
	return msg_write_begin(qp, pkt, rx);
}

void hrp_resp_msg_commit(struct hrp_qp *qp, const struct hrp_pkt *pkt,
			 u32 nr_pkts)
{
	struct hrp_resp *resp = &qp->resp;
	u32 len = resp->offset + nr_pkts * pkt->payload_len;

	if (!(pkt->info & HRP_OI_LAST)) {
		resp->offset = len;
		if (!(pkt->info & HRP_OI_FIRST))
			return;
		resp->in_msg = pkt->info & (HRP_OI_SEND | HRP_OI_WRITE);
		resp->write_va = pkt->va;
		resp->write_rkey = pkt->rkey;
		resp->write_len = pkt->dmalen;
		return;
	}
	resp->in_msg = 0;
	resp->offset = 0;
	if (pkt->info & HRP_OI_SEND) {
		hrp_resp_recv_done(qp, pkt, HROCE_WC_SUCCESS, HROCE_WC_RECV,
				   len);
		return;
	}
	hrp_count(qp, HROCE_EV_RX_WRITES);
	if (pkt->info & HRP_OI_IMM)
		hrp_resp_recv_done(qp, pkt, HROCE_WC_SUCCESS,
				   HROCE_WC_RECV_WRITE_IMM, len);
}

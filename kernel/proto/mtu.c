// SPDX-License-Identifier: GPL-2.0
/* Longer packets between hroce peers, see mtu.h. */
#include <linux/build_bug.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "env.h"
#include "mtu.h"
#include "psn.h"

/* Headers of IPv6 and UDP; those of IPv4 are shorter. */
#define LOWER_BYTES	(40 + 8)

/* The longest headers that come with payload: of XRC, with immediate data. */
#define HDR_BYTES	(sizeof(struct hrw_bth) + sizeof(struct hrw_xrceth) + \
			 sizeof(struct hrw_reth) + sizeof(__be32))

/* Long messages before a question is repeated. */
#define WAIT_MESSAGES	15

/* Payload in pages stays whole if packets are whole pages. */
#define PAGE_BYTES	4096u

/* Others may use the opcodes for something else. The fifth byte is a version. */
static const u8 mtu_payload[HRP_MTU_MAX] = { 'h', 'r', 'o', 'c', 1 };

/* All but three reserved bytes, and what fills the packet up. */
#define MAGIC_CHECKED	5

/* It fits hrp_resp.agreed_mtu. */
static_assert(HRP_MTU_MAX / HRP_MTU_UNIT <= 255);

u32 hrp_mtu_of_link(u32 ip_mtu)
{
	u32 used = LOWER_BYTES + HDR_BYTES + HRW_ICRC_LEN;
	u32 len = ip_mtu > used ? min(ip_mtu - used, HRP_MTU_MAX) : 0;

	return round_down(len, len >= PAGE_BYTES ? PAGE_BYTES : HRP_MTU_UNIT);
}

void hrp_mtu_want(struct hrp_req *req)
{
	if (req->mtu_wait) {
		req->mtu_wait--;
		return;
	}
	req->mtu_wait = WAIT_MESSAGES;
	req->mtu_asks--;
	req->mtu_ask = 1;
}

static void mtu_build(struct hrp_qp *qp, struct hrp_burst *b, u8 opcode, u32 psn,
		      u32 len)
{
	hrp_burst_begin(b, qp, opcode, psn);
	b->mtu = len;
	b->mem.bytes = mtu_payload;
	b->mem.len = len;
	b->copy = 1;
}

void hrp_mtu_build_ask(struct hrp_qp *qp, struct hrp_burst *b)
{
	qp->req.mtu_ask = 0;
	mtu_build(qp, b, HRP_OPCODE_MTU_ASK, qp->req.psn_max,
		  qp->resp.own_mtu * HRP_MTU_UNIT);
	hrp_count(qp, HROCE_EV_MTU_ASKED);
}

/* Does the packet have a length that may be agreed to? */
static bool mtu_is_valid(const struct hrp_qp *qp, const struct hrp_pkt *pkt,
			 const u8 *magic)
{
	return pkt->payload_len > qp->mtu &&
	       pkt->payload_len <= HRP_MTU_MAX &&
	       !(pkt->payload_len % HRP_MTU_UNIT) &&
	       !memcmp(magic, mtu_payload, MAGIC_CHECKED);
}

bool hrp_mtu_asked(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		   const u8 *magic)
{
	struct hrp_resp *resp = &qp->resp;

	if (qp->state < HRP_RTR || qp->state > HRP_SQE || !resp->own_mtu ||
	    !mtu_is_valid(qp, pkt, magic))
		return false;
	/* Packets on their way may still have the length that was agreed. */
	if (!resp->agreed_mtu)
		resp->agreed_mtu = min_t(u32, resp->own_mtu,
					 pkt->payload_len / HRP_MTU_UNIT);
	resp->mtu_due = 1;
	return true;
}

void hrp_mtu_build_answer(struct hrp_qp *qp, struct hrp_burst *b)
{
	struct hrp_resp *resp = &qp->resp;

	resp->mtu_due = 0;
	mtu_build(qp, b, HRP_OPCODE_MTU, hrp_psn_add(resp->psn, HRP_PSN_MASK),
		  resp->agreed_mtu * HRP_MTU_UNIT);
}

bool hrp_mtu_answered(struct hrp_qp *qp, const struct hrp_pkt *pkt,
		      const u8 *magic)
{
	struct hrp_req *req = &qp->req;
	u32 acked = hrp_psn_add(req->psn_una, HRP_PSN_MASK);

	/* Its PSN is that of the last request that the peer has executed. */
	if (!req->mtu_wait || hrp_psn_diff(pkt->psn, acked) < 0 ||
	    hrp_psn_diff(pkt->psn, req->psn_max) >= 0 ||
	    !mtu_is_valid(qp, pkt, magic) ||
	    pkt->payload_len > qp->resp.own_mtu * HRP_MTU_UNIT)
		return false;
	req->mtu_wait = 0;
	req->mtu_asks = 0;
	req->agreed_mtu = pkt->payload_len / HRP_MTU_UNIT;
	hrp_count(qp, HROCE_EV_MTU_AGREED);
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Packets of a model that no peer should send, between good ones (IBTA 9.6,
 * 9.7.4, 9.7.5, 9.8.2, 9.8.3). Of most the engine has to count one and do nothing
 * else: not a byte of its state changes. Where it has to do something, the rest of
 * the run shows that it has done no harm.
 *
 * What decides is the state of the engine as the packet arrives, so that the PSN is
 * put into it then.
 */
#include <linux/array_size.h>
#include <linux/bits.h>
#include <stdio.h>
#include <string.h>
#include "proto/psn.h"
#include "sim_junk.h"
#include "sim_spec.h"

#define ANY	0xffff

/* Which packets come like that? */
#define REQ_RC		BIT(0)	/* to the responder, XRC too */
#define REQ_UC		BIT(1)
#define REQ_UD		BIT(2)
#define ANSWER		BIT(3)	/* to the requester */
#define NOT_XRC		BIT(4)
#define ONLY_XRC	BIT(5)
#define FLIES		BIT(6)	/* if something is in flight */
#define ACTS		BIT(7)	/* the engine has to do something */
#define REQUEST		(REQ_RC | REQ_UC | REQ_UD)

static const struct kind {
	const char *name;
	u16 flags;
	u16 drop;		/* enum hroce_stat */
} kinds[SIM_JUNK_NR] = {
	[SIM_JUNK_CUT] = { "headers cut off", REQUEST | ANSWER,
			   HROCE_DROP_SHORT },
	[SIM_JUNK_VERSION] = { "transport version", REQUEST | ANSWER,
			       HROCE_DROP_VERSION },
	[SIM_JUNK_PAD] = { "pad and length", REQUEST | ANSWER,
			   HROCE_DROP_LENGTH },
	[SIM_JUNK_PAYLOAD] = { "payload where none may be", REQ_RC | ANSWER,
			       HROCE_DROP_LENGTH },
	[SIM_JUNK_OPCODE] = { "reserved opcode", REQUEST | ANSWER,
			      HROCE_DROP_OPCODE },
	[SIM_JUNK_SERVICE] = { "opcode of another service", REQUEST | ANSWER,
			       HROCE_DROP_OPCODE },
	[SIM_JUNK_SIDE] = { "XRC, for the other side", REQ_RC | ANSWER |
			    ONLY_XRC, HROCE_DROP_OPCODE },
	[SIM_JUNK_REQUEST_ICRC] = { "request, bad ICRC", REQUEST,
				    HROCE_DROP_ICRC },
	[SIM_JUNK_ANSWER_ICRC] = { "answer, bad ICRC", ANSWER | FLIES,
				   HROCE_DROP_ICRC },
	[SIM_JUNK_FAR] = { "PSN far ahead", REQ_RC, HROCE_DROP_PSN },
	[SIM_JUNK_OLD_READ] = { "READ or atomic of long ago", REQ_RC,
				HROCE_DROP_PSN },
	[SIM_JUNK_OLD_SEND] = { "SEND of long ago", REQ_RC | ACTS, ANY },
	[SIM_JUNK_MESSAGE] = { "malformed message", REQ_UC | ACTS, ANY },
	[SIM_JUNK_QKEY] = { "Q_Key", REQ_UD, HROCE_DROP_QKEY },
	[SIM_JUNK_LONG] = { "longer than the MTU", REQ_UD, HROCE_DROP_LENGTH },
	[SIM_JUNK_GHOST] = { "answer to what was not sent", ANSWER,
			     HROCE_DROP_STALE_ACK },
	[SIM_JUNK_STALE] = { "NAK of what is done", ANSWER,
			     HROCE_DROP_STALE_ACK },
	[SIM_JUNK_SYNDROME] = { "reserved syndrome", ANSWER | FLIES,
				HROCE_DROP_STALE_ACK },
	[SIM_JUNK_NAK] = { "sequence NAK without a gap", ANSWER | FLIES | ACTS,
			   ANY },
	[SIM_JUNK_RNR] = { "RNR NAK of anything", ANSWER | FLIES | ACTS, ANY },
	[SIM_JUNK_CREDITS] = { "credits that jump", ANSWER | NOT_XRC | ACTS,
			       ANY },
	/* These have no packets of their own. */
	[SIM_JUNK_SWAP] = { "answers out of order", ANSWER, ANY },
	[SIM_JUNK_BITS] = { "reserved bits", REQUEST | ANSWER, ANY },
};

static const u8 reserved_ops[] = {
	HRP_SVC_RC | 0x15, HRP_SVC_RC | 0x18, HRP_SVC_RC | 0x1f,
	HRP_SVC_UC | 0x0c, HRP_SVC_UC | 0x11, HRP_SVC_UC | 0x16,
	HRP_SVC_UD | 0x00, HRP_SVC_UD | 0x06, HRP_SVC_UD | 0x0c,
	HRP_SVC_XRC | 0x15, HRP_SVC_XRC | 0x1c, HRP_SVC_XRC | 0x1d,
	0x40, 0x44, 0x51, 0x5f,		/* reliable datagrams */
	0x80, 0x82, 0x9f, 0xc6, 0xe0, 0xff,
};

static const u8 only_ops[] = {
	HRP_SVC_RC | HRP_OP_SEND_ONLY, HRP_SVC_RC | HRP_OP_ACK,
	HRP_SVC_RC | HRP_OP_READ_REQ, HRP_SVC_RC | HRP_OP_READ_RESP_ONLY,
	HRP_SVC_UC | HRP_OP_SEND_ONLY, HRP_SVC_UC | HRP_OP_WRITE_ONLY,
	HRP_SVC_UD | HRP_OP_SEND_ONLY,
	HRP_SVC_XRC | HRP_OP_SEND_ONLY, HRP_SVC_XRC | HRP_OP_ACK,
	HRP_SVC_XRC | HRP_OP_READ_RESP_ONLY,
};

static const u8 reserved_syndromes[] = {
	0x40, 0x41, 0x5f, 0x64, 0x65, 0x7f, 0x80, 0x9f, 0xa1, 0xc0, 0xe0, 0xe1,
	0xff,
};

static u8 any_of(struct sim_rng *rng, const u8 *list, u32 nr)
{
	return list[sim_below(rng, nr)];
}

static bool fits(const struct sim_qp *from, const struct kind *kind, u32 info)
{
	bool xrc = from->hrp.type == HRP_TYPE_XRC_INI ||
		   from->hrp.type == HRP_TYPE_XRC_TGT;
	u32 need = ANSWER;

	if (!(info & HRP_OI_RESPONSE))
		need = from->hrp.type == HRP_TYPE_UD ? REQ_UD :
		       from->hrp.type == HRP_TYPE_UC ? REQ_UC : REQ_RC;
	return kind->flags & need && !(kind->flags & (xrc ? NOT_XRC :
						       ONLY_XRC));
}

/* A packet of UC that the responder drops, and with it the message. */
static void spoil_message(struct sim_qp *from, struct hrp_pkt *pkt)
{
	static const u8 behind[] = {
		HRP_OP_SEND_MIDDLE, HRP_OP_SEND_LAST, HRP_OP_SEND_LAST_IMM,
		HRP_OP_WRITE_MIDDLE, HRP_OP_WRITE_LAST, HRP_OP_WRITE_LAST_IMM,
	};
	struct sim_rng *rng = &from->node->sim->rng;
	u32 mtu = from->hrp.mtu;

	switch (sim_below(rng, 5)) {
	case 0:
		sim_set_opcode(pkt, HRP_SVC_UC |
				    any_of(rng, behind, ARRAY_SIZE(behind)));
		sim_set_len(pkt, mtu + 4);
		break;
	case 1:
		sim_set_opcode(pkt, HRP_SVC_UC | HRP_OP_SEND_FIRST);
		sim_set_len(pkt, mtu - 1 - sim_below(rng, mtu));
		break;
	case 2:
		sim_set_opcode(pkt, HRP_SVC_UC | HRP_OP_SEND_ONLY);
		sim_set_len(pkt, mtu + 1 + sim_below(rng, 8));
		break;
	case 3:
		/* More or less than the RETH says */
		sim_set_opcode(pkt, HRP_SVC_UC | HRP_OP_WRITE_ONLY);
		sim_set_len(pkt, sim_below(rng, mtu));
		pkt->dmalen = pkt->payload_len + (sim_below(rng, 2) ? 1 : -1);
		break;
	default:
		sim_set_opcode(pkt, HRP_SVC_UC | HRP_OP_WRITE_ONLY_IMM);
		sim_set_len(pkt, 1 + sim_below(rng, mtu));
		pkt->dmalen = pkt->payload_len;
		pkt->rkey ^= 1;
		/* No address is good for no key. */
		if (!pkt->rkey)
			pkt->rkey = ~0u;
	}
}

/* Turn a good packet into one of that kind, as far as headers in host order go. */
static void spoil(struct sim_qp *from, enum sim_junk kind, struct hrp_pkt *pkt)
{
	static const u8 answers[] = {
		HRP_OP_ACK, HRP_OP_READ_RESP_FIRST, HRP_OP_READ_RESP_MIDDLE,
		HRP_OP_READ_RESP_ONLY, HRP_OP_ATOMIC_ACK,
	};
	static const u8 asks[] = {
		HRP_OP_READ_REQ, HRP_OP_CMP_SWAP, HRP_OP_FETCH_ADD,
	};
	bool response = pkt->info & HRP_OI_RESPONSE;
	struct sim_rng *rng = &from->node->sim->rng;
	u8 svc = hrp_qp_service(&from->hrp);

	switch (kind) {
	case SIM_JUNK_PAYLOAD:
		sim_set_opcode(pkt, svc | (response ? HRP_OP_ACK :
					   any_of(rng, asks, ARRAY_SIZE(asks))));
		sim_set_len(pkt, 4 + 4 * sim_below(rng, 16));
		break;
	case SIM_JUNK_SERVICE:
		do {
			sim_set_opcode(pkt, any_of(rng, only_ops,
						   ARRAY_SIZE(only_ops)));
		} while ((pkt->opcode & HRP_SVC_MASK) == svc);
		break;
	case SIM_JUNK_SIDE:
		sim_set_opcode(pkt, svc | (response ? HRP_OP_SEND_ONLY :
						      HRP_OP_ACK));
		break;
	case SIM_JUNK_FAR:
		if (sim_below(rng, 2))
			sim_set_opcode(pkt, svc | HRP_OP_SEND_ONLY);
		break;
	case SIM_JUNK_OLD_READ:
		sim_set_opcode(pkt, svc | any_of(rng, asks, ARRAY_SIZE(asks)));
		break;
	case SIM_JUNK_OLD_SEND:
		sim_set_opcode(pkt, svc | HRP_OP_SEND_ONLY);
		pkt->ackreq = true;
		break;
	case SIM_JUNK_MESSAGE:
		spoil_message(from, pkt);
		break;
	case SIM_JUNK_QKEY:
		pkt->qkey ^= 1u << sim_below(rng, 32);
		break;
	case SIM_JUNK_LONG:
		sim_set_len(pkt, from->hrp.mtu + 1 + sim_below(rng, 32));
		break;
	case SIM_JUNK_ANSWER_ICRC:
		pkt->syndrome = HRP_SYN_CREDIT_INVALID;
		break;
	case SIM_JUNK_GHOST:
		sim_set_opcode(pkt, svc | any_of(rng, answers,
						 ARRAY_SIZE(answers)));
		pkt->syndrome = sim_below(rng, 2) ? HRP_SYN_CREDIT_INVALID :
				HRP_NAK_PSN_SEQ + sim_below(rng, 4);
		break;
	case SIM_JUNK_STALE:
	case SIM_JUNK_NAK:
		sim_set_opcode(pkt, svc | HRP_OP_ACK);
		pkt->syndrome = HRP_NAK_PSN_SEQ;
		if (kind == SIM_JUNK_STALE)
			pkt->syndrome += sim_below(rng, 4);
		break;
	case SIM_JUNK_SYNDROME:
		sim_set_opcode(pkt, svc | HRP_OP_ACK);
		pkt->syndrome = any_of(rng, reserved_syndromes,
				       ARRAY_SIZE(reserved_syndromes));
		break;
	case SIM_JUNK_RNR:
		sim_set_opcode(pkt, svc | HRP_OP_ACK);
		pkt->syndrome = HRP_SYN_RNR | (1 + sim_below(rng, 4));
		break;
	case SIM_JUNK_CREDITS:
		sim_set_opcode(pkt, svc | HRP_OP_ACK);
		pkt->syndrome = HRP_SYN_ACK | sim_below(rng, 16);
		pkt->msn += sim_below(rng, 200) - 100;
		break;
	default:
		break;
	}
}

/* The same with the bytes of the frame. Return: its length. */
static u32 spoil_bytes(struct sim_qp *from, enum sim_junk kind,
		       const struct hrp_pkt *pkt, u8 *bytes, u32 len)
{
	struct sim_rng *rng = &from->node->sim->rng;
	struct hrw_bth *bth = (void *)bytes;
	u32 pad = 1 + sim_below(rng, 3), i;

	switch (kind) {
	case SIM_JUNK_CUT:
		return sim_below(rng, hrp_opcode_hdr_len(pkt->info) +
				      HRW_ICRC_LEN);
	case SIM_JUNK_VERSION:
		bth->flags |= 1 + sim_below(rng, HRW_BTH_TVER_MASK);
		break;
	case SIM_JUNK_PAD:
		if (pkt->payload_len)
			return len + pad;
		/* More pad than there are bytes */
		bth->flags |= pad << HRW_BTH_PAD_SHIFT;
		break;
	case SIM_JUNK_OPCODE:
		bth->opcode = any_of(rng, reserved_ops,
				     ARRAY_SIZE(reserved_ops));
		break;
	case SIM_JUNK_REQUEST_ICRC:
	case SIM_JUNK_ANSWER_ICRC:
		for (i = hrp_opcode_hdr_len(pkt->info); i < len; i++)
			bytes[i] ^= sim_rand(rng);
		break;
	default:
		break;
	}
	return len;
}

void sim_junk_send(struct sim_qp *from, const struct hrp_pkt *good,
		   const u8 *payload)
{
	u8 bytes[SIM_MAX_FRAME] __attribute__((__aligned__(8))) = {};
	struct sim_rng *rng = &from->node->sim->rng;
	struct hrp_pkt pkt = *good;
	enum sim_junk kind;
	u32 hdr_len, len;

	if (!from->node->sim->opts.junk || sim_below(rng, 3))
		return;
	do {
		kind = sim_below(rng, SIM_JUNK_SWAP);
	} while (!fits(from, &kinds[kind], pkt.info));
	spoil(from, kind, &pkt);
	hdr_len = hrp_pkt_build(&pkt, bytes);
	memcpy(bytes + hdr_len, payload, min(good->payload_len,
					     pkt.payload_len));
	len = hdr_len + pkt.payload_len + pkt.pad + HRW_ICRC_LEN;
	len = spoil_bytes(from, kind, &pkt, bytes, len);
	sim_net_send_junk(from, kind, bytes, len);
}

/* The PSN that makes it what it is, for an engine in this state. */
static u32 choose_psn(struct sim_qp *qp, enum sim_junk kind)
{
	struct sim_rng *rng = &qp->node->sim->rng;
	const struct hrp_req *req = &qp->hrp.req;
	u32 psn = qp->hrp.resp.psn;

	switch (kind) {
	case SIM_JUNK_FAR:
		return psn + (1 << 18) + 1 + sim_below(rng, 1 << 22);
	case SIM_JUNK_OLD_READ:
	case SIM_JUNK_OLD_SEND:
		return psn - (1 << 20) - sim_below(rng, 1 << 20);
	case SIM_JUNK_GHOST:
		return req->psn_max + (sim_below(rng, 2) ? sim_below(rng, 4) :
				       sim_below(rng, 1 << 22));
	case SIM_JUNK_STALE:
		return req->psn_una - 1 - sim_below(rng, 1000);
	case SIM_JUNK_SYNDROME:
		return req->psn_una +
		       sim_below(rng, (req->psn_max - req->psn_una) &
				      HRP_PSN_MASK);
	case SIM_JUNK_CREDITS:
		return req->psn_una - 1;
	case SIM_JUNK_ANSWER_ICRC:
	case SIM_JUNK_NAK:
	case SIM_JUNK_RNR:
		return req->psn_una;
	default:
		return psn;
	}
}

/* A receive entry may be taken before the ICRC is known to be wrong. */
static void expect_entry(struct sim_qp *qp, struct hrp_qp *before)
{
	before->resp.have_rwqe = qp->hrp.resp.have_rwqe;
	if (!qp->hrp.resp.in_msg)
		before->resp.srqn = qp->hrp.resp.srqn;
	qp->uc.has_entry |= qp->hrp.resp.have_rwqe;
}

/* One is counted, and that is all. */
static void arrive_in_vain(struct sim_qp *qp, const struct kind *kind,
			   u8 *bytes, u32 len)
{
	bool damaged = kind->drop == HROCE_DROP_ICRC;
	struct sim *sim = qp->node->sim;
	struct hroce_stats counts;
	struct hrp_qp before;
	struct hrp_pkt pkt;
	int err;

	memcpy(&before, &qp->hrp, sizeof(before));
	memcpy(&counts, &sim->counts, sizeof(counts));
	err = hrp_pkt_parse(&pkt, bytes, min_t(u32, len, HRW_MAX_HDR_LEN), len);
	if (err)
		hrp_count(&qp->hrp, -err - 1);
	else
		sim_qp_receive_alone(qp, &pkt, bytes +
				     hrp_opcode_hdr_len(pkt.info), damaged);
	counts.v[kind->drop]++;
	if (damaged)
		expect_entry(qp, &before);
	if (memcmp(&counts, &sim->counts, sizeof(counts)) ||
	    memcmp(&before, &qp->hrp, sizeof(before)))
		printf("# not in vain: %s\n", kind->name);
	sim_check(sim, !memcmp(&counts, &sim->counts, sizeof(counts)));
	sim_check(sim, !memcmp(&before, &qp->hrp, sizeof(before)));
}

/* What it does shows later. No request of it is executed. */
static void arrive_to_act(struct sim_qp *qp, u8 *bytes, u32 len)
{
	struct hrp_resp before = qp->hrp.resp;
	const struct hrp_resp *now = &qp->hrp.resp;
	struct sim *sim = qp->node->sim;
	u64 sends = qp->nr_sends;
	struct hrp_pkt pkt;
	u8 *payload;

	sim_check(sim, !hrp_pkt_parse(&pkt, bytes,
				      min_t(u32, len, HRW_MAX_HDR_LEN), len));
	payload = bytes + hrp_opcode_hdr_len(pkt.info);
	if (hrp_qp_is_reliable(&qp->hrp))
		sim_qp_receive_alone(qp, &pkt, payload, false);
	else
		sim_qp_receive(qp, &pkt, payload, false);
	sim_check(sim, qp->hrp.state == HRP_RTS);
	sim_check(sim, now->msn == before.msn && qp->nr_sends == sends);
	if (hrp_qp_is_reliable(&qp->hrp))
		sim_check(sim, now->psn == before.psn &&
			       now->in_msg == before.in_msg &&
			       now->offset == before.offset);
	else
		sim_check(sim, !now->in_msg);
}

/* Is the engine in a state in which the packet can do what it is to? */
static bool is_ready(const struct sim_qp *qp, enum sim_junk kind)
{
	const struct hrp_req *req = &qp->hrp.req;

	if (qp->hrp.state != HRP_RTS ||
	    (kinds[kind].flags & FLIES && req->psn_una == req->psn_max))
		return false;
	switch (kind) {
	case SIM_JUNK_CREDITS:
		return req->credited;
	case SIM_JUNK_REQUEST_ICRC:
		/* Or else that is why it is dropped. */
		return qp->hrp.type != HRP_TYPE_UD || qp->hrp.resp.have_rwqe ||
		       qp->rq->head != qp->rq->tail;
	default:
		return true;
	}
}

void sim_junk_arrive(struct sim_qp *qp, enum sim_junk kind, u8 *bytes, u32 len)
{
	const struct kind *k = &kinds[kind];

	if (!is_ready(qp, kind))
		return;
	if (qp->hrp.type != HRP_TYPE_UD)
		hrp_bth_set_psn(bytes, choose_psn(qp, kind) & HRP_PSN_MASK);
	qp->node->sim->junk[kind]++;
	if (k->flags & ACTS)
		arrive_to_act(qp, bytes, len);
	else
		arrive_in_vain(qp, k, bytes, len);
}

/*
 * 9.2: what is reserved is ignored. So is the migration state, as there are no
 * alternate paths.
 */
bool sim_junk_set_bits(struct sim_qp *from, const struct hrp_pkt *pkt,
		       u8 *bytes)
{
	struct sim_rng *rng = &from->node->sim->rng;
	u8 *ext = bytes + sizeof(struct hrw_bth);

	if (!from->node->sim->opts.junk || sim_below(rng, 4))
		return false;
	bytes[1] ^= HRW_BTH_MIGREQ;
	bytes[4] |= sim_rand(rng) & 0x3f;
	bytes[8] |= 1 + sim_below(rng, 0x7f);
	if (pkt->info & HRP_OI_DETH)
		ext[4] |= sim_rand(rng);
	else if (pkt->info & HRP_OI_XRCETH)
		ext[0] |= sim_rand(rng);
	else if (pkt->info & HRP_OI_FLUSH)
		ext[0] |= sim_rand(rng);
	return true;
}

/* Where nothing is late, no timeout may be needed, as it is after that. */
bool sim_junk_swaps(struct sim_qp *qp)
{
	struct sim *sim = qp->node->sim;

	if (!sim->opts.junk || !sim->opts.reorder_ppm ||
	    sim_below(&sim->rng, 8))
		return false;
	sim->junk[SIM_JUNK_SWAP]++;
	return true;
}

static u32 met_by(const struct sim_opts *opts)
{
	switch (opts->type) {
	case HRP_TYPE_UC:
		return REQ_UC;
	case HRP_TYPE_UD:
		return REQ_UD;
	default:
		return REQ_RC | ANSWER;
	}
}

bool sim_junk_met(const struct sim_opts *opts, const struct sim_sum *sum)
{
	bool xrc = opts->type == HRP_TYPE_XRC_INI, all = true;
	u32 i;

	for (i = 0; i < SIM_JUNK_NR; i++) {
		if (i == SIM_JUNK_SWAP && !opts->reorder_ppm)
			continue;
		if (!(kinds[i].flags & met_by(opts)) ||
		    kinds[i].flags & (xrc ? NOT_XRC : ONLY_XRC))
			continue;
		printf("# %s: %llu\n", kinds[i].name,
		       (unsigned long long)sum->junk[i]);
		all = all && sum->junk[i];
	}
	return all;
}

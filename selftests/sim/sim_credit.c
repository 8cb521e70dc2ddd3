// SPDX-License-Identifier: GPL-2.0
/*
 * Watches what engines tell of their receive entries, and how they obey what they
 * are told (IBTA 9.7.7.2). It is written from the specification, and looks at what
 * engines hand out, when they do: the network changes nothing of that.
 */
#include "proto/burst.h"
#include "sim.h"

/* Entries that a code stands for; 11111b is "no credits are told". */
static const u16 credits[SIM_CREDIT_INVALID] = {
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384,
	512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384,
	24576, 32768,
};

u8 sim_credit_code(u32 entries)
{
	u8 code = SIM_CREDIT_INVALID - 1;

	while (credits[code] > entries)
		code--;
	return code;
}

bool sim_credit_limit(const struct hrp_pkt *pkt, u16 *lsn)
{
	u8 code = pkt->syndrome & HRP_SYN_VALUE_MASK;

	if (code == SIM_CREDIT_INVALID)
		return false;
	*lsn = pkt->msn + credits[code];
	return true;
}

/* Entries that are there, and those that messages have that are not complete. */
static u16 last_served(const struct sim_qp *qp)
{
	const struct sim_rq *rq = qp->rq;
	u16 lsn = qp->hrp.resp.msn;
	u32 i;

	for (i = 0; i < SIM_NR_SLOTS; i++)
		lsn += rq->slot[i].state != SIM_SLOT_FREE;
	return lsn;
}

void sim_credit_answer(struct sim_qp *qp, const struct hrp_burst *b)
{
	const struct hrp_pkt *pkt = &b->first;
	struct sim_credit *c = &qp->credit;
	struct sim *sim = qp->node->sim;
	u16 lsn = 0;

	if (!(pkt->info & HRP_OI_AETH) || pkt->info & HRP_OI_EXT ||
	    (pkt->syndrome & HRP_SYN_TYPE_MASK) != HRP_SYN_ACK)
		return;
	/* The queue may have been emptied by now. */
	if (qp->hrp.state == HRP_ERR)
		return;
	sim_check(sim, sim_credit_limit(pkt, &lsn) == !qp->hrp.resp.srq);
	if (qp->hrp.resp.srq)
		return;
	sim_check(sim, (pkt->syndrome & HRP_SYN_VALUE_MASK) ==
		       sim_credit_code((u16)(last_served(qp) - pkt->msn)));
	if (!c->promised || (s16)(lsn - c->promised_lsn) > 0)
		c->promised_lsn = lsn;
	c->promised = true;
}

void sim_credit_rnr(struct sim_qp *qp)
{
	const struct sim_credit *c = &qp->credit;
	u16 ssn = qp->hrp.resp.msn + 1;

	sim_check(qp->node->sim, !c->promised ||
				 (s16)(ssn - c->promised_lsn) > 0);
}

void sim_credit_told(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	const struct hrp_req *req = &qp->hrp.req;
	u32 dist = (pkt->psn - req->psn_una) & HRP_PSN_MASK;
	u32 sent = (req->psn_max - req->psn_una) & HRP_PSN_MASK;
	struct sim_credit *c = &qp->credit;
	u16 lsn;

	if (!(pkt->info & HRP_OI_AETH) || pkt->info & HRP_OI_EXT ||
	    (pkt->syndrome & HRP_SYN_TYPE_MASK) != HRP_SYN_ACK ||
	    !sim_credit_limit(pkt, &lsn))
		return;
	if (!c->told || (s16)(lsn - c->lsn) > 0)
		c->lsn = lsn;
	c->told = true;
	/* Late ones count for nothing, and answers may be kept for later. */
	if (dist >= sent || hrp_opcode_op(pkt->opcode) != HRP_OP_ACK)
		return;
	if (!c->taken || (s16)(lsn - c->taken_lsn) > 0)
		c->taken_lsn = lsn;
	c->taken = true;
}

/* PSNs that a request takes: a READ one for each packet of its answer */
static u32 pkts_of(const struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	u32 mtu = pkt->longer ? qp->hrp.req.agreed_mtu * HRP_MTU_UNIT :
				qp->hrp.mtu;

	if (!(pkt->info & HRP_OI_READ) || !pkt->dmalen)
		return 1;
	return (pkt->dmalen + mtu - 1) / mtu;
}

/*
 * A packet that is sent for the first time. Of a message beyond the limit a single
 * packet is sent, which asks for an acknowledgement. What the specification leaves
 * open is what follows if that brings no credits: here a packet at a time. And if
 * nothing in flight asks, since there was no limit when it was sent, one that does.
 * A WRITE is known to take an entry only when its last packet is seen.
 */
static void new_packet(struct sim_qp *qp, const struct hrp_pkt *pkt)
{
	bool first = pkt->info & (HRP_OI_FIRST | HRP_OI_RESOURCE);
	bool alone = pkt->psn == qp->hrp.req.psn_una;
	struct sim_credit *c = &qp->credit;
	s16 beyond;

	if (first) {
		c->ssn++;
		c->overrun = false;
	}
	beyond = c->told ? c->ssn - c->lsn : 0;
	if (beyond > 0 && !(pkt->ackreq && (alone || !c->asked ||
					    (first && beyond == 1))))
		c->overrun = true;
	c->asked = pkt->ackreq;
	if (pkt->info & (HRP_OI_SEND | HRP_OI_IMM))
		sim_check(qp->node->sim, !c->overrun);
}

void sim_credit_burst(struct sim_qp *qp, const struct hrp_burst *b,
		      bool limited)
{
	const struct sim_opts *opts = &qp->node->sim->opts;
	struct sim_credit *c = &qp->credit;
	struct hrp_pkt pkt;
	u32 i;

	/* There, what is handed out may not leave, and is not in flight. */
	if (b->first.info & HRP_OI_EXT || opts->refuse_ppm || opts->away_ppm)
		return;
	for (i = 0; i < b->nr_pkts; i++) {
		hrp_burst_pkt(b, i, &pkt);
		if (pkt.psn != c->next_psn)
			continue;
		c->next_psn = hrp_psn_add(pkt.psn, pkts_of(qp, &pkt));
		new_packet(qp, &pkt);
	}
	/* Nor is it limited without need. */
	sim_check(qp->node->sim, !limited ||
				 (c->told && (!c->taken ||
				  (s16)(c->ssn - c->taken_lsn) > 0)));
}

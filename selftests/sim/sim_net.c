// SPDX-License-Identifier: GPL-2.0
/*
 * The network: makes frames of bursts, and loses, doubles, delays and damages
 * them. A damaged frame is known to be one, as the ICRC would tell, but its
 * bytes are damaged too: they are placed where the engine lets them.
 */
#include <stdlib.h>
#include <string.h>
#include "proto/burst.h"
#include "proto/cc.h"
#include "proto/mtu.h"
#include "proto/psn.h"
#include "sim_junk.h"

struct frame {
	struct sim *sim;
	struct sim_node *to;
	struct sim_qp *junk_to;	/* NULL: a good one */
	enum sim_junk junk;
	u32 len;
	bool damaged;
	bool bits;
	bool ect;
	bool ce;
	u32 way;
	u8 bytes[] __attribute__((__aligned__(8)));
};

/*
 * What a random bit flip hits too rarely: a frame that looks just like the one
 * that its queue pair waits for.
 */
static void damage_to_fit(struct frame *f)
{
	static const u8 ops[] = {
		HRP_OP_SEND_MIDDLE, HRP_OP_SEND_LAST, HRP_OP_WRITE_MIDDLE,
		HRP_OP_WRITE_LAST, HRP_OP_READ_RESP_MIDDLE, HRP_OP_SEND_FIRST,
		HRP_OP_WRITE_FIRST, HRP_OP_READ_RESP_LAST,
	};
	struct sim *sim = f->sim;
	struct hrw_bth *bth = (struct hrw_bth *)f->bytes;
	struct sim_qp *qp = sim->qp[(u8)be32_to_cpu(bth->dqpn) % sim->nr_qps];
	bool response = hrp_opcode_info(bth->opcode) & HRP_OI_RESPONSE;
	u32 psn = response ? qp->hrp.req.psn_una : qp->hrp.resp.psn;
	u32 i;

	bth->psn = (bth->psn & cpu_to_be32(~HRW_MASK_24)) | cpu_to_be32(psn);
	if (sim_below(&sim->rng, 2))
		bth->opcode = (bth->opcode & HRP_SVC_MASK) |
			      ops[sim_below(&sim->rng, sizeof(ops))];
	for (i = sizeof(*bth); i < f->len; i++)
		f->bytes[i] ^= sim_rand(&sim->rng) & 0x11;
}

static void damage(struct frame *f)
{
	struct sim *sim = f->sim;
	u32 n = 1 + sim_below(&sim->rng, 4);

	f->damaged = true;
	if (!sim_below(&sim->rng, 3)) {
		damage_to_fit(f);
		return;
	}
	while (n--)
		f->bytes[sim_below(&sim->rng, f->len)] ^=
			1u << sim_below(&sim->rng, 8);
	if (!sim_below(&sim->rng, 8))
		f->len -= sim_below(&sim->rng, f->len);
}

static void frame_arrive(void *ctx)
{
	struct frame *f = ctx;
	struct sim *sim = f->sim;
	struct hrp_pkt pkt;
	u32 i, hdr_len;
	int err;

	sim->nr_frames++;
	if (f->junk_to) {
		sim_junk_arrive(f->junk_to, f->junk, f->bytes, f->len);
		free(f);
		return;
	}
	/* The ICRC stands at the end; nobody looks into it here. */
	err = hrp_pkt_parse(&pkt, f->bytes, min_t(u32, f->len, HRW_MAX_HDR_LEN),
			    f->len);
	sim_check(sim, !err || f->damaged);
	pkt.sport = sim_spray_sport(f->way);
	for (i = 0; !err && i < sim->nr_qps; i++) {
		struct sim_qp *qp = sim->qp[i];

		hdr_len = hrp_opcode_hdr_len(pkt.info);
		if (qp->node != f->to || qp->hrp.qpn != pkt.dqpn)
			continue;
		sim->junk[SIM_JUNK_BITS] += f->bits;
		sim_qp_receive(qp, &pkt, f->bytes + hdr_len, f->damaged);
		if (f->ce && !f->damaged)
			sim_qp_marked(qp);
	}
	free(f);
}

static bool is_broken(const struct frame *f)
{
	u32 broken_us = f->sim->opts.broken_us;

	return broken_us && f->sim->now_ns >= broken_us * SIM_US &&
	       !(f->way & 3);
}

static void frame_send(struct frame *f)
{
	struct sim *sim = f->sim;
	const struct sim_opts *o = &sim->opts;
	u64 *link = &sim->link_free_ns[f->to->id];
	u64 delay;

	if (o->queue_us && *link > sim->now_ns + o->queue_us * SIM_US) {
		free(f);
		return;
	}
	f->ce = f->ect && o->mark_us && *link > sim->now_ns + o->mark_us * SIM_US;
	/* 80 Gbit/s, or 8 through a short queue, and 3 us for the way. */
	*link = max(*link, sim->now_ns) + 10 +
		(o->queue_us ? f->len : f->len / 10);
	delay = *link - sim->now_ns + 3 * SIM_US +
		sim_spray_delay(sim, f->way);
	if (is_broken(f) || sim_chance(&sim->rng, o->drop_ppm)) {
		free(f);
		return;
	}
	if (!f->junk_to && sim_chance(&sim->rng, o->damage_ppm))
		damage(f);
	if (sim_chance(&sim->rng, o->reorder_ppm))
		delay += sim_below(&sim->rng, 40 * SIM_US);
	sim_at(sim, delay, frame_arrive, f);
}

/* Does the sender slow down if this packet is marked? */
static bool reacts(const struct sim_qp *from, u32 info)
{
	const struct hrp_cc_ops *ops = hrp_cc_of(from->hrp.req.cc);

	return ops->cnp && (!(info & HRP_OI_RESPONSE) || info & HRP_OI_READ);
}

/* Delivery within a host relies on this. */
static void check_as_received(struct sim *sim, const struct hrp_pkt *pkt,
			      const u8 *hdr, u32 hdr_len)
{
	u32 len = hdr_len + pkt->payload_len + pkt->pad + HRW_ICRC_LEN;
	struct hrp_pkt parsed = *pkt, passed = *pkt;

	sim_check(sim, !hrp_pkt_parse(&parsed, hdr, hdr_len, len));
	hrp_pkt_as_received(&passed);
	/* What the packet does not have is not parsed. */
	hrp_pkt_as_received(&parsed);
	sim_check(sim, !memcmp(&parsed, &passed, sizeof(passed)));
}

static struct frame *frame_new(struct sim_qp *from, const struct hrp_pkt *pkt,
			       const u8 *payload)
{
	struct frame *f = malloc(sizeof(*f) + SIM_MAX_FRAME);
	u32 hdr_len = hrp_pkt_build(pkt, f->bytes);

	f->sim = from->node->sim;
	f->to = from->peer->node;
	f->junk_to = NULL;
	f->damaged = false;
	if (!from->spec)
		check_as_received(f->sim, pkt, f->bytes, hdr_len);
	f->bits = from->spec && sim_junk_set_bits(from, pkt, f->bytes);
	f->way = sim_spray_way(from, pkt);
	f->ect = hrp_qp_sends(&from->hrp) && reacts(from, pkt->info);
	f->len = hdr_len + pkt->payload_len + pkt->pad + HRW_ICRC_LEN;
	sim_check(f->sim, f->len <= SIM_MAX_FRAME);
	memcpy(f->bytes + hdr_len, payload, pkt->payload_len);
	memset(f->bytes + hdr_len + pkt->payload_len, 0,
	       pkt->pad + HRW_ICRC_LEN);
	return f;
}

void sim_set_len(struct hrp_pkt *pkt, u32 len)
{
	pkt->payload_len = len;
	pkt->pad = -len & 3;
}

void sim_set_opcode(struct hrp_pkt *pkt, u8 opcode)
{
	pkt->opcode = opcode;
	pkt->info = hrp_opcode_info(opcode);
	if (!(pkt->info & HRP_OI_PAYLOAD))
		sim_set_len(pkt, 0);
}

void sim_net_send_pkt(struct sim_qp *from, const struct hrp_pkt *pkt,
		      const u8 *payload)
{
	struct sim *sim = from->node->sim;

	sim->nr_sent++;
	frame_send(frame_new(from, pkt, payload));
	if (sim_chance(&sim->rng, sim->opts.dup_ppm))
		frame_send(frame_new(from, pkt, payload));
}

void sim_net_send_junk(struct sim_qp *from, enum sim_junk kind,
		       const u8 *bytes, u32 len)
{
	struct frame *f = calloc(1, sizeof(*f) + SIM_MAX_FRAME);

	f->sim = from->node->sim;
	f->to = from->peer->node;
	f->junk_to = from->peer;
	f->junk = kind;
	f->len = len;
	memcpy(f->bytes, bytes, SIM_MAX_FRAME);
	f->sim->nr_sent++;
	frame_send(f);
}

void sim_net_send(struct sim_qp *from, const struct hrp_burst *b,
		  const u8 *payload)
{
	struct sim *sim = from->node->sim;
	u32 done = 0;
	u32 i;

	for (i = 0; i < b->nr_pkts; i++) {
		struct hrp_pkt pkt;

		hrp_burst_pkt(b, i, &pkt);
		sim_check(sim, pkt.info == hrp_opcode_info(pkt.opcode));
		sim_check(sim, pkt.psn == hrp_psn_add(b->first.psn, i));
		sim_check(sim, pkt.payload_len <= hrp_mtu_max(&from->hrp));
		sim_check(sim, done + pkt.payload_len <= b->mem.len);
		sim_net_send_pkt(from, &pkt, payload + done);
		done += pkt.payload_len;
	}
	sim_check(sim, done == b->mem.len);
}

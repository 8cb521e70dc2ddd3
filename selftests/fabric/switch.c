// SPDX-License-Identifier: GPL-2.0
/*
 * A switch: packets wait at the port where they leave, in a buffer that all
 * ports share.
 *
 * Without priority flow control (PFC), a queue may have alpha times as much as
 * is free (dynamic threshold). With PFC nothing is dropped there. Instead each
 * port counts what has come in by it and not left yet; above a threshold it
 * pauses its peer. What is on its way then takes the headroom of the port.
 */
#include "fabric.h"

/* Part of the present length in the average of RED. */
#define RED_WEIGHT	0.002

/* A pause frame, with preamble and gap. */
#define PAUSE_BYTES	84

/* What all ports but for their headroom have. */
static u64 switch_shared(const struct fab_node *sw)
{
	const struct fab_opts *o = &sw->fab->opts;
	u64 headroom = o->pfc ? o->pfc_headroom * sw->nr_ports : 0;

	return o->buffer > headroom ? o->buffer - headroom : 0;
}

/* A port has room for that in any case, so that no pause is for ever. */
#define FRAME_MAX	4200
#define XOFF_LEAST	(3 * FRAME_MAX)

/* What a port may have taken in before it pauses its peer. */
static u64 switch_xoff(const struct fab_node *sw)
{
	const struct fab_opts *o = &sw->fab->opts;
	u64 shared = switch_shared(sw);
	u64 xoff = shared > sw->used ? (shared - sw->used) / 8 : 0;

	return max(o->pfc_xoff ?: xoff, XOFF_LEAST + 0ull);
}

/* It takes effect when the frame has come to the peer. */
static void switch_pause(struct fab_port *in, bool pause)
{
	struct fabric *fab = in->node->fab;

	in->told_pause = pause;
	in->headroom_bytes = 0;
	fab->c.pauses += pause;
	fab_at(fab, fab->now_ns + in->delay_ns +
	       PAUSE_BYTES * in->ps_per_byte / 1000, &in->peer->pause);
}

static bool switch_admits(const struct fab_node *sw, const struct fab_port *in,
			  const struct fab_port *out, u32 bytes)
{
	const struct fab_opts *o = &sw->fab->opts;

	if (sw->used + bytes > o->buffer)
		return false;
	if (o->pfc)
		return !in->told_pause ||
		       in->headroom_bytes + bytes <= o->pfc_headroom;
	return out->bytes + bytes <= o->alpha * (o->buffer - sw->used);
}

/*
 * Random early detection on the present length, or with its average. Return:
 * false if the packet is to be dropped.
 */
static bool switch_marks(struct fab_port *out, struct fab_pkt *pkt)
{
	struct fabric *fab = out->node->fab;
	const struct fab_opts *o = &fab->opts;
	double len = out->bytes;
	double p = 1;

	if (o->red) {
		out->average += RED_WEIGHT * (len - out->average);
		len = out->average;
	}
	if (!out->marks && len < o->ecn_min)
		return true;
	if (!out->marks && len < o->ecn_max)
		p = o->ecn_p * (len - o->ecn_min) / (o->ecn_max - o->ecn_min);
	if (p < 1 && !sim_chance(&fab->rng, p * SIM_PPM))
		return true;
	if (!pkt->ect)
		return !o->red;
	fab->c.marks += !pkt->ce;
	pkt->ce = true;
	return true;
}

void fab_switch_receive(struct fab_node *sw, struct fab_port *in,
			struct fab_pkt *pkt)
{
	struct fab_port *out = fab_route(sw, pkt);
	struct fabric *fab = sw->fab;

	if (!out || !switch_admits(sw, in, out, pkt->bytes) ||
	    (fab->opts.ecn_max && !switch_marks(out, pkt))) {
		fab->c.drops++;
		fab_pkt_free(fab, pkt);
		return;
	}
	fab_port_look(out);
	out->bytes += pkt->bytes;
	out->max_bytes = max(out->max_bytes, out->bytes);
	sw->used += pkt->bytes;
	sw->max_used = max(sw->max_used, sw->used);
	pkt->in = in;
	in->in_bytes += pkt->bytes;
	if (in->told_pause)
		in->headroom_bytes += pkt->bytes;
	else if (fab->opts.pfc && in->in_bytes > switch_xoff(sw))
		switch_pause(in, true);
	fab_fifo_put(&out->queue[pkt->prio], pkt);
	fab_port_kick(out);
}

void fab_switch_sent(struct fab_node *sw, struct fab_port *out,
		     struct fab_pkt *pkt)
{
	struct fab_port *in = pkt->in;

	fab_port_look(out);
	out->bytes -= pkt->bytes;
	sw->used -= pkt->bytes;
	in->in_bytes -= pkt->bytes;
	/* Some room, so that not each packet pauses. */
	if (in->told_pause && in->in_bytes + 2 * FRAME_MAX <= switch_xoff(sw))
		switch_pause(in, false);
}

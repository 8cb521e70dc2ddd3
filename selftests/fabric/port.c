// SPDX-License-Identifier: GPL-2.0
/*
 * One direction of a link: packets wait in a queue for each priority, leave one
 * after the other at the rate of the link, and arrive after its delay.
 */
#include "fabric.h"

/* Preamble and gap between frames. */
#define GAP_BYTES	20

void fab_pkt_free(struct fabric *fab, struct fab_pkt *pkt)
{
	if (pkt->map)
		fab_pool_put(&fab->maps, pkt->map);
	fab_pool_put(&fab->pkts, pkt);
}

u64 fab_port_ps(const struct fab_port *port, u64 bytes)
{
	return (bytes + GAP_BYTES) * port->ps_per_byte;
}

void fab_port_look(struct fab_port *port)
{
	struct fabric *fab = port->node->fab;
	u64 passed_ns = fab->now_ns - port->seen_ns;
	u32 bin = min(port->bytes / FAB_BIN, FAB_NR_BINS - 1u);

	port->byte_ns += port->bytes * passed_ns;
	if (port->watch)
		port->watch->bin[bin] += passed_ns;
	port->seen_ns = fab->now_ns;
}

void fab_port_measure(struct fab_port *port)
{
	port->seen_ns = port->node->fab->now_ns;
	port->byte_ns = 0;
	port->max_bytes = port->bytes;
	if (port->watch)
		*port->watch = (struct fab_watch) {};
}

static struct fab_pkt *port_next(struct fab_port *port)
{
	struct fab_pkt *pkt;

	if (port->node->host)
		return port->paused ? NULL : fab_host_next(port->node->host);
	pkt = fab_fifo_get(&port->queue[1]);
	if (!pkt && !port->paused)
		pkt = fab_fifo_get(&port->queue[0]);
	return pkt;
}

void fab_port_kick(struct fab_port *port)
{
	struct fabric *fab = port->node->fab;
	struct fab_pkt *pkt;
	u64 ps;

	if (port->busy)
		return;
	pkt = port_next(port);
	if (!pkt)
		return;
	port->busy = pkt;
	ps = fab_port_ps(port, pkt->bytes) + port->ps_rest;
	port->ps_rest = ps % 1000;
	fab_at(fab, fab->now_ns + ps / 1000, &port->sent);
}

/* Does what is lost or late take this link? */
static bool port_is_bad(const struct fab_port *port)
{
	const struct fab_host *to = port->peer->node->host;
	u64 loss_to = port->node->fab->opts.loss_to;

	return !loss_to || (to && to->id + 1 == loss_to);
}

/*
 * As many as are to be lost, one by one, or several in a row: then each packet may
 * begin a burst, or end it (Gilbert's model).
 */
static bool port_loses_some(struct fab_port *port)
{
	struct fabric *fab = port->node->fab;
	u64 burst = fab->opts.loss_burst;

	if (burst <= 1)
		return sim_chance(&fab->rng, fab->opts.loss_ppm);
	if (port->losing)
		port->losing = !sim_chance(&fab->rng, SIM_PPM / burst);
	else
		port->losing = sim_chance(&fab->rng,
					  fab->opts.loss_ppm / burst);
	return port->losing;
}

/* Is the packet lost on the link? */
static bool port_loses(struct fab_port *port)
{
	struct fabric *fab = port->node->fab;

	return port->down ||
	       (port_is_bad(port) && port_loses_some(port)) ||
	       (port->loss_ppm && sim_chance(&fab->rng, port->loss_ppm));
}

static bool port_delays(const struct fab_port *port)
{
	struct fabric *fab = port->node->fab;

	return fab->opts.late_ppm && port_is_bad(port) &&
	       sim_chance(&fab->rng, fab->opts.late_ppm);
}

/* The packet is under way for @delay_ns, behind others that are. */
static void port_travel(struct fab_port *port, struct fab_pkt *pkt,
			struct fab_fifo *wire, struct fab_actor *arrive,
			u64 delay_ns)
{
	struct fabric *fab = port->node->fab;

	pkt->at_ns = fab->now_ns + delay_ns;
	if (!wire->head)
		fab_at(fab, pkt->at_ns, arrive);
	fab_fifo_put(wire, pkt);
}

static void port_sent(struct fab_actor *actor)
{
	struct fab_port *port = fab_of(actor, struct fab_port, sent);
	struct fabric *fab = port->node->fab;
	struct fab_pkt *pkt = port->busy;

	port->busy = NULL;
	fab->nr_pkts++;
	if (port->watch)
		port->watch->tx_bytes += pkt->bytes + GAP_BYTES;
	if (!port->node->host)
		fab_switch_sent(port->node, port, pkt);
	if (port_loses(port)) {
		fab->c.lost++;
		fab_pkt_free(fab, pkt);
	} else if (port_delays(port)) {
		port_travel(port, pkt, &port->late, &port->arrive_late,
			    port->delay_ns + fab->opts.late_by);
	} else {
		port_travel(port, pkt, &port->wire, &port->arrive,
			    port->delay_ns);
	}
	fab_port_kick(port);
}

/* The next packet on @wire is at the other end. */
static void port_take(struct fab_port *port, struct fab_fifo *wire,
		      struct fab_actor *arrive)
{
	struct fab_pkt *pkt = fab_fifo_get(wire);
	struct fab_node *node = port->peer->node;
	struct fabric *fab = node->fab;

	if (wire->head)
		fab_at(fab, wire->head->at_ns, arrive);
	if (port->down) {
		fab->c.lost++;
		fab_pkt_free(fab, pkt);
	} else if (node->host) {
		fab_host_receive(node->host, pkt);
	} else {
		fab_switch_receive(node, port->peer, pkt);
	}
}

static void port_arrive(struct fab_actor *actor)
{
	struct fab_port *port = fab_of(actor, struct fab_port, arrive);

	port_take(port, &port->wire, actor);
}

static void port_arrive_late(struct fab_actor *actor)
{
	struct fab_port *port = fab_of(actor, struct fab_port, arrive_late);

	port_take(port, &port->late, actor);
}

/* Pause and resume alternate, so an event turns the one into the other. */
static void port_pause(struct fab_actor *actor)
{
	struct fab_port *port = fab_of(actor, struct fab_port, pause);

	port->paused = !port->paused;
	if (!port->paused)
		fab_port_kick(port);
}

void fab_port_init(struct fab_port *port, struct fab_node *node, u32 idx,
		   u64 rate, u64 delay_ns)
{
	u32 i;

	port->sent.act = port_sent;
	port->arrive.act = port_arrive;
	port->arrive_late.act = port_arrive_late;
	port->pause.act = port_pause;
	port->node = node;
	port->seen_ns = node->fab->now_ns;
	port->idx = idx;
	port->ps_per_byte = 8000000000000ull / rate;
	port->delay_ns = delay_ns;
	for (i = 0; i < FAB_NR_PRIOS; i++)
		fab_fifo_init(&port->queue[i]);
	fab_fifo_init(&port->wire);
	fab_fifo_init(&port->late);
}

void fab_port_join(struct fab_port *a, struct fab_port *b)
{
	a->peer = b;
	b->peer = a;
}

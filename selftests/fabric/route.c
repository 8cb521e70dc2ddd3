// SPDX-License-Identifier: GPL-2.0
/*
 * Equal-cost paths: of all ports that begin a shortest path, a switch takes the
 * one that the hash of addresses and UDP ports says. Links that fail lose what
 * they carry. After some time all switches know that, and take others.
 */
#include <stdlib.h>
#include <string.h>
#include "fabric.h"

#define FAR	0xffffu

static u32 mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

/* Hops from each switch to @leaf, breadth first. */
static void find_hops(struct fabric *fab, u32 leaf, u32 *todo)
{
	u32 head = 0, tail = 0, i;

	for (i = 0; i < fab->nr_sw; i++)
		fab->sw[i].route[leaf].hops = FAR;
	fab->sw[leaf].route[leaf].hops = 0;
	todo[tail++] = leaf;
	while (head != tail) {
		struct fab_node *sw = &fab->sw[todo[head++]];

		for (i = 0; i < sw->nr_ports; i++) {
			struct fab_port *port = &sw->port[i];
			struct fab_node *to = port->peer->node;

			if (to->host || port->down ||
			    to->route[leaf].hops != FAR)
				continue;
			to->route[leaf].hops = sw->route[leaf].hops + 1;
			todo[tail++] = to->id;
		}
	}
}

static u16 *find_ports(struct fab_node *sw, u32 leaf, u16 *at)
{
	struct fab_route *r = &sw->route[leaf];
	u32 i;

	r->nr = 0;
	r->port = at;
	for (i = 0; i < sw->nr_ports; i++) {
		struct fab_port *port = &sw->port[i];
		struct fab_node *to = port->peer->node;

		if (to->host || port->down || r->hops == FAR ||
		    to->route[leaf].hops + 1 != r->hops)
			continue;
		r->port[r->nr++] = i;
	}
	return at + r->nr;
}

void fab_route_all(struct fabric *fab)
{
	u32 *todo = fab_alloc(fab->nr_sw, sizeof(*todo));
	u32 leaf, i;
	u16 *at;

	if (!fab->route_ports) {
		size_t ports = 0;

		for (i = 0; i < fab->nr_sw; i++) {
			fab->sw[i].route = fab_alloc(fab->nr_leaves,
						     sizeof(*fab->sw[i].route));
			ports += fab->sw[i].nr_ports;
		}
		fab->route_ports = fab_alloc(ports * fab->nr_leaves,
					     sizeof(*fab->route_ports));
	}
	at = fab->route_ports;
	for (leaf = 0; leaf < fab->nr_leaves; leaf++) {
		find_hops(fab, leaf, todo);
		for (i = 0; i < fab->nr_sw; i++)
			at = find_ports(&fab->sw[i], leaf, at);
	}
	free(todo);
}

struct fab_port *fab_route(struct fab_node *sw, const struct fab_pkt *pkt)
{
	const struct fab_host *host = pkt->to->host;
	const struct fab_route *r;
	u32 i = 0;

	if (host->leaf == sw)
		return host->node.port->peer;
	r = &sw->route[host->leaf->id];
	if (!r->nr)
		return NULL;
	if (r->nr > 1)
		i = (u64)mix(pkt->hash ^ sw->salt) * r->nr >> 32;
	return &sw->port[r->port[i]];
}

u32 fab_hops(const struct fabric *fab, u32 from, u32 to)
{
	return 2 + fab->host[from].leaf->route[fab->host[to].leaf->id].hops;
}

static void rerouted(struct fab_actor *actor)
{
	fab_route_all(fab_of(actor, struct fabric, reroute));
}

/* The link fails, loses or marks packets, or is good again. */
static void flap(struct fab_actor *actor)
{
	struct fabric *fab = fab_of(actor, struct fabric, flap);
	const struct fab_opts *o = &fab->opts;
	u64 link = fab->links[o->flap_link % fab->nr_links];
	struct fab_port *port = &fab->sw[link >> 32].port[(u32)link];

	fab->flapped = !fab->flapped;
	if (o->flap_marks) {
		port->marks = fab->flapped;
		port->peer->marks = fab->flapped;
	} else if (o->flap_loss_ppm) {
		port->loss_ppm = fab->flapped ? o->flap_loss_ppm : 0;
		port->peer->loss_ppm = port->loss_ppm;
	} else {
		port->down = fab->flapped;
		port->peer->down = fab->flapped;
		fab_at(fab, fab->now_ns + o->detect, &fab->reroute);
	}
	if (fab->flapped)
		fab_at(fab, fab->now_ns + o->flap_down, &fab->flap);
	else if (o->flap_every)
		fab_at(fab, fab->now_ns + o->flap_every - o->flap_down,
		       &fab->flap);
}

void fab_flap_start(struct fabric *fab)
{
	fab->flap.act = flap;
	fab->reroute.act = rerouted;
	if (fab->opts.flap_down && fab->nr_links)
		fab_at(fab, FAB_START + fab->opts.flap_at, &fab->flap);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Nodes and links. Hosts are at leaves, which are the first switches, equally
 * many at each.
 */
#include <stdlib.h>
#include "fabric.h"

static void switch_init(struct fabric *fab, u32 id, u32 nr_ports)
{
	struct fab_node *sw = &fab->sw[id];

	sw->fab = fab;
	sw->id = id;
	sw->salt = sim_rand(&fab->rng) | 1;
	sw->port = fab_alloc(nr_ports, sizeof(*sw->port));
}

static void host_init(struct fabric *fab, u32 id)
{
	struct fab_host *host = &fab->host[id];
	struct fab_node *node = &host->node;
	const struct fab_opts *o = &fab->opts;

	host->id = id;
	node->fab = fab;
	node->host = host;
	node->id = id;
	node->nr_ports = 1;
	node->port = fab_alloc(1, sizeof(*node->port));
	fab_port_init(node->port, node, 0, o->rate, o->delay);
	fab_host_init(host);
}

static struct fab_port *add_port(struct fab_node *sw, u64 rate)
{
	struct fab_port *port = &sw->port[sw->nr_ports];

	fab_port_init(port, sw, sw->nr_ports++, rate, sw->fab->opts.delay);
	return port;
}

static void link_host(struct fabric *fab, u32 host, u32 leaf)
{
	struct fab_host *h = &fab->host[host];

	h->leaf = &fab->sw[leaf];
	fab_port_join(h->node.port, add_port(h->leaf, fab->opts.rate));
}

static void link_switches(struct fabric *fab, u32 a, u32 b)
{
	struct fab_port *port = add_port(&fab->sw[a], fab->opts.fabric_rate);

	fab_port_join(port, add_port(&fab->sw[b], fab->opts.fabric_rate));
	fab->links[fab->nr_links++] = (u64)a << 32 | port->idx;
}

static void make(struct fabric *fab, u32 nr_hosts, u32 nr_leaves, u32 nr_sw,
		 u32 max_ports, u32 max_links)
{
	u32 i;

	fab->nr_hosts = nr_hosts;
	fab->nr_leaves = nr_leaves;
	fab->nr_sw = nr_sw;
	fab->host = fab_alloc(nr_hosts, sizeof(*fab->host));
	fab->sw = fab_alloc(nr_sw, sizeof(*fab->sw));
	fab->links = fab_alloc(max_links, sizeof(*fab->links));
	for (i = 0; i < nr_sw; i++)
		switch_init(fab, i, max_ports);
	for (i = 0; i < nr_hosts; i++) {
		host_init(fab, i);
		link_host(fab, i, (u64)i * nr_leaves / nr_hosts);
	}
}

static void build_leafspine(struct fabric *fab)
{
	const struct fab_opts *o = &fab->opts;
	u32 l, s;

	make(fab, o->hosts, o->leaves, o->leaves + o->spines,
	     max(o->hosts / o->leaves + o->spines, o->leaves),
	     o->leaves * o->spines);
	for (l = 0; l < o->leaves; l++)
		for (s = 0; s < o->spines; s++)
			link_switches(fab, l, o->leaves + s);
}

/* Switches with k ports: k pods of k/2 leaves and k/2 others each. */
static void build_fattree(struct fabric *fab)
{
	u32 k = fab->opts.k, half = k / 2, nr_leaves = k * half;
	u32 hosts = fab->opts.edge_hosts ?: half;
	u32 pod, i, j;

	make(fab, nr_leaves * hosts, nr_leaves, 2 * nr_leaves + half * half,
	     half + max(hosts, half), 2 * nr_leaves * half);
	for (pod = 0; pod < k; pod++) {
		for (i = 0; i < half; i++) {
			u32 mid = nr_leaves + pod * half + i;

			for (j = 0; j < half; j++)
				link_switches(fab, pod * half + j, mid);
			for (j = 0; j < half; j++)
				link_switches(fab, mid, 2 * nr_leaves +
					      i * half + j);
		}
	}
}

/* What the results tell of: a trunk, or the link to host 0. */
static void watch(struct fabric *fab, struct fab_port *port)
{
	fab->watched = port;
	port->watch = fab_alloc(1, sizeof(*port->watch));
}

void fab_build(struct fabric *fab)
{
	u32 hosts = fab->opts.hosts;

	switch ((enum fab_shape)fab->opts.topology) {
	case FAB_STAR:
		make(fab, hosts, 1, 1, hosts, 1);
		break;
	case FAB_DUMBBELL:
		make(fab, hosts, 2, 2, hosts / 2 + 1, 1);
		link_switches(fab, 0, 1);
		break;
	case FAB_LEAFSPINE:
		build_leafspine(fab);
		break;
	case FAB_FATTREE:
		build_fattree(fab);
		break;
	}
	if (fab->opts.topology == FAB_DUMBBELL)
		watch(fab, &fab->sw[0].port[hosts / 2]);
	else
		watch(fab, fab->host[0].node.port->peer);
	fab_route_all(fab);
}

void fab_unbuild(struct fabric *fab)
{
	u32 i;

	free(fab->watched->watch);
	for (i = 0; i < fab->nr_qps; i++)
		fab_qp_free(fab->qps[i]);
	for (i = 0; i < fab->nr_hosts; i++) {
		free(fab->host[i].qp);
		free(fab->host[i].node.port);
	}
	for (i = 0; i < fab->nr_sw; i++) {
		free(fab->sw[i].port);
		free(fab->sw[i].route);
	}
	fab_pool_end(&fab->pkts);
	fab_pool_end(&fab->bursts);
	fab_pool_end(&fab->maps);
	fab_pool_end(&fab->msgs);
	free(fab->msg);
	free(fab->sample);
	free(fab->qps);
	free(fab->host);
	free(fab->sw);
	free(fab->links);
	free(fab->route_ports);
	free(fab->heap);
	free(fab->load_state);
}

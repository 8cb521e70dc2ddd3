// SPDX-License-Identifier: GPL-2.0
/*
 * What a bridge does with frames that an XDP program below it sees.
 *
 * States of ports, VLAN filters, locked ports and the forwarding database are
 * the bridge's own. So the bridge is asked: a frame that it gets shows up at its
 * hook for local delivery, or does not. If it does, those of the same source at
 * the same port are taken without it for some milliseconds. The next one is left
 * to the bridge again, which also learns from it where the source is.
 *
 * Frames must not overtake each other. While some that were left have not shown
 * up, all are left.
 *
 * A bridge that filters VLANs may bring only frames with tags, and take these off.
 * So while a source sends frames with tags, all of its frames are left to the
 * bridge.
 */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter_bridge.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "../proto/wire.h"
#include "xdp_bridge.h"

bool hroce_xdp_is_roce(__be16 type, const u8 *l3, u32 len)
{
	const struct ipv6hdr *ip6 = (const void *)l3;
	const struct iphdr *ip4 = (const void *)l3;
	const struct udphdr *udp;

	if (type == htons(ETH_P_IP)) {
		udp = (const void *)(ip4 + 1);
		return len >= sizeof(*ip4) + sizeof(*udp) && ip4->ihl == 5 &&
		       ip4->protocol == IPPROTO_UDP &&
		       udp->dest == htons(HRW_UDP_PORT);
	}
	udp = (const void *)(ip6 + 1);
	return type == htons(ETH_P_IPV6) &&
	       len >= sizeof(*ip6) + sizeof(*udp) &&
	       ip6->nexthdr == IPPROTO_UDP && udp->dest == htons(HRW_UDP_PORT);
}

#ifdef CONFIG_NETFILTER_FAMILY_BRIDGE
/* For how long the hook stays when no program asks, in jiffies. */
#define BRIDGE_IDLE	(10 * HZ)

/* For how long the answer of a bridge holds, in jiffies, and the rest of one. */
#define BRIDGE_HOLDS	(HZ / 250)

/* For how long a source counts as one of frames with tags, in jiffies. */
#define BRIDGE_TAGGED	(HZ / 10)

/**
 * struct xdp_bridges - the bridges of a namespace
 * @net: the namespace
 * @hook: at local delivery
 * @work: registers @hook when a program asks, and unregisters it later
 * @asked: when a program asked last, in jiffies
 * @hooked: @hook is registered; written by @work and at the end
 * @closed: @work does nothing any more
 */
struct xdp_bridges {
	struct net *net;
	struct nf_hook_ops hook;
	struct work_struct work;
	unsigned long asked;
	bool hooked;
	bool closed;
};

/**
 * struct xdp_seen - frames of a source at a port of a bridge
 * @bridge: bridge; compared only
 * @in: port
 * @source: MAC address
 * @began: when @left and @came were 0, in jiffies
 * @when: when all that were left had shown up, in jiffies
 * @tagged: when a frame with a tag came last, in jiffies
 * @left: frames that were left to the bridge
 * @came: those of them that have shown up
 */
struct xdp_seen {
	const struct net_device *bridge;
	const struct net_device *in;
	u8 source[ETH_ALEN];
	unsigned long began;
	unsigned long when;
	unsigned long tagged;
	u32 left;
	u32 came;
};

#define XDP_SEEN	16	/* per CPU, indexed by the last byte of the source */

static DEFINE_PER_CPU(struct xdp_seen [XDP_SEEN], xdp_seen);

static unsigned int xdp_bridges_id;
static bool bridge_registered;

static struct xdp_seen *seen_of(const u8 *source)
{
	return this_cpu_ptr(xdp_seen) + source[ETH_ALEN - 1] % XDP_SEEN;
}

static bool seen_is(const struct xdp_seen *seen,
		    const struct net_device *bridge,
		    const struct net_device *in, const u8 *source)
{
	return seen->bridge == bridge && seen->in == in &&
	       ether_addr_equal(seen->source, source);
}

static unsigned int bridge_local_in(void *priv, struct sk_buff *skb,
				    const struct nf_hook_state *state)
{
	const u8 *source = eth_hdr(skb)->h_source;
	struct xdp_seen *seen = seen_of(source);
	struct xdp_bridges *b = priv;

	if (time_after(jiffies, READ_ONCE(b->asked) + BRIDGE_IDLE))
		schedule_work(&b->work);
	/* A frame with a tag is for a VLAN of the bridge. */
	if (skb_vlan_tag_present(skb) ||
	    !seen_is(seen, skb->dev, state->in, source) ||
	    !hroce_xdp_is_roce(skb->protocol, skb->data, skb_headlen(skb)))
		return NF_ACCEPT;
	seen->came += skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
	if (seen->came >= seen->left) {
		seen->came = seen->left;
		seen->when = jiffies;
	}
	return NF_ACCEPT;
}

static void bridge_work(struct work_struct *work)
{
	struct xdp_bridges *b = container_of(work, struct xdp_bridges, work);
	bool wanted = time_before(jiffies, READ_ONCE(b->asked) + BRIDGE_IDLE);

	if (READ_ONCE(b->closed) || wanted == b->hooked)
		return;
	if (!wanted)
		nf_unregister_net_hook(b->net, &b->hook);
	else if (nf_register_net_hook(b->net, &b->hook))
		return;
	WRITE_ONCE(b->hooked, wanted);
}

/* Do rules, or br_netfilter, see frames for local delivery? */
static bool bridge_has_rules(const struct net *net)
{
	const struct nf_hook_entries *hooks =
		rcu_dereference(net->nf.hooks_bridge[NF_BR_LOCAL_IN]);

	/* One of them is of this file. */
	return rcu_access_pointer(net->nf.hooks_bridge[NF_BR_PRE_ROUTING]) ||
	       !hooks || hooks->num_hook_entries > 1;
}

static struct xdp_seen *seen_get(const struct net_device *bridge,
				 const struct net_device *in, const u8 *source)
{
	struct xdp_seen *seen = seen_of(source);

	if (seen_is(seen, bridge, in, source))
		return seen;
	seen->bridge = bridge;
	seen->in = in;
	ether_addr_copy(seen->source, source);
	seen->began = jiffies - 1;
	seen->when = jiffies - BRIDGE_HOLDS - 1;
	seen->tagged = jiffies - BRIDGE_TAGGED - 1;
	return seen;
}

static bool seen_passes(struct xdp_seen *seen)
{
	if (time_before_eq(jiffies, seen->tagged + BRIDGE_TAGGED))
		return false;
	if (seen->left == seen->came &&
	    time_before_eq(jiffies, seen->when + BRIDGE_HOLDS))
		return true;
	/* What has not come by now was dropped, or is late. */
	if (time_after(jiffies, seen->began)) {
		seen->began = jiffies;
		seen->left = 0;
		seen->came = 0;
	}
	seen->left++;
	return false;
}

bool hroce_xdp_bridge_passes(const struct net_device *bridge,
			     const struct net_device *in, const u8 *source)
{
	struct xdp_bridges *b;

	if (!bridge_registered)
		return false;
	b = net_generic(dev_net(bridge), xdp_bridges_id);
	if (time_after(jiffies, READ_ONCE(b->asked)))
		WRITE_ONCE(b->asked, jiffies);
	if (unlikely(!READ_ONCE(b->hooked))) {
		schedule_work(&b->work);
		return false;
	}
	if (bridge_has_rules(b->net))
		return false;
	return seen_passes(seen_get(bridge, in, source));
}

void hroce_xdp_bridge_tagged(const struct net_device *bridge,
			     const struct net_device *in, const u8 *source)
{
	seen_get(bridge, in, source)->tagged = jiffies;
}

static int __net_init bridges_init(struct net *net)
{
	struct xdp_bridges *b = net_generic(net, xdp_bridges_id);

	INIT_WORK(&b->work, bridge_work);
	b->net = net;
	b->asked = jiffies - BRIDGE_IDLE - 1;
	b->hook = (struct nf_hook_ops) {
		.hook = bridge_local_in,
		.priv = b,
		.pf = NFPROTO_BRIDGE,
		.hooknum = NF_BR_LOCAL_IN,
		.priority = NF_BR_PRI_LAST,
	};
	return 0;
}

/* No program calls any more; the hook may run until it is gone. */
static void __net_exit bridges_exit(struct net *net)
{
	struct xdp_bridges *b = net_generic(net, xdp_bridges_id);

	WRITE_ONCE(b->closed, true);
	cancel_work_sync(&b->work);
	if (b->hooked) {
		nf_unregister_net_hook(net, &b->hook);
		synchronize_net();
		cancel_work_sync(&b->work);
	}
}

static struct pernet_operations xdp_bridges_ops = {
	.init = bridges_init,
	.exit = bridges_exit,
	.id = &xdp_bridges_id,
	.size = sizeof(struct xdp_bridges),
};

void hroce_xdp_bridge_init(void)
{
	bridge_registered = !register_pernet_subsys(&xdp_bridges_ops);
}

void hroce_xdp_bridge_exit(void)
{
	if (bridge_registered)
		unregister_pernet_subsys(&xdp_bridges_ops);
}
#endif /* CONFIG_NETFILTER_FAMILY_BRIDGE */

// SPDX-License-Identifier: GPL-2.0
/* Fallback sockets, one per namespace and protocol. */
#include <linux/net.h>
#include <linux/skbuff.h>
#include <linux/wait_bit.h>
#include <net/udp_tunnel.h>

#include "../compat/net.h"
#include "../proto/wire.h"
#include "gro.h"
#include "rx.h"
#include "sock.h"

static int sock_receive(struct sock *sk, struct sk_buff *skb)
{
	hroce_rx_from_stack(skb);
	return 0;
}

/* Return: 0, with *@sockp NULL if the socket is not required. */
static int sock_open(struct net *net, int family, struct socket **sockp)
{
	struct udp_port_cfg cfg = {
		.family = family,
		.local_udp_port = htons(HRW_UDP_PORT),
		.ipv6_v6only = family == AF_INET6,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = sock_receive,
		.gro_receive = hroce_gro_receive,
		.gro_complete = hroce_gro_complete,
	};
	int err;

	*sockp = NULL;
	err = udp_sock_create(net, &cfg, sockp);
	switch (err) {
	case 0:
		setup_udp_tunnel_sock(net, (*sockp)->sk, &tunnel);
		return 0;
	case -EADDRINUSE:
		pr_info("UDP port %u (IPv%c) is in use: fragmented packets are dropped, and all packets while netfilter has rules or IPsec has policies\n",
			HRW_UDP_PORT, family == AF_INET ? '4' : '6');
		return 0;
	case -EAFNOSUPPORT:
	case -EPFNOSUPPORT:
		return 0;
	default:
		return err;
	}
}

static void sock_close(struct socket **sockp)
{
	if (*sockp)
		udp_tunnel_sock_release((*sockp)->sk);
	*sockp = NULL;
}

void hroce_socks_init(struct hroce_socks *socks)
{
	mutex_init(&socks->lock);
}

int hroce_socks_get(struct hroce_socks *socks, struct net *net)
{
	int err = 0;

	mutex_lock(&socks->lock);
	if (!socks->users) {
		err = sock_open(net, AF_INET, &socks->sock4);
		if (err)
			goto unlock;
		err = sock_open(net, AF_INET6, &socks->sock6);
		if (err) {
			sock_close(&socks->sock4);
			goto unlock;
		}
	}
	socks->users++;
unlock:
	mutex_unlock(&socks->lock);
	return err;
}

void hroce_socks_put(struct hroce_socks *socks)
{
	mutex_lock(&socks->lock);
	if (!--socks->users) {
		sock_close(&socks->sock6);
		sock_close(&socks->sock4);
		wake_up_var(&socks->users);
	}
	mutex_unlock(&socks->lock);
}

static bool socks_are_unused(struct hroce_socks *socks)
{
	bool unused;

	/* Wait for the last put to release the lock. */
	mutex_lock(&socks->lock);
	unused = !socks->users;
	mutex_unlock(&socks->lock);
	return unused;
}

void hroce_socks_fini(struct hroce_socks *socks)
{
	wait_var_event(&socks->users, socks_are_unused(socks));
}

// SPDX-License-Identifier: GPL-2.0
/* UDP tunnels are set up by struct sock: after 6.12, in 7.2. */
#include <net/udp_tunnel.h>

void probe(struct sock *sk);
void probe(struct sock *sk)
{
	udp_tunnel_sock_release(sk);
}

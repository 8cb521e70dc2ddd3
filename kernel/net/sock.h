/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UDP sockets for packets that the ingress hooks leave to the IP stack:
 * reassembled fragments, frames that other senders route through the loopback
 * device, and all frames if the namespace has rules for packets (policy.h).
 * They also merge packets before the hooks get them (gro.h).
 */
#ifndef HROCE_SOCK_H
#define HROCE_SOCK_H

#include <linux/mutex.h>

struct net;
struct socket;

/**
 * struct hroce_socks - sockets of one namespace
 * @lock: guards all fields
 * @users: number of open ports
 * @sock4: IPv4, or NULL if the port number is taken
 * @sock6: IPv6, or NULL if the port number is taken or there is no IPv6
 */
struct hroce_socks {
	struct mutex lock;
	unsigned int users;
	struct socket *sock4;
	struct socket *sock6;
};

/* Prepare the sockets of a namespace; none is opened. */
void hroce_socks_init(struct hroce_socks *socks);

/**
 * hroce_socks_get - open the sockets, or add a user
 * @socks: of @net
 * @net: namespace
 *
 * If another socket (rdma_rxe) has the UDP port, this is logged and tolerated.
 * Context: process, may sleep.
 * Return: 0 or negative errno.
 */
int hroce_socks_get(struct hroce_socks *socks, struct net *net);

/* Counterpart of hroce_socks_get(). Context: process, may sleep. */
void hroce_socks_put(struct hroce_socks *socks);

/* Wait for the last hroce_socks_put(). Context: process, sleeps. */
void hroce_socks_fini(struct hroce_socks *socks);

#endif /* HROCE_SOCK_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* What kernel/net uses of the IP stack, and differs between kernel versions. */
#ifndef HROCE_COMPAT_NET_H
#define HROCE_COMPAT_NET_H

#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/flow.h>
#include <net/inet_dscp.h>
#include <net/ip6_fib.h>
#include <net/ipv6.h>
#include <net/route.h>
#include <net/udp_tunnel.h>
#include <net/xdp.h>

#ifdef HROCE_HAVE_IPV6_STUBS
/* Where IPv6 may be a module, it fills in a table of functions. */
#include <net/ipv6_stubs.h>

#define ip6_dst_lookup_flow(net, sk, fl6, final)			\
	ipv6_stub->ipv6_dst_lookup_flow(net, sk, fl6, final)
#define ipv6_dev_find(net, addr, dev)					\
	ipv6_stub->ipv6_dev_find(net, addr, dev)
#endif

/* Stable releases of 6.1 have it as well, but 6.1.176 does not. */
#ifndef HROCE_HAVE_DST_RT6_INFO
#define dst_rt6_info(entry)	container_of(entry, struct rt6_info, dst)
#endif

/* Before 6.18 routes were looked up by three of the six bits. */
#ifndef HROCE_HAVE_FLOWI4_DSCP
#define flowi4_dscp	flowi4_tos
#define inet_dsfield_to_dscp(dsfield)	RT_TOS(dsfield)
#endif

/* Programs of traffic control; since 6.6 in another place. */
static inline bool hroce_has_tc_ingress(const struct net_device *dev)
{
#if defined(HROCE_HAVE_TCX_INGRESS)
	return rcu_access_pointer(dev->tcx_ingress);
#elif defined(CONFIG_NET_CLS_ACT)
	return rcu_access_pointer(dev->miniq_ingress);
#else
	return false;
#endif
}

/* Newer kernels do not tell which NAPI instance polls a queue. */
static inline u32 hroce_rxq_napi(const struct xdp_rxq_info *rxq)
{
#ifdef HROCE_HAVE_XDP_RXQ_NAPI
	return rxq->napi_id;
#else
	return 0;
#endif
}

/* Up to 6.12 by struct socket. */
#ifndef HROCE_HAVE_TUNNEL_SOCK
static inline void hroce_setup_tunnel(struct net *net, struct sock *sk,
				      struct udp_tunnel_sock_cfg *cfg)
{
	setup_udp_tunnel_sock(net, sk->sk_socket, cfg);
}

static inline void hroce_release_tunnel(struct sock *sk)
{
	udp_tunnel_sock_release(sk->sk_socket);
}

#define setup_udp_tunnel_sock	hroce_setup_tunnel
#define udp_tunnel_sock_release	hroce_release_tunnel
#endif

#endif /* HROCE_COMPAT_NET_H */

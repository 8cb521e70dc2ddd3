/* SPDX-License-Identifier: GPL-2.0 */
/* What a bridge does with frames that an XDP program below it sees. */
#ifndef HROCE_XDP_BRIDGE_H
#define HROCE_XDP_BRIDGE_H

#include <linux/types.h>

struct net_device;

#ifdef CONFIG_NETFILTER_FAMILY_BRIDGE
/**
 * hroce_xdp_bridge_passes - does a bridge bring this RoCEv2 frame to itself?
 * @bridge: bridge; the frame has its MAC address and no VLAN tag
 * @in: its port that has received the frame
 * @source: source MAC address
 *
 * True for some milliseconds after the bridge has brought one of that source
 * from that port, on this CPU, if all others have come as well that it was
 * left. If this returns false, the bridge must get the frame.
 *
 * Context: BH disabled, RCU read side.
 * Return: true if it does.
 */
bool hroce_xdp_bridge_passes(const struct net_device *bridge,
			     const struct net_device *in, const u8 *source);

/**
 * hroce_xdp_bridge_tagged - a bridge gets a RoCEv2 frame with a VLAN tag
 * @bridge: bridge
 * @in: its port that has received the frame
 * @source: source MAC address
 *
 * Whether the bridge passes it tells nothing of frames without a tag.
 *
 * Context: BH disabled.
 */
void hroce_xdp_bridge_tagged(const struct net_device *bridge,
			     const struct net_device *in, const u8 *source);

/* Once per module. Without success, no bridge is known to pass frames. */
void hroce_xdp_bridge_init(void);
void hroce_xdp_bridge_exit(void);
#else
static inline bool hroce_xdp_bridge_passes(const struct net_device *bridge,
					   const struct net_device *in,
					   const u8 *source)
{
	return false;
}

static inline void hroce_xdp_bridge_tagged(const struct net_device *bridge,
					   const struct net_device *in,
					   const u8 *source)
{
}

static inline void hroce_xdp_bridge_init(void) { }
static inline void hroce_xdp_bridge_exit(void) { }
#endif

/**
 * hroce_xdp_is_roce - is it a RoCEv2 frame, by a first look?
 * @type: Ethernet type
 * @l3: network header
 * @len: bytes there
 *
 * Return: true if it is; not if it has IP options or extension headers.
 */
bool hroce_xdp_is_roce(__be16 type, const u8 *l3, u32 len);

#endif /* HROCE_XDP_BRIDGE_H */

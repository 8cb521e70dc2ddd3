/* SPDX-License-Identifier: GPL-2.0 */
/* Frames from XDP programs. */
#ifndef HROCE_XDP_H
#define HROCE_XDP_H

struct xdp_md;

/**
 * hroce_xdp_receive - hand a frame to the link of the netdev, or of one above
 * @ctx: context of the XDP program; the frame begins with the Ethernet header
 *
 * A RoCEv2 packet for a link on this netdev, or on a VLAN, bond or bridge
 * above, is received and answered as one that the IP stack brings: addresses,
 * ICRC and netfilter rules are checked, while the UDP checksum is not.
 *
 * Context: XDP program.
 * Return: XDP_DROP if the packet was taken, so that the driver gets its memory
 * back; XDP_PASS if the IP stack must get the frame, which is unmodified.
 */
int hroce_xdp_receive(struct xdp_md *ctx);

/**
 * hroce_xdp_init - let XDP programs call hroce_xdp_receive()
 *
 * No-op if the module has no BTF, or the kernel has no BTF of modules: links
 * work without. Programs that call the function hold the module, and the kernel
 * forgets it with the module's BTF.
 *
 * Context: process, when the module is loaded.
 */
#ifdef CONFIG_DEBUG_INFO_BTF_MODULES
void hroce_xdp_init(void);
/* Counterpart, when no program holds the module. */
void hroce_xdp_exit(void);
#else
static inline void hroce_xdp_init(void) { }
static inline void hroce_xdp_exit(void) { }
#endif

#endif /* HROCE_XDP_H */

/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB */
/*
 * Congestion control by BPF programs (struct_ops), see
 * Documentation/congestion.rst.
 *
 * The structs only grow at their ends: a program keeps working.
 */
#ifndef HROCE_CC_USER_H
#define HROCE_CC_USER_H

#include <linux/types.h>

/* &hroce_cc_flow.flags */
enum hroce_cc_flags {
	/* The packet was resent: the answer may be that to an earlier copy. */
	HROCE_CC_RESENT = 1 << 0,
	/* There is more to send than the window allows. */
	HROCE_CC_LIMITED = 1 << 1,
	/* Packets were lost, and are being resent. */
	HROCE_CC_RECOVERS = 1 << 2,
};

#define HROCE_CC_PRIV	4

/**
 * struct hroce_cc_flow - what a program sees of a queue pair
 * @now_ns: current time, monotonic
 * @rtt_ns: measured: round trip of one packet; otherwise 0
 * @qpn: queue pair number
 * @mtu: bytes of payload in full packets
 * @acked_pkts: acknowledged since the last call of measured
 * @flight_pkts: sent and not acknowledged
 * @max_pkts: largest window; larger on long paths
 * @srtt_us: smoothed round-trip time; 0: not measured
 * @flags: enum hroce_cc_flags
 * @window_pkts: packets that may be in flight. The program may write it; what is
 *	out of range becomes 1 or @max_pkts. A loss makes it smaller
 * @priv: the program's; zeroed before start
 */
struct hroce_cc_flow {
	__u64 now_ns;
	__u64 rtt_ns;
	__u32 qpn;
	__u32 mtu;
	__u32 acked_pkts;
	__u32 flight_pkts;
	__u32 max_pkts;
	__u32 srtt_us;
	__u32 flags;
	__u32 window_pkts;
	__u64 priv[HROCE_CC_PRIV];
};

/**
 * struct hroce_cc_ops - a control
 * @start: the queue pair begins to send, with the window that is set; may be
 *	missing
 * @measured: about once in a round trip: one was measured
 * @marked: the peer has sent a congestion notification packet. If missing, the
 *	window shrinks by an eighth
 *
 * None may sleep.
 */
struct hroce_cc_ops {
	void (*start)(struct hroce_cc_flow *flow);
	void (*measured)(struct hroce_cc_flow *flow);
	void (*marked)(struct hroce_cc_flow *flow);
};

#endif /* HROCE_CC_USER_H */

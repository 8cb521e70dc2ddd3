/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of all counters. It generates the enum, the names shown by `rdma
 * statistic` and the strings of the tracepoints.
 *
 * X(NAME, "name", "meaning of one count")
 */
#ifndef HROCE_DROP_H
#define HROCE_DROP_H

/* Reasons to drop a received packet. Exactly one is counted per packet. */
#define HROCE_DROPS(X) \
	X(SHORT, "rx_drop_short", "cut off before the end of its headers") \
	X(LENGTH, "rx_drop_length", "IP, UDP, pad or MTU lengths disagree") \
	X(VERSION, "rx_drop_version", "BTH transport version is not 0") \
	X(OPCODE, "rx_drop_opcode", "opcode unknown or not of this service") \
	X(ICRC, "rx_drop_icrc", "invariant CRC is wrong") \
	X(SOURCE, "rx_drop_source", "source is not another host's address") \
	X(PKEY, "rx_drop_pkey", "P_Key not in the table of the port or QP") \
	X(QKEY, "rx_drop_qkey", "Q_Key is not that of the QP") \
	X(NO_QP, "rx_drop_no_qp", "destination QP does not exist") \
	X(QP_STATE, "rx_drop_qp_state", "destination QP is not ready to receive") \
	X(PEER, "rx_drop_peer", "does not come from the connected peer") \
	X(MCAST, "rx_drop_mcast", "no QP attached to this multicast group") \
	X(MCAST_COPIES, "rx_drop_mcast_copies", "limit of copies per frame reached") \
	X(PSN, "rx_drop_psn", "request PSN outside the expected window") \
	X(SEQUENCE, "rx_drop_sequence", "UC or RC opcode out of sequence") \
	X(STALE_ACK, "rx_drop_stale_ack", "response to nothing outstanding") \
	X(NO_WQE, "rx_drop_no_wqe", "UC or UD message without receive entry") \
	X(ACCESS, "rx_drop_access", "UC or UD message refused by memory keys") \
	X(MEMORY, "rx_drop_memory", "UC or UD message for missing memory") \
	X(CNP, "rx_drop_cnp", "congestion notification for what has no congestion control")

/* Events of the protocol. */
#define HROCE_EVENTS(X) \
	X(TX_PACKETS, "tx_packets", "RoCEv2 packets sent") \
	X(TX_FRAMES, "tx_frames", "frames sent; a super-packet is one") \
	X(TX_LOCAL, "tx_local_packets", "packets sent without a frame to a link of this host") \
	X(TX_BYTES, "tx_bytes", "payload bytes sent") \
	X(TX_WIRE, "tx_wire_bytes", "bytes sent, from the IP header to the ICRC") \
	X(TX_COPIED, "tx_copied_bytes", "payload bytes copied on their way out") \
	X(TX_ERRORS, "tx_errors", "packets not sent: no route, no memory") \
	X(TX_REFUSED, "tx_refused", "packets refused by a full local queue") \
	X(TX_SPOILT, "tx_spoilt", "times that the netdev was found to spoil super-packets") \
	X(TX_MCAST, "tx_multicast_packets", "packets sent to a multicast address") \
	X(RX_PACKETS, "rx_packets", "RoCEv2 packets received, dropped or not") \
	X(RX_FRAMES, "rx_frames", "frames received; a super-packet is one") \
	X(RX_XDP, "rx_xdp", "frames received from an XDP program") \
	X(RX_BYTES, "rx_bytes", "payload bytes placed") \
	X(RX_WIRE, "rx_wire_bytes", "bytes received, from the IP header to the ICRC") \
	X(RX_MCAST, "rx_multicast_packets", "packets received from a multicast address") \
	X(RX_WRITES, "rx_write_requests", "WRITEs and ATOMIC WRITEs executed") \
	X(RX_READS, "rx_read_requests", "READs accepted") \
	X(RX_ATOMICS, "rx_atomic_requests", "atomic operations executed") \
	X(RETRANSMITS, "retransmits", "times that a requester went back") \
	X(TIMEOUTS, "timeouts", "local ACK timeouts without progress") \
	X(RTO_EXPIRED, "rto_expirations", "times that no answer came within the measured time") \
	X(PROBES, "probes", "oldest packets resent alone to draw an answer") \
	X(HOLES_RESENT, "holes_resent", "gaps resent alone to a peer that keeps what follows") \
	X(MTU_ASKED, "mtu_asked", "times that a peer was asked for longer packets") \
	X(MTU_AGREED, "mtu_agreed", "agreements on longer packets") \
	X(SPRAY_AGREED, "sprayed", "queue pairs that begin to use several paths") \
	X(SACK_ASKED, "sack_asked", "times that a peer was asked for selective acknowledgements") \
	X(SACK_SENT, "sack_sent", "selective acknowledgements sent") \
	X(SACK_RCVD, "sack_rcvd", "selective acknowledgements used") \
	X(LATE, "late", "missing packets that came late, and were not lost") \
	X(RTT_64US, "rtt_le_64us", "round trips measured: up to 64 us") \
	X(RTT_256US, "rtt_le_256us", "round trips measured: up to 256 us") \
	X(RTT_1MS, "rtt_le_1ms", "round trips measured: up to 1 ms") \
	X(RTT_4MS, "rtt_le_4ms", "round trips measured: up to 4 ms") \
	X(RTT_16MS, "rtt_le_16ms", "round trips measured: up to 16 ms") \
	X(RTT_64MS, "rtt_le_64ms", "round trips measured: up to 64 ms") \
	X(RTT_MORE, "rtt_gt_64ms", "round trips measured: longer") \
	X(RECOVERY_64US, "recovery_le_64us", "recoveries from loss: up to 64 us") \
	X(RECOVERY_256US, "recovery_le_256us", "recoveries from loss: up to 256 us") \
	X(RECOVERY_1MS, "recovery_le_1ms", "recoveries from loss: up to 1 ms") \
	X(RECOVERY_4MS, "recovery_le_4ms", "recoveries from loss: up to 4 ms") \
	X(RECOVERY_16MS, "recovery_le_16ms", "recoveries from loss: up to 16 ms") \
	X(RECOVERY_64MS, "recovery_le_64ms", "recoveries from loss: up to 64 ms") \
	X(RECOVERY_MORE, "recovery_gt_64ms", "recoveries from loss: longer") \
	X(REHASHES, "rehashes", "times that packets took another way as no answer came") \
	X(NAK_SEQ_SENT, "nak_seq_sent", "PSN sequence NAKs sent") \
	X(NAK_SEQ_RCVD, "nak_seq_rcvd", "PSN sequence NAKs received") \
	X(RNR_SENT, "rnr_sent", "RNR NAKs sent") \
	X(RNR_NO_WQE, "rnr_no_wqe", "RNR NAKs sent for lack of a receive entry") \
	X(RNR_RCVD, "rnr_rcvd", "RNR NAKs received") \
	X(E2E_LIMITED, "e2e_limited", "requests beyond the peer's credits") \
	X(MEM_FAULTS, "memory_faults", "times that memory had to be fetched") \
	X(MEM_FAULTS_BAD, "memory_faults_failed", "failed memory fetches") \
	X(DUPLICATES, "duplicates", "duplicate requests received") \
	X(KEPT, "kept", "requests kept that came before earlier ones") \
	X(ANSWERS_KEPT, "answers_kept", "responses kept that came before earlier ones") \
	X(KEPT_DROPPED, "kept_dropped", "kept requests and responses dropped, as they come again") \
	X(NAK_SAVED, "nak_seq_saved", "sequence NAKs not sent, as the missing request came") \
	X(ACKS_SENT, "acks_sent", "acknowledge packets sent") \
	X(ACKS_HELD, "acks_held", "requests for an acknowledgement that had to wait") \
	X(ACKS_LATE, "acks_late", "acknowledgements held until their time ran out") \
	X(ACKS_RODE, "acks_rode", "acknowledgements sent in the frame of a request") \
	X(ACKS_JOINED, "acks_joined", "acknowledgements sent in the datagram of a request") \
	X(REQ_ERRORS, "requester_errors", "send requests completed in error") \
	X(RESP_ERRORS, "responder_errors", "requests of peers refused by NAK") \
	X(RESP_CQE, "resp_cqe_error", "receive entries completed in error") \
	X(CQ_OVERRUNS, "cq_overruns", "completions lost as the CQ was full") \
	X(KICKS, "kicks", "system calls to send posted requests") \
	X(POLLED, "polled", "times that the poller found requests posted") \
	X(HANDOVERS, "handovers", "kicks that slept so that the receiver could run") \
	X(BUSY_POLLS, "busy_polls", "system calls that polled the netdev for a process") \
	X(ECN_MARKED, "np_ecn_marked_roce_packets", "packets received that a switch has marked") \
	X(CNP_SENT, "np_cnp_sent", "congestion notifications sent") \
	X(CNP_HANDLED, "rp_cnp_handled", "congestion notifications obeyed")

enum hroce_stat {
#define HROCE_STAT_ENUM(name, str, proves) HROCE_DROP_##name,
	HROCE_DROPS(HROCE_STAT_ENUM)
#undef HROCE_STAT_ENUM
#define HROCE_STAT_ENUM(name, str, proves) HROCE_EV_##name,
	HROCE_EVENTS(HROCE_STAT_ENUM)
#undef HROCE_STAT_ENUM
	HROCE_STAT_NR,
};

/*
 * Names that mlx5 has for some of these counters, or for the sum of two. They
 * are computed when they are read.
 *
 * X(NAME, "name", counter, another one or the same)
 */
#define HROCE_ALIASES(X) \
	X(DUPLICATE, "duplicate_request", EV_DUPLICATES, EV_DUPLICATES) \
	X(TIMEOUT, "local_ack_timeout_err", EV_TIMEOUTS, EV_TIMEOUTS) \
	X(BUFFER, "out_of_buffer", EV_RNR_NO_WQE, DROP_NO_WQE) \
	X(ORDER, "out_of_sequence", EV_NAK_SEQ_SENT, DROP_PSN) \
	X(SEQ_NAK, "packet_seq_err", EV_NAK_SEQ_RCVD, EV_NAK_SEQ_RCVD) \
	X(REQ_CQE, "req_cqe_error", EV_REQ_ERRORS, EV_REQ_ERRORS) \
	X(RNR_NAK, "rnr_nak_retry_err", EV_RNR_RCVD, EV_RNR_RCVD) \
	X(CNP_IGNORED, "rp_cnp_ignored", DROP_CNP, DROP_CNP) \
	X(ICRC, "rx_icrc_encapsulated", DROP_ICRC, DROP_ICRC)

/* Values as they are shown: counters by enum hroce_stat, then these. */
enum hroce_alias {
	HROCE_ALIAS_FIRST = HROCE_STAT_NR - 1,
#define HROCE_ALIAS_ENUM(name, str, a, b) HROCE_ALIAS_##name,
	HROCE_ALIASES(HROCE_ALIAS_ENUM)
#undef HROCE_ALIAS_ENUM
	HROCE_VALUE_NR,
};

#endif /* HROCE_DROP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Model of a plain peer, written from the specification alone (IBTA volume 1, 9.7
 * and 9.8): of RC it goes back N, keeps nothing and knows no question. It shares
 * the headers of packets and the arithmetic of PSNs with the engine, and nothing
 * else of the protocol.
 *
 *	sim_spec.c	both sides
 *	sim_spec_req.c	requester
 *	sim_spec_resp.c	responder of RC
 *	sim_spec_uc.c	responder of UC
 *	sim_spec_ud.c	responder of UD
 *	sim_spec_msg.c	messages of both
 */
#ifndef SIM_SPEC_H
#define SIM_SPEC_H

#include "sim.h"

#define SIM_SPEC_ENTRIES	64	/* of a send queue, at most */
#define SIM_SPEC_ANSWERS	64

/**
 * struct sim_spec_req - requester
 * @tail: oldest entry of the ring that is not complete, free-running
 * @next: next entry to begin
 * @first_psn: of each entry that was begun
 * @nr_pkts: PSNs that it takes
 * @entry_ssn: its SSN
 * @psn: next packet to send
 * @una: oldest PSN that is not acknowledged
 * @max: one past the last PSN that was sent
 * @end: one past the last PSN of the entries that were begun
 * @window: packets in flight, at most
 * @ssn: messages begun
 * @obeys: to credits; rdma_rxe does not, and gets RNR NAKs instead
 * @told: credits were told
 * @lsn: the last message that the responder has an entry for
 * @limited: how often a message had to wait for credits
 * @busy: a packet is being sent
 * @went_back: since the last progress
 * @timer_planned: an event will look at @deadline_ns
 * @deadline_ns: end of the local ACK timeout; 0: it does not run
 * @rnr_ns: end of the time that the peer has asked for
 * @timeouts: how many there were
 * @retries: timeouts that are left, without progress
 * @rnr_retries: RNR NAKs that are left, likewise; 7: any
 */
struct sim_spec_req {
	u32 tail;
	u32 next;
	u32 first_psn[SIM_SPEC_ENTRIES];
	u32 nr_pkts[SIM_SPEC_ENTRIES];
	u16 entry_ssn[SIM_SPEC_ENTRIES];
	u32 psn;
	u32 una;
	u32 max;
	u32 end;
	u32 window;
	u16 ssn;
	bool obeys;
	bool told;
	u16 lsn;
	u64 limited;
	bool busy;
	bool went_back;
	bool timer_planned;
	u64 deadline_ns;
	u64 rnr_ns;
	u64 timeouts;
	u8 retries;
	u8 rnr_retries;
};

/* An answer: an ACK or NAK, or that to a READ, atomic and so on. */
struct sim_spec_answer {
	u8 request;		/* enum hrp_op of what it answers */
	u8 wrong;		/* enum sim_wrong */
	u8 syndrome;
	u32 psn;
	u32 msn;
	u32 nr_pkts;
	u32 sent;
	u32 rkey;
	u32 len;
	u64 va;
	u64 orig;
};

/**
 * struct sim_spec_resp - responder
 * @psn: expected PSN
 * @msn: messages executed
 * @tells: credits; rdma_rxe does not
 * @tells_own: the entry of the message in progress counts among them
 * @most: credits, at most
 * @nak_sent: a NAK for @psn was sent: packets behind it draw no other
 * @rnr_row: RNR NAKs for @psn
 * @rnr_ns: when the last one was sent; 0: none was
 * @in_msg: HRP_OI_SEND or HRP_OI_WRITE while a message is in progress
 * @has_entry: UD: a receive entry was taken, for the next message
 * @offset: bytes of it that were placed
 * @write_va: WRITE: where it goes
 * @write_rkey: WRITE: its key
 * @write_len: WRITE: its length
 * @rd: answers to the last READs and atomics, for duplicates
 * @nr_rd: how many there were, free-running
 * @answers: answers to send, in this order; what finds no room is lost
 * @head: next answer to send, free-running
 * @end: one past the last one
 * @busy: a packet is being sent
 */
struct sim_spec_resp {
	u32 psn;
	u32 msn;
	bool tells;
	bool tells_own;
	u32 most;
	bool nak_sent;
	u32 rnr_row;
	u64 rnr_ns;
	u32 in_msg;
	bool has_entry;
	u32 offset;
	u64 write_va;
	u32 write_rkey;
	u32 write_len;
	struct sim_spec_answer rd[SIM_MAX_RD];
	u32 nr_rd;
	struct sim_spec_answer answers[SIM_SPEC_ANSWERS];
	u32 head;
	u32 end;
	bool busy;
};

/**
 * struct sim_spec - both
 * @req: requester
 * @resp: responder
 * @failed: the error state: all requests are flushed, and what comes is dropped
 */
struct sim_spec {
	struct sim_spec_req req;
	struct sim_spec_resp resp;
	bool failed;
};

void sim_spec_start(struct sim_qp *qp, u32 psn, u32 peer_psn);
void sim_spec_kick(struct sim_qp *qp);
void sim_spec_receive(struct sim_qp *qp, const struct hrp_pkt *pkt,
		      u8 *payload);

/* Of the two sides. */
void sim_spec_response(struct sim_qp *qp, const struct hrp_pkt *pkt,
		       u8 *payload);
void sim_spec_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
		      u8 *payload);

void sim_spec_uc_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
			 u8 *payload);

void sim_spec_ud_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
			 u8 *payload);

/* A request for the engine: does a message end with it? */
bool sim_spec_uc_ends(struct sim_qp *qp, const struct hrp_pkt *pkt);

/* Of responders: a WRITE or READ may access the memory that it asks for. */
bool sim_spec_may_access(struct sim_qp *qp, const struct hrp_pkt *pkt,
			 u8 access);

/* A message begins. */
void sim_spec_begin_msg(struct sim_spec_resp *resp, const struct hrp_pkt *pkt);

/* Payload goes where the message in progress wants it. */
u8 sim_spec_place(struct sim_qp *qp, const struct hrp_pkt *pkt, u8 *payload);
void sim_spec_receive_done(struct sim_qp *qp, const struct hrp_pkt *pkt,
			   u8 status);
bool sim_spec_length_is_right(const struct sim_qp *qp,
			      const struct hrp_pkt *pkt);

/* Table 45, up to the longest time that responders here ask for. */
u32 sim_spec_rnr_us(struct sim *sim, u8 code);

/*
 * Packet @i of an entry breaks a rule if it has to. Return: false if it has been
 * sent.
 */
bool sim_wrong_request(struct sim_qp *qp, u64 wr_id, u32 i,
		       struct hrp_pkt *pkt);

/* Is the expected request, which begins here, to be answered by nonsense? */
bool sim_wrong_is_answer(const struct sim_qp *qp);

/* Make it that, in the next packet of the answer. */
void sim_wrong_answer(struct sim_qp *qp, struct sim_spec_answer *a,
		      struct hrp_pkt *pkt);

/* A request was refused: that is the end, but for answers up to the NAK. */
void sim_spec_fail(struct sim_qp *qp);

/* Of the requester, in the error state: all that is posted fails. */
void sim_spec_flush(struct sim_qp *qp);

/* Nothing is left to be sent. */
void sim_spec_check_idle(const struct sim_qp *qp);

#endif /* SIM_SPEC_H */

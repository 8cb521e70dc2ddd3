/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulator: nodes with real protocol engines on a bad network, in virtual
 * time. Everything random comes from one seed, so that each run repeats.
 *
 *	sim_core.c	events, failure
 *	sim_mem.c	memory of a node and its keys
 *	sim_net.c	frames, and what the network does to them
 *	sim_qp.c	one queue pair: drives the engine as the module does
 *	sim_rq.c	where it takes receive entries from
 *	sim_hold.c	for how long its answers are held
 *	sim_mode.c	what it can do when packets get lost
 *	sim_spec.h	a model of a plain peer in place of the engine
 *	sim_junk.c	malformed packets of it
 *	sim_wrong.c	those that end the connection
 *	sim_credit.c	checks what engines tell of receive entries
 *	sim_pace.c	checks its rate
 *	sim_spray.c	its requests and answers on several ways
 *	sim_fault.c	requests that have to fail
 *	sim_work.c	posts random work, knows what has to come of it
 *	sim_check.c	compares completions and memory with that
 *	sim.c		the runs of the test, and the command line
 */
#ifndef SIM_H
#define SIM_H

#include <linux/minmax.h>
#include <linux/types.h>
#include <uapi/rdma/hroce-abi.h>
#include "proto/env.h"
#include "proto/mtu.h"
#include "proto/pace.h"
#include "proto/req.h"
#include "proto/resp.h"
#include "proto/sack.h"
#include "rng.h"

#define SIM_US		1000ull
#define SIM_MS		1000000ull
#define SIM_SEC		1000000000ull
#define SIM_HOLD_NS	(20 * SIM_US)	/* an ACK may be held */
#define SIM_MAX_PIECES	5
#define SIM_WIN_SIZE	(64u << 10)
#define SIM_NR_COUNTERS	8
#define SIM_NR_SRQS	3	/* XRC: at the side of the targets */
#define SIM_SRQN	0x1000	/* XRC: number of the first one */
#define SIM_MAX_FRAME	(sizeof(struct hrw_bth) + HRP_MTU_MAX + 64)

struct sim;
struct sim_qp;

/* What a queue pair can do when packets get lost. */
enum sim_mode {
	SIM_PLAIN,	/* go back N: keeps nothing, knows no question */
	SIM_KEEPING,	/* keeps packets, asks and tells nothing */
	SIM_AGREED,	/* asks for selective acknowledgements, and sends them */
	SIM_SPEC,	/* no engine: the model of a plain peer, see sim_spec.h */
	SIM_MODE_NR,
};

/* Malformed packets, and other nonsense, of models: see sim_junk.c. */
enum sim_junk {
	SIM_JUNK_CUT,
	SIM_JUNK_VERSION,
	SIM_JUNK_PAD,
	SIM_JUNK_PAYLOAD,
	SIM_JUNK_OPCODE,
	SIM_JUNK_SERVICE,
	SIM_JUNK_SIDE,
	SIM_JUNK_REQUEST_ICRC,
	SIM_JUNK_ANSWER_ICRC,
	SIM_JUNK_FAR,
	SIM_JUNK_OLD_READ,
	SIM_JUNK_OLD_SEND,
	SIM_JUNK_MESSAGE,
	SIM_JUNK_QKEY,
	SIM_JUNK_LONG,
	SIM_JUNK_GHOST,
	SIM_JUNK_STALE,
	SIM_JUNK_SYNDROME,
	SIM_JUNK_NAK,
	SIM_JUNK_RNR,
	SIM_JUNK_CREDITS,
	SIM_JUNK_SWAP,		/* from here on: no packets of their own */
	SIM_JUNK_BITS,
	SIM_JUNK_NR,
};

/* How a request or answer of a model is wrong: see sim_wrong.c. */
enum sim_wrong {
	SIM_RIGHT,
	SIM_FIRST_IN_MSG,
	SIM_MIDDLE_ALONE,
	SIM_LAST_ALONE,
	SIM_OTHER_KIND,
	SIM_READ_IN_MSG,
	SIM_SHORT_FIRST,
	SIM_SHORT_MIDDLE,
	SIM_LONG_ONLY,
	SIM_EMPTY_LAST,
	SIM_LESS,		/* than the RETH says */
	SIM_MORE,
	SIM_HUGE,		/* more than 2^31 bytes */
	SIM_ODD_LEN,
	SIM_UNALIGNED,
	SIM_NO_TYPE,		/* FLUSH: no placement type, or none that there is */
	SIM_OTHER_TYPE,
	SIM_OTHER_LEVEL,
	SIM_OTHER_SRQ,
	SIM_RESERVED_OP,
	SIM_WRONG_ANSWERS,
	SIM_ANSWER_SHORT = SIM_WRONG_ANSWERS,
	SIM_ANSWER_MORE,
	SIM_ANSWER_LESS,
	SIM_ANSWER_ONLY,	/* in place of the first one, and so on */
	SIM_ANSWER_MIDDLE,
	SIM_ANSWER_LAST,
	SIM_ANSWER_NO_LAST,
	SIM_ANSWER_ATOMIC,
	SIM_ANSWER_READ,
	SIM_ANSWER_ACK,
	SIM_ANSWER_PAYLOAD,
	SIM_NAK_INVALID,
	SIM_NAK_ACCESS,
	SIM_NAK_OPERATION,
	SIM_NAK_RESERVED,
	SIM_NAK_MIDWAY,
};

#define SIM_MAX_FAULTS	64

/* What a run is like. Rates are per million frames. */
struct sim_opts {
	const char *name;
	u64 seed;
	u32 type;		/* enum hrp_type; XRC_INI: node 0, TGT: node 1 */
	u32 nr_pairs;		/* connections between the two nodes */
	u32 nr_ops;		/* per direction and connection */
	u32 mtu_shift;		/* 0: random */
	u32 max_msg;		/* bytes; 0: eight packets */
	u32 drop_ppm;
	u32 dup_ppm;
	u32 reorder_ppm;
	u32 damage_ppm;
	u32 refuse_ppm;		/* the local stack has no room; per burst */
	u32 broken_us;		/* from then on, one way in four is broken */
	u32 queue_us;		/* what links hold at most; 0: all */
	u32 max_waste;		/* per cent of frames that receivers throw away */
	u32 max_lost;		/* per cent of frames that never arrive */
	u32 mean_us;		/* work takes this at most, the mean of seeds; 0: any */
	u32 timeout;		/* attribute; 0: 6, that is 262 us */
	bool no_retry;		/* retry_cnt is 0 */
	u32 away_ppm;		/* memory has to be fetched; per use of it */
	u32 pause_us;		/* mean time that a receiver posts nothing */
	bool limited;		/* credits must limit some requests, of models too */
	bool holds;		/* some ACKs must be held, some not in vain, with some seed */
	bool plain;		/* nobody asks for selective acknowledgements */
	bool waits;		/* most NAKs must be held, and not be sent */
	bool keeps;		/* some requests must be kept, not in vain */
	bool modes;		/* all pairs of modes, see enum sim_mode */
	bool spec;		/* likewise, but node 1 is the model of a plain peer */
	bool junk;		/* which sends malformed packets, too */
	bool sacks;		/* some peers must tell what they keep */
	bool longer;		/* some peers must agree on longer packets */
	bool paced;		/* requesters have rates, which change */
	u32 mark_us;		/* frames that wait longer are marked */
	u32 max_late;		/* per cent of round trips that find a queue */
	bool dcqcn;		/* all have that control */
	bool srq;
	bool big_read;		/* mostly READs, many packets each */
	bool kill_one;		/* one side goes to ERR on the way */
	bool kill_both;
	bool fault;		/* node 0 alone sends, the last request is bad */
	bool wrong;		/* as the model breaks a rule */
	bool early;		/* not the last one, but one before */
	bool both;		/* node 1 sends, too, until that */
	bool spray;		/* requests take several ways, slow and fast ones */
	bool verbose;
};

/* Keys. Access is a mask of (1 << enum hrp_access). */
struct sim_mr {
	u32 key;
	u32 access;
	u64 va;
	u32 base;
	u32 len;
	bool valid;
	bool one_shot;		/* may be invalidated by the peer */
};

#define SIM_NR_MRS	1024
#define SIM_MEM_SIZE	(32u << 20)

struct sim_node {
	struct sim *sim;
	u32 id;
	u8 *mem;
	u32 mem_used;
	struct sim_mr mrs[SIM_NR_MRS];
	u32 mr_hint;
	struct sim_rq *srq;
	struct sim_rq *xrc_srq[SIM_NR_SRQS];
	u32 shared_base;	/* counters that all connections add to */
	u32 shared_key;
	u64 shared_sum[SIM_NR_COUNTERS];
};

struct sim_piece {
	u32 base;
	u32 len;
};

/* Memory of a message, in pieces that are not adjacent. */
struct sim_buf {
	u32 nr;
	struct sim_piece piece[SIM_MAX_PIECES];
};

/* Receive queues: slots of equal size, in the order of posting. */
struct sim_slot {
	u32 base;
	struct sim_buf buf;
	enum { SIM_SLOT_FREE, SIM_SLOT_POSTED, SIM_SLOT_TAKEN } state;
};

#define SIM_NR_SLOTS	32

struct sim_rq {
	struct sim_node *node;
	u32 key;
	u32 room;
	struct sim_slot slot[SIM_NR_SLOTS];
	u32 fifo[SIM_NR_SLOTS];
	u32 head;
	u32 tail;
	bool dead;
	u32 limit;		/* slots that are posted, at most; 0: any */
	bool spoilt;		/* one cannot be written to */
	u32 spoilt_idx;
};

/* One work request and what is known about its outcome. */
struct sim_wr {
	u8 op;
	u8 flags;
	bool received;
	bool listed;		/* may be like others, of one piece or inline */
	bool follows;		/* is like the one before it */
	bool shared;		/* atomic on a shared counter */
	u32 len;
	u32 imm;
	u64 arena_end;
	struct sim_buf buf;
	u8 *want;		/* message, or what a READ or atomic brings */
	u32 remote_off;		/* WRITE: in the window */
	struct hroce_masks masks;	/* atomic */
	u32 srqn;		/* XRC: SRQ that it names */
};

/* Work posted to one queue pair, and the model of what it does. */
struct sim_work {
	struct sim_wr *wr;
	u32 nr;
	u32 posted;
	u32 done;		/* completed or known to be */
	u32 recv_next;		/* RC: the next message to arrive */
	u32 unsignaled;
	bool failed;		/* an error was completed */
	const struct sim_fault *fault;	/* of one request, or NULL */
	u32 fault_at;
	u32 takers;		/* messages that take a receive entry */
	u32 entries;		/* that they find, if the fault is that there are no more */
	u32 arena_base;
	u32 arena_size;
	u32 arena_key;
	u64 arena_head;
	u64 arena_tail;
	/* At the peer: a window to write and read, one to read, counters. */
	u32 win_base;
	u32 win_key;
	u32 fixed_base;
	u32 fixed_key;
	u32 count_base;
	u32 count_key;
	u8 *win_model;
	u8 *fixed_model;
	u64 count_model[SIM_NR_COUNTERS];
	bool reads_window;	/* a READ of it may still be answered */
};

/* Most responder resources. */
#define SIM_MAX_RD	16

/**
 * struct sim_credit - end-to-end flow control of an engine, see sim_credit.c
 * @promised: the responder has told credits
 * @promised_lsn: the last message that it has promised an entry
 * @told: credits have arrived at the requester
 * @lsn: the highest limit that has arrived
 * @taken: the same, with what the requester cannot have ignored
 * @taken_lsn: likewise
 * @ssn: messages that the requester has begun
 * @next_psn: of the next packet that is not sent again
 * @asked: the one before asks for an acknowledgement
 * @overrun: more of the message was sent than its credits allow
 */
struct sim_credit {
	bool promised;
	u16 promised_lsn;
	bool told;
	u16 lsn;
	bool taken;
	u16 taken_lsn;
	u16 ssn;
	u32 next_psn;
	bool asked;
	bool overrun;
};

/**
 * struct sim_uc - responder of UC, see sim_spec_uc.c
 * @psn: expected PSN
 * @in_msg: HRP_OI_SEND or HRP_OI_WRITE while a message is in progress
 * @has_entry: a receive entry was taken for this message or the next one
 * @room: bytes that the message in progress may still have
 */
struct sim_uc {
	u32 psn;
	u32 in_msg;
	bool has_entry;
	u32 room;
};

struct sim_qp {
	struct hrp_qp hrp;
	struct sim_node *node;
	struct sim_qp *peer;
	struct sim_work work;
	struct sim_rq *rq;
	struct sim_spec *spec;	/* SIM_SPEC: takes the place of @hrp */
	struct sim_credit credit;
	struct sim_uc uc;
	u64 nr_sends;		/* received */
	struct hroce_sq_hdr *hdr;
	u32 prod;
	/* Tokens: who holds one transmits, others ask it to go on. */
	bool may_hold;		/* ACKs may be held */
	bool drain_planned;	/* kept requests wait for their turn */
	bool keeps_answers;
	bool tells;		/* what it keeps, if asked */
	enum sim_mode mode;	/* if sim_has_modes() */
	u32 nr_kept;		/* requests */
	/* As rdma_rxe: a READ is not repeated from before its last repetition. */
	bool forgets;
	struct {
		u32 psn;
		u32 from;
	} repeated[SIM_MAX_RD];
	u64 hold_ns;		/* end of the time of the one, or of the NAK, that is */
	bool req_busy;
	bool req_again;
	bool resp_busy;
	bool answer_planned;
	bool flush_due;
	bool req_filled;	/* frames made when the burst was handed out */
	bool resp_filled;
	u8 req_status;
	u8 resp_status;
	struct hrp_burst req_burst;
	struct hrp_burst resp_burst;
	u8 *req_bytes;
	u8 *resp_bytes;
	u32 refused_psn;	/* where the frame began that req_burst goes to */
	u64 timer_ns;		/* when the timer event planned last fires */
	u64 cnp_ns;		/* when the last CNP was sent; 0: none was */
	u8 burst_pkts;		/* of requests, unless they are sprayed */
	u32 way[2];		/* of requests and answers: all begin with 0 */
	/* Rate of the program, and another bucket that only fills with what is sent. */
	struct hrp_pace *pace;
	u64 paced_ns;
	u32 paced_kbps;
	double paced_max;
	double paced_bytes;
};

struct sim_event {
	u64 at_ns;
	u64 order;
	void (*fn)(void *ctx);
	void *ctx;
};

struct sim {
	struct sim_opts opts;
	struct sim_rng rng;
	struct hrp_rp rp;
	u64 now_ns;
	u64 done_ns;		/* when all work was done */
	u64 order;
	struct sim_event *heap;
	u32 nr_events;
	u32 max_events;
	struct sim_node node[2];
	u32 nr_qps;
	struct sim_qp *qp[80];
	u64 link_free_ns[2];
	u64 nr_frames;
	u64 nr_sent;
	u64 nr_cnps;
	u64 nr_followed;	/* answers that took the way of their request */
	u64 junk[SIM_JUNK_NR];	/* arrived at engines */
	u64 faults[SIM_MAX_FAULTS];	/* requests that have failed as they had to */
	bool stopped;		/* all work is done: let everything run dry */
	struct hroce_stats counts;
	u64 trains[2];
};

/* sim_core.c */
#define sim_check(sim, cond) \
	do { \
		if (!(cond)) \
			sim_fail(sim, __FILE__, __LINE__, #cond); \
	} while (0)
void __attribute__((__noreturn__))
sim_fail(struct sim *sim, const char *file, int line, const char *what);
void sim_at(struct sim *sim, u64 delay_ns, void (*fn)(void *ctx), void *ctx);
bool sim_step(struct sim *sim);
/* Of several runs that ended well. */
struct sim_sum {
	u64 runs;
	u64 ops;		/* completed */
	u64 frames;		/* delivered */
	u64 us;			/* until all work was done */
	u64 held;		/* ACKs */
	u64 held_well;		/* ACKs, until their time ran out or a request came */
	u64 naks;		/* for a missing request */
	u64 naks_saved;		/* likewise, not sent, as the request came */
	u64 limited;		/* messages of engines that lacked credits */
	u64 trains[2];		/* bursts of several messages; of SENDs */
	u64 spec_limited;	/* how often models had to wait for them */
	/* With opts.modes or opts.spec, by the modes of requester and responder: */
	u64 mode_ops[SIM_MODE_NR][SIM_MODE_NR];	/* completed */
	u64 mode_kept[SIM_MODE_NR];		/* requests, by that of the responder */
	u64 mode_agreed;	/* requesters whose peer sends selective acknowledgements */
	u64 junk[SIM_JUNK_NR];
	u64 faults[SIM_MAX_FAULTS];
};

/* Run @opts to its end, and add to @sum. Return: whether all was right. */
bool sim_run(const struct sim_opts *opts, struct sim_sum *sum);

/* sim_mem.c */
u32 sim_mem_alloc(struct sim_node *node, u32 len);
u32 sim_mr_add(struct sim_node *node, u32 base, u32 len, u32 access);
struct sim_mr *sim_mr_find(struct sim_node *node, u32 key);
u8 sim_mem_copy(struct sim_node *node, const struct hrp_mem *mem, u8 *buf,
		bool to_mem);
void sim_buf_split(struct sim *sim, struct sim_buf *buf, u32 base, u32 len,
		   bool gaps);
void sim_buf_one(struct sim_buf *buf, u32 base, u32 len);
void sim_buf_fill(struct sim_node *node, const struct sim_buf *buf,
		  const u8 *bytes);
bool sim_buf_equal(struct sim_node *node, const struct sim_buf *buf,
		   const u8 *bytes, u32 len);
u32 sim_buf_sges(struct sim_node *node, const struct sim_buf *buf, u32 key,
		 struct hroce_sge *sges);

/* sim_keep.c */

/* A packet that came too early, and its payload. */
struct sim_kept {
	struct hrp_kept kept;
	u8 payload[];
};

/* Keep a packet. Return: status for hrp_resp_commit(), hrp_comp_commit(). */
u8 sim_keep_request(struct sim_qp *qp, const struct hrp_pkt *pkt,
		    const u8 *payload);
u8 sim_keep_answer(struct sim_qp *qp, const struct hrp_pkt *pkt,
		   const u8 *payload);

/* Has the responder forgotten what a READ asks for again? */
bool sim_is_forgotten(struct sim_qp *qp, const struct hrp_pkt *pkt);

/* sim_net.c */
void sim_set_len(struct hrp_pkt *pkt, u32 len);
/* Without payload, if the opcode has none. */
void sim_set_opcode(struct hrp_pkt *pkt, u8 opcode);
void sim_net_send_pkt(struct sim_qp *from, const struct hrp_pkt *pkt,
		      const u8 *payload);
void sim_net_send(struct sim_qp *from, const struct hrp_burst *b,
		  const u8 *payload);
void sim_net_send_junk(struct sim_qp *from, enum sim_junk kind,
		       const u8 *bytes, u32 len);

/* sim_qp.c */
struct sim_qp *sim_qp_new(struct sim_node *node, enum hrp_type type, u32 qpn,
			  struct sim_rq *rq);
void sim_qp_connect(struct sim_qp *qp, struct sim_qp *peer, u32 psn,
		    u32 peer_psn);
void sim_qp_free(struct sim_qp *qp);
void sim_qp_kick(struct sim_qp *qp);
void sim_qp_error(struct sim_qp *qp);
void sim_qp_receive(struct sim_qp *qp, const struct hrp_pkt *pkt, u8 *payload,
		    bool damaged);
/* The same, without what waits for it. */
void sim_qp_receive_alone(struct sim_qp *qp, const struct hrp_pkt *pkt,
			  u8 *payload, bool damaged);
/* A marked frame of the peer has arrived. */
void sim_qp_marked(struct sim_qp *qp);

/* sim_rq.c */
struct sim_rq *sim_rq_new(struct sim_node *node, u32 room);
/* The queue that receive entries come from, and go back to. */
struct sim_rq *sim_qp_rq(const struct sim_qp *qp);
void sim_rq_post(struct sim_rq *rq, u32 max);
/* So many are posted, and no more; none was taken yet. */
void sim_rq_limit(struct sim_rq *rq, u32 nr);
/* The memory of that one, counted from the first, cannot be written to. */
void sim_rq_spoil(struct sim_rq *rq, u32 idx);

/* Answers are sent in a moment. */
void sim_plan_answer(struct sim_qp *qp);

/* sim_hold.c: an ACK is held from now on. */
void sim_hold_begin(struct sim_qp *qp);

/* So is a NAK. */
void sim_hold_nak(struct sim_qp *qp);

/* Neither may be held for too long. */
void sim_hold_check(const struct sim_qp *qp);

/* sim_pace.c: of queue pairs whose rates the simulator sets. */

/*
 * Bytes that the bucket has lost since, at the rate until now. What was earned
 * before a change of the rate stays, up to the new burst.
 */
void sim_pace_drain(struct sim_qp *qp);

/* Was there credit for this burst? */
void sim_pace_check(struct sim_qp *qp, const struct hrp_burst *b);

/* Nothing of this burst has left: it costs nothing. */
void sim_pace_give_back(struct sim_qp *qp, const struct hrp_burst *b);

/* The control wants a rate for its window. There may be no memory. */
void sim_pace_spread(struct sim_qp *qp);

/* How late timers are. */
#define SIM_PACE_SLACK_NS	20000

/* sim_work.c */
void sim_work_init(struct sim_qp *qp);

/* Room for an answer, which holds the contrary of it for now. */
void sim_make_room(struct sim_qp *qp, struct sim_wr *wr, u32 base);
void sim_work_free(struct sim_qp *qp);

/* Is what is posted now the request that fails, or does it come behind? */
static inline bool sim_is_in_vain(const struct sim_work *w)
{
	return w->fault && w->posted >= w->fault_at;
}

/* sim_fault.c: with opts.fault. */
void sim_fault_init(struct sim_qp *qp);

/* Is the request that is posted next the one that fails? */
bool sim_fault_is_next(const struct sim_qp *qp);

/* Is it the fault, or behind it, so that the peer executes nothing of it? */
bool sim_fault_prevents(const struct sim_qp *qp, const struct sim_wr *wr);

/* What is wrong with it, or with its answer: enum sim_wrong. */
u8 sim_fault_wrong(const struct sim_qp *qp);

/* At the end: is the queue pair of the engine in the state that it has to be in? */
void sim_fault_check_state(const struct sim_qp *qp);

/* Print what was counted. Return: has each request that breaks a rule been met? */
bool sim_faults_met(const struct sim_opts *opts, const struct sim_sum *sum);

/* How the request ends. */
u8 sim_fault_status(const struct sim_qp *qp);

/* Is it not known what is in the memory of the peer? */
bool sim_fault_spoils_memory(const struct sim_qp *qp);

/* Of the next request: make it one that fails, if it is to. */
void sim_fault_choose(struct sim_qp *qp, struct sim_wr *wr);
void sim_fault_make(struct sim_qp *qp, struct hroce_sq_wqe *wqe,
		    struct hroce_sge *sges);

/* The oldest request has ended like that, or a receive request has failed. */
void sim_fault_check_send(const struct sim_qp *qp, u8 status);
void sim_fault_check_recv(const struct sim_qp *qp, u8 status);

/* sim_atomic.c */
bool sim_is_atomic(const struct sim_wr *wr);
bool sim_is_masked(const struct sim_wr *wr);

/* An atomic on a random counter; the answer goes to @base in the arena. */
void sim_make_atomic(struct sim_qp *qp, struct sim_wr *wr,
		     struct hroce_sq_wqe *wqe, u32 base);

/* sim_mode.c: with opts.modes or opts.spec. */
static inline bool sim_has_modes(const struct sim_opts *opts)
{
	return opts->modes || opts->spec;
}

void sim_mode_set(struct sim_qp *qp);
void sim_mode_check(const struct sim_qp *qp);
void sim_mode_count(const struct sim_qp *qp, struct sim_sum *sum);

/* Print what was counted. Return: has each pair met, and each mode been of use? */
bool sim_modes_met(const struct sim_opts *opts, const struct sim_sum *sum);

/* sim_credit.c: the code for so many receive entries. */
#define SIM_CREDIT_INVALID	31
u8 sim_credit_code(u32 entries);

/* The limit that an ACK, or the like, tells. Return: false if there is none. */
bool sim_credit_limit(const struct hrp_pkt *pkt, u16 *lsn);

/* An answer is handed out: it tells just the entries that there are. */
void sim_credit_answer(struct sim_qp *qp, const struct hrp_burst *b);

/* A message has found no entry: none was promised. */
void sim_credit_rnr(struct sim_qp *qp);

/* An answer arrives at the requester. */
void sim_credit_told(struct sim_qp *qp, const struct hrp_pkt *pkt);

/* Requests are handed out; @limited: one of them lacked credits. */
void sim_credit_burst(struct sim_qp *qp, const struct hrp_burst *b,
		      bool limited);

/* sim_spray.c: before and after each burst, and when the peer has agreed. */
void sim_spray_bound(struct sim_qp *qp);
void sim_spray_choose(struct sim_qp *qp);
void sim_spray_begin(struct sim_qp *qp);
/* All ways are new. */
void sim_spray_draw(struct sim_qp *qp);
/* Ways that the engine wants to be replaced. */
void sim_spray_evict(struct sim_qp *qp);
/* UDP source port of requests that take a way. */
u16 sim_spray_sport(u32 way);

/* The way that a packet takes. */
u32 sim_spray_way(struct sim_qp *qp, const struct hrp_pkt *pkt);

/* How much longer than others does a way take? */
u64 sim_spray_delay(const struct sim *sim, u32 way);

/* sim_check.c */
void sim_send_done(struct sim_qp *qp, const struct hroce_cqe *cqe);
void sim_recv_done(struct sim_qp *qp, const struct hroce_cqe *cqe,
		   bool solicited);
/* Does it take a receive entry? */
bool sim_uses_recv(const struct sim_wr *wr);
bool sim_work_done(struct sim *sim);
void sim_check_end(struct sim *sim);

static inline struct sim_qp *to_sim_qp(const struct hrp_qp *hrp)
{
	return (struct sim_qp *)((char *)hrp - offsetof(struct sim_qp, hrp));
}

#endif /* SIM_H */

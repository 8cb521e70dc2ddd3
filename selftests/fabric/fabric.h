/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulator of a fabric: up to thousands of nodes with the protocol engine of
 * the module, in virtual time, on switches with queues. No payload is carried.
 * Everything random comes from one seed, so that each run repeats.
 *
 *	event.c		events in the order of time
 *	pool.c		memory of packets, bursts, messages
 *	port.c		one direction of a link: serialization, delay, pause
 *	switch.c	shared buffer, marks, priority flow control
 *	topology.c	nodes and links
 *	route.c		equal-cost paths, links that fail
 *	host.c		the network interface of a node, both directions
 *	qp.c		one queue pair: drives the engine as the module does
 *	work.c		messages, and loads of flows that know nothing of each other
 *	collective.c	loads of messages that wait for others
 *	result.c	what is measured
 *	scenario.c	text files: settings, cases, expectations
 *	fabric.c	the command line
 */
#ifndef FABRIC_H
#define FABRIC_H

#include <linux/minmax.h>
#include <linux/types.h>
#include <uapi/rdma/hroce-abi.h>
#include "proto/cc.h"
#include "proto/cc_dcqcn.h"
#include "proto/env.h"
#include "proto/flowlet.h"
#include "proto/nak.h"
#include "proto/req.h"
#include "proto/resp.h"
#include "proto/sack.h"
#include "rng.h"

#define FAB_US		1000ull
#define FAB_MS		1000000ull
#define FAB_SEC		1000000000ull

/* The engine takes 0 for long ago or never. */
#define FAB_START	FAB_SEC

struct fabric;
struct fab_host;
struct fab_node;
struct fab_port;
struct fab_qp;

/* What can happen to: its function is called at the time of an event. */
struct fab_actor {
	void (*act)(struct fab_actor *actor);
};

/* Topologies. */
enum fab_shape {
	FAB_STAR,	/* one switch */
	FAB_DUMBBELL,	/* two, and a link in between */
	FAB_LEAFSPINE,
	FAB_FATTREE,	/* three tiers */
};

/* Loads. */
enum fab_load {
	FAB_ONCE,	/* one message of each flow */
	FAB_LONG,	/* as many as fit into the time */
	FAB_POISSON,	/* messages of many sizes between random hosts */
	FAB_STORAGE,	/* READs and WRITEs of half of the hosts from the rest */
	FAB_ALLTOALL,
	FAB_RING,	/* all-reduce */
	FAB_TREE,	/* all-reduce */
	FAB_BROADCAST,
};

/* Which flows FAB_ONCE and FAB_LONG have. */
enum fab_pattern {
	FAB_INCAST,	/* to host 0 */
	FAB_PERMUTATION,	/* each host to another one, at random */
	FAB_PAIRS,	/* of the first half to the second half of the hosts */
};

/**
 * struct fab_opts - settings of a case; see Documentation/fabric.rst
 *
 * Times are in ns, sizes in bytes, rates in bits per second.
 */
struct fab_opts {
	char name[64];
	u64 seed;
	u64 topology;
	u64 hosts;
	u64 leaves;
	u64 spines;
	u64 k;
	u64 edge_hosts;
	u64 rate;
	u64 fabric_rate;
	u64 delay;
	u64 buffer;
	double alpha;
	u64 ecn_min;
	u64 ecn_max;
	double ecn_p;
	u64 red;
	u64 pfc;
	u64 pfc_xoff;
	u64 pfc_headroom;
	u64 loss_ppm;
	u64 loss_to;
	u64 loss_burst;
	u64 late_ppm;
	u64 late_by;
	u64 flap_link;
	u64 flap_at;
	u64 flap_down;
	u64 flap_every;
	u64 flap_marks;
	u64 flap_loss_ppm;
	u64 detect;
	u64 mtu;
	u64 window;
	u64 keep;
	u64 sack;
	u64 timeout;
	char cc[32];
	u64 ai_rate;
	u64 time_reset;
	u64 cnp_gap;
	u64 ack_delay;
	u64 rx_delay;
	u64 rx_jitter;
	u64 paths;
	u64 rehash;
	u64 spray;
	u64 flowlet;
	u64 load;
	u64 pattern;
	u64 flows;
	u64 reads;
	u64 size;
	u64 depth;
	u64 gap;
	u64 jitter;
	double offered;
	u64 duration;
	u64 warmup;
	u64 limit;
};

/* What a run has measured, by enum. */
#define FAB_METRICS(X) \
	X(FLOWS, "flows") X(UNFINISHED, "unfinished") X(FAILED, "failed") \
	X(GOODPUT, "goodput_mbps") X(UTIL, "util") X(JAIN, "jain") \
	X(DONE, "done_us") X(IDEAL, "ideal_us") X(RATIO, "ratio") \
	X(FCT_MEAN, "fct_mean_us") X(FCT_P50, "fct_p50_us") \
	X(FCT_P99, "fct_p99_us") X(SLOWDOWN, "slowdown_mean") \
	X(SLOWDOWN_P99, "slowdown_p99") X(FAIRNESS, "last_to_first") \
	X(QUEUE_MEAN, "queue_mean") X(QUEUE_P90, "queue_p90") \
	X(QUEUE_MAX, "queue_max") X(BUFFER_MAX, "buffer_max") \
	X(PACKETS, "packets") X(DROPS, "drops") X(LOST, "lost") \
	X(MARKS, "marks") X(CNPS, "cnps") X(PAUSES, "pauses") \
	X(RESENT, "resent_share") X(PROBES, "probes") X(RTOS, "rtos") \
	X(REHASHES, "rehashes") X(EVENTS, "events")

enum fab_metric {
#define FAB_METRIC_ID(id, name) FAB_##id,
	FAB_METRICS(FAB_METRIC_ID)
#undef FAB_METRIC_ID
	FAB_NR_METRICS
};

struct fab_result {
	double v[FAB_NR_METRICS];
};

/* Objects of one size, all of which are freed at the end of a run. */
struct fab_pool {
	size_t size;
	void *free;
	void *chunks;
};

/* A packet. */
struct fab_pkt {
	struct fab_pkt *next;
	u64 at_ns;		/* on a wire: when it arrives */
	struct fab_qp *to;
	struct fab_port *in;	/* at a switch: where it came from */
	u8 *map;		/* of a selective acknowledgement, or NULL */
	u32 hash;		/* of addresses and ports */
	u16 bytes;		/* of the frame, with FCS */
	u8 prio;
	bool ect;
	bool ce;
	struct hrp_pkt hdr;
};

struct fab_fifo {
	struct fab_pkt *head;
	struct fab_pkt **tail;
};

static inline void fab_fifo_init(struct fab_fifo *q)
{
	q->head = NULL;
	q->tail = &q->head;
}

static inline void fab_fifo_put(struct fab_fifo *q, struct fab_pkt *pkt)
{
	pkt->next = NULL;
	*q->tail = pkt;
	q->tail = &pkt->next;
}

static inline struct fab_pkt *fab_fifo_get(struct fab_fifo *q)
{
	struct fab_pkt *pkt = q->head;

	if (!pkt)
		return NULL;
	q->head = pkt->next;
	if (!q->head)
		q->tail = &q->head;
	return pkt;
}

#define FAB_NR_PRIOS	2	/* 0: data and ACKs; 1: CNPs, which go first */
#define FAB_BIN		1000	/* bytes */
#define FAB_NR_BINS	32768

/* How long a queue was how long. */
struct fab_watch {
	u64 bin[FAB_NR_BINS];
	u64 tx_bytes;		/* with preamble and gap */
};

/* One direction of a link, with the queue in front of it. */
struct fab_port {
	struct fab_actor sent;		/* a packet has left */
	struct fab_actor arrive;	/* the next one is at the other end */
	struct fab_actor arrive_late;	/* the next of those that are late */
	struct fab_actor pause;		/* a pause frame has come */
	struct fab_node *node;
	struct fab_port *peer;		/* the other direction */
	struct fab_pkt *busy;		/* packet that is being sent */
	struct fab_fifo queue[FAB_NR_PRIOS];
	struct fab_fifo wire;
	struct fab_fifo late;
	u32 bytes;		/* in the queues, and of the one being sent */
	u32 ps_per_byte;
	u32 ps_rest;
	u32 delay_ns;
	u32 idx;
	bool down;
	bool paused;
	bool marks;	/* all packets that can be */
	bool losing;	/* a burst of packets */
	u32 loss_ppm;	/* besides what all links lose */
	/* Of the other direction, at the same switch. */
	bool told_pause;
	u32 in_bytes;
	u32 headroom_bytes;	/* taken in since */
	/* RED */
	double average;
	/* Measured. */
	u32 max_bytes;
	u64 seen_ns;
	u64 byte_ns;
	struct fab_watch *watch;
};

/* A host or a switch. */
struct fab_node {
	struct fabric *fab;
	struct fab_host *host;	/* NULL: a switch */
	struct fab_port *port;
	u32 nr_ports;
	u32 id;			/* hosts and switches apart */
	u32 salt;
	u64 used;		/* bytes of the buffer */
	u64 max_used;
	struct fab_route *route;	/* by the switch that the host is at */
};

/* Ports that lead to a switch on shortest paths. */
struct fab_route {
	u16 hops;
	u16 nr;
	u16 *port;
};

/* A burst that waits for the wire. */
struct fab_burst {
	struct fab_burst *next;
	struct fab_qp *qp;
	struct hrp_burst b;
	u8 *map;
	u32 hash;
	u32 sent;		/* packets of it */
	u8 prio;
	bool ect;
};

struct fab_burst_queue {
	struct fab_burst *head;
	struct fab_burst **tail;
};

struct fab_host {
	struct fab_node node;	/* has one port */
	struct fab_node *leaf;
	u32 id;
	struct fab_burst_queue cnps;
	struct fab_qp *turn_head;
	struct fab_qp **turn_tail;
	struct fab_fifo rx;
	struct fab_actor poll;
	struct fab_qp **qp;	/* by the other host */
};

/* A message. */
struct fab_msg {
	struct fab_qp *qp;
	struct fab_msg *next;
	u64 posted_ns;
	u64 done_ns;		/* data is there */
	u32 idx;
	u32 len;
	u32 tag;		/* of the load */
	bool read;
	bool arrived;
};

struct fab_qp {
	struct hrp_qp hrp __attribute__((__aligned__(64)));
	struct fab_host *host;
	struct fab_qp *peer;
	struct fab_qp *next_kick;
	struct fab_qp *next_turn;	/* to send */
	struct fab_burst_queue out;
	struct fab_actor timer;
	u64 timer_ns;
	u64 hold_ns;		/* an ACK may be held until then */
	u64 cnp_ns;		/* last CNP */
	u64 rx_bytes;		/* payload taken */
	u64 rx_start;		/* @rx_bytes at the end of the warm-up */
	struct fab_msg *msg_head;	/* do not fit the send queue */
	struct fab_msg **msg_tail;
	u32 nic_bytes;		/* of it in the queue of the host */
	u32 run_bytes;		/* received and not answered yet */
	u32 run_pkts;
	u32 turn_bytes;		/* sent since its turn began */
	u32 bursts;
	u32 sport[2];		/* of requests and answers */
	u16 cnp_sport;		/* of the CNP that is due; 0: that of answers */
	bool kicked;
	bool sends;		/* the requester is to run */
	bool in_turn;
	bool full;
	bool cnp_due;
	bool last_ce;
	bool is_flow;
};

/* How long a message took. */
struct fab_sample {
	float us;
	float slowdown;		/* as a multiple of the least */
};

struct fab_event {
	u64 at_ns;
	u64 order;
	struct fab_actor *actor;
};

struct fab_counts {
	u64 drops;
	u64 lost;
	u64 marks;
	u64 cnps;
	u64 pauses;
	u64 data_pkts;
	u64 resent_pkts;
};

/* A load. */
struct fab_load_ops {
	void (*start)(struct fabric *fab);
	bool (*is_done)(const struct fabric *fab);
	/* The receiver has the data of a WRITE, the sender that of a READ. */
	void (*arrived)(struct fabric *fab, struct fab_msg *msg);
	/* The sender knows that. */
	void (*completed)(struct fabric *fab, struct fab_msg *msg);
	u64 (*ideal_ns)(struct fabric *fab);
};

struct fabric {
	struct fab_opts opts;
	struct sim_rng rng;
	u64 now_ns;
	u64 order;
	u64 nr_events;
	struct fab_event *heap;
	u32 nr_heap;
	u32 max_heap;
	bool stop;
	u8 cc;
	struct hrp_rp rp;
	struct fab_host *host;
	u32 nr_hosts;
	struct fab_node *sw;
	u32 nr_sw;
	u32 nr_leaves;		/* the first switches have the hosts */
	u64 *links;		/* between switches: switch << 32 | port */
	u32 nr_links;
	u16 *route_ports;
	struct fab_port *watched;
	struct fab_qp *kick_head;
	struct fab_qp **kick_tail;
	struct fab_pool pkts;
	struct fab_pool bursts;
	struct fab_pool maps;
	struct fab_pool msgs;
	struct fab_qp **qps;
	u32 nr_qps;
	const struct fab_load_ops *load;
	void *load_state;
	struct fab_msg **msg;	/* by number */
	struct fab_msg *free_msgs;
	u32 nr_msgs;
	u32 nr_sent;
	u32 nr_arrived;
	struct fab_sample *sample;	/* of those after the warm-up */
	u32 nr_samples;
	u32 max_samples;
	u64 first_arrival_ns;
	u32 nr_failed;
	u64 last_arrival_ns;
	u64 measure_ns;		/* since when */
	struct fab_actor warm;
	struct fab_actor end;
	struct fab_actor flap;
	struct fab_actor reroute;
	bool flapped;
	u64 nr_pkts;		/* that have left a port, from the start on */
	struct fab_counts c;	/* since the end of the warm-up */
	struct hroce_stats counts;
};

/* event.c */
void fab_at(struct fabric *fab, u64 at_ns, struct fab_actor *actor);
void fab_run(struct fabric *fab);

/* pool.c */
void *fab_pool_get(struct fab_pool *pool);
void fab_pool_put(struct fab_pool *pool, void *object);
void fab_pool_end(struct fab_pool *pool);
void __attribute__((__noreturn__, __format__(printf, 1, 2)))
fab_die(const char *format, ...);
void *fab_alloc(size_t nr, size_t size);

/* port.c */
void fab_port_init(struct fab_port *port, struct fab_node *node, u32 idx,
		   u64 rate, u64 delay_ns);
void fab_port_join(struct fab_port *a, struct fab_port *b);
/* There is something to send, or was. */
void fab_port_kick(struct fab_port *port);
/* Account for the time with the present length, which is about to change. */
void fab_port_look(struct fab_port *port);
/* ps that a frame of @bytes takes */
u64 fab_port_ps(const struct fab_port *port, u64 bytes);
void fab_port_measure(struct fab_port *port);
void fab_pkt_free(struct fabric *fab, struct fab_pkt *pkt);

/* switch.c */
void fab_switch_receive(struct fab_node *sw, struct fab_port *in,
			struct fab_pkt *pkt);
void fab_switch_sent(struct fab_node *sw, struct fab_port *out,
		     struct fab_pkt *pkt);

/* topology.c */
void fab_build(struct fabric *fab);
void fab_unbuild(struct fabric *fab);

/* route.c */
void fab_route_all(struct fabric *fab);
struct fab_port *fab_route(struct fab_node *sw, const struct fab_pkt *pkt);
u32 fab_hops(const struct fabric *fab, u32 from, u32 to);
void fab_flap_start(struct fabric *fab);

/* host.c */
void fab_host_init(struct fab_host *host);
/* A UDP source port for RoCEv2. */
u16 fab_draw_sport(struct fabric *fab);
void fab_host_send(struct fab_qp *qp, const struct hrp_burst *b,
		   const u8 *bytes, bool ect, bool cnp);
struct fab_pkt *fab_host_next(struct fab_host *host);
void fab_host_receive(struct fab_host *host, struct fab_pkt *pkt);
/* Bytes on the wire, with preamble and gap, of a message of @len bytes. */
u64 fab_wire_bytes(const struct fabric *fab, u64 len);
/* Least time until the first packet of a message has arrived at the host. */
u64 fab_first_ns(const struct fabric *fab, u32 from, u32 to, u64 len);
/* Least time until a message is there. */
u64 fab_ideal_ns(const struct fabric *fab, u32 from, u32 to, u64 len);

/* qp.c */
/* The queue pair of host @from whose peer is at @to; made if there is none. */
struct fab_qp *fab_qp_get(struct fabric *fab, u32 from, u32 to);
void fab_qp_free(struct fab_qp *qp);
void fab_qp_kick(struct fab_qp *qp);
void fab_qp_run(struct fab_qp *qp);
void fab_qp_receive(struct fab_qp *qp, struct fab_pkt *pkt);
/* Another burst has left the host. */
void fab_qp_left(struct fab_qp *qp, u32 bytes);
void fab_qp_post(struct fab_qp *qp, struct fab_msg *msg);

/* work.c */
extern const struct fab_load_ops fab_load_flows, fab_load_poisson,
	fab_load_storage;
struct fab_msg *fab_msg_send(struct fabric *fab, u32 from, u32 to, u32 len,
			     u32 tag, bool read);
void fab_msg_arrived(struct fabric *fab, struct fab_msg *msg);
void fab_msg_completed(struct fabric *fab, struct fab_msg *msg, bool ok);

/* collective.c */
extern const struct fab_load_ops fab_load_alltoall, fab_load_ring,
	fab_load_tree, fab_load_broadcast;

/* result.c */
void fab_measure_begin(struct fabric *fab);
void fab_result(struct fabric *fab, struct fab_result *result);
extern const char *const fab_metric_names[FAB_NR_METRICS];

/* fabric.c */
void fab_simulate(const struct fab_opts *opts, struct fab_result *result);

/* scenario.c */
struct fab_expect {
	char left[64];		/* case, or "" for all */
	char right[64];		/* case, or "" for a number */
	enum fab_metric metric;
	enum fab_metric right_metric;
	char op;		/* <, > (or equal) or = */
	double factor;
	char text[160];
};

#define FAB_MAX_CASES	64
#define FAB_MAX_EXPECTS	128

struct fab_scenario {
	char name[64];
	struct fab_opts cases[FAB_MAX_CASES];
	u32 nr_cases;
	struct fab_expect expects[FAB_MAX_EXPECTS];
	u32 nr_expects;
};

void fab_scenario_read(struct fab_scenario *s, const char *path);
void fab_opts_check(struct fab_opts *opts);
/* Number of a control, or -1. */
s32 fab_find_cc(const char *name);

static inline struct fab_qp *to_fab_qp(const struct hrp_qp *hrp)
{
	return (struct fab_qp *)((char *)hrp - offsetof(struct fab_qp, hrp));
}

#define fab_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif /* FABRIC_H */

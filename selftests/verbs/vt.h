/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vt: the small library below the verbs selftests.
 *
 * A test program is a table of cases. Each case runs in a child of its own,
 * with two ends opened: @a on the device named by HROCE_DEV and @b on the one
 * named by HROCE_DEV2 (default: the same device), so that every case runs
 * unchanged inside one link and between two links on one wire.
 *
 * Nothing here sleeps to synchronise: every wait has a condition and a
 * deadline. A helper that cannot do its work ends the case as failed; objects
 * made by helpers are destroyed in reverse order when the case ends, and a
 * destroy that fails makes the case fail.
 */
#ifndef HROCE_SELFTESTS_VT_H
#define HROCE_SELFTESTS_VT_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/socket.h>

#include <infiniband/verbs.h>

#define VT_PORT		1
#define VT_QKEY		0x11110003
#define VT_GRH		40
#define VT_BIND_ID	77	/* wr_id of vt_bind() */
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define VT_REMOTE	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_ATOMIC)
#define VT_ALL		(IBV_ACCESS_LOCAL_WRITE | VT_REMOTE)

/**
 * struct vt_end - one opened device
 * @ctx: verbs context; its async_fd is non-blocking
 * @pd: protection domain that the helpers use
 * @dev: device attributes
 * @port: attributes of port 1
 * @gid: address in use, a RoCEv2 GID of the family HROCE_FAMILY (4, 6, or link:
 *	IPv6 link-local)
 * @gid_idx: index of @gid
 */
struct vt_end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr dev;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_idx;
};

/**
 * struct vt - what a case gets
 * @a: first end
 * @b: second end
 * @arg: number from the case table
 */
struct vt {
	struct vt_end a;
	struct vt_end b;
	long arg;
};

/**
 * struct vt_case - one line of a program's table
 * @name: unique name
 * @fn: body
 * @arg: handed to @fn in struct vt
 * @secs: time limit, 0 for the default
 */
struct vt_case {
	const char *name;
	void (*fn)(struct vt *t);
	long arg;
	unsigned int secs;
};

/**
 * struct vt_mem - registered memory with guard zones on both sides
 * @buf: first usable byte
 * @len: usable bytes
 * @mr: registration of exactly [@buf, @buf + @len)
 */
struct vt_mem {
	unsigned char *buf;
	size_t len;
	struct ibv_mr *mr;
};

/**
 * struct vt_win - a memory window, and what the peer takes for a region
 * @mw: window
 * @mr: its present key
 * @mem: what of the memory it is bound to; a peer's addresses
 * @of: memory that it is, or was, part of
 */
struct vt_win {
	struct ibv_mw *mw;
	struct ibv_mr mr;
	struct vt_mem mem;
	const struct vt_mem *of;
};

/**
 * struct vt_spoiler - takes pages of memory away all the time
 * @how: in which way: vt_spoil_*
 * @buf: of what, in turn
 * @len: how much of either
 * @thread: does so
 * @stop: shall end
 * @times: that it did
 * @err: why it ended early
 */
struct vt_spoiler {
	int (*how)(void *buf, size_t len);
	unsigned char *buf[2];
	size_t len;
	pthread_t thread;
	bool stop;
	unsigned int times;
	int err;
};

/**
 * struct vt_limit - limits of one kind of objects on a link
 * @each: of one context
 * @all: of all contexts
 * @used: objects that there are
 */
struct vt_limit {
	unsigned int each, all, used;
};

/**
 * struct vt_opt - how to make and connect queue pairs; zero means the default
 * @type: transport, default RC
 * @sq: send queue entries, default 64
 * @rq: receive queue entries, default 64
 * @sge: scatter elements, default 4
 * @inl: inline bytes
 * @cqe: completion queue entries, default @sq + @rq
 * @sig_all: each send request completes
 * @mtu: path MTU, default the smaller active MTU of both ports
 * @timeout: local ACK timeout exponent, default 16; -1 means infinite
 * @retry: transport retries, default 7; -1 means none
 * @rnr: RNR retries, default 7 (for ever); -1 means none
 * @rnr_timer: minimal RNR NAK timer code, default 1 (0.01 ms)
 * @rd: outstanding READs and atomics, both directions, default 4; -1: none
 * @access: QP access flags, default all
 * @psn: first packet sequence number of the a to b direction
 * @flow_label: of the address vectors
 * @srq: shared receive queues, of a's and b's end
 * @scq: send completion queues to use instead of own ones
 * @rcq: receive completion queues to use instead of own ones
 * @chan: completion channels for own completion queues
 * @ex_ops: send operations of an extended QP, 0 for a plain one
 * @one_cq: one completion queue for both queues of a QP
 */
struct vt_opt {
	enum ibv_qp_type type;
	int sq, rq, sge, inl, cqe;
	int sig_all;
	enum ibv_mtu mtu;
	int timeout, retry, rnr, rnr_timer, rd;
	int access;
	uint32_t psn;
	uint32_t flow_label;
	struct ibv_srq *srq[2];
	struct ibv_cq *scq[2];
	struct ibv_cq *rcq[2];
	struct ibv_comp_channel *chan[2];
	uint64_t ex_ops;
	bool one_cq;
};

/**
 * struct vt_pair - two connected queue pairs, index 0 on @a and 1 on @b
 * @end: ends
 * @qp: queue pairs in RTS
 * @scq: send completion queues
 * @rcq: receive completion queues
 * @ah: address handles towards the other side, UD only
 * @cap: capabilities that the provider granted
 * @opt: options with defaults filled in
 */
struct vt_pair {
	struct vt_end *end[2];
	struct ibv_qp *qp[2];
	struct ibv_cq *scq[2];
	struct ibv_cq *rcq[2];
	struct ibv_ah *ah[2];
	struct ibv_qp_cap cap;
	struct vt_opt opt;
};

/**
 * struct vt_wr - one send request in the common shape
 * @op: opcode, default RDMA WRITE (its value is 0)
 * @id: wr_id
 * @local: local memory; NULL for no scatter element at all
 * @off: offset in @local
 * @len: bytes
 * @remote: remote memory
 * @roff: offset in @remote
 * @flags: IBV_SEND_* flags
 * @imm: immediate data in host order, or the rkey to invalidate
 * @compare: compare or add operand
 * @swap: swap operand
 * @ah: UD destination
 * @qpn: UD destination queue pair
 * @qkey: UD queue key, default VT_QKEY
 * @srqn: XRC: number of the peer's SRQ
 */
struct vt_wr {
	enum ibv_wr_opcode op;
	uint64_t id;
	const struct vt_mem *local;
	size_t off;
	size_t len;
	const struct vt_mem *remote;
	size_t roff;
	unsigned int flags;
	uint32_t imm;
	uint64_t compare;
	uint64_t swap;
	struct ibv_ah *ah;
	uint32_t qpn;
	uint32_t qkey;
	uint32_t srqn;
};

/* vt.c: the runner */
int vt_main(int argc, char **argv, const struct vt_case *cases, int nr);
void vt_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void vt_skip(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));
void vt_on_fail(void (*hook)(void));
void vt_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vt_defer(int (*undo)(void *), void *obj, const char *what);
void vt_forget(void *obj);
void vt_kill(struct vt *t, void (*victim)(struct vt *t, int ready));
uint64_t vt_now_us(void);
uint64_t vt_deadline_us(void);
int vt_scale(void);
uint32_t vt_rand(void);
void vt_srand(uint32_t seed);
const char *vt_dev_name(int which);
bool vt_is_hroce(const struct vt_end *e);
long vt_pinned_kb(void);

/* The entry of that wr_id in a mapped queue, to be turned into what libibverbs has no call for. */
struct hroce_sq_wqe *vt_find_entry(uint64_t wr_id);
bool vt_one_link(const struct vt *t);

/* A line of the table whose case is called as its function. */
#define VT_CASE(f)	{ .name = #f, .fn = (f) }
/* The same function under several names, told apart by a number. */
#define VT_CASE_ARG(n, f, a)	{ .name = (n), .fn = (f), .arg = (a) }
/* A case that may take longer than others. */
#define VT_CASE_SLOW(f, s)	{ .name = #f, .fn = (f), .secs = (s) }

#define VT_MAIN(cases) \
int main(int argc, char **argv) \
{ \
	return vt_main(argc, argv, cases, ARRAY_SIZE(cases)); \
}

/* Ends the case as failed unless @cond holds. */
#define VT_OK(cond, fmt, ...) \
	do { \
		if (!(cond)) \
			vt_fail(__FILE__, __LINE__, "%s: " fmt, #cond, \
				##__VA_ARGS__); \
	} while (0)

/* Ends the case as failed unless both integers are equal. */
#define VT_EQ(seen, want) \
	do { \
		long long seen_ = (long long)(seen); \
		long long want_ = (long long)(want); \
		if (seen_ != want_) \
			vt_fail(__FILE__, __LINE__, \
				"%s: expected %lld, seen %lld", #seen, \
				want_, seen_); \
	} while (0)

/* Expects a verb that returns a pointer to fail with errno @want. */
#define VT_NULL(expr, want) \
	do { \
		errno = 0; \
		if ((expr) != NULL) \
			vt_fail(__FILE__, __LINE__, \
				"%s: expected %s, it succeeded", #expr, \
				strerror(want)); \
		if (errno != (want)) \
			vt_fail(__FILE__, __LINE__, \
				"%s: expected errno %d, seen %d", #expr, \
				(want), errno); \
	} while (0)

/* vt_obj.c: ends and objects */

/* What vt_family() returns for link-local addresses. */
#define VT_LINK_LOCAL	0xfe80
int vt_family(void);
void vt_open(struct vt_end *e, const char *name, int family);
void vt_close(struct vt_end *e);
int vt_find_gid(struct vt_end *e, int family);
struct ibv_comp_channel *vt_channel(struct vt_end *e);
struct ibv_cq *vt_cq(struct vt_end *e, int cqe, struct ibv_comp_channel *chan);
int vt_start_poll(struct ibv_cq_ex *cq);
void vt_end_poll(struct ibv_cq_ex *cq);
struct ibv_srq *vt_srq(struct vt_end *e, int wr, int sge, int limit);
struct vt_mem *vt_mem_iova(struct vt_end *e, size_t len, int access,
			   uint64_t iova);
struct vt_mem *vt_mem(struct vt_end *e, size_t len, int access);
void vt_fill(struct vt_mem *m, size_t off, size_t len, uint32_t seed);
void vt_verify(const struct vt_mem *m, size_t off, size_t len, uint32_t seed);
void vt_verify_guards(const struct vt_mem *m);
size_t vt_mtu_bytes(enum ibv_mtu mtu);

/* vt_qp.c: queue pairs and requests */
void vt_opt_defaults(struct vt *t, struct vt_opt *o);
struct ibv_qp *vt_qp(struct vt_end *e, const struct vt_opt *o,
		     struct ibv_cq *scq, struct ibv_cq *rcq,
		     struct ibv_srq *srq, struct ibv_qp_cap *cap);
void vt_to_init(struct vt_end *e, struct ibv_qp *qp, const struct vt_opt *o);
void vt_to_rtr(struct vt_end *e, struct ibv_qp *qp, const struct vt_opt *o,
	       const union ibv_gid *dgid, uint32_t dqpn, uint32_t rq_psn);
void vt_to_rts(struct ibv_qp *qp, const struct vt_opt *o, uint32_t sq_psn);
void vt_to(struct ibv_qp *qp, enum ibv_qp_state state);
enum ibv_qp_state vt_state(struct ibv_qp *qp);
void vt_wait_state(struct ibv_qp *qp, enum ibv_qp_state state);
void vt_connect(struct vt_pair *p);
struct vt_pair *vt_pair(struct vt *t, const struct vt_opt *o);
struct ibv_ah *vt_ah(struct vt_end *e, const union ibv_gid *dgid);
int vt_try_send(struct ibv_qp *qp, const struct vt_wr *w);
void vt_send(struct ibv_qp *qp, const struct vt_wr *w);
int vt_try_recv(struct ibv_qp *qp, uint64_t id, const struct vt_mem *m,
		size_t off, size_t len);
void vt_recv(struct ibv_qp *qp, uint64_t id, const struct vt_mem *m,
	     size_t off, size_t len);
void vt_srq_recv(struct ibv_srq *srq, uint64_t id, const struct vt_mem *m,
		 size_t off, size_t len);

/* vt_mw.c: memory windows */
struct ibv_mw *vt_mw(struct ibv_pd *pd, enum ibv_mw_type type);
void vt_bind(struct ibv_qp *qp, struct vt_win *w, const struct vt_mem *m,
	     size_t off, size_t len, int access, unsigned int flags);
struct vt_win vt_bound(struct vt_pair *p, enum ibv_mw_type type,
		       const struct vt_mem *m, size_t off, size_t len,
		       int access);
void vt_win_send(struct vt_pair *p, enum ibv_wr_opcode op, struct vt_win *w,
		 size_t off, const struct vt_mem *local, size_t len);

/* vt_spoil.c: pages that are taken away */
unsigned char *vt_map_shared(size_t len);
int vt_spoil_drop(void *buf, size_t len);
int vt_spoil_pageout(void *buf, size_t len);
int vt_spoil_fork(void *buf, size_t len);
int vt_spoil_rights(void *buf, size_t len);
void vt_spoiler_begin(struct vt_spoiler *s);
void vt_spoiler_end(struct vt_spoiler *s);

/* vt_wait.c: completions and events */
struct ibv_wc vt_poll(struct ibv_cq *cq);
enum ibv_wc_status vt_run(struct vt_pair *p, struct vt_wr wr);
struct ibv_wc vt_expect_at(const char *file, int line, struct ibv_cq *cq,
			   uint64_t id, enum ibv_wc_status status);
void vt_quiet(struct ibv_cq *cq, unsigned int ms);
struct ibv_cq *vt_cq_event(struct ibv_comp_channel *chan);
bool vt_cq_event_pending(struct ibv_comp_channel *chan, unsigned int ms);
bool vt_async_pending(struct vt_end *e, unsigned int ms);
void *vt_async_at(const char *file, int line, struct vt_end *e,
		  enum ibv_event_type type);
long long vt_counter(const struct vt_end *e, const char *name);
long long vt_settled(const struct vt_end *e, const char *name);
void vt_pause(unsigned int *spins);

/* vt_switch.c: switches of links; they are turned back when the case ends */
void vt_switch(const struct vt_end *e, const char *name, bool on);
void vt_set(const struct vt_end *e, const char *name, const char *value);
void vt_switch_again(const struct vt_end *e, const char *name, bool on);
struct vt_limit vt_limit(const struct vt_end *e, const char *kind);
void vt_set_limit(const struct vt_end *e, const char *kind, unsigned int each,
		  unsigned int all);

/* vt_net.c: addresses and namespaces; HROCE_NS and HROCE_NS2 name these */
void vt_enter_ns(int which);
void vt_sockaddr(const struct vt_end *e, struct sockaddr_storage *ss, int port);
union ibv_gid vt_group(const struct vt *t, unsigned int n);

/* Next completion of @cq must carry @id and @status. */
#define vt_expect(cq, id, status) \
	vt_expect_at(__FILE__, __LINE__, cq, id, status)

/* Next asynchronous event of @e must be @type; returns its object. */
#define vt_async(e, type) vt_async_at(__FILE__, __LINE__, e, type)

#endif

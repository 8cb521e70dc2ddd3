// SPDX-License-Identifier: GPL-2.0
/*
 * Traffic of all operations with every byte checked.
 *
 *	vt_traffic [-t rc|uc|ud] [-n OPERATIONS] [-T SECONDS] [-s SEED]
 *		   [-x MAXLEN] [-w WINDOW] [-m MTU] [-e TIMEOUT] [-r RETRIES]
 *		   [-L] [-z] [-S PORT | -C HOST:PORT]
 *
 * The client sends, writes, reads and does atomics, some at a time; the server
 * sends back what it is sent. By default the server is a child on HROCE_DEV2;
 * with -S and -C both are programs of their own that find each other by TCP.
 * -L: datagrams and UC messages may get lost (but not change).
 * -z: no WRITE and no READ of length 0, which rdma_rxe loses when frames do.
 * SIGTERM: no more operations are begun; those under way have to end well.
 *
 * Exit status: 0 all well, 1 wrong data or order, 2 the transport gave up,
 * 3 nothing moved any more, 4 usage, 5 the other process is gone.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vt.h"

#define EXIT_TRANSPORT	2
#define EXIT_STUCK	3
#define EXIT_USAGE	4
#define EXIT_PEER	5
#define MAX_WINDOW	32
#define STUCK_US	(20000000ull * vt_scale())

/**
 * struct config - the command line
 * @type: transport
 * @ops: operations to do
 * @secs: or time to spend, if not 0
 * @seed: of sizes and choices
 * @maxlen: longest message
 * @window: operations in flight
 * @mtu: path MTU in bytes, 0 for the port's
 * @timeout: local ACK timeout exponent
 * @retry: retries
 * @lossy: unreliable messages may vanish
 * @some: each WRITE and READ moves at least a byte
 */
struct config {
	enum ibv_qp_type type;
	long ops;
	long secs;
	uint32_t seed;
	size_t maxlen;
	int window;
	int mtu;
	int timeout;
	int retry;
	bool lossy;
	bool some;
};

static struct config cfg = {
	.type = IBV_QPT_RC, .ops = 1000, .seed = 1, .maxlen = 70000,
	.window = 8, .timeout = 16, .retry = 7,
};

/**
 * struct hello - what each side tells the other
 * @gid: address
 * @qpn: queue pair
 * @psn: first PSN that it will send
 * @rkey: of @addr
 * @addr: region for WRITE and READ: slots, then two counters
 * @mtu: active MTU
 */
struct hello {
	union ibv_gid gid;
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t mtu;
	uint64_t addr;
};

/* Kinds of operation that a slot can be busy with. */
enum kind {
	KIND_FREE,
	KIND_ECHO,
	KIND_ECHO_IMM,
	KIND_WRITE_IMM,
	KIND_WRITE_READ,
	KIND_FETCH_ADD,
	KIND_CMP_SWAP,
	KIND_NR,
};

/**
 * struct op - one operation in flight
 * @kind: what it is
 * @len: bytes
 * @seq: number, also the seed of its bytes
 * @sends: send completions it waits for
 * @echo: it waits for an echo
 * @expect: value that an atomic must return
 */
struct op {
	enum kind kind;
	size_t len;
	uint32_t seq;
	int sends;
	bool echo;
	uint64_t expect;
};

/**
 * struct side - one process of the two
 * @end: device
 * @qp: queue pair
 * @scq: send completions
 * @rcq: receive completions
 * @ah: way to the peer (UD)
 * @out: slots to send from
 * @in: slots to receive into
 * @far: slots that the peer writes and reads, and the counters
 * @peer: what the peer told
 * @region: the peer's @far as a target of requests
 * @peer_mr: its key
 * @sock: connection to the peer's process
 * @grh: bytes in front of what is received
 * @moved: time of the last progress
 */
struct side {
	struct vt_end end;
	struct ibv_qp *qp;
	struct ibv_cq *scq;
	struct ibv_cq *rcq;
	struct ibv_ah *ah;
	struct vt_mem *out;
	struct vt_mem *in;
	struct vt_mem *far;
	struct hello peer;
	struct vt_mem region;
	struct ibv_mr peer_mr;
	int sock;
	size_t grh;
	uint64_t moved;
};

/**
 * struct client - state of the traffic
 * @s: this side
 * @op: slots
 * @next: operations started
 * @done: operations finished
 * @bytes: bytes checked
 * @lost: unreliable messages without echo
 * @echo_fifo: slots in the order that their echoes must come
 * @echo_head: echoes received
 * @echo_tail: echoes asked for
 * @counter: model of the peer's two counters
 */
struct client {
	struct side s;
	struct op op[MAX_WINDOW];
	long next;
	long done;
	uint64_t bytes;
	long lost;
	int echo_fifo[MAX_WINDOW];
	unsigned int echo_head;
	unsigned int echo_tail;
	uint64_t counter[2];
};

/* Slots start at odd addresses, so that nothing is aligned by accident. */
static size_t slot_stride(void)
{
	return (cfg.maxlen + VT_GRH + 8 + 63) & ~63ul;
}

static size_t slot_off(int slot)
{
	return slot * slot_stride() + (slot * 3 & 7);
}

/* More receives than operations: the peer is never told to wait. */
static int nr_recvs(void)
{
	return cfg.window + 4;
}

/* Both counters follow the last slot, aligned. */
static size_t counter_off(void)
{
	return nr_recvs() * slot_stride();
}

static void quit(int status, const char *why, long done)
{
	printf("traffic: %s after %ld operations\n", why, done);
	fflush(stdout);
	_exit(status);
}

static void tell(int sock, const void *p, size_t len)
{
	if (write(sock, p, len) != (ssize_t)len)
		quit(EXIT_PEER, "peer process is gone", 0);
}

static void hear(int sock, void *p, size_t len)
{
	if (recv(sock, p, len, MSG_WAITALL) != (ssize_t)len)
		quit(EXIT_PEER, "peer process is gone", 0);
}

static enum ibv_mtu mtu_code(int bytes)
{
	enum ibv_mtu m = IBV_MTU_256;

	while (m < IBV_MTU_4096 && (int)vt_mtu_bytes(m) < bytes)
		m++;
	return m;
}

static void side_open(struct side *s, const char *dev)
{
	size_t total;

	vt_open(&s->end, dev, vt_family());
	if (cfg.type == IBV_QPT_UD &&
	    cfg.maxlen > vt_mtu_bytes(s->end.port.active_mtu))
		cfg.maxlen = vt_mtu_bytes(s->end.port.active_mtu);
	s->grh = cfg.type == IBV_QPT_UD ? VT_GRH : 0;
	total = counter_off() + 16;
	s->out = vt_mem(&s->end, total, VT_ALL);
	s->in = vt_mem(&s->end, total, VT_ALL);
	s->far = vt_mem(&s->end, total, VT_ALL);
	memset(s->far->buf, 0, total);
}

static void side_connect(struct side *s, uint32_t psn)
{
	struct vt_opt o = {
		.type = cfg.type, .sq = 4 * nr_recvs(), .rq = nr_recvs(),
		.timeout = cfg.timeout, .retry = cfg.retry, .rnr = 7,
		.rnr_timer = 12, .rd = 4, .access = VT_ALL, .sge = 2,
	};
	struct hello me = {
		.gid = s->end.gid, .psn = psn, .rkey = s->far->mr->rkey,
		.addr = (uintptr_t)s->far->buf, .mtu = s->end.port.active_mtu,
	};

	s->scq = vt_cq(&s->end, 8 * nr_recvs(), NULL);
	s->rcq = vt_cq(&s->end, 8 * nr_recvs(), NULL);
	s->qp = vt_qp(&s->end, &o, s->scq, s->rcq, NULL, NULL);
	me.qpn = s->qp->qp_num;
	if (cfg.mtu)
		me.mtu = mtu_code(cfg.mtu);
	tell(s->sock, &me, sizeof(me));
	hear(s->sock, &s->peer, sizeof(s->peer));
	o.mtu = me.mtu < s->peer.mtu ? me.mtu : s->peer.mtu;
	vt_to_init(&s->end, s->qp, &o);
	for (int i = 0; i < nr_recvs(); i++)
		vt_recv(s->qp, i, s->in, slot_off(i), cfg.maxlen + s->grh);
	vt_to_rtr(&s->end, s->qp, &o, &s->peer.gid, s->peer.qpn, s->peer.psn);
	vt_to_rts(s->qp, &o, psn);
	if (cfg.type == IBV_QPT_UD)
		s->ah = vt_ah(&s->end, &s->peer.gid);
	s->peer_mr.rkey = s->peer.rkey;
	s->region = (struct vt_mem){
		.buf = (void *)(uintptr_t)s->peer.addr, .mr = &s->peer_mr,
		.len = counter_off() + 16,
	};
	tell(s->sock, "r", 1);
	hear(s->sock, &me, 1);
}

static void post(struct side *s, struct vt_wr w)
{
	w.ah = s->ah;
	w.qpn = s->peer.qpn;
	w.flags |= IBV_SEND_SIGNALED;
	if (vt_try_send(s->qp, &w))
		quit(EXIT_TRANSPORT, "cannot post", 0);
}

static void post_recv(struct side *s, int slot)
{
	if (vt_try_recv(s->qp, slot, s->in, slot_off(slot),
			cfg.maxlen + s->grh))
		quit(EXIT_TRANSPORT, "cannot post a receive", 0);
}

/* Whether the device has told that it is gone. */
static bool device_gone(struct side *s)
{
	struct ibv_async_event ev;

	while (vt_async_pending(&s->end, 0) &&
	       !ibv_get_async_event(s->end.ctx, &ev)) {
		ibv_ack_async_event(&ev);
		if (ev.event_type == IBV_EVENT_DEVICE_FATAL)
			return true;
	}
	return false;
}

/* The peer is done, or gone: its end of the connection says so. */
static bool peer_over(int sock)
{
	struct pollfd p = { .fd = sock, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

/* ---- server ---- */

static void server_answer(struct side *s, const struct ibv_wc *wc)
{
	bool imm = wc->wc_flags & IBV_WC_WITH_IMM;
	uint32_t tag = imm ? be32toh(wc->imm_data) : 0;
	struct vt_wr w = {
		.op = imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
		.id = wc->wr_id, .imm = tag,
	};

	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		w.local = s->far;
		w.off = slot_off(tag % cfg.window);
		w.len = wc->byte_len;
	} else {
		w.local = s->in;
		w.off = slot_off(wc->wr_id) + s->grh;
		w.len = wc->byte_len - s->grh;
	}
	post(s, w);
}

static int server_run(struct side *s)
{
	unsigned int spins = 0;
	struct ibv_wc wc;

	for (;;) {
		bool idle = true;

		if (ibv_poll_cq(s->rcq, 1, &wc) == 1) {
			idle = false;
			if (wc.status)
				return EXIT_TRANSPORT;
			server_answer(s, &wc);
		}
		if (ibv_poll_cq(s->scq, 1, &wc) == 1) {
			idle = false;
			if (wc.status)
				return EXIT_TRANSPORT;
			post_recv(s, wc.wr_id);
		}
		if (!idle)
			spins = 0;
		else if (spins > 100 && peer_over(s->sock))
			return 0;
		else if (spins > 300 && device_gone(s))
			return EXIT_TRANSPORT;
		else
			vt_pause(&spins);
	}
}

static int server(const char *dev, int sock)
{
	struct side s = { .sock = sock };

	side_open(&s, dev);
	side_connect(&s, 0xfff000 + cfg.seed % 4096);
	return server_run(&s);
}

/* ---- client ---- */

/* What was being checked when the program ended in failure. */
static const struct op *checking;

static void tell_operation(void)
{
	static const char *const name[] = {
		"free", "echo", "echo_imm", "write_imm", "write_read",
		"fetch_add", "cmp_swap",
	};

	if (checking)
		printf("# operation %u: %s of %zu bytes\n", checking->seq,
		       name[checking->kind], checking->len);
}

static size_t pick_len(void)
{
	switch (vt_rand() % 6) {
	case 0:
		return vt_rand() % 65;
	case 1:
		return vt_rand() % 5000 % (cfg.maxlen + 1);
	case 2:
		return (256ul << vt_rand() % 5) % (cfg.maxlen + 1);
	default:
		return vt_rand() % (cfg.maxlen + 1);
	}
}

static enum kind pick_kind(void)
{
	if (cfg.type == IBV_QPT_UD)
		return KIND_ECHO_IMM;
	if (cfg.type == IBV_QPT_UC)
		return vt_rand() % 2 ? KIND_ECHO_IMM : KIND_WRITE_IMM;
	return KIND_ECHO + vt_rand() % (KIND_NR - KIND_ECHO);
}

static void start_atomic(struct client *c, struct op *op, int slot)
{
	int which = op->kind == KIND_CMP_SWAP;
	uint64_t now = c->counter[which];
	struct vt_wr w = {
		.op = which ? IBV_WR_ATOMIC_CMP_AND_SWP :
			      IBV_WR_ATOMIC_FETCH_AND_ADD,
		.id = slot, .local = c->s.out, .off = slot_off(slot), .len = 8,
		.remote = &c->s.region, .roff = counter_off() + 8 * which,
	};

	/* Every fourth compare is wrong on purpose and must change nothing. */
	op->expect = now;
	op->sends = 1;
	w.compare = which ? now + !(op->seq % 4) : op->seq;
	w.swap = op->seq;
	if (!which)
		c->counter[0] += op->seq;
	else if (w.compare == now)
		c->counter[1] = op->seq;
	post(&c->s, w);
}

static void start_echo(struct client *c, struct op *op, int slot)
{
	struct vt_wr w = {
		.op = op->kind == KIND_ECHO ? IBV_WR_SEND :
		      op->kind == KIND_ECHO_IMM ? IBV_WR_SEND_WITH_IMM :
						  IBV_WR_RDMA_WRITE_WITH_IMM,
		.id = slot, .local = c->s.out, .off = slot_off(slot),
		.len = op->len, .imm = op->seq,
	};

	if (op->kind == KIND_WRITE_IMM) {
		w.remote = &c->s.region;
		w.roff = slot_off(op->seq % cfg.window);
	}
	op->sends = 1;
	op->echo = true;
	c->echo_fifo[c->echo_tail++ % MAX_WINDOW] = slot;
	post(&c->s, w);
}

/* The READ behind the WRITE fetches what was written into wiped memory. */
static void start_write_read(struct client *c, struct op *op, int slot)
{
	struct vt_wr w = {
		.op = IBV_WR_RDMA_WRITE, .id = slot, .local = c->s.out,
		.off = slot_off(slot), .len = op->len,
		.remote = &c->s.region, .roff = slot_off(slot),
	};

	op->sends = 2;
	post(&c->s, w);
	w.op = IBV_WR_RDMA_READ;
	w.local = c->s.far;
	memset(c->s.far->buf + slot_off(slot), 0, op->len);
	post(&c->s, w);
}

static void start_op(struct client *c)
{
	int slot = c->next % cfg.window;
	struct op *op = &c->op[slot];

	*op = (struct op){ .kind = pick_kind(), .len = pick_len(),
			   .seq = c->next };
	if (cfg.some && !op->len &&
	    (op->kind == KIND_WRITE_IMM || op->kind == KIND_WRITE_READ))
		op->len = 1;
	vt_fill(c->s.out, slot_off(slot), op->len, op->seq);
	switch (op->kind) {
	case KIND_FETCH_ADD:
	case KIND_CMP_SWAP:
		start_atomic(c, op, slot);
		break;
	case KIND_WRITE_READ:
		start_write_read(c, op, slot);
		break;
	default:
		start_echo(c, op, slot);
	}
	c->next++;
}

static void op_progress(struct client *c, struct op *op)
{
	uint64_t value;

	c->s.moved = vt_now_us();
	if (op->sends || op->echo)
		return;
	checking = op;
	if (op->kind == KIND_WRITE_READ)
		vt_verify(c->s.far, slot_off(op - c->op), op->len, op->seq);
	if (op->kind == KIND_FETCH_ADD || op->kind == KIND_CMP_SWAP) {
		memcpy(&value, c->s.out->buf + slot_off(op - c->op), 8);
		VT_EQ(value, op->expect);
	}
	checking = NULL;
	c->bytes += op->len;
	c->done++;
	op->kind = KIND_FREE;
}

static void take_send(struct client *c, const struct ibv_wc *wc)
{
	struct op *op = &c->op[wc->wr_id];

	if (wc->status)
		quit(EXIT_TRANSPORT, ibv_wc_status_str(wc->status), c->done);
	VT_OK(op->kind && op->sends, "completion of nothing");
	op->sends--;
	op_progress(c, op);
}

static void take_echo(struct client *c, const struct ibv_wc *wc)
{
	size_t at = slot_off(wc->wr_id) + c->s.grh;
	int slot;
	struct op *op;

	if (wc->status)
		quit(EXIT_TRANSPORT, ibv_wc_status_str(wc->status), c->done);
	if (wc->wc_flags & IBV_WC_WITH_IMM && cfg.type != IBV_QPT_RC) {
		/* An echo that was given up for lost may still come. */
		op = &c->op[be32toh(wc->imm_data) % cfg.window];
		if (!op->echo || op->seq != be32toh(wc->imm_data))
			goto repost;
	} else {
		VT_OK(c->echo_head != c->echo_tail, "echo of nothing");
		slot = c->echo_fifo[c->echo_head % MAX_WINDOW];
		op = &c->op[slot];
		if (op->kind != KIND_ECHO)
			VT_EQ(be32toh(wc->imm_data), op->seq);
	}
	c->echo_head++;
	checking = op;
	VT_EQ(wc->byte_len - c->s.grh, op->len);
	vt_verify(c->s.in, at, op->len, op->seq);
	op->echo = false;
	op_progress(c, op);
repost:
	post_recv(&c->s, wc->wr_id);
}

/* Unreliable and nothing back for a while: count it as lost. */
static void give_up_lost(struct client *c)
{
	struct op *op = &c->op[(c->next - 1) % cfg.window];

	if (!cfg.lossy || !op->kind || op->sends ||
	    vt_now_us() - c->s.moved < 100000ull * vt_scale())
		return;
	op->echo = false;
	op->len = 0;
	c->echo_head++;
	c->lost++;
	op_progress(c, op);
}

static volatile sig_atomic_t told_to_end;

static void on_term(int sig)
{
	(void)sig;
	told_to_end = 1;
}

static bool client_wants_more(struct client *c, uint64_t end)
{
	if (told_to_end || (cfg.secs ? vt_now_us() >= end : c->next >= cfg.ops))
		return false;
	return !c->op[c->next % cfg.window].kind;
}

static int client(const char *dev, int sock)
{
	static struct client c;
	unsigned int spins = 0;
	struct ibv_wc wc;
	uint64_t end;

	vt_on_fail(tell_operation);
	c.s.sock = sock;
	side_open(&c.s, dev);
	side_connect(&c.s, 0xffff80 + cfg.seed % 128);
	vt_srand(cfg.seed);
	end = vt_now_us() + 1000000ull * cfg.secs;
	c.s.moved = vt_now_us();
	do {
		bool idle = true;

		while (client_wants_more(&c, end))
			start_op(&c);
		while (ibv_poll_cq(c.s.scq, 1, &wc) == 1) {
			take_send(&c, &wc);
			idle = false;
		}
		while (ibv_poll_cq(c.s.rcq, 1, &wc) == 1) {
			take_echo(&c, &wc);
			idle = false;
		}
		give_up_lost(&c);
		if (vt_now_us() - c.s.moved > STUCK_US)
			quit(EXIT_STUCK, "nothing moves", c.done);
		if (!idle)
			spins = 0;
		else if (spins > 300 && device_gone(&c.s))
			quit(EXIT_TRANSPORT, "device gone", c.done);
		else if (spins > 300 && peer_over(sock))
			quit(EXIT_TRANSPORT, "peer failed", c.done);
		else
			vt_pause(&spins);
	} while (c.done < c.next || client_wants_more(&c, end));
	vt_verify_guards(c.s.in);
	vt_verify_guards(c.s.far);
	tell(sock, "x", 1);
	printf("traffic: %ld operations, %llu bytes, %ld lost\n", c.done,
	       (unsigned long long)c.bytes, c.lost);
	return 0;
}

/* ---- finding each other ---- */

static int tcp_listen(const char *port)
{
	struct sockaddr_in6 a = {
		.sin6_family = AF_INET6, .sin6_port = htons(atoi(port)),
	};
	int s = socket(AF_INET6, SOCK_STREAM, 0), one = 1, c;

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	VT_OK(!bind(s, (struct sockaddr *)&a, sizeof(a)) && !listen(s, 1),
	      "port %s: %s", port, strerror(errno));
	c = accept(s, NULL, NULL);
	VT_OK(c >= 0, "accept");
	close(s);
	return c;
}

static int tcp_connect(char *where)
{
	char *port = strrchr(where, ':');
	uint64_t end = vt_deadline_us();
	struct addrinfo *ai, hint = { .ai_socktype = SOCK_STREAM };
	unsigned int spins = 1000;

	VT_OK(port, "HOST:PORT");
	*port++ = 0;
	VT_OK(!getaddrinfo(where, port, &hint, &ai), "%s", where);
	for (;;) {
		int s = socket(ai->ai_family, SOCK_STREAM, 0);

		if (!connect(s, ai->ai_addr, ai->ai_addrlen))
			return s;
		close(s);
		VT_OK(vt_now_us() < end, "cannot connect to %s", where);
		vt_pause(&spins);
	}
}

/* Server and client as two processes of this program. */
static int both(void)
{
	int sock[2], status, rc;
	pid_t pid;

	VT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sock), 0);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid) {
		close(sock[0]);
		_exit(server(vt_dev_name(1), sock[1]));
	}
	close(sock[1]);
	rc = client(vt_dev_name(0), sock[0]);
	fflush(stdout);
	VT_EQ(waitpid(pid, &status, 0), pid);
	return rc ? rc : WEXITSTATUS(status);
}

static void usage(void)
{
	fprintf(stderr, "see the head of vt_traffic.c\n");
	exit(EXIT_USAGE);
}

static void parse_type(const char *s)
{
	if (!strcmp(s, "uc"))
		cfg.type = IBV_QPT_UC;
	else if (!strcmp(s, "ud"))
		cfg.type = IBV_QPT_UD;
	else if (strcmp(s, "rc"))
		usage();
}

int main(int argc, char **argv)
{
	char *listen_at = NULL, *connect_to = NULL;
	int opt;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, on_term);
	while ((opt = getopt(argc, argv, "t:n:T:s:x:w:m:e:r:LzS:C:")) > 0) {
		switch (opt) {
		case 't':
			parse_type(optarg);
			break;
		case 'n':
			cfg.ops = atol(optarg);
			break;
		case 'T':
			cfg.secs = atol(optarg);
			break;
		case 's':
			cfg.seed = atol(optarg);
			break;
		case 'x':
			cfg.maxlen = atol(optarg);
			break;
		case 'w':
			cfg.window = atoi(optarg);
			break;
		case 'm':
			cfg.mtu = atoi(optarg);
			break;
		case 'e':
			cfg.timeout = atoi(optarg);
			break;
		case 'r':
			cfg.retry = atoi(optarg);
			break;
		case 'L':
			cfg.lossy = true;
			break;
		case 'z':
			cfg.some = true;
			break;
		case 'S':
			listen_at = optarg;
			break;
		case 'C':
			connect_to = optarg;
			break;
		default:
			usage();
		}
	}
	if (cfg.window < 1 || cfg.window > MAX_WINDOW || cfg.maxlen < 64)
		usage();
	if (cfg.type != IBV_QPT_RC)
		cfg.window = 1;
	if (listen_at)
		return server(vt_dev_name(0), tcp_listen(listen_at));
	if (connect_to)
		return client(vt_dev_name(0), tcp_connect(connect_to));
	return both();
}

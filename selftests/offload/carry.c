// SPDX-License-Identifier: GPL-2.0
/*
 * A client that outlives its device, as an example and as a test.
 *
 *	carry -S PORT DEVICE ADDRESS
 *	carry -C HOST:PORT [-p PROGRESS] DEVICE ADDRESS
 *
 * The client sends numbered blocks to the server, which checks every byte.
 * When its device goes (IBV_EVENT_DEVICE_FATAL), or the connection fails in
 * any other way, each side closes everything, opens the device of that name
 * again, whatever that is by then, and goes on where the server says that it
 * is. A completed send must have arrived: none is lost, none comes twice.
 *
 * The client ends when it gets SIGTERM. PROGRESS is a file that it keeps the
 * number of completed blocks in. ADDRESS is the IPv4 address of the own GID.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"

#define BLOCK		4096
#define WINDOW		16
#define RECVS		(2 * WINDOW)
#define STUCK_MS	5000

/**
 * struct hello - what each side tells the other when a session begins
 * @gid: address
 * @qpn: queue pair
 * @next: server: the first block that it does not have
 */
struct hello {
	union ibv_gid gid;
	uint32_t qpn;
	uint32_t reserved;
	uint64_t next;
};

/**
 * struct session - from one opening of the device to its end
 * @sock: TCP connection to the peer
 * @context: device
 * @qp: queue pair, RC
 * @cq: of both its queues
 * @pd: protection domain
 * @mr: of @buf
 * @buf: RECVS blocks
 * @gid: own address
 * @gid_index: its index
 */
struct session {
	int sock;
	struct ibv_context *context;
	struct ibv_qp *qp;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	unsigned char *buf;
	union ibv_gid gid;
	int gid_index;
};

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

static void block_fill(void *to, uint64_t seq)
{
	uint64_t *words = to, x = seq * 0x9e3779b97f4a7c15ull + 1;

	words[0] = seq;
	for (int i = 1; i < BLOCK / 8; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		words[i] = x;
	}
}

static void block_check(const void *from, uint64_t seq)
{
	static unsigned char want[BLOCK];

	block_fill(want, seq);
	if (memcmp(from, want, BLOCK)) {
		fprintf(stderr, "block %llu is wrong\n",
			(unsigned long long)seq);
		exit(1);
	}
}

/* After the device has gone, what is destroyed here is gone already. */
static void session_close(struct session *s)
{
	if (s->qp)
		ibv_destroy_qp(s->qp);
	if (s->cq)
		ibv_destroy_cq(s->cq);
	if (s->mr)
		ibv_dereg_mr(s->mr);
	if (s->pd)
		ibv_dealloc_pd(s->pd);
	if (s->context)
		ibv_close_device(s->context);
	if (s->sock >= 0)
		close(s->sock);
	free(s->buf);
	*s = (struct session) { .sock = -1 };
}

static bool session_open(struct session *s, const char *device,
			 const char *address)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
		.cap = { .max_send_wr = WINDOW, .max_recv_wr = RECVS,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	s->context = device_open(device);
	if (!s->context)
		return false;
	s->gid_index = device_find_gid(s->context, address, &s->gid);
	s->buf = aligned_alloc(4096, RECVS * BLOCK);
	s->pd = ibv_alloc_pd(s->context);
	s->cq = ibv_create_cq(s->context, WINDOW + RECVS, NULL, NULL, 0);
	if (s->gid_index < 0 || !s->buf || !s->pd || !s->cq)
		return false;
	s->mr = ibv_reg_mr(s->pd, s->buf, RECVS * BLOCK,
			   IBV_ACCESS_LOCAL_WRITE);
	init.send_cq = s->cq;
	init.recv_cq = s->cq;
	s->qp = ibv_create_qp(s->pd, &init);
	return s->mr && s->qp;
}

static bool qp_connect(struct session *s, const struct hello *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = DEVICE_PORT,
	};

	if (ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
			  IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		return false;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qpn, .min_rnr_timer = 1,
		.ah_attr = {
			.is_global = 1, .port_num = DEVICE_PORT,
			.grh = { .dgid = peer->gid, .hop_limit = 64,
				 .sgid_index = s->gid_index },
		},
	};
	if (ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_AV |
			  IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		return false;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = 12, .retry_cnt = 3,
		.rnr_retry = 7,
	};
	return !ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT |
			      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Either all of it within the patience of both sides, or nothing. */
static bool tell(int sock, const void *what, size_t len)
{
	return send(sock, what, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static bool hear(int sock, void *what, size_t len)
{
	return recv(sock, what, len, MSG_WAITALL) == (ssize_t)len;
}

static void sock_set_patience(int sock)
{
	struct timeval patience = { .tv_sec = STUCK_MS / 1000 };
	int one = 1;

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(sock, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Has the peer said something, or hung up? */
static bool sock_is_ready(int sock)
{
	struct pollfd pollfd = { .fd = sock, .events = POLLIN };

	return poll(&pollfd, 1, 0) != 0;
}

static struct hello hello_of(const struct session *s, uint64_t next)
{
	return (struct hello) {
		.gid = s->gid, .qpn = s->qp->qp_num, .next = next,
	};
}

static bool post_recv(struct session *s, int slot)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->buf + slot * BLOCK, .length = BLOCK,
		.lkey = s->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = slot, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	return !ibv_post_recv(s->qp, &wr, &bad);
}

static bool server_connect(struct session *s, uint64_t next)
{
	struct hello mine, peer;

	if (!hear(s->sock, &peer, sizeof(peer)) || !qp_connect(s, &peer))
		return false;
	for (int i = 0; i < RECVS; i++)
		if (!post_recv(s, i))
			return false;
	mine = hello_of(s, next);
	return tell(s->sock, &mine, sizeof(mine));
}

/* Take what has arrived. Return: false if the session is over. */
static bool server_poll(struct session *s, uint64_t *next)
{
	struct ibv_wc wc;
	int nr = ibv_poll_cq(s->cq, 1, &wc);

	if (nr <= 0) {
		sched_yield();
		return nr == 0;
	}
	if (wc.status != IBV_WC_SUCCESS)
		return false;
	block_check(s->buf + wc.wr_id * BLOCK, *next);
	++*next;
	return post_recv(s, wc.wr_id);
}

/* What has arrived before the end counts, as the client has been told so. */
static void server_drain(struct session *s, uint64_t *next)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;

	ibv_modify_qp(s->qp, &attr, IBV_QP_STATE);
	while (ibv_poll_cq(s->cq, 1, &wc) == 1)
		if (wc.status == IBV_WC_SUCCESS)
			block_check(s->buf + wc.wr_id * BLOCK, (*next)++);
}

/* Return: true if the client has said goodbye. */
static bool server_session(struct session *s, uint64_t *next)
{
	uint64_t sent = 0;
	bool bye = false;

	if (!server_connect(s, *next))
		return false;
	for (unsigned int spins = 0; server_poll(s, next); spins++) {
		if (spins % 256)
			continue;
		if (device_is_fatal(s->context))
			break;
		if (sock_is_ready(s->sock)) {
			bye = hear(s->sock, &sent, sizeof(sent));
			break;
		}
	}
	server_drain(s, next);
	return bye && sent == *next && tell(s->sock, next, sizeof(*next));
}

static void server(int port, const char *device, const char *address)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_port = htons(port),
	};
	int sock = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	struct session s = { .sock = -1 };
	unsigned int sessions = 0;
	uint64_t next = 0;
	bool bye = false;

	setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(sock, (struct sockaddr *)&at, sizeof(at)) || listen(sock, 8))
		DIE("port %d", port);
	while (!bye) {
		s.sock = accept(sock, NULL, NULL);
		if (s.sock < 0)
			DIE("accept");
		sock_set_patience(s.sock);
		sessions++;
		if (session_open(&s, device, address))
			bye = server_session(&s, &next);
		session_close(&s);
	}
	printf("server: %llu blocks, all right, in %u sessions\n",
	       (unsigned long long)next, sessions);
}

/**
 * struct client - what outlives sessions
 * @peer: server
 * @device: name
 * @address: own address
 * @progress: file to write @done to, or -1
 * @posted: blocks sent at least once
 * @done: blocks whose sends have completed
 * @sessions: how many have carried something
 */
struct client {
	struct sockaddr_in peer;
	const char *device;
	const char *address;
	int progress;
	uint64_t posted;
	uint64_t done;
	unsigned int sessions;
};

static bool client_connect(struct client *c, struct session *s)
{
	struct hello mine, peer;

	s->sock = socket(AF_INET, SOCK_STREAM, 0);
	sock_set_patience(s->sock);
	if (connect(s->sock, (struct sockaddr *)&c->peer, sizeof(c->peer)))
		return false;
	if (!session_open(s, c->device, c->address))
		return false;
	mine = hello_of(s, 0);
	if (!tell(s->sock, &mine, sizeof(mine)) ||
	    !hear(s->sock, &peer, sizeof(peer)) || !qp_connect(s, &peer))
		return false;
	if (peer.next < c->done || peer.next > c->posted) {
		fprintf(stderr, "%llu completed, %llu sent, but %llu arrived\n",
			(unsigned long long)c->done,
			(unsigned long long)c->posted,
			(unsigned long long)peer.next);
		exit(1);
	}
	c->done = peer.next;
	c->posted = peer.next;
	return true;
}

static bool client_post(struct client *c, struct session *s)
{
	int slot = c->posted % WINDOW;
	struct ibv_sge sge = {
		.addr = (uintptr_t)s->buf + slot * BLOCK, .length = BLOCK,
		.lkey = s->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = c->posted, .opcode = IBV_WR_SEND,
		.sg_list = &sge, .num_sge = 1,
	}, *bad;

	block_fill(s->buf + slot * BLOCK, c->posted);
	c->posted++;
	return !ibv_post_send(s->qp, &wr, &bad);
}

static void client_tell_progress(const struct client *c)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu\n",
			   (unsigned long long)c->done);

	if (c->progress >= 0 && pwrite(c->progress, text, len, 0) != len)
		DIE("progress");
}

/* Return: false if the session is over. */
static bool client_poll(struct client *c, struct session *s)
{
	struct ibv_wc wc;
	int nr = ibv_poll_cq(s->cq, 1, &wc);

	if (nr <= 0) {
		sched_yield();
		return nr == 0;
	}
	if (wc.status != IBV_WC_SUCCESS)
		return false;
	if (wc.wr_id != c->done) {
		fprintf(stderr, "completions out of order\n");
		exit(1);
	}
	c->done++;
	return true;
}

/* Return: true if all is done. */
static bool client_session(struct client *c, struct session *s)
{
	uint64_t moved = now_ms(), last = c->done, there = 0;

	for (unsigned int spins = 0;; spins++) {
		if (stop && c->done == c->posted)
			break;
		while (!stop && c->posted - c->done < WINDOW)
			if (!client_post(c, s))
				return false;
		if (!client_poll(c, s))
			return false;
		if (spins % 256)
			continue;
		if (c->done != last) {
			last = c->done;
			moved = now_ms();
			client_tell_progress(c);
		}
		if (device_is_fatal(s->context) || sock_is_ready(s->sock) ||
		    now_ms() > moved + STUCK_MS)
			return false;
	}
	return tell(s->sock, &c->done, sizeof(c->done)) &&
	       hear(s->sock, &there, sizeof(there)) && there == c->done;
}

static void client(struct client *c)
{
	uint64_t begin = now_ms(), before = 0;
	struct session s = { .sock = -1 };
	bool done = false;

	while (!done) {
		if (client_connect(c, &s)) {
			before = c->done;
			done = client_session(c, &s);
			c->sessions += c->done > before;
			begin = now_ms();
		} else {
			usleep(2000);
		}
		session_close(&s);
		if (now_ms() > begin + 6 * STUCK_MS) {
			fprintf(stderr, "no way to the server any more\n");
			exit(1);
		}
	}
	printf("client: %llu blocks in %u sessions\n",
	       (unsigned long long)c->done, c->sessions);
}

static struct sockaddr_in peer_of(char *text)
{
	struct sockaddr_in peer = { .sin_family = AF_INET };
	char *colon = strchr(text, ':');

	if (!colon)
		DIE("no port in %s", text);
	*colon = 0;
	peer.sin_port = htons(atoi(colon + 1));
	if (inet_pton(AF_INET, text, &peer.sin_addr) != 1)
		DIE("no address: %s", text);
	return peer;
}

int main(int argc, char **argv)
{
	struct client c = { .progress = -1 };
	int opt, port = 0;

	/* Lets what is gone already be destroyed. */
	setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 1);
	signal(SIGTERM, on_term);
	while ((opt = getopt(argc, argv, "S:C:p:")) != -1) {
		if (opt == 'S') {
			port = atoi(optarg);
		} else if (opt == 'C') {
			c.peer = peer_of(optarg);
		} else if (opt == 'p') {
			c.progress = open(optarg, O_CREAT | O_WRONLY, 0600);
		} else {
			optind = argc;
			break;
		}
	}
	if (argc - optind != 2 || !port == !c.peer.sin_port) {
		fprintf(stderr, "usage: carry -S PORT | -C HOST:PORT [-p FILE] DEVICE ADDRESS\n");
		return 2;
	}
	c.device = argv[optind];
	c.address = argv[optind + 1];
	if (port)
		server(port, c.device, c.address);
	else
		client(&c);
	return 0;
}

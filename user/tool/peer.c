// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * hroce-peer: the two ends of a measurement, for `hroce doctor PEER`.
 *
 *   hroce-peer serve ADDRESS PORT
 *   hroce-peer measure ADDRESS PORT {send|receive}:SIZE:COUNT:PAYLOAD...
 *   hroce-peer measure ADDRESS PORT mark:TOS
 *
 * The client connects by rdma_cm, once for each measurement, and says in the
 * private data of the connection who sends, how many messages and of what
 * size; with size 0 up to COUNT of each power of two to 1 MB, and of the sizes
 * around PAYLOAD, that of a packet, and its multiples. All are posted at once,
 * as are the receive requests, so the peer is never told to wait. Each byte of a
 * message follows from its number, and the receiver compares all of them and
 * sends what it saw. The client prints a line for each size:
 *
 *   {send|receive} SIZE MESSAGES DAMAGED NANOSECONDS MTU STATUS
 *
 * STATUS is "ok", "connect", "busy", "skipped" or the status of the first
 * completion that failed, after which nothing passes on this connection. DAMAGED
 * and NANOSECONDS are those of all its messages, MTU the path MTU of the queue
 * pair.
 *
 * The latter is about the traffic class of packets, see mark.c.
 *
 * Anyone may connect to the server, so an order has limits: of memory, and of
 * time. The server has one connection at a time and rejects others as busy; a
 * client that is told so tries again for a while, as its own last connection
 * may not have ended over there.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "mark.h"

#define MAGIC		0x68726f63
#define SIZE_MAX_B	(4 << 20)
#define COUNT_MAX	256
#define PAYLOAD_MAX	4096
/* Of all messages of an order; those of a sweep take less. */
#define DATA_MAX_B	(64 << 20)
/* Of a sweep: largest size, bytes of each size, sizes */
#define SWEEP_MAX_B	(1 << 20)
#define SWEEP_EACH_B	(2 << 20)
#define SIZES_MAX	32
/* 4.096 us * 2^14 = 67 ms; with the retries half a second. */
#define ACK_TIMEOUT	14
#define RETRIES		7
#define CM_TIMEOUT_MS	5000
/* A message of the connection manager that is lost takes 4 s to repeat. */
#define CONNECT_MS	15000
/* Nothing for so long, and the peer is gone. */
#define SILENCE_MS	10000
/* For one order, at most. A path that loses much takes a minute. */
#define ORDER_MS	300000
#define BUSY_RETRY_MS	200

struct order {
	uint32_t magic;
	uint32_t to_server;
	uint32_t size;
	uint32_t count;
	uint32_t payload;
};

/* The last message: what the receiver saw. A slot has at least a page. */
struct verdict {
	uint64_t messages;
	uint64_t damaged;
};

struct link {
	struct rdma_cm_id *id;
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	/* Messages, each in a place of its own, then the verdict */
	unsigned int total;
	uint32_t *sizes;
	size_t *places;
	char *data;
	size_t data_size;
	struct order order;
	/* enum ibv_wc_status, or one of those below */
	int status;
	unsigned int mtu;
	uint64_t messages;
	uint64_t damaged;
	/* Connecting and filling the messages are part of the time. */
	uint64_t begin;
	uint64_t ns;
	bool gone;
	/* Of a server: where others ask for connections meanwhile */
	struct rdma_event_channel *others;
};

enum { NOT_CONNECTED = 1000, SKIPPED, BUSY };

static const char busy[] = "busy";

#define NS_PER_MS	1000000ULL

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Eight bytes of a message: they differ by message and by place. */
static uint64_t pattern(uint64_t message, uint64_t word)
{
	uint64_t x = (message << 32 ^ word) * 0x9e3779b97f4a7c15ULL;

	return htole64(x ^ x >> 29);
}

static void fill(char *data, size_t size, uint64_t message)
{
	uint64_t word;
	size_t at;

	for (at = 0; at < size; at += sizeof(word)) {
		word = pattern(message, at);
		memcpy(data + at, &word,
		       size - at < sizeof(word) ? size - at : sizeof(word));
	}
}

static bool intact(const char *data, size_t size, uint64_t message)
{
	uint64_t word;
	size_t at;

	for (at = 0; at < size; at += sizeof(word)) {
		word = pattern(message, at);
		if (memcmp(data + at, &word,
			   size - at < sizeof(word) ? size - at : sizeof(word)))
			return false;
	}
	return true;
}

static bool order_is_valid(const struct order *order)
{
	return order->magic == MAGIC && order->to_server <= 1 &&
	       order->size <= SIZE_MAX_B && order->count &&
	       order->count <= COUNT_MAX && order->payload <= PAYLOAD_MAX &&
	       (uint64_t)order->size * order->count <= DATA_MAX_B;
}

static void order_swap(struct order *to, const struct order *from)
{
	to->magic = htonl(from->magic);
	to->to_server = htonl(from->to_server);
	to->size = htonl(from->size);
	to->count = htonl(from->count);
	to->payload = htonl(from->payload);
}

static int smaller(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Return: how many sizes the order has, in ascending order */
static unsigned int order_sizes(const struct order *order, uint32_t *sizes)
{
	unsigned int n = 0, kept = 0, i;
	uint32_t size;

	if (order->size) {
		sizes[0] = order->size;
		return 1;
	}
	for (size = 1; size <= SWEEP_MAX_B; size *= 2)
		sizes[n++] = size;
	for (i = 1; order->payload > 1 && i <= 3; i++) {
		sizes[n++] = i * order->payload - 1;
		sizes[n++] = i * order->payload;
		sizes[n++] = i * order->payload + 1;
	}
	qsort(sizes, n, sizeof(*sizes), smaller);
	for (i = 0; i < n; i++)
		if (!i || sizes[i] != sizes[kept - 1])
			sizes[kept++] = sizes[i];
	return kept;
}

static unsigned int order_count(const struct order *order, uint32_t size)
{
	unsigned int fit = SWEEP_EACH_B / size;

	if (order->size || fit > order->count)
		return order->count;
	return fit < 4 ? 4 : fit;
}

/* Give each message its place in memory, in an order of ascending sizes. */
static int plan(struct link *link)
{
	unsigned int n, i, k, total = 0;
	uint32_t sizes[SIZES_MAX];
	size_t place = 0;

	n = order_sizes(&link->order, sizes);
	for (i = 0; i < n; i++)
		total += order_count(&link->order, sizes[i]);
	link->sizes = calloc(total + 1, sizeof(*link->sizes));
	link->places = calloc(total + 1, sizeof(*link->places));
	if (!link->sizes || !link->places)
		return -1;
	for (i = 0; i < n; i++) {
		for (k = order_count(&link->order, sizes[i]); k; k--) {
			link->sizes[link->total] = sizes[i];
			link->places[link->total++] = place;
			place += (sizes[i] + 63) & ~63U;
		}
	}
	link->sizes[total] = sizeof(struct verdict);
	link->places[total] = place;
	link->data_size = (place + sizeof(struct verdict) + 4095) & ~4095UL;
	link->data = aligned_alloc(4096, link->data_size);
	return link->data ? 0 : -1;
}

static char *slot(const struct link *link, unsigned int index)
{
	return link->data + link->places[index];
}

static struct ibv_sge slot_sge(const struct link *link, unsigned int index)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)slot(link, index),
		.length = link->sizes[index],
		.lkey = link->mr->lkey,
	};
}

static int post_recv(struct link *link, unsigned int index)
{
	struct ibv_sge sge = slot_sge(link, index);
	struct ibv_recv_wr wr = {
		.wr_id = index,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_recv_wr *bad;

	return ibv_post_recv(link->id->qp, &wr, &bad);
}

static int post_send(struct link *link, unsigned int index)
{
	struct ibv_sge sge = slot_sge(link, index);
	struct ibv_send_wr wr = {
		.wr_id = index,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_send_wr *bad;

	return ibv_post_send(link->id->qp, &wr, &bad);
}

/* An event of the listener while the server has a connection */
static void turn_away(struct rdma_event_channel *others)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id = NULL;

	if (rdma_get_cm_event(others, &event))
		return;
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		id = event->id;
	rdma_ack_cm_event(event);
	if (id) {
		rdma_reject(id, busy, sizeof(busy));
		rdma_destroy_id(id);
	}
}

/*
 * Sleep until a completion, or an event of the connection manager, comes.
 * Return: 0 then, or when it was about another connection; -1 at @until
 */
static int wait_event(struct link *link, uint64_t until)
{
	struct rdma_event_channel *channel = link->id->channel;
	struct pollfd fds[] = {
		{ .fd = link->completions->fd, .events = POLLIN },
		{ .fd = channel->fd, .events = POLLIN },
		{ .fd = link->others ? link->others->fd : -1, .events = POLLIN },
	};
	struct rdma_cm_event *event;
	uint64_t now = now_ns();
	struct ibv_cq *cq;
	void *context;

	if (now >= until || poll(fds, 3, (until - now) / NS_PER_MS + 1) < 1)
		return -1;
	if (fds[0].revents && !ibv_get_cq_event(link->completions, &cq,
						&context))
		ibv_ack_cq_events(cq, 1);
	if (fds[1].revents && !rdma_get_cm_event(channel, &event)) {
		link->gone |= event->event == RDMA_CM_EVENT_DISCONNECTED;
		rdma_ack_cm_event(event);
	}
	if (fds[2].revents && !fds[0].revents && !fds[1].revents)
		turn_away(link->others);
	return 0;
}

/* The time until which the peer has to do something */
static uint64_t patience(const struct link *link)
{
	uint64_t silence = now_ns() + SILENCE_MS * NS_PER_MS;
	uint64_t end = link->begin + ORDER_MS * NS_PER_MS;

	return silence < end ? silence : end;
}

/* Return: 0 with a completion, -1: it failed, or nothing came for too long */
static int next(struct link *link, struct ibv_wc *wc)
{
	uint64_t until = patience(link);
	bool gone;
	int n;

	for (;;) {
		gone = link->gone;
		ibv_req_notify_cq(link->cq, 0);
		n = ibv_poll_cq(link->cq, 1, wc);
		if (n)
			break;
		/* Completions may have come before the peer left. */
		if (gone || wait_event(link, until)) {
			link->status = IBV_WC_RESP_TIMEOUT_ERR;
			return -1;
		}
	}
	if (n < 0 || wc->status != IBV_WC_SUCCESS) {
		link->status = n < 0 ? IBV_WC_GENERAL_ERR : wc->status;
		return -1;
	}
	return 0;
}

static int run_sender(struct link *link)
{
	struct verdict verdict;
	struct ibv_wc wc = {};
	unsigned int i;

	for (i = 0; i < link->total; i++)
		fill(slot(link, i), link->sizes[i], i);
	if (post_recv(link, link->total))
		return -1;
	for (i = 0; i < link->total; i++)
		if (post_send(link, i))
			return -1;
	do {
		if (next(link, &wc))
			return -1;
		if (!(wc.opcode & IBV_WC_RECV) &&
		    ++link->messages == link->total)
			link->ns = now_ns() - link->begin;
	} while (!(wc.opcode & IBV_WC_RECV));
	if (!link->ns)
		link->ns = now_ns() - link->begin;
	if (wc.byte_len != sizeof(verdict))
		return -1;
	memcpy(&verdict, slot(link, link->total), sizeof(verdict));
	link->messages = be64toh(verdict.messages);
	link->damaged = be64toh(verdict.damaged);
	return link->messages == link->total ? 0 : -1;
}

static int run_receiver(struct link *link)
{
	struct verdict verdict;
	struct ibv_wc wc;
	unsigned int i;

	for (i = 0; i < link->total; i++) {
		if (next(link, &wc))
			return -1;
		/* Of an RC queue pair, messages arrive in order. */
		if (wc.wr_id != i || wc.byte_len != link->sizes[i])
			link->damaged++;
		link->messages++;
	}
	link->ns = now_ns() - link->begin;
	for (i = 0; i < link->total; i++)
		if (!intact(slot(link, i), link->sizes[i], i))
			link->damaged++;
	verdict.messages = htobe64(link->messages);
	verdict.damaged = htobe64(link->damaged);
	memcpy(slot(link, link->total), &verdict, sizeof(verdict));
	if (post_send(link, link->total))
		return -1;
	return next(link, &wc);
}

static int link_open(struct link *link, bool sender)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	uint8_t timeout = ACK_TIMEOUT;
	unsigned int slots, i;

	rdma_set_option(link->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT,
			&timeout, sizeof(timeout));
	if (plan(link))
		return -1;
	slots = link->total + 1;
	attr.cap.max_send_wr = slots;
	attr.cap.max_recv_wr = slots;
	link->completions = ibv_create_comp_channel(link->id->verbs);
	if (!link->completions)
		return -1;
	link->cq = ibv_create_cq(link->id->verbs, 2 * slots, NULL,
				 link->completions, 0);
	if (!link->cq)
		return -1;
	attr.send_cq = link->cq;
	attr.recv_cq = link->cq;
	if (rdma_create_qp(link->id, NULL, &attr))
		return -1;
	link->mr = ibv_reg_mr(link->id->pd, link->data, link->data_size,
			      IBV_ACCESS_LOCAL_WRITE);
	if (!link->mr)
		return -1;
	for (i = 0; !sender && i < link->total; i++)
		if (post_recv(link, i))
			return -1;
	return 0;
}

static void link_close(struct link *link)
{
	if (link->id && link->id->qp) {
		rdma_disconnect(link->id);
		rdma_destroy_qp(link->id);
	}
	if (link->mr)
		ibv_dereg_mr(link->mr);
	if (link->cq)
		ibv_destroy_cq(link->cq);
	if (link->completions)
		ibv_destroy_comp_channel(link->completions);
	free(link->data);
	free(link->places);
	free(link->sizes);
}

static unsigned int path_mtu(struct link *link)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(link->id->qp, &attr, IBV_QP_PATH_MTU, &init))
		return 0;
	return 128U << attr.path_mtu;
}

static bool is_busy(const struct rdma_cm_event *event)
{
	return event->event == RDMA_CM_EVENT_REJECTED &&
	       event->param.conn.private_data_len >= sizeof(busy) &&
	       !memcmp(event->param.conn.private_data, busy, sizeof(busy));
}

/*
 * Wait for an event of the connection manager, and accept this one alone.
 * Return: 0, -EBUSY if the server has another connection, or -EIO
 */
static int expect(struct rdma_event_channel *channel,
		  enum rdma_cm_event_type type)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int err = 0;

	if (poll(&fd, 1, CONNECT_MS) != 1 ||
	    rdma_get_cm_event(channel, &event))
		return -EIO;
	if (is_busy(event)) {
		err = -EBUSY;
	} else if (event->event != type) {
		fprintf(stderr, "hroce-peer: %s (%d)\n",
			rdma_event_str(event->event), event->status);
		err = -EIO;
	}
	rdma_ack_cm_event(event);
	return err;
}

static struct addrinfo *resolve(const char *address, const char *port,
				bool passive)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM,
		.ai_flags = passive ? AI_PASSIVE : 0,
	};
	struct addrinfo *found;
	int err;

	err = getaddrinfo(address, port, &hints, &found);
	if (err) {
		fprintf(stderr, "hroce-peer: %s: %s\n", address,
			gai_strerror(err));
		return NULL;
	}
	return found;
}

static int client_connect(struct link *link, struct rdma_event_channel *channel,
			  const char *address, const char *port)
{
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = RETRIES,
		.rnr_retry_count = 7,
		.private_data_len = sizeof(struct order),
	};
	struct addrinfo *to = resolve(address, port, false);
	struct order order;
	int err;

	if (!to)
		return -EIO;
	link->begin = now_ns();
	order_swap(&order, &link->order);
	param.private_data = &order;
	err = rdma_create_id(channel, &link->id, NULL, RDMA_PS_TCP) ||
	      rdma_resolve_addr(link->id, NULL, to->ai_addr, CM_TIMEOUT_MS) ||
	      expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED) ||
	      rdma_resolve_route(link->id, CM_TIMEOUT_MS) ||
	      expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED) ||
	      link_open(link, link->order.to_server) ||
	      rdma_connect(link->id, &param);
	freeaddrinfo(to);
	return err ? -EIO : expect(channel, RDMA_CM_EVENT_ESTABLISHED);
}

static void client_close(struct link *link)
{
	link_close(link);
	if (link->id)
		rdma_destroy_id(link->id);
}

static void measure(struct link *link, const char *address, const char *port)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	uint64_t until = now_ns() + CONNECT_MS * NS_PER_MS;
	int err;

	if (!channel) {
		perror("hroce-peer: rdma_cm");
		link->status = NOT_CONNECTED;
		return;
	}
	err = client_connect(link, channel, address, port);
	while (err == -EBUSY && now_ns() < until) {
		client_close(link);
		*link = (struct link){ .order = link->order };
		usleep(BUSY_RETRY_MS * 1000);
		err = client_connect(link, channel, address, port);
	}
	if (!err) {
		err = link->order.to_server ? run_sender(link) :
					      run_receiver(link);
		if (err && link->status == IBV_WC_SUCCESS)
			link->status = IBV_WC_GENERAL_ERR;
		link->mtu = path_mtu(link);
	} else {
		link->status = err == -EBUSY ? BUSY : NOT_CONNECTED;
	}
	client_close(link);
	rdma_destroy_event_channel(channel);
}

static const char *status_text(int status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return "ok";
	case NOT_CONNECTED:
		return "connect";
	case SKIPPED:
		return "skipped";
	case BUSY:
		return busy;
	default:
		return ibv_wc_status_str(status);
	}
}

static bool is_unreachable(int status)
{
	return status == NOT_CONNECTED || status == BUSY;
}

/* Messages arrive in order, so those of the sizes before a failure passed. */
static void print_sizes(const struct link *link, const char *direction)
{
	unsigned int n, i, count, status = link->status;
	uint64_t left = link->messages, passed;
	uint32_t sizes[SIZES_MAX];

	n = order_sizes(&link->order, sizes);
	for (i = 0; i < n; i++) {
		count = order_count(&link->order, sizes[i]);
		passed = left < count ? left : count;
		left -= passed;
		printf("%s %u %llu %llu %llu %u %s\n", direction, sizes[i],
		       (unsigned long long)passed,
		       (unsigned long long)link->damaged,
		       (unsigned long long)link->ns, link->mtu,
		       passed == count ? "ok" : status_text(status));
		if (passed < count && !is_unreachable(status))
			status = SKIPPED;
	}
}

static int client(const char *address, const char *port, char **words)
{
	int unreachable = 0;

	if (!strncmp(*words, "mark:", 5))
		return mark_measure(address, port, *words + 5);
	for (; *words; words++) {
		struct link link = { .order.magic = MAGIC };
		char direction[8];

		if (sscanf(*words, "%7[a-z]:%u:%u:%u", direction,
			   &link.order.size, &link.order.count,
			   &link.order.payload) != 4 ||
		    !order_is_valid(&link.order)) {
			fprintf(stderr, "hroce-peer: cannot measure %s\n",
				*words);
			return 2;
		}
		link.order.to_server = !strcmp(direction, "send");
		/* The first attempt has waited for long. */
		if (unreachable)
			link.status = unreachable;
		else
			measure(&link, address, port);
		if (is_unreachable(link.status))
			unreachable = link.status;
		print_sizes(&link, direction);
		fflush(stdout);
	}
	return 0;
}

/* One measurement */
static void serve_one(struct rdma_cm_id *id, const struct order *wanted,
		      struct rdma_event_channel *others)
{
	struct rdma_conn_param param = {
		.responder_resources = 1,
		.initiator_depth = 1,
		.retry_count = RETRIES,
		.rnr_retry_count = 7,
	};
	struct link link = {
		.id = id,
		.begin = now_ns(),
		.others = others,
	};
	uint64_t until;

	order_swap(&link.order, wanted);
	if (!order_is_valid(&link.order) ||
	    link_open(&link, !link.order.to_server) ||
	    rdma_accept(id, &param)) {
		rdma_reject(id, NULL, 0);
		link_close(&link);
		return;
	}
	if (expect(id->channel, RDMA_CM_EVENT_ESTABLISHED) == 0) {
		if (link.order.to_server)
			run_receiver(&link);
		else
			run_sender(&link);
		/* Until the client has its last message. */
		until = patience(&link);
		while (link.status == IBV_WC_SUCCESS && !link.gone)
			if (wait_event(&link, until))
				break;
	}
	link_close(&link);
}

static int listen_on(struct rdma_event_channel *channel, struct sockaddr *addr,
		     enum rdma_port_space space)
{
	struct rdma_cm_id *listener;

	return rdma_create_id(channel, &listener, NULL, space) ||
	       rdma_bind_addr(listener, addr) || rdma_listen(listener, 8);
}

/* Take a request for a connection. */
static void serve_request(struct rdma_cm_id *id, const struct order *order,
			  struct rdma_event_channel *others)
{
	struct rdma_event_channel *own = rdma_create_event_channel();

	if (own && rdma_migrate_id(id, own) == 0) {
		if (id->ps == RDMA_PS_UDP)
			mark_serve(id);
		else
			serve_one(id, order, others);
	}
	rdma_destroy_id(id);
	if (own)
		rdma_destroy_event_channel(own);
}

static int serve(char **words)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct addrinfo *on = resolve(words[0], words[1], true);
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct order order;
	size_t size;

	if (!on || !channel || listen_on(channel, on->ai_addr, RDMA_PS_TCP) ||
	    listen_on(channel, on->ai_addr, RDMA_PS_UDP)) {
		perror("hroce-peer: cannot listen");
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (rdma_get_cm_event(channel, &event) == 0) {
		id = NULL;
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
			id = event->id;
		/* None is an order that is not valid. */
		memset(&order, 0, sizeof(order));
		if (id && id->ps == RDMA_PS_TCP) {
			size = event->param.conn.private_data_len;
			if (size >= sizeof(order))
				memcpy(&order, event->param.conn.private_data,
				       sizeof(order));
		}
		rdma_ack_cm_event(event);
		if (id)
			serve_request(id, &order, channel);
	}
	return 1;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "serve"))
		return serve(argv + 2);
	if (argc > 4 && !strcmp(argv[1], "measure"))
		return client(argv[2], argv[3], argv + 4);
	fprintf(stderr,
		"usage: hroce-peer serve ADDRESS PORT | measure ADDRESS PORT {mark:TOS | {send|receive}:SIZE:COUNT:PAYLOAD...}\n");
	return 2;
}

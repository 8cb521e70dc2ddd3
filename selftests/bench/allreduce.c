// SPDX-License-Identifier: GPL-2.0
/*
 * Ring all-reduce: each of N ranks has a vector of numbers, and in the end all
 * have their sum. The vector is cut into N chunks. In N - 1 steps each rank
 * adds the chunk that comes from the rank before it to its own and passes the
 * result on; in N - 1 more the finished chunks go round.
 *
 * Over RDMA a chunk is one WRITE with immediate: into one of two scratch areas
 * of the next rank while sums are made, in place afterwards. A rank that is
 * done with a scratch area says so by an empty SEND. All of it sleeps for
 * completions, as there are more ranks than CPUs. Over TCP the same steps are
 * made with a plain connection.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oob.h"
#include "rc.h"
#include "util.h"

#define SLOTS		2
#define MAX_RANKS	64
#define QUEUE_DEPTH	(4 * MAX_RANKS)
/* The first run, which warms up, is so much shorter. */
#define WARMUP_SHARE	16

/**
 * struct options - what is asked for
 * @ranks: how many there are
 * @rank: which one this is
 * @port: TCP port of rank 0; the others follow
 * @bytes: length of the vector
 * @device: name of the device; NULL to use TCP
 * @gid_idx: index of its GID
 * @next_address: where the rank behind is
 */
struct options {
	uint32_t ranks;
	uint32_t rank;
	uint16_t port;
	size_t bytes;
	const char *device;
	int gid_idx;
	const char *next_address;
};

/* How many completions of each kind have come. */
enum counts {
	CHUNKS_SENT,
	CREDITS_SENT,
	CHUNKS_RECEIVED,
	CREDITS_RECEIVED,
	COUNTS_NR
};

/**
 * struct ring - a rank
 * @rank: this rank
 * @ranks: how many there are
 * @prev: connection from the rank before
 * @next: connection to the rank behind
 * @data: the vector, and behind it the scratch areas
 * @scratch: the scratch areas, each of @slot_bytes
 * @slot_bytes: bytes of the longest chunk
 * @chunk_bytes: bytes of a chunk of the current run
 * @tcp: data goes over @prev and @next, too
 * @dev: device, unless @tcp
 * @mem: @data, registered
 * @channel: wakes on completions
 * @cq: all completions
 * @qp_prev: chunks in, credits out
 * @qp_next: chunks out, credits in
 * @peer: the memory of the rank behind
 * @counts: completions so far
 */
struct ring {
	uint32_t rank;
	uint32_t ranks;
	int prev;
	int next;
	char *data;
	char *scratch;
	size_t slot_bytes;
	size_t chunk_bytes;
	bool tcp;
	struct rc_dev dev;
	struct rc_mem mem;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp_prev;
	struct ibv_qp *qp_next;
	struct rc_peer peer;
	uint64_t counts[COUNTS_NR];
};

static void post_receive(struct ibv_qp *qp, enum counts what)
{
	struct ibv_recv_wr wr = { .wr_id = what }, *bad;

	errno = ibv_post_recv(qp, &wr, &bad);
	if (errno)
		die("ibv_post_recv");
}

static void take_completion(struct ring *ring, const struct ibv_wc *wc)
{
	rc_check(wc);
	ring->counts[wc->wr_id]++;
	if (wc->wr_id == CHUNKS_RECEIVED)
		post_receive(ring->qp_prev, CHUNKS_RECEIVED);
	else if (wc->wr_id == CREDITS_RECEIVED)
		post_receive(ring->qp_next, CREDITS_RECEIVED);
}

static bool take_completions(struct ring *ring)
{
	struct ibv_wc wc;
	bool any = false;
	int n;

	while ((n = ibv_poll_cq(ring->cq, 1, &wc)) > 0) {
		take_completion(ring, &wc);
		any = true;
	}
	if (n < 0)
		die_saying("ibv_poll_cq failed");
	return any;
}

/* Sleep until so many completions of that kind have come. */
static void wait_for(struct ring *ring, enum counts what, uint64_t count)
{
	struct ibv_cq *cq;
	void *context;

	take_completions(ring);
	while (ring->counts[what] < count) {
		if (ibv_req_notify_cq(ring->cq, 0))
			die_saying("ibv_req_notify_cq failed");
		if (take_completions(ring))
			continue;
		if (ibv_get_cq_event(ring->channel, &cq, &context))
			die("ibv_get_cq_event");
		ibv_ack_cq_events(cq, 1);
	}
}

static void send_chunk(struct ring *ring, const char *from, size_t to_offset)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)from,
		.length = ring->chunk_bytes,
		.lkey = ring->mem.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = CHUNKS_SENT,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = ring->peer.addr + to_offset,
		.wr.rdma.rkey = ring->peer.rkey,
	}, *bad;

	errno = ibv_post_send(ring->qp_next, &wr, &bad);
	if (errno)
		die("ibv_post_send");
}

static void send_credit(struct ring *ring)
{
	struct ibv_send_wr wr = {
		.wr_id = CREDITS_SENT,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	errno = ibv_post_send(ring->qp_prev, &wr, &bad);
	if (errno)
		die("ibv_post_send");
}

/* Both directions at once, or all ranks would wait for each other. */
static void pass_by_tcp(struct ring *ring, const char *out, char *in)
{
	size_t sent = 0, received = 0, all = ring->chunk_bytes;

	while (sent < all || received < all) {
		struct pollfd fds[] = {
			{ .fd = ring->next, .events = sent < all ? POLLOUT : 0 },
			{ .fd = ring->prev, .events = received < all ? POLLIN : 0 },
		};
		ssize_t n;

		if (poll(fds, 2, -1) < 0)
			die("poll");
		if (fds[0].revents) {
			n = send(ring->next, out + sent, all - sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);
			if (n < 0 && errno != EAGAIN)
				die("send");
			sent += n > 0 ? n : 0;
		}
		if (fds[1].revents && received < all) {
			n = recv(ring->prev, in + received, all - received,
				 MSG_DONTWAIT);
			if (!n || (n < 0 && errno != EAGAIN))
				die("recv");
			received += n > 0 ? n : 0;
		}
	}
}

static char *chunk(struct ring *ring, uint32_t idx)
{
	return ring->data + idx % ring->ranks * ring->chunk_bytes;
}

static void add(char *to, const char *from, size_t bytes)
{
	uint32_t *sum = (uint32_t *)to;
	const uint32_t *more = (const uint32_t *)from;
	size_t i;

	for (i = 0; i < bytes / sizeof(*sum); i++)
		sum[i] += more[i];
}

static void reduce_step(struct ring *ring, uint32_t step)
{
	char *out = chunk(ring, ring->rank + ring->ranks - step);
	char *mine = chunk(ring, ring->rank + 2 * ring->ranks - step - 1);
	char *scratch = ring->scratch + step % SLOTS * ring->slot_bytes;

	if (ring->tcp) {
		pass_by_tcp(ring, out, scratch);
	} else {
		if (step >= SLOTS)
			wait_for(ring, CREDITS_RECEIVED, step - SLOTS + 1);
		send_chunk(ring, out, scratch - ring->data);
		wait_for(ring, CHUNKS_RECEIVED, step + 1);
	}
	add(mine, scratch, ring->chunk_bytes);
	if (!ring->tcp)
		send_credit(ring);
}

static void gather_step(struct ring *ring, uint32_t step)
{
	char *out = chunk(ring, ring->rank + 1 + ring->ranks - step);
	char *in = chunk(ring, ring->rank + ring->ranks - step);

	if (ring->tcp) {
		pass_by_tcp(ring, out, in);
		return;
	}
	send_chunk(ring, out, out - ring->data);
	wait_for(ring, CHUNKS_RECEIVED, ring->ranks + step);
}

static void all_reduce(struct ring *ring)
{
	uint32_t step, steps = ring->ranks - 1;

	memset(ring->counts, 0, sizeof(ring->counts));
	for (step = 0; step < steps; step++)
		reduce_step(ring, step);
	for (step = 0; step < steps; step++)
		gather_step(ring, step);
	if (ring->tcp)
		return;
	wait_for(ring, CHUNKS_SENT, 2 * steps);
	wait_for(ring, CREDITS_SENT, steps);
	wait_for(ring, CREDITS_RECEIVED, steps);
}

/* Return when all ranks are here: a byte goes round twice. */
static void barrier(struct ring *ring)
{
	char byte = 0;
	int round;

	for (round = 0; round < 2; round++) {
		if (ring->rank)
			oob_recv(ring->prev, &byte, 1);
		oob_send(ring->next, &byte, 1);
		if (!ring->rank)
			oob_recv(ring->prev, &byte, 1);
	}
}

static uint32_t value(size_t idx, uint32_t rank)
{
	return idx * 2654435761u + rank;
}

static void fill(struct ring *ring)
{
	uint32_t *data = (uint32_t *)ring->data;
	size_t i, nr = ring->ranks * ring->chunk_bytes / sizeof(*data);

	for (i = 0; i < nr; i++)
		data[i] = value(i, ring->rank);
}

static void check(struct ring *ring)
{
	const uint32_t *data = (const uint32_t *)ring->data;
	size_t i, nr = ring->ranks * ring->chunk_bytes / sizeof(*data);
	uint32_t rest = ring->ranks * (ring->ranks - 1) / 2;

	for (i = 0; i < nr; i++)
		if (data[i] != ring->ranks * value(i, 0) + rest)
			die_saying("a sum is wrong");
}

/* Return: nanoseconds that it took, barriers included. */
static uint64_t run_once(struct ring *ring, size_t bytes)
{
	uint64_t start;

	ring->chunk_bytes = bytes / ring->ranks;
	fill(ring);
	barrier(ring);
	start = now_ns();
	all_reduce(ring);
	barrier(ring);
	start = now_ns() - start;
	check(ring);
	return start;
}

static void set_rdma_up(struct ring *ring, const struct options *opt)
{
	struct rc_peer prev;
	int i;

	rc_open(&ring->dev, opt->device, opt->gid_idx);
	ring->mem = rc_register(&ring->dev,
				opt->bytes + SLOTS * ring->slot_bytes);
	ring->data = ring->mem.buf;
	ring->channel = ibv_create_comp_channel(ring->dev.ctx);
	if (!ring->channel)
		die("ibv_create_comp_channel");
	ring->cq = rc_cq(&ring->dev, 4 * QUEUE_DEPTH, ring->channel,
			 ring->rank);
	ring->qp_prev = rc_qp(&ring->dev, ring->cq, QUEUE_DEPTH, QUEUE_DEPTH);
	ring->qp_next = rc_qp(&ring->dev, ring->cq, QUEUE_DEPTH, QUEUE_DEPTH);
	for (i = 0; i < QUEUE_DEPTH; i++) {
		post_receive(ring->qp_prev, CHUNKS_RECEIVED);
		post_receive(ring->qp_next, CREDITS_RECEIVED);
	}
	rc_tell(&ring->dev, &ring->mem, ring->qp_prev->qp_num, ring->prev);
	rc_tell(&ring->dev, &ring->mem, ring->qp_next->qp_num, ring->next);
	ring->peer = rc_hear(ring->next);
	prev = rc_hear(ring->prev);
	rc_connect(&ring->dev, ring->qp_next, &ring->peer, ring->peer.qpn);
	rc_connect(&ring->dev, ring->qp_prev, &prev, prev.qpn);
	barrier(ring);
}

static void set_up(struct ring *ring, const struct options *opt)
{
	int listener = oob_listen(opt->port + opt->rank);

	ring->rank = opt->rank;
	ring->ranks = opt->ranks;
	ring->next = oob_connect(opt->next_address,
				 opt->port + (opt->rank + 1) % opt->ranks);
	ring->prev = oob_accept(listener);
	close(listener);
	ring->slot_bytes = opt->bytes / opt->ranks;
	ring->tcp = !opt->device;
	if (ring->tcp)
		ring->data = alloc(opt->bytes + SLOTS * ring->slot_bytes);
	else
		set_rdma_up(ring, opt);
	ring->scratch = ring->data + opt->bytes;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: allreduce -n RANKS -r RANK -p PORT -s BYTES [-d DEVICE -x GID-INDEX] ADDRESS-OF-NEXT-RANK\n"
		"Rank R listens on PORT + R. Without DEVICE data goes over TCP.\n");
	exit(2);
}

static void parse_option(struct options *opt, int letter)
{
	switch (letter) {
	case 'n':
		opt->ranks = number(optarg);
		break;
	case 'r':
		opt->rank = atoi(optarg);
		break;
	case 'p':
		opt->port = number(optarg);
		break;
	case 's':
		opt->bytes = number(optarg);
		break;
	case 'd':
		opt->device = optarg;
		break;
	case 'x':
		opt->gid_idx = atoi(optarg);
		break;
	default:
		usage();
	}
}

int main(int argc, char **argv)
{
	struct options opt = { 0 };
	struct ring ring = { 0 };
	int letter;
	uint64_t ns;

	while ((letter = getopt(argc, argv, "n:r:p:s:d:x:")) >= 0)
		parse_option(&opt, letter);
	if (optind + 1 != argc || opt.ranks < 2 || opt.ranks > MAX_RANKS ||
	    opt.rank >= opt.ranks || !opt.port || !opt.bytes ||
	    opt.bytes % (opt.ranks * WARMUP_SHARE * sizeof(uint32_t)))
		usage();
	opt.next_address = argv[optind];
	set_up(&ring, &opt);
	run_once(&ring, opt.bytes / WARMUP_SHARE);
	ns = run_once(&ring, opt.bytes);
	if (!ring.rank)
		printf("ms=%.6g MBps=%.6g\n", ns / 1e6, opt.bytes * 1e3 / ns);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A ping-pong of SENDs that poll one CQ at each end, as plain.c does with
 * sockets: whoever gets a message answers it. An answer tells that the message
 * before it has arrived, so nobody waits for completions of what was sent; every
 * so many messages there is one, for the room in the queue.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "oob.h"
#include "rc.h"
#include "util.h"

#define WARMUP_ROUNDS		200
#define DEPTH			64
#define SENDS_PER_COMPLETION	16
#define PATIENCE_NS		(10 * NSEC_PER_SEC)

/**
 * struct options - what is asked for
 * @device: name of the device
 * @gid_idx: index of its GID
 * @server: address of the other side; NULL on the one that answers
 * @port: TCP port of the side that answers
 * @size: bytes of each message
 * @rounds: messages to time
 */
struct options {
	const char *device;
	int gid_idx;
	const char *server;
	uint16_t port;
	uint32_t size;
	uint32_t rounds;
};

/**
 * struct pong - a side
 * @dev: device
 * @mem: a message to send, and behind it %DEPTH to receive
 * @cq: completions of both queues
 * @qp: queue pair
 * @size: bytes of each message
 * @sent: messages sent so far
 */
struct pong {
	struct rc_dev dev;
	struct rc_mem mem;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	uint32_t size;
	uint32_t sent;
};

static struct ibv_sge pong_sge(const struct pong *pong, uint32_t slot)
{
	return (struct ibv_sge) {
		.addr = (uintptr_t)pong->mem.buf + (uint64_t)slot * pong->size,
		.length = pong->size,
		.lkey = pong->mem.mr->lkey,
	};
}

static void post_receive(struct pong *pong, uint32_t slot)
{
	struct ibv_sge sge = pong_sge(pong, slot);
	struct ibv_recv_wr *bad, wr = {
		.wr_id = slot,
		.sg_list = &sge,
		.num_sge = 1,
	};

	errno = ibv_post_recv(pong->qp, &wr, &bad);
	if (errno)
		die("ibv_post_recv");
}

static void post_send(struct pong *pong)
{
	struct ibv_sge sge = pong_sge(pong, 0);
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
	};

	if (++pong->sent % SENDS_PER_COMPLETION == 0)
		wr.send_flags = IBV_SEND_SIGNALED;
	errno = ibv_post_send(pong->qp, &wr, &bad);
	if (errno)
		die("ibv_post_send");
}

static void await_message(struct pong *pong)
{
	uint64_t start = now_ns();
	struct ibv_wc wc;
	int n;

	for (;;) {
		n = ibv_poll_cq(pong->cq, 1, &wc);
		if (n < 0)
			die_saying("ibv_poll_cq failed");
		if (!n && now_ns() - start > PATIENCE_NS)
			die_saying("no message");
		if (!n)
			continue;
		rc_check(&wc);
		if (wc.opcode == IBV_WC_RECV)
			break;
	}
	post_receive(pong, wc.wr_id);
}

static void answer(struct pong *pong, uint32_t rounds)
{
	while (rounds--) {
		await_message(pong);
		post_send(pong);
	}
}

static void ping(struct pong *pong, uint32_t rounds)
{
	uint64_t *times = alloc(rounds * sizeof(*times)), start;
	uint32_t i;

	for (i = 0; i < WARMUP_ROUNDS + rounds; i++) {
		start = now_ns();
		post_send(pong);
		await_message(pong);
		if (i >= WARMUP_ROUNDS)
			times[i - WARMUP_ROUNDS] = now_ns() - start;
	}
	print_one_way(times, rounds);
	free(times);
}

static void create(struct pong *pong, const struct options *opt)
{
	rc_open(&pong->dev, opt->device, opt->gid_idx);
	pong->size = opt->size;
	pong->mem = rc_register(&pong->dev, (size_t)(1 + DEPTH) * opt->size);
	pong->cq = rc_cq(&pong->dev, 2 * DEPTH, NULL, 0);
	pong->qp = rc_qp(&pong->dev, pong->cq, DEPTH, DEPTH);
}

static void connect_to_peer(struct pong *pong, int fd)
{
	struct rc_peer peer;
	uint32_t slot;

	rc_tell(&pong->dev, &pong->mem, pong->qp->qp_num, fd);
	peer = rc_hear(fd);
	rc_connect(&pong->dev, pong->qp, &peer, peer.qpn);
	for (slot = 1; slot <= DEPTH; slot++)
		post_receive(pong, slot);
	oob_meet(fd);
}

static int run(const struct options *opt)
{
	struct pong pong = {};
	int fd, listener;

	create(&pong, opt);
	if (opt->server) {
		fd = oob_connect(opt->server, opt->port);
	} else {
		listener = oob_listen(opt->port);
		fd = oob_accept(listener);
		close(listener);
	}
	connect_to_peer(&pong, fd);
	if (opt->server)
		ping(&pong, opt->rounds);
	else
		answer(&pong, WARMUP_ROUNDS + opt->rounds);
	/* The last acknowledgements are still to be exchanged. */
	oob_meet(fd);
	return 0;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: pong -d DEVICE -x GID-INDEX -p PORT -s SIZE -n ROUNDS [SERVER-ADDRESS]\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct options opt = {};
	int letter;

	while ((letter = getopt(argc, argv, "d:x:p:s:n:")) >= 0) {
		switch (letter) {
		case 'd':
			opt.device = optarg;
			break;
		case 'x':
			opt.gid_idx = atoi(optarg);
			break;
		case 'p':
			opt.port = number(optarg);
			break;
		case 's':
			opt.size = number(optarg);
			break;
		case 'n':
			opt.rounds = number(optarg);
			break;
		default:
			usage();
		}
	}
	if (argc - optind > 1 || !opt.device || !opt.port || !opt.size ||
	    !opt.rounds)
		usage();
	opt.server = argv[optind];
	return run(&opt);
}

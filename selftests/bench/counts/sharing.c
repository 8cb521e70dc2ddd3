// SPDX-License-Identifier: GPL-2.0
/*
 * usage: sharing TOPOLOGY DEVICE GID-INDEX DEVICE GID-INDEX TRACING-ON
 *
 * Two threads, each on a CPU of its own, exchange 64-byte messages between two
 * RDMA devices, with marks for the plugin lines.c around it; inside a guest,
 * called by sharing.sh. For each window a line is printed: topology, workload,
 * messages. The last argument is the switch of tracing, which is switched off
 * before messages are exchanged.
 *
 *	ends_*	one queue pair: each thread has an end, and they take turns
 *	pairs_*	two queue pairs that share nothing but the devices: each thread
 *		has both ends of one
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../rc.h"
#include "../util.h"
#include "mark.h"

#define NR_CPUS	2
#define SIZE	64
#define DEPTH	16
#define CQES	64
#define WARM	256
#define COUNT	1024
#define PORT	1

enum { A, B, NR_ENDS };

/* What is in the memory of an end. */
enum { INCOMING, OUTGOING = SIZE, MEMORY = 2 * SIZE };

struct end {
	struct rc_dev dev;
	struct rc_mem mem;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct rc_peer peer;
	uint32_t sent;
	uint32_t received;
	uint8_t turn;
};

/* With device handles, memory and queues of its own. */
struct connection {
	struct end ends[NR_ENDS];
};

/**
 * struct workload - what both threads do in a window
 * @name: of the row
 * @opcode: what is posted
 * @apart: each thread has a connection of its own
 */
struct workload {
	const char *name;
	enum ibv_wr_opcode opcode;
	bool apart;
};

static const struct workload workloads[] = {
	{ "ends_send", IBV_WR_SEND, false },
	{ "ends_write", IBV_WR_RDMA_WRITE, false },
	{ "pairs_send", IBV_WR_SEND, true },
	{ "pairs_write", IBV_WR_RDMA_WRITE, true },
	{ "pairs_read", IBV_WR_RDMA_READ, true },
};

static const char *devices[NR_ENDS];
static int gid_idx[NR_ENDS];
static struct connection connections[NR_CPUS];
static const struct workload *workload;
static pthread_barrier_t barrier;

static void post_receive(struct end *end)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->mem.buf + INCOMING,
		.length = SIZE,
		.lkey = end->mem.mr->lkey,
	};
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	errno = ibv_post_recv(end->qp, &wr, &bad);
	if (errno)
		die("ibv_post_recv");
}

static void open_end(struct end *end, int which)
{
	int i;

	rc_open(&end->dev, devices[which], gid_idx[which]);
	end->mem = rc_register(&end->dev, MEMORY);
	end->cq = rc_cq(&end->dev, CQES, NULL, 0);
	end->qp = rc_qp(&end->dev, end->cq, DEPTH, DEPTH);
	for (i = 0; i < DEPTH; i++)
		post_receive(end);
}

static void learn_peer(struct end *end, const struct end *other)
{
	end->peer.addr = (uintptr_t)other->mem.buf;
	end->peer.rkey = other->mem.mr->rkey;
	end->peer.qpn = other->qp->qp_num;
	if (ibv_query_gid(other->dev.ctx, PORT, other->dev.gid_idx,
			  &end->peer.gid))
		die("ibv_query_gid");
}

static void open_connection(struct connection *c)
{
	int i;

	for (i = 0; i < NR_ENDS; i++)
		open_end(&c->ends[i], i);
	for (i = 0; i < NR_ENDS; i++) {
		learn_peer(&c->ends[i], &c->ends[!i]);
		rc_connect(&c->ends[i].dev, c->ends[i].qp, &c->ends[i].peer,
			   c->ends[i].peer.qpn);
	}
}

static void post_message(struct end *end)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)end->mem.buf + OUTGOING,
		.length = SIZE,
		.lkey = end->mem.mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = workload->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = end->peer.addr + INCOMING,
		.wr.rdma.rkey = end->peer.rkey,
	}, *bad;

	memset(end->mem.buf + OUTGOING, ++end->turn, SIZE);
	errno = ibv_post_send(end->qp, &wr, &bad);
	if (errno)
		die("ibv_post_send");
}

static void poll_end(struct end *end)
{
	struct ibv_wc wc[4];
	int i, n;

	n = ibv_poll_cq(end->cq, 4, wc);
	if (n < 0)
		die_saying("ibv_poll_cq failed");
	for (i = 0; i < n; i++) {
		rc_check(&wc[i]);
		if (wc[i].opcode & IBV_WC_RECV) {
			end->received++;
			post_receive(end);
		} else {
			end->sent++;
		}
	}
}

static void send_message(struct end *end)
{
	post_message(end);
	for (end->sent = 0; !end->sent;)
		poll_end(end);
}

/* Wait for the other thread's next message. */
static void await_message(struct end *end, uint8_t turn)
{
	const volatile uint8_t *last =
		(const uint8_t *)end->mem.buf + INCOMING + SIZE - 1;

	if (workload->opcode != IBV_WR_SEND) {
		while (*last != turn)
			;
		return;
	}
	while (!end->received)
		poll_end(end);
	end->received--;
}

/* Both threads have an end of the same queue pair. */
static void take_turns(int cpu, int nr)
{
	struct end *end = &connections[0].ends[cpu];

	while (nr--) {
		if (cpu == A)
			send_message(end);
		await_message(end, end->turn + (cpu == B));
		if (cpu == B)
			send_message(end);
	}
}

/* This thread has both ends. */
static void keep_apart(int cpu, int nr)
{
	struct connection *c = &connections[cpu];

	while (nr--) {
		send_message(&c->ends[A]);
		if (workload->opcode == IBV_WR_SEND)
			await_message(&c->ends[B], 0);
	}
}

static void work(int cpu, int nr)
{
	if (workload->apart)
		keep_apart(cpu, nr);
	else
		take_turns(cpu, nr);
	pthread_barrier_wait(&barrier);
}

static void *run_workload(void *arg)
{
	int cpu = (struct connection *)arg - connections;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	errno = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	if (errno)
		die("pthread_setaffinity_np");
	work(cpu, WARM);
	if (!cpu)
		mark_begin();
	pthread_barrier_wait(&barrier);
	work(cpu, COUNT);
	if (!cpu)
		mark_end();
	return NULL;
}

/* Each of the threads sends as many messages, whatever the workload. */
static void run(void)
{
	pthread_t threads[NR_CPUS];
	int i;

	for (i = 0; i < NR_CPUS; i++) {
		errno = pthread_create(&threads[i], NULL, run_workload,
				       &connections[i]);
		if (errno)
			die("pthread_create");
	}
	for (i = 0; i < NR_CPUS; i++)
		pthread_join(threads[i], NULL);
}

static void end_tracing(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || fputc('0', file) == EOF || fclose(file))
		die(path);
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc != 7)
		die_saying("usage: sharing TOPOLOGY DEVICE GID-INDEX DEVICE GID-INDEX TRACING-ON");
	for (i = 0; i < NR_ENDS; i++) {
		devices[i] = argv[2 + 2 * i];
		gid_idx[i] = atoi(argv[3 + 2 * i]);
	}
	for (i = 0; i < NR_CPUS; i++)
		open_connection(&connections[i]);
	end_tracing(argv[6]);
	/* From here on the plugin watches. */
	mark_begin();
	if (pthread_barrier_init(&barrier, NULL, NR_CPUS))
		die_saying("pthread_barrier_init failed");
	for (i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		workload = &workloads[i];
		run();
		printf("%s\t%s\t%u\n", argv[1], workload->name,
		       NR_CPUS * COUNT);
		fflush(stdout);
	}
	return 0;
}

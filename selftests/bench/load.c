// SPDX-License-Identifier: GPL-2.0
/*
 * Load that perftest cannot make: requests posted in lists, thousands of queue
 * pairs, and queue pairs spread over CPUs.
 *
 * The two sides exchange addresses over TCP. Workers, one for each CPU asked
 * for, keep all their queue pairs busy while the main thread sleeps through the
 * time that is measured; they never look at a clock.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oob.h"
#include "proc.h"
#include "rc.h"
#include "util.h"

#define MAX_WORKERS	16
#define MAX_LIST	64
/*
 * Messages in memory, gone through one after the other: as many however many
 * queue pairs there are, so that caches have the same to hold. -b: one, as with
 * perftest and iperf3.
 */
#define SLOTS		64
#define POLL_BATCH	32
/* Empty polls before others may have the CPU: there may be but one. */
#define POLLS_PER_YIELD	256
/* Share of the measured time that goes before it. */
#define WARMUP_SHARE	4
/* With many queue pairs, it takes long until each has had its turn. */
#define ROUND_PATIENCE_NS	(30 * NSEC_PER_SEC)
#define ROUND_PAUSE_US		10000

/**
 * struct options - what is asked for
 * @device: name of the device
 * @gid_idx: index of its GID
 * @server: address of the other side; NULL on the passive one
 * @port: TCP port of the passive side
 * @opcode: what the active side posts
 * @size: bytes of each message
 * @qps: queue pairs
 * @list: requests posted at once
 * @depth: requests under way on each queue pair, a multiple of @list
 * @seconds: time to measure
 * @cpus: CPU of each worker
 * @workers: their number; 0 for one that may run anywhere
 * @slots: messages in memory
 * @memory: measure the kernel's memory, too
 * @sleeps: the active side sleeps for completions
 */
struct options {
	const char *device;
	int gid_idx;
	const char *server;
	uint16_t port;
	enum ibv_wr_opcode opcode;
	uint32_t size;
	uint32_t qps;
	uint32_t list;
	uint32_t depth;
	uint32_t seconds;
	int cpus[MAX_WORKERS];
	uint32_t workers;
	uint32_t slots;
	bool memory;
	bool sleeps;
};

/**
 * struct worker - a thread and its queue pairs
 * @load: everything
 * @thread: the thread
 * @cpu: where it is to run; -1 for anywhere
 * @channel: wakes on completions; NULL if it polls
 * @cq: completions of its queue pairs
 * @first: index of its first queue pair
 * @nr: how many queue pairs it has
 * @first_slot: the first of the messages in memory that are its own
 * @nr_slots: how many these are
 * @posts: lists posted so far
 * @done: completed messages so far; read by the main thread
 */
struct worker {
	struct load *load;
	pthread_t thread;
	int cpu;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint32_t first;
	uint32_t nr;
	uint32_t first_slot;
	uint32_t nr_slots;
	uint64_t posts;
	uint64_t done;
};

/**
 * struct load - a side
 * @opt: what is asked for
 * @dev: device
 * @mem: room for @opt.slots messages
 * @qps: queue pairs
 * @peer: the other side
 * @workers: the workers
 * @nr_workers: their number
 * @fd: connection to the other side
 * @stop: the workers are to end
 */
struct load {
	struct options opt;
	struct rc_dev dev;
	struct rc_mem mem;
	struct ibv_qp **qps;
	struct rc_peer peer;
	struct worker workers[MAX_WORKERS];
	uint32_t nr_workers;
	int fd;
	bool stop;
};

static bool is_stopped(const struct load *load)
{
	return __atomic_load_n(&load->stop, __ATOMIC_RELAXED);
}

static void pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	errno = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	if (errno)
		die("pthread_setaffinity_np");
}

static void post_sends(struct worker *worker, uint32_t qp)
{
	struct load *load = worker->load;
	uint64_t slot = worker->first_slot +
			worker->posts++ % worker->nr_slots;
	uint64_t offset = slot * load->opt.size;
	struct ibv_send_wr wr[MAX_LIST], *bad;
	struct ibv_sge sge = {
		.addr = (uintptr_t)load->mem.buf + offset,
		.length = load->opt.size,
		.lkey = load->mem.mr->lkey,
	};
	uint32_t i, last = load->opt.list - 1;

	for (i = 0; i <= last; i++) {
		wr[i] = (struct ibv_send_wr) {
			.wr_id = qp,
			.next = i < last ? &wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = load->opt.opcode,
			.send_flags = i < last ? 0 : IBV_SEND_SIGNALED,
			.wr.rdma.remote_addr = load->peer.addr + offset,
			.wr.rdma.rkey = load->peer.rkey,
		};
	}
	errno = ibv_post_send(load->qps[qp], wr, &bad);
	if (errno)
		die("ibv_post_send");
}

static void post_receives(struct load *load, uint32_t qp, uint32_t nr)
{
	struct ibv_recv_wr wr[MAX_LIST], *bad;
	struct ibv_sge sge = {
		.addr = (uintptr_t)load->mem.buf +
			(uint64_t)(qp % load->opt.slots) * load->opt.size,
		.length = load->opt.size,
		.lkey = load->mem.mr->lkey,
	};
	uint32_t i;

	for (i = 0; i < nr; i++) {
		wr[i] = (struct ibv_recv_wr) {
			.wr_id = qp,
			.next = i + 1 < nr ? &wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
		};
	}
	errno = ibv_post_recv(load->qps[qp], wr, &bad);
	if (errno)
		die("ibv_post_recv");
}

/* Return: completions taken, each of them checked. */
static int poll_cq(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(cq, POLL_BATCH, wc), i;

	if (n < 0)
		die_saying("ibv_poll_cq failed");
	for (i = 0; i < n; i++)
		rc_check(&wc[i]);
	return n;
}

static int sleep_for_completions(struct worker *worker, struct ibv_wc *wc)
{
	struct ibv_cq *cq;
	void *context;
	int n;

	if (ibv_req_notify_cq(worker->cq, 0))
		die_saying("ibv_req_notify_cq failed");
	n = poll_cq(worker->cq, wc);
	if (n)
		return n;
	if (ibv_get_cq_event(worker->channel, &cq, &context))
		die("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return poll_cq(worker->cq, wc);
}

/* Return: completions taken, maybe none. */
static int take_completions(struct worker *worker, struct ibv_wc *wc,
			    uint32_t *empty_polls)
{
	int n = poll_cq(worker->cq, wc);

	if (n)
		*empty_polls = 0;
	else if (worker->channel)
		n = sleep_for_completions(worker, wc);
	else if (++*empty_polls % POLLS_PER_YIELD == 0)
		sched_yield();
	return n;
}

/* One list completed: count it, and post the next. */
static void repeat_completed(struct worker *worker, uint32_t *empty_polls)
{
	struct load *load = worker->load;
	struct ibv_wc wc[POLL_BATCH];
	int i, n = take_completions(worker, wc, empty_polls);

	for (i = 0; i < n; i++)
		post_sends(worker, wc[i].wr_id);
	__atomic_store_n(&worker->done,
			 worker->done + (uint64_t)n * load->opt.list,
			 __ATOMIC_RELAXED);
}

static void *keep_sending(void *arg)
{
	struct worker *worker = arg;
	struct load *load = worker->load;
	uint32_t qp, i, empty_polls = 0;

	pin(worker->cpu);
	/* Round by round, so that no queue pair is much ahead of another. */
	for (i = 0; i < load->opt.depth / load->opt.list; i++) {
		for (qp = 0; qp < worker->nr && !is_stopped(load); qp++) {
			post_sends(worker, worker->first + qp);
			if (qp % POLL_BATCH == POLL_BATCH - 1)
				repeat_completed(worker, &empty_polls);
		}
	}
	while (!is_stopped(load))
		repeat_completed(worker, &empty_polls);
	return NULL;
}

static bool peer_has_gone(const struct load *load)
{
	char byte;

	return recv(load->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

/* The passive side of SEND: keep the receive queues filled. */
static void *keep_receiving(void *arg)
{
	struct worker *worker = arg;
	struct load *load = worker->load;
	uint32_t *used = alloc(load->opt.qps * sizeof(*used));
	uint32_t empty_polls = 0;
	struct ibv_wc wc[POLL_BATCH];
	int i, n;

	pin(worker->cpu);
	while (!is_stopped(load)) {
		n = take_completions(worker, wc, &empty_polls);
		for (i = 0; i < n; i++) {
			uint32_t qp = wc[i].wr_id;

			if (++used[qp] < load->opt.list)
				continue;
			post_receives(load, qp, used[qp]);
			used[qp] = 0;
		}
	}
	free(used);
	return NULL;
}

static uint32_t receive_depth(const struct options *opt)
{
	return opt->opcode == IBV_WR_SEND && !opt->server ? 4 * opt->depth : 1;
}

static void create_worker(struct load *load, uint32_t idx)
{
	struct options *opt = &load->opt;
	struct worker *worker = &load->workers[idx];
	uint32_t depth, qp;

	worker->load = load;
	worker->cpu = opt->workers ? opt->cpus[idx] : -1;
	worker->first = (uint64_t)opt->qps * idx / load->nr_workers;
	worker->nr = (uint64_t)opt->qps * (idx + 1) / load->nr_workers -
		     worker->first;
	worker->nr_slots = opt->slots / load->nr_workers;
	worker->first_slot = idx * worker->nr_slots;
	depth = opt->server ? opt->depth / opt->list : receive_depth(opt);
	if (opt->sleeps && opt->server) {
		worker->channel = ibv_create_comp_channel(load->dev.ctx);
		if (!worker->channel)
			die("ibv_create_comp_channel");
	}
	worker->cq = rc_cq(&load->dev, worker->nr * depth + 1, worker->channel,
			   idx);
	for (qp = worker->first; qp < worker->first + worker->nr; qp++)
		load->qps[qp] = rc_qp(&load->dev, worker->cq,
				      opt->server ? opt->depth : 1,
				      receive_depth(opt));
}

/* The queue pairs of both sides, each connected to the one of equal index. */
static void connect_all(struct load *load)
{
	struct options *opt = &load->opt;
	uint32_t *mine = alloc(opt->qps * sizeof(*mine));
	uint32_t *theirs = alloc(opt->qps * sizeof(*theirs));
	uint32_t i, n;

	for (i = 0; i < opt->qps; i++)
		mine[i] = load->qps[i]->qp_num;
	rc_tell(&load->dev, &load->mem, mine[0], load->fd);
	load->peer = rc_hear(load->fd);
	oob_send(load->fd, mine, opt->qps * sizeof(*mine));
	oob_recv(load->fd, theirs, opt->qps * sizeof(*theirs));
	for (i = 0; i < opt->qps; i++)
		rc_connect(&load->dev, load->qps[i], &load->peer, theirs[i]);
	if (receive_depth(opt) > 1) {
		for (i = 0; i < opt->qps; i++)
			for (n = 0; n < receive_depth(opt); n += opt->list)
				post_receives(load, i, opt->list);
	}
	oob_meet(load->fd);
	free(mine);
	free(theirs);
}

static void start(struct load *load, void *(*work)(void *))
{
	uint32_t i;

	for (i = 0; i < load->nr_workers; i++) {
		errno = pthread_create(&load->workers[i].thread, NULL, work,
				       &load->workers[i]);
		if (errno)
			die("pthread_create");
	}
}

static void stop(struct load *load)
{
	uint32_t i;

	__atomic_store_n(&load->stop, true, __ATOMIC_RELAXED);
	for (i = 0; i < load->nr_workers; i++)
		pthread_join(load->workers[i].thread, NULL);
}

static uint64_t messages_done(const struct load *load)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < load->nr_workers; i++)
		sum += __atomic_load_n(&load->workers[i].done,
				       __ATOMIC_RELAXED);
	return sum;
}

/* Let so much time pass, and more until each queue pair may have had a turn. */
static void let_work(struct load *load, uint64_t least_ns)
{
	uint64_t start_ns = now_ns(), first = messages_done(load), ns;

	usleep(least_ns / 1000);
	do {
		ns = now_ns() - start_ns;
		if (messages_done(load) - first >= load->opt.qps)
			return;
		usleep(ROUND_PAUSE_US);
	} while (ns < ROUND_PATIENCE_NS);
}

static void measure(struct load *load)
{
	uint64_t messages, start_ns, ns, least_ns;
	struct proc_cpu before, after;

	least_ns = load->opt.seconds * NSEC_PER_SEC;
	start(load, keep_sending);
	let_work(load, least_ns / WARMUP_SHARE);
	start_ns = now_ns();
	before = proc_cpu();
	messages = messages_done(load);
	let_work(load, least_ns);
	messages = messages_done(load) - messages;
	after = proc_cpu();
	ns = now_ns() - start_ns;
	stop(load);
	if (!messages)
		die_saying("nothing completed for long");
	printf("msgps=%.6g MBps=%.6g cpu_ns=%.6g kernel_ns=%.6g\n",
	       messages * 1e9 / ns,
	       (double)messages * load->opt.size * 1e3 / ns,
	       (double)(after.busy_ns - before.busy_ns) / messages,
	       (double)(after.kernel_ns - before.kernel_ns) / messages);
}

static void serve(struct load *load)
{
	bool receives = load->opt.opcode == IBV_WR_SEND;

	if (receives)
		start(load, keep_receiving);
	while (!peer_has_gone(load))
		usleep(20000);
	if (receives)
		stop(load);
}

static void create_all(struct load *load)
{
	struct options *opt = &load->opt;
	uint32_t i;

	load->nr_workers = opt->workers ? opt->workers : 1;
	load->qps = alloc(opt->qps * sizeof(*load->qps));
	rc_open(&load->dev, opt->device, opt->gid_idx);
	load->mem = rc_register(&load->dev, (size_t)opt->slots * opt->size);
	if (opt->server) {
		load->fd = oob_connect(opt->server, opt->port);
	} else {
		int listener = oob_listen(opt->port);

		load->fd = oob_accept(listener);
		close(listener);
	}
	oob_meet(load->fd);
	for (i = 0; i < load->nr_workers; i++)
		create_worker(load, i);
}

static int run(struct load *load)
{
	struct options *opt = &load->opt;
	uint64_t start_ns, before = opt->memory ? proc_kernel_bytes() : 0;

	start_ns = now_ns();
	create_all(load);
	connect_all(load);
	if (!opt->server) {
		serve(load);
		return 0;
	}
	if (opt->memory) {
		/* Both sides are on this machine, and alike. */
		uint64_t bytes = proc_kernel_bytes() - before;
		uint64_t rings = 2 * proc_ring_bytes();

		printf("connect_ms=%.6g ", (now_ns() - start_ns) / 1e6);
		printf("qp_bytes=%.6g ", bytes > rings ?
		       (bytes - rings) / (2.0 * opt->qps) : 0);
	}
	measure(load);
	return 0;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: load -d DEVICE -x GID-INDEX -p PORT -o write|read|send -s SIZE [-q QPS] [-l LIST]\n"
		"            [-t DEPTH] [-D SECONDS] [-c CPU]... [-M] [-e] [-b] [SERVER-ADDRESS]\n");
	exit(2);
}

static enum ibv_wr_opcode opcode_by_name(const char *name)
{
	if (!strcmp(name, "write"))
		return IBV_WR_RDMA_WRITE;
	if (!strcmp(name, "read"))
		return IBV_WR_RDMA_READ;
	if (strcmp(name, "send"))
		usage();
	return IBV_WR_SEND;
}

static void parse_option(struct options *opt, int letter)
{
	switch (letter) {
	case 'd':
		opt->device = optarg;
		break;
	case 'x':
		opt->gid_idx = atoi(optarg);
		break;
	case 'p':
		opt->port = number(optarg);
		break;
	case 'o':
		opt->opcode = opcode_by_name(optarg);
		break;
	case 's':
		opt->size = number(optarg);
		break;
	case 'q':
		opt->qps = number(optarg);
		break;
	case 'l':
		opt->list = number(optarg);
		break;
	case 't':
		opt->depth = number(optarg);
		break;
	case 'D':
		opt->seconds = number(optarg);
		break;
	case 'c':
		if (opt->workers == MAX_WORKERS)
			usage();
		opt->cpus[opt->workers++] = atoi(optarg);
		break;
	case 'b':
		opt->slots = 1;
		break;
	case 'M':
		opt->memory = true;
		break;
	case 'e':
		opt->sleeps = true;
		break;
	default:
		usage();
	}
}

int main(int argc, char **argv)
{
	struct load load = {
		.opt = {
			.opcode = IBV_WR_RDMA_WRITE,
			.qps = 1,
			.list = 1,
			.depth = 16,
			.seconds = 1,
			.slots = SLOTS,
		},
	};
	struct options *opt = &load.opt;
	int letter;

	while ((letter = getopt(argc, argv, "d:x:p:o:s:q:l:t:D:c:Meb")) >= 0)
		parse_option(opt, letter);
	if (argc - optind > 1 || !opt->device || !opt->port || !opt->size ||
	    opt->list > MAX_LIST || opt->depth % opt->list ||
	    opt->qps < opt->workers || opt->slots < opt->workers)
		usage();
	opt->server = argv[optind];
	return run(&load);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * What a program sees of a device that it has opened.
 *
 *	opened DEVICE name		print the name of the context's device
 *	opened DEVICE many		several contexts, closed in another order,
 *					by several threads, and after fork()
 *	opened DEVICE fatal READY	hold it, create READY, and wait until it
 *					goes: event, flushed queues, EIO; reopen
 *	opened DEVICE unplug READY [still]
 *					the same for a card's own context: event,
 *					EIO; reopen; when READY has been deleted,
 *					dead doorbells (not rung when still)
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

#define NR_CONTEXTS	8
#define NR_RECVS	10

static struct ibv_context *must_open(const char *name)
{
	struct ibv_context *context = device_open(name);

	if (!context)
		DIE("cannot open %s", name);
	return context;
}

static void must_work(struct ibv_context *context)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	char byte[64] = {};
	struct ibv_mr *mr;

	if (!pd)
		DIE("no PD");
	mr = ibv_reg_mr(pd, byte, sizeof(byte), IBV_ACCESS_LOCAL_WRITE);
	if (!mr || ibv_dereg_mr(mr) || ibv_dealloc_pd(pd))
		DIE("no MR");
}

static void *open_and_close(void *name)
{
	for (int i = 0; i < 20; i++) {
		struct ibv_context *context = must_open(name);

		must_work(context);
		ibv_close_device(context);
	}
	return NULL;
}

static void many(char *name)
{
	struct ibv_context *contexts[NR_CONTEXTS];
	pthread_t threads[4];
	int status;
	pid_t pid;

	if (ibv_fork_init())
		DIE("ibv_fork_init");
	for (int i = 0; i < NR_CONTEXTS; i++)
		contexts[i] = must_open(name);
	for (int i = 0; i < NR_CONTEXTS; i++) {
		must_work(contexts[i * 3 % NR_CONTEXTS]);
		ibv_close_device(contexts[i * 3 % NR_CONTEXTS]);
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, open_and_close, name);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);

	contexts[0] = must_open(name);
	pid = fork();
	if (!pid) {
		open_and_close(name);
		exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		DIE("child: status %d", status);
	must_work(contexts[0]);
	ibv_close_device(contexts[0]);
}

static struct ibv_qp *qp_with_receives(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = NR_RECVS,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = DEVICE_PORT,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX |
				 IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
		DIE("no QP");
	for (int i = 0; i < NR_RECVS; i++) {
		struct ibv_recv_wr wr = { .wr_id = i }, *bad;

		if (ibv_post_recv(qp, &wr, &bad))
			DIE("no receive");
	}
	return qp;
}

static void wait_fd(int fd, const char *what)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	if (poll(&pollfd, 1, 20000) != 1)
		DIE("waited in vain for %s", what);
}

static void wait_until_fatal(struct ibv_context *context)
{
	do
		wait_fd(context->async_fd, "the event DEVICE_FATAL");
	while (!device_is_fatal(context));
}

/* The event comes first; what is there is destroyed after it. */
static void wait_until_eio(struct ibv_context *context)
{
	struct ibv_port_attr attr;

	for (uint64_t end = now_ms() + 10000;; usleep(1000)) {
		int ret = ibv_query_port(context, DEVICE_PORT, &attr);

		if (ret == EIO)
			break;
		if (now_ms() > end)
			DIE("query_port still returns %d", ret);
	}
}

static void say_ready(const char *ready)
{
	close(open(ready, O_CREAT | O_WRONLY, 0600));
}

static void fatal(const char *name, const char *ready)
{
	struct ibv_context *context = must_open(name);
	struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
	struct ibv_cq *cq = ibv_create_cq(context, 32, NULL, channel, 0);
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_wc wc;
	int ret;

	if (!channel || !cq || !pd || ibv_req_notify_cq(cq, 0))
		DIE("no objects");
	qp_with_receives(pd, cq);
	say_ready(ready);

	wait_fd(channel->fd, "a completion event");
	for (int i = 0; i < NR_RECVS; i++) {
		ret = ibv_poll_cq(cq, 1, &wc);
		if (ret != 1 || wc.wr_id != (uint64_t)i ||
		    wc.status != IBV_WC_WR_FLUSH_ERR)
			DIE("poll %d: %d, status %d", i, ret, wc.status);
	}
	wait_until_fatal(context);
	wait_until_eio(context);
	context = device_open_wait(name);
	if (!context)
		DIE("cannot open %s again", name);
	must_work(context);
	printf("%s\n", ibv_get_device_name(context->device));
}

/*
 * The library of the card rings by writing to a page of the card; one bit of
 * what it writes says which completions are asked for.
 */
static void ring(struct ibv_cq *cq, bool solicited_only)
{
	if (ibv_req_notify_cq(cq, solicited_only))
		DIE("req_notify_cq");
}

static void unplug(const char *name, const char *ready, bool still)
{
	struct ibv_context *context = must_open(name), *next;
	struct ibv_cq *cq = ibv_create_cq(context, 8, NULL, NULL, 0);
	struct ibv_pd *pd = ibv_alloc_pd(context);

	if (!cq || !pd)
		DIE("no objects");
	printf("%s\n", ibv_get_device_name(context->device));
	ring(cq, false);
	say_ready(ready);

	wait_until_fatal(context);
	wait_until_eio(context);
	if (ibv_alloc_pd(context) || errno != EIO)
		DIE("another PD");
	if (ibv_create_cq(context, 8, NULL, NULL, 0) || errno != EIO)
		DIE("another CQ");
	next = device_open_wait(name);
	if (!next)
		DIE("cannot open %s again", name);
	must_work(next);
	/* Pages are taken away some time after the event. */
	while (!access(ready, F_OK))
		usleep(1000);
	if (!still)
		ring(cq, true);
	if (ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) ||
	    ibv_close_device(context))
		DIE("cannot close what has gone");
	must_work(next);
	printf("%s\n", ibv_get_device_name(next->device));
	ibv_close_device(next);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";

	/* Lets what is gone already be destroyed. */
	setenv("RDMAV_ALLOW_DISASSOC_DESTROY", "1", 1);
	if (!strcmp(what, "name")) {
		printf("%s\n", must_open(argv[1])->device->name);
	} else if (!strcmp(what, "many")) {
		many(argv[1]);
	} else if (!strcmp(what, "fatal") && argc == 4) {
		fatal(argv[1], argv[3]);
	} else if (!strcmp(what, "unplug") && argc >= 4) {
		unplug(argv[1], argv[3], argc > 4);
	} else {
		fprintf(stderr,
			"usage: opened DEVICE name|many|fatal READY|unplug READY [still]\n");
		return 2;
	}
	return 0;
}

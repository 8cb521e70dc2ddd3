// SPDX-License-Identifier: GPL-2.0
/*
 * Writes and reads of libfabric, each compared on both sides.
 *
 *	rma PROVIDER DOMAIN ADDRESS PORT	serve at our ADDRESS
 *	rma -c PROVIDER DOMAIN ADDRESS PORT	ask the server there
 *
 * The client writes into the server's memory, asks it what has arrived, and
 * reads it back.
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define ROOM		(1 << 17)
#define ROUNDS		4

enum verb { HELLO, LOOK, SEEN, BYE };

/* What both tell each other. */
struct message {
	uint32_t verb;
	uint32_t seed;
	uint64_t len;
	uint64_t addr;
	uint64_t key;
	uint64_t name_len;
	uint8_t name[128];
};

struct memory {
	struct message in;
	struct message out;
	uint8_t window[ROOM];
	uint8_t back[ROOM];
};

static const size_t lengths[] = { 1, 8, 200, 4096, 65536, 100001 };

static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fid_mr *mr;
static struct memory *mem;
static fi_addr_t peer = FI_ADDR_UNSPEC;
static struct message far;
static struct fi_context sent, received, moved;
static int nr_sent, nr_received, nr_moved;

static void must(ssize_t ret, const char *what)
{
	if (!ret)
		return;
	fprintf(stderr, "%s: %s\n", what, fi_strerror(-ret));
	exit(1);
}

static void progress(void)
{
	struct fi_cq_err_entry err = {};
	struct fi_cq_entry entry;
	ssize_t n = fi_cq_read(cq, &entry, 1);

	if (n == -FI_EAVAIL) {
		fi_cq_readerr(cq, &err, 0);
		must(-err.err, "completion");
	}
	if (n == -FI_EAGAIN) {
		sched_yield();
		return;
	}
	if (n != 1)
		must(n, "fi_cq_read");
	nr_sent += entry.op_context == &sent;
	nr_received += entry.op_context == &received;
	nr_moved += entry.op_context == &moved;
}

static void wait_for(int *count)
{
	while (!*count)
		progress();
	--*count;
}

static void post_receive(void)
{
	must(fi_recv(ep, &mem->in, sizeof(mem->in), fi_mr_desc(mr),
		     FI_ADDR_UNSPEC, &received), "fi_recv");
}

/* The message stays until the next post_receive(). */
static const struct message *receive(void)
{
	wait_for(&nr_received);
	return &mem->in;
}

static void tell(enum verb verb, uint32_t seed, size_t len)
{
	ssize_t ret;

	mem->out.verb = verb;
	mem->out.seed = seed;
	mem->out.len = len;
	while ((ret = fi_send(ep, &mem->out, sizeof(mem->out), fi_mr_desc(mr),
			      peer, &sent)) == -FI_EAGAIN)
		progress();
	must(ret, "fi_send");
	wait_for(&nr_sent);
}

static uint32_t next(uint32_t seed)
{
	return seed * 1664525 + 1013904223;
}

static void fill(uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = next(seed);
		p[i] = seed >> 24;
	}
}

static bool is_filled(const uint8_t *p, size_t len, uint32_t seed)
{
	for (size_t i = 0; i < len; i++) {
		seed = next(seed);
		if (p[i] != (uint8_t)(seed >> 24))
			return false;
	}
	return true;
}

static void open_endpoint(char **arg, bool client)
{
	struct fi_info *hints = fi_allocinfo(), *info;
	struct fi_av_attr av_attr = { .type = FI_AV_MAP };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_CONTEXT };
	size_t name_len;

	hints->addr_format = strchr(arg[2], ':') ? FI_SOCKADDR_IN6 :
						   FI_SOCKADDR_IN;
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup(arg[0]);
	hints->domain_attr->name = strdup(arg[1]);
	must(fi_getinfo(FI_VERSION(1, 17), arg[2], arg[3],
			client ? 0 : FI_SOURCE, hints, &info), "fi_getinfo");
	must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
	must(fi_domain(fabric, info, &domain, NULL), "fi_domain");
	must(fi_av_open(domain, &av_attr, &av, NULL), "fi_av_open");
	must(fi_cq_open(domain, &cq_attr, &cq, NULL), "fi_cq_open");
	must(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
	must(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
	must(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
	must(fi_enable(ep), "fi_enable");
	must(fi_mr_reg(domain, mem, sizeof(*mem), FI_SEND | FI_RECV | FI_READ |
		       FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0,
		       &mr, NULL), "fi_mr_reg");
	mem->out.addr = (uintptr_t)mem->window;
	mem->out.key = fi_mr_key(mr);
	name_len = sizeof(mem->out.name);
	must(fi_getname(&ep->fid, mem->out.name, &name_len), "fi_getname");
	mem->out.name_len = name_len;
	if (client && fi_av_insert(av, info->dest_addr, 1, &peer, 0, NULL) != 1)
		must(-FI_EINVAL, "fi_av_insert");
	fi_freeinfo(hints);
	fi_freeinfo(info);
}

static void close_endpoint(void)
{
	must(fi_close(&ep->fid), "close endpoint");
	must(fi_close(&mr->fid), "close memory region");
	must(fi_close(&cq->fid), "close completion queue");
	must(fi_close(&av->fid), "close address vector");
	must(fi_close(&domain->fid), "close domain");
	must(fi_close(&fabric->fid), "close fabric");
}

static void serve(void)
{
	const struct message *m;
	bool good = true;

	post_receive();
	m = receive();
	if (fi_av_insert(av, m->name, 1, &peer, 0, NULL) != 1)
		must(-FI_EINVAL, "fi_av_insert");
	post_receive();
	tell(HELLO, 0, 0);
	while ((m = receive())->verb == LOOK) {
		good = is_filled(mem->window, m->len, m->seed);
		post_receive();
		tell(SEEN, good, 0);
	}
	/* So that the client has the answer before we go. */
	tell(BYE, 0, 0);
}

/* Leaves the data of @seed in the server's window. */
static void write_over(size_t len, uint32_t seed)
{
	ssize_t ret;

	fill(mem->window, len, seed);
	while ((ret = fi_write(ep, mem->window, len, fi_mr_desc(mr), peer,
			       far.addr, far.key, &moved)) == -FI_EAGAIN)
		progress();
	must(ret, "fi_write");
	wait_for(&nr_moved);
}

static void read_back(size_t len)
{
	ssize_t ret;

	memset(mem->back, 0, len);
	while ((ret = fi_read(ep, mem->back, len, fi_mr_desc(mr), peer,
			      far.addr, far.key, &moved)) == -FI_EAGAIN)
		progress();
	must(ret, "fi_read");
	wait_for(&nr_moved);
}

static void one_round(size_t len, uint32_t seed)
{
	write_over(len, seed);
	post_receive();
	tell(LOOK, seed, len);
	if (receive()->seed != 1) {
		fprintf(stderr, "%zu bytes written: wrong at the server\n", len);
		exit(1);
	}
	read_back(len);
	if (!is_filled(mem->back, len, seed)) {
		fprintf(stderr, "%zu bytes read: wrong\n", len);
		exit(1);
	}
}

static void ask(void)
{
	post_receive();
	tell(HELLO, 0, 0);
	far = *receive();
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		for (int n = 0; n < ROUNDS; n++)
			one_round(lengths[i], i * ROUNDS + n + 1);
	post_receive();
	tell(BYE, 0, 0);
	receive();
	printf("all data right\n");
}

int main(int argc, char **argv)
{
	bool client = argc > 1 && !strcmp(argv[1], "-c");

	if (argc != 5 + client) {
		fprintf(stderr, "usage: rma [-c] PROVIDER DOMAIN ADDRESS PORT\n");
		return 2;
	}
	mem = aligned_alloc(4096, (sizeof(*mem) + 4095) & ~4095ul);
	if (!mem)
		return 1;
	memset(mem, 0, sizeof(*mem));
	open_endpoint(argv + 1 + client, client);
	if (client)
		ask();
	else
		serve();
	close_endpoint();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An RDMA client and server in one file, by rdma_cm and verbs.
 *
 *	put -s [PORT]			serve one client: print what it puts
 *	put ADDRESS [PORT] <FILE	put the standard input, up to 1 MB
 *
 * The server registers a buffer and tells the client where it is when it
 * accepts. The client writes into that buffer while the server's CPU does
 * nothing, reads it back to compare, and says how much it wrote by the
 * immediate data of an empty WRITE. Nothing here is special to hroce.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

#define BUFFER_BYTES 1048576

/*
 * Where the server's buffer is: private data of the connection, so in network
 * byte order. The address is one of the server's process; the key allows the
 * peer to use it.
 */
struct place {
	__be64 addr;
	__be32 rkey;
	__be32 bytes;
};

static char *buffer;
static struct ibv_mr *mr;

/*
 * An endpoint is an rdma_cm_id with a queue pair: one completion queue each for
 * sends and receives, of the sizes below. Of an address librdmacm finds the
 * device and the GID, so neither has to be named.
 */
static struct rdma_cm_id *endpoint(const char *address, const char *port)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP };
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 4,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct rdma_addrinfo *res;
	struct rdma_cm_id *id;

	if (!address)
		hints.ai_flags = RAI_PASSIVE;
	if (rdma_getaddrinfo(address, port, &hints, &res))
		err(1, "no RDMA device for %s", address ? address : "a server");
	if (rdma_create_ep(&id, res, NULL, &attr))
		err(1, "no queue pair");
	rdma_freeaddrinfo(res);
	return id;
}

/* Memory is registered once: that pins it, and costs more than a transfer. */
static void register_buffer(struct rdma_cm_id *id, int access)
{
	buffer = aligned_alloc(4096, 2 * BUFFER_BYTES);
	if (!buffer)
		err(1, "no memory");
	mr = ibv_reg_mr(id->pd, buffer, 2 * BUFFER_BYTES, access);
	if (!mr)
		err(1, "cannot register %d bytes (ulimit -l)", 2 * BUFFER_BYTES);
}

/* Wait for one completion: sleep until there is an event, then look. */
static struct ibv_wc completion(struct ibv_cq *cq,
				struct ibv_comp_channel *channel)
{
	struct ibv_wc wc;
	void *context;
	int nr;

	/* Arm before looking, else a completion in between wakes nobody. */
	if (ibv_req_notify_cq(cq, 0))
		errx(1, "cannot arm the CQ");
	while (!(nr = ibv_poll_cq(cq, 1, &wc))) {
		if (ibv_get_cq_event(channel, &cq, &context))
			err(1, "no event");
		ibv_ack_cq_events(cq, 1);
		if (ibv_req_notify_cq(cq, 0))
			errx(1, "cannot arm the CQ");
	}
	if (nr < 0)
		errx(1, "cannot poll");
	if (wc.status != IBV_WC_SUCCESS)
		errx(1, "%s (vendor_err %#x)", ibv_wc_status_str(wc.status),
		     wc.vendor_err);
	return wc;
}

/* Post one request between our buffer, from @offset on, and the peer's. */
static void transfer(struct rdma_cm_id *id, enum ibv_wr_opcode opcode,
		     const struct place *to, size_t offset, uint32_t bytes)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer + offset,
		.length = bytes,
		.lkey = mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.opcode = opcode,
		.sg_list = &sge,
		.num_sge = opcode != IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = htonl(bytes),
		.wr.rdma.remote_addr = be64toh(to->addr),
		.wr.rdma.rkey = ntohl(to->rkey),
	};

	if (ibv_post_send(id->qp, &wr, &bad))
		err(1, "cannot post");
	completion(id->send_cq, id->send_cq_channel);
}

static void serve(const char *port)
{
	struct rdma_cm_id *listener = endpoint(NULL, port), *id;
	struct ibv_recv_wr *bad, wr = { 0 };
	struct rdma_conn_param param = { 0 };
	struct place place;
	struct ibv_wc wc;

	if (rdma_listen(listener, 1) || rdma_get_request(listener, &id))
		err(1, "cannot listen on port %s", port);
	register_buffer(id, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			    IBV_ACCESS_REMOTE_READ);
	/* Immediate data takes a receive request, but no memory. */
	if (ibv_post_recv(id->qp, &wr, &bad))
		err(1, "cannot post");
	place.addr = htobe64((uintptr_t)buffer);
	place.rkey = htonl(mr->rkey);
	place.bytes = htonl(BUFFER_BYTES);
	param.private_data = &place;
	param.private_data_len = sizeof(place);
	/* How many READs the peer may have under way. */
	param.responder_resources = 1;
	if (rdma_accept(id, &param))
		err(1, "cannot accept");
	wc = completion(id->recv_cq, id->recv_cq_channel);
	if (ntohl(wc.imm_data) > BUFFER_BYTES)
		errx(1, "the client says %u bytes", ntohl(wc.imm_data));
	fwrite(buffer, 1, ntohl(wc.imm_data), stdout);
	rdma_disconnect(id);
	ibv_dereg_mr(mr);
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
}

static void put(const char *address, const char *port)
{
	struct rdma_cm_id *id = endpoint(address, port);
	struct rdma_conn_param param = { .initiator_depth = 1, .retry_count = 7 };
	struct place to;
	size_t bytes;

	register_buffer(id, IBV_ACCESS_LOCAL_WRITE);
	if (rdma_connect(id, &param))
		err(1, "cannot connect to %s", address);
	if (id->event->param.conn.private_data_len < sizeof(to))
		errx(1, "%s is another kind of server", address);
	memcpy(&to, id->event->param.conn.private_data, sizeof(to));
	bytes = fread(buffer, 1, BUFFER_BYTES, stdin);
	if (bytes > ntohl(to.bytes))
		errx(1, "the server takes %u bytes", ntohl(to.bytes));
	transfer(id, IBV_WR_RDMA_WRITE, &to, 0, bytes);
	transfer(id, IBV_WR_RDMA_READ, &to, BUFFER_BYTES, bytes);
	if (memcmp(buffer, buffer + BUFFER_BYTES, bytes))
		errx(1, "the server has something else");
	transfer(id, IBV_WR_RDMA_WRITE_WITH_IMM, &to, 0, bytes);
	rdma_disconnect(id);
	ibv_dereg_mr(mr);
	rdma_destroy_ep(id);
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 3 || (argv[1][0] == '-' && argv[1][1] != 's'))
		errx(2, "usage: put -s [PORT] | put ADDRESS [PORT] <FILE");
	if (argv[1][0] != '-')
		put(argv[1], argc > 2 ? argv[2] : "7471");
	else
		serve(argc > 2 ? argv[2] : "7471");
	return 0;
}

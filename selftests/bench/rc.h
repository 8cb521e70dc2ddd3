/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reliable connections over one device, with addresses exchanged over a
 * connection of oob.h. Any failure ends the program.
 */
#ifndef HROCE_BENCH_RC_H
#define HROCE_BENCH_RC_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/verbs.h>

/**
 * struct rc_dev - an opened device
 * @ctx: verbs context
 * @pd: protection domain of everything here
 * @gid_idx: index of the own GID
 */
struct rc_dev {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	int gid_idx;
};

/**
 * struct rc_mem - registered memory
 * @buf: first byte
 * @len: bytes
 * @mr: registration, for all kinds of remote access
 */
struct rc_mem {
	char *buf;
	size_t len;
	struct ibv_mr *mr;
};

/**
 * struct rc_peer - what the other side has to know
 * @gid: address
 * @addr: first byte of the memory that may be written and read
 * @rkey: key of that memory
 * @qpn: number of a queue pair
 */
struct rc_peer {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey;
	uint32_t qpn;
};

/**
 * rc_open() - open a device
 * @dev: filled in
 * @name: name of the device
 * @gid_idx: index of the GID to use
 */
void rc_open(struct rc_dev *dev, const char *name, int gid_idx);

/**
 * rc_register() - allocate and register memory
 * @dev: device
 * @len: bytes
 * Return: the memory.
 */
struct rc_mem rc_register(struct rc_dev *dev, size_t len);

/**
 * rc_cq() - create a completion queue
 * @dev: device
 * @cqe: entries
 * @channel: completion channel, or NULL
 * @vector: completion vector, taken modulo the number of vectors
 * Return: the completion queue.
 */
struct ibv_cq *rc_cq(struct rc_dev *dev, int cqe,
		     struct ibv_comp_channel *channel, int vector);

/**
 * rc_qp() - create a queue pair that completes only what asks for it
 * @dev: device
 * @cq: completion queue for both queues
 * @send_wr: entries of the send queue
 * @recv_wr: entries of the receive queue
 * Return: the queue pair, in INIT.
 */
struct ibv_qp *rc_qp(struct rc_dev *dev, struct ibv_cq *cq, int send_wr,
		     int recv_wr);

/**
 * rc_connect() - bring a queue pair to RTS
 * @dev: device
 * @qp: queue pair in INIT
 * @peer: the other side
 * @qpn: number of the queue pair there
 */
void rc_connect(struct rc_dev *dev, struct ibv_qp *qp,
		const struct rc_peer *peer, uint32_t qpn);

/**
 * rc_tell() - tell the other side about this one
 * @dev: device
 * @mem: memory that the other side may use
 * @qpn: number of a queue pair
 * @fd: connection to the other side
 */
void rc_tell(struct rc_dev *dev, const struct rc_mem *mem, uint32_t qpn,
	     int fd);

/**
 * rc_hear() - receive what rc_tell() sent
 * @fd: connection to the other side
 * Return: what the other side told.
 */
struct rc_peer rc_hear(int fd);

/**
 * rc_check() - end the program if a request has failed
 * @wc: its completion
 */
void rc_check(const struct ibv_wc *wc);

#endif /* HROCE_BENCH_RC_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * What the machine does without RDMA, as the benchmark's peers: a ping-pong
 * between two sockets that both poll, their netdev too with -b; a flood of
 * datagrams that nobody reads, and plain copying; and how fast the counter of
 * cycles runs that perftest reads.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <x86intrin.h>

#include "util.h"

#define WARMUP_ROUNDS		200
#define BYTES_PER_LOOK		(16ul << 20)
#define UDP_LOST_NS		(NSEC_PER_SEC / 5)
#define CLOCK_LOOKS		50
#define SERVER_PATIENCE_NS	(10 * NSEC_PER_SEC)

/* Sockets are to poll their netdev (-b); any time does, as none waits. */
#define BUSY_POLL_US		50

static bool busy_poll;

/*
 * Receive exactly @len bytes without ever sleeping.
 * Return: false at the end of the connection or after @patience_ns.
 */
static bool receive_polling(int fd, char *buf, size_t len, uint64_t patience_ns)
{
	uint64_t start = now_ns();
	size_t have = 0;

	while (have < len) {
		ssize_t n = recv(fd, buf + have, len - have, MSG_DONTWAIT);

		if (n > 0) {
			have += n;
			continue;
		}
		if (n == 0)
			return false;
		if (errno != EAGAIN)
			die("recv");
		if (now_ns() - start > patience_ns)
			return false;
	}
	return true;
}

static void send_all(int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = send(fd, buf, len, MSG_NOSIGNAL);

		if (n < 0)
			die("send");
		buf += n;
		len -= n;
	}
}

static void set_busy_poll(int fd)
{
	int us = BUSY_POLL_US, one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &us, sizeof(us)))
		die("SO_BUSY_POLL");
	if (setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &one, sizeof(one)))
		die("SO_PREFER_BUSY_POLL");
}

static int open_socket(bool tcp)
{
	int fd = socket(AF_INET, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
	int one = 1;

	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		die("SO_REUSEADDR");
	if (tcp && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("TCP_NODELAY");
	if (busy_poll)
		set_busy_poll(fd);
	return fd;
}

/* Return: a socket connected to the first client that comes. */
static int await_client(bool tcp, struct sockaddr_in *addr)
{
	socklen_t addr_len = sizeof(*addr);
	int fd = open_socket(tcp);
	char byte;

	addr->sin_addr.s_addr = htonl(INADDR_ANY);
	if (bind(fd, (struct sockaddr *)addr, sizeof(*addr)))
		die("bind");
	if (tcp) {
		if (listen(fd, 1))
			die("listen");
		fd = accept(fd, NULL, NULL);
		if (fd < 0)
			die("accept");
		if (busy_poll)
			set_busy_poll(fd);
		return fd;
	}
	if (recvfrom(fd, &byte, 1, MSG_PEEK, (struct sockaddr *)addr,
		     &addr_len) < 0)
		die("recvfrom");
	if (connect(fd, (struct sockaddr *)addr, addr_len))
		die("connect");
	return fd;
}

static int serve(bool tcp, struct sockaddr_in *addr, size_t size)
{
	int fd = await_client(tcp, addr);
	char *buf = calloc(1, size);

	if (!buf)
		die("calloc");
	while (receive_polling(fd, buf, size, SERVER_PATIENCE_NS)) {
		/* A datagram whose first byte is set is the last one. */
		if (!tcp && buf[0])
			break;
		send_all(fd, buf, size);
	}
	free(buf);
	return 0;
}

static int ping(bool tcp, struct sockaddr_in *addr, size_t size, size_t rounds)
{
	uint64_t *times = calloc(rounds, sizeof(*times));
	uint64_t patience = tcp ? SERVER_PATIENCE_NS : UDP_LOST_NS;
	char *buf = calloc(1, size);
	int fd = open_socket(tcp);
	size_t i;

	if (!times || !buf)
		die("calloc");
	if (connect(fd, (struct sockaddr *)addr, sizeof(*addr)))
		die("connect");
	for (i = 0; i < WARMUP_ROUNDS + rounds; i++) {
		uint64_t start = now_ns();

		send_all(fd, buf, size);
		if (!receive_polling(fd, buf, size, patience)) {
			fprintf(stderr, "plain: no answer\n");
			return 1;
		}
		if (i >= WARMUP_ROUNDS)
			times[i - WARMUP_ROUNDS] = now_ns() - start;
	}
	if (!tcp) {
		buf[0] = 1;
		send_all(fd, buf, size);
	}
	print_one_way(times, rounds);
	free(times);
	free(buf);
	return 0;
}

/*
 * A socket that takes next to nothing, for a flood: packets find their way to
 * it, merged on arrival, and go no further.
 */
static int sink(struct sockaddr_in *addr, unsigned long milliseconds)
{
	int fd = open_socket(false);
	int one = 1;

	addr->sin_addr.s_addr = htonl(INADDR_ANY);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &one, sizeof(one)))
		die("SO_RCVBUF");
	if (setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one)))
		die("UDP_GRO");
	if (bind(fd, (struct sockaddr *)addr, sizeof(*addr)))
		die("bind");
	usleep(milliseconds * 1000);
	return 0;
}

/* Super-packets of UDP, in packets of @size bytes: what the path takes alone. */
static int flood(struct sockaddr_in *addr, int size,
		 unsigned long milliseconds)
{
	size_t len = 60000 / size * size;
	char *buf = calloc(1, len);
	int fd = open_socket(false);
	uint64_t start, ns, bytes = 0;

	if (!buf)
		die("calloc");
	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
		die("UDP_SEGMENT");
	if (connect(fd, (struct sockaddr *)addr, sizeof(*addr)))
		die("connect");
	start = now_ns();
	do {
		send_all(fd, buf, len);
		bytes += len;
		ns = now_ns() - start;
	} while (ns < milliseconds * 1000000ull);
	printf("MBps=%.2f\n", bytes * 1000.0 / ns);
	free(buf);
	return 0;
}

static int copy(size_t size, unsigned long milliseconds)
{
	char *from = malloc(size), *to = malloc(size);
	uint64_t start, ns, bytes = 0;
	size_t i;

	if (!from || !to)
		die("malloc");
	memset(from, 1, size);
	memset(to, 2, size);
	start = now_ns();
	do {
		/* To look at the clock may take longer than to copy. */
		for (i = 0; i <= BYTES_PER_LOOK / size; i++) {
			memcpy(to, from, size);
			/* The compiler is not to know that nobody reads @to. */
			asm volatile("" : : "r"(to) : "memory");
			bytes += size;
		}
		ns = now_ns() - start;
	} while (ns < milliseconds * 1000000ull);
	printf("MBps=%.2f\n", bytes * 1000.0 / ns);
	free(from);
	free(to);
	return 0;
}

/**
 * struct moment - one moment on two clocks
 * @cycles: as perftest counts them
 * @ns: as now_ns() does
 */
struct moment {
	uint64_t cycles;
	uint64_t ns;
};

/* The least disturbed of several looks: the one that took least time. */
static struct moment look_at_clocks(void)
{
	uint64_t before, after, shortest = UINT64_MAX;
	struct moment best = {}, now;
	int i;

	for (i = 0; i < CLOCK_LOOKS; i++) {
		before = __rdtsc();
		now.ns = now_ns();
		after = __rdtsc();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		now.cycles = before + shortest / 2;
		best = now;
	}
	return best;
}

static int compare_clocks(unsigned long milliseconds)
{
	struct moment first = look_at_clocks(), last;

	usleep(milliseconds * 1000);
	last = look_at_clocks();
	printf("cycles_per_us=%.6g\n",
	       (last.cycles - first.cycles) * 1000.0 / (last.ns - first.ns));
	return 0;
}

static void usage(void)
{
	fprintf(stderr,
		"usage: plain [-b] tcp|udp serve PORT SIZE\n"
		"       plain [-b] tcp|udp ping PORT SIZE ADDRESS ROUNDS\n"
		"       plain udp sink PORT MILLISECONDS\n"
		"       plain udp flood PORT SIZE ADDRESS MILLISECONDS\n"
		"       plain memcpy SIZE MILLISECONDS\n"
		"       plain clock MILLISECONDS\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	bool tcp;

	if (argc > 1 && !strcmp(argv[1], "-b")) {
		busy_poll = true;
		argc--;
		argv++;
	}
	if (argc == 3 && !strcmp(argv[1], "clock"))
		return compare_clocks(number(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "memcpy"))
		return copy(number(argv[2]), number(argv[3]));
	if (argc < 5)
		usage();
	tcp = !strcmp(argv[1], "tcp");
	if (!tcp && strcmp(argv[1], "udp"))
		usage();
	addr.sin_port = htons(number(argv[3]));
	if (argc == 5 && !strcmp(argv[2], "serve"))
		return serve(tcp, &addr, number(argv[4]));
	if (argc == 5 && !tcp && !strcmp(argv[2], "sink"))
		return sink(&addr, number(argv[4]));
	if (argc != 7)
		usage();
	if (inet_pton(AF_INET, argv[5], &addr.sin_addr) != 1)
		usage();
	if (!tcp && !strcmp(argv[2], "flood"))
		return flood(&addr, number(argv[4]), number(argv[6]));
	if (strcmp(argv[2], "ping"))
		usage();
	return ping(tcp, &addr, number(argv[4]), number(argv[6]));
}

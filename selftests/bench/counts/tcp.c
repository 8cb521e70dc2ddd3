// SPDX-License-Identifier: GPL-2.0
/*
 * usage: tcp TOPOLOGY NAMESPACE ADDRESS NAMESPACE ADDRESS BYTES
 *
 * Move a known amount of data over a TCP connection from the first network
 * namespace to the second one, with marks for the plugin around it; what load.c
 * does for RDMA. One process plays both sides and never sleeps. Prints a line
 * for each window, as load.c does.
 *
 * "write" are BYTES at a time; "send" are 64 bytes at a time, each of which
 * leaves at once (TCP_NODELAY), as many under way as load.c has.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "long.h"
#include "mark.h"

#define PORT		17
#define LONG_DEPTH	16
#define SHORT_LEN	64
#define SHORT_DEPTH	32
#define SHORT_WARM	256
#define SHORT_COUNT	1024
#define PATIENCE_SECS	60

static int from, to;
static char *buffer;

static int open_socket(const char *netns, const char *address, int port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	char path[256];
	int fd, ns, one = 1;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0 || setns(ns, CLONE_NEWNET))
		err(1, "%s", path);
	close(ns);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0)
		err(1, "socket");
	if (inet_pton(AF_INET, address, &addr.sin_addr) != 1)
		errx(2, "%s: no IPv4 address", address);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		err(1, "SO_REUSEADDR");
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
		err(1, "bind %s", address);
	return fd;
}

static void connect_sockets(char **argv)
{
	struct sockaddr_in addr;
	socklen_t len = sizeof(addr);
	int listener, one = 1;

	listener = open_socket(argv[4], argv[5], PORT);
	if (listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&addr, &len))
		err(1, "listen");
	from = open_socket(argv[2], argv[3], 0);
	if (connect(from, (struct sockaddr *)&addr, len))
		err(1, "connect");
	to = accept(listener, NULL, NULL);
	if (to < 0)
		err(1, "accept");
	if (setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		err(1, "TCP_NODELAY");
	close(listener);
}

/* Both take what there is: sockets give and take less than they are asked. */
static size_t give(size_t len)
{
	ssize_t n = send(from, buffer, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN)
		err(1, "send");
	return n < 0 ? 0 : n;
}

static size_t take(size_t len)
{
	ssize_t n = recv(to, buffer, len, MSG_DONTWAIT);

	if (!n)
		errx(1, "the connection has ended");
	if (n < 0 && errno != EAGAIN)
		err(1, "recv");
	return n < 0 ? 0 : n;
}

/* Move @count messages of @size bytes, at most @depth of them under way. */
static void move(size_t size, size_t depth, size_t count)
{
	size_t total = size * count, sent = 0, received = 0, n;
	time_t end = time(NULL) + PATIENCE_SECS;
	uint32_t idle = 0;

	while (received < total) {
		while (sent < total && sent - received <= size * (depth - 1)) {
			n = give(size - sent % size);
			sent += n;
			if (!n)
				break;
		}
		n = take(size);
		received += n;
		idle = n ? 0 : idle + 1;
		if (idle && !(idle & 0xfffff) && time(NULL) > end)
			errx(1, "%zu of %zu bytes received", received, total);
	}
}

static void run(const char *topology, const char *name, size_t size,
		size_t depth, size_t warm, size_t count)
{
	move(size, depth, warm);
	mark_begin();
	move(size, depth, count);
	mark_end();
	printf("tcp\t%s\t%s\t%zu\t%zu\n", topology, name, size, count);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	uint32_t bytes;

	if (argc != 7)
		errx(2, "usage: tcp TOPOLOGY NAMESPACE ADDRESS NAMESPACE ADDRESS BYTES");
	bytes = long_len(argv[6]);
	buffer = malloc(LONG_MAX_LEN);
	if (!buffer)
		err(1, "malloc");
	memset(buffer, 0x5a, LONG_MAX_LEN);
	connect_sockets(argv);
	run(argv[1], "write", bytes, LONG_DEPTH, long_warm(bytes),
	    long_count(bytes));
	run(argv[1], "send", SHORT_LEN, SHORT_DEPTH, SHORT_WARM, SHORT_COUNT);
	return 0;
}

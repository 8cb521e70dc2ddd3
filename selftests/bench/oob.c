// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "oob.h"
#include "util.h"

#define CONNECT_PATIENCE_NS	(20 * NSEC_PER_SEC)
#define CONNECT_PAUSE_US	20000

static int open_socket(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int one = 1;

	if (fd < 0)
		die("socket");
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
		die("SO_REUSEADDR");
	return fd;
}

static int without_delay(int fd)
{
	int one = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		die("TCP_NODELAY");
	return fd;
}

int oob_listen(uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_ANY),
	};
	int fd = open_socket();

	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 8))
		die("listen");
	return fd;
}

int oob_accept(int listener)
{
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		die("accept");
	return without_delay(fd);
}

int oob_connect(const char *address, uint16_t port)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
	};
	uint64_t start = now_ns();
	int fd;

	if (inet_pton(AF_INET, address, &addr.sin_addr) != 1)
		die_saying("no IPv4 address");
	for (;;) {
		fd = open_socket();
		if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			return without_delay(fd);
		if (errno != ECONNREFUSED ||
		    now_ns() - start > CONNECT_PATIENCE_NS)
			die("connect");
		close(fd);
		usleep(CONNECT_PAUSE_US);
	}
}

void oob_send(int fd, const void *mem, size_t len)
{
	const char *next = mem;

	while (len) {
		ssize_t n = send(fd, next, len, MSG_NOSIGNAL);

		if (n < 0)
			die("send");
		next += n;
		len -= n;
	}
}

void oob_recv(int fd, void *mem, size_t len)
{
	char *next = mem;

	while (len) {
		ssize_t n = recv(fd, next, len, 0);

		if (n < 0)
			die("recv");
		if (!n)
			die_saying("the other side is gone");
		next += n;
		len -= n;
	}
}

void oob_meet(int fd)
{
	char byte = 0;

	oob_send(fd, &byte, 1);
	oob_recv(fd, &byte, 1);
}

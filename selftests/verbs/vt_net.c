// SPDX-License-Identifier: GPL-2.0
/* Addresses and network namespaces of the ends, for who connects by address. */
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <unistd.h>

#include "vt.h"

void vt_enter_ns(int which)
{
	const char *name = getenv(which ? "HROCE_NS2" : "HROCE_NS");
	char path[256];
	int fd;

	if (!name || !*name)
		return;
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	fd = open(path, O_RDONLY);
	VT_OK(fd >= 0, "%s", path);
	VT_EQ(setns(fd, CLONE_NEWNET), 0);
	close(fd);
}

/* The address of an end, as its GID tells. */
void vt_sockaddr(const struct vt_end *e, struct sockaddr_storage *ss, int port)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;

	memset(ss, 0, sizeof(*ss));
	if (!e->gid.raw[0]) {
		in->sin_family = AF_INET;
		in->sin_port = htons(port);
		memcpy(&in->sin_addr, e->gid.raw + 12, 4);
	} else {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(port);
		memcpy(&in6->sin6_addr, e->gid.raw, 16);
	}
}

/* A multicast group of the address family of the ends. */
union ibv_gid vt_group(const struct vt *t, unsigned int n)
{
	union ibv_gid g = {};

	if (!t->a.gid.raw[0]) {
		g.raw[10] = 0xff;
		g.raw[11] = 0xff;
		g.raw[12] = 239;
		g.raw[13] = 10;
		g.raw[15] = n;
	} else {
		g.raw[0] = 0xff;
		g.raw[1] = 0x15;
		g.raw[15] = n;
	}
	return g;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * UDP source ports, as they arrive: another one for each connection, or the one
 * that the flow label chooses.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "vt.h"

#define ROCE_PORT	4791

/* A socket that sees what arrives in b's namespace. */
static int listen_to_b(void)
{
	const char *name = getenv("HROCE_NS2");
	int home = open("/proc/self/ns/net", O_RDONLY), there, fd;
	struct timeval patience = { .tv_sec = 5 };
	char path[128];

	if (!name || !*name)
		vt_skip("no frames on one link");
	snprintf(path, sizeof(path), "/run/netns/%s", name);
	there = open(path, O_RDONLY);
	VT_OK(home >= 0 && there >= 0, "%s: %m", path);
	VT_EQ(setns(there, CLONE_NEWNET), 0);
	fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));
	VT_OK(fd >= 0, "packet socket: %m");
	VT_EQ(setns(home, CLONE_NEWNET), 0);
	VT_EQ(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
			 sizeof(patience)), 0);
	close(home);
	close(there);
	return fd;
}

/* Source port of the next RoCEv2 frame for queue pair @qpn. */
static unsigned int next_port(int fd, uint32_t qpn)
{
	unsigned char frame[2048];
	const struct udphdr *udp;
	ssize_t len;
	uint32_t word;

	for (;;) {
		len = recv(fd, frame, sizeof(frame), 0);
		VT_OK(len > 0, "no frame: %m");
		udp = (const void *)(frame + (frame[0] >> 4 == 4 ?
					      sizeof(struct ip) :
					      sizeof(struct ip6_hdr)));
		if (len < 60 || ntohs(udp->uh_dport) != ROCE_PORT)
			continue;
		memcpy(&word, (const unsigned char *)(udp + 1) + 4, 4);
		if ((ntohl(word) & 0xffffff) == qpn)
			return ntohs(udp->uh_sport);
	}
}

static unsigned int port_of(struct vt *t, uint32_t flow_label)
{
	struct vt_opt o = { .flow_label = flow_label };
	struct vt_mem *s = vt_mem(&t->a, 64, VT_ALL);
	struct vt_mem *d = vt_mem(&t->b, 64, VT_ALL);
	struct vt_pair *p = vt_pair(t, &o);
	int fd = listen_to_b();
	unsigned int port;

	vt_send(p->qp[0], &(struct vt_wr){
		.id = 1, .local = s, .len = 64, .remote = d,
		.flags = IBV_SEND_SIGNALED });
	vt_expect(p->scq[0], 1, IBV_WC_SUCCESS);
	port = next_port(fd, p->qp[1]->qp_num);
	close(fd);
	return port;
}

/* The lower 14 bits are those of the port; the others are mixed in. */
static void flow_label_chooses(struct vt *t)
{
	VT_EQ(port_of(t, 0x1234), 0xc000 | 0x1234);
	VT_EQ(port_of(t, 0x3fff), 0xffff);
	VT_EQ(port_of(t, 0x1234 | 5 << 14), 0xc000 | (0x1234 ^ 5));
}

/* UCX sets the 12 bits above the field; they are ignored. */
static void bits_above_label_ignored(struct vt *t)
{
	VT_EQ(port_of(t, 0xfff01234), 0xc000 | 0x1234);
	VT_EQ(port_of(t, ~0u), 0xc000 | (0x3fff ^ 0x3f));
}

static void otherwise_by_connection(struct vt *t)
{
	unsigned int first = port_of(t, 0), nr_same = 0;

	VT_OK(first >= 0xc000, "port %u", first);
	for (int i = 0; i < 4; i++)
		nr_same += port_of(t, 0) == first;
	VT_OK(nr_same < 4, "always port %u", first);
}

static const struct vt_case cases[] = {
	VT_CASE(flow_label_chooses),
	VT_CASE(bits_above_label_ignored),
	VT_CASE(otherwise_by_connection),
};

VT_MAIN(cases)

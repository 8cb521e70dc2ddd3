// SPDX-License-Identifier: GPL-2.0
/* How fast objects come and go, one after the other. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rc.h"
#include "util.h"

#define NSEC_PER_MSEC	1000000ull

/**
 * struct bench - what objects are made of
 * @dev: device
 * @cq: of queue pairs
 * @buf: of regions
 * @size: its bytes
 */
struct bench {
	struct rc_dev dev;
	struct ibv_cq *cq;
	void *buf;
	size_t size;
};

static void make_mr(struct bench *b)
{
	struct ibv_mr *mr = ibv_reg_mr(b->dev.pd, b->buf, b->size,
				       IBV_ACCESS_LOCAL_WRITE |
				       IBV_ACCESS_REMOTE_WRITE);

	if (!mr)
		die("ibv_reg_mr");
	errno = ibv_dereg_mr(mr);
	if (errno)
		die("ibv_dereg_mr");
}

static void make_qp(struct bench *b)
{
	struct ibv_qp *qp = rc_qp(&b->dev, b->cq, 1, 1);

	errno = ibv_destroy_qp(qp);
	if (errno)
		die("ibv_destroy_qp");
}

static void measure(struct bench *b, void (*make)(struct bench *),
		    unsigned long milliseconds)
{
	uint64_t start_ns, ns, n = 0;

	make(b);
	start_ns = now_ns();
	do {
		make(b);
		n++;
		ns = now_ns() - start_ns;
	} while (ns < milliseconds * NSEC_PER_MSEC);
	printf("objps=%.6g\n", n * 1e9 / ns);
}

static void usage(void)
{
	fprintf(stderr,
		"usage: objects mr|qp SIZE MILLISECONDS -d DEVICE -x GID-INDEX\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct bench b = {};
	const char *device = NULL;
	bool mr;
	int letter;

	while ((letter = getopt(argc, argv, "d:x:")) >= 0) {
		if (letter == 'd')
			device = optarg;
		else if (letter != 'x')
			usage();
	}
	if (!device || argc - optind != 3)
		usage();
	mr = !strcmp(argv[optind], "mr");
	if (!mr && strcmp(argv[optind], "qp"))
		usage();
	b.size = number(argv[optind + 1]);
	b.buf = alloc(b.size);
	rc_open(&b.dev, device, 0);
	b.cq = rc_cq(&b.dev, 1, NULL, 0);
	measure(&b, mr ? make_mr : make_qp, number(argv[optind + 2]));
	return 0;
}

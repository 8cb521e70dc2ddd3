// SPDX-License-Identifier: GPL-2.0
/*
 * Write data to a block device, past the page cache, and verify it.
 *
 *	blockio [-w | -r] [-b BLOCKSIZE] [-q DEPTH] [-n BYTES] [-s SEED]
 *		[-o OFFSET] [-T SECONDS] DEVICE
 *
 * -w writes only, -r verifies only; by default each block is written and then
 * read back. DEPTH threads share the blocks of the first BYTES bytes. What a
 * byte should be depends on SEED and its place alone, so what was written by
 * blocks of one size can be verified by those of another. OFFSET is where in a
 * page the buffers begin, -T repeats it all with new data until time is over.
 *
 * Exit status: 0 all well, 1 wrong data, 2 an I/O error, 4 usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_DATA	1
#define EXIT_IO		2
#define EXIT_USAGE	4
#define MAX_DEPTH	256
#define PAGE		4096

/**
 * struct config - the command line
 * @write: write the blocks
 * @read: read them and verify
 * @block: bytes per request
 * @depth: requests in flight
 * @bytes: bytes at the device's start to use
 * @seed: of the data
 * @offset: of the buffers in a page
 * @secs: time to repeat it for
 * @fd: the device
 */
struct config {
	bool write;
	bool read;
	size_t block;
	int depth;
	uint64_t bytes;
	uint64_t seed;
	size_t offset;
	long secs;
	int fd;
};

static struct config cfg = {
	.write = true,
	.read = true,
	.block = PAGE,
	.depth = 1,
	.bytes = 1 << 20,
	.seed = 1,
};

static _Atomic uint64_t next_block;
static _Atomic uint64_t done_bytes;
static atomic_int status;

static void fail(int how, const char *what, uint64_t pos)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&status, &none, how))
		fprintf(stderr, "blockio: %s at %llu (seed %llu): %s\n", what,
			(unsigned long long)pos, (unsigned long long)cfg.seed,
			how == EXIT_IO ? strerror(errno) : "wrong data");
}

/* The eight bytes at @pos of the device. */
static uint64_t data_at(uint64_t pos)
{
	uint64_t x = pos + cfg.seed * 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static bool write_block(uint64_t *buf, uint64_t pos)
{
	ssize_t n;
	size_t i;

	for (i = 0; i < cfg.block / sizeof(*buf); i++)
		buf[i] = data_at(pos + i * sizeof(*buf));
	n = pwrite(cfg.fd, buf, cfg.block, pos);
	if (n == (ssize_t)cfg.block)
		return true;
	if (n >= 0)
		errno = ENODATA;
	fail(EXIT_IO, "write", pos);
	return false;
}

static bool verify_block(uint64_t *buf, uint64_t pos)
{
	ssize_t n;
	size_t i;

	/* What is not overwritten is wrong for sure. */
	for (i = 0; i < cfg.block / sizeof(*buf); i++)
		buf[i] = ~data_at(pos + i * sizeof(*buf));
	n = pread(cfg.fd, buf, cfg.block, pos);
	if (n != (ssize_t)cfg.block) {
		if (n >= 0)
			errno = ENODATA;
		fail(EXIT_IO, "read", pos);
		return false;
	}
	for (i = 0; i < cfg.block / sizeof(*buf); i++) {
		if (buf[i] != data_at(pos + i * sizeof(*buf))) {
			fail(EXIT_DATA, "read", pos + i * sizeof(*buf));
			return false;
		}
	}
	return true;
}

static void *worker(void *arg)
{
	uint64_t pos;
	char *mem;

	mem = aligned_alloc(PAGE, (cfg.block + 2 * PAGE - 1) & -PAGE);
	if (!mem) {
		fail(EXIT_IO, "memory", 0);
		return arg;
	}
	while (!status) {
		uint64_t *buf = (uint64_t *)(mem + cfg.offset);

		pos = next_block++ * cfg.block;
		if (pos + cfg.block > cfg.bytes)
			break;
		if (cfg.write && !write_block(buf, pos))
			break;
		if (cfg.read && !verify_block(buf, pos))
			break;
		done_bytes += cfg.block;
	}
	free(mem);
	return arg;
}

static void run_round(void)
{
	pthread_t threads[MAX_DEPTH];
	int i, n;

	next_block = 0;
	for (n = 0; n < cfg.depth; n++) {
		errno = pthread_create(&threads[n], NULL, worker, NULL);
		if (errno) {
			fail(EXIT_IO, "thread", n);
			break;
		}
	}
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

static void usage(void)
{
	fputs("blockio [-w | -r] [-b BLOCKSIZE] [-q DEPTH] [-n BYTES]\n"
	      "\t[-s SEED] [-o OFFSET] [-T SECONDS] DEVICE\n", stderr);
	exit(EXIT_USAGE);
}

static void parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "wrb:q:n:s:o:T:")) != -1) {
		switch (opt) {
		case 'w':
			cfg.read = false;
			break;
		case 'r':
			cfg.write = false;
			break;
		case 'b':
			cfg.block = strtoul(optarg, NULL, 0);
			break;
		case 'q':
			cfg.depth = atoi(optarg);
			break;
		case 'n':
			cfg.bytes = strtoull(optarg, NULL, 0);
			break;
		case 's':
			cfg.seed = strtoull(optarg, NULL, 0);
			break;
		case 'o':
			cfg.offset = strtoul(optarg, NULL, 0);
			break;
		case 'T':
			cfg.secs = atol(optarg);
			break;
		default:
			usage();
		}
	}
	if (optind + 1 != argc || !cfg.block || cfg.block % 512 ||
	    cfg.depth < 1 || cfg.depth > MAX_DEPTH || cfg.offset >= PAGE ||
	    cfg.offset % 8 || cfg.bytes < cfg.block ||
	    (!cfg.write && !cfg.read))
		usage();
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

int main(int argc, char **argv)
{
	time_t end;

	parse(argc, argv);
	cfg.fd = open(argv[optind], O_RDWR | O_DIRECT);
	if (cfg.fd < 0) {
		perror(argv[optind]);
		return EXIT_IO;
	}
	end = now() + cfg.secs;
	do {
		run_round();
		cfg.seed++;
	} while (!status && now() < end);
	printf("%llu bytes\n", (unsigned long long)done_bytes);
	close(cfg.fd);
	return status;
}

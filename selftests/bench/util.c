// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util.h"

#define PAGE	4096

void die(const char *what)
{
	perror(what);
	exit(1);
}

void die_saying(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

unsigned long number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 0);

	if (!*text || *end || !value) {
		fprintf(stderr, "not a number: %s\n", text);
		exit(2);
	}
	return value;
}

void *alloc(size_t size)
{
	void *mem = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);

	if (!mem)
		die("aligned_alloc");
	memset(mem, 0, size);
	return mem;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double percentile_us(const uint64_t *sorted, size_t nr, double share)
{
	return sorted[(size_t)((nr - 1) * share)] / 2000.0;
}

void print_one_way(uint64_t *times_ns, size_t nr)
{
	qsort(times_ns, nr, sizeof(*times_ns), compare_u64);
	printf("us_typ=%.2f us_p99=%.2f us_p999=%.2f\n",
	       percentile_us(times_ns, nr, 0.5),
	       percentile_us(times_ns, nr, 0.99),
	       percentile_us(times_ns, nr, 0.999));
}

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

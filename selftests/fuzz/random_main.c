// SPDX-License-Identifier: GPL-2.0
/*
 * Feeds a fuzz target with random input where there is no fuzzer, and in runs
 * that have to repeat exactly:
 *	PROGRAM [FIRST_SEED [NR_INPUTS]]	as TAP
 */
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

#define MAX_LEN	4096

static u64 next(u64 *state)
{
	u64 z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void one_input(u64 seed)
{
	u64 state = seed;
	size_t len = next(&state) % MAX_LEN;
	u8 *data = malloc(MAX_LEN + 8);
	size_t i;

	for (i = 0; i < len; i += 8) {
		u64 v = next(&state);

		memcpy(data + i, &v, 8);
	}
	LLVMFuzzerTestOneInput(data, len);
	free(data);
}

int main(int argc, char **argv)
{
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	u64 n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	const char *name = strrchr(argv[0], '/');
	u64 i;

	name = name ? name + 1 : argv[0];
	tap_plan(1);
	for (i = seed; i < seed + n; i++) {
		/* The last line before a crash tells how to get there. */
		if (i % 1000 == 0 || n < 1000)
			printf("# seed %llu\n", (unsigned long long)i);
		fflush(stdout);
		one_input(i);
	}
	tap_end(name);
	return tap_exit();
}

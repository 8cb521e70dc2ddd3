// SPDX-License-Identifier: GPL-2.0
/*
 * Collectives, messages, windows and atomics of MPI, each result compared
 * with what it has to be. Any number of ranks from two on. A mismatch ends
 * all ranks with status 1.
 *
 *	mpi collectives|messages|windows|atomics
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Words: inline, eager, in several packets, rendezvous */
static const int lengths[] = { 1, 512, 3000, 20000 };

static int rank, nr_ranks;

static void check(bool ok, const char *what, int n)
{
	if (ok)
		return;
	fprintf(stderr, "rank %d: %s: wrong data, %d words\n", rank, what, n);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint32_t *words(int n)
{
	uint32_t *p = calloc(n, sizeof(*p));

	if (!p) {
		perror("calloc");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return p;
}

/* What rank @who has at @i: differs from what its neighbours have there. */
static uint32_t value(int who, int i)
{
	return (who + 1) * 2654435761u + i * 40503u;
}

static void fill(uint32_t *p, int who, int from, int n)
{
	for (int i = 0; i < n; i++)
		p[i] = value(who, from + i);
}

static bool is_from(const uint32_t *p, int who, int from, int n)
{
	for (int i = 0; i < n; i++)
		if (p[i] != value(who, from + i))
			return false;
	return true;
}

static void broadcast(int n)
{
	uint32_t *p = words(n);

	for (int root = 0; root < nr_ranks; root++) {
		memset(p, 0, n * sizeof(*p));
		if (rank == root)
			fill(p, root, 0, n);
		MPI_Bcast(p, n, MPI_UINT32_T, root, MPI_COMM_WORLD);
		check(is_from(p, root, 0, n), "broadcast", n);
	}
	free(p);
}

static void all_reduce(int n)
{
	uint32_t *p = words(n), *sum = words(n), want;

	fill(p, rank, 0, n);
	MPI_Allreduce(p, sum, n, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
	for (int i = 0; i < n; i++) {
		want = 0;
		for (int r = 0; r < nr_ranks; r++)
			want += value(r, i);
		check(sum[i] == want, "all-reduce", n);
	}
	free(p);
	free(sum);
}

static void all_to_all(int n)
{
	uint32_t *out = words(n * nr_ranks), *in = words(n * nr_ranks);

	fill(out, rank, 0, n * nr_ranks);
	MPI_Alltoall(out, n, MPI_UINT32_T, in, n, MPI_UINT32_T, MPI_COMM_WORLD);
	for (int r = 0; r < nr_ranks; r++)
		check(is_from(in + r * n, r, rank * n, n), "all-to-all", n);
	free(out);
	free(in);
}

static void all_gather(int n)
{
	uint32_t *out = words(n), *in = words(n * nr_ranks);

	fill(out, rank, 0, n);
	MPI_Allgather(out, n, MPI_UINT32_T, in, n, MPI_UINT32_T,
		      MPI_COMM_WORLD);
	for (int r = 0; r < nr_ranks; r++)
		check(is_from(in + r * n, r, 0, n), "all-gather", n);
	free(out);
	free(in);
}

static void collectives(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		broadcast(lengths[i]);
		all_reduce(lengths[i]);
		all_to_all(lengths[i]);
		all_gather(lengths[i]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Every rank to every other, several at once, received in another order. */
static void messages(void)
{
	enum { TAGS = 4 };
	MPI_Request req[2 * TAGS];
	uint32_t *out, *in;
	int to, from, n;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		n = lengths[i];
		out = words(TAGS * n);
		in = words(TAGS * n);
		fill(out, rank, 0, TAGS * n);
		for (int step = 1; step < nr_ranks; step++) {
			to = (rank + step) % nr_ranks;
			from = (rank + nr_ranks - step) % nr_ranks;
			memset(in, 0, TAGS * n * sizeof(*in));
			for (int t = 0; t < TAGS; t++)
				MPI_Isend(out + t * n, n, MPI_UINT32_T, to, t,
					  MPI_COMM_WORLD, &req[t]);
			for (int t = TAGS - 1; t >= 0; t--)
				MPI_Irecv(in + t * n, n, MPI_UINT32_T, from, t,
					  MPI_COMM_WORLD, &req[TAGS + t]);
			MPI_Waitall(2 * TAGS, req, MPI_STATUSES_IGNORE);
			check(is_from(in, from, 0, TAGS * n), "messages", n);
		}
		free(out);
		free(in);
	}
}

/* Puts into the next rank's window, gets it back, looks at its own. */
static void put_and_get(int n)
{
	int next = (rank + 1) % nr_ranks;
	int before = (rank + nr_ranks - 1) % nr_ranks;
	uint32_t *mine, *out = words(n), *in = words(n);
	MPI_Win win;

	MPI_Win_allocate(n * sizeof(*mine), sizeof(*mine), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &mine, &win);
	fill(out, rank, 0, n);
	MPI_Win_fence(0, win);
	MPI_Put(out, n, MPI_UINT32_T, next, 0, n, MPI_UINT32_T, win);
	MPI_Win_fence(0, win);
	check(is_from(mine, before, 0, n), "put", n);
	MPI_Get(in, n, MPI_UINT32_T, next, 0, n, MPI_UINT32_T, win);
	MPI_Win_fence(0, win);
	check(is_from(in, rank, 0, n), "get", n);
	MPI_Win_free(&win);
	free(out);
	free(in);
}

static void windows(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		put_and_get(lengths[i]);
}

/* A window of @n words, all 0, that everyone may access. */
static int64_t *zero_window(int n, MPI_Win *win)
{
	int64_t *mine;

	MPI_Win_allocate(n * sizeof(*mine), sizeof(*mine), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &mine, win);
	memset(mine, 0, n * sizeof(*mine));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, *win);
	return mine;
}

/* The word that all of @win's users counted up together. */
static void check_sum(MPI_Win *win, const int64_t *mine, const char *what,
		      int64_t want)
{
	MPI_Win_unlock_all(*win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, *win);
	check(rank || *mine == want, what, want);
	MPI_Win_unlock(rank, *win);
	MPI_Win_free(win);
}

static void fetch_and_add(int rounds)
{
	int64_t one = 1, seen = 0, last = -1, *mine;
	MPI_Win win;

	mine = zero_window(1, &win);
	for (int i = 0; i < rounds; i++) {
		MPI_Fetch_and_op(&one, &seen, MPI_INT64_T, 0, 0, MPI_SUM, win);
		MPI_Win_flush(0, win);
		check(seen > last && seen < (int64_t)rounds * nr_ranks,
		      "fetch and add", i);
		last = seen;
	}
	check_sum(&win, mine, "fetch and add", (int64_t)rounds * nr_ranks);
}

/*
 * Counts up by exchange. Each try succeeds or has seen the success of another,
 * so nobody waits for others: Open MPI serves the requests of others in calls
 * that wait, and a rank that tries its own word over and over never waits.
 */
static void compare_and_swap(int rounds)
{
	int64_t have = 0, want, seen, *mine;
	MPI_Win win;

	mine = zero_window(1, &win);
	for (int i = 0; i < rounds; i++) {
		for (;;) {
			want = have + 1;
			MPI_Compare_and_swap(&want, &have, &seen, MPI_INT64_T,
					     0, 0, win);
			MPI_Win_flush(0, win);
			if (seen == have)
				break;
			check(seen > have, "compare and swap", i);
			have = seen;
		}
		have = want;
	}
	check_sum(&win, mine, "compare and swap", (int64_t)rounds * nr_ranks);
}

static void accumulate(int n)
{
	int64_t *mine, *out = calloc(n, sizeof(*out));
	MPI_Win win;

	for (int i = 0; i < n; i++)
		out[i] = rank + i;
	MPI_Win_allocate(n * sizeof(*mine), sizeof(*mine), MPI_INFO_NULL,
			 MPI_COMM_WORLD, &mine, &win);
	memset(mine, 0, n * sizeof(*mine));
	MPI_Win_fence(0, win);
	for (int r = 0; r < nr_ranks; r++)
		MPI_Accumulate(out, n, MPI_INT64_T, r, 0, n, MPI_INT64_T,
			       MPI_SUM, win);
	MPI_Win_fence(0, win);
	for (int i = 0; i < n; i++)
		check(mine[i] == (int64_t)nr_ranks * (nr_ranks - 1) / 2 +
				 (int64_t)nr_ranks * i, "accumulate", n);
	MPI_Win_free(&win);
	free(out);
}

static void atomics(void)
{
	fetch_and_add(20);
	compare_and_swap(20);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		accumulate(lengths[i]);
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nr_ranks);
	if (!strcmp(what, "collectives"))
		collectives();
	else if (!strcmp(what, "messages"))
		messages();
	else if (!strcmp(what, "windows"))
		windows();
	else if (!strcmp(what, "atomics"))
		atomics();
	else
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (!rank)
		printf("%s: %d ranks, all data right\n", what, nr_ranks);
	MPI_Finalize();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Random calls of uverbs, below libibverbs: every write command, in its old
 * and extended form and through ioctl(), and the ioctl methods, with
 * attributes and driver data that are plausible, or broken on purpose; and
 * what the mappings and descriptors that come of them can be used for.
 *
 *	vt_calls [-s SEED] [-n CALLS] [-p PROCESSES] [-t THREADS]
 *
 * Processes with several threads each work on one context of HROCE_DEV. A
 * thread of every second process kills it in the middle of the others' calls,
 * the rest just end; then the next ones start, until CALLS were made, and by
 * them objects of every kind, or ten times as many. Nothing
 * is destroyed before: the kernel has to. Whoever calls this looks whether all
 * is gone, and whether the kernel has reported anything.
 *
 * Exit status: 0 done, 1 hardly any call succeeded, or some kind never did, 3 a
 * process hangs.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/hroce-abi.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "vt.h"
#include "vt_calls.h"

#define STUCK_S		100

/**
 * struct tally - what all processes count together
 * @calls: calls made
 * @good: calls that succeeded
 * @killed: processes that were killed
 * @ended: processes that ended by themselves
 * @done: of each kind of object, how many were made
 * @by_ioctl: those of them that were not made by a write command
 */
struct tally {
	uint64_t calls;
	uint64_t good;
	uint64_t killed;
	uint64_t ended;
	uint64_t done[KIND_NR];
	uint64_t by_ioctl[KIND_NR];
};

static struct {
	uint32_t seed;
	uint64_t calls;
	int processes;
	int threads;
	long per_process;
} cfg = { .seed = 1, .calls = 20000, .processes = 3, .threads = 3,
	  .per_process = 2000 };

static struct tally *tally;

void calls_count(bool good)
{
	__atomic_fetch_add(&tally->calls, 1, __ATOMIC_RELAXED);
	if (good)
		__atomic_fetch_add(&tally->good, 1, __ATOMIC_RELAXED);
}

void calls_made(enum kind kind)
{
	__atomic_fetch_add(&tally->done[kind], 1, __ATOMIC_RELAXED);
}

void calls_made_by_ioctl(enum kind kind)
{
	__atomic_fetch_add(&tally->by_ioctl[kind], 1, __ATOMIC_RELAXED);
}

static void *thread(void *arg)
{
	struct caller *c = arg;
	long n;

	for (n = 0; n < cfg.per_process / cfg.threads; n++) {
		if (n == c->dies_at)
			kill(getpid(), SIGKILL);
		calls_one(c);
	}
	return NULL;
}

static void process(uint32_t seed)
{
	static struct caller callers[16];
	static struct shared shared;
	pthread_t threads[16];
	int i;

	/* One that hangs would hold the standard output open. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared_open(&shared, vt_dev_name(0), seed);
	for (i = 0; i < cfg.threads; i++) {
		struct caller *c = &callers[i];

		c->shared = &shared;
		c->room = room_open(i);
		c->rand = seed * 64 + i + 1;
		c->dies_at = -1;
		if (!i && seed % 2)
			c->dies_at = calls_rand(c) %
				     (cfg.per_process / cfg.threads);
		if (pthread_create(&threads[i], NULL, thread, c))
			_exit(1);
	}
	for (i = 0; i < cfg.threads; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static void stuck(int sig)
{
	static const char text[] = "vt_calls: a process hangs\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) > 0)
		_exit(3);
	_exit(3);
}

/* Were objects of all kinds made, and by both interfaces? */
static bool all_made(void)
{
	for (int i = KIND_PD; i < KIND_NR; i++)
		if (!tally->done[i])
			return false;
	return tally->by_ioctl[KIND_CQ] && tally->by_ioctl[KIND_QP] &&
	       tally->by_ioctl[KIND_SRQ];
}

/* A slow machine makes few of some kind: it may take longer, not forever. */
static bool enough(void)
{
	return tally->calls >= cfg.calls &&
	       (all_made() || tally->calls >= 10 * cfg.calls);
}

static void run(void)
{
	uint32_t next = 0;
	int alive = 0, status;

	while (alive || !enough()) {
		if (alive < cfg.processes && !enough()) {
			pid_t pid = fork();

			if (!pid)
				process(cfg.seed * 100000 + next);
			next++;
			alive += pid > 0;
			continue;
		}
		alarm(STUCK_S * vt_scale());
		if (wait(&status) < 0)
			break;
		alarm(0);
		alive--;
		if (WIFSIGNALED(status))
			tally->killed++;
		else
			tally->ended++;
	}
}

static void parse(int argc, char **argv)
{
	int opt;

	while ((opt = getopt(argc, argv, "s:n:p:t:")) > 0) {
		switch (opt) {
		case 's':
			cfg.seed = atol(optarg);
			break;
		case 'n':
			cfg.calls = atoll(optarg);
			break;
		case 'p':
			cfg.processes = atoi(optarg);
			break;
		case 't':
			cfg.threads = atoi(optarg);
			break;
		default:
			cfg.threads = 0;
		}
	}
	if (cfg.threads < 1 || cfg.threads > 16 || cfg.processes < 1) {
		fprintf(stderr, "see the head of vt_calls.c\n");
		exit(4);
	}
}

int main(int argc, char **argv)
{
	static const char *const name[KIND_NR] = {
		"other", "PD", "AH", "MR", "MW", "CQ", "SRQ", "QP", "XRCD",
		"descriptor",
	};

	parse(argc, argv);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		return 1;
	signal(SIGALRM, stuck);
	run();
	printf("# seed %u: %llu calls, %llu good; %llu processes killed, %llu ended; made:",
	       cfg.seed, (unsigned long long)tally->calls,
	       (unsigned long long)tally->good,
	       (unsigned long long)tally->killed,
	       (unsigned long long)tally->ended);
	for (int i = KIND_PD; i < KIND_NR; i++)
		printf(" %llu %s (%llu by ioctl)",
		       (unsigned long long)tally->done[i], name[i],
		       (unsigned long long)tally->by_ioctl[i]);
	printf("\n");
	return !all_made() || tally->good * 20 < tally->calls;
}

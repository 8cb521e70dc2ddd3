// SPDX-License-Identifier: GPL-2.0
/*
 * The runner: every case in a child, TAP on standard output.
 *
 * A child that hangs is killed at its time limit and counted as failed; one
 * that dies by a signal likewise. Diagnostics are printed as TAP comments in
 * front of the verdict.
 *
 * kselftest_harness.h does not serve here: its time limits are constants, which
 * HROCE_TIME_SCALE could not stretch, and it kills the peers of a case only
 * when time is up. Its checks work in the case itself alone, not at any depth
 * of helpers, and it selects cases by whole names, not by patterns.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "vt.h"

#define VT_EXIT_FAIL	1
#define VT_EXIT_SKIP	4
#define VT_CASE_SECS	30

/**
 * struct vt_undo - one object to destroy at the end of the case
 * @undo: destructor, 0 on success
 * @obj: its argument
 * @what: name for diagnostics
 */
struct vt_undo {
	int (*undo)(void *obj);
	void *obj;
	const char *what;
};

/**
 * struct vt_run - state of the case that runs in this process
 * @back: where a failed or skipped case continues
 * @tid: the thread that owns the stack of @back
 * @undo: objects made so far
 * @nr_undo: how many
 * @undoing: the case itself is over
 * @failed: something went wrong
 */
struct vt_run {
	jmp_buf back;
	pid_t tid;
	struct vt_undo *undo;
	size_t nr_undo;
	bool undoing;
	bool failed;
};

static struct vt_run run;
static void (*fail_hook)(void);
static char *skip_reason;
static uint32_t rand_state = 1;

uint64_t vt_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Slow machines stretch every deadline by HROCE_TIME_SCALE. */
int vt_scale(void)
{
	const char *s = getenv("HROCE_TIME_SCALE");
	int v = s ? atoi(s) : 1;

	return v > 0 ? v : 1;
}

/* Until when a condition that must come true may take from now on. */
uint64_t vt_deadline_us(void)
{
	return vt_now_us() + 10000000ull * vt_scale();
}

void vt_srand(uint32_t seed)
{
	rand_state = seed ? seed : 1;
}

/* xorshift32: the same sequence everywhere, so that a seed replays. */
uint32_t vt_rand(void)
{
	rand_state ^= rand_state << 13;
	rand_state ^= rand_state >> 17;
	rand_state ^= rand_state << 5;
	return rand_state;
}

const char *vt_dev_name(int which)
{
	const char *a = getenv("HROCE_DEV");
	const char *b = getenv("HROCE_DEV2");

	if (!a || !*a)
		a = "hroce0";
	if (!b || !*b)
		b = a;
	return which ? b : a;
}

void vt_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	va_end(ap);
}

void vt_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# %s:%d: ", file, line);
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	va_end(ap);
	run.failed = true;
	if (fail_hook)
		fail_hook();
	if (gettid() != run.tid || run.undoing)
		_exit(VT_EXIT_FAIL);
	longjmp(run.back, 1);
}

/* What else to say when something fails. */
void vt_on_fail(void (*hook)(void))
{
	fail_hook = hook;
}

void vt_skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(skip_reason, 256, fmt, ap);
	va_end(ap);
	if (gettid() != run.tid)
		_exit(VT_EXIT_SKIP);
	longjmp(run.back, 2);
}

void vt_defer(int (*undo)(void *), void *obj, const char *what)
{
	run.undo = realloc(run.undo, (run.nr_undo + 1) * sizeof(*run.undo));
	if (!run.undo)
		abort();
	run.undo[run.nr_undo++] = (struct vt_undo){ undo, obj, what };
}

/* The case destroys @obj itself. */
void vt_forget(void *obj)
{
	for (size_t i = 0; i < run.nr_undo; i++)
		if (run.undo[i].obj == obj)
			run.undo[i].obj = NULL;
}

static void undo_all(void)
{
	run.undoing = true;
	while (run.nr_undo) {
		struct vt_undo *u = &run.undo[--run.nr_undo];
		int rc = u->obj ? u->undo(u->obj) : 0;

		if (rc) {
			vt_note("cannot destroy %s: %s", u->what,
				strerror(rc > 0 ? rc : errno));
			run.failed = true;
		}
	}
}

static int case_child(const struct vt_case *c)
{
	static struct vt t;
	int family = vt_family();
	int rc;

	run.tid = gettid();
	memset(&t, 0, sizeof(t));
	t.arg = c->arg;
	rc = setjmp(run.back);
	if (!rc) {
		vt_open(&t.a, vt_dev_name(0), family);
		vt_open(&t.b, vt_dev_name(1), family);
		c->fn(&t);
	}
	undo_all();
	if (run.failed)
		return VT_EXIT_FAIL;
	return rc == 2 ? VT_EXIT_SKIP : 0;
}

/* Waits for the child until its limit; -1 means that it had to be killed. */
static int case_wait(pid_t pid, unsigned int secs)
{
	uint64_t end = vt_now_us() + 1000000ull * secs * vt_scale();
	struct timespec ts = { .tv_sec = 0, .tv_nsec = 0 };
	sigset_t chld;
	int status;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		if (vt_now_us() > end)
			break;
		ts.tv_nsec = 100000000;
		sigtimedwait(&chld, NULL, &ts);
	}
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	end = vt_now_us() + 10000000;
	while (waitpid(pid, &status, WNOHANG) != pid && vt_now_us() < end) {
		ts.tv_nsec = 100000000;
		sigtimedwait(&chld, NULL, &ts);
	}
	return -1;
}

/* Children that a failed case left behind must not disturb the next one. */
static void reap_group(pid_t group)
{
	uint64_t end = vt_now_us() + 2000000;
	unsigned int spins = 0;

	while (!kill(-group, SIGKILL) && vt_now_us() < end)
		vt_pause(&spins);
}

static int case_run(const struct vt_case *c)
{
	unsigned int secs = c->secs ? c->secs : VT_CASE_SECS;
	int status;
	pid_t pid;

	fflush(stdout);
	skip_reason[0] = 0;
	pid = fork();
	if (pid < 0)
		return VT_EXIT_FAIL;
	if (!pid) {
		setpgid(0, 0);
		status = case_child(c);
		fflush(stdout);
		_exit(status);
	}
	setpgid(pid, pid);
	status = case_wait(pid, secs);
	reap_group(pid);
	if (status < 0) {
		vt_note("killed after %u s", secs * vt_scale());
		return VT_EXIT_FAIL;
	}
	if (WIFSIGNALED(status)) {
		vt_note("died by signal %d", WTERMSIG(status));
		return VT_EXIT_FAIL;
	}
	return WEXITSTATUS(status);
}

static bool case_wanted(const struct vt_case *c, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!fnmatch(argv[i], c->name, 0))
			return true;
	return argc < 2;
}

/* Have libibverbs find and load all providers once, and not in each case. */
static void load_providers(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	if (list)
		ibv_free_device_list(list);
}

/* Cases whose names match one of the patterns given, or all; -l lists them. */
int vt_main(int argc, char **argv, const struct vt_case *cases, int nr)
{
	int wanted = 0, skipped = 0;
	const char *no_skip = getenv("HROCE_NO_SKIP");
	const char *base = strrchr(argv[0], '/');
	sigset_t chld;

	if (argc == 2 && !strcmp(argv[1], "-l")) {
		for (int i = 0; i < nr; i++)
			puts(cases[i].name);
		return 0;
	}
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	skip_reason = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED)
		return VT_EXIT_FAIL;
	for (int i = 0; i < nr; i++)
		wanted += case_wanted(&cases[i], argc, argv);
	base = base ? base + 1 : argv[0];
	tap_plan(wanted);
	load_providers();
	for (int i = 0; i < nr; i++) {
		uint64_t start = vt_now_us();
		int rc;

		if (!case_wanted(&cases[i], argc, argv))
			continue;
		rc = case_run(&cases[i]);
		if (rc == VT_EXIT_SKIP && no_skip && *no_skip == '1') {
			vt_note("skip refused: %s", skip_reason);
			rc = VT_EXIT_FAIL;
		}
		skipped += rc == VT_EXIT_SKIP;
		tap_case(!rc || rc == VT_EXIT_SKIP,
			 rc == VT_EXIT_SKIP ? skip_reason : NULL, "%s.%s", base,
			 cases[i].name);
		if (vt_now_us() - start > 3000000)
			vt_note("took %llu ms", (unsigned long long)
				(vt_now_us() - start) / 1000);
	}
	if (tap_exit())
		return VT_EXIT_FAIL;
	return skipped && skipped == wanted ? VT_EXIT_SKIP : 0;
}

/*
 * Have another process do @victim, which writes something to @ready once it is
 * under way, and kill it a moment later.
 */
void vt_kill(struct vt *t, void (*victim)(struct vt *t, int ready))
{
	int ready[2], status;
	pid_t pid;
	char c;

	VT_EQ(pipe(ready), 0);
	pid = fork();
	VT_OK(pid >= 0, "fork");
	if (!pid)
		victim(t, ready[1]);
	close(ready[1]);
	VT_EQ(read(ready[0], &c, 1), 1);
	usleep(vt_rand() % 5000);
	kill(pid, SIGKILL);
	VT_EQ(waitpid(pid, &status, 0), pid);
	VT_OK(WIFSIGNALED(status), "status %x", status);
	close(ready[0]);
}

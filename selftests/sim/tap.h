/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test Anything Protocol for host-side tests. A case is one function; its
 * checks report the first failures and go on.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stdio.h>

/* One of each per program, wherever the checks are. */
#ifndef __weak
#define __weak	__attribute__((__weak__))
#endif
__weak int tap_cases;
__weak int tap_failed_cases;
__weak int tap_failed_checks;

/* Print the plan. */
static inline void tap_plan(int nr_cases)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%d\n", nr_cases);
}

static inline bool tap_report(bool ok, const char *what, const char *file,
			      int line)
{
	if (!ok && ++tap_failed_checks <= 10)
		printf("# %s:%d: false: %s\n", file, line, what);
	return ok;
}

static inline bool tap_report_eq(long long got, long long want,
				 const char *what, const char *file, int line)
{
	if (got != want && ++tap_failed_checks <= 10)
		printf("# %s:%d: %s is %lld (%#llx), not %lld (%#llx)\n", file,
		       line, what, got, got, want, want);
	return got == want;
}

/* Check a condition, or that a value is the expected one. */
#define tap_ok(cond)	tap_report(cond, #cond, __FILE__, __LINE__)
#define tap_eq(got, want) \
	tap_report_eq((long long)(got), (long long)(want), #got, __FILE__, \
		      __LINE__)

/* End a case begun by tap_begin(). */
static inline void tap_end(const char *name)
{
	bool ok = !tap_failed_checks;

	printf("%s %d - %s\n", ok ? "ok" : "not ok", ++tap_cases, name);
	if (!ok)
		tap_failed_cases++;
	tap_failed_checks = 0;
}

static inline void tap_skip(const char *name, const char *why)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_cases, name, why);
}

/* Run one case: a function without arguments whose name is the case's. */
#define tap_run(fn) \
	do { \
		fn(); \
		tap_end(#fn); \
	} while (0)

/* Return: exit status. */
static inline int tap_exit(void)
{
	return tap_failed_cases ? 1 : 0;
}

#endif /* TAP_H */

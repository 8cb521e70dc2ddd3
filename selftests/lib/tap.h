/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Test Anything Protocol for programs in C. A case is one function; its
 * checks report the first failures and go on. Programs with checks of their
 * own call tap_case().
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
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

/* Skip the whole program. */
__attribute__((format(printf, 1, 2)))
static inline void tap_skip_all(const char *why, ...)
{
	va_list ap;

	printf("TAP version 13\n1..0 # SKIP ");
	va_start(ap, why);
	vprintf(why, ap);
	va_end(ap);
	printf("\n");
}

/* Report a case; @skip is why it did not run, or NULL. */
__attribute__((format(printf, 3, 4)))
static inline void tap_case(bool ok, const char *skip, const char *name, ...)
{
	va_list ap;

	printf("%sok %d - ", ok ? "" : "not ", ++tap_cases);
	va_start(ap, name);
	vprintf(name, ap);
	va_end(ap);
	if (skip)
		printf(" # SKIP %s", skip);
	printf("\n");
	tap_failed_cases += !ok;
	tap_failed_checks = 0;
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

/* End a case of checks. */
static inline void tap_end(const char *name)
{
	tap_case(!tap_failed_checks, NULL, "%s", name);
}

static inline void tap_skip(const char *name, const char *why)
{
	tap_case(true, why, "%s", name);
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

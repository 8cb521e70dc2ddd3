/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of selftests/lib/tap.h as expectations of KUnit. A unit runs once to
 * list its cases, and once for each of them, which is a parameter of KUnit.
 */
#ifndef TAP_H
#define TAP_H

#include <kunit/test.h>

#define TAP_MAX_CASES	100

/**
 * struct tap - the unit that runs
 * @test: expectations go there
 * @wanted: name of the case to run; NULL lists them
 * @names: cases listed
 * @nr_names: how many
 * @planned: how many there should be
 */
struct tap {
	struct kunit *test;
	const char *wanted;
	const char *names[TAP_MAX_CASES];
	int nr_names;
	int planned;
};

extern struct tap tap;

#define tap_ok(cond) \
	({ \
		bool tap_good = (cond); \
		KUNIT_EXPECT_TRUE_MSG(tap.test, tap_good, "false: %s", #cond); \
		tap_good; \
	})
#define tap_eq(got, want) \
	({ \
		long long tap_got = (long long)(got); \
		long long tap_want = (long long)(want); \
		KUNIT_EXPECT_EQ_MSG(tap.test, tap_got, tap_want, "%s", #got); \
		tap_got == tap_want; \
	})

static inline void tap_plan(int nr_cases)
{
	tap.planned = nr_cases;
}

static inline bool tap_turn(const char *name)
{
	if (tap.wanted)
		return !strcmp(name, tap.wanted);
	if (!WARN_ON(tap.nr_names == TAP_MAX_CASES))
		tap.names[tap.nr_names++] = name;
	return false;
}

#define tap_run(fn) \
	do { \
		if (tap_turn(#fn)) \
			fn(); \
	} while (0)

static inline int tap_exit(void)
{
	return 0;
}

#endif /* TAP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* A suite for each unit, with its cases as parameters; see shim/tap.h. */
#ifndef HROCE_KUNIT_SUITES_H
#define HROCE_KUNIT_SUITES_H

#include <linux/module.h>
#include "tap.h"

struct tap tap;

static void suites_run(int (*unit)(void), struct kunit *test, const char *wanted)
{
	tap = (struct tap) { .test = test, .wanted = wanted };
	unit();
}

/* The case after @prev, the first one after NULL. */
static const void *suites_next(int (*unit)(void), const char *prev, char *desc)
{
	int i = 0;

	suites_run(unit, NULL, NULL);
	while (prev && i < tap.nr_names && strcmp(tap.names[i++], prev))
		;
	if (i == tap.nr_names)
		return NULL;
	strscpy(desc, tap.names[i], KUNIT_PARAM_DESC_SIZE);
	return tap.names[i];
}

static void suites_case(int (*unit)(void), struct kunit *test)
{
	suites_run(unit, NULL, NULL);
	KUNIT_EXPECT_EQ(test, tap.nr_names, tap.planned);
	suites_run(unit, test, test->param_value);
}

#define SUITE(unit) \
int unit_##unit(void); \
static const void *unit##_next(const void *prev, char *desc) \
{ \
	return suites_next(unit_##unit, prev, desc); \
} \
static void unit##_case(struct kunit *test) \
{ \
	suites_case(unit_##unit, test); \
} \
static struct kunit_case unit##_cases[] = { \
	KUNIT_CASE_PARAM(unit##_case, unit##_next), \
	{} \
}; \
static struct kunit_suite unit##_suite = { \
	.name = "hroce_" #unit, \
	.test_cases = unit##_cases, \
}

MODULE_DESCRIPTION("units of hroce's protocol engine");
MODULE_LICENSE("GPL");

#endif /* HROCE_KUNIT_SUITES_H */
